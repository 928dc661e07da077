/* Adds the members of a zip or a tar to a manifest. */
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "input/archive/tar.h"
#include "input/build.h"
#include "input/file/fault.h"
#include "input/file/name.h"
#include "input/identify.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    build_t *build;
    const input_file_t *file;
    bool said_macosx;
    size_t first; /* its first member in the manifest */
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

/* Sets its digest, and what was seen of the file in which the member's bytes are. */
static void of_archive(input_file_t *member, const input_file_t *archive) {
    member->member = strlen(archive->name) + 1;
    identify_by_name(member, member->name + member->member, member->digest);
    member->modified_ns = archive->modified_ns;
    member->device = archive->device;
    member->inode = archive->inode;
}

/* ---- zip ---- */

static bool has_name_of_file(const zip_entry_t *entry) {
    return entry->name_length && entry->name[entry->name_length - 1] != '/';
}

static bool refuse_name(const char *name, const zip_entry_t *entry, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: has %s, but %llu bytes, as a file has; if they are not needed, take it out of the "
        "archive (zip -d), else give it another name there",
        name, entry->name_length ? "the name of a folder" : "no name", (unsigned long long)entry->text_bytes);
}

/* Is it a reject file? Its text bound is that of what it holds. */
static bool begins_rejects(const build_t *build, input_file_t *file) {
    const source_head_t head = source_look_at_head(build->heads, file);
    if (head.utf16)
        identify_as_utf16(file);
    return head.rejects;
}

static bool add_zip_member(void *context, const zip_entry_t *entry, err_t *err) {
    archive_t *archive = context;
    if (!has_name_of_file(entry) && !entry->text_bytes)
        return true;
    char *name = name_join(archive->file->name, "!", entry->name, entry->name_length);
    if (!name)
        return err_memory(err, entry->name_length);
    if (!has_name_of_file(entry)) {
        refuse_name(name, entry, err);
        free(name);
        return false;
    }
    bool in_macosx, readable = false;
    const char *why = reason_to_skip(entry->name, entry->name_length,
                                     entry->is_link ? "a symbolic link" : NULL, &in_macosx);
    if (why)
        skip_member(archive, name, why, in_macosx);
    else
        readable = zip_can_read(entry, name, err);
    if (!readable) {
        free(name);
        return why;
    }
    input_file_t *file = build_add(archive->build, archive->file->path, name);
    if (!file)
        return false;
    identify_zip_member(entry, file);
    of_archive(file, archive->file);
    return !begins_rejects(archive->build, file) || build_leave_out_rejects(archive->build, true);
}

bool archive_add_zip(build_t *build, int fd, const input_file_t *zip) {
    archive_t archive = {.build = build, .file = zip, .first = build->manifest->count};
    return zip_list(fd, zip->disk_bytes, zip->name, add_zip_member, &archive, build->err) &&
           check_members(&archive);
}

/* ---- tar ---- */

enum { WINDOW = 64 * 1024, CHUNK = IDENTIFY_MEMBER_END_BYTES };

static const int64_t TELL_FIRST_NS = 2000000000, TELL_NS = 30000000000;

/* Reads the tar's bytes: with pread from the disk; if it is compressed, in order from its one stream. */
typedef struct {
    const input_file_t *tar;
    int fd;
    source_t *stream; /* NULL: it is not compressed */
    uint64_t at;      /* the window's place in the tar */
    size_t have;
    int64_t tell_ns;
    bool quiet;
    XXH3_state_t *hash;
    uint8_t window[WINDOW], chunk[CHUNK];
} reader_t;

/* A compressed tar of many gigabytes takes long: shows progress. */
static void tell(reader_t *reader) {
    if (clock_now_ns() < reader->tell_ns || reader->quiet)
        return;
    char done[UNITS_MAX], all[UNITS_MAX];
    log_note("looking for the members of %s: %s of %s read", reader->tar->name,
             units_size(done, (double)source_disk_bytes(reader->stream)),
             units_size(all, (double)reader->tar->disk_bytes));
    reader->tell_ns = clock_now_ns() + TELL_NS;
}

static bool may_go_on(const reader_t *reader, err_t *err) {
    return !stop_signal() ||
           err_set(err, (status_t)(128 + stop_signal()),
                   "interrupted while looking for the members of %.1000s", reader->tar->name);
}

static bool read_on(reader_t *reader, err_t *err) {
    if (!may_go_on(reader, err))
        return false;
    tell(reader);
    ssize_t got = source_read(reader->stream, reader->window, sizeof reader->window, err);
    reader->at += reader->have;
    reader->have = got > 0 ? (size_t)got : 0;
    return got >= 0;
}

static bool read_there(reader_t *reader, uint64_t offset, err_t *err) {
    ssize_t got;
    if (!may_go_on(reader, err))
        return false;
    do
        got = pread(reader->fd, reader->window, sizeof reader->window, (off_t)offset);
    while (got < 0 && errno == EINTR);
    reader->at = offset;
    reader->have = got > 0 ? (size_t)got : 0;
    return got >= 0 || fault_at(err, reader->tar->name, offset, errno);
}

static bool is_in_window(const reader_t *reader, uint64_t offset) {
    return offset >= reader->at && offset - reader->at < reader->have;
}

