#include "query/measure.h"
#include "base/chars.h"
#include "base/document.h"
#include "base/stop.h"
#include "base/text.h"
#include "query/suite/answer.h"
#include "query/suite/send.h"
#include "query/suite/value.h"
#include "server/bson_read.h"
#include "server/server.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { MOST_DRAWN = 10000, MOST_SENT_BYTES = 256 << 20, PARAMS_MOST_BYTES = 64 << 20 };

/* ---- the parameters of a suite, as they are there and as --param says ---- */

/* Each name once, in the order of the suite. */
typedef struct {
    const char **names;
    size_t count, room;
} names_t;

static bool has_name(const names_t *known, const char *name) {
    for (size_t i = 0; i < known->count; i++)
        if (strcmp(known->names[i], name) == 0)
            return true;
    return false;
}

static bool add_names(names_t *known, const yaml_item_t *map, err_t *err) {
    for (const yaml_item_t *item = map ? map->first : NULL; item; item = item->next) {
        if (has_name(known, item->key))
            continue;
        if (!GROW(known->names, known->room, known->count + 1, err))
            return false;
        known->names[known->count++] = item->key;
    }
    return true;
}

/* Does a query run with each of several values of it? */
static bool is_each(const suite_t *suite, const char *name) {
    for (size_t i = 0; i < suite->query_count; i++)
        if (suite->queries[i].each && yaml_item_get(suite->queries[i].each, name))
            return true;
    return false;
}

static bool read_one(bson_t *typed, const suite_t *suite, const names_t *known, const char *text,
                     err_t *err) {
    const char *equals = strchr(text, '=');
    bson_iter_t before;
    char name[128];
    if (!equals || equals == text || equals - text >= (ptrdiff_t)sizeof name)
        return err_set(err, STATUS_USAGE, "--param: '%s' is not NAME=VALUE, such as n=1000", text);
    snprintf(name, sizeof name, "%.*s", (int)(equals - text), text);
    if (!has_name(known, name))
        return err_set(err, STATUS_USAGE, "--param: the suite %s has no parameter '%s'%s", suite->name, name,
                       suggestion(name, known->names, known->count).text);
    if (bson_iter_init_find(&before, typed, name))
        return is_each(suite, name)
                   ? err_set(err, STATUS_USAGE,
                             "--param: '%s' is given twice; several values are a list, such as %s=[10, 100]",
                             name, name)
                   : err_set(err, STATUS_USAGE, "--param: '%s' is given twice, and it has one value", name);
    return value_parse(typed, name, equals + 1, err) || err_where(err, "--param");
}

/* Parses "n=1000": the value replaces the suite's own parameter, or an `each` list. */
static bool params_read(bson_t *typed, const suite_t *suite, char *const *texts, size_t text_count,
                        err_t *err) {
    names_t known = {.count = 0};
    bool ok = add_names(&known, suite->params, err);
    for (size_t i = 0; ok && i < suite->query_count; i++)
        ok = add_names(&known, suite->queries[i].each, err);
    for (size_t i = 0; ok && i < text_count; i++)
        ok = read_one(typed, suite, &known, texts[i], err);
    free(known.names);
    return ok;
}

/* All parameters of the suite, without those of `each`. */
static bool params_of_suite(bson_t *params, const suite_t *suite, const bson_t *typed, err_t *err) {
    for (const yaml_item_t *item = suite->params ? suite->params->first : NULL; item; item = item->next) {
        bson_iter_t given;
        if (bson_iter_init_find(&given, typed, item->key))
            bson_append_iter(params, item->key, -1, &given);
        else if (!value_append(params, item->key, item, suite->tree, NULL, err))
            return false;
    }
    return true;
}

/* A label that is safe to show; for bson_free. */
static char *params_label(const char *text) {
    char *open = text_concealed(text);
    const size_t length = strlen(open), room = 4 * length + 1;
    char *shown = bson_malloc(room);
    escape_text(shown, room, open, length);
    free(open);
    return shown;
}

