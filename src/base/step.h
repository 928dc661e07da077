/* step: says what a step that may take long is doing, while the thread that does it waits: on a terminal a line that
 * counts the seconds, elsewhere a line twice a minute.
 *
 *     step_t step;
 *     step_begin(&step, "building the index %s", name);
 *     ok = build(...);
 *     step_end(&step);
 *
 * Steps may be within steps: the innermost is shown. For the command's main thread; what is done for a caller
 * (caller.h), with -q, or silently, is not shown. */
#ifndef TIPPLE_BASE_STEP_H
#define TIPPLE_BASE_STEP_H

#include "base/log.h"

enum { STEP_TEXT = 200, STEP_LINE = STEP_TEXT + 40 };

typedef struct step {
    char text[STEP_TEXT]; /* empty: nothing is shown */
    int64_t began_ns;
    struct step *outer;
    bool shown; /* it is one that may be shown */
} step_t;

void step_begin(step_t *step, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same step does something else now. */
void step_change(step_t *step, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void step_end(step_t *step);

/* Pure: the line after so much time; and when a line is due next (times of clock_now_ns). */
const char *step_line(const char *text, int64_t took_ns, char line[STEP_LINE]);
typedef struct {
    bool terminal;
    bool drawn;       /* a line of a step is on the terminal */
    bool changed;     /* which is not of what is done now */
    int64_t began_ns; /* what is done now */
    int64_t said_ns;  /* the last line, or the beginning of all steps */
} step_times_t;
int64_t step_due_ns(const step_times_t *times);

#endif
