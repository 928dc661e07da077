/* tuned: what the last tune of a target found, kept on this host, because it is as much this host's as the
 * target's: a small JSON file in the user's cache folder ($XDG_CACHE_HOME/tipple, or ~/.cache/tipple), one
 * for each target. The target knows nothing of it. Main thread. */
#ifndef TIPPLE_STUDY_TUNE_TUNED_H
#define TIPPLE_STUDY_TUNE_TUNED_H

#include "base/err.h"

#include <stdint.h>

typedef struct {
    char namespace[256], format[128];
    uint32_t threads, batch;
    double docs_per_second;
    int64_t when_ms; /* since 1970 */
} tuned_t;

/* The target is known by its collection and the URI's hosts, in any order. path: where it was written.
 * Status 8. */
bool tuned_write(const char *uri, const tuned_t *tuned, char path[4096], err_t *err);

/* False: there is none (status 0), or it cannot be read (8), or the URI is none (1). */
bool tuned_read(const char *uri, tuned_t *tuned, err_t *err);

#endif
