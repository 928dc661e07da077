#include "input/source.h"
#include "base/chars.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/text.h"
#include "format/cut/ends.h"
#include "input/file/fault.h"
#include "input/magic.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STEP = 64 * 1024, A_FEW = 4096, PEEK = 16 * 1024 };
_Static_assert(MAGIC_LINES + A_FEW <= RECODE_MOST, "the first bytes may be converted");

struct source {
    const input_file_t *file;
    const char *name;       /* for sentences */
    source_kit_t *kit, own; /* its opener's, or its own */
    bool begun;         /* how the text is read is decided: at once for a plain file, or by the first bytes */
    decoder_t *decoder; /* of a stream: made at the first read, when its first bytes are known */
    uint64_t decoded;   /* how much text the decoder has given */
    uint64_t disk_before; /* what the stream of a compressed archive had taken when this member was opened */
    bool over;            /* the end or a fault was reached: nothing more is read */
    bool faulty;
    bool lent;     /* its file stays open when it is closed */
    bool unopened; /* so far only what the input keeps of its text was given out */
    bool utf16;    /* of the unpacked text */
    bool cr_lines; /* CR alone ends its lines: each becomes an LF */
    uint8_t *left; /* left[left_at, left_end): text to give out before any other */
    size_t left_at, left_end, left_room;
    feed_t feed;
    err_t fault;
};

static bool is_stdin(const input_file_t *file) {
    return file->kind == INPUT_STREAM && strcmp(file->path, "-") == 0 && !file->pushed;
}

/* The source of the compressed tar that contains this member; NULL: none. */
static const source_t *stream_of(const source_t *source) {
    return source->feed.origin.pull ? source->feed.origin.context : NULL;
}

/* Of the next byte that is given out. */
static uint64_t position_of(const source_t *source) {
    return source->decoded - (source->left_end - source->left_at);
}

/* ---- opening ---- */

/* Is the file still the one that the manifest saw? A member's disk_bytes are not its archive's size: there only the
 * time is compared. */
bool source_is_unchanged(const source_t *source, err_t *err) {
    const input_file_t *file = source->file;
    struct stat status;
    const bool is_compared = source->over && !source->faulty; /* when its end was read */
    if (file->kind == INPUT_STREAM || source->unopened || is_compared)
        return true;
    if (file->object) /* each answer of its server was looked at */
        return true;
    if (fstat((stream_of(source) ? stream_of(source) : source)->feed.origin.fd, &status) != 0)
        return fault_system(err, source->name, errno);
    const bool same = status.st_dev == file->device && status.st_ino == file->inode &&
                      clock_from_timespec(status.st_mtim) == file->modified_ns;
    const bool whole =
        file->kind == INPUT_ZIP_MEMBER || file->archive || (uint64_t)status.st_size == file->disk_bytes;
    return (same && whole) || fault_changed(err, source->name);
}

static bool choose_decoder(source_t *source, input_kind_t kind, err_t *err) {
    source->utf16 = kind == INPUT_UTF16;
    source->decoder = kind == INPUT_ZIP_MEMBER ? decoder_zip_member(source->file)
                      : kind == INPUT_DUMP     ? decoder_dump(source->file, !source->kit->looks)
                                               : decoder_of(kind);
    source->feed.what = input_kind_name(kind);
    return source->decoder || err_memory(err, FEED_BYTES);
}

static ssize_t pull(void *archive, void *out, size_t size, err_t *err) {
    return source_read(archive, out, size, err);
}

/* For a member of a compressed tar: continues the kit's stream of the tar, or begins it again. */
static bool go_to_member(source_t *source, err_t *err) {
    source_kit_t *kit = source->kit;
    const input_file_t *file = source->file;
    if (kit->archive && (kit->archive->file != file->archive || kit->archive->faulty ||
                         position_of(kit->archive) > file->archive_offset)) {
        source_close(kit->archive);
        kit->archive = NULL;
    }
    if (!kit->archive && !(kit->archive = source_open_packed(kit, file->archive, -1, err)))
        return false;
    source->disk_before = source_disk_bytes(kit->archive);
    const origin_t archive = origin_of(pull, kit->archive);
    feed_init(&source->feed, source->name, &archive, false, file->archive_offset,
              file->kind == INPUT_DUMP ? UINT64_MAX : file->archive_offset + file->disk_bytes);
    return source_skip_to(kit->archive, file->archive_offset, err);
}

