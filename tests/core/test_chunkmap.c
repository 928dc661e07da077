/* Order of keys, chunks and their map, keys of documents. Expectations are written by hand. */
#include "format/record/record_id.h"
#include "json_lab.h"
#include "server/chunks.h"
#include "server/cluster.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

TEST(order) {
    /* each below the next */
    static const char *const rising[] = {
        "{\"a\": {\"$minKey\": 1}}",
        "{\"a\": null}",
        "{\"a\": {\"$numberDouble\": \"NaN\"}}",
        "{\"a\": {\"$numberDouble\": \"-Infinity\"}}",
        "{\"a\": {\"$numberLong\": \"-9223372036854775808\"}}",
        "{\"a\": {\"$numberDouble\": \"-1.5\"}}",
        "{\"a\": {\"$numberInt\": \"-1\"}}",
        "{\"a\": {\"$numberDouble\": \"-0.5\"}}",
        "{\"a\": {\"$numberInt\": \"0\"}}",
        "{\"a\": {\"$numberDouble\": \"0.5\"}}",
        "{\"a\": {\"$numberLong\": \"1\"}}",
        "{\"a\": {\"$numberLong\": \"9007199254740992\"}}",
        "{\"a\": {\"$numberLong\": \"9007199254740993\"}}",
        "{\"a\": {\"$numberDouble\": \"9007199254740994.0\"}}",
        "{\"a\": {\"$numberLong\": \"9223372036854775807\"}}",
        "{\"a\": {\"$numberDouble\": \"9223372036854775808.0\"}}",
        "{\"a\": \"\"}",
        "{\"a\": \"B\"}",
        "{\"a\": \"BA\"}",
        "{\"a\": \"a\"}",
        "{\"a\": {}}",
        "{\"a\": {\"b\": 1}}",
        "{\"a\": {\"b\": 1, \"c\": 1}}",
        "{\"a\": {\"c\": 0}}",
        "{\"a\": {\"b\": \"text\"}}",
        "{\"a\": [1]}",
        "{\"a\": {\"$binary\": {\"base64\": \"/w==\", \"subType\": \"00\"}}}",
        "{\"a\": {\"$binary\": {\"base64\": \"AA==\", \"subType\": \"05\"}}}",
        "{\"a\": {\"$binary\": {\"base64\": \"AAA=\", \"subType\": \"00\"}}}",
        "{\"a\": {\"$oid\": \"5553a998e4b02cf7151190b8\"}}",
        "{\"a\": false}",
        "{\"a\": true}",
        "{\"a\": {\"$date\": {\"$numberLong\": \"-1\"}}}",
        "{\"a\": {\"$date\": {\"$numberLong\": \"0\"}}}",
        "{\"a\": {\"$date\": {\"$numberLong\": \"3000000000\"}}}",
        "{\"a\": {\"$maxKey\": 1}}",
    };
    enum { COUNT = sizeof rising / sizeof *rising };
    for (size_t i = 0; i < COUNT; i++)
        for (size_t j = 0; j < COUNT; j++) {
            bson_t *a = lab_json(rising[i]), *b = lab_json(rising[j]);
            int order = keyorder_documents(a, b);
            if ((order > 0) - (order < 0) != (i > j) - (i < j))
                fail_msg("%s and %s: %d", rising[i], rising[j], order);
            bson_destroy(a);
            bson_destroy(b);
        }
}

TEST(equal_numbers) {
    bson_t *a = lab_json("{\"a\": {\"$numberInt\": \"7\"}}"),
           *b = lab_json("{\"z\": {\"$numberDouble\": \"7.0\"}}"), *c = lab_json("{\"a\": 7, \"b\": 0}");
    assert_int_equal(keyorder_documents(a, b), 0); /* names do not count */
    bson_t *least = lab_json("{\"a\": {\"$numberLong\": \"-9223372036854775808\"}}"),
           *same = lab_json("{\"a\": {\"$numberDouble\": \"-9223372036854775808.0\"}}");
    assert_int_equal(keyorder_documents(least, same), 0);
    assert_int_equal(keyorder_documents(same, least), 0);
    bson_destroy(least);
    bson_destroy(same);
    assert_true(keyorder_documents(a, c) < 0);
    bson_destroy(a);
    bson_destroy(b);
    bson_destroy(c);
}

