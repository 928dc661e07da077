/* study/drill/gauge: short files are counted, long ones are estimated from some places. */
#include "input_lab.h"
#include "study/drill/drill_inner.h"
#include "test.h"

#include <math.h>

/* Records with a number; one with other text is a reject. */
static const char FORMAT[] =
    "format: g\nrecord: {delimiter: [','], header: no, multiline: no}\non_bad_value: reject\n"
    "fields:\n  - {name: a, type: int32}\n  - {name: b}\n";

static bool gauge(char *const *names, size_t count, gauge_t *gauge, err_t *err) {
    const load_spec_t load = {.guessed = FORMAT, .inputs = names, .input_count = count};
    return gauge_take(&load, gauge, err);
}

TEST(short_files_are_counted) {
    char *names[] = {"one", "two.gz"};
    const char two[] = "4,d\n5,e\n6,f\n";
    gauge_t gauged;
    err_t err = {.text = ""};
    lab_say("one", "1,a\nx,b\n3,c\n");
    lab_write_all("two.gz", lab_gzip(two, sizeof two - 1));
    assert_true(gauge(names, 2, &gauged, &err));
    assert_true(gauged.exact);
    assert_int_equal(gauged.records, 6);
    assert_true(gauged.documents == 5);
}

/* More files than are read: the figure is an estimate for all of them. */
TEST(many_files_are_estimated) {
    enum { MANY = 96 };
    static char name[MANY][8];
    char *names[MANY];
    gauge_t gauged;
    err_t err = {.text = ""};
    for (int i = 0; i < MANY; i++) {
        snprintf(names[i] = name[i], sizeof name[i], "m%d", i);
        lab_say(names[i], "1,a\n2,b\n");
    }
    assert_true(gauge(names, MANY, &gauged, &err));
    assert_false(gauged.exact);
    assert_int_equal((uint64_t)gauged.documents, 2 * MANY);
}

/* Records of 20 bytes in the first half and of 60 in the second: 20,000 and 20,000 for each 1.6 MB, 2,000,000 in all.
 * The beginning alone would give three quarters more. */
TEST(long_files_are_estimated) {
    enum { MANY = 1000000 };
    char *plain[] = {"long"}, *packed[] = {"long.gz"};
    bytes_t text = {NULL, 0, 0};
    gauge_t gauged;
    err_t err = {.text = ""};
    for (int i = 0; i < 2 * MANY; i++) {
        char line[80];
        bytes_add(&text, line, (size_t)sprintf(line, "%07d,%0*d\n", i, i < MANY ? 11 : 51, i));
    }
    lab_write("long", text.at, text.size);
    assert_true(gauge(plain, 1, &gauged, &err));
    assert_false(gauged.exact);
    assert_in_range((uint64_t)gauged.documents, 19 * MANY / 10, 21 * MANY / 10);
    /* of a compressed file only the beginning is read: records of one length are estimated well */
    lab_write_all("long.gz", lab_gzip(text.at + 20 * MANY, text.size - 20 * MANY));
    assert_true(gauge(packed, 1, &gauged, &err));
    assert_false(gauged.exact);
    assert_in_range((uint64_t)gauged.documents, 95 * MANY / 100, 105 * MANY / 100);
    free(text.at);
}

TEST(no_documents) {
    char *names[] = {"bad"};
    gauge_t gauged;
    err_t err = {.text = ""};
    lab_say("bad", "x,a\ny,b\n");
    assert_false(gauge(names, 1, &gauged, &err));
    assert_int_equal(err.status, STATUS_INPUT);
    assert_non_null(strstr(err.text, "tipple parse"));
}

TEST_EACH(lab_open, lab_close);
