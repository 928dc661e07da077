#include "base/document.h"
#include "base/log.h"
#include "base/text.h"
#include "catalog/catalog.h"
#include "catalog/places.h"
#include "catalog/store/store_mongo.h"
#include "cli/options/cli.h"
#include "report/load_figures.h"
#include "server/cluster.h"
#include "server/collection.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    load_options_t load; /* of which it takes URI and patience */
    bool restore, inputs;
} values_t;

static values_t values;

static const option_t options[] = {
    OPTION("restore", FLAG, restore, .group = GROUP_COLLECTION,
           .help = "On a cluster: take away the zones that a killed load has left, and let the collection be "
                   "balanced again. Not while a load runs."),
    OPTION("inputs", FLAG, inputs, .group = GROUP_RESULT,
           .help = "Name each input of the catalog: is it complete, how many of its records were loaded (if "
                   "it is not: at least), and how many rejected ones are not fixed."),
    {.name = NULL},
};

/* What is known of the collection. */
typedef struct {
    collection_t place;
    places_t *places;        /* the inputs of the catalog; NULL: the catalog could not be read */
    catalog_header_t header; /* of the catalog; zeroed: there is none */
    places_summary_t summary;
    route_read_t read;
    route_t *route; /* where it is sharded */
    chunkmap_t *map;
    zones_t zones; /* that are left, after --restore */
    balancing_t balancing;
    restored_t restored; /* by --restore */
    size_t alive;
    loads_t loads; /* that have not ended; `alive` of them run */
    int64_t lease_ms;
    bool is_router;
    bool silent;      /* a shard does not answer: the documents are not counted */
    err_t incomplete; /* why not everything is known, or restored; or status 0 */
} report_t;

static bool is_running(const report_t *status, const load_seen_t *load) {
    return !load->ended && load->silent_ms < status->lease_ms;
}

static bool may_restore(const server_t *server, const report_t *status, err_t *err) {
    return !status->alive ||
           err_set(err, STATUS_USAGE,
                   "a load of %s is running: the last one restores zones and balancing itself; if it was "
                   "killed just now, try again in half a minute",
                   server_namespace(server));
}

static bool look_at_catalog(server_t *server, mongoc_client_t *client, report_t *status, err_t *err) {
    catalog_header_t *header = &status->header;
    bool found;
    const catalog_settings_t settings = {.name = server_namespace(server)};
    store_t *store = store_mongo_open(server, client, err);
    bool ok = store && store_read_header(store, header, &found, err) &&
              (found                 ? catalog_check_header(header, &settings, err)
               : header->has_entries ? catalog_refuse_none(settings.name, header, err)
                                     : true) &&
              (status->places = places_read(store, err)) && store->read_loads(store, &status->loads, err);
    if (ok && status->place.exists && catalog_is_other(header, status->place.uuid))
        log_warn("%s " CATALOG_OTHER ", so what the catalog calls loaded may not be there", settings.name);
    if (ok)
        status->summary = places_summary(status->places, header->generation);
    status->lease_ms = ok && found ? header->lease_ms : STORE_LEASE_MS;
    for (size_t i = 0; i < status->loads.count; i++)
        status->alive += is_running(status, &status->loads.loads[i]);
    store_mongo_close(store);
    return ok;
}

/* Only if that is certain: of own _ids two records may have made one document, and while a load runs both numbers change. */
static bool is_short(const report_t *status) {
    const bool own_ids = status->header.id && *status->header.id;
    return !status->alive && !own_ids && !status->silent &&
           status->place.count < status->summary.loaded - status->summary.corrected + status->summary.fixed;
}

