/* Before anything is changed: what a drill is asked for, whether it can be done, and whether all of the target would come
 * back. */
#include "base/document.h"
#include "base/log.h"
#include "base/text.h"
#include "catalog/places.h"
#include "catalog/store/store_mongo.h"
#include "format/filter.h"
#include "load/before/describe_input.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/server_errors.h"
#include "study/drill/drill_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void drill_spec_init(drill_spec_t *spec) {
    *spec = (drill_spec_t){.scale = 0};
    load_spec_init(&spec->load);
}

/* The target is dropped only if the user has written its name a second time. */
static bool check_drop(const drilling_t *drilling, err_t *err) {
    const char *drop = drilling->spec->drop;
    address_t address;
    if (!address_parse(&address, drilling->spec->load.uri, err))
        return false;
    const bool ok =
        !drop || strcmp(drop, address.name) == 0 ||
        err_set(err, STATUS_USAGE,
                "--drop %.200s: the URI names %s. Only a collection named twice is dropped, or a scratch one "
                "(leave --drop out): nothing was touched",
                drop, address.name);
    address_free(&address);
    return ok;
}

static bool keep_filter(drilling_t *drilling, const schema_t *schema, err_t *err) {
    const load_spec_t *load = &drilling->spec->load;
    filter_t *filter =
        load->filter_count ? filter_parse(schema, load->filters, load->filter_count, err) : NULL;
    if (load->filter_count && !filter)
        return false;
    drilling->filter = strdup(filter ? filter_text(filter) : "");
    filter_free(filter);
    return drilling->filter || err_memory(err, 1);
}

bool drill_check_spec(drilling_t *drilling, err_t *err) {
    const load_spec_t *load = &drilling->spec->load;
    drill_result_t *result = drilling->result;
    if (!check_drop(drilling, err))
        return false;
    schema_t *schema =
        supplies_find_format(load, "a drill reads again what it has loaded", &drilling->guessed, err);
    bool ok = schema && keep_filter(drilling, schema, err);
    if (schema) {
        snprintf(result->format, sizeof result->format, "%s", schema->name);
        memcpy(drilling->digest, schema->digest, sizeof drilling->digest);
    }
    schema_destroy(schema);
    return ok && first_query_choose(drilling->spec->query, result->format, &result->query, err);
}

static bool refuse(const drilling_t *drilling, const char *what, const char *which, const char *why,
                   err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "%s %s %.200s%s. Nothing was touched; drill in scratch (leave --drop out)",
                   drilling->result->namespace, what, which, why);
}

/* That of the `_id` comes with the collection. One that removes documents by their age is not made; nor is one too many. */
static void take_index(drill_result_t *result, const bson_t *listed, char other[160]) {
    const char *name = bson_read_text(listed, "name");
    bson_t index = BSON_INITIALIZER;
    if (strcmp(name, "_id_") == 0 || bson_has_field(listed, "clustered"))
        return;
    bson_copy_to_excluding_noinit(listed, &index, "v", NULL);
    if (result->index_count < DRILL_MOST_INDEXES && !bson_has_field(listed, "expireAfterSeconds"))
        result->indexes[result->index_count++] = ejson_print(&index, true, NULL);
    else
        snprintf(other, 160, "%s", name);
    bson_destroy(&index);
}

/* A dropped target gets back the indexes that it has, unless others are named. */
static bool take_indexes(drilling_t *drilling, err_t *err) {
    const drill_spec_t *spec = drilling->spec;
    drill_result_t *result = drilling->result;
    char other[160] = "";
    bson_t reply, index;
    bson_iter_t at;
    const bool ok = collection_ask_indexes(drilling->target, drilling->client, &reply, err) ||
                    server_code(&reply) == CODE_NAMESPACE_NOT_FOUND;
    if (ok && bson_read_batch(&reply, &at))
        while (bson_read_next(&at, &index))
            take_index(result, &index, other);
    bson_destroy(&reply);
    if (ok && *other && spec->drop && !spec->load.index_count)
        return refuse(drilling, "has an index that a drill does not make again:", other,
                      ", which would be gone", err);
    if (*other)
        log_warn("%s has an index that a drill does not make (%s): it is without that one", result->namespace,
                 other);
    if (!spec->load.index_count) {
        result->load.indexes = result->indexes;
        result->load.index_count = result->index_count;
    }
    return ok;
}

