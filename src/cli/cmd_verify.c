/* verify: the command, and what it found: what differs first, then the counts, then what they mean. */
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    load_options_t load; /* what it takes of the load's options goes into the spec */
    verify_spec_t spec;
    texts_list_t retry;
} values_t;

static values_t values;

static bool read_sample(void *percents, const char *text, err_t *err) {
    const char *end;
    double percent;
    if (!units_number(text, &percent, &end) || (*end && strcmp(end, "%") != 0) ||
        !(percent > 0 && percent <= 100))
        return err_set(err, STATUS_USAGE, "--sample: '%s' is not a share; write it like 10%% or 0.5%%", text);
    *(double *)percents = percent;
    return true;
}

static const option_t options[] = {
    OPTION("retry", LIST, retry, .group = GROUP_INPUT, .argument = "FILE",
           .help = "A reject file that was fixed and loaded: its records must be there, too. Repeatable."),
    OPTION("sample", CUSTOM, spec.sample_percent, .group = GROUP_COMPARED, .argument = "P%",
           .custom = read_sample, .typed = true,
           .help = "Compare only this share of the blocks, always the same. Other documents are not seen."),
    OPTION("files-only", FLAG, spec.files_only, .typed = true,
           .help = "Do not look for documents outside of the given files' blocks."),
    OPTION("max-differences", COUNT, spec.most, .argument = "N", .most = 1000000,
           .help = "Name N differences of each kind (default 20). All are counted."),
    {.name = NULL},
};

/* ---- views ---- */

static const result_view_t views[] = {
    LINE(SHOW_QUIET | SHOW_CARE, NULL, "{-words}", .each = "differences"),
    LINE(SHOW_QUIET | SHOW_CARE, "-more", "{-more|more difference}, not named here (--max-differences)"),
    LINE(SHOW_QUIET, NULL, "{-answer}"),
    LINE(SHOW_NORMAL, NULL, "    {seconds}   {docs_per_second}   {-read_bytes_per_second} in"),
    LINE(SHOW_USUAL, "-not_expected",
         "of {read|record} read: {rejected} rejected and {filtered} filtered: no document is expected of "
         "them, unless they were fixed; {fixed} fixed, {-left_out} left out"),
    LINE(SHOW_USUAL, "-sample",
         "a sample: {blocks_looked_at} of {blocks|block} {blocks?was|were} looked at, and nothing else"),
    LINE(SHOW_USUAL, "fixed_not_looked_for",
         "not looked for: the documents of {fixed_not_looked_for|fixed record}, whose _ids are not known; "
         "verify everything, or name the reject file (--retry)"),
    LINE(SHOW_USUAL, "fixed_not_loaded",
         "not loaded yet: {fixed_not_loaded|record} fixed in the reject file (not expected)"),
    LINE(SHOW_USUAL, "replaced",
         "replaced: {replaced|record}, by later ones with the same _ids (not expected)"),
    LINE(SHOW_USUAL, "undecided",
         "not decided: {undecided|_id is|_ids are} of other documents, perhaps of later, unchecked records"),
    LINE(SHOW_USUAL, "kept",
         "kept: of {kept|record} other documents have the _ids; which of them should be there is not known"),
    LINE(SHOW_USUAL, "documents_of_other_files",
         "not looked at: {documents_of_other_files|document} of {-other_files|other file} in the catalog"),
    LINE(SHOW_USUAL, "documents_not_ours",
         "not ours: {documents_not_ours|document} that no input makes; loaded with --append"),
    LINE(SHOW_USUAL, "-files_only", "documents that belong to no file were not looked for"),
    LINE(SHOW_USUAL | SHOW_CARE, "-by_turns",
         "missing: where records share _ids, all inputs have to be loaded anew, by `tipple load --drop`"),
    LINE(SHOW_USUAL | SHOW_CARE, "-missing",
         "missing: the same `tipple load` with --reload-missing loads what was deleted or lost (of a stream: "
         "all of it anew, after `tipple forget NAME --delete`), and `tipple load --retry FILE` what was "
         "fixed in a reject file"),
    LINE(SHOW_DETAIL, "retries", "looked {retries|time} again, because the server was away"),
    LINE(SHOW_VERBOSE, "documents", "client CPU {-cpu_us} a document      peak memory {peak_memory_bytes}"),
    TABLE(SHOW_PAGE, NULL, "differences", "Differences",
          "The first ones of each kind (--max-differences); all are counted above.", COLUMN("kind", "kind"),
          COLUMN("file", "file"), COLUMN("line", "line"), COLUMN("documents", "documents"),
          COLUMN("-_id", "_id"), COLUMN("field", "field"), COLUMN("stored", "stored"),
          COLUMN("expected", "the file says"), COLUMN("why", "why")),
    {0}};

