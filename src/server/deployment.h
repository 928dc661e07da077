/* deployment: do the hosts of a URI belong together? Of two replica sets, or two clusters, the driver takes the one that answers
 * first: another one each time, and through two routers both at once. One thread. */
#ifndef TIPPLE_SERVER_DEPLOYMENT_H
#define TIPPLE_SERVER_DEPLOYMENT_H

#include "server/server.h"

/* After the first answer, which told the kind. False: they do not (status 1). A host that does not answer within a second
 * is passed over, and so is a router where this user may not read config.version. */
bool deployment_is_one(const address_t *address, server_kind_t kind, mongoc_client_t *client, err_t *err);

/* Always false: this host is a standalone, and is not the only host of the URI. */
bool deployment_refuse_standalone(const char *host, err_t *err);

#endif
