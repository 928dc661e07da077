/* Loads of inputs that have changed, of streams and compressed files, and of what a load left in the middle. */
#include "input/cutter.h"
#include "load_lab.h"
#include "test.h"

#include <fcntl.h>

/* ---- inputs that change ---- */

/* Of a file that has grown only the rest is loaded; a last record that was cut off is corrected. */
LAB_TEST(grown, lab_open(lab, BOX_REPLICA_SET)) {
    lab_write("a.csv", "n,w\n1,a\n2,b\n3,whole wo");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"w\": \"whole wo\"}"), 1);
    lab_write("a.csv", "n,w\n1,a\n2,b\n3,whole word\n4,d\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.counts.of[FATE_CORRECTED], 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 4);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 3, \"w\": \"whole word\"}"), 1);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"version\": 2}"), 1);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
}

/* Where no command can hold the cut-off record's document and the whole one, the input is loaded anew. */
LAB_TEST(grown_large, lab_open(lab, BOX_REPLICA_SET)) {
    enum { LARGE = 9 << 20 };
    char *text = malloc(LARGE + 20), *end = text + 6 + LARGE;
    memcpy(text, "n,w\n1,", 6);
    memset(text + 6, 'x', LARGE);
    *end = '\0';
    lab_write("a.csv", text);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    strcpy(end, "y\n2,b\n");
    lab_write("a.csv", text);
    free(text);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_INPUT);
    assert_says(lab->err.text, "no command can hold both documents: give --reload-changed");
    lab_shorten_lease(lab);
    lab->load.reload_changed = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 2);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
}

/* Files that --input-name names are what their names and contents say, wherever they are. */
LAB_TEST(by_name, lab_open(lab, BOX_REPLICA_SET)) {
    static const struct {
        const char *name, *text;
        status_t status;
        int documents;
        const char *says; /* with -q, too; NULL: nothing */
    } rows[] = {
        {"monday", "n,w\n1,a\n2,b\n", STATUS_OK, 2, NULL},
        {"monday", "n,w\n1,a\n2,b\n", STATUS_OK, 2, NULL}, /* again */
        {"tuesday", "n,w\n3,c\n", STATUS_OK, 3, NULL},
        {"tuesday", "n,w\n3,c\n4,d\n5,whole wo", STATUS_OK, 5, NULL},          /* grown, */
        {"tuesday", "n,w\n3,c\n4,d\n5,whole word\n6,f\n", STATUS_OK, 6, NULL}, /* in a record, too */
        {"tuesday", "n,w\n3,c\n4,d\n", STATUS_INPUT, 6,
         "by this --input-name: it had 29 bytes, and has 12 now"},
        {"tuesday", "n,w\n3,c\n4,d\n5,whole words\n6f", STATUS_INPUT, 6, "Give it another --input-name, put"},
        {"wednesday", "n,w\n1,a\n2,b\n", STATUS_OK, 8,
         "warning: wednesday has another name than monday, but the same"},
        {"a.csv", "n,w\n7,g\n", STATUS_OK, 9, NULL},
        {NULL, "n,w\n7,g\n", STATUS_USAGE, 9, "two kinds"},
    };
    lab_write_rows("b.csv", 100, 104);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    log_set_level(LOG_QUIET);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab->load.input_name = rows[i].name;
        lab_write("a.csv", rows[i].text);
        assert_status(lab, lab_load(lab, "a.csv"), rows[i].status);
        const char *said = rows[i].status == STATUS_OK ? lab->said : lab->err.text;
        if (rows[i].says)
            assert_says(said, rows[i].says);
        else
            assert_null(strstr(said, "warning"));
        assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), rows[i].documents + 4);
    }
    log_set_level(LOG_NORMAL);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"w\": \"whole word\"}"), 1);
    /* a file of the content of one is not that one, not even under its name, */
    assert_int_equal(rename("b.csv", "tuesday"), 0);
    lab_write("other.csv", "n,w\n1,a\n2,b\n");
    lab->load.input_name = NULL;
    assert_status(lab, lab_load(lab, "other.csv"), STATUS_OK);
    assert_counts(lab, 2, 2, 0, 0);
    assert_says(lab->said, "warning: other.csv has another name than ");
    /* and such a one is not what was loaded by a path */
    lab->load.input_name = "thursday";
    assert_status(lab, lab_load(lab, "tuesday"), STATUS_OK);
    assert_counts(lab, 4, 4, 0, 0);
    assert_says(lab->said, "thursday has another name than b.csv");
    lab_write("a.csv", "n,w\n3,c\n4,d\n5,whole word\n6,f\n");
    lab->verify.load.input_name = "tuesday";
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.same, 4);
    assert_status(lab, lab_forget(lab, true, "tuesday"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 15 - 4 + 4);
    lab->load.input_name = "tuesday";
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 4, 4, 0, 0);
}

