/* evenness: what share of what is to come each shard has. The maps are written by hand. */
#include "format/record/record_id.h"
#include "server/cluster.h"
#include "test.h"

#include <string.h>

static const char *names[] = {"s0", "s1", "s2", "s3"};

/* How evenly chunks lie on the first shards. */
static evenness_t evenness_of(const chunkmap_t *map, const shardkey_t *key, size_t count) {
    bson_t *documents[4];
    const config_list_t shards = {.documents = documents, .count = count};
    for (size_t i = 0; i < count; i++)
        documents[i] = BCON_NEW("_id", BCON_UTF8(names[i]));
    const evenness_t evenness = cluster_evenness(map, key, &shards);
    for (size_t i = 0; i < count; i++)
        bson_destroy(documents[i]);
    return evenness;
}

/* Chunks that begin at these lanes (the first at MinKey), each on the shard of the letter: "0123". */
static chunkmap_t *lanes(const uint32_t *starts, const char *owners) {
    chunkmap_t *map = chunkmap_new(NULL);
    for (size_t i = 0; owners[i]; i++) {
        bson_t min = BSON_INITIALIZER;
        if (i)
            BSON_APPEND_INT64(&min, "_id", record_id_make(starts[i], 0));
        else
            BSON_APPEND_MINKEY(&min, "_id");
        assert_true(chunkmap_add(map, &min, names[owners[i] - '0'], i + 1));
        bson_destroy(&min);
    }
    return map;
}

static void check(const uint32_t *starts, const char *owners, size_t with, double most, const char *name,
                  bool even) {
    shardkey_t key;
    err_t err;
    assert_true(shardkey_parse("_id", &key, &err));
    chunkmap_t *map = lanes(starts, owners);
    evenness_t evenness = evenness_of(map, &key, 4);
    assert_int_equal(evenness.owners, with);
    assert_int_equal(evenness.shards, 4);
    assert_true(evenness.most > most - 0.001 && evenness.most < most + 0.001);
    if (name)
        assert_string_equal(evenness.name, name);
    assert_true(evenness.even == even);
    chunkmap_free(map);
    shardkey_free(&key);
}

TEST(shares_of_lanes) {
    check((uint32_t[]){0, 256, 512, 768}, "0123", 4, 0.25, NULL, true);
    check((uint32_t[]){0, 256, 512, 768}, "3102", 4, 0.25, NULL, true);
    check((uint32_t[]){0, 100, 256, 512, 768}, "01023", 4, 356 / 1024.0, "s0", false);
    check((uint32_t[]){0}, "2", 1, 1, "s2", false);
    check((uint32_t[]){0, 512}, "01", 2, 0.5, NULL, false);
    check((uint32_t[]){0, 512, 640, 768}, "0123", 4, 0.5, "s0", false);
    /* a chunk that begins in the middle of a range of lanes */
    check((uint32_t[]){0, 300, 512, 768}, "0123", 4, 300 / 1024.0, "s0", true);
}

/* A key that begins with the _id: one chunk on each shard is not enough. */
TEST(compound_key) {
    static const int64_t even[] = {256, 512, 768},
                         at_its_end[] = {-3, -2, -1}; /* lanes; negative: no lane at all */
    for (int uneven = 0; uneven < 2; uneven++) {
        shardkey_t key;
        err_t err;
        assert_true(shardkey_parse("_id,v", &key, &err));
        chunkmap_t *map = chunkmap_new(NULL);
        for (size_t i = 0; i < 4; i++) {
            const int64_t lane = uneven ? at_its_end[i ? i - 1 : 0] : even[i ? i - 1 : 0];
            bson_t *min = i ? shardkey_from(&key, lane < 0 ? lane : record_id_make((uint32_t)lane, 0))
                            : shardkey_end(&key, false);
            assert_true(chunkmap_add(map, min, names[i], i + 1));
            bson_destroy(min);
        }
        const evenness_t evenness = evenness_of(map, &key, 4);
        assert_true(evenness.known);
        assert_true(evenness.even == !uneven);
        assert_int_equal(evenness.owners, uneven ? 1 : 4);
        chunkmap_free(map);
        shardkey_free(&key);
    }
}

TEST(other_keys) {
    shardkey_t key;
    err_t err;
    assert_true(shardkey_parse("k", &key, &err));
    static const char *const bounds[] = {NULL, "F", "M", "T"};
    for (int with_all = 0; with_all < 2; with_all++) {
        chunkmap_t *map = chunkmap_new(NULL);
        for (size_t i = 0; i < 4; i++) {
            bson_t min = BSON_INITIALIZER;
            if (bounds[i])
                BSON_APPEND_UTF8(&min, "k", bounds[i]);
            else
                BSON_APPEND_MINKEY(&min, "k");
            assert_true(chunkmap_add(map, &min, names[with_all ? i : i % 2], i + 1));
            bson_destroy(&min);
        }
        evenness_t evenness = evenness_of(map, &key, 4);
        assert_int_equal(evenness.owners, with_all ? 4 : 2);
        assert_true(evenness.even == (with_all != 0));
        assert_false(evenness.known);
        chunkmap_free(map);
    }
    shardkey_free(&key);
}

/* A shard that is being drained is none of those that are to have chunks. */
TEST(leaving) {
    shardkey_t key;
    err_t err;
    assert_true(shardkey_parse("_id", &key, &err));
    chunkmap_t *map = lanes((uint32_t[]){0, 512, 768}, "012");
    assert_string_equal(evenness_of(map, &key, 4).leaving, "");
    evenness_t evenness = evenness_of(map, &key, 2);
    assert_string_equal(evenness.leaving, "s2");
    assert_int_equal(evenness.owners, 2);
    assert_string_equal(evenness_of(map, &key, 0).leaving, "s2");
    chunkmap_free(map);
    map = lanes((uint32_t[]){0, 512}, "02");
    evenness = evenness_of(map, &key, 2);
    assert_string_equal(evenness.leaving, "s2");
    assert_int_equal(evenness.owners, 1);
    assert_false(evenness.even);
    chunkmap_free(map);
    shardkey_free(&key);
}
