#include "cli/report/report_tune.h"
#include "cli/print/tune_print.h"
#include "cli/report/reporting.h"
#include "report/scale.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>

static bool is_decided(const tune_result_t *result) {
    return result->matrix && result->verdict.best != MATRIX_DONE;
}

static void say(report_t *report, const tune_result_t *result, int status, const err_t *err) {
    const matrix_verdict_t *verdict = &result->verdict;
    char best[TUNE_NAME], cheapest[TUNE_NAME], best_rate[SCALE_TEXT], cheapest_rate[SCALE_TEXT];
    char *trouble =
        reporting_is_trouble(status) ? reporting_trouble(status, (double)result->took_ns / 1e9, err) : NULL;
    if (is_decided(result)) {
        const bool same = verdict->best == verdict->cheapest;
        scale_value(best_rate, matrix_median(matrix_setting(result->matrix, verdict->best)), "documents/s");
        scale_value(cheapest_rate, matrix_median(matrix_setting(result->matrix, verdict->cheapest)),
                    "documents/s");
        report_say(
            report, status,
            "%s%sThe cheapest setting that is nearly as fast as the best is %s at %s, limited by %s%s%s%s%s.",
            trouble ? trouble : "", trouble ? ". As far as it came: " : "",
            tune_name(result, verdict->cheapest, cheapest), cheapest_rate,
            tune_limit_name(tune_limit(result, verdict->cheapest)),
            same ? "; nothing else is faster" : "; the best is ",
            same ? "" : tune_name(result, verdict->best, best), same ? "" : " at ", same ? "" : best_rate);
    } else {
        report_say(report, status, "%s%sNothing was found.", trouble ? trouble : "", trouble ? ". " : "");
    }
    bson_free(trouble);
}

static void add_result(report_t *report, const tune_result_t *result, const bson_t *document) {
    report_begin(report, REPORT_FIGURES, "Result",
                 is_decided(result) ? "The cheapest has the fewest threads, then the smallest batch, of the "
                                      "settings whose median is within 3 % of the best's."
                                    : NULL);
    reporting_figure(report, document, "documents a second of the cheapest setting",
                     "cheapest.docs_per_second", "documents/s");
    reporting_figure(report, document, "the best's documents a second", "best.docs_per_second",
                     "documents/s");
    reporting_figure(report, document, "bytes a document on disk", "cheapest.bytes_per_document", "bytes");
    reporting_figure(report, document, "took", "seconds", "s");
    reporting_figure(report, document, "trials", "trials", "trials");
    reporting_figure(report, document, "records a trial", "records", "records");
    report_end(report);
    if (is_decided(result)) {
        report_begin(report, REPORT_TEXT, "To load with the cheapest setting", NULL);
        report_line(report, bson_read_text(document, "load"));
        report_end(report);
    }
}

static void add_settings(report_t *report, const tune_result_t *result, const bson_t *document) {
    static const char *const figures[] = {"docs_per_second",      "low",          "high",         "trials",
                                          "bytes_per_document",   "client_cores", "server_cores", "host_busy",
                                          "client_cpu_us_per_doc"};
    bson_t setting;
    report_begin(
        report, REPORT_BARS, "Settings",
        "Documents a second: the median of the trials, and the slowest and the fastest of them. Bytes a "
        "document: data and indexes on disk.");
    report_column(report, "setting", "");
    report_column(report, "remark", "");
    report_bar_column(report, "documents a second", "documents/s", 0);
    report_column(report, "from", "documents/s");
    report_column(report, "to", "documents/s");
    report_column(report, "trials", "");
    report_column(report, "bytes a document", "bytes");
    report_column(report, "client cores", "cores");
    report_column(report, "server cores", "cores");
    report_column(report, "this host's CPUs busy", "%");
    report_column(report, "client CPU a document", "us");
    report_column(report, "limited by", "");
    for (size_t at = 0; result_item(document, "settings", at, &setting); at++) {
        char name[TUNE_NAME];
        report_row(report);
        report_word(report, tune_name(result, at, name));
        report_word(report, tune_remark(result, at));
        for (size_t i = 0; i < sizeof figures / sizeof *figures; i++)
            report_number(report, bson_read_number(&setting, figures[i]) * (i == 7 ? 100 : 1));
        report_word(report, bson_read_text(&setting, "limit"));
    }
    report_end(report);
}

report_t *report_tune(const tune_spec_t *spec, const tune_result_t *result, const bson_t *document,
                      int status, const err_t *err) {
    report_t *report = report_new("tune");
    report_head(report, result->namespace, result->where, "tipple tune");
    say(report, result, status, err);
    add_result(report, result, document);
    if (result->matrix)
        add_settings(report, result, document);
    report_set_text(report, "format", spec->load.format);
    report_set_number(report, "budget seconds", (double)spec->budget_ns / 1e9);
    report_set_flag(report, "budget spent", result->verdict.budget_spent);
    report_set_flag(report, "checkpoints between trials", result->checkpoints);
    report_set_text(report, "scratch collection", result->scratch);
    report_set_text(report, "shard key", spec->load.shard_key);
    return report;
}
