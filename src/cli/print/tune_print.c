#include "cli/print/tune_print.h"
#include "base/log.h"
#include "base/numbers.h"
#include "cli/options/cli.h"
#include "cli/options/shell_quote.h"
#include "cli/print/grid.h"
#include "server/bson_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the line to paste ---- */

/* Only what was given or found: what a load finds out by itself it will find out again. */
static char *load_line(const tune_spec_t *spec, const tune_result_t *result, size_t at) {
    const tune_setting_t *setting = &result->settings[at];
    const load_spec_t *load = &spec->load;
    text_t line = {.length = 0};
    text_append(&line, "tipple load");
    shell_quote_option(&line, "--format", load->format);
    shell_quote_uri(&line, load->uri);
    for (size_t i = 0; i < result->list_count; i++) {
        char option[32];
        snprintf(option, sizeof option, "--%s", result->lists[i].option);
        if (setting->values[i])
            shell_quote_option(&line, option, setting->values[i]);
    }
    if (load->create)
        shell_quote_option(&line, "--create", load->create);
    shell_quote_rest(&line, load, load->direct);
    return text_take_or_end(&line);
}

/* ---- for a person ---- */

const char *tune_remark(const tune_result_t *result, size_t at) {
    const matrix_setting_t *tried = matrix_setting(result->matrix, at);
    const matrix_verdict_t *verdict = &result->verdict;
    return at == verdict->best              ? (at == verdict->cheapest ? "best and cheapest" : "best")
           : at == verdict->cheapest        ? "cheapest"
           : tried->state == MATRIX_SMALL   ? "too small"
           : tried->state == MATRIX_DROPPED ? "given up"
           : !tried->trials                 ? "not tried"
                                            : "";
}

static void print_settings(const tune_result_t *result) {
    enum { FIRST = 6 };
    const size_t listed = result->list_count, last = FIRST + listed - 1;
    grid_t grid = {.columns = last + 1, .left = {[0] = false}};
    char(*row)[GRID_CELL] = grid_row(&grid), text[UNITS_MAX], low[UNITS_MAX], high[UNITS_MAX];
    grid.left[last] = grid.left[last - 1] = true;
    for (size_t i = 0; i < listed; i++)
        if (result->lists[i].count)
            GRID_PUT(row, i, "%s", result->lists[i].option);
    GRID_PUT(row, listed, "docs/s");
    GRID_PUT(row, listed + 1, "range");
    GRID_PUT(row, listed + 2, "trials");
    GRID_PUT(row, listed + 3, "bytes/doc");
    GRID_PUT(row, listed + 4, "limited by");
    for (size_t at = 0; at < result->count; at++) {
        const tune_setting_t *setting = &result->settings[at];
        const matrix_setting_t *tried = matrix_setting(result->matrix, at);
        row = grid_row(&grid);
        for (size_t i = 0; i < listed; i++)
            if (setting->values[i])
                GRID_PUT(row, i, "%s", setting->values[i]);
        GRID_PUT(row, last, "%s", tune_remark(result, at));
        if (tried->state == MATRIX_SMALL || !tried->trials) {
            GRID_PUT(row, listed, "-");
            continue;
        }
        GRID_PUT(row, listed, "%s", units_rate(text, matrix_median(tried)));
        GRID_PUT(row, listed + 1, "%s to %s", units_rate(low, tried->rates[0]),
                 units_rate(high, tried->rates[tried->trials - 1]));
        GRID_PUT(row, listed + 2, "%u", tried->trials);
        grid_figure(row[listed + 3], setting->figures.bytes / (double)setting->figures.documents);
        GRID_PUT(row, listed + 4, "%s", tune_limit_name(tune_limit(result, at)));
    }
    grid_print(&grid);
}

/* What held it back, and by which figures. */
static void print_limits(const tune_result_t *result, size_t at, const bson_t *figures) {
    const struct {
        double value, of;
        const char *format;
    } parts[] = {
        {result->cluster ? NAN : bson_read_number(figures, "server_cores"), result->server_cpus,
         "server: %.1f of %.0f CPUs"},
        {bson_read_number(figures, "host_busy") * 100, 0, "this host: %.0f%% of its CPUs"},
        {bson_read_number(figures, "network") * 100, 0, "its fullest network link: %.0f%%"},
    };
    const char *before = " (";
    out_print("      limited by: %s", tune_limit_name(tune_limit(result, at)));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        if (isnan(parts[i].value))
            continue;
        out_print("%s", before);
        out_print(parts[i].format, parts[i].value, parts[i].of);
        before = "; ";
    }
    out_print("%s\n", *before == ';' ? ")" : "");
}

static void print_figures(const tune_result_t *result, const char *word, size_t at, const bson_t *document) {
    const uint64_t retries = result->settings[at].figures.retries;
    char rate[UNITS_MAX], name[TUNE_NAME];
    bson_t figures;
    if (!bson_read_field(document, word, &figures))
        return;
    out_print("%s: %s   %s docs/s   client CPU %.2f us a document\n", word, tune_name(result, at, name),
              units_rate(rate, bson_read_number(&figures, "docs_per_second")),
              bson_read_number(&figures, "client_cpu_us_per_doc"));
    print_limits(result, at, &figures);
    if (retries)
        out_print("      %" PRIu64 " batch%s sent again while a server was away: do not trust this figure\n",
                  retries, retries == 1 ? " was" : "es were");
}

