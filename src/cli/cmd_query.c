/* query: the command, and what it found: every measurement, a suite's own tables, what the machine did meanwhile, and the
 * answers. */
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "query/query.h"
#include "server/bson_read.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    load_options_t load; /* of which it takes URI and patience */
    query_spec_t spec;
    texts_list_t params, bounds;
    const char *show, *compare, *arrivals;
    bool list, answers;
} values_t;

static values_t values;
static const char *const arrivals[] = {"even", "poisson"};

/* ---- options that are lists ---- */

static bool take_client(void *into, const char *word, err_t *err) {
    query_spec_t *spec = into;
    uint64_t count;
    if (!units_parse_count(word, &count) || count < 1 || count > QUERY_MOST_CLIENTS)
        return err_set(err, STATUS_USAGE,
                       "--clients: '%s' is not a number from 1 to %d; write it like 1,4,16", word,
                       QUERY_MOST_CLIENTS);
    spec->clients[spec->client_choices++] = (uint32_t)count;
    return true;
}

static bool read_clients(void *at, const char *text, err_t *err) {
    ((query_spec_t *)at)->client_choices = 0;
    return cli_read_words("clients", text, QUERY_MOST_CHOICES, take_client, at, err);
}

static bool take_mode(void *into, const char *word, err_t *err) {
    query_spec_t *spec = into;
    const int mode = choose_word("read-preference", word, suite_read_modes, suite_read_mode_count, err);
    if (mode >= 0)
        spec->reads[spec->reads_choices++] = suite_read_modes[mode];
    return mode >= 0;
}

static bool read_modes(void *at, const char *text, err_t *err) {
    ((query_spec_t *)at)->reads_choices = 0;
    return cli_read_words("read-preference", text, QUERY_MOST_CHOICES, take_mode, at, err);
}

static bool take_rate(void *into, const char *word, err_t *err) {
    static const uint64_t MOST = 1000000000;
    query_spec_t *spec = into;
    size_t at = spec->rate_choices;
    uint64_t rate;
    if (!units_parse_count(word, &rate) || rate < 1 || rate > MOST)
        return err_set(err, STATUS_USAGE,
                       "--rate: '%s' is not a number from 1 to 1g; write it like 500 or 100,1k,2m", word);
    for (; at && spec->rates[at - 1] >= rate; at--) {
        if (spec->rates[at - 1] == rate)
            return err_set(err, STATUS_USAGE, "--rate: %s is named twice", word);
        spec->rates[at] = spec->rates[at - 1];
    }
    spec->rates[at] = rate;
    spec->rate_choices++;
    return true;
}

static bool read_rates(void *at, const char *text, err_t *err) {
    ((query_spec_t *)at)->rate_choices = 0;
    return cli_read_words("rate", text, QUERY_MOST_CHOICES, take_rate, at, err);
}

static const option_t options[] = {
    OPTION(
        "read-preference", CUSTOM, spec, .group = GROUP_COLLECTION, .argument = "MODE,...",
        .offers = "primary primaryPreferred secondary secondaryPreferred nearest", .custom = read_modes,
        .help =
            "Read from primary, secondary, nearest, ...; each is measured by itself (default: the URI's)."),
    OPTION("suite", TEXT, spec.suite, .group = GROUP_QUERIES, .letter = 's', .argument = "NAME",
           .offers = "@suites @files",
           .help = "The suite: mot, isd, obd, obd-stored, ycsb, or a file of your own such as ./my.yaml."),
    OPTION("list", FLAG, list, .help = "List the suites."),
    OPTION(
        "show", TEXT, show, .argument = "SUITE", .offers = "@suites @files",
        .help =
            "Check a suite and print its file: queries, tags and parameters; a start for one of your own."),
    OPTION("param", LIST, params, .argument = "NAME=VALUE",
           .help = "Another value for a parameter of the suite, written as in YAML: n=1000, n=[10, 100], "
                   "from={$date: 2014-01-01}. May be given several times."),
    OPTION("setup", FLAG, spec.setup, .help = "Make the indexes that the queries need; they stay."),
    OPTION("explain", FLAG, spec.explain,
           .help =
               "Print the commands without running them. (The server's plan: `explain: yes` in a suite.)"),
    OPTION("repeats", COUNT32, spec.repeats, .group = GROUP_MEASURED, .letter = 'n', .argument = "N",
           .least = 1, .most = 1000000,
           .help = "Rounds, in which all measurements take turns (default: as the suite says, or 10)."),
    OPTION("warmup", COUNT32, spec.warmups, .argument = "N", .most = 1000,
           .help = "Rounds before that are not counted (default: as the suite says, or 1)."),
    /* times all clients it fits into 64 bits */
    OPTION("count", COUNT, spec.count, .argument = "N", .least = 1, .most = 1000000000000,
           .help =
               "Requests of each client in a round (default: 1; where values are drawn, until time is up)."),
    /* 0 ns stands for one that was not given */
    OPTION("duration", TIME, spec.duration_ns, .argument = "TIME", .least = 1,
           .help = "Send this long in all rounds of a measurement (default for queries that draw: 5s)."),
    OPTION("clients", CUSTOM, spec, .letter = 'c', .argument = "N,N,...", .custom = read_clients,
           .help =
               "Clients at the same time; each number is measured by itself (default: the suite's, or 1)."),
    OPTION("rate", CUSTOM, spec, .argument = "N,N,...", .custom = read_rates,
           .help = "Requests a second of all clients together, whether answers come or not, for 10 s without "
                   "--count and --duration; latency counts from the moment at which a request was due. "
                   "Several are measured each by itself; with --fail-if the highest one within the bounds is "
                   "the answer. Without it each client asks again when it has its answer."),
    OPTION("arrivals", TEXT, arrivals, .argument = "KIND", .offers = "even poisson",
           .help = "Of the requests of --rate: even (the default), or poisson, as of many users who do not "
                   "know of one another; the same moments in each run."),
    OPTION("timeout", TIME, spec.timeout_ns, .argument = "TIME", .least = 1,
           .help =
               "Give a request up that takes longer: its connection is closed, and it counts as skipped."),
    OPTION("while", TEXT, spec.command, .argument = "COMMAND", .offers = "",
           .help = "Run this during the measurements, and stop it afterwards: a load, for example."),
    OPTION("answers", FLAG, answers, .group = GROUP_RESULT, .help = "Print what the queries return, too."),
    OPTION("first", COUNT, spec.first, .argument = "N", .least = 1, .most = 1000000, .typed = true,
           .help = "Print the first N documents of a query, else of the collection, and measure nothing."),
    OPTION(
        "against", TEXT, spec.against, .argument = "URI|SUITE", .offers = "@suites @files",
        .help =
            "Compare with another collection, or with the queries of another suite, in turns: how many times "
            "as long as there a query takes, by its rounds."),
    OPTION("compare", TEXT, compare, .argument = "FILE",
           .help = "Compare with an earlier run's --json. If either run was disturbed, nothing is judged."),
    OPTION(
        "fail-if", LIST, bounds, .argument = "BOUND",
        .help =
            "End with status 6 if it is true of a measurement: 'p99>20ms', 'ops/s<1000', 'failed>0'; "
            "with --against or --compare also 'p50>1.1x' (from --repeats 6 on). May be given several times."),
    {.name = NULL},
};