/* What no order is known of makes no map, rather than a wrong one. */
TEST(bounds_that_are_not_clear) {
    static const struct {
        const char *low, *high;
        bool clear;
    } cases[] = {
        {"{\"a\": {\"$minKey\": 1}}", "{\"a\": {\"$maxKey\": 1}}", true},
        {"{\"a\": null}", "{\"a\": {\"$oid\": \"5553a998e4b02cf7151190b8\"}}", true},
        {"{\"a\": {\"b\": [1, \"x\"]}}", "{\"a\": true}", true},
        {"{\"a\": {\"$numberDecimal\": \"1\"}}", "{\"a\": {\"$numberDecimal\": \"2\"}}", false},
        {"{\"a\": 1}", "{\"a\": {\"$numberDecimal\": \"2\"}}", false},
        {"{\"a\": {\"$numberDecimal\": \"-1E+6\"}}", "{\"a\": 7}", false},
        {"{\"a\": {\"$minKey\": 1}}", "{\"a\": {\"$numberDecimal\": \"5\"}}", false}, /* alone, too */
        {"{\"a\": \"x\", \"b\": {\"$minKey\": 1}}", "{\"a\": \"x\", \"b\": {\"$numberDecimal\": \"5\"}}",
         false},
        {"{\"a\": {\"b\": 1}}", "{\"a\": {\"b\": {\"$numberDecimal\": \"5\"}}}", false},
        {"{\"a\": [1]}", "{\"a\": [{\"c\": {\"$numberDecimal\": \"5\"}}]}", false},
        {"{\"a\": 1}", "{\"a\": {\"$timestamp\": {\"t\": 5, \"i\": 1}}}", false},
        {"{\"a\": 1}", "{\"a\": {\"$regularExpression\": {\"pattern\": \"x\", \"options\": \"\"}}}", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_t *low = lab_json(cases[i].low), *high = lab_json(cases[i].high);
        chunkmap_t *map = chunkmap_new(NULL);
        if ((chunkmap_add(map, low, "s0", 1) && chunkmap_add(map, high, "s1", 1)) != cases[i].clear)
            fail_msg("%s and %s", cases[i].low, cases[i].high);
        if ((keyorder_is_clear(low) && keyorder_is_clear(high)) != cases[i].clear)
            fail_msg("%s and %s", cases[i].low, cases[i].high);
        chunkmap_free(map);
        bson_destroy(low);
        bson_destroy(high);
    }
}

static chunkmap_t *map_of(const char *const *bounds, const char *const *shards, size_t count) {
    chunkmap_t *map = chunkmap_new(NULL);
    for (size_t i = 0; i < count; i++) {
        bson_t *min = lab_json(bounds[i]);
        assert_true(chunkmap_add(map, min, shards[i], 10 + i));
        bson_destroy(min);
    }
    return map;
}

/* No server has documents of that many levels; going through them must not use up the stack. */
TEST(what_is_nested_too_deeply) {
    for (int levels = 200; levels <= 100000; levels += 49900) {
        const size_t length = 5 + 7 * (size_t)levels;
        uint8_t *bytes = calloc(1, length);
        for (size_t i = 0; i <= (size_t)levels; i++) {
            const uint32_t own = (uint32_t)(length - 7 * i);
            memcpy(bytes + 6 * i, &own, sizeof own);
            if (i < (size_t)levels)
                bytes[6 * i + 4] = BSON_TYPE_DOCUMENT;
        }
        bson_t nested;
        assert_true(bson_init_static(&nested, bytes, length));
        assert_true(keyorder_is_clear(&nested) == (levels <= 200));
        free(bytes);
    }
}

/* A key of more fields than there may be is refused; whoever frees it all the same, even twice, does no harm. */
TEST(key_of_too_many_fields) {
    bson_t spec = BSON_INITIALIZER;
    shardkey_t key;
    char name[16];
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "field%d", i);
        BSON_APPEND_INT32(&spec, name, 1);
    }
    assert_false(shardkey_read(&spec, &key));
    shardkey_free(&key);
    shardkey_free(&key);
    bson_destroy(&spec);
}

