#include "study/tune/matrix.h"
#include "base/numbers.h"

#include <math.h>

/* The share of their ranges by which settings are close enough for the next turn. */
static const double CLOSER = 0.3;

void matrix_begin(matrix_t *matrix, size_t count) {
    *matrix = (matrix_t){.count = count, .at = count, .drawn = 1};
    for (size_t i = 0; i < count; i++) {
        matrix->order[i] = i;
        matrix->settings[i].reach = INFINITY;
    }
}

void matrix_add(matrix_t *matrix, size_t at, double rate) {
    const matrix_trial_t trial = {(uint32_t)at, (uint32_t)matrix->turn_count - 1, log(rate)};
    matrix->trials[matrix->trial_count++] = trial;
    matrix->levels[at].trials++;
    matrix->turns[trial.turn].trials++;
    matrix->at++;
}

void matrix_end_small(matrix_t *matrix, size_t at) {
    matrix->settings[at].state = MATRIX_SMALL;
    matrix->settings[at].takes_part = false;
}

static bool is_known(const matrix_t *matrix, size_t at) {
    return matrix->levels[at].trials && matrix->settings[at].state != MATRIX_SMALL;
}

/* ---- levels and ranges ---- */

/* The share by which the trial was faster than its levels say. */
static double error_of(const matrix_t *matrix, const matrix_trial_t *trial) {
    return expm1(trial->log_rate - matrix->levels[trial->setting].level - matrix->turns[trial->turn].level);
}

/* Moves the levels of all settings, or of all turns, by the mean of the errors that are left. */
static void move_levels(matrix_t *matrix, bool of_turns) {
    matrix_level_t *levels = of_turns ? matrix->turns : matrix->levels;
    const size_t count = of_turns ? matrix->turn_count : matrix->count;
    for (size_t i = 0; i < count; i++)
        levels[i].sum = 0;
    for (size_t i = 0; i < matrix->trial_count; i++) {
        const matrix_trial_t *trial = &matrix->trials[i];
        levels[of_turns ? trial->turn : trial->setting].sum += error_of(matrix, trial);
    }
    for (size_t i = 0; i < count; i++)
        levels[i].level += levels[i].trials ? log1p(levels[i].sum / levels[i].trials) : 0;
}

/* By turns for settings and for turns. The levels of the call before are where it begins, so few steps are enough. The
 * turns' mean is then 0, and a setting's level is that of an average turn. */
static void find_levels(matrix_t *matrix) {
    enum { STEPS = 10 };
    double mean = 0;
    for (int i = 0; i < STEPS; i++) {
        move_levels(matrix, true);
        move_levels(matrix, false);
    }
    for (size_t i = 0; i < matrix->turn_count; i++)
        mean += matrix->turns[i].level / (double)matrix->turn_count;
    for (size_t i = 0; i < matrix->turn_count; i++)
        matrix->turns[i].level -= mean;
    for (size_t i = 0; i < matrix->count; i++)
        matrix->levels[i].level += matrix->levels[i].trials ? mean : 0;
}

/* The quantile of Student's t for an interval of 98 %, by the normal distribution's (Peizer and Pratt). */
static double student(double freedom) {
    static const double NORMAL = 2.3263479;
    const double less = freedom - 2.0 / 3 + 0.1 / freedom;
    return sqrt(freedom * (exp(NORMAL * NORMAL * (freedom - 5.0 / 6) / (less * less)) - 1));
}

/* The scatter is that of all trials. A far slower setting may scatter otherwise, but it is given up after few of them. */
static void find_ranges(matrix_t *matrix) {
    double squares = 0, freedom = 1 + (double)matrix->trial_count;
    for (size_t i = 0; i < matrix->trial_count; i++)
        squares += error_of(matrix, &matrix->trials[i]) * error_of(matrix, &matrix->trials[i]);
    for (size_t i = 0; i < matrix->turn_count; i++)
        freedom -= matrix->turns[i].trials > 0;
    for (size_t i = 0; i < matrix->count; i++)
        freedom -= matrix->levels[i].trials > 0;
    for (size_t i = 0; i < matrix->count; i++)
        matrix->settings[i].reach =
            matrix->levels[i].trials && freedom >= 2
                ? student(freedom) * sqrt(squares / freedom / matrix->levels[i].trials)
                : INFINITY;
}

matrix_figure_t matrix_figure(const matrix_t *matrix, size_t at) {
    const double level = matrix->levels[at].level, reach = matrix->settings[at].reach;
    matrix_figure_t figure = {matrix->levels[at].trials, NAN, NAN, NAN};
    if (is_known(matrix, at))
        figure.rate = exp(level);
    if (is_known(matrix, at) && isfinite(reach)) {
        figure.low = exp(level - reach);
        figure.high = exp(level + reach);
    }
    return figure;
}