static const apart_t apart[] = {
    {"list", "suite", "lists the suites, and --show prints one"},
    {"list", "report json compare against fail-if answers", "measures nothing"},
    {"show", "report json compare against fail-if answers", "measures nothing"},
    {"explain", "report json compare against fail-if answers setup", "measures nothing"},
    {"first", "suite", "takes a query of your own, or none"},
    {"first",
     "report json compare against fail-if explain repeats warmup count duration clients rate arrivals while",
     "measures nothing"},
    {"duration", "count", "asks until the time is over"},
    {"against", "compare", "compares with what is measured now"},
    {.option = NULL},
};

enum { DIGITS = 12 };
static const double MOST_STOLEN = 0.05;  /* of this host's CPUs; more is said */
static const double LEAST_SECONDS = 0.1; /* for views of CPU, which the kernel counts in steps of 10 ms */

/* ---- views ---- */

/* A table for each figure, narrow enough that none is split. */
#define COMPARED(figure, title)                                                                              \
    TABLE(SHOW_USUAL, "-compared", "queries", title ", compared (from, to: 95 % interval of the ratio)",     \
          "How many times as long a query takes as in the earlier run, or as against the other side.",       \
          COLUMN("-name", "compared"), COLUMN("-" figure ".-then_ms", "baseline " figure),                   \
          COLUMN("-" figure ".-now_ms", figure), COLUMN("-" figure ".-ratio", "ratio"),                      \
          COLUMN("-" figure ".low", "from"), COLUMN("-" figure ".high", "to"),                               \
          COLUMN("-" figure ".-says", ""))