/* It names one file. */
LAB_TEST(by_name_of_several, lab_open(lab, BOX_STANDALONE)) {
    lab->load.input_name = "feed";
    lab_write_rows("a.csv", 0, 5);
    assert_int_equal(mkdir("one", 0777), 0);
    assert_int_equal(rename("a.csv", "one/a.csv"), 0);
    lab_write_rows("b.csv", 5, 10);
    char *inputs[][3] = {{"one", NULL}, {"b.*", NULL}, {"one/a.csv", "b.csv", NULL}};
    for (size_t i = 0; i < sizeof inputs / sizeof *inputs; i++) {
        assert_status(lab, lab_load_all(lab, inputs[i]), STATUS_USAGE);
        assert_says(lab->err.text, "--input-name feed: names one stream");
    }
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 0);
    /* --copies are of one file */
    lab->load.copies = 2;
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    assert_counts(lab, 10, 10, 0, 0);
    assert_null(strstr(lab->said, "another"));
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"key\": \"name/feed!copy-2\"}"), 1);
}

static char key_of_grown[512];

static void register_an_equal_one(void *context) {
    lab_t *lab = context;
    char change[600];
    snprintf(change, sizeof change, "{\"$set\": {\"key\": \"%s\"}}", key_of_grown);
    box_update(lab->box, LAB_FILES, "{\"path\": \"b.csv\"}", change);
}

/* Another load registers a file of the name and content that this one has grown to, in between: it has to look again. */
LAB_TEST(grown_to_what_another_registers, lab_open(lab, BOX_REPLICA_SET)) {
    lab_write_rows("a.csv", 0, 20);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    bson_t *entry = box_one(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}");
    bson_iter_t key;
    assert_true(bson_iter_init_find(&key, entry, "key"));
    snprintf(key_of_grown, sizeof key_of_grown, "%s", bson_iter_utf8(&key, NULL));
    bson_destroy(entry);
    lab_close(lab);

    lab_open(lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 10);
    lab_write_rows("b.csv", 100, 105);
    assert_status(lab, lab_load(lab, "a.csv", "b.csv"), STATUS_OK);
    lab_write_rows("a.csv", 0, 20);
    box_watch(lab->box, "update", "c.tipple.files", 0, 1, register_an_equal_one, lab);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SERVER);
    assert_says(lab->err.text, "another load has registered");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 15);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 25);
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
    box_watch(lab.box, command, "c.tipple.files", 0, 1, grow_and_load, &lab);
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
LAB_TEST(removed_while_another_removal_is_finished, lab_open(lab, BOX_REPLICA_SET)) {
    lab_write_rows("a.csv", 0, 10);
    lab_write_rows("b.csv", 100, 120);
    assert_status(lab, lab_load(lab, "a.csv", "b.csv"), STATUS_OK);
    lab_shorten_lease(lab);
    assert_status(lab, lab_forget(lab, true, "a.csv"), STATUS_OK);
    box_update(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}", "{\"$set\": {\"remains\": true}}");
    box_watch(lab->box, "delete", "c", 0, 1, forget_b, lab);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"b.csv\", \"removed\": true}"), 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 20);
}

/* However often an input grows, its entry has a bound: the oldest versions are dropped, and count as changes from then on. */
LAB_TEST(very_often_grown, lab_open(lab, BOX_STANDALONE)) {
    enum { TIMES = 106, KEPT = 100 };
    struct timespec times[TIMES];
    struct stat now;
    bool more = true;
    for (int i = 0; i < TIMES; i++) {
        lab_write_rows("a.csv", 0, 3 + i);
        if (i % 3) { /* the last record is cut off */
            assert_int_equal(stat("a.csv", &now), 0);
            assert_int_equal(truncate("a.csv", now.st_size - 1), 0);
        }
        assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
        assert_int_equal(stat("a.csv", &now), 0);
        times[i] = now.st_mtim;
    }
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"version\": 106}"), 1);
    assert_int_equal(
        box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"versions.99\": {\"$exists\": true}}"), 1);
    assert_int_equal(
        box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"versions.100\": {\"$exists\": true}}"), 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 2 + TIMES);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    lab_shorten_lease(lab);
    for (int back = 90; more; back = 3) { /* both with a whole last record */
        more = back == 90;
        lab_write_rows("a.csv", 0, 3 + back);
        assert_int_equal(utimensat(AT_FDCWD, "a.csv", (struct timespec[]){times[back], times[back]}, 0), 0);
        assert_status(lab, lab_load(lab, "a.csv"), more ? STATUS_OK : STATUS_INPUT);
        assert_counts(lab, 0, 0, 0, 0);
    }
    assert_says(lab->err.text, "a.csv has changed");
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
        assert_int_equal(lab.loaded.counts.of[FATE_FILTERED], filtered);
        assert_int_equal(lab.loaded.counts.of[FATE_REJECTED], !filtered);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 1);
        lab_close(&lab);
    }
}

