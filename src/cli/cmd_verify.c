#include "base/log.h"
#include "base/numbers.h"
#include "cli/each_collection.h"
#include "cli/options/cli.h"
#include "cli/print/result.h"
#include "cli/report/report_verify.h"
#include "cli/report/reporting.h"
#include "server/bson_read.h"
#include "verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    verify_spec_t spec;
    load_options_t load; /* what it takes of the load's options goes into the spec */
    texts_list_t retry;
    bool json;
    const char *report;
    const again_t *again;
} values_t;

static bool read_sample(void *values, const char *text, err_t *err) {
    const char *end;
    double percent;
    if (!units_number(text, &percent, &end) || (*end && strcmp(end, "%") != 0) ||
        !(percent > 0 && percent <= 100))
        return err_set(err, STATUS_USAGE, "--sample: '%s' is not a share; write it like 10%% or 0.5%%", text);
    ((values_t *)values)->spec.sample_percent = percent;
    return true;
}

#define AT(name) .offset = offsetof(values_t, name)

static const option_t options[] = {
    {.name = "retry",
     .group = GROUP_INPUT,
     .argument = "FILE",
     .kind = OPTION_LIST,
     AT(retry),
     .help = "A reject file that was fixed and loaded: what it describes must be there, too. May be given "
             "several times."},
    {.name = "sample",
     .group = GROUP_COMPARED,
     .argument = "P%",
     .kind = OPTION_CUSTOM,
     .custom = read_sample,
     .help = "Look at this share of the blocks only, the same ones each time. Documents in no such block are "
             "not seen."},
    {.name = "files-only",
     .kind = OPTION_FLAG,
     AT(spec.files_only),
     .help = "Do not look for documents outside of the given files' blocks."},
    {.name = "max-differences",
     .argument = "N",
     .kind = OPTION_COUNT,
     AT(spec.most),
     .most = 1000000,
     .help = "Name so many differences of each kind (default 20). All are counted."},
    CLI_JSON(values_t),
    CLI_REPORT(values_t),
    {.name = NULL},
};

static bool check(values_t *values, int count, err_t *err) {
    verify_spec_t *spec = &values->spec;
    spec->uri = values->load.spec.uri;
    if (!spec->uri)
        return err_set(err, STATUS_USAGE,
                       "--uri is missing: the collection to verify, such as --uri "
                       "mongodb://127.0.0.1/mot.results (or set TIPPLE_URI)");
    if (!count)
        return err_set(err, STATUS_USAGE, "nothing to verify: give the files that were loaded");
    const load_spec_t *load = &values->load.spec;
    spec->filters = values->load.filters.items;
    spec->filter_count = values->load.filters.count;
    spec->format = load->format;
    spec->input_name = load->input_name;
    spec->copies = load->copies;
    spec->threads = load->threads;
    spec->memory = load->memory;
    spec->patience_ns = load->patience_ns;
    spec->retry = values->retry.items;
    spec->retry_count = values->retry.count;
    return !values->report || report_check_path(values->report, err);
}

/* ---- differences ---- */

static void print_changed(const changed_t *changed) {
    const char *field = changed->field[0] ? changed->field : "\"\""; /* a name may be empty */
    if (!changed->stored[0] && !changed->expected[0])
        out_print("its fields are in another order");
    else if (!changed->stored[0])
        out_print("%s is not there; the file says %s", field, changed->expected);
    else if (!changed->expected[0])
        out_print("it has a field %s, %s, of which the file does not know", field, changed->stored);
    else
        out_print("%s is %s; the file says %s", field, changed->stored, changed->expected);
    if (changed->more)
        out_print(" (and %u more field%s)", changed->more, changed->more == 1 ? "" : "s");
}

static void print_id(const difference_t *difference) {
    if (difference->nameless)
        out_print("its _id is not known");
    else if (difference->other_id)
        out_print("_id %s", difference->other_id);
    else
        out_print("_id %" PRId64, difference->id);
    if (!difference->other_id && difference->last_id != difference->id)
        out_print(" to %" PRId64, difference->last_id);
}

/* "a.csv lines 57 to 98 (42 records; offset 4711, _id 4611686018427388021 to ...)" */
static void print_place(const difference_t *difference) {
    char records[UNITS_MAX];
    bool many = difference->last_line > difference->line;
    if (!difference->name) {
        print_id(difference);
        return;
    }
    out_print("%s", difference->name);
    if (many)
        out_print(" lines %" PRIu64 " to %" PRIu64, difference->line, difference->last_line);
    else if (difference->line)
        out_print(" line %" PRIu64, difference->line);
    out_print(" (");
    if (difference->records > 1)
        out_print("%s records; ", units_count(records, difference->records));
    out_print("offset %" PRIu64 ", ", difference->offset);
    print_id(difference);
    out_print(")");
}

