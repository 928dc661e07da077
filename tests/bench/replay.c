/* replay: the ceiling of any loader on this machine. It sends documents that are already BSON, in messages
 * that are complete before the clock starts, over T connections, one message in flight on each, and does
 * nothing else.
 *
 *     replay --port P --to DATABASE.COLLECTION [--connections T] [--batch N] [--run R] [--majority] FILE.bson
 *
 * FILE.bson holds documents one behind the other (`tipple parse --emit bson --ids`). Every reply is read and
 * must say that all of its documents went in. Prints one line of JSON; exit status 1 if any batch was not
 * whole. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 16, OP_MSG = 2013, MOST_MESSAGE = 48000000, MOST_REPLY = 1 << 20, MOST_CONNECTIONS = 256 };

typedef struct {
    const uint8_t *bytes;
    uint32_t length, documents;
} message_t;

typedef struct {
    uint16_t port;
    const char *database, *collection;
    uint32_t connections, batch, run; /* run: neighbouring messages that one connection takes at a time */
    bool majority;
    message_t *messages;
    size_t message_count, document_count;
    atomic_size_t next;
    pthread_barrier_t ready;
} replay_t;

typedef struct {
    replay_t *replay;
    pthread_t thread;
    uint64_t documents, errors;
    char problem[300]; /* the first */
} connection_t;

static _Noreturn void die(const char *words, ...) {
    va_list arguments;
    va_start(arguments, words);
    fputs("replay: ", stderr);
    vfprintf(stderr, words, arguments);
    fputc('\n', stderr);
    exit(1);
}

static void *need(void *memory) {
    if (!memory)
        die("out of memory");
    return memory;
}

/* ---- before the clock: the messages ---- */

static uint32_t read32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint8_t *put32(uint8_t *at, uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8)
        *at++ = (uint8_t)(value >> shift);
    return at;
}

static uint8_t *put_key(uint8_t *at, uint8_t type, const char *key) {
    *at++ = type;
    return (uint8_t *)stpcpy((char *)at, key) + 1;
}

static uint8_t *put_text(uint8_t *at, const char *key, const char *text) {
    at = put32(put_key(at, 0x02, key), (uint32_t)strlen(text) + 1);
    return (uint8_t *)stpcpy((char *)at, text) + 1;
}

static uint8_t *put_bool(uint8_t *at, const char *key, bool value) {
    at = put_key(at, 0x08, key);
    *at++ = value;
    return at;
}

/* The end of a document whose length stands at its start. */
static uint8_t *close_document(uint8_t *start, uint8_t *at) {
    *at++ = 0;
    put32(start, (uint32_t)(at - start));
    return at;
}

/* Header, flags, the command as section 0, and the start of section 1, whose documents follow. The two
 * lengths, of the message and of section 1, are left to fill in. */
static size_t make_head(const replay_t *replay, uint8_t *head, size_t *section) {
    uint8_t *at = put32(head, 0);
    at = put32(put32(put32(at, 0), 0), OP_MSG);
    at = put32(at, 0);
    *at++ = 0;
    uint8_t *body = at;
    at = put_text(body + 4, "insert", replay->collection);
    at = put_bool(at, "ordered", false);
    uint8_t *concern = at = put_key(at, 0x03, "writeConcern");
    if (replay->majority)
        at = put_bool(put_text(at + 4, "w", "majority"), "j", true);
    else
        at = put32(put_key(at + 4, 0x10, "w"), 1);
    at = close_document(concern, at);
    at = close_document(body, put_text(at, "$db", replay->database));
    *at++ = 1;
    *section = (size_t)(at - head);
    at = (uint8_t *)stpcpy((char *)at + 4, "documents") + 1;
    return (size_t)(at - head);
}

