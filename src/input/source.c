#include "input/source.h"
#include "base/chars.h"
#include "base/clock.h"
#include "base/stop.h"
#include "input/file/fault.h"
#include "input/magic.h"
#include "input/source_inner.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SKIP_STEP = 64 * 1024, PEEK_BYTES = 16 * 1024 };

/* Is the file still the one that the manifest saw? A member's disk_bytes are not its archive's size: there only the
 * time is compared. */
bool source_is_unchanged(const source_t *source, err_t *err) {
    const input_file_t *file = source->file;
    struct stat status;
    if (file->kind == INPUT_STREAM)
        return true;
    if (file->kept
            ? stat(file->path, &status) != 0
            : fstat((source_stream_of(source) ? source_stream_of(source) : source)->feed.fd, &status) != 0)
        return fault_system(err, source->name, errno);
    if (file->kind != INPUT_ZIP_MEMBER && !file->archive && (uint64_t)status.st_size != file->disk_bytes)
        return fault_changed(err, source->name,
                             (uint64_t)status.st_size < file->disk_bytes ? "it became shorter"
                                                                         : "it became longer");
    if (status.st_dev != file->device || status.st_ino != file->inode)
        return fault_changed(err, source->name, "another file has come into its place");
    if (clock_from_timespec(status.st_mtim) != file->modified_ns)
        return fault_changed(err, source->name, "its time of modification is another");
    return true;
}

bool source_choose_decoder(source_t *source, input_kind_t kind, err_t *err) {
    source->packing = kind;
    source->decoder = kind == INPUT_ZIP_MEMBER ? decoder_zip_member(source->file)
                      : kind == INPUT_DUMP     ? decoder_dump(source->file, !source->kit->looks)
                                               : spare_take(&source->kit->spare, kind);
    source->feed.what = input_kind_name(kind);
    return source->decoder || err_memory(err, FEED_BYTES);
}

/* The first bytes from the pipe decide how it is read. */
static bool look_at_stream(source_t *source, err_t *err) {
    size_t have = feed_want(&source->feed, MAGIC_LEAST);
    if (source->feed.failed) {
        *err = source->feed.fault;
        return false;
    }
    const magic_t *magic = magic_of(have ? feed_bytes(&source->feed) : (const uint8_t *)"", have);
    if (magic->is == MAGIC_UTF16 && (have = feed_want(&source->feed, UTF16_SAMPLE)) >= MAGIC_LEAST)
        magic = magic_of(feed_bytes(&source->feed), have);
    return magic_accept(magic, MAGIC_IN_OTHER, source->name, err) &&
           source_choose_decoder(source, magic->kind, err);
}

/* Text that is compressed a second time would only give rejects; a reject file, what was loaded already. */
static bool is_text(source_t *source, const uint8_t *text, size_t size, err_t *err) {
    const magic_t *magic = magic_of(text, size);
    source->utf16 = magic->is == MAGIC_UTF16 || source->packing == INPUT_UTF16;
    return magic_accept(magic, MAGIC_IN_TEXT, source->name, err);
}

static ssize_t fail(source_t *source, err_t *err) {
    source->over = source->faulty = true;
    *err = source->fault;
    return -1;
}

/* Decodes once; afterwards source->over and source->faulty hold what the next call reports. */
static size_t decode(source_t *source, uint8_t *out, size_t size) {
    size_t got;
    decode_t done = source->decoder->read(source->decoder, &source->feed, out, size, &got, &source->fault);
    uint64_t bound = source->file->text_bound;
    if (bound && got > bound - source->position) {
        got = (size_t)(bound - source->position);
        err_set(&source->fault, STATUS_INPUT,
                source->utf16
                    ? "%.1000s: its UTF-16 text takes more than %llu bytes as UTF-8, which is what its "
                      "archive says of it; unpack it first"
                    : "%.1000s: holds more text than its size allows (%llu bytes); the file is damaged. "
                      "Fetch it again and start over with --drop",
                source->name, (unsigned long long)bound);
        source->feed.damaged = true;
        done = DECODE_FAULT;
    }
    if (done == DECODE_MORE)
        return got;
    if (source->feed.idle) /* only a feed that is copied is so: it goes on */
        return got;
    source->over = true;
    if (source->feed.failed)
        source->fault = source->feed.fault;
    err_t change;
    source->changed = !source->file->kept && !source_is_unchanged(source, &change);
    if (source->changed)
        source->fault = change;
    source->faulty = done == DECODE_FAULT || source->feed.failed || source->changed;
    return got;
}

/* What was read first is of another encoding, and so is all the rest. */
static bool begin_recode(source_t *source, uint8_t *buffer, size_t size, size_t *got, err_t *err) {
    const decode_t done = !source->over ? DECODE_MORE : source->faulty ? DECODE_FAULT : DECODE_END;
    const decoded_t begun = {buffer, *got, done, &source->fault};
    const char *encoding = source->file->encoding;
    if (encoding && (source->utf16 || lines_bom(buffer, *got)))
        return err_set(err, STATUS_INPUT,
                       "%.1000s:1: its text is %s, and by the format it is %s; give a --format without "
                       "'encoding'",
                       source->name, source->utf16 ? "UTF-16" : "UTF-8, as its byte-order mark says",
                       encoding);
    if (!encoding && !source->utf16)
        return true;
    source->decoder = decoder_recode(source->decoder, encoding, &begun);
    source->over = source->faulty = false;
    if (!source->decoder)
        return err_memory(err, *got);
    *got = decode(source, buffer, size);
    return true;
}

