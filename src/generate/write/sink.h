/* sink: where generated files go: a descriptor, blocking or not, plain or as gzip. Between writes it looks
 * whether the run is to end. */
#ifndef TIPPLE_GENERATE_WRITE_SINK_H
#define TIPPLE_GENERATE_WRITE_SINK_H

#include "base/err.h"

#include <stdint.h>

typedef struct sink sink_t;

/* `fewer` is the option to ask for less with when the disk is full. NULL when memory is short. */
sink_t *sink_new(bool gzip, const char *fewer);
void sink_destroy(sink_t *sink);

/* The next file; the descriptor stays the caller's. */
void sink_begin(sink_t *sink, int fd);

/* Fail with STATUS_HOST (disk full), STATUS_READER_GONE (of a pipe: SIGPIPE must be ignored, as stop_install
 * does), STATUS_INTERRUPTED or STATUS_TERMINATED. */
bool sink_write(sink_t *sink, const char *bytes, size_t count, err_t *err);
bool sink_end(sink_t *sink, err_t *err);

/* What was written, to all files. */
uint64_t sink_bytes(const sink_t *sink);

#endif
