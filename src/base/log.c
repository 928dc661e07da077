#include "base/log.h"
#include "base/chars.h"
#include "base/clock.h"
#include "base/conceal.h"
#include "base/text.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

/* ---- callers ---- */

static _Thread_local caller_t *current;

typedef struct {
    caller_t *caller;
    void *(*work)(void *context);
    void *context;
} started_t;

void caller_init(caller_t *caller) {
    *caller = (caller_t){.hear = NULL};
    pthread_mutex_init(&caller->lock, NULL);
}

void caller_free(caller_t *caller) {
    pthread_mutex_destroy(&caller->lock);
}

caller_t *caller_current(void) {
    return current;
}

void caller_set(caller_t *caller) {
    current = caller;
}

static void *work_for_caller(void *context) {
    const started_t started = *(started_t *)context;
    free(context);
    current = started.caller;
    return started.work(started.context);
}

int caller_start_thread(pthread_t *thread, void *(*work)(void *context), void *context) {
    started_t *started = malloc(sizeof *started);
    if (!started)
        return ENOMEM;
    *started = (started_t){current, work, context};
    const int failure = pthread_create(thread, NULL, work_for_caller, started);
    if (failure)
        free(started);
    return failure;
}

static void hear(caller_t *caller, log_level_t level, const char *line) {
    pthread_mutex_lock(&caller->lock);
    if (caller->hear)
        caller->hear(caller->hear_context, level, line);
    pthread_mutex_unlock(&caller->lock);
}

void caller_tell_progress(uint64_t documents, uint64_t bytes) {
    static const int64_t apart_ns = 200000000;
    const int64_t now_ns = clock_now_ns();
    if (!current || !current->progress)
        return;
    pthread_mutex_lock(&current->lock);
    if (current->progress && now_ns - current->told_ns >= apart_ns) {
        current->told_ns = now_ns;
        current->progress(current->progress_context, documents, bytes);
    }
    pthread_mutex_unlock(&current->lock);
}

/* ---- messages ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of stderr */
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

static void print_line(const char *before, const char *line) {
    pthread_mutex_lock(&lock);
    wipe_bar();
    fprintf(stderr, "%s%s\n", before, line);
    pthread_mutex_unlock(&lock);
}

static void say(log_level_t level, const char *prefix, const char *fmt, va_list args) {
    char line[LONGEST], shown[SHOWN];
    vsnprintf(line, sizeof line, fmt, args);
    conceal(line, sizeof line);
    if (strcmp(fmt, "%s") != 0) /* a sentence that was made before, as an err_t has it */
        escape_line_ends(line, sizeof line, fmt);
    escape_lines(shown, line, strlen(line)); /* a line may contain text of others */
    if (current)
        hear(current, level, shown);
    else
        print_line(prefix, shown);
}

static bool is_heard(log_level_t level) {
    return current ? current->hear != NULL : threshold >= level;
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
    if (current)
        hear(current, LOG_QUIET, command);
    else if (threshold >= LOG_QUIET)
        print_line("    ", command);
}

/* ---- how far the work is ---- */

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
static void cut(char *at, size_t columns) {
    enum { WIDE = 0xe1 /* from U+1000 on */ };
    for (size_t used = 0; *at; at++) {
        used += (*at & 0xc0) == 0x80 ? 0 : (unsigned char)*at >= WIDE ? 2 : 1;
        if (used > columns)
            break;
    }
    *at = '\0';
}

/* Writes the bar in one piece, so that nothing flickers. The last column stays free: some terminals wrap when it is
 * written. */
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

log_progress_t log_progress_from(int64_t now_ns) {
    return (log_progress_t){now_ns, log_columns() > 0};
}

bool log_progress_is_due(const log_progress_t *progress, int64_t now_ns) {
    static const int64_t bar_ns = 170000000, line_ns = 30000000000;
    return !current && threshold >= LOG_NORMAL &&
           now_ns - progress->said_ns >= (progress->terminal ? bar_ns : line_ns);
}

void log_progress_say(log_progress_t *progress, int64_t now_ns, const char *line) {
    progress->said_ns = now_ns;
    if (progress->terminal)
        log_bar(line);
    else
        log_note("%s", line);
}

void log_progress_end(log_progress_t *progress) {
    if (progress->terminal && !current)
        log_bar(NULL);
}

/* ---- steps ---- */

