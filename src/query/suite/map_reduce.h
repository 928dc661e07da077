/* map_reduce: a query in JavaScript as the command that is sent. Its answer comes back, as {inline: 1}; nothing is
 * written. */
#ifndef TIPPLE_QUERY_SUITE_MAP_REDUCE_H
#define TIPPLE_QUERY_SUITE_MAP_REDUCE_H

#include "query/suite/answer.h"
#include "query/suite/suite.h"

#include <mongoc/mongoc.h>

/* filled: the suite's map with its parameters; options: as for the driver. NULL: err has the sentence. */
bson_t *map_reduce_command(const char *collection, const bson_t *filled, const bson_t *options,
                           const suite_t *suite, const query_t *query, err_t *err);
/* prefs NULL: the client's. */
bool map_reduce_send(mongoc_client_t *client, const char *database, const bson_t *command,
                     const mongoc_read_prefs_t *prefs, answer_t *answer, bson_error_t *error);

#endif
