/* keyorder: values in the order in which a server sorts them: bounds of chunks are compared in it, whatever
 * types the keys have. */
#ifndef TIPPLE_SERVER_CHUNKS_KEYORDER_H
#define TIPPLE_SERVER_CHUNKS_KEYORDER_H

#include <bson/bson.h>

/* The server's number for a type: its place in the order. Types that compare by their values share one. */
int keyorder_rank(bson_type_t type);

/* Can all values of a document, inner ones too, be put in order here? Decimal128 and a few rare types cannot, nor
 * what is nested more deeply than servers allow, or is no BSON. */
bool keyorder_is_clear(const bson_t *document);

/* Below, at or above 0, for values that are clear. Numbers of different types compare by value, NaN below
 * all; text by its bytes. A missing value is null. */
int keyorder_values(const bson_value_t *a, const bson_value_t *b);

/* Documents value by value, whatever their keys are called; the shorter one of two that agree is smaller. */
int keyorder_documents(const bson_t *a, const bson_t *b);

#endif
