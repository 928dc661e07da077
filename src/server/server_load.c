#include "server/server_load.h"
#include "base/clock.h"
#include "base/grow.h"
#include "server/bson_read.h"
#include "server/server_errors.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const double KEPT_FREE = 1.2, LEAST_SPARE = 0.15;

enum { FIXED_TICKETS = 64 };

/* ---- a reply's fields ---- */

/* NAN only if both are unknown. */
static double sum(double a, double b) {
    return isnan(a) ? b : isnan(b) ? a : a + b;
}

static double most(double a, double b) {
    return isnan(a) || b > a ? b : a;
}

/* Fields that are used as they are. If servers of different versions have a number in different places, all that are
 * there are added. */
static const struct {
    const char *path;
    size_t offset;
} fields[] = {
    {"wiredTiger.thread-yield.application thread time waiting for cache (usecs)",
     offsetof(server_load_sample_t, eviction_us)},
    {"wiredTiger.thread-yield.application thread time evicting (usecs)",
     offsetof(server_load_sample_t, eviction_us)},
    {"wiredTiger.cache.application thread time waiting for cache (usecs)",
     offsetof(server_load_sample_t, eviction_us)},
    {"wiredTiger.cache.application thread time evicting (usecs)",
     offsetof(server_load_sample_t, eviction_us)},
    {"globalLock.currentQueue.total", offsetof(server_load_sample_t, queued)},
    {"flowControl.isLagged", offsetof(server_load_sample_t, lagged)},
    {"wiredTiger.log.log sync operations", offsetof(server_load_sample_t, syncs)},
    {"wiredTiger.log.log sync time duration (usecs)", offsetof(server_load_sample_t, sync_us)},
    {"wiredTiger.transaction.transaction checkpoint most recent time (msecs)",
     offsetof(server_load_sample_t, checkpoint_ms)},
    {"wiredTiger.checkpoint.most recent time (msecs)", offsetof(server_load_sample_t, checkpoint_ms)},
    {"opLatencies.reads.ops", offsetof(server_load_sample_t, reads)},
    {"opLatencies.reads.latency", offsetof(server_load_sample_t, read_us)},
    {"extra_info.user_time_us", offsetof(server_load_sample_t, cpu_us)},
    {"extra_info.system_time_us", offsetof(server_load_sample_t, cpu_us)},
};

/* The share of tickets that are taken. A server that adjusts their number itself (7.0 on), to as few as it needs, is
 * judged by its queues. */
static double tickets(const bson_t *status, const char *kind) {
    char out[80], all[80];
    snprintf(out, sizeof out, "wiredTiger.concurrentTransactions.%s.out", kind);
    snprintf(all, sizeof all, "wiredTiger.concurrentTransactions.%s.totalTickets", kind);
    double total = bson_read_number(status, all);
    return total >= FIXED_TICKETS ? bson_read_number(status, out) / total : NAN;
}

void server_load_read(const bson_t *status, int64_t at_ns, server_load_sample_t *sample) {
    *sample =
        (server_load_sample_t){at_ns, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        double *field = (double *)(void *)((char *)sample + fields[i].offset);
        *field = sum(*field, bson_read_number(status, fields[i].path));
    }
    double cache = bson_read_number(status, "wiredTiger.cache.maximum bytes configured");
    if (cache > 0) {
        sample->used = bson_read_number(status, "wiredTiger.cache.bytes currently in the cache") / cache;
        sample->dirty = bson_read_number(status, "wiredTiger.cache.tracked dirty bytes in the cache") / cache;
        sample->updates = bson_read_number(status, "wiredTiger.cache.bytes allocated for updates") / cache;
    }
    sample->tickets = most(tickets(status, "read"), tickets(status, "write"));
    sample->behind_s = (bson_read_number(status, "repl.lastWrite.lastWriteDate") -
                        bson_read_number(status, "repl.lastWrite.majorityWriteDate")) /
                       1e3;
}

/* ---- asking ---- */

bool server_load_status(mongoc_client_t *client, server_load_about_t about, bson_t *reply,
                        bson_error_t *error) {
    static const struct {
        const char *name;
        bool without[2]; /* indexed by server_load_about_t */
    } sections[] = {{"metrics", {true, false}},
                    {"repl", {false, true}},
                    {"opLatencies", {false, true}},
                    {"flowControl", {false, true}},
                    {"globalLock", {false, true}},
                    {"locks", {true, true}},
                    {"tcmalloc", {true, true}},
                    {"transactions", {true, true}},
                    {"network", {true, true}},
                    {"security", {true, true}},
                    {"asserts", {true, true}},
                    {"mem", {true, true}},
                    {"sharding", {true, true}},
                    {"mirroredReads", {true, true}},
                    {"shardingStatistics", {true, true}},
                    {"catalogStats", {true, true}},
                    {"connections", {true, true}},
                    {"indexStats", {true, true}},
                    {"oplogTruncation", {true, true}},
                    {"electionMetrics", {true, true}},
                    {"hedgingMetrics", {true, true}}};
    bson_t command = BSON_INITIALIZER;
    mongoc_read_prefs_t *primary = mongoc_read_prefs_new(MONGOC_READ_PRIMARY);
    BSON_APPEND_INT32(&command, "serverStatus", 1);
    for (size_t i = 0; i < COUNT(sections); i++)
        if (sections[i].without[about])
            BSON_APPEND_INT32(&command, sections[i].name, 0);
    bool ok = mongoc_client_command_simple(client, "admin", &command,
                                           about == SERVER_LOAD_OF_PRIMARY ? primary : NULL, reply, error);
    mongoc_read_prefs_destroy(primary);
    bson_destroy(&command);
    return ok;
}

