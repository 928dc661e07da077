#include "input/archive/dump_list.h"
#include "base/text.h"
#include "format/json/json_document.h"

#include <stdlib.h>
#include <string.h>

const char *const dump_list_of_server = "a collection of the server itself";
const char *const dump_list_of_tipple =
    "what tipple itself keeps beside data; a load makes a catalog of its own";

void dump_list_free(dump_list_t *list) {
    for (size_t i = 0; i < list->count; i++) {
        free(list->items[i].name);
        free(list->items[i].with);
    }
    free(list->items);
    *list = (dump_list_t){0};
}

bool dump_list_add(dump_list_t *list, char *name, char *with, err_t *err) {
    if (!name || !GROW(list->items, list->room, list->count + 1, NULL)) {
        free(name);
        free(with);
        return err_memory(err, sizeof *list->items);
    }
    list->items[list->count].name = name;
    list->items[list->count++].with = with;
    return true;
}

size_t dump_list_find(const dump_list_t *list, const char *name) {
    size_t at = 0;
    while (at < list->count && strcmp(list->items[at].name, name) != 0)
        at++;
    return at;
}

void dump_list_remove(dump_list_t *list, const char *name) {
    const size_t at = dump_list_find(list, name);
    if (at == list->count)
        return;
    free(list->items[at].name);
    free(list->items[at].with);
    list->items[at] = list->items[--list->count];
}

static bool is_of_server(const char *name) {
    const char *collection = strchr(name, '.');
    return name[0] == '.' || strncmp(name, "admin.", 6) == 0 || strncmp(name, "config.", 7) == 0 ||
           (collection && strncmp(collection, ".system.", 8) == 0);
}

const char *dump_list_why_left_out(const char *name, const char *wanted) {
    const char *collection = strchr(name, '.');
    if (is_of_server(name))
        return dump_list_of_server;
    return collection && own_names_has(collection + 1) && !(wanted && strcmp(name, wanted) == 0)
               ? dump_list_of_tipple
               : NULL;
}

char *dump_list_names(const dump_list_t *list, err_t *err) {
    enum { NAMED = 10 };
    text_t names = {.length = 0};
    for (size_t i = 0; i < list->count && i < NAMED; i++)
        text_print(&names, "%s%s", i ? ", " : "", list->items[i].name);
    if (list->count > NAMED)
        text_print(&names, " and %zu more", list->count - NAMED);
    return text_take(&names, err);
}

bool dump_list_is_view(const char *metadata) {
    err_t ignored;
    bson_t *all = json_document(metadata, true, &ignored);
    bson_iter_t iter, view;
    const bool is =
        all && bson_iter_init(&iter, all) && bson_iter_find_descendant(&iter, "options.viewOn", &view);
    bson_destroy(all);
    return is;
}

const char *dump_list_why_empty(const char *type) {
    return strcmp(type, "view") == 0 ? "a view, of which a dump holds no documents"
           : strcmp(type, "timeseries") == 0
               ? "a time series, of which a dump holds the server's own buckets and no documents"
               : NULL;
}
