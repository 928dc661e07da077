/* By which dialect are an input's records read? By the one that its first whole line tells, for as long as the catalog knows
 * the input: whatever the file had grown to, or lacked, when a load met it. */
#include "load_lab.h"
#include "test.h"

#include <fcntl.h>

static void use_format(lab_t *lab, const char *text) {
    lab_write("rows.yaml", text);
    lab->load.format = lab->verify.load.format = "./rows.yaml";
}

static const char HEADED[] =
    "format: rows\nrecord: {delimiter: [\";\", \",\"], header: yes}\n"
    "fields: [{name: id, type: int}, {name: net, optional: yes}, {name: tax, optional: yes}]\n";
static const char HEADLESS[] = "format: rows\nrecord: {delimiter: [\";\"], header: no}\n"
                               "fields: [{name: id, type: int}, {name: a}, {name: b}]\n"
                               "layouts: [[id, a], [id, a, b]]\n";

/* What there was of the file at first does not say which columns it has. */
TEST(begun_without_a_whole_header) {
    static const char *const begun[] = {"\xEF\xBB\xBF", "\n", "\r\n", "i", "id,net", "id,tax", "id,tax,ne"};
    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
        lab_t lab;
        char whole[200];
        lab_open(&lab, BOX_STANDALONE);
        use_format(&lab, HEADED);
        snprintf(whole, sizeof whole, "%sid,tax,net\n1,20,100\n2,40,200\n", i < 3 ? begun[i] : "");
        if (strncmp(begun[i], "id,net", 6) == 0)
            snprintf(whole, sizeof whole, "id,net_of_tax,net,tax\n1,x,100,20\n2,y,200,40\n");
        lab_write("a.csv", begun[i]);
        lab_load(&lab, "a.csv"); /* "i" does not fit the format */
        lab_write("a.csv", whole);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 2);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"id\": 1, \"net\": \"100\", \"tax\": \"20\"}"), 1);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"id\": 2, \"net\": \"200\", \"tax\": \"40\"}"), 1);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        lab_close(&lab);
    }
}

/* Nor does it say anything of other files, whose first line is the same today. */
LAB_TEST(one_half_header_among_whole_ones, lab_open(lab, BOX_STANDALONE)) {
    use_format(lab, HEADED);
    lab->load.threads = 1;
    lab_write("a.csv", "id;net_of_tax;net"); /* and it ends there, as it seems */
    lab_write("b.csv", "id;net_of_tax;net;tax\n1;x;100;20\n");
    assert_status(lab, lab_load(lab, "a.csv", "b.csv"), STATUS_OK);
    lab_write("a.csv", "id;net_of_tax;net;tax\n2;x;200;40\n");
    lab_write("b.csv", "id;net_of_tax;net;tax\n1;x;100;20\n3;x;300;60\n");
    assert_status(lab, lab_load(lab, "a.csv", "b.csv"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 3);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"tax\": {\"$exists\": true}}"), 3);
    assert_status(lab, lab_verify(lab, "a.csv", "b.csv"), STATUS_OK);
}

/* Without a header its first record tells, when it has a line end; until then, the record is corrected. */
TEST(first_record_cut_off) {
    static const char *const begun[] = {"1;x", "1;x;", "1;x;y", "\n1;x"};
    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
        lab_t lab;
        char whole[100];
        lab_open(&lab, BOX_STANDALONE);
        use_format(&lab, HEADLESS);
        snprintf(whole, sizeof whole, "%s1;x;yes\n2;u;v\n3;s;t\n", begun[i][0] == '\n' ? "\n" : "");
        lab_write("a.csv", begun[i]);
        lab_load(&lab, "a.csv");
        lab_write("a.csv", whole);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 3);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"id\": 1, \"a\": \"x\", \"b\": \"yes\"}"), 1);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        lab_close(&lab);
    }
}

/* Nor does it tell when it is cut off within quotes, whatever is in the quotes. */
TEST(first_record_cut_off_in_quotes) {
    static const char *const begun[] = {"1;\"x\n", "1;\"x\nmore\n", "1;\"x\nmore"};
    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
        lab_t lab;
        char whole[100];
        lab_open(&lab, BOX_STANDALONE);
        use_format(&lab, HEADLESS);
        snprintf(whole, sizeof whole, "%s\";yes\n2;u;v\n3;s;t\n", begun[i]);
        lab_write("a.csv", begun[i]);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
        lab_write("a.csv", whole);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_counts(&lab, 3, 3, 0, 0);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        lab_close(&lab);
    }
}

