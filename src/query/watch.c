#include "query/watch.h"

#include <math.h>
#include <stdlib.h>

struct watch {
    server_t *server;
};

watch_t *watch_open(server_t *server, mongoc_client_t *client, err_t *err) {
    (void)client;
    watch_t *watch = calloc(1, sizeof *watch);
    if (!watch)
        err_memory(err, sizeof *watch);
    else
        watch->server = server;
    return watch;
}

void watch_close(watch_t *watch) {
    free(watch);
}

void watch_start(watch_t *watch) {
    (void)watch;
}

void watch_stop(watch_t *watch, watch_sum_t *sum) {
    (void)watch;
    sum->figures = (watch_figures_t){NAN, NAN, NAN, NAN, NAN, NAN, NAN};
}

bool watch_storage(server_t *server, mongoc_client_t *client, const char *collection,
                   watch_storage_t *storage, err_t *err) {
    mongoc_collection_t *of = mongoc_client_get_collection(client, server_database(server), collection);
    bson_error_t error;
    int64_t count = mongoc_collection_estimated_document_count(of, NULL, NULL, NULL, &error);
    mongoc_collection_destroy(of);
    *storage = (watch_storage_t){.documents = (double)count};
    return count >= 0 || server_explain(server, &error, NULL, "count the documents", err);
}

double watch_load_seconds(server_t *server, mongoc_client_t *client) {
    (void)server;
    (void)client;
    return NAN;
}
