/* What mongodump has written: folders, and archives. Each collection is an input; of those of an argument one is taken, or all
 * are listed. A file of BSON in any folder may be a collection of a dump whose metadata is gone. */
#include "base/chars.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/values/values.h"
#include "input/build.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MOST_METADATA = 16 << 20 };

static const char *const data_ends[] = {".bson", ".bson.gz"}, *const metadata_ends[] = {".metadata.json",
                                                                                        ".metadata.json.gz"};
static const char missing[] = "a collection whose documents (.bson) are missing here: get the whole dump";

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

bool dumps_are_in(struct dirent *const *names, int count) {
    for (int i = 0; i < count; i++)
        if (stem(names[i]->d_name, metadata_ends))
            return true;
    return false;
}

bool dumps_are_packed(const input_file_t *files, size_t count) {
    bool data = false, metadata = false;
    for (size_t i = 0; i < count; i++) {
        data |= stem(files[i].name, data_ends) != 0;
        metadata |= stem(files[i].name, metadata_ends) != 0;
    }
    return data && metadata;
}

/* What mongodump puts next to the folders of databases. */
static const char *why_no_data(const char *name) {
    static const char *const names[] = {"oplog.bson", "oplog.bson.gz", "prelude.json", "prelude.json.gz"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(base_of(name), names[i]) == 0)
            return "what mongodump writes next to collections, for mongorestore";
    return NULL;
}

const char *dumps_own(const build_t *build, const input_file_t *file) {
    (void)build;
    char collection[256];
    const char *base = base_of(file->name);
    const size_t length = stem(base, data_ends);
    snprintf(collection, sizeof collection, "%.*s", (int)length, base);
    return length && length < sizeof collection && own_names_has(collection) ? dump_of_tipple : NULL;
}

/* mongodump writes characters that a file's name should not have as %2F; older versions of it have the name nowhere else. */
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

/* "db.collection" of a file of documents or of metadata: the folder has the database's name. The caller frees it. */
static char *namespace_of(const char *path, dump_metadata_t *metadata, err_t *err) {
    const char *base = base_of(path);
    const size_t data = stem(base, data_ends), length = data ? data : stem(base, metadata_ends);
    char folder[PATH_MAX], *whole, *namespace = NULL;
    if (!metadata->name[0]) {
        snprintf(metadata->name, sizeof metadata->name, "%.*s", (int)length, base);
        decode_name(metadata->name);
    }
    snprintf(folder, sizeof folder, "%.*s.", (int)(base - path), path);
    whole = realpath(folder, NULL);
    if (!whole || asprintf(&namespace, "%s.%s", base_of(whole), metadata->name) < 0) {
        err_memory(err, sizeof metadata->name);
        namespace = NULL;
    }
    free(whole);
    return namespace;
}

/* ---- metadata ---- */

/* All of a file, packed or not, as text. Of what is damaged the part that could be read: is that JSON? */
static bool read_file(const char *path, char **text, err_t *err) {
    const input_file_t file = {.path = (char *)(uintptr_t)path, .name = file.path, .kind = INPUT_STREAM};
    source_t *source = source_open(&file, err);
    char *whole = source ? malloc(MOST_METADATA + 1) : NULL;
    size_t length = 0;
    ssize_t got = whole ? 1 : -1;
    while (got > 0 && length < MOST_METADATA) {
        got = source_read(source, whole + length, MOST_METADATA - length, err);
        length += got > 0 ? (size_t)got : 0;
    }
    if (source && !whole)
        err_memory(err, MOST_METADATA);
    source_close(source);
    *text = got < 0 ? NULL : strndup(whole, length);
    free(whole);
    return *text || (got >= 0 && err_memory(err, length));
}

/* Is there a file next to it with another ending, packed or not? */
static bool find_other(const char *path, size_t length, const char *const ends[2], char other[PATH_MAX]) {
    for (size_t i = 0; i < 2; i++) {
        snprintf(other, PATH_MAX, "%.*s%s", (int)length, path, ends[i]);
        if (access(other, F_OK) == 0 || (errno != ENOENT && errno != ENAMETOOLONG))
            return true;
    }
    return false;
}

bool dumps_metadata(const char *path, char **text, err_t *err) {
    const size_t length = stem(path, data_ends);
    char other[PATH_MAX];
    *text = NULL;
    return !length || !find_other(path, length, metadata_ends, other) || read_file(other, text, err);
}

/* ---- files of a folder ---- */

static const char *wanted(const build_t *build) {
    return build->member ? build->member : build->options->target;
}

void dumps_note_none(build_t *build, const char *name, const char *collection, const char *why) {
    if (!build->member)
        build_skip(build, name, why);
    build->manifest->without += why != missing;
    if (wanted(build) && strcmp(collection, wanted(build)) == 0)
        build->why_none = why;
}