static uint8_t *read_file(const char *path, size_t *length) {
    int fd = open(path, O_RDONLY);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        die("%s: %s", path, strerror(errno));
    *length = (size_t)info.st_size;
    uint8_t *bytes = need(malloc(*length + 1));
    for (size_t done = 0; done < *length;) {
        ssize_t got = read(fd, bytes + done, *length - done);
        if (got <= 0)
            die("%s cannot be read", path);
        done += (size_t)got;
    }
    close(fd);
    return bytes;
}

static void make_messages(replay_t *replay, const char *path) {
    size_t length, section;
    uint8_t head[1024], *documents = read_file(path, &length);
    const size_t head_length = make_head(replay, head, &section);
    size_t room = 0;
    for (size_t from = 0, to; from < length; from = to) {
        uint32_t count = 0;
        for (to = from; to < length && count < replay->batch; count++) {
            if (length - to < 5 || read32(documents + to) < 5 || read32(documents + to) > length - to)
                die("%s: no BSON document at %zu", path, to);
            to += read32(documents + to);
        }
        const size_t total = head_length + (to - from);
        if (total > MOST_MESSAGE)
            die("a batch of %u documents is more than a server takes; lower --batch", count);
        if (replay->message_count == room) {
            room = room ? 2 * room : 1024;
            replay->messages = need(realloc(replay->messages, room * sizeof *replay->messages));
        }
        uint8_t *message = need(malloc(total));
        memcpy(message, head, head_length);
        memcpy(message + head_length, documents + from, to - from);
        put32(message, (uint32_t)total);
        put32(message + 4, (uint32_t)replay->message_count + 1);
        put32(message + section, (uint32_t)(total - section));
        replay->messages[replay->message_count++] = (message_t){message, (uint32_t)total, count};
        replay->document_count += count;
    }
    free(documents);
    if (!replay->message_count)
        die("%s is empty", path);
}

/* ---- the measured part ---- */

