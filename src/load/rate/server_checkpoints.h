/* server_checkpoints: when the server wrote checkpoints during a load: writes often wait while one is under
 * way. It has a thread and a connection of its own, and asks serverStatus once a second. If that fails, it stops
 * and says nothing: the load neither waits for it nor fails with it. A router does not tell of its shards' checkpoints. */
#ifndef TIPPLE_LOAD_RATE_SERVER_CHECKPOINTS_H
#define TIPPLE_LOAD_RATE_SERVER_CHECKPOINTS_H

#include "server/server.h"

enum { SERVER_CHECKPOINTS_MOST = 1440 }; /* a day of them; later ones are not kept */

typedef struct {
    int64_t began_ns, ended_ns; /* from the origin; known to about half a second */
} flush_t;

typedef struct {
    bool known; /* the server told; else there may have been any */
    size_t count;
    flush_t items[SERVER_CHECKPOINTS_MOST];
} server_checkpoints_t;

typedef struct server_checkpoints_watch server_checkpoints_watch_t;

/* NULL: it cannot be known, or there is no memory for it. origin_ns: clock_now_ns of what counts as 0. */
server_checkpoints_watch_t *server_checkpoints_start(const server_t *server, int64_t origin_ns);
void server_checkpoints_stop(server_checkpoints_watch_t *watch,
                             server_checkpoints_t *found); /* NULL is allowed */

/* ---- the pure half ---- */

typedef struct {
    int64_t at_ns;
    bool running;
    double number;    /* grows with each checkpoint */
    double recent_ms; /* that the last one took */
} flush_sample_t;

/* From a reply to serverStatus, of any version; false: it does not tell. */
bool server_checkpoints_read(const bson_t *status, int64_t at_ns, flush_sample_t *sample);

/* What two looks in a row tell of what ended between them. */
void server_checkpoints_compare(server_checkpoints_t *flushes, const flush_sample_t *before,
                                const flush_sample_t *now);

#endif
