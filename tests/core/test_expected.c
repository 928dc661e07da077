/* expected: counts and digests of answers; accumulate: by hand. */
#include "json_lab.h"
#include "query/suite/request.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_digest(const char *one, const char *other) {
    char digests[2][EXPECTED_DIGEST];
    bson_t *documents[] = {lab_json(one), lab_json(other)};
    for (int i = 0; i < 2; i++) {
        expected_digest(documents[i], digests[i]);
        bson_destroy(documents[i]);
        assert_int_equal(32, strspn(digests[i], "0123456789abcdef"));
    }
    return strcmp(digests[0], digests[1]) == 0;
}

TEST(digests) {
    assert_true(same_digest("{\"0\": {\"a\": 1, \"b\": 2}}",
                            "{\"0\": {\"b\": 2.0, \"a\": {\"$numberLong\": \"1\"}}}"));
    assert_true(same_digest("{\"0\": {\"a\": 0.1}}", "{\"0\": {\"a\": 0.10000000000000002}}"));
    assert_false(same_digest("{\"0\": {\"a\": 0.1}}", "{\"0\": {\"a\": 0.10001}}"));
    assert_false(same_digest("{\"0\": {\"a\": 1}}", "{\"0\": {\"a\": \"1\"}}"));
    assert_false(same_digest("{\"0\": {\"a\": 1}}", "{\"0\": {\"b\": 1}}"));
    assert_false(same_digest("{\"0\": {\"1\": 1}}", "{\"0\": {\"2\": 1}}"));
    assert_false(same_digest("{\"0\": {\"a\": null}}", "{\"0\": {}}"));
    assert_false(same_digest("{\"0\": {\"a\": [1, 2]}}", "{\"0\": {\"a\": [2, 1]}}"));
    assert_false(
        same_digest("{\"0\": {\"a\": 1}, \"1\": {\"a\": 2}}", "{\"0\": {\"a\": 2}, \"1\": {\"a\": 1}}"));
    assert_false(same_digest("{\"0\": {\"a\": 1}, \"1\": {\"a\": 1}}", "{\"0\": {\"a\": 1}}"));
    assert_false(same_digest("{}", "{\"0\": {}}"));
}

/* Suites hold digests that an earlier tipple printed. */
TEST(digest_of_before) {
    char digest[EXPECTED_DIGEST];
    bson_t *documents = lab_json("{\"0\": {\"band\": \"A\", \"n\": 7, \"m\": [0.25, null]}}");
    expected_digest(documents, digest);
    assert_string_equal("711a543ebcb5b40551138eafedbee722", digest);
    bson_destroy(documents);
}

/* Numbers by their value, whatever their type. */
TEST(numbers) {
    static const char *const alike[][6] = {
        {"{$numberInt: 1}", "{$numberLong: 1}", "1.0", "{$numberDecimal: '1.00'}",
         "{$numberDecimal: '10E-1'}"},
        {"{$numberLong: 9007199254740992}", "9007199254740992.0", "{$numberDecimal: '9007199254740992'}"},
        {"{$numberLong: 9223372036854775807}"},
        {"{$numberLong: 9223372036854775806}"},
        {"NaN", "{$numberDecimal: NaN}"},
        {"Infinity", "{$numberDecimal: Infinity}"},
        {"0", "-0.0", "{$numberDecimal: '-0'}", "{$numberDecimal: '0E+3'}", "{$numberDecimal: '0.000'}"},
        {"0.1", "{$numberDecimal: '0.1'}", "{$numberDecimal: '0.100'}", "{$numberDecimal: '1E-1'}"},
        {"{$numberDecimal: '1e400'}"},
        {"{$numberDecimal: '2e400'}"},
        {"{$numberDecimal: '1e-400'}"},
        {"'1'"},
        {"true"},
    };
    enum { KINDS = sizeof alike / sizeof *alike };
    char digests[KINDS][6][EXPECTED_DIGEST] = {0};
    for (size_t i = 0; i < KINDS; i++)
        for (size_t k = 0; k < 6 && alike[i][k]; k++) {
            err_t err;
            bson_t value = BSON_INITIALIZER;
            assert_true(value_parse(&value, "n", alike[i][k], &err));
            expected_digest(&value, digests[i][k]);
            bson_destroy(&value);
            for (size_t before = 0; before <= i; before++)
                if ((strcmp(digests[i][k], digests[before][0]) == 0) != (before == i))
                    fail_msg("the digests of %s and %s", alike[i][k], alike[before][0]);
        }
}

