/* suite: what is refused, with line and column, and what is understood; values; queries as they are typed. */
#include "base/text.h"
#include "builtin/builtin.h"
#include "json_lab.h"
#include "query/suite/request.h"
#include "test.h"

#include <stdio.h>
#include <string.h>

/* 124 bytes: with "ä_1" more than 127. */
#define LONG_FIELD                                                                                           \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                                         \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static suite_t *parse(const char *text, err_t *err) {
    return suite_parse(text, strlen(text), "x.yaml", err);
}

TEST(understood) {
    err_t err;
    suite_t *suite =
        parse("suite: s\n"
              "about: what it is\n"
              "params: {least: 5, when: {$date: 2014-01-01}}\n"
              "queries:\n"
              "  - name: one\n"
              "    about: the first\n"
              "    tags: [study, scan]\n"
              "    pipeline: [{$match: {m: {$gt: {$param: least}}}}, {$count: n}]\n"
              "  - name: two\n"
              "    collection: other\n"
              "    each: {n: [1, 10]}\n"
              "    draw: {gives: [id, to], pipeline: [{$sample: {size: {$param: n}}}]}\n"
              "    find: {filter: {_id: {$gte: {$param: id}, $lt: {$param: to}}}, limit: {$param: n}}\n"
              "    options: {hint: {_id: 1}, maxTimeMS: {$param: n}}\n"
              "    setup: {indexes: [{key: {ts: 1, st: 1}}]}\n"
              "    documents: {$param: n}\n"
              "  - name: three\n"
              "    accumulate: {field: m, whole: yes}\n"
              "    expect: {documents: 1}\n"
              "tables:\n"
              "  - {title: t, rows: n, columns: query, show: docs_per_ms, published: {1: {two: 5}}}\n",
              &err);
    if (!suite)
        fail_msg("%s", err.text);
    assert_string_equal("s", suite->name);
    assert_int_equal(3, suite->query_count);
    assert_int_equal(QUERY_PIPELINE, suite->queries[0].kind);
    assert_int_equal(QUERY_FIND, suite->queries[1].kind);
    assert_int_equal(QUERY_ACCUMULATE, suite->queries[2].kind);
    assert_string_equal("other", suite->queries[1].collection);
    assert_string_equal("id", suite_given(&suite->queries[1], 0));
    assert_string_equal("to", suite_given(&suite->queries[1], 1));
    assert_null(suite_given(&suite->queries[1], 2));
    assert_null(suite_given(&suite->queries[0], 0));
    assert_true(suite_has_tag(&suite->queries[0], "scan"));
    assert_true(suite_has_tag(&suite->queries[0], "one"));
    assert_false(suite_has_tag(&suite->queries[0], "two"));
    assert_int_equal(1, suite->table_count);
    suite_close(suite);
}

#define QUERY    "suite: s\nqueries:\n  - name: q\n"
#define RUN(map) "suite: s\nrun: " map "\nqueries: [{name: q, pipeline: []}]\n"
#define TABLE(more)                                                                                          \
    QUERY "    find: {}\ntables: [{title: t, rows: query, columns: clients, show: mean_ms, " more "}]\n"