typedef struct {
    const yaml_tree_t *tree;
    const bson_t *typed;  /* see params_read */
    const bson_t *params; /* all others, which the values may contain */
    err_t *err;
} params_t;

/* A value as relaxed Extended JSON. NULL: it cannot be written. free. */
static char *json_of(const bson_iter_t *value) {
    enum { BEFORE = sizeof "{ \"v\" : " - 1, AFTER = sizeof " }" - 1 };
    bson_t holder = BSON_INITIALIZER;
    size_t length;
    element_append(&holder, "v", value);
    char *json = ejson_print(&holder, true, &length);
    bson_destroy(&holder);
    if (json) {
        memmove(json, json + BEFORE, length - BEFORE - AFTER);
        json[length - BEFORE - AFTER] = '\0';
    }
    return json;
}

/* Appends one value, under the name that it has in the suite; if it has none, under its text. */
static bool append_value(bson_t *values, const params_t *given, const yaml_item_t *item,
                         const bson_iter_t *value, const char *name) {
    char *json = json_of(value);
    const char *written = BSON_ITER_HOLDS_UTF8(value) ? bson_iter_utf8(value, NULL) : json ? json : "";
    char *label = params_label(name ? name : written);
    bson_iter_t same; /* bson_has_field looks for "a.b" in documents as well */
    bool ok = !bson_iter_init_find(&same, values, label) ||
              yaml_tree_complain(given->tree, item, given->err,
                                 "two values of '%.60s' are called '%.90s'; give them names: {NAME: VALUE}",
                                 item->key, label);
    if (ok && !(bson_append_iter(values, label, -1, value) && values->len <= PARAMS_MOST_BYTES))
        ok = yaml_tree_complain(given->tree, item, given->err,
                                "the values of '%.60s' take more than %d MB together", item->key,
                                PARAMS_MOST_BYTES >> 20);
    free(json);
    bson_free(label);
    return ok;
}

/* Takes what was typed instead of an `each`: a value or a list. Each item may also be the name of a value. */
static bool typed_values(bson_t *values, const params_t *given, const yaml_item_t *item, bson_iter_t at) {
    bson_t read = BSON_INITIALIZER;
    bson_iter_t value;
    bool many = BSON_ITER_HOLDS_ARRAY(&at), ok = true;
    if (many && !(bson_iter_recurse(&at, &at) && bson_iter_next(&at)))
        ok = err_set(given->err, STATUS_USAGE, "--param: '%s' has no values", item->key);
    while (ok) {
        const yaml_item_t *named = item->kind == YAML_ITEM_MAP && BSON_ITER_HOLDS_UTF8(&at)
                                       ? yaml_item_get(item, bson_iter_utf8(&at, NULL))
                                       : NULL;
        if (named) {
            bson_reinit(&read);
            ok = value_append(&read, "v", named, given->tree, given->params, given->err) &&
                 bson_iter_init_find(&value, &read, "v");
        }
        ok = ok && append_value(values, given, item, named ? &value : &at, named ? named->key : NULL);
        if (!many || !bson_iter_next(&at))
            break;
    }
    bson_destroy(&read);
    return ok;
}

/* {NAME: value, ...}: all values of an `each`, PARAMS_MOST_BYTES at most. */
static bool params_each(bson_t *values, const params_t *given, const yaml_item_t *item) {
    bson_t read = BSON_INITIALIZER;
    bson_iter_t at, value;
    bool ok = true;
    if (bson_iter_init_find(&at, given->typed, item->key))
        return typed_values(values, given, item, at);
    for (const yaml_item_t *node = item->first; ok && node; node = node->next) {
        bson_reinit(&read);
        ok = value_append(&read, "v", node, given->tree, given->params, given->err) &&
             bson_iter_init_find(&value, &read, "v") &&
             append_value(values, given, item, &value, item->kind == YAML_ITEM_MAP ? node->key : NULL);
    }
    bson_destroy(&read);
    return ok;
}

