#include "load/load.h"
#include "base/clock.h"
#include "base/host/host.h"
#include "base/log.h"
#include "base/shell_word.h"
#include "base/stop.h"
#include "base/zeroed.h"
#include "format/format.h"
#include "format/schema/schema_short.h"
#include "input/cutter.h"
#include "load/before/check_inputs.h"
#include "load/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Each shard takes batches from several threads at once; more than this many do not come by default. */
enum { THREADS_A_SHARD = 4, KEPT_SHARE = 8 /* of --memory, for small files */ };

void load_spec_init(load_spec_t *spec) {
    *spec = (load_spec_t){.format = NULL,
                          .batch = LOAD_BATCH,
                          .batch_bytes = 2 << 20,
                          .memory = 256ull << 20,
                          .max_record = 16 << 20,
                          .limit = UINT64_MAX,
                          .max_rejects = REJECT_USUAL_MOST,
                          .max_rejects_percent = -1,
                          .patience_ns = 30000000000};
}

/* --- before anything is touched
 * ------------------------------------------------------------------------------------ */

/* A shard key stays for good, and with one that no document has all of them go to one shard. */
static bool check_shard_key(const job_t *job, err_t *err) {
    shardkey_t key;
    if (!shardkey_parse(job->spec->shard_key, &key, err))
        return false;
    bool ok = true;
    for (size_t i = 0; ok && i < key.count; i++) {
        const char *path = key.fields[i].path, *near = NULL;
        if (strcmp(path, "_id") != 0 && !schema_makes(job->schema, path, &near))
            ok = err_set(err, STATUS_USAGE,
                         "--shard-key %s: the documents of the format '%s' have no key '%s'%s%s%s",
                         job->spec->shard_key, job->schema->name, path, near ? "; did you mean '" : "",
                         near ? near : "", near ? "'?" : "");
    }
    shardkey_free(&key);
    return ok;
}

static bool read_spec(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    if (!limits_check(spec->threads, spec->memory, spec->max_record, err) ||
        !limits_check_batch(spec->batch, spec->batch_bytes, err) ||
        !(job->schema = format_open(spec->format, err)))
        return false;
    snprintf(job->result->format, sizeof job->result->format, "%s", job->schema->name);
    if (spec->filter_count &&
        !(job->filter = filter_parse(job->schema, spec->filters, spec->filter_count, err)))
        return false;
    if (spec->short_keys && !schema_shorten(job->schema, err)) /* filters speak of the format's own keys */
        return false;
    if (spec->shard_key && strcmp(spec->shard_key, "none") != 0 && !check_shard_key(job, err))
        return false;
    for (; job->index_count < spec->index_count; job->index_count++) {
        if (job->index_count == JOB_MOST_INDEXES)
            return err_set(err, STATUS_USAGE, "--index: more than %d indexes at once", JOB_MOST_INDEXES);
        if (!collection_parse_index(spec->indexes[job->index_count], &job->indexes[job->index_count], err))
            return false;
    }
    if (spec->rejects && !spec->dry_run && !rejects_may_use(spec->rejects, err))
        return false;
    if (spec->retry)
        return access(spec->retry, R_OK) == 0 ||
               err_set(err, STATUS_USAGE, "the reject file %s cannot be read: %m", spec->retry);
    manifest_options_t options = {.input_name = spec->input_name, .keep_bytes = spec->memory / KEPT_SHARE};
    bool ok = manifest_build(&job->manifest, spec->inputs, spec->input_count, &options, err) &&
              check_inputs(job->schema, &job->manifest, spec->max_record, spec->skip_bad_files,
                           &job->result->skipped, err);
    job->result->skipped_before = job->result->skipped.count;
    return ok;
}