TEST(mistakes) {
    static const struct {
        const char *text, *words;
    } cases[] = {
        {RUN("5"), "x.yaml:2:6: 'run' is a map"},
        {RUN("{repeat: 5}"), "did you mean 'repeats'?"},
        {RUN("{repeats: 0}"), "x.yaml:2:16"},
        {RUN("{clients: 5}"), "'clients' is a list of 1 to 16 numbers"},
        {RUN("{clients: []}"), "1 to 16"},
        {RUN("{clients: [1, 0]}"), "x.yaml:2:20"},
        {RUN("{readPreference: [primary]}"),
         "x.yaml:2:23: 'readPreference' is not possible here: give --read"},
        {RUN("{duration: soon}"), "'duration' is a time"},
        {RUN("{duration: 0s}"), "'duration' is a time"},
        {RUN("{duration: 5}"), "x.yaml:2:17: 'duration' is a time, such as 30s"},
        {QUERY "    pipeline: []\n    explain: yes\n", "only a find"},
        {QUERY "    find: {}\n    draw: {gives: [w], pipeline: []}\n    explain: yes\n", "only a find"},
        {QUERY "    find: {}\n    explain: perhaps\n", "x.yaml:5:14: yes or no"},
        {QUERY "    find: {}\n    run: {repeats: 5}\n", "'repeats' is not known here"},
        {TABLE("published: 5"), "'published' is a map"},
        {TABLE("published: {q: 5}"), "ROW: {COLUMN: FIGURE}"},
        {TABLE("published: {q: {1: ''}}"), "ROW: {COLUMN: FIGURE}"},
        {TABLE("published: {q: {1: [5]}}"), "ROW: {COLUMN: FIGURE}"},
        {TABLE("published: {q: {1: 5}, qq: {1: 5}}"), "the row 'qq'"},
        {QUERY "    each: {n: [1, 2]}\n    find: {}\ntables: [{title: t, rows: n, columns: query, show: n, "
               "published: {2: {q: 1}, 3: {q: 1}}}]\n",
         "the row '3'"},
        {QUERY "    find: {}\ntables: [{title: t, rows: clients, columns: query, show: n, published: {x: {q: "
               "1}}}]\n",
         "the row 'x'"},
        {QUERY "    find: {}\ntables: [{title: t, rows: reads, columns: query, show: n, "
               "published: {nearest: {q: 1}, far: {q: 1}}}]\n",
         "the row 'far'"},
        {QUERY
         "    find: {}\ntables: [{title: t, rows: query, columns: clients, show: mean, published: {}}]\n",
         "'mean' is none; did you mean 'mean_ms'?"},
        {TABLE("published: {}, queries: [nothing]"), "no tag 'nothing'"},
        {TABLE("queries: [q]"), "'published' is missing"},
        {QUERY "    find: {}\ntables: [{title: t, rows: n, columns: query, show: mean_ms, published: {}}]\n",
         "x.yaml:5:10: 'rows' and 'columns' are"},
        {"", "x.yaml:1:1: the file is empty"},
        {"suite: s\n", "x.yaml:1:1: 'queries' is missing"},
        {"queries: []\n", "'suite' is missing"},
        {"suite: s\nqueries: []\n", "x.yaml:2:10: there are no"},
        {"suite: s\nquerys: []\n", "did you mean 'queries'?"},
        {"suite: s\nqueries: [5]\n", "x.yaml:2:11: a map was expected"},
        {"suite: s\nqueries: [{pipeline: []}]\n", "x.yaml:2:11: 'name' is missing"},
        {"suite: s\nqueries: [{name: a b, pipeline: []}]\n", "x.yaml:2:18: a name has letters"},
        {"suite: s\nqueries: [{name: a123456789b123456789c123456789d123456789e123456789f123456789g, find: "
         "{}}]\n",
         "60 of them"},
        {"suite: s\nqueries: [{name: a, pipeline: []}, {name: a, pipeline: []}]\n", "a query 'a' already"},
        {QUERY, "x.yaml:3:5: the query 'q' has no"},
        {QUERY "    pipeline: []\n    find: {}\n", "one of them only"},
        {QUERY "    pipeline: {$match: {}}\n", "x.yaml:4:15: 'pipeline' is a list"},
        {QUERY "    pipeline: [{$limit: {$param: n}}]\n", "x.yaml:4:34: there is no parameter 'n' here"},
        {"params: {nn: 1}\n" QUERY "    pipeline: [{$limit: {$param: n}}]\n", "did you mean 'nn'?"},
        {"params: {n: {$param: m}, m: 1}\n" QUERY "    find: {}\n", "there is no parameter 'm'"},
        {QUERY "    find: {filtre: {}}\n", "did you mean 'filter'?"},
        {QUERY "    find: {projection: 5}\n", "x.yaml:4:24: 'projection' is a map"},
        {QUERY "    accumulate: {limit: 5}\n", "'field' is missing"},
        {QUERY "    accumulate: {field: 5}\n", "x.yaml:4:25: 'field' is a text"},
        {QUERY "    accumulate: {field: m, whole: perhaps}\n", "x.yaml:4:35: yes or no"},
        {QUERY "    mapReduce: {map: 'function() {}'}\n", "'reduce' is missing"},
        {QUERY "    mapReduce: {map: 'x', reduce: 'y', out: other}\n", "'out' is not known here"},
        {QUERY "    mapReduce: {map: [x], reduce: 'y'}\n", "'map' is a text"},
        {QUERY "    find: {}\n    options: {hints: 5}\n", "did you mean 'hint'?"},
        {QUERY "    find: {}\n    options: {maxStaleness: 90}\n",
         "x.yaml:5:29: 'maxStaleness' is not possible here: give maxStalenessSeconds"},
        {QUERY "    find: {}\n    each: {n: 5}\n", "a list of values"},
        {QUERY "    find: {}\n    each: {n: []}\n", "a list of values"},
        {"params: {n: 1}\n" QUERY "    find: {}\n    each: {n: [5]}\n", "a parameter 'n' already"},
        {QUERY "    find: {}\n    draw: {gives: [a]}\n", "'pipeline' is missing"},
        {QUERY "    find: {}\n    draw: {gives: a, pipeline: []}\n", "a list of names"},
        {QUERY "    find: {}\n    draw: {gives: [a], pipeline: []}\n    expect: {documents: 1}\n",
         "nothing can be expected"},
        {QUERY "    find: {}\n    setup: {indexes: [{ts: 1}]}\n", "'ts' is not known here"},
        {QUERY "    find: {}\n    setup: {indexes: [{key: {}}]}\n", "an index is written"},
        {QUERY "    find: {}\n    setup: {indexes: [{key: {ts: 1}, expireAfterSeconds: 0}]}\n",
         "would remove"},
        {QUERY "    find: {}\n    setup: {indexes: [{key: {ts: 1}, hidden: maybe}]}\n",
         "x.yaml:5:46: yes or no"},
        {QUERY "    find: {}\n    setup: {indexes: [{key: {ts: 1}, name: 5}]}\n", "'name' is a text"},
        {QUERY "    find: {}\n    setup: {indexes: [{key: {ts:1}}]}\n",
         "x.yaml:5:30: the key 'ts:1' has no value"},
        {QUERY "    find: {}\n    setup: {indexes: [{key: {" LONG_FIELD "ä: 1}}]}\n",
         "x.yaml:5:23: by its keys"},
        {QUERY "    find: {}\n    setup: [{key: {ts: 1}}]\n", "'setup' is a map"},
        {QUERY "    find: {}\n    setup: {}\n", "'indexes' is missing"},
        {QUERY "    find: {}\n    documents: some\n", "x.yaml:5:16: 'documents' is all, returned"},
        {QUERY "    find: {}\n    expect: {document: 5}\n", "did you mean 'documents'?"},
        {QUERY "    find: {}\n    expect: {documents: '8'}\n", "x.yaml:5:25: 'documents' is a whole"},
        {QUERY "    find: {}\n    expect: {documents: 1.9}\n", "'documents' is a whole"},
        {QUERY "    find: {}\n    expect: {documents: -1}\n", "'documents' is a whole"},
        {QUERY "    find: {}\n    expect: {digest: 5}\n", "'digest' is a text of 32"},
        {QUERY "    find: {}\n    expect: {digest: '00'}\n", "'digest' is a text of 32"},
        {QUERY "    find: {}\n    expect: {values: [{a: 1}]}\n",
         "x.yaml:5:22: 'values' is not possible here: expect"},
        {QUERY "    find: {}\n    expect: {}\n", "x.yaml:5:13: nothing is expected"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {.text = ""};
        if (parse(cases[i].text, &err))
            fail_msg("taken: %s", cases[i].text);
        assert_int_equal(STATUS_USAGE, err.status);
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s\n'%s' has no '%s'", cases[i].text, err.text, cases[i].words);
    }
}

TEST(built_in) {
    err_t err;
    size_t count = 0;
    for (const builtin_t *builtin = builtin_suites; builtin->name; builtin++, count++) {
        suite_t *suite = suite_open(builtin->name, &err);
        if (!suite)
            fail_msg("%s", err.text);
        assert_string_equal(builtin->name, suite->name);
        assert_non_null(suite->about);
        for (size_t i = 0; i < suite->query_count; i++)
            if (!suite->queries[i].about || !suite->queries[i].tags)
                fail_msg("%s of %s has no 'about' or no tags", suite->queries[i].name, suite->name);
        suite_close(suite);
    }
    assert_true(count > 0);
    assert_null(suite_open("mott", &err));
    assert_non_null(strstr(err.text, "did you mean 'mot'?"));
    assert_null(suite_open("./not-there.yaml", &err));
    assert_non_null(strstr(err.text, "./not-there.yaml cannot be read"));
}

/* ---- values ---- */

/* What --param takes, and as which value of JSON. Words and all that is in quotes are texts; what a shell or Extended JSON
 * has is what it means there. */
TEST(values) {
    static const struct {
        const char *yaml, *json;
    } cases[] = {
        {"5", "5"},
        {"2147483648", "{\"$numberLong\": \"2147483648\"}"},
        {"1.0", "{\"$numberDouble\": \"1.0\"}"},
        {"-1e9", "{\"$numberDouble\": \"-1e9\"}"},
        {"true", "true"},
        {"null", "null"},
        {"text", "\"text\""},
        {"yes", "\"yes\""},
        {"$t.a_b-c", "\"$t.a_b-c\""},
        {"$$ROOT", "\"$$ROOT\""},
        {"e5", "\"e5\""},
        {"'5'", "\"5\""},
        {"\"null\"", "\"null\""},
        {"''", "\"\""},
        {"'ISODate(5)'", "\"ISODate(5)\""},
        {"NaN", "{\"$numberDouble\": \"NaN\"}"},
        {"-Infinity", "{\"$numberDouble\": \"-Infinity\"}"},
        {"MinKey", "{\"$minKey\": 1}"},
        {"/^a b/i", "{\"$regularExpression\": {\"pattern\": \"^a b\", \"options\": \"i\"}}"},
        {"[new Date(\"1970-01-02\")]", "[{\"$date\": {\"$numberLong\": \"86400000\"}}]"},
        {"NumberLong(7)", "{\"$numberLong\": \"7\"}"},
        {"[1, [2, a], {b: 3}]", "[1, [2, \"a\"], {\"b\": 3}]"},
        {"{$match: {m: {$gt: 5}, $or: []}}", "{\"$match\": {\"m\": {\"$gt\": 5}, \"$or\": []}}"},
        {"{$type: '$x'}", "{\"$type\": \"$x\"}"},
        {"{}", "{}"},
        {"{$numberLong: 7}", "{\"$numberLong\": \"7\"}"},
        {"{$numberDouble: '7'}", "{\"$numberDouble\": \"7.0\"}"},
        {"{$numberDecimal: 7.10}", "{\"$numberDecimal\": \"7.10\"}"},
        {"{$oid: 507f1f77bcf86cd799439011}", "{\"$oid\": \"507f1f77bcf86cd799439011\"}"},
        {"{$date: 1970-01-02}", "{\"$date\": {\"$numberLong\": \"86400000\"}}"},
        {"{$date: '2014-06-01T12:30:15.250Z'}", "{\"$date\": {\"$numberLong\": \"1401625815250\"}}"},
        {"{$date: 2014-06-01T12:30}", "{\"$date\": {\"$numberLong\": \"1401625800000\"}}"},
        {"{$date: {$numberLong: '-5'}}", "{\"$date\": {\"$numberLong\": \"-5\"}}"},
        {"{$timestamp: {t: 5, i: 6}}", "{\"$timestamp\": {\"t\": 5, \"i\": 6}}"},
        {"{$maxKey: 1}", "{\"$maxKey\": 1}"},
        {"{$binary: {base64: AQ==, subType: '80'}}",
         "{\"$binary\": {\"base64\": \"AQ==\", \"subType\": \"80\"}}"},
        {"{$uuid: C8edabc3-f738-4ca3-b68d-ab92a91478a3}",
         "{\"$binary\": {\"base64\": \"yO2rw/c4TKO2jauSqRR4ow==\", \"subType\": \"04\"}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        bson_t made = BSON_INITIALIZER;
        char whole[300];
        snprintf(whole, sizeof whole, "{\"v\": %s}", cases[i].json);
        bson_t *wanted = lab_json(whole);
        if (!value_parse(&made, "v", cases[i].yaml, &err))
            fail_msg("%s: %s", cases[i].yaml, err.text);
        if (!bson_equal(&made, wanted))
            fail_msg("%s: made %s", cases[i].yaml, bson_as_canonical_extended_json(&made, NULL));
        bson_destroy(&made);
        bson_destroy(wanted);
    }
}

/* As a text it would find something else than what was meant. */
TEST(no_values) {
    static const char *const cases[][2] = {
        {"True", "v:1:1: 'True' is no value"},
        {"None", "in quotes"},
        {"nan", "is no value"},
        {"+Infinity", "is no value"},
        {"0x10", "is no value"},
        {"007", "this is no number"},
        {".5", "is no value"},
        {"1_000", "is no value"},
        {"5n", "is no value"},
        {"60*1000", "is no value"},
        {"1, 2", "is no value"},
        {"5}", "is no value"},
        {"1e999", "a double would not keep"},
        {"99999999999999999999", "write {\"$numberDecimal\""},
        {"{d: {$gte: 2024-05-01}}", "v:1:12: '2024-05-01' is no value"},
        {"2024-05-01T12:30:00Z", "write a date like {$date: "},
        {"12:30", "is no value"},
        {"Ann Smith", "is no value"},
        {"1 /* one */", "is no value"},
        {"it's", "is no value"},
        {"Math.PI", "is no value"},
        {"Long.fromString('5')", "is no value"},
        {"ObjectId('5')", "is no value"},
        {"ISODate()", "is no value"},
        {"new Map()", "is no value"},
        {"/var/log/x", "is no value"},
        {"\u00a05", "is no value"},
        {"{k:FORD}", "v:1:2: the key 'k:FORD' has no value"},
        {"[{a}]", "the key 'a' has no value"},
        {"{$date: 2014-02-30}", "expected \"2024-05-31T"},
        {"{$date: 2014}", "is no value"},
        {"{$date: \"2014-01-31\\0\"}", "contains the character"},
        {"{$oid: 5}", "expected "},
        {"{$numberInt: 2147483648}", "expected "},
        {"{$timestamp: 5}", "expected "},
        {"{$binary: AQID}", "expected "},
        {"{$param: n}", "there is no parameter 'n'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {.text = ""};
        bson_t made = BSON_INITIALIZER;
        if (value_parse(&made, "v", cases[i][0], &err))
            fail_msg("%s was taken", cases[i][0]);
        assert_int_equal(STATUS_USAGE, err.status);
        if (!strstr(err.text, cases[i][1]))
            fail_msg("%s: '%s' has no '%s'", cases[i][0], err.text, cases[i][1]);
        bson_destroy(&made);
    }
}

/* ---- queries as they are typed ---- */

/* Compact as for a shell, in lines, with comments. */
TEST(typed) {
    static const struct {
        const char *query, *json;
    } cases[] = {
        {"{balance:{$gt:9000}}", "{\"filter\": {\"balance\": {\"$gt\": 9000}}}"},
        {"{a:'x',b:\"y:z\",c:[1,{d:-1}],'e.f':null}",
         "{\"filter\": {\"a\": \"x\", \"b\": \"y:z\", \"c\": [1, {\"d\": -1}], \"e.f\": null}}"},
        {"{\"a\":1,\"b\" :2 , c : 3}", "{\"filter\": {\"a\": 1, \"b\": 2, \"c\": 3}}"},
        {"{a:\"x, k:v\", b: \"it's {k:v\", 7:c, c: \"\\\",k:v}\", d: '#',e:/it's/}",
         "{\"filter\": {\"a\": \"x, k:v\", \"b\": \"it's {k:v\", \"7\": \"c\", \"c\": \"\\\",k:v}\", \"d\": "
         "\"#\", \"e\": {\"$regularExpression\": {\"pattern\": \"it's\", \"options\": \"\"}}}}"},
        {"{ # what's rich?\n\ta:\n  {$gt:5}, # }\n bäc:\"ä:ö\"\r\n}  # done\n",
         "{\"filter\": {\"a\": {\"$gt\": 5}, \"bäc\": \"ä:ö\"}}"},
        {"{d:{$gte:ISODate(\"2016-01-01T00:00:00Z\")},u:'ISODate(5)'}",
         "{\"filter\": {\"d\": {\"$gte\": {\"$date\": \"2016-01-01T00:00:00Z\"}}, \"u\": \"ISODate(5)\"}}"},
        {"[{$match:{a:{$in:[1,2]}}},{$count:n}]",
         "{\"0\": {\"$match\": {\"a\": {\"$in\": [1, 2]}}}, \"1\": {\"$count\": \"n\"}}"},
        {" \n[\n  {$count:n},\n]\n", "{\"0\": {\"$count\": \"n\"}}"},
        {"{}", "{\"filter\": {}}"},
        {"[]", "{}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        bson_t made;
        suite_t *suite = suite_open(cases[i].query, &err);
        if (!suite)
            fail_msg("%s: %s", cases[i].query, err.text);
        bson_t *wanted = lab_json(cases[i].json);
        assert_true(value_document(&made, suite->queries[0].body, suite->tree, NULL, &err));
        if (!bson_equal(&made, wanted))
            fail_msg("%s: made %s", cases[i].query, bson_as_canonical_extended_json(&made, NULL));
        bson_destroy(&made);
        bson_destroy(wanted);
        suite_close(suite);
    }
}

/* Places are those of what was typed. */
TEST(mistyped) {
    static const char *const cases[][2] = {
        {"{balance:{$gt:9000}", "the query:1:1: not YAML"},
        {"[{$match:{a:1}]", "the query:1:15: not YAML"},
        {"{a:1}}", "the query:1:6: not YAML"},
        {"{a: 1}, limit: 5", "the query:1:7: not YAML"},
        {"{ä:1,a:2,a:3}", "the query:1:10: 'a' is there twice"},
        {"{a:&x 5}", "the query:1:4: anchors"},
        {"{a:1,\n  b:@5}", "the query:2:5: not YAML"},
        {"{a:\"\\d\"}", "the query:1:5: not YAML"},
        {"{a:\"\\ud83d\"}", "the query:1:7: not YAML"},
        {"{ä:\"\xff\"}", "the query:1:5: not YAML"},
        {"{a:undefined}", "the query:1:4: 'undefined' is no value"},
        {"{a:1,b: }", "the query:1:6: the key 'b' has no value"},
        {"{a:1, b }", "the query:1:7: the key 'b' has no value"},
        {"{b:1,k:[FORD # one\n FIAT]}", "the query:2:2: not YAML"},
        {"{b:1,k:[FORD\n FIAT]}", "the query:1:9: 'FORD FIAT' is no value"},
        {"{b:1,a:1+1}", "the query:1:8: '1+1' is no value"},
        {"{t:{$in:[a, b:c]}}", "the query:1:13: 'b:c' is no value"},
        {"{b:{c:1},\n a:{$date:x}}", "the query:2:4: 'ISODate(\"x\")' is no value"},
        {"[{$match:{a:1}},\n{$out:t}]", "the query:2:1: '$out' is not among"},
        {"[{$match:{a:new Date(2024,1,1)}}]", "the query:1:"},
        {"{a:/x{2,3}/}", "the query:1:"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {.text = ""};
        if (suite_open(cases[i][0], &err))
            fail_msg("taken: %s", cases[i][0]);
        assert_int_equal(STATUS_USAGE, err.status);
        if (!strstr(err.text, cases[i][1]))
            fail_msg("%s\n'%s' has no '%s'", cases[i][0], err.text, cases[i][1]);
    }
}

/* Flags of an index are no texts, however they are written. */
TEST(indexes) {
    static const struct {
        const char *yaml, *json;
    } cases[] = {
        {"{key: {ts: 1, st: -1}}", "{ \"key\" : { \"ts\" : 1, \"st\" : -1 } }"},
        {"{key: {ts: 1}, hidden: yes, unique: no}",
         "{ \"key\" : { \"ts\" : 1 }, \"hidden\" : true, \"unique\" : false }"},
        {"{key: {ts: 1}, sparse: true, partialFilterExpression: {a: yes}}",
         "{ \"key\" : { \"ts\" : 1 }, \"sparse\" : true, \"partialFilterExpression\" : { \"a\" : \"yes\" } "
         "}"},
        {"{key: {" LONG_FIELD ": 1}, name: short}", NULL},
        {"{key: {" LONG_FIELD "b: 1}}", NULL}, /* 127 bytes */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        bson_t index;
        yaml_tree_t *tree = yaml_tree_parse(cases[i].yaml, strlen(cases[i].yaml), "x", &err);
        if (!tree || !suite_read_index(tree, yaml_tree_root(tree), &index, &err))
            fail_msg("%s: %s", cases[i].yaml, err.text);
        char *json = bson_as_relaxed_extended_json(&index, NULL);
        if (cases[i].json)
            assert_string_equal(json, cases[i].json);
        bson_free(json);
        bson_destroy(&index);
        yaml_tree_destroy(tree);
    }
}
