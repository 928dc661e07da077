/* indexes: checks or makes the indexes that a query needs (`setup: {indexes: ...}` in its suite). Main thread. */
#ifndef TIPPLE_QUERY_INDEXES_H
#define TIPPLE_QUERY_INDEXES_H

#include "query/suite/suite.h"
#include "server/server.h"

/* A missing index is made (make), or is an error of status 1 with its name and what to do. */
bool indexes_check(const suite_t *suite, const query_t *query, server_t *server, mongoc_client_t *client,
                   bool makes, err_t *err);

#endif