/* ---- differences ---- */

/* "changed    a.csv lines 57 to 98 (42 records; offset 4711, _id 46 to 98): m is 44; the file says 45" */
static char *spell(const difference_t *difference, const char *id) {
    const changed_t *changed = difference->changed;
    const uint64_t line = difference->line, last_line = difference->last_line;
    text_t words = {.length = 0};
    text_print(&words, "%-10s ", difference_names[difference->kind]);
    if (difference->name) {
        text_append(&words, difference->name);
        if (last_line > line)
            text_print(&words, " lines %" PRIu64 " to %" PRIu64, line, last_line);
        else if (line)
            text_print(&words, " line %" PRIu64, line);
        text_append(&words, " (");
        if (difference->records > 1)
            text_print(&words, "%" PRIu64 " records; ", difference->records);
        text_print(&words, "offset %" PRIu64 ", ", difference->offset);
    }
    text_print(&words, "_id %s", id ? id : "is not known");
    if (!difference->other_id && !difference->nameless && difference->last_id != difference->id)
        text_print(&words, " to %" PRId64, difference->last_id);
    text_append(&words, difference->name ? ")" : "");
    text_append(&words,
                difference->kind == DIFFERENCE_DUPLICATED ? ": there is another document of this _id" : "");
    if (changed && !changed->stored[0] && !changed->expected[0])
        text_append(&words, ": its fields are in another order");
    else if (changed)
        text_print(&words, ": %s is %s; the file %s%s", changed->field[0] ? changed->field : "\"\"",
                   changed->stored[0] ? changed->stored : "not there",
                   changed->expected[0] ? "says " : "has no such field", changed->expected);
    if (changed && changed->more)
        text_print(&words, " (and %u more field%s)", changed->more, units_s(changed->more));
    if (!changed && difference->why)
        text_print(&words, ": %s", difference->why);
    return text_take_or_end(&words);
}

static void put_difference(bson_t *to, const void *list, size_t at) {
    const difference_t *difference = (const difference_t *)list + at;
    const changed_t *changed = difference->changed;
    const bool file = difference->name, line = difference->line,
               number = !difference->other_id && !difference->nameless,
               stored = changed && changed->stored[0], expected = changed && changed->expected[0];
    char digits[32];
    snprintf(digits, sizeof digits, "%" PRId64, difference->id);
    const char *id = difference->nameless ? NULL : number ? digits : difference->other_id;
    result_put(to, AS_TEXT("kind", difference_names[difference->kind]), AS_TEXT("file", difference->name),
               AS_COUNT_IF("offset", file, difference->offset), AS_COUNT_IF("line", line, difference->line),
               AS_COUNT_IF("last_line", line, difference->last_line),
               AS_COUNT("documents", difference->records));
    if (number)
        result_put(to, AS_COUNT("id", difference->id), AS_COUNT("last_id", difference->last_id));
    else
        result_put(to, AS_TEXT("id", id), AS_TEXT("last_id", NULL));
    result_put(to, OF(difference, why), AS_TEXT("field", stored || expected ? changed->field : NULL),
               AS_TEXT("stored", stored ? changed->stored : NULL),
               AS_TEXT("expected", expected ? changed->expected : NULL),
               AS_COUNT_IF("more_fields", changed, changed ? changed->more : 0), AS_TEXT("-_id", id));
    result_take(to, "-words", spell(difference, id));
}

