/* The inputs into the catalog, and out of it into the ledger and the list of files to be read. */
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "load/plan/copies.h"
#include "load/plan/describe_input.h"
#include "load/run/job.h"

#include <stdlib.h>
#include <string.h>

enum { NOTES = 3 };

/* What a gzip holds for each of its bytes, roughly: for portions of work. */
enum { EXPANDS = 5 };

/* What has its own `_id` is there once, whatever its input is called. */
static const char *what_is_twice(const job_t *job) {
    return job->schema->id ? "those of its records that have no _id of their own" : "records";
}

/* Facts, and no advice: the user sees which of both is not needed, if any. With --input-name it may be one file that was not
 * overwritten: a warning. */
static void tell_alike(const job_t *job, const wanted_t *wanted, like_t how) {
    static const char packed[] = "has the same name as %s, but is packed otherwise",
                      repacked[] = "packed or unpacked";
    static const struct {
        const char *what, *if_so, *in_other_folder; /* this instead of what */
    } hows[LIKE_KINDS] = {
        [LIKE_EQUAL] = {"has another name than %s, but the same size, beginning and end", "renamed or copied",
                        "has the name, size, beginning and end of %s"},
        [LIKE_PART] = {"has another name than %s, but the same beginning", "an earlier version or a part",
                       "has the name and the beginning of %s"},
        [LIKE_BEGINS] = {"has another name than %s, and begins with its content",
                         "renamed or copied, and grown", "has the name of %s, and begins with its content"},
        [LIKE_LEADS] = {"is the file that %s leads to, too, and that had other content", "changed", NULL},
        [LIKE_MOVED] = {"has the same name as %s, which is not there any more", "moved and changed", NULL},
        [LIKE_PACKED] = {packed, repacked, NULL},
        [LIKE_PACKED_ELSEWHERE] = {packed, repacked, NULL},
    };
    const alike_t *alike = &wanted->like[how];
    const bool called_so = hows[how].in_other_folder && registration_is_called(wanted, alike->path);
    char *what = bson_strdup_printf(called_so ? hows[how].in_other_folder : hows[how].what, alike->path);
    void (*tell)(const char *, ...) = wanted->by_name || alike->by_name ? log_warn : log_note;
    tell("%s %s%s%s%s: it is loaded as another file. If it is that one, %s, %s are there twice; "
         "docs/resume.md, 'The same records twice', says what to do",
         wanted->name, what, alike->unfinished ? " (" : "", alike->unfinished ? alike->path : "",
         alike->unfinished ? " is not loaded to its end)" : "", hows[how].if_so, what_is_twice(job));
    bson_free(what);
}

static void tell_unclear(const job_t *job, const wanted_t *wanted) {
    log_warn("%s begins with the content of %zu files of this name that were loaded from other folders, and "
             "are gone: which of them it is cannot be known, so %s are there twice; docs/resume.md, 'The "
             "same records twice', says what to do",
             wanted->name, wanted->resembles, what_is_twice(job));
}

/* Notes about inputs whose names are not those of the catalog, a few at most. replaced: about those that have changed, which
 * are registered when their documents are removed. Of the others everything is told before that: it takes its time, and who
 * runs the command again finds them registered. */
static void tell_names(const job_t *job, bool replaced) {
    size_t moved = 0, unclear = 0, alike = 0;
    for (size_t i = 0; i < job->registration.count; i++) {
        const wanted_t *wanted = &job->registration.wanted[i];
        const like_t how = registration_tells(wanted);
        if ((wanted->changed || wanted->replaced) != replaced)
            continue;
        if (wanted->moved && strcmp(wanted->entry.path, wanted->name) != 0 && moved++ < NOTES)
            log_note("%s is the file that was loaded as %s (%s)", wanted->name, wanted->entry.path,
                     wanted->resembles ? "it has grown since, and begins with the same content"
                                       : "same size and content");
        if (job->schema->id &&
            !job->schema->id->kept) /* each record is there once, whatever its input is called */
            continue;
        if (wanted->resembles > 1) {
            if (unclear++ < NOTES)
                tell_unclear(job, wanted);
        } else if (how < LIKE_KINDS && alike++ < NOTES) {
            tell_alike(job, wanted, how);
        }
    }
    if (alike > NOTES)
        log_note("... and %zu more file%s that may be another one", alike - NOTES, units_s(alike - NOTES));
    if (moved > NOTES)
        log_note("... and %zu more file%s loaded from other folders", moved - NOTES, units_s(moved - NOTES));
    if (unclear > NOTES)
        log_warn("... and %zu more file%s that may have grown", unclear - NOTES, units_s(unclear - NOTES));
}

/* A catalog that tells of documents, and a collection without any: somebody emptied it. Before anything is
 * registered. */
