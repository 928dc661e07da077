/* register_inputs: puts the inputs into the catalog, and fills from it the ledger and the list of files to be read. In between it
 * finishes removals that an earlier command has left, and with --reload-changed removes changed inputs. */
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "catalog/register/register.h"
#include "load/forget/forget.h"
#include "load/plan/inputs.h"
#include "load/run/run.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { NOTES = 3 };

/* Bytes of text in a byte of gzip, roughly: for portions of work. */
enum { EXPANDS = 5 };

/* Names the records that would be stored twice: not those with an `_id` of their own. */
static const char *what_is_twice(const plan_t *plan) {
    return plan->schema->id ? "those of its records that have no _id of their own" : "records";
}

/* States facts and gives no advice: the user sees which of both is not needed, if any. With --input-name, where both may be one
 * file that was not overwritten, it warns. */
static void tell_alike(const plan_t *plan, const wanted_t *wanted, like_t how) {
    static const char packed[] = "has the same name as %s, but is packed otherwise",
                      repacked[] = "packed or unpacked";
    static const struct {
        const char *what, *if_so, *in_other_folder; /* instead of `what` */
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
    const alike_t *alike = registration_like(wanted, how);
    const bool called_so = hows[how].in_other_folder && registration_is_called(wanted, alike->path);
    char *what = bson_strdup_printf(called_so ? hows[how].in_other_folder : hows[how].what, alike->path);
    void (*say)(const char *, ...) = wanted->by_name || alike->by_name ? log_warn : log_note;
    say("%s %s%s%s%s: it is loaded as another file. If it is that one, %s, %s are there twice; "
        "docs/resume.md, 'The same records twice', says what to do",
        wanted->name, what, alike->unfinished ? " (" : "", alike->unfinished ? alike->path : "",
        alike->unfinished ? " is not loaded to its end)" : "", hows[how].if_so, what_is_twice(plan));
    bson_free(what);
}

static void tell_unclear(const plan_t *plan, const wanted_t *wanted) {
    log_warn("%s begins with the content of %zu files of this name that were loaded from other folders, and "
             "are gone: which of them it is cannot be known, so %s are there twice; docs/resume.md, 'The "
             "same records twice', says what to do",
             wanted->name, wanted->resembles, what_is_twice(plan));
}

/* Reports a few of the inputs whose names are not those of the catalog. replaced: only the changed ones, which are registered
 * after their documents are removed. The others come before that long removal: a second run would find them registered. */
static void tell_names(const run_t *run, bool replaced) {
    size_t moved = 0, unclear = 0, alike = 0;
    for (size_t i = 0; i < run->registration.count; i++) {
        const wanted_t *wanted = &run->registration.wanted[i];
        const like_t how = registration_tells(wanted);
        if ((wanted->changed || wanted->replaced) != replaced)
            continue;
        if (wanted->moved && strcmp(wanted->entry.path, wanted->name) != 0 && moved++ < NOTES)
            log_note("%s is the file that was loaded as %s (%s)", wanted->name, wanted->entry.path,
                     wanted->resembles ? "it has grown since, and begins with the same content"
                                       : "same size and content");
        if (run->plan->schema->id &&
            !run->plan->schema->id->kept) /* each record is stored once, whatever its input is called */
            continue;
        if (wanted->resembles > 1) {
            if (unclear++ < NOTES)
                tell_unclear(run->plan, wanted);
        } else if (how < LIKE_KINDS && alike++ < NOTES) {
            tell_alike(run->plan, wanted, how);
        }
    }
    if (alike > NOTES)
        log_note("... and %zu more file%s that may be another one", alike - NOTES, units_s(alike - NOTES));
    if (moved > NOTES)
        log_note("... and %zu more file%s loaded from other folders", moved - NOTES, units_s(moved - NOTES));
    if (unclear > NOTES)
        log_warn("... and %zu more file%s that may have grown", unclear - NOTES, units_s(unclear - NOTES));
}

/* Refuses an empty collection whose catalog has documents: a user emptied it. Called before anything is registered. */
static bool check_not_emptied(target_t *target, err_t *err) {
    char count[UNITS_MAX];
    places_t *places;
    if (!target->place.empty || target->plan->spec->reload_missing)
        return true;
    if (!(places = places_read(target->catalog.store, err)))
        return false;
    const places_summary_t summary = places_summary(places, target->generation);
    const uint64_t loaded = summary.loaded + summary.already_there;
    places_free(places);
    if (!loaded)
        return true;
    /* another load may have filled it since it was read */
    if (!collection_look(target->server, target->client, &target->place, err))
        return false;
    return !target->place.empty ||
           err_set(err, STATUS_USAGE,
                   "%s is empty, but its catalog has %s document%s: what was loaded was removed; "
                   "start over with --drop, or load it once more with --reload-missing",
                   server_namespace(target->server), units_count(count, loaded), units_s(loaded));
}

bool run_has_grown(const run_t *run, const ledger_input_t *input) {
    const size_t number = (size_t)(input - run->ledger.inputs);
    return registration_has_grown(entry_newest(&input->entry), &input->seen,
                                  describe_may_grow(&run->plan->manifest.files[number]),
                                  run->registration.digest_at, run->registration.context, number);
}

static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err) {
    run_t *run = context;
    const size_t number = (size_t)(input - run->ledger.inputs);
    return registration_relate(
               &input->entry, &input->seen, describe_may_grow(&run->plan->manifest.files[number]),
               run->registration.digest_at, run->registration.context, number, view, version, err) &&
           (*view != VIEW_CHANGED || !run_has_grown(run, input) ||
            registration_refuse_grown(input->name, err));
}

