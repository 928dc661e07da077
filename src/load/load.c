#include "load/load.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "base/text.h"
#include "format/format.h"
#include "format/record/own_id.h"
#include "format/records.h"
#include "format/schema/schema.h"
#include "input/cutter.h"
#include "input/manifest.h"
#include "load/plan/check_inputs.h"
#include "load/plan/copies.h"
#include "load/run/job.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* first_records: do the first records of the inputs make documents? With a wrong format a drop would take away what is
 * there, and nothing would come in its place. */

enum { MOST_FILES = 32, MEMORY = 4 << 20 };

typedef struct {
    const schema_t *schema;
    pool_t *pool;
    source_kit_t kit;
    records_t *records;
    records_place_t place;
    dialect_t dialect;
    uint64_t left; /* records that the load takes */
    uint64_t rejects;
    bool any;  /* something makes a document, or nobody knows that here */
    err_t why; /* of the first reject; before there is one, of the first damage. Empty: there was neither */
} looker_t;

/* One document is enough. */
static bool goes_on(const looker_t *looker) {
    return looker->left && !looker->any;
}

/* False: out of memory. */
static bool try_cut(looker_t *looker, const cut_t *cut, const char *name) {
    record_t record;
    parsed_t parsed;
    records_from(looker->records, name);
    records_begin(looker->records, &looker->dialect, cut->buffer.bytes, cut->length, true,
                  looker->schema->id != NULL, 0);
    do {
        parsed = records_next_into(looker->records, &looker->place, &record, NULL);
        looker->any |= parsed == PARSED_DOCUMENT;
        if (parsed == PARSED_REJECT && !looker->rejects++)
            err_set(&looker->why, STATUS_INPUT, "%.500s:%u:%u: %.900s", name, record.line + 1, record.column,
                    record.reason);
        looker->left -= parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT;
    } while (parsed != PARSED_END && parsed != PARSED_MEMORY && parsed != PARSED_OTHER_HEADER &&
             goes_on(looker));
    looker->any |= cut->oversize.length > 0;
    return parsed != PARSED_MEMORY;
}

/* What cannot be opened is no failure: the load itself will say so. */
static bool try_input(looker_t *looker, const input_file_t *file) {
    err_t ignored, fault;
    cut_t cut = {.broken = true};
    int got = 0;
    bool ok = true;
    source_t *source = source_open_in(&looker->kit, file, &ignored);
    cutter_t *cutter = source ? cutter_new(source, looker->pool, CUTTER_RECORD, &ignored) : NULL;
    if (cutter && cutter_begin(cutter, looker->schema, file->name, &looker->dialect, &ignored))
        while (ok && cut.broken && (got = cutter_next(cutter, &cut, &fault)) > 0) {
            ok = try_cut(looker, &cut, file->name);
            pool_give(looker->pool, &cut.buffer);
        }
    if (got < 0 && fault.status == STATUS_INPUT && !looker->why.text[0])
        looker->why = fault;
    cutter_destroy(cutter);
    source_close(source);
    return ok;
}

static bool judge(const looker_t *looker, err_t *err) {
    char count[UNITS_MAX];
    if (looker->any || !looker->why.text[0])
        return true;
    if (!looker->rejects)
        return err_set(err, STATUS_INPUT, "%s. Nothing was dropped", looker->why.text);
    return err_set(err, STATUS_INPUT,
                   "%s; no record that was looked at (%s) makes a document by the format '%.100s'. Nothing "
                   "was dropped: give the --format of these files, or try one with `tipple parse`",
                   looker->why.text, units_count(count, looker->rejects), looker->schema->name);
}

/* Looks at the beginnings of some of the inputs; not at streams, which can be read only once. limit: the load takes so many
 * records; UINT64_MAX: all. False: each record is rejected, or by `on_bad_value: stop` the load would end there (status 5); or
 * memory is out. */
static bool first_records_try(const schema_t *schema, const manifest_t *manifest, uint64_t limit,
                              err_t *err) {
    looker_t looker = {.schema = schema,
                       .left = limit,
                       .pool = pool_new(MEMORY, CUTTER_BUFFER),
                       .kit = {.looks = true},
                       .records = records_new(schema)};
    /* with a limit nobody knows which records of a second input are among those */
    const size_t most = limit == UINT64_MAX ? MOST_FILES : 1,
                 files = manifest->count < most ? manifest->count : most;
    bool ok = looker.pool && looker.records;
    for (size_t i = 0; ok && i < files && goes_on(&looker); i++) {
        const input_file_t *file = &manifest->files[i * manifest->count / files];
        ok = file->kind == INPUT_STREAM || try_input(&looker, file);
    }
    records_destroy(looker.records);
    free(looker.place.bytes);
    source_kit_close(&looker.kit);
    pool_destroy(looker.pool);
    return ok ? judge(&looker, err) : err_memory(err, MEMORY);
}

