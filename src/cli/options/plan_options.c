#include "cli/options/plan_options.h"
#include "base/numbers/units.h"
#include "format/record/record_id.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kinds of numbers ---- */

typedef enum { COUNT, SIZE, BYTES, BITS, RATE, REAL, SHARE, TIME } kind_t;

typedef struct {
    const char *noun, *example;
} kind_name_t;

static const kind_name_t kind_names[] = {
    [COUNT] = {"whole number", "1000, 5k, 2m or 1.5g"},
    [SIZE] = {"size", "512M or 64G"},
    [BYTES] = {"number of bytes", "500MB or 46TB (of 1000, as disks are sold)"},
    [BITS] = {"number of bits a second", "1G or 10Gbit/s"},
    [RATE] = {"rate", "85k (documents a second) or 844MB (bytes a second)"},
    [REAL] = {"number", "4.6"},
    [SHARE] = {"share", "10% or 0.1"},
    [TIME] = {"time", "30s, 5m, 2h or 90d"},
};

enum {
    DOCUMENTS,
    DOCUMENT_BYTES,
    TEXT_BYTES,
    SHARDS,
    REPLICAS,
    SERVERS,
    CORES,
    RAM,
    DISK_SIZE,
    DISK,
    DISK_READ,
    IOPS,
    NETWORK,
    ROUTERS,
    ROUTER_CORES,
    LOADERS,
    LOADER_CORES,
    SOURCE,
    LOADER_RATE,
    ROUTER_RATE,
    SHARD_RATE,
    SERVER_RATE,
    CLIENT_US,
    ROUTER_US,
    SHARD_US,
    SECONDARY_US,
    INDEX_US,
    SCAN_US,
    RATIO,
    LOG_RATIO,
    PRICE,
    RUNS,
    LANES,
    SEED,
    SPREAD,
    SLOW,
    SLOW_SPEED,
    MTBF,
    REPAIR,
    LOADER_MTBF,
    LOADER_REPAIR,
    TAKEOVER,
    NUMBERS,
};

typedef struct {
    const char *option;
    kind_t kind;
    size_t offset;
    double least, most;
} number_t;

#define PLAN(name)     offsetof(plan_values_t, plan.name)
#define SIMULATE(name) offsetof(plan_values_t, simulation.name)

