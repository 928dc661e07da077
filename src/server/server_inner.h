/* server_t, which only the files of this room see. */
#ifndef TIPPLE_SERVER_SERVER_INNER_H
#define TIPPLE_SERVER_SERVER_INNER_H

#include "server/server.h"

#include <stdatomic.h>

enum { SERVER_MS = 1000000 }; /* nanoseconds */

struct server {
    address_t address;
    mongoc_client_pool_t *pool;
    /* {writeConcern: ...} of data: majority and journal on replica sets and routers, w:1 on a standalone; with --unsafe the
     * URI's own. Of the catalog: majority and journal; on a standalone w:1 with the journal, or without it for --unsafe, since
     * its server may keep none: then a crash takes data and catalog back to the same moment. NULL until it has answered once. */
    bson_t *data, *catalog;
    server_facts_t facts;
    int64_t patience_ns;
    bool unsafe, reads;
    atomic_bool gave_up;         /* patience was used up once: from then on there is little of it */
    atomic_llong clean_until_ns; /* until when cleaning up may take; 0: it has not begun */
};

/* connect.c. True: waiting for a server to write to is useless, and err says why (status 1). tries: failed ones so far, from 1. */
bool connect_is_hopeless(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                         uint32_t tries, err_t *err);
/* Puts what is known of servers that cannot be written to into the error's words, as a part of a sentence: "no answer from
 * a:27017 [...]". Returns what may help: "see that the server runs ...". */
const char *connect_describe(const address_t *address, mongoc_client_t *client, bson_error_t *error);

/* connect.c. What this program asks of the driver, and what the user has not said in the URI. */
void connect_set_options(mongoc_uri_t *uri, const server_options_t *options);

/* connect.c. Threads may still use TLS or the driver when the process ends: see server_end_process. */
extern atomic_bool connect_outlived;

/* address.c. Whether a driver with SASL, or without, can log in as the URI says. */
bool address_fits_sasl(const mongoc_uri_t *uri, bool sasl, err_t *err);

#endif
