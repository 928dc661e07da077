#include "format/format.h"
#include "base/nearest.h"
#include "builtin/builtin.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LARGEST_FILE = 4 << 20 };

static bool is_path(const char *name) {
    size_t length = strlen(name);
    return strchr(name, '/') || (length > 5 && strcmp(name + length - 5, ".yaml") == 0) ||
           (length > 4 && strcmp(name + length - 4, ".yml") == 0);
}

static schema_t *open_file(const char *path, err_t *err) {
    FILE *file = fopen(path, "rb");
    if (!file) {
        err_set(err, STATUS_USAGE, "the format file %s cannot be opened: %s", path, strerror(errno));
        return NULL;
    }
    char *text = malloc(LARGEST_FILE + 1);
    size_t length = text ? fread(text, 1, LARGEST_FILE + 1, file) : 0;
    int problem = ferror(file) ? errno : 0;
    fclose(file);
    schema_t *schema = NULL;
    if (!text)
        err_memory(err, LARGEST_FILE);
    else if (problem)
        err_set(err, STATUS_USAGE, "the format file %s cannot be read: %s", path, strerror(problem));
    else if (length > LARGEST_FILE)
        err_set(err, STATUS_USAGE, "the format file %s is larger than 4 MiB", path);
    else
        schema = schema_parse(text, length, path, err);
    free(text);
    return schema;
}

schema_t *format_open(const char *name, err_t *err) {
    if (is_path(name))
        return open_file(name, err);
    const char *names[64];
    size_t count = 0;
    for (const builtin_t *builtin = builtin_formats; builtin->name; builtin++) {
        if (strcmp(builtin->name, name) == 0)
            return schema_parse(builtin->text, builtin->length, builtin->name, err);
        if (count < 64)
            names[count++] = builtin->name;
    }
    const char *near = nearest_word(name, names, count);
    if (near)
        err_set(err, STATUS_USAGE,
                "there is no format '%s'; did you mean '%s'? A format file of your own is given by its path, "
                "such as ./%s.yaml",
                name, near, name);
    else
        err_set(err, STATUS_USAGE,
                "there is no format '%s'; `tipple formats` lists them. A format file of your own is given by "
                "its path, such as ./%s.yaml",
                name, name);
    return NULL;
}