/* A user has changed the document of the cut off record: it is theirs. */
LAB_TEST(grown_under_a_stranger, lab_open(lab, BOX_STANDALONE)) {
    lab_write("a.csv", "n,w\n1,a\n2,b");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    box_update(lab->box, LAB_TARGET, "{\"n\": 2}", "{\"$set\": {\"w\": \"mine\"}}");
    lab_write("a.csv", "n,w\n1,a\n2,better\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_says(lab->said, "another document");
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 2, \"w\": \"mine\"}"), 1);
}

LAB_TEST(changed, lab_open(lab, BOX_REPLICA_SET)) {
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_shorten_lease(lab);
    lab_write_rows("a.csv", 100, 120);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_INPUT);
    assert_says(lab->err.text, "a.csv");
    assert_says(lab->err.text, "--reload-changed");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 30);
    lab->load.reload_changed = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said, "a.csv has changed");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 20);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": {\"$gte\": 100}}"), 20);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
}

/* With --reload-missing what has grown is first loaded to its end, and then read from its beginning: each record counts once. */
LAB_TEST(missing_of_a_grown_one, lab_open(lab, BOX_REPLICA_SET)) {
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_write_rows("a.csv", 0, 42);
    box_delete(lab->box, LAB_TARGET, "{\"n\": 7}");
    lab->load.reload_missing = true;
    for (int turn = 0; turn < 2; turn++) {
        assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
        assert_counts(lab, 42, turn ? 0 : 13, turn ? 42 : 29, 0);
        assert_int_equal(lab->loaded.records_skipped, 0);
    }
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 42);
}

static int deletes;

static void see_tombstones(void *context) {
    lab_t *lab = context;
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"removed\": true}"), 5);
    deletes++;
}

/* All are out of the catalog before the first document is removed: one lease is waited for all of them. */
LAB_TEST(several_changed, lab_open(lab, BOX_REPLICA_SET)) {
    static const char *const names[] = {"a.csv", "b.csv", "c.csv", "d.csv", "e.csv"};
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < 5; i++)
            lab_write_rows(names[i], 100 * i, 100 * i + 30 - turn);
        if (turn)
            lab_shorten_lease(lab);
        if (turn)
            /* The first only asks whether it may. */
            box_watch(lab->box, "delete", "c", 1, 1000, see_tombstones, lab);
        lab->load.reload_changed = turn;
        assert_status(lab, lab_load(lab, "a.csv", "b.csv", "c.csv", "d.csv", "e.csv"), STATUS_OK);
    }
    assert_true(deletes >= 5);
    assert_says(lab->said, "c.csv has changed");
    assert_says(lab->said, "... and 2 more changed files, in the same ");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 5 * 29);
    assert_status(lab, lab_verify(lab, "a.csv", "b.csv", "c.csv", "d.csv", "e.csv"), STATUS_OK);
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

LAB_TEST(changed_under_a_begun_load, open_changed_under_a_begun_load(lab)) {
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 30);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 9, \"w\": \"w9\"}"), 1);
}

/* What was rejected and written down before the load begins again is not rejected again: it stays in the reject file. */
LAB_TEST(rejected_before_it_begins_again, open_changed_under_a_begun_load(lab)) {
    lab_write("0.csv", "n,w\n70,s\nq\n");
    assert_status(lab, lab_load(lab, "0.csv", "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 31);
    char *kept = lab_read("c.rejects"), *entry = strstr(kept, "\nq\n");
    assert_non_null(entry);
    assert_null(strstr(entry + 1, "\nq\n"));
    free(kept);
    lab_replace("c.rejects", "\nq\n", "\n71,q\n");
    assert_status(lab, lab_retry(lab, "c.rejects"), STATUS_OK);
    assert_status(lab, lab_verify(lab, "0.csv", "a.csv"), STATUS_OK);
}

/* A stream in the same command cannot be read twice: once it is begun, nothing begins anew. */
LAB_TEST(changed_next_to_a_stream, open_changed_under_a_begun_load(lab)) {
    const status_t status = lab_load_stream(lab, "n,w\n70,s\n71,s\n", (char *[]){"-", "a.csv", NULL});
    if (status == STATUS_OK) { /* the file was faster */
        assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"w\": \"s\"}"), 2);
        assert_counts(lab, 32, 32, 0, 0);
        return;
    }
    assert_status(lab, status, STATUS_INPUT);
    assert_says(lab->err.text, "cannot be read twice");
}

