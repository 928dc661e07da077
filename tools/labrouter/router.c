#include "router.h"
#include "message.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static int32_t number_of(const bson_t *document, const char *key, int32_t otherwise) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, document, key) && BSON_ITER_HOLDS_INT32(&iter) ? bson_iter_int32(&iter)
                                                                                     : otherwise;
}

bool router_probe(const router_t *router, const char *host, bson_t *hello) {
    problem_t problem;
    message_t answer = {0};
    bson_iter_t iter;
    stream_t *stream = stream_connect(host, router->tls, PROBE_MS, &problem);
    if (!stream)
        return false;
    stream_set_patience(stream, PROBE_MS);
    bson_t *ask = BCON_NEW("hello", BCON_INT32(1), "$db", "admin");
    const bool is_primary = message_send(stream, 1, ask) && message_read(&answer, stream) &&
                            bson_iter_init_find(&iter, &answer.command, "isWritablePrimary") &&
                            bson_iter_as_bool(&iter);
    if (is_primary && hello)
        bson_copy_to(&answer.command, hello);
    bson_destroy(ask);
    message_clean(&answer);
    stream_destroy(stream);
    return is_primary;
}

static bool find_via(router_t *router) {
    bson_t hello;
    for (char **host = router->via; *host; host++) {
        if (!router_probe(router, *host, &hello))
            continue;
        snprintf(router->host, sizeof router->host, "%s", *host);
        router->wire_version = number_of(&hello, "maxWireVersion", 17);
        router->most_document = number_of(&hello, "maxBsonObjectSize", 16 << 20);
        router->most_message = number_of(&hello, "maxMessageSizeBytes", 48000000);
        router->most_batch = number_of(&hello, "maxWriteBatchSize", 100000);
        bson_destroy(&hello);
        return true;
    }
    return false;
}

bool router_via(router_t *router, const char *failed, char *host, problem_t *problem) {
    const struct timespec pause = {.tv_nsec = 100000000};
    bool found = false;
    pthread_mutex_lock(&router->lock);
    if (failed && strcmp(router->host, failed) == 0)
        router->host[0] = '\0';
    for (int waited = 0; !(found = router->host[0] || find_via(router)) && waited < PATIENCE_MS;
         waited += 100) {
        pthread_mutex_unlock(&router->lock);
        nanosleep(&pause, NULL);
        pthread_mutex_lock(&router->lock);
    }
    if (found)
        snprintf(host, HOST_SIZE, "%s", router->host);
    pthread_mutex_unlock(&router->lock);
    return found ||
           problem_set(problem, CODE_NO_PRIMARY,
                       "none of the hosts of --via has been a primary for %d seconds", PATIENCE_MS / 1000);
}

void router_hello(router_t *router, const bson_t *asked, int32_t connection, bson_t *reply) {
    struct timespec now;
    bson_iter_t iter;
    char host[HOST_SIZE];
    problem_t problem;
    router_via(router, NULL, host, &problem); /* what is known of a mongod that has gone is still true */
    clock_gettime(CLOCK_REALTIME, &now);
    bson_init(reply);
    bson_append_bool(reply, strcmp(command_name(asked), "hello") == 0 ? "isWritablePrimary" : "ismaster", -1,
                     true);
    if (bson_iter_init_find(&iter, asked, "helloOk") && bson_iter_as_bool(&iter))
        bson_append_bool(reply, "helloOk", -1, true);
    bson_append_utf8(reply, "msg", -1, "isdbgrid", -1);
    pthread_mutex_lock(&router->lock);
    bson_append_int32(reply, "maxBsonObjectSize", -1, router->most_document);
    bson_append_int32(reply, "maxMessageSizeBytes", -1, router->most_message);
    bson_append_int32(reply, "maxWriteBatchSize", -1, router->most_batch);
    bson_append_date_time(reply, "localTime", -1, now.tv_sec * 1000 + now.tv_nsec / 1000000);
    bson_append_int32(reply, "logicalSessionTimeoutMinutes", -1, 30);
    bson_append_int32(reply, "connectionId", -1, connection);
    bson_append_int32(reply, "minWireVersion", -1, 0);
    bson_append_int32(reply, "maxWireVersion", -1, router->wire_version);
    pthread_mutex_unlock(&router->lock);
    bson_append_double(reply, "ok", -1, 1);
}
