#include "query/watch/watch.h"
#include "base/clock.h"
#include "base/conceal.h"
#include "base/host.h"
#include "base/log.h"
#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/server.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the servers that hold the data ---- */

/* A frozen server must not delay the measurements for longer. */
enum { CONNECT_MS = 1000, ANSWER_MS = 5000, DESCRIPTORS_BESIDE = 64 };

/* ---- what a server says ---- */

void member_read(const bson_t *reply, member_status_t *status) {
    double process = bson_read_number(reply, "pid");
    *status =
        (member_status_t){.examined = bson_read_number(reply, "metrics.queryExecutor.scannedObjects"),
                          .cached_bytes = bson_read_number(reply, "wiredTiger.cache.bytes read into cache"),
                          .process = process > 0 && process < INT32_MAX ? (int64_t)process : 0};
}

/* ---- asking ---- */

static bool connect_to(member_t *member, err_t *err) {
    bson_error_t error;
    if (member->client)
        return true;
    member->client = mongoc_client_new_from_uri_with_error(member->address.uri, &error);
    if (member->client)
        return mongoc_client_set_error_api(member->client, MONGOC_ERROR_API_VERSION_2);
    conceal_known(error.message);
    return err_set(err, STATUS_SERVER, "%s", error.message);
}

static void disconnect(member_t *member) {
    if (member->client)
        mongoc_client_destroy(member->client);
    member->client = NULL;
}

static bool ask_once(member_t *member, member_status_t *status, bson_error_t *error) {
    bson_t reply;
    const bool ok = server_load_status(member->client, &reply, error);
    if (ok)
        member_read(&reply, status);
    bson_destroy(&reply);
    return ok;
}

bool member_ask(member_t *member, member_status_t *status, err_t *err) {
    bson_error_t error = {.code = 0};
    *status = (member_status_t){NAN, NAN, 0};
    for (bool fresh = false; !fresh;) {
        /* otherwise it may be the connection of a server process that has been restarted */
        fresh = !member->client;
        if (!connect_to(member, err))
            return false;
        if (ask_once(member, status, &error))
            return true;
        if (error.domain == MONGOC_ERROR_SERVER)
            break;
        disconnect(member);
    }
    return refusal_explain(&member->address, &error, NULL, "run serverStatus", err);
}

/* ---- which servers there are ---- */

/* An address for a connection that needs no other member and no primary. */
static bool make_address(member_t *member, const server_t *server, const char *set, err_t *err) {
    char host[sizeof member->name * 3];
    const char *from = member->name;
    size_t used = 0;
    for (; *from; from++) /* the path of a socket */
        used += (size_t)snprintf(host + used, sizeof host - used, *from == '/' ? "%%2F" : "%c", *from);
    if (!address_of_hosts(server_address(server), host, set, &member->address, err))
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
    return host_is_here(host);
}

/* set: of a shard. Its members' names are as the shard sees them: "localhost" there may be another machine. */
static bool add(members_t *members, const server_t *server, const char *name, const char *group,
                const char *set, bool holds_data, err_t *err) {
    const bool here = is_here(name);
    if (!holds_data && !here)
        return true;
    member_t *larger = realloc(members->items, (members->count + 1) * sizeof *larger);
    if (!larger)
        return err_memory(err, (members->count + 1) * sizeof *larger);
    members->items = larger;
    member_t *member = &larger[members->count++];
    *member = (member_t){.holds_data = holds_data, .is_here = here};
    snprintf(member->name, sizeof member->name, "%s", name);
    snprintf(member->group, sizeof member->group, "%s", group);
    return make_address(member, server, set, err);
}

/* "hosts", "passives": the members that can be read from, reachable or not. Arbiters and hidden members are in other
 * lists. */