static struct {
    pthread_mutex_t lock;
    step_t *innermost;
} steps = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void show_step(log_progress_t *said, int64_t now_ns) {
    enum { SOON = 2, MINUTE = 60 };
    char line[sizeof steps.innermost->text + 40];
    const int seconds = (int)((now_ns - steps.innermost->began_ns) / 1000000000);
    int used = snprintf(line, sizeof line, "%s", steps.innermost->text);
    if (seconds >= MINUTE)
        snprintf(line + used, sizeof line - (size_t)used, "   %d:%02d min", seconds / MINUTE,
                 seconds % MINUTE);
    else if (seconds >= SOON)
        snprintf(line + used, sizeof line - (size_t)used, "   %d s", seconds);
    log_progress_say(said, now_ns, line);
}

/* Runs to the end of the process, from its first step on. */
_Noreturn static void *show_steps(void *context) {
    static const int64_t soon_ns = 300000000;
    const struct timespec soon = clock_to_timespec(soon_ns);
    log_progress_t said = log_progress_from(clock_now_ns());
    for ((void)context;; nanosleep(&soon, NULL)) {
        const int64_t now_ns = clock_now_ns();
        pthread_mutex_lock(&steps.lock);
        if (!steps.innermost)
            said = log_progress_from(now_ns);
        else if (steps.innermost->text[0] && now_ns - steps.innermost->began_ns >= soon_ns &&
                 log_progress_is_due(&said, now_ns))
            show_step(&said, now_ns);
        pthread_mutex_unlock(&steps.lock);
    }
}

static void start_showing(void) {
    sigset_t all, before;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the thread that works */
    if (pthread_create(&thread, NULL, show_steps, NULL) == 0)
        pthread_detach(thread);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void set_step(step_t *step, bool begins, const char *fmt, va_list args) {
    pthread_mutex_lock(&steps.lock);
    vsnprintf(step->text, sizeof step->text, fmt, args);
    step->began_ns = clock_now_ns();
    step->outer = begins ? steps.innermost : step->outer;
    steps.innermost = step;
    if (!step->text[0]) /* a step without a text draws the bar itself */
        log_bar(NULL);
    pthread_mutex_unlock(&steps.lock);
}

void step_begin(step_t *step, const char *fmt, ...) {
    static pthread_once_t showing = PTHREAD_ONCE_INIT;
    va_list args;
    *step = (step_t){.shown = !current && threshold >= LOG_NORMAL};
    if (!step->shown)
        return;
    va_start(args, fmt);
    set_step(step, true, fmt, args);
    va_end(args);
    pthread_once(&showing, start_showing);
}

void step_change(step_t *step, const char *fmt, ...) {
    va_list args;
    if (!step->shown)
        return;
    va_start(args, fmt);
    set_step(step, false, fmt, args);
    va_end(args);
}

void step_end(step_t *step) {
    if (!step->shown)
        return;
    step->shown = false;
    pthread_mutex_lock(&steps.lock);
    steps.innermost = step->outer;
    if (!step->outer || !step->outer->text[0])
        log_bar(NULL);
    pthread_mutex_unlock(&steps.lock);
}

/* ---- results ---- */

int out_problem;

void out_bytes(const void *bytes, size_t length) {
    if (fwrite(bytes, 1, length, stdout) < length && !out_problem)
        out_problem = errno;
}

static void put(const char *text, bool lines) {
    char *clean = text_concealed(text);
    const size_t length = strlen(clean);
    text_t shown = {.length = 0};
    if (!text_grow(&shown, 4 * length + 1))
        err_end_without_memory(shown.lacking);
    if (lines)
        escape_lines(shown.bytes, clean, length);
    else
        escape_text(shown.bytes, shown.room, clean, length);
    out_bytes(shown.bytes, strlen(shown.bytes));
    text_free(&shown);
    free(clean);
}

void out_lines(const char *text) {
    put(text, true);
}

/* Line ends are the format's if there are no more of them than in the format. */
void out_print(const char *format, ...) {
    va_list list;
    text_t printed = {.length = 0};
    va_start(list, format);
    text_print_list(&printed, format, list);
    va_end(list);
    char *text = text_take_or_end(&printed);
    const size_t length = strlen(text), in_format = strlen(format);
    const bool ours = lines_count((const uint8_t *)text, length) ==
                      lines_count((const uint8_t *)format, in_format),
               ends = !ours && in_format && format[in_format - 1] == '\n';
    text[ends ? length - 1 : length] = '\0';
    put(text, ours);
    if (ends)
        out_bytes("\n", 1);
    free(text);
}
