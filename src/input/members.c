/* Adds the members of a zip or a tar, and the collections of an archive of mongodump, to a manifest. */
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "input/archive/archive.h"
#include "input/build.h"
#include "input/file/fault.h"
#include "input/file/name.h"
#include "input/identify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 64 * 1024, CHUNK = IDENTIFY_MEMBER_END_BYTES };

static const int64_t TELL_FIRST_NS = 2000000000, TELL_NS = 30000000000;

typedef struct {
    build_t *build;
    input_file_t *file;
    bool said_macosx;
    size_t first; /* its first member in the manifest */
    /* of a tar or a dump its bytes: from the disk; or, if it is compressed, in order from its one stream */
    int fd;           /* -1: it is compressed */
    source_t *stream; /* NULL: it is not */
    int64_t tell_ns;
    XXH3_state_t *hash; /* of a tar */
    dump_list_t list;   /* of a dump: its collections, each with its metadata */
    feed_t feed;
} archive_t;

/* Why a member is left out; NULL: it is not. Everything in a __MACOSX folder counts as one thing, named once. */
static const char *reason_to_skip(const char *name, size_t name_length, const char *no_file,
                                  bool *in_macosx) {
    const char *at = name, *end = name + name_length;
    *in_macosx = false;
    while (at < end) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        size_t length = (size_t)((slash ? slash : end) - at);
        const char *why = name_reason_to_skip(at, length);
        if (!why && !slash)
            why = name_reason_to_skip_file(at, length);
        *in_macosx = length == strlen(NAME_MACOSX) && memcmp(at, NAME_MACOSX, length) == 0;
        if (why)
            return why;
        at += length + 1;
    }
    return no_file;
}

