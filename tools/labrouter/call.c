#include "call.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the client's command ---- */

bool call_has(const call_t *call, const char *key, bson_iter_t *iter) {
    if (key)
        return bson_iter_init_find(iter, call->command, key);
    return bson_iter_init(iter, call->command) && bson_iter_next(iter);
}

const char *call_text(call_t *call, const char *key) {
    bson_iter_t iter;
    if (call_has(call, key, &iter) && BSON_ITER_HOLDS_UTF8(&iter))
        return bson_iter_utf8(&iter, NULL);
    const char *command = command_name(call->command);
    problem_set(call->problem, CODE_FAILED_TO_PARSE, "%s: the field %s must be text", command,
                key ? key : command);
    return NULL;
}

bool call_namespace(call_t *call, char *namespace) {
    const char *collection = call_text(call, NULL);
    if (collection)
        snprintf(namespace, NAME_SIZE, "%s.%s", call->database, collection);
    return collection != NULL;
}

static bool is_one_of(const char *key, const char *const *names) {
    for (; names && *names; names++)
        if (strcmp(key, *names) == 0)
            return true;
    return false;
}

static void copy_but(const call_t *call, bson_t *to, const char *const *but, const char *const *protocol) {
    bson_iter_t iter;
    bson_iter_init(&iter, call->command);
    bson_iter_next(&iter);
    while (bson_iter_next(&iter)) {
        const char *key = bson_iter_key(&iter);
        if (key[0] != '$' && !is_one_of(key, but) && !is_one_of(key, protocol))
            bson_append_iter(to, key, -1, &iter);
    }
}

void call_copy_fields(const call_t *call, bson_t *to, const char *const *but) {
    static const char *const PROTOCOL[] = {"lsid",       "txnNumber", "writeConcern",         "readConcern",
                                           "apiVersion", "apiStrict", "apiDeprecationErrors", NULL};
    copy_but(call, to, but, PROTOCOL);
}

void call_copy_all(const call_t *call, bson_t *to, const char *const *but) {
    copy_but(call, to, but, NULL);
}

void call_majority(bson_t *to) {
    bson_t concern;
    bson_append_document_begin(to, "writeConcern", -1, &concern);
    bson_append_utf8(&concern, "w", -1, "majority", -1);
    bson_append_document_end(to, &concern);
}

/* ---- asking ---- */

bool call_ask(call_t *call, const char *place, const char *database, bson_t *command, bson_t *reply) {
    const bool ok = links_ask_ok(call->links, place, database, command, reply, call->problem);
    bson_destroy(command);
    return ok;
}

/* A mongos does not report what its servers say to each other. */
static void tidy_reply(const bson_t *raw, bson_t *reply) {
    bson_init(reply);
    bson_copy_to_excluding_noinit(raw, reply, "$clusterTime", "operationTime", "lastCommittedOpTime",
                                  "$gleStats", "$configServerState", "$configTime", "$topologyTime",
                                  "topologyVersion", NULL);
}

bool call_finish(call_t *call, const char *place, const char *database, bson_t *command) {
    bson_t raw;
    if (!call_ask(call, place, database, command, &raw))
        return false;
    tidy_reply(&raw, call->reply);
    bson_destroy(&raw);
    return true;
}

bool call_done(call_t *call) {
    bson_init(call->reply);
    return call_close(call);
}

bool call_close(call_t *call) {
    return bson_append_double(call->reply, "ok", -1, 1);
}