static bool connect_target(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    load_result_t *result = job->result;
    server_options_t options = {.uri = spec->uri,
                                .patience_ns = spec->patience_ns,
                                .connections = (spec->threads ? result->threads : JOB_MOST_DEFAULT_THREADS) +
                                               2 + spec->polite,
                                .unsafe = spec->unsafe && !spec->retry,
                                .resumes = !spec->trial};
    /* a connection a thread, the driver's own for each host, an input a feeder */
    if (!host_want_descriptors(options.connections + 12, err))
        return false;
    if (!(job->server = server_connect(&options, err)) || !(job->client = server_take(job->server, err)))
        return false;
    snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(job->server));
    snprintf(result->where, sizeof result->where, "%s", server_where(job->server));
    if (spec->unsafe && spec->retry)
        log_note("--unsafe has no effect on --retry: a fix counts only when it lasts");
    else if (spec->unsafe && !spec->trial)
        log_warn("--unsafe: the server's word is taken as the URI asks for it; documents that are counted as "
                 "loaded can "
                 "be lost when a server dies");
    return true;
}

/* --drop comes when all that can be known of the options, the inputs and the target was found right. */
static bool may_drop(const job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const collection_options_t place = {.clustered = spec->clustered, .compressor = spec->compressor};
    return collection_may_make(job->server, &place, err);
}

static bool drop_target(job_t *job, err_t *err) {
    const bool any = job->place.exists && !job->place.empty;
    timeline_enter(&job->result->course, TIMELINE_DROPPING);
    bool ok = job_tell_dropped(job, err) && job_drop(job, err);
    job->dropped = ok && any;
    timeline_enter(&job->result->course, TIMELINE_LOOKING);
    return ok;
}

static bool make_target(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const collection_options_t place = {.clustered = spec->clustered, .compressor = spec->compressor};
    timeline_enter(&job->result->course, TIMELINE_CREATING);
    if (!spec->retry && !collection_make(job->server, job->client, &place, &job->place, err))
        return false;
    job->result->clustered = job->place.clustered;
    timeline_enter(&job->result->course, TIMELINE_PLACING);
    if (!job_open_shards(job, err))
        return false;
    timeline_enter(&job->result->course, TIMELINE_LOOKING);
    uint32_t useful = (uint32_t)job_shard_count(job) * THREADS_A_SHARD;
    useful = useful < JOB_MOST_DEFAULT_THREADS ? useful : JOB_MOST_DEFAULT_THREADS;
    if (!spec->threads && useful > job->result->threads)
        job->result->threads = useful;
    return true;
}

/* The collection and its catalog: looked at first, so that a target that must not be loaded into is left as
 * it was. The load is written down before the header is read again: whoever drops the collection sees one of
 * both. */
static bool open_target(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    if (!collection_is_whole(job->server, job->client, err) ||
        !collection_look(job->server, job->client, &job->place, err))
        return false;
    if (spec->retry && !job->place.exists)
        return err_set(err, STATUS_USAGE,
                       "%s does not exist, so there is nothing to load again into; check --uri",
                       server_namespace(job->server));
    job->result->clustered = job->place.clustered;
    if (job->place.expiry[0] && !spec->drop)
        log_warn(
            "the server removes documents from %s by %s, with time also those of this load: status 0 says "
            "that they were there, and `tipple verify` names those that are not there any more",
            server_namespace(job->server), job->place.expiry);
    if (spec->dry_run && spec->drop)
        return true;
    if (!job_may_shard(job, err))
        return false;
    if (spec->drop ? !may_drop(job, err) : !job_look_at_catalog(job, err))
        return false;
    if (spec->dry_run)
        return true;
    if (!job->store && !(job->store = store_mongo_open(job->server, job->client, err)))
        return false;
    return job_enroll(job, err) && (!spec->drop || drop_target(job, err)) && make_target(job, err) &&
           job_open_catalog(job, err);
}

