/* json_typed: values of BSON that JSON has no spelling for, made of texts. Each writes the value at json->out and its type
 * at `type`; false: it is rejected, or there is no room. */
#ifndef TIPPLE_FORMAT_JSON_JSON_TYPED_H
#define TIPPLE_FORMAT_JSON_JSON_TYPED_H

#include "format/json/json_inner.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* json_date: dates as extended JSON and the mongo shell spell them. */

typedef enum {
    JSON_DATE_FULL,   /* YYYY-MM-DDThh:mm, perhaps :ss and .fff, and Z or an offset like +01:00 or +0100 */
    JSON_DATE_DAY,    /* or only YYYY-MM-DD */
    JSON_DATE_NO_ZONE /* or without an offset, which means Z */
} json_date_form_t;

/* To milliseconds since 1970. Digits of a second beyond the third must be zeros. NULL: it was one; otherwise what is
 * wrong. Up to 16 bytes after the text may be read. */
const char *json_date(const uint8_t *text, size_t length, json_date_form_t form, int64_t *ms);

typedef bool json_put_text_fn(json_value_t *json, const json_quoted_t *text, uint8_t *type);

bool json_put_oid(json_value_t *json, const json_quoted_t *hexadecimal, uint8_t *type);
bool json_put_date(json_value_t *json, const json_quoted_t *date, json_date_form_t form, uint8_t *type);
bool json_put_date_ms(json_value_t *json, int64_t ms, uint8_t *type);
bool json_put_int(json_value_t *json, const json_quoted_t *digits, uint8_t *type);
bool json_put_long(json_value_t *json, const json_quoted_t *digits, uint8_t *type);
bool json_put_double(json_value_t *json, const json_quoted_t *number, uint8_t *type);
bool json_put_decimal(json_value_t *json, const json_quoted_t *number, uint8_t *type);
bool json_put_binary(json_value_t *json, const json_quoted_t *base64, uint8_t subtype, uint8_t *type);
bool json_put_uuid(json_value_t *json, const json_quoted_t *uuid, uint8_t *type);
bool json_put_timestamp(json_value_t *json, uint32_t seconds, uint32_t increment, uint8_t *type);
bool json_put_regex(json_value_t *json, const json_quoted_t *pattern, const json_quoted_t *options,
                    uint8_t *type);

/* A string: of code, a symbol, a namespace. It may contain NULs. */
bool json_put_string(json_value_t *json, const json_quoted_t *text);
/* A string that ends with its first NUL, so there must be none in it. */
bool json_put_cstring(json_value_t *json, const json_quoted_t *text);

static inline bool json_is(const json_quoted_t *text, const char *word) {
    return text->length == strlen(word) && memcmp(text->text, word, text->length) == 0;
}

/* A whole number, perhaps with a minus, and nothing else. False: it is not one, or does not fit. */
bool json_whole(const json_quoted_t *digits, int64_t *value);

/* A text in quotes, or what may be a number. */
typedef struct {
    json_quoted_t span;
    bool quoted;
} json_item_t;

/* sentence: if it is neither. */
const uint8_t *json_item(json_value_t *json, const uint8_t *at, const char *sentence, json_item_t *item);

#endif
