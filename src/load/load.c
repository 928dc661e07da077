#include "load/load.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/zeroed.h"
#include "format/format.h"
#include "format/schema_short.h"
#include "input/cutter.h"
#include "load/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const int64_t CHECKPOINT_NS = 1000000000, FOLLOW_NS = 5000000000, STALE_NS = 100000000;
enum { ROUND_US = 20000, LEAST_ROUND_US = 500 };

/* Each shard takes batches from several threads at once; more than this many do not come by default. */
enum { THREADS_A_SHARD = 4 };

void load_spec_init(load_spec_t *spec) {
    *spec = (load_spec_t){.format = NULL,
                          .batch = LOAD_BATCH,
                          .batch_bytes = 2 << 20,
                          .memory = 256ull << 20,
                          .max_record = 16 << 20,
                          .limit = UINT64_MAX,
                          .max_rejects = 1000,
                          .max_rejects_percent = -1,
                          .patience_ns = 30000000000};
}

/* --- before anything is touched
 * ------------------------------------------------------------------------------------ */

static bool read_spec(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    if (!(job->schema = format_open(spec->format, err)))
        return false;
    snprintf(job->result->format, sizeof job->result->format, "%s", job->schema->name);
    if (spec->filter_count &&
        !(job->filter = filter_parse(job->schema, spec->filters, spec->filter_count, err)))
        return false;
    if (spec->short_keys && !schema_shorten(job->schema, err)) /* filters speak of the format's own keys */
        return false;
    shardkey_t key;
    if (spec->shard_key && strcmp(spec->shard_key, "none") != 0) {
        if (!shardkey_parse(spec->shard_key, &key, err))
            return false;
        shardkey_free(&key);
    }
    for (; job->index_count < spec->index_count; job->index_count++) {
        if (job->index_count == JOB_MOST_INDEXES)
            return err_set(err, STATUS_USAGE, "--index: more than %d indexes at once", JOB_MOST_INDEXES);
        if (!place_parse_index(spec->indexes[job->index_count], &job->indexes[job->index_count], err))
            return false;
    }
    if (spec->rejects && !spec->dry_run && !rejects_may_use(spec->rejects, err))
        return false;
    if (spec->retry)
        return access(spec->retry, R_OK) == 0 ||
               err_set(err, STATUS_USAGE, "the reject file %s cannot be read: %m", spec->retry);
    manifest_options_t options = {.input_name = spec->input_name};
    return manifest_build(&job->manifest, spec->inputs, spec->input_count, &options, err);
}

static uint32_t thread_count(const load_spec_t *spec) {
    if (spec->threads)
        return spec->threads;
    long cpus = sysconf(_SC_NPROCESSORS_ONLN);
    return cpus * 2 < 4 ? 4 : cpus * 2 > 16 ? 16 : (uint32_t)cpus * 2;
}

static bool connect_target(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    load_result_t *result = job->result;
    server_options_t options = {.uri = spec->uri,
                                .patience_ns = spec->patience_ns,
                                .connections = (spec->threads ? result->threads : JOB_MOST_DEFAULT_THREADS) +
                                               2 + spec->polite,
                                .unsafe = spec->unsafe};
    /* a connection a thread, the driver's own for each host, an input a feeder */
    if (!host_want_descriptors(options.connections + 12, err))
        return false;
    if (!(job->server = server_connect(&options, err)) || !(job->client = server_take(job->server, err)))
        return false;
    snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(job->server));
    snprintf(result->where, sizeof result->where, "%s", server_where(job->server));
    if (spec->unsafe && !spec->trial)
        log_warn("--unsafe: the server's word is taken as the URI asks for it; documents that are counted as "
                 "loaded can "
                 "be lost when a server dies");
    if (!spec->drop || spec->dry_run)
        return true;
    course_enter(&result->course, COURSE_DROPPING);
    bool ok = place_drop(job->server, job->client, err);
    course_enter(&result->course, COURSE_LOOKING);
    return ok;
}

/* The collection and its books: looked at first, so that a target that must not be loaded into is left as it
 * was. */