/* Without a catalog each input is read as a whole. */
static bool list_inputs(job_t *job, err_t *err) {
    if (!(job->files = calloc(job->manifest.count + 1, sizeof *job->files)))
        return err_memory(err, job->manifest.count * sizeof *job->files);
    for (; job->file_count < job->manifest.count; job->file_count++) {
        job->files[job->file_count].input = &job->manifest.files[job->file_count];
        job->files[job->file_count].to = UINT64_MAX;
    }
    return true;
}

/* ---- while it runs ---- */

/* Of a stream, whose size nobody knows; from a feeder. */
static bool find_numbers(void *context, load_file_t *file, uint64_t offset, err_t *err) {
    job_t *job = context;
    uint64_t number;
    return file->input->text_bound || load_file_number(file, offset, &number) ||
           load_state_ask(&job->loading, file, offset, err);
}

/* Memory is halved between text (that of small files was read already) and batches; a batch is there twice, ours and the driver's copy. */
static bool start_loaders(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    load_state_t *loading = &job->loading;
    uint32_t threads = job->result->threads;
    size_t batch_share = (size_t)(spec->memory / 2 / threads / 2) / job_shard_count(job),
           least_batch = 64 * 1024;
    loading->batch_bytes = (size_t)spec->batch_bytes < batch_share ? (size_t)spec->batch_bytes : batch_share;
    loading->batch_bytes = loading->batch_bytes < least_batch ? least_batch : loading->batch_bytes;
    loading->batch_documents = spec->batch;
    size_t shards = job_shard_count(job);
    loading->parts = threads < shards ? threads : (uint32_t)shards;
    loading->schema = job->schema;
    loading->filter = job->filter;
    loading->server = spec->dry_run ? NULL : job->server;
    loading->uuid = spec->dry_run ? NULL : job->settings.uuid;
    loading->lease_ns = spec->dry_run ? 0 : job->lease_ms * 1000000;
    loading->reload_changed = spec->reload_changed;
    loading->reject_codes = (reject_codes_t){spec->reject_codes, spec->reject_code_count};
    loading->max_record = spec->max_record;
    loading->max_document = server_facts(job->server)->max_document_bytes;
    reject_options_t rejects = {.path = job->result->rejects_path,
                                .retried = spec->retry,
                                .write = !spec->dry_run,
                                .format = spec->format,
                                .target = job->result->namespace,
                                .schema = job->schema,
                                .most = spec->max_rejects,
                                .most_percent = spec->max_rejects_percent};
    loading->shards = traffic_new(CHUNKMAP_MOST_SHARDS + 1);
    loading->ways = traffic_new(ROUTERS_MOST);
    if (!loading->shards || !loading->ways)
        return err_memory(err, 1);
    if (!pipeline_open(&loading->pipeline, spec->memory / 2 - job->manifest.kept_bytes, threads, err))
        return false;
    if (!(loading->rejects = rejects_new(&rejects, err)) || !job_restrain(job, err))
        return false;
    for (; job->loader_count < threads; job->loader_count++)
        if (!(job->loaders[job->loader_count] = loader_start(loading, job->loader_count, err)))
            return false;
    return true;
}

static bool start_feeders(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    feeder_options_t options = {.schema = job->schema,
                                .files = job->files,
                                .file_count = job->file_count,
                                .pipeline = &job->loading.pipeline,
                                .max_record = spec->max_record,
                                .limit = spec->limit,
                                .limit_is_about = spec->limit_is_about,
                                .numbered = !spec->dry_run,
                                .loading = &job->loading,
                                .extend = find_numbers,
                                .misfit = job_skip_misfit,
                                .context = job};
    options.threads = feeder_threads(&options);
    if (!spec->dry_run &&
        !(job->hand_out = hand_out_new(job->files, job->file_count, options.threads, &job->loading)))
        return err_memory(err, job->file_count * sizeof(size_t));
    options.hand_out = job->hand_out;
    return (job->feeder = feeder_start(&options, err)) != NULL;
}

