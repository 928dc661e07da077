/* matrix: the experiment of `tipple tune`, on drawn trials. The true speeds come from formulas (batches cost the client a
 * round trip and the server its time, and the server has a limit) or are drawn, so the test knows which setting is
 * the best. */
#include "study/tune/matrix.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

/* A target: a thread sends a batch in `trip` + `document` a document; the server spends `command` on a batch
 * and `insert` on a document, on one core. Seconds. */
typedef struct {
    const char *name;
    double trip, document, command, insert,
        trouble; /* trouble: what each thread more than 4 costs the server */
} target_t;

static const target_t TARGETS[] = {
    {"two threads are enough", 20e-6, 0.2e-6, 40e-6, 1.8e-6, 0},
    {"near and quick", 100e-6, 3e-6, 40e-6, 1.4e-6, 0},
    {"far away", 2e-3, 4e-6, 40e-6, 1.4e-6, 0},
    {"slow clients", 100e-6, 12e-6, 40e-6, 1.4e-6, 0},
    {"dear commands", 300e-6, 3e-6, 300e-6, 1.4e-6, 0},
    {"worse with more", 500e-6, 4e-6, 40e-6, 2e-6, 0.04},
};
enum { TARGETS_COUNT = sizeof TARGETS / sizeof *TARGETS };

/* The smaller of what the clients send and what the server takes, with a rounded corner. */
static double rate_of(const target_t *target, uint32_t threads, uint32_t batch) {
    const double alone =
                     batch / (target->trip + batch * (target->document + target->insert) + target->command),
                 most = batch / (target->command + batch * target->insert) /
                        (1 + target->trouble * (threads > 4 ? threads - 4 : 0));
    return pow(pow(threads * alone, -6) + pow(most, -6), -1.0 / 6);
}

/* ---- noise, from a generator of the test's own ---- */