/* Documents of config.chunks: every key must have its place, and one only. */
TEST(chunks_of_a_collection) {
#define LEAST    "{\"$minKey\": 1}"
#define GREATEST "{\"$maxKey\": 1}"
#define CHUNK(min, max, shard)                                                                               \
    "{\"min\": " min ", \"max\": " max ", \"shard\": " shard                                                 \
    ", \"lastmod\": {\"$timestamp\": {\"t\": 2, \"i\": 3}}}"
#define OF(a) "{\"a\": " a "}"
    static const struct {
        const char *what, *chunks[3];
        bool whole;
    } cases[] = {
        {"one", {CHUNK(OF(LEAST), OF(GREATEST), "\"s0\"")}, true},
        {"two", {CHUNK(OF(LEAST), OF("5"), "\"s0\""), CHUNK(OF("5.0"), OF(GREATEST), "\"s1\"")}, true},
        {"a gap", {CHUNK(OF(LEAST), OF("5"), "\"s0\""), CHUNK(OF("6"), OF(GREATEST), "\"s1\"")}, false},
        {"two places", {CHUNK(OF(LEAST), OF("7"), "\"s0\""), CHUNK(OF("6"), OF(GREATEST), "\"s1\"")}, false},
        {"no least", {CHUNK(OF("5"), OF(GREATEST), "\"s0\"")}, false},
        {"no greatest", {CHUNK(OF(LEAST), OF("5"), "\"s0\"")}, false},
        {"not in order",
         {CHUNK(OF(LEAST), OF("5"), "\"s0\""), CHUNK(OF("5"), OF("4"), "\"s0\""),
          CHUNK(OF("4"), OF(GREATEST), "\"s1\"")},
         false},
        {"nothing in it",
         {CHUNK(OF(LEAST), OF(GREATEST), "\"s0\""), CHUNK(OF(GREATEST), OF(GREATEST), "\"s1\"")},
         false},
        {"fields", {CHUNK("{\"a\": " LEAST ", \"b\": 1}", OF(GREATEST), "\"s0\"")}, false},
        {"no fields", {CHUNK("{}", OF(GREATEST), "\"s0\"")}, false},
        {"no shard", {CHUNK(OF(LEAST), OF(GREATEST), "5")}, false},
        {"no bound", {CHUNK("5", OF(GREATEST), "\"s0\"")}, false},
        {"none", {NULL}, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bson_t *chunks[3];
        size_t count = 0;
        for (; count < 3 && cases[i].chunks[count]; count++)
            chunks[count] = lab_json(cases[i].chunks[count]);
        chunkmap_t *map = chunkmap_read(NULL, 1, chunks, count);
        if ((map != NULL) != cases[i].whole)
            fail_msg("%s", cases[i].what);
        if (map)
            assert_int_equal(chunkmap_version(map, 0), (2ull << 32) + 3);
        assert_null(chunkmap_read(NULL, 2, chunks, count)); /* the key has one field more */
        chunkmap_free(map);
        while (count)
            bson_destroy(chunks[--count]);
    }
}

static size_t shard_of(const chunkmap_t *map, int64_t key) {
    size_t shard;
    assert_true(chunkmap_find_range(map, key, key, &shard));
    return shard;
}

/* The least key is below the least number. */
TEST(least_key) {
    static const char *const bounds[] = {"{\"a\": " LEAST "}",
                                         "{\"a\": {\"$numberLong\": \"-9223372036854775808\"}}"};
    static const char *const shards[] = {"s0", "s1"};
    chunkmap_t *map = map_of(bounds, shards, 2);
    for (size_t i = 0; i < 2; i++) {
        bson_t *key = lab_json(bounds[i]);
        assert_string_equal(chunkmap_shard_name(map, chunkmap_find(map, key)), shards[i]);
        bson_destroy(key);
    }
    assert_string_equal(chunkmap_shard_name(map, shard_of(map, INT64_MIN)), "s1");
    chunkmap_free(map);
}

/* The second value decides where the first one is a bound's. */
TEST(two_fields) {
    static const char *const bounds[] = {"{\"a\": " LEAST ", \"b\": " LEAST "}", "{\"a\": 5, \"b\": 5}"};
    static const char *const keys[] = {"{\"a\": 5, \"b\": 3}", "{\"a\": 5, \"b\": 5}"};
    chunkmap_t *map = map_of(bounds, (const char *const[]){"s0", "s1"}, 2);
    for (size_t i = 0; i < 2; i++) {
        bson_t *key = lab_json(keys[i]);
        assert_int_equal(chunkmap_find(map, key), i);
        bson_destroy(key);
    }
    chunkmap_free(map);
}

/* A range is one chunk's only if no bound lies in it, whoever owns the chunks at its two ends. */
TEST(ranges) {
    static const char *const bounds[] = {
        "{\"_id\": {\"$minKey\": 1}}", "{\"_id\": {\"$numberLong\": \"100\"}}",
        "{\"_id\": {\"$numberLong\": \"200\"}}", "{\"_id\": {\"$numberLong\": \"300\"}}"};
    /* the same places, spelled so that no quick way is taken */
    static const char *const doubles[] = {
        "{\"_id\": {\"$minKey\": 1}}", "{\"_id\": {\"$numberDouble\": \"100.0\"}}",
        "{\"_id\": {\"$numberDouble\": \"200.0\"}}", "{\"_id\": {\"$numberDouble\": \"300.0\"}}"};
    static const char *const shards[] = {"s0", "s1", "s0", "s0"};
    static const struct {
        int64_t first, last;
        const char *shard;
        bool one_chunk;
    } cases[] = {
        {0, 99, "s0", true},     {0, 100, "s0", false},   {100, 100, "s1", true},
        {100, 199, "s1", true},  {100, 200, "s1", false}, {50, 250, "s0", false}, /* s1 lies between */
        {99, 200, "s0", false},  {200, 299, "s0", true},  {250, 300, "s0", false},
        {300, 9000, "s0", true}, {199, 199, "s1", true},  {INT64_MIN, INT64_MAX, "s0", false}};
    for (int spelled = 0; spelled < 2; spelled++) {
        chunkmap_t *map = map_of(spelled ? doubles : bounds, shards, 4);
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            size_t shard = 99;
            bool one_chunk = chunkmap_find_range(map, cases[i].first, cases[i].last, &shard);
            if (one_chunk != cases[i].one_chunk ||
                strcmp(chunkmap_shard_name(map, shard), cases[i].shard) != 0)
                fail_msg("%lld to %lld", (long long)cases[i].first, (long long)cases[i].last);
        }
        chunkmap_free(map);
    }
    chunkmap_t *empty = chunkmap_new(NULL);
    size_t shard = 99;
    assert_true(chunkmap_find_range(empty, 1, 2, &shard));
    assert_int_equal(shard, 0);
    chunkmap_free(empty);
}

