#include "cli/each_collection.h"
#include "base/log.h"
#include "base/text.h"
#include "cli/options/cli.h"
#include "input/manifest.h"
#include "server/server.h"

#include <stdlib.h>
#include <string.h>

static const int64_t PATIENCE_NS = 5000000000;

/* Into the URI's database, where it names one. */
static bool move_to(each_collection_t *each, const char *database, const char *argument, err_t *err) {
    const dump_list_t *list = &each->list;
    const size_t length = strcspn(list->items[0].name, ".") + 1;
    for (size_t i = 1; i < list->count; i++)
        if (strncmp(list->items[i].name, list->items[0].name, length) != 0)
            return err_set(
                err, STATUS_USAGE,
                "%.1000s: holds collections of several databases (%.250s, %.250s), and the URI names one "
                "database, %.80s: leave it out, and each collection gets its own name; or name a collection, "
                "too",
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
            return err_set(
                err, STATUS_USAGE,
                "%.1000s: holds two collections of the name %.250s (%.500s and %.500s), of several "
                "dumps: give one dump at a time",
                argument, list->items[i].name, list->items[first].with, list->items[i].with);
    }
    return true;
}

static bool check_others(const manifest_t *others, const char *argument, err_t *err) {
    return !others->count ||
           err_set(err, STATUS_USAGE,
                   "%.1000s: holds a dump of mongodump, and files beside it, such as %.500s: the URI has to "
                   "name the collection for these; give the dump alone",
                   argument, others->files[0].name);
}

bool each_collection_find(each_collection_t *each, const char *uri, char **inputs, int count, err_t *err) {
    char *database = count == 1 && strcmp(inputs[0], "-") != 0 ? address_of_database(uri) : NULL;
    if (!database)
        return true;
    const manifest_options_t options = {.collections = &each->list};
    manifest_t others;
    bool ok = manifest_build(&others, inputs, 1, &options, err);
    if (ok && each->list.count)
        ok = check_others(&others, inputs[0], err) && check_twice(&each->list, inputs[0], err) &&
             (!*database || move_to(each, database, inputs[0], err));
    manifest_free(&others);
    free(database);
    return ok;
}

void each_collection_free(each_collection_t *each) {
    dump_list_free(&each->list);
}

static int run_one(const each_collection_t *each, size_t at, const char *uri, bool json, each_body_t *body,
                   void *context, err_t *err) {
    if (!json)
        out_print("collection %zu of %zu: %s\n", at + 1, each->list.count, each->list.items[at].name);
    if (!cli_flush(err))
        return (int)err->status;
    char *target = address_with_collection(uri, each->list.items[at].name, err);
    if (!target)
        return (int)err->status;
    *err = (err_t){.text = ""};
    const int status = body(context, target, &each->list.items[at].with, 1, err);
    explicit_bzero(target, strlen(target));
    free(target);
    return status;
}

static bool is_fine(int status) {
    return status == STATUS_OK || status == STATUS_SOME_REJECTED;
}

static bool server_answers(const char *uri, const char *collection) {
    err_t ignored;
    char *target = address_with_collection(uri, collection, &ignored);
    const server_options_t options = {.uri = target, .patience_ns = PATIENCE_NS, .connections = 1};
    server_t *server = target ? server_connect(&options, &ignored) : NULL;
    const bool answers = server != NULL;
    server_destroy(server);
    if (target)
        explicit_bzero(target, strlen(target));
    free(target);
    return answers;
}

/* Something that the next collection would meet, too. What a server says no to may be about one of them. */
static bool ends_all(int status, const char *uri, const char *collection) {
    return status == STATUS_HOST || status >= 128 ||
           (status == STATUS_SERVER && !server_answers(uri, collection));
}

static void end_all(const each_collection_t *each, size_t at, err_t *err) {
    const size_t left = each->list.count - at - 1;
    err_where(err, "%s", each->list.items[at].name);
    if (left)
        err_add(err, "; %zu more collection%s not looked at", left, left == 1 ? " was" : "s were");
    if (left && each->drops)
        err_add(err, ", nor dropped: load %s with --drop by its own file and name, %.500s into %.250s",
                left == 1 ? "it" : "each of them", each->list.items[at + 1].with,
                each->list.items[at + 1].name);
}

int each_collection_run(const each_collection_t *each, const char *uri, char **inputs, int count, bool json,
                        each_body_t *body, void *context, err_t *err) {
    if (!each->list.count)
        return body(context, uri, inputs, count, err);
    int worst = STATUS_OK;
    size_t fine = 0;
    text_t failed = {.length = 0};
    for (size_t at = 0; at < each->list.count; at++) {
        const char *name = each->list.items[at].name;
        const int status = run_one(each, at, uri, json, body, context, err);
        fine += is_fine(status);
        if (ends_all(status, uri, name)) {
            end_all(each, at, err);
            text_free(&failed);
            return status;
        }
        if (!is_fine(status)) {
            log_error("%s: %s", name, err->text);
            text_print(&failed, "%s%s", failed.length ? ", " : "", name);
        }
        if (is_fine(worst) && status != STATUS_OK)
            worst = status;
    }
    char *names = text_take(&failed, err);
    if (!is_fine(worst) && names)
        err_set(
            err, (status_t)worst,
            "%zu of %zu collections are not done (%.2000s): correct what is said of them above, and run the "
            "command again",
            each->list.count - fine, each->list.count, names);
    free(names);
    return worst;
}
