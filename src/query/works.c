/* works: what a suite asks of a collection, with every value filled in, before anything is measured: so a mistake is refused
 * with its place, and a timed request has nothing left to look up. */
#include "base/chars.h"
#include "base/document.h"
#include "base/stop.h"
#include "base/text.h"
#include "query/query.h"
#include "server/bson_read.h"
#include "server/server.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MOST_MEASURES = 10000, MOST_DRAWN = 10000, MOST_BYTES = 256 << 20 };

typedef struct {
    query_result_t *result;
    const query_spec_t *spec;
    side_t *side;
    suite_t *suite;
    server_t *server;
    mongoc_client_t *client;
    const query_t *query;
    bson_t typed; /* what --param says */
    double all_documents;
    uint64_t bytes; /* of all requests and expectations */
    answer_t drawn; /* by this pipeline */
    bson_t *drawn_by;
    err_t *err;
} maker_t;

#define COMPLAIN(at, ...) yaml_tree_complain(maker->suite->tree, at, maker->err, __VA_ARGS__)

static const char *collection_of(const maker_t *maker) {
    return maker->query->collection ? maker->query->collection : server_collection(maker->server);
}

static bool count_bytes(maker_t *maker, uint64_t bytes) {
    return (maker->bytes += bytes) <= MOST_BYTES ||
           COMPLAIN(
               maker->query->at,
               "the requests of all measurements together take more than %d MB; leave some values out, or "
               "choose queries by name",
               MOST_BYTES >> 20);
}

/* ---- parameters: as the suite has them, and as --param says ---- */

typedef struct {
    const char **names;
    size_t count, room;
} names_t;

static bool add_names(names_t *known, const yaml_item_t *map, err_t *err) {
    for (const yaml_item_t *item = map ? map->first : NULL; item; item = item->next) {
        if (!GROW(known->names, known->room, known->count + 1, err))
            return false;
        known->names[known->count++] = item->key;
    }
    return true;
}

