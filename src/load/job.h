/* job: a load under way: what its parts share. Internal to src/load. */
#ifndef TIPPLE_LOAD_JOB_H
#define TIPPLE_LOAD_JOB_H

#include "format/filter.h"
#include "load/feeder.h"
#include "load/load.h"
#include "load/loader.h"
#include "load/pace.h"
#include "load/polite.h"
#include "load/progress.h"
#include "load/reject.h"
#include "load/share.h"
#include "target/presence.h"

enum { JOB_MOST_THREADS = 256, JOB_MOST_DEFAULT_THREADS = 64, JOB_MOST_INDEXES = 16 };

typedef struct {
    const load_spec_t *spec;
    load_result_t *result;
    schema_t *schema;
    filter_t *filter;
    index_spec_t indexes[JOB_MOST_INDEXES];
    size_t index_count;
    manifest_t manifest;
    server_t *server;
    mongoc_client_t *client;
    place_t place;
    presence_t *presence; /* NULL: not yet, or nothing is written */

    pthread_mutex_t
        books_lock; /* catalog, and the client it uses: the main thread's and, for extents, the feeders' */
    catalog_t *catalog;
    catalog_file_t **books;
    dialect_shelf_t *shelf;
    load_file_t *files; /* parts of files, each by itself */
    size_t file_count;
    share_t *share; /* NULL: all files are this load's */

    loading_t loading;
    loader_t *loaders[JOB_MOST_THREADS];
    uint32_t loader_count;
    progress_t progress;
    polite_t *polite;         /* NULL: without --polite */
    flushes_watch_t *flushes; /* NULL: nobody asks */
} job_t;

/* checkpoint.c: takes the blocks that were settled since the last time, makes them durable and writes them
 * down. The main thread's. */
bool job_checkpoint(job_t *job, err_t *err);

/* shards.c: places an empty collection over the shards, and reads the map of one that is sharded. After the
 * collection was made. */
bool job_open_shards(job_t *job, err_t *err);
/* Do --shard-key and --direct go with this server? Before the collection is touched. */
bool job_may_shard(const job_t *job, err_t *err);
/* Chunks stay where they are from now on; the map again, now and then; zones and balancing as they were, when
 * no other load is alive. */
void job_hold_shards(job_t *job);
void job_follow_shards(job_t *job);
void job_close_shards(job_t *job);
size_t job_shard_count(const job_t *job); /* 1 where there are none */

/* restrain.c: what makes the loader threads wait, before the first of them starts; and what it came to, when
 * the last one has ended. */
bool job_restrain(job_t *job, err_t *err);
void job_release(job_t *job);

/* tally.c: waits for the loader threads and puts what they did into the result. */
void job_join_loaders(job_t *job);

/* late_misfits.c: a feeder could not begin with this file, for the reason in *err. With --skip-bad-files:
 * named and put aside, and true. Not from two threads at once. */
bool job_skip_misfit(void *context, load_file_t *file, err_t *err);
/* Where the load ended because of such a file: what was loaded before it. */
void job_tell_late_misfit(const job_t *job, err_t *err);

/* mended.c: instead of feeders, the records of a mended reject file, as blocks of one record each. */
bool job_feed_mended(job_t *job, err_t *err);

#endif
