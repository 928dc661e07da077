/* The map of a cluster's chunks as the config database has it, and the balancing of one collection. */
#include "box/box.h"
#include "server/cluster.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define UUID "{\"$binary\": {\"base64\": \"AAECAwQFBgcICQoLDA0ODw==\", \"subType\": \"04\"}}"
#define CHUNK(number, min, max, shard, moved)                                                                \
    "{\"_id\": " #number ", \"uuid\": " UUID ", \"ns\": \"d.c\", \"min\": {\"k\": " min                      \
    "}, \"max\": {\"k\": " max "}, \"shard\": \"" shard "\", \"lastmod\": {\"$timestamp\": {\"t\": " #moved  \
    ", \"i\": 0}}}"
#define LEAST       "{\"$minKey\": 1}"
#define GREATEST    "{\"$maxKey\": 1}"
#define NOT_ALLOWED BOX_ERROR(13, "not authorized")

typedef struct {
    box_t *box;
    server_t *server;
    mongoc_client_t *client;
    err_t err;
} lab_t;

static void open_lab(lab_t *lab) {
    char uri[BOX_URI];
    *lab = (lab_t){.box = box_start(BOX_ROUTER)};
    const server_options_t options = {
        .uri = box_uri(lab->box, "d.c", uri), .patience_ns = 5000000000, .connections = 2};
    lab->server = server_connect(&options, &lab->err);
    assert_non_null(lab->server);
    lab->client = server_take(lab->server, &lab->err);
    assert_non_null(lab->client);
}

static void close_lab(lab_t *lab) {
    server_give(lab->server, lab->client);
    server_destroy(lab->server);
    box_stop(lab->box);
}

#define LAB_TEST(name, open) TEST_WITH_LAB(name, open, close_lab(lab))

static void shard(lab_t *lab, const char *const *chunks) {
    box_insert(
        lab->box, "config.collections",
        "{\"_id\": \"d.c\", \"key\": {\"k\": 1}, \"uuid\": " UUID
        ", \"lastmodEpoch\": {\"$oid\": \"64a000000000000000000001\"}, \"timestamp\": {\"$timestamp\": "
        "{\"t\": 9, \"i\": 4}}}");
    for (; *chunks; chunks++)
        box_insert(lab->box, "config.chunks", *chunks);
}

/* The name of the shard that a document of this key belongs to. */
static const char *owner(route_t *route, int32_t value) {
    static char name[64];
    bson_t *key = BCON_NEW("k", BCON_INT32(value));
    chunkmap_t *map = route_map(route);
    snprintf(name, sizeof name, "%s", chunkmap_shard_name(map, chunkmap_find(map, key)));
    chunkmap_free(map);
    bson_destroy(key);
    return name;
}

/* ---- the map ---- */

LAB_TEST(read, open_lab(lab)) {
    static const char *const chunks[] = {CHUNK(2, "10", GREATEST, "s1", 3), CHUNK(1, LEAST, "5", "s0", 5),
                                         CHUNK(3, "5", "10", "s0", 4), NULL};
    route_t *route;
    assert_int_equal(route_open(lab->server, lab->client, &route, &lab->err), ROUTE_UNSHARDED);
    assert_null(route);
    /* moved to another shard, but not sharded */
    box_insert(lab->box, "config.collections",
               "{\"_id\": \"d.c\", \"key\": {\"_id\": 1}, \"unsplittable\": true, \"uuid\": " UUID "}");
    assert_int_equal(route_open(lab->server, lab->client, &route, &lab->err), ROUTE_UNSHARDED);
    box_delete(lab->box, "config.collections", "{}");
    shard(lab, chunks);
    assert_int_equal(route_open(lab->server, lab->client, &route, &lab->err), ROUTE_READ);
    assert_string_equal(owner(route, 9), "s0");
    assert_string_equal(owner(route, 10), "s1");
    assert_string_equal(route_key(route)->fields[0].path, "k");

    /* what a shard knows of the map: the collection's, and its own newest chunk */
    bson_t version = BSON_INITIALIZER;
    chunkmap_t *map = route_map(route);
    route_version(route, map, 0, &version);
    char *text = bson_as_canonical_extended_json(&version, NULL);
    assert_string_equal(text,
                        "{ \"shardVersion\" : { \"e\" : { \"$oid\" : \"64a000000000000000000001\" }, \"t\" : "
                        "{ \"$timestamp\" : { \"t\" : 9, \"i\" : 4 } }, \"v\" : { \"$timestamp\" : { \"t\" : "
                        "5, \"i\" : 0 } } } }");
    bson_free(text);
    bson_destroy(&version);
    chunkmap_free(map);

    /* nothing has moved: the chunks are not read again; one has: they are */
    const size_t before = box_asked(lab->box, "find", "chunks");
    assert_true(route_refresh(route, lab->client, &lab->err));
    assert_int_equal(box_asked(lab->box, "find", "chunks"), before + 1);
    box_update(lab->box, "config.chunks", "{\"_id\": 2}",
               "{\"$set\": {\"shard\": \"s0\", \"lastmod\": {\"$timestamp\": {\"t\": 6, \"i\": 0}}}}");
    assert_string_equal(owner(route, 10), "s1");
    assert_true(route_refresh(route, lab->client, &lab->err));
    assert_string_equal(owner(route, 10), "s0");
    route_close(route);
}

