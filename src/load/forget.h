/* forget: inputs taken out of a collection's catalog, with their documents or when they have none. */
#ifndef TIPPLE_LOAD_FORGET_H
#define TIPPLE_LOAD_FORGET_H

#include "catalog/removal.h"
#include "target/server.h"

typedef struct {
    const char *uri;
    char *const *inputs; /* names as the catalog has them */
    size_t input_count;
    bool documents; /* remove them, too */
    int64_t patience_ns;
} forget_spec_t;

/* One call, from the command. Status 1: an input is not in the catalog, is being loaded, or has documents. */
bool forget_run(const forget_spec_t *spec, err_t *err);

/* The part of it that a load uses for inputs that have changed: documents at the places of an entry. context:
 * this. */
typedef struct {
    server_t *server;
    mongoc_client_t *client;
    const uint8_t *uuid; /* of the collection */
} forget_place_t;
bool forget_look(const forget_place_t *place, const entry_t *entry, bool *any, err_t *err);
bool forget_remove(const forget_place_t *place, const entry_t *entry, err_t *err);

#endif
