/* Which requests a run of `tipple query` sends, and which of them its figures count. */
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "box/box.h"
#include "query/query.h"
#include "test.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TARGET "d.c"
enum { DOCUMENTS = 50 };

#define TWO                                                                                                  \
    "suite: s\nqueries:\n"                                                                                   \
    "  - {name: a, find: {filter: {n: {$lt: 3}}}}\n"                                                         \
    "  - {name: b, collection: other, find: {filter: {}}}\n"

typedef struct {
    box_t *box;
    char uri[BOX_URI];
    query_spec_t spec;
    query_result_t found;
    const char *drawn; /* the answer to the pipeline of the suite's `draw` */
    err_t err;
} lab_t;

/* What the box does not know, and a server says. */
#define BATCH(documents)                                                                                     \
    "{\"cursor\": {\"id\": {\"$numberLong\": \"0\"}, \"ns\": \"d.c\", \"firstBatch\": [" documents "]}}"
#define STATISTICS BATCH("{\"s\": {\"count\": 50}}")
#define DRAWN      BATCH("{\"n\": 3}, {\"n\": 4}, {\"n\": 5}")

static void answer(const lab_t *lab, const char *collection, const char *reply) {
    box_fault(lab->box, &(box_fault_t){.command = "aggregate", .collection = collection, .reply = reply});
}

/* d.c has documents n = 0 to 49, of which every third has an x; d.other has one document. */
static void begin(lab_t *lab, const char *suite) {
    char document[80];
    FILE *file = fopen("s.yaml", "w");
    assert_true(file && fputs(suite, file) >= 0 && fclose(file) == 0);
    *lab = (lab_t){.box = box_start(BOX_STANDALONE)};
    for (int n = 0; n < DOCUMENTS; n++) {
        snprintf(document, sizeof document, "{\"_id\": %d, \"n\": %d%s}", n, n, n % 3 ? "" : ", \"x\": 1");
        box_insert(lab->box, TARGET, document);
    }
    box_insert(lab->box, "d.other", "{\"_id\": 1}");
    query_spec_init(&lab->spec);
    lab->spec.uri = box_uri(lab->box, TARGET, lab->uri);
    lab->spec.suite = "./s.yaml";
    lab->spec.warmups = 0;
    lab->spec.repeats = 1;
    lab->spec.count = 1;
}

/* The exit status. */
static status_t ask(lab_t *lab) {
    lab->err = (err_t){.status = STATUS_OK};
    /* in this order */
    answer(lab, "other", STATISTICS);
    answer(lab, "c", STATISTICS);
    if (lab->drawn)
        answer(lab, "c", lab->drawn);
    answer(lab, "c", STATISTICS);
    query_run(&lab->spec, &lab->found, &lab->err);
    return lab->err.status;
}

static const measure_t *measured(const lab_t *lab, size_t number) {
    assert_true(number < lab->found.measure_count);
    return &lab->found.measures[number];
}

static void end(lab_t *lab) {
    query_free_result(&lab->found);
    box_stop(lab->box);
}

#define LAB_TEST(name, suite) TEST_WITH_LAB(name, begin(lab, suite), end(lab))

static void clients(lab_t *lab, uint32_t count) {
    lab->spec.clients[0] = count;
    lab->spec.client_choices = 1;
}

static void rate(lab_t *lab, uint64_t per_second) {
    lab->spec.rates[lab->spec.rate_choices++] = per_second;
}

/* ---- hooks ---- */

static void nap(void *context) {
    const struct timespec long_one = {.tv_nsec = 300000000};
    nanosleep(&long_one, NULL);
    if (context)
        *(int64_t *)context = clock_now_ns();
}

/* A signal comes while a request is under way, which is answered. */
static void interrupt(void *context) {
    (void)context;
    stop_install();
    raise(SIGINT);
    nap(NULL);
}

static char order[40];

static void note_a(void *context) {
    (void)context;
    strcat(order, "a");
}

static void note_b(void *context) {
    (void)context;
    strcat(order, "b");
}

/* ---- rounds ---- */

/* A signal comes while the first request is under way: what was due since then was not skipped, and the round that it cut off
 * counts, but is none of its own. In a process of its own, which stays interrupted: forked first, before the driver has threads. */
