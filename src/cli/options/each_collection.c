#include "base/log.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "input/manifest.h"
#include "load/spec/progress.h"
#include "server/server.h"

#include <stdlib.h>
#include <string.h>

/* Into the URI's database, where it names one. */
static bool move_to(const dump_list_t *list, const char *database, const char *argument, err_t *err) {
    const size_t length = strcspn(list->items[0].name, ".") + 1;
    for (size_t i = 1; i < list->count; i++)
        if (strncmp(list->items[i].name, list->items[0].name, length) != 0)
            return err_set(err, STATUS_USAGE,
                           "%.1000s: holds collections of several databases (%.250s, %.250s), and the URI "
                           "names one, %.80s: leave it out to keep each name, or name a collection, too",
                           argument, list->items[0].name, list->items[i].name, database);
    for (size_t i = 0; i < list->count; i++) {
        text_t name = {.length = 0};
        text_print(&name, "%s.%s", database, list->items[i].name + length);
        free(list->items[i].name);
        if (!(list->items[i].name = text_take(&name, err)))
            return false;
    }
    return true;
}

static bool check_twice(const dump_list_t *list, const char *argument, err_t *err) {
    for (size_t i = 0; i < list->count; i++) {
        const size_t first = dump_list_find(list, list->items[i].name);
        if (first < i)
            return err_set(err, STATUS_USAGE,
                           "%.1000s: holds two collections of the name %.250s (%.500s and %.500s): give one "
                           "dump at a time",
                           argument, list->items[i].name, list->items[first].with, list->items[i].with);
    }
    return true;
}

static bool check_others(const manifest_t *others, const char *argument, err_t *err) {
    return !others->count || err_set(err, STATUS_USAGE,
                                     "%.1000s: holds a dump of mongodump, and other files, such as %.500s: "
                                     "the URI has to name the collection for these; give the dump alone",
                                     argument, others->files[0].name);
}

static const char *uri_of(const run_t *run) {
    return ((const load_options_t *)run->values)->spec.uri;
}

/* Finds the collections. True also if there is one target, of which the list is empty. */
static bool find_all(dump_list_t *list, const run_t *run, err_t *err) {
    char **inputs = run->words;
    char *database = run->count == 1 && strcmp(inputs[0], "-") != 0 ? address_of_database(uri_of(run)) : NULL;
    if (!database)
        return true;
    const manifest_options_t options = {.collections = list};
    manifest_t others;
    bool ok = manifest_build(&others, inputs, 1, &options, err);
    if (ok && list->count)
        ok = check_others(&others, inputs[0], err) && check_twice(list, inputs[0], err) &&
             (!*database || move_to(list, database, inputs[0], err));
    manifest_free(&others);
    free(database);
    return ok;
}

static int run_one(const dump_list_t *list, size_t at, const run_t *run, each_body_t *body, err_t *err) {
    if (!run->json)
        out_print("collection %zu of %zu: %s\n", at + 1, list->count, list->items[at].name);
    if (!cli_flush(err))
        return (int)err->status;
    char *target = address_with_collection(uri_of(run), list->items[at].name, err);
    if (!target)
        return (int)err->status;
    *err = (err_t){.text = ""};
    metrics_of(list->items[at].name);
    const int status = body(run, target, &list->items[at].with, 1, err);
    explicit_bzero(target, strlen(target));
    free(target);
    return status;
}

static int run_all(const dump_list_t *list, const run_t *run, bool loads, each_body_t *body, err_t *err) {
    int worst = STATUS_OK, before = STATUS_OK;
    size_t fine = 0, at = 0;
    for (bool ends = false; !ends && at < list->count; at++) {
        int status = run_one(list, at, run, body, err);
        if (loads && list->items[at].capped && status == STATUS_USAGE) { /* it is not made here */
            log_warn("%s was not loaded: %s", list->items[at].name, err->text);
            status = STATUS_SOME_REJECTED;
        }
        fine += !result_is_trouble(status);
        if (result_is_trouble(status))
            log_error("%s: %s", list->items[at].name, err->text);
        if (!result_is_trouble(worst) && status != STATUS_OK)
            worst = status;
        ends = status == STATUS_HOST || status >= 128 || (status == STATUS_SERVER && before == STATUS_SERVER);
        worst = ends ? status : worst;
        before = status;
    }
    if (result_is_trouble(worst))
        err_set(err, (status_t)worst,
                "%zu of %zu collections are not done: correct what is said above, and run the command again",
                list->count - fine, list->count);
    if (loads && list->without)
        log_warn("the views and time series named above were not loaded: mongorestore restores them");
    return loads && list->without && worst == STATUS_OK ? STATUS_SOME_REJECTED : worst;
}

int each_collection(const run_t *run, bool loads, each_may_t *may, each_body_t *body, err_t *err) {
    dump_list_t list = {.count = 0};
    bool ok = find_all(&list, run, err);
    if (ok && list.count && run->report)
        ok = err_set(err, STATUS_USAGE,
                     "--report is of one collection: leave the option out, or name one in the URI");
    ok = ok && (!may || may(run, list.count, err));
    const int status = !ok          ? (int)err->status
                       : list.count ? run_all(&list, run, loads, body, err)
                                    : body(run, uri_of(run), run->words, run->count, err);
    dump_list_free(&list);
    return status;
}
