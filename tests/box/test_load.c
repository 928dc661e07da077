/* Loads from their first look to their end, into a server of this process. */
#include "input/cutter.h"
#include "load_lab.h"
#include "test.h"

#include <fcntl.h>

/* ---- once, and again ---- */

TEST(loads_once) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 3000);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 3000, 3000, 0, 0);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 3000);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 77, \"w\": \"w77\"}"), 1);
    assert_int_equal(box_count(lab.box, LAB_FILES, "{\"path\": \"a.csv\", \"pieces.0.complete\": 1}"), 1);
    assert_int_equal(box_count(lab.box, LAB_FILES, "{\"_id\": \"catalog\", \"format\": \"rows\"}"), 1);
    assert_int_equal(
        box_count(lab.box, LAB_LOADS, "{\"status\": 0, \"loaded\": 3000, \"ended\": {\"$exists\": true}}"),
        1);
    /* the same again: nothing is sent */
    const size_t inserts = box_asked(lab.box, "insert", "c");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 0, 0, 0, 0);
    assert_int_equal(lab.loaded.files_skipped, 1);
    assert_int_equal(lab.loaded.records_skipped, 3000);
    assert_int_equal(box_asked(lab.box, "insert", "c"), inserts);
    lab_write_rows("b.csv", 3000, 3100);
    assert_status(&lab, lab_load(&lab, "b.csv", "a.csv"), STATUS_OK);
    assert_counts(&lab, 100, 100, 0, 0);
    lab_close(&lab);
}

/* Small files by the dozen: each has its own entry, with its own counts, whatever they are written down with. */
TEST(many_files) {
    enum { FILES = 40 };
    lab_t lab;
    char *names[FILES + 1] = {NULL}, name[24];
    lab_open(&lab, BOX_REPLICA_SET);
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%02d.csv", i);
        names[i] = strdup(name);
        lab_write_rows(name, 100 * i, 100 * i + i);
    }
    assert_status(&lab, lab_load_all(&lab, names), STATUS_OK);
    assert_counts(&lab, FILES * (FILES - 1) / 2, FILES * (FILES - 1) / 2, 0, 0);
    for (int i = 0; i < FILES; i++) {
        char filter[100];
        snprintf(filter, sizeof filter, "{\"path\": \"%s\"}", names[i]);
        bson_t *entry = box_one(lab.box, LAB_FILES, filter);
        assert_int_equal(lab_number(entry, "pieces.0.complete"), 1);
        assert_true(lab_number(entry, "versions.0.completed") > 0);
        if (i)
            assert_int_equal(lab_number(entry, "pieces.0.tail.loaded"), i);
        bson_destroy(entry);
    }
    assert_status(&lab, lab_load_all(&lab, names), STATUS_OK);
    assert_counts(&lab, 0, 0, 0, 0);
    for (int i = 0; i < FILES; i++)
        free(names[i]);
    lab_close(&lab);
}

/* On a replica set a majority has every write, in its journal; on a standalone one journaled write proves those before. */
TEST(write_concerns) {
    static const struct {
        box_kind_t kind;
        const char *insert, *catalog;
    } cases[] = {
        {BOX_STANDALONE, "{\"writeConcern.w\": 1, \"writeConcern.j\": {\"$exists\": false}}",
         "{\"writeConcern.w\": 1, \"writeConcern.j\": true}"},
        {BOX_REPLICA_SET, "{\"writeConcern.w\": \"majority\", \"writeConcern.j\": true}",
         "{\"writeConcern.w\": \"majority\", \"writeConcern.j\": true}"},
    };
    for (size_t i = 0; i < 2; i++) {
        lab_t lab;
        lab_open(&lab, cases[i].kind);
        lab_write_rows("a.csv", 0, 10);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_asked(&lab, "insert", "c", cases[i].insert);
        assert_asked(&lab, "update", "c.tipple.files", cases[i].catalog);
        lab_close(&lab);
    }
}

/* What was sent and not written down is read back, and only what is missing is sent. */
TEST(goes_on) {
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 500);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    lab_forget_progress(&lab, "a.csv");
    box_delete(lab.box, LAB_TARGET, "{\"n\": {\"$gte\": 400}}");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 500, 100, 400, 0);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 500);
    lab_close(&lab);
}

/* A document of somebody else at a record's place is never replaced: the record is a reject. */
TEST(place_is_taken) {
    for (int begun = 0; begun < 2; begun++) {
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab_write_rows("a.csv", 0, 50);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        bson_t *document = box_one(lab.box, LAB_TARGET, "{\"n\": 7}");
        const long long id = lab_number(document, "_id");
        bson_destroy(document);
        box_update(lab.box, LAB_TARGET, "{\"n\": 7}", "{\"$set\": {\"w\": \"mine\"}}");
        if (begun) {
            lab_forget_progress(&lab, "a.csv");
        } else { /* as new: its documents are met by the insert */
            box_update(lab.box, LAB_FILES, "{\"path\": \"a.csv\"}",
                       "{\"$set\": {\"pieces\": [{\"from\": 0, \"owner\": null, \"epoch\": 0}]}}");
            box_delete(lab.box, LAB_TARGET, "{\"n\": {\"$gte\": 40}}");
        }
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
        assert_counts(&lab, 50, begun ? 0 : 10, begun ? 49 : 39, 1);
        char words[200];
        snprintf(words, sizeof words, "another document with its _id (%lld) is in the collection", id);
        assert_says(lab.said, words);
        assert_says(lab.said, "rejected a.csv:9:1");
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"w\": \"mine\"}"), 1);
        lab_close(&lab);
    }
}

