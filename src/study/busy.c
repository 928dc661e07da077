#include "study/busy.h"

#include <math.h>

void busy_look(mongoc_client_t *client, busy_t *busy) {
    busy->host_known = cpu_host(&busy->host);
    busy->net_known = net_look(&busy->net);
    busy->server = server_load_ask(client);
}

/* As doubles: a kernel's counter of waiting time may go back. */
static double host_share(const cpu_times_t *before, const cpu_times_t *after) {
    const double work = (double)after->user - (double)before->user + (double)after->sys - (double)before->sys,
                 rest = (double)after->iowait - (double)before->iowait + (double)after->idle -
                        (double)before->idle;
    return work > 0 && work + rest > 0 ? fmin(work / (work + rest), 1) : NAN;
}

busy_figures_t busy_between(const busy_t *before, const busy_t *after) {
    const bool known = before->host_known && after->host_known, net = before->net_known && after->net_known;
    return (busy_figures_t){.host = known ? host_share(&before->host, &after->host) : NAN,
                            .server_cores = server_load_busy_cores(&before->server, &after->server),
                            .network = net ? net_fullest(&before->net, &after->net) : NAN};
}

double busy_server_cpus(mongoc_client_t *client) {
    return server_load_cores(client);
}