/* For people. */
static const char *name_of(const input_file_t *file) {
    return is_stdin(file) && strcmp(file->name, "-") == 0 ? "standard input" : file->name;
}

/* All of an object is wanted, unless the source reads only its beginning or goes on with a piece. */
static bool open_origin(source_t *source, err_t *err) {
    origin_t *origin = &source->feed.origin;
    const source_kit_t *kit = source->kit;
    const remote_pace_t pace = {
        .ahead = kit->pace.ahead, .connections = kit->pace.connections, .pool = kit->pool};
    const bool ok = origin_open(origin, source->file, &pace, err);
    if (ok && origin->remote && !kit->looks)
        remote_read_until(origin->remote, source->feed.end);
    return ok;
}

static source_t *new_source(source_kit_t *kit, const input_file_t *file, err_t *err) {
    source_t *source = calloc(1, sizeof *source);
    if (!source) {
        err_memory(err, sizeof *source);
        return NULL;
    }
    source->file = file;
    source->name = name_of(file);
    source->kit = kit ? kit : &source->own;
    source->feed.origin = origin_none;
    return source;
}

/* Opens it. fd: of the file, if it is open already, else -1. */
static bool open_source(source_t *source, bool is_archive, int fd, err_t *err) {
    const input_file_t *file = source->file;
    const bool is_stream = file->kind == INPUT_STREAM;
    feed_t *feed = &source->feed;
    source->begun = is_archive || file->kind == INPUT_PLAIN;
    source->cr_lines = file->cr_lines && !is_archive;
    feed_init(feed, source->name, NULL, is_stream, file->archive_offset,
              file->archive_offset + file->disk_bytes);
    bool ok = true;
    if (input_is_in_stream(file))
        ok = go_to_member(source, err);
    else if (fd < 0)
        ok = open_origin(source, err);
    else
        feed->origin.fd = fd;
    source->lent = fd >= 0;
    feed->pool = source->kit->pool;
    feed->most = source->kit->looks ? PEEK : 0;
    return ok && (source->lent || source_is_unchanged(source, err)) &&
           (is_stream || choose_decoder(source, file->kind, err));
}

static source_t *new_opened(source_kit_t *kit, const input_file_t *file, bool is_archive, int fd,
                            err_t *err) {
    source_t *source = new_source(kit, file, err);
    if (!source || open_source(source, is_archive, fd, err))
        return source;
    source_close(source);
    return NULL;
}

/* Gives out what the input keeps of its text. */
static source_t *new_unopened(source_kit_t *kit, const input_file_t *file, err_t *err) {
    source_t *source = new_source(kit, file, err);
    if (!source)
        return NULL;
    source->unopened = source->begun = true;
    source->over = file->head.whole;
    source->decoded = file->head.length;
    if (source_unread(source, file->head.bytes, file->head.length, err))
        return source;
    source_close(source);
    return NULL;
}

/* Opens an input of which more is wanted than it keeps. */
static bool open_rest(source_t *source, err_t *err) {
    const uint64_t offset = position_of(source);
    source->unopened = source->over = false;
    source->left_at = source->left_end = 0;
    source->decoded = 0;
    return open_source(source, false, -1, err) && source_skip_to(source, offset, err);
}

source_t *source_open_in(source_kit_t *kit, const input_file_t *file, err_t *err) {
    source_t *source = file->begun;
    const bool is_kept =
        file->head.bytes && kit && (kit->looks || (file->head.whole && !input_is_in_stream(file)));
    if (!source && is_kept)
        return new_unopened(kit, file, err);
    if (!source)
        return new_opened(kit, file, false, -1, err);
    ((input_file_t *)file)->begun = NULL; /* once, by the one thread that reads it */
    source->kit = kit ? kit : &source->own;
    source->file = file;
    source->name = source->feed.name = name_of(file);
    source->feed.pool = source->kit->pool;
    return source;
}

source_t *source_open_packed(source_kit_t *kit, const input_file_t *file, int fd, err_t *err) {
    return new_opened(kit, file, true, fd, err);
}

source_t *source_open(const input_file_t *file, err_t *err) {
    return source_open_in(NULL, file, err);
}

/* ---- reading ---- */

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
    return magic_accept(magic, MAGIC_IN_OTHER, source->name, err) && choose_decoder(source, magic->kind, err);
}

