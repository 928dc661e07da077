#include "input/dump_folder.h"
#include "base/chars.h"
#include "base/text.h"
#include "format/json/json_document.h"
#include "format/values/hex.h"
#include "input/file/fault.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST_METADATA = 16 << 20 };

static const char *const data_ends[] = {".bson", ".bson.gz"}, *const metadata_ends[] = {".metadata.json",
                                                                                        ".metadata.json.gz"};

/* The name without that ending; 0: it has none of them. */
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
        /* its documents stand not far in front of it: .bson is before .metadata.json */
        for (size_t at = i; length && at-- > 0 && strncmp(sorted[at], sorted[i], length + 1) == 0;)
            if (stem(sorted[at], data_ends) == length)
                return sorted[at];
    }
    return NULL;
}

/* What is damaged is judged by what could be read of it: is that JSON? */
static bool why_unread(gzFile file, const char *path, err_t *err) {
    const int error = errno;
    int code;
    gzerror(file, &code);
    return code == Z_ERRNO       ? fault_system(err, path, error)
           : code == Z_MEM_ERROR ? err_memory(err, MOST_METADATA)
                                 : true;
}

/* zlib reads plain files, too. *text: NULL where there is none of that name. */
static bool read_file(const char *path, char **text, err_t *err) {
    enum { PART = 4096 };
    size_t length = 0, room = 0;
    bool ok = true;
    *text = NULL;
    errno = ENOMEM; /* zlib leaves it as it was where it gets no memory */
    gzFile file = gzopen(path, "rbe");
    if (!file)
        return errno == ENOENT || errno == ENAMETOOLONG || fault_system(err, path, errno);
    for (int got = 1; ok && got > 0 && length < MOST_METADATA;) {
        ok = GROW(*text, room, length + PART + 1, err);
        got = ok ? gzread(file, *text + length, PART) : 0;
        if (got < 0)
            ok = why_unread(file, path, err);
        length += got > 0 ? (size_t)got : 0;
        if (ok)
            (*text)[length] = '\0';
    }
    gzclose(file);
    if (!ok) {
        free(*text);
        *text = NULL;
    }
    return ok;
}

bool dump_folder_metadata(const char *path, char **text, err_t *err) {
    const size_t length = stem(path, data_ends);
    bool ok = true;
    *text = NULL;
    for (size_t i = 0; ok && length && !*text && i < 2; i++) {
        char *beside;
        if (asprintf(&beside, "%.*s%s", (int)length, path, metadata_ends[i]) < 0)
            return err_memory(err, length);
        ok = read_file(beside, text, err);
        free(beside);
    }
    return ok;
}

/* *document: NULL where there is no metadata, or no JSON. */
static bool parse(const char *metadata, bson_t **document, err_t *err) {
    err_t why;
    *document = metadata ? json_document(metadata, true, &why) : NULL;
    if (metadata && !*document && why.status == STATUS_HOST) {
        *err = why;
        return false;
    }
    return true;
}

/* A text of the metadata; "" if there is none. */
static bool word(const char *metadata, const char *key, char *out, size_t room, err_t *err) {
    bson_iter_t iter;
    bson_t *document;
    out[0] = '\0';
    if (!parse(metadata, &document, err))
        return false;
    if (document && bson_iter_init_find(&iter, document, key) && BSON_ITER_HOLDS_UTF8(&iter))
        snprintf(out, room, "%s", bson_iter_utf8(&iter, NULL));
    bson_destroy(document);
    return true;
}

/* mongodump writes signs that a file's name should not have as %2F; older ones do not tell the name anywhere else. */
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

/* The folder has the database's name. */
static char *namespace_of(const char *folder, const char *collection) {
    char *whole = realpath(folder, NULL), *name;
    if (!whole || asprintf(&name, "%s.%s", strrchr(whole, '/') + 1, collection) < 0)
        name = NULL;
    free(whole);
    return name;
}

/* As its metadata tells, or its file's name, of which length bytes are no ending. The caller frees it. */
static bool namespace_by(const char *metadata, const char *folder, const char *name, size_t length,
                         char **namespace, err_t *err) {
    char collection[256];
    *namespace = NULL;
    if (!word(metadata, "collectionName", collection, sizeof collection, err))
        return false;
    if (!collection[0]) {
        snprintf(collection, sizeof collection, "%.*s", (int)length, name);
        decode_name(collection);
    }
    *namespace = namespace_of(folder, collection);
    return *namespace || err_memory(err, sizeof collection);
}

/* Its name without the ending of metadata is that of a file of documents, too. */
static bool has_documents(const char *path) {
    bool has = false;
    for (size_t i = 0; !has && i < 2; i++) {
        char *beside;
        if (asprintf(&beside, "%.*s%s", (int)stem(path, metadata_ends), path, data_ends[i]) < 0)
            return true;
        has = access(beside, F_OK) == 0;
        free(beside);
    }
    return has;
}

/* Others may call a file of JSON so. */
static bool is_of_dump(const char *metadata, bool *is, err_t *err) {
    bson_iter_t iter;
    bson_t *document;
    *is = false;
    if (!parse(metadata, &document, err))
        return false;
    *is = document && bson_iter_init_find(&iter, document, "indexes");
    bson_destroy(document);
    return true;
}

static const char missing[] = "of a collection whose documents (.bson) are missing here";

