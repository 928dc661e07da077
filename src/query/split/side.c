#include "query/split/side.h"

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

static bool tell(bson_error_t *error, const err_t *err) {
    bson_set_error(error, SIDE_ERROR, err->status, "%s", err->text);
    return false;
}

/* Gets the connection and the thread of each part but the first. */
static bool start(server_t *server, part_t *part) {
    err_t err;
    part->client = server_take(server, &err);
    part->started =
        part->client && (pthread_create(&part->thread, NULL, run, part) == 0 ||
                         err_set(&err, STATUS_HOST, "no more threads can be made for its ranges"));
    return part->started || tell(&part->error, &err);
}

bool side_by_side(server_t *server, mongoc_client_t *client, const request_t *request,
                  const bson_t *pipelines, uint32_t count, const moment_t *moment, bson_t *replies,
                  bson_error_t *error) {
    part_t *parts = calloc(count, sizeof *parts);
    err_t err;
    bool ok = parts || err_memory(&err, count * sizeof *parts) || tell(error, &err);
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
        /* a part that was never started has no message */
        if (!parts[i].ok && !told && parts[i].error.message[0]) {
            *error = parts[i].error;
            told = true;
        }
        ok = ok && parts[i].ok;
    }
    free(parts);
    return ok;
}
