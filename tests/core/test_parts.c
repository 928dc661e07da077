/* parts: which pipelines split, which do not and in which words, and what is sent for each accumulator:
 * written down by hand. */
#include "query/split/parts.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list as a document {"0": ..., ...}, from JSON with ' for ". */
static bson_t *list_of(const char *text) {
    char *json = NULL;
    bson_error_t error;
    assert_true(asprintf(&json, "{\"list\": %s}", text) > 0);
    for (char *at = json; *at; at++)
        if (*at == '\'')
            *at = '"';
    bson_t *holder = bson_new_from_json((const uint8_t *)json, -1, &error);
    if (!holder)
        fail_msg("%s: %s", error.message, json);
    bson_iter_t at;
    uint32_t length;
    const uint8_t *bytes;
    assert_true(bson_iter_init_find(&at, holder, "list"));
    bson_iter_array(&at, &length, &bytes);
    bson_t *list = bson_new_from_data(bytes, length);
    bson_destroy(holder);
    free(json);
    return list;
}

static void same(const char *what, const bson_t *found, const char *expected) {
    bson_t *wanted = list_of(expected);
    if (!bson_equal(found, wanted)) {
        char *a = bson_as_canonical_extended_json(found, NULL),
             *b = bson_as_canonical_extended_json(wanted, NULL);
        fail_msg("%s is\n%s\nnot\n%s", what, a, b);
    }
    bson_destroy(wanted);
}

static void plan(parts_t *parts, const char *pipeline) {
    bson_t *list = list_of(pipeline);
    parts_plan(parts, list);
    bson_destroy(list); /* nothing of it is borrowed */
}

/* What a part runs, and what the merge does with the parts. */
static void splits(const char *pipeline, const char *part, const char *merge, bool rounds) {
    parts_t parts;
    bson_t sent;
    plan(&parts, pipeline);
    assert_string_equal(parts.why, "");
    assert_true(parts.can);
    assert_int_equal(parts.rounds, rounds);
    parts_pipeline(&parts, NULL, NULL, 0, &sent);
    same("a part", &sent, part);
    same("the merge", &parts.merge, merge);
    bson_destroy(&sent);
    parts_free(&parts);
    parts_free(&parts);
}

static void refuses(const char *pipeline, const char *why) {
    parts_t parts;
    plan(&parts, pipeline);
    assert_false(parts.can);
    assert_non_null(strstr(parts.why, why));
    parts_free(&parts);
}

/* ---- what splits ---- */

TEST(accumulators) {
    splits(
        "[{'$group': {'_id': '$k', 'n': {'$sum': 1}, 'sum': {'$sum': '$x'}, 'least': {'$min': '$x'},"
        " 'most': {'$max': {'$add': ['$x', 1]}}, 'there': {'$count': {}}}}]",
        "[{'$group': {'_id': '$k', 's0': {'$sum': 1}, 's1': {'$sum': '$x'}, 'm2': {'$min': '$x'},"
        " 'm3': {'$max': {'$add': ['$x', 1]}}, 'n4': {'$count': {}}}}]",
        "[{'$group': {'_id': '$_id', 'n': {'$sum': '$s0'}, 'sum': {'$sum': '$s1'}, 'least': {'$min': '$m2'},"
        " 'most': {'$max': '$m3'}, 'there': {'$sum': '$n4'}}}]",
        true);
    splits("[{'$group': {'_id': null, 'n': {'$sum': 1}, 'm': {'$sum': {'$numberLong': '5'}},"
           " 'l': {'$sum': {'$literal': 2}}, 'x': {'$max': '$x'}}}]",
           "[{'$group': {'_id': null, 's0': {'$sum': 1}, 's1': {'$sum': {'$numberLong': '5'}},"
           " 's2': {'$sum': {'$literal': 2}}, 'm3': {'$max': '$x'}}}]",
           "[{'$group': {'_id': '$_id', 'n': {'$sum': '$s0'}, 'm': {'$sum': '$s1'}, 'l': {'$sum': '$s2'},"
           " 'x': {'$max': '$m3'}}}]",
           false);
    splits("[{'$group': {'_id': {'a': '$a', 'b': '$b'}}}]", "[{'$group': {'_id': {'a': '$a', 'b': '$b'}}}]",
           "[{'$group': {'_id': '$_id'}}]", false);
    splits("[{'$group': {'n': {'$sum': 1.5}, '_id': '$k'}}]",
           "[{'$group': {'s0': {'$sum': 1.5}, '_id': '$k'}}]",
           "[{'$group': {'_id': '$_id', 'n': {'$sum': '$s0'}}}]", true);
}

