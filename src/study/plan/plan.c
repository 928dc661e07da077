#include "study/plan/plan.h"
#include "format/record/record_id.h"

#include <math.h>
#include <string.h>

const plan_limit_name_t plan_limit_names[PLAN_LIMITS] = {
    [PLAN_SOURCE] = {"reading the files", "source"},
    [PLAN_CLIENT_CPU] = {"loaders' CPU", "client"},
    [PLAN_CLIENT_NETWORK] = {"loaders' network", "client_network"},
    [PLAN_ROUTER] = {"routers", "router"},
    [PLAN_ROUTER_NETWORK] = {"routers' network", "router_network"},
    [PLAN_SHARD] = {"the fullest shard", "shard"},
    [PLAN_SERVER] = {"servers' CPU", "server"},
    [PLAN_SERVER_NETWORK] = {"servers' network", "server_network"},
    [PLAN_DISK] = {"servers' disks", "disk"},
};

/* ---- what is measured (the tables of docs/planning.md say where) ---- */

/* Storage as measured with MOT rows, whose documents compress least because their values are few and short. */
const plan_compressor_t plan_compressors[] = {
    {"none", 1.09}, {"snappy", 0.44}, {"zlib", 0.31}, {"zstd", 0.30}, {NULL, 0}};

/* CPU in us: so much for each document, and so much for each of its bytes. */
typedef struct {
    const char *of;
    double each, a_byte;
} cost_t;

enum { STANDALONE, REPLICA_SET, CLUSTER };

static const cost_t client_costs[] = {
    {"standalone", 0.11, 0.00074}, {"replica set", 0.16, 0.00074}, {"cluster", 0.28, 0.00074}};
static const cost_t primary_costs[] = {
    {"standalone", 1.70, 0.0038}, {"replica set", 4.23, 0.0054}, {"cluster", 7.41, 0.0054}};

/* What a compressor costs the primary in addition to what snappy costs. */
static const cost_t compressor_costs[] = {
    {"none", 0, 0}, {"snappy", 0, 0}, {"zlib", 3.8, 0.0074}, {"zstd", 1.0, 0.0033}};

static const double router_us = 2.06, index_us = 1.4, scan_us = 1.0;

/* A journal is compressed with snappy. A replica set also writes each document into the oplog, and the oplog into the
 * journal and into a collection of its own. */
static const double logs_of_a_replica_set = 2.5;

/* What an index entry needs besides its key: the record's number, and its place in the page. */
enum { ENTRY_BYTES = 13 };

/* Measured: placing zones and chunks of 64 shards took 0.2226 s. */
static const double placing_a_shard = 0.2226 / 64;

static double cost(const cost_t *of, double bytes) {
    return of->each + of->a_byte * bytes;
}

static double ratio_of(const char *compressor) {
    for (const plan_compressor_t *at = plan_compressors; at->name; at++)
        if (strcmp(at->name, compressor) == 0)
            return at->ratio;
    return 1;
}

static void fill(double *figure, double measured) {
    if (*figure == 0)
        *figure = measured;
}

void plan_fill_in(plan_spec_t *spec, const char *compressor, double snappy) {
    int kind = spec->shards > 1 ? CLUSTER : spec->replicas > 1 ? REPLICA_SET : STANDALONE;
    double bytes = spec->document_bytes, more = 0;
    for (size_t i = 0; i < sizeof compressor_costs / sizeof *compressor_costs; i++)
        if (strcmp(compressor_costs[i].of, compressor) == 0)
            more = cost(&compressor_costs[i], bytes);
    fill(&spec->client_us, cost(&client_costs[kind], bytes));
    fill(&spec->primary_us, cost(&primary_costs[kind], bytes) + more);
    fill(&spec->secondary_us, cost(&primary_costs[STANDALONE], bytes) + more);
    fill(&spec->router_us, router_us);
    fill(&spec->index_us, index_us);
    fill(&spec->scan_us, scan_us);
    fill(&spec->stored_ratio, ratio_of(compressor));
    fill(&spec->log_ratio,
         (snappy > 0 ? snappy : ratio_of("snappy")) * (kind == STANDALONE ? 1 : logs_of_a_replica_set));
}

/* ---- checking ---- */

bool plan_check(const plan_spec_t *spec, err_t *err) {
    double members = spec->shards * spec->replicas;
    if (!(spec->documents >= 1))
        return err_set(err, STATUS_USAGE, "nothing to plan: there are no documents");
    if (!(spec->document_bytes >= 5))
        return err_set(err, STATUS_USAGE, "a document of %.0f bytes is none: BSON takes 5 at least",
                       spec->document_bytes);
    if (spec->document_bytes > 16 << 20)
        return err_set(err, STATUS_USAGE, "a document of %.0f bytes is too large: a server takes 16 MiB",
                       spec->document_bytes);
    if (spec->servers > members)
        return err_set(err, STATUS_USAGE,
                       "%.0f servers for %.0f members: %.0f of them would have nothing to do", spec->servers,
                       members, spec->servers - members);
    if (spec->servers > 0 && spec->servers < spec->replicas)
        return err_set(err, STATUS_USAGE,
                       "%.0f servers for %.0f replicas: two copies of a document would be on one server",
                       spec->servers, spec->replicas);
    return true;
}

