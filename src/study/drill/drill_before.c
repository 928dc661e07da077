/* Before anything is changed: what a drill is asked for, whether it can be done, and whether all of the target would come
 * back. */
#include "base/log.h"
#include "base/shell_word.h"
#include "base/text.h"
#include "catalog/places.h"
#include "catalog/store/store_mongo.h"
#include "format/filter.h"
#include "load/before/describe_input.h"
#include "server/presplit/balancer.h"
#include "server/presplit/zones.h"
#include "study/choices.h"
#include "study/drill/drill_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void drill_spec_init(drill_spec_t *spec) {
    *spec = (drill_spec_t){.indexes = DRILL_AFTER};
    load_spec_init(&spec->load);
}

const char *drill_indexes_name(drill_indexes_t indexes) {
    static const char *const names[] = {
        [DRILL_AFTER] = "after", [DRILL_BEFORE] = "before", [DRILL_BOTH] = "both"};
    return names[indexes];
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

/* A load would also find out, but only after the target was dropped. */
static bool check_indexes(const load_spec_t *load, err_t *err) {
    for (size_t i = 0; i < load->index_count; i++) {
        index_spec_t index;
        if (!collection_parse_index(load->indexes[i], &index, err))
            return err_where(err, "--index");
        collection_free_index(&index);
    }
    return true;
}

static bool check_cluster(const drilling_t *drilling, err_t *err) {
    const load_spec_t *load = &drilling->spec->load;
    return drilling->result->cluster || (!load->shard_key && !load->direct) ||
           err_set(err, STATUS_USAGE, "%s goes with a sharded cluster; %s is none",
                   load->direct ? "--direct" : "--shard-key", drilling->result->where);
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
    size_t files;
    if (!check_drop(drilling, err) || !check_indexes(load, err) ||
        !(drilling->scratch_uri = scratch_uri(load->uri, SCRATCH_DRILL, 0, NULL, NULL, err)) ||
        !supplies_check_files(load, "a drill reads again what it has loaded", &files, err))
        return false;
    schema_t *schema = supplies_find_format(load, &drilling->guessed, err);
    bool ok = schema && keep_filter(drilling, schema, err);
    if (schema) {
        snprintf(result->format, sizeof result->format, "%s", schema->name);
        memcpy(drilling->digest, schema->digest, sizeof drilling->digest);
    }
    schema_destroy(schema);
    return ok && first_query_choose(drilling->spec->query, result->format, &result->query, err);
}

/* A dropped target gets back the indexes that it has, unless others are named. */
static bool take_indexes(drilling_t *drilling, err_t *err) {
    const drill_spec_t *spec = drilling->spec;
    drill_result_t *result = drilling->result;
    present_indexes_t *own = &result->indexes;
    if (!present_indexes_read(drilling->target, drilling->client, own, err))
        return false;
    if (own->other[0] && spec->drop && !spec->load.index_count)
        return err_set(err, STATUS_USAGE,
                       "%s has an index that a drill does not make again (%s): it would be gone. Nothing was "
                       "touched; name the indexes to build with --index, and make the others yourself",
                       result->namespace, own->other);
    if (own->other[0])
        log_warn("%s has an index that a drill does not make (%s): it is without that one", result->namespace,
                 own->other);
    if (!spec->load.index_count) {
        result->load.indexes = own->texts;
        result->load.index_count = own->count;
    }
    return spec->indexes == DRILL_AFTER || result->load.index_count ||
           err_set(err, STATUS_USAGE, "--indexes %s: %s has none; name them with --index",
                   drill_indexes_name(spec->indexes), result->namespace);
}

static bool nothing_of_a_person(drilling_t *drilling, err_t *err) {
    const char *name = drilling->result->namespace;
    zones_t zones;
    balancer_t hold = BALANCER_ON;
    bool ok = zones_read(drilling->target, drilling->client, NULL, &zones, err) &&
              zones_may_drop(drilling->target, drilling->client, &zones, err) &&
              (!zones.unbalanced || balancer_look(drilling->target, drilling->client, &hold, NULL, err));
    if (ok && zones.others)
        ok = err_set(
            err, STATUS_USAGE,
            "%s has zones that a person has set (%zu range%s, such as %s): a drop takes them away. Nothing "
            "was touched; drill in scratch (leave --drop out), or take them away and put them back yourself",
            name, zones.others, zones.others == 1 ? "" : "s", zones.other);
    else if (ok && (hold == BALANCER_PERSONS || hold == BALANCER_IN_DOUBT))
        ok = err_set(
            err, STATUS_USAGE,
            "the balancing of %s was turned off by a person: a drop turns it on. Nothing was touched; drill "
            "in scratch (leave --drop out), or turn it on (sh.enableBalancing) and off again yourself",
            name);
    zones_free(&zones);
    return ok;
}

/* After a drop, only what a load itself sets comes back: refuses a target that has more. */
static bool nothing_beyond(drilling_t *drilling, err_t *err) {
    char beyond[64];
    if (!drilling->spec->drop)
        return true;
    if (drilling->result->cluster && !nothing_of_a_person(drilling, err))
        return false;
    return present_indexes_beyond(drilling->target, drilling->client, beyond, err) &&
           (!beyond[0] ||
            err_set(err, STATUS_USAGE,
                    "%s has a setting that a load does not make again (%s): it would be gone. Nothing was "
                    "touched; drill in scratch (leave --drop out), or take it away and put it back yourself",
                    drilling->result->namespace, beyond));
}

static bool refuse_otherwise(const drilling_t *drilling, const char *option, const char *value, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "%s was loaded with %s%s%.200s: a drill would make other documents. Nothing was touched; drill in "
        "scratch (leave --drop out)%s",
        drilling->result->namespace, option, *value ? " " : "", value,
        strcmp(option, "another format") == 0 ? ", or with the same --format" : "");
}

