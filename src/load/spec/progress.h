/* progress: what a running load tells a person: a bar on a terminal, a line now and then elsewhere. */
#ifndef TIPPLE_LOAD_SPEC_PROGRESS_H
#define TIPPLE_LOAD_SPEC_PROGRESS_H

#include "base/log.h"

typedef struct {
    log_progress_t said;
    int64_t started_ns;
    uint64_t total_bytes; /* on disk, of what is to be read; 0: unknown */
} progress_t;

void progress_start(progress_t *progress, uint64_t total_bytes);
/* Shows where the load stands, if the last time is long enough ago. */
void progress_show(progress_t *progress, uint64_t bytes, uint64_t documents);
void progress_end(progress_t *progress);

#endif
