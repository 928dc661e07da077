/* Loads from their first look to their end, into a server of this process. */
#include "load_lab.h"
#include "test.h"

#include <pthread.h>

/* ---- once, and again ---- */

LAB_TEST(loads_once, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 3000);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 3000, 3000, 0, 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 3000);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 77, \"w\": \"w77\"}"), 1);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"pieces.0.complete\": 1}"), 1);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"_id\": \"catalog\", \"format\": \"rows\"}"), 1);
    assert_int_equal(
        box_count(lab->box, LAB_LOADS, "{\"status\": 0, \"loaded\": 3000, \"ended\": {\"$exists\": true}}"),
        1);
    /* the same again: nothing is sent */
    const size_t inserts = box_asked(lab->box, "insert", "c");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 0, 0, 0, 0);
    assert_int_equal(lab->loaded.files_skipped, 1);
    assert_int_equal(lab->loaded.records_skipped, 3000);
    assert_int_equal(box_asked(lab->box, "insert", "c"), inserts);
    lab_write_rows("b.csv", 3000, 3100);
    assert_status(lab, lab_load(lab, "b.csv", "a.csv"), STATUS_OK);
    assert_counts(lab, 100, 100, 0, 0);
}

/* Small files by the dozen: each has its own entry, with its own counts, whatever they are written down with. */
LAB_TEST(many_files, lab_open(lab, BOX_REPLICA_SET)) {
    enum { FILES = 40 };
    char *names[FILES + 1] = {NULL}, name[24];
    for (int i = 0; i < FILES; i++) {
        snprintf(name, sizeof name, "%02d.csv", i);
        names[i] = strdup(name);
        lab_write_rows(name, 100 * i, 100 * i + i);
    }
    assert_status(lab, lab_load_all(lab, names), STATUS_OK);
    assert_counts(lab, FILES * (FILES - 1) / 2, FILES * (FILES - 1) / 2, 0, 0);
    for (int i = 0; i < FILES; i++) {
        char filter[100];
        snprintf(filter, sizeof filter, "{\"path\": \"%s\"}", names[i]);
        bson_t *entry = box_one(lab->box, LAB_FILES, filter);
        assert_int_equal(lab_number(entry, "pieces.0.complete"), 1);
        assert_true(lab_number(entry, "versions.0.completed") > 0);
        if (i)
            assert_int_equal(lab_number(entry, "pieces.0.tail.loaded"), i);
        bson_destroy(entry);
    }
    assert_status(lab, lab_load_all(lab, names), STATUS_OK);
    assert_counts(lab, 0, 0, 0, 0);
    for (int i = 0; i < FILES; i++)
        free(names[i]);
}

#if defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define NO_PACE
#endif
#endif

/* Two loads of the same files, of one piece each, at a fixed pace: each of them does about half. With sanitizers no pace is
 * kept. */
typedef struct {
    load_spec_t spec;
    load_result_t result;
    bool ok;
    err_t err;
    caller_t caller;
} sharing_t;

static void *load_share(void *context) {
    sharing_t *sharing = context;
    caller_set(&sharing->caller); /* two loads of one process are those of two callers */
    sharing->ok = load_run(&sharing->spec, &sharing->result, &sharing->err);
    return NULL;
}

static void share(lab_t *lab, int files) {
    enum { ROWS = 2400, MOST = 12 }; /* of 500 bytes */
    char names[MOST][24], *inputs[MOST];
    sharing_t loads[2];
    pthread_t threads[2];
    for (int i = 0; i < files; i++) {
        snprintf(inputs[i] = names[i], sizeof names[i], "%02d.csv", i);
        lab_write_wide_rows(inputs[i], i * ROWS, (i + 1) * ROWS);
    }
    for (int i = 0; i < 2; i++) {
        loads[i] = (sharing_t){.spec = lab->load};
        caller_init(&loads[i].caller);
        loads[i].spec.inputs = inputs;
        loads[i].spec.input_count = (size_t)files;
        loads[i].spec.max_rate = 4000;
        assert_int_equal(pthread_create(&threads[i], NULL, load_share, &loads[i]), 0);
        while (
            !box_asked(lab->box, "insert", "c")) /* the first one is at work before the second one begins */
            usleep(1000);
        usleep(100000);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    for (int i = 0; i < 2; i++) {
        if (!loads[i].ok)
            fail_msg("%s", loads[i].err.text);
#ifndef NO_PACE
        assert_in_range(100 * loads[i].result.counts.read / (uint64_t)(files * ROWS), 40, 60);
#endif
        load_result_free(&loads[i].result);
        caller_free(&loads[i].caller);
    }
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), files * ROWS);
}