/* ---- rejects ---- */

TEST(rejects) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write("a.csv", "n,w\n1,a\nx\n2,b\n3,c,d\n");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(&lab, 4, 2, 0, 2);
    assert_says(lab.said, "rejected a.csv:3:2 (offset 8): it has 1 field");
    char *kept = lab_read("c.rejects");
    assert_says(kept, "offset=8 line=3 length=1");
    assert_says(kept, "\nx\n");
    assert_says(kept, "\n3,c,d\n");
    /* a second load neither reads nor counts them again, and says that they are open */
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(&lab, 0, 0, 0, 0);
    assert_int_equal(lab.loaded.open_rejects, 2);
    assert_string_equal(lab.loaded.open_rejects_text, "a.csv 2");
    char *after = lab_read("c.rejects");
    assert_string_equal(kept, after);
    free(kept);
    free(after);
    lab_close(&lab);
}

TEST(too_many_rejects) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write("a.csv", "n,w\n1,a\nx\ny\nz\n2,b\n");
    assert_int_equal(lab.load.max_rejects, 1000);
    lab.load.max_rejects = 2;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_TOO_MANY_REJECTED);
    lab.load.max_rejects_percent = 50;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_TOO_MANY_REJECTED);
    lab.load.max_rejects_percent = 100;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(lab.loaded.open_rejects, 3);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 2);
    lab_close(&lab);
}

/* A document that the server refuses is a reject; what comes after it is loaded all the same. */
TEST(refused_by_the_server) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 1500);
    box_refuse(lab.box, LAB_TARGET, "{\"n\": {\"$in\": [5, 1200]}}", 121);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(&lab, 1500, 1498, 0, 2);
    assert_says(lab.said, "Document failed validation");
    lab_close(&lab);
}

/* An error that no rule knows ends the load. */
TEST(unknown_write_error) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 20);
    box_refuse(lab.box, LAB_TARGET, "{\"n\": 5}", 4242);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SERVER);
    assert_says(lab.err.text, "4242");
    lab_close(&lab);
}

/* ---- only a part ---- */

TEST(filter) {
    static char *filters[] = {"n>=90"};
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 100);
    lab.load.filters = filters;
    lab.load.filter_count = 1;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 100, 10, 0, 0);
    assert_int_equal(lab.loaded.counts.filtered, 90);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": {\"$lt\": 90}}"), 0);
    lab.load.filter_count = 0;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "d.c was loaded with --filter 'n>=90'");
    lab.load.filter_count = 1;
    filters[0] = "n>=80";
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "d.c was loaded with --filter 'n>=90', not 'n>=80'");
    filters[0] = "n >= 90"; /* the same, written otherwise */
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    lab_close(&lab);
}

/* No document is sent, and all the same the collection is bound to the filter: what it has left out would never be loaded. */
TEST(filter_leaves_nothing) {
    static char *filters[] = {"n>=100"};
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 100);
    lab.load.filters = filters;
    lab.load.filter_count = 1;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab.loaded.counts.filtered, 100);
    lab.load.filter_count = 0;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "--filter");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 0);
    lab_close(&lab);
}

TEST(limit) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 100);
    lab.load.limit = 30;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 30, 30, 0, 0);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": {\"$gte\": 30}}"), 0);
    lab.load.limit = UINT64_MAX;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 100, 70, 30, 0);
    lab_close(&lab);
}

TEST(dry_run) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write("a.csv", "n,w\n1,a\nx\n2,b\n");
    lab.load.dry_run = true;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(lab.loaded.counts.read, 3);
    assert_int_equal(lab.loaded.counts.rejected, 1);
    static const char *const writes[] = {"insert", "update", "create", "createIndexes", "delete"};
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        assert_int_equal(box_asked(lab.box, writes[i], "c") +
                             box_asked(lab.box, writes[i], "c.tipple.files") +
                             box_asked(lab.box, writes[i], "c.tipple.loads"),
                         0);
    assert_int_not_equal(access("c.rejects", F_OK), 0);
    lab_close(&lab);
}

/* ---- inputs that change ---- */

