/* bson_read: documents inside of documents, borrowed: they live as long as what they are in. Any thread. */
#ifndef TIPPLE_SERVER_BSON_READ_H
#define TIPPLE_SERVER_BSON_READ_H

#include <bson/bson.h>

/* What an iterator is at. False: it is no document. */
bool bson_read_document(const bson_iter_t *at, bson_t *document);

/* What stands under a key. False: nothing, or something else. */
bool bson_read_field(const bson_t *document, const char *key, bson_t *inner);

/* What stands at a path ("a.b.0") as a number: a date as milliseconds, a boolean as 0 or 1. NAN: nothing, or something
 * else. */
double bson_read_number(const bson_t *document, const char *path);

/* The text at a path; "": nothing, or something else. */
const char *bson_read_text(const bson_t *document, const char *path);

/* The timestamp under a key, seconds in its upper half; 0: there is none. */
uint64_t bson_read_timestamp(const bson_t *document, const char *key);

/* The first batch of a command's reply, to be gone through by bson_read_next. False: the reply has none. */
bool bson_read_batch(const bson_t *reply, bson_iter_t *documents);
/* The next document of a list. False: there is no other. */
bool bson_read_next(bson_iter_t *documents, bson_t *document);

/* A value, or a list, as relaxed extended JSON; free. NULL: it cannot be written. */
char *bson_read_json(const bson_iter_t *value);
char *bson_read_list_json(const bson_t *list);

#endif
