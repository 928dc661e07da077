#include "cli/report/report_storage.h"
#include "cli/report/reporting.h"
#include "cli/print/storage_print.h"
#include "report/scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static double mean_of(const moments_t *moments) {
    return moments->count ? moments->mean : NAN;
}

static void say(report_t *report, const storage_result_t *result, int status, const err_t *err) {
    const size_t chosen = result->verdict.recommended;
    char name[STORAGE_NAME], rate[SCALE_TEXT];
    char *trouble =
        reporting_is_trouble(status) ? reporting_trouble(status, (double)result->took_ns / 1e9, err) : NULL;
    if (chosen == MATRIX_DONE || !result->matrix)
        report_say(report, status, "%s%sNothing can be recommended.", trouble ? trouble : "",
                   trouble ? ". " : "");
    else
        report_say(report, status,
                   "%s%sRecommended is %s: %.1f bytes a document on disk, %.1f %% of the data, loaded at %s.",
                   trouble ? trouble : "", trouble ? ". As far as it came: " : "",
                   storage_name(&result->choices[chosen], name), storage_each(result, chosen),
                   100 * storage_share(&result->figures[chosen]),
                   scale_value(rate, matrix_setting(result->matrix, chosen)->mean, "documents/s"));
    bson_free(trouble);
}

static void add_result(report_t *report, const storage_spec_t *spec, const storage_result_t *result) {
    const size_t chosen = result->verdict.recommended;
    const bool told = chosen != MATRIX_DONE && result->matrix;
    report_begin(report, REPORT_FIGURES, "Result", NULL);
    report_figure(report, "bytes a document on disk", told ? storage_each(result, chosen) : NAN, "");
    report_figure(report, "on disk, of the data", told ? 100 * storage_share(&result->figures[chosen]) : NAN,
                  "%");
    report_figure(report, "documents a second", told ? matrix_setting(result->matrix, chosen)->mean : NAN,
                  "documents/s");
    report_figure(report, "took", (double)result->took_ns / 1e9, "s");
    report_figure(report, "trials", result->counts.trials, "trials");
    report_figure(report, "records a trial", (double)result->records, "records");
    report_end(report);
    if (!told)
        return;
    char *line = storage_print_line(spec, result, chosen);
    report_begin(report, REPORT_TEXT, "To load as recommended",
                 result->choices[chosen].short_keys ? "Short keys need a format file; the command prints it."
                                                    : NULL);
    report_line(report, line);
    report_end(report);
    free(line);
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

static void add_ways(report_t *report, const storage_result_t *result) {
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
    for (size_t at = 0; at < matrix_count(result->matrix); at++) {
        const storage_figures_t *figures = &result->figures[at];
        const matrix_setting_t *setting = matrix_setting(result->matrix, at);
        char name[STORAGE_NAME], words[96];
        report_row(report);
        report_word(report, storage_name(&result->choices[at], name));
        report_number(report, setting->mean);
        report_number(report, setting->low);
        report_number(report, setting->high);
        report_number(report, mean_of(&figures->acknowledged));
        report_number(report, 100 * storage_share(figures));
        report_number(report, storage_each(result, at));
        report_number(report, mean_of(&figures->data_bytes));
        report_number(report, mean_of(&figures->index_bytes));
        report_number(report, hist_quantile_ns(&figures->cached, 0.5) / 1e9);
        report_number(report, hist_quantile_ns(&figures->cold, 0.5) / 1e9);
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

report_t *report_storage(const storage_spec_t *spec, const storage_result_t *result, int status,
                         const err_t *err) {
    report_t *report = report_new("tune");
    report_head(report, result->namespace, result->where, "tipple tune --storage");
    say(report, result, status, err);
    add_result(report, spec, result);
    if (result->matrix)
        add_ways(report, result);
    add_settings(report, spec, result);
    return report;
}
