#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "builtin/builtin.h"
#include "cli/options/cli.h"
#include "cli/results/results.h"
#include "query/run.h"
#include "query/suite/typed_query.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    query_spec_t spec;
    texts_list_t params;
    const char *uri_file, *show, *compare, *report;
    bool json, list, answers;
} values_t;

/* ---- options that are lists ---- */

static bool too_many(const char *option, err_t *err) {
    return err_set(err, STATUS_USAGE, "--%s: more than %d of them", option, MEASURE_MOST_CHOICES);
}

static bool read_clients(void *values, const char *text, err_t *err) {
    choices_t *choices = &((values_t *)values)->spec.choices;
    char word[32];
    choices->client_choices = 0;
    for (const char *at = text; cli_next_word(&at, word, sizeof word);) {
        uint64_t count;
        if (!units_parse_count(word, &count) || count < 1 || count > MEASURE_MOST_CLIENTS)
            return err_set(err, STATUS_USAGE,
                           "--clients: '%s' is not a number from 1 to %d; write it like 1,4,16", word,
                           MEASURE_MOST_CLIENTS);
        if (choices->client_choices == MEASURE_MOST_CHOICES)
            return too_many("clients", err);
        for (size_t i = 0; i < choices->client_choices; i++)
            if (choices->clients[i] == count)
                return err_set(err, STATUS_USAGE, "--clients: %s is named twice", word);
        choices->clients[choices->client_choices++] = (uint32_t)count;
    }
    return choices->client_choices > 0 || err_set(err, STATUS_USAGE, "--clients needs a number");
}

static bool read_reads(void *values, const char *text, err_t *err) {
    choices_t *choices = &((values_t *)values)->spec.choices;
    char word[32];
    choices->reads_choices = 0;
    for (const char *at = text; cli_next_word(&at, word, sizeof word);) {
        int mode = choose_word("read-preference", word, suite_read_modes, suite_read_mode_count, err);
        if (mode < 0)
            return false;
        if (choices->reads_choices == MEASURE_MOST_CHOICES)
            return too_many("read-preference", err);
        choices->reads[choices->reads_choices++] = suite_read_modes[mode];
    }
    return choices->reads_choices > 0 || err_set(err, STATUS_USAGE, "--read-preference needs a value");
}

static bool read_rate(void *values, const char *text, err_t *err) {
    uint64_t rate;
    bool bytes;
    if (!units_parse_rate(text, &rate, &bytes) || bytes || !rate)
        return err_set(err, STATUS_USAGE, "--rate: '%s' is not so many a second; write it like 500 or 2k",
                       text);
    ((values_t *)values)->spec.rate = (double)rate;
    return true;
}

#define AT(name) .offset = offsetof(values_t, name)

