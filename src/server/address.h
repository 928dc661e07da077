/* address: the URI of a target in its parts: what the driver gets, and the collection in its path. Read-only after address_parse; any thread may read. */
#ifndef TIPPLE_SERVER_ADDRESS_H
#define TIPPLE_SERVER_ADDRESS_H

#include "base/err.h"

#include <mongoc/mongoc.h>

typedef struct {
    mongoc_uri_t *uri; /* without the path */
    char *database, *collection;
    char *name;  /* "mot.results" */
    char *hosts; /* for people: "a:27017,b:27017" */
} address_t;

/* A bad URI: status 1 with the right shape; no part of the URI that could hold a secret is quoted. The secrets are
 * remembered (conceal.h). */
bool address_parse(address_t *address, const char *text, err_t *err);

/* Of a URI that names no collection: the database in its path, or "". NULL: it names one, or is no URI of MongoDB, or
 * memory is out. To be freed. */
char *address_of_database(const char *text);

/* Such a URI with this path, "database.collection". NULL: memory is out. To be freed; it may hold a password. */
char *address_with_collection(const char *text, const char *name, err_t *err);

/* For a command that a person pastes: the URI as it was given, if it is of this collection ("mot.results") and nothing in it
 * is secret; else ".../mot.results", whose hosts the person fills in. NULL: memory is out. To be freed. */
char *address_to_paste(const char *text, const char *name, err_t *err);

/* Is this thread in address_parse? What the driver logs then quotes options: it is not to be shown. */
bool address_is_parsing(void);
void address_free(address_t *address);

/* A URI of these hosts and nothing else. A socket's path is a host, too. NULL: one of them is none. The caller destroys it. */
mongoc_uri_t *address_uri_of(const char *hosts, err_t *err);

/* No step of connecting, nor an answer, is waited for longer than that. */
void address_set_waits(mongoc_uri_t *uri, int32_t milliseconds);

/* The same user, options and collection at other hosts ("a:1,b:2"): members of the replica set `set`, or, with NULL, a
 * router. */
bool address_beside(const address_t *address, const char *hosts, const char *set, address_t *beside,
                    err_t *err);

#endif
