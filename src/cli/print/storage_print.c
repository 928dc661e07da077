#include "cli/print/storage_print.h"
#include "base/out.h"
#include "base/numbers/units.h"
#include "cli/options/cli.h"
#include "cli/print/grid.h"
#include "cli/options/shell_quote.h"

#include <inttypes.h>
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

char *storage_print_line(const storage_spec_t *spec, const storage_result_t *result, size_t setting) {
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

static void put_bytes(char out[GRID_CELL], const moments_t *bytes) {
    char text[UNITS_MAX];
    snprintf(out, GRID_CELL, "%s", bytes->count ? units_size(text, (uint64_t)bytes->mean) : "-");
}

static void put_median(char out[GRID_CELL], const hist_t *times) {
    if (times->moments.count)
        snprintf(out, GRID_CELL, "%.1f ms", hist_quantile_ns(times, 0.5) / 1e6);
    else
        snprintf(out, GRID_CELL, "-");
}

static void put_rate(char out[GRID_CELL], const matrix_setting_t *setting) {
    char rate[UNITS_MAX], interval[32] = "";
    if (!isnan(setting->high))
        snprintf(interval, sizeof interval, " ±%.0f%%",
                 (setting->high - setting->mean) / setting->mean * 100);
    snprintf(out, GRID_CELL, "%s%s", setting->trials ? units_rate(rate, setting->mean) : "-", interval);
}

static void put_setting(char (*row)[GRID_CELL], const storage_result_t *result, size_t at) {
    const storage_choice_t *choice = &result->choices[at];
    const storage_figures_t *figures = &result->figures[at];
    const matrix_setting_t *setting = matrix_setting(result->matrix, at);
    const double share = storage_share(figures);
    char rate[UNITS_MAX];
    GRID_PUT(row, 0, "%s", choice->compressor);
    GRID_PUT(row, 1, "%s", choice->clustered == CLUSTERED_YES ? "clustered" : "plain");
    GRID_PUT(row, 2, "%s", choice->short_keys ? "short" : "long");
    put_rate(row[3], setting);
    GRID_PUT(row, 4, "%s", figures->acknowledged.count ? units_rate(rate, figures->acknowledged.mean) : "-");
    GRID_PUT(row, 5, "%u", setting->trials);
    put_bytes(row[6], &figures->bson_bytes);
    put_bytes(row[7], &figures->data_bytes);
    put_bytes(row[8], &figures->index_bytes);
    if (!isnan(share)) {
        GRID_PUT(row, 9, "%.1f%%", share * 100);
        GRID_PUT(row, 10, "%.2f", 1 / share);
        GRID_PUT(row, 11, "%.1f", storage_each(result, at));
    }
    put_median(row[12], &figures->cached);
    put_median(row[13], &figures->cold);
}

static void print_settings(const storage_result_t *result) {
    static const char *const titles[] = {"blocks", "collection", "keys",        "docs/s",    "acknowledged",
                                         "n",      "data",       "on disk",     "indexes",   "of data",
                                         "ratio",  "bytes/doc",  "scan, cache", "scan, disk"};
    const size_t columns = sizeof titles / sizeof *titles;
    grid_t grid = {.columns = columns, .left = {true, true, true}};
    char(*row)[GRID_CELL] = grid_row(&grid);
    for (size_t i = 0; i < columns; i++)
        GRID_PUT(row, i, "%s", titles[i]);
    for (size_t i = 0; i < matrix_count(result->matrix); i++)
        put_setting(grid_row(&grid), result, i);
    grid_print(&grid);
}

static void print_chosen(const storage_result_t *result, const char *word, size_t at) {
    const storage_figures_t *figures;
    char name[STORAGE_NAME], rate[UNITS_MAX];
    if (at == MATRIX_DONE)
        return;
    figures = &result->figures[at];
    out_print("%-28s %s: %.1f bytes a document on disk, %s docs/s, scan %.1f ms", word,
              storage_name(&result->choices[at], name), storage_each(result, at),
              units_rate(rate, matrix_setting(result->matrix, at)->mean),
              hist_quantile_ns(&figures->cached, 0.5) / 1e6);
    if (figures->cold.moments.count)
        out_print(", from disk %.1f ms", hist_quantile_ns(&figures->cold, 0.5) / 1e6);
    out_print("\n");
}

static void print_paste(const storage_spec_t *spec, const storage_result_t *result) {
    const size_t chosen = result->verdict.recommended, own = result->verdict.recommended_long;
    char *line = storage_print_line(spec, result, chosen), *file = format_file(result);
    if (result->target_exists)
        out_print("%s exists, and what it is stored by cannot be changed: load into another name, or with "
                  "--drop\n",
                  result->namespace);
    out_print("\n");
    if (result->choices[chosen].short_keys && file) {
        out_print("printf 'format: %s-short\\nlike: %s\\nkeys: short\\n' > %s-short.yaml\n", result->like,
                  result->like, result->like);
    } else if (result->choices[chosen].short_keys) {
        out_print(
            "short keys need a format file of one's own: write a copy of %s to ./my-short.yaml in which each "
            "field has a 'key' of a letter or two; `tipple formats --check ./my-short.yaml` lists them\n",
            spec->load.format);
    }
    out_print("%s\n", line);
    free(line);
    if (result->choices[chosen].short_keys) {
        out_print(
            "\n(`tipple formats --check` lists which key is which field's; filters name fields by their "
            "names)\n");
        if (own != MATRIX_DONE) {
            line = storage_print_line(spec, result, own);
            out_print("\nwith the format's own keys, by the same rule:\n%s\n", line);
            free(line);
        }
    }
    bson_free(file);
}

void storage_print_table(const storage_spec_t *spec, const storage_result_t *result) {
    const storage_verdict_t *verdict = &result->verdict;
    char records[UNITS_MAX], took[UNITS_MAX];
    out_print("%s at %s   %s records a trial   %u trials in %s\n\n", result->namespace, result->where,
              units_count(records, result->records), result->counts.trials,
              units_time(took, result->took_ns));
    print_settings(result);
    out_print("\n");
    if (!result->checkpoints)
        out_print(
            "no checkpoints: this user, or this target, may not (fsync): what is on disk may be less than "
            "all, "
            "and docs/s tell nothing of compressing\n");
    if (result->counts.budget_spent)
        out_print(
            "the budget ended before all intervals were narrow enough; a higher --budget narrows them\n");
    print_chosen(result, "smallest:", verdict->smallest);
    print_chosen(result, "fastest to load:", verdict->fastest_load);
    print_chosen(result, "fastest to scan:", verdict->fastest_scan);
    print_chosen(result, "fastest to scan from disk:", verdict->fastest_cold);
    if (verdict->recommended == MATRIX_DONE)
        return;
    print_chosen(result, "recommended:", verdict->recommended);
    out_print("  the smallest whose load, with its checkpoint, is within %.0f%% of the fastest as far as the "
              "trials "
              "tell\n",
              STORAGE_NEARLY * 100);
    print_paste(spec, result);
}

/* ---- for programs ---- */

static double mean_of(const moments_t *moments) {
    return moments->count ? moments->mean : NAN;
}

/* The median, and between what the middle half lies. */
static void print_times(const char *name, const hist_t *times) {
    static const struct {
        const char *name;
        double share;
    } parts[] = {{"seconds", 0.5}, {"low", 0.25}, {"high", 0.75}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char whole[64];
        snprintf(whole, sizeof whole, "%s_%s", name, parts[i].name);
        cli_json_number(whole, hist_quantile_ns(times, parts[i].share) / 1e9, 6);
    }
}

static void print_json_setting(const storage_result_t *result, size_t at) {
    static const char *const states[] = {
        [MATRIX_OPEN] = "open", [MATRIX_SETTLED] = "settled", [MATRIX_DROPPED] = "dropped"};
    const storage_choice_t *choice = &result->choices[at];
    const storage_figures_t *figures = &result->figures[at];
    const matrix_setting_t *setting = matrix_setting(result->matrix, at);
    const double share = storage_share(figures);
    out_print("{\"compressor\":\"%s\",\"clustered\":\"%s\",\"keys\":\"%s\",\"state\":\"%s\",\"trials\":%u"
              ",\"documents\":%" PRIu64,
              choice->compressor, choice->clustered == CLUSTERED_YES ? "yes" : "no",
              choice->short_keys ? "short" : "long", states[setting->state], setting->trials,
              figures->documents);
    cli_json_number("docs_per_second", setting->mean, 1);
    cli_json_number("low", setting->low, 1);
    cli_json_number("high", setting->high, 1);
    cli_json_number("acknowledged_per_second", mean_of(&figures->acknowledged), 1);
    cli_json_number("data_bytes", mean_of(&figures->bson_bytes), 1);
    cli_json_number("storage_bytes", mean_of(&figures->data_bytes), 1);
    cli_json_number("storage_deviation", moments_sd(&figures->data_bytes), 1);
    cli_json_number("index_bytes", mean_of(&figures->index_bytes), 1);
    cli_json_number("share", share, 5);
    cli_json_number("ratio", 1 / share, 4);
    cli_json_number("bytes_per_document", storage_each(result, at), 3);
    print_times("scan_cache", &figures->cached);
    print_times("scan_disk", &figures->cold);
    out_print(",\"retries\":%" PRIu64 "}", figures->retries);
}

static void print_json_choice(const char *name, const storage_result_t *result, size_t at) {
    out_print(",\"%s\":", name);
    if (at == MATRIX_DONE)
        out_print("null");
    else
        print_json_setting(result, at);
}

static void print_json_lines(const storage_spec_t *spec, const storage_result_t *result) {
    const size_t chosen = result->verdict.recommended;
    const bool told = chosen != MATRIX_DONE, needs_file = told && result->choices[chosen].short_keys;
    char *line = told ? storage_print_line(spec, result, chosen) : NULL,
         *file = needs_file ? format_file(result) : NULL;
    cli_json_text("format_file", file);
    cli_json_text("load", line);
    free(line);
    bson_free(file);
}

void storage_print_json(const storage_spec_t *spec, const storage_result_t *result, int status) {
    const storage_verdict_t *verdict = &result->verdict;
    const matrix_verdict_t *counts = &result->counts;
    const size_t settings = result->matrix ? matrix_count(result->matrix) : 0;
    out_print("{\"schema\":1,\"command\":\"tune\",\"study\":\"storage\",\"status\":%d", status);
    cli_json_text("namespace", result->namespace);
    cli_json_text("target", result->where);
    cli_json_text("scratch", result->scratch);
    cli_json_text("format", result->format);
    out_print(",\"sample\":%" PRIu64 ",\"records\":%" PRIu64
              ",\"trials\":%u,\"rounds\":%u,\"seconds\":%.6f,\"budget_seconds\":%.3f,\"budget_spent\":%s"
              ",\"precision\":%.4f,\"checkpoints\":%s,\"shards\":%u",
              result->sample, result->records, counts->trials, counts->rounds, (double)result->took_ns / 1e9,
              (double)spec->budget_ns / 1e9, counts->budget_spent ? "true" : "false", spec->precision,
              result->checkpoints ? "true" : "false", result->shards);
    out_print(",\"settings\":[");
    for (size_t i = 0; i < settings; i++) {
        out_print("%s", i ? "," : "");
        print_json_setting(result, i);
    }
    out_print("]");
    print_json_choice("smallest", result, verdict->smallest);
    print_json_choice("fastest_load", result, verdict->fastest_load);
    print_json_choice("fastest_scan", result, verdict->fastest_scan);
    print_json_choice("fastest_disk_scan", result, verdict->fastest_cold);
    print_json_choice("recommended", result, verdict->recommended);
    print_json_choice("recommended_long", result, verdict->recommended_long);
    print_json_lines(spec, result);
    out_print("}\n");
}
