/* Adds the members of a zip or a tar, and the collections of an archive of mongodump. */
#include "base/log.h"
#include "base/stop.h"
#include "input/build.h"
#include "input/file/bytes.h"
#include "input/file/fault.h"
#include "input/file/name.h"

#include <search.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { PIECE = 64 * 1024, CHUNK = 16 * 1024 };

typedef struct {
    build_t *build;
    input_file_t *file;
    const origin_t *origin;
    char *said;         /* the folder or member that was left out last, or NULL */
    void *names;        /* a tree (tsearch) of the names of its members */
    size_t first;       /* its first member in the manifest */
    source_t *stream;   /* of a tar or a dump that is compressed: its bytes, in order; else NULL */
    XXH3_state_t *hash; /* of a tar */
    feed_t feed;        /* of a tar or a dump */
} archive_t;

static int by_name(const void *a, const void *b) {
    return strcmp(a, b);
}

static void leave_name(void *name) {
    (void)name; /* it belongs to its file */
}

/* Keeps a member, unless it is a reject file. Its name is a part of what identifies it, so it may be there only once. */
static bool keep(archive_t *archive, const input_file_t *file, magic_is_t is) {
    if (is == MAGIC_REJECTS)
        return build_leave_out_rejects(archive->build, true);
    const char *const *found = tsearch(file->name, &archive->names, by_name);
    if (!found)
        return err_memory(archive->build->err, sizeof *found);
    return *found == file->name ||
           err_set(archive->build->err, STATUS_INPUT,
                   "%.1000s: the archive has two members of this name; unpack it and load the unpacked files",
                   file->name);
}

/* Members are taken into one collection: those of a packed folder of mongodump would be mixed, and their metadata are no
 * documents. */
static bool check_members(const archive_t *archive) {
    const manifest_t *manifest = archive->build->manifest;
    return !dumps_are_packed(manifest->files + archive->first, manifest->count - archive->first) ||
           err_set(archive->build->err, STATUS_INPUT,
                   "%.1000s: holds a folder that mongodump has written, whose collections would be mixed: "
                   "unpack the archive, and give the folder",
                   archive->file->name);
}

/* Adds an input with what was seen of the file in which its bytes are. */
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
    file->object = remote_share(seen->object);
    return file;
}

/* Adds a member; *file: NULL if it is left out with a note, a folder once for all that is in it. */
static bool add_member(archive_t *archive, const char *path, size_t length, const char *no_file,
                       input_file_t **file) {
    const char *why = name_reason_to_skip(path, &length, true, true);
    why = why ? why : no_file;
    char *name = name_join(archive->file->name, "!", path, length);
    *file = NULL;
    if (!name)
        return err_memory(archive->build->err, length);
    if (!why)
        return (*file = add_input(archive, name)) != NULL;
    if (!archive->said || strcmp(archive->said, name) != 0)
        build_skip(archive->build, name, why);
    free(archive->said);
    archive->said = name;
    return true;
}

static bool may_go_on(const archive_t *archive, err_t *err) {
    return !stop_signal() || fault_stopped(err, archive->file->name, stop_signal());
}

static ssize_t pull(void *context, void *out, size_t size, err_t *err) {
    const archive_t *archive = context;
    return may_go_on(archive, err) ? source_read(archive->stream, out, size, err) : -1;
}

/* ---- zip ---- */