/* ---- the load ---- */

/* Seconds for all documents if each of `count` works at a given rate. */
static double at_rate(const plan_spec_t *spec, plan_rate_t rate, double count) {
    double bytes = spec->documents * spec->document_bytes;
    return rate.documents > 0 ? spec->documents / (rate.documents * count)
           : rate.bytes > 0   ? bytes / (rate.bytes * count)
                              : 0;
}

static bool stated(plan_rate_t rate) {
    return rate.documents > 0 || rate.bytes > 0;
}

static double over(double work, double capacity) {
    return capacity > 0 ? work / capacity : 0;
}

static double largest_shard(const plan_spec_t *spec, plan_t *plan) {
    plan->lanes_least = floor(RECORD_ID_LANES / spec->shards);
    plan->lanes_most = ceil(RECORD_ID_LANES / spec->shards);
    if (!spec->by_lanes || spec->shards > RECORD_ID_LANES)
        return 1;
    return plan->lanes_most * spec->shards / RECORD_ID_LANES;
}

/* The share of all primaries, and of all members, that the fullest server has. */
typedef struct {
    double primaries, members;
} share_t;

static share_t fullest(const plan_spec_t *spec, const plan_t *plan) {
    double primaries = ceil(spec->shards / plan->servers), members = plan->members;
    double uneven = plan->servers >= spec->shards ? plan->largest_shard : 1;
    return (share_t){primaries / spec->shards * uneven, members / spec->shards * uneven};
}

static void client_side(const plan_spec_t *spec, plan_t *plan) {
    double bytes = spec->documents * spec->document_bytes;
    plan->use[PLAN_SOURCE] = over(plan->text, spec->source_read * fmax(spec->loaders, 1));
    if (spec->loaders > 0) {
        plan->use[PLAN_CLIENT_CPU] =
            stated(spec->loader_rate)
                ? at_rate(spec, spec->loader_rate, spec->loaders)
                : over(spec->documents * spec->client_us / 1e6, spec->loaders * spec->loader_cores);
        plan->use[PLAN_CLIENT_NETWORK] = over(bytes, spec->loaders * spec->network);
    }
    if (spec->routers > 0) {
        plan->use[PLAN_ROUTER] = stated(spec->router_rate) ? at_rate(spec, spec->router_rate, spec->routers)
                                                           : over(spec->documents * spec->router_us / 1e6,
                                                                  spec->routers * spec->router_cores);
        plan->use[PLAN_ROUTER_NETWORK] = over(bytes, spec->routers * spec->network);
    }
}

/* In: each copy once. Out: the copies for the secondaries, and what loaders on the servers send to other servers. */
static double server_network(const plan_spec_t *spec, const plan_t *plan, share_t share) {
    double bytes = spec->documents * spec->document_bytes;
    double remote = spec->loaders > 0 || spec->routers > 0 ? 1 : 1 - 1 / plan->servers;
    double in = bytes * (share.primaries * remote + share.members - share.primaries);
    double out = bytes * share.primaries * (spec->replicas - 1);
    if (spec->loaders == 0)
        out += bytes * remote / plan->servers;
    return over(fmax(in, out), spec->network);
}

static void server_side(const plan_spec_t *spec, plan_t *plan) {
    share_t share = fullest(spec, plan);
    double us = spec->primary_us * share.primaries + spec->secondary_us * (share.members - share.primaries);
    if (spec->loaders == 0)
        us += spec->client_us / plan->servers;
    plan->use[PLAN_SHARD] = at_rate(spec, spec->shard_rate, spec->shards) * plan->largest_shard;
    if (stated(spec->server_rate))
        plan->use[PLAN_SERVER] = at_rate(spec, spec->server_rate, 1) * share.primaries;
    else if (!stated(spec->shard_rate))
        plan->use[PLAN_SERVER] = over(spec->documents * us / 1e6, spec->cores);
    plan->use[PLAN_SERVER_NETWORK] = server_network(spec, plan, share);
    plan->use[PLAN_DISK] =
        over(plan->bson * (spec->stored_ratio + spec->log_ratio) * share.members, spec->disk_write);
}

static bool is_shared(plan_limit_t limit) {
    return limit <= PLAN_ROUTER_NETWORK;
}

