/* The box's connections: a thread each, messages as the driver sends them. */
#include "box_inner.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 16, OP_REPLY = 1, OP_QUERY = 2004, OP_MSG = 2013, MORE_TO_COME = 2, MOST = 64 << 20 };

static uint32_t read32(const uint8_t *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return BSON_UINT32_FROM_LE(value);
}

/* ---- messages ---- */

static bool receive_all(int socket, uint8_t *bytes, size_t length) {
    while (length) {
        const ssize_t got = recv(socket, bytes, length, 0);
        if (got <= 0)
            return false;
        bytes += got;
        length -= (size_t)got;
    }
    return true;
}

static bool send_all(int socket, const uint8_t *bytes, size_t length) {
    while (length) {
        const ssize_t sent = send(socket, bytes, length, MSG_NOSIGNAL);
        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* A whole message, to be freed; NULL: the connection has ended. */
static uint8_t *receive(int socket, size_t *length) {
    uint8_t header[HEADER];
    if (!receive_all(socket, header, HEADER))
        return NULL;
    *length = read32(header);
    if (*length < HEADER || *length > MOST)
        box_die("a message of %zu bytes", *length);
    uint8_t *message = malloc(*length + 1);
    if (!message)
        box_die("out of memory");
    memcpy(message, header, HEADER);
    message[*length] = 0;
    if (receive_all(socket, message + HEADER, *length - HEADER))
        return message;
    free(message);
    return NULL;
}

static bool send_message(int socket, uint32_t answers, bool as_reply, const bson_t *reply) {
    const size_t before = HEADER + (as_reply ? 20 : 5), length = before + reply->len;
    uint8_t *message = calloc(1, length);
    const uint32_t head[4] = {(uint32_t)length, 0, answers, as_reply ? OP_REPLY : OP_MSG};
    for (size_t i = 0; i < 4; i++)
        memcpy(message + 4 * i, &(uint32_t){BSON_UINT32_TO_LE(head[i])}, 4);
    if (as_reply)
        message[HEADER + 16] = 1; /* one document */
    memcpy(message + before, bson_get_data(reply), reply->len);
    const bool ok = send_all(socket, message, length);
    free(message);
    return ok;
}

/* The document at the place, and the place after it. */
static const uint8_t *view(const uint8_t *at, const uint8_t *end, bson_t *document) {
    if (end - at < 5 || read32(at) > (size_t)(end - at) || !bson_init_static(document, at, read32(at)))
        box_die("a message is cut off");
    return at + read32(at);
}

/* A list of documents that came next to the command becomes a field of it, as if it had come inside. */
static const uint8_t *take_list(const uint8_t *at, const uint8_t *end, bson_t *command) {
    const uint8_t *stop = at + read32(at);
    const char *name = (const char *)at + 4;
    bson_t list;
    if (stop > end)
        box_die("a message is cut off");
    at += 4 + strlen(name) + 1;
    bson_append_array_unsafe_begin(command, name, -1, &list);
    for (size_t i = 0; at < stop; i++) {
        bson_t document;
        char key[24];
        snprintf(key, sizeof key, "%zu", i);
        at = view(at, stop, &document);
        BSON_APPEND_DOCUMENT(&list, key, &document);
    }
    bson_append_array_end(command, &list);
    return stop;
}

static void read_message(const uint8_t *message, size_t length, bson_t *command) {
    const uint8_t *at = message + HEADER + 4, *end = message + length;
    bson_t body;
    while (at < end)
        if (*at == 0) {
            at = view(at + 1, end, &body);
            bson_concat(command, &body);
        } else {
            at = take_list(at + 1, end, command);
        }
}

/* The driver's first question to a server that it does not know yet. */
static void read_query(const uint8_t *message, size_t length, bson_t *command) {
    const uint8_t *at = message + HEADER + 4;
    bson_t body;
    at += strlen((const char *)at) + 1 + 8;
    view(at, message + length, &body);
    bson_concat(command, &body);
}

/* ---- connections ---- */

/* Who watches a server is answered when something has changed, and that does not happen here, or when he has waited. */
static void let_wait(box_t *box, const bson_t *command) {
    bson_iter_t most;
    struct timespec until;
    if (!bson_has_field(command, "topologyVersion") || !bson_iter_init_find(&most, command, "maxAwaitTimeMS"))
        return;
    clock_gettime(CLOCK_REALTIME, &until);
    const int64_t until_ns = until.tv_nsec + bson_iter_as_int64(&most) * 1000000;
    until.tv_sec += until_ns / 1000000000;
    until.tv_nsec = until_ns % 1000000000;
    pthread_mutex_lock(&box->lock);
    if (!box->ending)
        pthread_cond_timedwait(&box->changed, &box->lock, &until);
    pthread_mutex_unlock(&box->lock);
}

static bool serve_one(box_t *box, int socket) {
    size_t length;
    bson_t command = BSON_INITIALIZER, reply = BSON_INITIALIZER;
    uint8_t *message = receive(socket, &length);
    if (!message)
        return false;
    const uint32_t kind = read32(message + 12);
    if (kind != OP_MSG && kind != OP_QUERY)
        box_die("a message of the kind %u", kind);
    (kind == OP_MSG ? read_message : read_query)(message, length, &command);
    let_wait(box, &command);
    bool ok = box_answer(box, &command, &reply);
    if (ok && (kind != OP_MSG || !(read32(message + HEADER) & MORE_TO_COME)))
        ok = send_message(socket, read32(message + 4), kind == OP_QUERY, &reply);
    bson_destroy(&command);
    bson_destroy(&reply);
    free(message);
    return ok;
}

typedef struct {
    box_t *box;
    size_t number;
    int socket;
} connection_t;

static void *serve(void *context) {
    connection_t connection = *(connection_t *)context;
    box_t *box = connection.box;
    free(context);
    while (serve_one(box, connection.socket))
        ;
    pthread_mutex_lock(&box->lock);
    box->sockets[connection.number] = -1;
    close(connection.socket);
    pthread_mutex_unlock(&box->lock);
    return NULL;
}

static void accept_one(box_t *box, int socket) {
    int yes = 1;
    connection_t *connection = malloc(sizeof *connection);
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    pthread_mutex_lock(&box->lock);
    if (box->connections == box->connection_room) {
        box->connection_room = box->connection_room ? 2 * box->connection_room : 16;
        box->sockets = realloc(box->sockets, box->connection_room * sizeof *box->sockets);
        box->threads = realloc(box->threads, box->connection_room * sizeof *box->threads);
    }
    *connection = (connection_t){box, box->connections, socket};
    box->sockets[box->connections] = socket;
    if (pthread_create(&box->threads[box->connections++], NULL, serve, connection) != 0)
        box_die("no more threads");
    pthread_mutex_unlock(&box->lock);
}

static void *accept_all(void *context) {
    box_t *box = context;
    for (int socket; (socket = accept(box->listener, NULL, NULL)) >= 0;)
        accept_one(box, socket);
    return NULL;
}

void box_close_connections(box_t *box) {
    for (size_t i = 0; i < box->connections; i++)
        if (box->sockets[i] >= 0)
            shutdown(box->sockets[i], SHUT_RDWR);
}

/* ---- a box ---- */

box_t *box_start(box_kind_t kind) {
    box_t *box = calloc(1, sizeof *box);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof address;
    if (!box)
        box_die("out of memory");
    if (box_stderr == STDERR_FILENO)
        box_stderr = dup(STDERR_FILENO);
    box->kind = kind;
    box->said_of_build = bson_new();
    box->said_of_hello = bson_new();
    box->said_of_stats = bson_new();
    bson_oid_init(&box->process, NULL);
    pthread_mutex_init(&box->lock, NULL);
    pthread_cond_init(&box->changed, NULL);
    box->listener = socket(AF_INET, SOCK_STREAM, 0);
    if (box->listener < 0 || bind(box->listener, (struct sockaddr *)&address, size) != 0 ||
        listen(box->listener, 64) != 0 || getsockname(box->listener, (struct sockaddr *)&address, &size) != 0)
        box_die("cannot listen on loopback");
    box->port = ntohs(address.sin_port);
    if (kind == BOX_ROUTER)
        box_begin_cluster(box);
    if (pthread_create(&box->acceptor, NULL, accept_all, box) != 0)
        box_die("no more threads");
    return box;
}

static void free_box(box_t *box) {
    while (box->store.count)
        box_drop_collection(&box->store, &box->store.collections[0]);
    for (size_t i = 0; i < BOX_CURSORS; i++) {
        for (size_t j = 0; j < box->cursors[i].count; j++)
            bson_destroy(box->cursors[i].documents[j]);
        free(box->cursors[i].documents);
    }
    for (size_t i = 0; i < box->asked_count; i++)
        bson_destroy(box->asked[i].last);
    bson_destroy(box->said_of_build);
    bson_destroy(box->said_of_hello);
    bson_destroy(box->said_of_stats);
    pthread_mutex_destroy(&box->lock);
    pthread_cond_destroy(&box->changed);
    free(box->threads);
    free(box->sockets);
    free(box);
}

void box_stop(box_t *box) {
    shutdown(box->listener, SHUT_RDWR);
    pthread_join(box->acceptor, NULL);
    close(box->listener);
    pthread_mutex_lock(&box->lock);
    box->ending = true;
    pthread_cond_broadcast(&box->changed);
    box_close_connections(box);
    pthread_mutex_unlock(&box->lock);
    for (size_t i = 0; i < box->connections; i++)
        pthread_join(box->threads[i], NULL);
    free_box(box);
}

const char *box_uri(const box_t *box, const char *namespace, char uri[BOX_URI]) {
    snprintf(uri, BOX_URI, "mongodb://127.0.0.1:%u/%s?heartbeatFrequencyMS=500", box->port, namespace);
    return uri;
}
