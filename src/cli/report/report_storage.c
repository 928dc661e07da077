#include "cli/report/report_storage.h"
#include "cli/print/result.h"
#include "cli/report/reporting.h"
#include "report/scale.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static void say(report_t *report, const storage_result_t *result, const bson_t *document, int status,
                const err_t *err) {
    char name[STORAGE_NAME], rate[SCALE_TEXT];
    bson_t chosen;
    char *trouble =
        reporting_is_trouble(status) ? reporting_trouble(status, (double)result->took_ns / 1e9, err) : NULL;
    if (!bson_read_field(document, "recommended", &chosen))
        report_say(report, status, "%s%sNothing can be recommended.", trouble ? trouble : "",
                   trouble ? ". " : "");
    else
        report_say(report, status,
                   "%s%sRecommended is %s: %.1f bytes a document on disk, %.1f %% of the data, loaded at %s.",
                   trouble ? trouble : "", trouble ? ". As far as it came: " : "",
                   storage_name(&result->choices[result->verdict.recommended], name),
                   bson_read_number(&chosen, "bytes_per_document"), 100 * bson_read_number(&chosen, "share"),
                   scale_value(rate, bson_read_number(&chosen, "docs_per_second"), "documents/s"));
    bson_free(trouble);
}

static void add_result(report_t *report, const storage_result_t *result, const bson_t *document) {
    const size_t chosen = result->verdict.recommended;
    report_begin(report, REPORT_FIGURES, "Result", NULL);
    reporting_figure(report, document, "bytes a document on disk", "recommended.bytes_per_document", "");
    report_figure(report, "on disk, of the data", 100 * bson_read_number(document, "recommended.share"), "%");
    reporting_figure(report, document, "documents a second", "recommended.docs_per_second", "documents/s");
    reporting_figure(report, document, "took", "seconds", "s");
    reporting_figure(report, document, "trials", "trials", "trials");
    reporting_figure(report, document, "records a trial", "records", "records");
    report_end(report);
    if (chosen == MATRIX_DONE)
        return;
    report_begin(report, REPORT_TEXT, "To load as recommended",
                 result->choices[chosen].short_keys ? "Short keys need a format file; the command prints it."
                                                    : NULL);
    report_line(report, bson_read_text(document, "load"));
    report_end(report);
}

/* What is smallest, fastest and recommended, by the setting. */
static const char *remark(const storage_verdict_t *verdict, size_t at, char out[96]) {
    const struct {
        size_t setting;
        const char *word;
    } words[] = {{verdict->recommended, "recommended"},
                 {verdict->smallest, "smallest"},
                 {verdict->fastest_load, "fastest to load"},
                 {verdict->fastest_scan, "fastest to scan"},
                 {verdict->fastest_cold, "fastest from disk"}};
    int used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].setting == at)
            used += snprintf(out + used, 96 - (size_t)used, "%s%s", used ? ", " : "", words[i].word);
    return out;
}

static void add_ways(report_t *report, const storage_result_t *result, const bson_t *document) {
    static const char *const rates[] = {"docs_per_second", "low", "high", "acknowledged_per_second"},
                             *const sizes[] = {"bytes_per_document", "storage_bytes", "index_bytes",
                                               "scan_cache_seconds", "scan_disk_seconds"};
    bson_t figures;
    report_begin(report, REPORT_BARS, "Ways to store",
                 "Rates are means with their 95 % interval, and include the checkpoint after the load; "
                 "acknowledged ones do not. Sizes are of the whole sample. A scan is one look at every "
                 "document: the median.");
    report_column(report, "compressor, collection, keys", "");
    report_bar_column(report, "documents a second", "documents/s", 0);
    report_column(report, "from", "documents/s");
    report_column(report, "to", "documents/s");
    report_column(report, "acknowledged", "documents/s");
    report_bar_column(report, "of the data", "%", 100);
    report_column(report, "bytes a document", "");
    report_column(report, "data on disk", "bytes");
    report_column(report, "indexes", "bytes");
    report_column(report, "scan, from the cache", "s");
    report_column(report, "scan, from disk", "s");
    report_column(report, "remark", "");
    for (size_t at = 0; result_item(document, "settings", at, &figures); at++) {
        char name[STORAGE_NAME], words[96];
        report_row(report);
        report_word(report, storage_name(&result->choices[at], name));
        for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
            report_number(report, bson_read_number(&figures, rates[i]));
        report_number(report, 100 * bson_read_number(&figures, "share"));
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            report_number(report, bson_read_number(&figures, sizes[i]));
        report_word(report, remark(&result->verdict, at, words));
    }
    report_end(report);
}

static void add_settings(report_t *report, const storage_spec_t *spec, const storage_result_t *result) {
    report_set_text(report, "format", spec->load.format);
    report_set_number(report, "budget seconds", (double)spec->budget_ns / 1e9);
    report_set_number(report, "precision, percent", spec->precision * 100);
    report_set_number(report, "seed", (double)spec->seed);
    report_set_flag(report, "budget spent", result->counts.budget_spent);
    report_set_flag(report, "checkpoints", result->checkpoints);
    report_set_text(report, "scratch collection", result->scratch);
}

report_t *report_storage(const storage_spec_t *spec, const storage_result_t *result, const bson_t *document,
                         int status, const err_t *err) {
    report_t *report = report_new("tune");
    report_head(report, result->namespace, result->where, "tipple tune --storage");
    say(report, result, document, status, err);
    add_result(report, result, document);
    if (result->matrix)
        add_ways(report, result, document);
    add_settings(report, spec, result);
    return report;
}
