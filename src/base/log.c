#include "base/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static log_level_t threshold = LOG_NORMAL;
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

static void say(const char *prefix, const char *fmt, va_list args) {
    char line[4096];
    int used = snprintf(line, sizeof line, "%s", prefix);
    vsnprintf(line + used, sizeof line - (size_t)used - 1, fmt, args);
    strcat(line, "\n");
    pthread_mutex_lock(&lock);
    wipe_bar();
    fputs(line, stderr);
    pthread_mutex_unlock(&lock);
}

#define SAY(name, prefix, least)                                                                             \
    void name(const char *fmt, ...) {                                                                        \
        if (threshold < (least))                                                                             \
            return;                                                                                          \
        va_list args;                                                                                        \
        va_start(args, fmt);                                                                                 \
        say(prefix, fmt, args);                                                                              \
        va_end(args);                                                                                        \
    }

SAY(log_error, "tipple: ", LOG_QUIET)
SAY(log_warn, "tipple: warning: ", LOG_QUIET)
SAY(log_note, "", LOG_NORMAL)
SAY(log_detail, "", LOG_VERBOSE)

void log_bar(const char *line) {
    pthread_mutex_lock(&lock);
    wipe_bar();
    if (line) {
        fprintf(stderr, "\r%s", line);
        bar_is_up = true;
    }
    fflush(stderr);
    pthread_mutex_unlock(&lock);
}