void tune_print_table(const tune_result_t *result, const bson_t *document) {
    const matrix_verdict_t *verdict = &result->verdict;
    char records[UNITS_MAX], took[UNITS_MAX];
    out_print("%s at %s   %s record%s a trial   %u trial%s in %s\n\n", result->namespace, result->where,
              units_count(records, result->records), units_s(result->records), verdict->trials,
              units_s(verdict->trials), units_time(took, result->took_ns));
    print_settings(result);
    out_print("\n");
    if (!result->checkpoints)
        out_print("no checkpoints, and so no bytes a document: this user, or this target, may not (fsync)\n");
    if (verdict->best == MATRIX_DONE)
        return;
    print_figures(result, "best", verdict->best, document);
    if (verdict->cheapest != verdict->best)
        print_figures(result, "cheapest", verdict->cheapest, document);
    if (verdict->budget_spent)
        out_print("the budget ended before all settings were tried %d times: a higher --budget tries more\n",
                  MATRIX_TRIALS);
    out_print("load with the cheapest: within %.0f%% of the best with the fewest threads, then the smallest "
              "batch\n\n%s\n",
              MATRIX_NEARLY * 100, bson_read_text(document, "load"));
}

/* ---- for programs ---- */

static void put_setting(bson_t *to, const void *of, size_t at) {
    static const char *const states[] = {[MATRIX_OPEN] = "open",
                                         [MATRIX_SETTLED] = "settled",
                                         [MATRIX_DROPPED] = "dropped",
                                         [MATRIX_SMALL] = "too small"};
    const tune_result_t *result = of;
    if (at == MATRIX_DONE)
        return;
    const matrix_setting_t *tried = matrix_setting(result->matrix, at);
    const load_spec_t *load = &result->settings[at].load;
    const tune_figures_t *figures = &result->settings[at].figures;
    const bool known = tried->trials && tried->state != MATRIX_SMALL;
    const double seconds = known ? figures->seconds : NAN,
                 documents = known ? (double)figures->documents : NAN;
    result_put(to, AS_COUNT("threads", load->threads), AS_COUNT("batch", load->batch),
               AS_TEXT("clustered", load_spec_clustered(load)), AS_TEXT("compressor", load->compressor),
               AS_COUNT("memory", load->memory), AS_FLAG("direct", load->direct),
               AS_TEXT("state", states[tried->state]), AS_COUNT("trials", tried->trials),
               AS_COUNT("documents", figures->documents),
               AS_NUMBER("docs_per_second", known ? matrix_median(tried) : NAN, 1),
               AS_NUMBER("low", known ? tried->rates[0] : NAN, 1),
               AS_NUMBER("high", known ? tried->rates[tried->trials - 1] : NAN, 1),
               AS_NUMBER("bytes_per_document", figures->bytes / documents, 2),
               AS_NUMBER("client_cpu_us_per_doc", figures->client_cores * 1e6 / documents, 4),
               AS_NUMBER("client_cores", figures->client_cores / seconds, 3),
               AS_NUMBER("server_cores", figures->server_cores / seconds, 3),
               AS_NUMBER("host_busy", figures->host_busy / seconds, 3),
               AS_NUMBER("network", figures->network / seconds, 3), AS_COUNT("retries", figures->retries),
               AS_TEXT("limit", known ? tune_limit_name(tune_limit(result, at)) : NULL),
               AS_TEXT("limited_by", known ? figures->limited_by : NULL));
}

void tune_make_result(bson_t *to, const tune_spec_t *spec, const tune_result_t *result) {
    const matrix_verdict_t *verdict = &result->verdict;
    char *line = verdict->cheapest == MATRIX_DONE ? NULL : load_line(spec, result, verdict->cheapest);
    result_put(to, AS_TEXT("namespace", result->namespace), AS_TEXT("target", result->where),
               AS_TEXT("scratch", result->scratch), AS_TEXT("format", result->format),
               AS_COUNT("records", result->records), AS_COUNT("trials", verdict->trials),
               AS_COUNT("rounds", verdict->rounds), AS_SECONDS("seconds", result->took_ns),
               AS_SECONDS("budget_seconds", spec->budget_ns), AS_FLAG("budget_spent", verdict->budget_spent),
               AS_FLAG("checkpoints", result->checkpoints), AS_COUNT("settled", verdict->settled),
               AS_COUNT("dropped", verdict->dropped), AS_COUNT("too_small", verdict->small),
               AS_COUNT("untried", verdict->untried),
               AS_LIST("settings", result->matrix ? result->count : 0, put_setting, result),
               AS_INNER("best", put_setting, result, verdict->best),
               AS_INNER("cheapest", put_setting, result, verdict->cheapest), AS_TEXT("load", line));
    free(line);
}
