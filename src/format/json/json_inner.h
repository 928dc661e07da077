/* json_inner: what the chapters of src/format/json share; json.h says how they work. */
#ifndef TIPPLE_FORMAT_JSON_JSON_INNER_H
#define TIPPLE_FORMAT_JSON_JSON_INNER_H

#include "format/json/json.h"
#include "format/record/bsonw.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#define JSON_LIKELY(condition)   __builtin_expect(!!(condition), 1)
#define JSON_UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define JSON_INLINED             __attribute__((always_inline)) static inline

#define JSON_TOO_LARGE "its document is larger than 16 MiB"

/* ---- keys (json_value.c) ---- */

typedef struct {
    uint32_t object, hash; /* object 0: the slot is empty */
    uint32_t key;          /* where it is in the document, with a NUL after it */
    uint32_t place;        /* where it is in the text */
} json_key_t;

typedef struct {
    json_key_t *slots;
    uint32_t mask, used, most; /* the table grows when more than `most` slots are used */
    uint32_t first;            /* the first object of the document at hand: slots of earlier ones are empty */
    uint32_t next;             /* the number of the next object */
    uint64_t seed;             /* so that nobody can write keys that all have one hash */
} json_keys_t;

/* ---- the reader ---- */

struct json_value {
    const uint8_t *text, *end;
    uint8_t *start, *out, *limit;
    int level;
    uint32_t lines; /* line ends that were read */
    bool slashes;   /* a regular expression between slashes was read */
    bool add_id, has_own_id;
    int64_t id;
    uint8_t *own_id, *own_id_end; /* the element _id of the text, if it is not at its place yet */
    json_keys_t keys;
    const uint8_t *typed; /* the first piece of the typed value at hand, in the text */
    uint8_t *moved;       /* a piece of the document that changes its place */
    size_t moved_room;

    json_read_t failure;
    const uint8_t *place;
    char reason[320];
    char field[200];
    size_t field_from; /* it grows from its end: the innermost key is known first */
};

JSON_INLINED bool json_ended(const json_value_t *json, const uint8_t *at) {
    return JSON_UNLIKELY(at >= json->end);
}

/* The rest of json_blanks. */
const uint8_t *json_blanks_slowly(json_value_t *json, const uint8_t *at);

/* Goes over blanks. */
JSON_INLINED const uint8_t *json_blanks(json_value_t *json, const uint8_t *at) {
    if (JSON_LIKELY(*at > ' '))
        return at;
    if (JSON_LIKELY(*at == ' ' && at[1] > ' '))
        return at + 1;
    return json_blanks_slowly(json, at);
}

/* ---- failures (json_value.c) ---- */

/* Only the first sentence of a text counts. What lies after the end of the text has a sentence of its own. */
const uint8_t *json_reject(json_value_t *json, const uint8_t *at, const char *format, ...)
    __attribute__((format(printf, 3, 4), cold));

/* The text ends before the document does. */
const uint8_t *json_too_short(json_value_t *json) __attribute__((cold));

const uint8_t *json_memory(json_value_t *json) __attribute__((cold));

/* There is no room for what ends at `end`: or the document is too large. */
const uint8_t *json_full(json_value_t *json, const uint8_t *end) __attribute__((cold));

const uint8_t *json_reject_utf8(json_value_t *json, const uint8_t *at) __attribute__((cold));

/* ---- texts and numbers (json_text.c) ---- */

/* What 16 bytes of a text within quotes are, as one bit for each. */
typedef struct {
    uint32_t stop; /* a quote, a backslash, or a control character */
    uint32_t high; /* no ASCII */
} json_marks_t;

/* Also copies them. */
JSON_INLINED json_marks_t json_marks_copy(const uint8_t *at, uint8_t *to) {
#if defined(__SSE2__)
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at), low = _mm_set1_epi8(0x1F);
    const __m128i stop = _mm_or_si128(
        _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))),
        _mm_cmpeq_epi8(_mm_min_epu8(bytes, low), bytes));
    _mm_storeu_si128((__m128i *)(void *)to, bytes);
    return (json_marks_t){(uint32_t)_mm_movemask_epi8(stop), (uint32_t)_mm_movemask_epi8(bytes)};
#else
    json_marks_t marks = {0, 0};
    for (uint32_t i = 0; i < 16; i++) {
        marks.stop |= (uint32_t)(at[i] == '"' || at[i] == '\\' || at[i] < ' ') << i;
        marks.high |= (uint32_t)(at[i] > 0x7F) << i;
    }
    memcpy(to, at, 16);
    return marks;
#endif
}

/* Copies a text whose first quote lies before `at`, and puts no NUL after it. `to` has room up to the limit and the margin. */
const uint8_t *json_text_long(json_value_t *json, const uint8_t *at, uint8_t *to, size_t *length);

/* Is a text in quotes short, without escapes, and plain ASCII? Then its length is known at once. */
JSON_INLINED bool json_is_short(const uint8_t *at, json_marks_t marks, size_t *length) {
    if (JSON_UNLIKELY(!marks.stop))
        return false;
    const uint32_t count = (uint32_t)__builtin_ctz(marks.stop);
    *length = count;
    return at[count] == '"' && !(marks.high & ((1u << count) - 1));
}

/* A text as a value. `at` follows its quote. */
JSON_INLINED const uint8_t *json_text(json_value_t *json, const uint8_t *at) {
    uint8_t *const out = json->out, *const to = out + 4;
    size_t length;
    if (JSON_LIKELY(json_is_short(at, json_marks_copy(at, to), &length))) {
        at += length + 1;
    } else {
        at = json_text_long(json, at, to, &length);
        if (JSON_UNLIKELY(!at))
            return NULL;
    }
    bsonw_int32(out, (int32_t)length + 1);
    to[length] = 0;
    json->out = to + length + 1;
    return at;
}

/* Writes a number at json->out, and its type. */
const uint8_t *json_number(json_value_t *json, const uint8_t *at, uint8_t *type);

/* Is a text that reads as this double another number, of which nothing is left but 0? */
bool json_vanishes(const uint8_t *text, size_t length, double value);

/* ---- typed values (json_typed.c) ---- */

typedef struct json_word json_word_t;

/* Does an object with this first key become a typed value? NULL: no. */
const json_word_t *json_word(const uint8_t *key);

/* The object that was written at `begin` becomes the value, or stays an object. json->typed: its first value, in the text. */
bool json_typed(json_value_t *json, const json_word_t *word, uint8_t *begin, uint8_t *type);

/* A value as the mongo shell spells it: anything that JSON has no value for. */
const uint8_t *json_shell(json_value_t *json, const uint8_t *at, uint8_t *type);

/* ---- types of a format (json_fields.c) ---- */

typedef struct json_fields json_fields_t;

json_fields_t *json_fields_new(const schema_t *schema, bad_values_t *bad); /* NULL: out of memory */
void json_fields_destroy(json_fields_t *fields);                           /* NULL is allowed */

/* Gives the values of this record's document in `out` their types; result->length is its length, then and now. After FULL and MEMORY the
 * document is as it was. A reject has no place. */
json_read_t json_fields_apply(json_fields_t *fields, const record_t *record, uint8_t *out, size_t room,
                              json_result_t *result);

#endif
