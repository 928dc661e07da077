/* forget: takes inputs out of a collection's catalog, with their documents, or only if they have none. To other loads it is a
 * load: they wait for it, and go on if it dies. Loads use entry_documents as well. Main thread. */
#ifndef TIPPLE_LOAD_FORGET_FORGET_H
#define TIPPLE_LOAD_FORGET_FORGET_H

#include "base/err.h"
#include "load/target/target.h"

#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *uri;
    char *const *inputs; /* as a load would be given them, or by the names that the catalog has */
    size_t input_count;
    bool documents; /* --delete: also remove their documents */
    int64_t patience_ns;
} forget_spec_t;

/* What there was of an input. */
typedef enum {
    FORGET_DONE,    /* it is taken out, or an interrupted removal of it is finished */
    FORGET_LATE,    /* it had been forgotten before; documents that arrived after that are removed */
    FORGET_NOTHING, /* it had been forgotten before, and nothing of it is there */
} forget_outcome_t;

typedef struct {
    char *name; /* in the catalog; to be freed, also after a failure */
    forget_outcome_t outcome;
} forgotten_t;

/* Forgets the inputs. forgotten: one for each, all 0 before. Status 1: an input is not in the catalog, could be two of them, is
 * being loaded, or has documents. */
bool forget_run(const forget_spec_t *spec, forgotten_t *forgotten, err_t *err);

/* ---- entry_documents: the documents whose `_id`s are positions in one input, by its entry in the catalog ---- */

/* *any: there are documents of records that begin at this offset of the input's text or after it. */
bool entry_documents_look(const target_t *target, const entry_t *entry, uint64_t offset, bool *any,
                          err_t *err);

/* For catalog_remove and the like, of a load, too. */
removal_t target_removal(target_t *target);

#endif