/* option: with the text that names the path. */
static bool check_made(const job_t *job, const char *option, const char *text, const char *path, err_t *err) {
    suggestion_t near;
    return strcmp(path, "_id") == 0 || schema_makes(job->schema, path, &near) ||
           err_set(err, STATUS_USAGE, "--%s %s: the documents of the format '%s' have no key '%s'%s", option,
                   text, job->schema->name, path, near.text);
}

/* A shard key stays for good, and with one that no document has all of them go to one shard. */
static bool read_shard_key(job_t *job, err_t *err) {
    const char *text = job->spec->shard_key;
    const shardkey_t *key = &job->shard_key;
    job->one_shard = text && strcmp(text, "none") == 0;
    if (!text || job->one_shard)
        return shardkey_parse("_id", &job->shard_key, err);
    if (!shardkey_parse(text, &job->shard_key, err))
        return false;
    for (size_t i = 0; i < key->count; i++) {
        schema_need(job->schema, key->fields[i].path);
        if (!check_made(job, "shard-key", text, key->fields[i].path, err))
            return false;
    }
    return job_check_key_of_ids(job, key, err);
}

/* With a field that no document has, an index would be of no use. In JSON it is taken as it is: a text index has keys that are no fields. */
static bool check_index(const job_t *job, const char *text, const index_spec_t *index, err_t *err) {
    bson_iter_t at;
    bool ok = true;
    if (*text == '{')
        return true;
    bson_iter_init(&at, &index->keys);
    while (ok && bson_iter_next(&at))
        ok = check_made(job, "index", text, bson_iter_key(&at), err);
    return ok;
}

/* The same one may be asked for twice. */
static bool check_name(const job_t *job, const index_spec_t *index, err_t *err) {
    for (size_t i = 0; i < job->index_count; i++) {
        const index_spec_t *before = &job->indexes[i];
        if (strcmp(before->name, index->name) == 0 &&
            !(bson_equal(&before->keys, &index->keys) && bson_equal(&before->options, &index->options)))
            return err_set(err, STATUS_USAGE,
                           "--index %.500s: it would have the same name, %s, as --index %.500s: give one of "
                           "them another name (;name=NAME)",
                           job->spec->indexes[job->index_count], index->name, job->spec->indexes[i]);
    }
    return true;
}

static bool open_format(job_t *job, err_t *err) {
    const char *format = job->spec->format;
    const guess_options_t *options = &job->spec->guess;
    const bool ok =
        format ? (job->schema = format_open(format, err)) &&
                     (!options->bad_value_given || schema_set_bad_value(job->schema, options->bad_value, err))
               : job_find_format(job, err);
    return ok && job_take_new_columns(job, err);
}

/* Each fits the format, which may get new columns for that. Without --format each --type has its column then. What an input that is
 * skipped would have said of a column says nothing: the load begins again without it. */
static bool check(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const schema_t *schema = job->schema;
    misfits_t *skipped = &job->result->skipped;
    const check_adds_t adds = {&spec->guess, &job->format_text, spec->limit != UINT64_MAX};
    const bool may_add = !spec->format && schema_is_named(schema) && schema->new_columns == NEW_COLUMNS_ADD;
    const size_t fields = schema->field_count, files = job->manifest.count;
    if (!check_inputs(job->schema, &job->manifest, may_add ? &adds : NULL, spec->skip_bad_files, skipped,
                      err) ||
        (job->existing == EXISTING_REPLACE && !misfits_let_wait(&job->manifest, skipped, err)))
        return false;
    job->result->skipped_before = skipped->count;
    const char *unused = spec->format ? NULL : guess_options_unused(&spec->guess, schema);
    if (schema->field_count > fields && job->manifest.count < files) {
        err_set(err, STATUS_INPUT, "files that are skipped have added columns to the format");
        err->again = true;
        return false;
    }
    return !unused ||
           err_set(err, STATUS_USAGE,
                   "--type '%s': neither the format that is kept nor any input has this column", unused);
}