static void judge(const plan_spec_t *spec, plan_t *plan) {
    double most = 0;
    plan->limit = PLAN_LIMITS;
    for (plan_limit_t limit = 0; limit < PLAN_LIMITS; limit++) {
        double *widest = is_shared(limit) ? &plan->common : &plan->own;
        *widest = fmax(*widest, plan->use[limit]);
        if (plan->use[limit] > most) {
            most = plan->use[limit];
            plan->limit = limit;
        }
    }
    plan->placing = spec->shards > 1 ? placing_a_shard * spec->shards : 0;
    plan->load = most > 0 ? most + plan->placing : 0;
    plan->documents_per_second = over(spec->documents, plan->load);
}

double plan_ease(const plan_t *plan, plan_limit_t limit) {
    const double target = plan->load / 2 - plan->placing;
    return target > 0 && plan->use[limit] > target ? plan->use[limit] / target : 1;
}

/* ---- after it ---- */

/* One pass over all data: each shard uses one core, and all members of a server share its disk. */
static plan_work_t pass(const plan_spec_t *spec, const plan_t *plan, double us, double members,
                        double written) {
    double data = plan->server_stored - plan->index_bytes / plan->servers;
    double turns = spec->cores > 0 && members > spec->cores ? members / spec->cores : 1;
    bool read =
        data > spec->ram_bytes; /* a scan of more than fits in memory finds nothing of the last scan in it */
    double of[] = {[PLAN_BY_CPU] = plan->shard_documents * plan->largest_shard * us / 1e6 * turns,
                   [PLAN_BY_READ] = read ? over(data, spec->disk_read) : 0,
                   [PLAN_BY_WRITE] = over(written, spec->disk_write)};
    plan_work_t work = {of[0], PLAN_BY_CPU};
    for (plan_work_limit_t i = PLAN_BY_READ; i <= PLAN_BY_WRITE; i++)
        if (of[i] > work.seconds)
            work = (plan_work_t){of[i], i};
    return work;
}

static void afterwards(const plan_spec_t *spec, plan_t *plan) {
    double entries = spec->documents * spec->replicas;
    plan->stored = plan->bson * spec->stored_ratio * spec->replicas;
    for (size_t i = 0; i < spec->index_count; i++)
        plan->index_bytes += entries * (spec->indexes[i].key_bytes + ENTRY_BYTES);
    plan->server_stored = (plan->stored + plan->index_bytes) / plan->servers;
    for (size_t i = 0; i < spec->index_count; i++) {
        double written = entries * (spec->indexes[i].key_bytes + ENTRY_BYTES) / plan->servers;
        plan->indexes[i] = pass(spec, plan, spec->index_us, plan->members, written);
        plan->index_seconds += plan->indexes[i].seconds;
    }
    plan->scan = pass(spec, plan, spec->scan_us, ceil(spec->shards / plan->servers), 0);
    if (spec->disk_bytes > 0) /* and no two copies of a shard on one server */
        plan->servers_needed =
            fmax(ceil((plan->stored + plan->index_bytes) / spec->disk_bytes), spec->replicas);
}

static void memory_and_price(const plan_spec_t *spec, plan_t *plan) {
    if (spec->ram_bytes > 0) /* as mongod does: half of RAM minus 1 GiB, but at least 256 MiB */
        plan->cache = fmax((spec->ram_bytes - (1 << 30)) / 2, 256 << 20);
    plan->server_indexes = plan->index_bytes / plan->servers;
    plan->server_all = plan->bson * spec->replicas / plan->servers + plan->server_indexes;
    plan->data_to_memory = over(plan->bson * spec->replicas / plan->servers, spec->ram_bytes);
    plan->disk_to_memory = over(spec->disk_bytes, spec->ram_bytes);
    plan->operation_bytes = over(spec->disk_write, spec->iops);
    plan->hour = plan->servers * spec->price;
    plan->needed_hour = plan->servers_needed * spec->price;
    plan->cost = plan->hour * (plan->load + plan->index_seconds) / 3600;
}

void plan_work_out(const plan_spec_t *spec, plan_t *plan) {
    *plan = (plan_t){.servers = spec->servers > 0 ? spec->servers : spec->shards * spec->replicas};
    plan->members = ceil(spec->shards * spec->replicas / plan->servers);
    plan->text = spec->documents * spec->text_bytes;
    plan->bson = spec->documents * spec->document_bytes;
    plan->largest_shard = largest_shard(spec, plan);
    plan->shard_documents = spec->documents / spec->shards;
    plan->shard_bytes = plan->bson / spec->shards;
    client_side(spec, plan);
    server_side(spec, plan);
    judge(spec, plan);
    afterwards(spec, plan);
    memory_and_price(spec, plan);
}
