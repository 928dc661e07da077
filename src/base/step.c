#include "base/step.h"
#include "base/caller.h"
#include "base/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>

static pthread_mutex_t lock =
    PTHREAD_MUTEX_INITIALIZER; /* of all but `thread`, which is the working thread's */
static pthread_cond_t changed;
static step_t *innermost;
static step_times_t times;
static bool runs;
static pthread_t thread;

const char *step_line(const char *text, int64_t took_ns, char line[STEP_LINE]) {
    enum { SOON = 2, MINUTE = 60 };
    const int seconds = (int)(took_ns / 1000000000);
    if (seconds < SOON)
        snprintf(line, STEP_LINE, "%s", text);
    else if (seconds < MINUTE)
        snprintf(line, STEP_LINE, "%s   %d s", text, seconds);
    else
        snprintf(line, STEP_LINE, "%s   %d:%02d min", text, seconds / MINUTE, seconds % MINUTE);
    return line;
}

int64_t step_due_ns(const step_times_t *now) {
    static const int64_t line_ns = 30000000000, soon_ns = 300000000, again_ns = 170000000,
                         second_ns = 1000000000;
    return !now->terminal ? now->said_ns + line_ns
           : !now->drawn  ? now->began_ns + soon_ns
                          : now->said_ns + (now->changed ? again_ns : second_ns);
}

static bool is_hidden(const step_t *step) {
    return !step || !step->text[0];
}

static void show(void) {
    char line[STEP_LINE];
    const int64_t now_ns = clock_now_ns();
    step_line(innermost->text, now_ns - innermost->began_ns, line);
    if (times.terminal)
        log_bar(line);
    else
        log_line(line);
    times.said_ns = now_ns;
    times.drawn = times.terminal;
    times.changed = false;
}

static void wait_until(int64_t due_ns) {
    const struct timespec until = clock_to_timespec(due_ns);
    if (is_hidden(innermost))
        pthread_cond_wait(&changed, &lock);
    else
        pthread_cond_timedwait(&changed, &lock, &until);
}

static void *tell(void *context) {
    (void)context;
    pthread_mutex_lock(&lock);
    while (innermost) {
        wait_until(step_due_ns(&times));
        if (!is_hidden(innermost) && clock_now_ns() >= step_due_ns(&times))
            show();
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

static void start(void) {
    pthread_condattr_t monotonic;
    sigset_t all, before;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the thread that works */
    runs = pthread_create(&thread, NULL, tell, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* The lock is held. */
static void now_is(step_t *step) {
    innermost = step;
    times.changed = true;
    if (step)
        times.began_ns = step->began_ns;
    if (is_hidden(step) && times.drawn) {
        log_bar(NULL);
        times.drawn = false;
    }
    if (is_hidden(step)) /* what is done there speaks for itself */
        times.said_ns = clock_now_ns();
    if (runs)
        pthread_cond_signal(&changed);
}

static void set(step_t *step, const char *fmt, va_list args) {
    vsnprintf(step->text, sizeof step->text, fmt, args);
    step->began_ns = clock_now_ns();
    now_is(step);
}

void step_begin(step_t *step, const char *fmt, ...) {
    va_list args;
    *step = (step_t){.shown = !caller_current() && log_level() >= LOG_NORMAL};
    if (!step->shown)
        return;
    va_start(args, fmt);
    pthread_mutex_lock(&lock);
    step->outer = innermost;
    if (!step->outer)
        times = (step_times_t){.terminal = log_columns() > 0, .said_ns = clock_now_ns()};
    set(step, fmt, args);
    pthread_mutex_unlock(&lock);
    va_end(args);
    if (!step->outer)
        start();
}

void step_change(step_t *step, const char *fmt, ...) {
    va_list args;
    if (!step->shown)
        return;
    va_start(args, fmt);
    pthread_mutex_lock(&lock);
    set(step, fmt, args);
    pthread_mutex_unlock(&lock);
    va_end(args);
}

void step_end(step_t *step) {
    if (!step->shown)
        return;
    step->shown = false;
    pthread_mutex_lock(&lock);
    now_is(step->outer);
    pthread_mutex_unlock(&lock);
    if (step->outer)
        return;
    if (runs)
        pthread_join(thread, NULL);
    runs = false;
    pthread_cond_destroy(&changed);
}
