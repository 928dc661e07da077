/* Loads that replace documents work one at a time. Another load has left something in the catalog, or changes the
 * catalog while this load looks for others. */
#include "load_lab.h"
#include "test.h"

#define IS_BEING_LOADED "d.c is being loaded (process 7 on elsewhere)"
#define INHERITS        "failed while it replaced"
#define HELD            "{\"replacing\": " LAB_OTHER "}"

/* A collection whose documents are replaced. */
static void open_rows(lab_t *lab) {
    lab_open(lab, BOX_STANDALONE);
    lab->load.id = "n";
    lab->load.existing = "replace";
    lab_write("a.csv", "n,w\n1,a\n2,b\nx\n3,c\ny\n4,d\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(rename("c.rejects", "kept.rejects"), 0);
    lab_write("b.csv", "n,w\n2,z\n");
    lab_shorten_lease(lab);
}

static void hold(void *context) {
    box_update(((lab_t *)context)->box, LAB_FILES, "{\"_id\": \"catalog\"}", "{\"$set\": " HELD "}");
}

static bool is_held(lab_t *lab) {
    return box_count(lab->box, LAB_FILES, HELD) == 1;
}

static void expect(lab_t *lab, status_t status, const char *words) {
    assert_status(lab, lab_load(lab, "b.csv"), status);
    assert_says(status == STATUS_OK ? lab->said : lab->err.text, words);
    assert_true(status != STATUS_OK || !strstr(lab->said, INHERITS) == !*words);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"_id\": 2, \"w\": \"z\"}"), status == STATUS_OK);
}

TEST(others) {
    static const struct {
        bool there, held, ended, beats;
        const char *words;
    } cases[] = {
        {.words = ""},
        {.there = true, .words = ""}, /* dead, and it replaced nothing */
        {.there = true, .held = true, .words = INHERITS},
        {.there = true, .held = true, .ended = true, .words = INHERITS},
        {.held = true, .words = INHERITS}, /* the document of that load was removed */
        {.there = true, .beats = true, .words = IS_BEING_LOADED},
        {.there = true, .held = true, .beats = true, .words = IS_BEING_LOADED},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        open_rows(&lab);
        if (cases[i].there)
            lab_other_load(&lab, "1970-01-01T00:00:00.001Z");
        if (cases[i].held)
            hold(&lab);
        if (cases[i].ended)
            lab_other_ends(&lab);
        if (cases[i].beats)
            box_watch(lab.box, "find", "c.tipple.loads", 0, 1000, lab_other_beats, &lab);
        expect(&lab, cases[i].beats ? STATUS_USAGE : STATUS_OK, cases[i].words);
        assert_true(is_held(&lab) == (cases[i].held && cases[i].beats));
        if (!cases[i].beats) { /* the next load takes nobody's place */
            lab_write("b.csv", "n,w\n2,z\n9,e\n");
            expect(&lab, STATUS_OK, "");
        }
        lab_close(&lab);
    }
}

/* A load that began at the same time lives on for a moment, until it is refused. One that has loaded documents is no such load:
 * this one is refused at once, however long the lease. */
static void beat_and_end(void *context) {
    static int finds;
    lab_other_beats(context);
    if (++finds == 8)
        lab_other_ends(context);
}

TEST(begun_together) {
    for (int loaded = 0; loaded < 2; loaded++) {
        lab_t lab;
        open_rows(&lab);
        lab_other_load(&lab, "1970-01-01T00:00:00.001Z");
        box_update(lab.box, LAB_FILES, "{\"_id\": \"catalog\"}", "{\"$set\": {\"leaseMs\": 3600000}}");
        if (loaded)
            box_update(lab.box, LAB_LOADS, "{\"host\": \"elsewhere\"}", "{\"$set\": {\"documents\": 1}}");
        box_watch(lab.box, "find", "c.tipple.loads", 0, 1000, loaded ? lab_other_beats : beat_and_end, &lab);
        expect(&lab, loaded ? STATUS_USAGE : STATUS_OK, loaded ? IS_BEING_LOADED : "");
        lab_close(&lab);
    }
}

