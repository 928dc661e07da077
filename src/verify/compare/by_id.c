#include "verify/compare/by_id.h"
#include "base/document.h"
#include "base/text.h"
#include "format/record/bsonw.h"
#include "verify/compare/id_hash.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MOST = 1000, MOST_BYTES = 4 << 20, SLOTS = 4096, NONE = UINT32_MAX };

typedef struct {
    by_id_found_t found;
    uint64_t content; /* the hash of a long document, of which only the `_id` is kept; else 0 */
    size_t start;
    uint32_t next; /* of the same slot */
} wanted_t;

struct by_id {
    uint8_t *bytes; /* the documents, or {_id} of a long one, back to back */
    size_t used, room;
    wanted_t wanted[MOST];
    uint32_t count;
    uint32_t slots[SLOTS];
};

by_id_t *by_id_new(err_t *err) {
    by_id_t *by_id = calloc(1, sizeof *by_id);
    if (!by_id)
        err_memory(err, sizeof *by_id);
    else
        by_id_clear(by_id);
    return by_id;
}

void by_id_free(by_id_t *by_id) {
    if (!by_id)
        return;
    by_id_clear(by_id);
    free(by_id->bytes);
    free(by_id);
}

void by_id_clear(by_id_t *by_id) {
    for (uint32_t i = 0; i < by_id->count; i++)
        free(by_id->wanted[i].found.other);
    by_id->count = 0;
    by_id->used = 0;
    for (size_t i = 0; i < SLOTS; i++)
        by_id->slots[i] = NONE;
}

bool by_id_is_full(const by_id_t *by_id) {
    return by_id->count == MOST || by_id->used >= MOST_BYTES || by_id->wanted[by_id->count - 1].content;
}

bool by_id_expect(by_id_t *by_id, size_t tag, const uint8_t *document, uint32_t length, err_t *err) {
    wanted_t *wanted = &by_id->wanted[by_id->count];
    uint32_t kept = length;
    bson_iter_t id; /* the first element */
    if (length > MOST_BYTES && bson_iter_init_from_data(&id, document, length) && element_next(&id))
        kept = id.next_off + 1;
    if (!GROW(by_id->bytes, by_id->room, by_id->used + kept, err))
        return false;
    uint8_t *end = mempcpy(by_id->bytes + by_id->used, document, kept);
    bsonw_int32(end - kept, (int32_t)kept);
    end[-1] = 0;
    *wanted = (wanted_t){.start = by_id->used, .content = kept < length ? XXH3_64bits(document, length) : 0};
    wanted->found = (by_id_found_t){
        .tag = tag, .hash = id_hash(document, length), .id_length = kept, .expected_length = length};
    uint32_t *slot = &by_id->slots[wanted->found.hash % SLOTS];
    wanted->next = *slot;
    *slot = by_id->count++;
    by_id->used += kept;
    return true;
}

static bool is_same(const by_id_t *by_id, const wanted_t *wanted, const uint8_t *stored, uint32_t length) {
    if (wanted->found.expected_length != length)
        return false;
    return wanted->content ? XXH3_64bits(stored, length) == wanted->content
                           : memcmp(by_id->bytes + wanted->start, stored, length) == 0;
}

static bool compare(by_id_t *by_id, wanted_t *wanted, const uint8_t *stored, uint32_t length, err_t *err) {
    if (!wanted->found.same && is_same(by_id, wanted, stored, length)) {
        wanted->found.same = true;
        return true;
    }
    if (!wanted->found.others++) {
        if (!(wanted->found.other = malloc(length)))
            return err_memory(err, length);
        memcpy(wanted->found.other, stored, length);
        wanted->found.other_length = length;
    }
    return true;
}

