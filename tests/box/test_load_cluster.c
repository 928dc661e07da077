/* Loads into a cluster: the collection is spread over its shards before the first document, batches go where their
 * documents belong, and afterwards nothing is left that a load has set. */
#include "load_lab.h"
#include "test.h"

enum { ROWS = 4000 };

static void open_rows(lab_t *lab) {
    lab_open(lab, BOX_ROUTER);
    lab_write_wide_rows("a.csv", 0, ROWS);
}

static size_t chunks_of(lab_t *lab, const char *shard) {
    char filter[100];
    snprintf(filter, sizeof filter, "{\"shard\": \"%s\"}", shard);
    return box_count(lab->box, "config.chunks", filter);
}

/* No zones, and the balancing as it was. */
static void expect_tidy(lab_t *lab) {
    assert_int_equal(box_count(lab->box, "config.tags", NULL), 0);
    assert_int_equal(box_count(lab->box, "config.shards", "{\"tags.0\": {\"$exists\": true}}"), 0);
    assert_int_equal(box_count(lab->box, "config.collections", "{\"_id\": \"d.c\", \"noBalance\": true}"), 0);
}

/* What was seen at each insert: was balancing off, were zones there, and were its documents all for one shard, by this
 * field? */
static struct {
    lab_t *lab;
    const char *field;
    size_t held, zones, pure, mixed;
} seen;

static bool has_any(const char *condition, long long bound) {
    char filter[200];
    snprintf(filter, sizeof filter,
             "{\"documents\": {\"$elemMatch\": {\"%s\": {\"%s\": {\"$numberLong\": \"%lld\"}}}}}", seen.field,
             condition, bound);
    return box_last_was(seen.lab->box, "insert", "c", filter);
}

static void see(void *context) {
    char path[20];
    seen.lab = context;
    seen.held += box_count(seen.lab->box, "config.collections", "{\"_id\": \"d.c\", \"noBalance\": true}");
    seen.zones += box_count(seen.lab->box, "config.tags", NULL);
    if (!seen.field)
        return;
    bson_t *chunk = box_one(seen.lab->box, "config.chunks", "{\"shard\": \"s1\"}");
    snprintf(path, sizeof path, "min.%s", seen.field);
    const long long bound = lab_number(chunk, path);
    bson_destroy(chunk);
    *(has_any("$lt", bound) && has_any("$gte", bound) ? &seen.mixed : &seen.pure) += 1;
}

/* One thread sends: else the last insert is not the one that is looked at. */
static void watch_inserts(lab_t *lab, const char *field) {
    memset(&seen, 0, sizeof seen);
    seen.field = field;
    lab->load.threads = 1;
    box_watch(lab->box, "insert", "c", 0, 1000, see, lab);
}

TEST(spread) {
    static const struct {
        const char *key, *stored, *field;
    } cases[] = {
        {NULL, "{\"_id\": 1}", "_id"}, {"n:hashed", "{\"n\": \"hashed\"}", NULL}, {"n", "{\"n\": 1}", "n"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char filter[100];
        lab_t lab;
        open_rows(&lab);
        lab.load.shard_key = cases[i].key;
        watch_inserts(&lab, cases[i].field);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_counts(&lab, ROWS, ROWS, 0, 0);
        snprintf(filter, sizeof filter, "{\"_id\": \"d.c\", \"key\": %s}", cases[i].stored);
        assert_int_equal(box_count(lab.box, "config.collections", filter), 1);
        assert_int_equal(chunks_of(&lab, "s0"), 1);
        assert_int_equal(chunks_of(&lab, "s1"), 1);
        assert_int_equal(lab.loaded.shard_count, 2);
        uint64_t documents = 0;
        for (size_t shard = 0; shard < 2; shard++) {
            documents += lab.loaded.shards[shard].figures.documents;
            assert_true(lab.loaded.shards[shard].figures.documents > 0);
        }
        assert_int_equal(documents, ROWS);
        assert_true(seen.held > 0); /* chunks stayed where they were meanwhile */
        assert_int_equal(seen.zones, 0);
        assert_int_equal(seen.mixed, 0);
        assert_true(!cases[i].field || seen.pure >= 2);
        expect_tidy(&lab);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(lab.verified.counts.same, ROWS);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_counts(&lab, 0, 0, 0, 0);
        lab_close(&lab);
    }
}

LAB_TEST(one_shard, open_rows(lab)) {
    lab->load.shard_key = "none";
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, "config.collections", NULL), 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS);
}

