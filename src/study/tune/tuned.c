#include "study/tune/tuned.h"
#include "base/clock.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "load/spec/options.h"
#include "server/bson_read.h"
#include "server/server.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PATH = 4096, TARGET = 4096 };

/* make: the folders, too. */
static bool find_path(char path[PATH], bool make, err_t *err) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const bool is_set = cache && *cache == '/';
    char folder[PATH - 32];
    if (!is_set && !(home && *home == '/'))
        return err_set(err, STATUS_HOST,
                       "there is no folder to keep it in: neither XDG_CACHE_HOME nor HOME is set");
    snprintf(folder, sizeof folder, "%s%s", is_set ? cache : home, is_set ? "" : "/.cache");
    snprintf(path, PATH, "%s/tipple", folder);
    if (make && (mkdir(folder, 0700) == 0 || errno == EEXIST))
        mkdir(path, 0700);
    snprintf(path, PATH, "%s/tipple/tunes.json", folder);
    return true;
}

static bool name_target(const char *uri, char target[TARGET], err_t *err) {
    address_t address;
    if (!address_parse(&address, uri, err))
        return false;
    snprintf(target, TARGET, "%s/%s", address.hosts, address.name);
    address_free(&address);
    return true;
}

/* A line of the file. Lines of versions before ranges were kept have no trials. One without a
 * range is not settled, whatever it says: earlier versions settled tunes of a single setting. */
typedef struct {
    char compressor[16], format[128];
    uint32_t threads, batch;           /* 0: none was found */
    double docs_per_second, low, high; /* low, high NAN: not known */
    double trials;
    bool settled;
    char day[16]; /* "2026-11-30" */
} tuned_t;

/* False: it is damaged, or of another target. */
static bool read_line(const char *text, const char *target, tuned_t *tuned) {
    bson_t line;
    if (!bson_init_from_json(&line, text, -1, NULL))
        return false;
    const double threads = bson_read_number(&line, "threads"), batch = bson_read_number(&line, "batch");
    const double when_ms = bson_read_number(&line, "when");
    struct tm local;
    const bool ok = strcmp(bson_read_text(&line, "target"), target) == 0 && threads >= 1 &&
                    threads <= LOAD_MOST_THREADS && batch >= 1 && batch <= LOAD_MOST_BATCH;
    if (ok) {
        *tuned = (tuned_t){.threads = (uint32_t)threads,
                           .batch = (uint32_t)batch,
                           .docs_per_second = bson_read_number(&line, "docs_per_second"),
                           .low = bson_read_number(&line, "low"),
                           .high = bson_read_number(&line, "high"),
                           .trials = bson_read_number(&line, "trials")};
        tuned->settled = bson_read_true(&line, "settled") && !isnan(tuned->low);
        const time_t when = isnan(when_ms) ? 0 : (time_t)(when_ms / 1e3);
        if (localtime_r(&when, &local))
            strftime(tuned->day, sizeof tuned->day, "%Y-%m-%d", &local);
        snprintf(tuned->compressor, sizeof tuned->compressor, "%s", bson_read_text(&line, "compressor"));
        snprintf(tuned->format, sizeof tuned->format, "%s", bson_read_text(&line, "format"));
    }
    bson_destroy(&line);
    return ok;
}

/* last: with whatever compressor. */
static void find_tune(const char *target, const char *compressor, tuned_t *found, tuned_t *last) {
    char path[PATH], *text = NULL;
    size_t room = 0;
    err_t ignored;
    FILE *file = find_path(path, false, &ignored) ? fopen(path, "re") : NULL;
    *found = *last = (tuned_t){.threads = 0};
    while (file && getline(&text, &room, file) > 0)
        if (read_line(text, target, last) && strcmp(last->compressor, compressor) == 0)
            *found = *last;
    if (file)
        fclose(file);
    free(text);
}

