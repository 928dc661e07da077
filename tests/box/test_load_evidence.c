/* What counts as loaded where replies are lost, hide something, or say something about the server instead of the
 * documents. */
#include "load_lab.h"
#include "test.h"

enum { ROWS = 900, BATCH = 100, HALF = ROWS / 2 };

static void open_rows(lab_t *lab) {
    lab_open(lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, ROWS);
    lab->load.threads = 1;
    lab->load.batch = BATCH;
}

static void on_inserts(lab_t *lab, box_fault_t fault) {
    fault.command = "insert";
    fault.collection = "c";
    box_fault(lab->box, &fault);
}

static void expect_all(lab_t *lab, uint32_t retries) {
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, ROWS, ROWS, 0, 0);
    assert_int_equal(lab->loaded.retries, retries);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), ROWS);
}

/* {n: {$in: [0, step, 2 * step, ...]}} */
static const char *every(int step) {
    static char filter[ROWS * 6];
    size_t length = (size_t)sprintf(filter, "{\"n\": {\"$in\": [0");
    for (int n = step; n < ROWS; n += step)
        length += (size_t)sprintf(filter + length, ", %d", n);
    sprintf(filter + length, "]}}");
    return filter;
}

/* ---- documents of others under the load's _ids ---- */

/* Loads everything, and lets the catalog forget that. */
static void load_unseen(lab_t *lab) {
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    box_update(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}",
               "{\"$set\": {\"pieces\": [{\"from\": 0, \"owner\": null, \"epoch\": 0}]}}");
}

LAB_TEST(lost_replies_and_strangers, open_rows(lab)) {
    char stranger[2][100];
    load_unseen(lab);
    for (int i = 0; i < 2; i++) {
        bson_t *document = box_one(lab->box, LAB_TARGET, i ? "{\"n\": 150}" : "{\"n\": 10}");
        snprintf(stranger[i], sizeof stranger[i], "{\"_id\": {\"$numberLong\": \"%lld\"}, \"theirs\": true}",
                 (long long)lab_number(document, "_id"));
        bson_destroy(document);
    }
    box_delete(lab->box, LAB_TARGET, "{}");
    for (int i = 0; i < 2; i++)
        box_insert(lab->box, LAB_TARGET, stranger[i]);
    on_inserts(lab, (box_fault_t){.does = true});
    on_inserts(lab, (box_fault_t){.does = true, .after = 1, .times = 2});
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, ROWS, ROWS - 2, 0, 2);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"theirs\": true}"), 2);
}

/* What a damaged file had given is not taken for the right one's because a reply was lost. */
LAB_TEST(lost_replies_and_damaged_data, open_rows(lab)) {
    load_unseen(lab);
    box_update(lab->box, LAB_TARGET, "{\"n\": 50}", "{\"$set\": {\"w\": \"damaged\"}}");
    on_inserts(lab, (box_fault_t){.does = true});
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, ROWS, BATCH - 1, ROWS - BATCH, 1); /* those whose reply was lost count as loaded */
    assert_says(lab->said, "another document with its _id");
}

/* Another load makes the collection after this one has looked for it. */
static lab_t other;

static void load_other(void *context) {
    (void)context;
    lab_load(&other, "b.csv");
}

TEST(made_meanwhile) {
    for (int reads = 0; reads < 2; reads++) {
        lab_t lab;
        open_rows(&lab);
        lab_write_rows("b.csv", ROWS, ROWS + 20);
        other = lab;
        box_watch(lab.box, reads ? "find" : "create", reads ? "c.tipple.files" : NULL, 0, 1, load_other,
                  NULL);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(other.err.status, STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), ROWS + 20);
        load_result_free(&other.loaded);
        lab_close(&lab);
    }
}

/* ---- codes ---- */

static void accept_all(void *context) {
    box_refuse(((lab_t *)context)->box, LAB_TARGET, NULL, 0);
}

/* Codes that say something about a router, a shard or nothing known, for all documents of a batch or for some. */
TEST(codes_of_servers) {
    static const int codes[] = {82, 247, 332, 319, 175, 237, 43, 225, 1, 146, 4711};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        for (int step = 1; step < 3; step++) {
            lab_t lab;
            open_rows(&lab);
            box_refuse(lab.box, LAB_TARGET, every(step), codes[i]);
            on_inserts(&lab,
                       (box_fault_t){.after = 1, .only_watches = true, .hook = accept_all, .context = &lab});
            expect_all(&lab, 1);
            lab_close(&lab);
        }
}

