#include "load/rate/traffic.h"
#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
    traffic_figures_t figures;
    uint32_t under_way;
    int64_t since_ns; /* something is under way */
} collection_t;

struct traffic {
    pthread_mutex_t lock;
    size_t count;
    collection_t places[];
};

traffic_t *traffic_new(size_t places) {
    traffic_t *traffic = calloc(1, sizeof *traffic + places * sizeof *traffic->places);
    if (!traffic)
        return NULL;
    pthread_mutex_init(&traffic->lock, NULL);
    traffic->count = places;
    return traffic;
}

void traffic_free(traffic_t *traffic) {
    if (traffic)
        pthread_mutex_destroy(&traffic->lock);
    free(traffic);
}

int64_t traffic_begin(traffic_t *traffic, size_t at) {
    collection_t *place = &traffic->places[at];
    pthread_mutex_lock(&traffic->lock);
    int64_t now = clock_now_ns();
    if (place->under_way++ == 0)
        place->since_ns = now;
    if (place->under_way > place->figures.most)
        place->figures.most = place->under_way;
    pthread_mutex_unlock(&traffic->lock);
    return now;
}

void traffic_end(traffic_t *traffic, size_t at, int64_t began_ns) {
    collection_t *place = &traffic->places[at];
    pthread_mutex_lock(&traffic->lock);
    int64_t now = clock_now_ns();
    place->figures.batches++;
    place->figures.waiting_ns += now - began_ns;
    if (--place->under_way == 0)
        place->figures.busy_ns += now - place->since_ns;
    pthread_mutex_unlock(&traffic->lock);
}

void traffic_add(traffic_t *traffic, size_t at, uint64_t documents) {
    pthread_mutex_lock(&traffic->lock);
    traffic->places[at].figures.documents += documents;
    pthread_mutex_unlock(&traffic->lock);
}

traffic_figures_t traffic_figures(traffic_t *traffic, size_t at) {
    pthread_mutex_lock(&traffic->lock);
    const collection_t *place = &traffic->places[at];
    traffic_figures_t figures = place->figures;
    if (place->under_way)
        figures.busy_ns += clock_now_ns() - place->since_ns;
    pthread_mutex_unlock(&traffic->lock);
    return figures;
}