/* What came first stays as it is read, even where most of the lines of today say otherwise. */
LAB_TEST(first_records_decide, lab_open(lab, BOX_STANDALONE)) {
    use_format(lab, HEADLESS);
    lab_write("a.csv", "\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_write("a.csv", "\n1;x\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_write("a.csv", "\n1;x\n2;u;v\n3;s;t\n4;q;r\n5;y\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_counts(lab, 5, 1, 1, 3);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"a\": {\"$in\": [\"x\", \"y\"]}}"), 2);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
}

/* The header was wrong, and is corrected: the record is a reject again, and an entry of before would swap its values. */
TEST(reject_of_another_header) {
    for (int drops = 0; drops < 2; drops++) {
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        use_format(&lab, HEADED);
        lab_write("a.csv", "id;tax;net\n1;100;20\n2;200;40;oops\n");
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
        lab_write("a.csv", "id;net;tax\n1;100;20\n2;200;40;oops\n");
        lab_shorten_lease(&lab);
        lab.load.reload_changed = !drops;
        lab.load.drop = drops;
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
        lab.load.reload_changed = lab.load.drop = false;
        assert_int_equal(system("sed -i 's/;oops$//' c.rejects && test $(grep -c '^#@' c.rejects) = 2"), 0);
        assert_status(&lab, lab_retry(&lab, "c.rejects"), STATUS_OK);
        assert_says(lab.said, "1 entry is left out");
        assert_says(lab.said, "another header");
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"id\": 2, \"net\": \"200\", \"tax\": \"40\"}"), 1);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 2);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        lab_close(&lab);
    }
}

/* An older version comes back, as it was or edited: there is nothing to compare it with. Only its time can tell. */
TEST(older_version) {
    for (int edited = 0; edited < 3; edited++) {
        struct stat then;
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        lab_write_wide_rows("a.csv", 0, 900);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(stat("a.csv", &then), 0);
        lab_shorten_lease(&lab);
        lab_write_wide_rows("a.csv", 0, 950);
        lab.load.limit = 1; /* as if it were killed in its first second */
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        lab.load.limit = UINT64_MAX;
        lab_write_wide_rows("a.csv", 0, 900);
        if (edited == 2)
            assert_int_equal(system("sed -i 's/^700,w700/700,W700/' a.csv"), 0);
        else if (!edited)
            utimensat(AT_FDCWD, "a.csv", (struct timespec[]){then.st_atim, then.st_mtim}, 0);
        assert_status(&lab, lab_load(&lab, "a.csv"), edited ? STATUS_INPUT : STATUS_OK);
        if (edited)
            assert_says(lab.err.text, "is shorter than what");
        lab.load.reload_changed = true;
        if (edited) {
            assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
            assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        }
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 900);
        lab_close(&lab);
    }
}

/* The file came again with other columns, and the same record of it is rejected: what the old one was fixed to would get its
 * values into other fields. */
LAB_TEST(fixed_by_another_header, lab_open(lab, BOX_STANDALONE)) {
    use_format(lab, HEADED);
    lab_write("a.csv", "id;net\n1;5\nx\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(rename("c.rejects", "fixed.rejects"), 0);
    lab_replace("fixed.rejects", "\nx\n", "\n2;7\n");
    lab_write("a.csv", "id;tax\n1;5\nx\n");
    lab_shorten_lease(lab);
    lab->load.reload_changed = true;
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    lab->load.reload_changed = false;
    assert_int_equal(lab_retry(lab, "fixed.rejects"), STATUS_OK);
    assert_says(lab->said, "by another header");
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 1);
    assert_int_equal(rename("c.rejects", "fixed.rejects"), 0);
    lab_replace("fixed.rejects", "\nx\n", "\n2;7\n");
    assert_status(lab, lab_retry(lab, "fixed.rejects"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"id\": 2, \"tax\": \"7\"}"), 1);
}
