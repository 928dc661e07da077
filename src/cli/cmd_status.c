#include "cli/cli.h"
#include "base/units.h"
#include "catalog/catalog.h"
#include "catalog/places.h"
#include "catalog/store_mongo.h"
#include "target/place.h"
#include "target/hold.h"
#include "target/route.h"
#include "target/evenness.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct {
    const char *uri;
    int64_t patience_ns;
    bool json, restore, inputs;
} values_t;

static const option_t options[] = {
    CLI_URI(values_t),
    {.name = "inputs",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, inputs),
     .help =
         "Name each input of the catalog: is it complete, how many of its records were loaded, and how many "
         "rejected ones are not fixed."},
    {.name = "restore",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, restore),
     .help =
         "On a cluster: take away the zones that a killed load has left, and let the collection be balanced "
         "again. Not while a load runs."},
    CLI_PATIENCE(values_t),
    CLI_JSON(values_t),
    {.name = NULL},
};

typedef struct {
    place_t place;
    places_t *places; /* the inputs of the catalog */
    places_summary_t summary;
    uint32_t generation;
    route_read_t read;
    route_t *route; /* where it is sharded */
    size_t zones, alive;
    loads_t loads; /* that have not ended; `alive` of them run */
    int64_t lease_ms;
    shard_names_t shards; /* of the cluster, where it is sharded */
    bool is_router, restored;
} report_t;

static bool is_running(const report_t *status, const load_seen_t *load) {
    return !load->ended && load->silent_ms < status->lease_ms;
}

static bool restore(server_t *server, mongoc_client_t *client, report_t *status, err_t *err) {
    bool balancing = false;
    if (status->alive)
        return err_set(err, STATUS_USAGE,
                       "%zu load%s of %s %s running: the last one restores zones and balancing itself; if it "
                       "was killed just now, try again in half a minute",
                       status->alive, status->alive == 1 ? "" : "s", server_namespace(server),
                       status->alive == 1 ? "is" : "are");
    bool ok = spread_restore(server, client, &status->restored, err) &&
              hold_release(server, client, &balancing, err);
    status->restored |= balancing;
    return ok;
}

static bool look_at_catalog(server_t *server, mongoc_client_t *client, report_t *status, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    const catalog_settings_t settings = {.name = server_namespace(server)};
    store_t *store = store_mongo_open(server, client, err);
    bool ok = store && store->read_header(store, &header, &found, err) &&
              (!found || catalog_check_header(&header, &settings, err)) &&
              (status->places = places_read(store, err)) && store->read_loads(store, &status->loads, err);
    if (ok) {
        status->generation = header.generation;
        status->summary = places_summary(status->places, status->generation);
    }
    status->lease_ms = ok && found ? header.lease_ms : STORE_LEASE_MS;
    for (size_t i = 0; i < status->loads.count; i++)
        status->alive += is_running(status, &status->loads.loads[i]);
    catalog_header_free(&header);
    store_mongo_close(store);
    return ok;
}

static bool look(const values_t *values, server_t *server, mongoc_client_t *client, report_t *status,
                 err_t *err) {
    status->is_router = server_facts(server)->kind == SERVER_ROUTER;
    if (values->restore && !status->is_router)
        return err_set(err, STATUS_USAGE, "--restore goes with a sharded cluster; %s is none",
                       server_where(server));
    if (!place_look(server, client, &status->place, err) || !look_at_catalog(server, client, status, err))
        return false;
    if ((values->restore && !restore(server, client, status, err)))
        return false;
    if (!status->is_router)
        return true;
    status->read = route_open(server, client, &status->route, err);
    if (status->route && !spread_shards(server, client, &status->shards, err))
        return false;
    return status->read != ROUTE_FAILED && (status->read == ROUTE_HIDDEN || status->read == ROUTE_UNCLEAR ||
                                            spread_left(server, client, &status->zones, err));
}