/* *other: it is no metadata, although it has the name of such. */
static bool see_metadata(build_t *build, const char *path, bool *other) {
    dump_metadata_t metadata;
    char *text = NULL, *collection = NULL, data[PATH_MAX];
    bool ok = read_file(path, &text, build->err) && dump_metadata_read(text, NULL, &metadata, build->err);
    free(text);
    if (!ok)
        return false;
    const bool has_data = find_other(path, stem(path, metadata_ends), data_ends, data);
    const char *why = metadata.why_empty                  ? metadata.why_empty
                      : !has_data && metadata.has_indexes ? missing
                                                          : NULL;
    *other = !why && !has_data;
    if (why && (ok = (collection = namespace_of(path, &metadata, build->err)) != NULL))
        dumps_note_none(build, path, collection, why);
    free(collection);
    return ok;
}

bool dumps_take(build_t *build, bool is_dump, const char *path) {
    const manifest_t *manifest = build->manifest;
    const char *name = base_of(path);
    dump_metadata_t metadata;
    const size_t data = stem(name, data_ends), count = manifest->count;
    bool other = true;
    if (is_dump && data > 7 && strncmp(name, "system.", 7) == 0) {
        build_skip(build, path, dump_of_server);
        return true;
    }
    if (is_dump && stem(name, metadata_ends) && !see_metadata(build, path, &other))
        return false;
    if (!other)
        return true;
    if (!walk_path(build, path, true))
        return false;
    input_file_t *file = &manifest->files[count];
    if (!data || (!is_dump && why_no_data(name)) || manifest->count != count + 1 || file->member ||
        file->fault || strcmp(file->path, path) != 0)
        return true;
    build->unsure |= !is_dump;
    if (dump_metadata_read(file->metadata, NULL, &metadata, build->err))
        file->collection = namespace_of(path, &metadata, build->err);
    file->capped = metadata.capped;
    return file->collection;
}

/* ---- which collections are taken ---- */

static bool is_listed(const input_file_t *file, bool in_archive) {
    return file->collection && (file->kind == INPUT_DUMP) == in_archive;
}

/* The server's own are recognised by the name of a folder, which a user may have given: so they are left out only where all
 * collections are listed. */
static const char *why_not(const build_t *build, const input_file_t *file) {
    const manifest_options_t *options = build->options;
    if (!file->collection)
        return why_no_data(file->name);
    const char *why = dump_why_left_out(file->collection, options->target);
    const bool by_folder = file->kind != INPUT_DUMP && (!options->lists || build->unsure);
    return why == dump_of_server && by_folder ? NULL : why;
}

static bool refuse_choice(const build_t *build, size_t from, bool in_archive, const char *argument,
                          const input_file_t *first) {
    const manifest_t *manifest = build->manifest;
    err_t *err = build->err;
    text_t text = {0};
    size_t count = 0;
    if (build->why_none)
        return err_set(err, STATUS_INPUT, "%.1000s: of this dump %.300s is %s", argument, wanted(build),
                       build->why_none);
    for (size_t i = from; i < manifest->count; i++)
        if (is_listed(&manifest->files[i], in_archive))
            text_print(&text, "%s%s", count++ ? ", " : "", manifest->files[i].collection);
    char *names = text_take(&text, err);
    if (names)
        err_set(
            err, build->member ? STATUS_INPUT : STATUS_USAGE,
            "%.1000s: holds %zu collection%s (%.1000s)%s%.300s%s, and one is taken at a time: name it, as "
            "in '%.1000s%s%.255s'%s",
            argument, count, units_s(count), names, build->member ? " but no '" : "",
            build->member ? build->member : "", build->member ? "'" : "", first->path, in_archive ? "!" : "",
            in_archive ? first->collection : "",
            build->unsure && !in_archive
                ? "; or, if these files are parts of one collection, name each of them"
                : ", or in the path of the URI. `tipple load` loads all of them, each into its own "
                  "collection, where the URI names none");
    free(names);
    return false;
}

bool dumps_choose(build_t *build, size_t from, bool in_archive, const char *argument) {
    const manifest_t *manifest = build->manifest;
    const manifest_options_t *options = build->options;
    size_t count = 0, first = 0, taken = SIZE_MAX;
    bool any = in_archive;
    for (size_t i = from; i < manifest->count; i++)
        any |= is_listed(&manifest->files[i], in_archive);
    if (!any)
        return true;
    if (!build->member)
        build_leave_out(build, from, why_not);
    for (size_t i = from; i < manifest->count; i++) {
        if (!is_listed(&manifest->files[i], in_archive))
            continue;
        first = count++ ? first : i;
        if (taken == SIZE_MAX && wanted(build) && strcmp(manifest->files[i].collection, wanted(build)) == 0)
            taken = i;
    }
    const bool unsure = build->unsure && !in_archive && count > 1, all = (options->lists && !build->member) ||
                                                                         options->every_collection ||
                                                                         !(count || build->why_none);
    if (!all && taken == SIZE_MAX && count == 1 && !build->member && !build->why_none) {
        taken = first;
        if (options->target && !options->quiet)
            log_note("%s has one collection, %s: it is taken for %s", argument,
                     manifest->files[first].collection, options->target);
    }
    if (unsure || (!all && taken == SIZE_MAX))
        return refuse_choice(build, from, in_archive, argument, &manifest->files[first]);
    for (size_t i = manifest->count; !all && i-- > from;)
        if (i != taken && is_listed(&manifest->files[i], in_archive))
            build_remove(build, i);
    return true;
}