/* Who may not remove is informed of it once: to begin anew would meet the same content again, without an end. */
LAB_TEST(changed_and_not_removable, open_changed_under_a_begun_load(lab)) {
    box_deny(lab->box, "delete", "c", 0, 2);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "not authorized");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 30);
}

LAB_TEST(moved_and_copied, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    mkdir("other", 0700);
    assert_int_equal(rename("a.csv", "other/a.csv"), 0);
    assert_status(lab, lab_load(lab, "other/a.csv"), STATUS_OK);
    assert_counts(lab, 0, 0, 0, 0);
    assert_says(lab->said, "a.csv (same size and content)");
    /* it has both now, as two files of one content */
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv", "other/a.csv"), STATUS_OK);
    assert_counts(lab, 30, 30, 0, 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 7}"), 2);
    /* both have grown since: a copy of their first content is a file of its own */
    mkdir("third", 0700);
    lab_write_rows("third/a.csv", 0, 30);
    lab_write_rows("a.csv", 0, 40);
    lab_write_rows("other/a.csv", 0, 50);
    assert_status(lab, lab_load(lab, "third/a.csv"), STATUS_OK);
    assert_counts(lab, 30, 30, 0, 0);
}

/* ---- inputs of other kinds ---- */

static void load_from_pipe(lab_t *lab, const char *text, status_t expected) {
    assert_status(lab, lab_load_stream(lab, text, (char *[]){"-", NULL}), expected);
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
LAB_TEST(stream, lab_open(lab, BOX_STANDALONE)) {
    lab->load.input_name = "feed";
    load_from_pipe(lab, "n,w\n1,a\n2,b\n", STATUS_OK);
    assert_counts(lab, 2, 2, 0, 0);
    load_from_pipe(lab, "n,w\n1,a\n2,b\n", STATUS_OK);
    assert_int_equal(lab->loaded.records_skipped, 2);
    lab->load.input_name = "more";
    lab->load.limit = 1;
    load_from_pipe(lab, "n,w\n11,a\n12,b\n", STATUS_OK);
    lab->load.limit = UINT64_MAX;
    load_from_pipe(lab, "n,w\n11,a\n12,b\n13,c\n", STATUS_OK);
    assert_counts(lab, 3, 2, 1, 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 5);
}

enum { LONG_STREAM = 1500 }; /* wide rows: some blocks of 256 KiB */

/* A stream that begins with all that was loaded by its name goes on there; one that does not is refused, and nothing of either is
 * touched. */
TEST(stream_that_goes_on) {
    static const struct {
        const char *first, *second;
        status_t status;
        int loaded, corrected, documents; /* by the second, and then in all */
        const char *says;
    } rows[] = {
        {"n,w\n1,a\n2,b\n", "n,w\n1,a\n2,b\n3,c\n4,d\n", STATUS_OK, 2, 0, 4, NULL},
        {"n,w\n1,a\n2,b", "n,w\n1,a\n2,b\n3,c\n", STATUS_OK, 1, 0, 3, NULL},
        {"n,w\n1,a\n2,whole wo", "n,w\n1,a\n2,whole word\n3,c", STATUS_OK, 2, 1, 3, NULL},
        {"n,w\n1,a\n2", "n,w\n1,a\n2,b\n", STATUS_OK, 1, 0, 2, NULL}, /* what was a reject */
        {"n,w\n", "n,w\n1,a\n", STATUS_OK, 1, 0, 1, NULL},
        {"", "n,w\n1,a\n", STATUS_OK, 1, 0, 1, NULL},
        {"n,w\n1,a\n2,b\n", "n,w\n1,a\n", STATUS_INPUT, 0, 0, 2, "between byte 0"},
        {"n,w\n1,a\n2,b\n", "", STATUS_INPUT, 0, 0, 2, "between byte 0"},
        {"n,w\n1,a\n2,b\n", "n,w\n1,a\n3,b\n4,c\n", STATUS_INPUT, 0, 0, 2, "another stream was loaded"},
        {"n,w\n1,a\n2,b\n", "w,n\na,1\nb,2\nc,3\n", STATUS_INPUT, 0, 0, 2, "another stream was loaded"},
        {"n,w\n1,a\n2,b\n", "other\n1\n2\n3\n4\n5\n", STATUS_INPUT, 0, 0, 2, "another stream was loaded"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        lab_t lab;
        lab_open(&lab, BOX_REPLICA_SET);
        lab.load.input_name = "feed";
        load_from_pipe(&lab, rows[i].first,
                       strstr(rows[i].first, "\n2,") || i != 3 ? STATUS_OK : STATUS_SOME_REJECTED);
        load_from_pipe(&lab, rows[i].second, rows[i].status);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), rows[i].documents);
        assert_int_equal(lab.loaded.counts.of[FATE_LOADED], rows[i].loaded);
        assert_int_equal(lab.loaded.counts.of[FATE_CORRECTED], rows[i].corrected);
        if (rows[i].says)
            assert_says(lab.err.text, rows[i].says);
        /* it is complete, and may come again, and go on again */
        load_from_pipe(&lab, rows[i].status ? rows[i].first : rows[i].second, STATUS_OK);
        assert_counts(&lab, 0, 0, 0, 0);
        assert_int_equal(lab.loaded.files_skipped, 1);
        char more[100];
        snprintf(more, sizeof more, "%s%s9,z\n", rows[i].status ? rows[i].first : rows[i].second,
                 i == 2 ? "\n" : "");
        load_from_pipe(&lab, more, STATUS_OK);
        assert_int_equal(lab.loaded.counts.of[FATE_LOADED], 1);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), rows[i].documents + 1);
        lab_close(&lab);
    }
}

