#include "builtin/builtin.h"
#include "base/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 4 << 20 };

static bool is_path(const char *name) {
    const char *end = strrchr(name, '.');
    return strchr(name, '/') ||
           (end && end > name && (strcmp(end, ".yaml") == 0 || strcmp(end, ".yml") == 0));
}

bool builtin_read(const char *kind, const char *path, opened_t *opened, err_t *err) {
    FILE *file = fopen(path, "rb");
    opened->text = malloc(LARGEST_FILE + 1);
    opened->length = file && opened->text ? fread(opened->text, 1, LARGEST_FILE + 1, file) : 0;
    const int problem = !file || ferror(file) ? errno : 0;
    if (file)
        fclose(file);
    if (!opened->text)
        err_memory(err, LARGEST_FILE);
    else if (problem)
        err_set(err, err_status_of(problem), "the %s file %s cannot be read: %s", kind, path,
                strerror(problem));
    else if (opened->length > LARGEST_FILE)
        err_set(err, STATUS_USAGE, "the %s file %s is larger than 4 MiB", kind, path);
    else
        return true;
    free(opened->text);
    return false;
}

const builtin_t *builtin_find(const builtin_t *table, const char *name) {
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            return table;
    return NULL;
}

bool builtin_open(const builtin_t *table, const char *kind, const char *name, opened_t *opened, err_t *err) {
    const bool format = strcmp(kind, "format") == 0;
    const builtin_t *builtin = builtin_find(table, name);
    const char *names[64];
    size_t count = 0;
    if (is_path(name))
        return builtin_read(kind, name, opened, err);
    if (builtin) {
        opened->length = builtin->length;
        return (opened->text = strndup(builtin->text, builtin->length)) || err_memory(err, builtin->length);
    }
    for (const builtin_t *other = table; other->name && count < COUNT(names); other++)
        names[count++] = other->name;
    return err_set(
        err, STATUS_USAGE,
        "there is no %s '%s': `tipple %s` lists all, and a file of your own is given by its path, such "
        "as ./%s.yaml%s%s",
        kind, name, format ? "formats" : "query --list", name,
        format ? "; leave --format out to have it guessed" : "", suggestion(name, names, count).text);
}
