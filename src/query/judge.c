/* judge: figures of a measure, the bounds of --fail-if, the highest rate within them, and a measure next to its baseline. */
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "query/query.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

double query_quantile_ms(const measure_t *measure, double share) {
    return hist_quantile_ns(&measure->found->latency, share) / 1e6;
}

bool query_disturbed(const query_spec_t *spec, const measure_t *measure) {
    static const double MOST = 0.1;
    const watch_figures_t *seen = &measure->watched.figures;
    const double stolen = isnan(seen->steal) ? 0 : seen->steal;
    return !spec->command && seen->others + stolen > MOST;
}

bool query_found_nothing(const measure_t *measure) {
    return measure->found->empty && measure->found->empty == measure->found->latency.moments.count;
}

/* The quantiles, each with its share, come first; then the other figures, in the order of value_of. */
static const struct {
    const char *name;
    bool time;
    double share;
} figures[] = {{"p50", true, 0.5},     {"p95", true, 0.95},  {"p99", true, 0.99},
               {"p99.9", true, 0.999}, {"mean", true, 0},    {"max", true, 0},
               {"ops/s", false, 0},    {"failed", false, 0}, {"skipped", false, 0}};

/* Skipped requests count as longer than all others. How long they would have taken is not known. */
static double value_of(const measure_t *measure, size_t figure) {
    enum { QUANTILES = 4 };
    const tally_t *found = measure->found;
    const hist_t *hist = &found->latency;
    const double n = (double)hist->moments.count, whole = n > 0 && !hist->beyond ? 1e-6 : NAN;
    if (figures[figure].time && query_found_nothing(measure) && !measure->work->expected)
        return NAN; /* the time of an answer without documents says nothing */
    const double others[] = {whole * hist->moments.mean, whole * (double)hist->most_ns,
                             n * 1e9 / (double)measure->elapsed_ns, (double)found->failures,
                             (double)hist->beyond};
    return figure < QUANTILES ? query_quantile_ms(measure, figures[figure].share)
                              : others[figure - QUANTILES];
}

/* ---- bounds ---- */

bool query_read_bound(bound_t *bound, const char *text, bool compares, err_t *err) {
    const size_t length = strcspn(text, "<>"), count = sizeof figures / sizeof *figures;
    const char *value = text + length + (text[length] != 0), *end;
    int64_t ns;
    uint64_t number;
    *bound = (bound_t){.words = text, .below = text[length] == '<'};
    while (bound->figure < count && (strlen(figures[bound->figure].name) != length ||
                                     strncmp(figures[bound->figure].name, text, length) != 0))
        bound->figure++;
    if (bound->figure < count) {
        const double share = figures[bound->figure].share;
        bound->times = units_number(value, &bound->value, &end) && strcmp(end, "x") == 0 &&
                       bound->value > 0 && (share == 0.5 || share == 0.99);
        if (bound->times)
            return compares ||
                   err_set(err, STATUS_USAGE, "--fail-if: '%s' needs --compare FILE or --against URI", text);
        if (!figures[bound->figure].time && units_parse_count(value, &number)) {
            bound->value = (double)number;
            return true;
        }
        if (figures[bound->figure].time && strpbrk(value, "smh") && /* 20 alone would be seconds */
            units_parse_time(value, &ns)) {
            bound->value = (double)ns / 1e6;
            return true;
        }
    }
    return err_set(err, STATUS_USAGE,
                   "--fail-if: '%s' is not FIGURE>VALUE or FIGURE<VALUE: p50, p95, p99, p99.9, mean or max "
                   "with a time (p99>20ms), ops/s, failed or skipped with a number (failed>0); with "
                   "--compare or --against p50 or p99 with how many times as long (p99>1.2x)",
                   text);
}

const char *const query_verdicts[] = {[VERDICT_NONE] = NULL,
                                      [VERDICT_KEPT] = "kept",
                                      [VERDICT_UNJUDGED] = "unjudged",
                                      [VERDICT_MISSED] = "missed"};

/* The figure that is compared with the bound, and the words for it. NAN: the words say why it is not judged. */
static double own_figure(const bound_t *bound, const measure_t *measure, char words[160]) {
    const double value = value_of(measure, bound->figure);
    if (isnan(value))
        snprintf(words, 160, "%s is not known", figures[bound->figure].name);
    else
        snprintf(words, 160, "%.4g%s", value, figures[bound->figure].time ? " ms" : "");
    return value;
}

/* A ratio is judged by that end of its interval which is better for the measure: a bound that counts as missed is
 * missed beyond doubt. */