/* How many they are, in the suite or as typed. */
static uint64_t params_each_count(const bson_t *typed, const yaml_item_t *item) {
    bson_iter_t given, value;
    uint64_t count = 0;
    if (!bson_iter_init_find(&given, typed, item->key))
        return item->count;
    if (!BSON_ITER_HOLDS_ARRAY(&given))
        return 1;
    for (bson_iter_recurse(&given, &value); bson_iter_next(&value);)
        count++;
    return count;
}

/* ---- what is asked ---- */

/* A digest by which a later run knows that it asks the same: of the query with its parameters filled in, without how it is
 * sent. What is drawn by chance is not part of it, but how it is drawn. */
static bool question_digest(const query_t *query, const suite_t *suite, const bson_t *params,
                            char digest[QUESTION_DIGEST], err_t *err) {
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
        ok = i ? value_document(&filled, nodes[i], suite->tree, &all, err)
               : suite_fill(&filled, suite, query, &all, err);
        XXH128_canonicalFromHash(&parts[i], XXH3_128bits(bson_get_data(&filled), filled.len));
        bson_destroy(&filled);
    }
    XXH128_canonicalFromHash(&parts[NODES], XXH3_128bits(collection, strlen(collection)));
    const XXH128_hash_t hash = XXH3_128bits(parts, sizeof parts);
    snprintf(digest, QUESTION_DIGEST, "%016" PRIx64 "%016" PRIx64, hash.high64, hash.low64);
    bson_destroy(&all);
    return ok;
}

/* ---- the combinations of `each` ---- */

typedef struct {
    measures_t *list;
    mongoc_client_t *client;
    const choices_t *choices;
    const query_t *query;
    const bson_t *typed;
    double all_documents;
    uint64_t requests;     /* how many were drawn so far */
    uint64_t sent_bytes;   /* of all requests and expectations */
    size_t combined_bytes; /* of the parameters of the combination that is being made */
    bson_t *drawn_by;      /* the pipeline that was drawn from last */
    answer_t drawn;
    err_t *err;
} maker_t;

static bool make_works(maker_t *maker, const bson_t *params, const bson_t *each, const char *with);

static bool __attribute__((format(printf, 3, 4)))
complain(const maker_t *maker, const yaml_item_t *at, const char *fmt, ...) {
    char words[400];
    va_list args;
    va_start(args, fmt);
    vsnprintf(words, sizeof words, fmt, args);
    va_end(args);
    return yaml_tree_complain(maker->list->suite->tree, at, maker->err, "%s", words);
}

static bool combine(maker_t *maker, const yaml_item_t *item, const bson_t *params, const bson_t *each,
                    const char *with) {
    bson_iter_t value;
    bson_t values = BSON_INITIALIZER;
    if (!item)
        return make_works(maker, params, each, with);
    char *name = params_label(item->key);
    const params_t given = {
        .tree = maker->list->suite->tree, .typed = maker->typed, .params = params, .err = maker->err};
    bool ok = params_each(&values, &given, item) && bson_iter_init(&value, &values);
    const size_t before = maker->combined_bytes;
    while (ok && bson_iter_next(&value)) {
        bson_t more, more_each;
        char longer[WITH_ROOM];
        bson_copy_to(params, &more);
        bson_copy_to(each, &more_each);
        bson_append_iter(&more, item->key, -1, &value);
        bson_append_utf8(&more_each, item->key, -1, bson_iter_key(&value), -1);
        maker->combined_bytes = before + values.len + more.len;
        const int length =
            snprintf(longer, sizeof longer, "%s%s%s=%s", with, *with ? " " : "", name, bson_iter_key(&value));
        ok = maker->combined_bytes > PARAMS_MOST_BYTES
                 ? complain(maker, item, "the values of 'each' take more than %d MB together",
                            PARAMS_MOST_BYTES >> 20)
             : length < WITH_ROOM
                 ? combine(maker, item->next, &more, &more_each, longer)
                 : complain(maker, item,
                            "a measurement cannot be called '%.90s...', which has more than %d "
                            "bytes; give the values names: {NAME: VALUE}",
                            longer, WITH_ROOM - 1);
        bson_destroy(&more);
        bson_destroy(&more_each);
    }
    maker->combined_bytes = before;
    bson_free(name);
    bson_destroy(&values);
    return ok;
}

