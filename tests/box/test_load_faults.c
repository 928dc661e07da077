/* Loads whose server loses replies, refuses, restarts and goes away: what is counted is what is there. */
#include "load_lab.h"
#include "test.h"

enum { ROWS = 2500 };

static void open_rows(lab_t *lab, box_kind_t kind) {
    lab_open(lab, kind);
    lab_write_rows("a.csv", 0, ROWS);
}

/* However often a message was sent: each record once. */
static void expect_all(lab_t *lab) {
    const counts_t *counts = &lab->loaded.counts;
    assert_int_equal(counts->read, ROWS);
    assert_int_equal(counts->of[FATE_LOADED] + counts->of[FATE_THERE], ROWS);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"pieces.0.complete\": 1}"), 1);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.same, ROWS);
}

/* Whatever passes is waited for: the load ends well, and nothing is counted twice. */
TEST(passing) {
    static const struct {
        const char *what;
        box_fault_t fault;
    } cases[] = {
        {"lost before it was done", {.command = "insert", .collection = "c"}},
        {"lost after it", {.command = "insert", .collection = "c", .does = true}},
        {"lost after it, again", {.command = "insert", .collection = "c", .does = true, .times = 3}},
        {"not primary", {.command = "insert", .collection = "c", .reply = BOX_ERROR(10107, "not primary")}},
        {"stepped down while it wrote",
         {.command = "insert",
          .collection = "c",
          .does = true,
          .reply = BOX_CONCERN_ERROR(189, "primary stepped down")}},
        {"shutting down",
         {.command = "insert", .collection = "c", .reply = BOX_ERROR(91, "shutdown in progress")}},
        {"in conflict with another write",
         {.command = "insert", .collection = "c", .reply = BOX_ERROR(112, "write conflict")}},
        {"a concern of a kind nobody knows",
         {.command = "insert", .collection = "c", .does = true, .reply = BOX_CONCERN_ERROR(12345, "odd")}},
        {"the catalog's lost update", {.command = "update", .collection = "c.tipple.files", .does = true}},
        {"the catalog's update that was not made",
         {.command = "update", .collection = "c.tipple.files", .after = 2}},
        {"the catalog's new entries",
         {.command = "insert", .collection = "c.tipple.files", .does = true, .after = 1}},
        {"the header", {.command = "insert", .collection = "c.tipple.files", .does = true}},
        {"the first look", {.command = "listCollections"}},
        {"the making of the collection", {.command = "create", .does = true}},
        {"the loads", {.command = "find", .collection = "c.tipple.loads"}},
        {"the entries", {.command = "find", .collection = "c.tipple.files", .after = 3}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        open_rows(&lab, BOX_REPLICA_SET);
        box_fault(lab.box, &cases[i].fault);
        if (lab_load(&lab, "a.csv") != STATUS_OK)
            fail_msg("%s: %s", cases[i].what, lab.err.text);
        expect_all(&lab);
        lab_close(&lab);
    }
}

/* A write that was acknowledged by fewer than a majority counts only once a majority has it. */
LAB_TEST(concern_failed, open_rows(lab, BOX_REPLICA_SET)) {
    box_fault(lab->box,
              &(box_fault_t){.command = "insert",
                             .collection = "c",
                             .does = true,
                             .times = 2,
                             .reply = "{\"writeConcernError\": {\"code\": 64, \"errmsg\": \"waiting for "
                                      "replication timed out\"}}"});
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_true(lab->loaded.retries > 0);
    expect_all(lab);
}

/* What lasts for longer than --patience ends the load with status 4, and the same command goes on from there. */
TEST(patience_ends) {
    static const struct {
        const char *command, *collection, *reply;
    } cases[] = {
        {"insert", "c", NULL}, /* the connection is closed */
        {"insert", "c", BOX_ERROR(91, "shutdown in progress")},
        {"insert", "c", BOX_ERROR(13388, "stale config")},
        {"update", "c.tipple.files", BOX_ERROR(91, "shutdown in progress")},
        {"update", "c.tipple.files",
         "{\"ok\": 1, \"n\": 0, \"writeErrors\": [{\"index\": 0, \"code\": 91, \"errmsg\": \"no\"}]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        open_rows(&lab, BOX_STANDALONE);
        lab_write_rows("b.csv", ROWS, ROWS + 1);
        assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_OK);
        lab_shorten_lease(
            &lab); /* who loads next waits for the end of this one's, which could not say that it ended */
        lab.load.patience_ns = 200000000;
        const int64_t patience_ns = lab.verify.load.patience_ns;
        box_fault(lab.box, &(box_fault_t){.command = cases[i].command,
                                          .collection = cases[i].collection,
                                          .after = 2,
                                          .times = 6,
                                          .reply = cases[i].reply});
        if (lab_load(&lab, "a.csv") == STATUS_OK)
            fail_msg("%s, case %zu", cases[i].command, i);
        assert_int_equal(lab.err.status, STATUS_SERVER);
        assert_says(lab.err.text, "--patience (200 ms)");
        assert_int_equal(lab.loaded.counts.read,
                         lab.loaded.counts.of[FATE_LOADED] + lab.loaded.counts.of[FATE_THERE]);
        box_end_faults(lab.box);
        lab.load.patience_ns = patience_ns;
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), ROWS + 1);
        lab_close(&lab);
    }
}