TEST(averages) {
    splits("[{'$group': {'_id': '$k', 'a': {'$avg': '$x'}, 'n': {'$sum': 1}, 'b': {'$avg': ['$y']}}}]",
           "[{'$group': {'_id': '$k', 's0': {'$sum': '$x'},"
           " 'n0': {'$sum': {'$cond': [{'$isNumber': ['$x']}, 1, 0]}}, 's1': {'$sum': 1}, 's2': {'$sum': "
           "['$y']},"
           " 'n2': {'$sum': {'$cond': [{'$isNumber': [['$y']]}, 1, 0]}}}}]",
           "[{'$group': {'_id': '$_id', 'a': {'$sum': '$s0'}, 'n0': {'$sum': '$n0'}, 'n': {'$sum': '$s1'},"
           " 'b': {'$sum': '$s2'}, 'n2': {'$sum': '$n2'}}},"
           " {'$set': {'a': {'$cond': [{'$eq': ['$n0', 0]}, null, {'$divide': ['$a', '$n0']}]},"
           " 'b': {'$cond': [{'$eq': ['$n2', 0]}, null, {'$divide': ['$b', '$n2']}]}}}, {'$unset': ['n0', "
           "'n2']}]",
           true);
    /* names that the pipeline has itself */
    splits("[{'$group': {'_id': '$k', 'n0_': {'$avg': '$x'}, 'n0': {'$sum': 1}}}]",
           "[{'$group': {'_id': '$k', 's0': {'$sum': '$x'},"
           " 'n0': {'$sum': {'$cond': [{'$isNumber': ['$x']}, 1, 0]}}, 's1': {'$sum': 1}}}]",
           "[{'$group': {'_id': '$_id', 'n0_': {'$sum': '$s0'}, 'n0__': {'$sum': '$n0'}, 'n0': {'$sum': "
           "'$s1'}}},"
           " {'$set': {'n0_': {'$cond': [{'$eq': ['$n0__', 0]}, null, {'$divide': ['$n0_', '$n0__']}]}}},"
           " {'$unset': ['n0__']}]",
           true);
}

TEST(stages) {
    splits(
        "[{'$match': {'k': 'FORD'}}, {'$project': {'m': 1}}, {'$set': {'x': 1}}, {'$addFields': {'y': '$m'}},"
        " {'$unset': 'y'}, {'$unwind': '$m'}, {'$replaceRoot': {'newRoot': '$m'}}, {'$replaceWith': "
        "'$$ROOT'},"
        " {'$group': {'_id': '$k'}}, {'$match': {'_id': 1}}, {'$group': {'_id': null, 'all': {'$push': "
        "'$_id'}}},"
        " {'$sort': {'_id': 1}}, {'$skip': 1}, {'$limit': 2}, {'$set': {'now': '$$NOW', 'x': {'$rand': {}}}},"
        " {'$facet': {'a': [{'$count': 'n'}], 'b': [{'$sample': {'size': 3}}]}}]",
        "[{'$match': {'k': 'FORD'}}, {'$project': {'m': 1}}, {'$set': {'x': 1}}, {'$addFields': {'y': '$m'}},"
        " {'$unset': 'y'}, {'$unwind': '$m'}, {'$replaceRoot': {'newRoot': '$m'}}, {'$replaceWith': "
        "'$$ROOT'},"
        " {'$group': {'_id': '$k'}}]",
        "[{'$group': {'_id': '$_id'}}, {'$match': {'_id': 1}}, {'$group': {'_id': null, 'all': {'$push': "
        "'$_id'}}},"
        " {'$sort': {'_id': 1}}, {'$skip': 1}, {'$limit': 2}, {'$set': {'now': '$$NOW', 'x': {'$rand': {}}}},"
        " {'$facet': {'a': [{'$count': 'n'}], 'b': [{'$sample': {'size': 3}}]}}]",
        false);
    splits("[{'$count': 'there'}, {'$set': {'a': 1}}]", "[{'$group': {'_id': null, 's0': {'$sum': 1}}}]",
           "[{'$group': {'_id': '$_id', 'there': {'$sum': '$s0'}}}, {'$project': {'_id': 0}}, {'$set': {'a': "
           "1}}]",
           false);
    splits("[{'$sortByCount': '$k'}]", "[{'$group': {'_id': '$k', 's0': {'$sum': 1}}}]",
           "[{'$group': {'_id': '$_id', 'count': {'$sum': '$s0'}}}, {'$sort': {'count': -1}}]", false);
    /* what looks like something else, but is data */
    splits("[{'$match': {'k': '$$NOW', 'f': {'$in': ['$$NOW']}}},"
           " {'$set': {'a': {'$literal': {'$rand': {}}}, 'b': {'$concat': ['$a', {'$literal': '$$NOW'}]}, "
           "'c': '$NOW',"
           " 'd': '$$NOWHERE', 'e': '$$ROOT.x'}}, {'$group': {'_id': '$k'}}]",
           "[{'$match': {'k': '$$NOW', 'f': {'$in': ['$$NOW']}}},"
           " {'$set': {'a': {'$literal': {'$rand': {}}}, 'b': {'$concat': ['$a', {'$literal': '$$NOW'}]}, "
           "'c': '$NOW',"
           " 'd': '$$NOWHERE', 'e': '$$ROOT.x'}}, {'$group': {'_id': '$k'}}]",
           "[{'$group': {'_id': '$_id'}}]", false);
}