/* A retry replaces nothing: it waits for a load that does, and leaves the catalog's header to that load. */
TEST(retry) {
    for (int beats = 0; beats < 2; beats++) {
        lab_t lab;
        open_rows(&lab);
        lab_other_load(&lab, "1970-01-01T00:00:00.001Z");
        hold(&lab);
        if (beats)
            box_watch(lab.box, "find", "c.tipple.loads", 0, 1000, lab_other_beats, &lab);
        assert_status(&lab, lab_retry(&lab, "kept.rejects"), beats ? STATUS_USAGE : STATUS_SOME_REJECTED);
        assert_true(is_held(&lab));
        lab_close(&lab);
    }
}

/* ---- what others do meanwhile ---- */

static void come(void *context) {
    lab_other_load(context, "1970-01-01T00:00:00.001Z");
}

static void come_and_beat(void *context) {
    if (!box_count(((lab_t *)context)->box, LAB_LOADS, "{\"_id\": " LAB_OTHER "}"))
        come(context);
    lab_other_beats(context);
}

/* Another load comes while this one waits for the end of a dead one: one that dies is waited for, too. Who is refused gives the
 * header back. */
TEST(another_comes) {
    static const struct {
        void (*hook)(void *);
        uint32_t times;
        status_t status;
        const char *words, *header; /* before and after */
    } cases[] = {
        {come, 1, STATUS_OK, "", "null"},
        {come_and_beat, 1000, STATUS_USAGE, IS_BEING_LOADED, "{\"$oid\": \"64a000000000000000000002\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        char change[100], filter[100];
        open_rows(&lab);
        box_insert(lab.box, LAB_LOADS, "{\"_id\": {\"$oid\": \"64a000000000000000000002\"}, \"beat\": 9}");
        snprintf(change, sizeof change, "{\"$set\": {\"replacing\": %s}}", cases[i].header);
        snprintf(filter, sizeof filter, "{\"_id\": \"catalog\", \"replacing\": %s}", cases[i].header);
        box_update(lab.box, LAB_FILES, "{\"_id\": \"catalog\"}", change);
        box_watch(lab.box, "find", "c.tipple.loads", 3, cases[i].times, cases[i].hook, &lab);
        expect(&lab, cases[i].status, cases[i].words);
        assert_int_equal(box_count(lab.box, LAB_FILES, filter), 1);
        lab_close(&lab);
    }
}

/* Between reading and changing the header another load changes it, or the catalog is removed. */
static void (*faster)(void *context);

static void be_faster(void *context) {
    lab_t *lab = context;
    if (faster && box_last_was(lab->box, "update", "c.tipple.files",
                               "{\"updates.u.$set.replacing\": {\"$exists\": true}}")) {
        faster(lab);
        faster = NULL;
    }
}

static void remove_catalog(void *context) {
    box_delete(((lab_t *)context)->box, LAB_FILES, "{}");
}

TEST(another_is_faster) {
    static const struct {
        void (*faster)(void *);
        bool beats;
        status_t status;
        const char *words;
    } cases[] = {
        {hold, false, STATUS_OK, INHERITS},
        {hold, true, STATUS_USAGE, IS_BEING_LOADED},
        {remove_catalog, false, STATUS_SERVER, "the catalog of d.c"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        open_rows(&lab);
        come(&lab);
        faster = cases[i].faster;
        box_watch(lab.box, "update", "c.tipple.files", 0, 1000, be_faster, &lab);
        if (cases[i].beats)
            box_watch(lab.box, "find", "c.tipple.loads", 0, 1000, lab_other_beats, &lab);
        expect(&lab, cases[i].status, cases[i].words);
        assert_null(faster);
        lab_close(&lab);
    }
}

/* Who has the header when this load ends keeps it. */
LAB_TEST(end, open_rows(lab)) {
    box_watch(lab->box, "update", "c", 0, 1, hold, lab);
    expect(lab, STATUS_OK, "");
    assert_true(is_held(lab));
}

/* No message holds two records of one `_id`: the batch ends before the second one. */
LAB_TEST(one_id_twice, open_rows(lab)) {
    lab_write("c.csv", "n,w\n7,a\n8,b\n7,c\n7,d\n8,e\n9,f\n7,g\n");
    assert_status(lab, lab_load(lab, "c.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.batches, 4);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"_id\": 7, \"w\": \"g\"}"), 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"_id\": 8, \"w\": \"e\"}"), 1);
    lab_write_rows("d.csv", 100, 2100);
    assert_status(lab, lab_load(lab, "d.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.batches, 2);
}