static bool read_spec(job_t *job, err_t *err) {
    const load_spec_t *spec = job->spec;
    const bool listed = job->manifest.count; /* by a run before, with copies */
    if (spec->drop && spec->reload_missing)  /* nothing is in the catalog behind a drop */
        return err_set(err, STATUS_USAGE,
                       "--reload-missing adds to a collection that --drop would drop; give one of them");
    if (spec->drop && spec->append)
        return err_set(err, STATUS_USAGE,
                       "--append keeps the documents that --drop would drop; give one of them");
    if (!job_find_existing(job, NULL, err) || !open_format(job, err))
        return false;
    snprintf(job->result->format, sizeof job->result->format, "%s", job->schema->name);
    if (spec->filter_count &&
        !(job->filter = filter_parse(job->schema, spec->filters, spec->filter_count, err)))
        return false;
    if (spec->id && !own_id_set(job->schema, spec->id, err))
        return false;
    if (!read_shard_key(job, err))
        return false;
    for (; job->index_count < spec->index_count; job->index_count++) {
        if (job->index_count == JOB_MOST_INDEXES)
            return err_set(err, STATUS_USAGE, "--index: more than %d indexes at once", JOB_MOST_INDEXES);
        const char *text = spec->indexes[job->index_count];
        index_spec_t *index = &job->indexes[job->index_count];
        if (!collection_parse_index(text, index, err))
            return false;
        if (!check_index(job, text, index, err) || !check_name(job, index, err)) {
            collection_free_index(index);
            return false;
        }
    }
    if (spec->rejects && !spec->dry_run && !rejects_may_use(spec->rejects, err))
        return false;
    if (spec->retry)
        return access(spec->retry, R_OK) == 0 ||
               err_set(err, STATUS_USAGE, "the reject file %s cannot be read: %m", spec->retry);
    if (job->filter)
        filter_need(job->filter, job->schema);
    for (size_t i = 0; job->schema->id && i < job->schema->id->count; i++)
        schema_need(job->schema, job->schema->id->paths[i]);
    return job_list_inputs(job, err) && manifest_decode(&job->manifest, job->schema->charset) &&
           check(job, err) && job_take_dumps(job, err) && (spec->id || job_find_id(job, err)) &&
           job_check_copies(job, err) &&
           (!spec->drop || first_records_try(job->schema, &job->manifest, spec->limit, err)) &&
           (listed || copies_make(&job->manifest, spec->copies, err));
}

/* Without a catalog each input is read as a whole. */
static bool list_inputs(job_t *job, err_t *err) {
    if (!(job->files = calloc(job->manifest.count + 1, sizeof *job->files)))
        return err_memory(err, job->manifest.count * sizeof *job->files);
    for (; job->file_count < job->manifest.count; job->file_count++)
        job->files[job->file_count] = (load_file_t){.input = &job->manifest.files[job->file_count],
                                                    .to = UINT64_MAX,
                                                    .bad_value = job->schema->bad_value};
    return true;
}

/* One that is refused keeps none of the others from being built. */
static bool build_indexes(job_t *job, err_t *err) {
    load_result_t *result = job->result;
    bool ok = true, more = true;
    if (job->index_count)
        job_enter(job, TIMELINE_INDEXES);
    for (size_t i = 0; more && i < job->index_count; i++) {
        built_index_t *index = &result->indexes[result->index_count];
        collection_built_t built;
        err_t why;
        snprintf(index->keys, sizeof index->keys, "%s",
                 i < job->spec->index_count && job->spec->indexes[i][0] != '{' ? job->spec->indexes[i]
                                                                               : job->indexes[i].name);
        log_detail("building the index %s", index->keys);
        step_change(&job->step, "building the index %s", index->keys);
        if (collection_build_index(job->server, job->client, &job->indexes[i], &built, &why)) {
            index->took_ns = built.took_ns;
            result->index_count++;
            continue;
        }
        more = built.refused;
        if (ok)
            *err = why;
        else
            err_add(err, "\n%s", why.text);
        ok = false;
    }
    return ok;
}

static bool run(job_t *job, err_t *err) {
    if (!read_spec(job, err) || (!job->server && !job_connect(job, err)) || !job_open_target(job, err))
        return false;
    if (!job->spec->retry &&
        !(job->spec->dry_run ? list_inputs(job, err)
                             : job_register_inputs(job, err) && job_add_columns(job, err)))
        return false;
    job_hold_shards(job);
    job->result->files = job->manifest.count;
    const char *rejects = job->spec->rejects;
    snprintf(job->result->rejects_path, sizeof job->result->rejects_path, "%s%s",
             rejects ? rejects : job->result->namespace, rejects ? "" : ".rejects");
    for (char *at = job->result->rejects_path; !rejects && *at; at++)
        if (*at == '/')
            *at = '_'; /* of the collection's name, not a folder */
    log_detail("%s at %s: %zu file%s, %u thread%s, batches of %u", job->result->namespace, job->result->where,
               job->manifest.count, units_s(job->manifest.count), job->result->threads,
               units_s(job->result->threads), job->spec->batch);
    return job_move_data(job, err) && (job->spec->dry_run || build_indexes(job, err));
}

