#include "base/log.h"
#include "cli/options/cli.h"
#include "input/manifest.h"
#include "load/spec/progress.h"
#include "server/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The dump at hand: its collections are all files of the manifest. */
typedef struct {
    manifest_t manifest;
    size_t count;   /* 0: the URI names one target */
    char *database; /* which the URI names, or "" */
} dump_t;

static bool check(const dump_t *dump, const char *argument, err_t *err) {
    const input_file_t *files = dump->manifest.files;
    for (size_t i = 0; i < dump->count; i++) {
        if (!files[i].collection)
            return err_set(
                err, STATUS_USAGE,
                "%.1000s: holds a dump of mongodump, and other files, such as %.500s: the URI has to "
                "name the collection for these; give the dump alone",
                argument, files[i].name);
        if (*dump->database &&
            strncmp(files[i].collection, files[0].collection, strcspn(files[0].collection, ".") + 1) != 0)
            return err_set(err, STATUS_USAGE,
                           "%.1000s: holds collections of several databases (%.250s, %.250s), and the URI "
                           "names one, %.80s: leave it out to keep each name, or name a collection, too",
                           argument, files[0].collection, files[i].collection, dump->database);
        for (size_t first = 0; first < i; first++)
            if (strcmp(files[first].collection, files[i].collection) == 0)
                return err_set(err, STATUS_USAGE,
                               "%.1000s: holds two collections of the name %.250s: give one dump at a time",
                               argument, files[i].collection);
    }
    return true;
}

static const char *uri_of(const run_t *run) {
    return ((const load_options_t *)run->values)->spec.uri;
}

/* Finds the collections. True also if there is one target. */
static bool find_all(dump_t *dump, const run_t *run, err_t *err) {
    dump->database =
        run->count == 1 && strcmp(run->words[0], "-") != 0 ? address_of_database(uri_of(run)) : NULL;
    if (dump->database &&
        !manifest_build(&dump->manifest, run->words, 1, &(manifest_options_t){.lists = true}, err))
        return false;
    for (size_t i = 0; i < dump->manifest.count && !dump->count; i++)
        dump->count = dump->manifest.files[i].collection ? dump->manifest.count : 0;
    return !dump->count || check(dump, run->words[0], err);
}

/* The collection's name, in the database that the URI names. */
static const char *target_of(const dump_t *dump, size_t at, char name[DUMP_NAME]) {
    const char *whole = dump->manifest.files[at].collection;
    snprintf(name, DUMP_NAME, "%s%s", dump->database, whole + (*dump->database ? strcspn(whole, ".") : 0));
    return name;
}

static int run_one(const dump_t *dump, size_t at, const run_t *run, each_body_t *body, err_t *err) {
    const input_file_t *file = &dump->manifest.files[at];
    char argument[4096 + DUMP_NAME], *input = argument, *target = NULL, buffer[DUMP_NAME];
    const char *name = target_of(dump, at, buffer);
    snprintf(argument, sizeof argument, file->kind == INPUT_DUMP ? "%s!%s" : "%s", file->path,
             file->collection);
    if (!run->json)
        out_print("collection %zu of %zu: %s\n", at + 1, dump->count, name);
    if (cli_flush(err))
        target = address_with_collection(uri_of(run), name, err);
    if (!target)
        return (int)err->status;
    *err = (err_t){.text = ""};
    metrics_of(name);
    const int status = body(run, target, &input, 1, err);
    explicit_bzero(target, strlen(target));
    free(target);
    return status;
}

static int run_all(const dump_t *dump, const run_t *run, bool loads, each_body_t *body, err_t *err) {
    int worst = STATUS_OK, before = STATUS_OK;
    size_t fine = 0, at = 0;
    char name[DUMP_NAME];
    for (bool ends = false; !ends && at < dump->count; at++) {
        int status = run_one(dump, at, run, body, err);
        if (loads && dump->manifest.files[at].capped && status == STATUS_USAGE) { /* it is not made here */
            log_warn("%s was not loaded: %s", target_of(dump, at, name), err->text);
            status = STATUS_SOME_REJECTED;
        }
        fine += !result_is_trouble(status);
        if (result_is_trouble(status))
            log_error("%s: %s", target_of(dump, at, name), err->text);
        if (!result_is_trouble(worst) && status != STATUS_OK)
            worst = status;
        ends = status == STATUS_HOST || status >= 128 || (status == STATUS_SERVER && before == STATUS_SERVER);
        worst = ends ? status : worst;
        before = status;
    }
    if (result_is_trouble(worst))
        err_set(err, (status_t)worst,
                "%zu of %zu collections are not done: correct what is said above, and run the command again",
                dump->count - fine, dump->count);
    if (loads && dump->manifest.without)
        log_warn("the views and time series named above were not loaded: mongorestore restores them");
    return loads && dump->manifest.without && worst == STATUS_OK ? STATUS_SOME_REJECTED : worst;
}

int each_collection(const run_t *run, bool loads, each_may_t *may, each_body_t *body, err_t *err) {
    dump_t dump = {.count = 0};
    bool ok = find_all(&dump, run, err);
    if (ok && dump.count && run->report)
        ok = err_set(err, STATUS_USAGE,
                     "--report is of one collection: leave the option out, or name one in the URI");
    if (ok && dump.count > 1 && ((const load_options_t *)run->values)->spec.input_name)
        ok = err_set(err, STATUS_USAGE,
                     "--input-name is of one input, and %.1000s has %zu collections: name one in the URI",
                     run->words[0], dump.count);
    ok = ok && (!may || may(run, dump.count, err));
    const int status = !ok          ? (int)err->status
                       : dump.count ? run_all(&dump, run, loads, body, err)
                                    : body(run, uri_of(run), run->words, run->count, err);
    manifest_free(&dump.manifest);
    free(dump.database);
    return status;
}