static bool fill_ledger(run_t *run, err_t *err) {
    target_t *target = run->target;
    const plan_t *plan = run->plan;
    const ledger_options_t options = {.self = target->catalog.self,
                                      .generation = target->generation,
                                      .safe = !plan->spec->unsafe,
                                      .again = plan->spec->reload_missing,
                                      .lease_ns = target->catalog.lease_ns,
                                      .asked_ns = run->registered_ns,
                                      .relate = relate,
                                      .context = run};
    ledger_init(&run->ledger, &options);
    for (size_t i = 0; i < plan->manifest.count; i++) {
        const input_file_t *file = &plan->manifest.files[i];
        wanted_t *wanted = &run->registration.wanted[i];
        ledger_input_t input = {.entry = wanted->entry,
                                .seen = wanted->seen,
                                .name = file->name,
                                .key = run->registration.keys[i],
                                .text_end = wanted->text_end,
                                .bytes = wanted->bytes,
                                .plain = input_has_places(file),
                                .stream = file->kind == INPUT_STREAM,
                                .group = wanted->group};
        wanted->entry = (entry_t){0};
        if (!ledger_add(&run->ledger, &input, err)) {
            entry_free(&input.entry);
            return false;
        }
    }
    return true;
}

/* Returns the command that removes a stream. Documents with `_id`s of the data's own cannot be removed by input. */
static char *forget_command(const target_t *target, const char *name, err_t *err) {
    text_t line = {.length = 0};
    char *uri = address_to_paste(target->plan->spec->uri, server_namespace(target->server), err);
    if (!uri)
        return NULL;
    text_append(&line, "tipple forget");
    shell_quote_word(&line, name);
    text_append(&line, target->plan->schema->id ? "" : " --delete --yes");
    shell_quote_option(&line, "--uri", uri);
    free(uri);
    return text_take(&line, err);
}

/* Makes a file for each piece, in the order of the ledger's works. */
static bool make_files(run_t *run, err_t *err) {
    const plan_t *plan = run->plan;
    ledger_t *ledger = &run->ledger;
    if (!(run->pieces = calloc(ledger->work_count + 1, sizeof *run->pieces)))
        return err_memory(err, ledger->work_count * sizeof *run->pieces);
    for (; run->piece_count < ledger->work_count; run->piece_count++) {
        work_t *work = &ledger->works[run->piece_count];
        const ledger_input_t *input = &ledger->inputs[work->input];
        const piece_t *known = &input->entry.pieces[work->piece];
        active_piece_t *piece = &run->pieces[run->piece_count];
        piece->input = &plan->manifest.files[work->input];
        piece->work = work;
        piece->ordinal = input->entry.ordinal;
        piece->from = known->from;
        piece->to = known->to;
        piece->bad_value = entry_bad_value(&input->entry, plan->schema->bound);
        piece->may_be_torn = describe_may_grow(piece->input) ||
                             (piece->input->kind == INPUT_STREAM && piece->input->has_identity);
        if (!(piece->known_as = run_keep(run, strdup(input->entry.path), err)) ||
            (input->stream &&
             !(piece->forget = run_keep(run, forget_command(run->target, piece->known_as, err), err))))
            return false;
        plan->result->records_skipped += work->again ? 0 : work->read_before;
    }
    return true;
}

