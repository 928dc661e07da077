/* drill: which query is the first one, how a target's indexes are spelled, and which drill another one is
 * compared with. */
#include "study/drill/drill.h"
#include "test.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the first query ---- */

static void chooses(const char *words, const char *format, const char *expected) {
    first_query_t chosen;
    char name[1400];
    err_t err = {.text = ""};
    if (!first_query_choose(words, format, &chosen, &err))
        fail_msg("%s: %s", words ? words : "", err.text);
    assert_string_equal(first_query_name(&chosen, name), expected);
}

static void refuses(const char *words, const char *why) {
    first_query_t chosen;
    err_t err = {.text = ""};
    assert_false(first_query_choose(words, "mot", &chosen, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    if (!strstr(err.text, why))
        fail_msg("'%s' does not speak of '%s'", err.text, why);
}

TEST(first_query) {
    chooses(NULL, "mot", "mot greenness");
    chooses(NULL, "isd", "isd extremes");
    chooses(NULL, "obd", "one document by its _id"); /* each has values to choose from */
    chooses(NULL, "ycsb", "one document by its _id");
    chooses(NULL, "mot-item", "one document by its _id");
    chooses("mot", "isd", "mot greenness");
    chooses("mot:by-make", "mot", "mot by-make");
    chooses("obd:group", "mot", "obd group");
    chooses("isd:station-latency", "isd", "isd station-latency"); /* drawn, but asked for */
    refuses("mott", "did you mean 'mot'");
    refuses("mot:nothing", "has no query 'nothing'");
    refuses("obd", "obd:NAME");
    refuses(":x", "is not SUITE or");
    refuses("./none:a.yaml/b.yaml", "none:a.yaml/b.yaml");
}

/* ---- indexes ---- */

static void spells(const char *json, const char *expected) {
    bson_error_t error;
    bson_t *index = bson_new_from_json((const uint8_t *)json, -1, &error);
    assert_non_null(index);
    char *text = present_indexes_spell(index);
    if (expected)
        assert_string_equal(text ? text : "nothing", expected);
    else if (text)
        fail_msg("%s became %s", json, text);
    free(text);
    bson_destroy(index);
}

TEST(indexes) {
    spells("{\"v\": 2, \"key\": {\"d\": 1, \"k\": -1}, \"name\": \"d_1_k_-1\"}", "d:1,k:-1");
    spells("{\"v\": 2, \"key\": {\"d\": 1.0}, \"name\": \"by_day\", \"background\": true}",
           "d:1;name=by_day");
    spells("{\"key\": {\"d\": 1}, \"name\": \"a;unique\"}", NULL);
    spells("{\"key\": {\"st\": \"hashed\"}, \"name\": \"st_hashed\"}", "st:hashed");
    spells("{\"key\": {\"p\": \"2dsphere\", \"d\": 1}, \"2dsphereIndexVersion\": 3, \"name\": \"x\"}",
           "p:2dsphere,d:1;name=x");
    spells("{\"key\": {\"a.b\": 1}, \"name\": \"a.b_1\"}", "a.b:1");
    spells("{\"key\": {\"d\": 1}, \"name\": \"d_1\", \"unique\": true}", "d:1;unique");
    spells("{\"key\": {\"d\": 1}, \"name\": \"x\", \"sparse\": true, \"unique\": 1}",
           "d:1;sparse;unique;name=x");
    spells("{\"key\": {\"d\": 1}, \"name\": \"d_1\", \"unique\": false}", "d:1");
    spells("{\"key\": {\"d\": 1}, \"name\": \"x\", \"partialFilterExpression\": {\"a;b\": {\"$gt\": 3}}}",
           "d:1;name=x;partial={ \"a;b\" : { \"$gt\" : { \"$numberInt\" : \"3\" } } }");
    spells("{\"key\": {\"d\": 1}, \"name\": \"d_1\", \"hidden\": true}", NULL);
    spells("{\"key\": {\"d\": 1}, \"name\": \"d_1\", \"expireAfterSeconds\": 60}", NULL);
    spells("{\"key\": {\"d\": 1}, \"name\": \"d_1\", \"collation\": {\"locale\": \"fr\"}}", NULL);
    spells("{\"key\": {\"_fts\": \"text\", \"_ftsx\": 1}, \"name\": \"k_text\", \"weights\": {\"k\": 1}}",
           NULL);
    spells("{\"key\": {\"$**\": 1}, \"name\": \"$**_1\"}", NULL);
    spells("{\"key\": {\"a,b\": 1}, \"name\": \"a,b_1\"}", NULL);
    spells("{\"name\": \"none\"}", NULL);
}

/* ---- earlier drills ---- */

static drills_entry_t entry_of(const char *indexes, const char *keys, uint64_t documents) {
    drills_entry_t entry = {.scratch = true, .documents = documents};
    snprintf(entry.format, sizeof entry.format, "mot");
    snprintf(entry.indexes, sizeof entry.indexes, "%s", indexes);
    snprintf(entry.keys, sizeof entry.keys, "%s", keys);
    return entry;
}

TEST(comparable) {
    enum { COUNT = 6 };
    drills_entry_t entries[COUNT], now = entry_of("after", "k:1", 1000);
    for (int i = 0; i < COUNT; i++)
        entries[i] = entry_of("after", "k:1", 1000);
    assert_ptr_equal(drills_before(entries, COUNT, &now), &entries[5]);
    assert_null(drills_before(entries, 0, &now));
    entries[5].scratch = false;
    entries[4].differences = 1;
    entries[3] = entry_of("before", "k:1", 1000);
    entries[2] = entry_of("after", "k:1 t:1", 1000);
    assert_ptr_equal(drills_before(entries, COUNT, &now), &entries[1]);
    entries[1].documents = 2001;
    assert_ptr_equal(drills_before(entries, COUNT, &now), &entries[0]);
    entries[0].documents = 499;
    assert_null(drills_before(entries, COUNT, &now));
    entries[1].documents = 2000;
    assert_ptr_equal(drills_before(entries, COUNT, &now), &entries[1]);
    now.differences = 1;
    assert_null(drills_before(entries, COUNT, &now));
}

/* ---- what is left ---- */

TEST(left_open) {
    static drill_result_t result;
    result = (drill_result_t){.pass_count = 1, .passes = {[0] = {.reached = DRILL_LOAD}}};
    result.passes[0].phases[DRILL_DROP].came = true;
    assert_false(drill_left_open(&result)); /* only predicted */
    result.drilled = true;
    assert_true(drill_left_open(&result));
    result.scratch = true;
    assert_false(drill_left_open(&result));
    result.scratch = false;
    result.passes[0].loaded = true;
    assert_false(drill_left_open(&result)); /* only verify or the query were stopped */
    result.passes[0].loaded = false;
    result.passes[0].phases[DRILL_DROP].came = false;
    assert_false(drill_left_open(&result));
    /* the first pass of two came to its end, the second one has dropped what it made */
    result.pass_count = 2;
    result.passes[0].loaded = result.passes[0].phases[DRILL_DROP].came = true;
    result.passes[1].reached = DRILL_PHASES;
    assert_false(drill_left_open(&result));
    result.passes[1].reached = DRILL_CREATE;
    result.passes[1].phases[DRILL_DROP].came = true;
    assert_true(drill_left_open(&result));
}
