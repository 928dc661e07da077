/* rights: may this user shard a collection? Asked before --drop, which destroys what could not be made again. Main
 * thread. */
#ifndef TIPPLE_SERVER_PRESPLIT_RIGHTS_H
#define TIPPLE_SERVER_PRESPLIT_RIGHTS_H

#include "server/server.h"

/* By what connectionStatus says; pure. True also where it does not say what a user may do, or where there are no users.
 */
bool rights_to_shard(const bson_t *status, const char *namespace);

/* False: this user may not, and err names the role that may; or no answer came, and err says why. True also of a server that does
 * not know what is asked. */
bool rights_check(server_t *server, mongoc_client_t *client, err_t *err);

#endif