static const result_view_t views[] = {
    LINE(SHOW_NORMAL, "-measured", "{namespace}  {-documents}{configuration}"),
    LINE(SHOW_NORMAL, "against",
         "in turns with {against.namespace}, suite {against.suite}  {against.configuration}"),
    LINE(SHOW_VERBOSE, "-measured",
         "data on disk {data_bytes_on_disk}, indexes on disk {index_bytes_on_disk}"),
    TABLE(SHOW_ALWAYS, "-measured", "queries", "Measurements",
          "Latency of a request from {-from} to its last document. Requests that failed have no time. There "
          "is no figure of what was asked too rarely.",
          COLUMN("-name", "query"), COLUMN("n", "n"), COLUMN("-remark", ""), COLUMN("mean_ms", "mean ms"),
          COLUMN("sd_ms", "σ"), COLUMN("min_ms", "min"), COLUMN("p50_ms", "p50", .most = BAR_LARGEST),
          COLUMN("p95_ms", "p95"), COLUMN("p99_ms", "p99"), COLUMN("p999_ms", "p99.9"),
          COLUMN("max_ms", "max"), COLUMN("docs_per_ms", "docs/ms"), COLUMN("ops_per_second", "ops/s"),
          COLUMN("published.-text", "published")),
    TABLE(SHOW_ALWAYS, "-open", "queries", "Latency from the due moment, and service from the sent one",
          "Late: sent more than a millisecond after it was due. Skipped: due, and not sent before the time "
          "was over, or given up (--timeout); they count as longer than any.",
          COLUMN("-name", "query"), COLUMN("p50_ms", "latency p50"), COLUMN("service.p50_ms", "service p50"),
          COLUMN("p99_ms", "latency p99"), COLUMN("service.p99_ms", "service p99"),
          COLUMN("lag_mean_ms", "mean lag"), COLUMN("lag_max_ms", "most lag"), COLUMN("late", "late"),
          COLUMN("skipped", "skipped")),
    PARTS(SHOW_QUIET, "curves", NULL, "rates", "{-name}: latency by rate", NULL, COLUMN("rate", "requests/s"),
          COLUMN("n", "n"), COLUMN("p50_ms", "p50"), COLUMN("p95_ms", "p95"), COLUMN("p99_ms", "p99"),
          COLUMN("late", "late"), COLUMN("skipped", "skipped"), COLUMN("verdict", "bounds")),
    CHARTS("curves", "rates", "{-name}: latency by rate",
           "The 99th percentile and the median. A rate at which too many requests were skipped has none.",
           COLUMN("rate", "requests/s"), COLUMN("p99_ms", "p99 ms"),
           COLUMN("p50_ms", "p50 ms", .dashed = true), COLUMN("p95_ms", "p95"), COLUMN("n", "n"),
           COLUMN("late", "late"), COLUMN("skipped", "skipped"), COLUMN("verdict", "bounds")),
    LINE(SHOW_ALWAYS, "sentence", "{-name}: {sentence}", .each = "curves"),
    CHART("-course", "-rounds", "{-slowest} over time",
          "The mean latency of requests that ended in each interval, of all rounds. Where none ended, the "
          "line is broken.",
          COLUMN("seconds", "time"), COLUMN("mean_ms", "mean ms"), COLUMN("max_ms", "max"),
          COLUMN("n", "requests")),
    TABLE(SHOW_USUAL, NULL, "queries",
          "What the server says of these finds (keys and documents that it looked at)", NULL,
          COLUMN("-name", "explained"), COLUMN("explained.returned", "n"),
          COLUMN("explained.keys_examined", "keys"), COLUMN("explained.documents_examined", "documents"),
          COLUMN("explained.shards", "shards"), COLUMN("explained.ms", "ms"),
          COLUMN("explained.ms_of_a_shard", "ms of a shard")),
    TABLE(SHOW_DETAIL, NULL, "queries",
          "While it ran (this host's CPU; the servers' counters, all rounds together)", NULL,
          COLUMN("-name", "query"), COLUMN("-watched.seconds", "seconds"), COLUMN("-watched.user", "user %"),
          COLUMN("-watched.sys", "sys %"), COLUMN("-watched.iowait", "iowait %"),
          COLUMN("-watched.idle", "idle %"), COLUMN("-watched.steal", "steal %"),
          COLUMN("-watched.others", "others %"), COLUMN("-watched.server_cores", "server cores"),
          COLUMN("-watched.documents_examined", "examined"),
          COLUMN("-watched.bytes_into_cache", "read into cache")),
    LINE(SHOW_ALWAYS | SHOW_CARE, "failures", "{-name}: {failures|request} failed, the first with: {failure}",
         .each = "queries"),
    LINE(SHOW_ALWAYS | SHOW_CARE, "-given_up", "{-name}: {failure}", .each = "queries"),
    LINE(SHOW_ALWAYS | SHOW_CARE, "timeouts",
         "{-name}: {timeouts|request} took longer than --timeout, and counted as skipped", .each = "queries"),
    LINE(SHOW_ALWAYS | SHOW_CARE, "missed", "{-name}: {missed}", .each = "queries"),
    LINE(SHOW_USUAL | SHOW_CARE, "disturbed",
         "{-name}: other programs held {beside.others} of this host's CPUs meanwhile", .each = "queries"),
    LINE(SHOW_USUAL | SHOW_CARE, "-stolen",
         "{-name}: the hypervisor gave {-watched.steal} of this host's CPUs to others meanwhile",
         .each = "queries"),
    LINE(SHOW_ALWAYS | SHOW_CARE, "difference", "{-question}: not the expected answer: {difference}",
         .each = "queries"),
    LINE(SHOW_USUAL | SHOW_CARE, "-nothing",
         "{-question}: nothing came back, so its times are not those of an answer", .each = "queries"),
    LINE(SHOW_USUAL | SHOW_CARE, "-empty_percent",
         "{-question}: nothing came back to {-empty_percent} of its requests", .each = "queries"),
    LINE(SHOW_PAGE | SHOW_CARE, "while_ended",
         "the command of --while ended {while_ended} before the measurements: some times are without it"),
    COMPARED("p50", "Medians"),
    COMPARED("p99", "99th percentiles"),
    {0}};

/* ---- figures of a measurement: NAN where it was made too rarely ---- */

/* Without requests that were skipped, and are longer than any. */
static void put_hist(bson_t *to, const void *of, size_t at) {
    const hist_t *hist = of;
    const double any = hist->moments.count ? 1e-6 : NAN, whole = hist->beyond ? NAN : any;
    (void)at;
    result_put(to, AS_NUMBER("mean_ms", whole * hist->moments.mean),
               AS_NUMBER("sd_ms", whole * moments_sd(&hist->moments)),
               AS_NUMBER("min_ms", any * (double)hist->least_ns),
               AS_NUMBER("p50_ms", hist_quantile_ns(hist, 0.5) / 1e6),
               AS_NUMBER("p95_ms", hist_quantile_ns(hist, 0.95) / 1e6),
               AS_NUMBER("p99_ms", hist_quantile_ns(hist, 0.99) / 1e6),
               AS_NUMBER("p999_ms", hist_quantile_ns(hist, 0.999) / 1e6),
               AS_NUMBER("max_ms", whole * (double)hist->most_ns));
}

