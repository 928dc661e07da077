/* drill: how long does it take from nothing until a collection is there again? It is dropped, created, spread over the
 * shards, loaded, indexed, verified and queried, and each phase is timed. This happens in a scratch collection next to
 * the target (see scratch.h), or, if the collection is named twice, in the target itself. The times are compared with
 * those predicted from a sample (rehearsal.c). One call, main thread. */
#ifndef TIPPLE_STUDY_DRILL_DRILL_H
#define TIPPLE_STUDY_DRILL_DRILL_H

#include "base/err.h"
#include "load/load.h"
#include "study/drill/forecast.h"
#include "study/supplies.h"

#include <stdbool.h>
#include <stdint.h>

/* first_query: the query that is sent first when a collection is there again: one of a suite, or, if no suite belongs
 * to the format, one document by its _id. Main thread. */

/* suite "": one document by its _id. */
typedef struct {
    char suite[1024], query[256];
} first_query_t;

/* From "SUITE[:NAME]". NULL: the first query of the format's own suite that needs no index and no drawn or chosen
 * values. Does not ask a server. Status 1: there is no such suite or query. */
bool first_query_choose(const char *words, const char *format, first_query_t *chosen, err_t *err);

const char *first_query_name(const first_query_t *chosen, char out[1400]); /* "mot greenness" */

typedef struct {
    double seconds; /* from the query to the end of its answer */
    uint64_t returned;
    bool scans; /* it reads the whole collection */
} first_answer_t;

/* Status 7: the answer is not as expected. */
bool first_query_ask(const first_query_t *chosen, const char *uri, int64_t patience_ns,
                     first_answer_t *answer, err_t *err);

typedef struct {
    load_spec_t load; /* target, files, format, and how they are loaded; drop, limit, told: not used */
    /* the URI's DATABASE.COLLECTION a second time: drill in the target; NULL: in scratch */
    const char *drop;
    const char *query; /* SUITE[:NAME], or NULL */
    uint64_t sample;   /* records of the largest sample; 0: what takes about two seconds */
    uint64_t scale;    /* only samples, more of them, for N documents; 0: a drill */
    bool no_predict, predict_only;
} drill_spec_t;

void drill_spec_init(drill_spec_t *spec); /* the defaults */

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
    forecast_t predicted; /* seconds; NAN: there was no prediction */
} drill_span_t;

/* One run from nothing to the first answer: of a sample, or of everything. */
typedef struct {
    drill_span_t phases[DRILL_PHASES];
    drill_phase_t reached;          /* the last phase that a user would name; DRILL_PHASES: none */
    forecast_t predicted, verified; /* of all phases; of all but the first query */
    int64_t took_ns, verified_ns;   /* measured: the same two */
    load_result_t load;
    uint64_t documents;   /* that verify compared */
    uint64_t wrong;       /* missing, extra, duplicated, changed or unrelated */
    char difference[400]; /* what verify, or the first query, said; "": none */
    first_answer_t answer;
    bool loaded, finished; /* all phases were completed */
} drill_pass_t;

/* One load of the first records, and everything that follows it. */
typedef struct {
    uint64_t asked, read, documents, bytes; /* bytes of BSON */
    double seconds[DRILL_PHASES];           /* NAN: the phase did not happen */
} drill_sample_t;

enum { DRILL_MOST_SAMPLES = 12, DRILL_MOST_INDEXES = 16 };

typedef struct {
    drill_pass_t pass; /* of everything, as far as it came; or only what is predicted of it */
    drill_sample_t samples[DRILL_MOST_SAMPLES];
    size_t sample_count;
    double all_documents; /* that the files make, as far as known; NAN: not estimated */
    bool exact;           /* all_documents is exact, not an estimate */
    bool scratch, cluster, drilled;
    first_query_t query;
    char namespace[256], where[512], format[128], version[32];
    target_settings_t of_target;
    char collection[280]; /* in which it was done */
    /* with what was taken from the target; the load that continues after an interruption */
    load_spec_t load;
    char *indexes[DRILL_MOST_INDEXES]; /* the target's own, as --index takes them; built if none were named */
    size_t index_count;
    int64_t took_ns;
} drill_result_t;

/* *result holds everything that was found, also after a failure or a signal. False: err has status and sentence;
 * STATUS_DIFFERENT if what was loaded is not what the files make. Status 2 (some rejects) is a success with err->status
 * set. */
bool drill_run(const drill_spec_t *spec, drill_result_t *result, err_t *err);
void drill_free_result(drill_result_t *result);

/* Was the target itself dropped, and is it not complete now? A load then continues it. */
bool drill_left_open(const drill_result_t *result);

/* True if a drill gets from nothing to verified within this many seconds: as measured, or else by the upper end of the
 * prediction. *seconds: what it needs; NAN: not known. */
bool drill_is_within(const drill_result_t *result, double within, double *seconds);

#endif