static bool add_listed(members_t *members, const server_t *server, const bson_t *hello, const char *list,
                       err_t *err) {
    bson_iter_t at, hosts;
    bool ok = true;
    if (bson_iter_init_find(&at, hello, list) && BSON_ITER_HOLDS_ARRAY(&at) && bson_iter_recurse(&at, &hosts))
        while (ok && bson_iter_next(&hosts))
            ok = !BSON_ITER_HOLDS_UTF8(&hosts) ||
                 add(members, server, bson_iter_utf8(&hosts, NULL), "", NULL, true, err);
    return ok;
}

/* Adds the members that the driver knows. */
static bool add_known(members_t *members, const server_t *server, mongoc_client_t *client, err_t *err) {
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
            ok = add(members, server, mongoc_server_description_host(all[i])->host_and_port, "", NULL,
                     kind != SERVER_ROUTER, err);
        else if (!members->count) /* all members have the same lists */
            ok = add_listed(members, server, hello, "hosts", err) &&
                 add_listed(members, server, hello, "passives", err);
    }
    mongoc_server_descriptions_destroy_all(all, count);
    return ok;
}

/* Adds the members of a shard: "s0/a:1,b:2". */
static bool add_shard(members_t *members, const server_t *server, const bson_t *shard, err_t *err) {
    bson_iter_t id, host;
    char set[128], name[sizeof members->items->name];
    if (!bson_iter_init_find(&id, shard, "_id") || !BSON_ITER_HOLDS_UTF8(&id) ||
        !bson_iter_init_find(&host, shard, "host") || !BSON_ITER_HOLDS_UTF8(&host))
        return true;
    const char *at = bson_iter_utf8(&host, NULL), *slash = strchr(at, '/');
    snprintf(set, sizeof set, "%.*s", slash ? (int)(slash - at) : 0, at);
    bool ok = true;
    for (at = slash ? slash + 1 : at; ok && *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        snprintf(name, sizeof name, "%.*s", (int)length, at);
        ok = add(members, server, name, bson_iter_utf8(&id, NULL), *set ? set : NULL, true, err);
        at += length;
    }
    return ok;
}

static bool add_shards(members_t *members, server_t *server, mongoc_client_t *client, err_t *err) {
    config_list_t shards;
    err_t why;
    bool hidden = false, ok = true;
    if (!config_find(server, client, "shards", bson_new(), NULL, &shards, &hidden, &why)) {
        log_note(
            "the cluster's shards are not known (%s): documents examined and bytes read into caches have "
            "no figures",
            hidden ? "this user may not read its config database; the role clusterMonitor would do"
                   : why.text);
        return true;
    }
    for (size_t i = 0; ok && i < shards.count; i++)
        ok = add_shard(members, server, shards.documents[i], err);
    config_free(&shards);
    return ok;
}

/* ---- which servers answer ---- */

static bool has_answer(const members_t *members, const bool *answers, const char *group) {
    for (size_t i = 0; i < members->count; i++)
        if (answers[i] && members->items[i].holds_data && strcmp(members->items[i].group, group) == 0)
            return true;
    return false;
}

static void tell_of_silence(const members_t *members, const bool *answers, const err_t *why) {
    size_t silent = 0, first = members->count;
    char others[32] = "";
    for (size_t i = members->count; i-- > 0;)
        if (!answers[i]) {
            first = i;
            silent++;
        }
    if (!silent)
        return;
    if (silent > 1)
        snprintf(others, sizeof others, " and %zu more", silent - 1);
    log_note("%s%s will not tell what %s counted (%s): documents examined and bytes read into caches %s",
             members->items[first].name, others, silent > 1 ? "they have" : "it has", why->text,
             members->complete ? "are those of the others" : "have no figures");
}

static void end_member(member_t *member) {
    disconnect(member);
    address_free(&member->address);
}

