/* What goes wrong, what was asked, and what a test does to a box. */
#include "box_inner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int box_stderr = STDERR_FILENO;

void box_die(const char *words, ...) {
    va_list arguments;
    va_start(arguments, words);
    dprintf(box_stderr, "box: ");
    vdprintf(box_stderr, words, arguments);
    dprintf(box_stderr, "\n");
    va_end(arguments);
    abort();
}

bson_t *box_json(const char *json) {
    bson_error_t error;
    bson_t *document = json ? bson_new_from_json((const uint8_t *)json, -1, &error) : bson_new();
    if (!document)
        box_die("%s: %s", json, error.message);
    return document;
}

/* ---- fields of documents ---- */

const char *box_text(const bson_t *document, const char *field) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, document, field) && BSON_ITER_HOLDS_UTF8(&iter)
               ? bson_iter_utf8(&iter, NULL)
               : "";
}

int64_t box_number(const bson_t *document, const char *field, int64_t otherwise) {
    bson_iter_t iter;
    return bson_iter_init_find(&iter, document, field) ? bson_iter_as_int64(&iter) : otherwise;
}

void box_part(const bson_t *document, const char *field, bson_t *part) {
    bson_iter_t iter;
    if (bson_iter_init_find(&iter, document, field))
        box_inside(&iter, part);
    else
        bson_init(part);
}

/* ---- a command comes ---- */

static void note(const call_t *call) {
    box_t *box = call->box;
    box_asked_t *asked = box->asked;
    while (asked < box->asked + box->asked_count &&
           (strcmp(asked->command, call->name) != 0 || strcmp(asked->collection, call->target) != 0))
        asked++;
    if (asked == box->asked + BOX_KINDS)
        box_die("no room to note more kinds of commands");
    if (asked == box->asked + box->asked_count) {
        box->asked_count++;
        *asked = (box_asked_t){.times = 0};
        snprintf(asked->command, sizeof asked->command, "%s", call->name);
        snprintf(asked->collection, sizeof asked->collection, "%s", call->target);
    }
    asked->times++;
    bson_destroy(asked->last);
    asked->last = bson_copy(call->command);
}

/* The fault that this command meets. */
static bool meet(const call_t *call, box_fault_t *met) {
    box_t *box = call->box;
    for (size_t i = 0; i < box->fault_count; i++) {
        box_pending_t *pending = &box->faults[i];
        const box_fault_t *fault = &pending->fault;
        if (!pending->left || strcmp(fault->command, call->name) != 0 ||
            (fault->collection && strcmp(fault->collection, call->target) != 0))
            continue;
        if (pending->left_after) {
            pending->left_after--;
            continue;
        }
        pending->left--;
        *met = *fault;
        return true;
    }
    return false;
}

/* With what was said in place of, or next to, what is true. */
static void say(const box_fault_t *fault, bson_t *reply) {
    bson_t *said = box_json(fault->reply);
    box_overlay(reply, said);
    bson_destroy(said);
}

bool box_answer(box_t *box, const bson_t *command, bson_t *reply) {
    bson_iter_t first;
    if (!bson_iter_init(&first, command) || !bson_iter_next(&first))
        box_die("an empty command");
    call_t call = {.box = box,
                   .command = command,
                   .name = bson_iter_key(&first),
                   .database = box_text(command, "$db"),
                   .target = BSON_ITER_HOLDS_UTF8(&first) ? bson_iter_utf8(&first, NULL)
                                                          : box_text(command, "collection"),
                   .reply = reply};
    pthread_mutex_lock(&box->lock);
    note(&call);
    box_fault_t fault;
    const bool met = meet(&call, &fault), wrong = met && !fault.only_watches;
    if (met && fault.hook) {
        pthread_mutex_unlock(&box->lock);
        fault.hook(fault.context);
        pthread_mutex_lock(&box->lock);
    }
    if (!wrong || fault.does)
        box_run(&call);
    if (wrong && fault.reply)
        say(&fault, reply);
    pthread_mutex_unlock(&box->lock);
    return !wrong || fault.reply;
}

/* ---- what tests do and ask ---- */

static call_t call_on(box_t *box, const char *namespace, char database[64]) {
    const size_t length = strcspn(namespace, ".");
    snprintf(database, 64, "%.*s", (int)length, namespace);
    return (call_t){.box = box, .database = database, .target = namespace + length + 1};
}

static bson_t **found_by(box_t *box, const char *namespace, const char *filter, size_t *count) {
    char database[64];
    bson_t *condition = box_json(filter);
    pthread_mutex_lock(&box->lock);
    const call_t call = call_on(box, namespace, database);
    bson_t **found = box_matching(box_collection_of(&call), condition, count);
    pthread_mutex_unlock(&box->lock);
    bson_destroy(condition);
    return found;
}

size_t box_count(box_t *box, const char *namespace, const char *filter) {
    size_t count;
    bson_t **found = found_by(box, namespace, filter, &count);
    box_free_documents(found, count);
    free(found);
    return count;
}

bson_t *box_one(box_t *box, const char *namespace, const char *filter) {
    size_t count;
    bson_t **found = found_by(box, namespace, filter, &count);
    if (count != 1)
        box_die("%zu documents of %s match %s", count, namespace, filter ? filter : "{}");
    bson_t *one = *found;
    free(found);
    return one;
}