static void put_interval(bson_t *to, const void *of, size_t at) {
    const interval_t *between = of;
    (void)at;
    if (!isnan(between->low) || !isnan(between->high))
        result_put(to, OF(between, low), OF(between, high));
}

static interval_t interval_ms(const tally_t *found, double share) {
    const interval_t ns = hist_interval_ns(&found->latency, share);
    return (interval_t){ns.low / 1e6, ns.high / 1e6};
}

static void put_bucket(bson_t *to, const void *of, size_t at) {
    const hist_t *hist = of;
    if (hist->buckets[at])
        result_put(to, AS_COUNT("ns", hist_bucket_ns(at)), AS_COUNT("n", hist->buckets[at]));
}

static void put_slot(bson_t *to, const void *of, size_t at) {
    const course_t *course = of;
    const slot_t *slot = &course->slots[at];
    const double any = slot->count ? 1e-6 : NAN;
    result_put(to, AS_SECONDS("seconds", (int64_t)at * course->width_ns), AS_COUNT("n", slot->count),
               AS_NUMBER("mean_ms", any * slot->sum_ns / (double)slot->count),
               AS_NUMBER("max_ms", any * (double)slot->most_ns));
}

static void put_round(bson_t *to, const void *of, size_t at) {
    const round_t *one = (const round_t *)of + at;
    result_put(to, OF(one, n), OF(one, p50_ms), OF(one, p99_ms), AS_SECONDS("seconds", one->elapsed_ns));
}

static void put_times(bson_t *to, const measure_t *measure, bool open) {
    const tally_t *found = measure->found;
    const interval_t p50 = interval_ms(found, 0.5), p99 = interval_ms(found, 0.99);
    const double any = found->latency.moments.count ? 1 : NAN,
                 seconds = measure->elapsed_ns > 0 ? (double)measure->elapsed_ns / 1e9 : NAN;
    put_hist(to, &found->latency, 0);
    result_put(to, AS_INNER("p50_ms_between", put_interval, &p50, 0),
               AS_INNER("p99_ms_between", put_interval, &p99, 0),
               AS_NUMBER("docs_per_ms", any * found->per_ms.mean),
               AS_NUMBER("docs_per_ms_sd", any * moments_sd(&found->per_ms)),
               AS_NUMBER("ops_per_second", any * (double)found->latency.moments.count / seconds));
    if (open)
        result_put(to, AS_INNER("service", put_hist, &found->service, 0),
                   AS_NUMBER("lag_mean_ms", any * found->lag.mean / 1e6),
                   AS_NUMBER("lag_max_ms", any * found->most_lag_ns / 1e6), OF(found, late));
    if (open || values.spec.timeout_ns)
        result_put(to, AS_COUNT("skipped", found->latency.beyond));
    if (values.spec.timeout_ns)
        result_put(to, OF(found, timeouts));
    result_put(to, AS_LIST("histogram", HIST_BUCKETS, put_bucket, &found->latency),
               AS_LIST("over_time", measure->slots, put_slot, &found->course),
               AS_SECONDS("over_time_seconds", found->course.width_ns),
               AS_LIST("rounds", measure->round_count, put_round, measure->rounds));
}

/* ---- a measurement ---- */

/* "greenness year=2014, 4 clients, 200/s": what distinguishes a measurement. Without a rate: a curve; without clients, too: the
 * question alone. free. */
static char *name_of(const work_t *work, unsigned clients, uint64_t rate) {
    text_t name = {.length = 0};
    text_print(&name, "%s%s%s", work->query->name, *work->with ? " " : "", work->with);
    if (clients && work->reads)
        text_print(&name, ", %s", work->reads);
    if (clients > 1)
        text_print(&name, ", %u clients", clients);
    if (rate && values.spec.rate_choices > 1)
        text_print(&name, ", %" PRIu64 "/s", rate);
    return text_take_or_end(&name);
}

static void put_seen(bson_t *to, const void *of, size_t at) {
    static const watch_figures_t none = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    const watch_sum_t *watched = &((const measure_t *)of)[at].watched;
    const watch_figures_t *seen = watched->seconds > 0 ? &watched->figures : &none;
    result_put(to, OF(watched, seconds), OF(seen, user), OF(seen, sys), OF(seen, iowait), OF(seen, idle),
               OF(seen, steal), OF(seen, others), OF(seen, server_cores),
               AS_NUMBER("documents_examined", seen->examined),
               AS_NUMBER("bytes_into_cache", seen->cached_bytes));
}

static void put_ratio(bson_t *to, const void *of, size_t at) {
    const ratio_t *ratio = of;
    put_interval(to, &(interval_t){ratio->low, ratio->high}, at);
}

/* found: it was measured then. */
static void put_compared(bson_t *to, const void *of, size_t found) {
    const compared_t *then = of;
    if (found)
        result_put(to, OF(then, obstacle), OF(then, disturbed), AS_NUMBER("then_p50_ms", then->p50.then_ms),
                   AS_NUMBER("then_p99_ms", then->p99.then_ms), AS_NUMBER("p50_ratio", then->p50.ratio.ratio),
                   AS_NUMBER("p99_ratio", then->p99.ratio.ratio),
                   AS_INNER("p50_between", put_ratio, &then->p50.ratio, 0),
                   AS_INNER("p99_between", put_ratio, &then->p99.ratio, 0),
                   AS_TEXT("p50_verdict", compare_verdict(&then->p50)),
                   AS_TEXT("p99_verdict", compare_verdict(&then->p99)),
                   AS_WORDS("p50_unjudged", then->p50.unjudged),
                   AS_WORDS("p99_unjudged", then->p99.unjudged));
}