/* What is sharded and empty, with one chunk, is taken as it is; its balancing stays on, so that chunks may move. */
LAB_TEST(sharded_and_empty, open_rows(lab)) {
    lab->load.shard_key = "n:hashed";
    lab->load.limit = 0;
    lab_write("empty.csv", "n,w\n");
    assert_status(lab, lab_load(lab, "empty.csv"), STATUS_OK);
    lab->load.limit = UINT64_MAX;
    box_delete(lab->box, "config.chunks", "{}");
    bson_t *entry = box_one(lab->box, "config.collections", "{\"_id\": \"d.c\"}");
    bson_t *chunk = BCON_NEW("_id", BCON_INT32(1), "min", "{", "n", BCON_MINKEY, "}", "max", "{", "n",
                             BCON_MAXKEY, "}", "shard", BCON_UTF8("s0"), "lastmod", BCON_TIMESTAMP(1, 0));
    bson_iter_t uuid;
    assert_true(bson_iter_init_find(&uuid, entry, "uuid"));
    bson_append_iter(chunk, NULL, 0, &uuid);
    char *json = bson_as_canonical_extended_json(chunk, NULL);
    box_insert(lab->box, "config.chunks", json);
    bson_free(json);
    bson_destroy(chunk);
    bson_destroy(entry);
    watch_inserts(lab, NULL);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said, "--drop would spread");
    assert_int_equal(chunks_of(lab, "s0"), 1);
    assert_int_equal(chunks_of(lab, "s1"), 0);
    assert_int_equal(seen.held, 0);
    expect_tidy(lab);
}

/* All chunks on one of two shards: said, and left to the balancer, since documents are there. */
LAB_TEST(uneven, open_rows(lab)) {
    lab_write_rows("b.csv", ROWS, ROWS + 10);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    box_update(lab->box, "config.chunks", "{}", "{\"$set\": {\"shard\": \"s0\"}}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said, "d.c: 1 of 2 shards have chunks, and 100% of what will be loaded is for s0");
    assert_null(strstr(lab->said, "--drop"));
}

/* A shard that is being drained must get rid of its chunks: its balancing is not turned off. */
LAB_TEST(draining, open_rows(lab)) {
    lab_write_rows("b.csv", ROWS, ROWS + 10);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    box_update(lab->box, "config.shards", "{\"_id\": \"s1\"}", "{\"$set\": {\"draining\": true}}");
    watch_inserts(lab, NULL);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said, "shard s1 is being drained");
    assert_int_equal(seen.held, 0);
}

LAB_TEST(refused, open_rows(lab)) {
    lab->load.shard_key = "nothing";
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "have no key 'nothing'");
    lab->load.shard_key = NULL;
    box_update(lab->box, "config.shards", "{}", "{\"$set\": {\"draining\": true}}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "no chunk may be");
    box_update(lab->box, "config.shards", "{}", "{\"$unset\": {\"draining\": true}}");
    box_insert(
        lab->box, "config.tags",
        "{\"_id\": 1, \"ns\": \"d.c\", \"tag\": \"EU\", \"min\": {\"_id\": 1}, \"max\": {\"_id\": 2}}");
    for (int drop = 0; drop < 2; drop++) {
        lab->load.drop = drop;
        assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
        assert_says(lab->err.text, "it has 1 zone range (EU)");
        assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 0);
    }
    lab->load.drop = false;
    box_delete(lab->box, "config.tags", "{}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab->load.shard_key = "n";
    lab->load.drop = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_close(lab);
    lab_open(lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 10);
    lab->load.direct = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "--direct goes with");
}

static void hide_config(box_t *box) {
    static const char *const collections[] = {"collections", "tags", "shards", "chunks"};
    for (size_t i = 0; i < 4; i++)
        box_deny(box, "find", collections[i], 0, 1000);
    box_fault(box, &(box_fault_t){
                       .command = "collStats", .times = 1000, .reply = "{\"ok\": 1, \"sharded\": true}"});
}

/* How many documents there are, and how often someone asked to change something. */
typedef struct {
    size_t counts[40];
} state_t;

static state_t state_of(lab_t *lab) {
    static const char
        *const namespaces[] = {"d.c",         "config.collections", "config.chunks",   "config.shards",
                               "config.tags", "d.c.tipple.files",   "d.c.tipple.loads"},
               *const commands[] = {"create", "createIndexes", "delete", "drop", "insert", "update"},
               *const collections[] = {"c", "c.tipple.files", "c.tipple.loads", "tags"};
    state_t state = {{box_asked(lab->box, "shardCollection", "c")}};
    size_t *count = state.counts + 1;
    for (size_t i = 0; i < COUNT(namespaces); i++)
        *count++ = box_count(lab->box, namespaces[i], NULL);
    for (size_t i = 0; i < COUNT(commands); i++)
        for (size_t j = 0; j < COUNT(collections); j++)
            *count++ = box_asked(lab->box, commands[i], collections[j]);
    return state;
}

