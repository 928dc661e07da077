#include "cli/print/drill_history.h"
#include "base/out.h"
#include "base/numbers/units.h"
#include "cli/options/cli.h"
#include "cli/print/grid.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const char *drill_history_day(char out[32], int64_t when_ms) {
    const time_t when = (time_t)(when_ms / 1000);
    struct tm local;
    out[0] = '\0';
    if (localtime_r(&when, &local))
        strftime(out, 32, "%Y-%m-%d %H:%M", &local);
    return out;
}

static void put_change(char cell[GRID_CELL], double now, double before) {
    if (before > 0 && !isnan(now))
        snprintf(cell, GRID_CELL, "%+.0f%%", (now - before) / before * 100);
}

static void put_entry(char (*row)[GRID_CELL], const drills_entry_t *entry, const drills_entry_t *before) {
    char number[UNITS_MAX], day[32];
    const double error = forecast_error_percent(&entry->predicted, entry->verified);
    GRID_PUT(row, 0, "%s", drill_history_day(day, entry->when_ms));
    GRID_PUT(row, 1, "%s", entry->scratch ? "scratch" : "real");
    GRID_PUT(row, 2, "%.40s", entry->format);
    GRID_PUT(row, 3, "%s", units_count(number, entry->documents));
    GRID_PUT(row, 4, "%u x %u", entry->threads, entry->batch);
    GRID_PUT(row, 5, "%s", entry->indexes);
    GRID_PUT(row, 6, "%s", units_rate(number, drills_rate(entry)));
    GRID_PUT(row, 8, "%s", units_seconds(number, entry->verified));
    if (before) {
        put_change(row[7], drills_rate(entry), drills_rate(before));
        put_change(row[9], entry->verified, before->verified);
    }
    if (!isnan(error))
        GRID_PUT(row, 10, "%+.0f%%", error);
    GRID_PUT(row, 11, "%s", entry->differences ? "differs" : "");
}

static void print_table(const char *namespace, const drills_entry_t *entries, size_t count) {
    static const char *const heads[] = {"when",      "where",  "format", "documents", "threads x batch",
                                        "indexes",   "docs/s", "change", "verified",  "change",
                                        "predicted", ""};
    grid_t grid = {.columns = sizeof heads / sizeof *heads,
                   .left = {true, true, true, [5] = true, [11] = true}};
    if (!count) {
        out_print("%s: no drill has come to its end\n", namespace);
        return;
    }
    char(*row)[GRID_CELL] = grid_row(&grid);
    for (size_t i = 0; i < grid.columns; i++)
        GRID_PUT(row, i, "%s", heads[i]);
    for (size_t i = 0; i < count; i++)
        put_entry(grid_row(&grid), &entries[i], drills_before(entries, i, &entries[i]));
    grid_print(&grid);
}

/* ---- for programs ---- */

static void print_forecast(const forecast_t *forecast) {
    if (isnan(forecast->mid)) {
        out_print(",\"predicted\":null");
        return;
    }
    out_print(",\"predicted\":{\"seconds\":%.6f", forecast->mid);
    cli_json_number("low", forecast->low, 6);
    cli_json_number("high", forecast->high, 6);
    out_print("}");
}

void drill_history_print_json_entry(const drills_entry_t *entry) {
    bool first = true;
    out_print("{\"when_ms\":%" PRId64 ",\"mode\":\"%s\"", entry->when_ms,
              entry->scratch ? "scratch" : "real");
    cli_json_text("namespace", entry->namespace);
    cli_json_text("format", entry->format);
    cli_json_text("indexes", entry->indexes);
    cli_json_text("keys", entry->keys);
    cli_json_text("query", entry->query);
    out_print(",\"documents\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"rejected\":%" PRIu64
              ",\"differences\":%" PRIu64 ",\"threads\":%u,\"batch\":%u",
              entry->documents, entry->bytes, entry->rejected, entry->differences, entry->threads,
              entry->batch);
    cli_json_number("docs_per_second", drills_rate(entry), 0);
    cli_json_number("seconds", entry->seconds, 6);
    cli_json_number("verified_seconds", entry->verified, 6);
    print_forecast(&entry->predicted);
    out_print(",\"phases\":[");
    for (drill_phase_t i = 0; i < DRILL_PHASES; i++) {
        if (isnan(entry->phases[i]))
            continue;
        out_print("%s{\"phase\":\"%s\",\"seconds\":%.6f", first ? "" : ",", drill_phase_name(i),
                  entry->phases[i]);
        print_forecast(&entry->phases_predicted[i]);
        out_print("}");
        first = false;
    }
    out_print("]");
    cli_json_text("server", entry->server);
    cli_json_text("version", entry->version);
    cli_json_text("host", entry->host);
    out_print("}");
}

static void print_json(const char *namespace, const drills_entry_t *entries, size_t count) {
    out_print("{\"schema\":1,\"command\":\"drill\",\"mode\":\"history\",\"status\":0");
    cli_json_text("namespace", namespace);
    out_print(",\"drills\":[");
    for (size_t i = 0; i < count; i++) {
        out_print(i ? ",\n" : "\n");
        drill_history_print_json_entry(&entries[i]);
    }
    out_print("]}\n");
}

int drill_history(const char *uri, int64_t patience_ns, bool json, err_t *err) {
    const server_options_t options = {
        .uri = uri, .patience_ns = patience_ns, .connections = 1, .reads = true};
    server_t *server = server_connect(&options, err);
    mongoc_client_t *client = server ? server_take(server, err) : NULL;
    drills_entry_t *entries = NULL;
    size_t count;
    bool ok = client && drills_read(server, client, &entries, &count, err);
    if (ok)
        (json ? print_json : print_table)(server_namespace(server), entries, count);
    free(entries);
    if (client)
        server_give(server, client);
    server_destroy(server);
    return ok && cli_flush(err) ? STATUS_OK : (int)err->status;
}