/* ---- drawing ---- */

static bool failed(const maker_t *maker, const bson_error_t *error, const char *doing) {
    char words[300];
    snprintf(words, sizeof words, "%s of the query '%s'", doing, maker->query->name);
    return refusal_explain(server_address(maker->list->server), error, NULL, words, maker->err);
}

/* Keeps of a drawn document what the query's `gives` names. */
static bool keep_drawn(maker_t *maker, const bson_t *document) {
    const suite_t *suite = maker->list->suite;
    const yaml_item_t *at = maker->query->draw;
    bson_t given = BSON_INITIALIZER;
    bool ok = true;
    for (size_t i = 0; ok && suite_given(maker->query, i); i++) {
        const char *name = suite_given(maker->query, i);
        bson_iter_t value; /* bson_has_field looks for "a.b" in documents as well */
        ok = bson_iter_init_find(&value, document, name) ||
             yaml_tree_complain(suite->tree, at, maker->err, "what is drawn has no field '%s'", name);
        if (ok)
            bson_append_iter(&given, name, -1, &value);
    }
    if (ok)
        answer_take(&maker->drawn, &given);
    bson_destroy(&given);
    return ok &&
           (!maker->drawn.more ||
            yaml_tree_complain(suite->tree, at, maker->err,
                               "what the query '%s' draws takes more than %zu MB: draw fewer documents, or "
                               "smaller values",
                               maker->query->name, maker->drawn.most_bytes >> 20));
}

/* The documents from which a query draws its parameters: {"0": ..., ...}, all that were counted. Combinations with the
 * same pipeline get the same documents. */
static bool draw(maker_t *maker, const bson_t *params) {
    answer_t *drawn = &maker->drawn;
    const suite_t *suite = maker->list->suite;
    const query_t *query = maker->query;
    const char *collection = query->collection ? query->collection : server_collection(maker->list->server);
    bson_t pipeline, options = BSON_INITIALIZER;
    bson_error_t error;
    bson_append_bool(&options, "allowDiskUse", -1, true);
    const yaml_item_t *list = yaml_item_get(query->draw, "pipeline");
    bool ok = value_document(&pipeline, list, suite->tree, params, maker->err) &&
              reading_check(&pipeline, true, suite->tree, list, maker->err);
    if (ok && drawn->keep && maker->drawn_by && bson_equal(&pipeline, maker->drawn_by)) {
        bson_destroy(&pipeline);
        bson_destroy(&options);
        return true;
    }
    command_cursor_t cursor = {.open = false};
    if (ok)
        aggregate_begin(&cursor, maker->client, server_database(maker->list->server), collection, &pipeline,
                        &options, NULL);
    const bson_t *document, *reply;
    answer_end(drawn);
    answer_begin(drawn, true);
    while (ok && drawn->count < MOST_DRAWN && command_cursor_next(&cursor, &document))
        ok = keep_drawn(maker, document) &&
             (!stop_signal() ||
              err_set(maker->err, (status_t)(128 + stop_signal()), "interrupted; nothing was measured"));
    if (command_cursor_failed(&cursor, &error, &reply) && ok)
        ok = failed(maker, &error, "draw the parameters");
    command_cursor_end(&cursor);
    if (ok && !drawn->count)
        ok = yaml_tree_complain(
            suite->tree, query->draw, maker->err,
            "the query '%s' finds nothing to draw from in %s.%s: is it the collection it was made for?",
            query->name, server_database(maker->list->server), collection);
    bson_destroy(maker->drawn_by);
    maker->drawn_by = bson_copy(&pipeline);
    bson_destroy(&pipeline);
    bson_destroy(&options);
    if (!ok)
        answer_end(drawn);
    return ok;
}

