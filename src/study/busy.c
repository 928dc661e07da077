#include "study/busy.h"

#include <math.h>

void busy_look(mongoc_client_t *client, busy_t *busy) {
    bson_error_t error;
    busy->host_known = cpu_host(&busy->host);
    busy->net_known = net_look(&busy->net);
    if (!server_load_ask(client, &busy->server, &error))
        busy->server = (server_load_sample_t){.cpu_us = NAN};
}

/* As doubles: a kernel's counter of waiting time may go back. */
static double host_share(const cpu_times_t *before, const cpu_times_t *behind) {
    const double work =
                     (double)behind->user - (double)before->user + (double)behind->sys - (double)before->sys,
                 rest = (double)behind->iowait - (double)before->iowait + (double)behind->idle -
                        (double)before->idle;
    return work > 0 && work + rest > 0 ? fmin(work / (work + rest), 1) : NAN;
}

busy_figures_t busy_between(const busy_t *before, const busy_t *behind) {
    const bool known = before->host_known && behind->host_known, net = before->net_known && behind->net_known;
    return (busy_figures_t){.host = known ? host_share(&before->host, &behind->host) : NAN,
                            .server_cores = server_load_busy_cores(&before->server, &behind->server),
                            .network = net ? net_fullest(&before->net, &behind->net) : NAN};
}

double busy_server_cpus(mongoc_client_t *client) {
    return server_load_cores(client);
}
