/* How each kind of input is opened; and what is found out by opening one. */
#include "base/chars.h"
#include "format/cut/bson_span.h"
#include "input/archive/archive.h"
#include "input/file/fault.h"
#include "input/magic.h"
#include "input/source_inner.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

enum { LINES_STEP = 64 * 1024 };

/* A descriptor of its own. Opening a pipe that has no writer yet must not wait, because no signal would be noticed. The
 * same holds for a pipe that has replaced a file. */
static int open_file(const input_file_t *file) {
    if (file->pushed || source_is_stdin(file))
        return fcntl(file->pushed ? *file->pushed : STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    int fd;
    do
        fd = open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static ssize_t pull(void *archive, void *out, size_t size, err_t *err) {
    return source_read(archive, out, size, err);
}

/* For a member of a compressed tar: continues the kit's stream of the tar, or begins it again. */
static bool begin_in_stream(source_t *source, err_t *err) {
    source_kit_t *kit = source->kit;
    const input_file_t *file = source->file;
    if (kit->archive && (kit->archive->file != file->archive || kit->archive->faulty ||
                         kit->archive->position > file->archive_offset)) {
        source_close(kit->archive);
        kit->archive = NULL;
    }
    if (!kit->archive && !(kit->archive = source_open_archive(kit, file->archive, err)))
        return false;
    source->disk_before = source_disk_bytes(kit->archive);
    feed_init_pull(&source->feed, source->name, pull, kit->archive, file->archive_offset,
                   file->kind == INPUT_DUMP ? UINT64_MAX : file->archive_offset + file->disk_bytes);
    return source_skip_to(kit->archive, file->archive_offset, err) && source_is_unchanged(source, err) &&
           source_choose_decoder(source, file->kind, err);
}

/* Its bytes were kept when its digest was made. A reader of only the first bytes need not know whether the file is
 * still the same. */
static bool begin_kept(source_t *source, err_t *err) {
    const input_file_t *file = source->file;
    feed_init(&source->feed, source->name, -1, false, 0, file->disk_bytes);
    source->feed.kept = file->kept;
    source->feed.most = source->kit->piece;
    return (source->kit->piece || source_is_unchanged(source, err)) &&
           source_choose_decoder(source, file->kind, err);
}

static bool begin(source_t *source, err_t *err) {
    const input_file_t *file = source->file;
    bool is_stream = file->kind == INPUT_STREAM;
    source->feed.fd = -1;
    if (input_is_in_stream(file))
        return begin_in_stream(source, err);
    if (file->kept)
        return begin_kept(source, err);
    const int fd = open_file(file);
    uint64_t from = file->archive_offset, to = from + file->disk_bytes;
    feed_init(&source->feed, source->name, fd, is_stream, from, to);
    source->feed.pool = source->kit->pool;
    source->feed.most = source->kit->piece;
    if (fd < 0)
        return fault_system(err, source->name, errno);
    if (!source_is_unchanged(source, err))
        return false;
    /* otherwise one read gets the whole file */
    if (!is_stream && !source->kit->piece && file->disk_bytes > FEED_BYTES)
        posix_fadvise(fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    if (file->kind == INPUT_ZIP_MEMBER) {
        if (!zip_data_offset(fd, file, &from, err))
            return false;
        feed_init(&source->feed, source->name, fd, false, from, from + file->zip.compressed_bytes);
        source->feed.most = source->kit->piece;
    }
    return is_stream || source_choose_decoder(source, file->kind, err);
}

/* For people. */
static const char *name_of(const input_file_t *file) {
    return source_is_stdin(file) && strcmp(file->name, "-") == 0 ? "standard input" : file->name;
}

static source_t *open_source(source_kit_t *kit, const input_file_t *file, bool is_archive, err_t *err) {
    source_t *source = malloc(sizeof *source);
    if (!source) {
        err_memory(err, sizeof *source);
        return NULL;
    }
    memset(source, 0, offsetof(source_t, feed.fault));
    source->file = file;
    source->name = name_of(file);
    source->kit = kit;
    source->is_archive = is_archive;
    if (begin(source, err))
        return source;
    source_close(source);
    return NULL;
}

/* What an earlier one left, and nobody has read since, follows it. */
static uint8_t *join_left(const source_t *source, uint8_t *text, size_t length, err_t *err) {
    const size_t more = source->left_length - source->left_at;
    uint8_t *all = realloc(text, length + more + 1);
    if (all)
        memcpy(all + length, source->left + source->left_at, more);
    else
        err_memory(err, length + more);
    return all;
}

bool source_leave(source_t *source, input_file_t *file, uint8_t *text, size_t length, err_t *err) {
    if (source->left) {
        uint8_t *all = join_left(source, text, length, err);
        if (!all)
            return false;
        length += source->left_length - source->left_at;
        free(source->left);
        text = all;
    }
    source->left = text;
    source->left_length = length;
    source->left_at = 0;
    source->position = 0;
    file->begun = source;
    return true;
}

size_t source_kept(const input_file_t *file) {
    return file->begun ? file->begun->left_length - file->begun->left_at : 0;
}

static source_t *take_left(source_kit_t *kit, const input_file_t *file) {
    source_t *source = file->begun;
    ((input_file_t *)file)->begun = NULL; /* once, by the one thread that reads it */
    source_kit_free(source->kit);
    source->kit = kit;
    source->owns_kit = false;
    source->file = file;
    source->name = name_of(file);
    source->feed.name = source->name;
    source->feed.pool = kit->pool;
    return source;
}

source_t *source_open_in(source_kit_t *kit, const input_file_t *file, err_t *err) {
    if (file->begun)
        return take_left(kit, file);
    return open_source(kit, file, false, err);
}

source_t *source_open_archive(source_kit_t *kit, const input_file_t *archive, err_t *err) {
    return open_source(kit, archive, true, err);
}

source_t *source_open(const input_file_t *file, err_t *err) {
    source_kit_t *kit = source_kit_new();
    if (!kit) {
        err_memory(err, sizeof *kit);
        return NULL;
    }
    source_t *source = source_open_in(kit, file, err);
    if (source)
        source->owns_kit = true;
    else
        source_kit_free(kit);
    return source;
}

size_t source_head(source_kit_t *kit, const input_file_t *file, uint8_t *head, err_t *err) {
    source_t *source = open_source(kit, file, true, err);
    const ssize_t got = source ? source_read(source, head, MAGIC_BYTES, err) : 0;
    source_close(source);
    return got > 0 ? (size_t)got : 0;
}

bool source_lines(const input_file_t *file, bool bson, uint64_t offset, uint64_t *lines) {
    err_t ignored;
    source_t *source = source_open(file, &ignored);
    uint8_t *text = malloc(LINES_STEP);
    bson_span_counter_t counter = {0};
    bool ok = source && text;
    *lines = 0;
    for (uint64_t at = 0; ok && at < offset;) {
        size_t want = offset - at < LINES_STEP ? (size_t)(offset - at) : LINES_STEP;
        ssize_t got = source_read(source, text, want, &ignored);
        ok = got > 0;
        if (ok)
            *lines += bson ? bson_span_count(&counter, text, (size_t)got) : lines_count(text, (size_t)got);
        at += ok ? (uint64_t)got : 0;
    }
    free(text);
    if (source)
        source_close(source);
    return ok;
}