static void print_difference(const difference_t *difference) {
    out_print("%-10s ", difference_names[difference->kind]);
    print_place(difference);
    if (difference->kind == DIFFERENCE_DUPLICATED)
        out_print(": there is another document of this _id");
    if (difference->changed) {
        out_print(difference->kind == DIFFERENCE_DUPLICATED ? ", in which " : ": ");
        print_changed(difference->changed);
    } else if (difference->why) {
        out_print(": %s", difference->why);
    }
    out_print("\n");
}

static void print_differences(const verify_result_t *result) {
    char more[UNITS_MAX];
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        size_t count;
        const difference_t *list = differences_of(result->differences, kind, &count);
        uint64_t told = 0, all = differences_count(result->differences, kind);
        for (size_t i = 0; i < count; i++) {
            print_difference(&list[i]);
            told += list[i].records;
        }
        if (told < all)
            out_print("%-10s %s%s more (--max-differences)\n", difference_names[kind], told ? "and " : "",
                      units_count(more, all - told));
    }
}

static void put_difference(bson_t *to, const void *list, size_t at) {
    const difference_t *difference = (const difference_t *)list + at;
    const changed_t *changed = difference->changed;
    const bool file = difference->name, line = difference->line;
    result_put(to, AS_TEXT("kind", difference_names[difference->kind]), AS_TEXT("file", difference->name),
               AS_COUNT_IF("offset", file, difference->offset), AS_COUNT_IF("line", line, difference->line),
               AS_COUNT_IF("last_line", line, difference->last_line),
               AS_COUNT("documents", difference->records));
    if (difference->other_id || difference->nameless)
        result_put(to, AS_TEXT("id", difference->other_id), AS_TEXT("last_id", NULL));
    else
        result_put(to, AS_COUNT("id", difference->id), AS_COUNT("last_id", difference->last_id));
    const bool stored = changed && changed->stored[0], expected = changed && changed->expected[0];
    result_put(to, AS_TEXT("why", difference->why),
               AS_TEXT("field", stored || expected ? changed->field : NULL),
               AS_TEXT("stored", stored ? changed->stored : NULL),
               AS_TEXT("expected", expected ? changed->expected : NULL),
               AS_COUNT_IF("more_fields", changed, changed ? changed->more : 0));
}

/* ---- results ---- */

static void put_differences(bson_t *to, differences_t *differences) {
    bson_t list;
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(to, "differences", &list);
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        size_t count;
        const difference_t *kept = differences_of(differences, kind, &count);
        result_items(&list, count, put_difference, kept);
    }
    bson_append_array_end(to, &list);
}

static void make_result(bson_t *to, const verify_result_t *result, const values_t *values) {
    result_put(to, AS_COUNT("documents", result->documents), AS_COUNT("as_expected", result->same));
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++)
        result_put(to, AS_COUNT(difference_names[kind], differences_count(result->differences, kind)));
    result_put(
        to, AS_COUNT("expected", result->expected), AS_COUNT("read", result->records),
        AS_COUNT("rejected", result->rejected), AS_COUNT("filtered", result->filtered),
        AS_COUNT("fixed", result->fixed), AS_COUNT("fixed_not_looked_for", result->unsought),
        AS_COUNT("fixed_not_loaded", result->unloaded), AS_COUNT("replaced", result->replaced),
        AS_COUNT("undecided", result->undecided), AS_COUNT("kept", result->kept),
        AS_COUNT("files", result->files), AS_COUNT("files_unfinished", result->unfinished_files),
        AS_COUNT("files_in_catalog", result->catalog_files),
        AS_NUMBER("documents_in_collection", result->counted ? (double)result->all_documents : NAN, 0),
        AS_NUMBER("documents_of_other_files", result->counted ? (double)result->other_documents : NAN, 0),
        AS_NUMBER("documents_not_ours", result->counted ? (double)result->not_ours : NAN, 0),
        AS_NUMBER("changed_meanwhile", result->counted ? (double)result->changed : NAN, 0),
        AS_FLAG("ended", result->ended), AS_FIGURE("sample_percent", values->spec.sample_percent),
        AS_COUNT("blocks", result->blocks), AS_COUNT("blocks_looked_at", result->blocks_looked_at),
        AS_SECONDS("seconds", result->took_ns),
        AS_NUMBER("docs_per_second", result_rate(result->documents, result->took_ns), 0),
        AS_COUNT("bytes_read", result->bytes_read), AS_COUNT("bytes_text", result->bytes_text),
        AS_COUNT("bytes_encoded", result->bytes_encoded), AS_COUNT("bytes_stored", result->bytes_stored),
        AS_SECONDS("client_cpu_seconds", result->cpu_ns),
        AS_COUNT("peak_memory_bytes", result->peak_memory_bytes), AS_COUNT("retries", result->retries),
        AS_COUNT("threads", result->threads), AS_TEXT("namespace", result->namespace),
        AS_TEXT("format", result->format), AS_TEXT("filter", result->filter));
    put_differences(to, result->differences);
}

