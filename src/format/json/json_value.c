#include "format/json/json_value.h"
#include "base/chars.h"
#include "format/json/json_inner.h"
#include "format/json/json_marks.h"
#include "format/record/record.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum { HEADER = 4 }; /* bytes of a document's length */

static const uint8_t *read_object(json_value_t *json, const uint8_t *at, uint8_t *type);

json_value_t *json_value_new(void) {
    json_value_t *json = calloc(1, sizeof *json);
    if (json && !json_keys_begin(&json->keys)) {
        free(json);
        return NULL;
    }
    if (json)
        json->object = read_object;
    return json;
}

void json_value_destroy(json_value_t *json) {
    if (!json)
        return;
    json_keys_end(&json->keys);
    free(json->scratch);
    free(json->moved);
    free(json);
}

/* ------------------------------------------------------------------------------------------------------ values */

/* Is a text in quotes short, without escapes, and plain ASCII? Then its length is known at once. */
JSON_INLINED bool is_short(const uint8_t *at, json_marks_t marks, size_t *length) {
    if (JSON_UNLIKELY(!marks.stop))
        return false;
    const uint32_t count = (uint32_t)__builtin_ctz(marks.stop);
    *length = count;
    return at[count] == '"' && !(marks.high & ((1u << count) - 1));
}

/* `at` is behind the quote. */
JSON_INLINED const uint8_t *read_text(json_value_t *json, const uint8_t *at, uint8_t *type) {
    uint8_t *const out = json->out, *const to = out + 4;
    size_t length;
    *type = BSON_TYPE_UTF8;
    if (JSON_LIKELY(is_short(at, json_marks_copy(at, to), &length))) {
        at += length + 1;
    } else {
        at = json_text_long(json, at, to, json->limit, &length);
        if (JSON_UNLIKELY(!at))
            return NULL;
    }
    bsonw_int32(out, (int32_t)length + 1);
    to[length] = 0;
    json->out = to + length + 1;
    return at;
}

static const uint8_t *read_array(json_value_t *json, const uint8_t *at);

JSON_INLINED bool is_word(const uint8_t *at, const char word[4]) {
    return memcmp(at, word, 4) == 0;
}

JSON_INLINED const uint8_t *read_value(json_value_t *json, const uint8_t *at, uint8_t *type) {
    at = json_blanks(json, at);
    switch (*at) {
    case '"':
        return read_text(json, at + 1, type);
    case '-':
    case '0' ... '9':
        return json_number(json, at, type);
    case '{':
        *type = BSON_TYPE_DOCUMENT;
        return read_object(json, at + 1, type);
    case '[':
        *type = BSON_TYPE_ARRAY;
        return read_array(json, at + 1);
    case 't':
        if (!is_word(at, "true"))
            break;
        *type = BSON_TYPE_BOOL;
        *json->out++ = 1;
        return at + 4;
    case 'f':
        if (memcmp(at, "false", 5) != 0)
            break;
        *type = BSON_TYPE_BOOL;
        *json->out++ = 0;
        return at + 5;
    case 'n':
        if (!is_word(at, "null"))
            break;
        *type = BSON_TYPE_NULL;
        return at + 4;
    default:
        break;
    }
    return json_shell(json, at, type);
}

/* Goes one level down. */
static bool descend(json_value_t *json, const uint8_t *at) {
    if (json_ended(json, at))
        return json_too_short(json);
    if (JSON_UNLIKELY(++json->level > JSON_MOST_LEVELS))
        return json_reject(json, at - 1, "it is nested deeper than the %d levels that a server stores",
                           JSON_MOST_LEVELS);
    return true;
}

/* After the last bracket of an object or array. */
JSON_INLINED const uint8_t *ascend(json_value_t *json, const uint8_t *at, uint8_t *begin) {
    *json->out++ = 0;
    json_put_length(begin, json->out);
    json->level--;
    if (JSON_UNLIKELY(json->out > json->limit))
        return json_full(json, json->out);
    return at;
}

/* -------------------------------------------------------------------------------------------------------- arrays */