void box_insert(box_t *box, const char *namespace, const char *document) {
    char database[64];
    box_error_t error;
    bson_t *made = box_json(document);
    pthread_mutex_lock(&box->lock);
    const call_t call = call_on(box, namespace, database);
    if (!box_put(box_make_collection(&box->store, call.database, call.target, NULL), made, &error))
        box_die("%s: %s", document, error.words);
    pthread_mutex_unlock(&box->lock);
    bson_destroy(made);
}

void box_update(box_t *box, const char *namespace, const char *filter, const char *change) {
    char database[64];
    box_error_t error;
    box_change_t done;
    bson_t *query = box_json(filter), *made = box_json(change),
           *statement =
               BCON_NEW("q", BCON_DOCUMENT(query), "u", BCON_DOCUMENT(made), "multi", BCON_BOOL(true));
    pthread_mutex_lock(&box->lock);
    const call_t call = call_on(box, namespace, database);
    if (!box_update_one(box_collection_of(&call), statement, &done, &error) || !done.matched)
        box_die("%s: nothing was updated by %s", namespace, change);
    pthread_mutex_unlock(&box->lock);
    bson_destroy(query);
    bson_destroy(made);
    bson_destroy(statement);
}

void box_delete(box_t *box, const char *namespace, const char *filter) {
    char database[64];
    bson_t *query = box_json(filter);
    pthread_mutex_lock(&box->lock);
    const call_t call = call_on(box, namespace, database);
    if (!box_delete_from(box_collection_of(&call), query, 0))
        box_die("%s: nothing to delete by %s", namespace, filter);
    pthread_mutex_unlock(&box->lock);
    bson_destroy(query);
}

void box_drop(box_t *box, const char *namespace) {
    char database[64];
    pthread_mutex_lock(&box->lock);
    const call_t call = call_on(box, namespace, database);
    if (!box_collection_of(&call))
        box_die("there is no %s to drop", namespace);
    box_drop_collection(&box->store, box_collection_of(&call));
    pthread_mutex_unlock(&box->lock);
}

void box_refuse(box_t *box, const char *namespace, const char *filter, int code) {
    char database[64];
    pthread_mutex_lock(&box->lock);
    const call_t call = call_on(box, namespace, database);
    box_collection_t *collection = box_make_collection(&box->store, call.database, call.target, NULL);
    bson_destroy(collection->refused);
    collection->refused = filter ? box_json(filter) : NULL;
    collection->refused_code = code;
    pthread_mutex_unlock(&box->lock);
}

void box_restart(box_t *box) {
    pthread_mutex_lock(&box->lock);
    bson_oid_init(&box->process, NULL);
    box_close_connections(box);
    pthread_mutex_unlock(&box->lock);
}

void box_fault(box_t *box, const box_fault_t *fault) {
    pthread_mutex_lock(&box->lock);
    if (box->fault_count == BOX_FAULTS)
        box_die("no room for more faults");
    box->faults[box->fault_count++] = (box_pending_t){*fault, fault->after, fault->times ? fault->times : 1};
    pthread_mutex_unlock(&box->lock);
}

void box_watch(box_t *box, const char *command, const char *collection, uint32_t after, uint32_t times,
               void (*hook)(void *context), void *context) {
    box_fault(box, &(box_fault_t){command, collection, after, times, .only_watches = true, .hook = hook,
                                  .context = context});
}

void box_deny(box_t *box, const char *command, const char *collection, uint32_t after, uint32_t times) {
    box_fault(box,
              &(box_fault_t){command, collection, after, times, .reply = BOX_ERROR(13, "not authorized")});
}

void box_end_faults(box_t *box) {
    pthread_mutex_lock(&box->lock);
    box->fault_count = 0;
    pthread_mutex_unlock(&box->lock);
}

static const box_asked_t *asked_for(const box_t *box, const char *command, const char *collection) {
    for (size_t i = 0; i < box->asked_count; i++)
        if (strcmp(box->asked[i].command, command) == 0 && strcmp(box->asked[i].collection, collection) == 0)
            return &box->asked[i];
    return NULL;
}

size_t box_asked(box_t *box, const char *command, const char *collection) {
    pthread_mutex_lock(&box->lock);
    const box_asked_t *asked = asked_for(box, command, collection);
    const size_t times = asked ? asked->times : 0;
    pthread_mutex_unlock(&box->lock);
    return times;
}

bool box_last_was(box_t *box, const char *command, const char *collection, const char *filter) {
    bson_t *condition = box_json(filter);
    pthread_mutex_lock(&box->lock);
    const box_asked_t *asked = asked_for(box, command, collection);
    const bool was = asked && box_matches(asked->last, condition);
    pthread_mutex_unlock(&box->lock);
    bson_destroy(condition);
    return was;
}

void box_say(box_t *box, const char *command, const char *fields) {
    pthread_mutex_lock(&box->lock);
    bson_t **said = strcmp(command, "hello") == 0     ? &box->said_of_hello
                    : strcmp(command, "dbStats") == 0 ? &box->said_of_stats
                                                      : &box->said_of_build;
    bson_destroy(*said);
    *said = box_json(fields);
    pthread_mutex_unlock(&box->lock);
}