static void put_differences(bson_t *to, differences_t *differences) {
    bson_t list = BSON_INITIALIZER;
    uint64_t more = 0;
    for (difference_kind_t kind = 0; differences && kind < DIFFERENCE_KINDS; kind++) {
        size_t count;
        const difference_t *kept = differences_of(differences, kind, &count);
        result_items(&list, count, put_difference, kept);
        more += differences_count(differences, kind);
        for (size_t i = 0; i < count; i++)
            more -= kept[i].records;
    }
    BSON_APPEND_ARRAY(to, "differences", &list);
    bson_destroy(&list);
    result_put(to, AS_COUNT("-more", more));
}

/* ---- figures ---- */

static void put_figures(bson_t *to, const verify_result_t *verify, const verify_spec_t *spec) {
    const inspected_t *counts = &verify->counts;
    result_put(to, AS_COUNT("documents", counts->seen), AS_COUNT("as_expected", counts->same));
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++)
        result_put(to, AS_COUNT(difference_names[kind], differences_count(verify->differences, kind)));
    result_put(
        to, OF(counts, expected), AS_COUNT("read", counts->records), OF(counts, rejected),
        OF(counts, filtered), OF(counts, fixed), AS_COUNT("fixed_not_looked_for", counts->unsought),
        AS_COUNT("fixed_not_loaded", counts->unloaded), OF(verify, replaced), OF(verify, undecided),
        OF(counts, kept), OF(verify, files), AS_COUNT("files_unfinished", verify->unfinished_files),
        AS_COUNT("files_in_catalog", verify->catalog_files),
        AS_COUNT_IF("documents_in_collection", verify->counted, verify->all_documents),
        AS_COUNT_IF("documents_of_other_files", verify->counted, verify->other_documents),
        AS_COUNT_IF("documents_not_ours", verify->counted, verify->not_ours), OF(verify, ended),
        OF(spec, sample_percent), OF(verify, blocks), AS_COUNT("blocks_looked_at", counts->blocks),
        AS_SECONDS("seconds", verify->took_ns),
        AS_NUMBER("docs_per_second", result_rate(counts->seen, verify->took_ns)), OF(verify, bytes_read),
        OF(verify, bytes_text), AS_COUNT("bytes_encoded", counts->encoded_bytes),
        AS_COUNT("bytes_stored", counts->stored_bytes), AS_SECONDS("client_cpu_seconds", verify->cpu_ns),
        OF(verify, peak_memory_bytes), OF(counts, retries), OF(verify, threads), OF(verify, namespace),
        OF(verify, format), OF(verify, filter));
    put_differences(to, verify->differences);
    const bool all = spec->sample_percent == 100,
               missing = differences_count(verify->differences, DIFFERENCE_MISSING);
    result_put(
        to, AS_TEXT("-target", verify->where), AS_COUNT("-left_out", counts->left_out),
        AS_FLAG("-not_expected", counts->rejected || counts->filtered || counts->fixed),
        AS_COUNT("-other_files", verify->catalog_files - verify->files), AS_FLAG("-sample", !all),
        AS_FLAG("-files_only", all && verify->compared && !verify->counted),
        AS_FLAG("-by_turns", missing && verify->by_turns), AS_FLAG("-missing", missing && !verify->by_turns),
        AS_NUMBER("-read_bytes_per_second", result_rate(verify->bytes_read, verify->took_ns)),
        AS_NUMBER("-looked_percent", fmin(floor(100 * verify->looked), 99)),
        AS_NUMBER("-cpu_us", counts->seen ? (double)verify->cpu_ns / 1e3 / (double)counts->seen : NAN));
}