/* The key of an array's element. */
JSON_INLINED uint8_t *put_index(uint8_t *out, uint32_t index) {
    if (JSON_LIKELY(index < 10)) {
        *out++ = (uint8_t)('0' + index);
    } else {
        uint8_t digits[10];
        int count = 0;
        for (; index; index /= 10)
            digits[count++] = (uint8_t)('0' + index % 10);
        while (count)
            *out++ = digits[--count];
    }
    *out++ = 0;
    return out;
}

/* `at` is behind the bracket. */
static const uint8_t *read_array(json_value_t *json, const uint8_t *at) {
    uint8_t *const begin = json->out;
    if (!descend(json, at))
        return NULL;
    json->out += HEADER;
    at = json_blanks(json, at);
    if (*at == ']' && at < json->end)
        return ascend(json, at + 1, begin);
    for (uint32_t index = 0;; index++) {
        uint8_t *const type = json->out;
        if (JSON_UNLIKELY(type > json->limit))
            return json_full(json, type);
        json->out = put_index(type + 1, index);
        at = read_value(json, at, type);
        if (JSON_UNLIKELY(!at))
            return json_within(json, type + 1);
        at = json_blanks(json, at);
        if (json_ended(json, at))
            return json_too_short(json);
        if (*at == ']')
            return ascend(json, at + 1, begin);
        if (JSON_UNLIKELY(*at != ','))
            return json_reject(json, at, "a comma or ] was expected here");
        at++;
        if (json_ended(json, at))
            return json_too_short(json);
    }
}

/* ------------------------------------------------------------------------------------------------------- objects */

/* What the shorter way does not take: with escapes, or not ASCII. */
static const uint8_t *read_long_key(json_value_t *json, const uint8_t *at, uint8_t *to, size_t *length) {
    const uint8_t *const next = json_text_long(json, at, to, json->limit, length);
    if (next && memchr(to, 0, *length))
        return json_reject(json, at - 1, "a key contains the character \\u0000");
    return next;
}

static const uint8_t *refuse_key(json_value_t *json, json_key_found_t found, const uint8_t *at,
                                 const uint8_t *key, uint32_t before) {
    return found == JSON_KEY_MEMORY ? json_memory(json) : json_reject_twice(json, at, key, before);
}

/* An _id of the text's own takes the place of ours, or will take it at the end. Returns where its element is now. */
static uint8_t *read_own_id(json_value_t *json, uint8_t *element) {
    json->has_own_id = true;
    if (!json->add_id)
        return element;
    uint8_t *const ours = json->start + HEADER;
    if (element != ours + JSON_ID_ELEMENT) {
        json->own_id = element;
        return element;
    }
    memcpy(ours + 1, "_id", 4);
    json->out = ours + 5;
    return ours;
}

/* A key, from its quote on, and the colon. *element: where the element begins. */
JSON_INLINED const uint8_t *read_key(json_value_t *json, const uint8_t *at, uint32_t object,
                                     uint8_t **element) {
    uint8_t *key = *element + 1;
    size_t length;
    if (JSON_UNLIKELY(*at != '"'))
        return json_reject(json, at, "a key in quotes was expected here");
    const uint8_t *const quote = at++, *hashed = at; /* what was just written would have to be waited for */
    if (JSON_LIKELY(is_short(at, json_marks_copy(at, key), &length))) {
        at += length + 1;
    } else {
        at = read_long_key(json, at, key, &length);
        if (JSON_UNLIKELY(!at))
            return NULL;
        hashed = key;
    }
    key[length] = 0;
    json->out = key + length + 1;
    if (JSON_UNLIKELY(json->level == 1 && length == 3 && memcmp(key, "_id", 4) == 0) && !json->has_own_id) {
        *element = read_own_id(json, *element);
        key = *element + 1;
    }
    uint32_t before;
    const json_key_found_t found =
        json_keys_add(&json->keys, object, hashed, length, (uint32_t)(quote - json->text), json->start,
                      (uint32_t)(key - json->start), &before);
    if (JSON_UNLIKELY(found != JSON_KEY_NEW))
        return refuse_key(json, found, quote, key, before);
    at = json_blanks(json, at);
    if (JSON_UNLIKELY(*at != ':'))
        return json_reject(json, at, "a colon was expected here, after the key");
    if (json_ended(json, at + 1))
        return json_too_short(json);
    return at + 1;
}

