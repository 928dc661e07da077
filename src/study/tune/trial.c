#include "study/tune/trial.h"
#include "base/clock.h"
#include "base/host/cpu.h"
#include "base/host/net.h"
#include "base/log.h"
#include "base/stop.h"
#include "query/watch/watch.h"
#include "server/server_load.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- from beginning to end ---- */

static bool check_inputs(trials_t *trials, const load_spec_t *load, err_t *err) {
    schema_t *schema =
        supplies_find_format(load, "trials read their sample again and again", &trials->guessed, err);
    if (schema)
        snprintf(trials->format, sizeof trials->format, "%s", schema->name);
    schema_destroy(schema);
    return schema != NULL;
}

bool trials_open(trials_t *trials, const load_spec_t *load, err_t *err) {
    *trials = (trials_t){.result = calloc(1, sizeof(load_result_t))};
    step_begin(&trials->step, "looking at files and server");
    return (trials->result || err_memory(err, sizeof *trials->result)) && check_inputs(trials, load, err) &&
           (trials->scratch = scratch_open(load->uri, SCRATCH_TUNE, load->patience_ns, err));
}

bool trials_close(trials_t *trials, err_t *err) {
    step_end(&trials->step);
    const bool ok = scratch_close(trials->scratch, err);
    free(trials->result);
    free(trials->guessed);
    return ok;
}

/* ---- who is busy ---- */

typedef struct {
    cpu_times_t host;
    net_t net;
    bool host_known, net_known;
    server_load_sample_t server;
} busy_t;

static void look_at_busy(mongoc_client_t *client, busy_t *busy) {
    busy->host_known = cpu_host(&busy->host);
    busy->net_known = net_look(&busy->net);
    busy->server = server_load_ask(client);
}

/* As doubles: a kernel's counter of waiting time may go back. */
static double host_share(const cpu_times_t *before, const cpu_times_t *after) {
    const double work = (double)after->user - (double)before->user + (double)after->sys - (double)before->sys,
                 rest = (double)after->iowait - (double)before->iowait + (double)after->idle -
                        (double)before->idle;
    return work > 0 && work + rest > 0 ? fmin(work / (work + rest), 1) : NAN;
}

double trials_server_cpus(const trials_t *trials) {
    return server_load_cores(scratch_client(trials->scratch));
}

/* ---- one trial ---- */

void tune_figures_add(tune_figures_t *sum, const tune_figures_t *one) {
    sum->trials += one->trials;
    sum->documents += one->documents;
    sum->retries += one->retries;
    sum->bytes += one->bytes;
    sum->seconds += one->seconds;
    sum->client_cores += one->client_cores;
    sum->host_busy += one->host_busy;
    sum->server_cores += one->server_cores;
    sum->network += one->network;
    snprintf(sum->limited_by, sizeof sum->limited_by, "%s", one->limited_by);
}

/* The load's own messages would be repeated hundreds of times. */
static bool load_quietly(trials_t *trials, const load_spec_t *load, err_t *err) {
    const log_level_t level = log_level();
    load_spec_t quiet = *load;
    supplies_make_sample(&quiet, load->limit);
    quiet.uri = scratch_place(trials->scratch);
    quiet.guessed = trials->guessed;
    if (level != LOG_VERBOSE)
        log_set_level(LOG_SILENT);
    const bool ok = load_run(&quiet, trials->result, err);
    load_result_free(trials->result);
    log_set_level(level);
    if (!trials->told)
        trials->told = supplies_tell_rejects(&trials->result->counts);
    return ok;
}

static void put_figures(const load_result_t *trial, const busy_t *before, const busy_t *after,
                        tune_figures_t *figures) {
    const double seconds = (double)(trial->moving_ns ? trial->moving_ns : 1) / 1e9;
    const bool host = before->host_known && after->host_known, net = before->net_known && after->net_known;
    *figures =
        (tune_figures_t){.trials = 1,
                         .documents = trial->counts.loaded,
                         .retries = trial->retries,
                         .bytes = NAN,
                         .seconds = seconds,
                         .client_cores = (double)trial->cpu_ns / (double)trial->took_ns * seconds,
                         .host_busy = host ? host_share(&before->host, &after->host) * seconds : NAN,
                         .server_cores = server_load_busy_cores(&before->server, &after->server) * seconds,
                         .network = net ? net_fullest(&before->net, &after->net) * seconds : NAN};
    snprintf(figures->limited_by, sizeof figures->limited_by, "%s", trial->limited_by);
}

/* Files have their size once a checkpoint was written. */
static bool take_size(trials_t *trials, tune_figures_t *figures, err_t *err) {
    server_t *server = scratch_server(trials->scratch);
    watch_storage_t storage;
    trials->checkpoints = scratch_checkpoint(trials->scratch);
    if (!watch_storage(server, scratch_client(trials->scratch), server_collection(server), &storage, err))
        return false;
    if (trials->checkpoints)
        figures->bytes = storage.data_bytes + storage.index_bytes;
    return true;
}

/* The first failure is kept. */
static bool end(trials_t *trials, bool ok, err_t *err) {
    err_t dropping;
    const bool dropped = scratch_drop(trials->scratch, &dropping);
    if (ok && !dropped)
        *err = dropping;
    ok = ok && dropped;
    /* a load that was stopped continues where it stopped; trials do not */
    if (stop_signal() && (ok || err->status == (status_t)(128 + stop_signal())))
        ok = err_set(err, (status_t)(128 + stop_signal()), "interrupted");
    return ok && supplies_made_documents(&trials->result->counts, "measured", err);
}

bool trials_make(trials_t *trials, const load_spec_t *load, tune_figures_t *figures, err_t *err) {
    const int64_t began = clock_now_ns();
    mongoc_client_t *client = scratch_client(trials->scratch);
    busy_t before, after;
    look_at_busy(client, &before);
    bool ok = load_quietly(trials, load, err);
    look_at_busy(client, &after);
    put_figures(trials->result, &before, &after, figures);
    ok = end(trials, ok && (stop_signal() || take_size(trials, figures, err)), err);
    trials->took_ns = clock_now_ns() - began;
    return ok;
}