/* An array that is cut off goes on; one that is closed has ended. */
LAB_TEST(stream_of_an_array, lab_open(lab, BOX_REPLICA_SET)) {
    lab->load.format = "json";
    lab->load.input_name = "feed";
    load_from_pipe(lab, "[{\"n\": 1},\n{\"n\": 2}", STATUS_INPUT);
    load_from_pipe(lab, "[{\"n\": 1},\n{\"n\": 2},\n{\"n\": 3}]\n", STATUS_OK);
    assert_counts(lab, 3, 1, 2, 0);
    load_from_pipe(lab, "[{\"n\": 1},\n{\"n\": 2},\n{\"n\": 3},\n{\"n\": 4}]\n", STATUS_INPUT);
    assert_says(lab->err.text, "`tipple forget feed --delete");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 3);
}

/* With --existing replace later records would take the place of newer ones. */
LAB_TEST(stream_that_replaces, lab_open(lab, BOX_REPLICA_SET)) {
    lab->load.input_name = "feed";
    lab->load.existing = "replace";
    lab->load.id = "n";
    load_from_pipe(lab, "n,w\n1,a\n", STATUS_OK);
    load_from_pipe(lab, "n,w\n1,a\n2,b\n", STATUS_INPUT);
    assert_says(lab->err.text, "give the stream another --input-name");
    load_from_pipe(lab, "n,w\n1,a\n", STATUS_OK);
    assert_int_equal(lab->loaded.files_skipped, 1);
}

/* What is to be typed takes the old one out: as a shell would read it, with the server. */
LAB_TEST(stream_in_place_of_another, lab_open(lab, BOX_REPLICA_SET)) {
    char command[BOX_URI + 100];
    lab->load.input_name = "a b";
    load_from_pipe(lab, "n,w\n1,a\n", STATUS_OK);
    load_from_pipe(lab, "n,w\n2,b\n", STATUS_INPUT);
    snprintf(command, sizeof command, "by `tipple forget 'a b' --delete --yes --uri '%s'`, and", lab->uri);
    assert_says(lab->err.text, command);
    assert_true(strstr(lab->err.text, command) < strstr(lab->err.text, "another name"));
    assert_status(lab, lab_forget(lab, true, "a b"), STATUS_OK);
    load_from_pipe(lab, "n,w\n2,b\n", STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 1);
}

