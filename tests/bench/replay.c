/* replay: the ceiling of any loader on this machine. It sends documents that are already BSON, in messages
 * that are complete before the clock starts, over T connections, one message in flight on each, and does
 * nothing else.
 *
 *     replay --port P ... --to DATABASE.COLLECTION [--connections T] [--batch N] [--run R] [--majority]
 *            [--cut ID,... [--mixed | --direct --shard-version HEX ...]] FILE.bson
 *
 * FILE.bson holds documents one after the other (`tipple parse --emit bson --ids`). Every reply is read and
 * must say that all of its documents went in. Prints one line of JSON; exit status 1 if any batch was not
 * whole.
 *
 * Several ports, of routers, are dealt to the connections in turn. --cut says where the second and further
 * ranges of `_id` begin, one range a shard: each message then holds the documents of one. With --mixed each
 * holds as many of every shard. With --direct a port is a shard's, in the order of the ranges, its messages
 * come over connections of its own, and each carries that shard's shardVersion, a BSON document. */
#include "replay.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { MOST_CONNECTIONS = 256 };

typedef struct {
    replay_t *replay;
    queue_t *queue;
    uint16_t port;
    pthread_t thread;
    uint64_t documents, errors;
    char problem[300]; /* the first */
} connection_t;

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
    queue_t *queue = connection->queue;
    uint8_t *reply = need(malloc(MOST_REPLY + 1));
    int fd = dial(connection->port);
    pthread_barrier_wait(&replay->ready);
    for (size_t from; (from = atomic_fetch_add(&queue->next, replay->run)) < queue->count;)
        for (size_t i = from; i < from + replay->run && i < queue->count; i++)
            send_one(connection, fd, &queue->messages[i], reply);
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
        const uint32_t turn = i % replay->port_count;
        connections[i].replay = replay;
        connections[i].port = replay->ports[turn];
        connections[i].queue = &replay->queues[replay->direct ? turn : 0];
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

static void read_cuts(replay_t *replay, const char *text) {
    char *end;
    for (const char *at = text;; at = end + 1) {
        const int64_t id = strtoll(at, &end, 10);
        if (end == at || (*end && *end != ',') || replay->cut_count == MOST_SHARDS - 1 ||
            (replay->cut_count && replay->cuts[replay->cut_count - 1] >= id))
            die("--cut '%s' is not a list of fewer than %d rising numbers", text, MOST_SHARDS);
        replay->cuts[replay->cut_count++] = id;
        if (!*end)
            return;
    }
}

static void read_version(replay_t *replay, const char *text) {
    const size_t length = strlen(text) / 2;
    uint8_t *version = replay->versions[replay->version_count];
    if (replay->version_count == MOST_SHARDS || length < 5 || length > MOST_VERSION || strlen(text) % 2)
        die("--shard-version '%s' is not a short BSON document in hex, or there are too many", text);
    for (size_t i = 0; i < length; i++)
        if (sscanf(text + 2 * i, "%2hhx", &version[i]) != 1)
            die("--shard-version '%s' is not in hex", text);
    if (read32(version) != length)
        die("--shard-version '%s' is no BSON document", text);
    replay->version_count++;
}

static void check(const replay_t *replay, bool one_file) {
    const uint32_t shards = replay->cut_count + 1;
    if (!one_file || !replay->port_count || !replay->collection ||
        strlen(replay->database) + strlen(replay->collection) > 500)
        die("replay --port P ... --to DATABASE.COLLECTION [--connections T] [--batch N] [--run R] "
            "[--majority] [--cut ID,... [--mixed | --direct --shard-version HEX ...]] FILE.bson");
    if (replay->direct ? replay->mixed || replay->port_count != shards || replay->version_count != shards
                       : replay->version_count > 0)
        die("--direct wants a --port and a --shard-version for each of the %u ranges, and no --mixed",
            shards);
    if (replay->connections < replay->port_count)
        die("%u connections cannot be dealt to %u ports", replay->connections, replay->port_count);
}

int main(int argc, char **argv) {
    static const struct option options[] = {
        {"port", 1, NULL, 'p'},          {"to", 1, NULL, 't'},    {"connections", 1, NULL, 'c'},
        {"batch", 1, NULL, 'b'},         {"run", 1, NULL, 'r'},   {"majority", 0, NULL, 'm'},
        {"cut", 1, NULL, 'u'},           {"mixed", 0, NULL, 'x'}, {"direct", 0, NULL, 'd'},
        {"shard-version", 1, NULL, 'v'}, {NULL, 0, NULL, 0}};
    static replay_t replay = {.connections = 4, .batch = 1000, .run = 4};
    char *dot = NULL;
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'p':
            if (replay.port_count == MOST_SHARDS)
                die("there are more than %d ports", MOST_SHARDS);
            replay.ports[replay.port_count++] = (uint16_t)number(optarg, 65535);
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
        case 'u':
            read_cuts(&replay, optarg);
            break;
        case 'x':
            replay.mixed = true;
            break;
        case 'd':
            replay.direct = true;
            break;
        case 'v':
            read_version(&replay, optarg);
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
    check(&replay, optind == argc - 1);
    make_messages(&replay, argv[optind]);
    return measure(&replay);
}
