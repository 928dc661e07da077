/* matrix: the experiment of `tipple tune`, on a target made of formulas: batches cost the client a round trip
 * and the server its time, and the server takes so much and no more. What is the best and the cheapest is
 * computed here from the formula without noise. */
#include "study/matrix.h"
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

typedef enum { NOISE_NORMAL, NOISE_SLOWED } noise_t; /* slowed: mostly quick, now and then much slower */

static double noisy(double rate, noise_t noise, double by, uint64_t *state) {
    if (noise == NOISE_SLOWED)
        return rate * (uniform(state) < 0.2 ? 1 - 2.5 * by * uniform(state) : 1 + by * 0.4 * normal(state));
    return rate * fmax(1 + by * normal(state), 0.1);
}

static matrix_t *new_matrix(uint64_t seed, double precision, int64_t budget_ns) {
    matrix_setting_t settings[CELLS];
    for (uint32_t i = 0; i < CELLS; i++)
        settings[i] = (matrix_setting_t){.threads = THREADS[i / COLUMNS], .batch = BATCHES[i % COLUMNS]};
    matrix_options_t options = {
        .precision = precision, .nearly = 0.03, .budget_ns = budget_ns, .most_trials = 200, .seed = seed};
    matrix_t *matrix = matrix_new(settings, CELLS, &options);
    assert_non_null(matrix);
    return matrix;
}

static const int64_t SECOND_NS = 1000000000, BUDGET_NS = 180 * SECOND_NS;

static matrix_t *run(const target_t *target, uint64_t seed, noise_t noise, double by, double precision) {
    matrix_t *matrix = new_matrix(seed, precision, BUDGET_NS);
    uint64_t state = seed * 2862933555777941757u + 3037000493u;
    int trials = 0;
    for (size_t setting; (setting = matrix_next(matrix)) != MATRIX_DONE; trials++) {
        assert_true(setting < CELLS);
        assert_int_equal(setting, matrix_next(matrix)); /* until it was tried */
        const matrix_setting_t *chosen = matrix_setting(matrix, setting);
        assert_int_equal(chosen->state, MATRIX_OPEN);
        matrix_add(matrix, setting, noisy(rate_of(target, chosen->threads, chosen->batch), noise, by, &state),
                   SECOND_NS);
    }
    assert_true(trials <= BUDGET_NS / SECOND_NS);
    return matrix;
}

enum { SEEDS = 200 };

/* Under noise of 20 % the cheapest is found within one step of either list, in 19 of 20 seeds, with no more than
 * 180 trials. */
static void finds_the_knee(const target_t *target, noise_t noise) {
    int row, column, hits = 0, hits_of_first = 0;
    true_knee(target, &row, &column);
    for (int seed = 1; seed <= SEEDS; seed++) {
        matrix_verdict_t verdict;
        matrix_t *matrix = run(target, (uint64_t)seed, noise, 0.2, 0.05);
        matrix_judge(matrix, &verdict);
        assert_true(verdict.cheapest < CELLS && verdict.best < CELLS);
        assert_int_not_equal(matrix_setting(matrix, verdict.cheapest)->state, MATRIX_DROPPED);
        const int off_row = abs((int)verdict.cheapest / COLUMNS - row),
                  off_column = abs((int)verdict.cheapest % COLUMNS - column);
        hits += off_row <= 1 && off_column <= 1;
        if (seed == 20)
            hits_of_first = hits;
        matrix_free(matrix);
    }
    if (hits * 20 < SEEDS * 19 || hits_of_first < 19)
        fail_msg(
            "%s: the cheapest (%u x %u) was found within one step in %d of %d seeds only, %d of the first 20",
            target->name, THREADS[row], BATCHES[column], hits, SEEDS, hits_of_first);
}

TEST(finds_the_knee) {
    for (size_t i = 0; i < TARGETS_COUNT; i++)
        finds_the_knee(&TARGETS[i], NOISE_NORMAL);
}

TEST(finds_it_when_trials_are_slowed) {
    for (size_t i = 0; i < TARGETS_COUNT; i++)
        finds_the_knee(&TARGETS[i], NOISE_SLOWED);
}