/* What no waiting changes ends the load. */
TEST(refused) {
    static const struct {
        const char *reply, *words;
        status_t status;
    } cases[] = {
        {BOX_ERROR(13, "not authorized on d"), "asks for a user", STATUS_USAGE},
        {BOX_ERROR(18, "Authentication failed"), "log in", STATUS_USAGE},
        {BOX_ERROR(14031, "disk full"), "make room", STATUS_SERVER},
        {BOX_ERROR(20, "no"), "read-only", STATUS_SERVER},
        {BOX_ERROR(371, "blocked"), "setUserWriteBlockMode", STATUS_SERVER},
        {BOX_ERROR(361, "another collection"), "another collection", STATUS_SERVER},
        {"{\"ok\": 1, \"n\": 7}", "the server answered for 7 of", STATUS_SERVER},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        open_rows(&lab, BOX_STANDALONE);
        lab.load.patience_ns = INT64_C(3000000000); /* the last reply may be a mistake of the moment */
        box_fault(
            lab.box,
            &(box_fault_t){.command = "insert", .collection = "c", .times = 1000, .reply = cases[i].reply});
        assert_status(&lab, lab_load(&lab, "a.csv"), cases[i].status);
        assert_says(lab.err.text, cases[i].words);
        assert_int_equal(lab.loaded.counts.of[FATE_LOADED], 0);
        lab_close(&lab);
    }
}

/* ---- a standalone that is another process than before: what it had not written to its disk may be lost ---- */

static void restart(void *context) {
    box_restart(((lab_t *)context)->box);
}

LAB_TEST(restarted, open_rows(lab, BOX_STANDALONE)) {
    /* between the first documents and the proof that they last */
    box_watch(lab->box, "insert", "c", 1, 1, restart, lab);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SERVER);
    assert_says(lab->err.text, "restarted");
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"pieces.0.complete\": 1}"), 0);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS);
}

/* ---- someone else ---- */

static void drop_it(void *context) {
    box_drop(((lab_t *)context)->box, LAB_TARGET);
}

static void replace_it(void *context) {
    drop_it(context);
    box_insert(((lab_t *)context)->box, LAB_TARGET, "{\"_id\": \"another\"}");
}

static void drop_all(void *context) {
    lab_t *lab = context;
    drop_it(lab);
    box_drop(lab->box, LAB_FILES);
    box_drop(lab->box, LAB_LOADS);
}

static void drop_catalog(void *context) {
    box_drop(((lab_t *)context)->box, LAB_FILES);
}

static void empty_catalog(void *context) {
    box_delete(((lab_t *)context)->box, LAB_FILES, "{}");
}

static void remove_inputs(void *context) {
    box_delete(((lab_t *)context)->box, LAB_FILES, "{\"path\": {\"$exists\": true}}");
}

/* The load ends and says so, and so does the next one; --drop begins anew. Servers of 6.0 on refuse what is meant for another
 * collection; before them it is found at the end. */
TEST(dropped_meanwhile) {
    static const char dropped[] = "the collection was dropped", catalog[] = "the catalog of";
    static const struct {
        void (*hook)(void *);
        const char *words;
        bool old, nothing_left;
    } cases[] = {
        {drop_it, dropped, false, false},          {replace_it, dropped, false, false},
        {drop_it, "d.c was dropped", true, false}, {drop_all, dropped, false, true},
        {drop_catalog, catalog, false, false},     {empty_catalog, catalog, false, false},
        {remove_inputs, catalog, false, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        open_rows(&lab, BOX_STANDALONE);
        if (cases[i].old)
            box_say(lab.box, "buildInfo", "{\"version\": \"5.0.9\"}");
        box_watch(lab.box, "insert", "c", 1, 1, cases[i].hook, &lab);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SERVER);
        assert_says(lab.err.text, cases[i].words);
        assert_says(lab.err.text, "--drop");
        if (!cases[i].old)
            assert_int_equal(box_count(lab.box, LAB_FILES, "{\"path\": \"a.csv\", \"pieces.0.complete\": 1}"),
                             0);
        if (!cases[i].nothing_left && box_count(lab.box, LAB_TARGET, NULL)) {
            assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
            assert_says(lab.err.text, "--drop");
        }
        lab.load.drop = true;
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        expect_all(&lab);
        lab_close(&lab);
    }
}