static bool count_sent(maker_t *maker, uint64_t bytes) {
    return (maker->sent_bytes += bytes) <= MOST_SENT_BYTES ||
           complain(
               maker, maker->query->at,
               "the requests of all measurements together take more than %d MB; leave some values out, or "
               "choose queries by name",
               MOST_SENT_BYTES >> 20);
}

static bool build(maker_t *maker, request_t *request, const bson_t *params, const reads_t *reads) {
    if (!request_build(request, maker->list->suite, maker->query, server_database(maker->list->server),
                       server_collection(maker->list->server), params, reads, maker->err))
        return false;
    if (maker->choices->first)
        request_limit(request, maker->choices->first);
    return count_sent(maker, (uint64_t)request->body->len + request->options->len);
}

static bool build_drawn(maker_t *maker, work_t *work, const bson_t *params, const answer_t *drawn,
                        const reads_t *reads) {
    bson_iter_t at, fields;
    if ((maker->requests += drawn->count) > MEASURE_MOST_REQUESTS)
        return complain(maker, maker->query->draw,
                        "more than %d requests would be drawn for all measurements together; draw fewer, or "
                        "measure fewer values of 'each'",
                        MEASURE_MOST_REQUESTS);
    if (!(work->requests = calloc(drawn->count, sizeof *work->requests)))
        return err_memory(maker->err, drawn->count * sizeof *work->requests);
    bool ok = bson_iter_init(&at, drawn->documents);
    while (ok && bson_iter_next(&at)) {
        bson_t all;
        bson_copy_to(params, &all);
        ok = bson_iter_recurse(&at, &fields);
        while (ok && bson_iter_next(&fields))
            bson_append_iter(&all, NULL, 0, &fields);
        ok = ok && build(maker, &work->requests[work->count++], &all, reads);
        bson_destroy(&all);
    }
    return ok;
}

/* ---- works and measurements ---- */

typedef struct {
    const uint32_t *clients;
    size_t count;
} clients_choice_t;

static clients_choice_t clients_of(const choices_t *choices, const query_t *query) {
    return choices->query_clients && query->run.client_choices
               ? (clients_choice_t){query->run.clients, query->run.client_choices}
               : (clients_choice_t){choices->clients, choices->client_choices};
}

static bool make_measures(maker_t *maker, size_t work, bool timed) {
    measures_t *list = maker->list;
    const clients_choice_t chosen = clients_of(maker->choices, maker->query);
    for (size_t i = 0; i < chosen.count; i++) {
        if (!GROW(list->items, list->room, list->count + 1, maker->err))
            return false;
        measure_t *measure = &list->items[list->count++];
        /* an index, until the array of works no longer moves */
        *measure = (measure_t){.work = (const work_t *)(uintptr_t)work}; // NOLINT(performance-no-int-to-ptr)
        measure->clients = chosen.clients[i];
        measure->timed = timed;
        measure->keeps = maker->choices->answers || list->works[work].expected;
    }
    return true;
}

/* Filled in now, so that mistakes show before anything is measured. */
static bool fill_expected(maker_t *maker, work_t *work, const bson_t *params) {
    const yaml_item_t *expect = maker->query->expect;
    const yaml_tree_t *tree = maker->list->suite->tree;
    bson_t filled;
    if (!expect)
        return true;
    bool ok = value_document(&filled, expect, tree, params, maker->err) &&
              expected_sane(&filled, true, expect, tree, maker->err) && count_sent(maker, filled.len);
    work->expected = bson_copy(&filled);
    bson_destroy(&filled);
    return ok;
}

