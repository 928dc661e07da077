/* Adds one collection of an archive of mongodump to a manifest. */
#include "base/text.h"
#include "format/cut/bson_length.h"
#include "input/archive/dump.h"
#include "input/archive/dump_list.h"
#include "input/build.h"
#include "input/file/name.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

typedef struct {
    const input_file_t *dump;
    source_t *source;
    uint8_t *bytes; /* of the document at hand */
    size_t room;
    dump_list_t list; /* each with its metadata */
} prelude_t;

static bool cut_off(const prelude_t *prelude, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: ends within the list of what it holds, with which an archive of mongodump begins: get the "
        "whole file, and run the command again",
        prelude->dump->name);
}

static bool damaged(const prelude_t *prelude, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: the list of what it holds, with which an archive of mongodump begins, is damaged: get the "
        "file again, and run the command again",
        prelude->dump->name);
}

static bool read_bytes(prelude_t *prelude, size_t from, size_t to, err_t *err) {
    if (!GROW(prelude->bytes, prelude->room, to, err))
        return false;
    while (from < to) {
        const ssize_t got = source_read(prelude->source, prelude->bytes + from, to - from, err);
        if (got <= 0)
            return got == 0 && cut_off(prelude, err);
        from += (size_t)got;
    }
    return true;
}

/* The next document of the list; *length 0: it has ended. */
static bool read_document(prelude_t *prelude, uint32_t *length, err_t *err) {
    if (!read_bytes(prelude, 0, 4, err))
        return false;
    *length = bson_length(prelude->bytes);
    if (*length == dump_terminator) {
        *length = 0;
        return true;
    }
    return bson_length_may_be(*length) ? read_bytes(prelude, 4, *length, err) : damaged(prelude, err);
}

static bool add_item(prelude_t *prelude, const dump_header_t *header, err_t *err) {
    char *metadata = header->metadata ? strdup(header->metadata) : NULL;
    if (header->metadata && !metadata)
        return err_memory(err, strlen(header->metadata));
    return dump_list_add(&prelude->list, strdup(header->name), metadata, err);
}

static const char *wanted(const build_t *build) {
    return build->member ? build->member : build->target;
}

/* A collection that is listed. */
static bool see(build_t *build, prelude_t *prelude, const dump_header_t *header) {
    char *name = name_join(prelude->dump->name, "!", header->name, strlen(header->name));
    const bool is_wanted = wanted(build) && strcmp(header->name, wanted(build)) == 0;
    const char *why = dump_list_why_empty(header->type);
    if (!why && !(build->member && is_wanted))
        why = dump_list_why_left_out(header->name, wanted(build));
    if (!name)
        return err_memory(build->err, strlen(header->name));
    bool ok = true;
    if (why && is_wanted)
        ok = err_set(build->err, STATUS_INPUT, "%.1000s: is %s; mongorestore restores it", name, why);
    else if (why && !build->member)
        build_skip(build, name, why);
    else if (!why)
        ok = add_item(prelude, header, build->err);
    free(name);
    return ok;
}

static bool read_list(build_t *build, prelude_t *prelude) {
    uint32_t length;
    dump_header_t header;
    if (!read_bytes(prelude, 0, DUMP_MAGIC_BYTES, build->err) ||
        !read_document(prelude, &length, build->err)) /* its first document is of the archive */
        return false;
    while (length) {
        if (!read_document(prelude, &length, build->err))
            return false;
        if (!length)
            break;
        if (!dump_header_read(prelude->bytes, length, &header))
            return damaged(prelude, build->err);
        if (!see(build, prelude, &header))
            return false;
    }
    return true;
}

static bool refuse_choice(const build_t *build, const prelude_t *prelude) {
    const dump_list_t *list = &prelude->list;
    char *names = dump_list_names(list, build->err);
    if (!names)
        return false;
    const char *file = prelude->dump->name;
    if (!list->count)
        err_set(build->err, STATUS_INPUT, "%.1000s: is an archive of mongodump without a collection to load",
                file);
    else if (build->member)
        err_set(build->err, STATUS_INPUT, "%.1000s: the archive holds no collection '%s'; it holds %s", file,
                build->member, names);
    else
        err_set(
            build->err, STATUS_USAGE,
            "%.1000s: is an archive of mongodump with %zu collections (%s), and one is taken at a time: "
            "name it behind the file, as in '%.1000s!%s', or in the path of the URI. `tipple load` loads all "
            "of them, each into its own collection, where the URI names none",
            file, list->count, names, file, list->items[0].name);
    free(names);
    return false;
}

/* list->count: none. */
static size_t choose(const build_t *build, const dump_list_t *list) {
    const size_t found = wanted(build) ? dump_list_find(list, wanted(build)) : list->count;
    return found == list->count && list->count == 1 && !build->member ? 0 : found;
}

static bool add_collection(build_t *build, prelude_t *prelude, size_t at) {
    const input_file_t *dump = prelude->dump;
    const char *collection = prelude->list.items[at].name;
    char *name = name_join(dump->name, "!", collection, strlen(collection));
    input_file_t *file = name ? build_add(build, dump->path, name) : NULL;
    if (!file)
        return name ? false : err_memory(build->err, strlen(collection));
    if (!(file->collection = strdup(collection)))
        return err_memory(build->err, strlen(collection));
    file->metadata = prelude->list.items[at].with;
    prelude->list.items[at].with = NULL;
    file->kind = INPUT_DUMP;
    file->has_identity = true;
    file->archive = dump;
    file->member = strlen(dump->name) + 1;
    file->disk_bytes = dump->disk_bytes;
    file->text_bound = dump->text_bound;
    file->modified_ns = dump->modified_ns;
    file->device = dump->device;
    file->inode = dump->inode;
    const XXH128_hash_t digest =
        XXH3_128bits_withSeed(collection, strlen(collection), dump->digest[0] ^ dump->digest[1]);
    file->digest[0] = digest.low64;
    file->digest[1] = digest.high64;
    return true;
}

/* As an argument names it. */
static bool list_collection(build_t *build, prelude_t *prelude, size_t at) {
    char *name = prelude->list.items[at].name;
    char *argument = name_join(prelude->dump->path, "!", name, strlen(name));
    prelude->list.items[at].name = NULL;
    if (argument)
        return dump_list_add(build->collections, name, argument, build->err);
    free(name);
    return err_memory(build->err, strlen(prelude->dump->path));
}

bool archive_add_dump(build_t *build, int fd, const input_file_t *dump) {
    (void)fd;
    prelude_t prelude = {.dump = dump};
    bool ok =
        (prelude.source = source_open_archive(build->kit, dump, build->err)) && read_list(build, &prelude);
    source_close(prelude.source);
    const size_t count = prelude.list.count, chosen = choose(build, &prelude.list);
    const bool all = build->every_collection || (build->collections && !build->member);
    for (size_t i = 0; ok && all && i < count; i++)
        ok = build->collections ? list_collection(build, &prelude, i) : add_collection(build, &prelude, i);
    if (ok && !all && chosen < count && !build->member)
        build_tell_only(build, prelude.dump->name, &prelude.list);
    if (ok && !all)
        ok = chosen < count ? add_collection(build, &prelude, chosen) : refuse_choice(build, &prelude);
    dump_list_free(&prelude.list);
    free(prelude.bytes);
    return ok;
}
