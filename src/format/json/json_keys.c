#include "format/json/json_keys.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 512 };

static json_key_t *slot_of(const json_keys_t *keys, uint32_t object, uint32_t hash) {
    return &keys->slots[(hash + (object - keys->first) * 0x9E3779B1u) & keys->mask];
}

static void set_size(json_keys_t *keys, uint32_t slots) {
    keys->mask = slots - 1;
    keys->most = slots / 2;
}

bool json_keys_begin(json_keys_t *keys) {
    keys->slots = calloc(FIRST_SLOTS, sizeof *keys->slots);
    keys->used = 0;
    keys->first = keys->next = 1; /* an empty slot has object 0 */
    keys->seed = (uint64_t)(uintptr_t)keys->slots * 0x9E3779B97F4A7C15u;
    set_size(keys, FIRST_SLOTS);
    return keys->slots;
}

void json_keys_end(json_keys_t *keys) {
    free(keys->slots);
    keys->slots = NULL;
}

void json_keys_reset(json_keys_t *keys) {
    if (keys->next > UINT32_MAX / 2) {
        memset(keys->slots, 0, ((size_t)keys->mask + 1) * sizeof *keys->slots);
        keys->next = 1;
    }
    keys->first = keys->next;
    keys->used = 0;
}

static json_key_t *empty_slot(const json_keys_t *keys, const json_key_t *key) {
    json_key_t *slot = slot_of(keys, key->object, key->hash);
    while (slot->object >= keys->first)
        slot = &keys->slots[(size_t)(slot - keys->slots + 1) & keys->mask];
    return slot;
}

static bool grow(json_keys_t *keys) {
    json_keys_t larger = *keys;
    set_size(&larger, (keys->mask + 1) * 4);
    larger.slots = calloc((size_t)larger.mask + 1, sizeof *larger.slots);
    if (!larger.slots)
        return false;
    for (size_t i = 0; i <= keys->mask; i++)
        if (keys->slots[i].object >= keys->first)
            *empty_slot(&larger, &keys->slots[i]) = keys->slots[i];
    free(keys->slots);
    *keys = larger;
    return true;
}

json_key_found_t json_keys_add_slowly(json_keys_t *keys, const json_key_t *key, const uint8_t *document,
                                      size_t length, uint32_t *before) {
    if (keys->used >= keys->most && !grow(keys))
        return JSON_KEY_MEMORY;
    json_key_t *slot = slot_of(keys, key->object, key->hash);
    for (; slot->object >= keys->first; slot = &keys->slots[(size_t)(slot - keys->slots + 1) & keys->mask])
        if (slot->object == key->object && slot->hash == key->hash &&
            memcmp(document + slot->key, document + key->key, length + 1) == 0) {
            *before = slot->place;
            return JSON_KEY_TWICE;
        }
    *slot = *key;
    keys->used++;
    return JSON_KEY_NEW;
}
