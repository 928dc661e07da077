#include "query/suite/answer.h"
#include "base/document.h"
#include "base/err.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "query/suite/value.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- its documents ---- */

enum { KEPT_BYTES = 4 << 20 };

void answer_begin(answer_t *answer, bool keep) {
    *answer = (answer_t){.keep = keep, .most_bytes = KEPT_BYTES};
    if (keep)
        answer->documents = bson_new();
}

void answer_take(answer_t *answer, const bson_t *document) {
    if (answer->keep && !answer->more) {
        char digits[16];
        const char *key;
        bson_uint32_to_string((uint32_t)answer->count, &key, digits, sizeof digits);
        answer->more = answer->documents->len + document->len > answer->most_bytes ||
                       !bson_append_document(answer->documents, key, -1, document);
    }
    answer->count++;
}

void answer_drop(answer_t *answer) {
    if (!answer->keep)
        return;
    bson_destroy(answer->documents);
    answer->documents = bson_new();
    answer->more = answer->count > 0;
}

void answer_end(answer_t *answer) {
    if (answer->keep)
        bson_destroy(answer->documents);
    answer->documents = NULL;
    answer->keep = false;
}

/* ---- its digest ---- */

/* Servers nest at most 200 deep; what is deeper is taken byte by byte. */
enum { DEEPEST = 250 };

static XXH128_hash_t digest_of(const bson_iter_t *at, int depth);

/* The digest of the contents of a list or a map. The order of a map's fields does not count: their digests are added. */
static XXH128_hash_t digest_all(bson_iter_t *at, bool list, int depth) {
    XXH128_canonical_t parts[3]; /* of everything before, the name, the value */
    XXH128_hash_t all = {0, 0};
    uint64_t count = 0;
    for (; bson_iter_next(at); count++) {
        const char *name = list ? "" : bson_iter_key(at);
        XXH128_canonicalFromHash(&parts[0], list ? all : (XXH128_hash_t){0, 0});
        XXH128_canonicalFromHash(&parts[1], XXH3_128bits(name, strlen(name)));
        XXH128_canonicalFromHash(&parts[2], digest_of(at, depth));
        XXH128_hash_t one = XXH3_128bits(parts, sizeof parts);
        all = list ? one : (XXH128_hash_t){all.low64 + one.low64, all.high64 + one.high64};
    }
    XXH128_canonicalFromHash(&parts[0], all);
    return XXH3_128bits_withSeed(&parts[0], sizeof parts[0], count);
}

static XXH128_hash_t digest_of(const bson_iter_t *at, int depth) {
    const bool list = BSON_ITER_HOLDS_ARRAY(at);
    int64_t whole;
    double number;
    bson_iter_t inner;
    char text[64];
    if (numeric_whole(at, &whole))
        return XXH3_128bits(text, (size_t)snprintf(text, sizeof text, "%" PRId64, whole));
    if (numeric_double(at, &number))
        return XXH3_128bits(text, (size_t)snprintf(text, sizeof text, "%.10g", isnan(number) ? NAN : number));
    if (depth < DEEPEST && (list || BSON_ITER_HOLDS_DOCUMENT(at)) && bson_iter_recurse(at, &inner))
        return digest_all(&inner, list, depth + 1);
    bson_t holder = BSON_INITIALIZER;
    element_append(&holder, "", at);
    XXH128_hash_t hash = XXH3_128bits(bson_get_data(&holder), holder.len);
    bson_destroy(&holder);
    return hash;
}