/* Of what was not looked at nothing is said: neither that something is missing, nor that nothing is. */
static void print_counts(const verify_result_t *result, const bson_t *document) {
    char number[UNITS_MAX], files[UNITS_MAX], took[UNITS_MAX], rate[UNITS_MAX], in[UNITS_MAX],
        share[16] = "a part";
    bool first = result->compared;
    units_count(number, result->same);
    units_count(files, result->files);
    if (isfinite(result->looked))
        snprintf(share, sizeof share, "about %.0f%%", fmin(floor(100 * result->looked), 99));
    if (result->compared)
        out_print("verified %s document%s of %s file%s:", number, units_s(result->same), files,
                  units_s(result->files));
    else
        out_print("not finished: %s of %s file%s was looked at: %s document%s as expected", share, files,
                  units_s(result->files), number, units_s(result->same));
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        uint64_t found = differences_count(result->differences, kind);
        if (!found && !(kind == DIFFERENCE_UNRELATED ? result->ended : result->compared))
            continue;
        out_print("%s %s %s", first ? "" : ",", found ? units_count(number, found) : "none",
                  difference_names[kind]);
        first = false;
    }
    out_print("%s      %s   %s docs/s   %s/s in\n", result->compared ? "" : "; nothing is known of the rest",
              units_time(took, result->took_ns),
              units_rate(rate, bson_read_number(document, "docs_per_second")),
              units_bytes(in, result_rate(result->bytes_read, result->took_ns)));
}

/* How it was done: nothing that somebody has to know to believe the result. */
static void print_details(const verify_result_t *result) {
    char text[UNITS_MAX];
    if (result->retries)
        out_print("looked %s time%s again, because the server was away\n", units_count(text, result->retries),
                  units_s(result->retries));
    if (result->documents)
        out_print("client CPU %.2f us a doc      peak memory %s\n",
                  (double)result->cpu_ns / 1e3 / (double)result->documents,
                  units_size(text, result->peak_memory_bytes));
}

static const char *what_to_do(const verify_result_t *result) {
    if (result->by_turns)
        return "single records cannot be loaded again where several may have one _id; all inputs can, anew, "
               "by "
               "`tipple load --drop`";
    for (size_t i = 0; i < result->manifest.count; i++)
        if (result->manifest.files[i].kind == INPUT_STREAM)
            return "what was deleted or lost of a stream is loaded by all of it anew, after `tipple forget "
                   "NAME "
                   "--delete`; of files, by the same `tipple load` with --reload-missing";
    return result->fixed ? "the same `tipple load` with --reload-missing loads what was deleted or lost, and "
                           "`tipple load --retry "
                           "FILE` what was fixed in the reject file"
                         : "the same `tipple load` with --reload-missing loads what was deleted or lost; a "
                           "record that the "
                           "server refused when it was loaded is in that load's reject file";
}

