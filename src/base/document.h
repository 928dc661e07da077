/* document: BSON as a server sees it, and as Extended JSON.
 *
 * libbson's iterator stops at binary data of subtype 2 whose inner length is not there, which servers store, as if the
 * document ended; and what it appends again by its type may be another value, because code is cut at a zero byte. So
 * what comes from an input is read, and copied, by element_*.
 *
 * JSON is printed here alone: on one line, word for word as libbson 1.23 prints it, with three differences. A double has
 * only as many digits as it needs to be read back as the same number (12.067, not 12.067000000000000171). What a
 * terminal would obey is escaped. A date after the year 9999 is a number of milliseconds. Any thread. */
#ifndef TIPPLE_BASE_DOCUMENT_H
#define TIPPLE_BASE_DOCUMENT_H

#include "base/text.h"

#include <bson/bson.h>

/* ---- elements ---- */

/* As bson_iter_next. False: that was the last one, or (at->err_off) the bytes are no element: then what follows is not known. */
bool element_next(bson_iter_t *at);

/* The next element under a key of this length; the first one of a document; the element at a path ("a.b.0"). False:
 * there is none, or, if at->err_off is set, damaged bytes hide whether there is one. */
bool element_find(bson_iter_t *at, const char *key, size_t length);
static inline bool element_of(const bson_t *document, const char *key, bson_iter_t *at) {
    return bson_iter_init(at, document) && element_find(at, key, strlen(key));
}
bool element_at(const bson_t *document, const char *path, bson_iter_t *at);

/* Appends the value, byte for byte, under another key. */
bool element_append(bson_t *to, const char *key, const bson_iter_t *from);

/* Have two elements the same type and bytes? Their keys may differ. */
bool element_same(const bson_iter_t *a, const bson_iter_t *b);

/* The largest integer that is not above this number of any type. False: the value is no number, or no integer of 64
 * bits fits. */
bool element_floor(const bson_iter_t *at, int64_t *whole);

/* Is the element binary data of subtype 2 that lacks its inner length? libbson's own functions stop at one. */
bool element_is_headless(const bson_iter_t *at);

/* Like bson_iter_binary, but takes an element without an inner length, too. */
void element_binary(const bson_iter_t *at, bson_subtype_t *subtype, uint32_t *length, const uint8_t **bytes);

/* ---- Extended JSON ---- */

/* The caller frees the text. It ends with a NUL that `length` (may be NULL) does not count. NULL: this is not BSON, or
 * it is nested deeper than a server accepts. If memory is out, the process ends with status 8 and a sentence. *replaced: how many of
 * its texts, keys among them, are not UTF-8, and shown with U+FFFD for each byte that is none; may be NULL. */
char *ejson_print_telling(const bson_t *document, bool relaxed, size_t *length, uint64_t *replaced);
static inline char *ejson_print(const bson_t *document, bool relaxed, size_t *length) {
    return ejson_print_telling(document, relaxed, length, NULL);
}

/* Relaxed, and without secrets: each text of the document is searched by itself (conceal), keys among them, because in
 * the JSON of several values a secret would seem to go on up to some later value. */
char *ejson_print_concealed(const bson_t *document, size_t *length);

/* Appends the same to a text, whose `lacking` says when memory is out. False: this is not BSON, or nested too deep. */
bool ejson_append(text_t *to, const bson_t *document, bool relaxed);

/* A text with its quotes: as it stands in JSON, and in a command for the mongo shell, whatever it holds. */
void ejson_append_text(text_t *to, const char *text);

/* That alone; the caller frees it. If memory is out, the process ends with status 8 and a sentence. */
char *ejson_text(const char *text);

#endif