static bool add_zip_member(void *context, const archive_entry_t *entry, err_t *err) {
    archive_t *archive = context;
    build_t *build = archive->build;
    const bool is_file = entry->length && entry->name[entry->length - 1] != '/';
    input_file_t *file = NULL;
    if ((is_file || entry->place.text_bytes) &&
        !add_member(archive, entry->name, entry->length, entry->no_file, &file))
        return false;
    if (!file)
        return true;
    if (strcmp(file->name + file->member, "[Content_Types].xml") == 0)
        return magic_accept(&magic_of_office, MAGIC_IN_FILE, archive->file->name, err);
    if (!zip_can_read(entry, file->name, err))
        return false;
    identify_zip_member(entry, file);
    manifest_digest_as(file, file->name + file->member, file->digest);
    magic_is_t is;
    if (!identify_text(&build->own, archive->origin, file, &is))
        return false;
    build_keep_head(build, file);
    return keep(archive, file, is);
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
static void digest_member(archive_t *archive, input_file_t *file) {
    const uint64_t size = file->disk_bytes, ends = archive->stream || size <= 2 * CHUNK ? size : CHUNK;
    uint8_t stated[8];
    bytes_put_le64(stated, size);
    XXH3_128bits_reset(archive->hash);
    XXH3_128bits_update(archive->hash, stated, sizeof stated);
    digest_bytes(archive, ends);
    if (ends < size && feed_skip_to(&archive->feed, file->archive_offset + size - CHUNK))
        digest_bytes(archive, CHUNK);
    const XXH128_hash_t digest = XXH3_128bits_digest(archive->hash);
    file->content[0] = digest.low64;
    file->content[1] = digest.high64;
    manifest_digest_as(file, file->name + file->member, file->digest);
}

static bool add_tar_member(void *context, const archive_entry_t *entry, err_t *err) {
    archive_t *archive = context;
    build_t *build = archive->build;
    input_file_t *file;
    char *path = name_clean(entry->name);
    const bool ok =
        may_go_on(archive, err) && (path ? add_member(archive, path, strlen(path), entry->no_file, &file)
                                         : err_memory(err, strlen(entry->name)));
    free(path);
    if (!ok || !file)
        return ok;
    file->archive = archive->file;
    file->archive_offset = entry->from;
    file->disk_bytes = entry->size;
    const size_t most = entry->size < MAGIC_LINES ? (size_t)entry->size : MAGIC_LINES;
    const size_t there = feed_want(&archive->feed, most);
    magic_is_t is;
    if (!identify_head(&build->own, &archive->feed.origin, file,
                       there ? feed_bytes(&archive->feed) : (const uint8_t *)"", there < most ? there : most,
                       MAGIC_IN_OTHER, &is))
        return false;
    build_keep_head(build, file); /* before the feed reads on */
    digest_member(archive, file);
    /* within a compressed tar, the text of a compressed member can be seen only when it is read */
    if (is == MAGIC_PACKED && !archive->stream) {
        if (!identify_text(&build->own, &archive->feed.origin, file, &is))
            return false;
        build_keep_head(build, file);
    }
    return keep(archive, file, is);
}

/* A compressed tar is read to its end, because its checksums are there. */
static bool read_tar(archive_t *archive) {
    err_t *err = archive->build->err;
    if (!(archive->hash = XXH3_createState()))
        return err_memory(err, sizeof(XXH3_state_t *));
    if (!tar_list(&archive->feed, add_tar_member, archive, err))
        return false;
    if (archive->stream) {
        feed_skip_to(&archive->feed, UINT64_MAX);
        archive->file->text_bound = feed_offset(&archive->feed);
    }
    return true;
}

/* ---- archives of mongodump ---- */

static bool add_collection(void *context, const dump_header_t *header, err_t *err) {
    archive_t *archive = context;
    const input_file_t *dump = archive->file;
    dump_metadata_t metadata;
    if (!dump_metadata_read(header->metadata, header->type, &metadata, err))
        return false;
    char *name = name_join(dump->name, "!", header->name, strlen(header->name));
    if (name && metadata.why_empty) {
        dumps_note_none(archive->build, name, header->name, metadata.why_empty);
        free(name);
        return true;
    }
    input_file_t *file = add_input(archive, name);
    if (!file)
        return false;
    file->kind = INPUT_DUMP;
    file->archive = dump;
    file->disk_bytes = dump->disk_bytes;
    file->text_bound = dump->text_bound;
    memcpy(file->content, dump->digest, sizeof file->content);
    manifest_digest_as(file, header->name, file->digest);
    file->collection = strdup(header->name);
    file->capped = metadata.capped;
    file->metadata = header->metadata ? strdup(header->metadata) : NULL;
    return (file->collection && (file->metadata || !header->metadata)) || err_memory(err, DUMP_NAME);
}

bool members_add(build_t *build, const origin_t *origin, input_file_t *file, magic_is_t is) {
    const bool packed = file->kind != INPUT_PLAIN;
    archive_t archive;
    memset(&archive, 0, offsetof(archive_t, feed));
    archive.build = build;
    archive.file = file;
    archive.origin = origin;
    archive.first = build->manifest->count;
    const origin_t text = origin_of(pull, &archive);
    feed_init(&archive.feed, file->name, packed ? &text : origin, false, 0,
              packed ? UINT64_MAX : file->disk_bytes);
    archive.feed.most = PIECE;
    if (is == MAGIC_ZIP && file->in_order)
        return err_set(
            build->err, STATUS_INPUT,
            "%.1000s: is a zip archive, which is read by ranges, and its server gives none: fetch it, and "
            "load the file",
            file->name);
    if (packed && file->object && !build->options->quiet)
        log_note("%s: is packed as a whole, so it is fetched twice: for the list of what it holds, and to be "
                 "loaded",
                 file->name);
    bool ok = !packed || (archive.stream = source_open_packed(&build->own.kit, file, -1, build->err));
    if (ok)
        ok = is == MAGIC_ZIP
                 ? zip_list(origin, file->disk_bytes, file->name, add_zip_member, &archive, build->err)
             : is == MAGIC_TAR ? read_tar(&archive)
                               : dump_read_list(&archive.feed, add_collection, &archive, build->err);
    if (archive.feed.failed) {
        *build->err = archive.feed.fault;
        ok = false;
    }
    source_close(archive.stream);
    feed_free(&archive.feed);
    XXH3_freeState(archive.hash);
    free(archive.said);
    tdestroy(archive.names, leave_name);
    return ok && (is == MAGIC_DUMP ? dumps_choose(build, archive.first, true, file->name)
                                   : check_members(&archive));
}