/* Of a file that has grown only the rest is loaded; a last record that was cut off is corrected. */
TEST(grown) {
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    lab_write("a.csv", "n,w\n1,a\n2,b\n3,whole wo");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"w\": \"whole wo\"}"), 1);
    lab_write("a.csv", "n,w\n1,a\n2,b\n3,whole word\n4,d\n");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab.loaded.counts.corrected, 1);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 4);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 3, \"w\": \"whole word\"}"), 1);
    assert_int_equal(box_count(lab.box, LAB_FILES, "{\"path\": \"a.csv\", \"version\": 2}"), 1);
    assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
    lab_close(&lab);
}

static char key_of_grown[512];

static void register_an_equal_one(void *context) {
    lab_t *lab = context;
    char change[600];
    snprintf(change, sizeof change, "{\"$set\": {\"key\": \"%s\"}}", key_of_grown);
    box_update(lab->box, LAB_FILES, "{\"path\": \"b.csv\"}", change);
}

/* Another load registers a file of the name and content that this one has grown to, in between: it is told to look again. */
TEST(grown_to_what_another_registers) {
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 20);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    bson_t *entry = box_one(lab.box, LAB_FILES, "{\"path\": \"a.csv\"}");
    bson_iter_t key;
    assert_true(bson_iter_init_find(&key, entry, "key"));
    snprintf(key_of_grown, sizeof key_of_grown, "%s", bson_iter_utf8(&key, NULL));
    bson_destroy(entry);
    lab_close(&lab);

    lab_open(&lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 10);
    lab_write_rows("b.csv", 100, 105);
    assert_status(&lab, lab_load(&lab, "a.csv", "b.csv"), STATUS_OK);
    lab_write_rows("a.csv", 0, 20);
    box_fault(lab.box, &(box_fault_t){.command = "update",
                                      .collection = "c.tipple.files",
                                      .only_watches = true,
                                      .hook = register_an_equal_one,
                                      .context = &lab});
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SERVER);
    assert_says(lab.err.text, "another load has registered");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 15);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 25);
    lab_close(&lab);
}

/* The input grows to 15 rows, and another load loads them. */
static void grow_and_load(void *context) {
    lab_t *lab = context;
    char *inputs[] = {"a.csv"};
    load_spec_t other = lab->load;
    load_result_t result;
    err_t err;
    other.inputs = inputs;
    other.rejects = "other.rejects";
    other.reload_changed = false;
    lab_write_rows("a.csv", 0, 15);
    if (!load_run(&other, &result, &err))
        fail_msg("the other load: %s", err.text);
    load_result_free(&result);
}

/* What this load has seen lies between two versions of the catalog, or is one that another load had as another file's: the input
 * has only grown. command: before which of this load's commands that happens. */
static void see_growth(const char *command, int rows, bool reload) {
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 10);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    lab_shorten_lease(&lab);
    lab_write_rows("a.csv", 0, rows);
    assert_int_equal(utimensat(AT_FDCWD, "a.csv", (struct timespec[]){{.tv_sec = 1}, {.tv_sec = 1}}, 0), 0);
    box_fault(lab.box, &(box_fault_t){.command = command,
                                      .collection = "c.tipple.files",
                                      .only_watches = true,
                                      .hook = grow_and_load,
                                      .context = &lab});
    lab.load.reload_changed = reload;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_INPUT);
    assert_says(lab.err.text, "has grown");
    assert_says(lab.err.text, "the same command");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 15);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 0, 0, 0, 0);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 15);
    lab_close(&lab);
}

TEST(grown_meanwhile) {
    for (int reload = 0; reload < 2; reload++) {
        see_growth("find", 12, reload);   /* this load reads the catalog after that, */
        see_growth("find", 10, reload);   /* as an earlier version, */
        see_growth("update", 12, reload); /* or it is about to take the input */
    }
}

static void forget_b(void *context) {
    const lab_t *lab = context;
    char *inputs[] = {"b.csv"};
    const forget_spec_t spec = {.uri = lab->uri,
                                .inputs = inputs,
                                .input_count = 1,
                                .documents = true,
                                .patience_ns = lab->load.patience_ns};
    forgotten_t forgotten = {.name = NULL};
    err_t err;
    if (!forget_run(&spec, &forgotten, &err))
        fail_msg("the forget: %s", err.text);
    free(forgotten.name);
}

/* A load finishes a removal that was killed, which takes a lease. Meanwhile another command removes the load's own input, of
 * which everything was done: it is loaded again. */
TEST(removed_while_another_removal_is_finished) {
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 10);
    lab_write_rows("b.csv", 100, 120);
    assert_status(&lab, lab_load(&lab, "a.csv", "b.csv"), STATUS_OK);
    lab_shorten_lease(&lab);
    assert_status(&lab, lab_forget(&lab, true, "a.csv"), STATUS_OK);
    box_update(lab.box, LAB_FILES, "{\"path\": \"a.csv\"}", "{\"$set\": {\"remains\": true}}");
    box_fault(
        lab.box,
        &(box_fault_t){
            .command = "delete", .collection = "c", .only_watches = true, .hook = forget_b, .context = &lab});
    assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_OK);
    assert_int_equal(box_count(lab.box, LAB_FILES, "{\"path\": \"b.csv\", \"removed\": true}"), 1);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 20);
    lab_close(&lab);
}

