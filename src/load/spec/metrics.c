#include "load/spec/metrics.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/text.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t EVERY_NS = 2000000000;

typedef struct {
    double running, phase, records, documents, bytes, all_bytes, rejects, rate, lag, status, ended;
} values_t;

typedef struct {
    const char *name, *help; /* a name that ends in _total is of a counter, any other of a gauge */
    size_t at;
} row_t;

#define ROW(name, value, help)                                                                               \
    { name, help, offsetof(values_t, value) }

static const row_t rows[] = {
    ROW("running", running, "1 while the command runs, 0 after it."),
    ROW("phase", phase, "1 for the phase that the command is in."),
    ROW("records_total", records, "Records read from the inputs."),
    ROW("documents_total", documents, "Documents loaded or found in the collection."),
    ROW("bytes_total", bytes, "Bytes read from the input files."),
    ROW("expected_bytes", all_bytes, "Bytes of the input files that are to be read."),
    ROW("rejects_total", rejects, "Records that were rejected."),
    ROW("documents_per_second", rate, "Documents a second in the last half minute."),
    ROW("replication_lag_seconds", lag, "How far the majority of the replica set is after its primary."),
    ROW("last_status", status, "Exit status of the command."),
    ROW("last_end_timestamp_seconds", ended, "When the command ended."),
};

static struct {
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t ending;
    pthread_t thread;
    const char *path, *command;
    FILE *lines; /* NULL: Prometheus */
    char namespace[300], phase[80];
    values_t values;
    bool ends;
} metrics = {.lock = PTHREAD_MUTEX_INITIALIZER, .ending = PTHREAD_COND_INITIALIZER};

/* ---- the two formats ---- */

/* As the value of a label. */
static void append_escaped(text_t *to, const char *text) {
    for (; *text; text++)
        text_print(to, *text == '\n' ? "\\n" : strchr("\\\"", *text) ? "\\%c" : "%c", *text);
}

static double value_of(const row_t *row) {
    return *(const double *)(const void *)((const char *)&metrics.values + row->at);
}

static void print_row(text_t *to, const row_t *row) {
    const bool counts = strstr(row->name, "_total"), phase = strcmp(row->name, "phase") == 0;
    text_print(to, "# HELP tipple_%s %s\n# TYPE tipple_%s %s\n", row->name, row->help, row->name,
               counts ? "counter" : "gauge");
    text_print(to, "tipple_%s{command=\"%s\",namespace=\"", row->name, metrics.command);
    append_escaped(to, metrics.namespace);
    if (phase)
        text_print(to, "\",phase=\"%s", metrics.phase);
    text_print(to, "\"} %.15g\n", value_of(row));
}

static void print_line(text_t *to) {
    text_print(to, "{\"time\": %.3f, \"command\": \"%s\", \"namespace\": ", (double)clock_wall_ms() / 1e3,
               metrics.command);
    ejson_append_text(to, metrics.namespace);
    text_print(to, ", \"phase\": \"%s\"", metrics.phase);
    for (const row_t *row = rows; row < rows + COUNT(rows); row++)
        if (strcmp(row->name, "phase") != 0)
            text_print(to, isnan(value_of(row)) ? ", \"%s\": null" : ", \"%s\": %.15g", row->name,
                       value_of(row));
    text_append(to, "}\n");
}

/* ---- the file ---- */

/* A reader sees either the whole new file or the old one. */
static bool replace(const char *text, size_t length) {
    char part[PATH_MAX + 32];
    snprintf(part, sizeof part, "%s.%ld", metrics.path, (long)getpid());
    FILE *file = fopen(part, "we");
    bool ok = file && fwrite(text, 1, length, file) == length;
    ok = file && fclose(file) == 0 && ok && rename(part, metrics.path) == 0;
    const int why = errno;
    if (!ok)
        unlink(part);
    errno = why;
    return ok;
}