static bool feed_and_send(job_t *job, err_t *err) {
    block_t *done = NULL;
    if (job->spec->retry)
        return job_load_again(job, err);
    if (!start_feeders(job, err))
        return false;
    bool ok = job->spec->dry_run ? job_wait(job, &done, err) : job_conduct(job, err);
    load_state_free_blocks(done);
    return ok;
}

static bool join_feeders(job_t *job, err_t *err) {
    hand_out_close(job->hand_out);
    if (!job->feeder) {
        pipeline_close(&job->loading.pipeline);
        return true;
    }
    feeder_progress_t read = feeder_progress(job->feeder);
    bool ok = feeder_join(job->feeder, err);
    job->feeder = NULL;
    job->result->bytes_read = read.disk_bytes;
    job->result->bytes_text = read.text_bytes;
    return ok;
}

/* What was settled is written down, whatever else went wrong; but not into a server that is gone, and a load
 * that has sent nothing leaves nothing. */
static bool may_flush(const job_t *job, const err_t *why) {
    return job->loading.rejects && !job->spec->dry_run && !job->spec->retry && why->status != STATUS_SERVER &&
           (job->loading.bound || why->status != STATUS_TOO_MANY_REJECTED);
}

static bool refuse_in_the_middle(job_t *job, err_t *err) {
    /* "nothing was touched" is no longer true, whatever was refused */
    if (err->status == STATUS_USAGE && job->result->counts.loaded)
        err->status = STATUS_SERVER;
    return false;
}

/* Feeders read, loaders send, this thread keeps the catalog. */
static bool move_data(job_t *job, err_t *err) {
    uint64_t total = 0;
    for (size_t i = 0; i < job->file_count; i++)
        if (!job->files[i].work || (job->files[i].work->state != WORK_DONE && !job->files[i].work->piece))
            total += job->files[i].input->disk_bytes;
    progress_start(&job->progress, total);
    int64_t began = clock_now_ns();
    timeline_enter(&job->result->course, TIMELINE_LOADING);
    timeline_point(&job->result->course, 0, 0);
    err_t feeding = {.text = ""}, flushing = {.text = ""};
    const bool started = start_loaders(job, err);
    bool ok = started && feed_and_send(job, err);
    const bool failed_here = !ok && !pipeline_failed(&job->loading.pipeline);
    if (started && failed_here && !stop_signal())
        pipeline_fail(&job->loading.pipeline, err); /* nobody is to read or send on */
    load_state_end_answers(&job->loading);
    bool fed = join_feeders(job, &feeding);
    job_join_loaders(job);
    job->result->moving_ns = clock_now_ns() - began;
    const counts_t *counts = &job->result->counts;
    timeline_last_point(&job->result->course, counts->loaded + counts->already_there,
                        job->result->bytes_read);
    progress_end(&job->progress);
    if (!fed)
        job_tell_late_misfit(job, &feeding);
    if (pipeline_failed(&job->loading.pipeline) && !failed_here) {
        *err = job->loading.pipeline.team.err;
        ok = false;
    } else if (ok && !fed) {
        *err = feeding;
        ok = false;
    } else if (!ok && !fed && feeding.text[0] && !stop_signal() && err->status != STATUS_SERVER) {
        *err = feeding;
    }
    if (!ok && may_flush(job, err) && !job_flush(job, &flushing) && err->status != STATUS_SERVER)
        log_detail("what was processed last could not be written down: %s", flushing.text);
    load_state_free_blocks(load_state_take_done(&job->loading));
    if (!ok) {
        job_tell_removed(job);
        return refuse_in_the_middle(job, err);
    }
    return rejects_flush(job->loading.rejects, err) && rejects_check(job->loading.rejects, err);
}

static bool build_indexes(job_t *job, err_t *err) {
    load_result_t *result = job->result;
    if (job->index_count)
        timeline_enter(&result->course, TIMELINE_INDEXES);
    for (size_t i = 0; i < job->index_count; i++) {
        built_index_t *built = &result->indexes[result->index_count];
        snprintf(built->keys, sizeof built->keys, "%s", job->spec->indexes[i]);
        log_detail("building the index %s", built->keys);
        if (!collection_build_index(job->server, job->client, &job->indexes[i], &built->took_ns, err))
            return false;
        result->index_count++;
    }
    return true;
}