static bool open_target(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    catalog_settings_t settings = {.format = job->schema->name,
                                   .format_digest = job->schema->digest,
                                   .filter = job->filter ? filter_text(job->filter) : "",
                                   .starts = true};
    place_options_t place = {.clustered = spec->clustered, .compressor = spec->compressor};
    if (!place_look(job->server, job->client, &job->place, err))
        return false;
    if (spec->retry && !job->place.exists)
        return err_set(err, STATUS_USAGE, "%s does not exist, so there is nothing to load again into; check --uri",
                       server_namespace(job->server));
    job->result->clustered = job->place.clustered;
    if (spec->dry_run && spec->drop)
        return true;
    if (!catalog_peek(job->server, job->client, &job->place, &settings, &job->catalog, err))
        return false;
    if (spec->dry_run)
        return true;
    catalog_close(job->catalog);
    job->catalog = NULL;
    course_enter(&job->result->course, COURSE_CREATING);
    if (!spec->retry && !place_make(job->server, job->client, &place, &job->place, err))
        return false;
    job->result->clustered = job->place.clustered;
    course_enter(&job->result->course, COURSE_PLACING);
    if (!job_open_shards(job, err))
        return false;
    course_enter(&job->result->course, COURSE_LOOKING);
    uint32_t useful = (uint32_t)job_shard_count(job) * THREADS_A_SHARD;
    useful = useful < JOB_MOST_DEFAULT_THREADS ? useful : JOB_MOST_DEFAULT_THREADS;
    if (!spec->threads && useful > job->result->threads)
        job->result->threads = useful;
    return (job->catalog = catalog_open(job->server, job->client, &job->place, &settings, err)) != NULL;
}

/* One for each part, in the order of the manifest. */
static bool make_files(job_t *job, err_t *err) {
    size_t count = 0;
    for (size_t i = 0; i < job->manifest.count; i++)
        count += job->spec->dry_run ? 1 : job->books[i]->part_count;
    if (!(job->files = calloc(count + 1, sizeof *job->files)))
        return err_memory(err, count * sizeof *job->files);
    for (size_t i = 0; i < job->manifest.count; i++) {
        const size_t parts = job->spec->dry_run ? 1 : job->books[i]->part_count;
        for (size_t part = 0; part < parts; part++) {
            load_file_t *file = &job->files[job->file_count++];
            file->input = &job->manifest.files[i];
            file->books = job->books[i];
            file->part = part;
            file->from = file->books ? file->books->parts[part].from : 0;
            file->to = file->books ? file->books->parts[part].to : UINT64_MAX;
        }
    }
    return true;
}

static bool register_files(job_t *job, err_t *err) {
    size_t count = job->manifest.count;
    if (!(job->books = calloc(count + 1, sizeof(catalog_file_t *))))
        return err_memory(err, count * sizeof *job->books);
    if (!job->spec->dry_run && !catalog_register(job->catalog, &job->manifest, job->books, err))
        return false;
    if (!make_files(job, err) || job->spec->dry_run)
        return job->files != NULL;
    bool ok = true;
    for (size_t i = 0; ok && i < job->file_count; i++) {
        ok = share_begin_file(&job->files[i], err);
        job->files[i].read_before = job->files[i].books->parts[job->files[i].part].counts.read;
        job->result->records_done_before += job->files[i].read_before;
    }
    catalog_file_t **starting = calloc(count + 1, sizeof(catalog_file_t *));
    size_t starts = 0;
    ok = ok && (starting != NULL || err_memory(err, count * sizeof *starting));
    for (size_t i = 0; ok && i < count; i++) {
        bool complete = catalog_is_complete(job->books[i]);
        job->result->files_done_before += complete;
        if (!complete)
            starting[starts++] = job->books[i];
    }
    ok = ok && (!starts || catalog_start(job->catalog, starting, starts, err));
    free(starting);
    return ok;
}

/* This load divides the files with others from now on. */
static bool share_files(job_t *job, err_t *err) {
    share_options_t options = {.files = job->files,
                               .file_count = job->file_count,
                               .catalog = job->catalog,
                               .presence = job->presence,
                               .books_lock = &job->books_lock};
    catalog_own(job->catalog, presence_id(job->presence));
    return (job->share = share_new(&options, err)) != NULL;
}