/* ---- the verdict ---- */

static size_t find_best(const matrix_t *matrix) {
    size_t best = MATRIX_DONE;
    for (size_t i = 0; i < matrix->count; i++)
        if (is_known(matrix, i) &&
            (best == MATRIX_DONE || matrix->levels[i].level > matrix->levels[best].level))
            best = i;
    return best;
}

/* True if the ranges, cut down to a share of their width, are less than `apart` apart. */
static bool meets(const matrix_t *matrix, size_t at, size_t best, double share, double apart) {
    const double reach = share > 0 ? share * (matrix->settings[at].reach + matrix->settings[best].reach) : 0;
    return matrix->levels[at].level + reach >= matrix->levels[best].level + log(1 - apart);
}

/* True if each setting of the set is known to be at most MATRIX_SURELY faster than the cheapest one, and how much faster or
 * slower it is to within MATRIX_WIDEST. Of one setting alone only its trials are needed. */
static bool is_known_enough(const matrix_t *matrix, size_t cheapest) {
    if (matrix->levels[cheapest].trials < MATRIX_LEAST)
        return false;
    for (size_t i = 0; i < matrix->count; i++) {
        const double faster = matrix->levels[i].level - matrix->levels[cheapest].level,
                     reach = hypot(matrix->settings[i].reach, matrix->settings[cheapest].reach);
        if (i != cheapest && matrix->settings[i].state == MATRIX_CLOSE &&
            (faster + reach > -log(1 - MATRIX_SURELY) || reach > log(1 + MATRIX_WIDEST)))
            return false;
    }
    return true;
}

void matrix_judge(matrix_t *matrix, matrix_verdict_t *verdict) {
    find_levels(matrix);
    const size_t best = find_best(matrix);
    find_ranges(matrix);
    *verdict = (matrix_verdict_t){.best = best, .cheapest = best, .trials = (uint32_t)matrix->trial_count};
    for (size_t i = matrix->count; i-- > 0;) {
        matrix_setting_t *setting = &matrix->settings[i];
        if (is_known(matrix, i)) {
            setting->state = meets(matrix, i, best, 1, MATRIX_NEARLY) ? MATRIX_CLOSE : MATRIX_DROPPED;
            verdict->close += setting->state == MATRIX_CLOSE;
            if (meets(matrix, i, best, 0, MATRIX_NEARLY))
                verdict->cheapest = i;
        }
        if (verdict->turns < matrix->levels[i].trials)
            verdict->turns = matrix->levels[i].trials;
        verdict->dropped += setting->state == MATRIX_DROPPED;
        verdict->small += setting->state == MATRIX_SMALL;
        verdict->untried += setting->state == MATRIX_UNTRIED;
    }
    verdict->compared = verdict->close + verdict->dropped > 1;
    verdict->settled = verdict->compared && is_known_enough(matrix, verdict->cheapest);
}

/* ---- what comes next ---- */

static void shuffle(matrix_t *matrix) {
    for (size_t i = matrix->count; i > 1; i--) {
        const size_t other = (size_t)(chance_next(&matrix->drawn) % i), kept = matrix->order[i - 1];
        matrix->order[i - 1] = matrix->order[other];
        matrix->order[other] = kept;
    }
}

static bool begin_turn(matrix_t *matrix) {
    matrix_verdict_t verdict;
    size_t parts = 0;
    matrix_judge(matrix, &verdict);
    const bool enough = verdict.best != MATRIX_DONE && is_known_enough(matrix, verdict.cheapest);
    if (enough || matrix->trial_count + matrix->count > MATRIX_TRIALS)
        return false;
    for (int all = 0; all < 2 && parts < 2; all++) {
        parts = 0;
        for (size_t i = 0; i < matrix->count; i++) {
            matrix_setting_t *setting = &matrix->settings[i];
            setting->takes_part =
                setting->state == MATRIX_UNTRIED ||
                (setting->state == MATRIX_CLOSE && (all || meets(matrix, i, verdict.best, CLOSER, 0)));
            parts += setting->takes_part;
        }
    }
    shuffle(matrix);
    matrix->at = 0;
    matrix->turn_count++;
    return parts > 0;
}

size_t matrix_next(matrix_t *matrix) {
    do {
        for (; matrix->at < matrix->count; matrix->at++)
            if (matrix->settings[matrix->order[matrix->at]].takes_part)
                return matrix->order[matrix->at];
    } while (begin_turn(matrix));
    return MATRIX_DONE;
}
