#include "query/suite/expected.h"
#include "base/bson/element.h"
#include "base/conceal_bson.h"
#include "base/numbers/units.h"
#include "base/stop.h"
#include "query/suite/numeric.h"
#include "query/suite/unordered.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <xxhash.h>

/* Servers nest at most 200 deep; what is deeper is compared byte by byte. */
enum { DEEPEST = 250 };

static bool close_enough(double a, double b) {
    return a == b || (isnan(a) && isnan(b)) ||
           (isfinite(a) && isfinite(b) && fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b)));
}

static bool has_inner(const bson_iter_t *at, int depth) {
    return depth < DEEPEST && (BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at));
}

/* ---- digests ---- */

static XXH128_hash_t digest_of(const bson_iter_t *at, int depth);

/* The digest of what is in a map or a list. If the order does not count, the digests are added. */
static XXH128_hash_t digest_all(bson_iter_t *at, bool named, bool ordered, int depth) {
    XXH128_canonical_t parts[3]; /* of everything before, the name, the value */
    XXH128_hash_t all = {0, 0};
    uint64_t count = 0;
    for (; bson_iter_next(at); count++) {
        const char *name = named ? bson_iter_key(at) : "";
        XXH128_canonicalFromHash(&parts[0], ordered ? all : (XXH128_hash_t){0, 0});
        XXH128_canonicalFromHash(&parts[1], XXH3_128bits(name, strlen(name)));
        XXH128_canonicalFromHash(&parts[2], digest_of(at, depth));
        XXH128_hash_t one = XXH3_128bits(parts, sizeof parts);
        all = ordered ? one : (XXH128_hash_t){all.low64 + one.low64, all.high64 + one.high64};
    }
    XXH128_canonicalFromHash(&parts[0], all);
    return XXH3_128bits_withSeed(&parts[0], sizeof parts[0], count);
}

static XXH128_hash_t digest_of(const bson_iter_t *at, int depth) {
    int64_t whole;
    double number;
    bson_iter_t inner;
    char text[NUMERIC_EXACT];
    if (numeric_whole(at, &whole))
        return XXH3_128bits(text, (size_t)snprintf(text, sizeof text, "%" PRId64, whole));
    if (numeric_double(at, &number))
        return XXH3_128bits(text, (size_t)snprintf(text, sizeof text, "%.10g", isnan(number) ? NAN : number));
    if (numeric_exact(at, text)) /* a number that no double can hold */
        return XXH3_128bits(text, strlen(text));
    if (has_inner(at, depth)) {
        bson_iter_recurse(at, &inner);
        return digest_all(&inner, BSON_ITER_HOLDS_DOCUMENT(at), BSON_ITER_HOLDS_ARRAY(at), depth + 1);
    }
    bson_t holder = BSON_INITIALIZER;
    element_append(&holder, "", at);
    XXH128_hash_t hash = XXH3_128bits(bson_get_data(&holder), holder.len);
    bson_destroy(&holder);
    return hash;
}

