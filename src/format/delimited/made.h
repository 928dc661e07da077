/* made: what becomes of a text that was put together of columns: a key that a format makes. */
#ifndef TIPPLE_FORMAT_DELIMITED_MADE_H
#define TIPPLE_FORMAT_DELIMITED_MADE_H

#include "format/schema/schema.h"
#include "format/values/pattern.h"

typedef enum {
    MADE_VALUE,
    MADE_NOTHING, /* the text is a null value */
    MADE_BAD,     /* it does not fit the type: it is there as a text */
    MADE_FAILED,  /* no memory */
} made_result_t;

enum { MADE_MOST = 96 /* bytes of a value beside its text, at most */ };

/* The text is at `text`, UTF-8, four bytes behind the place of its value, with the room of any value there. Writes the value
 * and its type, and gives its end. patterns: of a date, compiled. */
made_result_t made_finish(const make_t *made, const pattern_t *patterns, uint8_t *type, uint8_t *text,
                          size_t length, uint8_t **end);

#endif
