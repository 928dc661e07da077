/* simulate: worlds whose end can be worked out by hand, and laws that hold in all of them. */
#include "base/stop.h"
#include "study/plan/simulate.h"
#include "test.h"

#include <math.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static simulate_run_t play(simulate_spec_t spec, simulate_way_t way, uint64_t seed) {
    err_t err = {.text = ""};
    simulate_run_t run;
    spec.lanes = spec.lanes ? spec.lanes : 1;
    spec.slow_speed = spec.slow_speed > 0 ? spec.slow_speed : 1;
    if (!simulate_run(&spec, way, seed, &run, &err))
        fail_msg("%s", err.text);
    return run;
}

static void near(double got, double wanted) {
    if (fabs(got - wanted) > 1e-6 * fabs(wanted))
        fail_msg("%.9g is not %.9g", got, wanted);
}

/* All alike, nothing fails: everybody ends when the plan says. */
TEST(even) {
    for (simulate_way_t way = 0; way < SIMULATE_WAYS; way++) {
        simulate_spec_t spec = {.shards = 50, .lanes = 8, .own_seconds = 1000};
        simulate_run_t run = play(spec, way, 1);
        near(run.end, 1000);
        near(run.median, 1000);
        assert_int_equal(run.failed, 0);
        spec.common_seconds = 500; /* no bound */
        near(play(spec, way, 1).end, 1000);
        spec.common_seconds = 4000; /* a bound */
        near(play(spec, way, 1).end, 4000);
    }
}

/* Every shard at half of its speed. */
TEST(slow) {
    for (simulate_way_t way = 0; way < SIMULATE_WAYS; way++)
        near(
            play((simulate_spec_t){.shards = 9, .lanes = 4, .own_seconds = 100, .slow = 1, .slow_speed = 0.5},
                 way, 3)
                .end,
            200);
}

/* A few of 400 shards have half of their speed. Alone, each takes twice as long; in step, everybody does; of
 * lanes that are handed out, none is begun too late. */
TEST(some_slow) {
    simulate_spec_t spec = {.shards = 400, .lanes = 20, .own_seconds = 1000, .slow = 0.05, .slow_speed = 0.5};
    simulate_run_t step = play(spec, SIMULATE_IN_STEP, 5), own = play(spec, SIMULATE_OWN, 5),
                   out = play(spec, SIMULATE_HANDED_OUT, 5);
    near(step.end, 2000);
    near(own.end, 2000);
    near(own.median, 1000);
    assert_true(out.end >= 1000 && out.end <= 1000 / 0.95 + 2 * 1000 / 20.);
    /* what all share is no faster than before, and the slow ones have all of it in the end */
    spec.common_seconds = 1500;
    step = play(spec, SIMULATE_IN_STEP, 5);
    own = play(spec, SIMULATE_OWN, 5);
    near(step.end, 2000);
    assert_true(own.end >= 2000 && own.end < 2600);
}

/* 1,000 shards of 1,024 lanes: 24 have two. */
TEST(lanes) {
    simulate_spec_t spec = {.shards = 1000, .lanes = 4, .own_seconds = 1024, .by_lanes = true};
    near(play(spec, SIMULATE_OWN, 1).end, 2000);
    near(play(spec, SIMULATE_OWN, 1).median, 1000);
    near(play(spec, SIMULATE_IN_STEP, 1).end, 2000);
    near(play(spec, SIMULATE_HANDED_OUT, 1).end, 1024);
    spec.shards = 512;
    near(play(spec, SIMULATE_OWN, 1).end, 1024);
}

/* One server alone: whichever way, its end is its work and its outages. */
TEST(outages) {
    uint32_t failed = 0;
    for (uint64_t seed = 0; seed < 20; seed++) {
        for (simulate_way_t way = 0; way < SIMULATE_WAYS; way++) {
            simulate_run_t run = play(
                (simulate_spec_t){.shards = 1, .own_seconds = 1000, .mtbf = 500, .repair = 70}, way, seed);
            near(run.end, 1000 + 70. * run.failed);
            failed += run.failed;
        }
    }
    /* two are expected in 1,000 s: 160 in 80 runs, give or take 4 deviations of the 20 that are not alike */
    assert_true(failed > 160 - 4 * 26 && failed < 160 + 4 * 26);
}

