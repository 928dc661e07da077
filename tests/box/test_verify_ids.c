/* What verify finds where the `_id`s are the data's own: documents are asked for one by one. */
#include "load_lab.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 1100, OTHERS = 10 }; /* more than are asked for at once */

static void load_rows(lab_t *lab, const char *existing) {
    lab_open(lab, BOX_REPLICA_SET);
    lab->load.id = "n";
    lab->load.existing = existing;
    lab_write_rows("a.csv", 0, ROWS);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
}

static void expect(lab_t *lab, difference_kind_t kind, uint64_t count, const char *words) {
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_DIFFERENT);
    assert_int_equal(differences_count(lab->verified.differences, kind), count);
    assert_int_equal(differences_total(lab->verified.differences), count);
    assert_says(lab->err.text, words);
}

TEST(all_is_well) {
    static const char *const ways[] = {NULL, "keep", "replace"};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        lab_t lab;
        load_rows(&lab, ways[i]);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(lab.verified.counts.records, ROWS);
        assert_int_equal(lab.verified.counts.same, ROWS);
        assert_int_equal(lab.verified.all_documents, ROWS);
        lab_write_rows("b.csv", ROWS, ROWS + OTHERS);
        assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_OK);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(lab.verified.other_documents, OTHERS);
        lab_close(&lab);
    }
}

LAB_TEST(differences, load_rows(lab, NULL)) {
    box_delete(lab->box, LAB_TARGET, "{\"_id\": {\"$in\": [10, 11, 50]}}");
    expect(lab, DIFFERENCE_MISSING, 3, "3 missing");
    lab_close(lab);

    load_rows(lab, NULL);
    box_update(lab->box, LAB_TARGET, "{\"_id\": 7}", "{\"$set\": {\"w\": \"other\"}}");
    expect(lab, DIFFERENCE_CHANGED, 1, "1 changed");
    size_t count;
    const difference_t *changed = differences_of(lab->verified.differences, DIFFERENCE_CHANGED, &count);
    assert_int_equal(count, 1);
    assert_string_equal(changed->name, "a.csv");
    lab_close(lab);

    load_rows(lab, NULL);
    box_insert(lab->box, LAB_TARGET, "{\"_id\": 4711, \"w\": \"a user's\"}");
    expect(lab, DIFFERENCE_UNRELATED, 1, "1 unrelated");
}