/* Would the same documents come back? */
static bool comes_back(const drilling_t *drilling, const catalog_header_t *header, err_t *err) {
    const char *filter = header->filter ? header->filter : "";
    if (header->appends)
        return err_set(err, STATUS_USAGE,
                       "%s was loaded with --append: documents of others may be in it, which would not come "
                       "back. Nothing was touched; drill in scratch (leave --drop out)",
                       drilling->result->namespace);
    if (header->id && *header->id && strcmp(header->id, "_id") != 0) /* that is the data's own */
        return refuse_otherwise(drilling, "--id", header->id, err);
    if (header->existing)
        return refuse_otherwise(drilling, "--existing", header->existing, err);
    if (header->format && strcmp(filter, drilling->filter) != 0)
        return refuse_otherwise(drilling, *filter ? "--filter" : "no --filter", *filter ? filter : "", err);
    return !header->format_digest || strcmp(header->format_digest, drilling->digest) == 0 ||
           refuse_otherwise(drilling, "another format", "", err);
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

static bool nobody_loads(const drilling_t *drilling, store_t *store, int64_t lease_ms, err_t *err) {
    size_t running;
    return running_count(store, lease_ms, &running, err) &&
           (!running ||
            err_set(err, STATUS_USAGE,
                    "%zu load%s of %s %s running: it is not dropped under %s. `tipple status` tells "
                    "who they are",
                    running, running == 1 ? "" : "s", drilling->result->namespace,
                    running == 1 ? "is" : "are", running == 1 ? "it" : "them"));
}

static bool check_catalog(const drilling_t *drilling, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    if (!drilling->spec->drop)
        return true;
    store_t *store = store_mongo_open(drilling->target, drilling->client, err);
    const bool ok = store && store->read_header(store, &header, &found, err) &&
                    (!found || comes_back(drilling, &header, err)) &&
                    nobody_loads(drilling, store, found ? header.lease_ms : STORE_LEASE_MS, err) &&
                    comes_back_whole(drilling, store, err);
    catalog_header_free(&header);
    store_mongo_close(store);
    return ok;
}

/* A drill that is killed cannot say how the collection was that it has taken away. */
static void tell_settings(const drilling_t *drilling) {
    const load_spec_t *given = &drilling->spec->load, *load = &drilling->result->load;
    text_t line = {.length = 0};
    err_t ignored;
    if (load->clustered != given->clustered)
        text_append(&line, load->clustered == CLUSTERED_YES ? " --clustered" : " --no-clustered");
    if (load->compressor != given->compressor)
        shell_quote_option(&line, "--compressor", load->compressor);
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
    snprintf(result->collection, sizeof result->collection, "%s%s", result->namespace,
             result->scratch ? SCRATCH_DRILL : "");
    result->cluster = facts->kind == SERVER_ROUTER;
    const bool ok =
        check_cluster(drilling, err) &&
        choices_like_target(spec->load.uri, spec->load.patience_ns, &result->load, result->shard_key, err) &&
        take_indexes(drilling, err) && nothing_beyond(drilling, err) && check_catalog(drilling, err);
    if (ok)
        tell_settings(drilling);
    return ok;
}