/* Many shards in step stand still whenever one is down; shards for themselves wait for their own only. */
TEST(in_step) {
    simulate_spec_t spec = {.shards = 200, .own_seconds = 3600, .mtbf = 100 * 3600., .repair = 300};
    for (uint64_t seed = 0; seed < 10; seed++) {
        simulate_run_t step = play(spec, SIMULATE_IN_STEP, seed), own = play(spec, SIMULATE_OWN, seed);
        assert_true(step.failed > 0 && step.end > 3600 && step.end <= 3600 + 300. * step.failed + 1e-6);
        assert_true(own.end <= step.end + 1e-6);
        assert_true(own.failed > 0);
        near(own.median, 3600);
    }
}

/* A loader for each shard; an hour until somebody notices, 20 s until another takes over. */
TEST(takeover) {
    simulate_spec_t spec = {.shards = 100,
                            .loaders = 100,
                            .own_seconds = 36000,
                            .loader_mtbf = 360000,
                            .loader_repair = 3600,
                            .takeover = 20};
    uint32_t failed = 0;
    for (uint64_t seed = 0; seed < 10; seed++) {
        simulate_run_t own = play(spec, SIMULATE_OWN, seed), other = play(spec, SIMULATE_TAKEOVER, seed);
        failed += own.failed;
        assert_true(fmod(own.end + 1, 3600) < 2); /* whole hours more */
        assert_true(other.end < own.end);
        assert_true(fmod(other.end - 36000 + 1e-3, 20) < 1e-2);
    }
    assert_true(failed > 50);
    /* one that is alone cannot be replaced */
    spec.loaders = 1;
    for (uint64_t seed = 0; seed < 10; seed++)
        near(play(spec, SIMULATE_TAKEOVER, seed).end, play(spec, SIMULATE_OWN, seed).end);
}

/* Loaders that are down carry nothing: of what they let through together, the rest is left. */
TEST(fewer_loaders) {
    simulate_spec_t spec = {.shards = 10,
                            .loaders = 10,
                            .own_seconds = 100,
                            .common_seconds = 1000,
                            .loader_mtbf = 5000,
                            .loader_repair = 1e6,
                            .takeover = 0};
    for (uint64_t seed = 0; seed < 10; seed++) {
        simulate_run_t run = play(spec, SIMULATE_TAKEOVER, seed);
        assert_true(run.failed == 0 ? fabs(run.end - 1000) < 1e-6 : run.end > 1000);
    }
}

/* Never faster than what nothing holds up allows; the same seed gives the same; another one something else.
 */
TEST(laws) {
    simulate_spec_t spec = {.shards = 300,
                            .lanes = 6,
                            .loaders = 30,
                            .own_seconds = 5000,
                            .spread = 0.2,
                            .slow = 0.02,
                            .slow_speed = 0.3,
                            .mtbf = 2e6,
                            .repair = 600,
                            .loader_mtbf = 1e6,
                            .loader_repair = 3600,
                            .takeover = 20,
                            .common_seconds = 4000};
    for (simulate_way_t way = 0; way < SIMULATE_WAYS; way++) {
        simulate_run_t run = play(spec, way, 7), again = play(spec, way, 7), other = play(spec, way, 8);
        assert_true(run.end == again.end && run.median == again.median && run.failed == again.failed);
        assert_true(run.end != other.end);
        assert_true(run.end > spec.common_seconds && run.median <= run.end);
    }
}

TEST(all) {
    err_t err;
    simulate_figures_t figures[SIMULATE_WAYS];
    simulate_spec_t spec = {.shards = 100,
                            .lanes = 10,
                            .own_seconds = 1000,
                            .spread = 0.1,
                            .slow = 0.01,
                            .slow_speed = 0.5,
                            .seed = 1,
                            .runs = 40};
    assert_true(simulate_all(&spec, figures, &err));
    for (simulate_way_t way = 0; way < SIMULATE_WAYS; way++) {
        const simulate_figures_t *of = &figures[way];
        assert_true(of->least <= of->p5 && of->p5 <= of->p50 && of->p50 <= of->p95 && of->p95 <= of->most);
        assert_true(of->waiting >= 0 && of->waiting < 1 && of->failed == 0);
        assert_true(of->least / 1000 - 1 <= of->longer && of->longer <= of->most / 1000 - 1);
    }
    assert_true(figures[SIMULATE_HANDED_OUT].p95 < figures[SIMULATE_OWN].p5);
    assert_true(figures[SIMULATE_HANDED_OUT].waiting < figures[SIMULATE_OWN].waiting);
    /* of 40 runs, in order, the 2nd, 20th and 38th */
    double ends[40];
    for (uint32_t i = 0; i < 40; i++)
        ends[i] = play(spec, SIMULATE_OWN, simulate_seed(spec.seed, i)).end;
    for (int i = 0; i < 40; i++) {
        int before = 0;
        for (int j = 0; j < 40; j++)
            before += ends[j] < ends[i];
        if (before == 1)
            near(figures[SIMULATE_OWN].p5, ends[i]);
        if (before == 19)
            near(figures[SIMULATE_OWN].p50, ends[i]);
        if (before == 37)
            near(figures[SIMULATE_OWN].p95, ends[i]);
    }
}

