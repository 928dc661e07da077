/* traffic: what is under way to each of several places (shards, routers) at any moment, so that a summary can
 * say which of them were kept busy. Any thread. */
#ifndef TIPPLE_LOAD_RATE_TRAFFIC_H
#define TIPPLE_LOAD_RATE_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

typedef struct traffic traffic_t;

typedef struct {
    uint64_t batches, documents;
    int64_t busy_ns;    /* at least one batch was under way */
    int64_t waiting_ns; /* that threads waited for it, all of them together */
    uint32_t most;      /* batches at once */
} traffic_figures_t;

traffic_t *traffic_new(size_t places); /* NULL: out of memory */
void traffic_free(traffic_t *traffic); /* NULL is allowed */

/* A batch sets out; returns the moment, for its arrival. */
int64_t traffic_begin(traffic_t *traffic, size_t place);
void traffic_end(traffic_t *traffic, size_t place, int64_t began_ns);

/* Documents that have become the place's. */
void traffic_add(traffic_t *traffic, size_t place, uint64_t documents);

traffic_figures_t traffic_figures(traffic_t *traffic, size_t place);

#endif
