/* indexes: checks or makes the indexes that a query needs (`setup: {indexes: ...}` in its suite). Main thread. */
#ifndef TIPPLE_QUERY_INDEXES_H
#define TIPPLE_QUERY_INDEXES_H

#include "query/suite/suite.h"
#include "server/server.h"

/* What is there of the wanted index's key gives other answers or other speeds: "it is sparse". NULL: it will do. usual:
 * the collection's own collation, or NULL. */
const char *indexes_differ(const bson_t *wanted, const bson_t *stored, const bson_t *usual);

/* A missing index is made (makes), or is an error of status 1 with its name and what to do. So is an index of the same
 * key that differs: it is never replaced. */
bool indexes_check(const suite_t *suite, const query_t *query, server_t *server, mongoc_client_t *client,
                   bool makes, err_t *err);

#endif
