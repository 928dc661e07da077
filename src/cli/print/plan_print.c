#include "cli/print/plan_print.h"
#include "base/out.h"
#include "base/numbers/units.h"
#include "cli/print/grid.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- figures ---- */

static const char *seconds(char out[UNITS_MAX], double value) {
    if (!isfinite(value))
        return "never";
    if (value >= 4 * 86400)
        snprintf(out, UNITS_MAX, "%.1f days", value / 86400);
    else
        units_seconds(out, value);
    return out;
}

static const char *count(char out[UNITS_MAX], double value) {
    return units_count(out, (uint64_t)llround(value));
}

static const char *few(double value, const char *one, const char *more) {
    return value == 1 ? one : more;
}

/* ---- the parts of the page ---- */

static void print_data(const planned_t *planned) {
    const plan_spec_t *spec = planned->spec;
    char documents[UNITS_MAX], size[UNITS_MAX], bson[UNITS_MAX], text[UNITS_MAX], seen[UNITS_MAX];
    out_print("%s documents of %s: %s of BSON", count(documents, spec->documents),
              units_bytes(size, spec->document_bytes), units_bytes(bson, planned->plan->bson));
    if (spec->text_bytes > 0)
        out_print(", from %s of text", units_bytes(text, planned->plan->text));
    out_print("\n");
    if (planned->gauge)
        out_print("as seen in %s records of %s %s\n", count(seen, (double)planned->gauge->records),
                  count(size, (double)planned->gauge->files),
                  few((double)planned->gauge->files, "file", "files"));
}

static void print_cluster(const planned_t *planned) {
    const plan_spec_t *spec = planned->spec;
    const plan_t *plan = planned->plan;
    char documents[UNITS_MAX], size[UNITS_MAX], some[UNITS_MAX], servers[UNITS_MAX], loaders[UNITS_MAX];
    out_print("%s %s", count(some, spec->shards), few(spec->shards, "shard", "shards"));
    if (spec->replicas > 1)
        out_print(" of %.0f members", spec->replicas);
    out_print(" on %s %s", count(servers, plan->servers), few(plan->servers, "server", "servers"));
    if (spec->routers > 0)
        out_print(", %.0f %s", spec->routers, few(spec->routers, "router", "routers"));
    if (spec->loaders > 0)
        out_print(", %s %s\n", count(loaders, spec->loaders), few(spec->loaders, "loader", "loaders"));
    else
        out_print(", the servers load\n");
    if (spec->shards == 1)
        return;
    out_print("each shard: %s documents, %s", count(documents, plan->shard_documents),
              units_bytes(size, plan->shard_bytes));
    if (!spec->by_lanes)
        out_print(", one chunk\n");
    else if (plan->lanes_least < 1)
        out_print(", but there are only 1,024 lanes: give --even, and a shard key or ids of your own\n");
    else if (plan->lanes_least == plan->lanes_most)
        out_print(", one chunk of %.0f lanes\n", plan->lanes_most);
    else
        out_print(", one chunk of %.0f or %.0f lanes: the fullest has %.1f %% more\n", plan->lanes_least,
                  plan->lanes_most, 100 * (plan->largest_shard - 1));
}

static void print_limits(const planned_t *planned) {
    const plan_t *plan = planned->plan;
    grid_t grid = {.columns = 3, .left = {true, false, true}};
    char some[UNITS_MAX], rate[UNITS_MAX];
    char(*row)[GRID_CELL] = grid_row(&grid);
    out_print("\n");
    GRID_PUT(row, 0, "what could hold the load back");
    GRID_PUT(row, 1, "alone");
    for (plan_limit_t limit = 0; limit < PLAN_LIMITS; limit++) {
        if (plan->use[limit] <= 0)
            continue;
        row = grid_row(&grid);
        GRID_PUT(row, 0, "%s", plan_limit_names[limit].name);
        GRID_PUT(row, 1, "%s", seconds(some, plan->use[limit]));
        GRID_PUT(row, 2, "%s", limit == plan->limit ? "<- the limit" : "");
    }
    grid_print(&grid);
    if (plan->limit != PLAN_LIMITS)
        out_print("load: %s, %s documents/s, limited by %s\n", seconds(some, plan->load),
                  units_rate(rate, plan->documents_per_second), plan_limit_names[plan->limit].name);
}

static void print_work(const char *title, const char *keys, plan_work_t work) {
    static const char *const names[] = {[PLAN_BY_CPU] = "one core of each shard",
                                        [PLAN_BY_READ] = "reading from disk",
                                        [PLAN_BY_WRITE] = "writing to disk"};
    char some[UNITS_MAX];
    out_print("%s%s: %s, limited by %s\n", title, keys, seconds(some, work.seconds), names[work.limit]);
}