static void skip_member(archive_t *archive, const char *name, const char *why, bool in_macosx) {
    char *folder = in_macosx ? name_join(archive->file->name, "!", NAME_MACOSX, strlen(NAME_MACOSX)) : NULL;
    if (!in_macosx || !archive->said_macosx)
        build_skip(archive->build, folder ? folder : name, why);
    archive->said_macosx |= in_macosx;
    free(folder);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The name is a part of what identifies a member, so it may be there only once. Members are taken into one collection: those
 * of a packed folder of mongodump would be mixed, and their metadata are no documents. */
static bool check_members(const archive_t *archive) {
    const manifest_t *manifest = archive->build->manifest;
    size_t count = manifest->count - archive->first;
    if (count < 2)
        return true;
    char **names = malloc(count * sizeof *names);
    if (!names)
        return err_memory(archive->build->err, count * sizeof *names);
    for (size_t i = 0; i < count; i++)
        names[i] = manifest->files[archive->first + i].name;
    qsort(names, count, sizeof *names, by_name);
    const char *twice = NULL;
    for (size_t i = 1; i < count; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            twice = names[i];
    const char *packed = twice ? NULL : dump_folder_packed(names, count);
    free(names);
    if (packed)
        return err_set(archive->build->err, STATUS_INPUT,
                       "%.1000s: is a collection of a folder that mongodump has written, and its metadata "
                       "stand beside it: unpack the archive, and give the folder",
                       packed);
    return !twice ||
           err_set(archive->build->err, STATUS_INPUT,
                   "%.1000s: the archive has two members of this name; unpack it and load the unpacked files",
                   twice);
}

/* Adds an input, of which the name is taken over. It has what was seen of the file in which its bytes are. */
static input_file_t *add_input(archive_t *archive, char *name) {
    const input_file_t *seen = archive->file;
    input_file_t *file = build_add(archive->build, seen->path, name);
    if (!file)
        return NULL;
    file->member = strlen(seen->name) + 1;
    file->has_identity = true;
    file->modified_ns = seen->modified_ns;
    file->device = seen->device;
    file->inode = seen->inode;
    return file;
}

/* Adds a member. NULL: it is left out with a note; or memory is out, and *ok is false. */
static input_file_t *add_member(archive_t *archive, const char *path, size_t length, const char *no_file,
                                bool *ok) {
    bool in_macosx;
    const char *why = reason_to_skip(path, length, no_file, &in_macosx);
    char *name = name_join(archive->file->name, "!", path, length);
    *ok = name || err_memory(archive->build->err, length);
    if (name && !why) {
        input_file_t *file = add_input(archive, name);
        *ok = file;
        return file;
    }
    if (name)
        skip_member(archive, name, why, in_macosx);
    free(name);
    return NULL;
}

static bool may_go_on(const archive_t *archive, err_t *err) {
    return !stop_signal() ||
           err_set(err, (status_t)(128 + stop_signal()),
                   "interrupted while looking for the members of %.1000s", archive->file->name);
}

/* A compressed archive of many gigabytes takes long: shows progress. */
static ssize_t pull(void *context, void *out, size_t size, err_t *err) {
    archive_t *archive = context;
    if (!may_go_on(archive, err))
        return -1;
    if (clock_now_ns() >= archive->tell_ns && !archive->build->quiet) {
        char done[UNITS_MAX], all[UNITS_MAX];
        log_note("looking for the members of %s: %s of %s read", archive->file->name,
                 units_size(done, (double)source_disk_bytes(archive->stream)),
                 units_size(all, (double)archive->file->disk_bytes));
        archive->tell_ns = clock_now_ns() + TELL_NS;
    }
    return source_read(archive->stream, out, size, err);
}

/* Afterwards archive_close must be called, also after a failure. */
static bool archive_open(archive_t *archive, build_t *build, int fd, input_file_t *file) {
    const bool packed = file->kind != INPUT_PLAIN;
    memset(archive, 0, offsetof(archive_t, feed));
    archive->build = build;
    archive->file = file;
    archive->first = build->manifest->count;
    archive->fd = packed ? -1 : fd;
    archive->tell_ns = clock_now_ns() + TELL_FIRST_NS;
    if (packed)
        feed_init_pull(&archive->feed, file->name, pull, archive, 0, UINT64_MAX);
    else
        feed_init(&archive->feed, file->name, fd, false, 0, file->disk_bytes);
    archive->feed.most = PIECE;
    return !packed || (archive->stream = source_open_archive(build->kit, file, build->err));
}

/* False: its bytes could not be read. */
static bool archive_close(archive_t *archive) {
    const bool failed = archive->feed.failed;
    if (failed)
        *archive->build->err = archive->feed.fault;
    source_close(archive->stream);
    feed_free(&archive->feed);
    XXH3_freeState(archive->hash);
    dump_list_free(&archive->list);
    return !failed;
}

/* ---- zip ---- */

/* Is it a reject file? Its text bound is that of what it holds. */
static bool begins_rejects(const build_t *build, input_file_t *file) {
    const source_head_t head = source_look_at_head(build->heads, file);
    if (head.utf16)
        identify_as_utf16(file);
    return head.rejects;
}

static bool add_zip_member(void *context, const zip_entry_t *entry, err_t *err) {
    archive_t *archive = context;
    const bool is_file = entry->name_length && entry->name[entry->name_length - 1] != '/';
    bool ok = true;
    input_file_t *file = is_file || entry->text_bytes
                             ? add_member(archive, entry->name, entry->name_length,
                                          entry->is_link ? "a symbolic link" : NULL, &ok)
                             : NULL;
    if (!file)
        return ok;
    if (!is_file)
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: has %s, but %llu bytes, as a file has; if they are not needed, take it out of the "
            "archive (zip -d), else give it another name there",
            file->name, entry->name_length ? "the name of a folder" : "no name",
            (unsigned long long)entry->text_bytes);
    if (!zip_can_read(entry, file->name, err))
        return false;
    identify_zip_member(entry, file);
    identify_by_name(file, file->name + file->member, file->digest);
    return !begins_rejects(archive->build, file) || build_leave_out_rejects(archive->build, true);
}

bool archive_add_zip(build_t *build, int fd, input_file_t *zip) {
    archive_t archive = {.build = build, .file = zip, .first = build->manifest->count};
    return zip_list(fd, zip->disk_bytes, zip->name, add_zip_member, &archive, build->err) &&
           check_members(&archive);
}

/* ---- tar ---- */

/* Adds the next bytes to the digest; if they end early, the tar reader will notice. */
static void digest_bytes(archive_t *archive, uint64_t size) {
    for (size_t n; size && (n = feed_want(&archive->feed, 1)); size -= n) {
        n = n < size ? n : (size_t)size;
        XXH3_128bits_update(archive->hash, feed_bytes(&archive->feed), n);
        feed_take(&archive->feed, n);
    }
}

/* Of a compressed tar's member all bytes are read anyway; of other members only both ends are. */
static bool identify(archive_t *archive, input_file_t *file, bool *rejects, err_t *err) {
    const uint64_t size = file->disk_bytes, ends = archive->stream || size <= 2 * CHUNK ? size : CHUNK;
    const size_t head = feed_want(&archive->feed, size < MAGIC_BYTES ? (size_t)size : MAGIC_BYTES);
    uint8_t stated[8];
    for (int i = 0; i < 8; i++)
        stated[i] = (uint8_t)(size >> 8 * i);
    if (!identify_tar_member(archive->fd, head ? feed_bytes(&archive->feed) : (const uint8_t *)"",
                             head < size ? head < MAGIC_BYTES ? head : MAGIC_BYTES : (size_t)size, file,
                             rejects, err))
        return false;
    XXH3_128bits_reset(archive->hash);
    XXH3_128bits_update(archive->hash, stated, sizeof stated);
    digest_bytes(archive, ends);
    if (ends < size && feed_skip_to(&archive->feed, file->archive_offset + size - CHUNK))
        digest_bytes(archive, CHUNK);
    const XXH128_hash_t digest = XXH3_128bits_digest(archive->hash);
    file->content[0] = digest.low64;
    file->content[1] = digest.high64;
    return true;
}

static bool add_tar_member(archive_t *archive, const tar_entry_t *entry) {
    build_t *build = archive->build;
    char *path = name_clean(entry->path);
    bool ok = path || err_memory(build->err, strlen(entry->path)), rejects = false;
    input_file_t *file = path ? add_member(archive, path, strlen(path), entry->no_file, &ok) : NULL;
    free(path);
    if (!file)
        return ok;
    file->archive = archive->file;
    file->archive_offset = entry->from;
    file->disk_bytes = entry->size;
    if (!identify(archive, file, &rejects, build->err))
        return false;
    identify_by_name(file, file->name + file->member, file->digest);
    /* within a compressed tar, the text of a compressed member can be seen only when it is read */
    if (file->kind != INPUT_PLAIN && !archive->stream)
        rejects = begins_rejects(build, file);
    return !rejects || build_leave_out_rejects(build, true);
}

static bool add_tar_members(archive_t *archive) {
    err_t *err = archive->build->err;
    tar_t tar;
    tar_entry_t entry;
    int found;
    tar_open(&tar, &archive->feed);
    while ((found = tar_next(&tar, &entry, err)) == 1)
        if (!may_go_on(archive, err) || !add_tar_member(archive, &entry)) {
            found = -1;
            break;
        }
    tar_close(&tar);
    return found == 0;
}

/* A compressed tar is read to its end, because its checksums are there. */
bool archive_add_tar(build_t *build, int fd, input_file_t *tar) {
    archive_t archive;
    bool ok = archive_open(&archive, build, fd, tar) &&
              ((archive.hash = XXH3_createState()) || err_memory(build->err, sizeof(XXH3_state_t *))) &&
              add_tar_members(&archive);
    if (ok && archive.stream) {
        feed_skip_to(&archive.feed, UINT64_MAX);
        tar->text_bound = feed_offset(&archive.feed);
    }
    return archive_close(&archive) && ok && check_members(&archive);
}

/* ---- archives of mongodump ---- */

static const char *wanted(const build_t *build) {
    return build->member ? build->member : build->target;
}

static bool add_listed(archive_t *archive, const dump_header_t *header, bool capped, err_t *err) {
    char *metadata = header->metadata ? strdup(header->metadata) : NULL;
    if (header->metadata && !metadata)
        return err_memory(err, strlen(header->metadata));
    return dump_list_add(&archive->list, strdup(header->name), metadata, capped, err);
}

static bool see_collection(void *context, const dump_header_t *header, err_t *err) {
    archive_t *archive = context;
    build_t *build = archive->build;
    dump_metadata_t metadata;
    if (!dump_metadata_read(header->metadata, header->type, &metadata, err))
        return false;
    const bool is_wanted = wanted(build) && strcmp(header->name, wanted(build)) == 0;
    const char *why = metadata.why_empty;
    if (!why && !(build->member && is_wanted))
        why = dump_why_left_out(header->name, wanted(build));
    if (!why)
        return add_listed(archive, header, metadata.capped, err);
    if (!is_wanted && build->member)
        return true;
    char *name = name_join(archive->file->name, "!", header->name, strlen(header->name));
    if (!name)
        return err_memory(err, strlen(header->name));
    if (is_wanted)
        err_set(err, STATUS_INPUT, "%.1000s: is %s", name, why);
    else
        build_skip(build, name, why);
    archive->list.without += metadata.why_empty != NULL;
    free(name);
    return !is_wanted;
}

static bool refuse_choice(const archive_t *archive, err_t *err) {
    const dump_list_t *list = &archive->list;
    const char *file = archive->file->name, *member = archive->build->member;
    char *names = dump_list_names(list, err);
    if (names && !list->count)
        err_set(err, STATUS_INPUT, "%.1000s: is an archive of mongodump without a collection to load", file);
    else if (names && member)
        err_set(err, STATUS_INPUT, "%.1000s: the archive holds no collection '%s'; it holds %s", file, member,
                names);
    else if (names)
        err_set(
            err, STATUS_USAGE,
            "%.1000s: is an archive of mongodump with %zu collections (%s), and one is taken at a time: "
            "name it after the file, as in '%.1000s!%s', or in the path of the URI. `tipple load` loads all "
            "of them, each into its own collection, where the URI names none",
            file, list->count, names, file, list->items[0].name);
    free(names);
    return false;
}

/* Takes the metadata out of the list. */
static bool add_collection(build_t *build, archive_t *archive, size_t at) {
    const input_file_t *dump = archive->file;
    const char *collection = archive->list.items[at].name;
    char *name = name_join(dump->name, "!", collection, strlen(collection));
    input_file_t *file = name ? add_input(archive, name) : NULL;
    if (!name || (file && !(file->collection = strdup(collection))))
        return err_memory(build->err, strlen(collection));
    if (!file)
        return false;
    file->metadata = archive->list.items[at].with;
    archive->list.items[at].with = NULL;
    file->kind = INPUT_DUMP;
    file->archive = dump;
    file->disk_bytes = dump->disk_bytes;
    file->text_bound = dump->text_bound;
    const XXH128_hash_t digest =
        XXH3_128bits_withSeed(collection, strlen(collection), dump->digest[0] ^ dump->digest[1]);
    file->digest[0] = digest.low64;
    file->digest[1] = digest.high64;
    return true;
}

/* As an argument names it. */
static bool list_collection(build_t *build, archive_t *archive, size_t at) {
    char *name = archive->list.items[at].name;
    char *argument = name_join(archive->file->path, "!", name, strlen(name));
    archive->list.items[at].name = NULL;
    if (argument)
        return dump_list_add(build->collections, name, argument, archive->list.items[at].capped, build->err);
    free(name);
    return err_memory(build->err, strlen(archive->file->path));
}

static bool add_chosen(build_t *build, archive_t *archive) {
    const dump_list_t *list = &archive->list;
    size_t chosen = wanted(build) ? dump_list_find(list, wanted(build)) : list->count;
    if (chosen == list->count && list->count == 1 && !build->member)
        chosen = 0;
    if (chosen == list->count)
        return refuse_choice(archive, build->err);
    if (!build->member)
        build_tell_only(build, archive->file->name, list);
    return add_collection(build, archive, chosen);
}

bool archive_add_dump(build_t *build, int fd, input_file_t *dump) {
    archive_t archive;
    const bool lists = build->collections && !build->member, all = lists || build->every_collection;
    bool ok = archive_open(&archive, build, fd, dump) &&
              dump_read_list(&archive.feed, see_collection, &archive, build->err);
    if (ok && lists)
        build->collections->without += archive.list.without;
    for (size_t i = 0; ok && all && i < archive.list.count; i++)
        ok = lists ? list_collection(build, &archive, i) : add_collection(build, &archive, i);
    if (ok && !all)
        ok = add_chosen(build, &archive);
    return archive_close(&archive) && ok;
}
