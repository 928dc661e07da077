/* progress: the parts of progress.h. */
#include "load/spec/progress.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/numbers.h"
#include "base/text.h"
#include "base/threads.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- timeline ---- */

static const int64_t FIRST_EVERY_NS = 100000000;

void timeline_begin(timeline_t *course) {
    *course = (timeline_t){.every_ns = FIRST_EVERY_NS, .origin_ns = clock_now_ns(), .phase = TIMELINE_PHASES};
    timeline_enter(course, TIMELINE_LOOKING);
}

void timeline_enter(timeline_t *course, timeline_phase_t phase) {
    timeline_end(course);
    course->entered_ns = clock_now_ns();
    course->phase = phase;
    if (course->listener.entered)
        course->listener.entered(course->listener.context, phase);
}

void timeline_end(timeline_t *course) {
    if (course->phase < TIMELINE_PHASES) {
        const int64_t took_ns = clock_now_ns() - course->entered_ns;
        course->took_ns[course->phase] += took_ns;
        if (course->visit_count < TIMELINE_MOST_VISITS)
            course->visits[course->visit_count++] =
                (timeline_visit_t){course->phase, course->entered_ns - course->origin_ns, took_ns};
    }
    course->phase = TIMELINE_PHASES;
}

/* Drops every second point, and from now on takes half as many. */
static void thin_out(timeline_t *course) {
    for (size_t i = 1; 2 * i < course->point_count; i++)
        course->points[i] = course->points[2 * i];
    course->point_count = (course->point_count + 1) / 2;
    course->every_ns *= 2;
}

void timeline_last_point(timeline_t *course, uint64_t documents, uint64_t bytes) {
    if (course->point_count == TIMELINE_MOST_POINTS)
        thin_out(course);
    course->points[course->point_count++] =
        (timeline_point_t){clock_now_ns() - course->origin_ns, documents, bytes};
}

void timeline_point(timeline_t *course, uint64_t documents, uint64_t bytes) {
    const timeline_point_t *last = course->point_count ? &course->points[course->point_count - 1] : NULL;
    if (!last || clock_now_ns() - course->origin_ns - last->at_ns >= course->every_ns)
        timeline_last_point(course, documents, bytes);
}

const char *timeline_phase_name(timeline_phase_t phase) {
    static const char *const names[TIMELINE_PHASES] = {
        [TIMELINE_LOOKING] = "looking at files, server and catalog",
        [TIMELINE_DROPPING] = "dropping what was there",
        [TIMELINE_CREATING] = "creating the collection",
        [TIMELINE_PLACING] = "placing it over the shards",
        [TIMELINE_LOADING] = "loading",
        [TIMELINE_INDEXES] = "indexes",
        [TIMELINE_CLOSING] = "writing down how the load ended"};
    return names[phase];
}

/* ---- progress ---- */

enum { BAR_WIDTH = 20, SHORT_BAR = 6, MANY_COLUMNS = PROGRESS_LINE - 1 };
static const int64_t LOOK_NS = 170000000, APART_NS = 2000000000; /* 16 samples are half a minute */

void progress_start(progress_t *progress) {
    *progress = (progress_t){.said = log_progress_from(clock_now_ns())};
    step_begin(&progress->step, "%s", "");
}

void progress_end(progress_t *progress) {
    log_progress_end(&progress->said);
    step_end(&progress->step);
}

static double share_of(const progress_state_t *state) {
    double share = NAN;
    if (state->total_bytes)
        share = (double)state->bytes / (double)state->total_bytes;
    if (state->most_records && !(share > (double)state->records / (double)state->most_records))
        share = (double)state->records / (double)state->most_records;
    return share > 1 ? 1 : share;
}

/* Keeps a sample if one is due. Returns the oldest one: the rate is measured from it. */
static const progress_sample_t *keep_sample(progress_t *progress, const progress_sample_t *now) {
    const size_t count = progress->sample_count;
    if (!count || now->at_ns - progress->samples[(count - 1) % PROGRESS_SAMPLES].at_ns >= APART_NS)
        progress->samples[progress->sample_count++ % PROGRESS_SAMPLES] = *now;
    return &progress->samples[progress->sample_count < PROGRESS_SAMPLES
                                  ? 0
                                  : progress->sample_count % PROGRESS_SAMPLES];
}