static void print_evenness(const server_t *server, const report_t *status, const chunkmap_t *map) {
    const shardkey_t *key = route_key(status->route);
    evenness_t evenness = evenness_of(map, key, &status->shards);
    if (evenness.even)
        return;
    printf("uneven  %zu of %zu shards have chunks, and %.0f%% of %s is for %s. In the mongo shell:\n",
           evenness.owners, evenness.shards, 100 * evenness.most,
           evenness.known ? "what is still to come" : "the chunks", evenness.name);
    evenness_print_commands(server, map, key, &status->shards, stdout);
}

static void print_loads(const report_t *status) {
    char documents[UNITS_MAX], since[32];
    if (status->alive)
        printf("loads   %zu running\n", status->alive);
    for (size_t i = 0; i < status->loads.count; i++) {
        const load_seen_t *load = &status->loads.loads[i];
        if (!is_running(status, load))
            continue;
        time_t started = (time_t)(load->started_ms / 1000);
        struct tm local;
        strftime(since, sizeof since, "%F %T", localtime_r(&started, &local));
        printf("        process %" PRId64 " on %s since %s, %s documents so far\n", load->process, load->host,
               since, units_count(documents, load->documents));
    }
    if (!status->alive && status->summary.complete < status->summary.files)
        printf("        no load is running: the same command as before goes on from there\n");
}

static uint64_t loaded_of(const entry_t *entry) {
    uint64_t loaded = 0;
    for (size_t i = 0; i < entry->piece_count; i++)
        loaded += piece_counts(&entry->pieces[i]).loaded;
    return loaded;
}

static void print_inputs(const report_t *status) {
    const entries_t *entries = places_entries(status->places);
    char loaded[UNITS_MAX], rejects[UNITS_MAX];
    if (status->summary.files)
        printf("inputs  complete      loaded   rejected and not fixed   name\n");
    for (size_t i = 0; i < entries->count; i++) {
        const entry_t *entry = &entries->entries[i];
        if (!entry->removed)
            printf("        %-8s %11s %24s   %s\n",
                   entry_is_complete(entry, status->generation, false) ? "yes" : "no",
                   units_count(loaded, loaded_of(entry)), units_count(rejects, entry_open_rejects(entry)),
                   entry->path);
    }
}

static void print_text(const server_t *server, const report_t *status, bool inputs) {
    char count[UNITS_MAX], files[UNITS_MAX], complete[UNITS_MAX], rejected[UNITS_MAX];
    const place_t *place = &status->place;
    if (!place->exists) {
        printf("%s does not exist at %s\n", server_namespace(server), server_where(server));
        return;
    }
    printf("%s at %s   %s documents   %s\n", server_namespace(server), server_where(server),
           units_count(count, place->count), place->clustered ? "clustered on _id" : "not clustered");
    if (status->summary.files)
        printf("catalog %s of %s files complete   %s records loaded, %s rejected\n",
               units_count(complete, status->summary.complete), units_count(files, status->summary.files),
               units_count(count, status->summary.loaded), units_count(rejected, status->summary.rejected));
    else
        printf("catalog none: no load has filled it\n");
    print_loads(status);
    if (inputs)
        print_inputs(status);
    if (status->route) {
        char *key = bson_as_relaxed_extended_json(&route_key(status->route)->spec, NULL);
        chunkmap_t *map = route_map(status->route);
        printf("shards  on %s  ", key ? key : "");
        for (size_t i = 0; i < chunkmap_shards(map); i++)
            printf(" %s %zu chunk%s", chunkmap_shard_name(map, i), chunkmap_chunks_of(map, i),
                   chunkmap_chunks_of(map, i) == 1 ? "" : "s");
        putchar('\n');
        print_evenness(server, status, map);
        chunkmap_free(map);
        bson_free(key);
    } else if (status->is_router) {
        printf("shards  %s\n", status->read == ROUTE_HIDDEN ? "this user may not read the config database"
                               : status->read == ROUTE_UNCLEAR
                                   ? "its chunks have bounds that are not understood"
                                   : "not sharded: it lives on one shard");
    }
    if (status->restored)
        printf("the zones that a load had left are gone, and the collection is balanced again\n");
    if (status->zones && !status->alive)
        printf("%zu zones of a load that was killed: tipple status --restore takes them away\n",
               status->zones);
}