/* A timestamp that was just written, in the document itself, where it is to be loaded, and not as its _id. */
static bool is_replaced(const json_value_t *json, const uint8_t *element) {
    static const uint8_t zeros[8];
    return json->level == 1 && json->add_id && element != json->own_id && element != json->start + HEADER &&
           memcmp(json->out - sizeof zeros, zeros, sizeof zeros) == 0;
}

static void put_own_id(json_value_t *json) {
    bsonw_int64(memcpy(json->out, "\x12_id", 5) + 5, json->id);
    json->out += JSON_ID_ELEMENT;
}

static const uint8_t *read_object(json_value_t *json, const uint8_t *at, uint8_t *type) {
    uint8_t *const begin = json->out;
    const uint32_t object = json->keys.next++;
    if (!descend(json, at))
        return NULL;
    json->out += HEADER;
    if (json->level == 1 && json->add_id)
        put_own_id(json);
    at = json_blanks(json, at);
    if (*at == '}' && at < json->end)
        return ascend(json, at + 1, begin);
    for (;;) {
        uint8_t *element = json->out;
        if (JSON_UNLIKELY(element > json->limit))
            return json_full(json, element);
        at = read_key(json, at, object, &element);
        if (JSON_UNLIKELY(!at))
            return NULL;
        if (JSON_UNLIKELY(element[1] == '$') && type && element == begin + HEADER &&
            json_extended(json, &at, begin, type)) {
            json->level--;
            return at;
        }
        at = read_value(json, at, element);
        if (JSON_UNLIKELY(!at))
            return json_within(json, element + 1);
        if (JSON_UNLIKELY(*element == BSON_TYPE_TIMESTAMP) && is_replaced(json, element))
            return json_reject(json, at, RECORD_SERVER_REPLACES);
        if (JSON_UNLIKELY(element == json->own_id))
            json->own_id_end = json->out;
        at = json_blanks(json, at);
        if (json_ended(json, at))
            return json_too_short(json);
        if (*at == '}')
            return ascend(json, at + 1, begin);
        if (JSON_UNLIKELY(*at != ','))
            return json_reject(json, at, "a comma or } was expected here");
        at = json_blanks(json, at + 1);
        if (json_ended(json, at))
            return json_too_short(json);
    }
}

/* ------------------------------------------------------------------------------------------------- whole documents */

/* Puts the _id of the text's own where ours is. */
static bool move_own_id(json_value_t *json) {
    uint8_t *const ours = json->start + HEADER;
    const size_t length = (size_t)(json->own_id_end - json->own_id);
    if (!json_exchange(json, ours, json->own_id, json->own_id_end))
        return false;
    uint8_t *const behind = ours + length;
    memmove(behind, behind + JSON_ID_ELEMENT, (size_t)(json->out - behind) - JSON_ID_ELEMENT);
    json->out -= JSON_ID_ELEMENT;
    json_put_length(json->start, json->out);
    return true;
}

/* What follows the object may only be blanks. */
static bool read_whole(json_value_t *json) {
    const uint8_t *at = lines_blanks(json->text, json->end);
    if (json_ended(json, at)) {
        json_too_short(json);
        return false;
    }
    if (*at != '{')
        return json_reject(json, at, "a document must be an object, which begins with {");
    at = read_object(json, at + 1, NULL);
    if (!at)
        return false;
    at = lines_blanks(at, json->end);
    if (at < json->end)
        return json_reject(json, at, "something follows the document");
    if (json->own_id && !move_own_id(json))
        return false;
    return (size_t)(json->out - json->start) <= JSON_MOST_BYTES || json_too_large(json);
}

/* Why this is enough: two bytes of text ("0,") make at most 6 + 10 bytes (type, index, NUL, int32), and everything
 * else makes less for each of its bytes; the document itself and our _id take 18. */
static size_t most_needed(size_t length) {
    const size_t most = length > JSON_MOST_BYTES / 8 ? JSON_MOST_BYTES : 8 * length + 64;
    return (most < JSON_MOST_BYTES ? most : JSON_MOST_BYTES) + 2 * JSON_MARGIN;
}

