#include "query/parallel.h"

#include <stdlib.h>

struct parallel {
    const request_t *request;
};

parallel_t *parallel_open(server_t *server, mongoc_client_t *client, const request_t *request,
                          uint32_t ranges, err_t *err) {
    (void)server;
    (void)client;
    (void)ranges;
    parallel_t *parallel = calloc(1, sizeof *parallel);
    if (!parallel)
        err_memory(err, sizeof *parallel);
    else
        parallel->request = request;
    return parallel;
}

void parallel_close(parallel_t *parallel) {
    free(parallel);
}

uint32_t parallel_ranges(const parallel_t *parallel) {
    (void)parallel;
    return 1;
}

const char *parallel_why(const parallel_t *parallel) {
    (void)parallel;
    return "not yet";
}

bool parallel_snapshot(const parallel_t *parallel) {
    (void)parallel;
    return false;
}

bool parallel_rounds(const parallel_t *parallel) {
    (void)parallel;
    return false;
}

void parallel_explain(const parallel_t *parallel, FILE *to) {
    (void)parallel;
    (void)to;
}

bool parallel_send(const parallel_t *parallel, mongoc_client_t *client, answer_t *answer,
                   bson_error_t *error) {
    mongoc_collection_t *collection = request_collection(parallel->request, client);
    bool ok = request_send(parallel->request, collection, answer, error);
    mongoc_collection_destroy(collection);
    return ok;
}
