/* element: the elements of a document as a server sees them. libbson's iterator stops at binary data of subtype 2 whose inner length
 * is not there, which servers store, as if the document ended; and what it appends again by its type may be another value, for
 * code is cut at a zero byte. So what comes from an input is gone through, and copied, with these. Any thread. */
#ifndef TIPPLE_BASE_BSON_ELEMENT_H
#define TIPPLE_BASE_BSON_ELEMENT_H

#include <bson/bson.h>

/* As bson_iter_next. False: that was the last one, or (at->err_off) the bytes are no element: then nobody knows what follows. */
bool element_next(bson_iter_t *at);

/* The next one under a key, of so many bytes; the first one of a document; the one at a path ("a.b.0"). False: there is none, or
 * (at->err_off) that is not known. */
bool element_find(bson_iter_t *at, const char *key, size_t length);
bool element_of(const bson_t *document, const char *key, bson_iter_t *at);
bool element_at(const bson_t *document, const char *path, bson_iter_t *at);

/* Appends the value, byte for byte, under another key. */
bool element_append(bson_t *to, const char *key, const bson_iter_t *from);

/* Have two elements the same type and bytes? Their keys may be others. */
bool element_same(const bson_iter_t *a, const bson_iter_t *b);

/* The integer that a number of any type is, or lies above. False: it is no number, or none of 64 bits is. */
bool element_floor(const bson_iter_t *at, int64_t *whole);

/* Is it binary data of subtype 2 without its inner length? libbson's own functions stop there. */
bool element_is_headless(const bson_iter_t *at);

/* As bson_iter_binary, also of those. */
void element_binary(const bson_iter_t *at, bson_subtype_t *subtype, uint32_t *length, const uint8_t **bytes);

#endif
