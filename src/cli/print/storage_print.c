#include "cli/print/storage_print.h"
#include "base/numbers/units.h"
#include "base/out.h"
#include "cli/options/cli.h"
#include "cli/options/shell_quote.h"
#include "cli/print/grid.h"
#include "server/bson_read.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the lines to paste ---- */

/* The format file that a setting with short keys needs; NULL: a copy of somebody's own has to be made. */
static char *format_file(const storage_result_t *result) {
    if (!result->like[0])
        return NULL;
    return bson_strdup_printf("format: %s-short\nlike: %s\nkeys: short\n", result->like, result->like);
}

static char *load_line(const storage_spec_t *spec, const storage_result_t *result, size_t setting) {
    const storage_choice_t *choice = &result->choices[setting];
    const load_spec_t *load = &spec->load;
    char own[160], number[16];
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    snprintf(own, sizeof own, "./%s-short.yaml", result->like[0] ? result->like : "my");
    shell_quote_option(&line, "--format", choice->short_keys ? own : load->format);
    shell_quote_uri(&line, load->uri, 0, NULL, NULL);
    shell_quote_option(&line, "--compressor", choice->compressor);
    shell_quote_word(&line, choice->clustered == CLUSTERED_YES ? "--clustered" : "--no-clustered");
    if (load->threads) {
        snprintf(number, sizeof number, "%u", load->threads);
        shell_quote_option(&line, "--threads", number);
    }
    if (load->batch != LOAD_BATCH) {
        snprintf(number, sizeof number, "%u", load->batch);
        shell_quote_option(&line, "--batch", number);
    }
    shell_quote_rest(&line, load, load->direct);
    return text_take_or_end(&line);
}

/* ---- for a person ---- */

static void fill_bytes(char out[GRID_CELL], const bson_t *figures, const char *name) {
    char text[UNITS_MAX];
    snprintf(out, GRID_CELL, "%s", units_bytes(text, bson_read_number(figures, name)));
}

static void fill_median(char out[GRID_CELL], const bson_t *figures, const char *name) {
    const double seconds = bson_read_number(figures, name);
    snprintf(out, GRID_CELL, isnan(seconds) ? "-" : "%.1f ms", seconds * 1e3);
}

static void fill_rate(char out[GRID_CELL], const matrix_setting_t *setting) {
    char rate[UNITS_MAX], interval[32] = "";
    if (!isnan(setting->high))
        snprintf(interval, sizeof interval, " ±%.0f%%",
                 (setting->high - setting->mean) / setting->mean * 100);
    snprintf(out, GRID_CELL, "%s%s", setting->trials ? units_rate(rate, setting->mean) : "-", interval);
}

static void fill_row(char (*row)[GRID_CELL], const storage_result_t *result, size_t at,
                     const bson_t *figures) {
    const storage_choice_t *choice = &result->choices[at];
    const matrix_setting_t *setting = matrix_setting(result->matrix, at);
    const double share = bson_read_number(figures, "share"),
                 acknowledged = bson_read_number(figures, "acknowledged_per_second");
    char rate[UNITS_MAX];
    GRID_PUT(row, 0, "%s", choice->compressor);
    GRID_PUT(row, 1, "%s", choice->clustered == CLUSTERED_YES ? "clustered" : "plain");
    GRID_PUT(row, 2, "%s", choice->short_keys ? "short" : "long");
    fill_rate(row[3], setting);
    GRID_PUT(row, 4, "%s", isnan(acknowledged) ? "-" : units_rate(rate, acknowledged));
    GRID_PUT(row, 5, "%u", setting->trials);
    fill_bytes(row[6], figures, "data_bytes");
    fill_bytes(row[7], figures, "storage_bytes");
    fill_bytes(row[8], figures, "index_bytes");
    if (!isnan(share)) {
        GRID_PUT(row, 9, "%.1f%%", share * 100);
        GRID_PUT(row, 10, "%.2f", bson_read_number(figures, "ratio"));
        GRID_PUT(row, 11, "%.1f", bson_read_number(figures, "bytes_per_document"));
    }
    fill_median(row[12], figures, "scan_cache_seconds");
    fill_median(row[13], figures, "scan_disk_seconds");
}

