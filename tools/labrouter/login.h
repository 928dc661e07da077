/* login: SCRAM-SHA-256 (RFC 7677) as a client, for the router's own connections. */
#ifndef LABROUTER_LOGIN_H
#define LABROUTER_LOGIN_H

#include "message.h"

/* Sends a command and gives its reply. */
typedef bool (*login_ask_t)(void *context, const char *database, bson_t *command, bson_t *reply,
                            problem_t *problem);

bool login(login_ask_t ask, void *context, const char *user, const char *password, problem_t *problem);

#endif
