/* Opening a verify: inputs, format and target; the catalog's header; the entries of the files. */
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "catalog/catalog.h"
#include "format/record/record.h"
#include "format/schema/schema.h"
#include "input/manifest.h"
#include "load/plan/format.h"
#include "load/plan/inputs.h"
#include "load/plan/peek.h"
#include "load/spec/load_spec.h"
#include "verify/verify_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- inputs without a record ---- */

/* An empty file has no record, and neither has a lone header line. A load of such files sends nothing and leaves no
 * catalog, so verify has nothing to compare. */

/* An input that cannot be read, or does not fit, counts as one with records. */
static bool inputs_hold_no_record(const schema_t *schema, const manifest_t *manifest) {
    err_t ignored;
    peek_t *peek = peek_new(schema, false, &ignored);
    bool none = peek;
    for (size_t i = 0; none && i < manifest->count; i++)
        none = !peek_records(peek, &manifest->files[i]);
    peek_free(peek);
    return none;
}

/* ---- what was asked for ---- */

static bool list_inputs(verification_t *run, err_t *err) {
    const verify_spec_t *spec = run->spec;
    if (run->manifest->count)
        return true;
    char *target = uri_target(spec->load.uri);
    const manifest_options_t options = {
        .input_name = spec->load.input_name, .target = target, .patience_ns = spec->load.patience_ns};
    const bool ok = manifest_build(run->manifest, spec->load.inputs, spec->load.input_count, &options, err) &&
                    manifest_decode(run->manifest, run->schema ? run->schema->charset : NULL);
    free(target);
    return ok;
}

static bool read_spec(verification_t *run, err_t *err) {
    const verify_spec_t *spec = run->spec;
    if (!run->schema && !(run->schema = format_open(spec->load.format, err)))
        return false;
    snprintf(run->result->format, sizeof run->result->format, "%s", run->schema->name);
    if (spec->load.filter_count &&
        !(run->filter = filter_parse(run->schema, spec->load.filters, spec->load.filter_count, err)))
        return false;
    for (size_t i = 0; i < spec->retry_count; i++)
        if (access(spec->retry[i], R_OK) != 0)
            return err_set(err, STATUS_USAGE, "the reject file %s cannot be read: %m", spec->retry[i]);
    return list_inputs(run, err) && copies_make(run->manifest, spec->load.copies, err);
}

static bool connect_target(verification_t *run, err_t *err) {
    verify_result_t *result = run->result;
    server_options_t options = {.uri = run->spec->load.uri,
                                .patience_ns = run->spec->load.patience_ns,
                                .connections = result->threads + 3};
    if (!host_want_descriptors("--threads", options.connections + 12, err))
        return false;
    if (!(run->server = server_connect(&options, err)) || !(run->client = server_take(run->server, err)))
        return false;
    snprintf(result->namespace, sizeof result->namespace, "%s", server_namespace(run->server));
    snprintf(result->where, sizeof result->where, "%s", server_where(run->server));
    return true;
}

/* A pipe's writer may come late or never, so verify does not wait for it only to say that nothing was loaded. */
static bool names_pipe(const manifest_t *manifest) {
    for (size_t i = 0; i < manifest->count; i++)
        if (manifest->files[i].kind == INPUT_STREAM && strcmp(manifest->files[i].name, "-") != 0)
            return true;
    return false;
}

/* Nothing was loaded, so the format is needed only to see whether the inputs hold a record at all. */
static bool guess_format(verification_t *run, err_t *err) {
    const guess_options_t none = {.nested = false};
    guessed_t guessed = {.yaml = NULL};
    err_t reason;
    if (!list_inputs(run, err))
        return false;
    if (!names_pipe(run->manifest) && guess_inputs(run->manifest, &none, &guessed, &reason))
        run->schema = schema_parse_guessed(guessed.yaml, "the format that was guessed", &reason);
    guessed_free(&guessed);
    return run->schema || catalog_refuse_none(server_namespace(run->server), &run->header, err);
}

