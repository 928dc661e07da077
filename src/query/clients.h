/* clients: one round of one measurement. Several clients, each with a thread and a connection of its own, send until
 * they have sent enough or the time is over. Closed loop: each client sends again when its answer has arrived. Open
 * loop (rate): requests are due at fixed moments; whichever client is free sends the next one, and its latency counts
 * from the moment at which it was due. */
#ifndef TIPPLE_QUERY_CLIENTS_H
#define TIPPLE_QUERY_CLIENTS_H

#include "query/measure.h"

typedef struct {
    uint64_t count;      /* of each client; 0: until the time is over, and one at the least */
    int64_t duration_ns; /* where no count is given */
    double rate;         /* requests a second of all clients; 0: closed loop */
    uint32_t number;     /* of the round: each draws other values */
    bool counts;         /* false: warming up, only failures are kept */
} clients_round_t;

/* Adds what was found to the measurement. A request that fails ends the round, and is counted in the measurement. A
 * stop signal also ends the round. False: a thread or a connection could not be made. */
bool clients_run(const clients_round_t *round, measure_t *measure, server_t *server, err_t *err);

#endif