/* The same in later blocks; and killed in what was added, the same stream goes on. */
LAB_TEST(long_stream_that_goes_on, lab_open(lab, BOX_REPLICA_SET)) {
    lab_write_wide_rows("wide", 0, LONG_STREAM);
    load_from_file(lab, "wide", STATUS_OK);
    lab_write_wide_rows("wide", 0, 2 * LONG_STREAM);
    load_from_file(lab, "wide", STATUS_OK);
    assert_int_equal(lab->loaded.counts.of[FATE_LOADED], LONG_STREAM);
    assert_int_equal(lab->loaded.counts.read + lab->loaded.records_skipped, 2 * LONG_STREAM);
    assert_true(lab->loaded.counts.of[FATE_THERE] < LONG_STREAM / 2);
    lab_write_wide_rows("wide", 0, 3 * LONG_STREAM);
    box_deny(lab->box, "insert", "c", 1, 1000);
    lab->load.batch = 300;
    load_from_file(lab, "wide", STATUS_SERVER);
    box_end_faults(lab->box);
    lab_shorten_lease(lab);
    load_from_file(lab, "wide", STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 3 * LONG_STREAM);
    lab_write_wide_rows("wide", 0, LONG_STREAM);
    load_from_file(lab, "wide", STATUS_INPUT);
    assert_says(lab->err.text, "another stream");
    lab_write_wide_rows("wide", 1, 4 * LONG_STREAM);
    load_from_file(lab, "wide", STATUS_INPUT);
    assert_says(lab->err.text, "between byte 0");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 3 * LONG_STREAM);
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
        assert_int_equal(lab.loaded.counts.of[FATE_THERE], 3);
        assert_int_equal(lab.loaded.counts.of[FATE_LOADED], 1);
        lab_close(&lab);
    }
}

LAB_TEST(compressed, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 3000);
    assert_int_equal(system("gzip -nf a.csv && mv a.csv.gz packed.csv"), 0);
    assert_status(lab, lab_load(lab, "packed.csv"), STATUS_OK);
    assert_counts(lab, 3000, 3000, 0, 0);
    lab_forget_progress(lab, "packed.csv");
    box_delete(lab->box, LAB_TARGET, "{\"n\": 2999}");
    assert_status(lab, lab_load(lab, "packed.csv"), STATUS_OK);
    assert_counts(lab, 3000, 1, 2999, 0);
}

/* ---- a load that ended in the middle of an input ---- */

enum { WIDE = 4000 }; /* rows: some blocks of 256 KiB */

static void begin_wide(lab_t *lab, char *input, bool stream) {
    lab_open(lab, BOX_REPLICA_SET);
    lab->load.threads = 1;
    lab->load.batch = 300;
    lab_write_wide_rows("wide.csv", 0, WIDE);
    assert_int_equal(system("gzip -nc wide.csv >wide.csv.gz"), 0);
    box_deny(lab->box, "insert", "c", 8, 1000);
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
        assert_int_equal(lab.loaded.counts.of[FATE_LOADED], WIDE - there);
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
LAB_TEST(long_records, lab_open(lab, BOX_STANDALONE)) {
    box_say(lab->box, "hello", "{\"maxBsonObjectSize\": 20000}");
    FILE *file = fopen("a.csv", "w");
    assert_non_null(file);
    fprintf(file, "n,w\n1,%030000d\n2,b\n3,%0*d\n4,d\n", 0, CUTTER_RECORD, 0);
    fclose(file);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, 4, 2, 0, 2);
    assert_says(lab->said, "larger than the server");
    assert_says(lab->said, CUTTER_TOO_LONG);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 2);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.rejected, 2);
}

/* Inputs that do not fit the format end the load before anything is touched, or are left out. */
LAB_TEST(misfits, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 10);
    lab_write("b.csv", "some,other,header\n1,2,3\n");
    assert_status(lab, lab_load(lab, "a.csv", "b.csv"), STATUS_INPUT);
    assert_says(lab->err.text, "b.csv");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 0);
    assert_int_equal(box_asked(lab->box, "create", "c"), 0);
    lab->load.skip_bad_files = true;
    assert_status(lab, lab_load(lab, "a.csv", "b.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(lab->loaded.skipped.count, 1);
    assert_string_equal(lab->loaded.skipped.items[0].name, "b.csv");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 10);
}

/* ---- one bad file holds up nothing ---- */

/* d/2 is bad among good files, by this command of the shell: NEW, or SOME of its records are loaded all the same, or it is CHANGED since
 * it was loaded. */
typedef struct {
    const char *make, *says;
    enum { NEW, SOME, CHANGED } how;
} bad_file_t;

static const bad_file_t bad_files[] = {
    {"ln -s nowhere d/2", "no such file", NEW},
    {"ln -s /proc/self/status d/2", "0 bytes, and has more", NEW},
    {"printf 'PK\\3\\4 no more' >d/2", "zip archive is broken", NEW},
    {"printf 'n,other\\n1,2\\n' >d/2", "no column 'w'", NEW},
    {"printf '\\37\\213\\10\\0\\0\\0\\0\\0\\0\\3\\377\\377\\377' >d/2", "is damaged", NEW},
    {"sed -i 's/w15/x15/' d/2", "has changed", CHANGED},
    {"gzip -nc wide | head -c -2000 >d/2", "ends in the middle", SOME},
};