static bool describe_run(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    bson_t *fields = BCON_NEW(
        "command", BCON_UTF8("load"), "version", BCON_UTF8(TIPPLE_VERSION), "format",
        BCON_UTF8(job->schema->name), "filter", BCON_UTF8(job->filter ? filter_text(job->filter) : ""),
        "threads", BCON_INT32((int32_t)job->result->threads), "batch", BCON_INT32((int32_t)spec->batch),
        "batchBytes", BCON_INT64((int64_t)spec->batch_bytes), "unsafe", BCON_BOOL(spec->unsafe), "files",
        BCON_INT64((int64_t)job->manifest.count));
    job->presence = presence_open(job->server, job->client, fields, err);
    bson_destroy(fields);
    return job->presence != NULL;
}

/* --- while it runs
 * ---------------------------------------------------------------------------------------------------- */

static bool make_room_for(void *context, load_file_t *file, uint64_t offset, err_t *err) {
    job_t *job = context;
    uint64_t voff;
    if (file->input->text_bound || catalog_voff(file->books, offset, &voff))
        return true;
    pthread_mutex_lock(&job->books_lock);
    bool ok = catalog_extend(job->catalog, file->books, offset, err);
    pthread_mutex_unlock(&job->books_lock);
    return ok;
}

/* Memory is halved between text and batches; a batch is there twice, ours and the driver's copy. */
static bool start_loaders(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    loading_t *loading = &job->loading;
    uint32_t threads = job->result->threads;
    size_t batch_share = (size_t)(spec->memory / 2 / threads / 2) / job_shard_count(job),
           least_batch = 64 * 1024;
    uint64_t buffers = spec->memory / 2 / CUTTER_BUFFER, queued = buffers / 2;
    queued = queued > 2 * threads ? 2 * threads : queued < 2 ? 2 : queued;
    loading->batch_bytes = (size_t)spec->batch_bytes < batch_share ? (size_t)spec->batch_bytes : batch_share;
    loading->batch_bytes = loading->batch_bytes < least_batch ? least_batch : loading->batch_bytes;
    loading->batch_documents = spec->batch;
    size_t shards = job_shard_count(job);
    loading->parts = threads < shards ? threads : (uint32_t)shards;
    loading->schema = job->schema;
    loading->filter = job->filter;
    loading->server = spec->dry_run ? NULL : job->server;
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
    loading->pool = pool_new(spec->memory / 2, CUTTER_BUFFER);
    loading->queue = queue_new((size_t)queued);
    job->shelf = dialect_shelf_new();
    loading->shards = traffic_new(CHUNKMAP_MOST_SHARDS + 1);
    loading->ways = traffic_new(ROUTERS_MOST);
    if (!loading->shards || !loading->ways || !loading->pool || !loading->queue || !job->shelf)
        return err_memory(err, 1);
    if (!(loading->rejects = rejects_new(&rejects, err)) || !job_restrain(job, err))
        return false;
    for (; job->loader_count < threads; job->loader_count++)
        if (!(job->loaders[job->loader_count] = loader_start(loading, job->loader_count, err)))
            return false;
    return true;
}

static uint64_t documents_so_far(const job_t *job) {
    uint64_t documents = 0;
    for (uint32_t i = 0; i < job->loader_count; i++) {
        loader_counters_t counters;
        loader_peek(job->loaders[i], &counters);
        documents += counters.counts.loaded + counters.counts.already_there;
    }
    return documents;
}

static bool give_sign_of_life(job_t *job, err_t *err) {
    if (!job->presence)
        return true;
    pthread_mutex_lock(&job->books_lock);
    bool ok = presence_beat(job->presence, documents_so_far(job), err);
    pthread_mutex_unlock(&job->books_lock);
    return ok;
}

/* Progress and checkpoints, until the queue has run dry or the load failed. Short loads are looked at more
 * often. */