static bool write_now(void) {
    text_t text = {.length = 0};
    pthread_mutex_lock(&metrics.lock);
    if (metrics.lines)
        print_line(&text);
    for (const row_t *row = rows; !metrics.lines && row < rows + COUNT(rows); row++)
        if (!isnan(value_of(row)))
            print_row(&text, row);
    pthread_mutex_unlock(&metrics.lock);
    const size_t length = text.length;
    char *whole = text_take_or_end(&text);
    const bool ok = metrics.lines
                        ? fwrite(whole, 1, length, metrics.lines) == length && fflush(metrics.lines) == 0
                        : replace(whole, length);
    free(whole);
    return ok;
}

/* A file that cannot be written any more is no reason to end a load. */
static void *write_on(void *unused) {
    bool warned = false;
    (void)unused;
    for (bool ends = false; !ends;) {
        const struct timespec until = clock_to_timespec(clock_now_ns() + EVERY_NS);
        pthread_mutex_lock(&metrics.lock);
        if (!metrics.ends)
            pthread_cond_clockwait(&metrics.ending, &metrics.lock, CLOCK_MONOTONIC, &until);
        ends = metrics.ends;
        pthread_mutex_unlock(&metrics.lock);
        if (!write_now() && !warned) {
            log_warn("--metrics: %s cannot be written: %s", metrics.path, strerror(errno));
            warned = true;
        }
    }
    return NULL;
}

bool metrics_begin(const char *path, const char *command, err_t *err) {
    const char *dot = strrchr(path, '.');
    struct stat there;
    sigset_t all, before;
    metrics.path = path;
    metrics.command = command;
    metrics.values = (values_t){1, 1, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    snprintf(metrics.phase, sizeof metrics.phase, "starting");
    const bool lines = dot && strcmp(dot, ".jsonl") == 0;
    if (!lines && lstat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return err_set(err, STATUS_USAGE, "--metrics: %s is no plain file, and would be replaced by one",
                       path);
    if ((lines && !(metrics.lines = fopen(path, "ae"))) || !write_now())
        return err_set(err, err_status_of(errno), "--metrics: %s cannot be written: %s", path,
                       strerror(errno));
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are for the main thread */
    const int failure = pthread_create(&metrics.thread, NULL, write_on, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return !failure || err_set(err, STATUS_HOST, "a thread cannot be started: %s", strerror(failure));
}

void metrics_end(int status) {
    if (!metrics_on())
        return;
    pthread_mutex_lock(&metrics.lock);
    metrics.ends = true;
    metrics.values.running = 0;
    metrics.values.phase = metrics.values.rate = metrics.values.lag = NAN;
    metrics.values.status = status;
    metrics.values.ended = (double)clock_wall_ms() / 1e3;
    pthread_cond_signal(&metrics.ending);
    pthread_mutex_unlock(&metrics.lock);
    pthread_join(metrics.thread, NULL);
}

/* ---- what the command knows ---- */

static void set(char *text, size_t room, const char *to) {
    pthread_mutex_lock(&metrics.lock);
    snprintf(text, room, "%s", to);
    pthread_mutex_unlock(&metrics.lock);
}

void metrics_of(const char *namespace) {
    set(metrics.namespace, sizeof metrics.namespace, namespace);
}

void metrics_phase(const char *phase) {
    set(metrics.phase, sizeof metrics.phase, phase);
}

bool metrics_on(void) {
    return metrics.path != NULL;
}

void metrics_lag(double seconds) {
    pthread_mutex_lock(&metrics.lock);
    metrics.values.lag = seconds;
    pthread_mutex_unlock(&metrics.lock);
}

void metrics_progress(const progress_view_t *view) {
    const progress_state_t *state = &view->state;
    pthread_mutex_lock(&metrics.lock);
    metrics.values.records = (double)state->records;
    metrics.values.documents = (double)state->documents;
    metrics.values.bytes = (double)state->bytes;
    metrics.values.all_bytes = state->total_bytes ? (double)state->total_bytes : NAN;
    metrics.values.rejects = (double)state->rejected;
    metrics.values.rate = view->rate;
    pthread_mutex_unlock(&metrics.lock);
}