json_read_t json_value_read(json_value_t *json, const uint8_t *text, size_t length, uint8_t *out, size_t room,
                            bool add_id, int64_t id, json_result_t *result) {
    *result = (json_result_t){.needed = most_needed(length)};
    if (room < JSON_MARGIN)
        return JSON_FULL;
    json->text = text;
    json->end = text + length;
    json->start = json->out = out;
    room -= JSON_MARGIN;
    json->limit = out + (room < JSON_MOST_WRITTEN ? room : JSON_MOST_WRITTEN);
    json->level = 0;
    json->add_id = add_id;
    json->id = id;
    json->own_id = NULL;
    json->has_own_id = false;
    json->scratch_used = 0;
    json->field_from = sizeof json->field - 1;
    json_keys_reset(&json->keys);
    if (length > INT32_MAX) {
        json_reject(json, text, "its text is larger than 2 GiB");
    } else if (read_whole(json)) {
        result->length = (uint32_t)(json->out - out);
        result->own_id = json->has_own_id;
        return JSON_DOCUMENT;
    }
    assert(json->failure != JSON_FULL || room + JSON_MARGIN < result->needed);
    if (json->failure == JSON_REJECT) {
        result->reason = json->reason;
        result->field = json->field[json->field_from] ? json->field + json->field_from : NULL;
        result->at = (size_t)(json->place - text);
    }
    return json->failure;
}

bool json_is_next(const json_value_t *json, const uint8_t *at, char character) {
    at = json_blanks(json, at);
    return at < json->end && *at == (uint8_t)character;
}

const uint8_t *json_expect(json_value_t *json, const uint8_t *at, char character, const char *sentence) {
    at = json_blanks(json, at);
    if (json_ended(json, at) || *at != (uint8_t)character)
        return json_reject(json, at, "%s", sentence);
    return at + 1;
}

enum { KEY_SHOWN = 60 };

const uint8_t *json_reject(json_value_t *json, const uint8_t *at, const char *format, ...) {
    json->failure = JSON_REJECT;
    json->place = at < json->end ? at : json->end;
    if (at >= json->end) {
        snprintf(json->reason, sizeof json->reason, "the text ends before the document does");
        return NULL;
    }
    va_list values;
    va_start(values, format);
    vsnprintf(json->reason, sizeof json->reason, format, values);
    va_end(values);
    return NULL;
}

const uint8_t *json_too_short(json_value_t *json) {
    return json_reject(json, json->end, " ");
}

const uint8_t *json_memory(json_value_t *json) {
    json->failure = JSON_MEMORY;
    return NULL;
}

const uint8_t *json_too_large(json_value_t *json) {
    json->failure = JSON_REJECT;
    json->place = json->text;
    snprintf(json->reason, sizeof json->reason, "its document is larger than 16 MiB");
    return NULL;
}

const uint8_t *json_full(json_value_t *json, const uint8_t *end) {
    if (end > json->start && (size_t)(end - json->start) > JSON_MOST_WRITTEN)
        return json_too_large(json);
    json->failure = JSON_FULL;
    return NULL;
}

const uint8_t *json_within(json_value_t *json, const uint8_t *key) {
    char shown[KEY_SHOWN * 4];
    if (json->failure != JSON_REJECT)
        return NULL;
    escape_text(shown, KEY_SHOWN, (const char *)key, strlen((const char *)key));
    const size_t length = strlen(shown), dot = json->field[json->field_from] != '\0';
    if (length + dot > json->field_from)
        return NULL; /* the outermost keys are left out */
    if (dot)
        json->field[--json->field_from] = '.';
    json->field_from -= length;
    memcpy(json->field + json->field_from, shown, length);
    return NULL;
}

const uint8_t *json_reject_twice(json_value_t *json, const uint8_t *at, const uint8_t *key, uint32_t before) {
    char shown[KEY_SHOWN];
    escape_text(shown, sizeof shown, (const char *)key, strlen((const char *)key));
    return json_reject(json, at, "the key \"%s\" is there twice: the first one is at byte %u", shown,
                       before + 1);
}
