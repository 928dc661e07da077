/* expected: digests and comparisons of answers; accumulate: by hand. */
#include "json_lab.h"
#include "query/suite/accumulate.h"
#include "query/suite/expected.h"
#include "query/suite/value.h"
#include "test.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool same_digest(const char *one, const char *other, bool unordered) {
    char digests[2][EXPECTED_DIGEST];
    bson_t *documents[] = {lab_json(one), lab_json(other)};
    for (int i = 0; i < 2; i++) {
        expected_digest(documents[i], unordered, digests[i]);
        bson_destroy(documents[i]);
        assert_int_equal(32, strspn(digests[i], "0123456789abcdef"));
    }
    return strcmp(digests[0], digests[1]) == 0;
}

TEST(digests) {
    assert_true(same_digest("{\"0\": {\"a\": 1, \"b\": 2}}",
                            "{\"0\": {\"b\": 2.0, \"a\": {\"$numberLong\": \"1\"}}}", false));
    assert_true(same_digest("{\"0\": {\"a\": 0.1}}", "{\"0\": {\"a\": 0.10000000000000002}}", false));
    assert_false(same_digest("{\"0\": {\"a\": 0.1}}", "{\"0\": {\"a\": 0.10001}}", false));
    assert_false(same_digest("{\"0\": {\"a\": 1}}", "{\"0\": {\"a\": \"1\"}}", false));
    assert_false(same_digest("{\"0\": {\"a\": 1}}", "{\"0\": {\"b\": 1}}", false));
    assert_false(same_digest("{\"0\": {\"1\": 1}}", "{\"0\": {\"2\": 1}}", false));
    assert_false(same_digest("{\"0\": {\"a\": null}}", "{\"0\": {}}", false));
    assert_false(same_digest("{\"0\": {\"a\": [1, 2]}}", "{\"0\": {\"a\": [2, 1]}}", true));
    assert_false(same_digest("{\"0\": {\"a\": 1}, \"1\": {\"a\": 2}}",
                             "{\"0\": {\"a\": 2}, \"1\": {\"a\": 1}}", false));
    assert_true(same_digest("{\"0\": {\"a\": 1}, \"1\": {\"a\": 2}}",
                            "{\"0\": {\"a\": 2}, \"1\": {\"a\": 1}}", true));
    assert_false(same_digest("{\"0\": {\"a\": 1}, \"1\": {\"a\": 1}}", "{\"0\": {\"a\": 1}}", true));
    assert_false(same_digest("{}", "{\"0\": {}}", true));
}

/* What is said of an answer; "" when it is the expected one. */
static void said(const char *expect, const char *answer_json, char *difference, size_t room) {
    err_t err;
    char text[1000];
    bson_t none = BSON_INITIALIZER, *documents = lab_json(answer_json);
    answer_t answer;
    bson_iter_t at;
    snprintf(text, sizeof text, "%s", expect);
    yaml_tree_t *tree = yaml_tree_parse(text, strlen(text), "x", &err);
    assert_non_null(tree);
    answer_begin(&answer, true);
    bson_iter_init(&at, documents);
    while (bson_iter_next(&at)) {
        uint32_t length;
        const uint8_t *bytes;
        bson_t one;
        bson_iter_document(&at, &length, &bytes);
        assert_true(bson_init_static(&one, bytes, length));
        answer_take(&answer, &one);
    }
    bson_t filled;
    assert_true(value_document(&filled, yaml_tree_root(tree), tree, &none, &err));
    if (!expected_sane(&filled, true, yaml_tree_root(tree), tree, &err))
        fail_msg("%s", err.text);
    expected_check(&filled, &answer, difference, room);
    bson_destroy(&filled);
    answer_end(&answer);
    bson_destroy(documents);
    yaml_tree_destroy(tree);
}

