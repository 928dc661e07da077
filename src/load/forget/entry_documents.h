/* entry_documents: the documents whose `_id`s are places of one input, by its entry in the catalog: are there any, and
 * away with them. */
#ifndef TIPPLE_LOAD_FORGET_ENTRY_DOCUMENTS_H
#define TIPPLE_LOAD_FORGET_ENTRY_DOCUMENTS_H

#include "catalog/store/entry.h"
#include "server/server.h"

typedef struct {
    server_t *server;
    mongoc_client_t *client;
    const uint8_t *uuid; /* of the collection */
} entry_place_t;

/* Only those of records that begin at this offset of the input's text, or behind it. */
bool entry_documents_look(const entry_place_t *place, const entry_t *entry, uint64_t offset, bool *any,
                          err_t *err);
bool entry_documents_remove(const entry_place_t *place, const entry_t *entry, err_t *err);

/* May this user remove documents? Asks for none to be removed. Before their inputs are taken out of the catalog: the next load would
 * remove them, whoever runs it. */
bool entry_documents_may_remove(const entry_place_t *place, err_t *err);

#endif
