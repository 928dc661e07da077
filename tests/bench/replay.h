/* replay: what its two halves share: messages are made before the clock starts (replay_messages.c) and sent
 * while it runs (replay.c). */
#ifndef TIPPLE_BENCH_REPLAY_H
#define TIPPLE_BENCH_REPLAY_H

#include "wire.h"

#include <pthread.h>
#include <stdatomic.h>

enum { MOST_SHARDS = 64, MOST_VERSION = 200 };

typedef struct {
    const uint8_t *bytes;
    uint32_t length, documents;
} message_t;

/* What some of the connections work off together: all messages, or with --direct those of one shard. */
typedef struct {
    message_t *messages;
    size_t count, room;
    atomic_size_t next;
} queue_t;

typedef struct {
    uint16_t ports[MOST_SHARDS];
    const char *database, *collection;
    uint32_t connections, batch, run; /* run: neighbouring messages that one connection takes at a time */
    uint32_t port_count, cut_count, version_count;
    int64_t cuts[MOST_SHARDS];
    uint8_t versions[MOST_SHARDS][MOST_VERSION];
    bool majority, mixed, direct;
    queue_t queues[MOST_SHARDS];
    size_t document_count;
    pthread_barrier_t ready;
} replay_t;

/* Reads the file and fills the queues. */
void make_messages(replay_t *replay, const char *path);

#endif
