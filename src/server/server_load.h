/* server_load: how many cores a server has and keeps busy, by its own account (serverStatus, hostInfo). Any thread. */
#ifndef TIPPLE_SERVER_SERVER_LOAD_H
#define TIPPLE_SERVER_SERVER_LOAD_H

#include "server/server.h"

/* For one serverStatus, without sections that are long or costly and not needed. */
typedef enum {
    SERVER_LOAD_OF_PRIMARY, /* how hard it works; asks the primary */
    SERVER_LOAD_OF_READS,   /* what it has read; asks the server at the other end of the connection */
} server_load_about_t;

/* The caller destroys the reply, also after a failure. */
bool server_load_status(mongoc_client_t *client, server_load_about_t about, bson_t *reply,
                        bson_error_t *error);

/* Why the server did not tell, for people. */
const char *server_load_refusal(const bson_error_t *error);

/* The CPU time of the primary's process since its start; NAN: it does not say. */
typedef struct {
    int64_t at_ns;
    double cpu_us;
} server_load_sample_t;

/* One serverStatus; no second try. */
server_load_sample_t server_load_ask(mongoc_client_t *client);

/* How many cores were busy between two samples. NAN: not known, or the server was restarted. */
double server_load_busy_cores(const server_load_sample_t *before, const server_load_sample_t *now);

/* How many cores the server may use; NAN: it does not tell. */
double server_load_cores(mongoc_client_t *client);

#endif
