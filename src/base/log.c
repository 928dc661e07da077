#include "base/log.h"
#include "base/caller.h"
#include "base/chars/escape.h"
#include "base/clock.h"
#include "base/conceal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic log_level_t threshold = LOG_NORMAL;
static bool bar_is_up;

void log_set_level(log_level_t level) {
    threshold = level;
}

log_level_t log_level(void) {
    return threshold;
}

static void wipe_bar(void) {
    if (bar_is_up)
        fputs("\r\033[K", stderr);
    bar_is_up = false;
}

enum { LONGEST = 4096, SHOWN = 4 * LONGEST };

static void say(log_level_t level, const char *prefix, const char *fmt, va_list args) {
    char line[LONGEST], shown[SHOWN];
    caller_t *caller = caller_current();
    int used = snprintf(line, sizeof line, "%s", caller ? "" : prefix);
    vsnprintf(line + used, sizeof line - (size_t)used - 1, fmt, args);
    conceal(line, sizeof line - 1);
    if (caller) {
        escape_lines(shown, line, strlen(line));
        caller_hear(caller, level, shown);
        return;
    }
    strcat(line, "\n");
    escape_lines(shown, line, strlen(line)); /* a line may contain text of others */
    pthread_mutex_lock(&lock);
    wipe_bar();
    fputs(shown, stderr);
    pthread_mutex_unlock(&lock);
}

static bool is_heard(log_level_t level) {
    const caller_t *caller = caller_current();
    return caller ? caller->hear != NULL : threshold >= level;
}

#define SAY(name, prefix, least)                                                                             \
    void name(const char *fmt, ...) {                                                                        \
        if (!is_heard(least))                                                                                \
            return;                                                                                          \
        va_list args;                                                                                        \
        va_start(args, fmt);                                                                                 \
        say(least, prefix, fmt, args);                                                                       \
        va_end(args);                                                                                        \
    }

SAY(log_error, "tipple: ", LOG_SILENT)
SAY(log_warn, "tipple: warning: ", LOG_QUIET)
SAY(log_note, "", LOG_NORMAL)
SAY(log_detail, "", LOG_VERBOSE)

void log_paste(const char *command) {
    if (caller_current()) {
        caller_hear(caller_current(), LOG_QUIET, command);
        return;
    }
    if (threshold < LOG_QUIET)
        return;
    pthread_mutex_lock(&lock);
    wipe_bar();
    fprintf(stderr, "    %s\n", command);
    pthread_mutex_unlock(&lock);
}

void log_bar(const char *line) {
    pthread_mutex_lock(&lock);
    wipe_bar();
    if (line) {
        char shown[LONGEST];
        snprintf(shown, sizeof shown, "%s", line);
        fprintf(stderr, "\r%s", conceal(shown, sizeof shown));
        bar_is_up = true;
    }
    fflush(stderr);
    pthread_mutex_unlock(&lock);
}

void log_progress_begin(log_progress_t *progress) {
    *progress = (log_progress_t){clock_now_ns(), isatty(STDERR_FILENO)};
}

bool log_progress_is_due(const log_progress_t *progress) {
    static const int64_t bar_ns = 170000000, line_ns = 30000000000;
    return !caller_current() && threshold >= LOG_NORMAL &&
           clock_now_ns() - progress->said_ns >= (progress->terminal ? bar_ns : line_ns);
}

void log_progress_say(log_progress_t *progress, const char *line) {
    progress->said_ns = clock_now_ns();
    if (progress->terminal)
        log_bar(line);
    else
        log_note("%s", line);
}

void log_progress_end(log_progress_t *progress) {
    if (progress->terminal && !caller_current())
        log_bar(NULL);
}