TEST(interrupted) {
    enum { GOOD = 42 };
    int status = 0;
#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
    skip(); /* it allows no forked process with threads */
#endif
#endif
    const pid_t child = fork();
    if (child == 0) {
        lab_t lab;
        begin(&lab, TWO);
        lab.spec.one = true;
        lab.spec.count = 1000;
        rate(&lab, 10);
        box_watch(lab.box, "find", "c", 0, 1, interrupt, NULL);
        const status_t end_status = ask(&lab);
        const measure_t *a = measured(&lab, 0);
        _exit(end_status == 128 + SIGINT && a->found->latency.moments.count == 1 &&
                      a->found->latency.beyond == 0 && !a->round_count
                  ? GOOD
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), GOOD);
}

/* Warming up is asked, and counts in no figure. */
TEST(warming_up) {
    int64_t warm_ns = 0;
    lab_t lab;
    begin(&lab, TWO);
    lab.spec.warmups = 1;
    lab.spec.repeats = 2;
    lab.spec.count = 2;
    clients(&lab, 2);
    box_watch(lab.box, "find", "c", 0, 1, nap, &warm_ns);
    assert_int_equal(ask(&lab), STATUS_OK);
    const int64_t over_ns = clock_now_ns();
    assert_int_equal(box_asked(lab.box, "find", "c"), 3 * 2 * 2);
    const measure_t *a = measured(&lab, 0);
    assert_int_equal(a->found->latency.moments.count, 2 * 2 * 2);
    assert_int_equal(a->found->per_ms.count, 2 * 2 * 2);
    assert_int_equal(a->found->returned, 3 * 2 * 2 * 2);
    assert_int_equal(a->found->empty, 0);
    assert_true(warm_ns && a->elapsed_ns <= over_ns - warm_ns);
    end(&lab);
}

/* Each round begins with another measurement. */
TEST(turns) {
    lab_t lab;
    order[0] = '\0';
    begin(&lab, TWO);
    lab.spec.repeats = 3;
    box_watch(lab.box, "find", "c", 0, 100, note_a, NULL);
    box_watch(lab.box, "find", "other", 0, 100, note_b, NULL);
    assert_int_equal(ask(&lab), STATUS_OK);
    assert_string_equal(order, "abbaab");
    end(&lab);
}

/* The latency of a request counts from the moment at which it was due, and its service from the one at which it was sent. */
LAB_TEST(open_loop, TWO) {
    lab->spec.one = true;
    lab->spec.count = 20;
    rate(lab, 100);
    box_watch(lab->box, "find", "c", 0, 1, nap, NULL);
    assert_int_equal(ask(lab), STATUS_OK);
    const tally_t *a = measured(lab, 0)->found;
    assert_int_equal(a->latency.moments.count, 20);
    /* the last one was due after 190 ms, and the first took 300 */
    assert_true(a->latency.least_ns >= 100000000 && a->lag.count == 20 && a->most_lag_ns >= 280000000);
    assert_true(a->late >= 19);
    assert_int_equal(a->latency.beyond, 0);
    const double apart = a->latency.moments.mean - a->service.moments.mean - a->lag.mean;
    assert_true(apart < 1000 && apart > -1000); /* nanoseconds */
    assert_true(a->service.moments.count == 20 && a->service.least_ns < a->latency.least_ns);
}

/* A rate that cannot be kept ends with what was measured: each request is answered, failed or skipped.
 * Those of warming up, of which some are skipped, too, are counted nowhere. */
LAB_TEST(too_fast, TWO) {
    lab->spec.one = true;
    lab->spec.warmups = 1;
    lab->spec.count = 0;
    lab->spec.duration_ns = 1000000000;
    rate(lab, 400);
    box_watch(lab->box, "find", "c", 0, 1000, nap, NULL);
    const int64_t began_ns = clock_now_ns();
    assert_int_equal(ask(lab), STATUS_OK);
    const tally_t *a = measured(lab, 0)->found;
    assert_true(clock_now_ns() - began_ns >= 5500000000 && clock_now_ns() - began_ns < 30000000000);
    assert_int_equal(a->latency.moments.count + a->latency.beyond, 400);
    assert_true(a->latency.beyond > 5 && a->service.beyond == a->latency.beyond);
    assert_true(isnan(query_quantile_ms(measured(lab, 0), 0.95)));
}

