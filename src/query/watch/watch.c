/* What happens during a measurement: CPU times of this host, and counters of the servers. */
#include "query/watch/watch.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/cluster.h"

#include <inttypes.h>
#include <math.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* ---- the CPUs of this host ---- */

bool watch_cpu_parse(const char *text, watch_cpu_t *cpu) {
    uint64_t user, nice, sys, idle, iowait = 0, irq = 0, softirq = 0, steal = 0;
    const double second = (double)sysconf(_SC_CLK_TCK);
    /* the columns after these are left out: guests, which user and nice already contain */
    if (sscanf(text,
               "cpu  %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
               " %" SCNu64,
               &user, &nice, &sys, &idle, &iowait, &irq, &softirq, &steal) < 4 ||
        strncmp(text, "cpu ", 4) != 0)
        return false;
    *cpu = (watch_cpu_t){(double)(user + nice) / second, (double)(sys + irq + softirq) / second,
                         (double)iowait / second, (double)idle / second, (double)steal / second};
    return true;
}

bool watch_cpu(watch_cpu_t *cpu) {
    char text[512];
    host_read_file("/proc/stat", text, sizeof text);
    return watch_cpu_parse(text, cpu);
}

static double more(double before, double after) {
    return after < before ? 0 : after - before;
}

void watch_cpu_add(watch_cpu_t *sum, const watch_cpu_t *before, const watch_cpu_t *after) {
    sum->user += more(before->user, after->user);
    sum->sys += more(before->sys, after->sys);
    sum->iowait += more(before->iowait, after->iowait);
    sum->idle += more(before->idle, after->idle);
    sum->steal += more(before->steal, after->steal);
}

static double all_of(const watch_cpu_t *spent) {
    return spent->user + spent->sys + spent->iowait + spent->idle + spent->steal;
}

double watch_cpu_busy(const watch_cpu_t *spent) {
    return (spent->user + spent->sys) / all_of(spent);
}

double watch_cpu_others(const watch_cpu_t *spent, double servers, double own) {
    static const double LEAST_SECONDS = 1;
    const double all = all_of(spent), others = (spent->user + spent->sys - servers - own) / all;
    return all < LEAST_SECONDS ? NAN : others < 0 ? 0 : others;
}

/* The kernel lets a socket be bound to this machine's addresses only. */
bool watch_is_here(const char *host) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM};
    struct addrinfo *found = NULL;
    bool here = host[0] == '/';
    if (here || getaddrinfo(host, NULL, &hints, &found) != 0)
        return here;
    for (const struct addrinfo *at = found; at && !here; at = at->ai_next) {
        const int fd = socket(at->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        here = fd >= 0 && bind(fd, at->ai_addr, at->ai_addrlen) == 0;
        if (fd >= 0)
            close(fd);
    }
    freeaddrinfo(found);
    return here;
}

/* ---- the servers ---- */

enum { CONNECT_MS = 1000, ANSWER_MS = 5000, FURTHER_DESCRIPTORS = 64 };

typedef struct {
    char name[300]; /* "127.0.0.1:27017" */
    bool holds_data, is_here;
    address_t address;
    mongoc_client_t *client; /* NULL: to be connected */
    watch_status_t before;   /* at the start of the interval */
} member_t;

struct watch {
    member_t *members;
    size_t count, room;
    bool complete; /* of each replica set a member answers */
    bool here;     /* a member is on this host */
    bool reported; /* a member that stopped answering */
    /* members that did not answer in watch_open; the first of them, and why */
    size_t silent;
    char silent_name[300];
    err_t why;
    /* at the start of the interval: */
    watch_cpu_t host;
    bool host_known;
    int64_t began_ns, own_ns;
};

watch_status_t watch_read_status(const bson_t *reply) {
    const double process = bson_read_number(reply, "pid");
    return (watch_status_t){.examined = bson_read_number(reply, "metrics.queryExecutor.scannedObjects"),
                            .cached_bytes = bson_read_number(reply, "wiredTiger.cache.bytes read into cache"),
                            .cpu_seconds = (bson_read_number(reply, "extra_info.user_time_us") +
                                            bson_read_number(reply, "extra_info.system_time_us")) /
                                           1e6,
                            .process = process > 0 && process < INT32_MAX ? (int64_t)process : 0};
}

/* A server that is reached by an address of this host may be elsewhere, at the end of a tunnel. Then, and in a
 * container, its process number means no process here, or another one. */
static bool is_server(int64_t process) {
    char path[64], name[16];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/comm", process);
    host_read_file(path, name, sizeof name);
    return strncmp(name, "mongod", 6) == 0 || strncmp(name, "mongos", 6) == 0;
}