/* The same codes as the whole command's, of an insert and of what is read back. */
TEST(commands_that_fail) {
    static const int codes[] = {82, 43, 175, 332, 4711, 2, 121};
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        for (int reads = 0; reads < (i < 3 ? 2 : 1); reads++) {
            lab_t lab;
            char reply[60];
            open_rows(&lab);
            lab.load.limit = HALF;
            assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
            lab.load.limit = UINT64_MAX;
            sprintf(reply, "{\"ok\": 0, \"code\": %d, \"errmsg\": \"words\"}", codes[i]);
            box_fault(lab.box, &(box_fault_t){.command = reads ? "find" : "insert",
                                              .collection = "c",
                                              .times = 2,
                                              .reply = reply});
            assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
            assert_counts(&lab, ROWS, HALF, HALF, 0);
            lab_close(&lab);
        }
}

/* A write error that ends the load: what the same reply acknowledges is counted. */
LAB_TEST(counted_where_it_ends, open_rows(lab)) {
    box_refuse(lab->box, LAB_TARGET, "{\"n\": {\"$in\": [403, 407]}}", 13);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SERVER);
    assert_counts(lab, 498, 498, 0, 0);
    assert_says(lab->err.text, "Document failed validation");
}

/* A value that a unique index has already makes a reject. An index that is built last is not built then. */
TEST(unique_index) {
    static char *indexes[] = {"w:1;unique"};
    for (int first = 0; first < 2; first++) {
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab_write("a.csv", "n,w\n1,a\n2,a\n3,b\n");
        lab_write("b.csv", "n,w\n9,z\n");
        lab.load.indexes = indexes;
        lab.load.index_count = 1;
        lab.load.max_rejects_percent = 50;
        if (first)
            assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_OK);
        assert_status(&lab, lab_load(&lab, "a.csv"), first ? STATUS_SOME_REJECTED : STATUS_SERVER);
        assert_says(first ? lab.said : lab.err.text, "E11000 duplicate key error collection: d.c index: w_1");
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 3);
        lab_close(&lab);
    }
}

/* Documents that the server refuses count like other rejects. Their records fit the format, so no sentence says that
 * the first 100 records were all rejected. */
LAB_TEST(many_refused, open_rows(lab)) {
    lab->load.max_rejects = 200;
    box_refuse(lab->box, LAB_TARGET, every(1), 121);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_TOO_MANY_REJECTED);
    assert_says(lab->err.text, "--max-rejects 200 allows");
    assert_int_equal(lab->loaded.counts.of[FATE_LOADED], box_count(lab->box, LAB_TARGET, NULL));
    lab->load.max_rejects_percent = 50;
    box_refuse(lab->box, LAB_TARGET, every(5), 121);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, ROWS, ROWS / 5 * 4, 0, ROWS / 5);
}

/* ---- replies that hide something ---- */

/* Duplicates only, after a write concern error: nothing counts that is not read back. */
LAB_TEST(hidden_concern, open_rows(lab)) {
    static char duplicates[BATCH * 70];
    size_t length = (size_t)sprintf(duplicates, "{\"ok\": 1, \"n\": 0, \"writeErrors\": [");
    for (int i = 0; i < BATCH; i++)
        length += (size_t)sprintf(duplicates + length,
                                  "%s{\"index\": %d, \"code\": 11000, \"keyPattern\": {\"_id\": 1}}",
                                  i ? ", " : "", i);
    sprintf(duplicates + length, "]}");
    on_inserts(lab, (box_fault_t){.reply = "{\"ok\": 1, \"n\": 100, \"writeConcernError\": {\"code\": 64, "
                                           "\"errmsg\": \"waiting for replication timed out\"}}"});
    on_inserts(lab, (box_fault_t){.reply = duplicates, .times = 2});
    expect_all(lab, 3);
}

/* A count that is too small: the whole batch is looked for, and nothing counted twice. */
LAB_TEST(does_not_add_up, open_rows(lab)) {
    on_inserts(lab, (box_fault_t){.does = true, .reply = "{\"n\": 99}", .after = 1});
    on_inserts(lab, (box_fault_t){.does = true, .reply = "{\"n\": 99}", .after = 4});
    expect_all(lab, 2);
}

/* The driver would end the process over a cursor without a name. */
LAB_TEST(no_cursor, open_rows(lab)) {
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    box_fault(lab->box, &(box_fault_t){.command = "find",
                                       .collection = "c",
                                       .times = 100,
                                       .reply = "{\"ok\": 1, \"cursor\": {\"id\": 0, \"firstBatch\": []}}"});
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_SERVER);
    assert_says(lab->err.text, "has no cursor");
}
