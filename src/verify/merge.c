#include "verify/merge.h"
#include "load/read_back/range.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct {
    const uint8_t *document; /* NULL: only its hash is known */
    uint32_t length;         /* 0: nothing is expected */
    uint64_t hash;
} expected_t;

static const expected_t nothing = {.length = 0};

/* stored: NULL with length 0 if there is none. */
static bool report(const merge_t *merge, merge_kind_t kind, int64_t id, const expected_t *expected,
                   const uint8_t *stored, uint32_t length, err_t *err) {
    const merge_found_t found = {.kind = kind,
                                 .id = id,
                                 .expected = expected->document,
                                 .expected_length = expected->length,
                                 .stored = stored,
                                 .stored_length = length};
    return merge->report(merge->context, &found, err);
}

/* Goes to the next stored document that has a place, and reports those without one. */
static bool step(merge_t *merge, err_t *err) {
    for (;;) {
        const int got = merge->next(merge->context, &merge->stored, &merge->length, err);
        if (got <= 0) {
            merge->stored = NULL;
            return got == 0;
        }
        merge->seen++;
        if (read_back_id(merge->stored, merge->length, &merge->id))
            return true;
        if (!report(merge, MERGE_UNRELATED, 0, &nothing, merge->stored, merge->length, err))
            return false;
    }
}

bool merge_begin(merge_t *merge, err_t *err) {
    return step(merge, err);
}

/* Reports the stored documents up to this `_id` as not expected. */
static bool pass(merge_t *merge, int64_t last, err_t *err) {
    bool ok = true;
    while (ok && merge->stored && merge->id <= last)
        ok = report(merge, MERGE_EXTRA, merge->id, &nothing, merge->stored, merge->length, err) &&
             step(merge, err);
    return ok;
}

static bool is_at(const merge_t *merge, int64_t id) {
    return merge->stored && merge->id == id;
}

static bool is_same(const merge_t *merge, const expected_t *expected) {
    if (merge->length != expected->length)
        return false;
    return expected->document ? memcmp(merge->stored, expected->document, merge->length) == 0
                              : XXH3_64bits(merge->stored, merge->length) == expected->hash;
}

/* Several documents may have the `_id`, one on each shard, in any order. Only after the last is it known whether the expected one
 * is among them. The first other one is kept until then; all further ones are duplicates in either case. */
static bool compare(merge_t *merge, int64_t id, const expected_t *expected, err_t *err) {
    uint8_t *kept = NULL;
    uint32_t kept_length = 0;
    bool same = false, ok = true;
    while (ok && is_at(merge, id)) {
        if (!same && is_same(merge, expected)) {
            same = true;
            merge->same++;
        } else if (kept) {
            ok = report(merge, MERGE_DUPLICATED, id, expected, merge->stored, merge->length, err);
        } else {
            if (!(kept = malloc(merge->length)))
                return err_memory(err, merge->length);
            memcpy(kept, merge->stored, kept_length = merge->length);
        }
        ok = ok && step(merge, err);
    }
    if (ok && kept)
        ok = report(merge, same ? MERGE_DUPLICATED : MERGE_CHANGED, id, expected, kept, kept_length, err);
    free(kept);
    return ok;
}

/* No `_id` of a place is negative. */
static bool expect(merge_t *merge, int64_t id, const expected_t *expected, err_t *err) {
    if (!expected->length)
        return pass(merge, id, err);
    if (!pass(merge, id - 1, err))
        return false;
    return is_at(merge, id) ? compare(merge, id, expected, err)
                            : report(merge, MERGE_MISSING, id, expected, NULL, 0, err);
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
    return pass(merge, INT64_MAX, err);
}