LAB_TEST(two_share_twelve, lab_open(lab, BOX_STANDALONE)) {
    share(lab, 12);
}

LAB_TEST(two_share_four, lab_open(lab, BOX_STANDALONE)) {
    share(lab, 4);
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
LAB_TEST(goes_on, lab_open(lab, BOX_REPLICA_SET)) {
    lab_write_rows("a.csv", 0, 500);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_forget_progress(lab, "a.csv");
    box_delete(lab->box, LAB_TARGET, "{\"n\": {\"$gte\": 400}}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 500, 100, 400, 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 500);
}

/* A document of someone else at a record's place is never replaced: the record is a reject. */
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

LAB_TEST(rejects, lab_open(lab, BOX_STANDALONE)) {
    lab_write("a.csv", "n,w\n1,a\nx\n2,b\n3,c,d\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, 4, 2, 0, 2);
    assert_says(lab->said, "rejected a.csv:3:2 (offset 8): it has 1 field");
    char *kept = lab_read("c.rejects");
    assert_says(kept, "offset=8 line=3 length=1");
    assert_says(kept, "\nx\n");
    assert_says(kept, "\n3,c,d\n");
    /* a second load neither reads nor counts them again, and says that they are open */
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, 0, 0, 0, 0);
    assert_int_equal(lab->loaded.open_rejects, 2);
    assert_string_equal(lab->loaded.open_rejects_text, "a.csv 2");
    char *after = lab_read("c.rejects");
    assert_string_equal(kept, after);
    free(kept);
    free(after);
}

LAB_TEST(too_many_rejects, lab_open(lab, BOX_STANDALONE)) {
    lab_write("a.csv", "n,w\n1,a\nx\ny\nz\n2,b\n");
    assert_int_equal(lab->load.max_rejects, 1000);
    lab->load.max_rejects = 2;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_TOO_MANY_REJECTED);
    lab->load.max_rejects_percent = 50;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_TOO_MANY_REJECTED);
    lab->load.max_rejects_percent = 100;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(lab->loaded.open_rejects, 3);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 2);
}

/* A document that the server refuses is a reject; what comes after it is loaded all the same. */
LAB_TEST(refused_by_the_server, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 1500);
    box_refuse(lab->box, LAB_TARGET, "{\"n\": {\"$in\": [5, 1200]}}", 121);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, 1500, 1498, 0, 2);
    assert_says(lab->said, "Document failed validation");
}

/* An error that no rule knows ends the load. */
LAB_TEST(unknown_write_error, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 20);
    box_refuse(lab->box, LAB_TARGET, "{\"n\": 5}", 4242);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SERVER);
    assert_says(lab->err.text, "4242");
}

/* ---- only a part ---- */

LAB_TEST(filter, lab_open(lab, BOX_STANDALONE)) {
    static char *filters[] = {"n>=90"};
    lab_write_rows("a.csv", 0, 100);
    lab->load.filters = filters;
    lab->load.filter_count = 1;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 100, 10, 0, 0);
    assert_int_equal(lab->loaded.counts.of[FATE_FILTERED], 90);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": {\"$lt\": 90}}"), 0);
    lab->load.filter_count = 0;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c was loaded with --filter 'n>=90'");
    lab->load.filter_count = 1;
    filters[0] = "n>=80";
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c was loaded with --filter 'n>=90', not 'n>=80'");
    filters[0] = "n >= 90"; /* the same, written otherwise */
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
}

/* No document is sent, and all the same the collection is bound to the filter: what it has left out would never be loaded. */
LAB_TEST(filter_leaves_nothing, lab_open(lab, BOX_STANDALONE)) {
    static char *filters[] = {"n>=100"};
    lab_write_rows("a.csv", 0, 100);
    lab->load.filters = filters;
    lab->load.filter_count = 1;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.counts.of[FATE_FILTERED], 100);
    lab->load.filter_count = 0;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "--filter");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 0);
}

LAB_TEST(limit, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 100);
    lab->load.limit = 30;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 30, 30, 0, 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": {\"$gte\": 30}}"), 0);
    lab->load.limit = UINT64_MAX;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 100, 70, 30, 0);
}