static bool make_work(maker_t *maker, const bson_t *params, const bson_t *each, const char *with,
                      const answer_t *drawn, const char *mode) {
    measures_t *list = maker->list;
    const reads_t reads = {mode, mongoc_client_get_read_prefs(maker->client)};
    if (!GROW(list->works, list->work_room, list->work_count + 1, maker->err))
        return false;
    work_t *work = &list->works[list->work_count];
    *work = (work_t){.query = maker->query, .reads = mode, .all_documents = maker->all_documents};
    snprintf(work->with, sizeof work->with, "%s", with);
    work->each = bson_copy(each);
    list->work_count++;
    if (!fill_expected(maker, work, params) ||
        !question_digest(maker->query, list->suite, params, work->question, maker->err))
        return false;
    if (drawn) {
        if (!build_drawn(maker, work, params, drawn, &reads))
            return false;
    } else {
        if (!(work->requests = calloc(1, sizeof *work->requests)))
            return err_memory(maker->err, sizeof *work->requests);
        work->count = 1;
        if (!build(maker, work->requests, params, &reads))
            return false;
    }
    return make_measures(maker, list->work_count - 1, drawn || maker->choices->timed);
}

static bool make_works(maker_t *maker, const bson_t *params, const bson_t *each, const char *with) {
    const choices_t *choices = maker->choices;
    const bool draws = maker->query->draw;
    bool ok = !draws || draw(maker, params);
    for (size_t r = 0; ok && r < (choices->reads_choices ? choices->reads_choices : 1); r++)
        ok = make_work(maker, params, each, with, draws ? &maker->drawn : NULL,
                       choices->reads_choices ? choices->reads[r] : NULL);
    return ok;
}

/* ---- preparing ---- */

static bool is_chosen(const query_t *query, const choices_t *choices) {
    bool chosen = !choices->query_count;
    for (size_t i = 0; i < choices->query_count; i++)
        chosen = chosen || suite_has_tag(query, choices->queries[i]);
    return chosen;
}

/* A standalone answers whatever read preference is asked for, and the table would then call it a secondary. */
static bool check_reads(const server_t *server, const choices_t *choices, err_t *err) {
    return server_facts(server)->kind != SERVER_STANDALONE || !choices->reads_choices ||
           err_set(err, STATUS_USAGE,
                   "--read-preference needs a replica set or a router; %s is a standalone, which has no "
                   "secondaries",
                   server_where(server));
}

/* Each word must name something. */
static bool check_words(const suite_t *suite, const choices_t *choices, err_t *err) {
    const char *names[128];
    size_t count = 0;
    for (size_t i = 0; i < suite->query_count && count < 128; i++)
        names[count++] = suite->queries[i].name;
    for (size_t i = 0; i < choices->query_count; i++) {
        if (suite_knows(suite, choices->queries[i]))
            continue;
        const char *near = suggest_word(choices->queries[i], names, count);
        return err_set(err, STATUS_USAGE, "the suite %s has no query or tag '%s'%s%s%s", suite->name,
                       choices->queries[i],
                       near ? "; did you mean '" : "; `tipple query --show SUITE` prints them",
                       near ? near : "", near ? "'?" : "");
    }
    return true;
}

static bool count_documents(maker_t *maker, const char *collection) {
    watch_storage_t storage;
    if (!watch_storage(maker->list->server, maker->client, collection, &storage, maker->err))
        return false;
    maker->all_documents = storage.documents;
    if (!(storage.documents <= 0)) /* `!(...)`: NAN for a view */
        return true;
    return err_set(maker->err, STATUS_USAGE,
                   "%s.%s has no documents: load it first, or name the collection in the URI",
                   server_database(maker->list->server), collection);
}

/* Called before any combination is made. */
static bool check_count(const maker_t *maker) {
    const query_t *query = maker->query;
    const choices_t *choices = maker->choices;
    uint64_t count = clients_of(choices, query).count * (choices->reads_choices ? choices->reads_choices : 1);
    for (const yaml_item_t *item = query->each ? query->each->first : NULL; item; item = item->next)
        if ((count *= params_each_count(maker->typed, item)) > MEASURE_MOST)
            break;
    return maker->list->count + count <= MEASURE_MOST ||
           complain(maker, query->each ? query->each : query->at,
                    "this would be more than %d measurements (values x clients x reads): shorten a list, or "
                    "choose queries by name",
                    MEASURE_MOST);
}

