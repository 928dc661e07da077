#include "query/expected.h"
#include "query/value.h"
#include "target/inner.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- numbers ---- */

static bool number_of(const bson_iter_t *at, double *number) {
    if (BSON_ITER_HOLDS_INT32(at) || BSON_ITER_HOLDS_INT64(at))
        *number = (double)bson_iter_as_int64(at);
    else if (BSON_ITER_HOLDS_DOUBLE(at))
        *number = bson_iter_double(at);
    else
        return false;
    return true;
}

static bool close_enough(double a, double b) {
    return a == b || (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* ---- digests ---- */

static XXH128_hash_t digest_of(const bson_iter_t *at);

/* Of what is in a map or a list. Where order does not count, digests are added up. */
static XXH128_hash_t digest_all(bson_iter_t at, bool named, bool ordered) {
    XXH128_canonical_t parts[3]; /* what was before, the name, the value */
    XXH128_hash_t all = {0, 0};
    uint64_t count = 0;
    for (; bson_iter_next(&at); count++) {
        const char *name = named ? bson_iter_key(&at) : "";
        XXH128_canonicalFromHash(&parts[0], ordered ? all : (XXH128_hash_t){0, 0});
        XXH128_canonicalFromHash(&parts[1], XXH3_128bits(name, strlen(name)));
        XXH128_canonicalFromHash(&parts[2], digest_of(&at));
        XXH128_hash_t one = XXH3_128bits(parts, sizeof parts);
        all = ordered ? one : (XXH128_hash_t){all.low64 + one.low64, all.high64 + one.high64};
    }
    XXH128_canonicalFromHash(&parts[0], all);
    return XXH3_128bits_withSeed(&parts[0], sizeof parts[0], count);
}

static XXH128_hash_t digest_of(const bson_iter_t *at) {
    double number;
    bson_iter_t inner;
    char text[64];
    if (number_of(at, &number)) {
        bool whole = !BSON_ITER_HOLDS_DOUBLE(at) || (number == rint(number) && fabs(number) < 1e15);
        int length = whole ? snprintf(text, sizeof text, "%" PRId64,
                                      BSON_ITER_HOLDS_DOUBLE(at) ? (int64_t)number : bson_iter_as_int64(at))
                           : snprintf(text, sizeof text, "%.10g", number);
        return XXH3_128bits(text, (size_t)length);
    }
    if (BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at)) {
        bson_iter_recurse(at, &inner);
        return digest_all(inner, BSON_ITER_HOLDS_DOCUMENT(at), BSON_ITER_HOLDS_ARRAY(at));
    }
    bson_t holder = BSON_INITIALIZER;
    bson_append_iter(&holder, "", 0, at);
    XXH128_hash_t hash = XXH3_128bits(bson_get_data(&holder), holder.len);
    bson_destroy(&holder);
    return hash;
}

void expected_digest(const bson_t *documents, bool unordered, char digest[EXPECTED_DIGEST]) {
    bson_iter_t at;
    XXH128_hash_t hash = {0, 0};
    if (bson_iter_init(&at, documents))
        hash = digest_all(at, false, !unordered);
    snprintf(digest, EXPECTED_DIGEST, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
}

/* ---- values ---- */

static bool same_value(const bson_iter_t *wanted, const bson_iter_t *found);

static size_t count_fields(bson_iter_t at) {
    size_t count = 0;
    while (bson_iter_next(&at))
        count++;
    return count;
}

static bool same_fields(const bson_iter_t *wanted, const bson_iter_t *found) {
    bson_iter_t inner, fields, field;
    bson_iter_recurse(wanted, &inner);
    bson_iter_recurse(found, &fields);
    if (count_fields(inner) != count_fields(fields))
        return false;
    while (bson_iter_next(&inner)) {
        field = fields;
        if (!bson_iter_find(&field, bson_iter_key(&inner)) || !same_value(&inner, &field))
            return false;
    }
    return true;
}

static bool same_value(const bson_iter_t *wanted, const bson_iter_t *found) {
    double a, b;
    if (number_of(wanted, &a) || number_of(found, &b)) {
        if (!number_of(wanted, &a) || !number_of(found, &b))
            return false;
        bool whole = !BSON_ITER_HOLDS_DOUBLE(wanted) && !BSON_ITER_HOLDS_DOUBLE(found);
        return whole ? bson_iter_as_int64(wanted) == bson_iter_as_int64(found) : close_enough(a, b);
    }
    if (bson_iter_type(wanted) != bson_iter_type(found))
        return false;
    if (BSON_ITER_HOLDS_DOCUMENT(wanted) || BSON_ITER_HOLDS_ARRAY(wanted))
        return same_fields(wanted, found);
    XXH128_hash_t one = digest_of(wanted), other = digest_of(found);
    return one.low64 == other.low64 && one.high64 == other.high64;
}

static void describe(const bson_iter_t *value, char *out, size_t room) {
    char *json = inner_json(value);
    snprintf(out, room, "%s", json ? json : "");
    bson_free(json);
}

/* The first wanted value that no found one is left for; each found one answers for one wanted only. */
static bool first_missing(bson_iter_t *wanted, const answer_t *answer) {
    bool *taken = calloc(answer->count + 1, sizeof *taken);
    bool missing = !taken && bson_iter_next(wanted);
    while (!missing && bson_iter_next(wanted)) {
        bson_iter_t found;
        size_t number = 0;
        missing = true;
        for (bson_iter_init(&found, answer->documents); missing && bson_iter_next(&found); number++)
            if (!taken[number] && same_value(wanted, &found)) {
                taken[number] = true;
                missing = false;
            }
    }
    free(taken);
    return missing;
}

static bool first_different(bson_iter_t *wanted, bson_iter_t *found, uint64_t *number) {
    for (*number = 1; bson_iter_next(wanted) && bson_iter_next(found); ++*number)
        if (!same_value(wanted, found))
            return true;
    return false;
}

static void check_values(bson_iter_t wanted, const answer_t *answer, bool unordered, char *difference,
                         size_t room) {
    bson_iter_t found;
    uint64_t number, expected = count_fields(wanted);
    char one[200], other[200];
    bson_iter_init(&found, answer->documents);
    if (expected != answer->count) {
        snprintf(difference, room, "%" PRIu64 " documents where %" PRIu64 " were expected", answer->count,
                 expected);
    } else if (unordered && first_missing(&wanted, answer)) {
        describe(&wanted, one, sizeof one);
        snprintf(difference, room, "%s was expected and is not there", one);
    } else if (!unordered && first_different(&wanted, &found, &number)) {
        describe(&wanted, one, sizeof one);
        describe(&found, other, sizeof other);
        snprintf(difference, room, "document %" PRIu64 " is %s where %s was expected", number, other, one);
    }
}

bool expected_check(const ynode_t *expect, const ytree_t *tree, const bson_t *params, const answer_t *answer,
                    char *difference, size_t room, err_t *err) {
    bson_t filled;
    bson_iter_t at;
    const ynode_t *node = ynode_get(expect, "unordered");
    bool unordered = false;
    difference[0] = 0;
    if (node && !ytree_bool(tree, node, &unordered, err))
        return false;
    bool ok = value_document(&filled, expect, tree, params, err);
    if (!ok) {
        /* it says why */
    } else if (answer->more) {
        ok =
            ytree_complain(tree, expect, err, "the answer is too large to be compared with what is expected");
    } else if (bson_iter_init_find(&at, &filled, "documents") && BSON_ITER_HOLDS_NUMBER(&at) &&
               (uint64_t)bson_iter_as_int64(&at) != answer->count) {
        snprintf(difference, room, "%" PRIu64 " documents where %" PRId64 " were expected", answer->count,
                 bson_iter_as_int64(&at));
    } else if (bson_iter_init_find(&at, &filled, "digest")) {
        char digest[EXPECTED_DIGEST];
        expected_digest(answer->documents, unordered, digest);
        if (!BSON_ITER_HOLDS_UTF8(&at))
            ok = ytree_complain(tree, ynode_get(expect, "digest"), err,
                                "a digest is a text of 32 digits, in quotes");
        else if (strcmp(digest, bson_iter_utf8(&at, NULL)) != 0)
            snprintf(difference, room, "the digest of the answer is %s, not %s", digest,
                     bson_iter_utf8(&at, NULL));
    }
    if (ok && !difference[0] && bson_iter_init_find(&at, &filled, "values") && bson_iter_recurse(&at, &at))
        check_values(at, answer, unordered, difference, room);
    bson_destroy(&filled);
    return ok;
}
