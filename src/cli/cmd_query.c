#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "cli/results/results.h"
#include "query/query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    load_options_t load; /* of which it takes URI and patience */
    query_spec_t spec;
    texts_list_t params, bounds;
    const char *show, *compare;
    bool list, answers;
} values_t;

static values_t values;

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
           .help = "Rounds, in which all measurements take turns (default: as the suite says, or 5)."),
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
    OPTION("rate", COUNT, spec.rate, .argument = "N", .least = 1, .most = 1000000000,
           .help = "Requests a second of all clients together, whether answers come or not, for 10 s without "
                   "--count and --duration; latency counts from the moment at which a request was due. "
                   "Without it each client asks again when it has its answer."),
    OPTION("while", TEXT, spec.command, .argument = "COMMAND", .offers = "",
           .help = "Run this during the measurements, and stop it afterwards: a load, for example."),
    OPTION("answers", FLAG, answers, .group = GROUP_RESULT, .help = "Print what the queries return, too."),
    OPTION("first", COUNT, spec.first, .argument = "N", .least = 1, .most = 1000000, .typed = true,
           .help = "Print the first N documents of a query, else of the collection, and measure nothing."),
    OPTION("compare", TEXT, compare, .argument = "FILE",
           .help = "An earlier run's --json: its medians and 99th percentiles next to those of this run."),
    OPTION("fail-if", LIST, bounds, .argument = "BOUND",
           .help = "End with status 6 if it is true of a measurement: 'p99>20ms', 'ops/s<1000', 'failed>0'; "
                   "with --compare also 'p50>1.1x' (from --repeats 6 on). May be given several times."),
    {.name = NULL},
};

static int show(const char *name, err_t *err) {
    suite_t *suite = suite_open(name, err);
    if (suite)
        out_bytes(suite->text, strlen(suite->text)); /* YAML has no control characters */
    suite_close(suite);
    return cli_finish(suite ? STATUS_OK : (int)err->status, err);
}

/* ---- the command ---- */

static const apart_t apart[] = {
    {"list", "suite", "lists the suites, and --show prints one"},
    {"list", "report json compare fail-if answers", "measures nothing"},
    {"show", "report json compare fail-if answers", "measures nothing"},
    {"explain", "report json compare fail-if answers setup", "measures nothing"},
    {"first", "suite", "takes a query of your own, or none"},
    {"first", "report json compare fail-if explain repeats warmup count duration clients rate while",
     "measures nothing"},
    {"duration", "count", "asks until the time is over"},
    {.option = NULL},
};

static bool read_bounds(bound_t *bounds, err_t *err) {
    for (size_t i = 0; i < values.bounds.count; i++)
        if (!query_read_bound(&bounds[i], values.bounds.items[i], values.compare, err))
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
    if (spec->rate > 0 && !spec->count && !spec->duration_ns)
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
    const bool ok = status == STATUS_OK, measured = query->configuration[0], plans = spec->explain && ok,
               documents = !plans && spec->first && ok;
    if (plans)
        results_print_plans(query);
    else if (documents || (values.answers && measured && !run->json))
        results_print_answers(query, !documents);
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
        result_t *result = results_query(&values.spec, &query, status, err);
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
            "failed, or was made too rarely to tell, has no figure.",
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