static double ratio_figure(const query_spec_t *spec, const bound_t *bound, const measure_t *measure,
                           char words[160]) {
    compared_t compared;
    compare_find(spec, measure, &compared);
    const compared_figure_t *figure = figures[bound->figure].share == 0.5 ? &compared.p50 : &compared.p99;
    const ratio_t *ratio = &figure->ratio;
    if (figure->unjudged[0])
        snprintf(words, 160, "%s", figure->unjudged);
    else
        snprintf(words, 160, "%.3g (%.3g to %.3g) times as long as %s", ratio->ratio, ratio->low, ratio->high,
                 measure->baseline ? "that of --against" : "before");
    return bound->below ? ratio->high : ratio->low;
}

/* Were all requests answered, and sent nearly when they were due? False: `why` says what happened. */
static bool was_held(const measure_t *measure, char why[96]) {
    const tally_t *found = measure->found;
    const uint64_t n = found->latency.moments.count, due = n + found->latency.beyond + found->failures;
    if (n < due)
        snprintf(why, 96, "%" PRIu64 " of %" PRIu64 " requests were answered", n, due);
    else
        snprintf(why, 96, "requests were sent late at the end of %" PRIu64 " of %zu rounds", found->lagged,
                 measure->round_count);
    return n && n == due && 2 * found->lagged <= measure->round_count;
}

void query_check_bounds(const query_spec_t *spec, measure_t *measure) {
    text_t missed = {.length = 0};
    char why[96];
    measure->verdict = spec->bound_count ? VERDICT_KEPT : VERDICT_NONE;
    for (size_t i = 0; i < spec->bound_count; i++) {
        const bound_t *bound = &spec->bounds[i];
        char words[160];
        const double value =
            bound->times ? ratio_figure(spec, bound, measure, words) : own_figure(bound, measure, words);
        const char *between = missed.length ? "; " : "";
        verdict_t verdict = VERDICT_KEPT;
        if (isnan(value)) {
            verdict = VERDICT_UNJUDGED;
            text_print(&missed, "%s--fail-if '%.60s' cannot be judged: %s", between, bound->words, words);
        } else if (bound->below ? value < bound->value : value > bound->value) {
            verdict = VERDICT_MISSED;
            text_print(&missed, "%s%s is %s (--fail-if '%.60s')", between, figures[bound->figure].name, words,
                       bound->words);
        }
        measure->verdict = verdict > measure->verdict ? verdict : measure->verdict;
    }
    if (measure->verdict && spec->rate_choices > 1 && !was_held(measure, why)) {
        measure->verdict = VERDICT_MISSED;
        text_print(&missed, "%sthe rate was not held: %s", missed.length ? "; " : "", why);
    }
    measure->missed = missed.length ? text_take_or_end(&missed) : NULL;
}

/* ---- curves ---- */

size_t query_curve_length(const query_spec_t *spec) {
    return spec->rate_choices ? spec->rate_choices : 1;
}

const measure_t *query_curve_highest(const query_spec_t *spec, const measure_t *first) {
    for (size_t i = query_curve_length(spec); i-- > 0;)
        if (first[i].verdict == VERDICT_KEPT)
            return &first[i];
    return NULL;
}

verdict_t query_curve_verdict(const query_spec_t *spec, const measure_t *first) {
    verdict_t worst = VERDICT_NONE;
    if (query_curve_highest(spec, first))
        return VERDICT_KEPT;
    for (size_t i = 0; i < query_curve_length(spec); i++)
        worst = first[i].verdict > worst ? first[i].verdict : worst;
    return worst;
}

char *query_curve_sentence(const query_spec_t *spec, const measure_t *first) {
    const measure_t *highest = query_curve_highest(spec, first), *at = first;
    const bool several = spec->rate_choices > 1;
    text_t out = {.length = 0};
    if (!first->verdict || (highest && !several))
        return NULL;
    if (!several) {
        text_append(&out, first->missed);
        return text_take_or_end(&out);
    }
    text_append(&out, highest ? "the highest rate within" : "no rate is known to be within");
    for (size_t i = 0; i < spec->bound_count; i++)
        text_print(&out, "%s --fail-if '%.60s'", i ? " and" : "", spec->bounds[i].words);
    if (!highest) {
        text_print(&out, "; at %" PRIu64 " requests a second, the lowest: %s", first->rate, first->missed);
        return text_take_or_end(&out);
    }
    text_print(&out, " is %" PRIu64 " requests a second", highest->rate);
    if (highest + 1 == first + query_curve_length(spec))
        text_append(&out, ", the highest that was measured");
    while (at < highest && at->verdict == VERDICT_KEPT)
        at++;
    if (at < highest)
        text_print(&out, ", although %" PRIu64 " was not within it", at->rate);
    return text_take_or_end(&out);
}