/* Without noise there is no doubt: exactly the cheapest, two trials a setting, and what is slower is given up. */
TEST(without_noise) {
    for (size_t i = 0; i < TARGETS_COUNT; i++) {
        int row, column;
        matrix_verdict_t verdict;
        matrix_t *matrix = run(&TARGETS[i], 1, NOISE_NORMAL, 0, 0.05);
        matrix_judge(matrix, &verdict);
        true_knee(&TARGETS[i], &row, &column);
        assert_int_equal(verdict.cheapest, row * COLUMNS + column);
        assert_int_equal(verdict.trials, 2 * CELLS);
        assert_int_equal(verdict.untried, 0);
        assert_int_equal(verdict.settled + verdict.dropped, CELLS);
        assert_true(verdict.dropped > 0);
        assert_false(verdict.budget_spent);
        matrix_free(matrix);
    }
}

/* An interval of 95 % holds the truth about as often as it says. */
TEST(intervals) {
    int looked_at = 0, inside = 0;
    for (uint64_t seed = 1; seed <= SEEDS; seed++) {
        matrix_t *matrix = run(&TARGETS[1], seed, NOISE_NORMAL, 0.1, 0.05);
        for (size_t i = 0; i < CELLS; i++) {
            const matrix_setting_t *setting = matrix_setting(matrix, i);
            const double truth = rate_of(&TARGETS[1], setting->threads, setting->batch);
            if (setting->trials < 2)
                continue;
            assert_true(setting->low < setting->mean && setting->mean < setting->high);
            looked_at++;
            inside += setting->low <= truth && truth <= setting->high;
        }
        matrix_free(matrix);
    }
    assert_true(looked_at > SEEDS * CELLS / 2);
    if (inside < looked_at * 0.91 || inside > looked_at * 0.99)
        fail_msg("%d of %d intervals hold the truth", inside, looked_at);
}

/* Cells that cannot win are tried a few times only; those that can until the precision is reached. */
TEST(spends_trials_where_they_count) {
    matrix_t *matrix = new_matrix(1, 0.02, 2000 * SECOND_NS);
    uint64_t noise = 12345;
    for (size_t setting; (setting = matrix_next(matrix)) != MATRIX_DONE;) {
        const matrix_setting_t *chosen = matrix_setting(matrix, setting);
        matrix_add(matrix, setting,
                   noisy(rate_of(&TARGETS[3], chosen->threads, chosen->batch), NOISE_NORMAL, 0.05, &noise),
                   SECOND_NS);
    }
    matrix_verdict_t verdict;
    matrix_judge(matrix, &verdict);
    assert_false(verdict.budget_spent);
    for (size_t i = 0; i < CELLS; i++) {
        const matrix_setting_t *setting = matrix_setting(matrix, i);
        if (setting->threads == 1) {
            assert_int_equal(setting->state, MATRIX_DROPPED);
            assert_true(setting->trials <= 3);
        }
        if (setting->state == MATRIX_SETTLED)
            assert_true(setting->high - setting->mean <= 0.0201 * setting->mean);
    }
    const matrix_setting_t *best = matrix_setting(matrix, verdict.best);
    assert_int_equal(best->state, MATRIX_SETTLED);
    assert_true(best->trials >= 15);
    matrix_free(matrix);
}

/* Every setting once before any of them twice, and never in the same order. */
TEST(rounds) {
    matrix_t *matrix = new_matrix(7, 0.01, BUDGET_NS);
    size_t order[2][CELLS];
    for (int round = 0; round < 2; round++) {
        bool seen[CELLS] = {false};
        for (int i = 0; i < CELLS; i++) {
            const size_t setting = order[round][i] = matrix_next(matrix);
            assert_true(setting < CELLS && !seen[setting]);
            seen[setting] = true;
            matrix_add(matrix, setting, 1000, SECOND_NS);
        }
    }
    assert_memory_not_equal(order[0], order[1], sizeof order[0]);
    matrix_free(matrix);
}

