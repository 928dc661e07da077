#include "query/side.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
    const request_t *request;
    const bson_t *pipeline;
    const moment_t *moment;
    mongoc_client_t *client;
    bson_t *reply;
    bson_error_t error;
    pthread_t thread;
    bool started, ok;
} part_t;

static void *run(void *context) {
    part_t *part = context;
    part->ok =
        ask_aggregate(part->client, part->request, part->pipeline, part->moment, part->reply, &part->error);
    return NULL;
}

/* The connection and the thread of a part beside the first. */
static bool start(server_t *server, part_t *part) {
    err_t err;
    if (!(part->client = server_take(server, &err))) {
        bson_set_error(&part->error, MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_NOT_READY, "%s", err.text);
        return false;
    }
    part->started = pthread_create(&part->thread, NULL, run, part) == 0;
    if (!part->started)
        bson_set_error(&part->error, MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_NOT_READY,
                       "no more threads can be made for its ranges");
    return part->started;
}

bool side_by_side(server_t *server, mongoc_client_t *client, const request_t *request,
                  const bson_t *pipelines, uint32_t count, const moment_t *moment, bson_t *replies,
                  bson_error_t *error) {
    part_t *parts = calloc(count, sizeof *parts);
    bool ok = parts != NULL;
    if (!ok)
        bson_set_error(error, MONGOC_ERROR_CLIENT, MONGOC_ERROR_CLIENT_NOT_READY, "memory is out");
    for (uint32_t i = 0; i < count; i++)
        bson_init(&replies[i]);
    for (uint32_t i = 0; parts && i < count; i++)
        parts[i] =
            (part_t){.request = request, .pipeline = &pipelines[i], .moment = moment, .reply = &replies[i]};
    for (uint32_t i = 1; ok && i < count; i++)
        ok = start(server, &parts[i]);
    if (ok) {
        parts[0].client = client;
        run(&parts[0]);
    }
    bool told = !parts;
    for (uint32_t i = 0; parts && i < count; i++) {
        if (parts[i].started)
            pthread_join(parts[i].thread, NULL);
        if (i && parts[i].client)
            server_give(server, parts[i].client);
        /* a part that was never begun has no words */
        if (!parts[i].ok && !told && parts[i].error.message[0]) {
            *error = parts[i].error;
            told = true;
        }
        ok = ok && parts[i].ok;
    }
    free(parts);
    return ok;
}