static const option_t options[] = {
    CLI_URI(values_t, spec.uri),
    {.name = "read-preference",
     .argument = "MODE,...",
     .offers = "primary primaryPreferred secondary secondaryPreferred nearest",
     .kind = OPTION_CUSTOM,
     .custom = read_reads,
     .help = "Read from primary, secondary, nearest, ...; each is a measurement of its own (default: as the "
             "suite says)."},
    {.name = "patience",
     .argument = "TIME",
     .kind = OPTION_TIME,
     AT(spec.patience_ns),
     .help = "How long a server may be away before measuring begins (default 30s)."},
    {.name = "suite",
     .group = GROUP_QUERIES,
     .letter = 's',
     .argument = "NAME",
     .offers = "@suites @files",
     .kind = OPTION_TEXT,
     AT(spec.suite),
     .help = "The suite: mot, isd, obd, obd-stored, ycsb, or a file of your own such as ./my.yaml."},
    {.name = "list", .kind = OPTION_FLAG, AT(list), .help = "List the suites, or with --suite its queries."},
    {.name = "show",
     .argument = "SUITE",
     .offers = "@suites",
     .kind = OPTION_TEXT,
     AT(show),
     .help = "Print a built-in suite's file: a start for one of your own."},
    {.name = "param",
     .argument = "NAME=VALUE",
     .kind = OPTION_LIST,
     AT(params),
     .help = "Another value for a parameter of the suite, written as in YAML: n=1000, n=[10, 100], "
             "from={$date: 2014-01-01}. May be given several times."},
    {.name = "setup",
     .kind = OPTION_FLAG,
     AT(spec.choices.setup),
     .help = "Make the indexes that the queries need."},
    {.name = "explain",
     .kind = OPTION_FLAG,
     AT(spec.explain),
     .help = "Print what would be sent. It is not the server's plan: of a find, "
             "explain: yes in a suite tells what the server looks at."},
    {.name = "repeats",
     .group = GROUP_MEASURED,
     .letter = 'n',
     .argument = "N",
     .kind = OPTION_COUNT32,
     AT(spec.repeats),
     .least = 1,
     .most = 1000000,
     .help = "Rounds, in which all measurements take turns (default: as the suite says, or 5)."},
    {.name = "warmup",
     .argument = "N",
     .kind = OPTION_COUNT32,
     AT(spec.warmups),
     .most = 1000,
     .help = "Rounds before that are not counted (default: as the suite says, or 1)."},
    {.name = "count",
     .argument = "N",
     .kind = OPTION_COUNT,
     AT(spec.count),
     .least = 1,
     .most = 1000000000000, /* times all clients it fits into 64 bits */
     .help = "Requests of each client in a round (default: 1; queries that draw their parameters: as many as "
             "the time allows)."},
    {.name = "duration",
     .argument = "TIME",
     .kind = OPTION_TIME,
     AT(spec.duration_ns),
     .least = 1, /* ns; 0 stands for one that was not given */
     .help = "Send for so long, all rounds of a measurement together (default for queries that draw: 5s)."},
    {.name = "clients",
     .letter = 'c',
     .argument = "N,N,...",
     .kind = OPTION_CUSTOM,
     .custom = read_clients,
     .help = "Clients that ask side by side; each number is a measurement of its own (default: as the suite "
             "says, or 1)."},
    {.name = "rate",
     .argument = "N",
     .kind = OPTION_CUSTOM,
     .custom = read_rate,
     .help = "So many requests a second of all clients together, whether answers come or not; latency counts "
             "from the moment at which a request was due. Without it each client asks again when it has its "
             "answer."},
    {.name = "while",
     .argument = "COMMAND",
     .kind = OPTION_TEXT,
     AT(spec.beside),
     .help = "Run this during the measurements, and stop it afterwards: a load, for example."},
    {.name = "answers",
     .group = GROUP_RESULT,
     .kind = OPTION_FLAG,
     AT(answers),
     .help = "Print what the queries return, too."},
    {.name = "first",
     .typed = true,
     .argument = "N",
     .kind = OPTION_COUNT,
     AT(spec.choices.first),
     .least = 1,
     .most = 1000000,
     .help = "Print the first N documents that a query finds, and measure nothing. Without a query: of the "
             "collection."},
    {.name = "compare",
     .argument = "FILE",
     .kind = OPTION_TEXT,
     AT(compare),
     .help = "An earlier run's --json: its medians and 99th percentiles next to those of this run."},
    CLI_JSON(values_t),
    CLI_REPORT(values_t),
    {.name = NULL},
};

/* ---- lists and files ---- */

static bool list_queries(const char *name, err_t *err) {
    suite_t *suite = suite_open(name, err);
    if (!suite)
        return false;
    out_print("%s", suite->name);
    out_print(": ");
    out_print("%s", suite->about ? suite->about : "");
    out_print("\n");
    for (size_t i = 0; i < suite->query_count; i++) {
        const query_t *query = &suite->queries[i];
        out_print(query->about ? "  %-24s " : "  %s", query->name);
        out_print("%s", query->about ? query->about : "");
        for (const yaml_item_t *tag = query->tags ? query->tags->first : NULL; tag; tag = tag->next) {
            out_print(tag == query->tags->first ? " [" : ", ");
            out_print("%s", tag->text);
            out_print(tag->next ? "" : "]");
        }
        out_print("\n");
    }
    for (const yaml_item_t *item = suite->params ? suite->params->first : NULL; item; item = item->next) {
        out_print(item == suite->params->first ? "parameters: " : ", ");
        out_print("%s", item->key);
        out_print(item->next ? "" : "\n");
    }
    suite_close(suite);
    return true;
}

static bool list_suites(err_t *err) {
    for (const builtin_t *builtin = builtin_suites; builtin->name; builtin++) {
        suite_t *suite = suite_open(builtin->name, err);
        if (!suite)
            return false;
        out_print("%-10s %s\n", suite->name, suite->about ? suite->about : "");
        suite_close(suite);
    }
    return true;
}

static bool show(const char *name, err_t *err) {
    suite_t *suite = suite_open(name, err);
    if (suite)
        out_bytes(suite->text, strlen(suite->text)); /* YAML has no control characters */
    suite_close(suite);
    return suite != NULL;
}

/* ---- the command ---- */

static const apart_t apart[] = {
    {"list", "report json compare answers", "measures nothing"},
    {"show", "report json compare answers", "measures nothing"},
    {"explain", "report json compare answers", "measures nothing"},
    {"first", "suite", "takes a query of your own, or none"},
    {"first", "report json compare explain repeats warmup count duration clients rate while",
     "measures nothing"},
    {"duration", "count", "asks until the time is over"},
    {.option = NULL},
};

