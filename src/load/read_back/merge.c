#include "load/read_back/merge.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* Reads the 64-bit `_id` that all of our documents start with: length, type, "_id", value. */
static bool read_id(const uint8_t *document, uint32_t length, int64_t *id) {
    static const uint8_t head[] = {0x12, '_', 'i', 'd', 0};
    if (length < 4 + sizeof head + sizeof *id || memcmp(document + 4, head, sizeof head) != 0)
        return false;
    memcpy(id, document + 4 + sizeof head, sizeof *id);
    return true;
}

/* Goes to the next stored document that has a place, and reports those without one. */
static bool step(merge_t *merge, err_t *err) {
    for (;;) {
        int got = merge->next(merge->context, &merge->stored, &merge->length, err);
        if (got <= 0) {
            merge->stored = NULL;
            return got == 0;
        }
        merge->seen++;
        if (read_id(merge->stored, merge->length, &merge->id))
            return true;
        merge_found_t unrelated = {
            .kind = MERGE_UNRELATED, .stored = merge->stored, .stored_length = merge->length};
        if (!merge->report(merge->context, &unrelated, err))
            return false;
    }
}

bool merge_begin(merge_t *merge, err_t *err) {
    merge->seen = merge->same = 0;
    return step(merge, err);
}

static bool tell_stored(merge_t *merge, merge_kind_t kind, err_t *err) {
    merge_found_t found = {
        .kind = kind, .id = merge->id, .stored = merge->stored, .stored_length = merge->length};
    return merge->report(merge->context, &found, err);
}

static bool is_at(const merge_t *merge, int64_t id) {
    return merge->stored && merge->id == id;
}

static bool step_over(merge_t *merge, merge_kind_t kind, err_t *err) {
    return tell_stored(merge, kind, err) && step(merge, err);
}

typedef struct {
    const uint8_t *document; /* NULL: only its hash is known */
    uint32_t length;         /* 0: nothing is expected */
    uint64_t hash;
} expected_t;

static bool is_same(const merge_t *merge, const expected_t *expected) {
    if (merge->length != expected->length)
        return false;
    return expected->document ? memcmp(merge->stored, expected->document, merge->length) == 0
                              : XXH3_64bits(merge->stored, merge->length) == expected->hash;
}

static merge_found_t found_at(merge_kind_t kind, int64_t id, const expected_t *expected) {
    return (merge_found_t){
        .kind = kind, .id = id, .expected = expected->document, .expected_length = expected->length};
}

/* Several documents may have the `_id`, one on each shard, in any order. Only after the last is it known whether the expected one
 * is among them. The first other one is kept until then; all further ones are duplicates in either case. */
static bool compare(merge_t *merge, int64_t id, const expected_t *expected, err_t *err) {
    merge_found_t other = found_at(MERGE_CHANGED, id, expected);
    uint8_t *kept = NULL;
    bool same = false, ok = true;
    while (ok && is_at(merge, id)) {
        if (!same && is_same(merge, expected)) {
            same = true;
            merge->same++;
        } else if (!kept) {
            if (!(kept = malloc(merge->length)))
                return err_memory(err, merge->length);
            memcpy(kept, merge->stored, merge->length);
            other.stored = kept;
            other.stored_length = merge->length;
        } else {
            merge_found_t more = found_at(MERGE_DUPLICATED, id, expected);
            more.stored = merge->stored;
            more.stored_length = merge->length;
            ok = merge->report(merge->context, &more, err);
        }
        ok = ok && step(merge, err);
    }
    other.kind = same ? MERGE_DUPLICATED : MERGE_CHANGED;
    ok = ok && (!kept || merge->report(merge->context, &other, err));
    free(kept);
    return ok;
}

static bool expect(merge_t *merge, int64_t id, const expected_t *expected, err_t *err) {
    while (merge->stored && merge->id < id)
        if (!step_over(merge, MERGE_EXTRA, err))
            return false;
    if (expected->length && is_at(merge, id))
        return compare(merge, id, expected, err);
    if (expected->length) {
        const merge_found_t missing = found_at(MERGE_MISSING, id, expected);
        return merge->report(merge->context, &missing, err);
    }
    while (is_at(merge, id))
        if (!step_over(merge, MERGE_EXTRA, err))
            return false;
    return true;
}

bool merge_expect(merge_t *merge, int64_t id, const uint8_t *document, uint32_t length, err_t *err) {
    const expected_t expected = {.document = document, .length = document ? length : 0};
    return expect(merge, id, &expected, err);
}

bool merge_expect_hash(merge_t *merge, int64_t id, uint64_t hash, uint32_t length, err_t *err) {
    const expected_t expected = {.length = length, .hash = hash};
    return expect(merge, id, &expected, err);
}

bool merge_end(merge_t *merge, err_t *err) {
    while (merge->stored)
        if (!step_over(merge, MERGE_EXTRA, err))
            return false;
    return true;
}
