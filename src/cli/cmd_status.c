#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "catalog/places_show.h"
#include "catalog/store/store_mongo.h"
#include "cli/options/cli.h"
#include "report/result.h"
#include "server/cluster.h"
#include "server/collection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    const char *uri, *uri_file;
    int64_t patience_ns;
    bool json, restore, inputs;
} values_t;

static const option_t options[] = {
    CLI_URI(values_t, uri),
    {.name = "restore",
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, restore),
     .help =
         "On a cluster: take away the zones that a killed load has left, and let the collection be balanced "
         "again. Not while a load runs."},
    CLI_PATIENCE(values_t),
    {.name = "inputs",
     .group = GROUP_RESULT,
     .kind = OPTION_FLAG,
     .offset = offsetof(values_t, inputs),
     .help =
         "Name each input of the catalog: is it complete, how many of its records were loaded, and how many "
         "rejected ones are not fixed."},
    CLI_JSON(values_t),
    {.name = NULL},
};

typedef struct {
    collection_t place;
    places_t *places; /* the inputs of the catalog */
    places_summary_t summary;
    uint32_t generation;
    route_read_t read;
    route_t *route; /* where it is sharded */
    zones_t zones;  /* that are left, after --restore */
    balancing_t balancing;
    restored_t restored; /* by --restore */
    size_t alive;
    loads_t loads; /* that have not ended; `alive` of them run */
    int64_t lease_ms;
    shard_names_t shards; /* of the cluster, where it is sharded, without those that are being drained */
    bool is_router;
    bool own_ids;     /* of the data */
    bool appends;     /* it holds documents of others, too */
    bool silent;      /* a shard does not answer: the documents are not counted */
    err_t incomplete; /* why not everything is known, or restored; or status 0 */
} report_t;

static bool is_running(const report_t *status, const load_seen_t *load) {
    return !load->ended && load->silent_ms < status->lease_ms;
}

static bool may_restore(const server_t *server, const report_t *status, err_t *err) {
    return !status->alive ||
           err_set(err, STATUS_USAGE,
                   "%zu load%s of %s %s running: the last one restores zones and balancing itself; if it "
                   "was killed just now, try again in half a minute",
                   status->alive, status->alive == 1 ? "" : "s", server_namespace(server),
                   status->alive == 1 ? "is" : "are");
}

static bool look_at_catalog(server_t *server, mongoc_client_t *client, report_t *status, err_t *err) {
    catalog_header_t header = {0};
    bool found;
    const catalog_settings_t settings = {.name = server_namespace(server)};
    store_t *store = store_mongo_open(server, client, err);
    bool ok = store && store->read_header(store, &header, &found, err) &&
              (found                ? catalog_check_header(&header, &settings, err)
               : header.has_entries ? catalog_refuse_none(settings.name, &header, err)
                                    : true) &&
              (status->places = places_read(store, err)) && store->read_loads(store, &status->loads, err);
    if (ok && status->place.exists && catalog_is_other(&header, status->place.uuid))
        log_warn("%s " CATALOG_OTHER ", so what the catalog calls loaded may not be there", settings.name);
    if (ok) {
        status->generation = header.generation;
        status->appends = header.appends;
        status->own_ids = header.id && *header.id;
        status->summary = places_summary(status->places, status->generation);
    }
    status->lease_ms = ok && found ? header.lease_ms : STORE_LEASE_MS;
    for (size_t i = 0; i < status->loads.count; i++)
        status->alive += is_running(status, &status->loads.loads[i]);
    catalog_header_free(&header);
    store_mongo_close(store);
    return ok;
}

/* Only if that is certain: of own _ids two records may have made one document, and while a load runs both numbers change. */
static bool is_short(const report_t *status) {
    return !status->alive && !status->own_ids && !status->silent &&
           status->place.count < status->summary.loaded - status->summary.corrected + status->summary.fixed;
}