/* Warns of inputs of which another load has begun a longer version, so that the collection may have more records. */
static void tell_cut_back(const run_t *run) {
    for (size_t i = 0; i < run->ledger.input_count; i++) {
        const ledger_input_t *input = &run->ledger.inputs[i];
        if (input->view == VIEW_OLDER && !entry_is_complete(&input->entry, run->target->generation, false))
            log_warn("%s was longer when another load began with it, and that load did not finish it: "
                     "records that are not here any more may be in the collection. If the longer one is "
                     "lost, --reload-changed removes them",
                     input->name);
    }
}

/* True if all of the input was done, so that none of its records is read. Call it before anything is taken. */
static bool is_done(const run_t *run, const ledger_input_t *input) {
    bool done = !run->plan->spec->reload_missing;
    for (size_t i = 0; done && i < input->work_count; i++) {
        const work_state_t state = run->ledger.works[input->first_work + i].state;
        done = state == WORK_DONE || state == WORK_CHECK;
    }
    return done;
}

static void count_done_inputs(run_t *run) {
    for (size_t i = 0; i < run->ledger.input_count; i++)
        run->plan->result->files_skipped += is_done(run, &run->ledger.inputs[i]);
}

static bool has_documents(const entry_t *entry) {
    bool any = false;
    for (size_t i = 0; !any && i < entry->piece_count; i++) {
        const counts_t counts = piece_counts(&entry->pieces[i]);
        any = counts.of[FATE_LOADED] || counts.of[FATE_THERE];
    }
    return any;
}

/* The part by which an input has grown is judged by itself: for a log that is loaded every night, last year's rejects do not
 * matter. */
static bool was_loaded_to_its_end(const entry_t *entry) {
    bool any = false;
    for (size_t i = 0; !any && i < entry->version_count; i++)
        any = entry->versions[i].completed_ns;
    return any;
}

/* An input that is done says nothing about those that are read. One that goes on is judged as if it had never been interrupted. */
void run_tell_what_is_there(const run_t *run) {
    for (size_t i = 0; i < run->ledger.input_count; i++) {
        const ledger_input_t *input = &run->ledger.inputs[i];
        if (is_done(run, input))
            continue;
        if (has_documents(&input->entry))
            rejects_format_fits(run->loading.rejects);
        for (size_t j = 0; j < input->work_count && !was_loaded_to_its_end(&input->entry); j++) {
            const work_t *work = &run->ledger.works[input->first_work + j];
            rejects_of_others(run->loading.rejects, work->read_before, work->rejected_before);
        }
    }
}

/* Warns of inputs that keep the --on-bad-value of an earlier command. */
static void tell_bad_values(const run_t *run) {
    const schema_t *schema = run->plan->schema;
    size_t shown = 0;
    for (size_t i = 0; schema->bad_value_said && i < run->ledger.input_count; i++) {
        const ledger_input_t *input = &run->ledger.inputs[i];
        const bad_value_t kept = entry_bad_value(&input->entry, schema->bound);
        if (kept == schema->bad_value || (is_done(run, input) && !entry_open_rejects(&input->entry)) ||
            shown++ >= NOTES)
            continue;
        log_warn("%s keeps --on-bad-value %s, with which a load began it: %s --on-bad-value %s", input->name,
                 schema_bad_values[kept],
                 kept == BAD_VALUE_REJECT
                     ? "to load its rejects otherwise, tipple load --retry FILE"
                     : "to load it otherwise, remove it with `tipple forget --delete`, and give",
                 schema_bad_values[schema->bad_value]);
    }
    if (shown > NOTES)
        log_warn("... and %zu more input%s that keep theirs", shown - NOTES, units_s(shown - NOTES));
}