/* Without --format, uses the one that was guessed for the load. */
static bool find_format(verification_t *run, err_t *err) {
    char *text = NULL;
    uint64_t widened;
    const bool ok =
        connect_target(run, err) && store_mongo_need(&run->store, run->server, run->client, err) &&
        kept_format(run->store, server_namespace(run->server), false, &run->schema, &text, &widened, err);
    free(text);
    return ok && (run->schema || guess_format(run, err));
}

/* ---- the catalog ---- */

/* The load's own filter leaves out the same records again. */
static bool take_filter(verification_t *run, err_t *err) {
    char *text = run->header.filter;
    if (text && *text && !run->filter && !(run->filter = filter_parse(run->schema, &text, 1, err)))
        return false;
    snprintf(run->result->filter, sizeof run->result->filter, "%s", text ? text : "");
    return true;
}

static bool check_header(verification_t *run, err_t *err) {
    if (!kept_columns(&run->header, server_namespace(run->server), run->schema, err))
        return false;
    const catalog_settings_t settings = {.name = server_namespace(run->server),
                                         .format = run->schema->name,
                                         .format_digest = run->schema->digest,
                                         .filter = run->filter ? filter_text(run->filter) : NULL};
    if (!run->place.exists)
        return catalog_refuse_gone(server_namespace(run->server), err);
    if (!catalog_check_header(&run->header, &settings, err))
        return false;
    if (memcmp(run->header.uuid, run->place.uuid, sizeof run->header.uuid) != 0)
        log_warn("%s " CATALOG_OTHER, server_namespace(run->server));
    return true;
}

/* True if no load has sent anything, and a load of these inputs would not have either. */
static bool expect_nothing(verification_t *run) {
    if (!run->place.empty || names_pipe(run->manifest) || !inputs_hold_no_record(run->schema, run->manifest))
        return false;
    run->nothing = true;
    run->result->files = run->manifest->count;
    run->result->counted = true;
    log_note("nothing was loaded into %s, and nothing is expected there: these inputs hold no record",
             server_namespace(run->server));
    return true;
}

static bool open_catalog(verification_t *run, err_t *err) {
    size_t running = 0;
    bool found = false;
    if (!collection_is_whole(run->server, run->client, err) ||
        !collection_look(run->server, run->client, &run->place, err) ||
        !store_mongo_need(&run->store, run->server, run->client, err) ||
        !store_read_header(run->store, &run->header, &found, err))
        return false;
    if (!found || !run->header.format)
        return (!run->header.has_entries && expect_nothing(run)) ||
               catalog_refuse_none(server_namespace(run->server), &run->header, err);
    if (!existing_named(run->header.existing, &run->existing))
        return err_set(err, STATUS_USAGE,
                       "%s was loaded with --existing %s by another version of tipple: use that one",
                       server_namespace(run->server), run->header.existing);
    if (!check_header(run, err) ||
        !kept_format_hold(&run->header, server_namespace(run->server), run->schema, true, err) ||
        !own_id_set(run->schema, run->header.id ? run->header.id : "", err) || !take_filter(run, err) ||
        !running_others(run->store, NULL, run->header.lease_ms, &running, err))
        return false;
    if (running)
        log_warn("%zu load%s of %s %s running: what is not there yet counts as missing", running,
                 running == 1 ? "" : "s", server_namespace(run->server), running == 1 ? "is" : "are");
    return true;
}

/* True if the input, as it is now, is loaded to its end. One that has grown since is no version that the catalog
 * knows. */
static bool is_loaded(const verification_t *run, const wanted_t *wanted) {
    return entry_is_complete(&wanted->entry, run->header.generation, false) &&
           entry_version_of(&wanted->entry, wanted->seen.size, wanted->seen.digest);
}

static bool is_unfinished(const verification_t *run, const wanted_t *wanted) {
    return run->spec->load.limit == UINT64_MAX && !is_loaded(run, wanted);
}

static bool is_earlier(const verification_t *run, const wanted_t *wanted) {
    (void)run;
    return verifier_is_earlier(wanted);
}

typedef bool concerns_fn(const verification_t *run, const wanted_t *wanted);