static void print_settings(const storage_result_t *result, const bson_t *document) {
    bson_t figures;
    static const char *const titles[] = {"blocks", "collection", "keys",        "docs/s",    "acknowledged",
                                         "n",      "data",       "on disk",     "indexes",   "of data",
                                         "ratio",  "bytes/doc",  "scan, cache", "scan, disk"};
    const size_t columns = sizeof titles / sizeof *titles;
    grid_t grid = {.columns = columns, .left = {true, true, true}};
    char(*row)[GRID_CELL] = grid_row(&grid);
    for (size_t i = 0; i < columns; i++)
        GRID_PUT(row, i, "%s", titles[i]);
    for (size_t i = 0; result_item(document, "settings", i, &figures); i++)
        fill_row(grid_row(&grid), result, i, &figures);
    grid_print(&grid);
}

static void print_chosen(const storage_result_t *result, const bson_t *document, const char *word,
                         const char *which, size_t at) {
    bson_t figures;
    char name[STORAGE_NAME], rate[UNITS_MAX];
    if (!bson_read_field(document, which, &figures))
        return;
    const double cold = bson_read_number(&figures, "scan_disk_seconds");
    out_print("%-28s %s: %.1f bytes a document on disk, %s docs/s, scan %.1f ms", word,
              storage_name(&result->choices[at], name), bson_read_number(&figures, "bytes_per_document"),
              units_rate(rate, matrix_setting(result->matrix, at)->mean),
              bson_read_number(&figures, "scan_cache_seconds") * 1e3);
    if (!isnan(cold))
        out_print(", from disk %.1f ms", cold * 1e3);
    out_print("\n");
}

static void print_paste(const storage_spec_t *spec, const storage_result_t *result, const bson_t *document) {
    const size_t chosen = result->verdict.recommended, own = result->verdict.recommended_long;
    if (result->target_exists)
        out_print("%s exists, and what it is stored by cannot be changed: load into another name, or with "
                  "--drop\n",
                  result->namespace);
    out_print("\n");
    if (result->choices[chosen].short_keys && result->like[0]) {
        out_print("printf 'format: %s-short\\nlike: %s\\nkeys: short\\n' > %s-short.yaml\n", result->like,
                  result->like, result->like);
    } else if (result->choices[chosen].short_keys) {
        out_print(
            "short keys need a format file of one's own: write a copy of %s to ./my-short.yaml in which each "
            "field has a 'key' of a letter or two; `tipple formats --check ./my-short.yaml` lists them\n",
            spec->load.format);
    }
    out_print("%s\n", bson_read_text(document, "load"));
    if (result->choices[chosen].short_keys) {
        out_print(
            "\n(`tipple formats --check` lists which key is which field's; filters name fields by their "
            "names)\n");
        if (own != MATRIX_DONE) {
            char *line = load_line(spec, result, own);
            out_print("\nwith the format's own keys, by the same rule:\n%s\n", line);
            free(line);
        }
    }
}

void storage_print_table(const storage_spec_t *spec, const storage_result_t *result, const bson_t *document) {
    const storage_verdict_t *verdict = &result->verdict;
    char records[UNITS_MAX], took[UNITS_MAX];
    out_print("%s at %s   %s record%s a trial   %u trial%s in %s\n\n", result->namespace, result->where,
              units_count(records, result->records), units_s(result->records), result->counts.trials,
              units_s(result->counts.trials), units_time(took, result->took_ns));
    print_settings(result, document);
    out_print("\n");
    if (!result->checkpoints)
        out_print("no checkpoints: this user, or this target, may not (fsync): what is on disk may be less "
                  "than all, and docs/s tell nothing of compressing\n");
    if (result->counts.budget_spent)
        out_print(
            "the budget ended before all intervals were narrow enough; a higher --budget narrows them\n");
    print_chosen(result, document, "smallest:", "smallest", verdict->smallest);
    print_chosen(result, document, "fastest to load:", "fastest_load", verdict->fastest_load);
    print_chosen(result, document, "fastest to scan:", "fastest_scan", verdict->fastest_scan);
    print_chosen(result, document, "fastest to scan from disk:", "fastest_disk_scan", verdict->fastest_cold);
    if (verdict->recommended == MATRIX_DONE)
        return;
    print_chosen(result, document, "recommended:", "recommended", verdict->recommended);
    out_print("  the smallest whose load, with its checkpoint, is within %.0f%% of the fastest as far as the "
              "trials tell\n",
              STORAGE_NEARLY * 100);
    print_paste(spec, result, document);
}

/* ---- for programs ---- */

static double mean_of(const moments_t *moments) {
    return moments->count ? moments->mean : NAN;
}

