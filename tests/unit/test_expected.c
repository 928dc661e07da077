/* expected: digests and comparisons of answers; accumulate: by hand. */
#include "query/accumulate.h"
#include "query/expected.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bson_t *json(const char *text) {
    bson_error_t error;
    bson_t *document = bson_new_from_json((const uint8_t *)text, -1, &error);
    if (!document)
        fail_msg("%s: %s", text, error.message);
    return document;
}

static bool same_digest(const char *one, const char *other, bool unordered) {
    char digests[2][EXPECTED_DIGEST];
    bson_t *documents[] = {json(one), json(other)};
    for (int i = 0; i < 2; i++) {
        expected_digest(documents[i], unordered, digests[i]);
        bson_destroy(documents[i]);
        assert_int_equal(32, strspn(digests[i], "0123456789abcdef"));
    }
    return strcmp(digests[0], digests[1]) == 0;
}

static void digests(void **state) {
    (void)state;
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
    bson_t none = BSON_INITIALIZER, *documents = json(answer_json);
    answer_t answer;
    bson_iter_t at;
    snprintf(text, sizeof text, "%s", expect);
    ytree_t *tree = ytree_parse(text, strlen(text), "x", &err);
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
    assert_true(expected_check(ytree_root(tree), tree, &none, &answer, difference, room, &err));
    answer_end(&answer);
    bson_destroy(documents);
    ytree_destroy(tree);
}

static void expectations(void **state) {
    (void)state;
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
        {"{values: [{_id: C, n: 0.3}, {_id: A, n: 2}], unordered: yes}", "was expected and is not there"},
        {"{digest: '00000000000000000000000000000000'}", "the digest of the answer is"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char difference[400];
        said(cases[i].expect, two, difference, sizeof difference);
        if (cases[i].words[0] ? !strstr(difference, cases[i].words) : difference[0])
            fail_msg("%s: '%s'", cases[i].expect, difference);
    }
}

/* Each found document answers one expectation, not two. */
static void doubled(void **state) {
    (void)state;
    char difference[400];
    said("{values: [{a: 1}, {a: 2}], unordered: yes}", "{\"0\": {\"a\": 1}, \"1\": {\"a\": 1}}", difference,
         sizeof difference);
    assert_string_not_equal("", difference);
    said("{values: [{a: 1}, {a: 1}], unordered: yes}", "{\"0\": {\"a\": 1}, \"1\": {\"a\": 2}}", difference,
         sizeof difference);
    assert_string_not_equal("", difference);
}

static double field(const bson_t *document, const char *name) {
    bson_iter_t at;
    assert_true(bson_iter_init_find(&at, document, name));
    return bson_iter_as_double(&at);
}

static void accumulated(void **state) {
    (void)state;
    static const char *const documents[] = {
        "{\"m\": 2}",   "{\"m\": 4.0}", "{\"x\": 1}", "{\"m\": \"7\"}", "{\"m\": {\"$numberLong\": \"6\"}}",
        "{\"m\": null}"};
    accumulate_t sums;
    bson_t result;
    accumulate_begin(&sums, "m");
    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        bson_t *document = json(documents[i]);
        accumulate_take(&sums, document);
        bson_destroy(document);
    }
    accumulate_result(&sums, &result);
    assert_int_equal(6, sums.documents);
    assert_true(field(&result, "count") == 3);
    assert_true(field(&result, "sum") == 12);
    assert_true(field(&result, "min") == 2);
    assert_true(field(&result, "max") == 6);
    assert_true(field(&result, "mean") == 4);
    assert_true(fabs(field(&result, "deviation") - sqrt(8.0 / 3)) < 1e-12);
    bson_destroy(&result);
    accumulate_begin(&sums, "a.b");
    bson_t *inner = json("{\"a\": {\"b\": 5}}");
    accumulate_take(&sums, inner);
    bson_destroy(inner);
    accumulate_result(&sums, &result);
    assert_true(field(&result, "sum") == 5);
    bson_destroy(&result);
    accumulate_begin(&sums, "m");
    accumulate_result(&sums, &result);
    bson_iter_t at;
    assert_true(bson_iter_init_find(&at, &result, "min") && BSON_ITER_HOLDS_NULL(&at));
    bson_destroy(&result);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digests),
        cmocka_unit_test(expectations),
        cmocka_unit_test(doubled),
        cmocka_unit_test(accumulated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
