#include "study/tune/matrix.h"
#include "base/numbers.h"

#include <math.h>

/* A setting is given up if its fastest trial is below this share of the best's median, by the number of its trials. */
static const double hopeless[MATRIX_TRIALS] = {0.75, 0.9, 1 - MATRIX_NEARLY, 1 - MATRIX_NEARLY,
                                               1 - MATRIX_NEARLY};

void matrix_begin(matrix_t *matrix, size_t count) {
    *matrix = (matrix_t){.count = count, .at = count, .drawn = 1};
    for (size_t i = 0; i < count; i++)
        matrix->order[i] = i;
}

double matrix_median(const matrix_setting_t *setting) {
    const uint32_t half = setting->trials / 2;
    if (!setting->trials || setting->state == MATRIX_SMALL)
        return NAN;
    return setting->trials % 2 ? setting->rates[half] : (setting->rates[half - 1] + setting->rates[half]) / 2;
}

/* ---- what the trials show ---- */

static size_t find_best(const matrix_t *matrix) {
    size_t best = MATRIX_DONE;
    double most = 0;
    for (size_t i = 0; i < matrix->count; i++)
        if (matrix_median(&matrix->settings[i]) > most) {
            best = i;
            most = matrix_median(&matrix->settings[i]);
        }
    return best;
}

/* A setting that was given up comes back if the best turns out to be slower than its first trials. */
static void drop_hopeless(matrix_t *matrix) {
    const double best = matrix_median(&matrix->settings[find_best(matrix)]);
    for (size_t i = 0; i < matrix->count; i++) {
        matrix_setting_t *setting = &matrix->settings[i];
        const uint32_t trials = setting->trials;
        if (trials && (setting->state == MATRIX_OPEN || setting->state == MATRIX_DROPPED))
            setting->state =
                setting->rates[trials - 1] < hopeless[trials - 1] * best ? MATRIX_DROPPED : MATRIX_OPEN;
    }
}

void matrix_add(matrix_t *matrix, size_t at, double rate) {
    matrix_setting_t *setting = &matrix->settings[at];
    uint32_t i = setting->trials++;
    for (; i && setting->rates[i - 1] > rate; i--)
        setting->rates[i] = setting->rates[i - 1];
    setting->rates[i] = rate;
    if (setting->trials == MATRIX_TRIALS)
        setting->state = MATRIX_SETTLED;
    matrix->at++;
    drop_hopeless(matrix);
}

void matrix_end_small(matrix_t *matrix, size_t at) {
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
}

size_t matrix_next(matrix_t *matrix) {
    for (size_t passed = 0; passed < 2 * matrix->count; passed++, matrix->at++) {
        if (matrix->at == matrix->count)
            begin_round(matrix);
        if (matrix->settings[matrix->order[matrix->at]].state == MATRIX_OPEN)
            return matrix->order[matrix->at];
    }
    return MATRIX_DONE;
}

/* ---- the verdict ---- */

void matrix_judge(const matrix_t *matrix, matrix_verdict_t *verdict) {
    const size_t best = find_best(matrix);
    const double near =
        best == MATRIX_DONE ? NAN : (1 - MATRIX_NEARLY) * matrix_median(&matrix->settings[best]);
    *verdict = (matrix_verdict_t){.best = best, .cheapest = best};
    for (size_t i = matrix->count; i-- > 0;) {
        const matrix_setting_t *setting = &matrix->settings[i];
        if (matrix_median(setting) >= near)
            verdict->cheapest = i;
        verdict->trials += setting->trials;
        if (verdict->rounds < setting->trials)
            verdict->rounds = setting->trials;
        verdict->settled += setting->state == MATRIX_SETTLED;
        verdict->dropped += setting->state == MATRIX_DROPPED;
        verdict->small += setting->state == MATRIX_SMALL;
        verdict->untried += setting->state == MATRIX_OPEN && !setting->trials;
    }
}
