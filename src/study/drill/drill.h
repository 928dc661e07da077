/* drill: how long is it from nothing to a collection that is there again? Dropped, created, placed over the
 * shards, loaded, indexed, verified, asked: each phase is timed, in a scratch collection next to the target
 * (see scratch.h) or, when the collection is named twice, in the target itself; beside what a sample had
 * predicted (rehearsal.h). One call, main thread. */
#ifndef TIPPLE_STUDY_DRILL_DRILL_H
#define TIPPLE_STUDY_DRILL_DRILL_H

#include "load/load.h"
#include "study/drill/drills.h"
#include "study/drill/first_query.h"
#include "study/drill/target_indexes.h"

typedef enum { DRILL_AFTER, DRILL_BEFORE, DRILL_BOTH } drill_indexes_t;
const char *drill_indexes_name(drill_indexes_t indexes); /* "after" */

#define DRILL_ALL UINT64_MAX

typedef struct {
    load_spec_t load;  /* target, files, format, and how they are loaded; drop, limit, told: not used */
    const char *drop;  /* the URI's own DATABASE.COLLECTION once more, to drill with it; NULL: in scratch */
    const char *query; /* SUITE[:NAME], or NULL */
    uint64_t sample;   /* records of the largest sample; 0: what takes about two seconds */
    uint64_t scale;    /* 0: a drill; else only a sample, extrapolated to so many documents, or DRILL_ALL */
    drill_indexes_t indexes;
    bool no_predict, predict_only;
} drill_spec_t;

void drill_spec_init(drill_spec_t *spec); /* the defaults */

/* One phase; moments are counted from the beginning of its pass. */
typedef struct {
    bool came;
    int64_t began_ns, took_ns;
    forecast_t predicted; /* seconds; NAN: nothing was predicted */
} drill_span_t;

/* From nothing to the first answer, once. */
typedef struct {
    bool indexes_first;
    drill_span_t phases[DRILL_PHASES];
    drill_phase_t reached;          /* the last one that matters; DRILL_PHASES: none */
    forecast_t predicted, verified; /* of all phases; of all but the first query */
    int64_t took_ns, verified_ns;   /* measured: the same, and what lies between */
    load_result_t load;
    uint64_t documents;   /* that verify looked at */
    uint64_t wrong;       /* that are missing, extra, duplicated, changed or unrelated */
    char difference[400]; /* what verify, or the first query, said; "" */
    first_answer_t answer;
    bool loaded, finished; /* all phases came to their ends */
    bool compared;
    drills_entry_t earlier; /* compared: the last one of its kind */
} drill_pass_t;

/* One load of the first records, and all that follows it. */
typedef struct {
    uint64_t asked, read, documents, bytes; /* bytes of BSON */
    bool indexes_first;
    double seconds[DRILL_PHASES]; /* NAN: it did not come */
} drill_sample_t;

enum { DRILL_PASSES = 2, DRILL_MOST_SAMPLES = 32 };

typedef struct {
    drill_pass_t passes[DRILL_PASSES]; /* indexes after and before, as far as asked for */
    size_t pass_count;                 /* that began, or that were only predicted */
    drill_sample_t samples[DRILL_MOST_SAMPLES];
    size_t sample_count;
    double all_documents; /* that the files make, as far as can be told; NAN: not looked */
    bool exact;           /* everything was looked at */
    bool scratch, cluster, drilled;
    first_query_t query;
    char namespace[256], where[512], format[128], version[32], shard_key[512];
    char collection[280];     /* that it was done in */
    load_spec_t load;         /* like the target, where the spec did not say; it goes on where this stops */
    target_indexes_t indexes; /* the target's own, which are built where none were named */
    int64_t began_ms, took_ns;
} drill_result_t;

/* Everything that was found is in *result, also after a failure or a signal. False: err has status and
 * sentence; STATUS_DIFFERENT when what was loaded is not what the files make. Status 2 (some rejects) is a
 * success with err->status set. */
bool drill_run(const drill_spec_t *spec, drill_result_t *result, err_t *err);
void drill_free_result(drill_result_t *result);

/* The target itself was dropped and is not whole: a load resumes from there. */
bool drill_left_open(const drill_result_t *result);

/* The least that a pass took, or is predicted to: NULL where there is one pass only. */
const drill_pass_t *drill_quicker(const drill_result_t *result);

#endif