/* Another load took the input when this one seemed dead: this one writes nothing more down, and ends. */
static void take_over(void *context) {
    lab_t *lab = context;
    lab_other_load(lab, "1970-01-01T00:00:00.001Z");
    box_update(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}",
               "{\"$set\": {\"pieces.0.owner\": " LAB_OTHER ", \"pieces.0.epoch\": 2}}");
}

LAB_TEST(taken_over, open_rows(lab, BOX_REPLICA_SET)) {
    lab_write_rows("b.csv", 0, 1);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    /* so long that a busy host takes less for all the rest */
    box_update(lab->box, LAB_FILES, "{\"_id\": \"catalog\"}", "{\"$set\": {\"leaseMs\": 2000}}");
    box_watch(lab->box, "insert", "c", 0, 1, take_over, lab);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SERVER);
    assert_says(lab->err.text, "taken over a.csv");
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"pieces.0.epoch\": 2}"), 1);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"pieces.0.complete\": 1}"), 0);
    /* the other one gives no sign of life either, and so the next takes the input back, and reads back what is there */
    box_end_faults(lab->box);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->loaded.limited_by, "another load (waited ");
    assert_says(lab->loaded.limited_by, " for its lease)");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS + 1);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"pieces.0.complete\": 1}"), 1);
    bson_t *entry = box_one(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}");
    assert_true(lab_number(entry, "pieces.0.epoch") >= 3);
    bson_destroy(entry);
}

/* An input that another load works on is waited for, and not read. */
static void finish_other(void *context) {
    lab_t *lab = context;
    box_update(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}",
               "{\"$set\": {\"pieces.0.owner\": null, \"pieces.0.complete\": 1}}");
    lab_other_ends(lab);
}

LAB_TEST(waits_for_another_load, open_rows(lab, BOX_STANDALONE)) {
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_other_load(lab, "1970-01-01T00:00:00.001Z");
    box_update(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}",
               "{\"$set\": {\"pieces.0.owner\": " LAB_OTHER ", \"pieces.0.epoch\": 2}, "
               "\"$unset\": {\"pieces.0.complete\": true}}");
    box_watch(lab->box, "find", "c.tipple.loads", 3, 1, finish_other, lab);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 0, 0, 0, 0);
    assert_says(lab->said, "load of process 7 on elsewhere");
    assert_int_equal(lab->loaded.files_done_by_others, 1);
    assert_says(lab->loaded.limited_by, "another load (waited ");
    assert_says(lab->loaded.limited_by, " until its part");
}

/* --drop is not for a collection that someone loads into. */
LAB_TEST(drop_under_another_load, open_rows(lab, BOX_STANDALONE)) {
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_shorten_lease(lab);
    lab_other_load(lab, "1970-01-01T00:00:00.001Z");
    box_watch(lab->box, "find", "c.tipple.loads", 0, 1000, lab_other_beats, lab);
    lab->load.drop = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c is being loaded (process 7");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS);
    box_end_faults(lab->box); /* no sign of life any more */
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, ROWS, ROWS, 0, 0);
}

/* ---- the server itself ---- */

TEST(servers_that_are_refused) {
    static const struct {
        const char *option, *command, *fields, *words;
    } cases[] = {
        {"", "buildInfo", "{\"version\": \"4.2.0\"}", "is MongoDB 4.2.0; tipple needs 4.4 or newer"},
        {"", "buildInfo", "{\"version\": \"x\"}", "tipple needs"},
        {"", "hello", "{\"readOnly\": true}", "is read-only"},
        {"&replicaSet=other", "hello", "{}", "'other'"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        open_rows(&lab, BOX_REPLICA_SET);
        strcat(lab.uri, cases[i].option);
        box_say(lab.box, cases[i].command, cases[i].fields);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
        assert_says(lab.err.text, cases[i].words);
        lab_close(&lab);
    }
}

/* An old server has no clustered collections: a plain one is made. */
LAB_TEST(old_server, open_rows(lab, BOX_STANDALONE)) {
    box_say(lab->box, "buildInfo", "{\"version\": \"5.0.9\"}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_asked(lab, "create", "c", "{\"clusteredIndex\": {\"$exists\": false}}");
    expect_all(lab);
}

/* With --existing replace the next load waits for messages that may come late, unless this one knows what became of all of
 * its own. */
TEST(replaced_in_doubt) {
    for (int lost = 0; lost < 2; lost++) {
        lab_t lab;
        lab_open(&lab, BOX_REPLICA_SET);
        lab.load.id = "n";
        lab.load.existing = "replace";
        lab_write_rows("a.csv", 0, 30);
        if (lost)
            box_fault(lab.box, &(box_fault_t){.command = "insert", .collection = "c", .does = true});
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(lab.loaded.retries > 0, lost);
        assert_int_equal(box_count(lab.box, LAB_FILES, "{\"_id\": \"catalog\", \"replacing\": null}"), !lost);
        lab_close(&lab);
    }
}
