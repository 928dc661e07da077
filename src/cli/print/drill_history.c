#include "cli/print/drill_history.h"
#include "base/numbers/units.h"
#include "base/out.h"
#include "cli/options/cli.h"
#include "cli/print/grid.h"

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

static void fill_row(char (*row)[GRID_CELL], const drills_entry_t *entry, const drills_entry_t *before) {
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
        fill_row(grid_row(&grid), &entries[i], drills_before(entries, i, &entries[i]));
    grid_print(&grid);
}

/* ---- for programs ---- */

void drill_put_forecast(bson_t *to, const void *forecasts, size_t at) {
    const forecast_t *forecast = (const forecast_t *)forecasts + at;
    if (!isnan(forecast->mid))
        result_put(to, AS_NUMBER("seconds", forecast->mid, 6), AS_NUMBER("low", forecast->low, 6),
                   AS_NUMBER("high", forecast->high, 6));
}

static void put_phase(bson_t *to, const void *of, size_t at) {
    const drills_entry_t *entry = of;
    if (!isnan(entry->phases[at]))
        result_put(to, AS_TEXT("phase", drill_phase_name((drill_phase_t)at)),
                   AS_NUMBER("seconds", entry->phases[at], 6),
                   AS_INNER("predicted", drill_put_forecast, entry->phases_predicted, at));
}

void drill_put_entry(bson_t *to, const void *entries, size_t at) {
    const drills_entry_t *entry = (const drills_entry_t *)entries + at;
    result_put(to, AS_COUNT("when_ms", entry->when_ms), AS_TEXT("mode", entry->scratch ? "scratch" : "real"),
               AS_TEXT("namespace", entry->namespace), AS_TEXT("format", entry->format),
               AS_TEXT("indexes", entry->indexes), AS_TEXT("keys", entry->keys),
               AS_TEXT("query", entry->query), AS_COUNT("documents", entry->documents),
               AS_COUNT("bytes", entry->bytes), AS_COUNT("rejected", entry->rejected),
               AS_COUNT("differences", entry->differences), AS_COUNT("threads", entry->threads),
               AS_COUNT("batch", entry->batch), AS_NUMBER("docs_per_second", drills_rate(entry), 0),
               AS_NUMBER("seconds", entry->seconds, 6), AS_NUMBER("verified_seconds", entry->verified, 6),
               AS_INNER("predicted", drill_put_forecast, &entry->predicted, 0),
               AS_LIST("phases", DRILL_PHASES, put_phase, entry), AS_TEXT("server", entry->server),
               AS_TEXT("version", entry->version), AS_TEXT("host", entry->host));
}

static void print_json(const char *namespace, const drills_entry_t *entries, size_t count) {
    bson_t result = BSON_INITIALIZER;
    result_put(&result, AS_TEXT("mode", "history"), AS_TEXT("namespace", namespace),
               AS_LIST("drills", count, drill_put_entry, entries));
    result_print("drill", STATUS_OK, &result);
    bson_destroy(&result);
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