progress_view_t progress_view(progress_t *progress, const progress_state_t *state, int64_t now_ns) {
    const progress_sample_t now = {now_ns, share_of(state), state->documents};
    const progress_sample_t *then = keep_sample(progress, &now);
    const double seconds = (double)(now_ns - then->at_ns) / 1e9, moved = now.share - then->share;
    return (progress_view_t){
        .state = *state,
        .share = now.share,
        .rate = seconds > 0 ? (double)(now.documents - then->documents) / seconds : 0,
        .left_s = moved > 0.001 && seconds >= 0.5 ? seconds * (1 - now.share) / moved : NAN,
    };
}

/* ---- the line: each form is shorter than the one before it ---- */

typedef struct {
    int bar;
    bool total, bytes, documents, rate, rejected;
} form_t;

static const form_t forms[] = {
    {BAR_WIDTH, true, true, true, true, true},    {BAR_WIDTH, false, true, true, true, true},
    {BAR_WIDTH, false, false, true, true, true},  {SHORT_BAR, false, false, true, true, true},
    {SHORT_BAR, false, false, false, true, true}, {0, false, false, false, true, true},
    {0, false, false, false, false, true},        {0, false, false, false, false, false},
};

typedef struct {
    char *text;
    size_t used;
} line_t;

static void put(line_t *line, const char *before, const char *text, const char *after) {
    line->used += (size_t)snprintf(line->text + line->used, PROGRESS_LINE - line->used, "%s%s%s%s",
                                   line->used ? "   " : "", before, text, after);
}

static void put_bar(line_t *line, double share, int width) {
    char bar[BAR_WIDTH + 1], percent[UNITS_MAX];
    memset(bar, '-', (size_t)width);
    memset(bar, '#', (size_t)(share * width));
    bar[width] = '\0';
    snprintf(percent, sizeof percent, width ? "%3.0f%%" : "%.0f%%", floor(share * 100));
    line->used = (size_t)snprintf(line->text, PROGRESS_LINE, "%s%s%s%s", width ? "[" : "", bar,
                                  width ? "] " : "", percent);
}

static void put_bytes(line_t *line, const progress_state_t *state, bool total) {
    char read[UNITS_MAX], all[UNITS_MAX];
    units_size(read, (double)state->bytes);
    put(line, read, total && state->total_bytes ? "/" : "",
        total && state->total_bytes ? units_size(all, (double)state->total_bytes) : "");
}

/* Puts the time without tenths, since it is an estimate. */
static void put_left(line_t *line, double seconds) {
    char left[UNITS_MAX];
    if (seconds < 60)
        snprintf(left, sizeof left, "%.0f s", ceil(seconds));
    else
        units_time(left, round(seconds));
    put(line, "", left, " left");
}

static size_t build(const progress_view_t *view, const form_t *form, char *text) {
    const progress_state_t *state = &view->state;
    char number[UNITS_MAX];
    line_t line = {text, 0};
    *text = '\0';
    if (!isnan(view->share))
        put_bar(&line, view->share, form->bar);
    if (form->bytes || (isnan(view->share) && !form->rate))
        put_bytes(&line, state, form->total);
    if (form->documents)
        put(&line, "", units_count(number, state->documents), " docs");
    if (form->rate)
        put(&line, "", units_rate(number, view->rate), " docs/s");
    if (form->rejected && state->rejected)
        put(&line, "", units_count(number, state->rejected), " rejected");
    if (!isnan(view->left_s))
        put_left(&line, view->left_s);
    return line.used;
}

const char *progress_line(const progress_view_t *view, size_t columns, char line[PROGRESS_LINE]) {
    const size_t room = columns ? columns - 1 : MANY_COLUMNS;
    size_t i = 0;
    while (build(view, &forms[i], line) > room && i + 1 < sizeof forms / sizeof *forms)
        i++;
    return line;
}

/* ---- the file ---- */

static const int64_t EVERY_NS = 2000000000;