static bool check_not_emptied(job_t *job, err_t *err) {
    char count[UNITS_MAX];
    places_t *places;
    if (!job->place.empty || job->spec->reload_missing)
        return true;
    if (!(places = places_read(job->store, err)))
        return false;
    const places_summary_t summary = places_summary(places, job->loading.generation);
    const uint64_t loaded = summary.loaded + summary.already_there;
    places_free(places);
    if (!loaded)
        return true;
    /* another load may have filled it since it was looked at */
    if (!collection_look(job->server, job->client, &job->place, err))
        return false;
    return !job->place.empty ||
           err_set(err, STATUS_USAGE,
                   "%s is empty, but its catalog tells of %s document%s: somebody removed what was loaded; "
                   "start over with --drop, or load it once more with --reload-missing",
                   server_namespace(job->server), units_count(count, loaded), units_s(loaded));
}

bool job_has_grown(const job_t *job, const ledger_input_t *input) {
    const size_t number = (size_t)(input - job->ledger.inputs);
    return registration_has_grown(entry_newest(&input->entry), &input->seen,
                                  describe_may_grow(&job->manifest.files[number]),
                                  job->registration.digest_at, job->registration.context, number);
}

static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err) {
    job_t *job = context;
    const size_t number = (size_t)(input - job->ledger.inputs);
    return registration_relate(&input->entry, &input->seen, describe_may_grow(&job->manifest.files[number]),
                               job->registration.digest_at, job->registration.context, number, view, version,
                               err) &&
           (*view != VIEW_CHANGED || !job_has_grown(job, input) ||
            registration_refuse_grown(input->name, err));
}

static bool fill_ledger(job_t *job, err_t *err) {
    const ledger_options_t options = {.self = job->id,
                                      .generation = job->loading.generation,
                                      .safe = !job->spec->unsafe,
                                      .again = job->spec->reload_missing,
                                      .lease_ns = job->lease_ms * 1000000,
                                      .asked_ns = job->registered_ns,
                                      .relate = relate,
                                      .context = job};
    ledger_init(&job->ledger, &options);
    for (size_t i = 0; i < job->manifest.count; i++) {
        const input_file_t *file = &job->manifest.files[i];
        wanted_t *wanted = &job->registration.wanted[i];
        ledger_input_t input = {.entry = wanted->entry,
                                .seen = wanted->seen,
                                .name = file->name,
                                .key = wanted->key,
                                .text_end = wanted->text_end,
                                .bytes = wanted->bytes,
                                .plain = file->kind == INPUT_PLAIN && !input_is_in_stream(file),
                                .stream = file->kind == INPUT_STREAM,
                                .group = wanted->group};
        wanted->entry = (entry_t){0};
        if (!ledger_add(&job->ledger, &input, err)) {
            entry_free(&input.entry);
            return false;
        }
    }
    return true;
}

/* Documents that are the data's own nobody may remove by their input. NULL: memory was out. */
static char *forget_command(const job_t *job, const char *name, err_t *err) {
    text_t line = {.length = 0};
    char *uri = address_to_paste(job->spec->uri, server_namespace(job->server), err);
    if (!uri)
        return NULL;
    text_append(&line, "tipple forget");
    shell_quote_word(&line, name);
    text_append(&line, job->schema->id ? "" : " --delete --yes");
    shell_quote_option(&line, "--uri", uri);
    free(uri);
    return text_take(&line, err);
}

/* A file for each piece, in the order of the ledger's works. */
static bool make_files(job_t *job, err_t *err) {
    ledger_t *ledger = &job->ledger;
    if (!(job->files = calloc(ledger->work_count + 1, sizeof *job->files)))
        return err_memory(err, ledger->work_count * sizeof *job->files);
    for (; job->file_count < ledger->work_count; job->file_count++) {
        work_t *work = &ledger->works[job->file_count];
        const ledger_input_t *input = &ledger->inputs[work->input];
        const piece_t *piece = &input->entry.pieces[work->piece];
        load_file_t *file = &job->files[job->file_count];
        file->input = &job->manifest.files[work->input];
        file->work = work;
        file->ordinal = input->entry.ordinal;
        file->from = piece->from;
        file->to = piece->to;
        file->bad_value = entry_bad_value(&input->entry, job->schema->bound);
        file->may_be_torn = describe_may_grow(file->input) ||
                            (file->input->kind == INPUT_STREAM && file->input->has_identity);
        if (!(file->known_as = strdup(input->entry.path)))
            return err_memory(err, strlen(input->entry.path));
        if (input->stream && !(file->forget = forget_command(job, file->known_as, err)))
            return false;
        job->result->records_skipped += work->again ? 0 : work->read_before;
    }
    return true;
}