static void print_summary(const verify_result_t *result, const values_t *values, const bson_t *document) {
    const verify_spec_t *spec = &values->spec;
    char a[UNITS_MAX], b[UNITS_MAX], c[UNITS_MAX], d[UNITS_MAX], e[UNITS_MAX];
    print_differences(result);
    print_counts(result, document);
    if (log_level() < LOG_NORMAL)
        return;
    if (result->rejected || result->filtered || result->fixed)
        out_print("of %s record%s read: %s rejected and %s filtered: no document is expected of them%s; %s "
                  "fixed%s%s%s\n",
                  units_count(a, result->records), units_s(result->records), units_count(b, result->rejected),
                  units_count(c, result->filtered), result->fixed ? ", unless they were fixed" : "",
                  units_count(d, result->fixed), result->left_out ? ", " : "",
                  result->left_out ? units_count(e, result->left_out) : "",
                  result->left_out ? " left out" : "");
    if (result->unsought)
        out_print("not looked for: the documents of %s fixed record%s, whose _ids are not known; verify "
                  "everything, or name the reject file (--retry)\n",
                  units_count(a, result->unsought), result->unsought == 1 ? "" : "s");
    if (result->unloaded)
        out_print("not loaded yet: %s record%s that %s fixed in the reject file (not expected)\n",
                  units_count(a, result->unloaded), result->unloaded == 1 ? "" : "s",
                  result->unloaded == 1 ? "was" : "were");
    if (result->replaced)
        out_print("replaced: %s record%s, by later ones with the same _ids (not expected)\n",
                  units_count(a, result->replaced), units_s(result->replaced));
    if (result->undecided)
        out_print(
            "not decided: %s _id%s of other documents; a later record, which was not checked, may have made "
            "them\n",
            units_count(a, result->undecided), result->undecided == 1 ? " is" : "s are");
    if (result->kept)
        out_print("kept: of %s record%s other documents have the _ids; which of them should be there is not "
                  "known\n",
                  units_count(a, result->kept), units_s(result->kept));
    if (spec->sample_percent < 100)
        out_print("a sample: %s of %s block%s looked at, and nothing else\n",
                  units_count(a, result->blocks_looked_at), units_count(b, result->blocks),
                  result->blocks == 1 ? " was" : "s were");
    if (result->other_documents)
        out_print("not looked at: %s document%s of %s other file%s in the catalog\n",
                  units_count(a, result->other_documents), units_s(result->other_documents),
                  units_count(b, result->catalog_files - result->files),
                  result->catalog_files - result->files == 1 ? "" : "s");
    if (result->not_ours)
        out_print("not ours: %s document%s that no input makes; the collection was loaded with --append\n",
                  units_count(a, result->not_ours), units_s(result->not_ours));
    if (result->changed)
        out_print("changed meanwhile: %s document%s came or went after %s had been looked at\n",
                  units_count(a, result->changed), units_s(result->changed),
                  result->changed == 1 ? "it" : "they");
    if (!result->counted && result->compared && spec->sample_percent == 100)
        out_print("documents that belong to no file were not looked for\n");
    if (differences_count(result->differences, DIFFERENCE_MISSING))
        out_print("missing: %s\n", what_to_do(result));
    if (log_level() >= LOG_VERBOSE)
        print_details(result);
}

static int verify_one(void *context, const char *uri, char **inputs, int count, err_t *err) {
    values_t *values = context;
    verify_result_t result;
    values->spec.uri = uri;
    values->spec.inputs = inputs;
    values->spec.input_count = (size_t)count;
    bool ok = verify_run(&values->spec, &result, err);
    int status = ok ? STATUS_OK : (int)err->status;
    bool began = ok || status == STATUS_DIFFERENT || result.blocks;
    bool shown = began && (values->json || status != STATUS_USAGE);
    /* an older report must not stand for a run that failed */
    if (shown || (values->report && status != STATUS_USAGE && result.differences)) {
        bson_t document = BSON_INITIALIZER;
        make_result(&document, &result, values);
        if (values->report)
            status = reporting_end(report_verify(&values->spec, &result, &document, status, err),
                                   values->report, values->again, uri, status, err);
        if (shown && values->json)
            result_print("verify", status, &document);
        else if (shown)
            print_summary(&result, values, &document);
        bson_destroy(&document);
    }
    verify_free_result(&result);
    return cli_finish(status, err);
}

static int verify(void *data, char **inputs, int count, const again_t *again, err_t *err) {
    values_t *values = data;
    each_collection_t each = {.list = {0}};
    values->again = again;
    if (!check(values, count, err))
        return (int)err->status;
    const char *uri = values->spec.uri;
    const bool ok = each_collection_find(&each, uri, inputs, count, err) &&
                    (!each.list.count || reporting_of_none(values->report, err));
    const int status =
        ok ? each_collection_run(&each, uri, inputs, count, values->json, verify_one, values, err)
           : (int)err->status;
    each_collection_free(&each);
    return status;
}

static int run(int argc, char **argv, const command_t *command, err_t *err) {
    values_t values = {.json = false};
    verify_spec_init(&values.spec);
    load_options_init(&values.load);
    return reporting_run(command, argc, argv, &values, verify, err);
}

const command_t command_verify = {
    .name = "verify",
    .group = COMMANDS_CHECK,
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "compare a collection with the files that were loaded into it",
    .help = "Reads each file again, makes its documents again, reads those of the collection (as the "
            "majority has them), and compares both byte by byte. Names what is missing, extra, "
            "duplicated (one _id on two shards), changed or unrelated (under an _id that no file can "
            "have given) by file, line and _id. Nothing is written. Exit status 7: something differs.",
    .examples = "  tipple verify orders.csv --uri mongodb://HOST/shop.orders\n"
                "  tipple verify -f mot --uri \"$URI\" data/*.gz --retry mot.results.rejects\n"
                "  tipple verify -f mot --uri \"$URI\" data/*.gz --sample 1%   # a part of it",
    .needs_driver = true,
    .options = options,
    .takes = TAKEN_BY_VERIFY,
    .load_at = offsetof(values_t, load),
    .run = run,
};
