/* json_keys: is a key twice in one object? The keys of all objects of a document are in one hash table. It is not
 * emptied between documents: an entry counts only if its object belongs to the document at hand. */
#ifndef TIPPLE_FORMAT_JSON_JSON_KEYS_H
#define TIPPLE_FORMAT_JSON_JSON_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    uint32_t object, hash;
    uint32_t key;   /* where it is in the document, with a NUL after it */
    uint32_t place; /* where it is in the text */
} json_key_t;

typedef struct {
    json_key_t *slots;
    uint32_t mask, used, most; /* it grows when more than `most` are used */
    uint32_t first;            /* the first object of the document at hand */
    uint32_t next;             /* the number of the next object */
    uint64_t seed;             /* so that nobody can write keys that all have one hash */
} json_keys_t;

bool json_keys_begin(json_keys_t *keys); /* false: out of memory */
void json_keys_end(json_keys_t *keys);

/* For each new document. */
void json_keys_reset(json_keys_t *keys);

typedef enum { JSON_KEY_NEW, JSON_KEY_TWICE, JSON_KEY_MEMORY } json_key_found_t;

/* The rest of json_keys_add: what is not simply put into an empty slot. */
json_key_found_t json_keys_add_slowly(json_keys_t *keys, const json_key_t *key, const uint8_t *document,
                                      size_t length, uint32_t *before);

static inline uint64_t json_keys_mix(uint64_t a, uint64_t b) {
    const unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* 8 bytes after the key may be read. */
static inline uint32_t json_keys_hash(const json_keys_t *keys, const uint8_t *key, size_t length) {
    uint64_t first, last = 0, state = keys->seed ^ length;
    for (; length > 16; key += 8, length -= 8) {
        memcpy(&first, key, 8);
        state = json_keys_mix(state ^ first, 0x9E3779B97F4A7C15u);
    }
    memcpy(&first, key, 8);
    if (length > 8)
        memcpy(&last, key + length - 8, 8);
    else if (length)
        first <<= 8 * (8 - length);
    else
        first = 0;
    return (uint32_t)(json_keys_mix(first ^ state, last ^ 0xD6E8FEB86659FD93u) >> 16);
}

/* One more key of an object. text: the key's bytes, as they are in the document at key->key. TWICE: *before is the
 * place of the first one. */
__attribute__((always_inline)) static inline json_key_found_t
json_keys_add(json_keys_t *keys, uint32_t object, const uint8_t *text, size_t length, uint32_t place,
              const uint8_t *document, uint32_t at, uint32_t *before) {
    const json_key_t key = {object, json_keys_hash(keys, text, length), at, place};
    json_key_t *slot = &keys->slots[(key.hash + (object - keys->first) * 0x9E3779B1u) & keys->mask];
    if (__builtin_expect(slot->object < keys->first && keys->used < keys->most, 1)) {
        *slot = key;
        keys->used++;
        return JSON_KEY_NEW;
    }
    return json_keys_add_slowly(keys, &key, document, length, before);
}

#endif
