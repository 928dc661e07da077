#include "catalog/together.h"

#include <pthread.h>

typedef struct {
    const together_t *together;
    mongoc_client_t *second;
    pthread_mutex_t lock; /* of what follows, and of the callers' functions */
    bool failed;
    err_t err;
} run_t;

static bool begin(run_t *run, bson_t *command) {
    bson_init(command);
    pthread_mutex_lock(&run->lock);
    const bool more = !run->failed && run->together->next(run->together->context, command);
    pthread_mutex_unlock(&run->lock);
    return more;
}

static void end(run_t *run, bool ok, const bson_t *reply, const err_t *err) {
    pthread_mutex_lock(&run->lock);
    if (!run->together->take(run->together->context, ok, reply)) {
        if (!run->failed)
            run->err = *err;
        run->failed = true;
    }
    pthread_mutex_unlock(&run->lock);
}

static void work(run_t *run, mongoc_client_t *client) {
    server_t *server = run->together->server;
    bson_t command, reply;
    err_t err;
    while (begin(run, &command)) {
        const bool ok = server_command(server, client, server_database(server), &command, true, &reply, &err);
        end(run, ok, &reply, &err);
        bson_destroy(&reply);
        bson_destroy(&command);
    }
    bson_destroy(&command);
}

static void *help(void *context) {
    run_t *run = context;
    work(run, run->second);
    return NULL;
}

bool together_run(const together_t *together, bool alone, err_t *err) {
    run_t run = {.together = together};
    pthread_t helper;
    err_t ignored;
    pthread_mutex_init(&run.lock, NULL);
    run.second = alone ? NULL : server_take(together->server, &ignored);
    const bool helped = run.second && pthread_create(&helper, NULL, help, &run) == 0;
    work(&run, together->client);
    if (helped)
        pthread_join(helper, NULL);
    server_give(together->server, run.second);
    pthread_mutex_destroy(&run.lock);
    if (run.failed)
        *err = run.err;
    return !run.failed;
}