/* However often an input grows, its entry has a bound: the oldest versions are dropped, and count as changes from then on. */
TEST(very_often_grown) {
    enum { TIMES = 106, KEPT = 100 };
    struct timespec times[TIMES];
    struct stat now;
    bool more = true;
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    for (int i = 0; i < TIMES; i++) {
        lab_write_rows("a.csv", 0, 3 + i);
        if (i % 3) { /* the last record is cut off */
            assert_int_equal(stat("a.csv", &now), 0);
            assert_int_equal(truncate("a.csv", now.st_size - 1), 0);
        }
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(stat("a.csv", &now), 0);
        times[i] = now.st_mtim;
    }
    assert_int_equal(box_count(lab.box, LAB_FILES, "{\"path\": \"a.csv\", \"version\": 106}"), 1);
    assert_int_equal(
        box_count(lab.box, LAB_FILES, "{\"path\": \"a.csv\", \"versions.99\": {\"$exists\": true}}"), 1);
    assert_int_equal(
        box_count(lab.box, LAB_FILES, "{\"path\": \"a.csv\", \"versions.100\": {\"$exists\": true}}"), 0);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 2 + TIMES);
    assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
    lab_shorten_lease(&lab);
    for (int back = 90; more; back = 3) { /* both with a whole last record */
        more = back == 90;
        lab_write_rows("a.csv", 0, 3 + back);
        assert_int_equal(utimensat(AT_FDCWD, "a.csv", (struct timespec[]){times[back], times[back]}, 0), 0);
        assert_status(&lab, lab_load(&lab, "a.csv"), more ? STATUS_OK : STATUS_INPUT);
        assert_counts(&lab, 0, 0, 0, 0);
    }
    assert_says(lab.err.text, "a.csv has changed");
    lab_close(&lab);
}

/* The cut off record is a reject, or filtered, when it is whole: what its beginning made is taken away. */
TEST(grown_into_a_reject) {
    static char *filters[] = {"n!=3000"};
    for (int filtered = 0; filtered < 2; filtered++) {
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab.load.filters = filters;
        lab.load.filter_count = 1;
        lab_write("a.csv", filtered ? "w,n\na,1\nb,3" : "n,w\n1,a\n3,b");
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 2);
        lab_write("a.csv", filtered ? "w,n\na,1\nb,3000\n" : "n,w\n1,a\n3,b,c\n");
        assert_status(&lab, lab_load(&lab, "a.csv"), filtered ? STATUS_OK : STATUS_SOME_REJECTED);
        assert_int_equal(lab.loaded.counts.filtered, filtered);
        assert_int_equal(lab.loaded.counts.rejected, !filtered);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 1);
        lab_close(&lab);
    }
}

/* A person has changed the document of the cut off record: it is his. */
TEST(grown_under_a_stranger) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write("a.csv", "n,w\n1,a\n2,b");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    box_update(lab.box, LAB_TARGET, "{\"n\": 2}", "{\"$set\": {\"w\": \"mine\"}}");
    lab_write("a.csv", "n,w\n1,a\n2,better\n");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_says(lab.said, "another document");
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 2, \"w\": \"mine\"}"), 1);
    lab_close(&lab);
}

TEST(changed) {
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    lab_shorten_lease(&lab);
    lab_write_rows("a.csv", 100, 120);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_INPUT);
    assert_says(lab.err.text, "a.csv");
    assert_says(lab.err.text, "--reload-changed");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 30);
    lab.load.reload_changed = true;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_says(lab.said, "a.csv has changed");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 20);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": {\"$gte\": 100}}"), 20);
    assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
    lab_close(&lab);
}

/* With --reload-missing what has grown is first loaded to its end, and then read from its beginning: each record counts once. */
TEST(missing_of_a_grown_one) {
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    lab_write_rows("a.csv", 0, 42);
    box_delete(lab.box, LAB_TARGET, "{\"n\": 7}");
    lab.load.reload_missing = true;
    for (int turn = 0; turn < 2; turn++) {
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_counts(&lab, 42, turn ? 0 : 13, turn ? 42 : 29, 0);
        assert_int_equal(lab.loaded.records_skipped, 0);
    }
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 42);
    lab_close(&lab);
}

static int deletes;

static void see_tombstones(void *context) {
    lab_t *lab = context;
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"removed\": true}"), 5);
    deletes++;
}

