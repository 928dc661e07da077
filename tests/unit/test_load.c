/* Loads from their first look to their end, into a server of this process. */
#include "load_lab.h"

static void test_loads_once(void **state) {
    (void)state;
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    lab_write_rows("a.csv", 0, 3000);
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 3000, 3000, 0, 0);
    assert_int_equal(box_count(lab.box, LAB_TARGET, NULL), 3000);
    assert_int_equal(box_count(lab.box, LAB_TARGET, "{\"n\": 77, \"w\": \"w77\"}"), 1);
    assert_int_equal(box_count(lab.box, LAB_FILES, "{\"path\": \"a.csv\"}"), 1);
    /* the same again: nothing is sent */
    const size_t inserts = box_asked(lab.box, "insert", "c");
    assert_status(&lab, lab_load(&lab, "a.csv"), STATUS_OK);
    assert_counts(&lab, 0, 0, 0, 0);
    assert_int_equal(box_asked(lab.box, "insert", "c"), inserts);
    assert_status(&lab, lab_verify(&lab, "a.csv"), STATUS_OK);
    assert_int_equal(lab.verified.same, 3000);
    lab_close(&lab);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_loads_once)};
    return LAB_RUN(tests);
}
