/* suite: what is refused, with line and column, and what is understood. */
#include "builtin/builtin.h"
#include "query/suite/suite.h"
#include "query/suite/value.h"
#include "test.h"

#include <string.h>

/* 124 bytes: with "ä_1" more than 127. */
#define LONG_FIELD                                                                                           \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"                                         \
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static suite_t *parse(const char *text, err_t *err) {
    return suite_parse(text, strlen(text), "x.yaml", err);
}

static void refused(const char *text, const char *words) {
    err_t err = {.text = ""};
    suite_t *suite = parse(text, &err);
    if (suite)
        fail_msg("taken: %s", text);
    assert_int_equal(STATUS_USAGE, err.status);
    if (!strstr(err.text, words))
        fail_msg("%s\n'%s' has no '%s'", text, err.text, words);
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

#define RUN(map) "suite: s\nrun: " map "\nqueries: [{name: q, pipeline: []}]\n"
#define TABLE(published)                                                                                     \
    "suite: s\nqueries: [{name: q, pipeline: []}]\n"                                                         \
    "tables: [{title: t, rows: query, columns: clients, show: mean_ms, published: " published "}]\n"

TEST(bad_runs) {
    refused(RUN("5"), "x.yaml:2:6: a map such as");
    refused(RUN("{repeat: 5}"), "did you mean 'repeats'?");
    refused(RUN("{repeats: 0}"), "x.yaml:2:16");
    refused(RUN("{clients: 5}"), "a list of numbers");
    refused(RUN("{clients: []}"), "from 1 to 16");
    refused(RUN("{clients: [1, 0]}"), "x.yaml:2:20");
    refused(RUN("{clients: [1, 1]}"), "1 is named twice");
    refused(RUN("{readPreference: [primary, nearest, primary]}"), "x.yaml:2:42: primary is named twice");
    refused(RUN("{duration: soon}"), "'duration' is a time");
    refused(RUN("{duration: 0s}"), "'duration' is a time");
    refused(RUN("{readPreference: [primary, secundary]}"), "x.yaml:2:33: a read preference");
    refused("suite: s\nformats: isd\nqueries: [{name: q, pipeline: []}]\n", "x.yaml:2:10");
    refused("suite: s\nqueries: [{name: q, pipeline: [], explain: yes}]\n", "only a find");
    refused("suite: s\nqueries: [{name: q, find: {}, draw: {gives: [w], pipeline: []}, explain: yes}]\n",
            "only a find");
    refused("suite: s\nqueries: [{name: q, find: {}, explain: perhaps}]\n", "x.yaml:2:40");
    refused("suite: s\nqueries: [{name: q, find: {}, run: {repeats: 5}}]\n", "'repeats' is not known here");
    refused("suite: s\nqueries: [{name: q, find: {}, run: {clients: [0]}}]\n", "x.yaml:2:47");
    refused(TABLE("5"), "{COLUMN: FIGURE}");
    refused(TABLE("{q: 5}"), "{COLUMN: FIGURE}");
    refused(TABLE("{q: {1: ''}}"), "a published figure");
    refused(TABLE("{q: {1: [5]}}"), "a published figure");
}

#define QUERY "suite: s\nqueries:\n  - name: q\n"

TEST(mistakes) {
    refused("", "x.yaml:1:1: the file is empty");
    refused("suite: s\n", "x.yaml:1:1: 'queries' is missing");
    refused("queries: []\n", "'suite' is missing");
    refused("suite: s\nqueries: []\n", "x.yaml:2:10: there are no");
    refused("suite: s\nquerys: []\n", "did you mean 'queries'?");
    refused("suite: s\nqueries: [{pipeline: []}]\n", "x.yaml:2:11: 'name' is missing");
    refused("suite: s\nqueries: [{name: a b, pipeline: []}]\n", "x.yaml:2:18: a name has letters");
    refused("suite: s\nqueries: [{name: a, pipeline: []}, {name: a, pipeline: []}]\n", "a query 'a' already");
    refused(QUERY, "x.yaml:3:5: the query 'q' has no");
    refused(QUERY "    pipeline: []\n    find: {}\n", "one of them only");
    refused(QUERY "    pipeline: {$match: {}}\n", "x.yaml:4:15: a list of stages");
    refused(QUERY "    pipeline:\n      - {$match: {}, $limit: 5}\n", "x.yaml:5:9: a stage is");
    refused(QUERY "    pipeline: [{match: {}}]\n", "a stage is");
    refused(QUERY "    pipeline: [{$out: t}]\n", "leave $out out");
    refused(QUERY "    pipeline: [{$merge: {into: t}}]\n", "leave $merge out");
    refused(QUERY "    pipeline: [{$limit: {$param: n}}]\n", "x.yaml:4:34: there is no parameter");
    refused("params: {nn: 1}\n" QUERY "    pipeline: [{$limit: {$param: n}}]\n", "did you mean 'nn'?");
    refused(QUERY "    pipeline: [{$match: {d: {$date: x}}}]\n", "x.yaml:4:37: 'x' is not a moment");
    refused(QUERY "    find: {filtre: {}}\n", "did you mean 'filter'?");
    refused(QUERY "    accumulate: {limit: 5}\n", "'field' is missing");
    refused(QUERY "    accumulate: {field: m, whole: perhaps}\n", "x.yaml:4:35");
    refused(QUERY "    accumulate: {field: m, list: perhaps}\n", "x.yaml:4:34");
    refused(QUERY "    accumulate: {field: m, chunk: 5}\n", "'chunk' needs a 'limit'");
    refused(QUERY "    accumulate: {field: m, chunk: 5, limit: 9, skip: 1}\n", "leave 'skip' out");
    refused(QUERY "    mapReduce: {map: 'function() {}'}\n", "'reduce' is missing");
    refused(QUERY "    mapReduce: {map: 'x', reduce: 'y', out: other}\n", "out");
    refused(QUERY "    mapReduce: {map: [x], reduce: 'y'}\n", "'map' is a text");
    refused(QUERY "    find: {}\n    options: {hints: 5}\n", "did you mean 'hint'?");
    refused(QUERY "    find: {}\n    options: {maxStaleness: 90}\n",
            "x.yaml:5:29: 'maxStaleness' was removed: give maxStalenessSeconds");
    refused(QUERY "    find: {}\n    each: {n: 5}\n", "a list of values");
    refused(QUERY "    find: {}\n    each: {n: []}\n", "'n' has no values");
    refused("params: {n: 1}\n" QUERY "    find: {}\n    each: {n: [5]}\n", "a parameter 'n' already");
    refused(QUERY "    find: {}\n    draw: {gives: [a]}\n", "'draw' needs 'gives'");
    refused(QUERY "    find: {}\n    draw: {gives: a, pipeline: []}\n", "a list of names");
    refused(QUERY "    find: {}\n    draw: {gives: [a], pipeline: []}\n    expect: {documents: 1}\n",
            "nothing can be expected");
    refused(QUERY "    find: {}\n    setup: {indexes: [{ts: 1}]}\n", "an index is written");
    refused(QUERY "    find: {}\n    setup: {indexes: [{key: {ts: 1}, expireAfterSeconds: 0}]}\n",
            "leave expireAfterSeconds out");
    refused(QUERY "    find: {}\n    setup: {indexes: [{key: {ts: 1}, storageEngine: {}}]}\n",
            "'storageEngine' is not known here");
    refused(QUERY "    find: {}\n    setup: {indexes: [{key: {ts: 1}, hidden: maybe}]}\n",
            "x.yaml:5:46: yes or no");
    refused(QUERY "    find: {}\n    setup: {indexes: [{key: {ts: 1}, name: 5}]}\n", "'name' is a text");
    refused(QUERY "    find: {}\n    setup: {indexes: [{key: {ts:1}}]}\n",
            "x.yaml:5:30: the key 'ts:1' has no value");
    refused(QUERY "    find: {}\n    setup: {indexes: [{key: {" LONG_FIELD "ä: 1}}]}\n",
            "x.yaml:5:23: by its keys");
    refused(QUERY "    find: {}\n    setup: [{key: {ts: 1}}]\n", "{indexes: [...]}");
    refused(QUERY "    find: {}\n    setup: {index: []}\n", "did you mean 'indexes'?");
    refused(QUERY "    find: {}\n    setup: {}\n", "'indexes' is missing");
    refused(QUERY "    find: {}\n    documents: some\n", "x.yaml:5:16");
    refused(QUERY "    find: {}\n    expect: {document: 5}\n", "did you mean 'documents'?");
    refused(QUERY "    find: {}\n    expect: {documents: '8'}\n", "x.yaml:5:25: 'documents' is a whole");
    refused(QUERY "    find: {}\n    expect: {documents: eight}\n", "'documents' is a whole");
    refused(QUERY "    find: {}\n    expect: {documents: 1.9}\n", "'documents' is a whole");
    refused(QUERY "    find: {}\n    expect: {documents: -1}\n", "'documents' is a whole");
    refused(QUERY "    find: {}\n    expect: {digest: 5}\n", "a digest is");
    refused(QUERY "    find: {}\n    expect: {digest: '00'}\n", "a digest is");
    refused(QUERY "    find: {}\n    expect: {values: [{a: 1}]}\n",
            "x.yaml:5:22: 'values' was removed: expect the 'digest'");
    refused(QUERY "    find: {}\n    expect: {}\n", "x.yaml:5:13: nothing is expected");
    refused(QUERY "    find: {}\n    expect: {unordered: yes}\n", "'unordered' was removed: sort in");
    refused("suite: s\nqueries: [{name: a123456789b123456789c123456789d123456789e123456789f123456789g, find: "
            "{}}]\n",
            "60 letters");
    refused(QUERY
            "    find: {}\ntables: [{title: t, rows: n, columns: query, show: mean_ms, published: {}}]\n",
            "'n' is neither");
    refused(QUERY
            "    find: {}\ntables: [{title: t, rows: query, columns: clients, show: mean_ms, published: {}, "
            "queries: [nothing]}]\n",
            "no tag 'nothing'");
    refused(QUERY "    find: {}\ntables: [{title: t, rows: query}]\n", "a table needs");
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
    assert_non_null(strstr(err.text, "./not-there.yaml cannot be opened"));
}

/* A query as it is typed: compact as for a shell, in lines, with comments. */
TEST(typed) {
    static const struct {
        const char *query, *json;
    } cases[] = {
        {"{balance:{$gt:9000}}", "{\"filter\": {\"balance\": {\"$gt\": 9000}}}"},
        {"{a:'x',b:\"y:z\",c:[1,{d:-1}],'e.f':null}",
         "{\"filter\": {\"a\": \"x\", \"b\": \"y:z\", \"c\": [1, {\"d\": -1}], \"e.f\": null}}"},
        {"{\"a\":1,\"b\" :2 , c : 3}", "{\"filter\": {\"a\": 1, \"b\": 2, \"c\": 3}}"},
        {"{a: $$ROOT.x, b:-1.5e3, t: \"a\tb\"}",
         "{\"filter\": {\"a\": \"$$ROOT.x\", \"b\": -1500.0, \"t\": \"a\\tb\"}}"},
        {"{a: \"it's\", b: \"it's {\", 7: c, c: \"\\\"}\", d: '#'}",
         "{\"filter\": {\"a\": \"it's\", \"b\": \"it's {\", \"7\": \"c\", \"c\": \"\\\"}\", \"d\": \"#\"}}"},
        {"{ # what is rich?\n\ta:\n  {$gt:5}, # }\n bäc:\"ä:ö\"\r\n}  # done\n",
         "{\"filter\": {\"a\": {\"$gt\": 5}, \"bäc\": \"ä:ö\"}}"},
        {"{d:{$gte:{$date:2016-01-01}},u:'ISODate(5)'}",
         "{\"filter\": {\"d\": {\"$gte\": {\"$date\": \"2016-01-01T00:00:00Z\"}}, \"u\": \"ISODate(5)\"}}"},
        {"[{$match:{a:{$in:[1,2]}}},{$count:n}]",
         "{\"0\": {\"$match\": {\"a\": {\"$in\": [1, 2]}}}, \"1\": {\"$count\": \"n\"}}"},
        {"{}", "{\"filter\": {}}"},
        {" \n[\n  {$count:n},\n]\n", "{\"0\": {\"$count\": \"n\"}}"},
        {"\n{a:[b_c, 'd e', 2024],d:{e:{f:1},},}",
         "{\"filter\": {\"a\": [\"b_c\", \"d e\", 2024], \"d\": {\"e\": {\"f\": 1}}}}"},
        {"[]", "{}"},
        {"{a:\"\\ud83d\\uDE00,\\udbff\\udfff\\u00e9\", b:\"\\\\ud83d\"}",
         "{\"filter\": {\"a\": \"\xF0\x9F\x98\x80,\xF4\x8F\xBF\xBF\xC3\xA9\", \"b\": \"\\\\ud83d\"}}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err;
        bson_t made;
        suite_t *suite = suite_open(cases[i].query, &err);
        if (!suite)
            fail_msg("%s: %s", cases[i].query, err.text);
        bson_t *wanted = bson_new_from_json((const uint8_t *)cases[i].json, -1, NULL);
        assert_non_null(wanted);
        assert_true(value_document(&made, suite->queries[0].body, suite->tree, NULL, &err));
        char *json = bson_as_relaxed_extended_json(&made, NULL);
        if (!bson_equal(&made, wanted))
            fail_msg("%s: made %s, wanted %s", cases[i].query, json, cases[i].json);
        bson_free(json);
        bson_destroy(&made);
        bson_destroy(wanted);
        suite_close(suite);
    }
}

/* Places are those of what was typed. */
/* What a server is told of an index: flags are no texts, however they are written. */
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

TEST(mistyped) {
    static const struct {
        const char *query, *words;
    } cases[] = {
        {"{balance:{$gt:9000}", "the query:1:1: this { is never closed"},
        {"[{$match:{a:1}]", "the query:1:15: ] stands where"},
        {"{a:1}}", "the query:1:6: the query has ended"},
        {"{a: 1}, limit: 5", "the query:1:7: the query has ended"},
        {"[{$count:n}];", "the query:1:13: the query has ended"},
        {"{a:1,\n b:\"x}", "the query:2:4: this \" is never closed"},
        {"{ä:1,a:2,a:3}", "the query:1:10: 'a' is there twice"},
        {"{a:&x 5}", "the query:1:4: '&x 5' is no number"},
        {"{a:1,\n  b:@5}", "the query:2:5: '@5' is no number"},
        {"{a:\"\\d\"}", "the query:1:5: an escape of"},
        {"{a:\"\\ud83d\"}", "the query:1:5: \\ud83d is one half"},
        {"{a:\"\\ude00\\ud83d\"}", "the query:1:5: \\ude00 is one half"},
        {"{a:\"\\ud83d\\u0041\"}", "the query:1:5: \\ud83d is one half"},
        {"{a:\"\\ud83d\\ude00\", b:\"\\d\"}", "the query:1:23: an escape of"},
        {"{a:\"\\ud83d\\ud", "the query:1:5: \\ud83d is one half"},
        {"{a:\"\\e\"}", "the query:1:5: an escape of"},
        {"{a:'^\\d+$'}", "the query:1:6: a text with"},
        {"{a:1,\n b:\"x\n\"}", "the query:2:4: this text goes over"},
        {"{a:}", "the query:1:3: no value follows"},
        {"{a:1,b: }", "the query:1:7: no value follows"},
        {"{a:1 b:2}", "the query:1:4: '1 b:2' is no number"},
        {"{a:1+1}", "the query:1:4: '1+1' is no number"},
        {"{a:007}", "the query:1:4: '007' is no number"},
        {"{a:.5}", "the query:1:4: '.5' is no number"},
        {"{a:1_000}", "the query:1:4: '1_000' would be a text"},
        {"{a:0X1F}", "the query:1:4: '0X1F' would be a text"},
        {"{a:+Infinity}", "the query:1:4: '+Infinity' would be a text"},
        {"{a:Math.PI}", "the query:1:4: 'Math.PI' is no number"},
        {"{a:yes}", "the query:1:4: 'yes' is no number"},
        {"{a:True}", "the query:1:4: 'True' is no number"},
        {"{a:MinKey}", "the query:1:4: 'MinKey' would be a text"},
        {"{a:new ObjectId}", "the query:1:4: 'new ObjectId' is no number"},
        {"{a:Long.MAX_VALUE}", "the query:1:4: 'Long.MAX_VALUE' is no number"},
        {"{a:undefined-1}", "the query:1:4: 'undefined-1' is no number"},
        {"{a:1 /* one */}", "the query:1:4: a comment begins with #"},
        {"{a:Ann Smith}", "the query:1:4: 'Ann Smith' is no number"},
        {"{a:\u00a05}", "the query:1:4: "},
        {"{k:{$in:[FORD # one\n FIAT]}}", "the query:2:2: a comma is missing"},
        {"{a # so\n b:1}", "the query:2:2: a colon is missing"},
        {"{a:{b:1} c:2}", "the query:1:10: a comma is missing"},
        {"{a:'it''s'}", "the query:1:8: a comma is missing"},
        {"[\"$match\":{a:1}]", "the query:1:10: a colon stands"},
        {"{a:\"x\ry\"}", "the query:1:4: this text goes over"},
        {"{a:\"x\u2028y\"}", "the query:1:4: this text goes over"},
        {"{a:\"\\012\"}", "the query:1:5: an escape of"},
        {"{1e3:1}", "the query:1:2: '1e3' is not one word"},
        {"{007:1}", "the query:1:2: '007' is not one word"},
        {"{a: it's}", "the query:1:5: 'it's' is no number"},
        {"{a: http://c/d}", "the query:1:5: a comment begins with #"},
        {"{b c:1}", "the query:1:2: 'b c' is not one word"},
        {"{ä:\"\xff\"}", "the query:1:5: not YAML"},
        {"[{$match:{a:1}},\n{$out:t}]", "the query:2:1: a timed query"},
        {"{a:{$date:x}}", "the query:1:11: 'x' is not a moment"},
        {"{a:new Date(2024,1,1)}", "the query:1:4: 'new Date(2024' would be a text"},
        {"{a:ISODate(\"2024-01-01T00:00:00Z\"),b:1}", "the query:1:4: 'ISODate("},
        {"{a:/x{2,3}/}", "the query:1:4: '/x{2' would be a text"},
        {"{a:{$lt:2024-05-01}}", "the query:1:9: '2024-05-01' would be a text"},
        {"{a", "the query:1:1: this { is never closed"},
        {"{a:1, b }", "the query:1:7: this key has no"},
        {"{a:{\"b c\"},d:1}", "the query:1:5: this key has no"},
        {"{a 1, b:2}", "the query:1:2: 'a 1' is not one word"},
        {"{a:1, // so\n b:2}", "the query:1:7: a comment begins"},
        {"[/* so */{$count:n}]", "the query:1:2: a comment begins"},
        {"{a:10 *1000}", "the query:1:4: '10 *1000' would be a text"},
        {"{a:0x10}", "the query:1:4: '0x10' would be a text"},
        {"\n  {a:@}", "the query:2:6: '@' is no number"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        err_t err = {.text = ""};
        if (suite_open(cases[i].query, &err))
            fail_msg("taken: %s", cases[i].query);
        assert_int_equal(STATUS_USAGE, err.status);
        if (!strstr(err.text, cases[i].words))
            fail_msg("%s\n'%s' has no '%s'", cases[i].query, err.text, cases[i].words);
    }
}
