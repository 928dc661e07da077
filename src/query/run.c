#include "query/run.h"
#include "base/clock.h"
#include "base/host/host.h"
#include "base/log.h"
#include "base/step.h"
#include "base/stop.h"
#include "query/clients.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_REPEATS = 5 };
static const int64_t DEFAULT_DURATION_NS = 5000000000, LATEST_NS = 30000000000;

void query_spec_init(query_spec_t *spec) {
    *spec = (query_spec_t){.warmups = SUITE_UNSAID, .patience_ns = LATEST_NS};
}

/* What nobody chose: by the suite, or else by the program. */
static void settle(query_spec_t *spec, const suite_run_t *run) {
    choices_t *choices = &spec->choices;
    if (!spec->repeats)
        spec->repeats = run->repeats ? run->repeats : DEFAULT_REPEATS;
    if (spec->warmups == SUITE_UNSAID)
        spec->warmups = run->warmups == SUITE_UNSAID ? 1 : run->warmups;
    if (!spec->duration_ns && !spec->count)
        spec->duration_ns = run->duration_ns;
    choices->timed = spec->duration_ns != 0;
    choices->query_clients = !choices->client_choices;
    if (!choices->client_choices) {
        memcpy(choices->clients, run->clients, sizeof run->clients);
        choices->client_choices = run->client_choices;
    }
    if (!choices->reads_choices) {
        memcpy(choices->reads, run->reads, sizeof run->reads);
        choices->reads_choices = run->reads_choices;
    }
    if (!choices->client_choices)
        choices->clients[choices->client_choices++] = 1;
}

typedef struct {
    query_spec_t *spec;
    query_result_t *result;
    mongoc_client_t *client;
    watch_t *watch;
    beside_t beside;
    step_t step;
    bool failed; /* what was measured last */
    err_t *err;
} run_t;

/* ---- before ---- */

/* "6.0.5 replica set, clustered", "6.0.5, 2 shards" */
static void describe(const run_t *run) {
    query_result_t *result = run->result;
    const server_facts_t *facts = server_facts(result->server);
    const watch_storage_t *storage = &result->storage;
    int used = snprintf(result->configuration, sizeof result->configuration, "%s", facts->version);
    size_t room = sizeof result->configuration - (size_t)used;
    if (facts->kind == SERVER_ROUTER)
        snprintf(result->configuration + used, room, ", %u shard%s%s", storage->shards,
                 storage->shards == 1 ? "" : "s", storage->clustered ? ", clustered" : "");
    else
        snprintf(result->configuration + used, room, " %s%s",
                 facts->kind == SERVER_STANDALONE ? "standalone" : "replica set",
                 storage->clustered ? ", clustered" : "");
}

/* Names of fields that are not there find nothing, and nobody says so. */
static void check_format(query_result_t *result, mongoc_client_t *client) {
    const suite_t *suite = result->measures.suite;
    char wanted[200] = "";
    watch_format(result->server, client, result->format);
    result->other_format = suite->formats && result->format[0];
    for (const yaml_item_t *name = suite->formats ? suite->formats->first : NULL; name; name = name->next) {
        const size_t used = strlen(wanted);
        snprintf(wanted + used, sizeof wanted - used, "%s%s", used ? " or " : "", name->text);
        if (strcmp(name->text, result->format) == 0)
            result->other_format = false;
    }
    if (result->other_format)
        log_warn("%s was loaded as format %s, and the suite %s asks documents of format %s: what it looks "
                 "for may not be there",
                 result->namespace, result->format, suite->name, wanted);
}

static bool prepare(run_t *run) {
    query_spec_t *spec = run->spec;
    query_result_t *result = run->result;
    if (spec->explain && spec->choices.setup)
        return err_set(run->err, STATUS_USAGE,
                       "--explain changes nothing, and --setup makes indexes: give one of them");
    suite_t *suite = suite_open(spec->suite, run->err);
    if (!suite)
        return false;
    result->measures.suite = suite;
    settle(spec, &suite->run);
    uint32_t connections = measure_connections(suite, &spec->choices);
    const server_options_t options = {
        .uri = spec->uri, .patience_ns = spec->patience_ns, .connections = connections, .reads = true};
    if (!host_want_descriptors_of("--clients", connections + 64, run->err) ||
        !(result->server = server_connect(&options, run->err)) ||
        !(run->client = server_take(result->server, run->err)))
        return false;
    snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(result->server));
    snprintf(result->where, sizeof result->where, "%s", server_where(result->server));
    bool ok =
        measure_prepare(&result->measures, suite, result->server, run->client, &spec->choices, run->err) &&
        watch_storage(result->server, run->client, server_collection(result->server), &result->storage,
                      run->err);
    if (ok && result->storage.hidden)
        log_note(
            "this user may not run collStats on %s: its size on disk has no figure; the role read would do",
            result->namespace);
    return ok;
}

/* ---- rounds ---- */