static void free_job(job_t *job, bool again) {
    for (size_t i = 0; i < job->file_count; i++) {
        done_runs_free(&job->files[i].done_before);
        free(job->files[i].fixes);
        free(job->files[i].torn);
        if (job->files[i].work) {
            free(job->files[i].extents);
            free((char *)job->files[i].known_as);
            free((char *)job->files[i].forget);
        }
        if (job->spec->retry && job->files[i].input) {
            input_file_t *input = (input_file_t *)job->files[i].input;
            free(input->name);
            free(input);
        }
    }
    free(job->files);
    retry_marks_free(job->marks);
    fixes_free(job->fixes);
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
    rejects_free(job->loading.rejects, again);
    load_state_free(&job->loading);
    pipeline_free(&job->loading.pipeline);
    for (size_t i = 0; i < job->index_count; i++)
        collection_free_index(&job->indexes[i]);
    manifest_free(&job->manifest);
    misfits_free(&job->misfits);
    server_give(job->server, job->client);
    server_destroy(job->server);
    filter_free(job->filter);
    shardkey_free(&job->shard_key);
    schema_destroy(job->schema);
    free(job->format_text);
    free(job->retry_options);
    text_free(&job->left_out);
    bson_destroy(job->dumped);
    bson_destroy(job->options);
}

/* Rejected records of all inputs, whoever met them: those that nobody has fixed, and the others. */
static void tally_open_rejects(job_t *job, bool ok) {
    enum { NAMED = 3 };
    load_result_t *result = job->result;
    text_t text = {.length = 0};
    size_t named = 0;
    result->knows_rejects = ok;
    for (size_t i = 0; ok && !job->spec->retry && i < job->ledger.input_count; i++) {
        const ledger_input_t *input = &job->ledger.inputs[i];
        const reject_sums_t sums = entry_reject_sums(&input->entry);
        const uint64_t open = sums.open;
        result->left_out += sums.left_out;
        result->open_rejects += open;
        if (open && named++ < NAMED)
            text_print(&text, "%s%.100s %llu", text.length ? ", " : "", input->name,
                       (unsigned long long)open);
    }
    if (named > NAMED)
        text_print(&text, ", and %zu more input%s", named - NAMED, units_s(named - NAMED));
    if (text.length)
        snprintf(result->open_rejects_text, sizeof result->open_rejects_text, "%s", text.bytes);
    text_free(&text);
}

/* True if something was read that cannot be read again. */
static bool has_read_a_stream(const job_t *job) {
    for (size_t i = 0; i < job->file_count; i++)
        if (job->files[i].opened)
            return true;
    return false;
}

/* With --reload-changed: inputs whose content turned out to be another one than before, while they were read,
 * are taken out; then everything begins anew. Where the user may not remove documents, nothing does: it would end
 * here again. */
static bool remove_changed(job_t *job, err_t *err) {
    static const char stream_is_read[] =
        "; nothing was removed, because this command was reading a stream, which cannot be read twice: "
        "give --reload-changed for the file alone, and then load the stream";
    size_t count = 0;
    removed_t *inputs = calloc(job->file_count + 1, sizeof *inputs);
    if (!inputs)
        return err_memory(err, job->file_count * sizeof *inputs);
    for (size_t i = 0; i < job->file_count; i++) {
        const load_file_t *file = &job->files[i];
        const entry_t *entry = file->work ? &job->ledger.inputs[file->work->input].entry : NULL;
        if (file->changed && entry && !(count && inputs[count - 1].entry == entry))
            inputs[count++] = (removed_t){entry, .read = true};
    }
    const bool stream = count && has_read_a_stream(job);
    if (stream)
        err_add(err, "%s", stream_is_read);
    const bool any = count && !stream && job_may_remove_inputs(job, err);
    if (any)
        job_remove_inputs(job, inputs, count, err);
    free(inputs);
    return any;
}

/* A load that did not end well, and what it has taken away before: to do so again would take away its own work. A study
 * drops its own collection, and has no such option. */
static void tell_dropped(const job_t *job, err_t *err) {
    if (job->spec->trial)
        return;
    if (job->dropped)
        err_add(err, "; --drop has dropped what was in %s before: leave that option out from now on",
                job->result->namespace);
    else if (job->spec->drop && job->result->counts.loaded)
        err_add(err, "; but without --drop, which would drop what is loaded by now");
}