/* On a cluster a shard may be down: so this is asked without patience, on a connection of its own. */
static bool look_without_patience(report_t *status, err_t *err) {
    const server_options_t hasty = {.uri = values.load.spec.uri, .patience_ns = 1000000000, .connections = 1};
    server_t *server = server_connect(&hasty, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    const bool known = client && collection_look(server, client, &status->place, err);
    server_give(server, client);
    server_destroy(server);
    return known;
}

/* Where the shard that has the catalog does not answer, nothing is known of that. A server keeps a number of documents, which is too
 * small after a crash of it: before documents are missed they are counted. */
static bool look_at_data(server_t *server, mongoc_client_t *client, report_t *status, err_t *err) {
    if (!(status->is_router ? look_without_patience(status, err)
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
    if (status->route)
        status->map = route_map(status->route);
    return status->read != ROUTE_FAILED && zones_read(server, client, &status->zones, err) &&
           (status->zones.hidden || !status->places ||
            balancing_read(server, client, &status->balancing, err));
}

static bool look(server_t *server, mongoc_client_t *client, report_t *status, err_t *err) {
    status->is_router = server_facts(server)->kind == SERVER_ROUTER;
    if (values.restore && !status->is_router)
        return err_set(err, STATUS_USAGE, "--restore goes with a sharded cluster; %s is none",
                       server_where(server));
    if (!look_at_data(server, client, status, err) || (values.restore && !may_restore(server, status, err)))
        return false;
    if (values.restore && status->places && !cluster_restore(server, client, NULL, &status->restored, err))
        err_set(&status->incomplete, err->status,
                "not all that loads have changed could be undone: %.900s. Remove the cause, and run the same "
                "command again",
                err->text);
    return !status->is_router || look_at_cluster(server, client, status, err);
}

/* ---- figures ---- */

static counts_t counts_of(const entry_t *entry) {
    counts_t counts = {0};
    for (size_t i = 0; i < entry->piece_count; i++) {
        const counts_t piece = piece_counts(&entry->pieces[i]);
        counts_add(&counts, &piece);
    }
    return counts;
}

/* The name is one that forget takes. */
static void put_input(bson_t *to, const void *of, size_t at) {
    const report_t *status = of;
    const entry_t *entry = &places_entries(status->places)->entries[at];
    text_t name = {.length = 0};
    if (entry->removed)
        return;
    places_show(status->places, entry, &name);
    result_take(to, "name", text_take_or_end(&name));
    const counts_t counts = counts_of(entry);
    result_put(to, AS_FLAG("complete", entry_is_complete(entry, status->header.generation, false)),
               AS_COUNT("loaded", counts.of[FATE_LOADED]), AS_COUNT("already_there", counts.of[FATE_THERE]),
               AS_COUNT("open_rejects", entry_open_rejects(entry)));
}

static void put_shard(bson_t *to, const void *map, size_t at) {
    result_put(to, AS_TEXT("name", chunkmap_shard_name(map, at)),
               AS_COUNT("chunks", chunkmap_chunks_of(map, at)));
}

/* The columns of the header that came, or those that stay left out. */
typedef struct {
    const catalog_header_t *header;
    bool came;
} columns_t;

static void put_column(bson_t *to, const void *of, size_t at) {
    const columns_t *columns = of;
    const header_column_t *column = &columns->header->columns[at];
    char date[32];
    struct tm utc;
    if ((*column->type != 0) != columns->came)
        return;
    const time_t seconds = (time_t)(column->at_ms / 1000);
    strftime(date, sizeof date, "%FT%TZ", gmtime_r(&seconds, &utc));
    result_put(to, AS_TEXT("name", *column->name ? column->name : "(no name)"),
               AS_WORDS("type", column->type), AS_TEXT("date", date), AS_TEXT("file", column->by),
               AS_FLAG("other_files", column->others),
               AS_TEXT("-others", column->others ? " and others" : ""));
}

/* What the user may not read, or what does not answer, is null. */
static void put_figures(bson_t *to, const server_t *server, const report_t *status) {
    static const char *const balancing[] = {"on", "held", "off"};
    const bool known = !status->zones.hidden, has = status->places != NULL;
    const restored_t *restored = &status->restored;
    const places_summary_t *sum = &status->summary;
    result_put(
        to, AS_TEXT("namespace", server_namespace(server)), AS_FLAG_IF("exists", has, status->place.exists),
        AS_COUNT_IF("documents", !status->silent, status->place.count),
        AS_FLAG_IF("clustered", has, status->place.clustered), AS_COUNT_IF("files", has, sum->files),
        AS_COUNT_IF("files_complete", has, sum->complete), AS_COUNT_IF("loaded", has, sum->loaded),
        AS_COUNT_IF("already_there", has, sum->already_there), AS_COUNT_IF("rejected", has, sum->rejected),
        AS_COUNT_IF("open_rejects", has, sum->open_rejects),
        AS_FLAG_IF("appended", has, status->header.appends),
        has ? load_figures_kept_columns(status->header.format_text)
            : (result_field_t)AS_TEXT("guessed_as_text", NULL),
        AS_FLAG_IF("sharded", status->read != ROUTE_HIDDEN, status->read != ROUTE_UNSHARDED));
    if (status->map || status->read == ROUTE_UNSHARDED)
        result_put(to,
                   AS_LIST("shards", status->map ? chunkmap_shards(status->map) : 0, put_shard, status->map));
    else
        result_put(to, AS_TEXT("shards", NULL));
    result_put(to, AS_COUNT_IF("zones", known, status->zones.own_ranges),
               AS_COUNT_IF("zone_tags", known, status->zones.own_tags),
               AS_COUNT_IF("other_zones", known, status->zones.others),
               AS_TEXT("balancing", known && has ? balancing[status->balancing.state] : NULL),
               AS_FLAG("restored", restored->ranges || restored->tags || restored->balanced),
               AS_COUNT_IF("loads_running", has, status->alive));
    const columns_t came = {&status->header, true}, left_out = {&status->header, false};
    result_put(to, AS_TEXT("format", status->header.format),
               AS_TEXT("format_text", status->header.format_text),
               AS_LIST("columns_added", status->header.column_count, put_column, &came),
               AS_LIST("columns_left_out", status->header.column_count, put_column, &left_out));
    if (values.inputs && status->places)
        result_put(to, AS_LIST("inputs", places_entries(status->places)->count, put_input, status));
}

static void put_load(bson_t *to, const void *of, size_t at) {
    const report_t *status = of;
    const load_seen_t *load = &status->loads.loads[at];
    const time_t started = (time_t)(load->started_ms / 1000);
    char since[32], process[32];
    struct tm local;
    if (!is_running(status, load))
        return;
    strftime(since, sizeof since, "%F %T", localtime_r(&started, &local));
    snprintf(process, sizeof process, "%" PRId64, load->process);
    result_put(to, AS_TEXT("-process", process), AS_TEXT("-host", load->host), AS_TEXT("-since", since),
               AS_COUNT("-documents", load->documents));
}

/* Fixing a record changes none of the counts. More may have come than a killed load has written down. */
static void put_catalog(bson_t *to, const report_t *status) {
    const places_summary_t *sum = &status->summary;
    /* a record that was left out stays noted as a reject, even where it is not counted as one any more */
    const uint64_t open = sum->open_rejects < sum->rejected ? sum->open_rejects : sum->rejected,
                   answered = sum->rejected - open, fixed = sum->fixed < answered ? sum->fixed : answered;
    result_put(to, AS_FLAG("-catalog", status->place.exists && sum->files), AS_COUNT("-fixed", fixed),
               AS_COUNT("-left_out", answered - fixed),
               AS_TEXT("-at_least", sum->complete == sum->files ? "" : "at least "));
    result_put_words(to, "-there", sum->already_there ? ", {already_there} already there" : "");
    result_put_words(to, "-answered", answered ? " ({-fixed} fixed, {-left_out} left out)" : "");
}

static void put_sharding(bson_t *to, const report_t *status) {
    if (status->map)
        result_take(to, "-key", ejson_print(&route_key(status->route)->spec, true, NULL));
    else if (status->is_router && (status->place.exists || !status->places))
        result_put(to, AS_TEXT("-unsharded", status->read == ROUTE_HIDDEN
                                                 ? "this user may not read the config database"
                                             : status->read == ROUTE_UNCLEAR
                                                 ? "its chunks have bounds that are not understood"
                                                 : "not sharded: it lives on one shard"));
}

static void put_more(bson_t *to, const server_t *server, const report_t *status) {
    const places_summary_t *sum = &status->summary;
    const restored_t *restored = &status->restored;
    const bool exists = status->place.exists, idle = !status->alive;
    result_put(to, AS_TEXT("-where", server_where(server)),
               AS_TEXT("-kind", status->place.clustered ? "clustered on _id" : "not clustered"),
               AS_FLAG("-never_loaded", exists && !sum->files && !sum->removals),
               AS_COUNT("-removals", sum->removals), AS_FLAG("-short", exists && is_short(status)),
               AS_FLAG("-resumable", exists && idle && sum->complete < sum->files),
               AS_LIST("-loads", status->loads.count, put_load, status),
               AS_FLAG("-removed", restored->ranges || restored->tags),
               AS_COUNT("-removed_ranges", restored->ranges), AS_COUNT("-removed_tags", restored->tags),
               AS_FLAG("-balanced", restored->balanced),
               AS_FLAG("-left", idle && (status->zones.own_ranges || status->zones.own_tags)),
               AS_FLAG("-held", idle && status->balancing.state == BALANCING_HELD));
    if (status->balancing.state == BALANCING_OFF)
        result_take(to, "-off", ejson_text(server_namespace(server)));
    result_put_words(to, "-place",
                     !exists && status->places ? "does not exist at {-where}"
                     : !exists                 ? "at {-where}"
                     : status->silent          ? "at {-where}   unknown number of documents"
                                               : "at {-where}   {documents|document}   {-kind}");
    put_catalog(to, status);
    put_sharding(to, status);
}

/* ---- lines ---- */

static const result_view_t views[] = {
    LINE(SHOW_QUIET, NULL, "{namespace} {-place}"),
    LINE(SHOW_QUIET, "-catalog",
         "catalog {files_complete} of {files|file} complete   {-at_least}{loaded|record} loaded{-there}, "
         "{rejected} rejected{-answered}"),
    LINE(SHOW_QUIET, "-never_loaded", "catalog none: no load has filled it"),
    LINE(
        SHOW_QUIET, "-removals",
        "removal begun and not ended of {-removals|input}: the next load or `tipple forget` goes on with it"),
    LINE(SHOW_QUIET, "-short",
         "        fewer documents than were loaded: `tipple verify` says which are missing"),
    LINE(SHOW_QUIET, "appended", "        loaded with --append: it may hold documents of others, too"),
    LINE(SHOW_QUIET, NULL,
         "        {column} is text: the guess would have made it {type}, except for {values} of {of|value}, "
         "such as "
         "'{value}' ({first.file} line {first.line})",
         .each = "guessed_as_text"),
    LINE(SHOW_QUIET, NULL, "        column {name} ({type}) came on {date} with {file}",
         .each = "columns_added"),
    LINE(SHOW_QUIET, NULL, "        column {name} of {file}{-others} stays left out since {date}",
         .each = "columns_left_out"),
    LINE(SHOW_QUIET, "loads_running", "loads   {loads_running} running"),
    LINE(SHOW_QUIET, NULL,
         "        process {-process} on {-host} since {-since}, {-documents|document} so far",
         .each = "-loads"),
    LINE(SHOW_QUIET, "-resumable",
         "        no load is running: the same command resumes from there (a stream only with --input-name)"),
    TABLE(SHOW_QUIET | SHOW_WHOLE, NULL, "inputs", NULL, NULL, COLUMN("name", "name"),
          COLUMN("complete", "complete"), COLUMN("loaded", "loaded"),
          COLUMN("already_there", "already there"), COLUMN("open_rejects", "rejected and not fixed")),
    LINE(SHOW_QUIET, "-key", "shards  on {-key}"),
    LINE(SHOW_QUIET, NULL, "        {name}: {chunks|chunk}", .each = "shards"),
    LINE(SHOW_QUIET, "-unsharded", "shards  {-unsharded}"),
    LINE(SHOW_QUIET, "-removed",
         "zones   {-removed_ranges|range} and {-removed_tags|tag} of shards that a load had left are gone"),
    LINE(SHOW_QUIET, "-balanced", "zones   the collection is balanced again"),
    LINE(SHOW_QUIET, "-left",
         "zones   a killed load left {zones|range} and {zone_tags|tag} of shards: --restore removes them"),
    LINE(SHOW_QUIET, "-held",
         "zones   a load that was killed has turned balancing off: tipple status --restore turns it on"),
    LINE(SHOW_QUIET, "-off",
         "zones   balancing of the collection is off; no load has noted that it turned it off: "
         "sh.enableBalancing({-off}) turns it on"),
    {0}};

static int show(const run_t *run, const server_t *server, const report_t *status, err_t *err) {
    result_t *result = result_new("status", views);
    put_figures(&result->document, server, status);
    put_more(&result->document, server, status);
    if (status->incomplete.status != STATUS_OK)
        *err = status->incomplete;
    return cli_end(run, result, true, (int)status->incomplete.status, err);
}

static int report(run_t *run, err_t *err) {
    report_t status = {.read = ROUTE_UNSHARDED};
    if (!cli_has_uri(run, "the collection", err))
        return STATUS_USAGE;
    if (run->count)
        return err_set(err, STATUS_USAGE, "nothing but options belongs after status"), STATUS_USAGE;
    const server_options_t wanted = {
        .uri = values.load.spec.uri, .patience_ns = values.load.spec.patience_ns, .connections = 1};
    mongoc_client_t *client = NULL;
    server_t *server = server_connect(&wanted, err);
    const bool looked = server && (client = server_take(server, err)) && look(server, client, &status, err);
    const int ended = looked ? show(run, server, &status, err) : (int)err->status;
    catalog_header_free(&status.header);
    loads_free(&status.loads);
    zones_free(&status.zones);
    places_free(status.places);
    chunkmap_free(status.map);
    route_close(status.route);
    server_give(server, client);
    server_destroy(server);
    return ended;
}

const command_t command_status = {
    .name = "status",
    .group = COMMANDS_CHECK,
    .arguments = "",
    .about = "say how far the loads of a collection are, and how it is sharded",
    .help =
        "Says what the catalog knows of the collection, its shards and chunks, and what killed loads left.",
    .examples = "  tipple status --uri mongodb://HOST/mot.results\n"
                "  tipple status --uri mongodb://HOST/mot.results --inputs\n"
                "  tipple status --uri mongodb://ROUTER/mot.results --restore  # after a kill",
    .options = options,
    .takes = TAKEN_BY_ASKING,
    .with = WITH_JSON,
    .values = &values,
    .body = report,
};