/* Decodes once; afterwards source->over and source->faulty hold what the next call reports. */
static size_t decode(source_t *source, uint8_t *out, size_t size) {
    size_t got;
    decode_t done = source->decoder->read(source->decoder, &source->feed, out, size, &got, &source->fault);
    const uint64_t bound = source->file->text_bound;
    if (bound && got > bound - source->decoded) {
        got = (size_t)(bound - source->decoded);
        err_set(&source->fault, STATUS_INPUT,
                "%.1000s: holds more text than its size allows (%llu bytes); the file is damaged. Fetch it "
                "again and start over with --drop",
                source->name, (unsigned long long)bound);
        done = DECODE_FAULT;
    }
    source->decoded += got;
    if (done == DECODE_MORE)
        return got;
    if (source->feed.failed)
        source->fault = source->feed.fault;
    err_t change;
    const bool changed = !source_is_unchanged(source, &change);
    source->over = true;
    if (changed)
        source->fault = change;
    source->faulty = done == DECODE_FAULT || source->feed.failed || changed;
    return got;
}

/* Reads as much as decides what the text is and how its lines end. */
static bool read_first(source_t *source, err_t *err) {
    if (!GROW(source->left, source->left_room, MAGIC_LINES + A_FEW, err))
        return false;
    source->left_end = 0;
    source->decoded = 0;
    for (size_t more = 1; more && !source->over && source->left_end < MAGIC_LINES &&
                          !memchr(source->left, '\n', source->left_end);
         source->left_end += more)
        more = decode(source, source->left + source->left_end, A_FEW);
    return true;
}

static void end_lines_with_lf(uint8_t *text, size_t length) {
    for (uint8_t *at = text; (at = memchr(at, '\r', (size_t)(text + length - at)));)
        *at++ = '\n';
}

/* The first bytes of the text decide how the rest is read. Text that is compressed a second time would only give rejects; a
 * reject file, what was loaded already. */
static bool begin_text(source_t *source, err_t *err) {
    const char *encoding = source->file->encoding;
    if (!read_first(source, err))
        return false;
    source->begun = source->left_end || source->over;
    if (!source->left_end)
        return true;
    const magic_t *magic = magic_of(source->left, source->left_end);
    source->utf16 |= magic->is == MAGIC_UTF16;
    if (!magic_accept(magic, MAGIC_IN_TEXT, source->name, err))
        return false;
    if (encoding && (source->utf16 || lines_bom(source->left, source->left_end)))
        return err_set(err, STATUS_INPUT,
                       "%.1000s:1: its text is %s, and by the format it is %s; give a --format without "
                       "'encoding'",
                       source->name, source->utf16 ? "UTF-16" : "UTF-8, as its byte-order mark says",
                       encoding);
    if (encoding || source->utf16) {
        const decode_t done = !source->over ? DECODE_MORE : source->faulty ? DECODE_FAULT : DECODE_END;
        source->decoder = decoder_recode(source->decoder, encoding, source->name, source->left,
                                         source->left_end, done, &source->fault);
        source->over = source->faulty = false;
        if (!source->decoder || !read_first(source, err))
            return false;
    }
    source->cr_lines = magic_of_cr_lines(source->left, source->left_end);
    return true;
}

static size_t read_left(source_t *source, uint8_t *buffer, size_t size) {
    const size_t left = source->left_end - source->left_at, take = left < size ? left : size;
    if (take)
        memcpy(buffer, source->left + source->left_at, take);
    source->left_at += take;
    return take;
}

ssize_t source_read(source_t *source, void *buffer, size_t size, err_t *err) {
    if (!source->begun && !source->over &&
        !((source->decoder || look_at_stream(source, &source->fault)) &&
          begin_text(source, &source->fault))) {
        source->over = source->faulty = true;
        source->left_end = 0;
    }
    size_t got = read_left(source, buffer, size);
    if (got < size && !source->over && source->unopened) {
        if (!open_rest(source, &source->fault))
            source->over = source->faulty = true;
        got += read_left(source, (uint8_t *)buffer + got, size - got);
    }
    if (got < size && !source->over && !(got && source->feed.stream))
        got += decode(source, (uint8_t *)buffer + got, size - got);
    if (source->cr_lines)
        end_lines_with_lf(buffer, got);
    if (!got && source->faulty)
        *err = source->fault;
    return got ? (ssize_t)got : source->faulty ? -1 : 0;
}

bool source_is_unreadable(const source_t *source) {
    return source->feed.failed;
}

void source_read_until(source_t *source, uint64_t offset) {
    if (source->feed.origin.remote && offset < source->feed.end - source->file->archive_offset)
        remote_read_until(source->feed.origin.remote, source->file->archive_offset + offset);
}

