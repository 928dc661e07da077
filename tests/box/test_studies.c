/* scratch collections in a box: each study has its own, and what a dead one left goes. */
#include "base/clock.h"
#include "base/host.h"
#include "load_lab.h"
#include "study/scratch.h"

#define STUDIES "d.c.tipple.tune.tipple.loads"

static scratch_t *open_scratch(lab_t *lab) {
    scratch_t *scratch = scratch_open(lab->uri, SCRATCH_TUNE, lab->load.patience_ns, &lab->err);
    if (!scratch)
        fail_msg("%s", lab->err.text);
    return scratch;
}

static void close_scratch(lab_t *lab, scratch_t *scratch) {
    if (!scratch_close(scratch, &lab->err))
        fail_msg("%s", lab->err.text);
}

/* The collections' names differ; the list of studies goes with the last one. */
TEST(side_by_side) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    scratch_t *one = open_scratch(&lab), *other = open_scratch(&lab);
    const char *name = server_namespace(scratch_server(one));
    assert_string_not_equal(name, server_namespace(scratch_server(other)));
    assert_int_equal(strncmp(name, "d.c.tipple.tune.", 16), 0);
    box_insert(lab.box, name, "{\"_id\": 1}");
    box_insert(lab.box, server_namespace(scratch_server(other)), "{\"_id\": 2}");
    close_scratch(&lab, other);
    assert_int_equal(box_count(lab.box, name, NULL), 1);
    assert_int_equal(box_count(lab.box, STUDIES, NULL), 2);
    char kept[256];
    snprintf(kept, sizeof kept, "%s", name);
    close_scratch(&lab, one);
    assert_int_equal(box_count(lab.box, kept, NULL), 0);
    assert_int_equal(box_count(lab.box, STUDIES, NULL), 0);
    lab_close(&lab);
}

/* A study is dead when its process is gone, or when it has been silent for three leases. */
TEST(what_is_left) {
    enum { NOBODY = 99999999 };
    static const char left[] = "d.c.tipple.tune.0123456789ab";
    static const struct {
        bool here, silent, stays;
    } cases[] = {{true, false, false}, {false, true, false}, {false, false, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_t lab;
        char here[HOST_PROCESSES], entry[600];
        lab_open(&lab, BOX_STANDALONE);
        host_processes(here);
        snprintf(entry, sizeof entry,
                 "{\"_id\": {\"$oid\": \"65000000cafe0123456789ab\"}, \"beat\": 1, \"process\": %d, "
                 "\"processes\": \"%s\", \"seen\": {\"$date\": {\"$numberLong\": \"%lld\"}}}",
                 NOBODY, cases[i].here ? here : "elsewhere",
                 (long long)clock_wall_ms() - (cases[i].silent ? 61000 : 0));
        box_insert(lab.box, STUDIES, entry);
        box_insert(lab.box, left, "{\"_id\": 1}");
        const lab_ear_t ear = lab_listen();
        scratch_t *scratch = open_scratch(&lab);
        lab_hear(&lab, ear);
        assert_int_equal(box_count(lab.box, left, NULL), cases[i].stays);
        assert_true(cases[i].stays == !strstr(lab.said, "left from a study"));
        close_scratch(&lab, scratch);
        assert_int_equal(box_count(lab.box, STUDIES, NULL), cases[i].stays ? 2 : 0);
        lab_close(&lab);
    }
}

/* A user's collection with nearly this name stays as it is. */
TEST(of_somebody) {
    lab_t lab;
    lab_open(&lab, BOX_STANDALONE);
    box_insert(lab.box, "d.c.tipple.tune", "{\"_id\": 1}");
    scratch_t *scratch = open_scratch(&lab);
    close_scratch(&lab, scratch);
    assert_int_equal(box_count(lab.box, "d.c.tipple.tune", NULL), 1);
    lab_close(&lab);
}
