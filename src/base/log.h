/* log: messages for the person at the terminal, on stderr; of a thread that works for a caller (caller.h), to that one
 * alone. Results are never printed here. Any thread may call; each line is written whole. */
#ifndef TIPPLE_BASE_LOG_H
#define TIPPLE_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>
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

/* How wide the terminal is that stderr goes to, as it is now; 0: none on which a line can be overwritten, or a program
 * reads the result (log_no_bar). */
size_t log_columns(void);
void log_no_bar(void); /* --json: nothing moves on the screen; lines now and then are left */

/* A line of the progress, where nothing can be overwritten; at every level. */
void log_line(const char *line);

/* One line that is overwritten by the next (the progress bar), cut where the terminal ends; NULL wipes it. */
void log_bar(const char *line);

/* How far long work is: on a terminal a bar, at most six times a second; elsewhere a line twice a minute. A line need
 * not be built when none is due. now_ns: by clock_now_ns. */
typedef struct {
    int64_t said_ns;
    bool terminal;
} log_progress_t;

log_progress_t log_progress_from(int64_t now_ns);
bool log_progress_is_due(const log_progress_t *progress, int64_t now_ns);
void log_progress_say(log_progress_t *progress, int64_t now_ns, const char *line);
void log_progress_end(log_progress_t *progress); /* wipes the bar */

#endif
