/* Objects and arrays, their keys, and what is said about those that cannot be read. */
#include "base/chars.h"
#include "base/text.h"
#include "format/json/json_inner.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    HEADER = 4,                                   /* bytes of a document's length */
    ID_ELEMENT = 13,                              /* bytes of {_id: id} in a document */
    MOST_WRITTEN = JSON_MOST_BYTES + JSON_MARGIN, /* a typed value may be shorter than what it is made of */
    FIRST_SLOTS = 512,
    KEY_SHOWN = 60,
};

static const uint8_t *read_object(json_value_t *json, const uint8_t *at, uint8_t *type);
static const uint8_t *read_array(json_value_t *json, const uint8_t *at);

/* ---- failures ---- */

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

const uint8_t *json_reject_utf8(json_value_t *json, const uint8_t *at) {
    return json_reject(json, at, "this is not UTF-8: byte 0x%02X", *at);
}

const uint8_t *json_memory(json_value_t *json) {
    json->failure = JSON_MEMORY;
    return NULL;
}

static const uint8_t *too_large(json_value_t *json) {
    json_reject(json, json->text, JSON_TOO_LARGE);
    return NULL;
}

const uint8_t *json_full(json_value_t *json, const uint8_t *end) {
    if (end > json->start && (size_t)(end - json->start) > MOST_WRITTEN)
        return too_large(json);
    json->failure = JSON_FULL;
    return NULL;
}