static void print_afterwards(const planned_t *planned) {
    const plan_t *plan = planned->plan;
    for (size_t i = 0; i < planned->spec->index_count; i++)
        print_work("index ", planned->spec->indexes[i].keys, plan->indexes[i]);
    print_work("a look at every document", "", plan->scan);
}

/* What the spec would be with this compressor. A ratio that the user has given is of the one that he has
 * chosen: false for others. */
static bool with_compressor(const planned_t *planned, const char *name, plan_t *plan) {
    plan_spec_t spec = planned->values->plan;
    const bool chosen = strcmp(name, planned->values->compressor) == 0;
    if (spec.stored_ratio > 0 && !chosen)
        return false;
    if (spec.stored_ratio == 0 && planned->gauge)
        spec.stored_ratio = gauge_ratio(planned->gauge, name);
    spec.log_ratio = planned->spec->log_ratio;
    plan_fill_in(&spec, name, 0);
    plan_work_out(&spec, plan);
    return true;
}

static void print_storage(const planned_t *planned) {
    grid_t grid = {.columns = 6, .left = {true}};
    static const char *const heads[] = {"compressor",       "data", "indexes", "a server",
                                        "servers for that", "load"};
    char some[UNITS_MAX];
    char(*row)[GRID_CELL] = grid_row(&grid);
    out_print("\n");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        GRID_PUT(row, i, "%s", i == 4 && planned->spec->disk_bytes <= 0 ? "" : heads[i]);
    for (const plan_compressor_t *at = plan_compressors; at->name; at++) {
        plan_t plan;
        if (!with_compressor(planned, at->name, &plan))
            continue;
        row = grid_row(&grid);
        GRID_PUT(row, 0, "%s", at->name);
        GRID_PUT(row, 1, "%s", units_bytes(some, plan.stored));
        if (plan.index_bytes > 0)
            GRID_PUT(row, 2, "%s", units_bytes(some, plan.index_bytes));
        GRID_PUT(row, 3, "%s", units_bytes(some, plan.server_stored));
        if (plan.servers_needed > 0)
            GRID_PUT(row, 4, "%s", count(some, plan.servers_needed));
        GRID_PUT(row, 5, "%s", seconds(some, plan.load));
    }
    grid_print(&grid);
}

static void print_memory(const planned_t *planned) {
    const plan_t *plan = planned->plan;
    char all[UNITS_MAX], indexes[UNITS_MAX], cache[UNITS_MAX];
    out_print("\ncache of a server: %s would hold everything", units_bytes(all, plan->server_all));
    if (plan->index_bytes > 0)
        out_print(", %s its indexes", units_bytes(indexes, plan->server_indexes));
    if (plan->cache > 0)
        out_print("; of its memory a mongod takes %s: %.0f %% of everything", units_bytes(cache, plan->cache),
                  fmin(100, 100 * plan->cache / plan->server_all));
    out_print("\n");
    if (plan->hour > 0)
        out_print("cost: %.2f an hour, %.2f until the %s\n", plan->hour, plan->cost,
                  plan->index_bytes > 0 ? "indexes are built" : "load is done");
}

/* ---- half of the time ---- */

typedef struct {
    const char *thing, *name; /* more of what; and what to make faster instead */
    size_t count;             /* of it in the spec; SIZE_MAX: of no count */
} ease_t;

static const ease_t eases[PLAN_LIMITS] = {
    [PLAN_SOURCE] = {"loaders", "files read", offsetof(plan_spec_t, loaders)},
    [PLAN_CLIENT_CPU] = {"loaders", "CPU of a loader", offsetof(plan_spec_t, loaders)},
    [PLAN_CLIENT_NETWORK] = {"loaders", "network of a loader", offsetof(plan_spec_t, loaders)},
    [PLAN_ROUTER] = {"routers", "router", offsetof(plan_spec_t, routers)},
    [PLAN_ROUTER_NETWORK] = {"routers", "network of a router", offsetof(plan_spec_t, routers)},
    [PLAN_SHARD] = {"shards", "shard", offsetof(plan_spec_t, shards)},
    [PLAN_SERVER] = {"servers", "CPU of a server", SIZE_MAX},
    [PLAN_SERVER_NETWORK] = {"servers", "network of a server", SIZE_MAX},
    [PLAN_DISK] = {"servers", "disks of a server", SIZE_MAX},
};