/* Inputs of which another load has begun with a longer version. All of what is here may be there; but so may be more. */
static void tell_cut_back(const job_t *job) {
    for (size_t i = 0; i < job->ledger.input_count; i++) {
        const ledger_input_t *input = &job->ledger.inputs[i];
        if (input->view == VIEW_OLDER && !entry_is_complete(&input->entry, job->loading.generation, false))
            log_warn("%s was longer when another load began with it, and that load did not finish it: "
                     "records that are not here any more may be in the collection. If the longer one is "
                     "lost, --reload-changed removes them",
                     input->name);
    }
}

/* Before anything is taken: was all of the input done, so that none of its records is read? */
static bool is_done(const job_t *job, const ledger_input_t *input) {
    bool done = !job->spec->reload_missing;
    for (size_t i = 0; done && i < input->work_count; i++) {
        const work_state_t state = job->ledger.works[input->first_work + i].state;
        done = state == WORK_DONE || state == WORK_CHECK;
    }
    return done;
}

static void count_done_inputs(job_t *job) {
    for (size_t i = 0; i < job->ledger.input_count; i++)
        job->result->files_skipped += is_done(job, &job->ledger.inputs[i]);
}

static bool has_documents(const entry_t *entry) {
    bool any = false;
    for (size_t i = 0; !any && i < entry->piece_count; i++) {
        const counts_t counts = piece_counts(&entry->pieces[i]);
        any = counts.loaded || counts.already_there;
    }
    return any;
}

/* What an input has grown by since is judged by itself: of a log that is loaded every night nobody wants to know how it was
 * last year. */
static bool was_loaded_to_its_end(const entry_t *entry) {
    bool any = false;
    for (size_t i = 0; !any && i < entry->version_count; i++)
        any = entry->versions[i].completed_ns;
    return any;
}

/* An input that is done says nothing about those that are read. One that goes on is judged as if it had never been
 * interrupted. */
void job_tell_what_is_there(const job_t *job) {
    for (size_t i = 0; i < job->ledger.input_count; i++) {
        const ledger_input_t *input = &job->ledger.inputs[i];
        if (is_done(job, input))
            continue;
        if (has_documents(&input->entry))
            rejects_format_fits(job->loading.rejects);
        for (size_t j = 0; j < input->work_count && !was_loaded_to_its_end(&input->entry); j++) {
            const work_t *work = &job->ledger.works[input->first_work + j];
            rejects_of_others(job->loading.rejects, work->read_before, work->rejected_before);
        }
    }
}

/* Inputs that keep what another command has said of values that do not fit. */
static void tell_bad_values(const job_t *job) {
    const schema_t *schema = job->schema;
    size_t told = 0;
    for (size_t i = 0; schema->bad_value_said && i < job->ledger.input_count; i++) {
        const ledger_input_t *input = &job->ledger.inputs[i];
        const bad_value_t kept = entry_bad_value(&input->entry, schema->bound);
        if (kept == schema->bad_value || (is_done(job, input) && !entry_open_rejects(&input->entry)) ||
            told++ >= NOTES)
            continue;
        log_warn("%s keeps --on-bad-value %s, with which a load began it: %s --on-bad-value %s", input->name,
                 schema_bad_values[kept],
                 kept == BAD_VALUE_REJECT
                     ? "to load its rejects otherwise, tipple load --retry FILE"
                     : "to load it otherwise, remove it with `tipple forget --delete`, and give",
                 schema_bad_values[schema->bad_value]);
    }
    if (told > NOTES)
        log_warn("... and %zu more input%s that keep theirs", told - NOTES, units_s(told - NOTES));
}

/* All of them at once: a lease is waited once. */
static bool reload_changed(job_t *job, err_t *err) {
    registration_t *registration = &job->registration;
    size_t count = 0;
    removed_t *inputs = calloc(registration->count + 1, sizeof *inputs);
    if (!inputs)
        return err_memory(err, registration->count * sizeof *inputs);
    for (size_t i = 0; i < registration->count; i++) {
        wanted_t *wanted = &registration->wanted[i];
        wanted->replaced |= wanted->changed;
        if (wanted->changed)
            inputs[count++] = (removed_t){&wanted->entry, .read = !wanted->unread};
    }
    const bool ok = job_remove_inputs(job, inputs, count, err);
    free(inputs);
    if (!ok || (!count && !registration->remains))
        return ok;
    /* a removal takes a lease: another command may have removed something else meanwhile, or have begun to */
    do {
        register_free(registration);
        if (!catalog_register(job->store, registration, err) || !job_finish_removals(job, err))
            return false;
    } while (registration->remains);
    tell_names(job, true);
    return true;
}

/* Inputs of one compressed tar are one group. */
static bool is_of_group_before(const input_file_t *files, size_t number) {
    return number && input_is_in_stream(&files[number]) && input_is_in_stream(&files[number - 1]) &&
           files[number].archive == files[number - 1].archive;
}