/* ---- what does not ---- */

TEST(refused_stages) {
    refuses("[{'$match': {}}, {'$lookup': {'from': 'x'}}, {'$group': {'_id': 1}}]", "stage 2, $lookup, ");
    refuses("[{'$limit': 5}, {'$group': {'_id': 1}}]", "stage 1, $limit, ");
    refuses("[{'$set': {}}, {'$unwind': '$a'}, {'$sort': {'a': 1}}, {'$count': 'n'}]", "stage 3, $sort,");
    refuses("[{'$sample': {'size': 3}}, {'$count': 'n'}]", "stage 1, $sample,");
    refuses("[{'$bucket': {}}]", "stage 1, $bucket,");
    refuses("[{'$newStage': 1}, {'$count': 'n'}]", "stage 1, $newStage,");
    refuses("[{'$count': 'n'}, {'$newStage': 1}]", "stage 2, $newStage,");
    refuses("[{'$count': 'n'}, {'$unionWith': 'x'}]", "stage 2, $unionWith,");
    refuses("[{'$count': 'n'}, {'$merge': 'x'}]", "stage 2, $merge, ");
    refuses("[{'$count': 'n'}, {'$set': {}}, {'$facet': {'a': [{'$limit': 1}], 'b': [{'$lookup': {}}]}}]",
            "stage 3, $lookup, ");
    refuses("[{'$count': 'n'}, {'$facet': {'a': 1}}]", "stage 2, $facet, ");
    refuses("[{'$match': {}}]", "it has no $group");
    refuses("[]", "it has no $group");
    refuses("[7]", "stage 1, {}, ");
    refuses("[{}]", "stage 1, {}, ");
}

TEST(refused_groups) {
    refuses("[{'$group': {'_id': '$k', 'all': {'$push': '$x'}}}]", "'all' in it is a $push");
    refuses("[{'$group': {'_id': '$k', 'sd': {'$stdDevPop': '$x'}}}]", "'sd' in it is a $stdDevPop");
    refuses("[{'$group': {'_id': '$k', 'n': 5}}]", "not an accumulator");
    refuses("[{'$group': {'_id': '$k', 'n': {}}}]", "not an accumulator");
    refuses("[{'$group': {'n': {'$sum': 1}}}]", "it has no _id");
    refuses("[{'$group': 1}]", "is not a map");
    refuses("[{'$count': ''}]", "not name a field");
    refuses("[{'$group': {'_id': '$k', 'n': {'$sum': 1, '$avg': 2}}}]", "not an accumulator");
    refuses("[{'$count': 'n', '$match': {}}]", "stage 1, {}, ");
    refuses("[{'$sortByCount': 'k'}]", "not hold an expression");
    refuses("[{'$count': 1}]", "not name a field");
}

TEST(refused_expressions) {
    static const char *const beyond[][3] = {
        {"[{'$match': {'$expr': {'$lt': [{'$rand': {}}, 0.5]}}}, {'$count': 'n'}]", "1, $match", "$rand"},
        {"[{'$match': {'$or': [{'a': 1}, {'$and': [{'$where': 'true'}]}]}}, {'$count': 'n'}]", "1, $match",
         "$where"},
        {"[{'$match': {'$sampleRate': 0.5}}, {'$count': 'n'}]", "1, $match", "$sampleRate"},
        {"[{'$match': {'$text': {'$search': 'x'}}}, {'$count': 'n'}]", "1, $match", "$text"},
        {"[{'$match': {'$expr': {'$lt': ['$d', '$$NOW']}}}, {'$count': 'n'}]", "1, $match", "$$NOW"},
        {"[{'$project': {'x': ['$a', {'b': '$$CLUSTER_TIME'}]}}, {'$count': 'n'}]", "1, $project",
         "$$CLUSTER_TIME"},
        {"[{'$set': {'x': {'$function': {}}}}, {'$count': 'n'}]", "1, $set", "$function"},
        {"[{'$match': {}}, {'$replaceWith': {'x': '$$NOW'}}, {'$count': 'n'}]", "2, $replaceWith", "$$NOW"},
        {"[{'$project': {'x': {'$meta': 'randVal'}}}, {'$count': 'n'}]", "1, $project", "$meta"},
        {"[{'$group': {'_id': {'$dateTrunc': {'date': '$$NOW', 'unit': 'day'}}}}]", "1, $group", "$$NOW"},
        {"[{'$group': {'_id': 1, 'x': {'$sum': {'$rand': {}}}}}]", "1, $group", "$rand"},
        {"[{'$group': {'_id': 1, 'x': {'$accumulator': {}}}}]", "1, $group", "$accumulator"},
        {"[{'$sortByCount': {'$rand': {}}}]", "1, $sortByCount", "$rand"},
    };
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        char place[40], why[40];
        snprintf(place, sizeof place, "stage %s, ", beyond[i][1]);
        snprintf(why, sizeof why, "because %s in it", beyond[i][2]);
        refuses(beyond[i][0], place);
        refuses(beyond[i][0], why);
    }
}

