#include "cli/print/query_figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double ms(double ns) {
    return ns / 1e6;
}

static double of_hist(const measure_t *measure, double share) {
    return query_tells(measure, share) ? ms(hist_quantile_ns(measure->hist, share)) : NAN;
}

static bool has_any(const measure_t *measure) {
    return !measure->failures && measure->hist->moments.count > 0;
}

static double mean_ms(const measure_t *measure) {
    return has_any(measure) ? ms(measure->hist->moments.mean) : NAN;
}

static double sd_ms(const measure_t *measure) {
    return has_any(measure) ? ms(moments_sd(&measure->hist->moments)) : NAN;
}

static double min_ms(const measure_t *measure) {
    return has_any(measure) ? ms((double)measure->hist->least_ns) : NAN;
}

static double max_ms(const measure_t *measure) {
    return has_any(measure) ? ms((double)measure->hist->most_ns) : NAN;
}

static double p50_ms(const measure_t *measure) {
    return of_hist(measure, 0.5);
}

static double p95_ms(const measure_t *measure) {
    return of_hist(measure, 0.95);
}

static double p99_ms(const measure_t *measure) {
    return of_hist(measure, 0.99);
}

static double docs_per_ms(const measure_t *measure) {
    return has_any(measure) ? measure->per_ms.mean : NAN;
}

static double docs_per_ms_sd(const measure_t *measure) {
    return has_any(measure) ? moments_sd(&measure->per_ms) : NAN;
}

static double ops_per_second(const measure_t *measure) {
    return has_any(measure) && measure->elapsed_ns > 0
               ? (double)measure->hist->moments.count * 1e9 / (double)measure->elapsed_ns
               : NAN;
}

const query_figure_t query_figures[] = {
    {"mean_ms", "mean ms", mean_ms, sd_ms},
    {"sd_ms", "σ", sd_ms, NULL},
    {"min_ms", "min", min_ms, NULL},
    {"p50_ms", "p50", p50_ms, NULL},
    {"p95_ms", "p95", p95_ms, NULL},
    {"p99_ms", "p99", p99_ms, NULL},
    {"max_ms", "max", max_ms, NULL},
    {"docs_per_ms", "docs/ms", docs_per_ms, docs_per_ms_sd},
    {"docs_per_ms_sd", "σ", docs_per_ms_sd, NULL},
    {"ops_per_second", "ops/s", ops_per_second, NULL},
    {NULL, NULL, NULL, NULL},
};

double query_figure(const measure_t *measure, const char *name) {
    for (const query_figure_t *figure = query_figures; figure->name; figure++)
        if (strcmp(figure->name, name) == 0)
            return figure->of(measure);
    return NAN;
}

const char *query_emptiness(const measure_t *measure, char out[QUERY_EMPTINESS]) {
    if (measure->failures || !measure->empty)
        return NULL;
    if (measure_of_nothing(measure))
        return "nothing came back, so its times are not those of an answer";
    snprintf(out, QUERY_EMPTINESS, "nothing came back to %.0f %% of its requests",
             100 * (double)measure->empty / (double)measure->hist->moments.count);
    return out;
}

double query_ratio(const measure_t *measure, const compared_t *then, const char *figure) {
    const double was = strcmp(figure, "p99_ms") == 0 ? then->p99_ms : then->p50_ms;
    return then->hinders || !(was > 0) ? NAN : query_figure(measure, figure) / was;
}
