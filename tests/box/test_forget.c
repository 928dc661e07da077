/* Inputs taken out of the catalog, with their documents and without. */
#include "load_lab.h"
#include "test.h"

static void load_two(lab_t *lab) {
    lab_open(lab, BOX_REPLICA_SET);
    lab_write_rows("a.csv", 0, 30);
    lab_write_rows("b.csv", 100, 140);
    assert_status(lab, lab_load(lab, "a.csv", "b.csv"), STATUS_OK);
    lab_shorten_lease(lab);
}

LAB_TEST(with_documents, load_two(lab)) {
    assert_status(lab, lab_forget(lab, true, "a.csv"), STATUS_OK);
    assert_int_equal(lab->outcomes[0], FORGET_DONE);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 40);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": {\"$lt\": 100}}"), 0);
    assert_int_equal(
        box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"removed\": true, \"remains\": false}"), 1);
    /* once more there is nothing of it; and it can be loaded again, as a new input */
    assert_status(lab, lab_forget(lab, true, "a.csv"), STATUS_OK);
    assert_int_equal(lab->outcomes[0], FORGET_NOTHING);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    assert_counts(lab, 30, 30, 0, 0);
    assert_status(lab, lab_verify(lab, "a.csv", "b.csv"), STATUS_OK);
}

/* The input that was registered next begins right after the last block of this one, and keeps its first document. */
LAB_TEST(of_several_blocks, lab_open(lab, BOX_REPLICA_SET)) {
    lab_write(
        "bare.yaml",
        "format: bare\nrecord: {delimiter: \",\", header: no}\nfields: [{name: n, type: int}, {name: w}]\n");
    lab->load.format = lab->verify.load.format =
        "./bare.yaml"; /* so that a record begins where its input does */
    lab_write_wide_rows("a.csv", 0, 1200);
    lab_write("b.csv", "1,x\n2,y\n");
    assert_status(lab, lab_load(lab, "a.csv", "b.csv"), STATUS_OK);
    lab_shorten_lease(lab);
    assert_status(lab, lab_forget(lab, true, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 2);
    assert_status(lab, lab_verify(lab, "b.csv"), STATUS_OK);
}

/* Without --delete an input goes only when no document of it is there. */
LAB_TEST(without_documents, load_two(lab)) {
    assert_status(lab, lab_forget(lab, false, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "--delete removes them");
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"pieces.owner\": null, \"pieces.epoch\": 1}"), 2);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 70);
    box_delete(lab->box, LAB_TARGET, "{\"n\": {\"$lt\": 100}}");
    assert_status(lab, lab_forget(lab, false, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"removed\": true}"), 1);
}

/* By a path under which it was recognised nothing is removed: another file may be there. The sentence says how to name it. */
LAB_TEST(known_by_another_path, load_two(lab)) {
    assert_int_equal(mkdir("old", 0700), 0);
    assert_int_equal(rename("a.csv", "old/a.csv"), 0);
    assert_status(lab, lab_load(lab, "old/a.csv"), STATUS_OK);
    assert_counts(lab, 0, 0, 0, 0);
    assert_status(lab, lab_forget(lab, true, "old/a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "give it as a.csv");
    assert_status(lab, lab_forget(lab, true, "old/b.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "old/b.csv is not in");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 70);
}

/* A load that did not know of the removal has sent more of it: that is found, and said. */
LAB_TEST(late_documents, load_two(lab)) {
    bson_t *document = box_one(lab->box, LAB_TARGET, "{\"n\": 7}");
    char *json = bson_as_canonical_extended_json(document, NULL);
    assert_status(lab, lab_forget(lab, true, "a.csv"), STATUS_OK);
    box_insert(lab->box, LAB_TARGET, json);
    assert_status(lab, lab_forget(lab, true, "a.csv"), STATUS_OK);
    assert_int_equal(lab->outcomes[0], FORGET_LATE);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 7}"), 0);
    bson_free(json);
    bson_destroy(document);
}

/* Another collection of that name may be someone else's: what stands in the places of an input stays. */
LAB_TEST(made_again, load_two(lab)) {
    box_drop(lab->box, LAB_TARGET);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_USAGE);
    box_insert(lab->box, LAB_TARGET, "{\"_id\": {\"$numberLong\": \"5\"}, \"theirs\": 1}");
    for (int documents = 0; documents < 2; documents++) {
        assert_status(lab, lab_forget(lab, documents, "a.csv"), STATUS_USAGE);
        assert_says(lab->err.text, "d.c is not the collection");
    }
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"theirs\": 1}"), 1);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"path\": \"a.csv\", \"removed\": true}"), 0);
}

LAB_TEST(refused, lab_open(lab, BOX_STANDALONE)) {
    assert_status(lab, lab_forget(lab, true, "a.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c has no catalog");
    lab_close(lab);
    load_two(lab);
    /* all are looked up before any is touched */
    assert_status(lab, lab_forget(lab, true, "a.csv", "nobody.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "nobody.csv is not in");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 70);
}

/* Whoever loads it must end first: one that gives signs of life is named, one that gives none loses it. */
TEST(being_loaded) {
    for (int alive = 0; alive < 2; alive++) {
        lab_t lab;
        load_two(&lab);
        lab_other_load(&lab, "1970-01-01T00:00:00.001Z");
        box_update(lab.box, LAB_FILES, "{\"path\": \"a.csv\"}",
                   "{\"$set\": {\"pieces.0.owner\": " LAB_OTHER "}}");
        if (alive)
            box_watch(lab.box, "find", "c.tipple.loads", 0, 1000, lab_other_beats, &lab);
        assert_status(&lab, lab_forget(&lab, true, "a.csv"), alive ? STATUS_USAGE : STATUS_OK);
        if (alive)
            assert_says(lab.err.text, "a.csv is being loaded (process 7 on elsewhere): stop that load first");
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), alive ? 70 : 40);
        lab_close(&lab);
    }
}

/* Several are taken out of the catalog before the first document is removed, so that one lease is waited for all. */
static int deletes;

static void note_tombstones(void *context) {
    lab_t *lab = context;
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"removed\": true}"), 2);
    deletes++;
}

