/* metrics: how far a command is, in a file for other programs (--metrics FILE).
 *
 * What a command knows about its progress is a row of one table: a name, a value and a sentence. Every two seconds,
 * and once more when the command ends, the rows are written by a thread of their own, so that a main thread that
 * waits for a server delays nothing. The file is one of two things, by its name: - FILE.jsonl: each time a line of
 * JSON is appended. - any other: the text format of Prometheus, for the textfile collector of node_exporter. A new
 * file replaces the old one each time, so that a reader never sees half of it.
 *
 * A value that is not known is null in JSON, and left out for Prometheus. Without --metrics all functions do
 * nothing. metrics_begin and metrics_end belong to the main thread; any thread may call the others. */
#ifndef TIPPLE_LOAD_SPEC_METRICS_H
#define TIPPLE_LOAD_SPEC_METRICS_H

#include "base/err.h"
#include "load/spec/progress.h"

/* Writes the file for the first time. Texts are borrowed until metrics_end. False: it cannot be written. */
bool metrics_begin(const char *path, const char *command, err_t *err);
/* status: the exit status of the command. */
void metrics_end(int status);

void metrics_of(const char *namespace);
void metrics_phase(const char *phase); /* a name of our own */
bool metrics_on(void);                 /* for figures that nobody else needs */
void metrics_lag(double seconds);      /* NAN: not known */
void metrics_progress(const progress_view_t *view);

#endif