/* All are out of the catalog before the first document is removed: one lease is waited for all of them. */
TEST(several_changed) {
    static const char *const names[] = {"a.csv", "b.csv", "c.csv", "d.csv", "e.csv"};
    lab_t lab;
    lab_open(&lab, BOX_REPLICA_SET);
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 5; i++)
            lab_write_rows(names[i], 100 * i, 100 * i + 30 - turn);
        if (turn)
            lab_shorten_lease(&lab);
        if (turn)
            box_fault(lab.box, &(box_fault_t){.command = "delete",
                                              .collection = "c",
                                              .after = 1, /* which only asks whether it may */
                                              .times = 1000,
                                              .only_watches = true,
                                              .hook = see_tombstones,
                                              .context = &lab});
        lab.load.reload_changed = turn;
        assert_status(&lab, lab_load(&lab, "a.csv", "b.csv", "c.csv", "d.csv", "e.csv"), STATUS_OK);
    }
    assert_true(deletes >= 5);
    assert_says(lab.said, "c.csv has changed");
    assert_says(lab.said, "... and 2 more changed files, in the same ");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 5 * 29);
    assert_status(&lab, lab_verify(&lab, "a.csv", "b.csv", "c.csv", "d.csv", "e.csv"), STATUS_OK);
    lab_close(&lab);
}

/* The same size and time, and other content: a load that was begun before meets it while it reads back. */
static void open_changed_under_a_begun_load(lab_t *lab) {
    lab_open(lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_shorten_lease(lab);
    lab_forget_progress(lab, "a.csv");
    box_update(lab->box, LAB_TARGET, "{\"n\": 9}",
               "{\"$set\": {\"w\": \"as it was in an earlier content\"}}");
    lab->load.reload_changed = true;
}

TEST(changed_under_a_begun_load) {
    lab_t lab;
    open_changed_under_a_begun_load(&lab);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 30);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 9, \"w\": \"w9\"}"), 1);
    lab_close(&lab);
}

/* Who may not remove is told so once: to begin anew would meet the same content again, without an end. */
TEST(changed_and_not_removable) {
    lab_t lab;
    open_changed_under_a_begun_load(&lab);
    box_fault(lab.box, &(box_fault_t){.command = "delete",
                                      .collection = "c",
                                      .times = 2,
                                      .reply = "{\"ok\": 0, \"code\": 13, \"errmsg\": \"not authorized\"}"});
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "not authorized");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 30);
    lab_close(&lab);
}

TEST(moved_and_copied) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    mkdir("other", 0700);
    assert_int_equal(rename("a.csv", "other/a.csv"), 0);
    assert_status(&lab, lab_load(&lab, "other/a.csv"), STATUS_OK);
    assert_counts(&lab, 0, 0, 0, 0);
    assert_says(lab.said, "a.csv (same size and content)");
    /* it has both now, as two files of one content */
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv", "other/a.csv"), STATUS_OK);
    assert_counts(&lab, 30, 30, 0, 0);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 7}"), 2);
    /* both have grown since: a copy of their first content is a file of its own */
    mkdir("third", 0700);
    lab_write_rows("third/a.csv", 0, 30);
    lab_write_rows("a.csv", 0, 40);
    lab_write_rows("other/a.csv", 0, 50);
    assert_status(&lab, lab_load(&lab, "third/a.csv"), STATUS_OK);
    assert_counts(&lab, 30, 30, 0, 0);
    lab_close(&lab);
}

/* ---- inputs of other kinds ---- */

static void load_from_pipe(lab_t *lab, const char *text, status_t expected) {
    int ends[2];
    const int saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], text, strlen(text)), (ssize_t)strlen(text));
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    assert_status(lab, lab_load(lab, "-"), expected);
    dup2(saved, STDIN_FILENO);
    close(saved);
}

static void load_from_file(lab_t *lab, const char *name, status_t expected) {
    const int saved = dup(STDIN_FILENO), file = open(name, O_RDONLY);
    assert_true(file >= 0);
    dup2(file, STDIN_FILENO);
    close(file);
    lab->load.input_name = "wide";
    assert_status(lab, lab_load(lab, "-"), expected);
    dup2(saved, STDIN_FILENO);
    close(saved);
}

/* A stream that comes again under its name is known; another one under that name is refused; one that was not read to
 * its end goes on. */
TEST(stream) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab.load.input_name = "feed";
    load_from_pipe(&lab, "n,w\n1,a\n2,b\n", STATUS_OK);
    assert_counts(&lab, 2, 2, 0, 0);
    load_from_pipe(&lab, "n,w\n1,a\n2,b\n", STATUS_OK);
    assert_int_equal(lab.loaded.records_skipped, 2);
    load_from_pipe(&lab, "n,w\n7,a\n8,b\n9,c\n", STATUS_INPUT);
    assert_says(lab.err.text, "--input-name feed: another stream");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 2);
    lab.load.input_name = "more";
    lab.load.limit = 1;
    load_from_pipe(&lab, "n,w\n11,a\n12,b\n", STATUS_OK);
    lab.load.limit = UINT64_MAX;
    load_from_pipe(&lab, "n,w\n11,a\n12,b\n13,c\n", STATUS_OK);
    assert_counts(&lab, 3, 2, 1, 0);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 5);
    lab_close(&lab);
}

