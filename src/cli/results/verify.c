/* What a verify found: what differs first, then the counts, then what it means. */
#include "base/numbers.h"
#include "base/text.h"
#include "cli/results/results.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- figures ---- */

/* "m is 44; the file says 45 (and 2 more fields)" */
static char *spell_changed(const changed_t *changed) {
    const char *field = changed->field[0] ? changed->field : "\"\""; /* a name may be empty */
    text_t words = {.length = 0};
    if (!changed->stored[0] && !changed->expected[0])
        text_append(&words, "its fields are in another order");
    else if (!changed->stored[0])
        text_print(&words, "%s is not there; the file says %s", field, changed->expected);
    else if (!changed->expected[0])
        text_print(&words, "it has a field %s, %s, of which the file does not know", field, changed->stored);
    else
        text_print(&words, "%s is %s; the file says %s", field, changed->stored, changed->expected);
    if (changed->more)
        text_print(&words, " (and %u more field%s)", changed->more, changed->more == 1 ? "" : "s");
    return text_take_or_end(&words);
}

static void spell_id(text_t *words, const difference_t *difference) {
    if (difference->nameless)
        text_append(words, "its _id is not known");
    else if (difference->other_id)
        text_print(words, "_id %s", difference->other_id);
    else
        text_print(words, "_id %" PRId64, difference->id);
    if (!difference->other_id && difference->last_id != difference->id)
        text_print(words, " to %" PRId64, difference->last_id);
}

/* "changed    a.csv lines 57 to 98 (42 records; offset 4711, _id 4611686018427388021 to ...): ..." */
static char *spell(const difference_t *difference) {
    const bool duplicated = difference->kind == DIFFERENCE_DUPLICATED;
    char count[UNITS_MAX];
    text_t words = {.length = 0};
    text_print(&words, "%-10s ", difference_names[difference->kind]);
    if (difference->name) {
        text_append(&words, difference->name);
        if (difference->last_line > difference->line)
            text_print(&words, " lines %" PRIu64 " to %" PRIu64, difference->line, difference->last_line);
        else if (difference->line)
            text_print(&words, " line %" PRIu64, difference->line);
        text_append(&words, " (");
        if (difference->records > 1)
            text_print(&words, "%s records; ", units_count(count, difference->records));
        text_print(&words, "offset %" PRIu64 ", ", difference->offset);
    }
    spell_id(&words, difference);
    text_append(&words, difference->name ? ")" : "");
    text_append(&words, duplicated ? ": there is another document of this _id" : "");
    if (difference->changed) {
        char *changed = spell_changed(difference->changed);
        text_print(&words, "%s%s", duplicated ? ", in which " : ": ", changed);
        free(changed);
    } else if (difference->why) {
        text_print(&words, ": %s", difference->why);
    }
    return text_take_or_end(&words);
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
    char id[32];
    snprintf(id, sizeof id, "%" PRId64, difference->id);
    result_put(to, AS_TEXT("why", difference->why),
               AS_TEXT("field", stored || expected ? changed->field : NULL),
               AS_TEXT("stored", stored ? changed->stored : NULL),
               AS_TEXT("expected", expected ? changed->expected : NULL),
               AS_COUNT_IF("more_fields", changed, changed ? changed->more : 0),
               AS_TEXT("-_id", difference->other_id   ? difference->other_id
                               : difference->nameless ? NULL
                                                      : id));
}

static void put_differences(bson_t *to, differences_t *differences) {
    bson_t list;
    BSON_APPEND_ARRAY_UNSAFE_BEGIN(to, "differences", &list);
    for (difference_kind_t kind = 0; differences && kind < DIFFERENCE_KINDS; kind++) {
        size_t count;
        const difference_t *kept = differences_of(differences, kind, &count);
        result_items(&list, count, put_difference, kept);
    }
    bson_append_array_end(to, &list);
}

