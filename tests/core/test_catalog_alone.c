/* catalog_begin_alone: loads that replace documents work one at a time. The store is a header and a list of loads, here; time
 * passes only in `wait`, and in each step of it this load beats once. */
#include "catalog/catalog.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>

enum { LEASE_STEPS = 5, MOST_STEPS = 100 };

typedef struct {
    store_t store;
    load_id_t replacing;
    bool no_header, fails;
    load_seen_t loads[2];
    size_t load_count;
    int64_t steps;
    bool beats;           /* the other one goes on: */
    int64_t comes;        /* the step at which the first of them is there */
    load_id_t takes_over; /* before the first change of the header another load makes it its own */
    size_t changes;
} lab_t;

static load_id_t id_of(uint8_t number) {
    load_id_t id;
    memset(&id, number, sizeof id);
    return id;
}

static bool read_header(store_t *store, catalog_header_t *header, bool *found, err_t *err) {
    const lab_t *lab = (lab_t *)store;
    (void)err;
    header->replacing = lab->replacing;
    *found = !lab->no_header;
    return true;
}

static bool change_header(store_t *store, const header_change_t *change, bool *changed, err_t *err) {
    lab_t *lab = (lab_t *)store;
    if (lab->fails)
        return err_set(err, STATUS_SERVER, "away");
    if (!lab->changes++ && !load_id_is_nobody(&lab->takes_over))
        lab->replacing = lab->takes_over;
    const bool begins = change->kind == HEADER_BEGIN_REPLACING;
    *changed = load_id_equal(&lab->replacing, begins ? &change->replacing : &change->by);
    if (*changed)
        lab->replacing = begins ? change->by : (load_id_t){{0}};
    return true;
}

static bool read_loads(store_t *store, loads_t *loads, err_t *err) {
    lab_t *lab = (lab_t *)store;
    (void)err;
    *loads = (loads_t){.loads = calloc(2, sizeof *loads->loads), .room = 2};
    assert_non_null(loads->loads);
    for (size_t i = 0; i < lab->load_count; i++) {
        load_seen_t seen = lab->loads[i];
        if (i || lab->steps >= lab->comes) {
            seen.beat += lab->beats ? (uint64_t)lab->steps : 0;
            loads->loads[loads->count++] = seen;
        }
    }
    return true;
}

static int64_t now(void *context) {
    return ((lab_t *)context)->steps;
}

static uint64_t own_beats(void *context) {
    return (uint64_t)((lab_t *)context)->steps;
}

static bool wait(void *context, err_t *err) {
    lab_t *lab = context;
    return ++lab->steps < MOST_STEPS || err_set(err, STATUS_SERVER, "it waits for ever");
}

static lab_t lab_with(size_t others) {
    return (lab_t){
        .store = {.read_header = read_header, .change_header = change_header, .read_loads = read_loads},
        .loads = {{.id = id_of(2), .beat = 7, .process = 42, .host = "there"}, {.id = id_of(3), .beat = 9}},
        .load_count = others,
    };
}

static bool begin(lab_t *lab, bool replaces, bool *inherited, err_t *err) {
    const catalog_drop_t loads = {.self = id_of(1),
                                  .lease_ns = LEASE_STEPS,
                                  .now = now,
                                  .own_beats = own_beats,
                                  .wait = wait,
                                  .context = lab};
    *err = (err_t){.status = STATUS_OK};
    return catalog_begin_alone(&lab->store, "a.b", &loads, replaces, inherited, err);
}

static void expect_alone(lab_t *lab, bool wants_inherited, int64_t least_steps) {
    bool inherited;
    err_t err;
    const load_id_t self = id_of(1);
    if (!begin(lab, true, &inherited, &err))
        fail_msg("%s", err.text);
    assert_true(load_id_equal(&lab->replacing, &self));
    assert_int_equal(inherited, wants_inherited);
    assert_uint_in_range(lab->steps, (uint64_t)least_steps, 2 * (LEASE_STEPS + 1));
}

static void expect_refused(lab_t *lab, bool replaces, load_id_t remains, const char *words) {
    bool inherited;
    err_t err;
    assert_false(begin(lab, replaces, &inherited, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, words));
    assert_true(load_id_equal(&lab->replacing, &remains));
}

TEST(nobody_else) {
    lab_t lab = lab_with(0);
    expect_alone(&lab, false, 0);
    lab = lab_with(0);
    lab.replacing = id_of(1); /* our own write, whose reply was lost */
    expect_alone(&lab, false, 0);
    assert_int_equal(lab.changes, 0);
}

TEST(another_lives) {
    lab_t lab = lab_with(1);
    lab.beats = true;
    expect_refused(&lab, true, (load_id_t){{0}}, "a.b is being loaded (process 42 on there)");
    lab = lab_with(1);
    lab.beats = true;
    lab.replacing = id_of(2);
    expect_refused(&lab, true, id_of(2), "load at a time");
    assert_int_equal(lab.changes, 0);
    lab.steps = 0;
    expect_refused(&lab, false, id_of(2), "load at a time");
    /* one that comes while a dead one is waited for */
    lab = lab_with(2);
    lab.comes = 2;
    expect_refused(&lab, true, (load_id_t){{0}}, "is being loaded");
    assert_int_equal(lab.steps, 2);
}

TEST(another_is_dead) {
    lab_t lab = lab_with(1);
    expect_alone(&lab, false, LEASE_STEPS); /* a load that replaced nothing */
    lab = lab_with(1);
    lab.replacing = id_of(2);
    expect_alone(&lab, true, LEASE_STEPS);
    lab = lab_with(1);
    lab.replacing = id_of(2);
    lab.loads[0].ended = true;
    expect_alone(&lab, true, 0);
    lab = lab_with(0); /* nobody knows the load any more */
    lab.replacing = id_of(2);
    expect_alone(&lab, true, 0);
    /* one that goes on without replacing waits, and changes nothing */
    bool inherited;
    err_t err;
    const load_id_t other = id_of(2);
    lab = lab_with(1);
    lab.replacing = id_of(2);
    assert_true(begin(&lab, false, &inherited, &err));
    assert_false(inherited);
    assert_true(lab.steps >= LEASE_STEPS);
    assert_true(load_id_equal(&lab.replacing, &other));
}

/* Between its look and its write another load was faster: the header is read again, and that one is waited for. */
TEST(overtaken) {
    lab_t lab = lab_with(1);
    lab.takes_over = id_of(2);
    expect_alone(&lab, true, LEASE_STEPS);
    lab = lab_with(1);
    lab.takes_over = id_of(2);
    lab.beats = true;
    expect_refused(&lab, true, id_of(2), "is being loaded");
}

TEST(failures) {
    bool inherited;
    err_t err;
    lab_t lab = lab_with(0);
    lab.no_header = true;
    assert_false(begin(&lab, true, &inherited, &err));
    assert_non_null(strstr(err.text, "removed the catalog of a.b"));
    lab = lab_with(0);
    lab.fails = true;
    assert_false(begin(&lab, true, &inherited, &err));
    assert_int_equal(err.status, STATUS_SERVER);
    const load_id_t self = id_of(1), other = id_of(2);
    lab = lab_with(0);
    lab.replacing = self;
    assert_true(catalog_end_alone(&lab.store, &self, &err));
    assert_true(load_id_is_nobody(&lab.replacing));
    lab.replacing = other; /* somebody else's stays */
    assert_true(catalog_end_alone(&lab.store, &self, &err));
    assert_true(load_id_equal(&lab.replacing, &other));
}
