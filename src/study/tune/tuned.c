#include "study/tune/tuned.h"
#include "base/document.h"
#include "base/log.h"
#include "base/numbers.h"
#include "load/spec/limits.h"
#include "server/bson_read.h"
#include "server/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <xxhash.h>

/* Finds the folder; makes missing parts of it. */
static bool find_folder(char folder[3072], bool make, err_t *err) {
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    if (cache && *cache == '/')
        snprintf(folder, 3072, "%s/tipple", cache);
    else if (home && *home == '/')
        snprintf(folder, 3072, "%s/.cache/tipple", home);
    else
        return err_set(err, STATUS_HOST,
                       "there is no folder to keep it in: neither XDG_CACHE_HOME nor HOME is set");
    for (char *slash = folder + 1; make && (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(folder, 0700);
        *slash = '/';
    }
    return !make || mkdir(folder, 0700) == 0 || errno == EEXIST ||
           err_set(err, STATUS_HOST, "the folder %s cannot be made: %s", folder, strerror(errno));
}

/* FOLDER/tune-mot.results-1f2e3d4c5b6a7988.json; the name is reduced to characters that every file system allows. */
static bool find_path(const char *uri, char path[4096], bool make, err_t *err) {
    char folder[3072], name[64];
    address_t address;
    if (!address_parse(&address, uri, err))
        return false;
    snprintf(name, sizeof name, "%s", address.name);
    for (char *at = name; *at; at++)
        if (!strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *at))
            *at = '_';
    const uint64_t digest = XXH3_64bits_withSeed(address.hosts, strlen(address.hosts),
                                                 XXH3_64bits(address.name, strlen(address.name)));
    address_free(&address);
    if (!find_folder(folder, make, err))
        return false;
    snprintf(path, 4096, "%s/tune-%s-%016llx.json", folder, name, (unsigned long long)digest);
    return true;
}

bool tuned_write(const char *uri, const tuned_t *tuned, char path[4096], err_t *err) {
    char beside[4104];
    if (!find_path(uri, path, true, err))
        return false;
    bson_t *document = BCON_NEW("schema", BCON_INT32(1), "namespace", BCON_UTF8(tuned->namespace), "format",
                                BCON_UTF8(tuned->format), "threads", BCON_INT32((int32_t)tuned->threads),
                                "batch", BCON_INT32((int32_t)tuned->batch), "docs_per_second",
                                BCON_DOUBLE(tuned->docs_per_second), "when", BCON_DATE_TIME(tuned->when_ms));
    char *text = ejson_print(document, true, NULL);
    snprintf(beside, sizeof beside, "%s.new", path);
    FILE *file = text ? fopen(beside, "we") : NULL;
    bool ok = file && fprintf(file, "%s\n", text) > 0;
    ok = file && fclose(file) == 0 && ok;
    ok = ok && rename(beside, path) == 0; /* a reader sees either the whole new file or the old one */
    if (!ok) {
        err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
        unlink(beside);
    }
    free(text);
    bson_destroy(document);
    return ok;
}

/* 0: it is not one from 1 to `most`. */
static uint32_t number_of(const bson_t *document, const char *key, uint32_t most) {
    const double number = bson_read_number(document, key);
    return number >= 1 && number <= most ? (uint32_t)number : 0;
}

bool tuned_read(const char *uri, tuned_t *tuned, err_t *err) {
    char path[4096], text[8192];
    bson_t document;
    bson_error_t error;
    *tuned = (tuned_t){.threads = 0};
    *err = (err_t){.status = STATUS_OK};
    if (!find_path(uri, path, false, err))
        return false;
    FILE *file = fopen(path, "re");
    if (!file)
        return errno != ENOENT && errno != ENOTDIR &&
               err_set(err, STATUS_HOST, "%s cannot be read: %s", path, strerror(errno));
    const size_t length = fread(text, 1, sizeof text - 1, file);
    const int problem = ferror(file) ? errno : 0;
    fclose(file);
    if (problem)
        return err_set(err, STATUS_HOST, "%s cannot be read: %s", path, strerror(problem));
    text[length] = '\0';
    if (!bson_init_from_json(&document, text, (ssize_t)length, &error))
        return err_set(err, STATUS_HOST, "%s is damaged (%s): remove it, and tune again", path,
                       error.message);
    *tuned = (tuned_t){.threads = number_of(&document, "threads", LIMITS_MOST_THREADS),
                       .batch = number_of(&document, "batch", LIMITS_MOST_BATCH),
                       .docs_per_second = bson_read_number(&document, "docs_per_second"),
                       .when_ms = (int64_t)bson_read_number(&document, "when")};
    snprintf(tuned->namespace, sizeof tuned->namespace, "%s", bson_read_text(&document, "namespace"));
    snprintf(tuned->format, sizeof tuned->format, "%s", bson_read_text(&document, "format"));
    const bool ok = tuned->threads && tuned->batch;
    bson_destroy(&document);
    return ok ||
           err_set(err, STATUS_HOST, "%s does not hold what a tune writes: remove it, and tune again", path);
}

/* ---- auto ---- */

static void say_known(const char *which, const load_spec_t *spec, const tuned_t *tuned) {
    char rate[UNITS_MAX], day[16] = "";
    const time_t when = (time_t)(tuned->when_ms / 1000);
    struct tm local;
    if (localtime_r(&when, &local))
        strftime(day, sizeof day, "%Y-%m-%d", &local);
    log_note(
        "%s: %u thread%s, batches of %u, by the tune of %s (format %s, %s docs/s)%s", which, tuned->threads,
        units_s(tuned->threads), tuned->batch, day, tuned->format, units_rate(rate, tuned->docs_per_second),
        strcmp(tuned->format, spec->format ? spec->format : GUESS_FORMAT) == 0 ? ""
                                                                               : "; this is another format");
}

bool tuned_choose(load_spec_t *spec, err_t *err) {
    const bool threads = spec->threads == OPTION_AUTO, batch = spec->batch == OPTION_AUTO;
    const char *which = threads && batch ? "--threads auto --batch auto"
                        : threads        ? "--threads auto"
                                         : "--batch auto";
    tuned_t tuned;
    if (!threads && !batch)
        return true;
    const bool found = tuned_read(spec->uri, &tuned, err);
    if (!found && err->status == STATUS_USAGE)
        return false;
    if (!found && err->status != STATUS_OK)
        log_warn("%s", err->text);
    if (found)
        say_known(which, spec, &tuned);
    else
        log_note("%s: this host knows of no tune of this target, so defaults are taken%s; see `tipple tune`",
                 which, batch ? ", batches of 1000" : "");
    if (threads)
        spec->threads = found ? tuned.threads : 0;
    if (batch)
        spec->batch = found ? tuned.batch : LOAD_BATCH;
    *err = (err_t){.status = STATUS_OK};
    return true;
}