/* Shards keep their numbers, whoever owns chunks now. */
TEST(next_map) {
    static const char *const bounds[] = {"{\"_id\": {\"$minKey\": 1}}",
                                         "{\"_id\": {\"$numberLong\": \"100\"}}"};
    chunkmap_t *first = map_of(bounds, (const char *const[]){"s0", "s1"}, 2), *next = chunkmap_new(first),
               *held = chunkmap_share(first);
    bson_t *min = lab_json(bounds[0]);
    assert_true(chunkmap_add(next, min, "s1", 20));
    bson_destroy(min);
    assert_int_equal(chunkmap_shards(next), 2);
    assert_int_equal(shard_of(next, 7), 1);
    chunkmap_free(first);
    assert_int_equal(shard_of(held, 7), 0);
    chunkmap_free(held);
    chunkmap_free(next);
}

static void key_is(const char *spec, const char *document, const char *expected) {
    shardkey_t key;
    err_t err;
    bson_t values = BSON_INITIALIZER, *whole = lab_json(document);
    hashed_t *hashed = hashed_new();
    if (!shardkey_parse(spec, &key, &err))
        fail_msg("%s", err.text);
    bool ok = shardkey_of(&key, hashed, bson_get_data(whole), whole->len, &values);
    assert_int_equal(ok, expected != NULL);
    if (expected) {
        bson_t *wanted = lab_json(expected);
        assert_true(bson_equal(&values, wanted));
        bson_destroy(wanted);
    }
    bson_destroy(&values);
    bson_destroy(whole);
    hashed_destroy(hashed);
    shardkey_free(&key);
}