/* The same where the first load was killed: what is there of it is compared. */
TEST(stream_begun_before) {
    static const struct {
        const char *text, *words;
    } others[] = {{"n,w\n1,a\n2,x\n3,c\n", "the old one at byte 8"},
                  {"n,w\n1,a\n", "ends at byte 8"},
                  {"n,w\n1,a\n2,b,\n", "where the new one"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab.load.input_name = "feed";
        load_from_pipe(&lab, "n,w\n1,a\n2,b\n3,c\n", STATUS_OK);
        lab_forget_progress(&lab, "feed");
        load_from_pipe(&lab, others[i].text, STATUS_INPUT);
        if (i < 2)
            assert_says(lab.err.text, others[i].words);
        assert_says(lab.err.text, "--input-name feed: another stream");
        load_from_pipe(&lab, "n,w\n1,a\n2,b\n3,c\n4,d\n", STATUS_OK);
        assert_int_equal(lab.loaded.counts.already_there, 3);
        assert_int_equal(lab.loaded.counts.loaded, 1);
        lab_close(&lab);
    }
}

TEST(compressed) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 3000);
    assert_int_equal(system("gzip -nf a.csv && mv a.csv.gz packed.csv"), 0);
    assert_status(&lab, lab_load(&lab, "packed.csv"), STATUS_OK);
    assert_counts(&lab, 3000, 3000, 0, 0);
    lab_forget_progress(&lab, "packed.csv");
    box_delete(lab.box, LAB_TARGET, "{\"n\": 2999}");
    assert_status(&lab, lab_load(&lab, "packed.csv"), STATUS_OK);
    assert_counts(&lab, 3000, 1, 2999, 0);
    lab_close(&lab);
}

/* ---- a load that ended in the middle of an input ---- */

enum { WIDE = 4000 }; /* rows: some blocks of 256 KiB */

static void begin_wide(lab_t *lab, char *input, bool stream) {
    lab_open(lab, BOX_REPLICA_SET);
    lab->load.threads = 1;
    lab->load.batch = 300;
    lab_write_wide_rows("wide.csv", 0, WIDE);
    assert_int_equal(system("gzip -nc wide.csv >wide.csv.gz"), 0);
    box_fault(lab->box, &(box_fault_t){.command = "insert",
                                       .collection = "c",
                                       .after = 8,
                                       .times = 1000,
                                       .reply = "{\"ok\": 0, \"code\": 13, \"errmsg\": \"not authorized\"}"});
    if (stream)
        load_from_file(lab, input, STATUS_SERVER);
    else
        assert_status(lab, lab_load(lab, input), STATUS_SERVER);
    assert_says(lab->err.text, "not authorized");
    box_end_faults(lab->box);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"pieces.0.done.0\": {\"$exists\": true}}"), 1);
}

/* Blocks that are written down as done are not sent again, whatever they come out of. */
TEST(goes_on_behind_done_blocks) {
    static char *inputs[] = {"wide.csv", "wide.csv.gz", "wide.csv"};
    for (size_t i = 0; i < 3; i++) {
        lab_t lab;
        const bool stream = i == 2;
        begin_wide(&lab, inputs[i], stream);
        const size_t there = box_count(lab.box, LAB_TARGET, NULL);
        if (stream)
            load_from_file(&lab, inputs[i], STATUS_OK);
        else
            assert_status(&lab, lab_load(&lab, inputs[i]), STATUS_OK);
        assert_int_equal(lab.loaded.counts.loaded, WIDE - there);
        assert_true(lab.loaded.records_skipped > 0);
        assert_int_equal(lab.loaded.counts.read + lab.loaded.records_skipped, WIDE);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), WIDE);
        lab_close(&lab);
    }
}

/* A stream has nothing but its text to be known by: another text in a block that is done ends the load. */
TEST(another_stream_in_done_blocks) {
    static const char *const changes[] = {"sed -i 's/^7,/8,/' wide.csv", "sed -i 40q wide.csv"};
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        lab_t lab;
        begin_wide(&lab, "wide.csv", true);
        const size_t there = box_count(lab.box, LAB_TARGET, NULL);
        assert_int_equal(system(changes[i]), 0);
        load_from_file(&lab, "wide.csv", STATUS_INPUT);
        assert_says(lab.err.text, "wide");
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), there);
        lab_close(&lab);
    }
}

/* Records that are longer than is allowed, or whose documents are larger than the server takes, are rejects. */
TEST(long_records) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    box_say(lab.box, "hello", "{\"maxBsonObjectSize\": 20000}");
    FILE *file = fopen("a.csv", "w");
    assert_non_null(file);
    fprintf(file, "n,w\n1,%030000d\n2,b\n3,%0*d\n4,d\n", 0, CUTTER_RECORD, 0);
    fclose(file);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(&lab, 4, 2, 0, 2);
    assert_says(lab.said, "larger than the server");
    assert_says(lab.said, CUTTER_TOO_LONG);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 2);
    assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab.verified.rejected, 2);
    lab_close(&lab);
}