static void make_good(const char *name, int from) {
    lab_write_rows(name, from, from + 10);
}

static size_t count_of(lab_t *lab, int from) {
    char filter[80];
    snprintf(filter, sizeof filter, "{\"n\": {\"$gte\": %d, \"$lt\": %d}}", from, from + 10);
    return (size_t)box_count(lab->box, LAB_TARGET, filter);
}

static void begin_bad(lab_t *lab, const bad_file_t *bad, bool replace) {
    lab_open(lab, BOX_STANDALONE);
    lab->load.id = replace ? "n" : NULL;
    lab->load.existing = replace ? "replace" : lab->load.existing;
    mkdir("d", 0700);
    lab_write_wide_rows("wide", 1000, 3000);
    if (bad->how == CHANGED) {
        make_good("d/2", 10);
        assert_status(lab, lab_load(lab, "d/2"), STATUS_OK);
    }
    assert_int_equal(system(bad->make), 0);
    make_good("d/1", 100);
    make_good("d/3", 300);
}

/* Without the option a folder is refused, with the remedy. */
TEST(bad_file_in_a_folder) {
    for (size_t i = 0; i < sizeof bad_files / sizeof *bad_files; i++) {
        lab_t lab;
        begin_bad(&lab, &bad_files[i], false);
        assert_status(&lab, lab_load(&lab, "d"), STATUS_INPUT);
        assert_says(lab.err.text, "d/2");
        assert_says(lab.err.text, bad_files[i].says);
        assert_says(lab.err.text, "--skip-bad-files");
        lab_close(&lab);
    }
}

/* With it all others are loaded, each time; with --existing replace only those before it. */
TEST(bad_file_is_skipped) {
    for (size_t i = 0; i < 2 * sizeof bad_files / sizeof *bad_files; i++) {
        const bad_file_t *bad = &bad_files[i / 2];
        const bool replace = i % 2;
        lab_t lab;
        begin_bad(&lab, bad, replace);
        lab.load.skip_bad_files = true;
        for (int round = 0; round < 2; round++) {
            assert_status(&lab, lab_load(&lab, "d"), STATUS_SOME_REJECTED);
            assert_int_equal(lab.loaded.skipped.count, replace ? 2 : 1);
            assert_string_equal(lab.loaded.skipped.items[0].name, "d/2");
            assert_says(lab.loaded.skipped.items[0].reason, bad->says);
            assert_says(lab.said, bad->says);
            assert_int_equal(count_of(&lab, 100), 10);
            assert_int_equal(count_of(&lab, 300), replace ? 0 : 10);
            const size_t all = box_count(lab.box, LAB_TARGET, NULL);
            assert_true(bad->how ? all > (replace ? 10 : 20) : all == (replace ? 10 : 20));
        }
        if (replace) {
            assert_string_equal(lab.loaded.skipped.items[1].name, "d/3");
            assert_true(lab.loaded.skipped.items[1].waits);
            assert_says(lab.said, "d/3 waits for d/2");
        }
        assert_status(&lab, lab_load(&lab, "d/2"), STATUS_INPUT); /* nothing else */
        unlink("d/2");
        if (bad->how == NEW) {
            assert_status(&lab, lab_load(&lab, "d"), STATUS_OK);
            assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 20);
            assert_status(&lab, lab_verify(&lab, "d"), STATUS_OK);
        }
        lab_close(&lab);
    }
}

/* Of a file that is damaged in its middle the catalog has what is loaded; the whole one goes on from there. */
LAB_TEST(damaged_in_the_middle, lab_open(lab, BOX_STANDALONE)) {
    mkdir("d", 0700);
    lab_write_wide_rows("wide", 0, 2000);
    make_good("d/3", 3000);
    assert_int_equal(system("gzip -nc wide >whole && head -c -2000 whole >d/2"), 0);
    lab->load.skip_bad_files = true;
    assert_status(lab, lab_load(lab, "d"), STATUS_SOME_REJECTED);
    assert_says(lab->said, "the rest is missing");
    const uint64_t first = lab->loaded.counts.of[FATE_LOADED];
    assert_true(first > 500 && first < 2000);
    assert_status(lab, lab_load(lab, "d"), STATUS_SOME_REJECTED);
    assert_int_equal(lab->loaded.counts.of[FATE_LOADED], 0);
    assert_true(lab->loaded.records_skipped > 10); /* blocks of it are done */
    assert_int_equal(system("cp whole d/2"), 0);
    assert_status(lab, lab_load(lab, "d"), STATUS_OK);
    assert_int_equal(lab->loaded.counts.of[FATE_LOADED], 2010 - first);
    assert_status(lab, lab_verify(lab, "d"), STATUS_OK);
}

