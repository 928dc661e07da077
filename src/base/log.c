#include "base/log.h"
#include "base/caller.h"
#include "base/chars.h"
#include "base/clock.h"
#include "base/conceal.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic log_level_t threshold = LOG_NORMAL;
static bool bar_is_up;
static atomic_bool no_bar;

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

enum { LONGEST = 4096, SHOWN = 4 * LONGEST, BAR = 1024 };

static void say(log_level_t level, const char *prefix, const char *fmt, va_list args) {
    char line[LONGEST], shown[SHOWN];
    caller_t *caller = caller_current();
    int used = snprintf(line, sizeof line, "%s", caller ? "" : prefix);
    vsnprintf(line + used, sizeof line - (size_t)used - 1, fmt, args);
    conceal(line, sizeof line - 1);
    if (strcmp(fmt, "%s") != 0) /* a sentence that was made before, as an err_t has it */
        escape_line_ends(line, sizeof line - 1, fmt);
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

void log_no_bar(void) {
    no_bar = true;
}

size_t log_columns(void) {
    enum { USUAL = 80 };
    struct winsize size = {.ws_col = 0};
    const char *kind = getenv("TERM");
    if (no_bar || !isatty(STDERR_FILENO) || (kind && strcmp(kind, "dumb") == 0))
        return 0;
    ioctl(STDERR_FILENO, TIOCGWINSZ, &size);
    return size.ws_col ? size.ws_col : USUAL;
}

/* Cuts a text of UTF-8, of which wide characters take two columns. */
static void cut(char *text, size_t columns) {
    enum { WIDE = 0xe1 /* from U+1000 on */ };
    size_t used = 0;
    for (char *at = text; *at; at++) {
        const unsigned char byte = (unsigned char)*at;
        used += (byte & 0xc0) == 0x80 ? 0 : byte >= WIDE ? 2 : 1;
        if (used > columns) {
            *at = '\0';
            return;
        }
    }
}

/* In one piece, so that nothing flickers. The last column stays free: some terminals wrap when it is written. */
static void draw(const char *line) {
    char text[BAR], shown[BAR], out[BAR + 8];
    const size_t columns = log_columns();
    snprintf(text, sizeof text, "%s", line);
    conceal(text, sizeof text);
    escape_text(shown, sizeof shown, text, strlen(text));
    cut(shown, columns ? columns - 1 : BAR);
    const int length = snprintf(out, sizeof out, "\r%s\033[K", shown);
    fwrite(out, 1, (size_t)length, stderr);
}

void log_bar(const char *line) {
    pthread_mutex_lock(&lock);
    if (line)
        draw(line);
    else
        wipe_bar();
    bar_is_up = line != NULL;
    fflush(stderr);
    pthread_mutex_unlock(&lock);
}

static void print_line(log_level_t level, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    say(level, "", fmt, args);
    va_end(args);
}

void log_line(const char *line) {
    print_line(LOG_NORMAL, "%s", line);
}

log_progress_t log_progress_from(int64_t now_ns) {
    return (log_progress_t){now_ns, log_columns() > 0};
}

bool log_progress_is_due(const log_progress_t *progress, int64_t now_ns) {
    static const int64_t bar_ns = 170000000, line_ns = 30000000000;
    return !caller_current() && threshold >= LOG_NORMAL &&
           now_ns - progress->said_ns >= (progress->terminal ? bar_ns : line_ns);
}

void log_progress_say(log_progress_t *progress, int64_t now_ns, const char *line) {
    progress->said_ns = now_ns;
    if (progress->terminal)
        log_bar(line);
    else
        log_line(line);
}

void log_progress_end(log_progress_t *progress) {
    if (progress->terminal && !caller_current())
        log_bar(NULL);
}
