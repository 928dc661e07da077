/* map_reduce: a query in JavaScript as the command that is sent. Its answer comes back, as {inline: 1}; nothing is
 * written. */
#ifndef TIPPLE_QUERY_SUITE_MAP_REDUCE_H
#define TIPPLE_QUERY_SUITE_MAP_REDUCE_H

#include "query/suite/request.h"

#include <mongoc/mongoc.h>

/* filled: the suite's map with its parameters; options: as for the driver. NULL: err has the sentence. */
bson_t *map_reduce_command(const char *collection, const bson_t *filled, const bson_t *options,
                           const suite_t *suite, const query_t *query, err_t *err);
/* From the servers and with the read concern that the request says, or the URI. */
bool map_reduce_send(mongoc_client_t *client, const request_t *request, answer_t *answer,
                     bson_error_t *error);

#endif
