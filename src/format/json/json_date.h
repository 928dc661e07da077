/* json_date: dates as extended JSON and the mongo shell spell them. */
#ifndef TIPPLE_FORMAT_JSON_JSON_DATE_H
#define TIPPLE_FORMAT_JSON_JSON_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    JSON_DATE_FULL,   /* YYYY-MM-DDThh:mm, perhaps :ss and .fff, and Z or an offset like +01:00 or +0100 */
    JSON_DATE_DAY,    /* or only YYYY-MM-DD */
    JSON_DATE_NO_ZONE /* or without an offset, which means Z */
} json_date_form_t;

/* To milliseconds since 1970. Digits of a second beyond the third must be zeros. NULL: it was one; otherwise what is
 * wrong. Up to 16 bytes after the text may be read. */
const char *json_date(const uint8_t *text, size_t length, json_date_form_t form, int64_t *ms);

#endif