static bool watch(job_t *job, feeder_t *feeder, err_t *err) {
    int64_t last = clock_now_ns(), followed = last;
    useconds_t pause = LEAST_ROUND_US;
    while (!queue_ended(job->loading.queue) && !loading_failed(&job->loading)) {
        usleep(pause);
        pause = pause * 2 > ROUND_US ? ROUND_US : pause * 2;
        int64_t now = clock_now_ns();
        if (feeder) {
            const uint64_t bytes = feeder_progress(feeder).disk_bytes, documents = documents_so_far(job);
            progress_show(&job->progress, bytes, documents);
            course_point(&job->result->course, documents, bytes);
        }
        if (now - followed >= (job->loading.stale ? STALE_NS : FOLLOW_NS)) {
            followed = now;
            job_follow_shards(job);
        }
        if (now - last >= CHECKPOINT_NS) {
            last = now;
            if (!job_checkpoint(job, err) || !give_sign_of_life(job, err)) {
                loading_fail(&job->loading, err);
                return false;
            }
        }
    }
    return true;
}

/* Feeders read, loaders send, this thread keeps the books. */
static bool move_data(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    feeder_t *feeder = NULL;
    uint64_t total = 0;
    for (size_t i = 0; i < job->file_count; i++)
        total += job->files[i].skip || job->files[i].part ? 0 : job->files[i].input->disk_bytes;
    progress_start(&job->progress, total);
    int64_t began = clock_now_ns();
    course_enter(&job->result->course, COURSE_LOADING);
    course_point(&job->result->course, 0, 0);
    err_t feeding = {.text = ""}, booking = {.text = ""};
    bool fed = true, booked = true;
    if (!start_loaders(job, &feeding)) {
        fed = false;
        if (job->loading.queue)
            queue_close(job->loading.queue);
    } else if (spec->retry) {
        fed = job_feed_retry(job, &feeding);
        queue_close(job->loading.queue);
    } else {
        long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        size_t useful = job->file_count < (size_t)cpus ? job->file_count : (size_t)cpus;
        feeder_options_t options = {.schema = job->schema,
                                    .shelf = job->shelf,
                                    .files = job->files,
                                    .file_count = job->file_count,
                                    .pool = job->loading.pool,
                                    .queue = job->loading.queue,
                                    .threads = (uint32_t)useful,
                                    .max_record = spec->max_record,
                                    .limit = spec->limit,
                                    .limit_is_about = spec->limit_is_about,
                                    .numbered = !spec->dry_run,
                                    .next = job->share ? share_next : NULL,
                                    .share = job->share,
                                    .extend = make_room_for,
                                    .context = job};
        feeder = feeder_start(&options, &feeding);
        fed = feeder != NULL;
        if (!fed)
            queue_close(job->loading.queue);
    }
    if (job->loading.queue)
        booked = watch(job, feeder, &booking);
    if (job->share)
        share_stop(job->share);
    if (feeder) {
        feeder_progress_t read = feeder_progress(feeder);
        fed = feeder_join(feeder, &feeding) && fed;
        job->result->bytes_read = read.disk_bytes;
        job->result->bytes_text = read.text_bytes;
    }
    job_join_loaders(job);
    job->result->moving_ns = clock_now_ns() - began;
    const counts_t *counts = &job->result->counts;
    course_last_point(&job->result->course, counts->loaded + counts->already_there, job->result->bytes_read);
    progress_end(&job->progress);
    /* what was settled is written down, whatever else went wrong; not into a server that is gone */
    bool gone = loading_failed(&job->loading) && job->loading.err.status == STATUS_SERVER;
    if (job->loading.rejects && !gone && booked)
        booked = job_checkpoint(job, &booking);
    loading_free_blocks(loading_take_done(&job->loading));
    /* "nothing was touched" is no longer true, whatever was refused */
    if (job->loading.err.status == STATUS_USAGE && job->result->counts.loaded)
        job->loading.err.status = STATUS_SERVER;
    if (loading_failed(&job->loading))
        *err = job->loading.err;
    else if (!fed)
        *err = feeding;
    else if (!booked)
        *err = booking;
    else if (stop_signal())
        err_set(err, stop_signal() == 2 ? STATUS_INTERRUPTED : STATUS_TERMINATED,
                "interrupted; the same command goes on from here");
    else
        return rejects_flush(job->loading.rejects, err) && rejects_check(job->loading.rejects, err);
    return false;
}

static bool build_indexes(job_t *job, err_t *err) {
    load_result_t *result = job->result;
    if (job->index_count)
        course_enter(&result->course, COURSE_INDEXES);
    for (size_t i = 0; i < job->index_count; i++) {
        built_index_t *built = &result->indexes[result->index_count];
        snprintf(built->keys, sizeof built->keys, "%s", job->spec->indexes[i]);
        log_detail("building the index %s", built->keys);
        if (!place_build_index(job->server, job->client, &job->indexes[i], &built->took_ns, err))
            return false;
        result->index_count++;
    }
    return true;
}

