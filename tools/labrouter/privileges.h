/* privileges: whether a client may have the router act for it. */
#ifndef LABROUTER_PRIVILEGES_H
#define LABROUTER_PRIVILEGES_H

#include "call.h"

/* Without authentication everybody may do everything. With it, the client must have logged in, and the mongod
 * that knows it must name the action (NULL: none needed) on the cluster, on the command's database or on its
 * collection. */
bool privileges_allow(call_t *call, const char *action);

#endif