/* A row of the tables. `now` NAN: there is none. */
typedef struct {
    const compared_t *compared;
    const compared_figure_t *figure;
    double now_ms;
} row_t;

static void put_row(bson_t *to, const void *of, size_t at) {
    const row_t *row = of;
    const compared_figure_t *figure = row->figure;
    const ratio_t *ratio = &figure->ratio;
    char says[128];
    (void)at;
    if (isnan(row->now_ms))
        return;
    if (figure->unjudged[0])
        snprintf(says, sizeof says, "%s%s",
                 row->compared->obstacle ? "" : "cannot be judged: ", figure->unjudged);
    else
        snprintf(says, sizeof says, "%s%s", compare_verdict(figure),
                 row->compared->disturbed ? ", disturbed" : "");
    result_put(to, AS_NUMBER("-then_ms", figure->then_ms), AS_NUMBER("-now_ms", row->now_ms),
               AS_NUMBER("-ratio", ratio->ratio), OF(ratio, low), OF(ratio, high), AS_TEXT("-says", says));
}

static void put_comparison(bson_t *to, const measure_t *measure) {
    compared_t compared;
    const bool known = compare_find(&values.spec, measure, &compared);
    const double p99_ms = isnan(compared.p99.then_ms) ? NAN : query_quantile_ms(measure, 0.99);
    const row_t p50 = {&compared, &compared.p50, query_quantile_ms(measure, 0.5)},
                p99 = {&compared, &compared.p99, p99_ms};
    result_put(to, AS_INNER("compared", put_compared, &compared, known), AS_INNER("-p50", put_row, &p50, 0),
               AS_INNER("-p99", put_row, &p99, 0),
               AS_TEXT("verdict",
                       measure->verdict ? query_verdicts[measure->verdict] : compare_verdict(&compared.p50)));
}

static void put_explained(bson_t *to, const void *of, size_t at) {
    const explained_t *asked = &((const work_t *)of + at)->explained;
    if (asked->asked)
        result_put(to, OF(asked, returned), AS_NUMBER("keys_examined", asked->keys),
                   AS_NUMBER("documents_examined", asked->documents), OF(asked, shards), OF(asked, ms),
                   AS_NUMBER("ms_of_a_shard", asked->shard_ms));
}

/* ---- what a suite has as published: a figure of each measurement, found by two things ---- */

/* The words that distinguish a measurement on one side of a table; NULL: none. */
static const char *side_of(const measure_t *measure, const char *side, char digits[DIGITS]) {
    bson_iter_t value;
    snprintf(digits, DIGITS, "%u", measure->clients);
    return strcmp(side, "query") == 0                               ? measure->work->query->name
           : strcmp(side, "clients") == 0                           ? digits
           : strcmp(side, "reads") == 0                             ? measure->work->reads
           : bson_iter_init_find(&value, measure->work->each, side) ? bson_iter_utf8(&value, NULL)
                                                                    : NULL;
}

/* NULL: the table has nothing of this measurement. */
static const yaml_item_t *find_published(const suite_table_t *table, const measure_t *measure) {
    char rows[DIGITS], columns[DIGITS];
    const char *row = side_of(measure, table->rows, rows),
               *column = side_of(measure, table->columns, columns);
    bool wanted = !table->queries;
    for (const yaml_item_t *name = table->queries ? table->queries->first : NULL; name; name = name->next)
        wanted = wanted || suite_has_tag(measure->work->query, name->text);
    const yaml_item_t *line =
        wanted && table->published && row && column ? yaml_item_get(table->published, row) : NULL;
    return line ? yaml_item_get(line, column) : NULL;
}

/* By the name of the figure: what the suite's tables have next to it. */
static void put_published(bson_t *to, const void *of, size_t at) {
    const query_result_t *query = of;
    const suite_t *suite = query->measures[at].work->side->suite;
    for (size_t i = 0; i < suite->table_count; i++) {
        const suite_table_t *table = &suite->tables[i];
        const yaml_item_t *text = find_published(table, &query->measures[at]);
        char *name = text_concealed(table->show);
        if (text && !bson_has_field(to, table->show))
            result_put(to, AS_TEXT(name, text->text), AS_TEXT("-text", text->text));
        free(name);
    }
}

/* ---- measurements ---- */

/* Of several measurements of a question, the first one. */
static bool is_first(const query_result_t *query, size_t at) {
    const work_t *work = query->measures[at].work, *before = at ? query->measures[at - 1].work : NULL;
    return !at || work->query != before->query || strcmp(work->with, before->with) != 0;
}

static bool has_answer(const query_result_t *query, size_t at) {
    const measure_t *measure = &query->measures[at];
    return measure->answer.documents && measure->answered && measure->work->count <= 1 && is_first(query, at);
}