/* Keeps those that answer. */
static bool ask_all(members_t *members, err_t *err) {
    bool *answers = calloc(members->count + 1, sizeof *answers), silence = false;
    member_status_t status;
    err_t first = {.text = ""}, why;
    size_t kept = 0, holding = 0;
    if (!answers)
        return err_memory(err, members->count * sizeof *answers);
    for (size_t i = 0; i < members->count; i++) {
        answers[i] = member_ask(&members->items[i], &status, &why);
        if (!answers[i] && !silence) {
            silence = true;
            first = why;
        }
    }
    members->complete = true;
    for (size_t i = 0; i < members->count; i++)
        if (members->items[i].holds_data) {
            holding++;
            members->complete = members->complete && has_answer(members, answers, members->items[i].group);
        }
    members->complete = members->complete && holding > 0;
    tell_of_silence(members, answers, &first);
    for (size_t i = 0; i < members->count; i++)
        if (answers[i])
            members->items[kept++] = members->items[i];
        else
            end_member(&members->items[i]);
    members->count = kept;
    free(answers);
    return true;
}

bool members_open(members_t *members, server_t *server, mongoc_client_t *client, err_t *err) {
    err_t ignored;
    *members = (members_t){.count = 0};
    bool ok = add_known(members, server, client, err) &&
              (server_facts(server)->kind != SERVER_ROUTER || add_shards(members, server, client, err));
    /* if there are too few descriptors for all: members without one cannot be connected to, and are reported like any
     * other */
    if (ok)
        host_want_descriptors("--threads", members->count + DESCRIPTORS_BESIDE, &ignored);
    return ok && ask_all(members, err);
}

void members_close(members_t *members) {
    for (size_t i = 0; i < members->count; i++)
        end_member(&members->items[i]);
    free(members->items);
    *members = (members_t){.count = 0};
}

/* ---- intervals ---- */

typedef struct {
    int64_t number;
    uint64_t ticks; /* at the start of the interval */
} process_t;

struct watch {
    members_t members;
    /* as they were at the start of the interval: */
    member_status_t *before; /* of each member */
    process_t *processes;    /* of members on this host, each once */
    size_t process_count;
    bool processes_known;
    cpu_times_t host;
    bool host_known;
    int64_t began_ns;
    bool told; /* it was reported that a server is gone */
};

watch_t *watch_open(server_t *server, mongoc_client_t *client, err_t *err) {
    watch_t *watch = calloc(1, sizeof *watch);
    if (!watch) {
        err_memory(err, sizeof *watch);
        return NULL;
    }
    bool ok = members_open(&watch->members, server, client, err);
    size_t count = watch->members.count;
    watch->before = calloc(count + 1, sizeof *watch->before);
    watch->processes = calloc(count + 1, sizeof *watch->processes);
    if (ok && watch->before && watch->processes)
        return watch;
    if (ok)
        err_memory(err, count * sizeof *watch->before);
    watch_close(watch);
    return NULL;
}

void watch_close(watch_t *watch) {
    if (!watch)
        return;
    members_close(&watch->members);
    free(watch->before);
    free(watch->processes);
    free(watch);
}

/* ---- sums ---- */

static uint64_t more(uint64_t before, uint64_t after) {
    return after > before ? after - before : 0;
}

void watch_add_host(watch_sum_t *sum, const cpu_times_t *before, const cpu_times_t *after) {
    watch_figures_t *figures = &sum->figures;
    cpu_times_t *host = &sum->host;
    host->user += more(before->user, after->user);
    host->sys += more(before->sys, after->sys);
    host->iowait += more(before->iowait, after->iowait);
    host->idle += more(before->idle, after->idle);
    /* an interval shorter than a tick may have none: NAN until there is one */
    const double all = (double)(host->user + host->sys + host->iowait + host->idle);
    figures->user = (double)host->user / all;
    figures->sys = (double)host->sys / all;
    figures->iowait = (double)host->iowait / all;
    figures->idle = (double)host->idle / all;
}

/* ---- the servers' processes on this host ---- */

