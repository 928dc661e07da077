/* forget: takes inputs out of a collection's catalog: together with their documents, or only if they have none. */
#ifndef TIPPLE_LOAD_FORGET_FORGET_H
#define TIPPLE_LOAD_FORGET_FORGET_H

#include "catalog/removal.h"
#include "server/server.h"

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

/* The part of it that a load uses for inputs that have changed: documents at the places of an entry. context:
 * this. */
typedef struct {
    server_t *server;
    mongoc_client_t *client;
    const uint8_t *uuid; /* of the collection */
} forget_place_t;
bool forget_look(const forget_place_t *place, const entry_t *entry, bool *any, err_t *err);
/* Only those of records that begin at this offset of the input's text, or behind it. */
bool forget_look_behind(const forget_place_t *place, const entry_t *entry, uint64_t offset, bool *any,
                        err_t *err);
bool forget_remove(const forget_place_t *place, const entry_t *entry, err_t *err);

#endif