static void put_measure(bson_t *to, const void *of, size_t at) {
    const query_result_t *query = of;
    const query_spec_t *spec = &values.spec;
    const measure_t *measure = &query->measures[at];
    const work_t *work = measure->work;
    const tally_t *found = measure->found;
    const double n = (double)found->latency.moments.count;
    const bool nothing = query_found_nothing(measure), one = measure->answered && work->count <= 1,
               disturbed = query_disturbed(spec, measure), compares = spec->then || measure->baseline;
    result_put(to, AS_TEXT("name", work->query->name), OF(work, with), OF(work, question), OF(work, reads),
               OF(measure, clients), OF(measure, rate), AS_COUNT("n", found->latency.moments.count),
               OF(found, returned), OF(found, empty), AS_FLAG("nothing_found", nothing), OF(found, failures),
               AS_WORDS("failure", found->failure), AS_WORDS("difference", measure->difference),
               AS_TEXT("missed", measure->missed), AS_FLAG("disturbed", disturbed),
               AS_FLAG("-given_up", found->failure[0] && !found->failures),
               AS_FLAG("-stolen", disturbed && measure->watched.figures.steal > MOST_STOLEN));
    put_times(to, measure, measure->rate > 0);
    if (compares)
        put_comparison(to, measure);
    else
        result_put(to, AS_TEXT("verdict", query_verdicts[measure->verdict]));
    if (measure->watched.seconds >= LEAST_SECONDS)
        result_put(to, AS_INNER("-watched", put_seen, query->measures, at));
    result_put(to, AS_INNER("beside", put_seen, query->measures, at),
               AS_INNER("published", put_published, query, at), AS_INNER("explained", put_explained, work, 0),
               AS_TEXT("digest", one ? measure->digest : NULL),
               AS_FLAG_IF("result_complete", one, !measure->answer.more));
    if (one && measure->answer.documents)
        BSON_APPEND_ARRAY(to, "result", measure->answer.documents);
    else
        BSON_APPEND_NULL(to, "result");
    result_take(to, "-name", name_of(work, measure->clients, measure->rate));
    result_take(to, "-question", name_of(work, 0, 0));
    result_put(to, AS_TEXT("-remark", !(n > 0) && found->failure[0] ? "failed"
                                      : nothing                     ? "empty"
                                      : disturbed                   ? "disturbed"
                                                                    : NULL));
    if (n > 0 && is_first(query, at)) /* of others it is said already */
        result_put(to, AS_FLAG("-nothing", nothing),
                   AS_NUMBER("-empty_percent", nothing ? NAN : round(100 * (double)found->empty / n)));
}

/* ---- the result ---- */

static void put_twin(bson_t *to, const void *of, size_t at) {
    const query_result_t *query = of;
    put_measure(to, of, query->measure_count + at);
}

static void put_against(bson_t *to, const void *of, size_t at) {
    const query_result_t *query = of;
    const side_t *side = &query->sides[1];
    (void)at;
    if (side->configuration[0])
        result_put(to, AS_TEXT("suite", side->suite->name), OF(side, namespace), OF(side, configuration),
                   AS_NUMBER("documents", side->storage.documents),
                   AS_LIST("queries", query->all_count - query->measure_count, put_twin, query));
}

/* ---- curves: of several rates ---- */

static void put_point(bson_t *to, const void *of, size_t at) {
    const measure_t *measure = (const measure_t *)of + at;
    const tally_t *found = measure->found;
    result_put(to, OF(measure, rate), AS_COUNT("n", found->latency.moments.count),
               AS_NUMBER("p50_ms", query_quantile_ms(measure, 0.5)),
               AS_NUMBER("p95_ms", query_quantile_ms(measure, 0.95)),
               AS_NUMBER("p99_ms", query_quantile_ms(measure, 0.99)), OF(found, late),
               AS_COUNT("skipped", found->latency.beyond),
               AS_TEXT("verdict", query_verdicts[measure->verdict]));
}

static void put_curve(bson_t *to, const void *of, size_t at) {
    const query_result_t *query = of;
    const query_spec_t *spec = &values.spec;
    const size_t rates = query_curve_length(spec);
    const measure_t *first = &query->measures[at * rates], *highest = query_curve_highest(spec, first);
    const work_t *work = first->work;
    char *sentence = query_curve_sentence(spec, first);
    result_put(to, AS_TEXT("name", work->query->name), OF(work, with), OF(work, reads), OF(first, clients),
               AS_COUNT_IF("highest_rate", highest, highest ? highest->rate : 0),
               AS_TEXT("verdict", query_verdicts[query_curve_verdict(spec, first)]),
               AS_TEXT("sentence", sentence), AS_LIST("rates", rates, put_point, first));
    result_take(to, "-name", name_of(work, first->clients, 0));
    free(sentence);
}

/* Of all curves the worst. */
static const char *verdict_of(const query_result_t *query) {
    verdict_t worst = VERDICT_NONE;
    for (size_t i = 0; i < query->measure_count; i += query_curve_length(&values.spec)) {
        const verdict_t verdict = query_curve_verdict(&values.spec, &query->measures[i]);
        worst = verdict > worst ? verdict : worst;
    }
    return query_verdicts[worst];
}