/* On a cluster a shard may be down: so this is asked without patience, on a connection of its own. */
static bool look_without_patience(const values_t *values, report_t *status, err_t *err) {
    const server_options_t hasty = {.uri = values->uri, .patience_ns = 1000000000, .connections = 1};
    server_t *server = server_connect(&hasty, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    const bool known = client && collection_look(server, client, &status->place, err);
    server_give(server, client);
    server_destroy(server);
    return known;
}

/* Where the shard that has the catalog does not answer, nothing is known of that. A server keeps a number of documents, which is too
 * small after a crash of it: before documents are missed they are counted. */
static bool look_at_data(const values_t *values, server_t *server, mongoc_client_t *client, report_t *status,
                         err_t *err) {
    if (!(status->is_router ? look_without_patience(values, status, err)
                            : collection_look(server, client, &status->place, err))) {
        if (!status->is_router || err->status != STATUS_SERVER)
            return false;
        status->silent = true;
        err_set(&status->incomplete, STATUS_SERVER,
                "not all of the cluster answers, so that some of this is not known: %.900s", err->text);
        if (!status->place.exists)
            return true;
    }
    return look_at_catalog(server, client, status, err) &&
           (!is_short(status) ||
            collection_count(server, client, server_collection(server), NULL, &status->place.count, err));
}

static bool look_at_cluster(server_t *server, mongoc_client_t *client, report_t *status, err_t *err) {
    status->read = route_open(server, client, &status->route, err);
    return status->read != ROUTE_FAILED &&
           (!status->route || cluster_shards(server, client, &status->shards, err)) &&
           zones_read(server, client, &status->zones, err) &&
           (status->zones.hidden || !status->places ||
            balancing_read(server, client, &status->balancing, err));
}

static bool look(const values_t *values, server_t *server, mongoc_client_t *client, report_t *status,
                 err_t *err) {
    status->is_router = server_facts(server)->kind == SERVER_ROUTER;
    if (values->restore && !status->is_router)
        return err_set(err, STATUS_USAGE, "--restore goes with a sharded cluster; %s is none",
                       server_where(server));
    if (!look_at_data(values, server, client, status, err) ||
        (values->restore && !may_restore(server, status, err)))
        return false;
    if (values->restore && status->places && !cluster_restore(server, client, NULL, &status->restored, err))
        err_set(&status->incomplete, err->status,
                "not all that loads have changed could be undone: %.900s. Remove the cause, and run the "
                "same command again",
                err->text);
    return !status->is_router || look_at_cluster(server, client, status, err);
}

/* Of `_id`s that are the data's own, as where no load has filled it, the lanes tell nothing. */
static bool is_of_lanes(const report_t *status) {
    return !status->own_ids && (status->place.empty || status->summary.files);
}

static void print_evenness(const server_t *server, const report_t *status, const chunkmap_t *map) {
    const shardkey_t of_data = shardkey_of_data(route_key(status->route)),
                     *key = is_of_lanes(status) ? route_key(status->route) : &of_data;
    evenness_t evenness = cluster_evenness(map, key, &status->shards);
    if (evenness.even)
        return;
    out_print("uneven  %zu of %zu shards have chunks, and %.0f%% of %s is for %s. ", evenness.owners,
              evenness.shards, 100 * evenness.most, evenness.known ? "what is still to come" : "the chunks",
              evenness.name);
    if (status->zones.others) {
        out_print("It has zones that a person has set (%zu, such as %s): its chunks lie where these say\n",
                  status->zones.others, status->zones.other);
    } else if (route_sharding(status->route)->unmoved) {
        out_print("Moves of its chunks are turned off: sh.enableMigrations turns them on\n");
    } else {
        text_t commands = {.length = 0};
        text_append(&commands,
                    "The balancer moves them, if it may. In the mongo shell:\nsh.enableBalancing(");
        ejson_append_text(&commands, server_namespace(server));
        text_append(&commands, ")\nsh.startBalancer()\n");
        char *lines = text_take_or_end(&commands);
        out_bytes(lines, strlen(lines)); /* to be pasted: nothing in it is hidden */
        free(lines);
    }
}

/* What no load works on: a stream without a name cannot be loaded to its end any more. */
static void print_unfinished(const report_t *status) {
    const entries_t *entries = places_entries(status->places);
    size_t nameless = 0;
    for (size_t i = 0; i < entries->count; i++) {
        const entry_t *entry = &entries->entries[i];
        nameless += !entry->removed && entry_is_nameless(entry) &&
                    !entry_is_complete(entry, status->generation, false);
    }
    if (nameless < status->summary.files - status->summary.complete)
        out_print("        no load is running: the same command as before resumes from there\n");
    if (nameless)
        out_print("        %zu stream%s without a name cannot be resumed (--inputs tells names); "
                  "`tipple forget NAME --delete` removes what there is of it\n",
                  nameless, units_s(nameless));
}

static void print_loads(const report_t *status) {
    char documents[UNITS_MAX], since[32];
    if (status->alive)
        out_print("loads   %zu running\n", status->alive);
    for (size_t i = 0; i < status->loads.count; i++) {
        const load_seen_t *load = &status->loads.loads[i];
        if (!is_running(status, load))
            continue;
        time_t started = (time_t)(load->started_ms / 1000);
        struct tm local;
        strftime(since, sizeof since, "%F %T", localtime_r(&started, &local));
        out_print("        process %" PRId64 " on %s since %s, %s document%s so far\n", load->process,
                  load->host, since, units_count(documents, load->documents), units_s(load->documents));
    }
    if (!status->alive)
        print_unfinished(status);
}

static counts_t counts_of(const entry_t *entry) {
    counts_t counts = {0};
    for (size_t i = 0; i < entry->piece_count; i++) {
        const counts_t piece = piece_counts(&entry->pieces[i]);
        counts_add(&counts, &piece);
    }
    return counts;
}

/* More may have come than a load has written down before it was killed. */
static const char *at_least(bool complete) {
    return complete ? "" : "at least ";
}

/* As forget takes it. */
static char *shown(const report_t *status, const entry_t *entry) {
    text_t name = {.length = 0};
    places_show(status->places, entry, &name);
    return text_take_or_end(&name);
}

static void print_inputs(const report_t *status) {
    const entries_t *entries = places_entries(status->places);
    char loaded[UNITS_MAX], there[UNITS_MAX], rejects[UNITS_MAX], shown_loaded[UNITS_MAX + 16];
    if (status->summary.files)
        out_print("inputs  complete               loaded   already there   rejected and not fixed   name\n");
    for (size_t i = 0; i < entries->count; i++) {
        const entry_t *entry = &entries->entries[i];
        if (entry->removed)
            continue;
        char *name = shown(status, entry);
        const bool complete = entry_is_complete(entry, status->generation, false);
        const counts_t counts = counts_of(entry);
        snprintf(shown_loaded, sizeof shown_loaded, "%s%s", at_least(complete),
                 units_count(loaded, counts.loaded));
        out_print("        %-8s %20s %15s %24s   %s\n", complete ? "yes" : "no", shown_loaded,
                  units_count(there, counts.already_there), units_count(rejects, entry_open_rejects(entry)),
                  name);
        free(name);
    }
}

/* What --restore has done, and what loads have left. */
static void print_left(const report_t *status) {
    const restored_t *restored = &status->restored;
    const size_t ranges = status->zones.own_ranges, tags = status->zones.own_tags;
    if (restored->ranges || restored->tags)
        out_print("zones   %zu range%s and %zu tag%s of shards that a load had left are gone\n",
                  restored->ranges, units_s(restored->ranges), restored->tags, units_s(restored->tags));
    if (restored->balanced)
        out_print("zones   the collection is balanced again\n");
    if (!status->alive && (ranges || tags))
        out_print("zones   %zu range%s and %zu tag%s of shards of a load that was killed: tipple status "
                  "--restore takes them away\n",
                  ranges, units_s(ranges), tags, units_s(tags));
    if (!status->alive && status->balancing.state == BALANCING_HELD)
        out_print(
            "zones   a load that was killed has turned balancing off: tipple status --restore turns it on\n");
    if (status->balancing.state != BALANCING_OFF)
        return;
    char *quoted = ejson_text(status->balancing.name);
    out_print("zones   balancing of the collection is off; no load has noted that it turned it off: "
              "sh.enableBalancing(%s) turns it on\n",
              quoted ? quoted : "...");
    free(quoted);
}

static uint64_t at_most(uint64_t number, uint64_t most) {
    return number < most ? number : most;
}

/* Counts are of the loads: fixing a record changes none of them. */
static void print_catalog(const places_summary_t *summary) {
    char files[UNITS_MAX], complete[UNITS_MAX], loaded[UNITS_MAX], there[UNITS_MAX], rejected[UNITS_MAX],
        fixed[UNITS_MAX];
    out_print("catalog %s of %s file%s complete   %s%s record%s loaded",
              units_count(complete, summary->complete), units_count(files, summary->files),
              units_s(summary->files), at_least(summary->complete == summary->files),
              units_count(loaded, summary->loaded), units_s(summary->loaded));
    if (summary->already_there)
        out_print(", %s already there", units_count(there, summary->already_there));
    out_print(", %s rejected", units_count(rejected, summary->rejected));
    /* a record that was left out stays noted as a reject, even where it is not counted as one any more */
    const uint64_t answered = summary->rejected - at_most(summary->open_rejects, summary->rejected),
                   were_fixed = at_most(summary->fixed, answered), left_out = answered - were_fixed;
    if (were_fixed)
        out_print(" (%s fixed%s", units_count(fixed, were_fixed), left_out ? ", " : ")");
    if (left_out)
        out_print("%s%s left out)", were_fixed ? "" : " (", units_count(fixed, left_out));
    out_print("\n");
}

static void print_shards(const server_t *server, const report_t *status) {
    if (status->route) {
        char *key = ejson_print(&route_key(status->route)->spec, true, NULL);
        chunkmap_t *map = route_map(status->route);
        out_print("shards  on %s  ", key ? key : "");
        for (size_t i = 0; i < chunkmap_shards(map); i++)
            out_print(" %s %zu chunk%s", chunkmap_shard_name(map, i), chunkmap_chunks_of(map, i),
                      chunkmap_chunks_of(map, i) == 1 ? "" : "s");
        out_print("\n");
        print_evenness(server, status, map);
        chunkmap_free(map);
        free(key);
    } else if (status->is_router) {
        out_print("shards  %s\n", status->read == ROUTE_HIDDEN ? "this user may not read the config database"
                                  : status->read == ROUTE_UNCLEAR
                                      ? "its chunks have bounds that are not understood"
                                      : "not sharded: it lives on one shard");
    }
}

static void print_text(const server_t *server, const report_t *status, bool inputs) {
    char count[UNITS_MAX];
    const collection_t *place = &status->place;
    if (!place->exists) {
        out_print("%s %sat %s\n", server_namespace(server), status->places ? "does not exist " : "",
                  server_where(server));
        if (!status->places)
            print_shards(server, status);
        print_left(status);
        return;
    }
    out_print("%s at %s   %s document%s   %s\n", server_namespace(server), server_where(server),
              status->silent ? "unknown number of" : units_count(count, place->count),
              status->silent ? "s" : units_s(place->count),
              place->clustered ? "clustered on _id" : "not clustered");
    if (status->summary.files)
        print_catalog(&status->summary);
    else if (!status->summary.removals)
        out_print("catalog none: no load has filled it\n");
    if (status->summary.removals)
        out_print(
            "removal begun and not ended of %s input%s: the next load or `tipple forget` goes on with it\n",
            units_count(count, status->summary.removals), units_s(status->summary.removals));
    if (is_short(status))
        out_print("        fewer documents than were loaded: `tipple verify` tells which are missing\n");
    if (status->appends)
        out_print("        loaded with --append: it may hold documents of others, too\n");
    print_loads(status);
    if (inputs)
        print_inputs(status);
    print_shards(server, status);
    print_left(status);
}

static void put_input(bson_t *to, const void *of, size_t at) {
    const report_t *status = of;
    const entry_t *entry = &places_entries(status->places)->entries[at];
    if (entry->removed)
        return;
    char *name = shown(status, entry);
    const counts_t counts = counts_of(entry);
    result_put(to, AS_TEXT("name", name),
               AS_FLAG("complete", entry_is_complete(entry, status->generation, false)),
               AS_COUNT("loaded", counts.loaded), AS_COUNT("already_there", counts.already_there),
               AS_COUNT("open_rejects", entry_open_rejects(entry)));
    free(name);
}

static void put_shard(bson_t *to, const void *map, size_t at) {
    result_put(to, AS_TEXT("name", chunkmap_shard_name(map, at)),
               AS_COUNT("chunks", chunkmap_chunks_of(map, at)));
}

static void make_result(bson_t *to, const server_t *server, const report_t *status, bool inputs) {
    static const char *const balancing[] = {"on", "held", "off"};
    const bool known = !status->zones.hidden; /* what this user may not read is null, and no number */
    const restored_t *restored = &status->restored;
    chunkmap_t *map = status->route ? route_map(status->route) : NULL;
    const places_summary_t *sum = &status->summary;
    const bool has = status->places != NULL;
    result_put(
        to, AS_TEXT("namespace", server_namespace(server)), AS_FLAG_IF("exists", has, status->place.exists),
        AS_COUNT_IF("documents", !status->silent, status->place.count),
        AS_FLAG_IF("clustered", has, status->place.clustered), AS_COUNT_IF("files", has, sum->files),
        AS_COUNT_IF("files_complete", has, sum->complete), AS_COUNT_IF("loaded", has, sum->loaded),
        AS_COUNT_IF("already_there", has, sum->already_there), AS_COUNT_IF("rejected", has, sum->rejected),
        AS_COUNT_IF("open_rejects", has, sum->open_rejects), AS_FLAG_IF("appended", has, status->appends),
        AS_FLAG_IF("sharded", status->read != ROUTE_HIDDEN, status->read != ROUTE_UNSHARDED));
    if (map || status->read == ROUTE_UNSHARDED)
        result_put(to, AS_LIST("shards", map ? chunkmap_shards(map) : 0, put_shard, map));
    else
        result_put(to, AS_TEXT("shards", NULL));
    chunkmap_free(map);
    result_put(to, AS_COUNT_IF("zones", known, status->zones.own_ranges),
               AS_COUNT_IF("zone_tags", known, status->zones.own_tags),
               AS_COUNT_IF("other_zones", known, status->zones.others),
               AS_TEXT("balancing", known && has ? balancing[status->balancing.state] : NULL),
               AS_FLAG("restored", restored->ranges || restored->tags || restored->balanced),
               AS_COUNT_IF("loads_running", has, status->alive));
    if (inputs && status->places)
        result_put(to, AS_LIST("inputs", places_entries(status->places)->count, put_input, status));
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.patience_ns = 30000000000};
    report_t status = {.read = ROUTE_UNSHARDED};
    int rest, exit_status;
    if (!cli_read(command, argc, argv, &values, &rest, &exit_status, err))
        return exit_status;
    if (!values.uri || rest)
        return err_set(err, STATUS_USAGE,
                       values.uri ? "nothing but options belongs after status"
                                  : "--uri is missing: the collection to look at"),
               STATUS_USAGE;
    server_options_t wanted = {.uri = values.uri, .patience_ns = values.patience_ns, .connections = 1};
    mongoc_client_t *client = NULL;
    server_t *server = server_connect(&wanted, err);
    bool ok = server && (client = server_take(server, err)) && look(&values, server, client, &status, err);
    const bool looked = ok;
    if (ok && !(ok = status.incomplete.status == STATUS_OK))
        *err = status.incomplete;
    if (looked && values.json) {
        result_t *result = result_new("status");
        make_result(&result->document, server, &status, values.inputs);
        result_print_json(result, ok ? STATUS_OK : (int)err->status);
        result_free(result);
    } else if (looked) {
        print_text(server, &status, values.inputs);
    }
    loads_free(&status.loads);
    zones_free(&status.zones);
    places_free(status.places);
    route_close(status.route);
    cluster_free_shards(&status.shards);
    server_give(server, client);
    server_destroy(server);
    return ok && cli_flush(err) ? STATUS_OK : (int)err->status;
}

const command_t command_status = {
    .name = "status",
    .group = COMMANDS_CHECK,
    .arguments = "",
    .about = "tell how far the loads of a collection are, and how it is sharded",
    .help = "Tells what the catalog says of the collection, its shards and chunks, and what a load "
            "that was killed has left on a cluster.",
    .examples = "  tipple status --uri mongodb://HOST/mot.results\n"
                "  tipple status --uri mongodb://HOST/mot.results --inputs\n"
                "  tipple status --uri mongodb://ROUTER/mot.results --restore  # after a kill",
    .needs_driver = true,
    .options = options,
    .run = run,
};