/* A process number means the same process only if both sides use the same process table. Elsewhere, for example in a
 * container, the number means no process or another one. */
static bool is_server(int64_t number, cpu_process_t *found) {
    return cpu_process(number, found) &&
           (strncmp(found->name, "mongod", 6) == 0 || strncmp(found->name, "mongos", 6) == 0);
}

static void add_process(watch_t *watch, const member_t *member, int64_t number) {
    cpu_process_t found;
    if (!member->is_here || !number || !is_server(number, &found))
        return;
    for (size_t i = 0; i < watch->process_count; i++)
        if (watch->processes[i].number == number)
            return;
    watch->processes[watch->process_count++] = (process_t){.number = number};
}

static void start_processes(watch_t *watch) {
    cpu_process_t found;
    watch->processes_known = watch->process_count > 0;
    for (size_t i = 0; i < watch->process_count; i++) {
        if (is_server(watch->processes[i].number, &found))
            watch->processes[i].ticks = found.ticks;
        else
            watch->processes_known = false;
    }
}

/* In ticks; NAN: there are none, or one has ended. */
static double stop_processes(const watch_t *watch) {
    cpu_process_t found;
    double ticks = 0;
    for (size_t i = 0; i < watch->process_count; i++) {
        if (!is_server(watch->processes[i].number, &found) || found.ticks < watch->processes[i].ticks)
            return NAN;
        ticks += (double)(found.ticks - watch->processes[i].ticks);
    }
    return watch->processes_known ? ticks : NAN;
}

/* ---- the servers' counters ---- */

static member_status_t ask(watch_t *watch, member_t *member) {
    member_status_t status;
    err_t why;
    if (!member_ask(member, &status, &why) && !watch->told) {
        watch->told = true;
        log_note("%s does not answer any more (%s): documents examined and bytes read into caches have no "
                 "figures where it was gone",
                 member->name, why.text);
    }
    return status;
}

/* NAN: another process than before, or the server does not tell. */
static double counted(const member_status_t *before, const member_status_t *after, double was, double is) {
    return before->process && before->process == after->process && is >= was ? is - was : NAN;
}

static void add_counters(watch_t *watch, watch_sum_t *sum) {
    double examined = 0, cached_bytes = 0;
    for (size_t i = 0; i < watch->members.count; i++) {
        member_t *member = &watch->members.items[i];
        const member_status_t *before = &watch->before[i];
        if (!member->holds_data)
            continue;
        /* a member that did not answer before has no figure anyway */
        member_status_t after = before->process ? ask(watch, member) : *before;
        examined += counted(before, &after, before->examined, after.examined);
        cached_bytes += counted(before, &after, before->cached_bytes, after.cached_bytes);
    }
    sum->figures.examined += watch->members.complete ? examined : NAN;
    sum->figures.cached_bytes += watch->members.complete ? cached_bytes : NAN;
}

/* ---- one interval ---- */

void watch_start(watch_t *watch) {
    watch->process_count = 0;
    for (size_t i = 0; i < watch->members.count; i++) {
        member_t *member = &watch->members.items[i];
        watch->before[i] = ask(watch, member);
        add_process(watch, member, watch->before[i].process);
    }
    start_processes(watch);
    watch->host_known = cpu_host(&watch->host);
    watch->began_ns = clock_now_ns();
}

void watch_stop(watch_t *watch, watch_sum_t *sum) {
    watch_figures_t *figures = &sum->figures;
    cpu_times_t host;
    sum->seconds += (double)(clock_now_ns() - watch->began_ns) / 1e9;
    if (cpu_host(&host) && watch->host_known)
        watch_add_host(sum, &watch->host, &host);
    else
        figures->user = figures->sys = figures->iowait = figures->idle = NAN;
    sum->server_ticks += stop_processes(watch);
    figures->server_cores = sum->server_ticks / cpu_ticks_per_second() / sum->seconds;
    add_counters(watch, sum);
}