static const number_t numbers[] = {
    [DOCUMENTS] = {"documents", COUNT, PLAN(documents), 1, 1e15},
    [DOCUMENT_BYTES] = {"document-bytes", BYTES, PLAN(document_bytes), 5, 16 << 20},
    [TEXT_BYTES] = {"text-bytes", BYTES, PLAN(text_bytes), 0, 1 << 30},
    [SHARDS] = {"shards", COUNT, PLAN(shards), 1, 100000},
    [REPLICAS] = {"replicas", COUNT, PLAN(replicas), 1, 50},
    [SERVERS] = {"servers", COUNT, PLAN(servers), 1, 1e6},
    [CORES] = {"cores", COUNT, PLAN(cores), 1, 4096},
    [RAM] = {"ram", SIZE, PLAN(ram_bytes), 1 << 28, 1e15},
    [DISK_SIZE] = {"disk-size", BYTES, PLAN(disk_bytes), 1e9, 1e18},
    [DISK] = {"disk", BYTES, PLAN(disk_write), 1e3, 1e13},
    [DISK_READ] = {"disk-read", BYTES, PLAN(disk_read), 1e3, 1e13},
    [IOPS] = {"iops", COUNT, PLAN(iops), 1, 1e9},
    [NETWORK] = {"network", BITS, PLAN(network), 1e5, 1e14},
    [ROUTERS] = {"routers", COUNT, PLAN(routers), 0, 1e5},
    [ROUTER_CORES] = {"router-cores", COUNT, PLAN(router_cores), 1, 4096},
    [LOADERS] = {"loaders", COUNT, PLAN(loaders), 0, 1e5},
    [LOADER_CORES] = {"loader-cores", COUNT, PLAN(loader_cores), 1, 4096},
    [SOURCE] = {"source", BYTES, PLAN(source_read), 1e3, 1e13},
    [LOADER_RATE] = {"loader-rate", RATE, PLAN(loader_rate), 1, 1e13},
    [ROUTER_RATE] = {"router-rate", RATE, PLAN(router_rate), 1, 1e13},
    [SHARD_RATE] = {"shard-rate", RATE, PLAN(shard_rate), 1, 1e13},
    [SERVER_RATE] = {"server-rate", RATE, PLAN(server_rate), 1, 1e13},
    [CLIENT_US] = {"client-us", REAL, PLAN(client_us), 1e-3, 1e6},
    [ROUTER_US] = {"router-us", REAL, PLAN(router_us), 1e-3, 1e6},
    [SHARD_US] = {"shard-us", REAL, PLAN(primary_us), 1e-3, 1e6},
    [SECONDARY_US] = {"secondary-us", REAL, PLAN(secondary_us), 1e-3, 1e6},
    [INDEX_US] = {"index-us", REAL, PLAN(index_us), 1e-3, 1e6},
    [SCAN_US] = {"scan-us", REAL, PLAN(scan_us), 1e-3, 1e6},
    [RATIO] = {"ratio", REAL, PLAN(stored_ratio), 1e-3, 100},
    [LOG_RATIO] = {"log-ratio", REAL, PLAN(log_ratio), 1e-9, 100},
    [PRICE] = {"price", REAL, PLAN(price), 0, 1e6},
    [RUNS] = {"runs", COUNT, SIMULATE(runs), 1, 10000},
    [LANES] = {"lanes", COUNT, SIMULATE(lanes), 1, 1024},
    [SEED] = {"seed", COUNT, SIMULATE(seed), 0, 1e15},
    [SPREAD] = {"spread", SHARE, SIMULATE(spread), 0, 1},
    [SLOW] = {"slow", SHARE, SIMULATE(slow), 0, 1},
    [SLOW_SPEED] = {"slow-speed", SHARE, SIMULATE(slow_speed), 0.01, 1},
    [MTBF] = {"mtbf", TIME, SIMULATE(mtbf), 0, 1e10},
    [REPAIR] = {"repair", TIME, SIMULATE(repair), 1, 1e8},
    [LOADER_MTBF] = {"loader-mtbf", TIME, SIMULATE(loader_mtbf), 0, 1e10},
    [LOADER_REPAIR] = {"loader-repair", TIME, SIMULATE(loader_repair), 1, 1e8},
    [TAKEOVER] = {"takeover", TIME, SIMULATE(takeover), 0, 1e8},
};

/* Digits, then perhaps a letter for a power of 1000; *end is what stands behind. */
static bool read_thousands(const char *text, double *value, const char **end) {
    static const char letters[] = "kmgtp";
    const char *after;
    if (!units_number(text, value, &after))
        return false;
    const char *letter = *after ? strchr(letters, *after | 0x20) : NULL;
    if (letter)
        for (int i = 0; i <= letter - letters; i++)
            *value *= 1000;
    *end = after + (letter != NULL);
    return true;
}

