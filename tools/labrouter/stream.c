#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct tls {
    SSL_CTX *server, *client;
};

struct stream {
    int fd;
    SSL *ssl;
    uint8_t *joined; /* with TLS: pieces become one write, so one record where they fit */
    size_t joined_room;
};

bool problem_set(problem_t *problem, int code, const char *words, ...) {
    va_list arguments;
    va_start(arguments, words);
    problem->code = code;
    problem->name[0] = '\0';
    vsnprintf(problem->text, sizeof problem->text, words, arguments);
    va_end(arguments);
    return false;
}

/* ---- TLS ---- */

static const char *tls_reason(void) {
    const char *reason = ERR_reason_error_string(ERR_get_error());
    ERR_clear_error();
    return reason ? reason : "unknown reason";
}

static bool tls_show(SSL_CTX *context, const char *certificate, problem_t *problem) {
    if (SSL_CTX_use_certificate_chain_file(context, certificate) == 1 &&
        SSL_CTX_use_PrivateKey_file(context, certificate, SSL_FILETYPE_PEM) == 1)
        return true;
    return problem_set(problem, 0, "%s: not a PEM file with a certificate and its key (%s)", certificate,
                       tls_reason());
}

tls_t *tls_new(const char *certificate, const char *authority, problem_t *problem) {
    tls_t *tls = calloc(1, sizeof *tls);
    tls->server = SSL_CTX_new(TLS_server_method());
    tls->client = SSL_CTX_new(TLS_client_method());
    bool ok = tls_show(tls->server, certificate, problem) && tls_show(tls->client, certificate, problem);
    if (ok && authority) {
        ok = SSL_CTX_load_verify_locations(tls->client, authority, NULL) == 1;
        if (!ok)
            problem_set(problem, 0, "%s: not a PEM file with certificates (%s)", authority, tls_reason());
        SSL_CTX_set_verify(tls->client, SSL_VERIFY_PEER, NULL);
    }
    if (ok)
        return tls;
    tls_destroy(tls);
    return NULL;
}

void tls_destroy(tls_t *tls) {
    if (!tls)
        return;
    SSL_CTX_free(tls->server);
    SSL_CTX_free(tls->client);
    free(tls);
}

static bool stream_start_tls(stream_t *stream, SSL_CTX *context, bool as_server) {
    stream->ssl = SSL_new(context);
    SSL_set_fd(stream->ssl, stream->fd);
    return (as_server ? SSL_accept(stream->ssl) : SSL_connect(stream->ssl)) == 1;
}

/* ---- opening and closing ---- */

static stream_t *stream_new(int fd) {
    const int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
    stream_t *stream = calloc(1, sizeof *stream);
    stream->fd = fd;
    return stream;
}

static bool connect_within(int fd, const struct addrinfo *address, int timeout_ms) {
    const int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    if (connect(fd, address->ai_addr, address->ai_addrlen) != 0) {
        struct pollfd wait = {.fd = fd, .events = POLLOUT};
        int error = errno;
        socklen_t size = sizeof error;
        if (error != EINPROGRESS)
            return false;
        if (poll(&wait, 1, timeout_ms) != 1) {
            errno = ETIMEDOUT;
            return false;
        }
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
        if (error) {
            errno = error;
            return false;
        }
    }
    fcntl(fd, F_SETFL, flags);
    return true;
}

stream_t *stream_connect(const char *host, tls_t *tls, int timeout_ms, problem_t *problem) {
    char name[HOST_SIZE];
    snprintf(name, sizeof name, "%s", host);
    char *colon = strrchr(name, ':');
    const char *port = colon ? colon + 1 : "27017";
    if (colon)
        *colon = '\0';
    struct addrinfo *address, hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM};
    if (getaddrinfo(name, port, &hints, &address) != 0) {
        problem_set(problem, CODE_UNREACHABLE, "%s: there is no such host", host);
        return NULL;
    }
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const bool connected = fd >= 0 && connect_within(fd, address, timeout_ms);
    freeaddrinfo(address);
    if (!connected) {
        problem_set(problem, CODE_UNREACHABLE, "%s: cannot connect: %s", host, strerror(errno));
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    stream_t *stream = stream_new(fd);
    stream_set_patience(stream, timeout_ms);
    if (tls && !stream_start_tls(stream, tls->client, false)) {
        problem_set(problem, CODE_UNREACHABLE, "%s: no TLS: %s", host, tls_reason());
        stream_destroy(stream);
        return NULL;
    }
    stream_set_patience(stream, 0);
    return stream;
}

stream_t *stream_accept(int fd) {
    return stream_new(fd);
}

bool stream_handshake(stream_t *stream, tls_t *tls) {
    return !tls || stream_start_tls(stream, tls->server, true);
}

void stream_destroy(stream_t *stream) {
    if (!stream)
        return;
    SSL_free(stream->ssl);
    close(stream->fd);
    free(stream->joined);
    free(stream);
}

void stream_leave_thread(void) {
    OPENSSL_thread_stop();
}

void stream_set_patience(stream_t *stream, int ms) {
    const struct timeval wait = {.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};
    setsockopt(stream->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    setsockopt(stream->fd, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof wait);
}

/* ---- reading and writing ---- */

bool stream_is_quiet(const stream_t *stream) {
    return poll(&(struct pollfd){.fd = stream->fd, .events = POLLIN}, 1, 0) == 0;
}

bool stream_read(stream_t *stream, void *data, size_t size) {
    for (uint8_t *at = data; size;) {
        ssize_t got;
        if (stream->ssl)
            got = SSL_read(stream->ssl, at, (int)(size < 1 << 30 ? size : 1 << 30));
        else
            got = recv(stream->fd, at, size, 0);
        if (got <= 0 && !stream->ssl && errno == EINTR && got < 0)
            continue;
        if (got <= 0)
            return false;
        at += got;
        size -= (size_t)got;
    }
    return true;
}

static bool write_tls(stream_t *stream, const struct iovec *pieces, int count) {
    size_t size = 0;
    for (int i = 0; i < count; i++)
        size += pieces[i].iov_len;
    if (stream->joined_room < size) {
        free(stream->joined);
        stream->joined = malloc(stream->joined_room = size);
    }
    uint8_t *at = stream->joined;
    for (int i = 0; i < count; i++)
        at = (uint8_t *)mempcpy(at, pieces[i].iov_base, pieces[i].iov_len);
    return SSL_write(stream->ssl, stream->joined, (int)size) == (int)size;
}

bool stream_write(stream_t *stream, struct iovec *pieces, int count) {
    if (stream->ssl)
        return write_tls(stream, pieces, count);
    while (count) {
        ssize_t done = sendmsg(stream->fd, &(struct msghdr){.msg_iov = pieces, .msg_iovlen = (size_t)count},
                               MSG_NOSIGNAL);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        for (; count && (size_t)done >= pieces->iov_len; pieces++, count--)
            done -= (ssize_t)pieces->iov_len;
        if (count) {
            pieces->iov_base = (uint8_t *)pieces->iov_base + done;
            pieces->iov_len -= (size_t)done;
        }
    }
    return true;
}
