/* bson_read: reads documents inside other documents. They are borrowed: they live as long as the outer document. Any
 * thread. */
#ifndef TIPPLE_SERVER_BSON_READ_H
#define TIPPLE_SERVER_BSON_READ_H

#include <bson/bson.h>

/* The document at an iterator. False: it is no document. */
bool bson_read_document(const bson_iter_t *at, bson_t *document);

/* The document under a key. False: there is none. */
bool bson_read_field(const bson_t *document, const char *key, bson_t *inner);

/* The value at a path ("a.b.0"). False: there is none. */
bool bson_read_at(const bson_t *document, const char *path, bson_iter_t *at);

/* Is the value under a key there, and true, as servers take it: also a number other than 0? */
bool bson_read_true(const bson_t *document, const char *key);

/* The value at a path ("a.b.0") as a number: a date as milliseconds, a boolean as 0 or 1. NAN: there is none, or it is
 * not a number. */
double bson_read_number(const bson_t *document, const char *path);

/* The text at a path; "": there is none, or it is not a text. */
const char *bson_read_text(const bson_t *document, const char *path);

/* The timestamp under a key, with the seconds in the upper half; 0: there is none. */
uint64_t bson_read_timestamp(const bson_t *document, const char *key);

/* The UUID at a path, of 16 bytes that belong to the document; NULL: there is none. */
const uint8_t *bson_read_uuid(const bson_t *document, const char *path);

/* The ObjectId at a path, which belongs to the document; NULL: there is none. */
const bson_oid_t *bson_read_oid(const bson_t *document, const char *path);

/* The list at a path. False: there is none. */
bool bson_read_list(const bson_t *document, const char *path, bson_iter_t *values);

/* The first batch of a command's reply, for bson_read_next. False: the reply has none. */
bool bson_read_batch(const bson_t *reply, bson_iter_t *documents);
/* The next document of a list. False: there are no more. */
bool bson_read_next(bson_iter_t *documents, bson_t *document);

#endif
