/* free_space: warns of disks of the servers that are nearly full, or too small for what is still to be loaded. MongoDB says
 * nothing before its disk is full; then it ends, and does not start again before there is room.
 *
 * While a load runs, a thread asks for dbStats every ten seconds: each member of a replica set, so that secondaries speak for
 * themselves, a standalone, or one router of a cluster, which asks each shard's primary. The answer has the size of the file
 * system with the data, and what is used of it.
 *
 *     hosts   whom it asks, each by a connection of its own with short timeouts
 *     disks   what they said: one for each member or shard that has ever answered, with the last figures
 *
 * Invariants:
 * - The load waits for none of this, not even at its end: the thread shares nothing with the server_t, and whoever is last,
 *   the load or the thread, frees the free_space_t. Only in a program that uses the library, whose caller must outlive the
 *   thread, free_space_end waits until the host that is being asked has answered, or a few seconds have passed.
 * - What is not known is no warning: a member does not answer, or the user may not ask it.
 * - Each disk is warned of once, and once more when it is low; never after free_space_end.
 *
 * free_space_begin and free_space_end belong to the main thread. */
#ifndef TIPPLE_SERVER_FREE_SPACE_H
#define TIPPLE_SERVER_FREE_SPACE_H

#include "server/server.h"

typedef enum {
    FREE_SPACE_FINE,
    FREE_SPACE_SHORT, /* less is free than may be needed */
    FREE_SPACE_LOW,   /* less than 5 % is free */
} free_space_verdict_t;

/* In bytes. Pure. */
free_space_verdict_t free_space_judge(double free_bytes, double size, double needed);

/* What so much text may need on a disk of this size. MongoDB compresses documents, so that with their index they rarely take
 * more than their text; an oplog keeps them a second time, until it has the size that it usually has on such a disk. Pure. */
double free_space_needed(double text, double size, bool has_oplog);

typedef struct free_space free_space_t;

/* to_come: bytes of text that are still to be loaded, as far as that is known; on a cluster the shards share them evenly.
 * NULL: there will be no warnings. */
free_space_t *free_space_begin(server_t *server, mongoc_client_t *client, uint64_t to_come);

/* Ends the warnings; NULL is allowed. err: why the load failed, or NULL. If it lost a server after a warning, or without knowing
 * what was to come, *err gets the last figures of the disk. */
void free_space_end(free_space_t *space, err_t *err);

#endif