static clients_round_t round_of(const query_spec_t *spec, const measure_t *measure, uint32_t number,
                                bool counts) {
    int64_t duration = spec->duration_ns ? spec->duration_ns : DEFAULT_DURATION_NS;
    bool timed = measure->timed && !spec->count;
    return (clients_round_t){.count = spec->count ? spec->count
                                      : timed     ? 0
                                                  : 1,
                             .duration_ns = !timed   ? 0
                                            : counts ? duration / spec->repeats
                                                     : duration / 20,
                             .rate = spec->rate,
                             .number = number,
                             .counts = counts};
}

static void tell_round(run_t *run, const measure_t *measure, uint32_t number, bool counts) {
    char round[64] = "warming up";
    if (counts)
        snprintf(round, sizeof round, "round %u of %u", number + 1, run->spec->repeats);
    step_change(&run->step, "%s: %.80s %.80s", round, measure->work->query->name, measure->work->with);
}

/* The driver looks a second later at the soonest for a server whose connection broke, and until then says of each request
 * why it broke. What is measured next has nothing to do with that: it waits until the servers that it reads from answer. If
 * they do not, its own requests say why. */
static void wait_after_failure(run_t *run, const measure_t *measure) {
    server_t *server = run->result->server;
    const mongoc_read_prefs_t *prefs = measure->work->requests->prefs;
    bson_t *ping = BCON_NEW("ping", BCON_INT32(1));
    patience_t patience = server_patience(server);
    bson_error_t error;
    err_t ignored;
    prefs = prefs ? prefs : mongoc_client_get_read_prefs(run->client);
    bool answers, again;
    do {
        answers = mongoc_client_command_simple(run->client, "admin", ping, prefs, NULL, &error);
        again = !answers && server_again(server, run->client, &patience, &error, NULL,
                                         "see whether the server answers", &ignored);
    } while (again);
    if (answers)
        server_answered(server);
    bson_destroy(ping);
}

static bool one_round(run_t *run, measure_t *measure, uint32_t number, bool counts) {
    const clients_round_t round = round_of(run->spec, measure, number, counts);
    if (measure->failures) /* no figure can be computed for it any more */
        return true;
    if (run->failed)
        wait_after_failure(run, measure);
    tell_round(run, measure, number, counts);
    if (counts)
        watch_start(run->watch);
    const bool first = !measure->answered;
    bool ok = clients_run(&round, measure, run->result->server, run->err);
    run->failed = measure->failures != 0;
    if (counts)
        watch_stop(run->watch, &measure->watched);
    if (first && measure->answered)
        measure_settle(&run->result->measures, measure, run->spec->choices.answers);
    if (run->beside.process && !beside_runs(&run->beside) && !run->result->beside_ended) {
        run->result->beside_ended = true;
        beside_describe(run->beside.status, run->result->beside_words);
    }
    return ok;
}

static bool interrupted(const run_t *run) {
    int number = stop_signal();
    if (number)
        err_set(run->err, (status_t)(128 + number), "interrupted; what is printed was measured until then");
    return number != 0;
}

static bool rounds(run_t *run, uint32_t count, bool counts) {
    measures_t *list = &run->result->measures;
    for (uint32_t number = 0; number < count; number++)
        for (size_t i = 0; i < list->count; i++)
            /* each round begins with another one, so none always follows the same one */
            if (!one_round(run, &list->items[(i + number) % list->count], number, counts) || interrupted(run))
                return false;
    return true;
}

/* ---- after ---- */

/* Without it there is less to tell, and nothing else. */
static void explain_all(run_t *run) {
    measures_t *list = &run->result->measures;
    bson_error_t error;
    for (size_t i = 0; i < list->work_count && !stop_signal(); i++) {
        work_t *work = &list->works[i];
        if (!work->query->explain || explained_ask(work->requests, run->client, &work->explained, &error))
            continue;
        address_conceal(server_address(run->result->server), error.message);
        log_note("%s is not explained: %s", work->query->name, error.message);
    }
}

static void count_nothing(query_result_t *result) {
    for (size_t i = 0; i < result->measures.count; i++)
        result->nothing += measure_of_nothing(&result->measures.items[i]);
}

static bool judge(run_t *run) {
    query_result_t *result = run->result;
    const measure_t *first = NULL;
    for (size_t i = 0; i < result->measures.count; i++) {
        measure_t *measure = &result->measures.items[i];
        if (measure->failures)
            measure->difference[0] = '\0';
        result->failed += measure->failures != 0;
        result->different += measure->difference[0] != 0;
        if (!first || (measure->difference[0] && !first->difference[0]) ||
            (!first->failures && !first->difference[0]))
            first = measure;
    }
    if (!first)
        return true;
    if (result->different)
        return err_set(run->err, STATUS_DIFFERENT, "%s%s%s: %s", first->work->query->name,
                       first->work->with[0] ? " " : "", first->work->with, first->difference);
    if (result->failed)
        return err_set(run->err, STATUS_SERVER, "%s%s%s failed: %s", first->work->query->name,
                       first->work->with[0] ? " " : "", first->work->with, first->failure);
    return true;
}

