/* log: messages for the person at the terminal, on stderr; of a thread that works for a caller (caller.h), to that one
 * alone. Results are never printed here. Any thread may call; each line is written whole. */
#ifndef TIPPLE_BASE_LOG_H
#define TIPPLE_BASE_LOG_H

#include <stdbool.h>
#include <stdint.h>

typedef enum { LOG_SILENT = -2, LOG_QUIET = -1, LOG_NORMAL = 0, LOG_VERBOSE = 1 } log_level_t;

void log_set_level(log_level_t level);
log_level_t log_level(void);

/* Errors are printed at every level; warnings at every level but LOG_SILENT, which no option sets; notes unless -q is
 * given; details only with -v. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* With a warning: a command to paste, on a line of its own, whole and as it is. Its words are our own or quoted
 * (ejson_append_text), so that nothing in it must be escaped or hidden. */
void log_paste(const char *command);

/* One line that is overwritten by the next (the progress bar); NULL wipes it. Only on a terminal. */
void log_bar(const char *line);

/* How far long work is: on a terminal a bar, at most six times a second; elsewhere a line twice a minute. A line need
 * not be built when none is due. One thread. */
typedef struct {
    int64_t said_ns;
    bool terminal;
} log_progress_t;

void log_progress_begin(log_progress_t *progress);
bool log_progress_is_due(const log_progress_t *progress);
void log_progress_say(log_progress_t *progress, const char *line);
void log_progress_end(log_progress_t *progress); /* wipes the bar */

#endif
