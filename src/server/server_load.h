/* server_load: how hard a server is at work, by its own word (serverStatus): its cache against the points at which
 * the storage engine makes others evict, queues and tickets, replication, the disk, and what reads take.
 * Nothing here waits or talks but server_load_ask; any thread. */
#ifndef TIPPLE_SERVER_SERVER_LOAD_H
#define TIPPLE_SERVER_SERVER_LOAD_H

#include "server/server.h"

/* One look at a server; NAN where it does not tell. used, dirty and updates are shares of the cache;
 * microseconds and counts are those since its start. */
typedef struct {
    int64_t at_ns;
    double used, dirty, updates;
    double eviction_us; /* that its clients' threads waited for room in the cache, or made some */
    double queued;      /* operations that wait for a lock or a ticket */
    double tickets;     /* the share that is taken, of those for reads or those for writes */
    double behind_s;    /* the majority's last write behind the primary's */
    double lagged;      /* 1: flow control holds writes back */
    double syncs, sync_us, checkpoint_ms;
    double reads, read_us;
    double cpu_us;
} server_load_sample_t;

/* One serverStatus, without its sections that are long or costly and of no use for this. */
typedef enum {
    SERVER_LOAD_OF_PRIMARY, /* how hard it is at work; of the primary, whichever that is */
    SERVER_LOAD_OF_READS,   /* what it has read and looked at; of whoever is at the other end */
} server_load_about_t;

/* The reply is to be destroyed, also after a failure. */
bool server_load_status(mongoc_client_t *client, server_load_about_t about, bson_t *reply,
                        bson_error_t *error);

/* Why it was not told, for people. */
const char *server_load_refusal(const bson_error_t *error);

/* One serverStatus, to the primary, without trying again. */
bool server_load_ask(mongoc_client_t *client, server_load_sample_t *sample, bson_error_t *error);

/* How many cores the server has to itself; NAN: it does not tell. */
double server_load_cores(mongoc_client_t *client);

/* The pure half of it: what a reply says. */
void server_load_read(const bson_t *status, int64_t at_ns, server_load_sample_t *sample);

/* Between two samples: microseconds that a read took on average, and cores that were kept busy; NAN: not
 * known, there were no reads, or the server began anew. */
double server_load_read_us(const server_load_sample_t *before, const server_load_sample_t *now,
                           double *reads);
double server_load_busy_cores(const server_load_sample_t *before, const server_load_sample_t *now);

/* Of so many cores that nobody uses, how many somebody may keep busy so that who comes finds a free one
 * nearly always: of few cores a small part, of many most. */
double server_load_spare(double free_cores);

/* What only comparing with other times tells; NAN: not known. */
typedef struct {
    double read_times;  /* how many times as long as without the load reads take */
    double spare_taken; /* what the load takes of the cores that others can spare (server_load_spare) */
} server_load_compared_t;

enum { SERVER_LOAD_SIGNS = 12 };

typedef struct {
    double pressure;  /* 0: at ease; 1: others suffer, or will at once */
    int sign;         /* which of SERVER_LOAD_SIGNS presses most */
    char reason[120]; /* "cache 14% dirty"; empty at ease */
} server_load_t;

/* before: an earlier sample, for what is counted. */
server_load_t server_load_judge(const server_load_sample_t *before, const server_load_sample_t *now,
                                const server_load_compared_t *compared);

#endif
