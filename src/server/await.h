/* await: connections on which a stop signal ends the wait for a reply. The driver waits for a frozen server as long as
 * its socket timeout, which must be long enough for a busy server. A person who interrupts does not want to wait that
 * long. */
#ifndef TIPPLE_SERVER_AWAIT_H
#define TIPPLE_SERVER_AWAIT_H

#include <mongoc/mongoc.h>

/* From now on, connections that this client opens work this way. From driver 2 on the process shuts all its connections down
 * instead (stop_hangs_up), in the command only. Call it in the thread that uses the client. */
void await_stop(mongoc_client_t *client);

#endif