static void put_figures(bson_t *to, const query_result_t *query) {
    const query_spec_t *spec = &values.spec;
    const side_t *side = &query->sides[0];
    const watch_storage_t *storage = &side->storage;
    const bool measured = side->configuration[0] && query->measure_count, against = spec->against;
    uint64_t requests = 0;
    for (size_t i = 0; i < query->measure_count; i++)
        requests += query->measures[i].found->latency.moments.count;
    result_put(to, AS_TEXT("suite", side->suite ? side->suite->name : NULL), OF(side, namespace),
               OF(side, configuration), OF(storage, documents),
               AS_NUMBER("data_bytes_on_disk", storage->data_bytes),
               AS_NUMBER("index_bytes_on_disk", storage->index_bytes),
               AS_TEXT("while_ended", query->while_ended ? query->while_words : NULL),
               AS_TEXT("verdict", verdict_of(query)),
               AS_LIST("queries", query->measure_count, put_measure, query), AS_TEXT("-target", side->where),
               AS_FLAG("-measured", measured), AS_FLAG("-compared", spec->then || against),
               AS_COUNT("-requests", requests), AS_COUNT("-measurements", query->measure_count));
    result_put(to, AS_FLAG("-open", spec->rate_choices > 0),
               AS_TEXT("arrivals", spec->rate_choices ? arrivals[spec->poisson] : NULL),
               AS_SECONDS("timeout_seconds", spec->timeout_ns ? (double)spec->timeout_ns : NAN),
               AS_TEXT("-from", spec->rate_choices ? "when it was due (--rate)" : "being sent"));
    if (spec->rate_choices > 1)
        result_put(to, AS_LIST("curves", query->measure_count / spec->rate_choices, put_curve, query));
    if (against)
        result_put(to, AS_INNER("against", put_against, query, 0));
    if (!isnan(storage->documents)) /* of a view nobody knows */
        result_put_words(to, "-documents", "{documents|document}  ");
}

/* A request that was skipped took longer than any. */
static const measure_t *find_slowest(const query_result_t *query) {
    const measure_t *slowest = NULL;
    double most = 0;
    for (size_t i = 0; i < query->measure_count; i++) {
        const hist_t *latency = &query->measures[i].found->latency;
        const double mean = latency->beyond ? INFINITY : latency->moments.mean;
        if (!latency->moments.count || mean <= most)
            continue;
        slowest = &query->measures[i];
        most = mean;
    }
    return slowest;
}

/* Of the only curve, if it was judged. free. */
static char *answer_of(const query_result_t *query) {
    const size_t rates = values.spec.rate_choices;
    const measure_t *first = query->measures;
    char *sentence =
        rates > 1 && query->measure_count == rates ? query_curve_sentence(&values.spec, first) : NULL;
    if (!sentence)
        return NULL;
    text_t answer = {.length = 0};
    char *name = name_of(first->work, first->clients, 0);
    text_print(&answer, "%s (%s)", sentence, name);
    free(name);
    free(sentence);
    return text_take_or_end(&answer);
}

static result_t *make_result(const query_result_t *query, int status, const err_t *err) {
    result_t *result = result_new("query", views);
    const measure_t *slowest = find_slowest(query);
    const char *words = "{-measurements|measurement} of {-requests|request}";
    char *answer = answer_of(query);
    put_figures(&result->document, query);
    if (slowest) {
        words = slowest->found->latency.beyond
                    ? "{-measurements|measurement} of {-requests|request}; the slowest: {-slowest}"
                    : "{-measurements|measurement} of {-requests|request}; the slowest: {-slowest}, mean "
                      "{-slowest_ms}";
        result_take(&result->document, "-slowest", name_of(slowest->work, slowest->clients, slowest->rate));
        result_put(&result->document, AS_NUMBER("-slowest_ms", slowest->found->latency.moments.mean / 1e6),
                   AS_LIST("-course", slowest->slots, put_slot, &slowest->found->course));
    }
    result_put(&result->document, AS_TEXT("-answer", answer));
    result_answer(result, "How long do the queries take?", status, err, answer ? "{-answer}" : words, words);
    free(answer);
    return result;
}

/* ---- what is printed as it is ---- */

static void print_json(const bson_t *document, const char *end) {
    char *json = ejson_print_concealed(document, NULL);
    out_bytes(json ? json : "", json ? strlen(json) : 0);
    out_bytes(end, strlen(end));
    free(json);
}

/* As a list, which can be pasted. */
static void print_pipeline(const bson_t *pipeline, const char *end) {
    const char *before = "";
    bson_iter_t at;
    bson_t stage;
    out_print("[");
    for (bson_iter_init(&at, pipeline); bson_read_next(&at, &stage); before = ", ") {
        out_print("%s", before);
        print_json(&stage, "");
    }
    out_print("]");
    out_bytes(end, strlen(end));
}

static void print_answers(const query_result_t *query, bool named) {
    for (size_t i = 0; i < query->measure_count; i++) {
        const measure_t *measure = &query->measures[i];
        bson_iter_t at;
        bson_t document;
        if (!has_answer(query, i))
            continue;
        char *name = name_of(measure->work, 0, 0);
        if (named)
            out_print("%s\n", name);
        free(name);
        for (bson_iter_init(&at, measure->answer.documents); bson_read_next(&at, &document);)
            print_json(&document, "\n");
        if (measure->answer.more)
            out_print("... and more: %" PRIu64 " documents in all\n", measure->answer.count);
        if (named)
            out_print("\n");
    }
}

static void print_plans(const query_result_t *query) {
    for (size_t i = 0; i < query->work_count; i++) {
        const work_t *work = &query->works[i];
        const request_t *request = work->requests;
        char *name = name_of(work, 0, 0);
        out_print(i ? "\n%s on %s.%s%s\n" : "%s on %s.%s%s\n", name, request->database, request->collection,
                  work->count > 1 ? ", one of several, drawn by chance:" : "");
        free(name);
        out_print("  %s  ", request->kind == QUERY_PIPELINE     ? "pipeline"
                            : request->kind == QUERY_MAP_REDUCE ? "command"
                                                                : "filter");
        if (request->kind == QUERY_PIPELINE)
            print_pipeline(request->body, "\n  options  ");
        else
            print_json(request->body, "\n  options  ");
        print_json(request->options, "\n");
    }
    if (query->work_count)
        out_print("\nThis is what would be sent. The server's plan is not asked for: of a find `explain: "
                  "yes` in a suite\nsays how many keys and documents the server reads, and explain() of "
                  "mongosh the rest.\n");
}