static void describe_inputs(const job_t *job, wanted_t *wanted) {
    const input_file_t *files = job->manifest.files;
    for (size_t i = 0; i < job->manifest.count; i++) {
        describe_input(&files[i], &wanted[i]);
        wanted[i].reload = job->spec->reload_changed;
        wanted[i].bytes = files[i].disk_bytes * (input_kind_is_compressed(files[i].kind) ? EXPANDS : 1);
        wanted[i].group = is_of_group_before(files, i) ? wanted[i - 1].group : i;
    }
}

/* Of several documents with one _id only the order of the inputs tells which one is there; and a stream cannot be
 * compared before it is sent. */
static bool may_reload_missing(const job_t *job, err_t *err) {
    if (!job->spec->reload_missing)
        return true;
    if (job->spec->reload_changed)
        return err_set(err, STATUS_USAGE,
                       "--reload-missing is for inputs that are as they were, and --reload-changed for "
                       "others; give one of them");
    if (job->existing != EXISTING_REJECT)
        return err_set(
            err, STATUS_USAGE,
            "records of several inputs may have one _id in %s (--existing %s): with --reload-missing a "
            "document could take another one's place; load all inputs anew, with --drop",
            server_namespace(job->server), existing_names[job->existing]);
    for (size_t i = 0; i < job->manifest.count; i++)
        if (job->manifest.files[i].kind == INPUT_STREAM)
            return err_set(err, STATUS_USAGE,
                           "--reload-missing reads an input twice, and %s is a stream; `tipple forget NAME "
                           "--delete`, and then all of it again, loads it anew",
                           job->manifest.files[i].name);
    return true;
}

static bool add_misfit(void *context, size_t number, const err_t *why) {
    job_t *job = context;
    err_t memory;
    return misfits_add(&job->misfits, job->manifest.files[number].name, why->text, number, &memory);
}

/* A stream that goes on has the columns that it had: one that brings new ones is another stream, and nothing is added for it. */
static bool check_streams(job_t *job, err_t *err) {
    for (size_t i = 0; i < job->file_count; i++) {
        const load_file_t *file = &job->files[i];
        const ledger_input_t *input = &job->ledger.inputs[file->work->input];
        if (!file->input->widens || !input->stream || !entry_dialect(&input->entry, job->loading.generation))
            continue;
        other_stream_refuse(file, "the new one has other columns than the old one", 0, 0, err);
        if (job->spec->skip_bad_files)
            add_misfit(job, file->work->input, err);
        return false;
    }
    return true;
}

static bool register_inputs(job_t *job, err_t *err) {
    registration_t *registration = &job->registration;
    describe_asked_t asked;
    *registration = (registration_t){
        .count = job->manifest.count,
        .self = job->id,
        .before = job->before,
        .generation = job->loading.generation,
        .bound = job->loading.bound,
        .bad_value = job->schema->bad_value == job->schema->bound ? 0 : 1 + job->schema->bad_value,
        .own_ids = job->schema->id,
        .known_only = job->spec->reload_missing,
        .refuse = job->spec->skip_bad_files ? add_misfit : NULL,
        .refuse_context = job,
        .name = server_namespace(job->server)};
    describe_asked(registration, &job->manifest, job->schema, &asked);
    if (job->existing != EXISTING_REPLACE)
        registration->portion = (portion_t){.least = 1, .most_bytes = JOB_LEAST_PORTION};
    if (!(registration->wanted = calloc(registration->count + 1, sizeof *registration->wanted)))
        return err_memory(err, registration->count * sizeof *registration->wanted);
    describe_inputs(job, registration->wanted);
    job->registered_ns = clock_awake_or_not_ns();
    const bool ok = may_reload_missing(job, err) && check_not_emptied(job, err) &&
                    job_check_turns(job, err) && catalog_register(job->store, registration, err);
    if (ok)
        tell_names(job, false);
    const bool ready = ok && job_finish_removals(job, err) && reload_changed(job, err);
    describe_asked_free(&asked);
    if (!ready)
        return false;
    if (!fill_ledger(job, err) ||
        (job->existing == EXISTING_REPLACE && !ledger_put_in_order(&job->ledger, err)) ||
        !make_files(job, err))
        return false;
    count_done_inputs(job);
    tell_bad_values(job);
    tell_cut_back(job);
    return check_streams(job, err);
}

bool job_register_inputs(job_t *job, err_t *err) {
    const bool ok = register_inputs(job, err);
    if (job->misfits.count) {
        misfits_sort(&job->misfits);
        err->again = misfits_take_out(&job->misfits, &job->manifest, true, &job->result->skipped, NULL, err);
    } else if (!ok && err->status == STATUS_INPUT && job->manifest.count > 1 && !job->spec->skip_bad_files) {
        err_add(err, "; " MISFITS_REMEDY);
    }
    return ok;
}
