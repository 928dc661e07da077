#include "server/await.h"
#include "base/clock.h"
#include "base/stop.h"

#if MONGOC_CHECK_VERSION(2, 0, 0)

/* This driver takes no connections of ours for the clients of a pool. */
void await_stop(mongoc_client_t *client) {
    (void)client;
    stop_hangs_up();
}

#else

#include <errno.h>
#include <stdlib.h>

enum { LOOK_UP_MS = 50, TYPE = 77, HOUR_MS = 3600 * 1000 };

/* The driver's own way to connect. All of its releases have this function, but no header declares it: hence weak. */
mongoc_stream_t *mongoc_client_default_stream_initiator(const mongoc_uri_t *uri,
                                                        const mongoc_host_list_t *host, void *client,
                                                        bson_error_t *error) __attribute__((weak));

typedef struct {
    mongoc_stream_t stream; /* what the driver sees; must be the first member */
    mongoc_stream_t *base;
    bool asked; /* something was sent, and no byte of the answer has arrived */
} awaited_t;

static mongoc_stream_t *base_of(mongoc_stream_t *stream) {
    return ((awaited_t *)(void *)stream)->base;
}

/* False: a signal came, and there is no answer. True: an answer or an error is there for the base's own read. */
static bool wait_for_answer(mongoc_stream_t *base, int32_t timeout_ms) {
    int64_t start = clock_now_ns(), noticed = 0;
    int64_t until = start + (int64_t)(timeout_ms > 0 ? timeout_ms : HOUR_MS) * 1000000;
    for (int64_t now = start; now < until; now = clock_now_ns()) {
        if (stop_signal() && !noticed)
            noticed = now;
        if (noticed && now - noticed > STOP_REPLY_SECONDS * (int64_t)1000000000)
            return false;
        mongoc_stream_poll_t poll = {.stream = base, .events = POLLIN};
        ssize_t ready = mongoc_stream_poll(&poll, 1, LOOK_UP_MS);
        if (ready > 0 || (ready < 0 && errno != EINTR && errno != EAGAIN))
            return true;
    }
    return true;
}

static ssize_t await_readv(mongoc_stream_t *stream, mongoc_iovec_t *iov, size_t count, size_t least,
                           int32_t timeout_ms) {
    awaited_t *awaited = (awaited_t *)(void *)stream;
    const int64_t start = clock_now_ns();
    if (awaited->asked && !wait_for_answer(awaited->base, timeout_ms)) {
        errno = ETIMEDOUT;
        return -1;
    }
    /* the base's own read waits again, but only for the rest of the time */
    const int64_t left_ms = timeout_ms - (clock_now_ns() - start) / 1000000;
    if (timeout_ms > 0)
        timeout_ms = left_ms > 0 ? (int32_t)left_ms : 1;
    /* only for the first bytes: TLS may already have read the others, and poll does not see those */
    awaited->asked = false;
    return mongoc_stream_readv(awaited->base, iov, count, least, timeout_ms);
}

static ssize_t await_writev(mongoc_stream_t *stream, mongoc_iovec_t *iov, size_t count, int32_t timeout_ms) {
    awaited_t *awaited = (awaited_t *)(void *)stream;
    awaited->asked = true;
    return mongoc_stream_writev(awaited->base, iov, count, timeout_ms);
}

static void await_destroy(mongoc_stream_t *stream) {
    mongoc_stream_destroy(base_of(stream));
    free(stream);
}

static void await_failed(mongoc_stream_t *stream) {
    mongoc_stream_failed(base_of(stream));
    free(stream);
}

static int await_close(mongoc_stream_t *stream) {
    return mongoc_stream_close(base_of(stream));
}

static int await_flush(mongoc_stream_t *stream) {
    return mongoc_stream_flush(base_of(stream));
}

static int await_setsockopt(mongoc_stream_t *stream, int level, int name, void *value,
                            mongoc_socklen_t size) {
    return mongoc_stream_setsockopt(base_of(stream), level, name, value, size);
}

static bool await_check_closed(mongoc_stream_t *stream) {
    return mongoc_stream_check_closed(base_of(stream));
}

static bool await_timed_out(mongoc_stream_t *stream) {
    return mongoc_stream_timed_out(base_of(stream));
}

static bool await_should_retry(mongoc_stream_t *stream) {
    return mongoc_stream_should_retry(base_of(stream));
}

static mongoc_stream_t *open_stream(const mongoc_uri_t *uri, const mongoc_host_list_t *host, void *client,
                                    bson_error_t *error) {
    mongoc_stream_t *base = mongoc_client_default_stream_initiator(uri, host, client, error);
    awaited_t *awaited = base ? calloc(1, sizeof *awaited) : NULL;
    if (!awaited)
        return base;
    awaited->base = base;
    awaited->stream = (mongoc_stream_t){
        .type = TYPE,
        .destroy = await_destroy,
        .close = await_close,
        .flush = await_flush,
        .writev = await_writev,
        .readv = await_readv,
        .setsockopt = await_setsockopt,
        .get_base_stream = base_of,
        .check_closed = await_check_closed,
        .failed = await_failed,
        .timed_out = await_timed_out,
        .should_retry = await_should_retry,
    };
    return &awaited->stream;
}

void await_stop(mongoc_client_t *client) {
    if (mongoc_client_default_stream_initiator)
        mongoc_client_set_stream_initiator(client, open_stream, client);
}

#endif