TEST(keys_of_documents) {
    key_is("a:1", "{\"a\": 5, \"b\": 6}", "{\"a\": 5}");
    key_is("a", "{\"a\": 5, \"b\": 6}", "{\"a\": 5}");
    key_is("b,a", "{\"a\": 5, \"b\": 6}", "{\"b\": 6, \"a\": 5}");
    key_is("b:1,a:1", "{\"a\": 5, \"b\": \"x\"}", "{\"b\": \"x\", \"a\": 5}");
    key_is("c:1", "{\"a\": 5}", "{\"c\": null}");
    key_is("a.b:1", "{\"a\": {\"b\": 7}}", "{\"a.b\": 7}");
    key_is("a.b:1", "{\"a\": 7}", "{\"a.b\": null}");
    key_is("a.b:1", "{\"a\": [{\"b\": 7}]}", NULL);
    key_is("a:1", "{\"a\": [7]}", NULL);
    key_is("a:1", "{\"a\": {\"$numberDecimal\": \"7\"}}", NULL);
    key_is("a:1", "{\"a\": {\"b\": {\"$numberDecimal\": \"7\"}}}", NULL);
    key_is("a:1", "{\"a\": {\"b\": true}}", "{\"a\": {\"b\": true}}");
}

TEST(keys_that_are_none) {
    static const char *const bad[] = {"",           ",",       "a,",   "a:-1", "a:hashed,b:hashed",
                                      "a:2dsphere", "a:1,a:1", "$x:1", "a.$x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        shardkey_t key;
        err_t err = {.text = ""};
        if (shardkey_parse(bad[i], &key, &err))
            fail_msg("'%s' was taken", bad[i]);
        assert_int_equal(err.status, STATUS_USAGE);
        assert_non_null(strstr(err.text, "--shard-key '"));
        assert_null(strstr(err.text, "FIELD:2dsphere"));
    }
}

static void bounds_are(const char *spec, size_t shards, const int64_t *expected) {
    shardkey_t key;
    err_t err;
    bson_t *bounds[8] = {NULL};
    assert_true(shardkey_parse(spec, &key, &err));
    assert_true(cluster_bounds(&key, shards, bounds));
    for (size_t i = 0; i + 1 < shards; i++) {
        bson_iter_t at;
        assert_true(bson_iter_init(&at, bounds[i]) && bson_iter_next(&at));
        assert_true(bson_iter_int64(&at) == expected[i]);
        bson_destroy(bounds[i]);
    }
    shardkey_free(&key);
}

TEST(bounds) {
    bounds_are("_id:1", 2, (const int64_t[]){512ll << 53});
    bounds_are("_id:1,v:1", 2, (const int64_t[]){512ll << 53});
    bounds_are("_id:1", 3, (const int64_t[]){341ll << 53, 682ll << 53});
    bounds_are("st:hashed", 2, (const int64_t[]){0});
    bounds_are("st:hashed", 4, (const int64_t[]){-(1ll << 62), 0, 1ll << 62});
    shardkey_t key;
    err_t err;
    bson_t *bounds[4];
    assert_true(shardkey_parse("k:1", &key, &err));
    assert_false(cluster_bounds(&key, 2, bounds));
    shardkey_free(&key);
}

TEST(sample) {
    bson_t *keys[10], *bounds[8];
    for (int i = 0; i < 10; i++) {
        keys[i] = bson_new();
        BSON_APPEND_INT32(keys[i], "k", (9 - i) / 2 * 2); /* 8 8 6 6 4 4 2 2 0 0 */
    }
    assert_int_equal(cluster_sample_bounds(keys, 10, 2, bounds), 1);
    bson_iter_t at;
    assert_true(bson_iter_init_find(&at, bounds[0], "k"));
    assert_int_equal(bson_iter_int32(&at), 4);
    bson_destroy(bounds[0]);
    assert_int_equal(cluster_sample_bounds(keys, 0, 2, bounds), 0);
    const size_t count = cluster_sample_bounds(keys, 10, 9, bounds);
    assert_true(count < 8); /* five values make at most four bounds above the first */
    for (size_t i = 0; i < count; i++)
        bson_destroy(bounds[i]);
    for (int i = 0; i < 10; i++)
        bson_destroy(keys[i]);
}