/* Where order decides, a first file that is bad leaves nothing to be loaded: before anything is dropped. */
LAB_TEST(first_file_is_bad, lab_open(lab, BOX_STANDALONE)) {
    mkdir("d", 0700);
    make_good("d/3", 300);
    lab->load.id = "n";
    lab->load.existing = "replace";
    assert_status(lab, lab_load(lab, "d"), STATUS_OK);
    assert_int_equal(symlink("nowhere", "d/1"), 0);
    lab->load.skip_bad_files = lab->load.drop = true;
    assert_status(lab, lab_load(lab, "d"), STATUS_INPUT);
    assert_says(lab->err.text, "d/1: there is");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 10);
}

/* A header without records is a load of none where the format is given or kept; else nobody knows whether it is one. */
LAB_TEST(header_alone, lab_open(lab, BOX_STANDALONE)) {
    lab_write("header.csv", "n,w\n");
    make_good("a.csv", 0);
    assert_status(lab, lab_load(lab, "header.csv"), STATUS_OK);
    assert_counts(lab, 0, 0, 0, 0);
    lab->load.format = NULL;
    lab->load.drop = true;
    assert_status(lab, lab_load(lab, "header.csv"), STATUS_INPUT);
    assert_says(lab->err.text, "--with header=yes");
    lab->load.drop = false;
    box_uri(lab->box, "d.kept", lab->uri);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_status(lab, lab_load(lab, "header.csv"), STATUS_OK);
    assert_counts(lab, 0, 0, 0, 0);
}

/* A header alone is no older version of an input that began as one, and has records by now. */
LAB_TEST(another_header_alone, lab_open(lab, BOX_STANDALONE)) {
    lab->load.id = "n";
    lab->load.existing = "replace";
    lab_write("a.csv", "n,w\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_write("a.csv", "n,w\n1,a\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_write("b.csv", "n,w\n");
    assert_status(lab, lab_load(lab, "a.csv", "b.csv"), STATUS_OK);
    assert_null(strstr(lab->said, "b.csv"));
    lab_write("c.csv", "n,w\n2,b\n");
    assert_status(lab, lab_load(lab, "c.csv"), STATUS_OK);
    lab_write("c.csv", "n,w\n2,b\n3,c\n");
    assert_status(lab, lab_load(lab, "c.csv"), STATUS_OK);
    lab_write("d.csv", "n,w\n2,b\n"); /* but this one is */
    assert_status(lab, lab_load(lab, "d.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.csv is the beginning of c.csv");
}

/* A wrong format binds nothing. Where the format is right already, rejects alone are rejects. */
LAB_TEST(rejects_alone, lab_open(lab, BOX_STANDALONE)) {
    lab->load.format = "json";
    lab_write("a.json", "{\"n\": }\n{\"n\": }\n");
    lab_write("b.json", "{\"n\": 1}\n");
    assert_status(lab, lab_load(lab, "a.json"), STATUS_INPUT);
    assert_says(lab->err.text, "Nothing was written");
    assert_int_equal(box_asked(lab->box, "create", "c") + box_asked(lab->box, "insert", "c.tipple.files"), 0);
    assert_int_equal(access("c.rejects", F_OK), -1);
    assert_status(lab, lab_load(lab, "b.json"), STATUS_OK);
    assert_status(lab, lab_load(lab, "a.json"), STATUS_SOME_REJECTED);
    assert_counts(lab, 2, 0, 0, 2);
    assert_int_equal(access("c.rejects", F_OK), 0);
}

/* Whoever allows many rejects may have all of them first. With --drop, that drops nothing all the same. */
LAB_TEST(many_rejects_first, lab_open(lab, BOX_STANDALONE)) {
    lab->load.format = "json";
    lab_write("a.json", "{\"n\": }\n{\"n\": }\n");
    lab->load.max_rejects = 1001;
    lab->load.drop = true;
    assert_status(lab, lab_load(lab, "a.json"), STATUS_INPUT);
    lab->load.drop = false;
    assert_status(lab, lab_load(lab, "a.json"), STATUS_SOME_REJECTED);
    assert_counts(lab, 2, 0, 0, 2);
}

/* A pipe cannot be looked at before: it is found not to fit when it is read. */
LAB_TEST(late_misfits, lab_open(lab, BOX_STANDALONE)) {
    load_from_pipe(lab, "some,other,header\n1,2,3\n", STATUS_INPUT);
    assert_says(lab->err.text, "no record was loaded");
}