/* Of what was not looked at nothing is said: neither that something is missing, nor that nothing is. */
static void put_found(bson_t *to, const verify_result_t *verify) {
    text_t words = {.length = 0};
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        const uint64_t count = differences_count(verify->differences, kind);
        char number[UNITS_MAX];
        if (count || (kind == DIFFERENCE_UNRELATED ? verify->ended : verify->compared))
            text_print(&words, "%s%s %s", words.length ? ", " : "",
                       count ? units_count(number, count) : "none", difference_names[kind]);
    }
    result_put(to, AS_TEXT("-also", words.length ? ", " : ""));
    result_take(to, "-found", text_take_or_end(&words));
    result_put_words(to, "-answer",
                     verify->compared ? "verified {as_expected|document} of {files|file}: {-found}"
                     : isfinite(verify->looked)
                         ? "not finished: about {-looked_percent} of {files|file} was looked at: "
                           "{as_expected|document} as expected{-also}{-found}; nothing is known of the rest"
                         : "not finished: a part of {files|file} was looked at: {as_expected|document} as "
                           "expected{-also}{-found}; nothing is known of the rest");
}

static result_t *make_result(const verify_spec_t *spec, const verify_result_t *verify, int status,
                             const err_t *err) {
    result_t *result = result_new("verify", verify->differences ? views : NULL);
    put_figures(&result->document, verify, spec);
    put_found(&result->document, verify);
    /* one that found differences has ended well */
    result_answer(result, "Is everything there?", status == STATUS_DIFFERENT ? STATUS_OK : status, err,
                  "{-answer}", "{-answer}");
    result->status = status;
    return result;
}

/* ---- the command ---- */

static int verify_one(const run_t *run, const char *uri, char **inputs, int count, err_t *err) {
    verify_result_t verify;
    verify_spec_t *spec = &values.spec;
    spec->load = values.load.spec;
    spec->load.uri = uri;
    spec->load.inputs = inputs;
    spec->load.input_count = (size_t)count;
    spec->retry = values.retry.items;
    spec->retry_count = values.retry.count;
    const bool ok = verify_run(spec, &verify, err);
    int status = ok ? STATUS_OK : (int)err->status;
    const bool began = ok || status == STATUS_DIFFERENT || verify.blocks;
    if (verify.differences) /* an older page must not stand for a run that failed */
        status = cli_end(run, make_result(spec, &verify, status, err),
                         began && (run->json || status != STATUS_USAGE), status, err);
    verify_free_result(&verify);
    return status;
}

static int verify(run_t *run, err_t *err) {
    return cli_takes_inputs(run, "the collection to verify", err)
               ? each_collection(run, false, NULL, verify_one, err)
               : (int)err->status;
}

static void init(void) {
    verify_spec_init(&values.spec);
}

const command_t command_verify = {
    .name = "verify",
    .group = COMMANDS_CHECK,
    .arguments = "FILE|DIRECTORY|PATTERN|-...",
    .about = "compare a collection with the files that were loaded into it",
    .help = "Reads each file again, makes its documents again, reads those of the collection (as the "
            "majority has them), and compares both byte by byte. Names what is missing, extra, duplicated "
            "(one _id on two shards), changed or unrelated (under an _id that no file can have given) by "
            "file, line and _id. Nothing is written. Exit status 7: something differs.",
    .examples = "  tipple verify orders.csv --uri mongodb://HOST/shop.orders\n"
                "  tipple verify -f mot --uri \"$URI\" data/*.gz --retry mot.results.rejects\n"
                "  tipple verify -f mot --uri \"$URI\" data/*.gz --sample 1%   # a part of it",
    .options = options,
    .takes = TAKEN_BY_VERIFY,
    .with = WITH_JSON | WITH_REPORT | WITH_METRICS,
    .values = &values,
    .init = init,
    .body = verify,
};
