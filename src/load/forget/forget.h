/* forget: takes inputs out of a collection's catalog, with their documents, or only if they have none. To other loads it is a
 * load: they wait for it, and go on if it dies. Loads use entry_documents as well. Main thread. */
#ifndef TIPPLE_LOAD_FORGET_FORGET_H
#define TIPPLE_LOAD_FORGET_FORGET_H

#include "base/err.h"
#include "catalog/store/entry.h"
#include "server/server.h"

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

typedef struct {
    server_t *server;
    mongoc_client_t *client;
    const uint8_t *uuid; /* of the collection */
} entry_place_t;

/* *any: there are documents of records that begin at this offset of the input's text or after it. */
bool entry_documents_look(const entry_place_t *place, const entry_t *entry, uint64_t offset, bool *any,
                          err_t *err);
bool entry_documents_remove(const entry_place_t *place, const entry_t *entry, err_t *err);

/* True if this user may remove documents: asks the server to remove none. Call it before inputs are taken out of the catalog:
 * after that the next load removes their documents, whoever runs it. */
bool entry_documents_may_remove(const entry_place_t *place, err_t *err);

#endif
