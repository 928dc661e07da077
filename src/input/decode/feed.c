#include "input/decode/feed.h"
#include "base/stop.h"
#include "input/file/fault.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STOP_LOOK_MS = 100 };

/* ---- origins ---- */

static int open_file(const input_file_t *file) {
    const bool is_stdin = file->kind == INPUT_STREAM && strcmp(file->path, "-") == 0;
    if (file->pushed || is_stdin)
        return fcntl(file->pushed ? *file->pushed : STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
    return (int)TEMP_FAILURE_RETRY(open(file->path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
}

bool origin_open(origin_t *origin, const input_file_t *file, const remote_pace_t *pace, err_t *err) {
    *origin = origin_none;
    if (file->object)
        return (origin->remote = remote_open(file->object, pace, err)) != NULL;
    origin->fd = open_file(file);
    return origin->fd >= 0 || fault_system(err, file->name, errno);
}

void origin_close(origin_t *origin) {
    remote_close(origin->remote);
    if (origin->fd >= 0)
        close(origin->fd);
    *origin = origin_none;
}

ssize_t origin_pread(const origin_t *origin, void *out, size_t size, uint64_t offset, err_t *err) {
    if (origin->pull)
        return origin->pull(origin->context, out, size, err);
    return origin->remote ? remote_read(origin->remote, out, size, offset, err)
                          : pread(origin->fd, out, size, (off_t)offset);
}

bool origin_read(const origin_t *origin, const char *name, void *out, size_t size, uint64_t offset,
                 size_t *got, err_t *err) {
    ssize_t n = 1;
    for (*got = 0; *got < size && n; *got += n > 0 ? (size_t)n : 0) {
        n = origin_pread(origin, (char *)out + *got, size - *got, offset + *got, err);
        if (n < 0 && (origin->fd < 0 || errno != EINTR))
            return origin->fd >= 0 && fault_at(err, name, offset + *got, errno);
    }
    return true;
}

/* ---- feeds ---- */

void feed_init(feed_t *feed, const char *name, const origin_t *origin, bool stream, uint64_t from,
               uint64_t to) {
    memset(feed, 0, offsetof(feed_t, fault));
    feed->name = name;
    feed->what = "compressed";
    feed->origin = origin ? *origin : origin_none;
    feed->stream = stream;
    feed->next = from;
    feed->end = to;
}

void feed_free(feed_t *feed) {
    free(feed->bytes);
}

/* A signal may be delivered to another thread than the one that waits here, so the wait checks now and then. If the
 * pool is closed, the bytes are not needed and no sentence is set: whoever closed it has said why. */
static bool wait_for_stream(feed_t *feed) {
    for (;;) {
        if (stop_signal())
            return fault_stopped(&feed->fault, feed->name, stop_signal());
        if (feed->pool && pool_closed(feed->pool)) {
            feed->fault.text[0] = '\0';
            return false;
        }
        struct pollfd ready = {.fd = feed->origin.fd, .events = POLLIN};
        const int n = poll(&ready, 1, STOP_LOOK_MS);
        if (n > 0)
            return true;
        if (n < 0 && errno != EINTR)
            return fault_system(&feed->fault, feed->name, errno);
    }
}

/* Like read(2), from wherever the bytes come. */
static ssize_t read_once(feed_t *feed, uint8_t *out, size_t size) {
    if (feed->stream)
        return read(feed->origin.fd, out, size);
    return origin_pread(&feed->origin, out, size, feed->next, &feed->fault);
}

/* One read that succeeds. 0: the end; then feed->ended (perhaps feed->failed) is set. */
static size_t read_some(feed_t *feed, uint8_t *out, size_t size) {
    if (!feed->stream && size > feed->end - feed->next)
        size = (size_t)(feed->end - feed->next);
    while (!feed->ended && size) {
        if (feed->stream && !wait_for_stream(feed)) {
            feed->failed = true;
            break;
        }
        const ssize_t n = read_once(feed, out, size);
        if (n > 0) {
            feed->next += (uint64_t)n;
            atomic_fetch_add_explicit(&feed->taken, (uint64_t)n, memory_order_relaxed);
            return (size_t)n;
        }
        const bool said = feed->origin.fd < 0; /* what failed has the sentence */
        if (n < 0 && !said && (errno == EINTR || errno == EAGAIN))
            continue;
        if (n < 0)
            feed->failed = said || !fault_at(&feed->fault, feed->name, feed->next, errno);
        else if (!feed->stream && feed->end != UINT64_MAX)
            feed->failed = !fault_changed(&feed->fault, feed->name);
        break;
    }
    feed->ended = true;
    return 0;
}

/* Makes room for `count` bytes, at most for those that are left of a file. */
static bool make_room(feed_t *feed, size_t count) {
    const uint64_t left = feed->end - feed->next + (feed->filled - feed->at);
    size_t room = feed->most ? feed->most : FEED_BYTES;
    room = count > room ? count : room;
    room = !feed->stream && left < room ? (size_t)left : room;
    if (feed->bytes && room <= feed->room) /* the rest is shorter: it fits */
        return true;
    uint8_t *bytes = realloc(feed->bytes, FEED_BACK + room + FEED_SLACK);
    if (!bytes) {
        err_memory(&feed->fault, FEED_BACK + room + FEED_SLACK);
        feed->ended = feed->failed = true;
        return false;
    }
    if (!feed->bytes) {
        memset(bytes, 0, FEED_BACK);
        feed->at = feed->filled = FEED_BACK;
    }
    feed->bytes = bytes;
    feed->room = room;
    return true;
}

size_t feed_want(feed_t *feed, size_t count) {
    const size_t have = feed->filled - feed->at;
    if (have >= count || feed->ended)
        return have;
    if ((!feed->bytes || count > feed->room) && !make_room(feed, count))
        return have;
    memmove(feed->bytes, feed->bytes + feed->at - FEED_BACK, FEED_BACK + have);
    feed->at = FEED_BACK;
    feed->filled = FEED_BACK + have;
    while (feed->filled - feed->at < count && !feed->ended)
        feed->filled += read_some(feed, feed->bytes + feed->filled, FEED_BACK + feed->room - feed->filled);
    memset(feed->bytes + feed->filled, 0, FEED_SLACK);
    return feed->filled - feed->at;
}

size_t feed_copy(feed_t *feed, uint8_t *out, size_t size) {
    size_t got = feed->filled - feed->at < size ? feed->filled - feed->at : size;
    if (got) {
        memcpy(out, feed_bytes(feed), got);
        feed_take(feed, got);
    }
    for (size_t n = 1; got < size && n && !(got && feed->stream); got += n)
        n = read_some(feed, out + got, size - got);
    return got;
}

bool feed_skip_to(feed_t *feed, uint64_t offset) {
    const bool seeks = origin_has_places(&feed->origin) && !feed->stream;
    for (uint64_t left; (left = offset - feed_offset(feed));) {
        const size_t have = feed->filled - feed->at;
        if (left <= have || !seeks) {
            const size_t there = have ? have : feed_want(feed, 1);
            if (!there)
                return false;
            feed_take(feed, left < there ? (size_t)left : there);
        } else {
            feed->at = feed->filled;
            feed->next = offset < feed->end ? offset : feed->end;
            if (offset > feed->end)
                return false;
        }
    }
    return true;
}

uint64_t feed_offset(const feed_t *feed) {
    return feed->next - (feed->filled - feed->at);
}

bool feed_followed(const feed_t *feed, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: what follows the %s data at byte %llu is something else. If another file begins there, "
        "divide them (head -c, tail -c; unpack them before, if they are compressed), and load both; else "
        "fetch the file again, or cut the rest off, and run the same command again, with --reload-changed",
        feed->name, feed->what, (unsigned long long)feed_offset(feed));
}

bool feed_damaged(const feed_t *feed, const char *why, err_t *err) {
    if (!why)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: ends in the middle of its %s data, at byte %llu. Fetch the whole file, then "
                       "run the same command",
                       feed->name, feed->what, (unsigned long long)feed_offset(feed));
    return err_set(err, STATUS_INPUT,
                   "%.1000s: its %s data is damaged near byte %llu (%s), and what was loaded of it may be "
                   "wrong as well. Fetch the file again, then run the same command with --reload-changed, "
                   "which removes that",
                   feed->name, feed->what, (unsigned long long)feed_offset(feed), why);
}
