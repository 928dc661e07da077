/* await: connections on which a stop signal ends the waiting for a reply. The driver waits for a server that
 * froze as long as its socket timeout says, which is as long as a busy server may need; a person who
 * interrupts does not. */
#ifndef TIPPLE_SERVER_AWAIT_H
#define TIPPLE_SERVER_AWAIT_H

#include <mongoc/mongoc.h>

/* From now on, connections that this client opens are such. Where the driver does not offer what is needed,
 * nothing changes. The thread that uses the client calls it. */
void await_stop(mongoc_client_t *client);

#endif