/* ---- an earlier run ---- */

static bool broken(const char *path, const char *what, err_t *err) {
    return err_set(err, STATUS_USAGE, "--compare: %s is not what `tipple query --json` printed: %.*s", path,
                   (int)strcspn(what, "\n"), what);
}

bool compare_read(const char *path, bson_t *then, err_t *err) {
    bson_error_t error;
    bson_iter_t queries;
    bson_json_reader_t *reader = bson_json_reader_new_from_file(path, &error);
    if (!reader)
        return err_set(err, STATUS_USAGE, "--compare: %s cannot be read: %s", path, error.message);
    const int found = bson_json_reader_read(reader, then, &error);
    bson_json_reader_destroy(reader);
    if (found <= 0)
        return broken(path, found ? error.message : "the file is empty", err);
    if (strcmp(bson_read_text(then, "command"), "query") != 0)
        return broken(path, "its 'command' is not query", err);
    if (bson_read_number(then, "schema") != 1)
        return broken(path, "its 'schema' is not 1", err);
    if (!bson_read_list(then, "queries", &queries))
        return broken(path, "it has no list 'queries'", err);
    while (bson_iter_next(&queries)) {
        bson_t entry;
        bson_iter_t rounds;
        if (bson_read_document(&queries, &entry) && !bson_read_list(&entry, "rounds", &rounds))
            return err_set(err, STATUS_USAGE, "--compare: %s has no rounds; run it again", path);
    }
    return true;
}

static bool is_same(const bson_t *entry, const measure_t *measure) {
    const work_t *work = measure->work;
    return bson_read_number(entry, "clients") == measure->clients &&
           strcmp(bson_read_text(entry, "name"), work->query->name) == 0 &&
           strcmp(bson_read_text(entry, "with"), work->with) == 0 &&
           strcmp(bson_read_text(entry, "reads"), work->reads ? work->reads : "") == 0;
}

/* What a measure is compared with: its twin, or an entry of the earlier run, at the same rate if there is one. */
typedef struct {
    double n, empty, rate, p50_ms, p99_ms;
    const char *question;
    bool disturbed;
    const round_t *rounds;
    size_t count;
    round_t *read; /* of a file; free */
} baseline_t;

static void read_twin(const query_spec_t *spec, const measure_t *twin, const measure_t *measure,
                      baseline_t *baseline) {
    *baseline = (baseline_t){.n = (double)twin->found->latency.moments.count,
                             .empty = (double)twin->found->empty,
                             .rate = (double)twin->rate,
                             .p50_ms = query_quantile_ms(twin, 0.5),
                             .p99_ms = query_quantile_ms(twin, 0.99),
                             .question = measure->work->question, /* --against may ask another question */
                             .disturbed = query_disturbed(spec, twin),
                             .rounds = twin->rounds,
                             .count = twin->round_count};
}

static void read_entry(const bson_t *entry, baseline_t *baseline) {
    size_t room = 0;
    bson_iter_t rounds;
    bson_t round;
    *baseline = (baseline_t){.n = bson_read_number(entry, "n"),
                             .empty = bson_read_number(entry, "empty"),
                             .rate = bson_read_number(entry, "rate"),
                             .p50_ms = bson_read_number(entry, "p50_ms"),
                             .p99_ms = bson_read_number(entry, "p99_ms"),
                             .question = bson_read_text(entry, "question"),
                             .disturbed = bson_read_true(entry, "disturbed")};
    for (bool more = bson_read_list(entry, "rounds", &rounds); more && bson_iter_next(&rounds);) {
        if (!bson_read_document(&rounds, &round))
            continue;
        if (!GROW(baseline->read, room, baseline->count + 1, &(err_t){.text = ""}))
            err_end_without_memory(room * sizeof *baseline->read);
        baseline->read[baseline->count++] = (round_t){.n = (uint64_t)fmax(bson_read_number(&round, "n"), 0),
                                                      .p50_ms = bson_read_number(&round, "p50_ms"),
                                                      .p99_ms = bson_read_number(&round, "p99_ms")};
    }
    baseline->rounds = baseline->read;
}