static bool prepare_query(maker_t *maker, const bson_t *params) {
    const query_t *query = maker->query;
    bson_t none = BSON_INITIALIZER;
    bool ok = check_count(maker) &&
              count_documents(maker,
                              query->collection ? query->collection : server_collection(maker->list->server));
    ok = ok &&
         indexes_check(maker->list->suite, query, maker->list->server, maker->client, maker->choices->setup,
                       maker->err) &&
         combine(maker, query->each ? query->each->first : NULL, params, &none, "");
    bson_destroy(&none);
    return ok;
}

bool measure_prepare(measures_t *list, suite_t *suite, server_t *server, mongoc_client_t *client,
                     const choices_t *choices, err_t *err) {
    bson_t typed = BSON_INITIALIZER, params = BSON_INITIALIZER;
    maker_t maker = {.list = list, .client = client, .choices = choices, .typed = &typed, .err = err};
    *list = (measures_t){.suite = suite, .server = server};
    bool ok = check_words(suite, choices, err) && check_reads(server, choices, err) &&
              params_read(&typed, suite, choices->params, choices->param_count, err) &&
              params_of_suite(&params, suite, &typed, err);
    for (size_t i = 0; ok && i < suite->query_count; i++) {
        maker.query = &suite->queries[i];
        answer_end(&maker.drawn);
        if (is_chosen(maker.query, choices))
            ok = prepare_query(&maker, &params);
    }
    for (size_t i = 0; i < list->count; i++) {
        list->items[i].work = &list->works[(uintptr_t)list->items[i].work];
        if (!(list->items[i].hist = calloc(1, sizeof(hist_t))) && ok)
            ok = err_memory(err, sizeof(hist_t));
    }
    for (; choices->most && list->count > choices->most; list->count--)
        free(list->items[list->count - 1].hist);
    answer_end(&maker.drawn);
    bson_destroy(maker.drawn_by);
    bson_destroy(&typed);
    bson_destroy(&params);
    return ok;
}

void measure_settle(measures_t *list, measure_t *measure, bool wanted) {
    answer_t *answer = &measure->answer;
    if (measure->work->expected)
        expected_check(measure->work->expected, answer, measure->difference, sizeof measure->difference);
    if (!wanted || !answer->keep) {
        answer_end(answer);
        return;
    }
    expected_digest(answer->documents, measure->digest);
    if (list->kept_bytes + answer->documents->len > MEASURE_MOST_ANSWERS)
        answer_drop(answer);
    else
        list->kept_bytes += answer->documents->len;
}

void measure_free(measures_t *list) {
    for (size_t i = 0; i < list->count; i++) {
        answer_end(&list->items[i].answer);
        free(list->items[i].hist);
    }
    for (size_t i = 0; i < list->work_count; i++) {
        work_t *work = &list->works[i];
        for (size_t k = 0; k < work->count; k++)
            request_free(&work->requests[k]);
        free(work->requests);
        bson_destroy(work->each);
        bson_destroy(work->expected);
    }
    free(list->works);
    free(list->items);
    *list = (measures_t){.count = 0};
}

bool measure_of_nothing(const measure_t *measure) {
    return measure->empty && measure->empty == measure->hist->moments.count;
}

uint32_t measure_connections(const suite_t *suite, const choices_t *choices) {
    uint32_t clients = 1;
    for (size_t i = 0; i < suite->query_count; i++)
        for (size_t k = 0; choices->query_clients && k < suite->queries[i].run.client_choices; k++)
            clients = suite->queries[i].run.clients[k] > clients ? suite->queries[i].run.clients[k] : clients;
    for (size_t i = 0; i < choices->client_choices; i++)
        clients = choices->clients[i] > clients ? choices->clients[i] : clients;
    return clients + 2;
}