/* A shard sees only its own documents, so that an index which is unique has to begin with the whole shard key. A key stays until
 * --drop. Whatever is refused because of either, or because of what a drop would take away unseen, has changed nothing. */
TEST(refused_before_a_change) {
    enum { DROP = 1, DRY = 2, HIDDEN = 4, DIRECT = 8, APPEND = 16, MISSING = 32 };
    static const struct {
        const char *there; /* what is loaded is sharded by this key; NULL: nothing is there */
        unsigned with;
        const char *key, *index, *says;
    } cases[] = {
        {NULL, 0, "n,w", "n:1;unique", "_id. Give --shard-key"},
        {NULL, 0, NULL, "w:1;unique", "index w_1 cannot be built where d.c is sharded on { \"_id\" : 1 }"},
        {NULL, DRY, NULL, "w:1;unique", "or take --index without ;unique. No record was loaded"},
        {NULL, 0, "n,w", "{\"key\": {\"n\": 1, \"w\": 1}, \"name\": \"x\", \"expireAfterSeconds\": 9}",
         "would remove documents"},
        {NULL, HIDDEN, "n", NULL, "--shard-key n: this user may"},
        {NULL, HIDDEN | DIRECT, NULL, NULL, "--direct needs a user"},
        {"_id", 0, "n", NULL, "on { \"_id\" : 1 } already, not on --shard-key n;"},
        {"_id", DRY, "n", NULL, "already, not on --shard-key n"},
        {"_id", 0, "none", NULL, "already, not on --shard-key none"},
        {"n", 0, "n,w", NULL, "is sharded on { \"n\" : 1 } already, not on --shard-key n,w;"},
        {"n,w", 0, "n", NULL, "is sharded on { \"n\" : 1, \"w\" : 1 } already, not on --shard-key n;"},
        {"n,w", 0, "w,n", NULL, "already, not on --shard-key w,n"},
        {"_id", 0, NULL, "n:1;unique", "The key stays until --drop: with that, give --shard-key the first"},
        {"n,w", 0, NULL, "n:1;unique", "cannot be built where d.c is sharded on { \"n\" : 1, \"w\" : 1 }"},
        {"n,w", DRY, "n,w", "w:1,n:1;unique", "stays until --drop"},
        {"n", DROP, "n,w", "n:1;unique", "_id. Give --shard-key"},
        {"n", DROP, NULL, "n:1;unique", "is sharded on { \"_id\" : 1 }: such an index"},
        {"n", DROP | DRY, NULL, "n:1;unique", "No record was loaded"},
        {"_id", DROP, "n", "{\"key\": {\"n\": 1}, \"name\": \"x\", \"expireAfterSeconds\": 9}",
         "leave expireAfterSeconds out"},
        {"_id", DROP | HIDDEN, NULL, NULL, "what a drop takes"},
        {"_id", DROP | HIDDEN, "none", NULL, "what a drop takes"},
        {"_id", DROP | APPEND, NULL, NULL, "--append keeps"},
        {"_id", DROP | MISSING, NULL, NULL, "--reload-missing adds to"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *index = (char *)cases[i].index;
        lab_t lab;
        lab_open(&lab, BOX_ROUTER);
        lab_write_rows("a.csv", 0, 20);
        lab.load.shard_key = cases[i].there;
        if (cases[i].there)
            assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        if (cases[i].with & HIDDEN)
            hide_config(lab.box);
        const state_t before = state_of(&lab);
        lab_write_rows("b.csv", 20, 40);
        lab.load.shard_key = cases[i].key;
        lab.load.indexes = &index;
        lab.load.index_count = index != NULL;
        lab.load.drop = cases[i].with & DROP;
        lab.load.dry_run = cases[i].with & DRY;
        lab.load.direct = cases[i].with & DIRECT;
        lab.load.append = cases[i].with & APPEND;
        lab.load.reload_missing = cases[i].with & MISSING;
        assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_USAGE);
        assert_says(lab.err.text, cases[i].says);
        const state_t after = state_of(&lab);
        for (size_t j = 0; j < COUNT(after.counts); j++)
            if (before.counts[j] != after.counts[j])
                fail_msg("case %zu: count %zu was %zu, and is %zu", i, j, before.counts[j], after.counts[j]);
        lab_close(&lab);
    }
}

