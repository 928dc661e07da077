/* stop: one global flag of the command, set by SIGINT, SIGTERM and SIGHUP (unless nohup ignores that). The first signal
 * asks for a clean end; a SIGINT that comes a second or more after it ends the process at once. (timeout(1) and some
 * shells send one signal to the process and to its group: both count as one.) In a program that uses the library each
 * load has a flag of its own (log.h, caller_t), which counts as a SIGINT. */
#ifndef TIPPLE_BASE_STOP_H
#define TIPPLE_BASE_STOP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    STOP_GRACE_SECONDS = 10,
    STOP_AGAIN_MS = 1000,
    STOP_REPLY_SECONDS = 2, /* what a healthy server gets to answer, because its answer is useful */
};

void stop_install(void);

/* Say that this command continues its work when it is run again, as a load does. The sentence for a clean end that
 * takes too long then says so. */
void stop_goes_on(void);

/* Say that nothing else ends the wait for a reply that does not come: some time after the signal all connections of the
 * process are shut down. */
void stop_hangs_up(void);

/* The signal that asked us to stop, or 0. Cheap: read between blocks. */
int stop_signal(void);

/* When the command's first signal came, by clock_now_ns; 0: none has. */
int64_t stop_came_ns(void);

/* Sets the sentence that a signal has ended work which the same command continues. Always false. */
bool stop_interrupted(err_t *err);

/* Sleeps. False: a signal asks us to stop, and *err says so. */
bool stop_nap(int milliseconds, err_t *err);

/* Ends the process by the signal itself, so that shells and loops see it. Call it after everything is cleaned up. */
void stop_die(int signal);

#endif