static void print_halving(const planned_t *planned) {
    char half[UNITS_MAX], more[UNITS_MAX];
    if (planned->plan->limit == PLAN_LIMITS)
        return;
    seconds(half, planned->plan->load / 2);
    if (planned->plan->placing >= planned->plan->load / 2) {
        out_print("\nhalf of the time (%s) cannot be had: laying out the chunks alone takes %s\n", half,
                  seconds(more, planned->plan->placing));
        return;
    }
    out_print("\nto load in half of the time (%s), all of this is needed:\n", half);
    for (plan_limit_t limit = 0; limit < PLAN_LIMITS; limit++) {
        double factor = plan_ease(planned->plan, limit), now;
        if (factor <= 1)
            continue;
        now = eases[limit].count == SIZE_MAX
                  ? planned->plan->servers
                  : *(const double *)((const char *)planned->spec + eases[limit].count);
        if (now < 1)
            now = planned->plan->servers;
        out_print("  %s: %.1f times as fast, or %s %s instead of %.0f%s\n", eases[limit].name, factor,
                  count(more, ceil(now * factor - 0.01)), eases[limit].thing, now,
                  limit >= PLAN_SERVER && planned->plan->members <= 1 ? ", with as many times the shards"
                                                                      : "");
    }
}

static void print_simulation(const planned_t *planned) {
    const simulate_spec_t *spec = &planned->values->simulation;
    grid_t grid = {.columns = 8, .left = {true}};
    static const char *const heads[] = {
        "way", "p5", "p50", "p95", "longest", "longer", "waiting for the last", "failures"};
    char some[UNITS_MAX], every[UNITS_MAX], repair[UNITS_MAX];
    out_print("\nplayed %u times over %s shards: speeds differ by %.0f %%, %.3g %% of shards have %.0f %% of "
              "theirs",
              spec->runs, count(some, spec->shards), 100 * spec->spread, 100 * spec->slow,
              100 * spec->slow_speed);
    if (spec->mtbf > 0)
        out_print(",\na server fails every %s and is back in %s", seconds(every, spec->mtbf),
                  seconds(repair, spec->repair));
    out_print("; without all that: %s\n", seconds(some, fmax(spec->own_seconds, spec->common_seconds)));
    char(*row)[GRID_CELL] = grid_row(&grid);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        GRID_PUT(row, i, "%s", heads[i]);
    for (simulate_way_t way = 0; way < SIMULATE_WAYS; way++) {
        const simulate_figures_t *figures = &planned->simulation[way];
        const double times[] = {figures->p5, figures->p50, figures->p95, figures->most};
        row = grid_row(&grid);
        GRID_PUT(row, 0, "%s", simulate_names[way]);
        for (size_t i = 0; i < sizeof times / sizeof *times; i++)
            GRID_PUT(row, 1 + i, "%s", seconds(some, times[i]));
        if (isfinite(figures->longer))
            GRID_PUT(row, 5, "%.0f %%", 100 * figures->longer);
        GRID_PUT(row, 6, "%.0f %%", 100 * figures->waiting);
        GRID_PUT(row, 7, "%.1f", figures->failed);
    }
    grid_print(&grid);
}

void plan_print(const planned_t *planned) {
    const plan_spec_t *spec = planned->spec;
    print_data(planned);
    print_cluster(planned);
    print_limits(planned);
    print_afterwards(planned);
    print_storage(planned);
    print_memory(planned);
    print_halving(planned);
    if (planned->simulation)
        print_simulation(planned);
    out_print(
        "\ncomputed with, in us a document: loader %.3g, router %.3g, primary %.3g, secondary %.3g, index "
        "%.3g, look %.3g;\n"
        "bytes on disk for one of BSON: %.3g, and %.3g of journal and oplog. What you have not given was "
        "measured:\n"
        "docs/planning.md says where, and how far such a plan can be trusted.\n",
        spec->client_us, spec->router_us, spec->primary_us, spec->secondary_us, spec->index_us, spec->scan_us,
        spec->stored_ratio, spec->log_ratio);
}

/* ---- JSON ---- */

static void json_work(const char *name, plan_work_t work) {
    static const char *const limits[] = {
        [PLAN_BY_CPU] = "cpu", [PLAN_BY_READ] = "disk_read", [PLAN_BY_WRITE] = "disk_write"};
    out_print("\"%s\":{\"seconds\":%.10g,\"limited_by\":\"%s\"}", name, work.seconds, limits[work.limit]);
}