/* Inputs that do not fit the format end the load before anything is touched, or are left out. */
TEST(misfits) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 10);
    lab_write("b.csv", "some,other,header\n1,2,3\n");
    assert_status(&lab, lab_load(&lab, "a.csv", "b.csv"), STATUS_INPUT);
    assert_says(lab.err.text, "b.csv");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 0);
    assert_int_equal(box_asked(lab.box, "create", "c"), 0);
    lab.load.skip_bad_files = true;
    assert_status(&lab, lab_load(&lab, "a.csv", "b.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(lab.loaded.skipped.count, 1);
    assert_string_equal(lab.loaded.skipped.items[0].name, "b.csv");
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 10);
    lab_close(&lab);
}

/* A pipe cannot be looked at before: it is found not to fit when it is read. */
TEST(late_misfits) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    load_from_pipe(&lab, "some,other,header\n1,2,3\n", STATUS_INPUT);
    assert_says(lab.err.text, "no record was loaded");
    lab_close(&lab);
}

/* ---- the target ---- */

TEST(drop) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 30);
    lab_write_rows("b.csv", 30, 40);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    lab.load.drop = true;
    assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_OK);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 10);
    assert_int_equal(box_count(lab.box, LAB_FILES, "{\"path\": \"a.csv\"}"), 0);
    assert_int_equal(box_count(lab.box, LAB_FILES, "{\"_id\": \"catalog\", \"generation\": {\"$gt\": 1}}"),
                     1);
    /* what stops the load behind the drop is said with what the drop has done */
    box_refuse(lab.box, LAB_TARGET, "{\"n\": 5}", 4242);
    box_fault(lab.box, &(box_fault_t){.command = "insert",
                                      .collection = "c",
                                      .reply = "{\"ok\": 0, \"code\": 13, \"errmsg\": \"not authorized\"}"});
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SERVER);
    assert_says(lab.err.text, "--drop has dropped");
    lab_close(&lab);
}

/* Loads of nothing have made a catalog: what others put there is theirs all the same. */
TEST(documents_beside_an_empty_catalog) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 0);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    box_insert(lab.box, LAB_TARGET, "{\"_id\": 1, \"of\": \"somebody else\"}");
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "catalog knows of none");
    lab.load.append = true;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 31);
    lab_close(&lab);
}

/* The catalog keeps --append, also where the load that was given it had no record to load. */
TEST(append_of_nothing) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    box_insert(lab.box, LAB_TARGET, "{\"_id\": \"text\", \"of\": \"somebody else\"}");
    lab_write_rows("a.csv", 0, 0);
    lab.load.append = true;
    /* a server that crashed may have forgotten how many documents there are */
    box_fault(lab.box,
              &(box_fault_t){
                  .command = "count", .collection = "c", .times = 100, .reply = "{\"ok\": 1, \"n\": 0}"});
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_says(lab.said, "d.c holds 1 document already");
    box_end_faults(lab.box);
    lab.load.append = false;
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 31);
    lab_close(&lab);
}

static void make_again(void *context) {
    lab_t *lab = context;
    box_drop(lab->box, LAB_TARGET);
    box_insert(lab->box, LAB_TARGET, "{\"_id\": 1, \"of\": \"somebody else\"}");
}

/* Somebody drops the collection and makes it again at the same moment: the new one is dropped as well. */
TEST(drop_of_what_was_made_again) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    lab.load.drop = true;
    box_fault(
        lab.box,
        &(box_fault_t){
            .command = "drop", .collection = "c", .only_watches = true, .hook = make_again, .context = &lab});
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 30);
    lab_close(&lab);
}

/* Who may not drop has changed nothing: other loads go on. */
TEST(drop_that_is_refused) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    lab.load.drop = true;
    box_fault(lab.box, &(box_fault_t){.command = "drop",
                                      .collection = "c",
                                      .reply = "{\"ok\": 0, \"code\": 13, \"errmsg\": \"not authorized\"}"});
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 30);
    lab.load.drop = false;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab.loaded.records_skipped, 30);
    lab_close(&lab);
}

/* Nothing was there to be dropped; now there is. */
TEST(drop_of_nothing) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 300);
    lab.load.drop = true;
    lab.load.batch = 100;
    box_fault(lab.box, &(box_fault_t){.command = "insert",
                                      .collection = "c",
                                      .after = 2,
                                      .reply = "{\"ok\": 0, \"code\": 13, \"errmsg\": \"not authorized\"}"});
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SERVER);
    assert_says(lab.err.text, "without --drop");
    lab_close(&lab);
}