/* One trial of a setting says nothing; no more time than there is is taken. */
TEST(small_budgets) {
    for (int seconds = 0; seconds < 50; seconds++) {
        matrix_t *matrix = new_matrix(3, 0.05, seconds * SECOND_NS);
        matrix_verdict_t verdict;
        int trials = 0;
        for (size_t setting; (setting = matrix_next(matrix)) != MATRIX_DONE && trials < 100; trials++)
            matrix_add(matrix, setting, 1000 + trials % 7, SECOND_NS);
        matrix_judge(matrix, &verdict);
        assert_true(trials <= (seconds ? seconds : 1));
        assert_int_equal(verdict.trials, trials);
        if (trials <= CELLS) {
            assert_true(verdict.best == MATRIX_DONE && verdict.cheapest == MATRIX_DONE);
            assert_int_equal(verdict.untried, CELLS);
            assert_true(verdict.budget_spent);
        } else {
            assert_true(verdict.best < CELLS && verdict.cheapest < CELLS);
        }
        matrix_free(matrix);
    }
}

/* Alike in speed: the one with the fewest threads, then with the smallest batch, then the first choice. */
TEST(cheapest_of_equals) {
    matrix_setting_t settings[8];
    for (uint32_t i = 0; i < 8; i++)
        settings[i] =
            (matrix_setting_t){.threads = i & 1 ? 2 : 4, .batch = i & 2 ? 100 : 300, .choice = i & 4 ? 0 : 1};
    matrix_options_t options = {
        .precision = 0.05, .nearly = 0.03, .budget_ns = BUDGET_NS, .most_trials = 50, .seed = 1};
    matrix_t *matrix = matrix_new(settings, 8, &options);
    matrix_verdict_t verdict;
    for (size_t setting; (setting = matrix_next(matrix)) != MATRIX_DONE;)
        matrix_add(matrix, setting, 5000, SECOND_NS);
    matrix_judge(matrix, &verdict);
    assert_int_equal(verdict.cheapest, 7);
    assert_true(matrix_share(matrix, 0).times == 1);
    matrix_free(matrix);
}

/* Where all settings are kept, hopeless ones are tried as often as the best, until the last of them is known. */
TEST(keeps_all) {
    static const double rates[] = {1000, 100, 990, 400, 995, 10};
    enum { KEPT = sizeof rates / sizeof *rates };
    matrix_setting_t settings[KEPT] = {{.threads = 1}};
    for (uint32_t i = 0; i < KEPT; i++)
        settings[i].choice = i;
    const matrix_options_t options = {.precision = 0.03,
                                      .nearly = 0.03,
                                      .budget_ns = BUDGET_NS,
                                      .most_trials = 1000,
                                      .seed = 7,
                                      .keep_all = true};
    matrix_t *matrix = matrix_new(settings, KEPT, &options);
    matrix_verdict_t verdict;
    uint64_t state_of_noise = 3;
    for (size_t setting; (setting = matrix_next(matrix)) != MATRIX_DONE;) /* setting 1 scatters most */
        matrix_add(matrix, setting,
                   noisy(rates[setting], NOISE_NORMAL, setting == 1 ? 0.1 : 0.01, &state_of_noise),
                   SECOND_NS / 100);
    matrix_judge(matrix, &verdict);
    assert_int_equal(verdict.settled, KEPT);
    assert_int_equal(verdict.dropped, 0);
    assert_true(matrix_setting(matrix, 0)->trials > 2);
    for (size_t i = 0; i < KEPT; i++) {
        const matrix_setting_t *setting = matrix_setting(matrix, i);
        assert_true(setting->high - setting->mean <= 0.03 * setting->mean * 1.000001);
        assert_true(setting->trials + 1 >= matrix_setting(matrix, 0)->trials &&
                    setting->trials <= matrix_setting(matrix, 0)->trials + 1);
    }
    assert_true(matrix_reaches(matrix, 2, 0) && matrix_reaches(matrix, 4, 0));
    assert_false(matrix_reaches(matrix, 1, 0) || matrix_reaches(matrix, 3, 0) ||
                 matrix_reaches(matrix, 5, 1));
    assert_true(matrix_reaches(matrix, 1, 5) && matrix_reaches(matrix, 1, 1));
    matrix_free(matrix);
}
