/* clients: one round of one measurement. Several clients, each with a thread and a connection of its own, send until
 * they have sent enough or the time is over. Closed loop: each client sends again when its answer has arrived. Open
 * loop (rate): requests are due at fixed moments; whichever client is free sends the next one, and its latency counts
 * from the moment at which it was due. */
#ifndef TIPPLE_QUERY_CLIENTS_H
#define TIPPLE_QUERY_CLIENTS_H

#include "query/measure.h"

#include <sys/types.h>

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

/* A command of the user that runs while something is measured (--while). The shell runs it, in a process group of its own;
 * its stdout goes to stderr, since stdout is for results only. If this process is killed, the shell gets SIGTERM. Main
 * thread: Linux sends that when the thread ends which has started it. */
typedef struct {
    pid_t process; /* 0: none */
    bool ended;    /* it ended by itself */
    int status;    /* as waitpid gives it */
} beside_t;

/* No sentence has the text of the command, which may hold a password of any form. */
bool beside_start(beside_t *beside, const char *command, err_t *err);

/* Is it still running? Also notes when it has ended. */
bool beside_runs(beside_t *beside);

/* SIGTERM, ten seconds, SIGKILL. That it had to be stopped is not a failure. A zeroed one is allowed. */
void beside_stop(beside_t *beside);

/* "with status 1", "by signal 9" */
enum { BESIDE_WORDS = 40 };
void beside_describe(int status, char words[BESIDE_WORDS]);

#endif