LAB_TEST(dry_run, lab_open(lab, BOX_STANDALONE)) {
    lab_write("a.csv", "n,w\n1,a\nx\n2,b\n");
    lab->load.dry_run = true;
    for (int drop = 0; drop < 2; drop++) {
        lab->load.drop = drop;
        assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
        assert_int_equal(lab->loaded.counts.read, 3);
        assert_int_equal(lab->loaded.counts.of[FATE_REJECTED], 1);
    }
    static const char *const writes[] = {"insert", "update", "create", "createIndexes", "delete"};
    for (size_t i = 0; i < sizeof writes / sizeof *writes; i++)
        assert_int_equal(box_asked(lab->box, writes[i], "c") +
                             box_asked(lab->box, writes[i], "c.tipple.files") +
                             box_asked(lab->box, writes[i], "c.tipple.loads"),
                         0);
    assert_int_not_equal(access("c.rejects", F_OK), 0);
}

/* ---- the target ---- */

LAB_TEST(drop, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 30);
    lab_write_rows("b.csv", 30, 40);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab->load.drop = true;
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 10);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}"), 0);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"_id\": \"catalog\", \"generation\": {\"$gt\": 1}}"),
                     1);
    /* what stops the load after the drop is said with what the drop has done */
    box_refuse(lab->box, LAB_TARGET, "{\"n\": 5}", 4242);
    box_deny(lab->box, "insert", "c", 0, 1);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SERVER);
    assert_says(lab->err.text, "--drop has dropped");
}

/* Loads of nothing have made a catalog: what others put there is theirs all the same. */
LAB_TEST(documents_beside_an_empty_catalog, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 0);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    box_insert(lab->box, LAB_TARGET, "{\"_id\": 1, \"of\": \"someone else\"}");
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "catalog knows of none");
    lab->load.append = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 31);
}

/* The catalog keeps --append, also where the load that was given it had no record to load. */
LAB_TEST(append_of_nothing, lab_open(lab, BOX_STANDALONE)) {
    box_insert(lab->box, LAB_TARGET, "{\"_id\": \"text\", \"of\": \"someone else\"}");
    lab_write_rows("a.csv", 0, 0);
    lab->load.append = true;
    /* a server that crashed may have forgotten how many documents there are */
    box_fault(lab->box,
              &(box_fault_t){
                  .command = "count", .collection = "c", .times = 100, .reply = "{\"ok\": 1, \"n\": 0}"});
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said, "d.c holds 1 document already");
    box_end_faults(lab->box);
    lab->load.append = false;
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 31);
}

static void make_again(void *context) {
    lab_t *lab = context;
    box_drop(lab->box, LAB_TARGET);
    box_insert(lab->box, LAB_TARGET, "{\"_id\": 1, \"of\": \"someone else\"}");
}

/* Someone drops the collection and makes it again at the same moment: the new one is dropped as well. */
LAB_TEST(drop_of_what_was_made_again, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab->load.drop = true;
    box_watch(lab->box, "drop", "c", 0, 1, make_again, lab);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 30);
}

/* Documents of others are expected from the first load on that is not refused: where one has an `_id` that it would give, it is. */
LAB_TEST(append, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 30);
    lab_write_rows("b.csv", 30, 40);
    lab->load.append = true;
    box_insert(lab->box, LAB_TARGET, "{\"_id\": 7}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "the _id 7,");
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"appends\": {\"$exists\": true}}"), 0);
    box_delete(lab->box, LAB_TARGET, "{\"_id\": 7}");
    box_insert(lab->box, LAB_TARGET, "{\"_id\": \"of others\"}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"appends\": true}"), 1);
    lab->load.append = false;
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 41);
}

/* Who may not drop has changed nothing: other loads go on. */
LAB_TEST(drop_that_is_refused, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab->load.drop = true;
    box_deny(lab->box, "drop", "c", 0, 1);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 30);
    lab->load.drop = false;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.records_skipped, 30);
}

/* Nothing was there to be dropped; now there is. */
LAB_TEST(drop_of_nothing, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 300);
    lab->load.drop = true;
    lab->load.batch = 100;
    box_deny(lab->box, "insert", "c", 2, 1);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SERVER);
    assert_says(lab->err.text, "without --drop");
}

