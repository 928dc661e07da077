/* forget: takes inputs out of a collection's catalog: together with their documents, or only if they have none. */
#ifndef TIPPLE_LOAD_FORGET_FORGET_H
#define TIPPLE_LOAD_FORGET_FORGET_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *uri;
    char *const *inputs; /* as a load would be given them, or by the names that the catalog has */
    size_t input_count;
    bool documents; /* remove them, too */
    int64_t patience_ns;
} forget_spec_t;

/* What there was of an input. */
typedef enum {
    FORGET_DONE,    /* it is taken out; or a removal that was interrupted is finished */
    FORGET_LATE,    /* it had been forgotten before; documents that came after that are removed */
    FORGET_NOTHING, /* it had been forgotten before, and nothing of it is there */
} forget_outcome_t;

typedef struct {
    char *name; /* in the catalog; free() it, also behind a failure */
    forget_outcome_t outcome;
} forgotten_t;

/* One call, from the command. forgotten: of each input, all 0 before. Status 1: an input is not in the catalog, could be
 * two of them, is being loaded, or has documents. */
bool forget_run(const forget_spec_t *spec, forgotten_t *forgotten, err_t *err);

#endif