static bool check(values_t *values, char **words, int count, err_t *err) {
    query_spec_t *spec = &values->spec;
    if (!spec->suite && count == 1 && typed_query_is(words[0])) {
        spec->suite = words[0];
        count = 0;
    }
    if (!spec->suite && !count && spec->choices.first)
        spec->suite = "{}";
    if (!spec->suite)
        return err_set(
            err, STATUS_USAGE,
            "--suite is missing: one of `tipple query --list`, or a file of your own; or give a query "
            "itself, a pipeline in [...] or a filter in {...}, in quotes");
    if (!spec->uri)
        return err_set(
            err, STATUS_USAGE,
            "--uri is missing: the collection to ask, such as --uri mongodb://127.0.0.1/mot.results (or set "
            "TIPPLE_URI)");
    if (values->report && values->compare && result_is_same_file(values->report, values->compare))
        return err_set(err, STATUS_USAGE,
                       "--report: %s is what --compare reads, and stays as it is; name another file",
                       values->report);
    if (spec->rate > 0 && !spec->count && !spec->duration_ns)
        spec->duration_ns = 10000000000;
    if (spec->choices.first) {
        spec->repeats = 1;
        spec->warmups = 0;
    }
    spec->choices.answers = values->answers || values->json || values->report || spec->choices.first;
    spec->choices.queries = words;
    spec->choices.query_count = (size_t)count;
    spec->choices.params = values->params.items;
    spec->choices.param_count = values->params.count;
    return true;
}

static int measure(values_t *values, const again_t *again, err_t *err) {
    query_result_t query;
    bson_t then = BSON_INITIALIZER;
    if ((values->report && !result_check_page(values->report, err)) ||
        (values->compare && !compare_read(values->compare, &then, err))) {
        bson_destroy(&then);
        return (int)err->status;
    }
    const bool ok = query_run(&values->spec, &query, err), measured = query.configuration[0];
    int status = ok ? STATUS_OK : (int)err->status;
    result_t *result = results_query(&values->spec, &query, values->compare ? &then : NULL, status, err);
    if (values->report && status != STATUS_USAGE)
        status = results_page(result, values->report, again, values->spec.uri, status, err);
    if (measured && values->compare)
        compare_warn(&then, values->compare, query.measures.suite->name, query.namespace);
    if (values->spec.explain && ok)
        results_print_plans(&query);
    else if (values->spec.choices.first && ok)
        results_print_answers(&query, false);
    else if (measured && values->json)
        result_print_json(result, status);
    else if (measured) {
        if (values->answers)
            results_print_answers(&query, true);
        result_print_text(result);
    }
    result_free(result);
    bson_destroy(&then);
    query_free_result(&query);
    return cli_finish(status, err);
}

static int obey(void *context, char **words, int count, const again_t *again, err_t *err) {
    values_t *values = context;
    if (values->list || values->show) {
        bool ok = values->show         ? show(values->show, err)
                  : values->spec.suite ? list_queries(values->spec.suite, err)
                                       : list_suites(err);
        return ok && cli_flush(err) ? STATUS_OK : (int)err->status;
    }
    return check(values, words, count, err) ? measure(values, again, err) : (int)err->status;
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.json = false};
    query_spec_init(&values.spec);
    return results_run(command, argc, argv, &values, obey, err);
}

const command_t command_query = {
    .name = "query",
    .group = COMMANDS_QUERY,
    .arguments = "[QUERY|TAG... | PIPELINE | FILTER]",
    .about = "time queries on a collection",
    .help = "Runs the queries of a suite, all of them or those that are named, or one that is given, with "
            "warm-up and repeats, one or many clients, and prints what they took.\n\n"
            "Measurements take turns, so that what changes on the machine meets all of them alike. "
            "One that failed, or was made too rarely to tell, has no figure.",
    .examples = "  tipple query --uri mongodb://HOST/mot.results --first 3  # a few documents\n"
                "  tipple query --list\n"
                "  tipple query --uri \"$URI\" '[{$group: {_id: $k, tests: {$sum: 1}}}]'\n"
                "  tipple query --suite mot --uri mongodb://HOST/mot.results greenness\n"
                "  tipple query --suite ycsb --uri \"$URI\" --clients 1,4,16 --duration 10s\n"
                "  tipple query --suite ./my.yaml --uri \"$URI\" --param year=2014 --json",
    .needs_driver = true,
    .options = options,
    .apart = apart,
    .run = run,
};
