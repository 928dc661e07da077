/* progress: what a running load tells a person: a bar on a terminal, a line now and then elsewhere. */
#ifndef TIPPLE_LOAD_SPEC_PROGRESS_H
#define TIPPLE_LOAD_SPEC_PROGRESS_H

#include "base/log.h"

/* How far it is. */
typedef struct {
    uint64_t bytes, total_bytes;    /* on disk, of what is to be read; total 0: nobody knows */
    uint64_t records, most_records; /* --limit; most 0: none */
    uint64_t documents, rejected;
} progress_state_t;

/* What a person is shown of it. */
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

/* Pure: what is known at this moment (clock_now_ns), of all that it was asked before; and the line for it, with what
 * fits into so many columns (0: all of it). */
progress_view_t progress_view(progress_t *progress, const progress_state_t *state, int64_t now_ns);
const char *progress_line(const progress_view_t *view, size_t columns, char line[PROGRESS_LINE]);

#endif