/* After a failure it connects again, because the server may have been restarted. */
static bool ask(member_t *member, watch_status_t *status, err_t *err) {
    bson_error_t error = {.code = 0};
    bson_t reply = BSON_INITIALIZER;
    *status = (watch_status_t){NAN, NAN, NAN, 0};
    if (!member->client &&
        (member->client = mongoc_client_new_from_uri_with_error(member->address.uri, &error)))
        mongoc_client_set_error_api(member->client, MONGOC_ERROR_API_VERSION_2);
    const bool ok = (member->client && server_load_status(member->client, &reply, &error)) ||
                    refusal_explain(&member->address, &error, NULL, "run serverStatus", err);
    if (ok) {
        *status = watch_read_status(&reply);
        if (!member->is_here)
            status->cpu_seconds = 0;
        else if (!is_server(status->process))
            status->cpu_seconds = NAN;
    } else if (member->client) {
        mongoc_client_destroy(member->client);
        member->client = NULL;
    }
    bson_destroy(&reply);
    return ok;
}

static void end_member(member_t *member) {
    if (member->client)
        mongoc_client_destroy(member->client);
    address_free(&member->address);
}

/* ---- which servers there are ---- */

/* Addresses for a connection that needs no other member and no primary. */
static bool make_address(member_t *member, const server_t *server, const char *set, err_t *err) {
    if (!address_of_hosts(server_address(server), member->name, set, &member->address, err))
        return false;
    mongoc_uri_t *uri = member->address.uri;
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_DIRECTCONNECTION, true);
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, CONNECT_MS);
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, CONNECT_MS);
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS, ANSWER_MS);
    return true;
}

/* The host of "a:27017", "[::1]:27017" or "/tmp/mongodb-27017.sock". */
static bool is_here(const char *name) {
    char host[sizeof((member_t *)NULL)->name];
    const bool bracket = name[0] == '[';
    snprintf(host, sizeof host, "%s", name + bracket);
    if (host[0] != '/')
        host[strcspn(host, bracket ? "]" : ":")] = '\0';
    return watch_is_here(host);
}

/* Adds a member if it answers. set: of a shard. *answers: a member that holds data does. */
static bool add(watch_t *watch, const server_t *server, const char *name, const char *set, bool holds_data,
                bool *answers, err_t *err) {
    err_t why;
    const bool here = is_here(name);
    if (!holds_data && !here)
        return true;
    if (!GROW(watch->members, watch->room, watch->count + 1, err))
        return false;
    member_t *member = &watch->members[watch->count];
    *member = (member_t){.holds_data = holds_data, .is_here = here};
    snprintf(member->name, sizeof member->name, "%s", name);
    if (!make_address(member, server, set, err))
        return false;
    if (ask(member, &member->before, &why)) {
        watch->count++;
        watch->here = watch->here || here;
        *answers = *answers || holds_data;
        return true;
    }
    if (!watch->silent++) {
        snprintf(watch->silent_name, sizeof watch->silent_name, "%s", name);
        watch->why = why;
    }
    end_member(member);
    return true;
}

/* "hosts", "passives": the members that can be read from, reachable or not. Arbiters and hidden members are in other
 * lists. */
static bool add_listed(watch_t *watch, const server_t *server, const bson_t *hello, const char *list,
                       bool *answers, err_t *err) {
    bson_iter_t hosts;
    bool ok = true;
    if (bson_read_list(hello, list, &hosts))
        while (ok && bson_iter_next(&hosts))
            ok = !BSON_ITER_HOLDS_UTF8(&hosts) ||
                 add(watch, server, bson_iter_utf8(&hosts, NULL), NULL, true, answers, err);
    return ok;
}

/* Adds the members that the driver knows. */
static bool add_known(watch_t *watch, const server_t *server, mongoc_client_t *client, err_t *err) {
    const server_kind_t kind = server_facts(server)->kind;
    const bool whole_set =
        kind == SERVER_REPLICA_SET &&
        !mongoc_uri_get_option_as_bool(server_address(server)->uri, MONGOC_URI_DIRECTCONNECTION, false);
    size_t count;
    mongoc_server_description_t **all = mongoc_client_get_server_descriptions(client, &count);
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        const bson_t *hello = mongoc_server_description_hello_response(all[i]);
        if (!whole_set)
            ok = add(watch, server, mongoc_server_description_host(all[i])->host_and_port, NULL,
                     kind != SERVER_ROUTER, &watch->complete, err);
        else if (!watch->count && !watch->silent) /* all members have the same lists */
            ok = add_listed(watch, server, hello, "hosts", &watch->complete, err) &&
                 add_listed(watch, server, hello, "passives", &watch->complete, err);
    }
    mongoc_server_descriptions_destroy_all(all, count);
    return ok;
}

/* Adds the members of a shard, "s0/a:1,b:2", and drops *complete if none answers. */
static bool add_shard(watch_t *watch, const server_t *server, const bson_t *shard, bool *complete,
                      err_t *err) {
    char set[128], name[sizeof watch->members->name];
    const char *at = bson_read_text(shard, "host"), *slash = strchr(at, '/');
    bool answers = false, ok = true;
    snprintf(set, sizeof set, "%.*s", slash ? (int)(slash - at) : 0, at);
    for (at = slash ? slash + 1 : at; ok && *at; at += *at == ',') {
        const size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        ok = add(watch, server, name, *set ? set : NULL, true, &answers, err);
        at += length;
    }
    *complete = *complete && answers;
    return ok;
}