void expected_digest(const bson_t *documents, char digest[EXPECTED_DIGEST]) {
    bson_iter_t at;
    XXH128_hash_t hash = {0, 0};
    if (bson_iter_init(&at, documents))
        hash = digest_all(&at, true, 0);
    snprintf(digest, EXPECTED_DIGEST, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
}

/* ---- what is expected ---- */

static bool is_digest(const bson_iter_t *at) {
    const char *text = BSON_ITER_HOLDS_UTF8(at) ? bson_iter_utf8(at, NULL) : "";
    return strlen(text) == EXPECTED_DIGEST - 1 && strspn(text, "0123456789abcdef") == strlen(text);
}

bool expected_sane(const bson_t *filled, bool known, const yaml_item_t *expect, const yaml_tree_t *tree,
                   err_t *err) {
    bson_iter_t at;
    int64_t count;
    for (bson_iter_init(&at, filled); bson_iter_next(&at);) {
        const bool is_count = strcmp(bson_iter_key(&at), "documents") == 0;
        const yaml_item_t *node = yaml_item_get(expect, bson_iter_key(&at));
        if (!known && BSON_ITER_HOLDS_NULL(&at))
            continue;
        if (is_count && (!numeric_whole(&at, &count) || count < 0))
            return yaml_tree_complain(tree, node, err, "'documents' is a whole number, 0 or more");
        if (!is_count && !is_digest(&at))
            return yaml_tree_complain(tree, node, err,
                                      "a digest is a text of 32 hexadecimal digits, in quotes");
    }
    return !bson_empty(filled) ||
           yaml_tree_complain(tree, expect, err,
                              "nothing is expected here: 'documents' or 'digest' is missing");
}

void expected_check(const bson_t *filled, const answer_t *answer, char *difference, size_t room) {
    bson_iter_t at;
    int64_t count;
    char digest[EXPECTED_DIGEST];
    difference[0] = 0;
    if (bson_iter_init_find(&at, filled, "documents") && numeric_whole(&at, &count) &&
        (uint64_t)count != answer->count) {
        snprintf(difference, room, "%" PRIu64 " document%s where %" PRId64 " were expected", answer->count,
                 units_s(answer->count), count);
    } else if (bson_iter_init_find(&at, filled, "digest") && answer->more) {
        snprintf(difference, room,
                 "the answer is too large to be compared: only its number of documents, %" PRIu64
                 ", can be expected",
                 answer->count);
    } else if (bson_iter_init_find(&at, filled, "digest")) {
        expected_digest(answer->documents, digest);
        if (strcmp(digest, bson_iter_utf8(&at, NULL)) != 0)
            snprintf(difference, room, "the digest of the answer is %s, not %s", digest,
                     bson_iter_utf8(&at, NULL));
    }
}

/* ---- what a client accumulates ---- */

void accumulate_begin(accumulate_t *sums, const char *field, bool keeps) {
    *sums = (accumulate_t){.field = field, .dotted = strchr(field, '.') != NULL, .keeps = keeps};
}

/* Neumaier's method: whatever the order, the sum is exact to its last digits. */
static void add_number(accumulate_t *sums, double number) {
    const double sum = sums->sum + number;
    sums->lost += fabs(sums->sum) >= fabs(number) ? (sums->sum - sum) + number : (number - sum) + sums->sum;
    sums->sum = sum;
}

static double sum_of(const accumulate_t *sums) {
    return isfinite(sums->sum) ? sums->sum + sums->lost : sums->sum;
}

/* In the server's order, where NaN is the least number. */
static bool is_below(double one, double other) {
    return isnan(one) ? !isnan(other) : one < other;
}

static void take_number(accumulate_t *sums, double number) {
    if (!sums->count || is_below(number, sums->least))
        sums->least = number;
    if (!sums->count || is_below(sums->greatest, number))
        sums->greatest = number;
    add_number(sums, number);
    sums->count++;
}

static void keep(accumulate_t *sums, double number) {
    if (!GROW(sums->list, sums->room, sums->listed + 1, NULL))
        err_end_without_memory((sums->listed + 1) * sizeof *sums->list);
    sums->list[sums->listed++] = number;
}

void accumulate_take(accumulate_t *sums, const bson_t *document) {
    bson_iter_t at, inner;
    double number;
    sums->documents++;
    if (!bson_iter_init(&at, document))
        return;
    if (sums->dotted) {
        if (!bson_iter_find_descendant(&at, sums->field, &inner) || !numeric_double(&inner, &number))
            return;
    } else if (!bson_iter_find(&at, sums->field) || !numeric_double(&at, &number)) {
        return;
    }
    if (sums->keeps)
        keep(sums, number);
    else
        take_number(sums, number);
}

static void append_double(bson_t *to, const char *key, double number, bool there) {
    if (there)
        bson_append_double(to, key, -1, number);
    else
        bson_append_null(to, key, -1);
}

void accumulate_result(accumulate_t *sums, bson_t *result) {
    bson_t value;
    for (size_t i = 0; i < sums->listed; i++)
        take_number(sums, sums->list[i]);
    bson_init(result);
    bson_append_int32(result, "_id", -1, 0);
    bson_append_document_begin(result, "value", -1, &value);
    bson_append_int64(&value, "count", -1, (int64_t)sums->count);
    append_double(&value, "max", sums->greatest, sums->count > 0);
    append_double(&value, "min", sums->least, sums->count > 0);
    append_double(&value, "sum", sum_of(sums), true);
    bson_append_document_end(result, &value);
    free(sums->list);
    sums->list = NULL;
    sums->listed = 0;
}