typedef struct {
    double running, phase, records, documents, bytes, all_bytes, rejects, rate, lag, status, ended;
} values_t;

typedef struct {
    const char *name, *help; /* a name with _total is a counter, any other a gauge */
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
    ROW("replication_lag_seconds", lag, "How far the majority of the replica set lags its primary."),
    ROW("last_status", status, "Exit status of the command."),
    ROW("last_end_timestamp_seconds", ended, "When the command ended."),
};

static struct {
    pthread_mutex_t lock; /* of the members below */
    pthread_cond_t ending;
    pthread_t thread;
    const char *path, *command;
    int lines; /* the descriptor of FILE.jsonl; 0: Prometheus */
    char namespace[300], phase[80];
    values_t values;
    bool ends;
} metrics = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Appends a text as the value of a label. */
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

/* Replaces the file: a reader sees either the whole new one or the old one. */
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
    const bool ok =
        metrics.lines ? write(metrics.lines, whole, length) == (ssize_t)length : replace(whole, length);
    free(whole);
    return ok;
}

/* Writes the file now and then. A load goes on if that fails. */
static void *write_on(void *unused) {
    bool warned = false;
    (void)unused;
    for (bool ends = false; !ends;) {
        const int64_t until_ns = clock_now_ns() + EVERY_NS;
        pthread_mutex_lock(&metrics.lock);
        if (!metrics.ends)
            condition_wait_until(&metrics.ending, &metrics.lock, until_ns);
        ends = metrics.ends;
        pthread_mutex_unlock(&metrics.lock);
        if (!write_now() && !warned) {
            log_warn("--metrics: %s cannot be written: %s", metrics.path, strerror(errno));
            warned = true;
        }
    }
    return NULL;
}

static void begin_anew(void) {
    metrics.values = (values_t){1, 1, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    snprintf(metrics.phase, sizeof metrics.phase, "starting");
}

bool metrics_begin(const char *path, const char *command, err_t *err) {
    const char *dot = strrchr(path, '.');
    struct stat there;
    sigset_t all, before;
    metrics.path = path;
    metrics.command = command;
    metrics.ends = false;
    begin_anew();
    const bool lines = dot && strcmp(dot, ".jsonl") == 0;
    if (!lines && lstat(path, &there) == 0 && !S_ISREG(there.st_mode))
        return err_set(err, STATUS_USAGE, "--metrics: %s is no plain file, and would be replaced by one",
                       path);
    /* a pipe whose reader does not read loses lines, but delays nothing */
    metrics.lines = lines ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666) : 0;
    if (metrics.lines < 0 || !write_now())
        return err_set(err, err_status_of(errno), "--metrics: %s cannot be written: %s", path,
                       strerror(errno));
    condition_init(&metrics.ending);
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

void metrics_of(const char *namespace) {
    pthread_mutex_lock(&metrics.lock);
    begin_anew();
    snprintf(metrics.namespace, sizeof metrics.namespace, "%s", namespace);
    pthread_mutex_unlock(&metrics.lock);
}

void metrics_phase(const char *phase) {
    pthread_mutex_lock(&metrics.lock);
    snprintf(metrics.phase, sizeof metrics.phase, "%s", phase);
    pthread_mutex_unlock(&metrics.lock);
}

bool metrics_on(void) {
    return metrics.path != NULL;
}

void metrics_lag(double seconds) {
    pthread_mutex_lock(&metrics.lock);
    metrics.values.lag = seconds;
    pthread_mutex_unlock(&metrics.lock);
}

static void put_metrics(const progress_view_t *view) {
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

/* ---- both ---- */

bool progress_is_due(const progress_t *progress) {
    return clock_now_ns() - progress->looked_ns >= LOOK_NS;
}

void progress_show(progress_t *progress, const progress_state_t *state) {
    const int64_t now_ns = clock_now_ns();
    const progress_view_t view = progress_view(progress, state, now_ns);
    char line[PROGRESS_LINE];
    progress->looked_ns = now_ns;
    put_metrics(&view);
    if (log_progress_is_due(&progress->said, now_ns))
        log_progress_say(&progress->said, now_ns,
                         progress_line(&view, progress->said.terminal ? log_columns() : 0, line));
}
