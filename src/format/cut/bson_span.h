/* bson_span: where the documents of a BSON text end. Each begins with its own length (int32, little endian) and ends with a
 * zero byte; a length that says something else leaves nobody to know where the next document begins. */
#ifndef TIPPLE_FORMAT_CUT_BSON_SPAN_H
#define TIPPLE_FORMAT_CUT_BSON_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of the document that begins at text[0]; 0: the text ends before it does, or (*lies) it is none. */
size_t bson_span_find(const uint8_t *text, size_t length, bool *lies);

/* How many documents end in text[0, length), which goes on where the last call's text ended; begins as {0}. */
typedef struct {
    uint32_t left; /* bytes of the document at hand, when its length is known */
    uint32_t have;
    uint8_t head[4];
} bson_span_counter_t;
uint64_t bson_span_count(bson_span_counter_t *counter, const uint8_t *text, size_t length);

/* Does a file that begins with this text look like BSON? The text may end within its first document. */
bool bson_span_begins(const uint8_t *text, size_t length);

#endif