/* ---- what is sent ---- */

TEST(ranges) {
    parts_t parts;
    bson_t sent, *bounds = list_of("[{'$numberLong': '7'}, 'x']");
    bson_iter_t from, to;
    plan(&parts, "[{'$match': {'_id': {'$ne': 3}}}, {'$count': 'n'}]");
    assert_true(bson_iter_init_find(&from, bounds, "0") && bson_iter_init_find(&to, bounds, "1"));
    parts_pipeline(&parts, &from, &to, 0, &sent);
    same("a middle part", &sent,
         "[{'$match': {'_id': {'$gte': {'$numberLong': '7'}, '$lt': 'x'}}}, {'$match': {'_id': {'$ne': 3}}},"
         " {'$group': {'_id': null, 's0': {'$sum': 1}}}]");
    bson_destroy(&sent);
    parts_pipeline(&parts, NULL, &to, 0, &sent);
    same("the first part", &sent,
         "[{'$match': {'_id': {'$lt': 'x'}}}, {'$match': {'_id': {'$ne': 3}}},"
         " {'$group': {'_id': null, 's0': {'$sum': 1}}}]");
    bson_destroy(&sent);
    parts_pipeline(&parts, &from, NULL, 9, &sent);
    same("a probe of the last part", &sent,
         "[{'$match': {'_id': {'$gte': {'$numberLong': '7'}}}}, {'$limit': {'$numberLong': '9'}},"
         " {'$match': {'_id': {'$ne': 3}}}, {'$group': {'_id': null, 's0': {'$sum': 1}}}]");
    bson_destroy(&sent);
    bson_t *found = list_of("[{'_id': '$k', 's0': 3}, {'_id': {'a.b': {'$x': 1}}, 's0': 4}]");
    parts_merge(&parts, found, &sent);
    same("the merge", &sent,
         "[{'$documents': {'$literal': [{'_id': '$k', 's0': 3}, {'_id': {'a.b': {'$x': 1}}, 's0': 4}]}},"
         " {'$group': {'_id': '$_id', 'n': {'$sum': '$s0'}}}, {'$project': {'_id': 0}}]");
    bson_destroy(&sent);
    bson_destroy(found);
    bson_destroy(bounds);
    parts_free(&parts);
}

TEST(overflows) {
    static const struct {
        const char *document;
        bool overflowed;
    } cases[] = {
        {"[{'$numberDouble': '9223372036854775808'}]", true},
        {"[{'$numberDouble': '-9223372036854775808'}]", true},
        {"[{'$numberDouble': '1e300'}]", true}, /* it may be one of doubles: who knows */
        {"[{'$numberDouble': '9223372036854774784'}]", false},
        {"[{'$numberLong': '9223372036854775807'}]", false},
        {"[{'$numberLong': '-9223372036854775808'}]", false},
        {"[{'$numberDouble': 'Infinity'}]", false},
        {"[{'$numberDouble': '-Infinity'}]", false},
        {"[{'$numberDouble': 'NaN'}]", false},
        {"[{'$numberDecimal': '1E300'}]", false},
        {"[null]", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_t *value = list_of(cases[i].document), sum = BSON_INITIALIZER, other = BSON_INITIALIZER;
        bson_iter_t at;
        assert_true(bson_iter_init_find(&at, value, "0"));
        bson_append_iter(&sum, "s3", -1, &at);
        bson_append_iter(&other, "_id", -1, &at);
        bson_append_iter(&other, "m0", -1, &at);
        assert_int_equal(parts_overflowed(&sum), cases[i].overflowed);
        assert_false(parts_overflowed(&other));
        bson_destroy(&sum);
        bson_destroy(&other);
        bson_destroy(value);
    }
}
