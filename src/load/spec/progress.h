/* progress: how far a command has come. In two parts:
 *
 *     timeline    for the result: when each phase of a load began, how long it took, and how much was loaded at moments
 *                 between. Of a long load it keeps as many moments as a chart can show. Main thread.
 *     progress    for whoever watches: a bar on a terminal, or now and then a line elsewhere; and a file for other programs
 *                 (--metrics FILE), whose figures are the rows of one table. A thread of its own writes the file every two
 *                 seconds, also while the main thread waits for a server, and once more when the command ends. The name
 *                 chooses the format:
 *
 *         FILE.jsonl   a line of JSON is appended each time. An unknown value is null
 *         any other    the text format of Prometheus, for the textfile collector of node_exporter, without unknown values.
 *                      A new file replaces the old one each time, so that a reader never sees half of it */
#ifndef TIPPLE_LOAD_SPEC_PROGRESS_H
#define TIPPLE_LOAD_SPEC_PROGRESS_H

#include "base/err.h"
#include "base/log.h"

#include <stddef.h>
#include <stdint.h>

/* ---- timeline ---- */

/* In the order in which they come. */
typedef enum {
    TIMELINE_LOOKING, /* at files, server and catalog; also between the others */
    TIMELINE_DROPPING,
    TIMELINE_CREATING,
    TIMELINE_PLACING, /* ranges of the key over the shards, and the map of them */
    TIMELINE_LOADING,
    TIMELINE_INDEXES,
    TIMELINE_CLOSING, /* balancing as it was, the load's entry in the catalog */
    TIMELINE_PHASES,
} timeline_phase_t;

enum { TIMELINE_MOST_POINTS = 512, TIMELINE_MOST_VISITS = 16 };

/* All moments are counted from timeline_begin. */
typedef struct {
    timeline_phase_t phase;
    int64_t began_ns, took_ns;
} timeline_visit_t;

typedef struct {
    int64_t at_ns;
    uint64_t documents, bytes; /* loaded or already there; read from disk */
} timeline_point_t;

/* A callback for each phase that is entered; entered NULL: none. */
typedef struct {
    void (*entered)(void *context, timeline_phase_t phase);
    void *context;
} timeline_listener_t;

typedef struct {
    int64_t took_ns[TIMELINE_PHASES];              /* by all visits of a phase; 0: it did not come */
    timeline_visit_t visits[TIMELINE_MOST_VISITS]; /* in order; when all are used, more are dropped */
    size_t visit_count;
    timeline_point_t points[TIMELINE_MOST_POINTS]; /* of the loading phase */
    size_t point_count;
    int64_t every_ns; /* the least time between two points */
    int64_t origin_ns, entered_ns;
    timeline_phase_t phase; /* the current one; TIMELINE_PHASES: none */
    timeline_listener_t listener;
} timeline_t;

void timeline_begin(timeline_t *course); /* in TIMELINE_LOOKING */
void timeline_enter(timeline_t *course, timeline_phase_t phase);
void timeline_end(timeline_t *course);

/* Adds a point, unless the last one is too near. timeline_last_point always adds it. */
void timeline_point(timeline_t *course, uint64_t documents, uint64_t bytes);
void timeline_last_point(timeline_t *course, uint64_t documents, uint64_t bytes);

const char *timeline_phase_name(timeline_phase_t phase); /* "loading" */

/* ---- progress ---- */

typedef struct {
    uint64_t bytes, total_bytes;    /* on disk, of what is to be read; total 0: unknown */
    uint64_t records, most_records; /* --limit; most 0: none */
    uint64_t documents, rejected;
} progress_state_t;

/* What the user sees of a state. */
typedef struct {
    progress_state_t state;
    double share;  /* 0 to 1; NAN: unknown */
    double rate;   /* documents a second, of the last half minute */
    double left_s; /* NAN: unknown */
} progress_view_t;

enum { PROGRESS_SAMPLES = 16, PROGRESS_LINE = 256 };

typedef struct {
    int64_t at_ns;
    double share;
    uint64_t documents;
} progress_sample_t;

typedef struct {
    log_progress_t said;
    int64_t looked_ns;
    step_t step;                                 /* without text: hides outer steps, since there is a bar */
    progress_sample_t samples[PROGRESS_SAMPLES]; /* a ring, some seconds apart */
    size_t sample_count;                         /* of all that were ever taken */
} progress_t;

void progress_start(progress_t *progress);
void progress_end(progress_t *progress);

/* True a few times a second: then progress_show is to be called, which prints a line if one is due. */
bool progress_is_due(const progress_t *progress);
void progress_show(progress_t *progress, const progress_state_t *state);

/* The view at this moment (clock_now_ns), from this state and those of earlier calls; and its line, with what fits into this
 * number of columns (0: all of it). Pure. */
progress_view_t progress_view(progress_t *progress, const progress_state_t *state, int64_t now_ns);
const char *progress_line(const progress_view_t *view, size_t columns, char line[PROGRESS_LINE]);

/* ---- the file: without --metrics these functions have no effect ----
 *
 * metrics_begin and metrics_end: main thread; the others: any thread. */

/* Writes the file for the first time. Texts are borrowed until metrics_end. False: it cannot be written. */
bool metrics_begin(const char *path, const char *command, err_t *err);
void metrics_end(int status); /* the exit status of the command */

void metrics_of(const char *namespace);
void metrics_phase(const char *phase); /* one of our own names */
bool metrics_on(void);                 /* for figures that are measured only for the file */
void metrics_lag(double seconds);      /* NAN: unknown */

#endif
