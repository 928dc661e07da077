/* ask: a command that is answered by one reply. Any thread, with a client of its own. */
#ifndef TIPPLE_QUERY_SUITE_ASK_H
#define TIPPLE_QUERY_SUITE_ASK_H

#include "query/suite/request.h"

/* Sends the command to the servers that the request reads from, with its read concern. The reply is always initialised;
 * the caller destroys it. */
bool ask_command(mongoc_client_t *client, const request_t *request, const bson_t *command, bson_t *reply,
                 bson_error_t *error);

#endif