/* Chunks that do not meet, or whose bounds cannot be put in order, are no map; nor is what may not be read. */
TEST(no_map) {
    static const struct {
        const char *chunks[3];
        route_read_t read;
    } cases[] = {
        {{CHUNK(1, LEAST, "10", "s0", 1), CHUNK(2, "11", GREATEST, "s1", 1)}, ROUTE_UNCLEAR},
        {{CHUNK(1, LEAST, "10", "s0", 1)}, ROUTE_UNCLEAR},
        {{CHUNK(1, "5", GREATEST, "s0", 1)}, ROUTE_UNCLEAR},
        {{NULL}, ROUTE_FAILED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        route_t *route;
        open_lab(&lab);
        shard(&lab, cases[i].chunks);
        if (route_open(lab.server, lab.client, &route, &lab.err) != cases[i].read)
            fail_msg("%zu: %s", i, lab.err.text);
        assert_non_null(strstr(lab.err.text, "are no use"));
        box_deny(lab.box, "find", "chunks", 0, 1);
        assert_int_equal(route_open(lab.server, lab.client, &route, &lab.err), ROUTE_HIDDEN);
        box_deny(lab.box, "find", "collections", 0, 1);
        assert_int_equal(route_open(lab.server, lab.client, &route, &lab.err), ROUTE_HIDDEN);
        close_lab(&lab);
    }
}

static int moves;

static void move(void *context) {
    lab_t *lab = context;
    char change[200];
    snprintf(change, sizeof change,
             "{\"$set\": {\"shard\": \"s%d\", \"lastmod\": {\"$timestamp\": {\"t\": %d, \"i\": 0}}}}",
             moves % 2, 10 + moves);
    moves++;
    box_update(lab->box, "config.chunks", "{\"_id\": 2}", change);
}

/* A chunk that moves while the chunks are read makes no map of two moments: they are read again, but not for ever. */
TEST(moving) {
    static const char *const chunks[] = {CHUNK(1, LEAST, "10", "s0", 5), CHUNK(2, "10", GREATEST, "s1", 3),
                                         NULL};
    for (uint32_t times = 3; times <= 300; times += 297) {
        lab_t lab;
        route_t *route;
        open_lab(&lab);
        shard(&lab, chunks);
        moves = 0;
        box_watch(lab.box, "find", "chunks", 0, times, move, &lab);
        const route_read_t read = route_open(lab.server, lab.client, &route, &lab.err);
        if (times == 3) {
            assert_int_equal(read, ROUTE_READ);
            assert_string_equal(owner(route, 10), "s0"); /* as the last of the moves has left it */
        } else {
            assert_int_equal(read, ROUTE_FAILED);
            assert_non_null(strstr(lab.err.text, "move faster than"));
        }
        route_close(route);
        close_lab(&lab);
    }
}

/* ---- balancing ---- */

#define OFF  "{\"_id\": \"d.c\", \"noBalance\": true}"
#define FLAG "{\"_id\": \"catalog\", \"balancingHeld\": " UUID "}"

static void open_balanced(lab_t *lab, bool off) {
    open_lab(lab);
    box_insert(lab->box, "config.collections", "{\"_id\": \"d.c\", \"key\": {\"k\": 1}, \"uuid\": " UUID "}");
    if (off)
        box_update(lab->box, "config.collections", "{\"_id\": \"d.c\"}", "{\"$set\": {\"noBalance\": true}}");
    box_insert(lab->box, "d.c.tipple.files", "{\"_id\": \"catalog\"}");
}

/* UUID */
static const uint8_t loaded[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, another[16] = {7};

static bool hold(lab_t *lab) {
    bool held;
    assert_true(balancing_hold(lab->server, lab->client, loaded, &held, &lab->err));
    return held;
}

static int balancing_of(lab_t *lab) {
    balancing_t balancing;
    assert_true(balancing_read(lab->server, lab->client, &balancing, &lab->err));
    return (int)balancing.state;
}

/* Did it switch balancing on? */
static bool restore(lab_t *lab, const uint8_t *own) {
    restored_t restored;
    assert_true(cluster_restore(lab->server, lab->client, own, &restored, &lab->err));
    return restored.balanced;
}

LAB_TEST(held_and_restored, open_balanced(lab, false)) {
    assert_int_equal(balancing_of(lab), BALANCING_ON);
    assert_true(hold(lab));
    assert_int_equal(box_count(lab->box, "config.collections", OFF), 1);
    assert_int_equal(box_count(lab->box, "d.c.tipple.files", FLAG), 1);
    assert_int_equal(balancing_of(lab), BALANCING_HELD);
    assert_false(hold(lab)); /* another load: nothing to do */
    assert_true(restore(lab, NULL));
    assert_int_equal(box_count(lab->box, "config.collections", OFF), 0);
    assert_int_equal(box_count(lab->box, "d.c.tipple.files", FLAG), 0);
    assert_false(restore(lab, NULL));
}

/* With the catalog the flag goes: the load that has set it knows of it, and no other one. */
TEST(without_a_catalog) {
    for (int knows = 0; knows < 2; knows++) {
        lab_t lab;
        open_balanced(&lab, false);
        assert_true(hold(&lab));
        box_delete(lab.box, "d.c.tipple.files", "{}");
        assert_int_equal(balancing_of(&lab), BALANCING_OFF);
        assert_true(restore(&lab, knows ? loaded : NULL) == knows);
        assert_int_equal(box_count(lab.box, "config.collections", OFF), !knows);
        close_lab(&lab);
    }
}

/* What a user has switched off stays off. */
LAB_TEST(of_a_user, open_balanced(lab, true)) {
    assert_false(hold(lab));
    assert_int_equal(balancing_of(lab), BALANCING_OFF);
    assert_false(restore(lab, NULL));
    assert_int_equal(box_count(lab->box, "config.collections", OFF), 1);
}

/* The flag belongs to a collection and not to its name: a user has renamed the one that a killed load held, and switched off
 * balancing of another one of the old name. */
LAB_TEST(renamed, open_balanced(lab, false)) {
    assert_true(hold(lab));
    box_delete(lab->box, "config.collections", "{}");
    box_insert(lab->box, "config.collections",
               "{\"_id\": \"d.old\", \"key\": {\"k\": 1}, \"noBalance\": true, \"uuid\": " UUID "}");
    box_insert(lab->box, "config.collections",
               "{\"_id\": \"d.c\", \"key\": {\"k\": 1}, \"noBalance\": true, \"uuid\": {\"$binary\": "
               "{\"base64\": \"BwAAAAAAAAAAAAAAAAAAAA==\", \"subType\": \"04\"}}}");
    assert_int_equal(balancing_of(lab), BALANCING_HELD);
    bool held;
    assert_true(balancing_hold(lab->server, lab->client, another, &held, &lab->err));
    assert_false(held);
    assert_int_equal(box_count(lab->box, "config.collections", "{\"_id\": \"d.old\", \"noBalance\": false}"),
                     1);
    assert_int_equal(box_count(lab->box, "config.collections", OFF), 1);
    assert_int_equal(balancing_of(lab), BALANCING_OFF);
}

/* A switch that is refused leaves no flag, which would take a user's own switch for a load's; one that seems to fail may
 * have come through. */
TEST(flag_comes_first) {
    for (int came_through = 0; came_through < 2; came_through++) {
        lab_t lab;
        bool held;
        open_balanced(&lab, false);
        box_fault(lab.box,
                  &(box_fault_t){.command = "update",
                                 .collection = "collections",
                                 .does = came_through,
                                 .reply = came_through ? BOX_CONCERN_ERROR(100, "few") : NOT_ALLOWED});
        assert_true(balancing_hold(lab.server, lab.client, loaded, &held, &lab.err) == came_through);
        assert_true(held == came_through);
        assert_int_equal(box_count(lab.box, "config.collections", OFF), came_through);
        assert_int_equal(box_count(lab.box, "d.c.tipple.files", FLAG), came_through);
        box_end_faults(lab.box);
        assert_true(restore(&lab, NULL) == came_through);
        assert_int_equal(box_count(lab.box, "config.collections", OFF), 0);
        assert_int_equal(box_count(lab.box, "d.c.tipple.files", FLAG), 0);
        close_lab(&lab);
    }
}

/* ---- zones that a killed load has left ---- */

static void leave_zones(lab_t *lab) {
    box_insert(
        lab->box, "config.tags",
        "{\"_id\": 1, \"ns\": \"d.c\", \"tag\": \"tipple.d.c.0\", \"min\": {\"k\": 1}, \"max\": {\"k\": 2}}");
    box_insert(lab->box, "config.tags",
               "{\"_id\": 2, \"ns\": \"d.c\", \"tag\": \"EU\", \"min\": {\"k\": 2}, \"max\": {\"k\": 3}}");
    box_update(lab->box, "config.shards", "{\"_id\": \"s0\"}",
               "{\"$set\": {\"tags\": [\"EU\", \"tipple.d.c.0\", \"tipple.d.c.d.0\"]}}");
}

LAB_TEST(restore, open_balanced(lab, false)) {
    restored_t restored;
    assert_true(hold(lab));
    leave_zones(lab);
    assert_true(cluster_restore(lab->server, lab->client, NULL, &restored, &lab->err));
    assert_true(restored.ranges == 1 && restored.tags == 1 && restored.balanced && !restored.hidden);
    assert_int_equal(box_count(lab->box, "config.tags", "{\"tag\": \"EU\"}"), 1);
    assert_int_equal(box_count(lab->box, "config.tags", NULL), 1);
    assert_int_equal(
        box_count(lab->box, "config.shards", "{\"_id\": \"s0\", \"tags\": [\"EU\", \"tipple.d.c.d.0\"]}"), 1);
}

/* What cannot be undone ends it with a sentence, and the same call goes on from there. */
TEST(restore_in_part) {
    static const char *const commands[] = {"updateZoneKeyRange", "update"};
    for (int balancing = 0; balancing < 2; balancing++) {
        lab_t lab;
        restored_t restored;
        open_balanced(&lab, false);
        assert_true(hold(&lab));
        leave_zones(&lab);
        box_deny(lab.box, commands[balancing], balancing ? "collections" : NULL, 0, 1);
        assert_false(cluster_restore(lab.server, lab.client, NULL, &restored, &lab.err));
        assert_non_null(strstr(lab.err.text, "not authorized"));
        assert_false(restored.balanced);
        assert_int_equal(restored.ranges, balancing);
        assert_int_equal(box_count(lab.box, "d.c.tipple.files", FLAG), 1); /* for the next try */
        box_end_faults(lab.box);
        assert_true(cluster_restore(lab.server, lab.client, NULL, &restored, &lab.err));
        assert_true(restored.balanced);
        close_lab(&lab);
    }
}
