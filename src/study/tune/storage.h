/* storage: how much space a collection takes, and what it costs, with each block compressor, clustered or plain, with
 * long and short keys. It makes real loads of a sample into a scratch collection (trial.h), and measures its size after
 * a checkpoint, and the time of a scan of all documents, from the cache and from disk. One call, main thread.
 *
 * A server compresses data when it writes them to disk. In a short load it writes hardly anything before the
 * checkpoint. So here a load ends when its checkpoint ends: this is the speed that a load of many hours would have. */
#ifndef TIPPLE_STUDY_TUNE_STORAGE_H
#define TIPPLE_STUDY_TUNE_STORAGE_H

#include "base/numbers/hist.h"
#include "load/load.h"
#include "study/matrix.h"

#define STORAGE_NEARLY 0.03 /* how much slower than the fastest load the recommended one may be */

enum { STORAGE_COMPRESSORS = 4, STORAGE_SETTINGS = STORAGE_COMPRESSORS * 2 * 2 };

/* As given; an empty list is replaced by all values. */
typedef struct {
    const char *compressors[STORAGE_COMPRESSORS];
    size_t compressor_count;
    clustered_t clustered[2];
    size_t clustered_count;
    bool short_keys[2];
    size_t key_count;
} storage_lists_t;

typedef struct {
    load_spec_t load; /* target, files, format, threads, batch; what the lists vary is not used */
    storage_lists_t lists;
    uint64_t sample;   /* records in a trial; 0: 200,000, or fewer if that would take long */
    int64_t budget_ns; /* for all trials */
    double precision;  /* a load's speed is known well enough when half of its interval is this share of it */
    uint64_t seed;     /* of the random order */
    const char *cold;  /* a command that empties caches, run before each scan from disk; NULL: none */
} storage_spec_t;

typedef struct {
    const char *compressor;
    clustered_t clustered; /* yes or no */
    bool short_keys;
} storage_choice_t;

/* Of all trials of a setting. Bytes are of the whole sample, after a checkpoint: documents uncompressed, and data and
 * indexes on disk. acknowledged: documents a second, without the checkpoint. Then how long a scan of all documents
 * took. */
typedef struct {
    uint64_t documents, retries;
    moments_t bson_bytes, data_bytes, index_bytes, acknowledged;
    hist_t cached, cold;
} storage_figures_t;

typedef struct {
    size_t smallest, fastest_load, fastest_scan, fastest_cold; /* MATRIX_DONE: not known */
    /* the smallest whose load is nearly as fast as the fastest, as far as the trials show */
    size_t recommended;
    /* the same among those with the format's own keys, compared with the fastest of these */
    size_t recommended_long;
} storage_verdict_t;

typedef struct {
    storage_lists_t lists;                      /* after empty ones were filled in */
    storage_choice_t choices[STORAGE_SETTINGS]; /* of the settings */
    storage_figures_t figures[STORAGE_SETTINGS];
    matrix_t *matrix;        /* of the loads with their checkpoints; NULL: it ended before that */
    matrix_verdict_t counts; /* trials, rounds, settings */
    storage_verdict_t verdict;
    uint64_t sample, records; /* asked for, and how many there were */
    int64_t took_ns;
    bool checkpoints, warmed, target_exists, keys_are_short;
    uint32_t shards; /* how many shards held a part of the last trial */
    char namespace[256], scratch[256], where[512], format[128];
    char like[128];      /* the built-in format of which a variant with short keys could be used; "": none */
    char shard_key[512]; /* the target's */
} storage_result_t;

/* *result holds everything that was found, also after a failure or a signal. */
bool storage_run(const storage_spec_t *spec, storage_result_t *result, err_t *err);
void storage_free_result(storage_result_t *result);

/* Computes counts and verdict from the matrix and the figures. */
void storage_judge(storage_result_t *result);

/* Bytes on disk, of data and indexes, for each byte of documents; and for each document. NAN: not known. */
double storage_share(const storage_figures_t *figures);
double storage_each(const storage_result_t *result, size_t setting);

/* "zstd, clustered, short keys" */
enum { STORAGE_NAME = 48 };
const char *storage_name(const storage_choice_t *choice, char out[STORAGE_NAME]);

#endif
