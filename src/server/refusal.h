/* refusal: what the errors of the driver and of servers mean for a load, by the table of codes, and the sentences for
 * them. */
#ifndef TIPPLE_SERVER_REFUSAL_H
#define TIPPLE_SERVER_REFUSAL_H

#include "server/address.h"

typedef enum {
    REFUSAL_GONE,  /* network, election, stepdown, shutdown: try again; the write may have happened */
    REFUSAL_AUTH,  /* password, permission, TLS: status 1 */
    REFUSAL_STATE, /* read-only, disk full, wrong kind of target: status 4 or 1 */
    REFUSAL_OTHER,
} refusal_t;
refusal_t refusal_of(const bson_error_t *error, const bson_t *reply);

/* Turns a driver's error into a sentence with what to do; always false. `doing` completes "could not ...". */
bool refusal_explain(const address_t *address, const bson_error_t *error, const bson_t *reply,
                     const char *doing, err_t *err);

#endif