/* Finishes removals that a `tipple forget --delete` or a load with --reload-changed has left unfinished. */
static bool finish_removals(run_t *run, err_t *err) {
    const removal_t removal = target_removal(run->target);
    if (!run->registration.remains)
        return true;
    log_note("documents of inputs that were taken out of the catalog are still there: they are removed, "
             "which takes %lld s at least",
             (long long)(run->target->catalog.lease_ns / 1000000000));
    return catalog_finish_removals(&removal, err);
}

/* Removes all changed inputs at once, so that a lease is waited once, and registers again. */
static bool reload_changed(run_t *run, err_t *err) {
    registration_t *registration = &run->registration;
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
    const bool ok = target_remove_inputs(run->target, inputs, count, err);
    free(inputs);
    if (!ok || (!count && !registration->remains))
        return ok;
    /* a removal takes a lease: another command may have removed something else meanwhile, or have begun to */
    do {
        register_free(registration);
        if (!catalog_register(run->target->catalog.store, registration, err) || !finish_removals(run, err))
            return false;
    } while (registration->remains);
    tell_names(run, true);
    return true;
}

/* True if the input is in the same group as the one before it. Inputs of one compressed tar are a group. */
static bool is_of_group_before(const input_file_t *files, size_t number) {
    return number && input_is_in_stream(&files[number]) && input_is_in_stream(&files[number - 1]) &&
           files[number].archive == files[number - 1].archive;
}

static void describe_inputs(const plan_t *plan, wanted_t *wanted) {
    const input_file_t *files = plan->manifest.files;
    for (size_t i = 0; i < plan->manifest.count; i++) {
        describe_input(&files[i], &wanted[i]);
        wanted[i].reload = plan->spec->reload_changed;
        wanted[i].bytes = files[i].disk_bytes * (input_kind_is_compressed(files[i].kind) ? EXPANDS : 1);
        wanted[i].group = is_of_group_before(files, i) ? wanted[i - 1].group : i;
    }
}

/* Checks --reload-missing. If several documents have one _id, only the order of the inputs decides which one is stored; and a
 * stream cannot be compared before it is sent. */
static bool may_reload_missing(const target_t *target, err_t *err) {
    const plan_t *plan = target->plan;
    if (!plan->spec->reload_missing)
        return true;
    if (plan->spec->reload_changed)
        return err_set(err, STATUS_USAGE,
                       "--reload-missing is for inputs that are as they were, and --reload-changed for "
                       "others; give one of them");
    if (plan->existing != EXISTING_REJECT)
        return err_set(
            err, STATUS_USAGE,
            "records of several inputs may have one _id in %s (--existing %s): with --reload-missing a "
            "document could take another one's place; load all inputs anew, with --drop",
            server_namespace(target->server), existing_names[plan->existing]);
    for (size_t i = 0; i < plan->manifest.count; i++)
        if (plan->manifest.files[i].kind == INPUT_STREAM)
            return err_set(err, STATUS_USAGE,
                           "--reload-missing reads an input twice, and %s is a stream; `tipple forget NAME "
                           "--delete`, and then all of it again, loads it anew",
                           plan->manifest.files[i].name);
    return true;
}

static bool add_misfit(void *context, size_t number, const err_t *why) {
    run_t *run = context;
    err_t memory;
    return misfits_add(&run->plan->misfits, run->plan->manifest.files[number].name, why->text, number,
                       &memory);
}

/* Refuses a stream that goes on with new columns: it is another stream, and no column is added for it. */
static bool check_streams(run_t *run, err_t *err) {
    for (size_t i = 0; i < run->piece_count; i++) {
        const active_piece_t *piece = &run->pieces[i];
        const ledger_input_t *input = &run->ledger.inputs[piece->work->input];
        if (!piece->input->widens || !input->stream || !entry_dialect(&input->entry, run->target->generation))
            continue;
        other_stream_refuse(piece, "the new one has other columns than the old one", 0, 0, err);
        if (run->plan->spec->skip_bad_files)
            add_misfit(run, piece->work->input, err);
        return false;
    }
    return true;
}

/* ---- the order of inputs, with --existing replace ---- */

enum { WARNINGS = 3 };