/* Seeds one beside another play other runs, not the same ones but for one. */
TEST(seeds) {
    for (uint32_t i = 0; i < 100; i++)
        for (uint32_t j = 0; j < 100; j++)
            assert_int_not_equal(simulate_seed(1, i), simulate_seed(2, j));
}

/* Servers that fail faster than they come back: it is given up, and says so. */
TEST(never) {
    simulate_spec_t spec = {.shards = 1000,
                            .own_seconds = 1000,
                            .mtbf = 1000,
                            .repair = 1000,
                            .slow_speed = 1,
                            .lanes = 1,
                            .runs = 2};
    simulate_figures_t figures[SIMULATE_WAYS];
    err_t err;
    assert_true(isinf(play(spec, SIMULATE_IN_STEP, 1).end));
    assert_true(isfinite(play(spec, SIMULATE_OWN, 1).end));
    assert_true(simulate_all(&spec, figures, &err));
    assert_true(isinf(figures[SIMULATE_IN_STEP].p50) && figures[SIMULATE_IN_STEP].waiting == 1);
}

TEST(nothing) {
    simulate_spec_t spec = {.shards = 0, .own_seconds = 1, .lanes = 1, .slow_speed = 1, .runs = 1};
    simulate_figures_t figures[SIMULATE_WAYS];
    simulate_run_t run;
    err_t err = {.text = ""};
    assert_false(simulate_run(&spec, SIMULATE_OWN, 1, &run, &err));
    assert_non_null(strstr(err.text, "nothing to simulate"));
    spec.shards = 1;
    spec.runs = 0;
    assert_false(simulate_all(&spec, figures, &err));
}

/* Nothing is played for ever: what is too much is told before it begins, or where it becomes too much. */
TEST(too_much) {
    simulate_figures_t figures[SIMULATE_WAYS];
    simulate_spec_t spec = {
        .shards = 1, .own_seconds = 1e12, .mtbf = 1, .repair = 1, .slow_speed = 1, .lanes = 1, .runs = 1};
    err_t err = {.text = ""};
    assert_false(simulate_all(&spec, figures, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_non_null(strstr(err.text, "more than 1,000,000,000 events"));
    spec =
        (simulate_spec_t){.shards = 100000, .own_seconds = 1, .slow_speed = 1, .lanes = 1024, .runs = 10000};
    assert_false(simulate_all(&spec, figures, &err));
    /* as servers are down all the time, it takes 50 times as long as could be known */
    spec = (simulate_spec_t){.shards = 1000,
                             .own_seconds = 1e4,
                             .mtbf = 1000,
                             .repair = 1000,
                             .slow_speed = 1,
                             .lanes = 1,
                             .runs = 1,
                             .most_events = 100000};
    assert_false(simulate_all(&spec, figures, &err));
    assert_non_null(strstr(err.text, "more than 100,000 events"));
    spec.most_events = 0;
    assert_true(simulate_all(&spec, figures, &err));
}

/* Within a run, too. The last test: the flag stays. */
TEST(stop) {
    simulate_spec_t spec = {
        .shards = 1000, .own_seconds = 1e4, .mtbf = 1000, .repair = 1000, .slow_speed = 1, .lanes = 1};
    simulate_run_t run;
    err_t err = {.text = ""};
    stop_install();
    raise(SIGTERM);
    alarm(0);
    assert_false(simulate_run(&spec, SIMULATE_IN_STEP, 1, &run, &err));
    assert_int_equal(err.status, STATUS_TERMINATED);
    assert_true(run.failed > 0 && run.failed < 5000);
}