static double quantile(const hist_t *times, double share) {
    return hist_quantile_ns(times, share) / 1e9;
}

/* Of scans, the median, and between what the middle half lies. */
static void put_setting(bson_t *to, const void *of, size_t at) {
    static const char *const states[] = {
        [MATRIX_OPEN] = "open", [MATRIX_SETTLED] = "settled", [MATRIX_DROPPED] = "dropped"};
    const storage_result_t *result = of;
    if (at == MATRIX_DONE)
        return;
    const storage_choice_t *choice = &result->choices[at];
    const storage_figures_t *figures = &result->figures[at];
    const matrix_setting_t *setting = matrix_setting(result->matrix, at);
    const double share = storage_share(figures);
    result_put(to, AS_TEXT("compressor", choice->compressor),
               AS_TEXT("clustered", choice->clustered == CLUSTERED_YES ? "yes" : "no"),
               AS_TEXT("keys", choice->short_keys ? "short" : "long"),
               AS_TEXT("state", states[setting->state]), AS_COUNT("trials", setting->trials),
               AS_COUNT("documents", figures->documents), AS_NUMBER("docs_per_second", setting->mean, 1),
               AS_NUMBER("low", setting->low, 1), AS_NUMBER("high", setting->high, 1),
               AS_NUMBER("acknowledged_per_second", mean_of(&figures->acknowledged), 1),
               AS_NUMBER("data_bytes", mean_of(&figures->bson_bytes), 1),
               AS_NUMBER("storage_bytes", mean_of(&figures->data_bytes), 1),
               AS_NUMBER("storage_deviation", moments_sd(&figures->data_bytes), 1),
               AS_NUMBER("index_bytes", mean_of(&figures->index_bytes), 1), AS_NUMBER("share", share, 5),
               AS_NUMBER("ratio", 1 / share, 4), AS_NUMBER("bytes_per_document", storage_each(result, at), 3),
               AS_NUMBER("scan_cache_seconds", quantile(&figures->cached, 0.5), 6),
               AS_NUMBER("scan_cache_low", quantile(&figures->cached, 0.25), 6),
               AS_NUMBER("scan_cache_high", quantile(&figures->cached, 0.75), 6),
               AS_NUMBER("scan_disk_seconds", quantile(&figures->cold, 0.5), 6),
               AS_NUMBER("scan_disk_low", quantile(&figures->cold, 0.25), 6),
               AS_NUMBER("scan_disk_high", quantile(&figures->cold, 0.75), 6),
               AS_COUNT("retries", figures->retries));
}

void storage_make_result(bson_t *to, const storage_spec_t *spec, const storage_result_t *result) {
    const storage_verdict_t *verdict = &result->verdict;
    const matrix_verdict_t *counts = &result->counts;
    const size_t settings = result->matrix ? matrix_count(result->matrix) : 0, chosen = verdict->recommended;
    const bool told = chosen != MATRIX_DONE;
    char *line = told ? load_line(spec, result, chosen) : NULL,
         *file = told && result->choices[chosen].short_keys ? format_file(result) : NULL;
    result_put(to, AS_TEXT("study", "storage"), AS_TEXT("namespace", result->namespace),
               AS_TEXT("target", result->where), AS_TEXT("scratch", result->scratch),
               AS_TEXT("format", result->format), AS_COUNT("sample", result->sample),
               AS_COUNT("records", result->records), AS_COUNT("trials", counts->trials),
               AS_COUNT("rounds", counts->rounds), AS_SECONDS("seconds", result->took_ns),
               AS_SECONDS("budget_seconds", spec->budget_ns), AS_FLAG("budget_spent", counts->budget_spent),
               AS_NUMBER("precision", spec->precision, 4), AS_FLAG("checkpoints", result->checkpoints),
               AS_COUNT("shards", result->shards), AS_LIST("settings", settings, put_setting, result),
               AS_INNER("smallest", put_setting, result, verdict->smallest),
               AS_INNER("fastest_load", put_setting, result, verdict->fastest_load),
               AS_INNER("fastest_scan", put_setting, result, verdict->fastest_scan),
               AS_INNER("fastest_disk_scan", put_setting, result, verdict->fastest_cold),
               AS_INNER("recommended", put_setting, result, verdict->recommended),
               AS_INNER("recommended_long", put_setting, result, verdict->recommended_long),
               AS_TEXT("format_file", file), AS_TEXT("load", line));
    free(line);
    bson_free(file);
}