static bool run(job_t *job, err_t *err) {
    if (!read_spec(job, err) || !connect_target(job, err) || !open_target(job, err))
        return false;
    if (!job->spec->retry && !(job->spec->dry_run ? list_inputs(job, err) : job_register_inputs(job, err)))
        return false;
    if (job->spec->watch_flushes && !job->spec->dry_run)
        job->flushes = server_checkpoints_start(job->server, job->result->course.origin_ns);
    job_hold_shards(job);
    job->result->files = job->manifest.count;
    if (job->spec->rejects)
        snprintf(job->result->rejects_path, sizeof job->result->rejects_path, "%s", job->spec->rejects);
    else
        snprintf(job->result->rejects_path, sizeof job->result->rejects_path, "%s.rejects",
                 job->result->namespace);
    for (char *at = job->result->rejects_path; !job->spec->rejects && *at; at++)
        if (*at == '/')
            *at = '_'; /* of the collection's name, not a folder */
    log_detail("%s at %s: %zu files, %u threads, batches of %u", job->result->namespace, job->result->where,
               job->file_count, job->result->threads, job->spec->batch);
    const bool builds = !job->spec->dry_run, first = job->spec->indexes_first;
    return (!builds || !first || build_indexes(job, err)) && move_data(job, err) &&
           (!builds || first || build_indexes(job, err));
}

static void free_job(job_t *job) {
    for (size_t i = 0; i < job->file_count; i++) {
        done_runs_free(&job->files[i].done_before);
        free(job->files[i].fixes);
        free(job->files[i].torn);
        if (job->files[i].work) {
            free(job->files[i].extents);
            free((char *)job->files[i].known_as);
        }
        if (job->spec->retry && job->files[i].input) {
            input_file_t *input = (input_file_t *)job->files[i].input;
            free(input->name);
            free(input);
        }
    }
    free(job->files);
    retry_marks_free(job->marks);
    places_free(job->places);
    places_free(job->places_before);
    for (size_t i = 0; i < job->kept_count; i++)
        free(job->kept[i]);
    free(job->kept);
    hand_out_free(job->hand_out);
    while (job->late) {
        late_t *next = job->late->next;
        free(job->late);
        job->late = next;
    }
    while (job->torn) {
        news_t *next = job->torn->next;
        pipeline_free_block(&job->loading.pipeline, job->torn->block);
        free(job->torn);
        job->torn = next;
    }
    route_close(job->loading.route);
    direct_close(job->loading.direct);
    routers_close(&job->loading.routers);
    traffic_free(job->loading.shards);
    traffic_free(job->loading.ways);
    rejects_free(job->loading.rejects);
    load_state_free(&job->loading);
    pipeline_free(&job->loading.pipeline);
    for (size_t i = 0; i < job->index_count; i++)
        collection_free_index(&job->indexes[i]);
    manifest_free(&job->manifest);
    if (job->client)
        server_give(job->server, job->client);
    server_destroy(job->server);
    filter_free(job->filter);
    schema_destroy(job->schema);
}

/* Rejected records of all inputs that nobody has fixed, whoever met them. */
static void tally_open_rejects(job_t *job, bool ok) {
    enum { NAMED = 3 };
    load_result_t *result = job->result;
    size_t used = 0, named = 0, more = 0;
    for (size_t i = 0; ok && !job->spec->retry && i < job->ledger.input_count; i++) {
        const ledger_input_t *input = &job->ledger.inputs[i];
        const uint64_t open = entry_open_rejects(&input->entry);
        result->open_rejects += open;
        if (open && named++ < NAMED && used < sizeof result->open_rejects_text)
            used +=
                (size_t)snprintf(result->open_rejects_text + used, sizeof result->open_rejects_text - used,
                                 "%s%.100s %llu", used ? ", " : "", input->name, (unsigned long long)open);
        more += open && named > NAMED;
    }
    if (more && used < sizeof result->open_rejects_text)
        snprintf(result->open_rejects_text + used, sizeof result->open_rejects_text - used,
                 ", and %zu more inputs", more);
}

