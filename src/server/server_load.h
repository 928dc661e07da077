/* server_load: how hard a server works, by its own account (serverStatus): its cache compared with the points at which
 * the storage engine makes clients evict, queues and tickets, replication, the disk, and the time of reads. Only
 * server_load_status, server_load_ask and server_load_cores talk to the server. Any thread. */
#ifndef TIPPLE_SERVER_SERVER_LOAD_H
#define TIPPLE_SERVER_SERVER_LOAD_H

#include "server/server.h"

/* One look at a server; NAN: it does not tell. used, dirty and updates are shares of the cache; microseconds and counts
 * are totals since its start. */
typedef struct {
    int64_t at_ns;
    double used, dirty, updates;
    double eviction_us; /* that threads of its clients waited for room in the cache, or made some */
    double queued;      /* operations that wait for a lock or a ticket */
    double tickets;     /* the share that is taken, of the tickets for reads or for writes */
    double behind_s;    /* how far the majority's last write is behind the primary's */
    double lagged;      /* 1: flow control holds writes back */
    double syncs, sync_us, checkpoint_ms;
    double reads, read_us;
    double cpu_us;
} server_load_sample_t;

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

/* One serverStatus to the primary; no second try. */
bool server_load_ask(mongoc_client_t *client, server_load_sample_t *sample, bson_error_t *error);

/* How many cores the server may use; NAN: it does not tell. */
double server_load_cores(mongoc_client_t *client);

/* What a reply says. Pure. */
void server_load_read(const bson_t *status, int64_t at_ns, server_load_sample_t *sample);

/* Between two samples: how many microseconds a read took on average, and how many cores were busy. NAN: not known, no
 * reads, or the server was restarted. */
double server_load_read_us(const server_load_sample_t *before, const server_load_sample_t *now,
                           double *reads);
double server_load_busy_cores(const server_load_sample_t *before, const server_load_sample_t *now);

/* If this many cores are free: how many of them may be kept busy so that whoever comes nearly always finds a free one.
 * Of few cores it is a small part, of many most. */
double server_load_spare(double free_cores);

/* What is known only by comparing with other times; NAN: not known. */
typedef struct {
    double read_times;  /* how many times as long reads take as without the load */
    double spare_taken; /* the share of the spare cores (server_load_spare) that the load uses */
} server_load_compared_t;

enum { SERVER_LOAD_SIGNS = 12 };

typedef struct {
    double pressure;  /* 0: at ease; 1: other users suffer, or will soon */
    int sign;         /* the sign with the highest pressure */
    char reason[120]; /* "cache 14% dirty"; empty at ease */
} server_load_t;

/* before: an earlier sample, for values that are counted. */
server_load_t server_load_judge(const server_load_sample_t *before, const server_load_sample_t *now,
                                const server_load_compared_t *compared);

#endif
