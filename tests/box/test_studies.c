/* scratch collections in a box: each study has its own, and what a dead one left is dropped. */
#include "base/clock.h"
#include "base/host.h"
#include "load_lab.h"
#include "study/study.h"

#define LEFT "d.c.tipple.tune.0123456789ab"

static study_t open_scratch(lab_t *lab) {
    study_t study = {.given = &lab->load};
    lab->load.uri = lab->uri;
    if (!study_open_scratch(&study, SCRATCH_TUNE, &lab->err))
        fail_msg("%s", lab->err.text);
    return study;
}

static void close_scratch(lab_t *lab, study_t study) {
    if (!study_close(&study, true, &lab->err))
        fail_msg("%s", lab->err.text);
    study_free(&study);
}

/* The collections' names differ, and each study drops its own. */
LAB_TEST(side_by_side, lab_open(lab, BOX_STANDALONE)) {
    study_t one = open_scratch(lab), other = open_scratch(lab);
    const char *name = one.collection;
    assert_string_not_equal(name, other.collection);
    assert_int_equal(strncmp(name, "d.c.tipple.tune.", 16), 0);
    box_insert(lab->box, name, "{\"_id\": 1}");
    box_insert(lab->box, other.collection, "{\"_id\": 2}");
    close_scratch(lab, other);
    assert_int_equal(box_count(lab->box, name, NULL), 1);
    close_scratch(lab, one);
    assert_int_equal(box_count(lab->box, name, NULL), 0);
}

/* A study is dead when the process of its last load is gone, or when that load gave no sign of life for a day. */
TEST(what_is_left) {
    enum { NOBODY = 99999999, MINUTE_MS = 60000, DAY_MS = 24 * 60 * MINUTE_MS };
    static const struct {
        bool here;
        int silent_ms;
        const char *last; /* the catalog's entry of a later load */
        bool stays;
    } cases[] = {{true, 0, NULL, false},
                 {false, DAY_MS + MINUTE_MS, NULL, false},
                 {false, DAY_MS - MINUTE_MS, NULL, true},
                 {true, 0, "{\"_id\": {\"$oid\": \"65000001cafe0123456789ab\"}, \"ended\": 1}", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        char here[HOST_PROCESSES], entry[600];
        lab_open(&lab, BOX_STANDALONE);
        host_processes(here);
        snprintf(entry, sizeof entry,
                 "{\"_id\": {\"$oid\": \"65000000cafe0123456789ab\"}, \"beat\": 1, \"process\": %d, "
                 "\"processes\": \"%s\", \"seen\": {\"$date\": {\"$numberLong\": \"%lld\"}}}",
                 NOBODY, cases[i].here ? here : "elsewhere", (long long)clock_wall_ms() - cases[i].silent_ms);
        box_insert(lab.box, LEFT OWN_LOADS, entry);
        if (cases[i].last)
            box_insert(lab.box, LEFT OWN_LOADS, cases[i].last);
        box_insert(lab.box, LEFT, "{\"_id\": 1}");
        box_insert(lab.box, LEFT OWN_FILES, "{\"_id\": 1}");
        listen_to(&lab.ear, STDERR_FILENO);
        study_t study = open_scratch(&lab);
        lab.said = heard(&lab.ear);
        assert_int_equal(box_count(lab.box, LEFT, NULL), cases[i].stays);
        assert_int_equal(box_count(lab.box, LEFT OWN_FILES, NULL), cases[i].stays);
        assert_true(cases[i].stays == !strstr(lab.said, "left from a study"));
        close_scratch(&lab, study);
        lab_close(&lab);
    }
}

/* A collection that is no study's stays as it is, whatever its name. */
LAB_TEST(of_a_user, lab_open(lab, BOX_STANDALONE)) {
    static const char *const names[] = {"d.c.tipple.tune", LEFT, "d.c.tipple.tune.mine" OWN_LOADS,
                                        "d.x.tipple.tune.0123456789ab" OWN_LOADS,
                                        "d.c.tipple.drill.0123456789ab" OWN_LOADS};
    for (size_t i = 0; i < COUNT(names); i++)
        box_insert(lab->box, names[i], "{\"_id\": 1, \"seen\": {\"$date\": {\"$numberLong\": \"0\"}}}");
    close_scratch(lab, open_scratch(lab));
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(box_count(lab->box, names[i], NULL), 1);
}