/* Warns of files that were moved or copied, or have their old content again, like a list whose last change was undone. */
static void tell_old_content(const registration_t *registering, const entries_t *all) {
    size_t shown = 0;
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        const char *since = turns_since(registering, wanted, all);
        if (since && shown++ < WARNINGS)
            log_warn("%s has the name and content of %s, but another time of modification, and %s was loaded "
                     "since: nothing of it is loaded again. If its records are to be the newest, `tipple "
                     "forget` %s#%u, and load it again",
                     wanted->name, wanted->entry.path, since, wanted->entry.path, wanted->entry.ordinal);
    }
    if (shown > WARNINGS)
        log_warn("... and %zu more file%s of which nothing is loaded again", shown - WARNINGS,
                 units_s(shown - WARNINGS));
}

static bool check_turns(run_t *run, err_t *err) {
    registration_t *registering = &run->registration;
    if (run->plan->existing != EXISTING_REPLACE)
        return true;
    registering->read_only = true;
    places_t *places = places_read(run->target->catalog.store, err);
    const bool ok = places && catalog_register(run->target->catalog.store, registering, err) &&
                    turns_check(registering, places_entries(places), err);
    if (ok)
        tell_old_content(registering, places_entries(places));
    register_free(registering);
    registering->read_only = false;
    places_free(places);
    return ok;
}

static bool register_inputs(run_t *run, err_t *err) {
    target_t *target = run->target;
    const plan_t *plan = run->plan;
    registration_t *registration = &run->registration;
    describe_asked_t asked;
    *registration = (registration_t){
        .count = plan->manifest.count,
        .self = target->catalog.self,
        .before = target->before,
        .generation = target->generation,
        .bound = target->bound,
        .bad_value = plan->schema->bad_value == plan->schema->bound ? 0 : 1 + plan->schema->bad_value,
        .own_ids = plan->schema->id,
        .known_only = plan->spec->reload_missing,
        .refuse = plan->spec->skip_bad_files ? add_misfit : NULL,
        .refuse_context = run,
        .name = server_namespace(target->server)};
    describe_asked(registration, &plan->manifest, plan->schema, &asked);
    if (plan->existing != EXISTING_REPLACE)
        registration->portion = (portion_t){.least = 1, .most_bytes = RUN_LEAST_PORTION};
    if (!(registration->wanted = calloc(registration->count + 1, sizeof *registration->wanted)))
        return err_memory(err, registration->count * sizeof *registration->wanted);
    describe_inputs(plan, registration->wanted);
    run->registered_ns = clock_awake_or_not_ns();
    const bool ok = may_reload_missing(target, err) && check_not_emptied(target, err) &&
                    check_turns(run, err) && catalog_register(target->catalog.store, registration, err);
    if (ok)
        tell_names(run, false);
    const bool ready = ok && finish_removals(run, err) && reload_changed(run, err);
    describe_asked_free(&asked);
    if (!ready)
        return false;
    manifest_forget_heads(&run->plan->manifest);
    if (!fill_ledger(run, err) ||
        (plan->existing == EXISTING_REPLACE && !ledger_put_in_order(&run->ledger, err)))
        return false;
    register_free_wanted(registration);
    free(registration->wanted);
    registration->wanted = NULL;
    malloc_trim(0); /* of many small files, the heads and the registration took more than the load will */
    if (!make_files(run, err))
        return false;
    count_done_inputs(run);
    tell_bad_values(run);
    tell_cut_back(run);
    return check_streams(run, err);
}

bool run_register_inputs(run_t *run, err_t *err) {
    plan_t *plan = run->plan;
    const bool ok = register_inputs(run, err);
    if (plan->misfits.count) {
        misfits_sort(&plan->misfits);
        err->again =
            misfits_take_out(&plan->misfits, &plan->manifest, true, &plan->result->skipped, NULL, err);
    } else if (!ok && err->status == STATUS_INPUT && plan->manifest.count > 1 &&
               !plan->spec->skip_bad_files) {
        err_add(err, "; " MISFITS_REMEDY);
    }
    return ok;
}

void run_tell_removed(run_t *run) {
    err_t ignored;
    for (size_t i = 0; i < run->ledger.input_count; i++) {
        const ledger_input_t *input = &run->ledger.inputs[i];
        if (input->removed && input->taken &&
            !catalog_may_remain(&run->target->catalog, input->entry.ordinal, &ignored))
            log_detail("what was sent of %s after its removal is not noted in the catalog: %s", input->name,
                       ignored.text);
    }
}
