/* storage: what a collection takes and costs with each block compressor, clustered or plain, under long and
 * short keys: real loads of a sample into a scratch collection (trial.h), its sizes behind a checkpoint, and
 * the time of a look at every document, from the cache and from disk. One call, main thread.
 *
 * A server compresses what it writes, and of a short load it writes hardly anything before the checkpoint. So
 * a load ends here when its checkpoint has: that is what many hours of the same come to. */
#ifndef TIPPLE_STUDY_TUNE_STORAGE_H
#define TIPPLE_STUDY_TUNE_STORAGE_H

#include "base/numbers/hist.h"
#include "load/load.h"
#include "study/matrix.h"

#define STORAGE_NEARLY 0.03 /* how much slower than the fastest load the recommended one may be */

enum { STORAGE_COMPRESSORS = 4, STORAGE_SETTINGS = STORAGE_COMPRESSORS * 2 * 2 };

/* As given; a list of none is filled up with all that there is. */
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
    uint64_t sample;   /* records a trial; 0: 200,000, fewer where that would take long */
    int64_t budget_ns; /* for all trials */
    double precision;  /* half of an interval of the load's speed, as a share of it, that is narrow enough */
    uint64_t seed;     /* of the order */
    const char *cold;  /* a command that empties caches, before each scan from disk; NULL: there is none */
} storage_spec_t;

typedef struct {
    const char *compressor;
    clustered_t clustered; /* yes or no */
    bool short_keys;
} storage_choice_t;

/* Of all trials of a setting. Bytes are of the whole sample, behind a checkpoint: documents uncompressed, and
 * what data and indexes take on disk. acknowledged: documents a second, without the checkpoint. How long a
 * look at every document took. */
typedef struct {
    uint64_t documents, retries;
    moments_t bson_bytes, data_bytes, index_bytes, acknowledged;
    hist_t cached, cold;
} storage_figures_t;

typedef struct {
    size_t smallest, fastest_load, fastest_scan, fastest_cold; /* MATRIX_DONE: nothing can be said */
    size_t
        recommended; /* the smallest whose load is nearly as fast as the fastest, as far as the trials tell */
    size_t recommended_long; /* the same among those with the format's own keys, by the fastest of these */
} storage_verdict_t;

typedef struct {
    storage_lists_t lists;                      /* filled up */
    storage_choice_t choices[STORAGE_SETTINGS]; /* of the settings */
    storage_figures_t figures[STORAGE_SETTINGS];
    matrix_t *matrix;        /* of the loads with their checkpoints; NULL: it did not come so far */
    matrix_verdict_t counts; /* trials, rounds, settings */
    storage_verdict_t verdict;
    uint64_t sample, records; /* asked for, and what was there of it */
    int64_t took_ns;
    bool checkpoints, warmed, target_exists, keys_are_short;
    uint32_t shards; /* that held some of the last one */
    char namespace[256], scratch[256], where[512], format[128];
    char like[128];      /* the built-in format that a format with short keys would be like; empty: none */
    char shard_key[512]; /* the target's */
} storage_result_t;

/* Everything that was found is in *result, also after a failure or a signal. */
bool storage_run(const storage_spec_t *spec, storage_result_t *result, err_t *err);
void storage_free_result(storage_result_t *result);

/* What the matrix and the figures come to: counts and verdict. */
void storage_judge(storage_result_t *result);

/* On disk, data and indexes, for a byte of documents; and for a document. NAN: not known. */
double storage_share(const storage_figures_t *figures);
double storage_each(const storage_result_t *result, size_t setting);

/* "zstd, clustered, short keys" */
enum { STORAGE_NAME = 48 };
const char *storage_name(const storage_choice_t *choice, char out[STORAGE_NAME]);

#endif
