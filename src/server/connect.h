#ifndef TIPPLE_SERVER_CONNECT_H
#define TIPPLE_SERVER_CONNECT_H

#include "base/chars/suggest.h"
#include "server/server.h"

#include <mongoc/mongoc.h>
#include <pthread.h>
#include <stdbool.h>

/* absence: why no server can be written to. Some reasons pass with time. Others, such as TLS on one side only, never
 * do; waiting for them would hide the mistake. */


/* True: waiting is useless, and err holds the sentence (status 1). May connect once more to find out. tries: how many
 * tries have failed so far, from 1. */
bool absence_is_final(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                      uint32_t tries, err_t *err);

/* What is known of servers that cannot be written to, as a part of a sentence: "no answer from a:27017 [...]". True: the URI's
 * host answers, but the names that its set gives do not. May connect once more to find out. */
bool absence_describe(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                      char *text, size_t size);

/* refusal: what the errors of the driver and of servers mean for a load, by the table of codes, and the sentences for
 * them. */


typedef enum {
    REFUSAL_GONE,  /* network, election, stepdown, shutdown: try again; the write may have happened */
    REFUSAL_AUTH,  /* password, permission, TLS: status 1 */
    REFUSAL_STATE, /* read-only, disk full, wrong kind of target: status 4 or 1 */
    REFUSAL_OTHER,
} refusal_t;
refusal_t refusal_of(const bson_error_t *error, const bson_t *reply);

/* Turns a driver's error into a sentence with what to do; always false. `doing` completes "could not ...". */
bool refusal_explain(const address_t *address, const bson_error_t *error, const bson_t *reply,
                     const char *doing, err_t *err);

/* waiting: tells on stderr whom a connection waits for, within its first second, then every ten seconds; whatever the
 * driver, a look-up of names or a probe is busy with. */



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

/* await: connections on which a stop signal ends the wait for a reply. The driver waits for a frozen server as long as
 * its socket timeout, which must be long enough for a busy server. A person who interrupts does not want to wait that
 * long. */


/* From now on, connections that this client opens work this way. From driver 2 on the process shuts all its connections down
 * instead (stop_hangs_up), in the command only. Call it in the thread that uses the client. */
void await_stop(mongoc_client_t *client);

/* uri_option: which options of a MongoDB URI the driver in use knows. Any other is ignored by it, but for a line in its log:
 * with a misspelled tls=true everything would be sent in the clear. Any thread. */



/* Upper and lower case are the same. */
bool uri_option_is_known(const char *name);

/* The option that was meant, of those that are known, as the end of a sentence. */
suggestion_t uri_option_meant(const char *name);

#endif