static void put_figures(bson_t *to, const verify_result_t *verify, const verify_spec_t *spec) {
    result_put(to, AS_COUNT("documents", verify->documents), AS_COUNT("as_expected", verify->same));
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++)
        result_put(to, AS_COUNT(difference_names[kind], differences_count(verify->differences, kind)));
    result_put(
        to, AS_COUNT("expected", verify->expected), AS_COUNT("read", verify->records),
        AS_COUNT("rejected", verify->rejected), AS_COUNT("filtered", verify->filtered),
        AS_COUNT("fixed", verify->fixed), AS_COUNT("fixed_not_looked_for", verify->unsought),
        AS_COUNT("fixed_not_loaded", verify->unloaded), AS_COUNT("replaced", verify->replaced),
        AS_COUNT("undecided", verify->undecided), AS_COUNT("kept", verify->kept),
        AS_COUNT("files", verify->files), AS_COUNT("files_unfinished", verify->unfinished_files),
        AS_COUNT("files_in_catalog", verify->catalog_files),
        AS_NUMBER("documents_in_collection", verify->counted ? (double)verify->all_documents : NAN, 0),
        AS_NUMBER("documents_of_other_files", verify->counted ? (double)verify->other_documents : NAN, 0),
        AS_NUMBER("documents_not_ours", verify->counted ? (double)verify->not_ours : NAN, 0),
        AS_NUMBER("changed_meanwhile", verify->counted ? (double)verify->changed : NAN, 0),
        AS_FLAG("ended", verify->ended), AS_FIGURE("sample_percent", spec->sample_percent),
        AS_COUNT("blocks", verify->blocks), AS_COUNT("blocks_looked_at", verify->blocks_looked_at),
        AS_SECONDS("seconds", verify->took_ns),
        AS_NUMBER("docs_per_second", result_rate(verify->documents, verify->took_ns), 0),
        AS_COUNT("bytes_read", verify->bytes_read), AS_COUNT("bytes_text", verify->bytes_text),
        AS_COUNT("bytes_encoded", verify->bytes_encoded), AS_COUNT("bytes_stored", verify->bytes_stored),
        AS_SECONDS("client_cpu_seconds", verify->cpu_ns),
        AS_COUNT("peak_memory_bytes", verify->peak_memory_bytes), AS_COUNT("retries", verify->retries),
        AS_COUNT("threads", verify->threads), AS_TEXT("namespace", verify->namespace),
        AS_TEXT("format", verify->format), AS_TEXT("filter", verify->filter));
    put_differences(to, verify->differences);
    result_put(to, AS_TEXT("-target", verify->where), AS_COUNT("-left_out", verify->left_out),
               AS_COUNT("-other_files", verify->catalog_files - verify->files),
               AS_NUMBER("-read_bytes_per_second", result_rate(verify->bytes_read, verify->took_ns), 0),
               AS_FIGURE("-cpu_us",
                         verify->documents ? (double)verify->cpu_ns / 1e3 / (double)verify->documents : NAN));
}

/* ---- lines ---- */

static void add_differences(result_t *result, const verify_result_t *verify) {
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        size_t count;
        const difference_t *list = differences_of(verify->differences, kind, &count);
        uint64_t told = 0, all = differences_count(verify->differences, kind);
        char number[UNITS_MAX];
        for (size_t i = 0; i < count; i++) {
            char *words = spell(&list[i]);
            result_words(result, SHOW_QUIET | SHOW_CARE, "%s", words);
            free(words);
            told += list[i].records;
        }
        if (told < all)
            result_words(result, SHOW_QUIET | SHOW_CARE, "%-10s %s%s more (--max-differences)",
                         difference_names[kind], told ? "and " : "", units_count(number, all - told));
    }
}

/* Of what was not looked at nothing is said: neither that something is missing, nor that nothing is. */
static void add_counts(result_t *result, const verify_result_t *verify) {
    text_t words = {.length = 0};
    bool first = verify->compared;
    if (isfinite(verify->looked))
        result_put(&result->document, AS_NUMBER("-looked_percent", fmin(floor(100 * verify->looked), 99), 0));
    text_append(&words, verify->compared ? "verified {as_expected|document} of {files|file}:"
                        : isfinite(verify->looked)
                            ? "not finished: about {-looked_percent} of {files|file} was looked "
                              "at: {as_expected|document} as expected"
                            : "not finished: a part of {files|file} was looked at: "
                              "{as_expected|document} as expected");
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        const char *name = difference_names[kind];
        const bool found = differences_count(verify->differences, kind);
        if (!found && !(kind == DIFFERENCE_UNRELATED ? verify->ended : verify->compared))
            continue;
        text_print(&words, found ? "%s{%s} %s" : "%snone %s%.0s", first ? " " : ", ", name, name);
        first = false;
    }
    text_append(&words, verify->compared ? "" : "; nothing is known of the rest");
    char *line = text_take_or_end(&words);
    result_line(result, SHOW_ALWAYS, line);
    free(line);
    result_line(result, SHOW_NORMAL, "    {seconds}   {docs_per_second}   {-read_bytes_per_second} in");
}

