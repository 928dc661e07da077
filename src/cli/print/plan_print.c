#include "cli/print/plan_print.h"
#include "base/numbers/units.h"
#include "base/out.h"
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
    out_print("%s %s of %s: %s of BSON", units_about(documents, spec->documents, !spec->estimated),
              few(spec->documents, "document", "documents"), units_bytes(size, spec->document_bytes),
              units_bytes(bson, planned->plan->bson));
    if (spec->text_bytes > 0)
        out_print(", from %s of text", units_bytes(text, planned->plan->text));
    out_print("\n");
    if (planned->gauge)
        out_print("as seen in %s %s of %s %s\n", count(seen, (double)planned->gauge->records),
                  few((double)planned->gauge->records, "record", "records"),
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
    out_print("each shard: %s %s, %s", units_about(documents, plan->shard_documents, false),
              few(round(plan->shard_documents), "document", "documents"),
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
    if (!(planned->spec->server_rate.documents > 0 || planned->spec->server_rate.bytes > 0))
        out_print("      where each server has %.0f %s of its own (--cores); a shared host takes many times "
                  "as long\n",
                  planned->spec->cores, few(planned->spec->cores, "core", "cores"));
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

static void print_ratios(const plan_t *plan) {
    if (plan->data_to_memory <= 0)
        return;
    out_print("data are %.1f times as large as the servers' memory", plan->data_to_memory);
    if (plan->disk_to_memory > 0)
        out_print(", their disks %.1f times", plan->disk_to_memory);
    out_print("\n");
}

static void print_operations(const planned_t *planned) {
    const plan_t *plan = planned->plan;
    const double iops = planned->spec->iops;
    char some[UNITS_MAX], size[UNITS_MAX];
    if (iops <= 0)
        return;
    out_print("disks of a server: %s operations a second", count(some, iops));
    if (plan->operation_bytes > 0)
        out_print(", of %s each at full speed", units_bytes(size, plan->operation_bytes));
    out_print("; all servers read %s documents/s that are not in memory\n",
              units_rate(some, iops * plan->servers));
}

static void print_price(double hour) {
    char year[UNITS_MAX];
    out_print("%.2f an hour, %s a year", hour, count(year, hour * PLAN_HOURS_A_YEAR));
}

static void print_cost(const plan_t *plan) {
    char needed[UNITS_MAX], servers[UNITS_MAX];
    if (plan->hour > 0) {
        out_print("cost: ");
        print_price(plan->hour);
        out_print(", %.2f until the %s\n", plan->cost,
                  plan->index_bytes > 0 ? "indexes are built" : "load is done");
    }
    if (plan->servers_needed > plan->servers)
        out_print("%s %s cannot hold it all, %s can", count(servers, plan->servers),
                  few(plan->servers, "server", "servers"), count(needed, plan->servers_needed));
    else if (plan->needed_hour > 0)
        out_print("%s %s would hold it all", count(needed, plan->servers_needed),
                  few(plan->servers_needed, "server", "servers"));
    else
        return;
    if (plan->needed_hour > 0) {
        out_print(": ");
        print_price(plan->needed_hour);
    }
    out_print("\n");
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
    print_ratios(plan);
    print_operations(planned);
    print_cost(plan);
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
    out_print("\nplayed %u %s over %s %s: speeds differ by %.0f %%, %.3g %% of shards have %.0f %% of "
              "theirs",
              spec->runs, few(spec->runs, "time", "times"), count(some, spec->shards),
              few(spec->shards, "shard", "shards"), 100 * spec->spread, 100 * spec->slow,
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

/* ---- for programs ---- */

static void put_work(bson_t *to, const void *works, size_t at) {
    static const char *const limits[] = {
        [PLAN_BY_CPU] = "cpu", [PLAN_BY_READ] = "disk_read", [PLAN_BY_WRITE] = "disk_write"};
    const plan_work_t *work = (const plan_work_t *)works + at;
    result_put(to, AS_FIGURE("seconds", work->seconds), AS_TEXT("limited_by", limits[work->limit]));
}

static void put_limit(bson_t *to, const void *of, size_t limit) {
    const plan_t *plan = of;
    if (plan->use[limit] > 0)
        result_put(to, AS_TEXT("name", plan_limit_names[limit].word), AS_FIGURE("seconds", plan->use[limit]),
                   AS_FIGURE("times_for_half", plan_ease(plan, (plan_limit_t)limit)));
}

static void put_index(bson_t *to, const void *of, size_t at) {
    const planned_t *planned = of;
    result_put(to, AS_TEXT("keys", planned->spec->indexes[at].keys),
               AS_INNER("build", put_work, planned->plan->indexes, at));
}

static void put_compressor(bson_t *to, const void *planned, size_t at) {
    const char *name = plan_compressors[at].name;
    plan_t plan;
    if (with_compressor(planned, name, &plan))
        result_put(to, AS_TEXT("name", name), AS_FIGURE("stored_bytes", plan.stored),
                   AS_FIGURE("load_seconds", plan.load));
}

static void put_way(bson_t *to, const void *simulation, size_t way) {
    static const char *const words[] = {"in_step", "own", "takeover", "handed_out"};
    const simulate_figures_t *figures = (const simulate_figures_t *)simulation + way;
    result_put(to, AS_TEXT("name", words[way]), AS_FIGURE("p5_seconds", figures->p5),
               AS_FIGURE("p50_seconds", figures->p50), AS_FIGURE("p95_seconds", figures->p95),
               AS_FIGURE("least_seconds", figures->least), AS_FIGURE("most_seconds", figures->most),
               AS_FIGURE("longer_share", figures->longer), AS_FIGURE("waiting_share", figures->waiting),
               AS_FIGURE("failures", figures->failed));
}

static void put_simulation(bson_t *to, const void *of, size_t at) {
    const planned_t *planned = of;
    (void)at;
    result_put(to, AS_COUNT("runs", planned->values->simulation.runs),
               AS_LIST("ways", SIMULATE_WAYS, put_way, planned->simulation));
}

void plan_make_result(bson_t *to, const planned_t *planned) {
    const plan_t *plan = planned->plan;
    const plan_spec_t *spec = planned->spec;
    size_t compressors = 0;
    while (plan_compressors[compressors].name)
        compressors++;
    result_put(
        to, AS_FIGURE("documents", spec->documents), AS_FIGURE("document_bytes", spec->document_bytes),
        AS_FIGURE("text_bytes", spec->text_bytes), AS_FIGURE("shards", spec->shards),
        AS_FIGURE("replicas", spec->replicas), AS_FIGURE("routers", spec->routers),
        AS_FIGURE("loaders", spec->loaders), AS_FIGURE("client_us", spec->client_us),
        AS_FIGURE("router_us", spec->router_us), AS_FIGURE("shard_us", spec->primary_us),
        AS_FIGURE("secondary_us", spec->secondary_us), AS_FIGURE("index_us", spec->index_us),
        AS_FIGURE("scan_us", spec->scan_us), AS_FIGURE("stored_ratio", spec->stored_ratio),
        AS_FIGURE("log_ratio", spec->log_ratio), AS_FIGURE("servers", plan->servers),
        AS_FIGURE("shard_documents", plan->shard_documents), AS_FIGURE("shard_bytes", plan->shard_bytes),
        AS_FIGURE("largest_shard", plan->largest_shard), AS_FIGURE("lanes_most", plan->lanes_most),
        AS_LIST("limits", PLAN_LIMITS, put_limit, plan),
        AS_TEXT("limited_by", plan->limit == PLAN_LIMITS ? NULL : plan_limit_names[plan->limit].word),
        AS_FIGURE("load_seconds", plan->load), AS_FIGURE("documents_per_second", plan->documents_per_second),
        AS_LIST("indexes", spec->index_count, put_index, planned), AS_INNER("scan", put_work, &plan->scan, 0),
        AS_FIGURE("bson_bytes", plan->bson), AS_FIGURE("stored_bytes", plan->stored),
        AS_FIGURE("index_bytes", plan->index_bytes), AS_FIGURE("server_bytes", plan->server_stored),
        AS_FIGURE("servers_needed", plan->servers_needed), AS_FIGURE("cache_bytes", plan->cache),
        AS_FIGURE("cache_for_indexes", plan->server_indexes), AS_FIGURE("cache_for_all", plan->server_all),
        AS_FIGURE("data_to_memory", plan->data_to_memory), AS_FIGURE("disk_to_memory", plan->disk_to_memory),
        AS_FIGURE("iops", spec->iops), AS_FIGURE("operation_bytes", plan->operation_bytes),
        AS_FIGURE("price_per_hour", plan->hour), AS_FIGURE("price_per_year", plan->hour * PLAN_HOURS_A_YEAR),
        AS_FIGURE("needed_price_per_hour", plan->needed_hour),
        AS_FIGURE("needed_price_per_year", plan->needed_hour * PLAN_HOURS_A_YEAR),
        AS_FIGURE("cost", plan->cost), AS_LIST("compressors", compressors, put_compressor, planned));
    if (planned->simulation)
        result_put(to, AS_INNER("simulation", put_simulation, planned, 0));
}
