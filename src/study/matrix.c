#include "study/matrix.h"
#include "base/numbers/chance.h"
#include "study/student.h"

#include <math.h>
#include <stdlib.h>

/* Trials of all settings scatter alike, as shares of their means, since the same machine makes them. So each setting
 * may use the scatter of all trials as if it had this many more trials of its own. Then two trials that are equal by
 * chance prove nothing. */
enum { LENT = 8 };

/* The probability below each bound. INTERVAL: of a two-sided 95 % interval. DROP: for dropping a setting; stricter,
 * since every setting is judged after every trial, and one error in twenty would be too many. DOUBT: for the cheapest,
 * where doubt favours the cheaper setting. */
typedef enum { INTERVAL, DROP, DOUBT, BOUNDS } bound_t;
static const double probability_of[BOUNDS] = {0.975, 0.9975, 0.84};

enum { KEPT = 128 };

struct matrix {
    matrix_options_t options;
    matrix_setting_t *settings;
    size_t count;
    size_t *order, at; /* of the current round */
    uint32_t rounds, trials;
    int64_t spent_ns;
    uint64_t drawn;
    bool budget_spent;
    double (*student)[KEPT]; /* of each bound, by degrees of freedom (whole numbers); 0: not computed yet */
};

/* How many standard errors away a bound is. */
static double student(const matrix_t *matrix, bound_t bound, double freedom) {
    if (!(freedom < KEPT))
        return student_quantile(probability_of[bound], freedom);
    double *known = &matrix->student[bound][(size_t)freedom];
    if (*known == 0)
        *known = student_quantile(probability_of[bound], freedom);
    return *known;
}

matrix_t *matrix_new(const matrix_setting_t *settings, size_t count, const matrix_options_t *options) {
    matrix_t *matrix = calloc(1, sizeof *matrix);
    if (!matrix)
        return NULL;
    matrix->options = *options;
    matrix->drawn = options->seed;
    matrix->count = matrix->at = count;
    matrix->settings = calloc(count + 1, sizeof *matrix->settings);
    matrix->order = calloc(count + 1, sizeof *matrix->order);
    matrix->student = calloc(BOUNDS, sizeof *matrix->student);
    if (!matrix->settings || !matrix->order || !matrix->student) {
        matrix_free(matrix);
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        matrix->order[i] = i;
        matrix->settings[i] = (matrix_setting_t){.threads = settings[i].threads,
                                                 .batch = settings[i].batch,
                                                 .choice = settings[i].choice,
                                                 .mean = NAN,
                                                 .low = NAN,
                                                 .high = NAN};
    }
    return matrix;
}

void matrix_free(matrix_t *matrix) {
    if (!matrix)
        return;
    free(matrix->settings);
    free(matrix->order);
    free(matrix->student);
    free(matrix);
}

size_t matrix_count(const matrix_t *matrix) {
    return matrix->count;
}

const matrix_setting_t *matrix_setting(const matrix_t *matrix, size_t setting) {
    return &matrix->settings[setting];
}

/* ---- what the trials show ---- */

/* The scatter of all settings together: squared deviations as shares of the means, and degrees of freedom. */
static double pooled(const matrix_t *matrix, double *freedom) {
    double squares = 0;
    *freedom = 0;
    for (size_t i = 0; i < matrix->count; i++) {
        const matrix_setting_t *setting = &matrix->settings[i];
        if (setting->trials < 2)
            continue;
        squares += setting->squares / (setting->mean * setting->mean);
        *freedom += setting->trials - 1;
    }
    return *freedom > 0 ? squares / *freedom : NAN;
}

/* The standard error of a setting's mean, as a share of the mean, and its degrees of freedom. NAN below two trials. */
static double error_of(const matrix_setting_t *setting, double variance, double all, double *freedom) {
    const double lent = all < LENT ? all : LENT, own = (double)setting->trials - 1;
    *freedom = lent + own;
    if (setting->trials < 2)
        return NAN;
    return sqrt((lent * variance + setting->squares / (setting->mean * setting->mean)) / *freedom /
                setting->trials);
}

static size_t find_best(const matrix_t *matrix) {
    size_t best = MATRIX_DONE;
    for (size_t i = 0; i < matrix->count; i++)
        if (matrix->settings[i].trials >= 2 &&
            (best == MATRIX_DONE || matrix->settings[i].mean > matrix->settings[best].mean))
            best = i;
    return best;
}

/* The logarithm of mean / best's mean, and how large its error may be at this bound. */
static double against(const matrix_t *matrix, size_t setting, size_t best, bound_t bound, double *error) {
    double all, freedom, best_freedom;
    const double variance = pooled(matrix, &all);
    const double own = error_of(&matrix->settings[setting], variance, all, &freedom),
                 other = error_of(&matrix->settings[best], variance, all, &best_freedom);
    *error = student(matrix, bound, fmin(freedom, best_freedom)) * sqrt(own * own + other * other);
    return log(matrix->settings[setting].mean / matrix->settings[best].mean);
}

