/* loader: the threads that make documents and batches of blocks, send them, and note what became of each record. Each
 * thread has its own counters; who reports adds them up. */
#ifndef TIPPLE_LOAD_THREADS_LOADER_H
#define TIPPLE_LOAD_THREADS_LOADER_H

#include "base/numbers.h"
#include "format/record/bad_values.h"
#include "load/threads/load_state.h"

typedef struct loader loader_t;

/* Numbers of 64 bits alone: the counters of all threads are added up as such. */
typedef struct {
    counts_t counts;
    uint64_t unrouted; /* documents whose key could not be computed: the router sends them on */
    uint64_t batches, sent_documents, sent_bytes, retries, short_batches;
    int64_t wait_server_ns, wait_input_ns;
    int64_t total_ns; /* this and those after it are filled at the end */
    uint64_t bad_values, ambiguous_times;
    passed_over_t passed_over;
} loader_counters_t;

/* number: of the thread; it chooses the router to stay with. */
loader_t *loader_start(load_state_t *loading, uint32_t number, err_t *err);

/* Adds its counters to the sum, also while the thread runs: each figure is whole, but they may be of slightly different
 * moments. */
void loader_add_counters(const loader_t *loader, loader_counters_t *sum);

/* The same after pipeline_join, with its bad values. The loader is freed. */
void loader_end(loader_t *loader, loader_counters_t *sum, bad_values_t *bad_values);

#endif