/* A rate that the clients cannot keep up with, so that requests are late at the end of its round, keeps no bound, though all of
 * them were answered. The highest rate that does is what is looked for; without one the status is that of a missed bound. */
LAB_TEST(curve, TWO) {
    bound_t bounds[2];
    lab->spec.one = false;
    lab->spec.queries = (char *const[]){"a"};
    lab->spec.query_count = 1;
    lab->spec.count = 0;
    lab->spec.duration_ns = 1000000000;
    lab->spec.bounds = bounds;
    lab->spec.bound_count = 1;
    assert_true(query_read_bound(&bounds[0], "p50>1h", false, &lab->err));
    assert_true(query_read_bound(&bounds[1], "failed<1", false, &lab->err));
    clients(lab, 4);
    rate(lab, 2);
    rate(lab, 20);
    box_watch(lab->box, "find", "c", 0, 1000, nap, NULL);
    assert_int_equal(ask(lab), STATUS_OK);
    const measure_t *slow = measured(lab, 0), *fast = measured(lab, 1);
    assert_true(slow->rate == 2 && fast->rate == 20 && lab->found.measure_count == 2);
    assert_true(fast->found->latency.moments.count == 20 && !fast->found->latency.beyond);
    assert_true(slow->verdict == VERDICT_KEPT && fast->verdict == VERDICT_MISSED);
    assert_true(query_curve_highest(&lab->spec, slow) == slow);
    assert_true(strstr(fast->missed, "1 of 1 rounds") != NULL);
    char *sentence = query_curve_sentence(&lab->spec, slow);
    assert_true(strstr(sentence, " 2 requests a second") != NULL);
    free(sentence);
    query_free_result(&lab->found);
    box_end_faults(lab->box);
    lab->spec.bound_count = 2;
    lab->spec.count = 1;
    clients(lab, 1);
    assert_int_equal(ask(lab), STATUS_MISSED);
    assert_true(strstr(lab->err.text, "at 2 requests a second") != NULL);
    assert_int_equal(query_curve_verdict(&lab->spec, measured(lab, 0)), VERDICT_MISSED);
}

static void long_nap(void *context) {
    (void)context;
    nanosleep(&(struct timespec){.tv_sec = 3}, NULL);
}

/* A request that takes too long is given up, and the client goes on by another connection. */
LAB_TEST(timeouts, TWO) {
    lab->spec.one = true;
    lab->spec.count = 3;
    lab->spec.timeout_ns = 1500000000;
    box_watch(lab->box, "find", "c", 0, 1, long_nap, NULL);
    assert_int_equal(ask(lab), STATUS_OK);
    const tally_t *a = measured(lab, 0)->found;
    assert_true(a->latency.moments.count == 2 && a->timeouts == 1 && !a->failures && !a->failure[0]);
    assert_true(a->latency.beyond == 1 && a->service.beyond == 1);
    assert_true(a->latency.most_ns <= lab->spec.timeout_ns);
    assert_true(measured(lab, 0)->slots > 15); /* of 100 ms */
}

#define ONE "suite: s\nqueries:\n  - {name: a, find: {filter: {}, limit: 1}}\n"

/* The collection `other` is the second side. */
static void set_against(lab_t *lab, char uri[BOX_URI]) {
    order[0] = '\0';
    box_uri(lab->box, "d.other", uri);
    lab->spec.against = uri;
    answer(lab, "other", STATISTICS);
}

static void late_once(void *context) {
    if (!strchr(order, 'l')) {
        strcat(order, "l");
        long_nap(context);
    }
}

/* With a second side a round has slices; one of them without an answer is no whole round. */
LAB_TEST(slices, ONE) {
    char uri[BOX_URI];
    set_against(lab, uri);
    lab->spec.repeats = 2;
    lab->spec.count = 4;
    lab->spec.timeout_ns = 1500000000;
    box_watch(lab->box, "find", "c", 0, 100, late_once, NULL);
    assert_int_equal(ask(lab), STATUS_OK);
    const measure_t *a = measured(lab, 0);
    assert_true(a->found->timeouts == 1 && !a->silent && a->round_count == 2 && a->rounds[0].n == 3);
}