static const char *what_to_do(const verify_result_t *verify) {
    if (verify->by_turns)
        return "missing: single records cannot be loaded again where several may have one _id; all inputs "
               "can, "
               "anew, by `tipple load --drop`";
    for (size_t i = 0; i < verify->manifest.count; i++)
        if (verify->manifest.files[i].kind == INPUT_STREAM)
            return "missing: what was deleted or lost of a stream is loaded by all of it anew, after `tipple "
                   "forget NAME --delete`; of files, by the same `tipple load` with --reload-missing";
    return verify->fixed
               ? "missing: the same `tipple load` with --reload-missing loads what was deleted or lost, "
                 "and `tipple load --retry FILE` what was fixed in the reject file"
               : "missing: the same `tipple load` with --reload-missing loads what was deleted or lost; a "
                 "record that the server refused when it was loaded is in that load's reject file";
}

/* What is said where a figure is not 0. */
static void add_remarks(result_t *result) {
    result_lines(
        result,
        {SHOW_USUAL, "fixed_not_looked_for",
         "not looked for: the documents of {fixed_not_looked_for|fixed record}, whose _ids are "
         "not known; verify everything, or name the reject file (--retry)"},
        {SHOW_USUAL, "fixed_not_loaded",
         "not loaded yet: {fixed_not_loaded|record} that {fixed_not_loaded?was|were} fixed in the "
         "reject file (not expected)"},
        {SHOW_USUAL, "replaced",
         "replaced: {replaced|record}, by later ones with the same _ids (not expected)"},
        {SHOW_USUAL, "undecided",
         "not decided: {undecided|_id is|_ids are} of other documents; a later record, which was not "
         "checked, may have made them"},
        {SHOW_USUAL, "kept",
         "kept: of {kept|record} other documents have the _ids; which of them should be there is not known"},
        {SHOW_USUAL, "documents_of_other_files",
         "not looked at: {documents_of_other_files|document} of {-other_files|other file} "
         "in the catalog"},
        {SHOW_USUAL, "documents_not_ours",
         "not ours: {documents_not_ours|document} that no input makes; the collection was loaded "
         "with --append"},
        {SHOW_USUAL, "changed_meanwhile",
         "changed meanwhile: {changed_meanwhile|document} came or went after "
         "{changed_meanwhile?it|they} had been looked at"});
}

static void add_lines(result_t *result, const verify_result_t *verify, const verify_spec_t *spec) {
    add_differences(result, verify);
    add_counts(result, verify);
    if (verify->rejected || verify->filtered || verify->fixed)
        result_line(result, SHOW_USUAL,
                    !verify->fixed
                        ? "of {read|record} read: {rejected} rejected and {filtered} filtered: no document "
                          "is expected of them; {fixed} fixed"
                    : verify->left_out
                        ? "of {read|record} read: {rejected} rejected and {filtered} filtered: no document "
                          "is expected of them, unless they were fixed; {fixed} fixed, {-left_out} left out"
                        : "of {read|record} read: {rejected} rejected and {filtered} filtered: no document "
                          "is expected of them, unless they were fixed; {fixed} fixed");
    if (spec->sample_percent < 100)
        result_line(result, SHOW_USUAL,
                    "a sample: {blocks_looked_at} of {blocks|block} {blocks?was|were} looked at, and "
                    "nothing else");
    add_remarks(result);
    if (!verify->counted && verify->compared && spec->sample_percent == 100)
        result_line(result, SHOW_USUAL, "documents that belong to no file were not looked for");
    if (differences_count(verify->differences, DIFFERENCE_MISSING))
        result_line(result, SHOW_USUAL | SHOW_CARE, what_to_do(verify));
    result_lines(
        result, {SHOW_DETAIL, "retries", "looked {retries|time} again, because the server was away"},
        {SHOW_VERBOSE, "documents", "client CPU {-cpu_us} a document      peak memory {peak_memory_bytes}"});
}

