#include "server/chunks/shardkey.h"
#include "base/document.h"
#include "server/chunks/keyorder.h"
#include "server/collection.h"

#include <stdlib.h>
#include <string.h>

bool shardkey_read(const bson_t *spec, shardkey_t *key) {
    bson_iter_t at;
    *key = (shardkey_t){.count = 0};
    bson_copy_to(spec, &key->spec);
    for (bool more = bson_iter_init(&at, &key->spec); more && bson_iter_next(&at);) {
        if (key->count == SHARDKEY_MOST_FIELDS) {
            shardkey_free(key);
            return false;
        }
        key->fields[key->count].path = bson_iter_key(&at);
        key->fields[key->count++].hashed = BSON_ITER_HOLDS_UTF8(&at);
    }
    key->id_first = key->count && strcmp(key->fields[0].path, "_id") == 0 && !key->fields[0].hashed;
    key->is_id = key->id_first && key->count == 1;
    if (!key->count)
        shardkey_free(key);
    return key->count > 0;
}

bool shardkey_same(const shardkey_t *a, const shardkey_t *b) {
    size_t same = 0;
    while (same < a->count && same < b->count && a->fields[same].hashed == b->fields[same].hashed &&
           strcmp(a->fields[same].path, b->fields[same].path) == 0)
        same++;
    return same == a->count && same == b->count;
}

bson_t *shardkey_from(const shardkey_t *key, int64_t first) {
    bson_t *from = bson_new();
    bson_append_int64(from, key->fields[0].path, -1, first);
    for (size_t i = 1; i < key->count; i++)
        bson_append_minkey(from, key->fields[i].path, -1);
    return from;
}

/* A field without a colon is ascending. */
static char *with_directions(const char *text) {
    char *whole = malloc(3 * strlen(text) + 3), *out = whole;
    for (const char *part = text; whole;) {
        size_t length = strcspn(part, ",");
        memcpy(out, part, length);
        out += length;
        if (length && !memchr(part, ':', length))
            out = stpcpy(out, ":1");
        *out++ = part[length];
        if (!part[length])
            break;
        part += length + 1;
    }
    return whole;
}

static bool refuse(const char *text, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "--shard-key '%s': ascending fields, one of which may be hashed, were expected, such as "
                   "_id, st:hashed or st:1,ts:1",
                   text);
}

bool shardkey_parse(const char *text, shardkey_t *key, err_t *err) {
    index_spec_t index;
    bson_iter_t at;
    char *whole = with_directions(text);
    bool parsed = whole ? collection_parse_index(whole, &index, err) : err_memory(err, strlen(text));
    free(whole);
    if (!parsed)
        return err->status == STATUS_USAGE ? refuse(text, err) : false;
    bool ok = bson_iter_init(&at, &index.keys) && !bson_count_keys(&index.options);
    size_t hashed = 0;
    while (ok && bson_iter_next(&at)) {
        bool is_hashed = BSON_ITER_HOLDS_UTF8(&at) && strcmp(bson_iter_utf8(&at, NULL), "hashed") == 0;
        bool is_up = !BSON_ITER_HOLDS_UTF8(&at) && bson_iter_as_int64(&at) == 1;
        hashed += is_hashed;
        ok = (is_hashed || is_up) && hashed < 2;
    }
    if (!ok)
        refuse(text, err);
    else if (!(ok = shardkey_read(&index.keys, key)))
        err_set(err, STATUS_USAGE, "--shard-key '%s': 1 to %d fields were expected", text,
                SHARDKEY_MOST_FIELDS);
    collection_free_index(&index);
    return ok;
}

void shardkey_free(shardkey_t *key) {
    bson_destroy(&key->spec);
    bson_init(&key->spec);
    key->count = 0;
}

typedef enum { FOUND, MISSING, UNKNOWN } found_t;

/* Follows a dotted path. Unknown: there is an array on the way, or at its end, which cannot be part of a shard key, or bytes that
 * are no element, behind which the field may be. */
static found_t find(const bson_t *document, const char *path, bson_iter_t *at) {
    bson_iter_t inner;
    if (!bson_iter_init(at, document))
        return UNKNOWN;
    for (;;) {
        const size_t length = strcspn(path, ".");
        if (!element_find(at, path, length))
            return at->err_off ? UNKNOWN : MISSING;
        if (BSON_ITER_HOLDS_ARRAY(at))
            return UNKNOWN;
        if (!path[length])
            return FOUND;
        if (!BSON_ITER_HOLDS_DOCUMENT(at))
            return MISSING;
        if (!bson_iter_recurse(at, &inner))
            return UNKNOWN;
        *at = inner;
        path += length + 1;
    }
}

/* The types of nearly all keys: their order needs no further check. */
static bool is_plain(bson_type_t type) {
    return type == BSON_TYPE_UTF8 || type == BSON_TYPE_INT32 || type == BSON_TYPE_INT64 ||
           type == BSON_TYPE_DOUBLE || type == BSON_TYPE_DATE_TIME;
}

bool shardkey_of(const shardkey_t *key, hashed_t *hashed, const uint8_t *document, uint32_t length,
                 bson_t *values) {
    bson_t whole;
    bool clear = true;
    bson_reinit(values);
    if (!bson_init_static(&whole, document, length))
        return false;
    for (size_t i = 0; i < key->count; i++) {
        const char *path = key->fields[i].path;
        bson_iter_t at;
        int64_t hash;
        found_t found = find(&whole, path, &at);
        if (found == UNKNOWN)
            return false;
        if (key->fields[i].hashed) {
            if (!hashed_value(hashed, found == FOUND ? &at : NULL, &hash))
                return false;
            bson_append_int64(values, path, -1, hash);
        } else if (found == FOUND) {
            element_append(values, path, &at);
            clear &= is_plain(bson_iter_type(&at));
        } else {
            bson_append_null(values, path, -1);
        }
    }
    return clear || keyorder_is_clear(values);
}

bson_t *shardkey_end(const shardkey_t *key, bool greatest) {
    bson_t *end = bson_new();
    for (size_t i = 0; i < key->count; i++) {
        if (greatest)
            bson_append_maxkey(end, key->fields[i].path, -1);
        else
            bson_append_minkey(end, key->fields[i].path, -1);
    }
    return end;
}