bool source_unread(source_t *source, const uint8_t *text, size_t length, err_t *err) {
    const size_t left = source->left_end - source->left_at;
    if (length > source->left_at) {
        if (!GROW(source->left, source->left_room, length + left, err))
            return false;
        memmove(source->left + length, source->left + source->left_at, left);
        source->left_at = length;
        source->left_end = length + left;
    }
    source->left_at -= length;
    if (length)
        memcpy(source->left + source->left_at, text, length);
    return true;
}

bool source_leave(source_t *source, input_file_t *file, uint8_t *text, size_t length, err_t *err) {
    if (!source_unread(source, text, length, err))
        return false;
    free(text);
    file->begun = source;
    return true;
}

size_t source_kept(const input_file_t *file) {
    return file->begun ? file->begun->left_end - file->begun->left_at : 0;
}

static bool too_short(const source_t *source, uint64_t end, uint64_t offset, err_t *err) {
    err_set(err, STATUS_INPUT,
            "%.1000s: ends at byte %llu of its text, before byte %llu where it was to be continued; it is "
            "not the file that was read before",
            source->name, (unsigned long long)end, (unsigned long long)offset);
    err->changed = true;
    return false;
}

bool source_skip_to(source_t *source, uint64_t offset, err_t *err) {
    const input_file_t *file = source->file;
    if (source->unopened && !open_rest(source, err))
        return false;
    if (file->kind == INPUT_PLAIN && !stream_of(source)) {
        if (offset > file->disk_bytes)
            return too_short(source, file->disk_bytes, offset, err);
        source->left_at = source->left_end = 0;
        source->decoded = offset;
        source->feed.next = file->archive_offset + offset;
        source->feed.ended = source->over = source->faulty;
        return true;
    }
    for (uint64_t left; (left = offset - position_of(source));) {
        uint8_t passed[STEP];
        const ssize_t n = source_read(source, passed, left < STEP ? (size_t)left : STEP, err);
        if (n <= 0)
            return n == 0 && too_short(source, position_of(source), offset, err);
        if (stop_signal())
            return fault_stopped(err, source->name, stop_signal());
    }
    return true;
}

bool source_waits(const source_t *source, int milliseconds) {
    const feed_t *feed = &source->feed;
    return feed->at < feed->filled ||
           poll(&(struct pollfd){.fd = feed->origin.fd, .events = POLLIN}, 1, milliseconds) != 0;
}

bool source_is_utf16(const source_t *source) {
    return source->utf16;
}

const char *source_name(const source_t *source) {
    return source->name;
}

uint64_t source_disk_bytes(const source_t *source) {
    const source_t *stream = stream_of(source);
    if (source->unopened)
        return source->file->disk_bytes; /* they were read when the text was kept */
    return stream ? source_disk_bytes(stream) - source->disk_before
                  : atomic_load_explicit(&source->feed.taken, memory_order_relaxed);
}

void source_close(source_t *source) {
    if (!source)
        return;
    if (source->decoder)
        source->decoder->close(source->decoder);
    feed_free(&source->feed);
    if (!source->lent)
        origin_close(&source->feed.origin);
    free(source->left);
    source_close(source->own.archive);
    free(source);
}

bool source_push(int socket, const void *bytes, size_t length) {
    for (size_t done = 0; done < length;) {
        const ssize_t n = send(socket, (const char *)bytes + done, length - done, MSG_NOSIGNAL);
        if (n < 0 && errno == EPIPE)
            return false;
        done += n > 0 ? (size_t)n : 0;
    }
    return true;
}

/* ---- kits ---- */

void source_kit_close(source_kit_t *kit) {
    source_close(kit->archive);
}

/* ---- what is found out by opening an input ---- */

bool source_lines(const input_file_t *file, bool bson, uint64_t offset, uint64_t *lines) {
    enum { FAR = 256 << 20 };
    err_t ignored;
    uint8_t text[STEP];
    source_t *source = offset <= FAR ? source_open(file, &ignored) : NULL;
    bson_span_counter_t counter = {0};
    ssize_t got = source ? 1 : 0;
    *lines = 0;
    for (uint64_t at = 0; got > 0 && at<offset; at += got> 0 ? (uint64_t)got : 0) {
        got = source_read(source, text, offset - at < STEP ? (size_t)(offset - at) : STEP, &ignored);
        if (got > 0)
            *lines += bson ? bson_span_count(&counter, text, (size_t)got) : lines_count(text, (size_t)got);
    }
    source_close(source);
    return got > 0;
}
