#include "library/options.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *keep(texts_list_t *copies, const char *text, err_t *err) {
    char *copy = strdup(text);
    if (!copy || !GROW(copies->items, copies->room, copies->count + 1, err)) {
        free(copy);
        err_memory(err, strlen(text));
        return NULL;
    }
    return copies->items[copies->count++] = copy;
}

bool library_options_init(library_options_t *options, const char *uri, err_t *err) {
    options->copies = (texts_list_t){.items = NULL};
    load_options_init(&options->load);
    return (options->load.spec.uri = keep(&options->copies, uri, err));
}

void library_options_free(library_options_t *options) {
    options_free(load_options, &options->load);
    for (size_t i = 0; i < options->copies.count; i++)
        free(options->copies.items[i]);
    free(options->copies.items);
}

static const option_t *find(const char *name, err_t *err) {
    enum { MOST = 80 };
    const char *names[MOST];
    size_t count = 0;
    for (const option_t *row = load_options; row->name; row++) {
        if (!(row->takers & TAKEN_BY_LIBRARY) || count == MOST)
            continue;
        if (strcmp(row->name, name) == 0)
            return row;
        names[count++] = row->name;
    }
    err_set(err, STATUS_USAGE, "there is no option '%.200s'%s", name, suggestion(name, names, count).text);
    return NULL;
}

bool library_options_set(library_options_t *options, const char *name, const char *value, err_t *err) {
    const option_t *row = find(name, err);
    const char *copy = row ? keep(&options->copies, value, err) : NULL;
    return copy && option_set(row, copy, &options->load, err);
}

bool library_options_set_format(library_options_t *options, const char *name, const char *text, err_t *err) {
    const char *copy = keep(&options->copies, text ? text : name, err);
    if (!copy)
        return false;
    options->load.spec.format = text ? NULL : copy;
    options->load.spec.guessed = text ? copy : NULL;
    return true;
}