static double uniform(uint64_t *state) { /* xorshift64* */
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return ((double)((*state * 2685821657736338717u) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(uint64_t *state) {
    const double radius = sqrt(-2 * log(uniform(state)));
    return radius * cos(6.283185307179586 * uniform(state));
}

/* Some trials are much slower. */
static double noisy(double rate, double by, double slowed, uint64_t *state) {
    const double noise = rate * fmax(1 + by * normal(state), 0.1);
    return uniform(state) < slowed ? noise * (1 - 0.5 * uniform(state)) : noise;
}

static matrix_t *new_matrix(size_t count) {
    matrix_t *matrix = calloc(1, sizeof *matrix);
    assert_non_null(matrix);
    matrix_begin(matrix, count);
    return matrix;
}

/* ---- the rule, on drawn trials ---- */

enum { CELLS = 12, TUNES = 400 };

/* TUNES=1000 in the environment makes all of them, which takes three times as long. */
static int count_tunes(void) {
    const char *text = getenv("TUNES");
    return text ? atoi(text) : TUNES;
}

/* A tune of twelve settings. Speeds by a formula: three numbers of threads and four batches; or drawn from one half to
 * the whole of the best. Trials scatter by a share, some are slowed down further, and the machines drift by 30 % up and
 * down, one and a half times during the tune. */
typedef struct {
    const char *name;
    bool by_formula;
    double scatter, slowed;
    int trials;     /* of the budget: of 3 s each they take 3 or 10 minutes */
    int near, held; /* of 1,000 tunes: the cheapest is truly within 5 % of the best; the set holds the best */
} trial_t;

static const trial_t TRIALS[] = {
    {"scatter of 10 %, 3 minutes", true, 0.1, 0, 60, 900, 950},
    {"scatter of 10 %, 3 minutes, some slowed down", true, 0.1, 0.05, 60, 900, 950},
    {"scatter of 10 %, 3 minutes, any speeds", false, 0.1, 0, 60, 900, 950},
    {"scatter of 30 %, 10 minutes", true, 0.3, 0, 200, 900, 950},
    {"scatter of 30 %, 10 minutes, any speeds", false, 0.3, 0, 200, 840, 950},
};

static void draw_speeds(const trial_t *trial, int tune, double speeds[CELLS], uint64_t *state) {
    static const uint32_t THREADS[][3] = {{1, 2, 4}, {2, 4, 8}, {4, 8, 16}},
                          BATCHES[] = {100, 300, 1000, 3000};
    const target_t *target = &TARGETS[tune % TARGETS_COUNT];
    const uint32_t *threads = THREADS[tune / TARGETS_COUNT % 3];
    for (int i = 0; i < CELLS; i++)
        speeds[i] =
            trial->by_formula ? rate_of(target, threads[i / 4], BATCHES[i % 4]) : 0.5 + 0.5 * uniform(state);
}

static double fastest(const double speeds[CELLS]) {
    double best = 0;
    for (int i = 0; i < CELLS; i++)
        best = fmax(best, speeds[i]);
    return best;
}

static matrix_t *tune(const trial_t *trial, size_t cells, const double *speeds, uint64_t *state) {
    matrix_t *matrix = new_matrix(cells);
    const double phase = 6.283185307179586 * uniform(state);
    size_t setting;
    for (int i = 0; i < trial->trials && (setting = matrix_next(matrix)) != MATRIX_DONE; i++) {
        assert_true(setting < cells);
        assert_int_equal(setting, matrix_next(matrix)); /* until it was tried */
        const double machines = 1 + 0.3 * sin(phase + 9.42 * i / trial->trials);
        matrix_add(matrix, setting, noisy(speeds[setting] * machines, trial->scatter, trial->slowed, state));
    }
    return matrix;
}

TEST(finds_the_best) {
    const int tunes = count_tunes();
    for (size_t i = 0; i < sizeof TRIALS / sizeof *TRIALS; i++) {
        const trial_t *trial = &TRIALS[i];
        uint64_t drawn = 3037000493u;
        int near = 0, held = 0, settled = 0, near_settled = 0;
        size_t trials = 0, close = 0;
        for (int at = 0; at < tunes; at++) {
            double speeds[CELLS];
            matrix_verdict_t verdict;
            draw_speeds(trial, at, speeds, &drawn);
            matrix_t *matrix = tune(trial, CELLS, speeds, &drawn);
            matrix_judge(matrix, &verdict);
            const bool is_near = speeds[verdict.cheapest] >= 0.95 * fastest(speeds);
            bool holds = false;
            for (int j = 0; j < CELLS; j++)
                holds |= speeds[j] == fastest(speeds) && matrix->settings[j].state == MATRIX_CLOSE;
            near += is_near;
            held += holds;
            settled += verdict.settled;
            near_settled += verdict.settled && is_near;
            trials += verdict.trials;
            close += verdict.close;
            free(matrix);
        }
        print_message("%s: within 5 %% %d, set holds the best %d, of %d tunes of %.0f trials; %.1f settings "
                      "in the set; "
                      "settled %d, of these within 5 %% %d\n",
                      trial->name, near, held, tunes, (double)trials / tunes, (double)close / tunes, settled,
                      near_settled);
        assert_true(near * 1000 >= trial->near * tunes && held * 1000 >= trial->held * tunes);
        assert_true(near_settled * 100 >= settled * 95);
    }
}

/* Two and three settings, of which one is three times slower: a settled tune does not say that this one could be the best. */
TEST(few_settings) {
    static const double speeds[] = {1, 1.0 / 3, 0.9};
    const int tunes = count_tunes();
    for (int i = 0; i < 6; i++) {
        const trial_t trial = {"", false, 0.1 * (1 + i / 2), 0, 200, 0, 950};
        const size_t cells = 2 + (size_t)i % 2;
        uint64_t drawn = 3037000493u;
        int held = 0, settled = 0, slow = 0;
        for (int at = 0; at < tunes; at++) {
            double turned[3];
            matrix_verdict_t verdict;
            const size_t first = (size_t)at % cells; /* the best */
            for (size_t j = 0; j < cells; j++)
                turned[(first + j) % cells] = speeds[j];
            matrix_t *matrix = tune(&trial, cells, turned, &drawn);
            matrix_judge(matrix, &verdict);
            held += matrix->settings[first].state == MATRIX_CLOSE;
            settled += verdict.settled;
            slow += verdict.settled && matrix->settings[(first + 1) % cells].state == MATRIX_CLOSE;
            free(matrix);
        }
        print_message("%zu settings, scatter of %.0f %%: set holds the best %d, settled %d of %d tunes, of "
                      "these the set "
                      "holds the one that is three times slower %d\n",
                      cells, 100 * trial.scatter, held, settled, tunes, slow);
        assert_true(held * 1000 >= trial.held * tunes && slow * 100 <= settled * 5);
        assert_true(settled * 10 >= tunes * 8);
    }
}

/* ---- without noise ---- */

/* Exactly the cheapest, after few trials: what is more than 3 % slower is given up, and the rest settled. */
TEST(without_noise) {
    static const trial_t exact = {"exact", true, 0, 0, 1000, 0, 0};
    for (int i = 0; i < 3 * (int)TARGETS_COUNT; i++) {
        double speeds[CELLS];
        uint64_t drawn = 1;
        size_t cheapest = 0;
        matrix_verdict_t verdict;
        draw_speeds(&exact, i, speeds, &drawn);
        matrix_t *matrix = new_matrix(CELLS);
        for (size_t at; (at = matrix_next(matrix)) != MATRIX_DONE;)
            matrix_add(matrix, at, speeds[at]);
        matrix_judge(matrix, &verdict);
        while (speeds[cheapest] < 0.97 * fastest(speeds))
            cheapest++;
        assert_int_equal(verdict.cheapest, cheapest);
        assert_true(verdict.settled && verdict.untried == 0 && verdict.small == 0);
        assert_int_equal(verdict.close + verdict.dropped, CELLS);
        assert_true(verdict.trials <= MATRIX_LEAST * CELLS);
        for (size_t at = 0; at < CELLS; at++) {
            const matrix_figure_t figure = matrix_figure(matrix, at);
            assert_true(fabs(figure.rate / speeds[at] - 1) < 1e-6);
            assert_true(figure.low <= figure.rate && figure.rate <= figure.high);
            assert_int_equal(matrix->settings[at].state,
                             speeds[at] < 0.97 * fastest(speeds) ? MATRIX_DROPPED : MATRIX_CLOSE);
        }
        free(matrix);
    }
}

/* ---- turns ---- */

/* Tries each setting once. */
static void take_turn(matrix_t *matrix, const double *rates) {
    for (size_t i = 0; i < matrix->count; i++) {
        const size_t setting = matrix_next(matrix);
        assert_true(setting < matrix->count);
        matrix_add(matrix, setting, rates[setting]);
    }
}

/* Every setting once before any of them twice, and never in the same order. */
TEST(turns) {
    matrix_t *matrix = new_matrix(CELLS);
    size_t order[2][CELLS];
    for (int turn = 0; turn < 2; turn++) {
        bool seen[CELLS] = {false};
        for (int i = 0; i < CELLS; i++) {
            const size_t setting = order[turn][i] = matrix_next(matrix);
            assert_true(setting < CELLS && !seen[setting]);
            seen[setting] = true;
            matrix_add(matrix, setting, 1000);
        }
    }
    assert_memory_not_equal(order[0], order[1], sizeof order[0]);
    free(matrix);
}

/* A host that becomes slower by the turn changes no comparison: with the turns' levels removed nothing scatters. */
TEST(drifts) {
    matrix_t *matrix = new_matrix(2);
    matrix_verdict_t verdict;
    for (int turn = 1; turn <= MATRIX_LEAST; turn++)
        take_turn(matrix, (double[]){900.0 / turn, 1000.0 / turn});
    matrix_judge(matrix, &verdict);
    assert_int_equal(verdict.best, 1);
    assert_int_equal(verdict.dropped, 1);
    assert_true(verdict.settled);
    const matrix_figure_t slow = matrix_figure(matrix, 0), fast = matrix_figure(matrix, 1);
    assert_true(fabs(slow.rate / fast.rate - 0.9) < 1e-6 && slow.high < fast.low);
    free(matrix);
}

/* One trial of each, or two of which nobody knows how they scatter, give no range, and nothing is settled or given up. */
TEST(too_few) {
    matrix_t *matrix = new_matrix(2);
    matrix_verdict_t verdict;
    for (int turn = 0; turn < 2; turn++) {
        take_turn(matrix, (double[]){100, 1000});
        matrix_judge(matrix, &verdict);
        assert_int_equal(verdict.close, 2);
        assert_int_equal(verdict.cheapest, 1);
        assert_true(!verdict.settled && isnan(matrix_figure(matrix, 1).low));
        assert_true(fabs(matrix_figure(matrix, 1).rate - 1000) < 1);
    }
    free(matrix);
}

/* Of two settings the far slower one is given up, however the trials scatter. */
TEST(far_slower) {
    matrix_t *matrix = new_matrix(2);
    matrix_verdict_t verdict;
    take_turn(matrix, (double[]){180, 650});
    take_turn(matrix, (double[]){150, 700});
    take_turn(matrix, (double[]){190, 600});
    matrix_judge(matrix, &verdict);
    assert_int_equal(verdict.dropped, 1);
    assert_true(verdict.settled && matrix_next(matrix) == MATRIX_DONE);
    free(matrix);
}

/* One setting alone is tried three times, also where trials of all others are too small. It is compared with nothing, so
 * it is not settled. */
TEST(alone) {
    for (size_t count = 1; count <= 3; count++) {
        matrix_t *matrix = new_matrix(count);
        matrix_verdict_t verdict = {.best = MATRIX_DONE};
        int trials = 0;
        for (size_t at; (at = matrix_next(matrix)) != MATRIX_DONE;) {
            if (at == 0)
                matrix_add(matrix, at, 500 + 100 * trials++);
            else
                matrix_end_small(matrix, at);
            matrix_judge(matrix, &verdict);
            assert_true(!verdict.compared && !verdict.settled);
        }
        assert_int_equal(trials, MATRIX_LEAST);
        assert_int_equal(matrix_next(matrix), MATRIX_DONE);
        assert_true(verdict.best == 0 && verdict.close == 1 && isnan(matrix_figure(matrix, 0).low));
        free(matrix);
    }
}

/* 97 % of the best is near enough; less is not. */
TEST(nearly) {
    for (int near = 0; near < 2; near++) {
        matrix_verdict_t verdict;
        matrix_t *matrix = new_matrix(2);
        take_turn(matrix, (double[]){near ? 970.1 : 969, 1000});
        matrix_judge(matrix, &verdict);
        assert_int_equal(verdict.best, 1);
        assert_int_equal(verdict.cheapest, near ? 0 : 1);
        free(matrix);
    }
}

/* Where the trials end before each setting had one, the others are untried. */
TEST(ends_early) {
    matrix_t *matrix = new_matrix(CELLS);
    for (int trials = 0; trials <= CELLS; trials++) {
        matrix_verdict_t verdict;
        matrix_judge(matrix, &verdict);
        assert_int_equal(verdict.trials, trials);
        assert_int_equal(verdict.turns, trials > 0);
        assert_int_equal(verdict.untried, CELLS - trials);
        assert_int_equal(verdict.close, trials);
        assert_true((verdict.best == MATRIX_DONE) == !trials && (verdict.cheapest == MATRIX_DONE) == !trials);
        assert_false(verdict.settled);
        assert_int_equal(verdict.compared, trials > 1);
        matrix_add(matrix, matrix_next(matrix), 1000 + trials % 7);
    }
    free(matrix);
}

/* A setting whose trials are too small is tried no more, and has no figure. */
TEST(too_small) {
    matrix_verdict_t verdict;
    matrix_t *matrix = new_matrix(2);
    const size_t first = matrix_next(matrix), other = 1 - first;
    matrix_add(matrix, first, 5000);
    assert_int_equal(matrix_next(matrix), other);
    matrix_add(matrix, other, 9000);
    while (matrix_next(matrix) == first)
        matrix_add(matrix, first, 5000);
    assert_int_equal(matrix_next(matrix), other);
    matrix_end_small(matrix, other);
    while (matrix_next(matrix) != MATRIX_DONE)
        matrix_add(matrix, matrix_next(matrix), 5000);
    matrix_judge(matrix, &verdict);
    assert_int_equal(matrix->settings[other].state, MATRIX_SMALL);
    assert_true(isnan(matrix_figure(matrix, other).rate));
    assert_int_equal(verdict.best, first);
    assert_int_equal(verdict.cheapest, first);
    assert_int_equal(verdict.small, 1);
    free(matrix);
}

/* What was given up comes back when trials prove to scatter more than the first ones did. */
TEST(comes_back) {
    matrix_t *matrix = new_matrix(3);
    matrix_verdict_t verdict;
    take_turn(matrix, (double[]){500, 1000, 1010});
    take_turn(matrix, (double[]){510, 1020, 1000});
    assert_true(matrix_next(matrix) != 0 && matrix_next(matrix) != MATRIX_DONE);
    assert_int_equal(matrix->settings[0].state, MATRIX_DROPPED);
    for (int i = 0; i < 2; i++) {
        const size_t setting = matrix_next(matrix);
        matrix_add(matrix, setting, setting == 1 ? 300 : 3000);
    }
    matrix_judge(matrix, &verdict);
    assert_int_equal(matrix->settings[0].state, MATRIX_CLOSE);
    free(matrix);
}