static bool read_tar(void *context, uint64_t offset, uint8_t *out, size_t size, size_t *got, err_t *err) {
    reader_t *reader = context;
    *got = 0;
    while (*got < size) {
        if (!is_in_window(reader, offset) && !reader->stream && !read_there(reader, offset, err))
            return false;
        bool more = true;
        while (reader->stream && more && !is_in_window(reader, offset)) {
            if (!read_on(reader, err))
                return false;
            more = reader->have > 0;
        }
        if (!is_in_window(reader, offset)) {
            uint64_t end = reader->stream ? reader->at : reader->tar->disk_bytes;
            *got = offset > end ? TAR_BEHIND : *got;
            return true;
        }
        size_t there = reader->have - (size_t)(offset - reader->at);
        size_t n = there < size - *got ? there : size - *got;
        memcpy(out + *got, reader->window + (offset - reader->at), n);
        *got += n;
        offset += n;
    }
    return true;
}

/* Adds bytes to the digest; if they end early, the tar reader will notice. */
static bool digest_bytes(reader_t *reader, uint64_t offset, uint64_t size, err_t *err) {
    while (size) {
        size_t got;
        if (!read_tar(reader, offset, reader->chunk, size < CHUNK ? (size_t)size : CHUNK, &got, err))
            return false;
        if (!got || got == TAR_BEHIND)
            break;
        XXH3_128bits_update(reader->hash, reader->chunk, got);
        offset += got;
        size -= got;
    }
    return true;
}

/* Of a compressed tar's member all bytes are read anyway; of other members only both ends are. */
static bool identify(reader_t *reader, input_file_t *file, bool *rejects, err_t *err) {
    uint64_t from = file->archive_offset, size = file->disk_bytes, end = from + size;
    uint64_t head_bytes = reader->stream || size <= 2 * CHUNK ? size : CHUNK;
    size_t first = size < CHUNK ? (size_t)size : CHUNK, got;
    uint8_t stated[8];
    for (int i = 0; i < 8; i++)
        stated[i] = (uint8_t)(size >> 8 * i);
    XXH3_128bits_reset(reader->hash);
    XXH3_128bits_update(reader->hash, stated, sizeof stated);
    if (!read_tar(reader, from, reader->chunk, first, &got, err))
        return false;
    got = got == TAR_BEHIND ? 0 : got;
    XXH3_128bits_update(reader->hash, reader->chunk, got);
    if (!identify_tar_member(reader->stream ? -1 : reader->fd, reader->chunk,
                             got < MAGIC_BYTES ? got : MAGIC_BYTES, file, rejects, err) ||
        !digest_bytes(reader, from + got, head_bytes - got, err) ||
        (head_bytes < size && !digest_bytes(reader, end - CHUNK, CHUNK, err)))
        return false;
    XXH128_hash_t digest = XXH3_128bits_digest(reader->hash);
    file->content[0] = digest.low64;
    file->content[1] = digest.high64;
    return true;
}

static bool add_tar_member(archive_t *archive, reader_t *reader, const tar_entry_t *entry) {
    build_t *build = archive->build;
    bool in_macosx, ok = false;
    char *path = name_clean(entry->path);
    char *name = path ? name_join(archive->file->name, "!", path, strlen(path)) : NULL;
    const char *why = name ? reason_to_skip(path, strlen(path), entry->no_file, &in_macosx) : NULL;
    if (!name) {
        err_memory(build->err, strlen(entry->path));
    } else if (why) {
        skip_member(archive, name, why, in_macosx);
        free(name);
        ok = true;
    } else {
        input_file_t *file = build_add(build, archive->file->path, name);
        if (file) {
            file->has_identity = true;
            file->archive = archive->file;
            file->archive_offset = entry->from;
            file->disk_bytes = entry->size;
            bool rejects = false;
            ok = identify(reader, file, &rejects, build->err);
            of_archive(file, archive->file);
            /* within a compressed tar, the text of a compressed member can be seen only when it is read */
            if (ok && file->kind != INPUT_PLAIN && !reader->stream)
                rejects = begins_rejects(build, file);
            if (ok && rejects)
                ok = build_leave_out_rejects(build, true);
        }
    }
    free(path);
    return ok;
}

/* A compressed tar is read to its end, because its checksums are there. */
static bool add_tar_members(archive_t *archive, reader_t *reader) {
    err_t *err = archive->build->err;
    tar_t tar;
    tar_entry_t entry;
    int found;
    tar_open(&tar, archive->file->name, read_tar, reader);
    while ((found = tar_next(&tar, &entry, err)) == 1)
        if (!add_tar_member(archive, reader, &entry)) {
            found = -1;
            break;
        }
    tar_close(&tar);
    bool ok = found == 0;
    while (ok && reader->stream && reader->have)
        ok = read_on(reader, err);
    return ok;
}

bool archive_add_tar(build_t *build, int fd, const input_file_t *tar) {
    archive_t archive = {.build = build, .file = tar, .first = build->manifest->count};
    reader_t *reader = calloc(1, sizeof *reader);
    bool ok = reader && (reader->hash = XXH3_createState());
    if (!ok)
        err_memory(build->err, sizeof *reader);
    if (ok) {
        reader->tar = tar;
        reader->fd = fd;
        reader->quiet = build->quiet;
        reader->tell_ns = clock_now_ns() + TELL_FIRST_NS;
        if (tar->kind != INPUT_PLAIN)
            ok = (reader->stream = source_open_archive(build->kit, tar, build->err)) != NULL;
        ok = ok && add_tar_members(&archive, reader) && check_members(&archive);
        source_close(reader->stream);
        XXH3_freeState(reader->hash);
    }
    free(reader);
    return ok;
}