/* What must not be loaded into is refused, and stays as it is. */
TEST(refused_targets) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 30);
    box_insert(lab.box, LAB_TARGET, "{\"_id\": 1, \"of\": \"somebody else\"}");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "(it has no catalog)");
    box_drop(lab.box, LAB_TARGET);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);

    lab.load.filters = (char *[]){"n>=5"};
    lab.load.filter_count = 1;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "d.c was loaded without --filter");
    lab.load.filter_count = 0;

    lab_write("rows.yaml", "format: rows\nrecord: {delimiter: [\",\"], header: yes}\n"
                           "fields:\n  - {name: n, type: int, key: m}\n  - {name: w}\n");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "the format 'rows' has changed since d.c was loaded");
    lab_write_format();

    box_delete(lab.box, LAB_TARGET, "{}");
    lab_write_rows("b.csv", 0, 7);
    assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "tells of 30 documents");

    box_drop(lab.box, LAB_TARGET);
    assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "d.c is gone");
    lab.load.dry_run = true;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    lab.load.dry_run = false;

    box_insert(lab.box, LAB_TARGET, "{\"_id\": 1}");
    assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "d.c is not the collection");

    box_update(lab.box, LAB_FILES, "{\"_id\": \"catalog\"}", "{\"$set\": {\"layout\": 99}}");
    assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "in another layout (99");

    box_delete(lab.box, LAB_FILES, "{\"_id\": \"catalog\"}");
    assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "its header was removed");
    lab_close(&lab);
}

/* A copy that a person vouches for is read back, and nothing of it is sent again. */
TEST(same_collection) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    box_update(lab.box, LAB_FILES, "{\"_id\": \"catalog\"}",
               "{\"$set\": {\"uuid\": {\"$binary\": {\"base64\": \"AAECAwQFBgcICQoLDA0ODw==\", \"subType\": "
               "\"04\"}}}}");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "--same-collection");
    assert_status(&lab, lab_retry(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "restored");
    lab.load.same_collection = true;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 30, 0, 30, 0);
    lab_close(&lab);
}

TEST(options_of_the_collection) {
    static char *indexes[] = {"n:1,w:-1"};
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 30);
    lab.load.create = "{\"clusteredIndex\": false, \"collation\": {\"locale\": \"en\", \"strength\": 2}}";
    lab.load.compressor = "zstd";
    lab.load.indexes = indexes;
    lab.load.index_count = 1;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_asked(&lab, "create", "c",
                 "{\"clusteredIndex\": {\"$exists\": false}, \"collation.locale\": \"en\", "
                 "\"storageEngine.wiredTiger.configString\": \"block_compressor=zstd\"}");
    assert_asked(&lab, "createIndexes", "c", "{\"indexes.0.key\": {\"n\": 1, \"w\": -1}}");
    assert_int_equal(lab.loaded.index_count, 1);
    lab.load.compressor = "snappy";
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "compressed by zstd, not snappy");
    lab.load.compressor = "zlib";
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    lab.load.compressor = NULL;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    for (size_t i = 0; i < 4; i++) {
        static char *const others[] = {"{\"clusteredIndex\": true}", "{\"collation\": {\"locale\": \"fr\"}}",
                                       "{\"validator\": {\"n\": 1}}", "{\"collation\": {\"strength\": 1}}"};
        lab.load.create = others[i];
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
        assert_says(lab.err.text, "is not as --create says");
    }
    lab_close(&lab);

    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 30);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    lab.load.compressor = "none"; /* made without one: the storage engine is asked */
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "snappy, not none");
    lab.load.compressor = NULL;
    lab.load.create = "{\"clusteredIndex\": false}";
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    assert_says(lab.err.text, "d.c exists, and its 'clusteredIndex'");
    lab_close(&lab);
}

/* ---- slower than it could ---- */

TEST(max_rate) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 400);
    lab.load.max_rate = 2000;
    lab.load.watch_flushes = true;
    box_say(lab.box, "serverStatus",
            "{\"wiredTiger\": {\"transaction\": {\"transaction checkpoint currently running\": 0, "
            "\"transaction checkpoint generation\": 5, \"transaction checkpoint most recent time (msecs)\": "
            "7}}}");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_true(lab.loaded.flushes.known);
    assert_counts(&lab, 400, 400, 0, 0);
    assert_int_equal(lab.loaded.batch, 200); /* ten a second */
    assert_true(lab.loaded.took_ns >= 90000000);
    lab_close(&lab);
}

/* With --max-rate auto batches are small, and the load begins slowly; it does not go with --unsafe. */
TEST(max_rate_auto) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 6000);
    lab.load.max_rate_auto = true;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 6000, 6000, 0, 0);
    assert_int_equal(lab.loaded.batch, 100);
    assert_true(lab.loaded.throttled_ns > 0);
    assert_says(lab.loaded.throttled_by, "--max-rate auto");
    lab.load.unsafe = true;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    lab_close(&lab);
}

/* --copies: each input once more, with _ids of its own; a second run finds all of them. */
TEST(copies) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 40);
    lab.load.copies = 3;
    lab.load.dry_run = true;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab.loaded.counts.read, 120);
    lab.load.dry_run = false;
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab.loaded.counts.loaded, 120);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 7}"), 3);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab.loaded.counts.read, 0);
    lab.verify.copies = 3;
    assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab.verified.same, 120);
    lab.load.id = "n";
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_USAGE);
    lab_close(&lab);
}
