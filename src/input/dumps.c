/* Folders that mongodump has written. A file of BSON in any folder may be a collection of a dump whose metadata is gone. */
#include "base/chars.h"
#include "base/text.h"
#include "format/values/hex.h"
#include "input/build.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST_METADATA = 16 << 20 };

static const char *const data_ends[] = {".bson", ".bson.gz"}, *const metadata_ends[] = {".metadata.json",
                                                                                        ".metadata.json.gz"};
static const char missing[] = "of a collection whose documents (.bson) are missing here";

/* ---- names ---- */

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The length of a name without one of two endings; 0: it has neither. */
static size_t stem(const char *name, const char *const ends[2]) {
    const size_t length = strlen(name);
    for (size_t i = 0; i < 2; i++) {
        const size_t end = strlen(ends[i]);
        if (length > end && strcmp(name + length - end, ends[i]) == 0)
            return length - end;
    }
    return 0;
}

bool dump_folder_is(char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (stem(names[i], metadata_ends))
            return true;
    return false;
}

const char *dump_folder_packed(char *const *sorted, size_t count) {
    for (size_t i = 0; i < count; i++) {
        const size_t length = stem(sorted[i], metadata_ends);
        /* its documents come shortly before it: .bson sorts before .metadata.json */
        for (size_t at = i; length && at-- > 0 && strncmp(sorted[at], sorted[i], length + 1) == 0;)
            if (stem(sorted[at], data_ends) == length)
                return sorted[at];
    }
    return NULL;
}

const char *dump_folder_beside(const char *name) {
    static const char *const names[][2] = {
        {"oplog.bson", "the oplog of a dump, which mongorestore can replay"},
        {"prelude.json", "what mongodump says of itself"},
    };
    for (size_t i = 0; i < 2; i++) {
        const char *end = base_of(name);
        const size_t length = strlen(names[i][0]);
        if (strncmp(end, names[i][0], length) == 0 && (!end[length] || strcmp(end + length, ".gz") == 0))
            return names[i][1];
    }
    return NULL;
}

const char *dump_folder_own(const char *name) {
    char collection[256];
    const char *base = base_of(name);
    const size_t length = stem(base, data_ends);
    snprintf(collection, sizeof collection, "%.*s", (int)length, base);
    return length && length < sizeof collection && own_names_has(collection) ? dump_of_tipple : NULL;
}

/* mongodump writes characters that a file's name should not have as %2F; older ones write the name nowhere else. */
static void decode_name(char *name) {
    char decoded[256];
    size_t length = 0;
    for (const char *at = name; *at && length + 1 < sizeof decoded; at++) {
        uint8_t byte = (uint8_t)*at;
        if (byte == '%') {
            if (!at[1] || !at[2] || !hex_read_byte((const uint8_t *)at + 1, 2, &byte) || !byte)
                return;
            at += 2;
        }
        decoded[length++] = (char)byte;
    }
    decoded[length] = '\0';
    if (utf8_valid((const uint8_t *)decoded, length))
        memcpy(name, decoded, length + 1);
}

/* "db.collection" of a file, of whose name `length` bytes are no ending: the folder has the database's name. The caller
 * frees it. */
static char *namespace_of(const char *path, size_t length, dump_metadata_t *metadata, err_t *err) {
    const char *base = base_of(path);
    char *folder = strndup(path, (size_t)(base - path)), *whole = folder ? realpath(folder, NULL) : NULL,
         *namespace = NULL;
    if (!metadata->name[0]) {
        snprintf(metadata->name, sizeof metadata->name, "%.*s", (int)length, base);
        decode_name(metadata->name);
    }
    if (!whole || asprintf(&namespace, "%s.%s", base_of(whole), metadata->name) < 0) {
        err_memory(err, sizeof metadata->name);
        namespace = NULL;
    }
    free(folder);
    free(whole);
    return namespace;
}

/* ---- metadata ---- */

/* All of a file, packed or not, as text. Of what is damaged the part that could be read: is that JSON? */
static bool read_file(const char *path, char **text, err_t *err) {
    const input_file_t file = {.path = (char *)(uintptr_t)path, .name = file.path, .kind = INPUT_STREAM};
    ssize_t got = -1;
    source_t *source = source_open(&file, err);
    *text = source ? malloc(MOST_METADATA + 1) : NULL;
    if (*text)
        got = source_read(source, *text, MOST_METADATA, err);
    else if (source)
        err_memory(err, MOST_METADATA);
    source_close(source);
    if (got < 0) {
        free(*text);
        *text = NULL;
        return false;
    }
    (*text)[got] = '\0';
    char *shorter = realloc(*text, (size_t)got + 1);
    *text = shorter ? shorter : *text;
    return true;
}

/* The file next to it with another ending, packed or not; the caller frees its path. NULL: there is none. */
static bool find_other(const char *path, size_t length, const char *const ends[2], char **other, err_t *err) {
    for (size_t i = 0; i < 2; i++) {
        if (asprintf(other, "%.*s%s", (int)length, path, ends[i]) < 0)
            return err_memory(err, length);
        if (access(*other, F_OK) == 0 || (errno != ENOENT && errno != ENAMETOOLONG))
            return true;
        free(*other);
    }
    *other = NULL;
    return true;
}