/* A unique index that begins with the whole shard key, or with _id, is taken, whatever the order of its fields. */
TEST(unique_indexes) {
    static const char *const cases[][2] = {
        {"n,w", "n:1,w:1;unique"}, {"n", "n:-1,w:1;unique"}, {"n", "_id:1,w:1;unique"}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        char *index = (char *)cases[i][1];
        lab_t lab;
        open_rows(&lab);
        lab.load.shard_key = cases[i][0];
        lab.load.indexes = &index;
        lab.load.index_count = 1;
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), ROWS);
        lab_close(&lab);
    }
}

/* --drop: ranges of a user are named; a user's own balancing stays off. */
LAB_TEST(drop, open_rows(lab)) {
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    box_update(lab->box, "config.collections", "{\"_id\": \"d.c\"}", "{\"$set\": {\"noBalance\": true}}");
    box_insert(
        lab->box, "config.tags",
        "{\"_id\": 1, \"ns\": \"d.c\", \"tag\": \"E\\\"U\", \"min\": {\"_id\": \"docker://nginx:latest\"}, "
        "\"max\": {\"_id\": \"postmaster@example.org\"}}");
    lab->load.drop = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said,
                "\n    zone range { \"_id\" : 1, \"ns\" : \"d.c\", \"tag\" : \"E\\\"U\", \"min\" : { "
                "\"_id\" : \"docker://nginx:latest\" }, \"max\" : { \"_id\" : "
                "\"postmaster@example.org\" } }\n");
    assert_int_equal(box_count(lab->box, "config.collections", "{\"_id\": \"d.c\", \"noBalance\": true}"), 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS);
}

/* A load that was killed while it placed the collection has left zones for another key. */
LAB_TEST(left_zones, open_rows(lab)) {
    box_insert(lab->box, "config.tags",
               "{\"_id\": 1, \"ns\": \"d.c\", \"tag\": \"tipple.d.c.0\", \"min\": {\"n\": 1}, \"max\": "
               "{\"n\": 2}}");
    box_update(lab->box, "config.shards", "{\"_id\": \"s0\"}", "{\"$set\": {\"tags\": [\"tipple.d.c.0\"]}}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(chunks_of(lab, "s0"), 1);
    assert_int_equal(chunks_of(lab, "s1"), 1);
    expect_tidy(lab);
}

/* A user who may not shard: no zones stay. One who may set zones and not remove them: the load goes on, and says so. */
TEST(without_rights) {
    static const char no[] = BOX_ERROR(13, "not authorized");
    for (int shards = 0; shards < 2; shards++) {
        lab_t lab;
        open_rows(&lab);
        box_fault(lab.box, &(box_fault_t){.command = shards ? "removeShardFromZone" : "shardCollection",
                                          .times = 1000,
                                          .reply = no});
        assert_status(&lab, lab_load(&lab, "a.csv"), shards ? STATUS_OK : STATUS_USAGE);
        assert_says(shards ? lab.said : lab.err.text, shards ? "status --restore" : "--shard-key none");
        if (!shards)
            expect_tidy(&lab);
        lab_close(&lab);
    }
}

/* A user who may not write the cluster's settings: balancing stays on, which is said. */
LAB_TEST(not_held, open_rows(lab)) {
    box_fault(lab->box,
              &(box_fault_t){.command = "update", .collection = "collections", .reply = BOX_ERROR(13, "no")});
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said, "balancing of d.c may");
    expect_tidy(lab);
}

/* Who may not read the config database leaves the sorting to the router. */
LAB_TEST(hidden_config, open_rows(lab)) {
    lab_write_rows("b.csv", ROWS, ROWS + 10);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    hide_config(lab->box);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said, "clusterMonitor");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS + 10);
    lab->load.direct = true;
    lab_write_rows("c.csv", ROWS, ROWS + 10);
    assert_status(lab, lab_load(lab, "c.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "--direct needs a user");
}

/* The shard key is not _id: a record that was cut off cannot be corrected in its place. */
LAB_TEST(grown_under_another_key, lab_open(lab, BOX_ROUTER)) {
    lab->load.shard_key = "n";
    lab_write("a.csv", "n,w\n1,a\n2,b");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_shorten_lease(lab);
    lab_write("a.csv", "n,w\n1,a\n2,better\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_INPUT);
    assert_says(lab->err.text, "another key than _id");
    lab->load.reload_changed = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"w\": \"better\"}"), 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 2);
}
