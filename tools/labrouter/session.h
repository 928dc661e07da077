/* session: one client's connection: reads its commands and answers them, until either side has enough. */
#ifndef LABROUTER_SESSION_H
#define LABROUTER_SESSION_H

#include "router.h"

/* Serves the client to the end. The stream stays the caller's. */
void session_serve(router_t *router, stream_t *client, int32_t number);

#endif