const char *server_load_refusal(const bson_error_t *error) {
    return error->domain == MONGOC_ERROR_SERVER && error->code == CODE_UNAUTHORIZED
               ? "this user may not run serverStatus there; the role clusterMonitor would do"
           : error->message[0] ? error->message
                               : "it does not say why";
}

bool server_load_ask(mongoc_client_t *client, server_load_sample_t *sample, bson_error_t *error) {
    bson_t reply;
    const bool ok = server_load_status(client, SERVER_LOAD_OF_PRIMARY, &reply, error);
    if (ok)
        server_load_read(&reply, clock_now_ns(), sample);
    bson_destroy(&reply);
    return ok;
}

double server_load_cores(mongoc_client_t *client) {
    bson_t *command = BCON_NEW("hostInfo", BCON_INT32(1)), reply;
    bool ok = mongoc_client_command_simple(client, "admin", command, NULL, &reply, NULL);
    double all = ok ? bson_read_number(&reply, "system.numCores") : NAN,
           own = ok ? bson_read_number(&reply, "system.numCoresAvailableToProcess") : NAN;
    bson_destroy(command);
    bson_destroy(&reply);
    return own > 0 && own < all ? own : all;
}

/* ---- judging ---- */

/* What is looked at, each as one number: between `ease` and `trouble` the pressure grows from 0 to 1. */
typedef struct {
    const server_load_sample_t *before, *now;
    const server_load_compared_t *compared;
} view_t;

static double used(const view_t *view) {
    return view->now->used * 100;
}

static double dirty(const view_t *view) {
    return view->now->dirty * 100;
}

static double updates(const view_t *view) {
    return view->now->updates * 100;
}

static double queued(const view_t *view) {
    return view->now->queued;
}

static double taken(const view_t *view) {
    return view->now->tickets * 100;
}

static double behind(const view_t *view) {
    return view->now->behind_s;
}

static double lagged(const view_t *view) {
    return view->now->lagged;
}

static double checkpoint(const view_t *view) {
    return view->now->checkpoint_ms / 1e3;
}

static double more(double before, double now) {
    return now >= before ? now - before : NAN; /* less than before: the server was restarted */
}

static double evicting(const view_t *view) {
    double took_us = (double)(view->now->at_ns - view->before->at_ns) / 1e3;
    return took_us > 0 ? more(view->before->eviction_us, view->now->eviction_us) / took_us * 100 : NAN;
}

static double sync_ms(const view_t *view) {
    double syncs = more(view->before->syncs, view->now->syncs);
    return syncs > 0 ? more(view->before->sync_us, view->now->sync_us) / syncs / 1e3 : NAN;
}

static double slower(const view_t *view) {
    return view->compared->read_times;
}

static double spare_taken(const view_t *view) {
    return view->compared->spare_taken * 100;
}

/* The storage engine's own limits, as they are by default. It begins to clean at 5 % dirty and 2.5 % of changes; at 20
 * and 10 % its clients must help. It begins to evict at 80 % full; at 95 % its clients must help. Trouble begins
 * between these. Flow control begins at 10 s; a checkpoint comes every 60 s. */
static const struct {
    double (*of)(const view_t *view);
    double ease, trouble;
    const char *reason; /* a format with the number */
} signs[SERVER_LOAD_SIGNS] = {
    {dirty, 5, 16, "cache %.0f%% dirty"},
    {used, 80, 92, "cache %.0f%% full"},
    {updates, 2.5, 8, "changes fill %.0f%% of the cache"},
    {evicting, 0, 20, "clients make room in the cache %.0f%% of the time"},
    {queued, 1, 10, "%.0f operations queued"},
    {taken, 50, 100, "%.0f%% of the tickets taken"},
    {behind, 1.5, 6, "the majority is %.0f s behind"},
    {lagged, 0, 1, "its flow control holds writes back"},
    {sync_ms, 25, 150, "the journal takes %.0f ms to reach the disk"},
    {checkpoint, 15, 55, "checkpoints take %.0f s"},
    {slower, 1.15, 1.6, "reads take %.1f times as long as usual"},
    {spare_taken, 50, 150, "the load takes %.0f%% of the CPU to spare"},
};

double server_load_read_us(const server_load_sample_t *before, const server_load_sample_t *now,
                           double *reads) {
    *reads = more(before->reads, now->reads);
    return *reads > 0 ? more(before->read_us, now->read_us) / *reads : NAN;
}

/* If about the square root of the number of cores stays free, it is equally rare on large and small hosts that all
 * cores are busy. */
double server_load_spare(double free_cores) {
    return fmax(free_cores - KEPT_FREE * sqrt(free_cores), LEAST_SPARE * free_cores);
}

double server_load_busy_cores(const server_load_sample_t *before, const server_load_sample_t *now) {
    double took_us = (double)(now->at_ns - before->at_ns) / 1e3;
    return took_us > 0 ? more(before->cpu_us, now->cpu_us) / took_us : NAN;
}

server_load_t server_load_judge(const server_load_sample_t *before, const server_load_sample_t *now,
                                const server_load_compared_t *compared) {
    const view_t view = {before, now, compared};
    server_load_t strain = {.reason = ""};
    double highest = 0;
    for (size_t i = 0; i < SERVER_LOAD_SIGNS; i++) {
        double value = signs[i].of(&view);
        double pressure = (value - signs[i].ease) / (signs[i].trouble - signs[i].ease);
        if (!(pressure > highest)) /* also skips what is not known */
            continue;
        highest = pressure;
        strain.sign = (int)i;
        /* the format is one of those above */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        snprintf(strain.reason, sizeof strain.reason, signs[i].reason, value);
#pragma GCC diagnostic pop
    }
    strain.pressure = highest < 1 ? highest : 1;
    return strain;
}
