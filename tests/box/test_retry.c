/* Rejects that a user has fixed, or left out, and what the catalog knows of them. */
#include "load_lab.h"
#include "test.h"

/* Both rejects of reject_two, by their offsets and hashes, as the catalog has them when they are fixed for good. */
#define CONFIRMED                                                                                            \
    "{\"fixes.8-eaf06c6480b2cd11.confirmed\": true, \"fixes.14-272b57e6d7c0a9e5.confirmed\": true}"

/* a.csv with two rejects, in lines 3 and 5, loaded; its reject file is kept.rejects. */
static void reject_two(lab_t *lab, box_kind_t kind) {
    lab_open(lab, kind);
    lab_write("a.csv", "n,w\n1,a\nx\n2,b\ny\n3,c\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, 5, 3, 0, 2);
    assert_int_equal(rename("c.rejects", "kept.rejects"), 0);
}

/* The lines of kept.rejects that are records, in the order of the file, with others in their places; NULL: left as it
 * is; "": deleted. */
static void fix(const char *name, const char *first, const char *second) {
    const char *const fixes[] = {first, second};
    FILE *from = fopen("kept.rejects", "r"), *to = fopen(name, "w");
    char *line = NULL;
    size_t size = 0, number = 0;
    assert_true(from && to);
    while (getline(&line, &size, from) > 0) {
        const char *fixed = line[0] == '#' || number == 2 ? NULL : fixes[number++];
        if (!fixed)
            fputs(line, to);
        else if (*fixed)
            fprintf(to, "%s\n", fixed);
    }
    assert_int_equal(number, 2);
    free(line);
    fclose(from);
    fclose(to);
}

static size_t open_of(lab_t *lab) {
    lab_load(lab, "a.csv");
    return lab->loaded.open_rejects;
}

TEST(fixed) {
    for (box_kind_t kind = BOX_STANDALONE; kind <= BOX_REPLICA_SET; kind++) {
        lab_t lab;
        reject_two(&lab, kind);
        fix("fixed.rejects", "7,seven", "8,eight");
        assert_status(&lab, lab_retry(&lab, "fixed.rejects"), STATUS_OK);
        assert_counts(&lab, 2, 2, 0, 0);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 7, \"w\": \"seven\"}"), 1);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 5);
        assert_int_equal(open_of(&lab), 0);
        assert_int_equal(lab.err.status, STATUS_OK);
        /* the same again is harmless */
        assert_status(&lab, lab_retry(&lab, "fixed.rejects"), STATUS_OK);
        assert_counts(&lab, 2, 0, 2, 0);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 5);
        /* verify knows them, with and without the file */
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(lab.verified.counts.fixed, 2);
        lab.verify.retry = (char *[]){"fixed.rejects"};
        lab.verify.retry_count = 1;
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(lab.verified.counts.fixed, 2);
        /* and misses them */
        lab.verify.retry_count = 0;
        box_delete(lab.box, LAB_TARGET, "{\"n\": 7}");
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_DIFFERENT);
        size_t count;
        const difference_t *missing = differences_of(lab.verified.differences, DIFFERENCE_MISSING, &count);
        assert_int_equal(count, 1);
        assert_int_equal(missing->line, 3);
        assert_says(missing->why, "it was fixed to");
        lab_close(&lab);
    }
}

/* A line that was deleted leaves its record out for good. */
LAB_TEST(left_out, reject_two(lab, BOX_REPLICA_SET)) {
    fix("fixed.rejects", "", "8,eight");
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    assert_counts(lab, 1, 1, 0, 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 4);
    assert_int_equal(open_of(lab), 0);
    /* a load that begins anew counts it as filtered */
    lab_forget_progress(lab, "a.csv");
    assert_int_equal(open_of(lab), 0);
    assert_int_equal(lab->loaded.counts.of[FATE_FILTERED], 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 4);
}