static bool measure_all(run_t *run) {
    const query_spec_t *spec = run->spec;
    query_result_t *result = run->result;
    if (!(run->watch = watch_open(result->server, run->client, run->err)))
        return false;
    describe(run);
    result->load_seconds = watch_load_seconds(result->server, run->client);
    check_format(result, run->client);
    if (spec->beside && !beside_start(&run->beside, spec->beside, run->err))
        return false;
    step_begin(&run->step, "%s", "");
    bool ok = rounds(run, spec->warmups, false) && rounds(run, spec->repeats, true);
    step_end(&run->step);
    if (ok)
        explain_all(run);
    if (result->beside_ended)
        log_warn("the command of --while ended %s before the measurements did: they are of times with and "
                 "without it",
                 result->beside_words);
    count_nothing(result);
    return ok && judge(run);
}

bool query_run(query_spec_t *spec, query_result_t *result, err_t *err) {
    *result = (query_result_t){.load_seconds = NAN};
    run_t run = {.spec = spec, .result = result, .err = err};
    const int64_t began_ns = clock_now_ns();
    bool ok = prepare(&run) && (spec->explain || measure_all(&run));
    beside_stop(&run.beside);
    watch_close(run.watch);
    if (run.client)
        server_give(result->server, run.client);
    result->seconds = (double)(clock_now_ns() - began_ns) / 1e9;
    return ok;
}

void query_free_result(query_result_t *result) {
    suite_t *suite = result->measures.suite;
    measure_free(&result->measures);
    suite_close(suite);
    server_destroy(result->server);
}

bool query_tells(const measure_t *measure, double share) {
    double n = (double)measure->hist->moments.count;
    return !measure->failures && n >= 2 && n * (1 - share) >= 1;
}

/* ---- an earlier run ---- */

static bool broken(const char *path, const char *what, err_t *err) {
    return err_set(err, STATUS_USAGE, "--compare: %s is not what `tipple query --json` printed: %.*s", path,
                   (int)strcspn(what, "\n"), what);
}

static bool check_head(const char *path, const bson_t *then, err_t *err) {
    bson_iter_t queries;
    if (strcmp(bson_read_text(then, "command"), "query") != 0)
        return broken(path, "its 'command' is not query", err);
    if (bson_read_number(then, "schema") != 1)
        return broken(path, "its 'schema' is not 1", err);
    return bson_read_list(then, "queries", &queries) || broken(path, "it has no list 'queries'", err);
}

bool compare_read(const char *path, bson_t *then, err_t *err) {
    bson_error_t error;
    bson_t more = BSON_INITIALIZER;
    bson_json_reader_t *reader = bson_json_reader_new_from_file(path, &error);
    if (!reader)
        return err_set(err, STATUS_USAGE, "--compare: %s cannot be read: %s", path, error.message);
    const int found = bson_json_reader_read(reader, then, &error);
    bool ok = found > 0 || broken(path, found ? error.message : "the file is empty", err);
    ok = ok && (bson_json_reader_read(reader, &more, &error) == 0 ||
                broken(path, "something follows after the result", err));
    bson_json_reader_destroy(reader);
    bson_destroy(&more);
    return ok && check_head(path, then, err);
}

void compare_warn(const bson_t *then, const char *path, const char *suite, const char *namespace) {
    if (strcmp(bson_read_text(then, "suite"), suite) != 0)
        log_warn("--compare: %s is of the suite %s, and this is %s", path, bson_read_text(then, "suite"),
                 suite);
    if (strcmp(bson_read_text(then, "namespace"), namespace) != 0)
        log_warn("--compare: %s is of the collection %s, and this is %s", path,
                 bson_read_text(then, "namespace"), namespace);
}

static bool is_same(const bson_t *entry, const measure_t *measure) {
    const work_t *work = measure->work;
    return bson_read_number(entry, "clients") == measure->clients &&
           strcmp(bson_read_text(entry, "name"), work->query->name) == 0 &&
           strcmp(bson_read_text(entry, "with"), work->with) == 0 &&
           strcmp(bson_read_text(entry, "reads"), work->reads ? work->reads : "") == 0;
}

/* Returns why the figures of then and now cannot be compared; NULL: they can. */
static const char *find_obstacle(const bson_t *entry, const measure_t *measure) {
    const double empty = bson_read_number(entry, "empty");
    if (measure->failures)
        return "failed now";
    if (bson_read_number(entry, "failures") > 0)
        return "failed then";
    if (strcmp(bson_read_text(entry, "question"), measure->work->question) != 0)
        return "another question";
    return (empty > 0 && empty == bson_read_number(entry, "n")) != measure_of_nothing(measure)
               ? "another answer"
               : NULL;
}

bool compare_find(const bson_t *then, const measure_t *measure, compared_t *compared) {
    bson_iter_t entries;
    bson_t entry;
    const bool some = bson_read_list(then, "queries", &entries);
    bool found = false;
    *compared = (compared_t){NAN, NAN, "new"};
    while (some && !found && bson_iter_next(&entries))
        found = bson_read_document(&entries, &entry) && is_same(&entry, measure);
    if (found)
        *compared = (compared_t){bson_read_number(&entry, "p50_ms"), bson_read_number(&entry, "p99_ms"),
                                 find_obstacle(&entry, measure)};
    return found;
}