static void print_json_inputs(const report_t *status) {
    const entries_t *entries = places_entries(status->places);
    const char *before = "";
    printf(",\"inputs\":[");
    for (size_t i = 0; i < entries->count; i++) {
        const entry_t *entry = &entries->entries[i];
        if (entry->removed)
            continue;
        printf("%s{\"name\":", before);
        cli_print_json_text(entry->path);
        printf(",\"complete\":%s,\"loaded\":%" PRIu64 ",\"open_rejects\":%" PRIu64 "}",
               entry_is_complete(entry, status->generation, false) ? "true" : "false", loaded_of(entry),
               entry_open_rejects(entry));
        before = ",";
    }
    printf("]");
}

static void print_json(const server_t *server, const report_t *status, bool inputs) {
    printf("{\"schema\":1,\"command\":\"status\",\"namespace\":");
    cli_print_json_text(server_namespace(server));
    printf(",\"exists\":%s,\"documents\":%" PRIu64 ",\"clustered\":%s,\"files\":%" PRIu64
           ",\"files_complete\":%" PRIu64 ",\"loaded\":%" PRIu64 ",\"rejected\":%" PRIu64
           ",\"sharded\":%s,\"shards\":[",
           status->place.exists ? "true" : "false", status->place.count,
           status->place.clustered ? "true" : "false", status->summary.files, status->summary.complete,
           status->summary.loaded, status->summary.rejected, status->route ? "true" : "false");
    chunkmap_t *map = status->route ? route_map(status->route) : NULL;
    for (size_t i = 0; map && i < chunkmap_shards(map); i++) {
        printf("%s{\"name\":", i ? "," : "");
        cli_print_json_text(chunkmap_shard_name(map, i));
        printf(",\"chunks\":%zu}", chunkmap_chunks_of(map, i));
    }
    chunkmap_free(map);
    printf("],\"zones\":%zu,\"restored\":%s,\"loads_running\":%zu", status->zones,
           status->restored ? "true" : "false", status->alive);
    if (inputs)
        print_json_inputs(status);
    printf("}\n");
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.patience_ns = 30000000000};
    report_t status = {.read = ROUTE_UNSHARDED};
    int rest;
    bool help;
    if (!cli_read(command, argc, argv, &values, &rest, &help, err))
        return (int)err->status;
    if (help)
        return STATUS_OK;
    if (!values.uri || rest)
        return err_set(err, STATUS_USAGE,
                       values.uri ? "nothing but options belongs after status"
                                  : "--uri is missing: the collection to look at"),
               STATUS_USAGE;
    server_options_t wanted = {.uri = values.uri, .patience_ns = values.patience_ns, .connections = 1};
    mongoc_client_t *client = NULL;
    server_t *server = server_connect(&wanted, err);
    bool ok = server && (client = server_take(server, err)) && look(&values, server, client, &status, err);
    if (ok && values.json)
        print_json(server, &status, values.inputs);
    else if (ok)
        print_text(server, &status, values.inputs);
    loads_free(&status.loads);
    places_free(status.places);
    route_close(status.route);
    spread_free_shards(&status.shards);
    if (client)
        server_give(server, client);
    server_destroy(server);
    return ok && cli_flush(err) ? STATUS_OK : (int)err->status;
}

const command_t command_status = {
    .name = "status",
    .arguments = "",
    .about = "tell how far the loads of a collection are, and how it is sharded",
    .help =
        "What the catalog says of the collection, its shards and chunks, and what a load that was killed has "
        "left on a cluster.",
    .examples = "  tipple status --uri mongodb://127.0.0.1/mot.results\n"
                "  tipple status --uri mongodb://127.0.0.1/mot.results --inputs\n"
                "  tipple status --uri mongodb://ROUTER/mot.results --restore     # after a load was killed",
    .needs_driver = true,
    .options = options,
    .run = run,
};