static bool add_shards(watch_t *watch, server_t *server, mongoc_client_t *client, err_t *err) {
    config_list_t shards;
    err_t why;
    bool hidden = false, ok = true;
    if (!config_find(server, client, "shards", bson_new(), NULL, &shards, &hidden, &why)) {
        log_note("the cluster's shards are not known (%s): documents examined and bytes read into caches "
                 "have no figures",
                 hidden ? "this user may not read its config database; the role clusterMonitor would do"
                        : why.text);
        return true;
    }
    bool complete = shards.count > 0;
    for (size_t i = 0; ok && i < shards.count; i++)
        ok = add_shard(watch, server, shards.documents[i], &complete, err);
    watch->complete = complete;
    config_free(&shards);
    return ok;
}

watch_t *watch_open(server_t *server, mongoc_client_t *client, err_t *err) {
    watch_t *watch = ZEROED(watch_t);
    err_t ignored;
    if (!watch) {
        err_memory(err, sizeof *watch);
        return NULL;
    }
    /* members without a descriptor cannot be connected to, and are reported like any other */
    host_want_descriptors("--clients", FURTHER_DESCRIPTORS, &ignored);
    if (!add_known(watch, server, client, err) ||
        (server_facts(server)->kind == SERVER_ROUTER && !add_shards(watch, server, client, err))) {
        watch_close(watch);
        return NULL;
    }
    if (watch->silent)
        log_note("no counters from %s%s (%s): documents examined and bytes read into caches %s",
                 watch->silent_name, watch->silent > 1 ? " and others" : "", watch->why.text,
                 watch->complete ? "are those of the other servers" : "have no figures");
    return watch;
}

void watch_close(watch_t *watch) {
    if (!watch)
        return;
    for (size_t i = 0; i < watch->count; i++)
        end_member(&watch->members[i]);
    free(watch->members);
    free(watch);
}

/* ---- one interval ---- */

static watch_status_t look(watch_t *watch, member_t *member) {
    watch_status_t status;
    err_t why;
    if (!ask(member, &status, &why) && !watch->reported) {
        watch->reported = true;
        log_note("%s does not answer any more (%s): documents examined and bytes read into caches have no "
                 "figures where it was gone",
                 member->name, why.text);
    }
    return status;
}

void watch_start(watch_t *watch) {
    for (size_t i = 0; i < watch->count; i++)
        watch->members[i].before = look(watch, &watch->members[i]);
    watch->host_known = watch_cpu(&watch->host);
    watch->own_ns = clock_process_cpu_ns();
    watch->began_ns = clock_now_ns();
}

/* NAN: another process than before, or the server does not say. */
static double rise(const watch_status_t *before, const watch_status_t *after, double was, double is) {
    return before->process && before->process == after->process && is >= was ? is - was : NAN;
}

static void add_counters(watch_t *watch, watch_sum_t *sum) {
    watch_figures_t *figures = &sum->figures;
    if (!watch->complete)
        figures->examined = figures->cached_bytes = NAN;
    for (size_t i = 0; i < watch->count; i++) {
        const watch_status_t *before = &watch->members[i].before;
        /* a member that did not answer before has no figure anyway */
        const watch_status_t after = before->process ? look(watch, &watch->members[i]) : *before;
        sum->servers += rise(before, &after, before->cpu_seconds, after.cpu_seconds);
        if (!watch->members[i].holds_data)
            continue;
        figures->examined += rise(before, &after, before->examined, after.examined);
        figures->cached_bytes += rise(before, &after, before->cached_bytes, after.cached_bytes);
    }
}

void watch_stop(watch_t *watch, watch_sum_t *sum) {
    watch_figures_t *figures = &sum->figures;
    watch_cpu_t host;
    sum->seconds += (double)(clock_now_ns() - watch->began_ns) / 1e9;
    sum->own += (double)(clock_process_cpu_ns() - watch->own_ns) / 1e9;
    if (watch_cpu(&host) && watch->host_known)
        watch_cpu_add(&sum->host, &watch->host, &host);
    else
        sum->host.user = NAN;
    add_counters(watch, sum);
    const double all = all_of(&sum->host);
    figures->user = sum->host.user / all;
    figures->sys = sum->host.sys / all;
    figures->iowait = sum->host.iowait / all;
    figures->idle = sum->host.idle / all;
    figures->steal = sum->host.steal / all;
    figures->server_cores = watch->here ? sum->servers / sum->seconds : NAN;
    figures->others = watch->complete ? watch_cpu_others(&sum->host, sum->servers, sum->own) : NAN;
}