/* What must not be loaded into is refused, and stays as it is. */
LAB_TEST(refused_targets, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 30);
    box_insert(lab->box, LAB_TARGET, "{\"_id\": 1, \"of\": \"someone else\"}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "(it has no catalog)");
    box_drop(lab->box, LAB_TARGET);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);

    lab->load.filters = (char *[]){"n>=5"};
    lab->load.filter_count = 1;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c was loaded without --filter");
    lab->load.filter_count = 0;

    lab_write("rows.yaml", "format: rows\nrecord: {delimiter: [\",\"], header: yes}\n"
                           "fields:\n  - {name: n, type: int, key: m}\n  - {name: w}\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "the format 'rows' has changed since d.c was loaded");
    lab_write_format();

    box_delete(lab->box, LAB_TARGET, "{}");
    lab_write_rows("b.csv", 0, 7);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "its catalog has 30 documents");

    box_drop(lab->box, LAB_TARGET);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c is gone");
    lab->load.dry_run = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    lab->load.dry_run = false;

    box_insert(lab->box, LAB_TARGET, "{\"_id\": 1}");
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c is not the collection");

    box_update(lab->box, LAB_FILES, "{\"_id\": \"catalog\"}", "{\"$set\": {\"layout\": 99}}");
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "in another layout (99");

    box_delete(lab->box, LAB_FILES, "{\"_id\": \"catalog\"}");
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "its header was removed");
}

/* A copy that a user vouches for is read back, and nothing of it is sent again. */
LAB_TEST(same_collection, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 30);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    box_update(lab->box, LAB_FILES, "{\"_id\": \"catalog\"}",
               "{\"$set\": {\"uuid\": {\"$binary\": {\"base64\": \"AAECAwQFBgcICQoLDA0ODw==\", \"subType\": "
               "\"04\"}}}}");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "--same-collection");
    assert_status(lab, lab_retry(lab, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "restored");
    lab->load.same_collection = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 30, 0, 30, 0);
}

LAB_TEST(options_of_the_collection, lab_open(lab, BOX_STANDALONE)) {
    static char *indexes[] = {"n:1,w:-1"};
    lab_write_rows("a.csv", 0, 30);
    lab->load.create = "{\"clusteredIndex\": false, \"collation\": {\"locale\": \"en\", \"strength\": 2}}";
    lab->load.compressor = "zstd";
    lab->load.indexes = indexes;
    lab->load.index_count = 1;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_asked(lab, "create", "c",
                 "{\"clusteredIndex\": {\"$exists\": false}, \"collation.locale\": \"en\", "
                 "\"storageEngine.wiredTiger.configString\": \"block_compressor=zstd\"}");
    assert_asked(lab, "createIndexes", "c", "{\"indexes.0.key\": {\"n\": 1, \"w\": -1}}");
    assert_int_equal(lab->loaded.index_count, 1);
    /* a collection that exists keeps its options */
    lab->load.compressor = "snappy";
    lab->load.create = "{\"collation\": {\"locale\": \"fr\"}}";
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_says(lab->said, "{ \"collation\" : { \"locale\" : \"fr\" } } and --compressor snappy");
    assert_int_equal(box_asked(lab->box, "create", "c"), 1);
}

/* ---- slower than it could ---- */

LAB_TEST(max_rate, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 400);
    lab->load.max_rate = 2000;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 400, 400, 0, 0);
    assert_int_equal(lab->loaded.batch, 200); /* ten a second */
    assert_true(lab->loaded.took_ns >= 90000000);
}

/* With --max-rate auto batches are small, and the load begins slowly; it does not go with --unsafe. */
LAB_TEST(max_rate_auto, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 6000);
    lab->load.max_rate_auto = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 6000, 6000, 0, 0);
    assert_int_equal(lab->loaded.batch, 100);
    assert_true(lab->loaded.throttled_ns > 0);
    assert_says(lab->loaded.throttled_by, "--max-rate auto");
    lab->load.unsafe = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
}

/* --copies: each input once more, with _ids of its own; a second run finds all of them. */
LAB_TEST(copies, lab_open(lab, BOX_STANDALONE)) {
    lab_write_rows("a.csv", 0, 40);
    lab->load.copies = 3;
    lab->load.dry_run = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.counts.read, 120);
    lab->load.dry_run = false;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.counts.of[FATE_LOADED], 120);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 7}"), 3);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.counts.read, 0);
    lab->verify.load.copies = 3;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.same, 120);
    lab->load.id = "n";
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
}

/* Local times that there were twice are counted, with the places of the first. */
LAB_TEST(ambiguous_times, lab_open(lab, BOX_STANDALONE)) {
    lab_write("rows.yaml", "format: rows\nrecord: {delimiter: \",\", header: yes}\ntimezone: Europe/Berlin\n"
                           "fields: [{name: n, type: datetime, pattern: YYYY-MM-DD hh:mm}]\n");
    lab_write("a.csv", "n\n2024-10-27 02:30\n2024-10-27 03:30\n2024-10-27 02:00\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.ambiguous_times, 2);
    assert_string_equal(lab->loaded.ambiguous_first, "a.csv:2, a.csv:4");
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": {\"$date\": \"2024-10-27T00:30:00Z\"}}"), 1);
}
