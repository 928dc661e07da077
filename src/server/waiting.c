#include "server/waiting.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/numbers.h"
#include "server/absence.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REFUSED_MS = 100 };
#define MS      1000000ll
#define FIRST   (800 * MS)
#define NEXT    (10000 * MS)
#define RESOLVE "Failed to resolve "

static void *tell(void *context) {
    waiting_t *waiting = context;
    int64_t next = clock_now_ns() + FIRST;
    pthread_mutex_lock(&waiting->lock);
    while (!waiting->over) {
        const struct timespec until = clock_to_timespec(next);
        if (pthread_cond_timedwait(&waiting->changed, &waiting->lock, &until) != ETIMEDOUT)
            continue;
        char time[UNITS_MAX];
        const int64_t left = waiting->deadline_ns - clock_now_ns();
        log_note("waiting for %s (%s); --patience ends in %s", waiting->address->hosts, waiting->why,
                 units_time(time, left > 0 ? left : 0));
        next += NEXT;
    }
    pthread_mutex_unlock(&waiting->lock);
    return NULL;
}

void waiting_begin(waiting_t *waiting, const address_t *address, int64_t patience_ns) {
    pthread_condattr_t monotonic;
    *waiting =
        (waiting_t){.address = address, .deadline_ns = clock_now_ns() + patience_ns, .why = "no answer yet"};
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&waiting->lock, NULL);
    pthread_cond_init(&waiting->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    waiting->runs = pthread_create(&waiting->thread, NULL, tell, waiting) == 0;
}

void waiting_end(waiting_t *waiting) {
    pthread_mutex_lock(&waiting->lock);
    waiting->over = true;
    pthread_cond_signal(&waiting->changed);
    pthread_mutex_unlock(&waiting->lock);
    if (waiting->runs)
        pthread_join(waiting->thread, NULL);
    pthread_mutex_destroy(&waiting->lock);
    pthread_cond_destroy(&waiting->changed);
}

/* The error of connecting to it, which the driver does not tell: 0 where there is none. */
static int connect_error(const struct addrinfo *at) {
    const int fd = socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol);
    int error = 0;
    socklen_t size = sizeof error;
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    if (fd < 0)
        return errno;
    if (connect(fd, at->ai_addr, at->ai_addrlen) != 0)
        error = errno;
    if (error == EINPROGRESS && poll(&look, 1, REFUSED_MS) > 0)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    close(fd);
    return error == EINPROGRESS ? 0 : error;
}

static void name_refusal(const mongoc_host_list_t *host, char *why, size_t room) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)host->port);
    const int error = getaddrinfo(host->host, port, &hints, &found) == 0 ? connect_error(found) : 0;
    snprintf(why, room, "%s",
             error == ECONNREFUSED ? "connection refused"
             : error               ? strerror(error)
                                   : "no connection");
    if (found)
        freeaddrinfo(found);
}

void waiting_why(waiting_t *waiting, mongoc_client_t *client, const bson_error_t *error) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(waiting->address->uri);
    const char *const words = error->message, *unknown = strstr(words, RESOLVE);
    char why[sizeof waiting->why];
    if (unknown)
        unknown += strlen(RESOLVE);
    if (host && strstr(words, "Failed to connect to target host"))
        name_refusal(host, why, sizeof why);
    else if (unknown && !(host && strncmp(unknown, host->host, strlen(host->host)) == 0))
        snprintf(why, sizeof why, "the name %.*s is not known", (int)strcspn(unknown, "]' "), unknown);
    else if (unknown)
        snprintf(why, sizeof why, "its name is not known");
    else if (error->domain != MONGOC_ERROR_SERVER_SELECTION || strchr(words, '['))
        absence_describe(waiting->address, client, error, why, sizeof why);
    else
        snprintf(why, sizeof why, "no answer");
    pthread_mutex_lock(&waiting->lock);
    memcpy(waiting->why, why, sizeof why);
    pthread_mutex_unlock(&waiting->lock);
}