/* Of metadata: a clause; "": nobody needs to know it; NULL: it is no part of a dump. */
static bool look_at(dump_list_t *dump, const char *folder, const char *name, const char *path,
                    const char *metadata, const char *target, const char **why, err_t *err) {
    char type[20], *namespace = NULL;
    bool of_dump = false;
    if (!word(metadata, "type", type, sizeof type, err))
        return false;
    const bool is_view = metadata && !type[0] && dump_list_is_view(metadata);
    *why = dump_list_why_empty(is_view ? "view" : type);
    if (!*why && has_documents(path))
        *why = "";
    else if (!*why && !is_of_dump(metadata, &of_dump, err))
        return false;
    else if (of_dump)
        *why = missing;
    if (*why && **why && target &&
        !namespace_by(metadata, folder, name, stem(name, metadata_ends), &namespace, err))
        return false;
    if (namespace && strcmp(namespace, target) == 0)
        dump->why_target_empty = *why;
    free(namespace);
    return true;
}

static bool why_metadata(dump_list_t *dump, const char *folder, const char *name, const char *target,
                         const char **why, err_t *err) {
    char *path, *metadata;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return err_memory(err, strlen(folder));
    const bool ok =
        read_file(path, &metadata, err) && look_at(dump, folder, name, path, metadata, target, why, err);
    free(metadata);
    free(path);
    return ok;
}

static bool add(dump_list_t *dump, const char *folder, const char *name, size_t length, err_t *err) {
    char *path, *metadata, *namespace;
    if (asprintf(&path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", name) < 0)
        return err_memory(err, strlen(folder));
    const bool ok = dump_folder_metadata(path, &metadata, err) &&
                    namespace_by(metadata, folder, name, length, &namespace, err);
    free(metadata);
    if (!ok)
        free(path);
    return ok && dump_list_add(dump, namespace, path, err);
}

static bool is_folder(const char *folder, const char *name) {
    struct stat status;
    char *path;
    if (asprintf(&path, "%s/%s", folder, name) < 0)
        return false;
    const bool is = stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    free(path);
    return is;
}

bool dump_folder_see(dump_list_t *dump, bool is, const char *folder, const char *name, const char *target,
                     const char **why, bool *other, err_t *err) {
    static const char system[] = "system.";
    const size_t data = stem(name, data_ends);
    *other = !is && (!data || dump_folder_beside(name) || is_folder(folder, name));
    *why = NULL;
    if (*other)
        return true;
    dump->unsure |= !is;
    if (!is)
        return add(dump, folder, name, data, err);
    if (stem(name, metadata_ends)) {
        if (!why_metadata(dump, folder, name, target, why, err))
            return false;
        *other = !*why;
    } else if (strcmp(name, "prelude.json") == 0 || strcmp(name, "prelude.json.gz") == 0)
        *why = "";
    else if (data > sizeof system - 1 && strncmp(name, system, sizeof system - 1) == 0)
        *why = dump_list_of_server;
    else if (data)
        return add(dump, folder, name, data, err);
    else
        *other = true;
    return true;
}

static bool refuse_unsure(const dump_list_t *dump, const char *argument, err_t *err) {
    const char *first = dump->items[0].with, *second = dump->items[1].with;
    return err_set(
        err, STATUS_USAGE,
        "%.1000s: holds %zu files of BSON (such as %.500s and %.500s) without the metadata of "
        "mongodump: each may be a collection of its own, and one is loaded at a time. Give its file; or, "
        "if they are parts of one collection, name each of them, or all by a pattern such as '%.*s*.bson'",
        argument, dump->count, first, second, (int)(strrchr(first, '/') + 1 - first), first);
}

static const char *refuse_empty(const dump_list_t *dump, const char *argument, const char *target,
                                err_t *err) {
    if (dump->why_target_empty == missing)
        err_set(err, STATUS_INPUT,
                "%.1000s: of this dump the documents (.bson) of %.300s are missing: get the whole dump",
                argument, target);
    else
        err_set(err, STATUS_INPUT, "%.1000s: of this dump %.300s is %s; mongorestore restores it", argument,
                target, dump->why_target_empty);
    return NULL;
}

static bool refuse(const dump_list_t *dump, const char *argument, err_t *err) {
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

const char *dump_folder_choose(const dump_list_t *dump, const char *argument, const char *target,
                               err_t *err) {
    if (dump->unsure && dump->count > 1) {
        refuse_unsure(dump, argument, err);
        return NULL;
    }
    const size_t found = target ? dump_list_find(dump, target) : dump->count;
    if (found < dump->count)
        return dump->items[found].with;
    if (dump->why_target_empty)
        return refuse_empty(dump, argument, target, err);
    if (dump->count == 1)
        return dump->items[0].with;
    refuse(dump, argument, err);
    return NULL;
}

bool dump_folder_all(dump_list_t *dump, const char *argument, dump_list_t *to, err_t *err) {
    if (dump->unsure && dump->count > 1)
        return refuse_unsure(dump, argument, err);
    bool ok = true;
    for (size_t i = 0; ok && i < dump->count; i++) {
        ok = dump_list_add(to, dump->items[i].name, dump->items[i].with, err);
        dump->items[i].name = dump->items[i].with = NULL;
    }
    return ok;
}

bool dump_folder_is_own_file(const char *name) {
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name, *end = strstr(base, ".bson");
    char collection[256];
    if (!end || (end[5] && strcmp(end + 5, ".gz") != 0) || (size_t)(end - base) >= sizeof collection)
        return false;
    memcpy(collection, base, (size_t)(end - base));
    collection[end - base] = '\0';
    return own_names_has(collection);
}

const char *dump_folder_beside(const char *name) {
    static const char *const names[][2] = {
        {"oplog.bson", "the oplog of a dump, which mongorestore can replay"},
        {"prelude.json", "what mongodump tells of itself"},
    };
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const size_t length = strlen(names[i][0]);
        if (strncmp(base, names[i][0], length) == 0 && (!base[length] || strcmp(base + length, ".gz") == 0))
            return names[i][1];
    }
    return NULL;
}
