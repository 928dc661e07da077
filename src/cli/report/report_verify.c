#include "cli/report/report_verify.h"
#include "base/numbers.h"
#include "cli/report/reporting.h"
#include "report/scale.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

static void say(report_t *report, const verify_result_t *result, int status, const err_t *err) {
    char same[SCALE_TEXT], files[SCALE_TEXT + 8];
    scale_value(same, (double)result->same, "documents");
    snprintf(files, sizeof files, "%" PRIu64 " file%s", result->files, units_s(result->files));
    char *trouble = status != STATUS_DIFFERENT && reporting_is_trouble(status)
                        ? reporting_trouble(status, (double)result->took_ns / 1e9, err)
                        : NULL;
    if (trouble)
        report_say(report, status, "%s; until then %s document%s as expected%s.", trouble, same,
                   result->same == 1 ? " was" : "s were",
                   result->compared ? "" : ", and nothing is known of the rest");
    else if (status == STATUS_DIFFERENT)
        report_say(report, status, "Something differs: %s. %s document%s of %s %s as expected.", err->text,
                   same, units_s(result->same), files, result->same == 1 ? "is" : "are");
    else
        report_say(report, status, "Nothing differs%s: %s document%s of %s %s as expected.",
                   result->blocks_looked_at < result->blocks ? " in the part that was looked at" : "", same,
                   units_s(result->same), files, result->same == 1 ? "is" : "are");
    bson_free(trouble);
}

static void add_result(report_t *report, const verify_result_t *result, const bson_t *document) {
    report_begin(
        report, REPORT_FIGURES, "Result",
        "A block is the records in 256 KiB of a file's text; with --sample not all blocks are looked at.");
    reporting_figure(report, document, "as expected", "as_expected", "documents");
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++)
        if (result->compared || differences_count(result->differences, kind))
            reporting_figure(report, document, difference_names[kind], difference_names[kind], "documents");
    reporting_figure(report, document, "took", "seconds", "s");
    reporting_figure(report, document, "documents a second", "docs_per_second", "documents/s");
    report_figure(report, "blocks looked at", (double)result->blocks_looked_at, "blocks");
    report_figure(report, "blocks in all", (double)result->blocks, "blocks");
    report_end(report);
}

static void add_records(report_t *report, const bson_t *document) {
    report_begin(
        report, REPORT_FIGURES, "What the files expect",
        "Of a record that is rejected or filtered no document is expected; of one that was fixed, that of "
        "the fix; of one that was replaced, none. Not decided: another document has the record's _id, and a "
        "later record, "
        "which was not checked, may have made it.");
    reporting_figure(report, document, "files", "files", "files");
    reporting_figure(report, document, "records read", "read", "records");
    reporting_figure(report, document, "documents expected", "expected", "documents");
    reporting_figure(report, document, "rejected", "rejected", "records");
    reporting_figure(report, document, "filtered", "filtered", "records");
    reporting_figure(report, document, "fixed", "fixed", "records");
    reporting_figure(report, document, "fixed, not looked for", "fixed_not_looked_for", "records");
    reporting_figure(report, document, "fixed, not loaded yet", "fixed_not_loaded", "records");
    reporting_figure(report, document, "replaced by later ones", "replaced", "records");
    reporting_figure(report, document, "not decided", "undecided", "records");
    reporting_figure(report, document, "other documents kept", "kept", "records");
    report_end(report);
}

static void add_collection(report_t *report, const bson_t *document) {
    report_begin(
        report, REPORT_FIGURES, "What the collection holds",
        "Came or went meanwhile: documents that somebody inserted or deleted after they had been looked at.");
    reporting_figure(report, document, "documents in all", "documents_in_collection", "documents");
    reporting_figure(report, document, "of other files in the catalog", "documents_of_other_files",
                     "documents");
    reporting_figure(report, document, "not ours", "documents_not_ours", "documents");
    reporting_figure(report, document, "came or went meanwhile", "changed_meanwhile", "documents");
    report_end(report);
}

static void add_difference(report_t *report, const difference_t *difference) {
    const changed_t *changed = difference->changed;
    char id[32];
    snprintf(id, sizeof id, "%" PRId64, difference->id);
    report_row(report);
    report_word(report, difference_names[difference->kind]);
    report_word(report, difference->name);
    report_number(report, difference->line ? (double)difference->line : NAN);
    report_number(report, (double)difference->records);
    report_word(report, difference->other_id ? difference->other_id : difference->nameless ? NULL : id);
    report_word(report, changed ? changed->field : NULL);
    report_word(report, changed ? changed->stored : NULL);
    report_word(report, changed ? changed->expected : NULL);
    report_word(report, difference->why);
}

static void add_differences(report_t *report, const verify_result_t *result) {
    if (!differences_total(result->differences))
        return;
    report_begin(report, REPORT_TABLE, "Differences",
                 "The first ones of each kind (--max-differences); all are counted above.");
    report_column(report, "kind", "");
    report_column(report, "file", "");
    report_column(report, "line", "");
    report_column(report, "documents", "");
    report_column(report, "_id", "");
    report_column(report, "field", "");
    report_column(report, "stored", "");
    report_column(report, "the file says", "");
    report_column(report, "why", "");
    for (difference_kind_t kind = 0; kind < DIFFERENCE_KINDS; kind++) {
        size_t count;
        const difference_t *kept = differences_of(result->differences, kind, &count);
        for (size_t i = 0; i < count; i++)
            add_difference(report, &kept[i]);
    }
    report_end(report);
}

static void add_settings(report_t *report, const verify_spec_t *spec, const verify_result_t *result) {
    report_set_text(report, "format", result->format);
    report_set_text(report, "filter", result->filter[0] ? result->filter : NULL);
    report_set_number(report, "threads", (double)result->threads);
    report_set_number(report, "sample, percent", spec->sample_percent);
    report_set_flag(report, "files only", spec->files_only);
}

report_t *report_verify(const verify_spec_t *spec, const verify_result_t *result, const bson_t *document,
                        int status, const err_t *err) {
    report_t *report = report_new("verify");
    report_head(report, result->namespace, result->where, "tipple verify");
    say(report, result, status, err);
    add_result(report, result, document);
    add_differences(report, result);
    add_records(report, document);
    add_collection(report, document);
    add_settings(report, spec, result);
    return report;
}