/* Would the same documents come back? */
static bool comes_back(const drilling_t *drilling, const catalog_header_t *header, err_t *err) {
    const char *filter = header->filter ? header->filter : "", *other = NULL;
    if (header->appends)
        other = "--append";
    else if (header->id && *header->id && strcmp(header->id, "_id") != 0) /* that is the data's own */
        other = "--id";
    else if (header->existing)
        other = "--existing";
    else if (header->format && strcmp(filter, drilling->filter) != 0)
        other = *filter ? "--filter" : "no --filter";
    else if (header->format_digest && strcmp(header->format_digest, drilling->digest) != 0)
        other = "another format";
    return !other ||
           refuse(drilling, "was loaded with", other, ": a drill would not make the same documents", err);
}

/* Are all inputs whose documents are there among those that are loaded again? */
static bool comes_back_whole(const drilling_t *drilling, store_t *store, err_t *err) {
    const load_spec_t *load = &drilling->spec->load;
    const manifest_options_t options = {.input_name = NULL};
    const char *name = drilling->result->namespace;
    registration_t known = {.count = 0};
    places_t *places = NULL;
    manifest_t manifest;
    if (!manifest_build(&manifest, load->inputs, load->input_count, &options, err))
        return false;
    bool ok = describe_known(store, &manifest, name, false, &known, err) &&
              (places = places_read(store, err)) != NULL;
    size_t named = 0;
    for (size_t i = 0; ok && i < known.count; i++)
        named += known.wanted[i].entry.piece_count > 0;
    const size_t lost = ok ? places_inputs(places) - named : 0;
    if (lost)
        ok = err_set(
            err, STATUS_USAGE,
            "%zu of the %zu inputs that were loaded into %s %s not named here: %s documents would not "
            "come back (`tipple status --inputs` lists all). Nothing was touched; name all of them, or "
            "drill in scratch (leave --drop out)",
            lost, lost + named, name, lost == 1 ? "is" : "are", lost == 1 ? "its" : "their");
    places_free(places);
    register_free(&known);
    free(known.wanted);
    manifest_free(&manifest);
    return ok;
}

static bool check_catalog(const drilling_t *drilling, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    store_t *store = store_mongo_open(drilling->target, drilling->client, err);
    const bool ok = store && store->read_header(store, &header, &found, err) &&
                    (!found || comes_back(drilling, &header, err)) && comes_back_whole(drilling, store, err);
    catalog_header_free(&header);
    store_mongo_close(store);
    return ok;
}

/* A drill that is killed cannot say how the collection was that it has taken away. */
static void tell_settings(const drilling_t *drilling) {
    const load_spec_t *given = &drilling->spec->load, *load = &drilling->result->load;
    text_t line = {.length = 0};
    err_t ignored;
    if (load->create != given->create)
        shell_quote_option(&line, "--create", load->create);
    if (load->shard_key != given->shard_key)
        shell_quote_option(&line, "--shard-key", load->shard_key);
    for (size_t i = 0; !given->index_count && i < load->index_count; i++)
        shell_quote_option(&line, "--index", load->indexes[i]);
    char *options = text_take(&line, &ignored);
    if (drilling->spec->drop && options && *options)
        log_note("%s is made again as it is. If this drill is killed, give this to the next one, too:%s",
                 drilling->result->namespace, options);
    free(options);
}

bool drill_open_target(drilling_t *drilling, err_t *err) {
    const drill_spec_t *spec = drilling->spec;
    drill_result_t *result = drilling->result;
    const server_options_t options = {
        .uri = spec->load.uri, .patience_ns = spec->load.patience_ns, .connections = 2};
    result->load = spec->load;
    result->load.guessed = drilling->guessed;
    if (!(drilling->target = server_connect(&options, err)) ||
        !(drilling->client = server_take(drilling->target, err)))
        return false;
    const server_facts_t *facts = server_facts(drilling->target);
    snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(drilling->target));
    snprintf(result->where, sizeof result->where, "%s", server_where(drilling->target));
    snprintf(result->version, sizeof result->version, "%s", facts->version);
    snprintf(result->collection, sizeof result->collection, "%s", result->namespace);
    result->cluster = facts->kind == SERVER_ROUTER;
    const bool ok =
        supplies_like_target(drilling->target, drilling->client, &result->load, &result->of_target, err) &&
        take_indexes(drilling, err) && (!spec->drop || check_catalog(drilling, err));
    if (ok)
        tell_settings(drilling);
    return ok;
}