/* The file as a kill, or a full disk, has left it: what is there of the second record makes a document. */
LAB_TEST(cut_off, lab_open(lab, BOX_REPLICA_SET)) {
    lab_write("a.csv", "n,w\n1,a\nx\n7,eight,nine\n3,c\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, 4, 2, 0, 2);
    assert_int_equal(rename("c.rejects", "kept.rejects"), 0);
    fix("cut.rejects", "2,b", NULL);
    struct stat status;
    assert_int_equal(stat("cut.rejects", &status), 0);
    assert_int_equal(truncate("cut.rejects", status.st_size - (off_t)strlen(",nine\n")), 0);
    assert_status(lab, lab_retry(lab, "cut.rejects"), STATUS_SOME_REJECTED);
    assert_says(lab->said, "record was cut off");
    assert_counts(lab, 1, 1, 0, 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 7}"), 0);
    assert_int_equal(open_of(lab), 1);
    /* with its line ended it is what a user wants */
    FILE *file = fopen("cut.rejects", "a");
    assert_true(file && fputs("\n", file) >= 0 && fclose(file) == 0);
    assert_status(lab, lab_retry(lab, "cut.rejects"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 7, \"w\": \"eight\"}"), 1);
    assert_int_equal(open_of(lab), 0);
}

/* A record that is still wrong stays open, and goes into the next reject file. */
LAB_TEST(still_wrong, reject_two(lab, BOX_STANDALONE)) {
    fix("fixed.rejects", "7,seven,too many", "8,eight");
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_SOME_REJECTED);
    assert_counts(lab, 2, 1, 0, 1);
    assert_int_equal(open_of(lab), 1);
    char *next = lab_read("c.rejects");
    assert_says(next, "\n7,seven,too many\n");
    free(next);
    /* that is still the same record, whatever has become of its bytes */
    assert_int_equal(system("sed -i 's/^7,seven,too many$/7,seven/' c.rejects"), 0);
    assert_status(lab, lab_retry(lab, "c.rejects"), STATUS_OK);
    assert_counts(lab, 1, 1, 0, 0);
    assert_int_equal(open_of(lab), 0);
}

/* Two people fix one record differently: the first one's document stays, the other one's is a reject. */
LAB_TEST(two_fixes, reject_two(lab, BOX_REPLICA_SET)) {
    fix("mine.rejects", "7,mine", "8,eight");
    fix("yours.rejects", "7,yours", "8,eight");
    assert_status(lab, lab_retry(lab, "mine.rejects"), STATUS_OK);
    assert_status(lab, lab_retry(lab, "yours.rejects"), STATUS_SOME_REJECTED);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"w\": \"mine\"}"), 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"w\": \"yours\"}"), 0);
}

/* What was sent is confirmed only when it lasts: a reply that is lost is asked for again. */
LAB_TEST(lost_reply, reject_two(lab, BOX_REPLICA_SET)) {
    fix("fixed.rejects", "7,seven", "8,eight");
    box_fault(lab->box, &(box_fault_t){.command = "insert", .collection = "c", .does = true});
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    assert_int_equal(lab->loaded.counts.of[FATE_LOADED] + lab->loaded.counts.of[FATE_THERE], 2);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 5);
    assert_int_equal(open_of(lab), 0);
}

/* A retry that ends well has written down what it fixed. Whichever of its writes to the catalog is refused, it does not end
 * well, and the same command brings it to its end. */
TEST(not_written_down) {
    enum { TAKEN, NOTED, CONFIRMED_ALL, GIVEN_BACK, WRITES };
    for (uint32_t at = 0; at < 2 * WRITES; at++) {
        const uint32_t write = at % WRITES;
        lab_t lab;
        reject_two(&lab, BOX_REPLICA_SET);
        lab_shorten_lease(&lab);
        fix("fixed.rejects", "7,seven", "8,eight");
        box_deny(lab.box, "update", "c.tipple.files", write, at < WRITES ? 1 : 1000);
        const bool ok = lab_retry(&lab, "fixed.rejects") == STATUS_OK;
        box_end_faults(lab.box);
        assert_true(ok == (write == GIVEN_BACK)); /* a lease gives it back, too */
        assert_int_equal(box_count(lab.box, LAB_FILES, CONFIRMED), ok);
        if (!ok)
            assert_says(lab.err.text, "not authorized");
        assert_status(&lab, lab_retry(&lab, "fixed.rejects"), STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_FILES, CONFIRMED), 1);
        assert_int_equal(open_of(&lab), 0);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 5);
        lab_close(&lab);
    }
}

/* A fixed record that the server refuses is still a reject. */
LAB_TEST(refused_by_the_server, reject_two(lab, BOX_STANDALONE)) {
    fix("fixed.rejects", "7,seven", "8,eight");
    box_refuse(lab->box, LAB_TARGET, "{\"n\": 7}", 121);
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_SOME_REJECTED);
    assert_counts(lab, 2, 1, 0, 1);
    assert_int_equal(open_of(lab), 1);
}