static bool write_line(const char *target, const tuned_found_t *found, err_t *err) {
    const load_spec_t *setting = found->setting;
    const matrix_figure_t *figure = &found->figure;
    char path[PATH];
    if (!find_path(path, true, err))
        return false;
    bson_t *line = BCON_NEW(
        "target", BCON_UTF8(target), "compressor", BCON_UTF8(setting->compressor ? setting->compressor : ""),
        "threads", BCON_INT32((int32_t)setting->threads), "batch", BCON_INT32((int32_t)setting->batch),
        "format", BCON_UTF8(found->format), "docs_per_second", BCON_DOUBLE(figure->rate), "trials",
        BCON_INT32((int32_t)figure->trials), "settled", BCON_BOOL(found->settled), "when",
        BCON_DATE_TIME(clock_wall_ms()));
    if (!isnan(figure->low)) {
        BSON_APPEND_DOUBLE(line, "low", figure->low);
        BSON_APPEND_DOUBLE(line, "high", figure->high);
    }
    char *text = ejson_print(line, true, NULL);
    FILE *file = text ? fopen(path, "ae") : NULL;
    bool ok = file && fprintf(file, "%s\n", text) > 0;
    ok = file && fclose(file) == 0 && ok;
    free(text);
    bson_destroy(line);
    return ok || err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
}

bool tuned_keep(const char *uri, const tuned_found_t *found, err_t *err) {
    const char *compressor = found->setting->compressor;
    char target[TARGET];
    tuned_t kept, last;
    if (!name_target(uri, target, err))
        return false;
    if (found->figure.trials < 2)
        return err_set(err, STATUS_MISSED, "it was tried once only; a higher --budget tries it again");
    find_tune(target, compressor ? compressor : "", &kept, &last);
    if (kept.settled && !found->settled)
        return err_set(
            err, STATUS_MISSED,
            "this tune is not settled, and that of %s was: %u x %u stays; a higher --budget settles more",
            kept.day, kept.threads, kept.batch);
    return write_line(target, found, err);
}

/* ---- auto ---- */

static void say(const char *which, const load_spec_t *spec, const tuned_t *tuned, const tuned_t *last) {
    char rate[UNITS_MAX], low[UNITS_MAX], high[UNITS_MAX], range[3 * UNITS_MAX] = "";
    const char *format = spec->format ? spec->format : GUESS_FORMAT,
               *batch = spec->batch == OPTION_AUTO ? ", batches of 1000" : "";
    if (tuned->low > 0)
        snprintf(range, sizeof range, ", %s to %s in %.0f trials", units_rate(low, tuned->low),
                 units_rate(high, tuned->high), tuned->trials);
    if (tuned->threads)
        log_note("%s: %u thread%s, batches of %u, by the tune of %s (format %s, %s docs/s%s)%s%s", which,
                 tuned->threads, units_s(tuned->threads), tuned->batch, tuned->day, tuned->format,
                 units_rate(rate, tuned->docs_per_second), range,
                 strcmp(tuned->format, format) == 0 ? "" : "; this is another format",
                 tuned->settled ? "" : "; it was not settled");
    else if (last->threads)
        log_note("%s: this target was tuned with another compressor (%s), so defaults are taken%s; tune with "
                 "this one",
                 which, last->compressor[0] ? last->compressor : "the server's own", batch);
    else
        log_note("%s: this host knows of no tune of this target, so defaults are taken%s; see `tipple tune`",
                 which, batch);
}

bool tuned_choose(load_spec_t *spec, err_t *err) {
    const bool threads = spec->threads == OPTION_AUTO, batch = spec->batch == OPTION_AUTO;
    char target[TARGET];
    tuned_t tuned, last;
    if (!threads && !batch)
        return true;
    if (!name_target(spec->uri, target, err))
        return false;
    find_tune(target, spec->compressor ? spec->compressor : "", &tuned, &last);
    say(!batch    ? "--threads auto"
        : threads ? "--threads auto --batch auto"
                  : "--batch auto",
        spec, &tuned, &last);
    if (threads)
        spec->threads = tuned.threads;
    if (batch)
        spec->batch = tuned.batch ? tuned.batch : LOAD_BATCH;
    return true;
}
