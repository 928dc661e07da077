/* busy: who used the CPUs between two moments: this host as a whole, and the server's process as the server itself
 * reports; and how full this host's network links were. What is not known is NAN. */
#ifndef TIPPLE_STUDY_BUSY_H
#define TIPPLE_STUDY_BUSY_H

#include "base/host/cpu.h"
#include "base/host/net.h"
#include "server/server_load.h"

typedef struct {
    cpu_times_t host;
    net_t net;
    bool host_known, net_known;
    server_load_sample_t server;
} busy_t;

/* One command to the server; no second try. */
void busy_look(mongoc_client_t *client, busy_t *busy);

typedef struct {
    double host;         /* the share of its CPUs' time that was used, 0 to 1 */
    double server_cores; /* how many CPUs the server (or the router) used */
    double network;      /* of this host's fullest link, the share of what it can carry in one direction */
} busy_figures_t;
busy_figures_t busy_between(const busy_t *before, const busy_t *after);

/* CPUs that the server has. */
double busy_server_cpus(mongoc_client_t *client);

#endif