/* Of two entries for one record the first one counts. */
LAB_TEST(fixed_twice, reject_two(lab, BOX_STANDALONE)) {
    fix("first.rejects", "7,seven", "8,eight");
    fix("second.rejects", "7,zeven", "8,acht");
    assert_int_equal(system("(cat first.rejects; sed '1,/^# marked/d' second.rejects) >fixed.rejects"), 0);
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_SOME_REJECTED);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"w\": {\"$in\": [\"seven\", \"eight\"]}}"), 2);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 5);
}

/* An entry that leaves a record out does not hide that another one still fails. */
LAB_TEST(left_out_and_wrong, reject_two(lab, BOX_STANDALONE)) {
    fix("first.rejects", "", "8,eight");
    fix("second.rejects", "7,seven,too many", "8,eight");
    assert_int_equal(system("(cat first.rejects; sed '1,/^# marked/d' second.rejects) >fixed.rejects"), 0);
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_SOME_REJECTED);
    assert_counts(lab, 2, 1, 0, 1);
    assert_int_equal(open_of(lab), 1);
}

/* What a user has put there counts: the same document is there already. */
LAB_TEST(there_already, reject_two(lab, BOX_STANDALONE)) {
    fix("fixed.rejects", "7,seven", "8,eight");
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    box_update(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}", "{\"$unset\": {\"fixes\": true}}");
    assert_int_equal(open_of(lab), 2);
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    assert_counts(lab, 2, 0, 2, 0);
    assert_int_equal(open_of(lab), 0);
}

/* A load that begins anew meets what records were fixed to, and leaves it. */
LAB_TEST(load_after_a_fix, reject_two(lab, BOX_REPLICA_SET)) {
    fix("fixed.rejects", "7,seven", "8,eight");
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    lab_forget_progress(lab, "a.csv");
    assert_true(lab_load(lab, "a.csv") <= STATUS_SOME_REJECTED);
    assert_int_equal(lab->loaded.open_rejects, 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 5);
}

/* The record was fixed when it was cut off, and is whole now: nobody knows which of both counts. */
LAB_TEST(fixed_before_it_grew, lab_open(lab, BOX_STANDALONE)) {
    lab_write("a.csv", "n,w\n1,a\nx\n2,b\n3");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(rename("c.rejects", "kept.rejects"), 0);
    fix("fixed.rejects", "7,seven", "3,as a user thinks");
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 4);
    lab_write("a.csv", "n,w\n1,a\nx\n2,b\n3,as it is\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_says(lab->said, "the record was fixed");
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"w\": \"as it is\"}"), 0);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"w\": \"as a user thinks\"}"), 1);
}

/* ---- refused ---- */

LAB_TEST(refused, reject_two(lab, BOX_STANDALONE)) {
    assert_status(lab, lab_retry(lab, "nothing.rejects"), STATUS_USAGE);
    assert_says(lab->err.text, "the reject file nothing.rejects cannot be read");
    lab_write("other.rejects", "1,a\n");
    assert_status(lab, lab_retry(lab, "other.rejects"), STATUS_USAGE);
    assert_says(lab->err.text, "other.rejects");
    /* the input is not known to this catalog any more */
    lab_shorten_lease(lab);
    assert_status(lab, lab_forget(lab, true, "a.csv"), STATUS_OK);
    fix("fixed.rejects", "7,seven", "8,eight");
    lab_retry(lab, "fixed.rejects");
    assert_int_not_equal(lab->err.status, STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 0);
    box_drop(lab->box, LAB_TARGET);
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_USAGE);
    assert_says(lab->err.text, "d.c does not exist");
}

/* Another load has the input: the retry waits until it has ended. */
LAB_TEST(waits_for_another_load, reject_two(lab, BOX_REPLICA_SET)) {
    fix("fixed.rejects", "7,seven", "8,eight");
    lab_other_load(lab, "1970-01-01T00:00:00.001Z");
    box_update(lab->box, LAB_FILES, "{\"path\": \"a.csv\"}",
               "{\"$set\": {\"pieces.0.owner\": " LAB_OTHER "}}");
    box_watch(lab->box, "find", "c.tipple.loads", 2, 1, lab_other_ends, lab);
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    assert_counts(lab, 2, 2, 0, 0);
    assert_true(box_asked(lab->box, "find", "c.tipple.loads") > 2);
    assert_int_equal(open_of(lab), 0);
}
