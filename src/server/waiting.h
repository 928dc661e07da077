/* waiting: tells on stderr whom a connection waits for, within its first second, then every ten seconds; whatever the
 * driver, a look-up of names or a probe is busy with. */
#ifndef TIPPLE_SERVER_WAITING_H
#define TIPPLE_SERVER_WAITING_H

#include "server/address.h"

#include <pthread.h>

typedef struct {
    const address_t *address;
    int64_t deadline_ns;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool runs, over;
    char why[200];
} waiting_t;

/* Without a thread for it nothing is told. The address has to outlive it. */
void waiting_begin(waiting_t *waiting, const address_t *address, int64_t patience_ns);

/* After a failed try: what is to be told as the reason. */
void waiting_why(waiting_t *waiting, mongoc_client_t *client, const bson_error_t *error);

void waiting_end(waiting_t *waiting);

#endif
