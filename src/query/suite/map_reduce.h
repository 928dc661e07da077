/* map_reduce: a query in JavaScript as the command that is sent. Its answer comes back, as {inline: 1}; nothing is
 * written. */
#ifndef TIPPLE_QUERY_SUITE_MAP_REDUCE_H
#define TIPPLE_QUERY_SUITE_MAP_REDUCE_H

#include "query/suite/request.h"

/* request->body becomes the command. filled: the suite's map with its parameters; request->options must be there. */
bool map_reduce_build(request_t *request, const bson_t *filled, const suite_t *suite, const query_t *query,
                      err_t *err);
bool map_reduce_send(const request_t *request, mongoc_client_t *client, answer_t *answer,
                     bson_error_t *error);

#endif