LAB_TEST(several, load_two(lab)) {
    deletes = 0;
    /* The first only asks whether it may. */
    box_watch(lab->box, "delete", "c", 1, 1000, note_tombstones, lab);
    assert_status(lab, lab_forget(lab, true, "b.csv", "a.csv"), STATUS_OK);
    assert_true(deletes >= 2);
    assert_int_equal(lab->outcomes[0], FORGET_DONE);
    assert_int_equal(lab->outcomes[1], FORGET_DONE);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 0);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"removed\": true, \"remains\": false}"), 2);
}

/* One of several that cannot be removed: none is. */
LAB_TEST(several_refused, load_two(lab)) {
    box_delete(lab->box, LAB_TARGET, "{\"n\": {\"$lt\": 100}}");
    assert_status(lab, lab_forget(lab, false, "a.csv", "b.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "documents of b.csv are in the collection");
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"removed\": true}"), 0);
    assert_status(lab, lab_forget(lab, false, "a.csv", "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_FILES, "{\"removed\": true}"), 1);
}

/* The answer to a delete is lost: it is made again, which is harmless. */
LAB_TEST(lost_reply, load_two(lab)) {
    box_fault(lab->box, &(box_fault_t){.command = "delete", .collection = "c", .after = 1, .does = true});
    assert_status(lab, lab_forget(lab, true, "a.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 40);
}

/* Two of one name: the first was moved, and another file came. */
static void load_two_of_name(lab_t *lab, const char *name) {
    lab_open(lab, BOX_REPLICA_SET);
    lab_write_rows(name, 0, 30);
    assert_status(lab, lab_load(lab, (char *)name), STATUS_OK);
    char moved[40];
    snprintf(moved, sizeof moved, "old/%s", name);
    assert_int_equal(mkdir("old", 0700), 0);
    assert_int_equal(rename(name, moved), 0);
    lab_write_rows(name, 100, 140);
    assert_status(lab, lab_load(lab, moved, (char *)name), STATUS_OK);
    lab_shorten_lease(lab);
}

/* The same command once more removes nothing else. */
LAB_TEST(two_of_name, load_two_of_name(lab, "day.csv")) {
    assert_status(lab, lab_forget(lab, true, "day.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "meant by day.csv: day.csv#0, day.csv#1.");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 70);
    assert_status(lab, lab_forget(lab, true, "day.csv#2"), STATUS_USAGE);
    for (int again = 0; again < 2; again++) {
        assert_status(lab, lab_forget(lab, true, "day.csv#1"), STATUS_OK);
        assert_int_equal(lab->outcomes[0], again ? FORGET_NOTHING : FORGET_DONE);
        assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": {\"$lt\": 100}}"), 30);
        assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 30);
    }
    /* what is left may not be what is meant: the newest one was removed */
    for (int documents = 0; documents < 2; documents++) {
        assert_status(lab, lab_forget(lab, documents, "./day.csv"), STATUS_OK);
        assert_int_equal(lab->outcomes[0], FORGET_NOTHING);
        assert_says(lab->said, "give it as day.csv#0");
        assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 30);
    }
    assert_status(lab, lab_forget(lab, true, "day.csv#0"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 0);
    /* one that came since then is meant */
    assert_status(lab, lab_load(lab, "day.csv"), STATUS_OK);
    assert_status(lab, lab_forget(lab, true, "day.csv"), STATUS_OK);
    assert_int_equal(lab->outcomes[0], FORGET_DONE);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 0);
}

/* The older one can be removed, and then the other one by its name. */
LAB_TEST(older_of_name, load_two_of_name(lab, "day.csv")) {
    assert_status(lab, lab_forget(lab, true, "day.csv#0"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": {\"$lt\": 100}}"), 0);
    assert_status(lab, lab_forget(lab, true, "day.csv"), STATUS_OK);
    assert_int_equal(lab->outcomes[0], FORGET_DONE);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 0);
}

/* A file that is really called as another one is addressed. */
LAB_TEST(named_as_addressed, load_two_of_name(lab, "day.csv")) {
    lab_write_rows("day.csv#1", 200, 250);
    assert_status(lab, lab_load(lab, "day.csv#1"), STATUS_OK);
    assert_status(lab, lab_forget(lab, true, "day.csv"), STATUS_USAGE);
    assert_says(lab->err.text, "day.csv#0, day.csv#01.");
    assert_status(lab, lab_forget(lab, true, "day.csv#1"), STATUS_USAGE);
    assert_says(lab->err.text, "could be meant by day.csv#1: day.csv#1#2, day.csv#01.");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 120);
    assert_status(lab, lab_forget(lab, true, "day.csv#1#2"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": {\"$lt\": 200}}"), 70);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 70);
    /* the file is meant, as before, and not what its name addresses */
    assert_status(lab, lab_forget(lab, true, "day.csv#1"), STATUS_OK);
    assert_int_equal(lab->outcomes[0], FORGET_NOTHING);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 70);
    assert_status(lab, lab_forget(lab, true, "day.csv#01"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": {\"$lt\": 100}}"), 30);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 30);
}
