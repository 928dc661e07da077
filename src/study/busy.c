#include "study/busy.h"

#include <math.h>
#include <stdio.h>

/* "cpu user nice system idle iowait irq softirq steal ..." */
static void look_at_host(busy_t *busy) {
    double ticks[8];
    FILE *file = fopen("/proc/stat", "re");
    const int found = file ? fscanf(file, "cpu %lf %lf %lf %lf %lf %lf %lf %lf", &ticks[0], &ticks[1],
                                    &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7])
                           : 0;
    if (file)
        fclose(file);
    busy->host_busy = busy->host_all = NAN;
    if (found != 8)
        return;
    busy->host_busy = ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6] + ticks[7];
    busy->host_all = busy->host_busy + ticks[3] + ticks[4];
}

void busy_look(mongoc_client_t *client, busy_t *busy) {
    bson_error_t error;
    look_at_host(busy);
    if (!strain_ask(client, &busy->server, &error))
        busy->server = (strain_sample_t){.cpu_us = NAN};
}

busy_figures_t busy_between(const busy_t *before, const busy_t *behind) {
    const double all = behind->host_all - before->host_all;
    return (busy_figures_t){.host = all > 0 ? (behind->host_busy - before->host_busy) / all : NAN,
                            .server_cores = strain_busy_cores(&before->server, &behind->server)};
}

double busy_server_cpus(mongoc_client_t *client) {
    return strain_cores(client);
}