static bool is_one_of(const char *text, const char *const *words) {
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool read_kind(const char *text, kind_t kind, double *value, bool *bytes) {
    static const char *const byte_words[] = {"", "B", "/s", "B/s", NULL};
    static const char *const bit_words[] = {"", "b", "bit", "bit/s", "b/s", "/s", NULL};
    static const char *const share_words[] = {"", "%", NULL};
    const char *end;
    uint64_t whole;
    int64_t ns;
    bool ok;
    if (kind == COUNT || kind == SIZE) {
        ok = kind == COUNT ? units_parse_count(text, &whole) : units_parse_size(text, &whole);
        *value = ok ? (double)whole : 0;
        return ok;
    }
    if (kind == TIME) {
        ok = units_parse_time(text, &ns);
        *value = ok ? (double)ns / 1e9 : 0;
        return ok;
    }
    if (!read_thousands(text, value, &end))
        return false;
    switch (kind) {
    case BYTES:
        return is_one_of(end, byte_words);
    case BITS:
        *value /= 8;
        return is_one_of(end, bit_words);
    case RATE:
        *bytes = *end == 'B';
        return is_one_of(end, byte_words);
    case SHARE:
        if (*end == '%')
            *value /= 100;
        return is_one_of(end, share_words);
    default:
        return *end == '\0';
    }
}

static bool read_number(plan_values_t *values, const number_t *number, const char *text, err_t *err) {
    void *at = (char *)values + number->offset;
    bool bytes = false;
    double value;
    if (!read_kind(text, number->kind, &value, &bytes))
        return err_set(err, STATUS_USAGE, "--%s: '%s' is not a %s; write it like %s", number->option, text,
                       kind_names[number->kind].noun, kind_names[number->kind].example);
    double checked = number->kind == BITS ? value * 8 : value;
    const bool outside = !(checked >= number->least && checked <= number->most);
    if (outside && number->kind == SHARE)
        return err_set(err, STATUS_USAGE, "--%s: %s is out of range; it goes from %.10g%% to %.10g%%",
                       number->option, text, 100 * number->least, 100 * number->most);
    if (outside)
        return err_set(err, STATUS_USAGE, "--%s: %s is out of range; it goes from %.10g to %.10g",
                       number->option, text, number->least, number->most);
    if (number->kind == RATE)
        *(plan_rate_t *)at = bytes ? (plan_rate_t){.bytes = value} : (plan_rate_t){.documents = value};
    else if (number->offset == SIMULATE(runs) || number->offset == SIMULATE(lanes))
        *(uint32_t *)at = (uint32_t)value;
    else if (number->offset == SIMULATE(seed))
        *(uint64_t *)at = (uint64_t)value;
    else
        *(double *)at = value;
    return true;
}

/* 'd:1,k:1=15' */
static bool read_index(plan_values_t *values, const char *text, err_t *err) {
    plan_index_t *index = &values->plan.indexes[values->plan.index_count];
    const char *equals = strrchr(text, '=');
    double bytes;
    bool unused;
    if (!equals || equals == text || !read_kind(equals + 1, BYTES, &bytes, &unused) || bytes < 1 ||
        bytes > 1024)
        return err_set(err, STATUS_USAGE,
                       "--index: '%s' does not say how many bytes a key has; write it like 'd:1,k:1=15'",
                       text);
    if (values->plan.index_count == PLAN_MOST_INDEXES)
        return err_set(err, STATUS_USAGE, "--index: given more than %d times", PLAN_MOST_INDEXES);
    snprintf(index->keys, sizeof index->keys, "%.*s", (int)(equals - text), text);
    index->key_bytes = bytes;
    values->plan.index_count++;
    return true;
}

/* Of each shard, in a simulation: fewer than four could hardly be handed out. */
enum { LEAST_LANES = 4, ELECTION_SECONDS = 15 };

void plan_options_init(plan_values_t *values) {
    *values = (plan_values_t){
        .compressor = "snappy",
        .plan = {.shards = 1, .replicas = 1, .loaders = 1, .cores = 8},
        .simulation = {.runs = 100,
                       .seed = 1,
                       .spread = 0.1,
                       .slow = 0.01,
                       .slow_speed = 0.5,
                       .mtbf = 90 * 86400.,
                       .repair = 600,
                       .loader_mtbf = 90 * 86400.,
                       .loader_repair = 3600,
                       .takeover = 20},
    };
}

bool plan_options_finish(plan_values_t *values, err_t *err) {
    plan_spec_t *plan = &values->plan;
    for (size_t i = 0; i < NUMBERS; i++)
        if (values->texts[i] && !read_number(values, &numbers[i], values->texts[i], err))
            return false;
    for (size_t i = RUNS; i <= TAKEOVER; i++)
        if (values->texts[i] && !values->simulate)
            return err_set(err, STATUS_USAGE, "--%s goes with --simulate", numbers[i].option);
    for (size_t i = 0; i < values->indexes.count; i++)
        if (!read_index(values, values->indexes.items[i], err))
            return false;
    const plan_compressor_t *known = plan_compressors;
    while (known->name && strcmp(known->name, values->compressor) != 0)
        known++;
    if (!known->name)
        return err_set(err, STATUS_USAGE, "--compressor: '%s' is none of none, snappy, zlib and zstd",
                       values->compressor);
    if (!values->texts[ROUTERS])
        plan->routers = plan->shards > 1 ? 1 : 0;
    if (!values->texts[ROUTER_CORES])
        plan->router_cores = plan->cores;
    if (!values->texts[LOADER_CORES])
        plan->loader_cores = plan->cores;
    if (!values->texts[DISK_READ])
        plan->disk_read = plan->disk_write;
    plan->by_lanes = !values->even;
    if (!values->texts[LANES])
        values->simulation.lanes = (uint32_t)fmax(LEAST_LANES, floor(RECORD_ID_LANES / plan->shards));
    if (!values->texts[REPAIR] && plan->replicas >= 3)
        values->simulation.repair = ELECTION_SECONDS;
    if (plan->shards == 1 && plan->routers > 0)
        return err_set(err, STATUS_USAGE,
                       "--routers: one shard needs none; give more --shards, or --routers 0");
    return true;
}

/* ---- the options ---- */

#define GROUP_MACHINES  "Machines"
#define GROUP_STORED    "What is stored"
#define GROUP_KNOWN     "What you have measured"
#define GROUP_SIMULATED "Simulation"

#define NUMBER(named, which, shown, text)         NUMBER_IN(NULL, false, named, which, shown, text)
#define FIRST(section, named, which, shown, text) NUMBER_IN(section, true, named, which, shown, text)
#define NUMBER_IN(section, is_first, named, which, shown, text)                                              \
    {                                                                                                        \
        .name = (named), .group = (section), .first = (is_first), .argument = (shown), .kind = OPTION_TEXT,  \
        .offset = offsetof(plan_values_t, texts[which]), .help = (text)                                      \
    }

const option_t plan_options[] = {
    {.name = "format",
     .group = GROUP_INPUT,
     .first = true,
     .letter = 'f',
     .argument = "NAME",
     .offers = "@formats @files",
     .kind = OPTION_TEXT,
     .offset = offsetof(plan_values_t, format),
     .environment = "TIPPLE_FORMAT",
     .help = "How to read the sample: a name from `tipple formats`, or a format file of your own. Without it "
             "the format is guessed, as for load."},
    GUESS_ROWS(plan_values_t, guess, types),
    FIRST(GROUP_INPUT, "documents", DOCUMENTS, "N",
          "How many documents (default: as many as the sample's files seem to hold)."),
    FIRST(GROUP_INPUT, "document-bytes", DOCUMENT_BYTES, "N",
          "Bytes of BSON of a document (default: the sample's mean)."),
    NUMBER("text-bytes", TEXT_BYTES, "N", "Bytes of a document in the files (default: the sample's mean)."),
    FIRST(GROUP_MACHINES, "shards", SHARDS, "N", "Shards of the cluster (default 1: no cluster)."),
    FIRST(GROUP_MACHINES, "replicas", REPLICAS, "N", "Members of each shard (default 1)."),
    NUMBER("servers", SERVERS, "N", "Machines that carry them (default: one for each member)."),
    NUMBER("cores", CORES, "N", "Cores of a server (default 8)."),
    NUMBER("ram", RAM, "SIZE", "Memory of a server, such as 64G."),
    FIRST(GROUP_MACHINES, "disk", DISK, "BYTES", "What a server's disks write in a second, such as 500MB."),
    NUMBER("disk-read", DISK_READ, "BYTES", "And read (default: as much)."),
    NUMBER("iops", IOPS, "N", "Operations a second of a server's disks, such as 96k."),
    NUMBER("disk-size", DISK_SIZE, "BYTES", "What fits on a server, such as 4TB."),
    FIRST(GROUP_MACHINES, "network", NETWORK, "BITS",
          "Network of each machine, in and out, in bits a second, such as 10G."),
    NUMBER("routers", ROUTERS, "N",
           "Routers on machines of their own (default 1 with several shards; 0: past them)."),
    NUMBER("router-cores", ROUTER_CORES, "N", "Cores of a router (default: as a server)."),
    NUMBER("loaders", LOADERS, "N", "Machines that run `tipple load` (default 1; 0: the servers do)."),
    NUMBER("loader-cores", LOADER_CORES, "N", "Cores of a loader (default: as a server)."),
    NUMBER("source", SOURCE, "BYTES", "What a loader reads of the files in a second, such as 200MB."),
    NUMBER("price", PRICE, "N", "Of a server, an hour, in any money."),
    {.name = "compressor",
     .group = GROUP_STORED,
     .argument = "NAME",
     .offers = "none snappy zlib zstd",
     .kind = OPTION_TEXT,
     .offset = offsetof(plan_values_t, compressor),
     .help = "Block compressor: none, snappy (the default), zlib or zstd."},
    NUMBER("ratio", RATIO, "N", "Bytes on disk for a byte of BSON, where you know better."),
    NUMBER("log-ratio", LOG_RATIO, "N", "Bytes of journal and oplog for a byte of BSON."),
    {.name = "index",
     .first = true,
     .argument = "KEYS=BYTES",
     .kind = OPTION_LIST,
     .offset = offsetof(plan_values_t, indexes),
     .help = "An index to build after the load and the bytes of one key, such as 'd:1,k:1=15'. May be "
             "given several times."},
    {.name = "even",
     .kind = OPTION_FLAG,
     .offset = offsetof(plan_values_t, even),
     .help = "The documents go to all shards evenly, by a hashed key or ids of your own, not by lanes."},
    FIRST(GROUP_KNOWN, "loader-rate", LOADER_RATE, "RATE",
          "What a loader sends in a second, measured: documents, such as 200k, or bytes, such as 500MB."),
    NUMBER("router-rate", ROUTER_RATE, "RATE", "What a router passes on."),
    NUMBER("shard-rate", SHARD_RATE, "RATE", "What a shard takes."),
    NUMBER("server-rate", SERVER_RATE, "RATE", "What all shards of a server take together."),
    NUMBER("client-us", CLIENT_US, "US", "CPU of a loader, microseconds a document."),
    NUMBER("router-us", ROUTER_US, "US", "CPU of a router."),
    NUMBER("shard-us", SHARD_US, "US", "CPU of a shard's primary."),
    NUMBER("secondary-us", SECONDARY_US, "US", "CPU of a secondary."),
    NUMBER("index-us", INDEX_US, "US", "Time that a shard needs for a document of one index."),
    NUMBER("scan-us", SCAN_US, "US", "Time that a shard needs to look at a document."),
    {.name = "simulate",
     .group = GROUP_SIMULATED,
     .first = true,
     .kind = OPTION_FLAG,
     .offset = offsetof(plan_values_t, simulate),
     .help = "Play the load with servers that are slow or fail, and print how its end spreads."},
    NUMBER("runs", RUNS, "N", "How often it is played (default 100)."),
    NUMBER("lanes", LANES, "N",
           "Into how many pieces a shard's work can be cut (default: its lanes, 4 at least)."),
    NUMBER("seed", SEED, "N", "The same seed plays the same (default 1)."),
    NUMBER("spread", SPREAD, "P%", "How much the servers' speeds differ (one deviation; default 10%)."),
    NUMBER("slow", SLOW, "P%", "How many shards are slow (default 1%)."),
    NUMBER("slow-speed", SLOW_SPEED, "P%", "What a slow shard has of its speed (default 50%)."),
    NUMBER("mtbf", MTBF, "TIME", "Between two failures of one server, on average (default 90d; 0: never)."),
    NUMBER("repair", REPAIR, "TIME",
           "Until a failed server is back (default 10m; 15s, an election, with three replicas or more)."),
    NUMBER("loader-mtbf", LOADER_MTBF, "TIME", "Between two failures of one loader (default 90d; 0: never)."),
    NUMBER("loader-repair", LOADER_REPAIR, "TIME",
           "Until somebody notices and starts it again, where no other takes over (default 1h)."),
    NUMBER("takeover", TAKEOVER, "TIME",
           "Until another loader takes over, where one does (default 20s: a lease)."),
    CLI_REPORT(plan_values_t),
    CLI_JSON(plan_values_t),
    {.name = NULL},
};