/* Warns of the first inputs that a warning concerns by their names, and of the others by their number. Returns how many
 * there are. */
static size_t warn_of(const verification_t *run, concerns_fn *concerns, const char *what,
                      const char *of_more) {
    enum { MOST_NAMED = 3 };
    size_t count = 0;
    for (size_t i = 0; i < run->manifest->count; i++)
        if (concerns(run, &run->registration.wanted[i]) && count++ < MOST_NAMED)
            log_warn("%s is %s", run->manifest->files[i].name, what);
    if (count > MOST_NAMED)
        log_warn("... and %zu more file%s%s", count - MOST_NAMED, units_s(count - MOST_NAMED), of_more);
    return count;
}

/* The text by which a file has grown since it was loaded has no numbers yet. Numbers that no input will ever have are
 * as good, because all of it is missing. */
static bool number_the_rest(wanted_t *wanted, err_t *err) {
    const uint64_t end = entry_extents_end(&wanted->entry);
    if (!wanted->entry.piece_count || wanted->text_end <= end)
        return true;
    const uint64_t length = wanted->text_end - end;
    return entry_add_extent(&wanted->entry, (extent_t){(1ull << RECORD_ID_OFFSET_BITS) - length, end, length},
                            err);
}

static bool find_files(verification_t *run, err_t *err) {
    size_t count = run->manifest->count;
    run->pieces = calloc(count + 1, sizeof *run->pieces);
    if (!run->pieces)
        return err_memory(err, count * sizeof *run->pieces);
    if (!describe_known(run->store, run->manifest, server_namespace(run->server), run->schema->id,
                        &run->registration, err) ||
        !(run->places = places_read(run->store, err)))
        return false;
    for (size_t i = 0; i < count; i++) {
        const input_file_t *input = &run->manifest->files[i];
        const entry_t *entry = &run->registration.wanted[i].entry;
        if (!number_the_rest(&run->registration.wanted[i], err))
            return false;
        if (!entry->piece_count)
            return err_set(err, STATUS_USAGE, "%s is not in the catalog of %s: %s", input->name,
                           server_namespace(run->server),
                           input->has_identity
                               ? "no load of it has begun, or it was forgotten; load it, or leave it out here"
                               : "a stream is known again only by the --input-name it was loaded with");
        run->pieces[i].input = input;
        run->pieces[i].ordinal = entry->ordinal;
        run->pieces[i].bad_value = entry_bad_value(entry, run->schema->bound);
        run->pieces[i].read_by = entry_dialect(entry, run->header.generation);
        run->pieces[i].known_as = entry->path;
        run->pieces[i].extents = entry->extents;
        run->pieces[i].extent_count = entry->extent_count;
        run->pieces[i].fixes = entry->fixes;
        run->pieces[i].fix_count = entry->fix_count;
        run->pieces[i].to = UINT64_MAX;
    }
    run->result->files = count;
    run->result->catalog_files = places_summary(run->places, run->header.generation).files;
    run->result->unfinished_files = warn_of(
        run, is_unfinished, "not loaded to its end, its catalog says: what is not there counts as missing",
        " not loaded to the end");
    warn_of(
        run, is_earlier,
        "an earlier version of what was loaded: a longer one is in the catalog. Documents of the rest count "
        "as extra; verify the newest version",
        ", of which a longer version was loaded");
    return true;
}

static bool read_fixes(verification_t *run, err_t *err) {
    fixes_options_t options = {.schema = run->schema,
                               .filter = run->filter,
                               .only_fixes = true,
                               .max_document = server_facts(run->server)->max_document_bytes,
                               .name = server_namespace(run->server),
                               .catalog = run->header.own};
    return fixes_read(&run->fixes, run->spec->retry, run->spec->retry_count, run->places, &options, err) &&
           fixes_judge(&run->fixes, run->places, NULL, err);
}

bool verify_open(verification_t *run, err_t *err) {
    return (run->spec->load.format || find_format(run, err)) && read_spec(run, err) &&
           (run->server || connect_target(run, err)) && open_catalog(run, err) &&
           (run->nothing || (find_files(run, err) && read_fixes(run, err)));
}