/* A measurement that gets no answer in time is not sent any more, and that is said. */
LAB_TEST(silent, TWO) {
    lab->spec.one = true;
    lab->spec.repeats = 3;
    lab->spec.timeout_ns = 100000000;
    box_watch(lab->box, "find", "c", 0, 1000, nap, NULL);
    assert_int_equal(ask(lab), STATUS_SERVER);
    assert_true(strstr(lab->err.text, "--timeout") != NULL);
    assert_int_equal(box_asked(lab->box, "find", "c"), 1);
    const tally_t *a = measured(lab, 0)->found;
    assert_true(a->timeouts == 1 && !a->failures && measured(lab, 0)->silent);
}

/* Twins take turns within a round, request by request where there are few of them, and have the same rounds. */
LAB_TEST(twins, ONE) {
    char uri[BOX_URI];
    set_against(lab, uri);
    lab->spec.repeats = 3;
    lab->spec.count = 3;
    box_watch(lab->box, "find", "c", 0, 100, note_a, NULL);
    box_watch(lab->box, "find", "other", 0, 100, note_b, NULL);
    assert_int_equal(ask(lab), STATUS_OK);
    assert_int_equal(strlen(order), 18);
    for (size_t i = 0; i < 18; i += 2)
        assert_true(order[i] != order[i + 1]);
    const measure_t *a = measured(lab, 0), *b = a->baseline;
    assert_true(lab->found.measure_count == 1 && lab->found.all_count == 2 && b == &lab->found.measures[1]);
    assert_true(a->round_count == 3 && b->round_count == 3 && a->rounds[2].n == 3 && b->rounds[2].n == 3);
    assert_true(a->rounds[0].p50_ms > 0 && isnan(a->rounds[0].p99_ms));
}

static uint64_t empty_of(uint32_t rounds) {
    lab_t lab;
    begin(&lab, "suite: s\nqueries:\n  - name: a\n    draw: {gives: [n], pipeline: [{$match: {}}]}\n"
                "    find: {filter: {n: {$param: n}, x: 1}}\n");
    lab.drawn = DRAWN;
    lab.spec.count = 40;
    lab.spec.repeats = rounds;
    assert_int_equal(ask(&lab), STATUS_OK);
    const uint64_t empty = measured(&lab, 0)->found->empty;
    assert_int_equal(measured(&lab, 0)->found->returned + empty, 40 * rounds);
    end(&lab);
    return empty;
}

/* Each run draws the same values, and each round draws others. */
TEST(draws) {
    const uint64_t first = empty_of(1);
    assert_int_equal(empty_of(1), first);
    assert_int_not_equal(empty_of(2), 2 * first);
    assert_int_not_equal(empty_of(3), 3 * first);
}

/* ---- what is said ---- */

/* An unexpected answer decides the status, also where a request fails. One that fails is counted, and has no time; its answer
 * is that of the next. */
LAB_TEST(expected, "suite: s\nqueries:\n"
                   "  - {name: b, collection: other, find: {filter: {}}, expect: {documents: 1}}\n"
                   "  - {name: a, find: {filter: {n: {$lt: 3}}}, expect: {documents: 4}}\n") {
    lab->spec.repeats = 3;
    const box_fault_t refuses = {
        .command = "find", .collection = "other", .reply = BOX_ERROR(13, "not allowed")};
    box_fault(lab->box, &refuses);
    assert_int_equal(ask(lab), STATUS_DIFFERENT);
    assert_true(strstr(lab->err.text, "a: 3 documents") != NULL);
    const measure_t *b = measured(lab, 0);
    assert_true(b->found->failures == 1 && b->found->latency.moments.count == 0 && b->silent);
    query_free_result(&lab->found);
    lab->spec.count = 5;
    lab->spec.repeats = 1;
    box_fault(lab->box, &refuses);
    ask(lab);
    b = measured(lab, 0);
    assert_true(b->found->failures == 1 && b->found->latency.moments.count == 4 && !b->difference[0]);
    assert_true(strstr(b->found->failure, "not allowed") != NULL);
}