static void json_inputs(const planned_t *planned) {
    const plan_spec_t *spec = planned->spec;
    cli_json_figure("documents", spec->documents);
    cli_json_figure("document_bytes", spec->document_bytes);
    cli_json_figure("text_bytes", spec->text_bytes);
    cli_json_figure("shards", spec->shards);
    cli_json_figure("replicas", spec->replicas);
    cli_json_figure("routers", spec->routers);
    cli_json_figure("loaders", spec->loaders);
    cli_json_figure("client_us", spec->client_us);
    cli_json_figure("router_us", spec->router_us);
    cli_json_figure("shard_us", spec->primary_us);
    cli_json_figure("secondary_us", spec->secondary_us);
    cli_json_figure("index_us", spec->index_us);
    cli_json_figure("scan_us", spec->scan_us);
    cli_json_figure("stored_ratio", spec->stored_ratio);
    cli_json_figure("log_ratio", spec->log_ratio);
}

static void json_limits(const plan_t *plan) {
    bool first = true;
    out_print(",\"limits\":[");
    for (plan_limit_t limit = 0; limit < PLAN_LIMITS; limit++) {
        if (plan->use[limit] <= 0)
            continue;
        out_print("%s{\"name\":\"%s\",\"seconds\":%.10g,\"times_for_half\":%.6g}", first ? "" : ",",
                  plan_limit_names[limit].word, plan->use[limit], plan_ease(plan, limit));
        first = false;
    }
    out_print("],\"limited_by\":");
    if (plan->limit == PLAN_LIMITS)
        out_print("null");
    else
        out_json(plan_limit_names[plan->limit].word);
}

static void json_compressors(const planned_t *planned) {
    bool first = true;
    out_print(",\"compressors\":[");
    for (const plan_compressor_t *at = plan_compressors; at->name; at++) {
        plan_t plan;
        if (!with_compressor(planned, at->name, &plan))
            continue;
        out_print("%s{\"name\":\"%s\",\"stored_bytes\":%.15g,\"load_seconds\":%.10g}", first ? "" : ",",
                  at->name, plan.stored, plan.load);
        first = false;
    }
    out_print("]");
}

static void json_simulation(const planned_t *planned) {
    static const char *const words[] = {"in_step", "own", "takeover", "handed_out"};
    out_print(",\"simulation\":{\"runs\":%u,\"ways\":[", planned->values->simulation.runs);
    for (simulate_way_t way = 0; way < SIMULATE_WAYS; way++) {
        const simulate_figures_t *figures = &planned->simulation[way];
        out_print("%s{\"name\":\"%s\"", way ? "," : "", words[way]);
        cli_json_figure("p5_seconds", figures->p5);
        cli_json_figure("p50_seconds", figures->p50);
        cli_json_figure("p95_seconds", figures->p95);
        cli_json_figure("least_seconds", figures->least);
        cli_json_figure("most_seconds", figures->most);
        cli_json_figure("longer_share", figures->longer);
        cli_json_figure("waiting_share", figures->waiting);
        cli_json_figure("failures", figures->failed);
        out_print("}");
    }
    out_print("]}");
}

void plan_print_json(const planned_t *planned) {
    const plan_t *plan = planned->plan;
    out_print("{\"schema\":1,\"command\":\"plan\",\"status\":0");
    json_inputs(planned);
    cli_json_figure("servers", plan->servers);
    cli_json_figure("shard_documents", plan->shard_documents);
    cli_json_figure("shard_bytes", plan->shard_bytes);
    cli_json_figure("largest_shard", plan->largest_shard);
    cli_json_figure("lanes_most", plan->lanes_most);
    json_limits(plan);
    cli_json_figure("load_seconds", plan->load);
    cli_json_figure("documents_per_second", plan->documents_per_second);
    out_print(",\"indexes\":[");
    for (size_t i = 0; i < planned->spec->index_count; i++) {
        out_print("%s{\"keys\":", i ? "," : "");
        out_json(planned->spec->indexes[i].keys);
        out_print(",");
        json_work("build", plan->indexes[i]);
        out_print("}");
    }
    out_print("],");
    json_work("scan", plan->scan);
    cli_json_figure("bson_bytes", plan->bson);
    cli_json_figure("stored_bytes", plan->stored);
    cli_json_figure("index_bytes", plan->index_bytes);
    cli_json_figure("server_bytes", plan->server_stored);
    cli_json_figure("servers_needed", plan->servers_needed);
    cli_json_figure("cache_bytes", plan->cache);
    cli_json_figure("cache_for_indexes", plan->server_indexes);
    cli_json_figure("cache_for_all", plan->server_all);
    cli_json_figure("price_per_hour", plan->hour);
    cli_json_figure("cost", plan->cost);
    json_compressors(planned);
    if (planned->simulation)
        json_simulation(planned);
    out_print("}\n");
}