static bool find_baseline(const query_spec_t *spec, const measure_t *measure, baseline_t *baseline) {
    bson_iter_t entries;
    bson_t entry;
    bool found = measure->baseline;
    if (found)
        read_twin(spec, measure->baseline, measure, baseline);
    else if (bson_read_list(spec->then, "queries", &entries))
        while (!(found && baseline->rate == (double)measure->rate) && bson_iter_next(&entries))
            if (bson_read_document(&entries, &entry) && is_same(&entry, measure)) {
                free(baseline->read);
                read_entry(&entry, baseline);
                found = true;
            }
    return found;
}

/* Why nothing is compared; NULL: it is. */
static const char *find_obstacle(const query_spec_t *spec, const baseline_t *then, const measure_t *measure) {
    if (!measure->found->latency.moments.count)
        return "failed now";
    if (!(then->n > 0))
        return measure->baseline ? "failed there" : "failed then";
    if (strcmp(then->question, measure->work->question) != 0)
        return "another question";
    if (then->rate != (double)measure->rate)
        return "another rate";
    if (!measure->baseline &&
        spec->poisson != (strcmp(bson_read_text(spec->then, "arrivals"), "poisson") == 0))
        return "other arrivals";
    const bool nothing = then->empty > 0 && then->empty == then->n;
    return nothing != query_found_nothing(measure) ? "another answer" : NULL;
}

/* ---- by rounds ---- */

/* Takes a figure of each round, if it allows a verdict. whose: " in the earlier run", or "". */
static bool take_times(const round_t *rounds, size_t count, bool tail, const char *whose, double *times,
                       char unjudged[96]) {
    static const uint64_t TAIL_REQUESTS = 100; /* of a round that has a 99th percentile */
    const size_t lacking = count < RATIO_ROUNDS ? RATIO_ROUNDS - count : 0;
    bool known = true, many = true;
    for (size_t i = 0; i < count; i++) {
        times[i] = tail ? rounds[i].p99_ms : rounds[i].p50_ms;
        known = known && times[i] > 0;
        many = many && (!tail || rounds[i].n >= TAIL_REQUESTS);
    }
    if (lacking)
        snprintf(unjudged, 96, "%zu more round%s needed%s", lacking, lacking == 1 ? " is" : "s are", whose);
    else if (!many)
        snprintf(unjudged, 96, "%" PRIu64 " requests a round are needed%s", TAIL_REQUESTS, whose);
    else if (!known)
        snprintf(unjudged, 96, "requests of a round failed or were skipped%s", whose);
    return !unjudged[0];
}

static void compare_figure(const query_spec_t *spec, const measure_t *measure, const baseline_t *then,
                           bool tail, compared_figure_t *figure) {
    const bool runs = !measure->baseline, now = query_disturbed(spec, measure);
    const size_t count = measure->round_count, then_count = then->count;
    double *of = malloc((count + then_count + 1) * sizeof *of), *to = of + count;
    if (!of)
        err_end_without_memory((count + then_count + 1) * sizeof *of);
    if (runs && (now || then->disturbed))
        snprintf(figure->unjudged, sizeof figure->unjudged, "%s disturbed (--against compares in turns)",
                 !then->disturbed ? "this run was"
                 : now            ? "both runs were"
                                  : "the earlier run was");
    else if (take_times(measure->rounds, count, tail, "", of, figure->unjudged) &&
             take_times(then->rounds, then_count, tail, runs ? " in the earlier run" : "", to,
                        figure->unjudged))
        figure->ratio = runs ? ratio_of_runs(of, count, to, then_count)
                             : ratio_in_turns(of, to, count < then_count ? count : then_count);
    free(of);
}

bool compare_find(const query_spec_t *spec, const measure_t *measure, compared_t *compared) {
    baseline_t then = {.p50_ms = NAN, .p99_ms = NAN};
    const bool found = find_baseline(spec, measure, &then);
    *compared = (compared_t){.disturbed = then.disturbed || query_disturbed(spec, measure),
                             .obstacle = found ? find_obstacle(spec, &then, measure) : "new"};
    for (int tail = 0; tail < 2; tail++) {
        compared_figure_t *figure = tail ? &compared->p99 : &compared->p50;
        *figure = (compared_figure_t){.then_ms = tail ? then.p99_ms : then.p50_ms, .ratio = {NAN, NAN, NAN}};
        if (compared->obstacle)
            snprintf(figure->unjudged, sizeof figure->unjudged, "%s", compared->obstacle);
        else
            compare_figure(spec, measure, &then, tail, figure);
    }
    free(then.read);
    return found;
}

const char *compare_verdict(const compared_figure_t *figure) {
    if (figure->unjudged[0])
        return "unjudged";
    if (figure->ratio.low > 1)
        return "slower";
    return figure->ratio.high < 1 ? "faster" : "undecided";
}
