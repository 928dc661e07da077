/* stream: one TCP connection on this host, with TLS or without. It belongs to one thread.
 *
 * problem_t: what went wrong, as the server's own number and a sentence; every function that can fail fills
 * one and returns false (or NULL). */
#ifndef LABROUTER_STREAM_H
#define LABROUTER_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum {
    HOST_SIZE = 256,
    CODE_UNREACHABLE = 6,
    CODE_FAILED_TO_PARSE = 9,
    CODE_UNAUTHORIZED = 13,
    CODE_LOGIN_FAILED = 18,
    CODE_NO_SUCH_NAMESPACE = 26,
    CODE_NO_SUCH_COMMAND = 59,
    CODE_INVALID_OPTIONS = 72,
    CODE_NOT_SUPPORTED = 115,
    CODE_NOT_SHARDED = 118,
    CODE_NO_PRIMARY = 133,
    CODE_NOT_PRIMARY = 10107,
};

typedef struct {
    int code;
    char name[64]; /* the code's, when a server has said it */
    char text[600];
} problem_t;

bool problem_set(problem_t *problem, int code, const char *words, ...) __attribute__((format(printf, 3, 4)));

typedef struct tls tls_t;
typedef struct stream stream_t;

/* The certificate (with its key) shown to clients and to servers, and the authority that servers are held
 * against. */
tls_t *tls_new(const char *certificate, const char *authority, problem_t *problem);
void tls_destroy(tls_t *tls);

/* tls may be NULL. host is "name:port". */
stream_t *stream_connect(const char *host, tls_t *tls, int timeout_ms, problem_t *problem);
/* Of a client that has connected; the handshake, where there is TLS, is a step of its own. */
stream_t *stream_accept(int fd);
bool stream_handshake(stream_t *stream, tls_t *tls);
void stream_destroy(stream_t *stream);
/* The last thing that a thread with streams does: lets go of what OpenSSL keeps for it. */
void stream_leave_thread(void);

/* Bounds each wait for the other side; 0: no bound. */
void stream_set_patience(stream_t *stream, int ms);
/* Nothing has come, not even the end. */
bool stream_is_quiet(const stream_t *stream);
bool stream_read(stream_t *stream, void *data, size_t size);
/* Uses the pieces up. */
bool stream_write(stream_t *stream, struct iovec *pieces, int count);

#endif