/* Two records of one _id: which document is expected is for --existing to say. */
TEST(records_of_one_id) {
    static const struct {
        const char *existing;
        status_t loads;
        uint64_t rejected, same;
    } cases[] = {
        {"reject", STATUS_SOME_REJECTED, 1, 2}, {"keep", STATUS_OK, 0, 2}, {"replace", STATUS_OK, 0, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        lab_open(&lab, BOX_REPLICA_SET);
        lab.load.id = "n";
        lab.load.existing = cases[i].existing;
        lab_write("b.csv", "n,w\n1,first\n2,b\n1,last\n");
        assert_status(&lab, lab_load(&lab, "b.csv"), cases[i].loads);
        assert_int_equal(lab.loaded.counts.of[FATE_REJECTED], cases[i].rejected);
        assert_status(&lab, lab_verify(&lab, "b.csv"), STATUS_OK);
        assert_int_equal(lab.verified.all_documents, 2);
        assert_int_equal(lab.verified.counts.expected, 2);
        const bool last = strcmp(cases[i].existing, "replace") == 0;
        assert_int_equal(box_count(lab.box, LAB_TARGET, last ? "{\"w\": \"last\"}" : "{\"w\": \"first\"}"),
                         1);
        box_update(lab.box, LAB_TARGET, "{\"_id\": 2}", "{\"$set\": {\"w\": \"c\"}}");
        /* what was there before may be kept, whatever it is */
        assert_status(&lab, lab_verify(&lab, "b.csv"),
                      strcmp(cases[i].existing, "keep") == 0 ? STATUS_OK : STATUS_DIFFERENT);
        /* but not that it is gone */
        box_delete(lab.box, LAB_TARGET, "{\"_id\": 2}");
        assert_status(&lab, lab_verify(&lab, "b.csv"), STATUS_DIFFERENT);
        assert_int_equal(differences_count(lab.verified.differences, DIFFERENCE_MISSING), 1);
        lab_close(&lab);
    }
}

static void swap_one(void *context) {
    lab_t *lab = context;
    if (!box_count(lab->box, LAB_TARGET, "{\"_id\": 1}"))
        return;
    box_delete(lab->box, LAB_TARGET, "{\"_id\": 1}");
    box_insert(lab->box, LAB_TARGET, "{\"_id\": 99}");
}

/* A fixed record, whose `_id` only its document says, is looked for among all documents. A stray one does not stand for
 * another one that was removed meanwhile. */
LAB_TEST(fixed_and_stray, lab_open(lab, BOX_REPLICA_SET)) {
    lab->load.id = "n";
    lab_write("a.csv", "n,w\n1,a\nx\n7,b\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(rename("c.rejects", "fixed.rejects"), 0);
    lab_replace("fixed.rejects", "\nx\n", "\n5,e\n");
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.seen, 3);
    assert_int_equal(lab->verified.all_documents, 3);
    /* the first is for what there is, the second for the block, the third for the rest */
    box_watch(lab->box, "find", "c", 2, 1, swap_one, lab);
    expect(lab, DIFFERENCE_UNRELATED, 1, "1 unrelated");
    box_delete(lab->box, LAB_TARGET, "{\"_id\": {\"$in\": [5, 99]}}");
    expect(lab, DIFFERENCE_MISSING, 2, "2 missing");
    lab->verify.retry = (char *[]){"fixed.rejects"};
    lab->verify.retry_count = 1;
    expect(lab, DIFFERENCE_MISSING, 2, "2 missing");
}

static void changed_is(lab_t *lab, size_t at, uint64_t line, const char *expected) {
    size_t count;
    const difference_t *found = differences_of(lab->verified.differences, DIFFERENCE_CHANGED, &count);
    assert_true(at < count);
    assert_int_equal(found[at].line, line);
    assert_string_equal(found[at].changed->field, "n");
    assert_says(found[at].changed->stored, "7");
    assert_says(found[at].changed->expected, expected);
    assert_int_equal(found[at].changed->more, 0);
}

/* Only the `_id` and a hash of a long document are kept: where it differs it is made again, of its record or of its fix. */
LAB_TEST(long_documents, lab_open(lab, BOX_REPLICA_SET)) {
    enum { LONG = 5 << 20 };
    char *text = malloc(2 * LONG + 100), *body = malloc(LONG + 1);
    assert_true(text && body);
    memset(body, 'w', LONG);
    body[LONG] = '\0';
    sprintf(text, "n,w\n1,a\n2,b%s\n3,c\nx%s\n5,e\n", body, body);
    lab->load.id = "n";
    lab_write("a.csv", text);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(rename("c.rejects", "fixed.rejects"), 0);
    lab_replace("fixed.rejects", "\nx", "\n4,d");
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    lab->verify.retry = (char *[]){"fixed.rejects"};
    lab->verify.retry_count = 1;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.same, 5);
    /* of the same length */
    box_update(lab->box, LAB_TARGET, "{\"_id\": {\"$in\": [2, 4]}}", "{\"$set\": {\"n\": 7}}");
    expect(lab, DIFFERENCE_CHANGED, 2, "2 changed");
    changed_is(lab, 0, 3, "2");
    changed_is(lab, 1, 5, "4");
    box_delete(lab->box, LAB_TARGET, "{\"_id\": {\"$in\": [2, 4]}}");
    expect(lab, DIFFERENCE_MISSING, 2, "2 missing");
    free(text);
    free(body);
}
