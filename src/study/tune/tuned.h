/* tuned: the result of a target's last tune, for loads and drills that leave threads or batch size to it (`auto`). It is
 * kept on this host, since it depends on this host as much as on the target: a small JSON file for each target in the
 * user's cache folder ($XDG_CACHE_HOME/tipple, or ~/.cache/tipple). Nothing is stored in the target. Main thread. */
#ifndef TIPPLE_STUDY_TUNE_TUNED_H
#define TIPPLE_STUDY_TUNE_TUNED_H

#include "load/load.h"
#include "load/spec/options.h"

#include <stdint.h>

typedef struct {
    char namespace[256], format[128];
    uint32_t threads, batch;
    double docs_per_second;
    int64_t when_ms; /* since 1970 */
} tuned_t;

/* The target is identified by its collection and the URI's hosts. path: where it was written. Failure:
 * status 8. */
bool tuned_write(const char *uri, const tuned_t *tuned, char path[4096], err_t *err);

/* False: there is none (status 0), it cannot be read (8), or the URI is not valid (1). */
bool tuned_read(const char *uri, tuned_t *tuned, err_t *err);

/* Where threads or batch size is OPTION_AUTO: sets it as the last tune of the target found best, or to the default where
 * there was none, and says so (log_note). False: the URI is not valid. */
bool tuned_choose(load_spec_t *spec, err_t *err);

#endif
