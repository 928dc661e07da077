/* drill: how long does it take from nothing until a collection is there again? A scratch collection next to the target
 * (study/study.h) is created, spread over the shards, loaded, indexed, verified and queried, and each phase is
 * timed. The target is read for its settings, and never written to.
 *
 *     samples of the files --> passes of several sizes --forecast_of--> a prediction for each phase
 *     all of the files     --> one pass                             --> what each phase took
 *
 * A pass (drill_pass.c) is one run through all phases. rehearsal.c makes those of samples, gauge.c estimates how many
 * documents the files have, forecast.c computes. One call, main thread. */
#ifndef TIPPLE_STUDY_DRILL_DRILL_H
#define TIPPLE_STUDY_DRILL_DRILL_H

#include "study/study.h"

#include <math.h>

/* ---- forecasts: forecast.c ---- */

typedef enum { FORECAST_CONSTANT, FORECAST_LINE, FORECAST_SORT } forecast_shape_t;

enum { FORECAST_MOST_POINTS = 6, FORECAST_SPELLED = 96 };

typedef struct {
    double documents, seconds;
} forecast_point_t;

/* In seconds. All NAN: nothing is known. Only low and high NAN: there are too few points for an interval. */
typedef struct {
    double low, mid, high; /* 95 % */
} forecast_t;

#define FORECAST_UNKNOWN ((forecast_t){NAN, NAN, NAN})

/* Of this many documents, from a line through the points. */
forecast_t forecast_of(const forecast_point_t *points, size_t count, forecast_shape_t shape,
                       double documents);

/* "5 min (4 min to 6 min)", without the interval where it is not known. */
const char *forecast_spell(char out[FORECAST_SPELLED], const forecast_t *forecast);

/* The sum of what follows one after the other; deviations are added as independent ones. A part that is not known
 * is left out; a part without an interval makes the interval of the sum unknown. */
forecast_t forecast_sum(const forecast_t *parts, size_t count);

/* The error in percent of what was measured; above 0: the forecast was too long. NAN: nothing to compare. */
double forecast_error_percent(const forecast_t *forecast, double seconds);

/* ---- one run from nothing to the first answer ---- */

/* Those of a load are the phases of timeline.h, in the same order. */
typedef enum {
    DRILL_LOOK,
    DRILL_DROP,
    DRILL_CREATE,
    DRILL_PLACE,
    DRILL_LOAD,
    DRILL_INDEXES,
    DRILL_CLOSE,
    DRILL_VERIFY,
    DRILL_QUERY,
    DRILL_PHASES,
} drill_phase_t;

const char *drill_phase_name(drill_phase_t phase); /* "first query" */

/* One phase; times are counted from the beginning of its pass. */
typedef struct {
    bool came;
    int64_t began_ns, took_ns;
    forecast_t predicted; /* seconds */
} drill_span_t;

typedef struct {
    drill_span_t phases[DRILL_PHASES];
    const char *doing; /* the last thing that it did, such as "loading"; NULL: it did not begin */
    forecast_t predicted, verified; /* of all phases; of all but the first query */
    int64_t took_ns, verified_ns;   /* measured: the same two */
    load_result_t load;
    uint64_t documents;   /* that verify compared */
    uint64_t wrong;       /* missing, extra, duplicated, changed or unrelated */
    char difference[400]; /* what verify, or the first query, said; "": none */
    double query_seconds; /* of the first query itself, without connecting; NAN: it was not answered */
    uint64_t query_returned;
    bool finished; /* all phases were completed */
} drill_pass_t;

/* ---- a drill ---- */

typedef struct {
    load_spec_t load;  /* target, files, format, and how they are loaded; drop, limit, listener: not used */
    const char *query; /* SUITE:NAME of the first query; NULL: any one document */
    uint64_t sample;   /* records of the largest sample; 0: what takes about two seconds */
    bool no_predict, predict_only;
} drill_spec_t;

/* A pass of the first records. */
typedef struct {
    uint64_t asked, read, documents, bytes; /* bytes of BSON */
    double seconds[DRILL_PHASES];           /* NAN: the phase did not happen */
} drill_sample_t;

enum { DRILL_SIZES = 3, DRILL_ROUNDS = 2, DRILL_SAMPLES = DRILL_SIZES * DRILL_ROUNDS };

typedef struct {
    drill_pass_t pass; /* of everything, as far as it came; or only what is predicted of it */
    drill_sample_t samples[DRILL_SAMPLES];
    size_t sample_count;
    double all_documents; /* that the files make, as far as known; NAN: not estimated */
    bool exact;           /* all_documents is exact, not an estimate */
    bool drilled;         /* the pass of everything has begun */
    bool is_open;
    study_t study;
    int64_t took_ns;
} drill_result_t;

/* Is there such a first query? NULL: the default. Asks no server. Status 1: no. */
bool drill_check_query(const char *query, err_t *err);

/* Reads and checks everything before the first phase: format, files, first records, indexes and the target. False: err has
 * status and sentence, and nothing is open. */
bool drill_open(const drill_spec_t *spec, drill_result_t *result, err_t *err);

/* Drills what was opened, and closes it. *result holds everything that was found, also after a failure or a signal. False: err
 * has status and sentence; STATUS_DIFFERENT if what was loaded is not what the files make, or the first query's answer
 * is not the expected one. Status 2 (some rejects) is a success with err->status set. */
bool drill_run(const drill_spec_t *spec, drill_result_t *result, err_t *err);

/* Closes a drill that was opened and is not run; a second call does nothing. ok, err: as of study_close. */
bool drill_close(drill_result_t *result, bool ok, err_t *err);

/* Of drills one after the other, from nothing to verified: what was predicted, what was measured, and what they need:
 * as measured, or else the upper end of the prediction, or its middle if there is no interval. NAN: not known of all. */
forecast_t drill_predicted(const drill_result_t *drills, size_t count);
double drill_measured(const drill_result_t *drills, size_t count);
double drill_needs(const drill_result_t *drills, size_t count);

#endif