/* ---- tables ---- */

static void add_tables(result_t *result) {
    result_figures(
        result, SHOW_PAGE, "Result",
        "A block is the records in 256 KiB of a file's text; with --sample not all blocks are looked at.",
        RESULT_COLUMNS(COLUMN("as_expected", "as expected"), COLUMN("missing", "missing"),
                       COLUMN("extra", "extra"), COLUMN("duplicated", "duplicated"),
                       COLUMN("changed", "changed"), COLUMN("unrelated", "unrelated"),
                       COLUMN("seconds", "took"), COLUMN("docs_per_second", "documents a second"),
                       COLUMN("blocks_looked_at", "blocks looked at"), COLUMN("blocks", "blocks in all")));
    result_table(result, SHOW_PAGE, "differences", "Differences",
                 "The first ones of each kind (--max-differences); all are counted "
                 "above.",
                 RESULT_COLUMNS(COLUMN("kind", "kind"), COLUMN("file", "file"), COLUMN("line", "line"),
                                COLUMN("documents", "documents"), COLUMN("-_id", "_id"),
                                COLUMN("field", "field"), COLUMN("stored", "stored"),
                                COLUMN("expected", "the file says"), COLUMN("why", "why")));
    result_figures(result, SHOW_PAGE, "What the files expect",
                   "Of a record that is rejected or filtered no document is expected; of one that was "
                   "fixed, that of the fix; of one that was replaced, none. Not decided: another document "
                   "has the record's _id, and a later record, which was not checked, may have made it.",
                   RESULT_COLUMNS(COLUMN("files", "files"), COLUMN("read", "records read"),
                                  COLUMN("expected", "documents expected"), COLUMN("rejected", "rejected"),
                                  COLUMN("filtered", "filtered"), COLUMN("fixed", "fixed"),
                                  COLUMN("fixed_not_looked_for", "fixed, not looked for"),
                                  COLUMN("fixed_not_loaded", "fixed, not loaded yet"),
                                  COLUMN("replaced", "replaced by later ones"),
                                  COLUMN("undecided", "not decided"),
                                  COLUMN("kept", "other documents kept")));
    result_figures(result, SHOW_PAGE, "What the collection holds",
                   "Came or went meanwhile: documents that were inserted or deleted "
                   "after they had been looked at.",
                   RESULT_COLUMNS(COLUMN("documents_in_collection", "documents in all"),
                                  COLUMN("documents_of_other_files", "of other files in the catalog"),
                                  COLUMN("documents_not_ours", "not ours"),
                                  COLUMN("changed_meanwhile", "came or went meanwhile"),
                                  COLUMN("filter", "filter")));
}

result_t *results_verify(const verify_spec_t *spec, const verify_result_t *verify, int status,
                         const err_t *err) {
    result_t *result = result_new("verify");
    put_figures(&result->document, verify, spec);
    if (status == STATUS_DIFFERENT) /* verify ended well, and says what it found */
        result_put(&result->document, AS_TEXT("-difference", err->text));
    result_answer(
        result, "Is everything there?", status == STATUS_DIFFERENT ? STATUS_OK : status, err,
        status == STATUS_DIFFERENT
            ? "Something differs: {-difference}; {as_expected|document} of {files|file} {as_expected?is|are} "
              "as expected"
        : verify->blocks_looked_at < verify->blocks
            ? "Nothing differs in the part that was looked at: {as_expected|document} of {files|file} "
              "{as_expected?is|are} as expected"
            : "Nothing differs: {as_expected|document} of {files|file} {as_expected?is|are} as expected",
        verify->compared
            ? "until then {as_expected|document} {as_expected?was|were} as expected"
            : "until then {as_expected|document} {as_expected?was|were} as expected, and nothing "
              "is known of the rest");
    result->status = status;
    if (verify->differences)
        add_lines(result, verify, spec);
    add_tables(result);
    return result;
}
