#include "study/tune/matrix.h"
#include "base/numbers.h"

#include <math.h>
#include <stdlib.h>

/* A setting is given up if its fastest trial is below this share of the best's median, by the number of its trials. */
static const double hopeless[MATRIX_TRIALS] = {0.75, 0.9, 1 - MATRIX_NEARLY, 1 - MATRIX_NEARLY,
                                               1 - MATRIX_NEARLY};

struct matrix {
    matrix_setting_t *settings;
    size_t count;
    size_t *order, at;              /* of the current round */
    uint32_t rounds, trials, tries; /* tries: also those that were too small */
    int64_t budget_ns, spent_ns;
    uint64_t drawn;
    bool budget_spent;
};

matrix_t *matrix_new(size_t count, int64_t budget_ns) {
    matrix_t *matrix = calloc(1, sizeof *matrix);
    if (!matrix)
        return NULL;
    *matrix = (matrix_t){.settings = calloc(count + 1, sizeof *matrix->settings),
                         .count = count,
                         .order = calloc(count + 1, sizeof *matrix->order),
                         .at = count,
                         .budget_ns = budget_ns,
                         .drawn = 1};
    if (!matrix->settings || !matrix->order) {
        matrix_free(matrix);
        return NULL;
    }
    for (size_t i = 0; i < count; i++)
        matrix->order[i] = i;
    return matrix;
}

void matrix_free(matrix_t *matrix) {
    if (!matrix)
        return;
    free(matrix->settings);
    free(matrix->order);
    free(matrix);
}

size_t matrix_count(const matrix_t *matrix) {
    return matrix->count;
}

const matrix_setting_t *matrix_setting(const matrix_t *matrix, size_t setting) {
    return &matrix->settings[setting];
}

double matrix_median(const matrix_setting_t *setting) {
    const uint32_t half = setting->trials / 2;
    if (!setting->trials)
        return NAN;
    return setting->trials % 2 ? setting->rates[half] : (setting->rates[half - 1] + setting->rates[half]) / 2;
}

/* ---- what the trials show ---- */

static bool is_known(const matrix_setting_t *setting) {
    return setting->trials && setting->state != MATRIX_SMALL;
}

static size_t find_best(const matrix_t *matrix) {
    size_t best = MATRIX_DONE;
    for (size_t i = 0; i < matrix->count; i++)
        if (is_known(&matrix->settings[i]) &&
            (best == MATRIX_DONE ||
             matrix_median(&matrix->settings[i]) > matrix_median(&matrix->settings[best])))
            best = i;
    return best;
}

static void drop_hopeless(matrix_t *matrix) {
    const double best = matrix_median(&matrix->settings[find_best(matrix)]);
    for (size_t i = 0; i < matrix->count; i++) {
        matrix_setting_t *setting = &matrix->settings[i];
        const uint32_t trials = setting->trials;
        if (setting->state == MATRIX_OPEN && trials &&
            setting->rates[trials - 1] < hopeless[trials - 1] * best)
            setting->state = MATRIX_DROPPED;
    }
}

static void spend(matrix_t *matrix, matrix_setting_t *setting, int64_t took_ns) {
    setting->took_ns += took_ns;
    matrix->spent_ns += took_ns;
    matrix->tries++;
}

void matrix_add(matrix_t *matrix, size_t at, double rate, int64_t took_ns) {
    matrix_setting_t *setting = &matrix->settings[at];
    uint32_t i = setting->trials++;
    for (; i && setting->rates[i - 1] > rate; i--)
        setting->rates[i] = setting->rates[i - 1];
    setting->rates[i] = rate;
    if (setting->trials == MATRIX_TRIALS)
        setting->state = MATRIX_SETTLED;
    spend(matrix, setting, took_ns);
    matrix->trials++;
    matrix->at++;
    drop_hopeless(matrix);
}

void matrix_add_small(matrix_t *matrix, size_t at, bool final, int64_t took_ns) {
    spend(matrix, &matrix->settings[at], took_ns);
    if (final)
        matrix->settings[at].state = MATRIX_SMALL;
}

/* ---- what comes next ---- */

static void begin_round(matrix_t *matrix) {
    for (size_t i = matrix->count; i > 1; i--) {
        const size_t other = (size_t)(chance_next(&matrix->drawn) % i), kept = matrix->order[i - 1];
        matrix->order[i - 1] = matrix->order[other];
        matrix->order[other] = kept;
    }
    matrix->at = 0;
    matrix->rounds++;
}

static bool any_open(const matrix_t *matrix) {
    for (size_t i = 0; i < matrix->count; i++)
        if (matrix->settings[i].state == MATRIX_OPEN)
            return true;
    return false;
}

/* How long another trial of this setting will take, from how long trials took so far. */
static int64_t expected_ns(const matrix_t *matrix, const matrix_setting_t *setting) {
    return setting->trials ? setting->took_ns / setting->trials
           : matrix->tries ? matrix->spent_ns / matrix->tries
                           : 0;
}

size_t matrix_next(matrix_t *matrix) {
    while (any_open(matrix)) {
        for (; matrix->at < matrix->count; matrix->at++) {
            const matrix_setting_t *setting = &matrix->settings[matrix->order[matrix->at]];
            if (setting->state != MATRIX_OPEN)
                continue;
            matrix->budget_spent = matrix->spent_ns + expected_ns(matrix, setting) > matrix->budget_ns;
            return matrix->budget_spent ? MATRIX_DONE : matrix->order[matrix->at];
        }
        begin_round(matrix);
    }
    return MATRIX_DONE;
}

/* ---- the verdict ---- */

void matrix_judge(const matrix_t *matrix, matrix_verdict_t *verdict) {
    const size_t best = find_best(matrix);
    *verdict = (matrix_verdict_t){.best = best,
                                  .cheapest = best,
                                  .trials = matrix->trials,
                                  .rounds = matrix->rounds,
                                  .budget_spent = matrix->budget_spent};
    for (size_t i = matrix->count; i-- > 0;) {
        const matrix_setting_t *setting = &matrix->settings[i];
        if (is_known(setting) &&
            matrix_median(setting) >= (1 - MATRIX_NEARLY) * matrix_median(&matrix->settings[best]))
            verdict->cheapest = i;
        verdict->settled += setting->state == MATRIX_SETTLED;
        verdict->dropped += setting->state == MATRIX_DROPPED;
        verdict->small += setting->state == MATRIX_SMALL;
        verdict->untried += setting->state == MATRIX_OPEN && !setting->trials;
    }
}
