/* json_inner: what the modules of src/format/json share. Functions that read return what follows, or NULL: then the
 * sentence is written, and everybody returns NULL in turn.
 *
 * The text ends at `end`, but the bytes after it may be read (POOL_SLACK). So a token may be read over the end by less
 * than POOL_SLACK bytes before it is noticed: whoever goes on to the next token asks json_ended first. Nothing may run
 * on without end over digits, blanks or letters. */
#ifndef TIPPLE_FORMAT_JSON_JSON_INNER_H
#define TIPPLE_FORMAT_JSON_JSON_INNER_H

#include "base/chars.h"
#include "format/json/json_keys.h"
#include "format/json/json_types.h"
#include "format/record/bsonw.h"

#define JSON_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define JSON_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define JSON_INLINED             __attribute__((always_inline)) static inline

enum {
    JSON_ID_ELEMENT = 13,                                  /* bytes of {_id: id} in a document */
    JSON_MOST_WRITTEN = JSON_MOST_BYTES + JSON_ID_ELEMENT, /* that one may be taken out again */
};

struct json_value {
    const uint8_t *text, *end;
    /* What is written up to `limit` has room; JSON_MARGIN bytes more have room, too, so that not every byte is asked
     * for: each member of an object asks once, and whatever has a length of its own. */
    uint8_t *start, *out, *limit;
    int level;
    bool add_id;
    int64_t id;
    uint8_t *own_id, *own_id_end; /* the element _id of the text, if it is not at its place yet */
    bool has_own_id;
    json_keys_t keys;

    /* Texts with escapes that are not copied to `out` as they are. Has room for all of them, so they never move. */
    uint8_t *scratch;
    size_t scratch_room, scratch_used;

    uint8_t *moved; /* for json_exchange */
    size_t moved_room;

    /* Reads an object, `at` behind its bracket, for those who do not know who reads objects. type NULL: it is never a
     * typed value. */
    const uint8_t *(*object)(json_value_t *json, const uint8_t *at, uint8_t *type);

    json_read_t failure;
    const uint8_t *place;
    char reason[320];
    char field[200];
    size_t field_from; /* it grows from its end: the innermost key is known first */
};

/* A text without its quotes: as it stands in the JSON, or in the scratch. 32 bytes before and after it may be read. */
typedef struct {
    const uint8_t *text;
    size_t length;
    const uint8_t *at; /* where it begins in the JSON */
} json_quoted_t;

/* --------------------------------------------------------------------------------------- failures (json_failure.c) */

/* Only the first sentence of a text counts. What lies after the end of the text has a sentence of its own. */
const uint8_t *json_reject(json_value_t *json, const uint8_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The text ends before the document does. */
const uint8_t *json_too_short(json_value_t *json) __attribute__((cold));

const uint8_t *json_memory(json_value_t *json) __attribute__((cold));

/* There is no room for what ends at `end`: or the document is too large. */
const uint8_t *json_full(json_value_t *json, const uint8_t *end) __attribute__((cold));

const uint8_t *json_too_large(json_value_t *json) __attribute__((cold));

/* The failure lies within the value of this key. */
const uint8_t *json_within(json_value_t *json, const uint8_t *key) __attribute__((cold));

/* A key that is there twice. before: where the first one is in the text. */
const uint8_t *json_reject_twice(json_value_t *json, const uint8_t *at, const uint8_t *key, uint32_t before)
    __attribute__((cold));

JSON_INLINED bool json_ended(const json_value_t *json, const uint8_t *at) {
    return JSON_UNLIKELY(at >= json->end);
}

/* Is there room for `more` bytes, and the margin? */
static inline bool json_fits(const json_value_t *json, size_t more) {
    return json->out <= json->limit && (size_t)(json->limit - json->out) >= more;
}

/* At `begin`: the length of what ends at `end`. */
JSON_INLINED void json_put_length(uint8_t *begin, const uint8_t *end) {
    bsonw_int32(begin, (int32_t)(end - begin));
}

/* ----------------------------------------------------------------------- blanks, punctuation (json_token.c) */

/* Goes over blanks. */
JSON_INLINED const uint8_t *json_blanks(const json_value_t *json, const uint8_t *at) {
    if (JSON_LIKELY(*at > ' '))
        return at;
    if (JSON_LIKELY(*at == ' ' && at[1] > ' '))
        return at + 1;
    return lines_blanks(at, json->end);
}

/* Goes over blanks and one character that must be there; `sentence` if it is not. */
const uint8_t *json_expect(json_value_t *json, const uint8_t *at, char character, const char *sentence);

/* Is this character the next one, after blanks? */
bool json_is_next(const json_value_t *json, const uint8_t *at, char character);

/* -------------------------------------------------------------------------------------------- texts (json_text.c) */

/* Copies a text whose first quote lies before `at`, and puts no NUL after it. `to` has room for `limit` and the
 * margin. */
const uint8_t *json_text_long(json_value_t *json, const uint8_t *at, uint8_t *to, const uint8_t *limit,
                              size_t *length);

/* A text in quotes, after blanks. sentence: if it is not one. */
const uint8_t *json_quoted(json_value_t *json, const uint8_t *at, const char *sentence, json_quoted_t *span);

const uint8_t *json_reject_utf8(json_value_t *json, const uint8_t *at);

/* ----------------------------------------------------------------------------------------------- values, by kind */

/* type: where the element's type is written. All write the value at json->out and move it. */
const uint8_t *json_number(json_value_t *json, const uint8_t *at, uint8_t *type);
/* Is a text that reads as this double another number, of which nothing is left but 0? */
bool json_vanishes(const uint8_t *text, size_t length, double value);
const uint8_t *json_shell(json_value_t *json, const uint8_t *at, uint8_t *type);

/* An object that may be a typed value. It was begun at `begin`: its length and its first key are written; `at` is behind
 * the colon. If it is one, it is written at `begin`, and `at` is behind its bracket, or NULL. False: it is an ordinary
 * object. */
bool json_extended(json_value_t *json, const uint8_t **at, uint8_t *begin, uint8_t *type);

/* json_typed.c. Exchanges two pieces of the document that lie one behind the other. False: out of memory. */
bool json_exchange(json_value_t *json, uint8_t *first, uint8_t *second, const uint8_t *end);

#endif
