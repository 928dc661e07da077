/* matrix: the experiment of `tipple tune`, on a target made of formulas: batches cost the client a round trip
 * and the server its time, and the server takes so much and no more. What is the best and the cheapest is
 * computed here from the formula without noise. */
#include "study/tune/matrix.h"
#include "test.h"

#include <math.h>
#include <stdlib.h>

static const uint32_t THREADS[] = {1, 2, 4, 8, 16}, BATCHES[] = {100, 300, 1000, 3000};
enum {
    ROWS = sizeof THREADS / sizeof *THREADS,
    COLUMNS = sizeof BATCHES / sizeof *BATCHES,
    CELLS = ROWS * COLUMNS
};

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

static void true_knee(const target_t *target, int *row, int *column) {
    double best = 0;
    *row = *column = 0;
    for (int i = 0; i < CELLS; i++)
        best = fmax(best, rate_of(target, THREADS[i / COLUMNS], BATCHES[i % COLUMNS]));
    for (int i = CELLS - 1; i >= 0; i--) /* rows are threads: the last one found is the cheapest */
        if (rate_of(target, THREADS[i / COLUMNS], BATCHES[i % COLUMNS]) >= 0.97 * best) {
            *row = i / COLUMNS;
            *column = i % COLUMNS;
        }
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

/* Now and then a trial is much slower. */
static double noisy(double rate, double by, uint64_t *state) {
    const double noise = rate * fmax(1 + by * normal(state), 0.1);
    return uniform(state) < 0.05 ? noise * (1 - 0.5 * uniform(state)) : noise;
}

enum { BUDGET = 180 }; /* trials */

static matrix_t *new_matrix(size_t count) {
    matrix_t *matrix = calloc(1, sizeof *matrix);
    assert_non_null(matrix);
    matrix_begin(matrix, count);
    return matrix;
}

static matrix_t *run(const target_t *target, uint64_t seed, double by) {
    matrix_t *matrix = new_matrix(CELLS);
    uint64_t state = seed * 2862933555777941757u + 3037000493u;
    int trials = 0;
    for (size_t setting; trials < BUDGET && (setting = matrix_next(matrix)) != MATRIX_DONE; trials++) {
        assert_true(setting < CELLS);
        assert_int_equal(setting, matrix_next(matrix)); /* until it was tried */
        assert_int_equal(matrix->settings[setting].state, MATRIX_OPEN);
        const double rate = rate_of(target, THREADS[setting / COLUMNS], BATCHES[setting % COLUMNS]);
        matrix_add(matrix, setting, by > 0 ? noisy(rate, by, &state) : rate);
    }
    return matrix;
}

enum { SEEDS = 200 };

/* In 19 of 20 seeds, also with trials that are slowed down: under noise of 5 % the cheapest is truly no more than a tenth
 * slower than the best, and under noise of 2 % it is found within one step of either list. */
static void finds(const target_t *target, double noise) {
    int row, column, near = 0, quick = 0;
    true_knee(target, &row, &column);
    double best = 0;
    for (int i = 0; i < CELLS; i++)
        best = fmax(best, rate_of(target, THREADS[i / COLUMNS], BATCHES[i % COLUMNS]));
    for (int seed = 1; seed <= SEEDS; seed++) {
        matrix_verdict_t verdict;
        matrix_t *matrix = run(target, (uint64_t)seed, noise);
        matrix_judge(matrix, &verdict);
        assert_true(verdict.cheapest < CELLS && verdict.best < CELLS);
        const int found_row = (int)verdict.cheapest / COLUMNS, found_column = (int)verdict.cheapest % COLUMNS;
        near += abs(found_row - row) <= 1 && abs(found_column - column) <= 1;
        quick += rate_of(target, THREADS[found_row], BATCHES[found_column]) >= 0.9 * best;
        free(matrix);
    }
    if ((noise > 0.03 ? quick : near) * 20 < SEEDS * 19)
        fail_msg(
            "%s: under noise of %.0f %% the cheapest (%u x %u) was near in %d, and quick in %d of %d seeds",
            target->name, noise * 100, THREADS[row], BATCHES[column], near, quick, SEEDS);
}

TEST(finds_the_knee) {
    for (size_t i = 0; i < TARGETS_COUNT; i++) {
        finds(&TARGETS[i], 0.02);
        finds(&TARGETS[i], 0.05);
    }
}

/* Without noise there is no doubt: exactly the cheapest, and what is far slower is tried once. */
TEST(without_noise) {
    for (size_t i = 0; i < TARGETS_COUNT; i++) {
        int row, column;
        matrix_verdict_t verdict;
        matrix_t *matrix = run(&TARGETS[i], 1, 0);
        matrix_judge(matrix, &verdict);
        true_knee(&TARGETS[i], &row, &column);
        assert_int_equal(verdict.cheapest, row * COLUMNS + column);
        assert_int_equal(verdict.untried, 0);
        assert_int_equal(verdict.settled + verdict.dropped, CELLS);
        assert_true(verdict.dropped > 0);
        const double best = matrix_median(&matrix->settings[verdict.best]);
        for (size_t at = 0; at < CELLS; at++) {
            const matrix_setting_t *setting = &matrix->settings[at];
            const double share = matrix_median(setting) / best;
            assert_int_equal(setting->state, share < 0.97 ? MATRIX_DROPPED : MATRIX_SETTLED);
            assert_true(share >= 0.97 ? setting->trials == MATRIX_TRIALS : setting->trials < MATRIX_TRIALS);
        }
        free(matrix);
    }
}

/* The median of one to five trials, and the slowest and the fastest of them. */
TEST(medians) {
    static const double rates[] = {5, 1, 9, 3, 7}, medians[] = {5, 3, 5, 4, 5};
    matrix_t *matrix = new_matrix(1);
    const matrix_setting_t *setting = &matrix->settings[0];
    assert_true(isnan(matrix_median(setting)));
    for (uint32_t i = 0; i < MATRIX_TRIALS; i++) {
        assert_int_equal(matrix_next(matrix), 0);
        matrix_add(matrix, 0, rates[i]);
        assert_true(matrix_median(setting) == medians[i]);
    }
    assert_true(setting->rates[0] == 1 && setting->rates[4] == 9);
    assert_int_equal(setting->state, MATRIX_SETTLED);
    assert_int_equal(matrix_next(matrix), MATRIX_DONE);
    free(matrix);
}

/* A median of exactly 97 % is near enough; one below it is not. */
TEST(nearly) {
    for (int near = 0; near < 2; near++) {
        matrix_verdict_t verdict;
        matrix_t *matrix = new_matrix(2);
        matrix_add(matrix, 1, 1000);
        matrix_add(matrix, 0, near ? 970 : 969);
        matrix_judge(matrix, &verdict);
        assert_int_equal(verdict.best, 1);
        assert_int_equal(verdict.cheapest, near ? 0 : 1);
        free(matrix);
    }
}

/* Every setting once before any of them twice, and never in the same order. */
TEST(rounds) {
    matrix_t *matrix = new_matrix(CELLS);
    size_t order[2][CELLS];
    for (int round = 0; round < 2; round++) {
        bool seen[CELLS] = {false};
        for (int i = 0; i < CELLS; i++) {
            const size_t setting = order[round][i] = matrix_next(matrix);
            assert_true(setting < CELLS && !seen[setting]);
            seen[setting] = true;
            matrix_add(matrix, setting, 1000);
        }
    }
    assert_memory_not_equal(order[0], order[1], sizeof order[0]);
    free(matrix);
}

/* Where the trials end before each setting had one, the others are untried. */
TEST(ends_early) {
    matrix_t *matrix = new_matrix(CELLS);
    for (int trials = 0; trials <= CELLS; trials++) {
        matrix_verdict_t verdict;
        matrix_judge(matrix, &verdict);
        assert_int_equal(verdict.trials, trials);
        assert_int_equal(verdict.rounds, trials > 0);
        assert_int_equal(verdict.untried, CELLS - trials);
        assert_true((verdict.best == MATRIX_DONE) == !trials && (verdict.cheapest == MATRIX_DONE) == !trials);
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
    assert_int_equal(verdict.best, first);
    assert_int_equal(verdict.cheapest, first);
    assert_int_equal(verdict.small, 1);
    free(matrix);
}

/* What was given up comes back when the best proves to be slower than its first trial. */
TEST(comes_back) {
    matrix_t *matrix = new_matrix(2);
    matrix_add(matrix, 0, 70);
    matrix_add(matrix, 1, 100);
    assert_int_equal(matrix->settings[0].state, MATRIX_DROPPED);
    matrix_add(matrix, 1, 60);
    assert_int_equal(matrix->settings[0].state, MATRIX_OPEN);
    free(matrix);
}