/* ---- the command ---- */

static int show(const char *name, err_t *err) {
    suite_t *suite = suite_open(name, err);
    if (suite)
        out_bytes(suite->text, strlen(suite->text)); /* YAML has no control characters */
    suite_close(suite);
    return cli_finish(suite ? STATUS_OK : (int)err->status, err);
}

static bool read_bounds(bound_t *bounds, err_t *err) {
    for (size_t i = 0; i < values.bounds.count; i++)
        if (!query_read_bound(&bounds[i], values.bounds.items[i], values.compare || values.spec.against, err))
            return false;
    values.spec.bounds = bounds;
    values.spec.bound_count = values.bounds.count;
    return true;
}

static bool check(const run_t *run, err_t *err) {
    query_spec_t *spec = &values.spec;
    size_t count = (size_t)run->count;
    if (!spec->suite && count == 1 && typed_query_is(run->words[0])) {
        spec->suite = run->words[0];
        count = 0;
    }
    if (!spec->suite && !count && spec->first)
        spec->suite = "{}";
    if (!spec->suite)
        return err_set(err, STATUS_USAGE,
                       "--suite is missing: one of `tipple query --list`, or a file of your own; or give a "
                       "query itself, a pipeline in [...] or a filter in {...}, in quotes");
    if (!cli_has_uri(run, "the collection to ask", err))
        return false;
    spec->uri = values.load.spec.uri;
    spec->patience_ns = values.load.spec.patience_ns;
    if (values.arrivals) {
        const int chosen =
            choose_word("arrivals", values.arrivals, arrivals, sizeof arrivals / sizeof *arrivals, err);
        if (chosen < 0)
            return false;
        if (!spec->rate_choices)
            return err_set(err, STATUS_USAGE, "--arrivals needs --rate: add it, or leave --arrivals out");
        spec->poisson = chosen;
    }
    if (spec->rate_choices && !spec->count && !spec->duration_ns)
        spec->duration_ns = 10000000000;
    if (spec->first) {
        spec->repeats = 1;
        spec->warmups = 0;
    }
    spec->answers = values.answers || run->json || run->report || spec->first;
    spec->queries = run->words;
    spec->query_count = count;
    spec->params = values.params.items;
    spec->param_count = values.params.count;
    return !run->report || result_check_page(run->report, err);
}

/* The answers alone, or before the result. */
static int show_query(const run_t *run, const query_result_t *query, result_t *result, int status,
                      err_t *err) {
    const query_spec_t *spec = &values.spec;
    const bool ok = status == STATUS_OK, measured = query->sides[0].configuration[0],
               plans = spec->explain && ok, documents = !plans && spec->first && ok;
    if (plans)
        print_plans(query);
    else if (documents || (values.answers && measured && !run->json))
        print_answers(query, !documents);
    return cli_end(run, result, measured && !plans && !documents, status, err);
}

static int measure(run_t *run, err_t *err) {
    query_result_t query;
    bson_t then = BSON_INITIALIZER;
    bound_t *bounds = calloc(values.bounds.count + 1, sizeof *bounds);
    int status;
    if (!bounds)
        err_end_without_memory(sizeof *bounds);
    values.spec.then = values.compare ? &then : NULL;
    if (read_bounds(bounds, err) && check(run, err) &&
        (!values.compare || compare_read(values.compare, &then, err))) {
        status = query_run(&values.spec, &query, err) ? STATUS_OK : (int)err->status;
        result_t *result = make_result(&query, status, err);
        status = show_query(run, &query, result, status, err);
        query_free_result(&query);
    } else {
        status = (int)err->status;
    }
    free(bounds);
    bson_destroy(&then);
    return status;
}

static int obey(run_t *run, err_t *err) {
    return values.show   ? show(values.show, err)
           : values.list ? cli_list(run, builtin_suites, "suite", err)
                         : measure(run, err);
}

static void init(void) {
    query_spec_init(&values.spec);
}

const command_t command_query = {
    .name = "query",
    .group = COMMANDS_QUERY,
    .arguments = "[QUERY|TAG... | PIPELINE | FILTER]",
    .about = "time queries on a collection",
    .help = "Runs the queries of a suite, all of them or those that are named, or one that is given, with "
            "warm-up and repeats, one or many clients, and prints what they took.\n\n"
            "Measurements take turns, so that what changes on the machine meets all of them alike. One that "
            "failed, or was made too rarely, has no figure.",
    .examples = "  tipple query --uri mongodb://HOST/mot.results --first 3  # a few documents\n"
                "  tipple query --list\n"
                "  tipple query --uri \"$URI\" '[{$group: {_id: $k, tests: {$sum: 1}}}]'\n"
                "  tipple query --suite mot --uri mongodb://HOST/mot.results greenness\n"
                "  tipple query --suite ycsb --uri \"$URI\" --clients 1,4,16 --duration 10s\n"
                "  tipple query --suite ./my.yaml --uri \"$URI\" --param year=2014 --json",
    .options = options,
    .takes = TAKEN_BY_ASKING,
    .with = WITH_JSON | WITH_REPORT,
    .apart = apart,
    .values = &values,
    .init = init,
    .body = obey,
};
