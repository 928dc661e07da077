#include "query/watch/watch.h"
#include "base/clock.h"
#include "base/log.h"
#include "query/watch/members.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
