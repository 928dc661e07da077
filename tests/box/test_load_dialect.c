/* An input's records are read by the dialect that its first whole line shows, for as long as the catalog knows
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

/* Without a header its first record decides, when it has a line end; until then, the record is corrected. */
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

/* Nor does it decide when it is cut off within quotes, whatever is in the quotes. */
TEST(first_record_cut_off_in_quotes) {
    static const char *const begun[] = {"1;\"x\n", "1;\"x\nmore\n", "1;\"x\nmore"};
    for (size_t i = 0; i < sizeof begun / sizeof *begun; i++) {
        lab_t lab;
        char whole[100];
        lab_open(&lab, BOX_STANDALONE);
        use_format(&lab, HEADLESS);
        snprintf(whole, sizeof whole, "%s\";yes\n2;u;v\n3;s;t\n", begun[i]);
        lab_write("b.csv", "9;q;r\n"); /* which binds the collection */
        assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_OK);
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

/* An older version comes back, as it was or edited: there is nothing to compare it with. Only its time can show it. */
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

/* ---- what becomes of values that do not fit ---- */

static const char TYPED[] = "format: rows\nrecord: {delimiter: [\",\"], header: yes}\n"
                            "fields: [{name: n, type: int}, {name: v, type: int}]\n";

/* --on-bad-value of the next loads; BAD_VALUES: none. */
static void say(lab_t *lab, bad_value_t bad_value) {
    lab->load.guess.bad_value = bad_value;
    lab->load.guess.bad_value_given = bad_value != BAD_VALUES;
}

/* a.csv, by which the collection is bound, rejects its second record; b.csv keeps it as a text; c.csv as null. */
static void load_three(lab_t *lab) {
    static const struct {
        char *name;
        bad_value_t bad_value;
        status_t status;
    } files[] = {{"a.csv", BAD_VALUE_REJECT, STATUS_SOME_REJECTED},
                 {"b.csv", BAD_VALUE_TEXT, STATUS_OK},
                 {"c.csv", BAD_VALUE_NULL, STATUS_OK}};
    lab_open(lab, BOX_STANDALONE);
    use_format(lab, TYPED);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char rows[60];
        snprintf(rows, sizeof rows, "n,v\n%zu0,1\n%zu1,x\n%zu2,3", i, i, i);
        lab_write(files[i].name, rows);
        say(lab, files[i].bad_value);
        assert_status(lab, lab_load(lab, files[i].name), files[i].status);
    }
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 8);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 11, \"v\": \"x\"}"), 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 21, \"v\": null}"), 1);
    assert_status(lab, lab_verify(lab, "a.csv", "b.csv", "c.csv"), STATUS_OK);
}

/* Whatever a later command says, and whether its last record was cut off. */
TEST(input_grows_as_it_was_begun) {
    for (bad_value_t later = BAD_VALUE_TEXT; later <= BAD_VALUES; later++) {
        lab_t lab;
        load_three(&lab);
        lab_write("a.csv", "n,v\n00,1\n01,x\n02,3y\n03,z\n");
        lab_write("b.csv", "n,v\n10,1\n11,x\n12,3y\n13,z\n");
        lab_write("c.csv", "n,v\n20,1\n21,x\n22,3y\n23,z\n");
        say(&lab, later);
        assert_status(&lab, lab_load(&lab, "a.csv", "b.csv", "c.csv"), STATUS_SOME_REJECTED);
        assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 9);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"v\": {\"$in\": [\"x\", \"3y\", \"z\"]}}"), 3);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": {\"$gt\": 20}, \"v\": null}"), 3);
        assert_int_equal(lab.loaded.became[BAD_VALUE_REJECT], 3);
        assert_int_equal(strstr(lab.said, "keeps --on-bad-value") != NULL, later != BAD_VALUES);
        assert_status(&lab, lab_verify(&lab, "a.csv", "b.csv", "c.csv"), STATUS_OK);
        lab_close(&lab);
    }
}

/* The first record of a file without a header, which was cut off, showed its dialect by itself. */
LAB_TEST(first_record_keeps_its_text, lab_open(lab, BOX_STANDALONE)) {
    use_format(lab, "format: rows\nrecord: {delimiter: [\";\"], header: no}\n"
                    "fields: [{name: n, type: int}, {name: v, type: int}]\nlayouts: [[n], [n, v]]\n");
    lab_write("a.csv", "1;2\n");
    say(lab, BAD_VALUE_REJECT);
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_OK);
    lab_write("b.csv", "3;x");
    say(lab, BAD_VALUE_TEXT);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    lab_write("b.csv", "3;xy\n4;z\n");
    say(lab, BAD_VALUES);
    assert_status(lab, lab_load(lab, "b.csv"), STATUS_OK);
    assert_int_equal(lab->loaded.counts.of[FATE_CORRECTED], 1);
    assert_int_equal(box_count(lab->box, LAB_TARGET, NULL), 3);
    assert_status(lab, lab_verify(lab, "a.csv", "b.csv"), STATUS_OK);
}

