#include "load/spec/progress.h"
#include "base/clock.h"
#include "base/numbers.h"
#include "load/spec/metrics.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BAR_WIDTH = 20, SHORT_BAR = 6, MANY_COLUMNS = PROGRESS_LINE - 1 };
static const int64_t LOOK_NS = 170000000, APART_NS = 2000000000; /* 16 of them are half a minute */

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

/* The oldest one that is kept: what came since then is the rate. */
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

/* ---- the line: each next form leaves something out ---- */

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

/* Nobody knows tenths of it. */
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

bool progress_is_due(const progress_t *progress) {
    return clock_now_ns() - progress->looked_ns >= LOOK_NS;
}

void progress_show(progress_t *progress, const progress_state_t *state) {
    const int64_t now_ns = clock_now_ns();
    const progress_view_t view = progress_view(progress, state, now_ns);
    char line[PROGRESS_LINE];
    progress->looked_ns = now_ns;
    metrics_progress(&view);
    if (log_progress_is_due(&progress->said, now_ns))
        log_progress_say(&progress->said, now_ns,
                         progress_line(&view, progress->said.terminal ? log_columns() : 0, line));
}