/* The failure lies within the value of this key. */
static const uint8_t *within(json_value_t *json, const uint8_t *key) {
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

/* ---- keys ---- */

static void set_size(json_keys_t *keys, uint32_t slots) {
    keys->mask = slots - 1;
    keys->most = slots / 2;
}

static bool begin_keys(json_keys_t *keys) {
    keys->slots = calloc(FIRST_SLOTS, sizeof *keys->slots);
    keys->first = keys->next = 1;
    keys->seed = (uint64_t)(uintptr_t)keys->slots * 0x9E3779B97F4A7C15u;
    set_size(keys, FIRST_SLOTS);
    return keys->slots;
}

/* For each new document. */
static void reset_keys(json_keys_t *keys) {
    if (keys->next > UINT32_MAX / 2) {
        memset(keys->slots, 0, ((size_t)keys->mask + 1) * sizeof *keys->slots);
        keys->next = 1;
    }
    keys->first = keys->next;
    keys->used = 0;
}

JSON_INLINED uint64_t mix(uint64_t a, uint64_t b) {
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 8 bytes after the key may be read. */
JSON_INLINED uint32_t hash(const json_keys_t *keys, const uint8_t *key, size_t length) {
    uint64_t first, last = 0, state = keys->seed ^ length;
    for (; length > 16; key += 8, length -= 8) {
        memcpy(&first, key, 8);
        state = mix(state ^ first, 0x9E3779B97F4A7C15u);
    }
    memcpy(&first, key, 8);
    if (length > 8)
        memcpy(&last, key + length - 8, 8);
    else
        first = length ? first << (8 * (8 - length)) : 0;
    return (uint32_t)(mix(first ^ state, last ^ 0xD6E8FEB86659FD93u) >> 16);
}

JSON_INLINED json_key_t *slot_of(const json_keys_t *keys, const json_key_t *key) {
    return &keys->slots[(key->hash + (key->object - keys->first) * 0x9E3779B1u) & keys->mask];
}

static json_key_t *slot_after(const json_keys_t *keys, const json_key_t *slot) {
    return &keys->slots[(size_t)(slot - keys->slots + 1) & keys->mask];
}

static bool grow_keys(json_keys_t *keys) {
    json_keys_t larger = *keys;
    set_size(&larger, (keys->mask + 1) * 4);
    larger.slots = calloc((size_t)larger.mask + 1, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (const json_key_t *old = keys->slots; old <= keys->slots + keys->mask; old++) {
        json_key_t *slot = slot_of(&larger, old);
        if (old->object < keys->first)
            continue;
        while (slot->object >= keys->first)
            slot = slot_after(&larger, slot);
        *slot = *old;
    }
    free(keys->slots);
    *keys = larger;
    return true;
}

/* What is not simply put into an empty slot. at: the key in the text. */
static const uint8_t *add_key_slowly(json_value_t *json, const json_key_t *key, size_t length,
                                     const uint8_t *at) {
    json_keys_t *const keys = &json->keys;
    char shown[KEY_SHOWN];
    if (keys->used >= keys->most && !grow_keys(keys))
        return json_memory(json);
    json_key_t *slot = slot_of(keys, key);
    for (; slot->object >= keys->first; slot = slot_after(keys, slot))
        if (slot->object == key->object && slot->hash == key->hash &&
            memcmp(json->start + slot->key, json->start + key->key, length + 1) == 0) {
            escape_text(shown, sizeof shown, (const char *)json->start + key->key, length);
            return json_reject(json, at, "the key \"%s\" is there twice: the first one is at byte %u", shown,
                               slot->place + 1);
        }
    *slot = *key;
    keys->used++;
    return at;
}

/* text: the key's bytes, as they are in the document at `key`. at: its quote. NULL: it is there twice. */
JSON_INLINED const uint8_t *add_key(json_value_t *json, uint32_t object, const uint8_t *text, size_t length,
                                    const uint8_t *key, const uint8_t *at) {
    json_keys_t *const keys = &json->keys;
    const json_key_t added = {object, hash(keys, text, length), (uint32_t)(key - json->start),
                              (uint32_t)(at - json->text)};
    json_key_t *const slot = slot_of(keys, &added);
    if (JSON_UNLIKELY(slot->object >= keys->first || keys->used >= keys->most))
        return add_key_slowly(json, &added, length, at);
    *slot = added;
    keys->used++;
    return at;
}

/* ---- values ---- */

const uint8_t *json_blanks_slowly(json_value_t *json, const uint8_t *at) {
    for (; at < json->end && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'); at++)
        json->lines += *at == '\n';
    return at;
}

JSON_INLINED const uint8_t *read_value(json_value_t *json, const uint8_t *at, uint8_t *type) {
    at = json_blanks(json, at);
    switch (*at) {
    case '"':
        *type = BSON_TYPE_UTF8;
        return json_text(json, at + 1);
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
        if (memcmp(at, "true", 4) != 0)
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
        if (memcmp(at, "null", 4) != 0)
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
    json->out += HEADER;
    return true;
}

/* After the last bracket of an object or array. */
JSON_INLINED const uint8_t *ascend(json_value_t *json, const uint8_t *at, uint8_t *begin) {
    *json->out++ = 0;
    bsonw_int32(begin, (int32_t)(json->out - begin));
    json->level--;
    if (JSON_UNLIKELY(json->out > json->limit))
        return json_full(json, json->out);
    return at;
}

/* ---- keys of members ---- */

/* An _id of the text's own takes the place of ours, or will take it at the end. Returns where its element is now. */
static uint8_t *read_own_id(json_value_t *json, uint8_t *element) {
    json->has_own_id = true;
    if (!json->add_id)
        return element;
    uint8_t *const ours = json->start + HEADER;
    if (element != ours + ID_ELEMENT) {
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
    if (JSON_LIKELY(json_is_short(at, json_marks_copy(at, key), &length))) {
        at += length + 1;
    } else {
        at = json_text_long(json, at, key, &length);
        if (JSON_UNLIKELY(!at))
            return NULL;
        if (memchr(key, 0, length))
            return json_reject(json, quote, "a key contains the character \\u0000");
        hashed = key;
    }
    key[length] = 0;
    json->out = key + length + 1;
    if (JSON_UNLIKELY(json->level == 1 && length == 3 && memcmp(key, "_id", 4) == 0) && !json->has_own_id) {
        *element = read_own_id(json, *element);
        key = *element + 1;
    }
    if (JSON_UNLIKELY(!add_key(json, object, hashed, length, key, quote)))
        return NULL;
    at = json_blanks(json, at);
    if (JSON_UNLIKELY(*at != ':'))
        return json_reject(json, at, "a colon was expected here, after the key");
    if (json_ended(json, at + 1))
        return json_too_short(json);
    return at + 1;
}

/* True for a timestamp that was just written, if a server stores the time of day in its place. */
static bool is_zero(const json_value_t *json) {
    static const uint8_t zeros[8];
    return memcmp(json->out - sizeof zeros, zeros, sizeof zeros) == 0;
}

/* The same in the document itself, where it is to be loaded, and not as its _id. */
static bool is_replaced(const json_value_t *json, const uint8_t *element) {
    return json->level == 1 && json->add_id && element != json->own_id && element != json->start + HEADER &&
           is_zero(json);
}

static void put_own_id(json_value_t *json) {
    bsonw_int64(memcpy(json->out, "\x12_id", 5) + 5, json->id);
    json->out += ID_ELEMENT;
}

/* ---- objects and arrays ---- */

/* Both are members between brackets, with commas; those of an array have their index for a key. `at` follows the bracket. type:
 * of the element that it is; NULL: it is never a typed value. */
JSON_INLINED const uint8_t *read_members(json_value_t *json, const uint8_t *at, uint8_t *type, bool array) {
    const uint8_t close = array ? ']' : '}';
    uint8_t *const begin = json->out;
    const uint32_t object = json->keys.next++;
    const json_word_t *word = NULL;
    const uint8_t *first = NULL; /* the first value, where there is a word */
    if (!descend(json, at))
        return NULL;
    if (!array && json->level == 1 && json->add_id)
        put_own_id(json);
    at = json_blanks(json, at);
    if (*at == close && at < json->end)
        return ascend(json, at + 1, begin);
    for (uint32_t index = 0;; index++) {
        uint8_t *element = json->out;
        if (JSON_UNLIKELY(element > json->limit))
            return json_full(json, element);
        if (array) {
            json->out = bsonw_index(element + 1, index);
        } else {
            at = read_key(json, at, object, &element);
            if (JSON_UNLIKELY(!at))
                return NULL;
            if (JSON_UNLIKELY(element[1] == '$') && type && index == 0 && (word = json_word(element + 1)))
                first = json_blanks(json, at);
        }
        at = read_value(json, at, element);
        if (JSON_UNLIKELY(!at))
            return within(json, element + 1);
        if (!array && JSON_UNLIKELY(*element == BSON_TYPE_TIMESTAMP) && is_replaced(json, element))
            return json_reject(json, at, RECORD_SERVER_REPLACES);
        if (!array && JSON_UNLIKELY(element == json->own_id))
            json->own_id_end = json->out;
        at = json_blanks(json, at);
        if (json_ended(json, at))
            return json_too_short(json);
        if (*at == close)
            break;
        if (JSON_UNLIKELY(*at != ','))
            return json_reject(json, at, "a comma or %c was expected here", close);
        at = json_blanks(json, at + 1);
        if (json_ended(json, at))
            return json_too_short(json);
    }
    at = ascend(json, at + 1, begin);
    if (array || JSON_LIKELY(!word) || !at)
        return at;
    json->typed = first;
    return json_typed(json, word, begin, type) ? at : NULL;
}

static const uint8_t *read_array(json_value_t *json, const uint8_t *at) {
    return read_members(json, at, NULL, true);
}

static const uint8_t *read_object(json_value_t *json, const uint8_t *at, uint8_t *type) {
    return read_members(json, at, type, false);
}

/* ---- whole documents ---- */

/* Puts the _id of the text's own where ours is. */
static bool move_own_id(json_value_t *json) {
    uint8_t *const ours = json->start + HEADER;
    const size_t length = (size_t)(json->own_id_end - json->own_id);
    if (!GROW(json->moved, json->moved_room, length, NULL))
        return json_memory(json);
    memcpy(json->moved, json->own_id, length);
    memmove(ours + length, ours + ID_ELEMENT, (size_t)(json->own_id - ours) - ID_ELEMENT);
    memcpy(ours, json->moved, length);
    memmove(json->own_id_end - ID_ELEMENT, json->own_id_end, (size_t)(json->out - json->own_id_end));
    json->out -= ID_ELEMENT;
    bsonw_int32(json->start, (int32_t)(json->out - json->start));
    return true;
}

/* `at` is the object's bracket. Returns what follows the object. */
static const uint8_t *read_document(json_value_t *json, const uint8_t *at) {
    at = read_object(json, at + 1, NULL);
    if (!at || (json->own_id && !move_own_id(json)))
        return NULL;
    return (size_t)(json->out - json->start) <= JSON_MOST_BYTES ? at : too_large(json);
}

/* Blanks around an object, and nothing else. */
static const uint8_t *read_whole(json_value_t *json) {
    const uint8_t *at = lines_blanks(json->text, json->end);
    if (json_ended(json, at))
        return json_too_short(json);
    if (*at != '{')
        return json_reject(json, at, "a document must be an object, which begins with {");
    at = read_document(json, at);
    at = at ? lines_blanks(at, json->end) : NULL;
    return at && at < json->end ? json_reject(json, at, "something follows the document") : at;
}

/* Why this is enough: two bytes of text ("0,") make at most 6 + 10 bytes (type, index, NUL, int32), and everything
 * else makes less for each of its bytes; the document itself and our _id take 18. */
static size_t most_needed(size_t length) {
    return (length < JSON_MOST_BYTES / JSON_TIMES ? length * JSON_TIMES : JSON_MOST_BYTES) + JSON_AROUND;
}

/* False: there is no room. */
static bool begin(json_value_t *json, const uint8_t *text, size_t length, uint8_t *out, size_t room,
                  const int64_t *id, json_result_t *result) {
    *result = (json_result_t){.needed = most_needed(length)};
    if (room < JSON_MARGIN)
        return false;
    json->text = text;
    json->end = text + length;
    json->start = json->out = out;
    room -= JSON_MARGIN;
    json->limit = out + (room < MOST_WRITTEN ? room : MOST_WRITTEN);
    json->level = 0;
    json->lines = 0;
    json->slashes = false;
    json->add_id = id;
    json->id = id ? *id : 0;
    json->own_id = NULL;
    json->has_own_id = false;
    json->field_from = sizeof json->field - 1;
    reset_keys(&json->keys);
    return true;
}

/* at: what follows what was read; NULL: it could not be. */
static json_read_t end(const json_value_t *json, const uint8_t *at, json_result_t *result) {
    if (at) {
        result->length = (uint32_t)(json->out - json->start);
        result->own_id = json->has_own_id;
        result->end = (size_t)(at - json->text);
        result->lines = json->lines;
        result->slashes = json->slashes;
        return JSON_DOCUMENT;
    }
    if (json->failure == JSON_REJECT) {
        result->reason = json->reason;
        result->field = json->field[json->field_from] ? json->field + json->field_from : NULL;
        result->at = (size_t)(json->place - json->text);
    }
    return json->failure;
}

json_read_t json_value_read(json_value_t *json, const uint8_t *text, size_t length, uint8_t *out, size_t room,
                            bool add_id, int64_t id, json_result_t *result) {
    if (!begin(json, text, length, out, room, add_id ? &id : NULL, result))
        return JSON_FULL;
    const uint8_t *const at =
        length > INT32_MAX ? json_reject(json, text, "its text is larger than 2 GiB") : read_whole(json);
    assert(at || json->failure != JSON_FULL || room < result->needed);
    return end(json, at, result);
}

json_read_t json_value_object(json_value_t *json, const uint8_t *text, size_t length, uint8_t *out,
                              size_t room, bool add_id, int64_t id, json_result_t *result) {
    if (!begin(json, text, length, out, room, add_id ? &id : NULL, result))
        return JSON_FULL;
    return end(json, read_document(json, text), result);
}

uint8_t *json_value_alone(json_value_t *json, const uint8_t *text, size_t length, uint8_t *out, uint8_t *type,
                          bool *memory) {
    json_result_t result;
    begin(json, text, length, out, most_needed(length), NULL, &result);
    json->level = 1; /* as a member of a document */
    const uint8_t *at = read_value(json, text, type);
    *memory |= !at && json->failure == JSON_MEMORY;
    return at && json_blanks(json, at) == json->end && !(*type == BSON_TYPE_TIMESTAMP && is_zero(json))
               ? json->out
               : NULL;
}

json_value_t *json_value_new(void) {
    json_value_t *json = calloc(1, sizeof *json);
    if (json && !begin_keys(&json->keys)) {
        free(json);
        return NULL;
    }
    return json;
}

void json_value_destroy(json_value_t *json) {
    if (!json)
        return;
    free(json->keys.slots);
    free(json->moved);
    free(json);
}