TEST(expectations) {
    static const char two[] = "{\"0\": {\"_id\": \"A\", \"n\": 2}, \"1\": {\"_id\": \"B\", \"n\": 0.3}}";
    static const struct {
        const char *expect, *words;
    } cases[] = {
        {"{documents: 2}", ""},
        {"{documents: 3}", "2 documents where 3 were expected"},
        {"{values: [{_id: A, n: 2}, {_id: B, n: 0.3}]}", ""},
        {"{values: [{n: 2.0, _id: A}, {_id: B, n: 0.30000000000000004}]}", ""},
        {"{values: [{_id: A, n: 2}]}", "2 documents where 1 were expected"},
        {"{values: [{_id: A, n: 3}, {_id: B, n: 0.3}]}", "document 1 is"},
        {"{values: [{_id: A, n: 2, m: 1}, {_id: B, n: 0.3}]}", "document 1 is"},
        {"{values: [{_id: A}, {_id: B, n: 0.3}]}", "document 1 is"},
        {"{values: [{_id: A, n: '2'}, {_id: B, n: 0.3}]}", "document 1 is"},
        {"{values: [{_id: B, n: 0.3}, {_id: A, n: 2}]}", "document 1 is"},
        {"{values: [{_id: B, n: 0.3}, {_id: A, n: 2}], unordered: yes}", ""},
        {"{values: [{_id: C, n: 0.3}, {_id: A, n: 2}], unordered: yes}", "is not there"},
        {"{digest: '00000000000000000000000000000000'}", "digest of the answer"},
        {"{documents: 2.0}", ""},
        {"{documents: {$numberDecimal: '2'}}", ""},
        {"{values: [{_id: A, n: {$numberDecimal: '2.00'}}, {_id: B, n: {$numberDecimal: '0.30'}}]}", ""},
        {"{values: [{_id: A, n: {$numberDecimal: '2.01'}}, {_id: B, n: 0.3}]}", "document 1 is"},
        {"{values: [{_id: B, n: 0.3}, {_id: A, n: 2}], unordered: ON}", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char difference[400];
        said(cases[i].expect, two, difference, sizeof difference);
        if (cases[i].words[0] ? !strstr(difference, cases[i].words) : difference[0])
            fail_msg("%s: '%s'", cases[i].expect, difference);
    }
}

/* Each found document answers one expectation, not two. */
TEST(doubled) {
    char difference[400];
    said("{values: [{a: 1}, {a: 2}], unordered: yes}", "{\"0\": {\"a\": 1}, \"1\": {\"a\": 1}}", difference,
         sizeof difference);
    assert_string_not_equal("", difference);
    said("{values: [{a: 1}, {a: 1}], unordered: yes}", "{\"0\": {\"a\": 1}, \"1\": {\"a\": 2}}", difference,
         sizeof difference);
    assert_string_not_equal("", difference);
}

/* Numbers by their value, whatever their type, in digests and in values. */
TEST(numbers) {
    static const char *const alike[][6] = {
        {"{$numberInt: 1}", "{$numberLong: 1}", "1.0", "{$numberDecimal: '1'}", "{$numberDecimal: '1.00'}",
         "{$numberDecimal: '10E-1'}"},
        {"{$numberLong: 2000000000000000}", "2e15", "{$numberDecimal: '2E+15'}",
         "{$numberDecimal: '2000000000000000.0'}", NULL},
        {"{$numberLong: 9007199254740992}", "9007199254740992.0", "{$numberDecimal: '9007199254740992'}",
         NULL},
        {"{$numberLong: -9223372036854775807}", "{$numberDecimal: '-9223372036854775807.000'}", NULL},
        {"{$numberDouble: NaN}", "{$numberDecimal: NaN}", NULL},
        {".inf", "{$numberDecimal: Infinity}", NULL},
        {"0", "-0.0", "{$numberDecimal: '-0'}", "{$numberDecimal: '0E+3'}", "{$numberDecimal: '0.000'}",
         NULL},
        {"0.1", "{$numberDecimal: '0.1'}", "{$numberDecimal: '0.100'}", "{$numberDecimal: '1E-1'}", NULL},
        {"{$numberDecimal: '1e400'}", "{$numberDecimal: '10e399'}", NULL},
        {"{$numberLong: -9223372036854775808}", "{$numberDecimal: '-9223372036854775808.0'}", NULL},
        {"{$numberDecimal: '-Infinity'}", "-.inf", NULL},
        {"{$numberDecimal: '2e400'}", NULL},
        {"{$numberDecimal: '1e-400'}", NULL},
        {"{$numberLong: 9223372036854775807}", NULL},
        {"{$numberLong: 9223372036854775806}", "{$numberDecimal: '9223372036854775806'}", NULL},
        {"'1'", NULL},
        {"true", NULL},
    };
    enum { KINDS = sizeof alike / sizeof *alike };
    for (size_t i = 0; i < KINDS * 6; i++)
        for (size_t k = 0; k < KINDS * 6; k++) {
            const char *one = alike[i / 6][i % 6], *other = alike[k / 6][k % 6];
            char expect[200], difference[400], digests[2][EXPECTED_DIGEST];
            err_t err;
            bson_t values[] = {BSON_INITIALIZER, BSON_INITIALIZER};
            if (!one || !other)
                continue;
            assert_true(value_parse(&values[0], "n", one, &err) && value_parse(&values[1], "n", other, &err));
            for (int both = 0; both < 2; both++)
                expected_digest(&values[both], false, digests[both]);
            if ((i / 6 == k / 6) != (strcmp(digests[0], digests[1]) == 0))
                fail_msg("the digests of %s and %s", one, other);
            char *json = bson_as_canonical_extended_json(&values[1], NULL), answer[300];
            snprintf(expect, sizeof expect, "{values: [{n: %s}]}", one);
            snprintf(answer, sizeof answer, "{\"0\": %s}", json);
            said(expect, answer, difference, sizeof difference);
            if ((i / 6 == k / 6) != !difference[0])
                fail_msg("%s expected, %s found: %s", one, other, difference);
            bson_free(json);
            bson_destroy(&values[0]);
            bson_destroy(&values[1]);
        }
}

/* Among whole numbers and decimals nothing is nearly equal; where a double is one of the two, a billionth counts. */
TEST(decimals) {
    static const struct {
        const char *one, *other;
        bool same;
    } cases[] = {
        {"{$numberDecimal: '1000000000.75'}", "{$numberDecimal: '1000000000.25'}", false},
        {"{$numberDecimal: '1000000000.250'}", "{$numberDecimal: '1000000000.25'}", true},
        {"{$numberDecimal: '1000000000.25'}", "1000000000.75", true},
        {"{$numberDecimal: '1.25'}", "1.75", false},
        {"{$numberDecimal: '9007199254740993.5'}", "{$numberLong: 9007199254740993}", false},
        {"{$numberDecimal: '9007199254740993.0'}", "{$numberLong: 9007199254740993}", true},
        {"{$numberDecimal: '9007199254740992'}", "{$numberLong: 9007199254740993}", false},
        {"{$numberDecimal: '-0.000125E-20'}", "{$numberDecimal: '-1.25E-24'}", true},
        {"{$numberDecimal: '-1.25E-24'}", "{$numberDecimal: '1.25E-24'}", false},
        {"{$numberDecimal: '0.1'}", "{$numberDecimal: '0.10000000000000000001'}", false},
        {"{$numberDecimal: '99999999999999999999'}", "{$numberDecimal: '99999999999999999998'}", false},
        {"{$numberDecimal: '100000000000000000000'}", "{$numberDecimal: '1E20'}", true},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int turned = 0; turned < 2; turned++) {
            const char *one = turned ? cases[i].other : cases[i].one,
                       *other = turned ? cases[i].one : cases[i].other;
            char expect[200], answer[300], difference[400];
            err_t err;
            bson_t value = BSON_INITIALIZER;
            assert_true(value_parse(&value, "n", other, &err));
            char *json = bson_as_canonical_extended_json(&value, NULL);
            snprintf(expect, sizeof expect, "{values: [{n: %s}]}", one);
            snprintf(answer, sizeof answer, "{\"0\": %s}", json);
            said(expect, answer, difference, sizeof difference);
            if (cases[i].same != !difference[0])
                fail_msg("%s expected, %s found: %s", one, other, difference);
            bson_free(json);
            bson_destroy(&value);
        }
}

/* What a client accumulates is one document, of many that it has seen; of what was not kept whole only the count is
 * known. */
TEST(counts) {
    err_t err;
    char difference[400];
    static const struct {
        const char *expect, *words;
        bool more;
    } cases[] = {{"{values: [{sum: 5}]}", "", false},
                 {"{documents: 1000}", "", false},
                 {"{documents: 1}", "1000 documents where 1 were expected", false},
                 {"{documents: 1000}", "", true},
                 {"{documents: 999}", "1000 documents where 999 were expected", true},
                 {"{documents: 1000, values: [{sum: 5}]}", "too large to be", true},
                 {"{digest: '00000000000000000000000000000000'}", "too large to be", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_t none = BSON_INITIALIZER, filled, *sum = lab_json("{\"sum\": 5}");
        answer_t answer;
        yaml_tree_t *tree = yaml_tree_parse(cases[i].expect, strlen(cases[i].expect), "x", &err);
        assert_true(value_document(&filled, yaml_tree_root(tree), tree, &none, &err));
        answer_begin(&answer, true);
        answer_take(&answer, sum);
        answer.count = 1000;
        answer.more = cases[i].more;
        expected_check(&filled, &answer, difference, sizeof difference);
        if (cases[i].words[0] ? !strstr(difference, cases[i].words) : difference[0])
            fail_msg("%s: '%s'", cases[i].expect, difference);
        answer_end(&answer);
        yaml_tree_destroy(tree);
        bson_destroy(&filled);
        bson_destroy(sum);
    }
}

/* An answer may be deeper than any document of a server. */
TEST(deep) {
    enum { LEVELS = 200000 };
    char digest[EXPECTED_DIGEST], difference[400];
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
    expected_digest(&answers, false, digest);
    bson_t filled = BSON_INITIALIZER;
    bson_append_array(&filled, "values", -1, &answers);
    answer_t answer;
    answer_begin(&answer, true);
    answer_take(&answer, &whole);
    expected_check(&filled, &answer, difference, sizeof difference);
    assert_string_equal("", difference);
    answer_end(&answer);
    bson_destroy(&filled);
    bson_destroy(&answers);
    free(bytes);
}

static void find_figure(const bson_t *answer, const char *name, bson_iter_t *figure) {
    char path[40];
    bson_iter_t at;
    snprintf(path, sizeof path, "value.%s", name);
    assert_true(bson_iter_init(&at, answer) && bson_iter_find_descendant(&at, path, figure));
}

static double field(const bson_t *answer, const char *name) {
    bson_iter_t figure;
    find_figure(answer, name, &figure);
    return bson_iter_as_double(&figure);
}

/* One by one, and as a list first. */
static void accumulated_so(bool keeps) {
    static const char *const documents[] = {
        "{\"m\": 2}",   "{\"m\": 4.0}", "{\"x\": 1}", "{\"m\": \"7\"}", "{\"m\": {\"$numberLong\": \"6\"}}",
        "{\"m\": null}"};
    accumulate_t sums;
    bson_t result;
    accumulate_begin(&sums, "m", keeps);
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        bson_t *document = lab_json(documents[i]);
        accumulate_take(&sums, document);
        bson_destroy(document);
    }
    accumulate_result(&sums, &result);
    assert_int_equal(6, sums.documents);
    assert_true(field(&result, "count") == 3);
    assert_true(field(&result, "sum") == 12);
    assert_true(field(&result, "min") == 2);
    assert_true(field(&result, "max") == 6);
    bson_destroy(&result);
    accumulate_begin(&sums, "a.b", keeps);
    bson_t *inner = lab_json("{\"a\": {\"b\": 5}}");
    accumulate_take(&sums, inner);
    bson_destroy(inner);
    accumulate_result(&sums, &result);
    assert_true(field(&result, "sum") == 5);
    bson_destroy(&result);
    accumulate_begin(&sums, "m", keeps);
    accumulate_result(&sums, &result);
    bson_iter_t at;
    find_figure(&result, "min", &at);
    assert_true(BSON_ITER_HOLDS_NULL(&at));
    bson_destroy(&result);
}

TEST(accumulated) {
    accumulated_so(false);
    accumulated_so(true);
}

/* Whatever order they come in; NaN is the least of all, as on the server. */
TEST(any_order) {
    static const struct {
        const char *values[4];
        double sum, least, most;
    } cases[] = {
        {{"NaN", "1.5", "-3", NULL}, NAN, NAN, 1.5},
        {{"NaN", NULL}, NAN, NAN, NAN},
        {{"Infinity", "1.5", NULL}, INFINITY, 1.5, INFINITY},
        {{"1e16", "1", "-1e16", NULL}, 1, -1e16, 1e16},
    };
    static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t order = 0; order < 6; order++)
            for (int decimal = 0; decimal < 2; decimal++) {
                const bool keeps = order % 2;
                accumulate_t sums;
                bson_t result;
                size_t count = 0;
                accumulate_begin(&sums, "m", keeps);
                for (size_t k = 0; k < 3; k++) {
                    const char *value = cases[i].values[orders[order][k]];
                    char text[80];
                    if (!value || (count && !cases[i].values[1])) /* what comes behind an end is none */
                        continue;
                    snprintf(text, sizeof text, "{\"m\": {\"$number%s\": \"%s\"}}",
                             decimal ? "Decimal" : "Double", value);
                    bson_t *document = lab_json(text);
                    accumulate_take(&sums, document);
                    bson_destroy(document);
                    count++;
                }
                accumulate_result(&sums, &result);
                const double found[] = {field(&result, "sum"), field(&result, "min"), field(&result, "max")};
                const double wanted[] = {cases[i].sum, cases[i].least, cases[i].most};
                for (size_t k = 0; k < 3; k++)
                    if (!(found[k] == wanted[k] || (isnan(found[k]) && isnan(wanted[k]))))
                        fail_msg("case %zu, order %zu, figure %zu: %g, not %g", i, order, k, found[k],
                                 wanted[k]);
                assert_true(field(&result, "count") == (double)count);
                bson_destroy(&result);
            }
}