/* Killed before it wrote down what it had sent; and as a version of tipple has it that knows of no choice of an input's own. */
TEST(input_is_completed_as_it_was_begun) {
    for (int unknown = 0; unknown < 2; unknown++) {
        lab_t lab;
        load_three(&lab);
        assert_int_equal(box_count(lab.box, LAB_FILES, "{\"badValue\": {\"$exists\": true}}"), 2);
        box_update(lab.box, LAB_FILES, "{\"path\": \"b.csv\"}",
                   "{\"$set\": {\"pieces\": [{\"from\": 0, \"owner\": null, \"epoch\": 1, \"generation\": 1, "
                   "\"dialect\": -7046029254386353131}], \"versions.0.completed\": 0}}");
        if (unknown)
            box_update(lab.box, LAB_FILES, "{\"path\": \"b.csv\"}", "{\"$unset\": {\"badValue\": true}}");
        say(&lab, BAD_VALUE_REJECT);
        assert_status(&lab, lab_load(&lab, "b.csv"), unknown ? STATUS_INPUT : STATUS_OK);
        if (!unknown) {
            assert_counts(&lab, 3, 0, 3, 0);
            assert_status(&lab, lab_verify(&lab, "a.csv", "b.csv", "c.csv"), STATUS_OK);
        }
        lab_close(&lab);
    }
}

/* Of documents that someone removed, too. */
TEST(input_is_loaded_again_as_it_was_begun) {
    lab_t lab;
    load_three(&lab);
    box_delete(lab.box, LAB_TARGET, "{\"n\": {\"$gt\": 10}}");
    say(&lab, BAD_VALUES);
    lab.load.reload_missing = true;
    assert_status(&lab, lab_load(&lab, "b.csv", "c.csv"), STATUS_OK);
    assert_counts(&lab, 6, 5, 1, 0);
    lab.load.reload_missing = false;
    assert_status(&lab, lab_load(&lab, "b.csv", "c.csv"), STATUS_OK);
    assert_status(&lab, lab_verify(&lab, "a.csv", "b.csv", "c.csv"), STATUS_OK);
    lab_close(&lab);
}

/* Of a format file its own key counts, as the option does; without either, a new input is as the collection. */
TEST(choice_of_a_format_file) {
    for (bad_value_t said = BAD_VALUE_TEXT; said <= BAD_VALUES; said++) {
        lab_t lab;
        char format[400];
        load_three(&lab);
        snprintf(format, sizeof format, "%s%s%s", TYPED, said < BAD_VALUES ? "on_bad_value: " : "",
                 said < BAD_VALUES ? schema_bad_values[said] : "");
        use_format(&lab, format);
        say(&lab, BAD_VALUES);
        lab_write("d.csv", "n,v\n31,x\n");
        assert_status(&lab, lab_load(&lab, "d.csv"),
                      said < BAD_VALUE_REJECT ? STATUS_OK : STATUS_SOME_REJECTED);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 31, \"v\": \"x\"}"), said == BAD_VALUE_TEXT);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 31, \"v\": null}"), said == BAD_VALUE_NULL);
        assert_status(&lab, lab_verify(&lab, "a.csv", "b.csv", "c.csv", "d.csv"), STATUS_OK);
        lab_close(&lab);
    }
}

/* Rejects are read by what is said of them, and else as their input: in a collection that was bound with text, too. */
TEST(retried_otherwise) {
    for (int bound_with_text = 0; bound_with_text < 2; bound_with_text++) {
        lab_t lab;
        lab_open(&lab, BOX_STANDALONE);
        use_format(&lab, TYPED);
        lab_write("a.csv", "n,v\n1,x\n2,y\n");
        lab_write("b.csv", bound_with_text ? "n,v\n3,z\n" : "n,v\n3,3\n");
        say(&lab, bound_with_text ? BAD_VALUES : BAD_VALUE_REJECT);
        assert_status(&lab, lab_load(&lab, "b.csv"), STATUS_OK);
        say(&lab, BAD_VALUE_REJECT);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_SOME_REJECTED);
        say(&lab, BAD_VALUES);
        assert_int_equal(rename("c.rejects", "kept.rejects"), 0);
        assert_status(&lab, lab_retry(&lab, "kept.rejects"), STATUS_SOME_REJECTED);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": {\"$lt\": 3}}"), 0);
        say(&lab, BAD_VALUE_TEXT);
        assert_status(&lab, lab_retry(&lab, "kept.rejects"), STATUS_OK);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 1, \"v\": \"x\"}"), 1);
        assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 2, \"v\": \"y\"}"), 1);
        say(&lab, BAD_VALUES);
        assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(lab.verified.counts.fixed, 2);
        lab.verify.retry = (char *[]){"kept.rejects"};
        lab.verify.retry_count = 1;
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
        assert_int_equal(lab.verified.counts.fixed, 2);
        assert_null(strstr(lab.said, "another document"));
        box_update(lab.box, LAB_TARGET, "{\"n\": 1}", "{\"$set\": {\"v\": 1}}");
        assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_DIFFERENT);
        lab_close(&lab);
    }
}

/* Verify reads a fixed record as the retry did, and not as its input, which makes another document of it. */
LAB_TEST(verified_as_it_was_retried, lab_open(lab, BOX_STANDALONE)) {
    use_format(lab, TYPED);
    lab_write("a.csv", "n,v\n1,2,3\n4,5\n");
    assert_status(lab, lab_load(lab, "a.csv"), STATUS_SOME_REJECTED);
    assert_int_equal(system("sed -i 's/^1,2,3$/1,x/' c.rejects"), 0);
    say(lab, BAD_VALUE_NULL);
    assert_status(lab, lab_retry(lab, "c.rejects"), STATUS_OK);
    assert_int_equal(box_count(lab->box, LAB_TARGET, "{\"n\": 1, \"v\": null}"), 1);
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    lab->verify.retry = (char *[]){"c.rejects"};
    lab->verify.retry_count = 1;
    assert_status(lab, lab_verify(lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab->verified.counts.fixed, 1);
    assert_null(strstr(lab->said, "another document"));
}
