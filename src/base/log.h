/* log: talk for the person at the terminal, on stderr. Results never come this way.
 * Any thread may call; a line is written whole. */
#ifndef TIPPLE_BASE_LOG_H
#define TIPPLE_BASE_LOG_H

typedef enum { LOG_QUIET = -1, LOG_NORMAL = 0, LOG_VERBOSE = 1 } log_level_t;

void log_set_level(log_level_t level);
log_level_t log_level(void);

/* Warnings and errors are printed at every level; notes unless -q; details only with -v. */
void log_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
void log_detail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* One line that is overwritten by the next (the progress bar); NULL wipes it. Only on a terminal. */
void log_bar(const char *line);

#endif