static int dial(const replay_t *replay) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(replay->port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("port %u: %s", replay->port, strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

static bool send_all(int fd, const uint8_t *bytes, size_t length) {
    while (length) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

/* A whole message into `reply`; its length, or 0. */
static size_t receive(int fd, uint8_t *reply) {
    size_t have = 0, want = HEADER;
    while (have < want) {
        ssize_t got = recv(fd, reply + have, MOST_REPLY - have, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        have += (size_t)got;
        if (have >= HEADER)
            want = read32(reply);
        if (want < HEADER || want > MOST_REPLY)
            return 0;
    }
    return have;
}

/* How many documents went in: n, if the reply says ok and names no error; otherwise UINT32_MAX. */
static uint32_t inserted(const uint8_t *reply, size_t length) {
    if (length < HEADER + 10)
        return UINT32_MAX;
    const uint8_t *at = reply + HEADER + 5 + 4, *end = reply + length - 1;
    uint32_t n = UINT32_MAX;
    bool ok = false;
    while (at < end && *at) {
        const uint8_t type = *at++;
        const char *key = (const char *)at;
        at += strlen(key) + 1;
        if (strcmp(key, "n") == 0 && type == 0x10)
            n = read32(at);
        if (strcmp(key, "ok") == 0 && type == 0x01)
            ok = at[7] == 0x3F && at[6] == 0xF0; /* 1.0 */
        if (strcmp(key, "writeErrors") == 0 || strcmp(key, "writeConcernError") == 0)
            return UINT32_MAX;
        switch (type) { /* nothing else is in the reply to an insert */
        case 0x01:
        case 0x09:
        case 0x11:
        case 0x12:
            at += 8;
            break;
        case 0x10:
            at += 4;
            break;
        case 0x08:
            at += 1;
            break;
        case 0x07:
            at += 12;
            break;
        case 0x03:
        case 0x04:
            at += read32(at);
            break;
        case 0x02:
            at += 4 + read32(at);
            break;
        case 0x05:
            at += 5 + read32(at);
            break;
        default:
            return UINT32_MAX;
        }
    }
    return ok ? n : UINT32_MAX;
}

static void send_one(connection_t *connection, int fd, const message_t *message, uint8_t *reply) {
    size_t length = send_all(fd, message->bytes, message->length) ? receive(fd, reply) : 0;
    if (!length)
        die("the server closed a connection, or its reply was too long");
    uint32_t n = inserted(reply, length);
    if (n == message->documents) {
        connection->documents += n;
        return;
    }
    if (!connection->errors++)
        snprintf(connection->problem, sizeof connection->problem,
                 "of a batch of %u documents not all went in", message->documents);
}

static void *run(void *context) {
    connection_t *connection = context;
    replay_t *replay = connection->replay;
    uint8_t *reply = need(malloc(MOST_REPLY + 1));
    int fd = dial(replay);
    pthread_barrier_wait(&replay->ready);
    for (size_t from; (from = atomic_fetch_add(&replay->next, replay->run)) < replay->message_count;)
        for (size_t i = from; i < from + replay->run && i < replay->message_count; i++)
            send_one(connection, fd, &replay->messages[i], reply);
    close(fd);
    free(reply);
    return NULL;
}

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double own_cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int measure(replay_t *replay) {
    connection_t *connections = need(calloc(replay->connections, sizeof *connections));
    pthread_barrier_init(&replay->ready, NULL, replay->connections + 1);
    for (uint32_t i = 0; i < replay->connections; i++) {
        connections[i].replay = replay;
        if (pthread_create(&connections[i].thread, NULL, run, &connections[i]) != 0)
            die("no more threads");
    }
    double cpu = own_cpu();
    pthread_barrier_wait(&replay->ready);
    double start = now();
    uint64_t documents = 0, errors = 0;
    for (uint32_t i = 0; i < replay->connections; i++) {
        pthread_join(connections[i].thread, NULL);
        documents += connections[i].documents;
        errors += connections[i].errors;
        if (connections[i].errors)
            fprintf(stderr, "replay: %s (%llu such batches on this connection)\n", connections[i].problem,
                    (unsigned long long)connections[i].errors);
    }
    double took = now() - start;
    printf("{\"documents\":%llu,\"errors\":%llu,\"seconds\":%.6f,\"cpu_seconds\":%.6f,\"connections\":%u,"
           "\"batch\":%u}\n",
           (unsigned long long)documents, (unsigned long long)errors, took, own_cpu() - cpu,
           replay->connections, replay->batch);
    free(connections);
    return errors || documents != replay->document_count;
}

static uint32_t number(const char *text, uint32_t most) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || value < 1 || value > most)
        die("'%s' is not a number from 1 to %u", text, most);
    return (uint32_t)value;
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"port", 1, NULL, 'p'},  {"to", 1, NULL, 't'},  {"connections", 1, NULL, 'c'},
        {"batch", 1, NULL, 'b'}, {"run", 1, NULL, 'r'}, {"majority", 0, NULL, 'm'},
        {NULL, 0, NULL, 0}};
    replay_t replay = {.connections = 4, .batch = 1000, .run = 4};
    char *dot = NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'p':
            replay.port = (uint16_t)number(optarg, 65535);
            break;
        case 'c':
            replay.connections = number(optarg, MOST_CONNECTIONS);
            break;
        case 'b':
            replay.batch = number(optarg, 100000);
            break;
        case 'r':
            replay.run = number(optarg, 100000);
            break;
        case 'm':
            replay.majority = true;
            break;
        case 't':
            if ((dot = strchr(optarg, '.')))
                *dot = '\0';
            replay.database = optarg;
            replay.collection = dot ? dot + 1 : NULL;
            break;
        default:
            return 2;
        }
    }
    if (!replay.port || !replay.collection || optind != argc - 1 ||
        strlen(replay.database) + strlen(replay.collection) > 500)
        die("replay --port P --to DATABASE.COLLECTION [--connections T] [--batch N] [--run R] [--majority] "
            "FILE.bson");
    make_messages(&replay, argv[optind]);
    return measure(&replay);
}
