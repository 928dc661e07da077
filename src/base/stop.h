/* stop: the one global flag, set by SIGINT and SIGTERM. The first signal asks for a clean end; a second
 * SIGINT ends the process at once. */
#ifndef TIPPLE_BASE_STOP_H
#define TIPPLE_BASE_STOP_H

#include "base/err.h"

#include <stdbool.h>

enum { STOP_GRACE_SECONDS = 10 };

void stop_install(void);

/* What was cut off goes on when it is run again, as a load does: the sentence, when the clean end takes too long,
 * says so. */
void stop_goes_on(void);

/* The signal that asked us to stop, or 0. Cheap: read between blocks. */
int stop_signal(void);

/* Says that a signal has ended work that the same command resumes. Always false. */
bool stop_interrupted(err_t *err);

/* A pause. False: a signal asks us to stop, and *err says so. */
bool stop_nap(int milliseconds, err_t *err);

/* After everything is cleaned up: dies of the signal itself, so that shells and loops see it. */
void stop_die(int signal);

#endif