static bool take_stored(by_id_t *by_id, const uint8_t *stored, uint32_t length, err_t *err) {
    const uint64_t hash = id_hash(stored, length);
    for (uint32_t at = by_id->slots[hash % SLOTS]; at != NONE; at = by_id->wanted[at].next) {
        if (by_id->wanted[at].found.hash == hash && !compare(by_id, &by_id->wanted[at], stored, length, err))
            return false;
    }
    return true;
}

static bool is_missing(const wanted_t *wanted) {
    return !wanted->found.same && !wanted->found.others;
}

static void append_id(const by_id_t *by_id, uint32_t at, uint32_t index, bson_t *to) {
    const wanted_t *wanted = &by_id->wanted[at];
    char text[16];
    const char *key;
    bson_t document;
    bson_iter_t id;
    bson_uint32_to_string(index, &key, text, sizeof text);
    if (bson_init_static(&document, by_id->bytes + wanted->start, wanted->found.id_length) &&
        element_of(&document, "_id", &id))
        element_append(to, key, &id);
}

/* What is missing of [from, to), in one question. only: all that comes is of this one. */
static bool ask(by_id_t *by_id, snapshot_read_t *target, uint32_t from, uint32_t to, wanted_t *only,
                uint64_t *seen, uint64_t *bytes, err_t *err) {
    bson_t filter = BSON_INITIALIZER, id, list;
    const uint8_t *stored;
    uint32_t length;
    int got;
    uint32_t count = 0;
    bool ok = true;
    BSON_APPEND_DOCUMENT_BEGIN(&filter, "_id", &id);
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(&id, "$in", &list);
    for (uint32_t i = from; i < to; i++)
        if (is_missing(&by_id->wanted[i]))
            append_id(by_id, i, count++, &list);
    bson_append_array_end(&id, &list);
    bson_append_document_end(&filter, &id);
    snapshot_read_begin_filter(target, &filter);
    bson_destroy(&filter);
    while (ok && (got = snapshot_read_next(target, &stored, &length, err)) > 0) {
        ++*seen;
        *bytes += length;
        ok = only ? compare(by_id, only, stored, length, err) : take_stored(by_id, stored, length, err);
    }
    return ok && got == 0;
}

/* Has the server documents under the `_id`s of those that are missing? {a: 1} and {a: 1.0} are one `_id`, and where there is
 * a collation, "a" and "A". */
static bool ask_for_others(by_id_t *by_id, snapshot_read_t *target, bool *any, err_t *err) {
    wanted_t all = {.next = NONE};
    uint64_t again = 0, again_bytes = 0; /* seen already, as documents of others or of nobody */
    const bool ok = ask(by_id, target, 0, by_id->count, &all, &again, &again_bytes, err);
    *any = all.found.others;
    free(all.found.other);
    return ok;
}

bool by_id_ask(by_id_t *by_id, snapshot_read_t *target, uint64_t *seen, uint64_t *bytes, err_t *err) {
    uint64_t again = 0, again_bytes = 0;
    uint32_t missing = 0;
    bool any = true;
    if (by_id->count && !ask(by_id, target, 0, by_id->count, NULL, seen, bytes, err))
        return false;
    for (uint32_t i = 0; i < by_id->count; i++)
        missing += is_missing(&by_id->wanted[i]);
    if (missing > 1 && !ask_for_others(by_id, target, &any, err))
        return false;
    for (uint32_t i = 0; missing && any && i < by_id->count; i++) {
        wanted_t *wanted = &by_id->wanted[i];
        if (is_missing(wanted) && !ask(by_id, target, i, i + 1, wanted, &again, &again_bytes, err))
            return false;
    }
    return true;
}

size_t by_id_count(const by_id_t *by_id) {
    return by_id->count;
}

by_id_found_t by_id_found(const by_id_t *by_id, size_t at) {
    const wanted_t *wanted = &by_id->wanted[at];
    by_id_found_t found = wanted->found;
    found.id = by_id->bytes + wanted->start;
    found.expected = wanted->content ? NULL : found.id;
    return found;
}
