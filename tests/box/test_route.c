/* The map of a cluster's chunks as the config database tells it, and the balancing of one collection. */
#include "base/log.h"
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
#define NOT_ALLOWED "{\"ok\": 0, \"code\": 13, \"errmsg\": \"not authorized\"}"

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

TEST(read) {
    static const char *const chunks[] = {CHUNK(2, "10", GREATEST, "s1", 3), CHUNK(1, LEAST, "5", "s0", 5),
                                         CHUNK(3, "5", "10", "s0", 4), NULL};
    lab_t lab;
    route_t *route;
    open_lab(&lab);
    assert_int_equal(route_open(lab.server, lab.client, &route, &lab.err), ROUTE_UNSHARDED);
    assert_null(route);
    /* moved to another shard, but not sharded */
    box_insert(lab.box, "config.collections",
               "{\"_id\": \"d.c\", \"key\": {\"_id\": 1}, \"unsplittable\": true, \"uuid\": " UUID "}");
    assert_int_equal(route_open(lab.server, lab.client, &route, &lab.err), ROUTE_UNSHARDED);
    box_delete(lab.box, "config.collections", "{}");
    shard(&lab, chunks);
    assert_int_equal(route_open(lab.server, lab.client, &route, &lab.err), ROUTE_READ);
    assert_string_equal(owner(route, 9), "s0");
    assert_string_equal(owner(route, 10), "s1");
    assert_string_equal(route_key(route)->fields[0].path, "k");

    /* what a shard is told of the map: the collection's, and its own newest chunk */
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
    const size_t before = box_asked(lab.box, "find", "chunks");
    assert_true(route_refresh(route, lab.client, &lab.err));
    assert_int_equal(box_asked(lab.box, "find", "chunks"), before + 1);
    box_update(lab.box, "config.chunks", "{\"_id\": 2}",
               "{\"$set\": {\"shard\": \"s0\", \"lastmod\": {\"$timestamp\": {\"t\": 6, \"i\": 0}}}}");
    assert_string_equal(owner(route, 10), "s1");
    assert_true(route_refresh(route, lab.client, &lab.err));
    assert_string_equal(owner(route, 10), "s0");
    route_close(route);
    close_lab(&lab);
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
        box_fault(lab.box, &(box_fault_t){.command = "find", .collection = "chunks", .reply = NOT_ALLOWED});
        assert_int_equal(route_open(lab.server, lab.client, &route, &lab.err), ROUTE_HIDDEN);
        box_fault(lab.box,
                  &(box_fault_t){.command = "find", .collection = "collections", .reply = NOT_ALLOWED});
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
        box_fault(lab.box, &(box_fault_t){.command = "find",
                                          .collection = "chunks",
                                          .times = times,
                                          .only_watches = true,
                                          .hook = move,
                                          .context = &lab});
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

#define OFF         "{\"_id\": \"d.c\", \"noBalance\": true}"
#define NOTE(value) "{\"_id\": \"catalog\", \"balancingHeld\": " value "}"

static void open_balanced(lab_t *lab, bool off) {
    open_lab(lab);
    box_insert(lab->box, "config.collections", "{\"_id\": \"d.c\", \"key\": {\"k\": 1}, \"uuid\": " UUID "}");
    if (off)
        box_update(lab->box, "config.collections", "{\"_id\": \"d.c\"}", "{\"$set\": {\"noBalance\": true}}");
    box_insert(lab->box, "d.c.tipple.files", "{\"_id\": \"catalog\"}");
}

/* UUID */
static const uint8_t loaded[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static bool took; /* of balancer_take */

static balancer_t look(lab_t *lab) {
    balancer_t hold;
    assert_true(balancer_look(lab->server, lab->client, &hold, NULL, &lab->err));
    return hold;
}

TEST(taken_and_released) {
    lab_t lab;
    balancer_found_t found;
    open_balanced(&lab, false);
    assert_int_equal(look(&lab), BALANCER_ON);
    assert_true(balancer_take(lab.server, lab.client, loaded, &took, &lab.err));
    assert_int_equal(box_count(lab.box, "config.collections", OFF), 1);
    assert_int_equal(box_count(lab.box, "d.c.tipple.files", NOTE("true")), 1);
    assert_int_equal(look(&lab), BALANCER_OURS);
    assert_true(
        balancer_take(lab.server, lab.client, loaded, &took, &lab.err)); /* another load: nothing to do */
    assert_true(balancer_release(lab.server, lab.client, NULL, &found, &lab.err));
    assert_int_equal(found.hold, BALANCER_OURS);
    assert_int_equal(box_count(lab.box, "config.collections", OFF), 0);
    assert_int_equal(box_count(lab.box, "d.c.tipple.files", NOTE("false")), 1);
    close_lab(&lab);
}

static void take_by_another(void *context) {
    lab_t *lab = context;
    box_update(lab->box, "config.collections", "{\"_id\": \"d.c\"}", "{\"$set\": {\"noBalance\": true}}");
    box_update(
        lab->box, "d.c.tipple.files", "{\"_id\": \"catalog\"}",
        "{\"$set\": {\"balancingHeld\": true, \"balancingBy\": {\"$oid\": \"0123456789abcdef01234567\"}}}");
}

/* Between turning it on and taking back the note another load turns it off: its note stays. */
TEST(taken_while_released) {
    lab_t lab;
    balancer_found_t found;
    open_balanced(&lab, false);
    assert_true(balancer_take(lab.server, lab.client, loaded, &took, &lab.err));
    const box_fault_t meanwhile = {.command = "update",
                                   .collection = "c.tipple.files",
                                   .only_watches = true,
                                   .hook = take_by_another,
                                   .context = &lab};
    box_fault(lab.box, &meanwhile);
    assert_true(balancer_release(lab.server, lab.client, loaded, &found, &lab.err));
    box_end_faults(lab.box);
    assert_int_equal(box_count(lab.box, "config.collections", OFF), 1);
    assert_int_equal(box_count(lab.box, "d.c.tipple.files", NOTE("true")), 1);
    assert_int_equal(look(&lab), BALANCER_OURS);
    close_lab(&lab);
}

/* With the catalog the note goes; who turned it off knows of it, and nobody else does. */
TEST(without_a_catalog) {
    for (int knows = 0; knows < 2; knows++) {
        lab_t lab;
        balancer_found_t found;
        open_balanced(&lab, false);
        assert_true(balancer_take(lab.server, lab.client, loaded, &took, &lab.err));
        assert_true(took);
        box_update(lab.box, "d.c.tipple.files", "{\"_id\": \"catalog\"}",
                   "{\"$unset\": {\"balancingHeld\": 1}}");
        assert_true(balancer_release(lab.server, lab.client, knows ? loaded : NULL, &found, &lab.err));
        assert_int_equal(found.hold, knows ? BALANCER_OURS : BALANCER_PERSONS);
        assert_int_equal(box_count(lab.box, "config.collections", OFF), !knows);
        close_lab(&lab);
    }
}

/* What a person has turned off stays off, and so does what nobody can tell. */
TEST(of_a_person) {
    static const struct {
        const char *note;
        balancer_t hold;
    } cases[] = {{NULL, BALANCER_PERSONS}, {"begun", BALANCER_IN_DOUBT}};
    for (size_t i = 0; i < 2; i++) {
        lab_t lab;
        balancer_found_t found;
        open_balanced(&lab, true);
        if (cases[i].note)
            box_update(lab.box, "d.c.tipple.files", "{\"_id\": \"catalog\"}",
                       "{\"$set\": {\"balancingHeld\": \"begun\"}}");
        assert_true(balancer_take(lab.server, lab.client, loaded, &took, &lab.err));
        assert_false(took);
        assert_int_equal(look(&lab), cases[i].hold);
        assert_true(balancer_release(lab.server, lab.client, NULL, &found, &lab.err));
        assert_int_equal(found.hold, cases[i].hold);
        assert_int_equal(box_count(lab.box, "config.collections", OFF), 1);
        close_lab(&lab);
    }
}

/* It is written down before it is done, so that a load that is killed in between leaves a doubt and no lie; what seems to
 * fail may have come through. */
TEST(notes_come_first) {
    for (int came_through = 0; came_through < 2; came_through++) {
        lab_t lab;
        open_balanced(&lab, false);
        box_fault(lab.box,
                  &(box_fault_t){
                      .command = "update",
                      .collection = "collections",
                      .does = came_through,
                      .reply = came_through ? "{\"writeConcernError\": {\"code\": 100, \"errmsg\": \"few\"}}"
                                            : NOT_ALLOWED});
        assert_true(balancer_take(lab.server, lab.client, loaded, &took, &lab.err) == came_through);
        assert_int_equal(box_count(lab.box, "config.collections", OFF), came_through);
        assert_int_equal(box_count(lab.box, "d.c.tipple.files", NOTE("\"begun\"")), !came_through);
        close_lab(&lab);
    }
}

/* ---- all of it undone ---- */

/* A load has noted that it sets so many zones. */
static void note_zones(lab_t *lab, int zones) {
    char load[100];
    snprintf(load, sizeof load, "{\"_id\": {\"$oid\": \"64a000000000000000000001\"}, \"zones\": %d}", zones);
    box_insert(lab->box, "d.c.tipple.loads", load);
}

TEST(undo) {
    lab_t lab;
    undone_t undone;
    open_balanced(&lab, false);
    assert_true(balancer_take(lab.server, lab.client, loaded, &took, &lab.err));
    note_zones(&lab, 1);
    box_insert(
        lab.box, "config.tags",
        "{\"_id\": 1, \"ns\": \"d.c\", \"tag\": \"tipple.d.c.0\", \"min\": {\"k\": 1}, \"max\": {\"k\": 2}}");
    box_insert(lab.box, "config.tags",
               "{\"_id\": 2, \"ns\": \"d.c\", \"tag\": \"EU\", \"min\": {\"k\": 2}, \"max\": {\"k\": 3}}");
    box_update(lab.box, "config.shards", "{\"_id\": \"s0\"}",
               "{\"$set\": {\"tags\": [\"EU\", \"tipple.d.c.0\"]}}");
    undo(lab.server, lab.client, NULL, &undone);
    assert_int_equal(undone.steps[UNDO_RANGES].gone, 1);
    assert_int_equal(undone.steps[UNDO_TAGS].gone, 1);
    assert_int_equal(undone.steps[UNDO_BALANCING].gone, 1);
    assert_true(undo_tell(lab.server, &undone, "", &lab.err));
    assert_int_equal(box_count(lab.box, "config.tags", "{\"tag\": \"EU\"}"), 1);
    assert_int_equal(box_count(lab.box, "config.tags", NULL), 1);
    assert_int_equal(box_count(lab.box, "config.shards", "{\"_id\": \"s0\", \"tags\": [\"EU\"]}"), 1);
    assert_int_equal(box_count(lab.box, "config.collections", OFF), 0);
    assert_int_equal(box_count(lab.box, "d.c.tipple.loads", "{\"zones\": {\"$gt\": 0}}"), 0);
    close_lab(&lab);
}

/* A load whose document somebody has removed cannot note its zones, and so sets none. */
TEST(note) {
    lab_t lab;
    bson_oid_t load, other;
    bson_oid_init_from_string(&load, "64a000000000000000000001");
    bson_oid_init_from_string(&other, "64a000000000000000000002");
    open_lab(&lab);
    box_insert(lab.box, "d.c.tipple.loads", "{\"_id\": {\"$oid\": \"64a000000000000000000001\"}}");
    assert_true(zone_notes_write(lab.server, lab.client, &load, 3, loaded, &lab.err));
    assert_int_equal(box_count(lab.box, "d.c.tipple.loads", "{\"zones\": 3}"), 1);
    assert_false(zone_notes_write(lab.server, lab.client, &other, 3, loaded, &lab.err));
    assert_non_null(strstr(lab.err.text, "catalog of d.c was removed"));
    close_lab(&lab);
}

/* What no load has noted is a person's, whatever its name. */
TEST(undo_of_a_person) {
    lab_t lab;
    undone_t undone;
    open_balanced(&lab, false);
    note_zones(&lab, 1);
    box_insert(
        lab.box, "config.tags",
        "{\"_id\": 1, \"ns\": \"d.c\", \"tag\": \"tipple.d.c.1\", \"min\": {\"k\": 1}, \"max\": {\"k\": 2}}");
    box_update(lab.box, "config.shards", "{\"_id\": \"s0\"}",
               "{\"$set\": {\"tags\": [\"tipple.d.c.1\", \"tipple.d.c.00\", \"tipple.d.c.0\"]}}");
    undo(lab.server, lab.client, NULL, &undone);
    assert_int_equal(undone.steps[UNDO_RANGES].gone, 0);
    assert_int_equal(undone.steps[UNDO_TAGS].gone, 1);
    assert_int_equal(box_count(lab.box, "config.tags", NULL), 1);
    assert_int_equal(box_count(lab.box, "config.shards",
                               "{\"_id\": \"s0\", \"tags\": [\"tipple.d.c.1\", \"tipple.d.c.00\"]}"),
                     1);
    close_lab(&lab);
}

/* Of its own zones a load needs no note: somebody may have removed it. */
TEST(undo_without_a_note) {
    lab_t lab;
    undone_t undone;
    open_balanced(&lab, false);
    box_insert(
        lab.box, "config.tags",
        "{\"_id\": 1, \"ns\": \"d.c\", \"tag\": \"tipple.d.c.0\", \"min\": {\"k\": 1}, \"max\": {\"k\": 2}}");
    box_update(lab.box, "config.shards", "{\"_id\": \"s0\"}",
               "{\"$set\": {\"tags\": [\"tipple.d.c.0\", \"tipple.d.c.1\"]}}");
    undo(lab.server, lab.client, NULL, &undone);
    assert_int_equal(undone.steps[UNDO_RANGES].gone + undone.steps[UNDO_TAGS].gone, 0);
    undo(lab.server, lab.client, &(undo_own_t){.zones = 1}, &undone);
    assert_int_equal(undone.steps[UNDO_RANGES].gone, 1);
    assert_int_equal(undone.steps[UNDO_TAGS].gone, 1);
    assert_int_equal(box_count(lab.box, "config.tags", NULL), 0);
    assert_int_equal(box_count(lab.box, "config.shards", "{\"_id\": \"s0\", \"tags\": [\"tipple.d.c.1\"]}"),
                     1);
    close_lab(&lab);
}

/* Each step stands alone: what cannot be undone is said, and the others are done. */
TEST(undo_in_part) {
    lab_t lab;
    undone_t undone;
    open_balanced(&lab, false);
    assert_true(balancer_take(lab.server, lab.client, loaded, &took, &lab.err));
    note_zones(&lab, 1);
    box_insert(
        lab.box, "config.tags",
        "{\"_id\": 1, \"ns\": \"d.c\", \"tag\": \"tipple.d.c.0\", \"min\": {\"k\": 1}, \"max\": {\"k\": 2}}");
    box_update(lab.box, "config.shards", "{\"_id\": \"s0\"}", "{\"$set\": {\"tags\": [\"tipple.d.c.0\"]}}");
    box_fault(lab.box, &(box_fault_t){.command = "updateZoneKeyRange", .reply = NOT_ALLOWED});
    undo(lab.server, lab.client, NULL, &undone);
    assert_int_equal(undone.steps[UNDO_RANGES].left, 1);
    assert_int_equal(undone.steps[UNDO_TAGS].left, 1); /* no cluster lets go of a zone that has a range */
    assert_int_equal(undone.steps[UNDO_BALANCING].gone, 1);
    log_set_level(LOG_SILENT);
    assert_false(undo_tell(lab.server, &undone, "", &lab.err));
    log_set_level(LOG_NORMAL);
    assert_non_null(strstr(lab.err.text, "not authorized"));
    assert_int_equal(box_count(lab.box, "d.c.tipple.loads", "{\"zones\": 1}"),
                     1); /* for whoever tries again */
    close_lab(&lab);
}