/* "n=1000" */
static bool read_param(maker_t *maker, const names_t *known, const char *text) {
    const char *equals = strchr(text, '=');
    bson_iter_t before;
    char name[128];
    bool found = false;
    if (!equals || equals == text || equals - text >= (ptrdiff_t)sizeof name)
        return err_set(maker->err, STATUS_USAGE, "--param: '%s' is not NAME=VALUE, such as n=1000", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    for (size_t i = 0; i < known->count; i++)
        found = found || strcmp(known->names[i], name) == 0;
    if (!found)
        return err_set(maker->err, STATUS_USAGE, "--param: the suite %s has no parameter '%s'%s",
                       maker->suite->name, name, suggestion(name, known->names, known->count).text);
    if (bson_iter_init_find(&before, &maker->typed, name))
        return err_set(maker->err, STATUS_USAGE,
                       "--param: '%s' is given twice; several values of a list are written like %s=[10, 100]",
                       name, name);
    return value_parse(&maker->typed, name, equals + 1, maker->err) || err_where(maker->err, "--param");
}

/* All parameters of the suite, without those of `each`. */
static bool read_params(maker_t *maker, bson_t *params) {
    const suite_t *suite = maker->suite;
    names_t known = {.count = 0};
    bool ok = add_names(&known, suite->params, maker->err);
    for (size_t i = 0; ok && i < suite->query_count; i++)
        ok = add_names(&known, suite->queries[i].each, maker->err);
    for (size_t i = 0; ok && i < maker->spec->param_count; i++)
        ok = read_param(maker, &known, maker->spec->params[i]);
    free(known.names);
    for (const yaml_item_t *item = ok && suite->params ? suite->params->first : NULL; ok && item;
         item = item->next) {
        bson_iter_t given;
        ok = bson_iter_init_find(&given, &maker->typed, item->key)
                 ? bson_append_iter(params, item->key, -1, &given)
                 : value_append(params, item->key, item, suite->tree, NULL, maker->err);
    }
    return ok;
}

/* ---- the values of one `each`: {LABEL: value} ---- */

/* A label that is safe to show. free. */
static char *label_of(const char *text) {
    char *open = text_concealed(text);
    const size_t length = strlen(open), room = 4 * length + 1;
    char *shown = malloc(room);
    if (!shown)
        err_end_without_memory(room);
    escape_text(shown, room, open, length);
    free(open);
    return shown;
}

/* A value without a name is called by its text, or by its JSON, which stands in {"v": ...}. */
static char *own_label(const bson_iter_t *value) {
    enum { BEFORE = sizeof "{ \"v\" : " - 1, AFTER = sizeof " }" - 1 };
    bson_t holder = BSON_INITIALIZER;
    size_t length;
    if (BSON_ITER_HOLDS_UTF8(value))
        return label_of(bson_iter_utf8(value, NULL));
    element_append(&holder, "v", value);
    char *json = ejson_print(&holder, true, &length);
    if (json)
        json[length - AFTER] = '\0';
    char *label = label_of(json ? json + BEFORE : "");
    free(json);
    bson_destroy(&holder);
    return label;
}

static bool append_value(maker_t *maker, bson_t *values, const yaml_item_t *each, const bson_iter_t *value,
                         const char *name) {
    char *label = name ? label_of(name) : own_label(value);
    bson_iter_t same; /* bson_has_field looks for "a.b" in documents as well */
    const bool ok =
        (!bson_iter_init_find(&same, values, label) ||
         COMPLAIN(each, "two values of '%.60s' are called '%.90s'; give them names: {NAME: VALUE}", each->key,
                  label)) &&
        ((bson_append_iter(values, label, -1, value) && values->len <= MOST_BYTES) ||
         COMPLAIN(each, "the values of '%.60s' take more than %d MB together", each->key, MOST_BYTES >> 20));
    free(label);
    return ok;
}

static bool append_node(maker_t *maker, bson_t *values, const bson_t *params, const yaml_item_t *each,
                        const yaml_item_t *node) {
    bson_t read = BSON_INITIALIZER;
    bson_iter_t value;
    const bool ok = value_append(&read, "v", node, maker->suite->tree, params, maker->err) &&
                    bson_iter_init_find(&value, &read, "v") &&
                    append_value(maker, values, each, &value, each->kind == YAML_ITEM_MAP ? node->key : NULL);
    bson_destroy(&read);
    return ok;
}

/* What was typed instead: a value or a list, each also by the name of a value. */
static bool append_typed(maker_t *maker, bson_t *values, const bson_t *params, const yaml_item_t *each,
                         bson_iter_t at) {
    const bool many = BSON_ITER_HOLDS_ARRAY(&at);
    bool ok = !many || (bson_iter_recurse(&at, &at) && bson_iter_next(&at)) ||
              err_set(maker->err, STATUS_USAGE, "--param: '%s' has no values", each->key);
    for (bool more = ok; ok && more; more = many && bson_iter_next(&at)) {
        const yaml_item_t *named = each->kind == YAML_ITEM_MAP && BSON_ITER_HOLDS_UTF8(&at)
                                       ? yaml_item_get(each, bson_iter_utf8(&at, NULL))
                                       : NULL;
        ok = named ? append_node(maker, values, params, each, named)
                   : append_value(maker, values, each, &at, NULL);
    }
    return ok;
}

static bool each_values(maker_t *maker, bson_t *values, const bson_t *params, const yaml_item_t *each) {
    bson_iter_t at;
    bool ok = true;
    if (bson_iter_init_find(&at, &maker->typed, each->key))
        return append_typed(maker, values, params, each, at);
    for (const yaml_item_t *node = each->first; ok && node; node = node->next)
        ok = append_node(maker, values, params, each, node);
    return ok;
}

/* ---- what is drawn ---- */

/* Keeps of a drawn document what the query's `gives` names. */
static bool keep_drawn(maker_t *maker, const bson_t *document) {
    bson_t given = BSON_INITIALIZER;
    bool ok = true;
    for (size_t i = 0; ok && suite_given(maker->query, i); i++) {
        const char *name = suite_given(maker->query, i);
        bson_iter_t value;
        ok = bson_iter_init_find(&value, document, name) ||
             COMPLAIN(maker->query->draw, "what is drawn has no field '%s'", name);
        if (ok)
            bson_append_iter(&given, name, -1, &value);
    }
    if (ok)
        answer_take(&maker->drawn, &given);
    bson_destroy(&given);
    return ok && (!maker->drawn.more ||
                  COMPLAIN(maker->query->draw,
                           "what the query '%s' draws takes more than %zu MB: draw fewer documents, or "
                           "smaller values",
                           maker->query->name, maker->drawn.most_bytes >> 20));
}

static bool interrupted(err_t *err) {
    return err_set(err, (status_t)(128 + stop_signal()), "interrupted; nothing was measured");
}

static bool send_draw(maker_t *maker, const bson_t *pipeline) {
    bson_t options = BSON_INITIALIZER;
    command_cursor_t cursor;
    const bson_t *document, *reply;
    bson_error_t error;
    char doing[300];
    bool ok = true;
    bson_append_bool(&options, "allowDiskUse", -1, true);
    aggregate_begin(&cursor, maker->client, server_database(maker->server), collection_of(maker), pipeline,
                    &options, NULL);
    while (ok && maker->drawn.count < MOST_DRAWN && command_cursor_next(&cursor, &document))
        ok = keep_drawn(maker, document) && (!stop_signal() || interrupted(maker->err));
    snprintf(doing, sizeof doing, "draw the parameters of the query '%s'", maker->query->name);
    if (command_cursor_failed(&cursor, &error, &reply) && ok)
        ok = stop_signal() ? interrupted(maker->err)
                           : refusal_explain(server_address(maker->server), &error, reply, doing, maker->err);
    command_cursor_end(&cursor);
    bson_destroy(&options);
    return ok && (maker->drawn.count ||
                  COMPLAIN(maker->query->draw,
                           "the query '%s' finds nothing to draw from in %s.%s: is it the collection it was "
                           "made for?",
                           maker->query->name, server_database(maker->server), collection_of(maker)));
}

/* The documents from which a query draws its parameters: {"0": ..., ...}. Values of `each` that do not change the pipeline
 * get the same documents. */
static bool draw(maker_t *maker, const bson_t *params) {
    const yaml_item_t *list = yaml_item_get(maker->query->draw, "pipeline");
    bson_t pipeline;
    bool ok = value_document(&pipeline, list, maker->suite->tree, params, maker->err) &&
              reading_check(&pipeline, maker->suite->tree, list, maker->err);
    if (ok && !(maker->drawn_by && bson_equal(&pipeline, maker->drawn_by))) {
        answer_end(&maker->drawn);
        answer_begin(&maker->drawn, true);
        bson_destroy(maker->drawn_by);
        maker->drawn_by = bson_copy(&pipeline);
        ok = send_draw(maker, &pipeline);
    }
    bson_destroy(&pipeline);
    return ok;
}

static void forget_draw(maker_t *maker) {
    answer_end(&maker->drawn);
    bson_destroy(maker->drawn_by);
    maker->drawn_by = NULL;
}

/* ---- a work and its measures ---- */

/* A digest by which a later run knows that it asks the same: of the query with its parameters filled in, without how it is
 * sent. What is drawn by chance is not part of it, but how it is drawn. */
static bool digest_question(const maker_t *maker, const bson_t *params, char digest[QUESTION_DIGEST]) {
    const query_t *query = maker->query;
    const yaml_item_t *const nodes[] = {query->body, query->options, query->draw};
    enum { NODES = sizeof nodes / sizeof *nodes };
    XXH128_canonical_t parts[NODES + 1] = {0};
    const char *collection = query->collection ? query->collection : "";
    bson_t all;
    bool ok = true;
    bson_copy_to(params, &all);
    for (size_t i = 0; query->draw && suite_given(query, i); i++)
        bson_append_null(&all, suite_given(query, i), -1);
    for (size_t i = 0; ok && i < NODES; i++) {
        bson_t filled;
        if (!nodes[i])
            continue;
        ok = value_document(&filled, nodes[i], maker->suite->tree, &all, maker->err);
        XXH128_canonicalFromHash(&parts[i], XXH3_128bits(bson_get_data(&filled), filled.len));
        bson_destroy(&filled);
    }
    XXH128_canonicalFromHash(&parts[NODES], XXH3_128bits(collection, strlen(collection)));
    const XXH128_hash_t hash = XXH3_128bits(parts, sizeof parts);
    snprintf(digest, QUESTION_DIGEST, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
    bson_destroy(&all);
    return ok;
}

static bool add_request(maker_t *maker, work_t *work, const bson_t *params) {
    const reads_t reads = {work->reads, mongoc_client_get_read_prefs(maker->client)};
    request_t *request = &work->requests[work->count++];
    if (!request_build(request, maker->suite, maker->query, server_database(maker->server),
                       server_collection(maker->server), params, &reads, maker->err))
        return false;
    if (maker->spec->first)
        request_limit(request, maker->spec->first);
    return count_bytes(maker, sizeof *request + request->body->len + request->options->len);
}

/* One for each document that was drawn, if any is. */
static bool add_requests(maker_t *maker, work_t *work, const bson_t *params) {
    const size_t count = maker->query->draw ? maker->drawn.count : 1;
    bson_iter_t at, fields;
    if (!(work->requests = calloc(count, sizeof *work->requests)))
        return err_memory(maker->err, count * sizeof *work->requests);
    if (!maker->query->draw)
        return add_request(maker, work, params);
    bool ok = bson_iter_init(&at, maker->drawn.documents);
    while (ok && bson_iter_next(&at)) {
        bson_t all;
        bson_copy_to(params, &all);
        ok = bson_iter_recurse(&at, &fields);
        while (ok && bson_iter_next(&fields))
            bson_append_iter(&all, NULL, 0, &fields);
        ok = ok && add_request(maker, work, &all);
        bson_destroy(&all);
    }
    return ok;
}

static bool fill_expected(maker_t *maker, work_t *work, const bson_t *params) {
    bson_t filled;
    if (!maker->query->expect)
        return true;
    const bool ok = expected_fill(&filled, maker->suite, maker->query, params, maker->err) &&
                    count_bytes(maker, filled.len);
    work->expected = bson_copy(&filled);
    bson_destroy(&filled);
    return ok;
}

/* Do the query's own numbers of clients count? */
static bool has_own_clients(const query_spec_t *spec, const query_t *query) {
    return !spec->client_choices && query->run.client_choices;
}

static const uint32_t *clients_of(const maker_t *maker, size_t *count) {
    const suite_run_t *suite = &maker->suite->run;
    static const uint32_t one = 1;
    if (has_own_clients(maker->spec, maker->query)) {
        *count = maker->query->run.client_choices;
        return maker->query->run.clients;
    }
    *count = maker->spec->client_choices ? maker->spec->client_choices : suite->client_choices;
    return maker->spec->client_choices ? maker->spec->clients : *count ? suite->clients : (*count = 1, &one);
}

/* Adds the work's measures. As long as works may move, a measure has its work's number instead. */
static bool add_measures(maker_t *maker, size_t work) {
    query_result_t *result = maker->result;
    size_t count;
    const uint32_t *clients = clients_of(maker, &count);
    const size_t rates = query_curve_length(maker->spec);
    count *= rates;
    if (result->all_count + count > MOST_MEASURES)
        return COMPLAIN(
            maker->query->each ? maker->query->each : maker->query->at,
            "this would be more than %d measurements (values x clients x rates x reads): shorten a list, or "
            "choose queries by name",
            MOST_MEASURES);
    for (size_t i = 0; i < count; i++) {
        tally_t *found = calloc(1, sizeof *found);
        if (!found || !GROW(result->measures, result->measure_room, result->all_count + 1, maker->err)) {
            free(found);
            return err_memory(maker->err, sizeof *found);
        }
        result->measures[result->all_count++] =
            (measure_t){.work = (const work_t *)(uintptr_t)work, // NOLINT(performance-no-int-to-ptr)
                        .clients = clients[i / rates],
                        .rate = maker->spec->rates[i % rates],
                        .found = found};
    }
    return true;
}

static bool make_work(maker_t *maker, const bson_t *params, const bson_t *each, const char *with,
                      const char *reads) {
    query_result_t *result = maker->result;
    if (!GROW(result->works, result->work_room, result->work_count + 1, maker->err))
        return false;
    work_t *work = &result->works[result->work_count++];
    *work = (work_t){.side = maker->side,
                     .query = maker->query,
                     .reads = reads,
                     .all_documents = maker->all_documents,
                     .each = bson_copy(each)};
    snprintf(work->with, sizeof work->with, "%s", with);
    return fill_expected(maker, work, params) && digest_question(maker, params, work->question) &&
           add_requests(maker, work, params) && add_measures(maker, result->work_count - 1);
}

static size_t reads_count(const query_spec_t *spec) {
    return spec->reads_choices ? spec->reads_choices : 1;
}

/* ---- the combinations of `each` ---- */

static bool make_works(maker_t *maker, const bson_t *params, const bson_t *each, const char *with) {
    const query_spec_t *spec = maker->spec;
    bool ok = !maker->query->draw || draw(maker, params);
    for (size_t i = 0; ok && i < reads_count(spec); i++)
        ok = make_work(maker, params, each, with, spec->reads_choices ? spec->reads[i] : NULL);
    return ok;
}

static bool combine(maker_t *maker, const yaml_item_t *item, const bson_t *params, const bson_t *each,
                    const char *with) {
    bson_iter_t value;
    bson_t values = BSON_INITIALIZER;
    if (!item)
        return make_works(maker, params, each, with);
    char *name = label_of(item->key);
    bool ok = each_values(maker, &values, params, item) && bson_iter_init(&value, &values);
    while (ok && bson_iter_next(&value)) {
        bson_t more, more_each;
        char longer[WITH_ROOM];
        bson_copy_to(params, &more);
        bson_copy_to(each, &more_each);
        bson_append_iter(&more, item->key, -1, &value);
        bson_append_utf8(&more_each, item->key, -1, bson_iter_key(&value), -1);
        const int length =
            snprintf(longer, sizeof longer, "%s%s%s=%s", with, *with ? " " : "", name, bson_iter_key(&value));
        ok = length < WITH_ROOM
                 ? combine(maker, item->next, &more, &more_each, longer)
                 : COMPLAIN(item,
                            "a measurement cannot be called '%.90s...', which has more than %d "
                            "bytes; give the values names: {NAME: VALUE}",
                            longer, WITH_ROOM - 1);
        bson_destroy(&more);
        bson_destroy(&more_each);
    }
    free(name);
    bson_destroy(&values);
    return ok;
}

/* ---- preparing ---- */

static bool count_documents(maker_t *maker) {
    watch_storage_t storage;
    if (!watch_storage(maker->server, maker->client, collection_of(maker), &storage, maker->err))
        return false;
    maker->all_documents = storage.documents;
    return !(storage.documents <= 0) || /* NAN for a view */
           err_set(maker->err, STATUS_USAGE,
                   "%s.%s has no documents: load it first, or name the collection in the URI",
                   server_database(maker->server), collection_of(maker));
}

static bool prepare_query(maker_t *maker, const bson_t *params) {
    const query_t *query = maker->query;
    bson_t none = BSON_INITIALIZER;
    forget_draw(maker);
    const bool ok =
        count_documents(maker) &&
        indexes_check(maker->suite, query, maker->server, maker->client, maker->spec->setup, maker->err) &&
        combine(maker, query->each ? query->each->first : NULL, params, &none, "");
    bson_destroy(&none);
    return ok;
}

static bool is_chosen(const query_t *query, const query_spec_t *spec) {
    bool chosen = !spec->query_count;
    for (size_t i = 0; i < spec->query_count; i++)
        chosen = chosen || suite_has_tag(query, spec->queries[i]);
    return chosen;
}

/* Each word must name something. A standalone answers whatever read preference is asked for, and the table would then call it
 * a secondary. */
static bool check_choices(const maker_t *maker) {
    const suite_t *suite = maker->suite;
    const query_spec_t *spec = maker->spec;
    const char *names[128];
    size_t count = 0;
    for (size_t i = 0; i < suite->query_count && count < 128; i++)
        names[count++] = suite->queries[i].name;
    for (size_t i = 0; i < spec->query_count; i++) {
        const char *near = suggest_word(spec->queries[i], names, count);
        if (!suite_knows(suite, spec->queries[i]))
            return err_set(maker->err, STATUS_USAGE, "the suite %s has no query or tag '%s'%s%s%s",
                           suite->name, spec->queries[i],
                           near ? "; did you mean '" : "; `tipple query --show SUITE` prints them",
                           near ? near : "", near ? "'?" : "");
    }
    return server_facts(maker->server)->kind != SERVER_STANDALONE || !spec->reads_choices ||
           err_set(maker->err, STATUS_USAGE,
                   "--read-preference needs a replica set or a router; %s is a standalone, which has no "
                   "secondaries",
                   server_where(maker->server));
}

static bool prepare_side(query_result_t *result, side_t *side, const query_spec_t *spec, err_t *err) {
    bson_t params = BSON_INITIALIZER;
    maker_t maker = {.result = result,
                     .spec = spec,
                     .side = side,
                     .suite = side->suite,
                     .server = side->server,
                     .client = side->client,
                     .typed = BSON_INITIALIZER,
                     .err = err};
    bool ok = check_choices(&maker) && read_params(&maker, &params);
    for (size_t i = 0; ok && i < maker.suite->query_count; i++) {
        maker.query = &maker.suite->queries[i];
        ok = !is_chosen(maker.query, spec) || prepare_query(&maker, &params);
    }
    forget_draw(&maker);
    bson_destroy(&maker.typed);
    bson_destroy(&params);
    return ok;
}

static bool is_twin(const measure_t *one, const measure_t *other) {
    const char *reads = one->work->reads ? one->work->reads : "",
               *other_reads = other->work->reads ? other->work->reads : "";
    return one->clients == other->clients && strcmp(one->work->query->name, other->work->query->name) == 0 &&
           strcmp(one->work->with, other->work->with) == 0 && strcmp(reads, other_reads) == 0;
}

/* Both sides ask for the same measures, in the same order. */
static bool find_twins(query_result_t *result, err_t *err) {
    const size_t count = result->measure_count, all = result->all_count;
    bool same = all == 2 * count;
    for (size_t i = 0; same && i < count; i++) {
        result->measures[i].baseline = &result->measures[count + i];
        same = is_twin(&result->measures[i], &result->measures[count + i]);
    }
    return same || err_set(err, STATUS_USAGE,
                           "--against: its queries, values and clients are not those of --suite in the same "
                           "order (%zu measurements, and %zu); name queries that both have",
                           all - count, count);
}

bool works_prepare(query_result_t *result, const query_spec_t *spec, err_t *err) {
    bool ok = prepare_side(result, &result->sides[0], spec, err);
    for (; spec->one && result->all_count > 1; result->all_count--)
        free(result->measures[result->all_count - 1].found);
    result->measure_count = result->all_count;
    if (spec->against)
        ok = ok && (prepare_side(result, &result->sides[1], spec, err) || err_where(err, "--against"));
    for (size_t i = 0; i < result->all_count; i++)
        result->measures[i].work = &result->works[(uintptr_t)result->measures[i].work];
    return ok && (!spec->against || find_twins(result, err));
}

void works_free(query_result_t *result) {
    for (size_t i = 0; i < result->all_count; i++) {
        answer_end(&result->measures[i].answer);
        free(result->measures[i].found);
        free(result->measures[i].rounds);
        free(result->measures[i].missed);
    }
    for (size_t i = 0; i < result->work_count; i++) {
        work_t *work = &result->works[i];
        for (size_t k = 0; k < work->count; k++)
            request_free(&work->requests[k]);
        free(work->requests);
        bson_destroy(work->each);
        bson_destroy(work->expected);
    }
    free(result->works);
    free(result->measures);
}

static uint32_t most_of(uint32_t most, const uint32_t *clients, size_t count) {
    for (size_t i = 0; i < count; i++)
        most = clients[i] > most ? clients[i] : most;
    return most;
}

uint32_t works_most_clients(const suite_t *suite, const query_spec_t *spec) {
    uint32_t most = most_of(1, spec->clients, spec->client_choices);
    if (spec->client_choices)
        return most;
    most = most_of(most, suite->run.clients, suite->run.client_choices);
    for (size_t i = 0; i < suite->query_count; i++)
        most = most_of(most, suite->queries[i].run.clients, suite->queries[i].run.client_choices);
    return most;
}