bool dump_folder_metadata(const char *path, char **text, err_t *err) {
    const size_t length = stem(path, data_ends);
    char *other = NULL;
    *text = NULL;
    const bool ok = (!length || find_other(path, length, metadata_ends, &other, err)) &&
                    (!other || read_file(other, text, err));
    free(other);
    return ok;
}

/* ---- files ---- */

/* Other files of JSON may have the name of metadata, too. */
static bool take_metadata(build_t *build, const char *path, bool *other) {
    dump_metadata_t metadata;
    char *text = NULL, *data = NULL;
    bool ok = read_file(path, &text, build->err) && dump_metadata_read(text, NULL, &metadata, build->err) &&
              find_other(path, stem(path, metadata_ends), data_ends, &data, build->err);
    const bool has_data = data;
    free(text);
    free(data);
    const char *why = ok ? metadata.why_empty : NULL;
    if (!ok || (!why && has_data))
        return ok;
    if (!why && !metadata.has_indexes) {
        *other = true;
        return true;
    }
    build->dump.without += why != NULL;
    why = why ? why : missing;
    build_skip(build, path, why);
    char *namespace =
        build->target ? namespace_of(path, stem(base_of(path), metadata_ends), &metadata, build->err) : NULL;
    if (namespace && strcmp(namespace, build->target) == 0)
        build->dump.why_target_empty = why;
    ok = namespace || !build->target;
    free(namespace);
    return ok;
}

static bool take_data(build_t *build, const char *path) {
    dump_metadata_t metadata;
    char *text;
    if (!dump_folder_metadata(path, &text, build->err))
        return false;
    const bool ok = dump_metadata_read(text, NULL, &metadata, build->err);
    free(text);
    char *namespace = ok ? namespace_of(path, stem(base_of(path), data_ends), &metadata, build->err) : NULL;
    if (!namespace)
        return false;
    char *own_path = strdup(path);
    if (own_path)
        return dump_list_add(&build->dump, namespace, own_path, metadata.capped, build->err);
    free(namespace);
    return err_memory(build->err, strlen(path));
}

bool dump_folder_take(build_t *build, bool is_dump, const char *path, bool *other) {
    const char *name = base_of(path);
    struct stat status;
    const size_t data = stem(name, data_ends);
    *other = false;
    if (is_dump && stem(name, metadata_ends))
        return take_metadata(build, path, other);
    if (is_dump && data > 7 && strncmp(name, "system.", 7) == 0) {
        build_skip(build, path, dump_of_server);
        return true;
    }
    if (is_dump && !data) {
        *other = strcmp(name, "prelude.json") != 0 && strcmp(name, "prelude.json.gz") != 0;
        return true;
    }
    *other = !is_dump &&
             (!data || dump_folder_beside(name) || (stat(path, &status) == 0 && S_ISDIR(status.st_mode)));
    build->dump.unsure |= !is_dump && !*other;
    return *other || take_data(build, path);
}

/* ---- which collections are taken ---- */

static bool refuse_unsure(const dump_list_t *dump, const char *argument, err_t *err) {
    const char *first = dump->items[0].with, *second = dump->items[1].with;
    return err_set(
        err, STATUS_USAGE,
        "%.1000s: holds %zu files of BSON (such as %.500s and %.500s) without the metadata of "
        "mongodump: each may be a collection of its own, and one is loaded at a time. Give its file; or, "
        "if they are parts of one collection, name each of them, or all by a pattern such as '%.*s*.bson'",
        argument, dump->count, first, second, (int)(base_of(first) - first), first);
}

static bool refuse_choice(const dump_list_t *dump, const char *argument, const char *target, err_t *err) {
    if (dump->why_target_empty == missing)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: of this dump the documents (.bson) of %.300s are missing: get the whole dump", argument,
            target);
    if (dump->why_target_empty)
        return err_set(err, STATUS_INPUT, "%.1000s: of this dump %.300s is %s", argument, target,
                       dump->why_target_empty);
    char *names = dump_list_names(dump, err);
    if (names)
        err_set(
            err, STATUS_USAGE,
            "%.1000s: is a dump of %zu collections (%s), and one is taken at a time: give its file, "
            "such as %.1000s, or name it in the path of the URI. `tipple load` loads all of them, each into "
            "its own collection, where the URI names none",
            argument, dump->count, names, dump->items[0].with);
    free(names);
    return false;
}

bool dump_folder_choose(build_t *build, const char *argument, const char **chosen) {
    const dump_list_t *dump = &build->dump;
    size_t at = build->target ? dump_list_find(dump, build->target) : dump->count;
    if (dump->unsure && dump->count > 1)
        return refuse_unsure(dump, argument, build->err);
    if (at == dump->count && !dump->why_target_empty && dump->count == 1)
        at = 0;
    *chosen = at < dump->count ? dump->items[at].with : NULL;
    return *chosen || refuse_choice(dump, argument, build->target, build->err);
}

bool dump_folder_list(build_t *build, const char *argument) {
    dump_list_t *dump = &build->dump;
    bool ok = !(dump->unsure && dump->count > 1) || refuse_unsure(dump, argument, build->err);
    build->collections->without += dump->without;
    for (size_t i = 0; ok && i < dump->count; i++) {
        ok = dump_list_add(build->collections, dump->items[i].name, dump->items[i].with,
                           dump->items[i].capped, build->err);
        dump->items[i].name = dump->items[i].with = NULL;
    }
    return ok;
}
