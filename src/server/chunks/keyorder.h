/* keyorder: values in the order in which a server sorts them, whatever their types. Bounds of chunks are compared in
 * this order. */
#ifndef TIPPLE_SERVER_CHUNKS_KEYORDER_H
#define TIPPLE_SERVER_CHUNKS_KEYORDER_H

#include <bson/bson.h>

/* The server's number for a type: its place in the order. Types whose values are compared with each other share one
 * number. */
int keyorder_rank(bson_type_t type);

/* Can all values of a document, also inner ones, be ordered here? Not if it contains Decimal128 or a few rare types, is
 * nested more deeply than servers allow, or is not BSON. */
bool keyorder_is_clear(const bson_t *document);

/* Below, at or above 0; only for clear values. Numbers of different types are compared by value, with NaN below all
 * others; text by its bytes. A missing value is null. */
int keyorder_values(const bson_value_t *a, const bson_value_t *b);

/* Compares documents value by value, whatever the names of their keys. If one ends first and they agree so far, it is
 * smaller. */
int keyorder_documents(const bson_t *a, const bson_t *b);

#endif