static ssize_t read_left(source_t *source, uint8_t *buffer, size_t size) {
    const size_t left = source->left_length - source->left_at, take = left < size ? left : size;
    memcpy(buffer, source->left + source->left_at, take);
    source->left_at += take;
    source->position += take;
    if (take == left) {
        free(source->left);
        source->left = NULL;
    }
    if (take == size)
        return (ssize_t)take;
    err_t ignored; /* a fault is reported again */
    const ssize_t more = source_read(source, buffer + take, size - take, &ignored);
    return (ssize_t)take + (more > 0 ? more : 0);
}

ssize_t source_read(source_t *source, void *buffer, size_t size, err_t *err) {
    if (source->left && source->left_length)
        return read_left(source, buffer, size);
    if (source->faulty)
        return fail(source, err);
    if (source->over || !size)
        return 0;
    if (!source->decoder && !look_at_stream(source, &source->fault))
        return fail(source, err);
    if (source->idle_ns && source->packing == INPUT_PLAIN &&
        !source->file->encoding) /* a decoder would take it for the end */
        feed_hurry(&source->feed, source->idle_ns, source->until_ns);
    size_t got = decode(source, buffer, size);
    if (!source->position && got && source->file->kind != INPUT_PLAIN && !source->is_archive &&
        (!is_text(source, buffer, got, &source->fault) ||
         !begin_recode(source, buffer, size, &got, &source->fault)))
        return fail(source, err);
    source->position += got;
    return got ? (ssize_t)got : source->faulty ? fail(source, err) : 0;
}

static bool too_short(source_t *source, uint64_t offset, err_t *err) {
    err_set(err, STATUS_INPUT,
            "%.1000s: ends at byte %llu of its text, before byte %llu where it was to be continued; it is "
            "not the file that was read before",
            source->name, (unsigned long long)source->position, (unsigned long long)offset);
    err->changed = true;
    return false;
}

bool source_skip_to(source_t *source, uint64_t offset, err_t *err) {
    if (source->file->kind == INPUT_PLAIN && !source_stream_of(source)) {
        if (offset > source->file->disk_bytes) {
            source->position = source->file->disk_bytes;
            return too_short(source, offset, err);
        }
        source->position = offset;
        source->feed.next = source->file->archive_offset + offset;
        source->feed.ended = source->over = source->faulty;
        return true;
    }
    if (offset < source->position)
        return err_set(err, STATUS_INPUT, "%.1000s: compressed data and streams cannot be read backwards",
                       source->name);
    uint64_t gap = offset - source->position;
    uint8_t *scratch = gap ? malloc(gap < SKIP_STEP ? (size_t)gap : SKIP_STEP) : NULL;
    if (!scratch)
        return !gap || err_memory(err, SKIP_STEP);
    ssize_t n = 1;
    while (n > 0 && source->position < offset) {
        uint64_t left = offset - source->position;
        n = source_read(source, scratch, left < SKIP_STEP ? (size_t)left : SKIP_STEP, err);
        if (stop_signal() && n > 0) {
            n = -1;
            fault_stopped(err, source->name, stop_signal());
        }
    }
    free(scratch);
    return n > 0 || (n == 0 && too_short(source, offset, err));
}

void source_hurry(source_t *source, int64_t idle_ns, int64_t until_ns) {
    source->idle_ns = idle_ns;
    source->until_ns = until_ns;
    feed_hurry(&source->feed, 0, 0);
}

bool source_is_idle(const source_t *source) {
    return source->feed.idle;
}

bool source_is_utf16(const source_t *source) {
    return source->utf16 || source->packing == INPUT_UTF16;
}

const char *source_name(const source_t *source) {
    return source->name;
}

bool source_is_suspect(const source_t *source) {
    const source_t *stream = source_stream_of(source);
    return source->feed.damaged || source->changed || (stream && source_is_suspect(stream));
}

uint64_t source_disk_bytes(const source_t *source) {
    const source_t *stream = source_stream_of(source);
    return stream ? source_disk_bytes(stream) - source->disk_before
                  : atomic_load_explicit(&source->feed.taken, memory_order_relaxed);
}

void source_close(source_t *source) {
    if (!source)
        return;
    spare_give(&source->kit->spare, source->packing, source->decoder);
    feed_free(&source->feed);
    if (source->feed.fd >= 0)
        close(source->feed.fd);
    free(source->left);
    if (source->owns_kit)
        source_kit_free(source->kit);
    free(source);
}

source_kit_t *source_kit_new(void) {
    return calloc(1, sizeof(source_kit_t));
}

source_kit_t *source_kit_new_to_look(void) {
    source_kit_t *kit = source_kit_new();
    if (kit)
        kit->looks = true;
    return kit;
}

const source_t *source_kit_stream(const source_kit_t *kit) {
    return kit->archive;
}

void source_kit_watch(source_kit_t *kit, pool_t *pool) {
    kit->pool = pool;
}

void source_kit_free(source_kit_t *kit) {
    if (!kit)
        return;
    source_close(kit->archive); /* gives its decoder back to the kit */
    spare_free(&kit->spare);
    free(kit);
}

void source_kit_peek(source_kit_t *kit) {
    kit->piece = PEEK_BYTES;
    kit->looks = true;
}