void expected_digest(const bson_t *documents, bool unordered, char digest[EXPECTED_DIGEST]) {
    bson_iter_t at;
    XXH128_hash_t hash = {0, 0};
    if (bson_iter_init(&at, documents))
        hash = digest_all(&at, false, !unordered, 0);
    snprintf(digest, EXPECTED_DIGEST, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
}

/* ---- values ---- */

static bool same_value(const bson_iter_t *wanted, const bson_iter_t *found, int depth);

static size_t count_fields(const bson_iter_t *of) {
    bson_iter_t at = *of;
    size_t count = 0;
    while (bson_iter_next(&at))
        count++;
    return count;
}

static bool same_items(const bson_iter_t *of_wanted, const bson_iter_t *of_found, int depth) {
    bson_iter_t wanted = *of_wanted, found = *of_found;
    if (count_fields(&wanted) != count_fields(&found))
        return false;
    while (bson_iter_next(&wanted) && bson_iter_next(&found))
        if (!same_value(&wanted, &found, depth))
            return false;
    return true;
}

/* Mostly, the fields of both are in one order: each is looked for behind the last one first. */
static bool same_fields(const bson_iter_t *of_wanted, const bson_iter_t *found, int depth) {
    bson_iter_t wanted = *of_wanted, field = *found;
    if (count_fields(&wanted) != count_fields(found))
        return false;
    while (bson_iter_next(&wanted)) {
        const char *name = bson_iter_key(&wanted);
        if (!bson_iter_next(&field) || strcmp(bson_iter_key(&field), name) != 0) {
            field = *found;
            if (stop_signal() || !bson_iter_find(&field, name))
                return false;
        }
        if (!same_value(&wanted, &field, depth))
            return false;
    }
    return true;
}

static bool same_document(const bson_iter_t *wanted, const bson_iter_t *found) {
    return same_fields(wanted, found, 1);
}

static bool same_value(const bson_iter_t *wanted, const bson_iter_t *found, int depth) {
    double a, b;
    char one[NUMERIC_EXACT], other[NUMERIC_EXACT];
    if (numeric_exact(wanted, one) && numeric_exact(found, other))
        return strcmp(one, other) == 0;
    if (numeric_double(wanted, &a) && numeric_double(found, &b))
        return close_enough(a, b);
    if (bson_iter_type(wanted) != bson_iter_type(found))
        return false;
    if (has_inner(wanted, depth)) {
        bson_iter_t inner, fields;
        bson_iter_recurse(wanted, &inner);
        bson_iter_recurse(found, &fields);
        return BSON_ITER_HOLDS_ARRAY(wanted) ? same_items(&inner, &fields, depth + 1)
                                             : same_fields(&inner, &fields, depth + 1);
    }
    const XXH128_hash_t digests[] = {digest_of(wanted, DEEPEST), digest_of(found, DEEPEST)};
    return digests[0].low64 == digests[1].low64 && digests[0].high64 == digests[1].high64;
}

static void describe(const bson_iter_t *value, char *out, size_t room) {
    bson_t document;
    /* of a password that is cut off, nobody could say that it is one */
    char *json = bson_read_document(value, &document) ? conceal_bson_print(&document) : NULL;
    snprintf(out, room, "%s", json ? json : "");
    free(json);
}

static bool first_different(bson_iter_t *wanted, bson_iter_t *found, uint64_t *number) {
    for (*number = 1; bson_iter_next(wanted) && bson_iter_next(found); ++*number)
        if (!same_value(wanted, found, 0))
            return true;
    return false;
}

static void check_values(const bson_iter_t *of_wanted, const answer_t *answer, bool unordered,
                         char *difference, size_t room) {
    bson_iter_t wanted = *of_wanted, found;
    uint64_t number, expected = count_fields(&wanted), there;
    char one[200], other[200];
    bson_iter_init(&found, answer->documents);
    there = count_fields(&found); /* if the client accumulates, there is one */
    if (expected != there) {
        snprintf(difference, room, "%" PRIu64 " document%s where %" PRIu64 " were expected", there,
                 units_s(there), expected);
    } else if (unordered && unordered_misses(&wanted, answer->documents, same_document)) {
        describe(&wanted, one, sizeof one);
        snprintf(difference, room, "%s was expected and is not there", one);
    } else if (!unordered && first_different(&wanted, &found, &number)) {
        describe(&wanted, one, sizeof one);
        describe(&found, other, sizeof other);
        snprintf(difference, room, "document %" PRIu64 " is %s where %s was expected", number, other, one);
    }
}

/* ---- an expectation ---- */

/* yes, true or on: the suite was checked for these. */
static bool is_unordered(const bson_t *filled) {
    bson_iter_t at;
    if (!bson_iter_init_find(&at, filled, "unordered"))
        return false;
    if (BSON_ITER_HOLDS_BOOL(&at))
        return bson_iter_bool(&at);
    const char *text = BSON_ITER_HOLDS_UTF8(&at) ? bson_iter_utf8(&at, NULL) : "";
    return strcasecmp(text, "yes") == 0 || strcasecmp(text, "on") == 0 || strcasecmp(text, "true") == 0;
}

static bool is_digest(const bson_iter_t *at) {
    const char *text = BSON_ITER_HOLDS_UTF8(at) ? bson_iter_utf8(at, NULL) : "";
    return strlen(text) == EXPECTED_DIGEST - 1 && strspn(text, "0123456789abcdef") == strlen(text);
}

static bool are_documents(const bson_iter_t *at, bool known) {
    bson_iter_t item;
    if (!BSON_ITER_HOLDS_ARRAY(at) || !bson_iter_recurse(at, &item))
        return false;
    while (bson_iter_next(&item))
        if (!BSON_ITER_HOLDS_DOCUMENT(&item) && (known || !BSON_ITER_HOLDS_NULL(&item)))
            return false;
    return true;
}

bool expected_sane(const bson_t *filled, bool known, const yaml_item_t *expect, const yaml_tree_t *tree,
                   err_t *err) {
    bson_iter_t at;
    int64_t count;
    size_t expectations = 0;
    for (bson_iter_init(&at, filled); bson_iter_next(&at);) {
        const char *name = bson_iter_key(&at);
        const yaml_item_t *node = yaml_item_get(expect, name);
        expectations += strcmp(name, "unordered") != 0;
        if (!known && BSON_ITER_HOLDS_NULL(&at))
            continue;
        if (strcmp(name, "documents") == 0 && (!numeric_whole(&at, &count) || count < 0))
            return yaml_tree_complain(tree, node, err, "'documents' is a whole number, 0 or more");
        if (strcmp(name, "digest") == 0 && !is_digest(&at))
            return yaml_tree_complain(tree, node, err,
                                      "a digest is a text of 32 hexadecimal digits, in quotes");
        if (strcmp(name, "values") == 0 && !are_documents(&at, known))
            return yaml_tree_complain(tree, node, err, "'values' is a list of documents");
    }
    return expectations ||
           yaml_tree_complain(tree, expect, err,
                              "nothing is expected here: 'documents', 'digest' or 'values' is missing");
}

void expected_check(const bson_t *filled, const answer_t *answer, char *difference, size_t room) {
    bson_iter_t at;
    int64_t count;
    char digest[EXPECTED_DIGEST];
    const bool unordered = is_unordered(filled);
    difference[0] = 0;
    if (bson_iter_init_find(&at, filled, "documents") && numeric_whole(&at, &count) &&
        (uint64_t)count != answer->count) {
        snprintf(difference, room, "%" PRIu64 " document%s where %" PRId64 " were expected", answer->count,
                 units_s(answer->count), count);
        return;
    }
    if (answer->more && (bson_has_field(filled, "digest") || bson_has_field(filled, "values"))) {
        snprintf(difference, room,
                 "the answer is too large to be compared: only its number of documents, %" PRIu64
                 ", can be expected",
                 answer->count);
        return;
    }
    if (bson_iter_init_find(&at, filled, "digest")) {
        expected_digest(answer->documents, unordered, digest);
        if (strcmp(digest, bson_iter_utf8(&at, NULL)) != 0)
            snprintf(difference, room, "the digest of the answer is %s, not %s", digest,
                     bson_iter_utf8(&at, NULL));
    }
    if (!difference[0] && bson_iter_init_find(&at, filled, "values") && bson_iter_recurse(&at, &at))
        check_values(&at, answer, unordered, difference, room);
    if (stop_signal()) /* it may not have been looked at as a whole */
        difference[0] = 0;
}