/* With --reload-changed: inputs whose content turned out to be another one than before, while they were read,
 * are taken out; then everything begins anew. */
static bool remove_changed(job_t *job, bool *any, err_t *err) {
    *any = false;
    for (size_t i = 0; i < job->file_count; i++) {
        const load_file_t *file = &job->files[i];
        const bool named = i && job->files[i - 1].work && file->work &&
                           job->files[i - 1].work->input == file->work->input && *any;
        if (!file->changed || !file->work || named)
            continue;
        *any = true;
        if (!job_remove_input(job, &job->ledger.inputs[file->work->input].entry, true, err))
            return false;
    }
    return true;
}

/* A load that did not end well, and what it has taken away before: to do so again would take away its own work. */
static void tell_dropped(const job_t *job, err_t *err) {
    if (job->dropped)
        err_add(err, "; --drop has dropped what was in %s before: leave that option out from now on",
                job->result->namespace);
}

/* A stream without a name would be loaded a second time, and what there is of it stays. */
static void tell_nameless(const job_t *job, err_t *err) {
    for (size_t i = 0; i < job->file_count; i++) {
        const load_file_t *file = &job->files[i];
        if (!file->begun || !file->known_as || file->input->has_identity)
            continue;
        err_t ignored;
        char *name = shell_quoted(file->known_as, &ignored);
        err_add(err,
                "; but %.200s has no name by which it could be known again: `tipple forget%.400s --delete` "
                "removes what there is of it, and with --input-name it could be resumed",
                file->input->name, name ? name : "");
        free(name);
        return;
    }
}

/* *again: some inputs have changed, and were taken out. */
static bool run_once(const load_spec_t *spec, load_result_t *result, bool *again, err_t *err) {
    job_t *job = ZEROED(job_t);
    *again = false;
    if (!job)
        return err_memory(err, sizeof *job);
    int64_t started = clock_now_ns(), cpu = clock_process_cpu_ns();
    *result = (load_result_t){.threads = spec->threads ? spec->threads : pipeline_usual_threads(),
                              .batch = spec->batch};
    *err = (err_t){.status = STATUS_OK};
    job->spec = spec;
    job->result = result;
    timeline_begin(&result->course);
    result->course.told = spec->told;
    load_state_init(&job->loading);
    bool ok = run(job, err);
    if (!ok && err->status == STATUS_INPUT && spec->reload_changed)
        remove_changed(job, again, err);
    if (!ok && !*again) {
        tell_dropped(job, err);
        tell_nameless(job, err);
    }
    tally_open_rejects(job, ok);
    if (ok)
        err->status = result->counts.rejected || result->open_rejects || result->skipped.count
                          ? STATUS_SOME_REJECTED
                          : STATUS_OK;
    result->peak_memory_bytes = host_peak_memory();
    result->took_ns = clock_now_ns() - started;
    result->cpu_ns = clock_process_cpu_ns() - cpu;
    server_checkpoints_stop(job->flushes, &result->flushes);
    timeline_enter(&result->course, TIMELINE_CLOSING);
    job_close_shards(job);
    job_close_catalog(job, err, ok);
    timeline_end(&result->course);
    free_job(job);
    free(job);
    return ok;
}

bool load_run(const load_spec_t *spec, load_result_t *result, err_t *err) {
    for (;;) {
        bool again, ok = run_once(spec, result, &again, err);
        if (!again || stop_signal())
            return ok;
        load_result_free(result);
    }
}

void load_result_free(load_result_t *result) {
    misfits_free(&result->skipped);
}