/* What is said of an answer of one document, where the client counted 1,000. */
TEST(expectations) {
    bson_t none = BSON_INITIALIZER, *sum = lab_json("{\"sum\": 5}");
    char digest[EXPECTED_DIGEST], right[100];
    bson_t answers = BSON_INITIALIZER;
    bson_append_document(&answers, "0", 1, sum);
    expected_digest(&answers, digest);
    snprintf(right, sizeof right, "{documents: 1000.0, digest: '%s'}", digest);
    const struct {
        const char *expect, *words;
        bool more;
    } cases[] = {{"{documents: 1000}", "", false},
                 {"{documents: {$numberDecimal: '1000'}}", "", false},
                 {"{documents: 1}", "1000 documents where 1 were expected", false},
                 {"{documents: 1000}", "", true},
                 {"{documents: 999}", "1000 documents where 999 were expected", true},
                 {right, "", false},
                 {right, "too large to be", true},
                 {"{digest: '00000000000000000000000000000000'}", "digest of the answer", false},
                 {"{digest: '00000000000000000000000000000000'}", "too large to be", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char difference[400];
        bson_t filled;
        answer_t answer;
        err_t err;
        char text[300];
        snprintf(text, sizeof text, "suite: s\nqueries: [{name: q, find: {}, expect: %s}]\n",
                 cases[i].expect);
        suite_t *suite = suite_parse(text, strlen(text), "x", &err);
        if (!suite || !expected_fill(&filled, suite, suite->queries, &none, &err))
            fail_msg("%s", err.text);
        answer_begin(&answer, true);
        answer_take(&answer, sum);
        answer.count = 1000;
        answer.more = cases[i].more;
        expected_check(&filled, &answer, difference, sizeof difference);
        if (cases[i].words[0] ? !strstr(difference, cases[i].words) : difference[0])
            fail_msg("%s: '%s'", cases[i].expect, difference);
        answer_end(&answer);
        suite_close(suite);
        bson_destroy(&filled);
    }
    bson_destroy(&answers);
    bson_destroy(sum);
}

/* An answer may be deeper than any document of a server. */
TEST(deep) {
    enum { LEVELS = 200000 };
    char digest[EXPECTED_DIGEST];
    uint8_t *bytes = malloc(LEVELS * 8 + 16);
    const uint32_t size = LEVELS * 8 + 5;
    for (uint32_t i = 0; i < LEVELS; i++) { /* {"a": {"a": ... {} }} */
        const uint32_t length = size - 8 * i;
        memcpy(bytes + 7 * i, &length, 4);
        memcpy(bytes + 7 * i + 4, "\3a", 3);
        bytes[size - 1 - i] = 0;
    }
    memcpy(bytes + 7 * LEVELS, "\5\0\0\0\0", 5);
    bson_t whole, answers = BSON_INITIALIZER;
    assert_true(bson_init_static(&whole, bytes, size));
    bson_append_document(&answers, "0", 1, &whole);
    expected_digest(&answers, digest);
    assert_int_equal(32, strlen(digest));
    bson_destroy(&answers);
    free(bytes);
}

static double figure(const bson_t *answer, const char *path) {
    bson_iter_t at, found;
    assert_true(bson_iter_init(&at, answer) && bson_iter_find_descendant(&at, path, &found));
    return BSON_ITER_HOLDS_NULL(&found) ? INFINITY : bson_iter_as_double(&found);
}

/* Whatever order the documents come in, one by one and as a list first. NaN is the least of all numbers, as on the server. */
TEST(accumulated) {
    static const struct {
        const char *field, *values[6];
        double count, sum, least, most; /* INFINITY: null */
    } cases[] = {
        {"m", {"2", "4.0", "'7'", "{$numberLong: 6}", "null", "{$numberDecimal: '3'}"}, 4, 15, 2, 6},
        {"m.b", {"{b: 5}", "{b: {c: 1}}", "[]", "{b: -1.5}"}, 2, 3.5, -1.5, 5},
        {"x", {"1"}, 0, 0, INFINITY, INFINITY},
        {"m", {"NaN", "1.5", "-3"}, 3, NAN, NAN, 1.5},
        {"m", {"NaN"}, 1, NAN, NAN, NAN},
        {"m", {"-Infinity", "1.5"}, 2, -INFINITY, -INFINITY, 1.5},
        {"m", {"1e16", "1.0", "-1e16"}, 3, 1, -1e16, 1e16},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t order = 0; order < 12; order++) {
            accumulate_t sums;
            bson_t result;
            size_t count = 0;
            err_t err;
            accumulate_begin(&sums, cases[i].field, order % 2);
            while (count < 6 && cases[i].values[count])
                count++;
            for (size_t k = 0; k < count; k++) { /* turned around, and from each of them on */
                bson_t document = BSON_INITIALIZER;
                const size_t at = (k + order / 2) % count;
                assert_true(
                    value_parse(&document, "m", cases[i].values[order % 4 < 2 ? at : count - 1 - at], &err));
                accumulate_take(&sums, &document);
                bson_destroy(&document);
            }
            accumulate_result(&sums, &result);
            assert_int_equal(count, sums.documents);
            const double found[] = {figure(&result, "value.count"), figure(&result, "value.sum"),
                                    figure(&result, "value.min"), figure(&result, "value.max")};
            const double wanted[] = {cases[i].count, cases[i].sum, cases[i].least, cases[i].most};
            for (size_t k = 0; k < 4; k++)
                if (!(found[k] == wanted[k] || (isnan(found[k]) && isnan(wanted[k]))))
                    fail_msg("case %zu, order %zu, figure %zu: %g, not %g", i, order, k, found[k], wanted[k]);
            bson_destroy(&result);
        }
}
