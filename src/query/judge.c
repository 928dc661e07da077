/* judge: figures of a measure, the bounds of --fail-if, and an earlier run next to this one. */
#include "base/log.h"
#include "base/numbers.h"
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

bool query_found_nothing(const measure_t *measure) {
    return measure->found->empty && measure->found->empty == measure->found->latency.moments.count;
}

/* A quantile has a share; the others come after them, in the order of value_of. */
static const struct {
    const char *name;
    bool time;
    double share;
} figures[] = {{"p50", true, 0.5},     {"p95", true, 0.95},  {"p99", true, 0.99},
               {"p99.9", true, 0.999}, {"mean", true, 0},    {"max", true, 0},
               {"ops/s", false, 0},    {"failed", false, 0}, {"skipped", false, 0}};

/* Requests that were skipped are longer than any, and nobody knows how long. */
static double value_of(const measure_t *measure, size_t figure) {
    enum { QUANTILES = 4 };
    const tally_t *found = measure->found;
    const hist_t *hist = &found->latency;
    const double n = (double)hist->moments.count, whole = n > 0 && !hist->beyond ? 1e-6 : NAN;
    if (figures[figure].time && query_found_nothing(measure) && !measure->work->expected)
        return NAN; /* a time of nothing is no time */
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
            return compares || err_set(err, STATUS_USAGE, "--fail-if: '%s' needs --compare FILE", text);
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
                   "--compare p50 or p99 with how many times as long (p99>1.2x)",
                   text);
}

/* What is compared with the bound, and how it is said. Of a ratio it is the end of the interval that speaks for the measure:
 * a bound is missed beyond doubt, or not. */
static double figure_of(const bound_t *bound, const measure_t *measure, const query_spec_t *spec,
                        char words[80]) {
    const double share = figures[bound->figure].share;
    compared_t compared = {.obstacle = "new"};
    if (bound->times) {
        compare_find(spec, measure, &compared);
        const bool median = share == 0.5;
        const interval_t *between = median ? &compared.p50_between : &compared.p99_between;
        const double ratio = compared.obstacle ? NAN : median ? compared.p50_ratio : compared.p99_ratio;
        snprintf(words, 80, "%.3g (%.3g to %.3g) times as long as before", ratio, between->low,
                 between->high);
        return isnan(ratio) ? NAN : bound->below ? between->high : between->low;
    }
    const double value = value_of(measure, bound->figure);
    snprintf(words, 80, "%.4g%s", value, figures[bound->figure].time ? " ms" : "");
    return value;
}

void query_check_bounds(const query_spec_t *spec, measure_t *measure) {
    for (size_t i = 0; i < spec->bound_count && !measure->missed[0]; i++) {
        const bound_t *bound = &spec->bounds[i];
        char words[80];
        const double value = figure_of(bound, measure, spec, words);
        const char *name = figures[bound->figure].name;
        if (isnan(value))
            snprintf(measure->missed, sizeof measure->missed,
                     "--fail-if '%.60s' cannot be judged: %s%s is not known", bound->words,
                     bound->times ? "the interval of its ratio to the earlier " : "", name);
        else if (bound->below ? value < bound->value : value > bound->value)
            snprintf(measure->missed, sizeof measure->missed, "%s is %s (--fail-if '%.60s')", name, words,
                     bound->words);
    }
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
    return bson_read_list(then, "queries", &queries) || broken(path, "it has no list 'queries'", err);
}

static bool is_same(const bson_t *entry, const measure_t *measure) {
    const work_t *work = measure->work;
    return bson_read_number(entry, "clients") == measure->clients &&
           strcmp(bson_read_text(entry, "name"), work->query->name) == 0 &&
           strcmp(bson_read_text(entry, "with"), work->with) == 0 &&
           strcmp(bson_read_text(entry, "reads"), work->reads ? work->reads : "") == 0;
}

/* Why the figures of then and now cannot be compared; NULL: they can. */
static const char *find_obstacle(const query_spec_t *spec, const bson_t *entry, const measure_t *measure) {
    const double empty = bson_read_number(entry, "empty");
    if (!measure->found->latency.moments.count)
        return "failed now";
    if (!(bson_read_number(entry, "n") > 0))
        return "failed then";
    if (strcmp(bson_read_text(entry, "question"), measure->work->question) != 0)
        return "another question";
    if (bson_read_number(entry, "rate") != (double)spec->rate)
        return "another rate";
    return (empty > 0 && empty == bson_read_number(entry, "n")) != query_found_nothing(measure)
               ? "another answer"
               : NULL;
}

/* How many times as long it takes now. Half of an interval's logarithm stands for the deviation of each run; they are added as
 * independent ones. */
static double ratio_of(const bson_t *entry, const char *key, const measure_t *measure, double share,
                       interval_t *between) {
    char low[40], high[40];
    snprintf(low, sizeof low, "%s_between.low", key);
    snprintf(high, sizeof high, "%s_between.high", key);
    const interval_t now = hist_interval_ns(&measure->found->latency, share);
    const double ratio = query_quantile_ms(measure, share) / bson_read_number(entry, key),
                 spread = exp(hypot(log(now.high / now.low),
                                    log(bson_read_number(entry, high) / bson_read_number(entry, low))) /
                              2);
    *between = (interval_t){ratio / spread, ratio * spread};
    return ratio;
}

bool compare_find(const query_spec_t *spec, const measure_t *measure, compared_t *compared) {
    bson_iter_t entries;
    bson_t entry;
    bool found = false;
    *compared = (compared_t){NAN, NAN, NAN, NAN, {NAN, NAN}, {NAN, NAN}, "new"};
    if (bson_read_list(spec->then, "queries", &entries))
        while (!found && bson_iter_next(&entries))
            found = bson_read_document(&entries, &entry) && is_same(&entry, measure);
    if (!found)
        return false;
    compared->p50_ms = bson_read_number(&entry, "p50_ms");
    compared->p99_ms = bson_read_number(&entry, "p99_ms");
    compared->obstacle = find_obstacle(spec, &entry, measure);
    if (compared->obstacle)
        return true;
    compared->p50_ratio = ratio_of(&entry, "p50_ms", measure, 0.5, &compared->p50_between);
    compared->p99_ratio = ratio_of(&entry, "p99_ms", measure, 0.99, &compared->p99_between);
    return true;
}
