/* progress: how far a command is. The user sees a bar on a terminal, or a line now and then elsewhere. Other
 * programs read a file (--metrics FILE): what is known is a row of one table, a name, a value and a sentence. Every
 * two seconds, and once more when the command ends, the rows are written by a thread of their own, so that a main
 * thread that waits for a server delays nothing. The file is one of two things, by its name:
 *
 *     FILE.jsonl   a line of JSON is appended each time. An unknown value is null
 *     any other    the text format of Prometheus, for the textfile collector of node_exporter, without unknown values.
 *                  A new file replaces the old one each time, so that a reader never sees half of it */
#ifndef TIPPLE_LOAD_SPEC_PROGRESS_H
#define TIPPLE_LOAD_SPEC_PROGRESS_H

#include "base/err.h"
#include "base/log.h"

/* How far it is. */
typedef struct {
    uint64_t bytes, total_bytes;    /* on disk, of what is to be read; total 0: nobody knows */
    uint64_t records, most_records; /* --limit; most 0: none */
    uint64_t documents, rejected;
} progress_state_t;

/* What the user sees of it. */
typedef struct {
    progress_state_t state;
    double share;  /* 0 to 1; NAN: not known */
    double rate;   /* documents a second, of the last half minute */
    double left_s; /* NAN: not known */
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
    step_t step;                                 /* it hides what is around it: this has a line of its own */
    progress_sample_t samples[PROGRESS_SAMPLES]; /* a ring, some seconds apart */
    size_t sample_count;                         /* that there ever were */
} progress_t;

void progress_start(progress_t *progress);
void progress_end(progress_t *progress);

/* Is it time to look again, a few times a second? Then shows where the work stands, if a line is due. */
bool progress_is_due(const progress_t *progress);
void progress_show(progress_t *progress, const progress_state_t *state);

/* Pure: what is known at this moment (clock_now_ns), by all earlier calls; and the line for it, with what fits into
 * this number of columns (0: all of it). */
progress_view_t progress_view(progress_t *progress, const progress_state_t *state, int64_t now_ns);
const char *progress_line(const progress_view_t *view, size_t columns, char line[PROGRESS_LINE]);

/* ---- the file: without --metrics these do nothing ----
 *
 * metrics_begin and metrics_end: main thread; the others: any thread. */

/* Writes the file for the first time. Texts are borrowed until metrics_end. False: it cannot be written. */
bool metrics_begin(const char *path, const char *command, err_t *err);
void metrics_end(int status); /* the exit status of the command */

void metrics_of(const char *namespace);
void metrics_phase(const char *phase); /* a name of our own */
bool metrics_on(void);                 /* for figures that nobody else needs */
void metrics_lag(double seconds);      /* NAN: not known */

#endif