static void close_run(job_t *job, const err_t *err, bool ok) {
    const load_result_t *result = job->result;
    err_t ignored;
    if (!job->presence)
        return;
    bson_t *fields = BCON_NEW(
        "status", BCON_INT32(ok && !result->counts.rejected ? 0 : (int32_t)err->status), "error",
        BCON_UTF8(ok ? "" : err->text), "read", BCON_INT64((int64_t)result->counts.read), "loaded",
        BCON_INT64((int64_t)result->counts.loaded), "alreadyThere",
        BCON_INT64((int64_t)result->counts.already_there), "rejected",
        BCON_INT64((int64_t)result->counts.rejected), "filtered",
        BCON_INT64((int64_t)result->counts.filtered), "seconds", BCON_DOUBLE((double)result->took_ns / 1e9),
        "batches", BCON_INT64((int64_t)result->batches), "retries", BCON_INT64((int64_t)result->retries));
    if (!presence_close(job->presence, fields, &ignored))
        log_detail("the run's own entry in the books could not be closed: %s", ignored.text);
    bson_destroy(fields);
}

static bool run(job_t *job, err_t *err) {
    bool ok = read_spec(job, err) && connect_target(job, err) && open_target(job, err) &&
              (job->spec->retry || register_files(job, err)) &&
              (job->spec->dry_run || describe_run(job, err)) &&
              (job->spec->dry_run || job->spec->retry || share_files(job, err));
    if (!ok)
        return false;
    if (job->spec->watch_flushes && !job->spec->dry_run)
        job->flushes = flushes_start(job->server, job->result->course.origin_ns);
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
        runs_free(&job->files[i].done_before);
        free(job->files[i].tail);
        if (job->spec->retry && job->files[i].input) {
            input_file_t *input = (input_file_t *)job->files[i].input;
            free(input->name);
            free(input);
        }
    }
    dialect_shelf_destroy(job->shelf);
    free(job->files);
    free(job->books);
    share_free(job->share);
    route_close(job->loading.route);
    direct_close(job->loading.direct);
    routers_close(&job->loading.routers);
    traffic_free(job->loading.shards);
    traffic_free(job->loading.ways);
    catalog_close(job->catalog);
    rejects_free(job->loading.rejects);
    pool_destroy(job->loading.pool);
    queue_destroy(job->loading.queue);
    for (size_t i = 0; i < job->index_count; i++)
        place_free_index(&job->indexes[i]);
    manifest_free(&job->manifest);
    if (job->client)
        server_give(job->server, job->client);
    server_destroy(job->server);
    filter_free(job->filter);
    schema_destroy(job->schema);
    pthread_mutex_destroy(&job->books_lock);
    pthread_mutex_destroy(&job->loading.lock);
}

bool load_run(const load_spec_t *spec, load_result_t *result, err_t *err) {
    job_t *job = ZEROED(job_t);
    if (!job)
        return err_memory(err, sizeof *job);
    int64_t started = clock_now_ns(), cpu = clock_process_cpu_ns();
    *result = (load_result_t){.threads = thread_count(spec), .batch = spec->batch};
    *err = (err_t){.status = STATUS_OK};
    job->spec = spec;
    job->result = result;
    course_begin(&result->course);
    result->course.told = spec->told;
    pthread_mutex_init(&job->books_lock, NULL);
    pthread_mutex_init(&job->loading.lock, NULL);
    bool ok = run(job, err);
    if (ok && result->counts.rejected)
        err->status = STATUS_SOME_REJECTED;
    result->peak_memory_bytes = host_peak_memory();
    result->took_ns = clock_now_ns() - started;
    result->cpu_ns = clock_process_cpu_ns() - cpu;
    flushes_stop(job->flushes, &result->flushes);
    course_enter(&result->course, COURSE_CLOSING);
    close_run(job, err, ok);
    job_close_shards(job);
    course_end(&result->course);
    free_job(job);
    free(job);
    return ok;
}