matrix_share_t matrix_share(const matrix_t *matrix, size_t setting) {
    const size_t best = find_best(matrix);
    double error;
    if (best == MATRIX_DONE || matrix->settings[setting].trials < 2)
        return (matrix_share_t){NAN, NAN, NAN};
    if (setting == best)
        return (matrix_share_t){1, 1, 1};
    const double share = against(matrix, setting, best, INTERVAL, &error);
    return (matrix_share_t){exp(share), exp(share - error), exp(share + error)};
}

static void set_intervals(matrix_t *matrix) {
    double all, freedom;
    const double variance = pooled(matrix, &all);
    size_t enough = 0;
    for (size_t i = 0; i < matrix->count; i++) {
        matrix_setting_t *setting = &matrix->settings[i];
        const double error = error_of(setting, variance, all, &freedom);
        if (isnan(error))
            continue;
        const double half = student(matrix, INTERVAL, freedom) * error;
        const bool known =
            half <= matrix->options.precision || setting->trials >= matrix->options.most_trials;
        setting->low = setting->mean * fmax(1 - half, 0);
        setting->high = setting->mean * (1 + half);
        enough += known;
        if (setting->state == MATRIX_OPEN && known && !matrix->options.keep_all)
            setting->state = MATRIX_SETTLED;
    }
    for (size_t i = 0; matrix->options.keep_all && enough == matrix->count && i < matrix->count; i++)
        matrix->settings[i].state = MATRIX_SETTLED;
}

/* Drops settings that are certainly slower than the cheapest may be: they are neither the best nor the cheapest. */
static void drop_hopeless(matrix_t *matrix) {
    const size_t best = find_best(matrix);
    const double least = log(1 - matrix->options.nearly);
    for (size_t i = 0; best != MATRIX_DONE && i < matrix->count; i++) {
        double error;
        if (i == best || matrix->settings[i].trials < 2 || matrix->settings[i].state != MATRIX_OPEN ||
            matrix->options.keep_all)
            continue;
        if (against(matrix, i, best, DROP, &error) + error < least)
            matrix->settings[i].state = MATRIX_DROPPED;
    }
}

void matrix_add(matrix_t *matrix, size_t at, double rate, int64_t took_ns) {
    matrix_setting_t *setting = &matrix->settings[at];
    const double before = setting->trials ? setting->mean : 0;
    setting->trials++;
    setting->mean = before + (rate - before) / setting->trials;
    setting->squares += (rate - before) * (rate - setting->mean);
    setting->took_ns += took_ns;
    matrix->trials++;
    matrix->spent_ns += took_ns;
    matrix->at++;
    drop_hopeless(matrix);
    set_intervals(matrix);
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

/* How long another trial of this setting will take, from how long its trials took so far. */
static int64_t expected_ns(const matrix_t *matrix, const matrix_setting_t *setting) {
    return setting->trials  ? setting->took_ns / setting->trials
           : matrix->trials ? matrix->spent_ns / matrix->trials
                            : 0;
}

size_t matrix_next(matrix_t *matrix) {
    while (any_open(matrix)) {
        for (; matrix->at < matrix->count; matrix->at++) {
            const matrix_setting_t *setting = &matrix->settings[matrix->order[matrix->at]];
            if (setting->state != MATRIX_OPEN)
                continue;
            matrix->budget_spent =
                matrix->spent_ns + expected_ns(matrix, setting) > matrix->options.budget_ns;
            return matrix->budget_spent ? MATRIX_DONE : matrix->order[matrix->at];
        }
        begin_round(matrix);
    }
    return MATRIX_DONE;
}

/* ---- the verdict ---- */

static bool is_cheaper(const matrix_setting_t *a, const matrix_setting_t *b) {
    return a->threads != b->threads ? a->threads < b->threads
           : a->batch != b->batch   ? a->batch < b->batch
                                    : a->choice < b->choice;
}

bool matrix_reaches(const matrix_t *matrix, size_t setting, size_t other) {
    double error;
    if (matrix->settings[setting].trials < 2 || matrix->settings[setting].state == MATRIX_DROPPED ||
        matrix->settings[other].trials < 2)
        return false;
    return setting == other ||
           against(matrix, setting, other, DOUBT, &error) + error >= log(1 - matrix->options.nearly);
}

static size_t find_cheapest(const matrix_t *matrix, size_t best) {
    size_t cheapest = best;
    for (size_t i = 0; i < matrix->count; i++)
        if (is_cheaper(&matrix->settings[i], &matrix->settings[cheapest]) && matrix_reaches(matrix, i, best))
            cheapest = i;
    return cheapest;
}

void matrix_judge(const matrix_t *matrix, matrix_verdict_t *verdict) {
    *verdict = (matrix_verdict_t){.best = find_best(matrix),
                                  .trials = matrix->trials,
                                  .rounds = matrix->rounds,
                                  .budget_spent = matrix->budget_spent};
    verdict->cheapest = verdict->best == MATRIX_DONE ? MATRIX_DONE : find_cheapest(matrix, verdict->best);
    for (size_t i = 0; i < matrix->count; i++) {
        verdict->settled += matrix->settings[i].state == MATRIX_SETTLED;
        verdict->dropped += matrix->settings[i].state == MATRIX_DROPPED;
        verdict->untried += matrix->settings[i].trials < 2;
    }
}