/* A stream without a name would be loaded a second time, and what there is of it stays. */
static void tell_nameless(const job_t *job, err_t *err) {
    for (size_t i = 0; i < job->file_count; i++) {
        const load_file_t *file = &job->files[i];
        if (!file->begun || !file->known_as || file->input->has_identity)
            continue;
        err_add(err,
                "; but %.200s has no name by which it could be known again: `%.2000s` takes out what there "
                "is of it, and with --input-name it could be resumed",
                file->input->name, file->forget);
        return;
    }
}

enum { MOST_RUNS = 100 };

/* What a run gives to the next one. */
typedef struct {
    manifest_t manifest; /* what was read of a stream is kept in it */
    misfits_t skipped;
    load_id_t id;            /* by which they were registered; or nobody */
    bool drop_done, dropped; /* what others have loaded since then must stay */
} inputs_t;

/* True if the load may begin again, with the same inputs. */
static bool may_begin_again(job_t *job, const err_t *err, inputs_t *inputs) {
    if (!err->again || has_read_a_stream(job))
        return false;
    inputs->manifest = job->manifest;
    inputs->skipped = job->result->skipped;
    inputs->id = job->before;
    if (job->files && load_id_is_nobody(&inputs->id))
        inputs->id = job->id;
    job->manifest = (manifest_t){.count = 0};
    job->result->skipped = (misfits_t){.items = NULL};
    return true;
}

/* *again: some inputs have changed, and were taken out; or may_begin_again. inputs: those of the run before, or nothing. */
static bool run_once(const load_spec_t *spec, load_result_t *result, inputs_t *inputs, bool *again,
                     err_t *err) {
    job_t *job = ZEROED(job_t);
    *again = false;
    if (!job)
        return err_memory(err, sizeof *job);
    int64_t started = clock_now_ns(), cpu = clock_process_cpu_ns();
    *result = (load_result_t){.threads = spec->threads ? spec->threads : pipeline_usual_threads(),
                              .batch = spec->batch,
                              .skipped = inputs->skipped};
    *err = (err_t){.status = STATUS_OK};
    job->manifest = inputs->manifest;
    job->before = inputs->id;
    job->drop_done = inputs->drop_done;
    job->dropped = inputs->dropped;
    *inputs = (inputs_t){.manifest.count = 0};
    job->widened = UINT64_MAX;
    job->spec = spec;
    job->result = result;
    bson_init(&job->shard_key.spec);
    timeline_begin(&result->course);
    step_begin(&job->step, "%s", timeline_phase_name(TIMELINE_LOOKING));
    result->course.told = spec->told;
    load_state_init(&job->loading);
    bool ok = run(job, err);
    if (!ok)
        *again = (err->status == STATUS_INPUT && spec->reload_changed && remove_changed(job, err)) ||
                 may_begin_again(job, err, inputs);
    inputs->drop_done = job->drop_done;
    inputs->dropped = job->dropped;
    if (!ok && !*again) {
        const bool left_some = job->loading.touched && !spec->trial; /* a trial's collection is nobody's */
        if (job->touched || left_some || result->counts.loaded)
            err_after_change(err);
        tell_dropped(job, err);
        tell_nameless(job, err);
    }
    tally_open_rejects(job, ok);
    if (ok)
        err->status = result->counts.rejected || result->open_rejects || result->fixed_otherwise ||
                              result->skipped.count
                          ? STATUS_SOME_REJECTED
                          : STATUS_OK;
    result->peak_memory_bytes = host_peak_memory();
    result->took_ns = clock_now_ns() - started;
    result->cpu_ns = clock_process_cpu_ns() - cpu;
    job_enter(job, TIMELINE_CLOSING);
    job_close_shards(job);
    job_close_catalog(job, err, ok);
    timeline_end(&result->course);
    step_end(&job->step);
    free_job(job, *again);
    free(job);
    return ok;
}

bool load_run(const load_spec_t *spec, load_result_t *result, err_t *err) {
    inputs_t inputs = {.manifest.count = 0};
    load_spec_t next = *spec;
    bool again, ok = run_once(spec, result, &inputs, &again, err);
    for (int runs = 1; again && runs < MOST_RUNS && !stop_signal(); runs++) {
        load_result_free(result);
        next.drop &= !inputs.drop_done;
        ok = run_once(&next, result, &inputs, &again, err);
    }
    manifest_free(&inputs.manifest);
    misfits_free(&inputs.skipped);
    return ok;
}
