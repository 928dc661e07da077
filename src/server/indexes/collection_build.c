/* Building an index of a collection, however long it takes. */
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "server/bson_read.h"
#include "server/collection.h"
#include "server/refusal.h"
#include "server/server_errors.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_UP_MS = 50 };

/* One try, on a thread and a connection of its own. It lasts as long as the server builds, which no timeout may limit;
 * after a stop signal nothing waits for it. The last of the two sides frees it. */
typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t ended;
    int sides;
    bool done, ok;
    mongoc_uri_t *uri;
    char *database;
    bson_t *command;
    bson_t reply;
    bson_error_t error;
} job_t;

static void leave(job_t *job) {
    pthread_mutex_lock(&job->lock);
    int left = --job->sides;
    pthread_mutex_unlock(&job->lock);
    if (left)
        return;
    mongoc_uri_destroy(job->uri);
    bson_destroy(job->command);
    bson_destroy(&job->reply);
    free(job->database);
    pthread_mutex_destroy(&job->lock);
    pthread_cond_destroy(&job->ended);
    free(job);
}

static void *work(void *argument) {
    job_t *job = argument;
    bson_error_t error = {0};
    bson_t reply;
    mongoc_client_t *client = mongoc_client_new_from_uri(job->uri);
    bool ok = false;
    if (client) {
        mongoc_client_set_error_api(client, MONGOC_ERROR_API_VERSION_2);
        ok = mongoc_client_command_simple(client, job->database, job->command, NULL, &reply, &error);
        mongoc_client_destroy(client);
    } else {
        bson_init(&reply);
    }
    pthread_mutex_lock(&job->lock);
    job->ok = ok;
    job->error = error;
    bson_copy_to(&reply, &job->reply);
    job->done = true;
    pthread_cond_signal(&job->ended);
    pthread_mutex_unlock(&job->lock);
    bson_destroy(&reply);
    leave(job);
    return NULL;
}

static job_t *start_job(server_t *server, const bson_t *command, err_t *err) {
    job_t *job = calloc(1, sizeof *job);
    if (!job || !(job->database = strdup(server_database(server)))) {
        free(job);
        err_memory(err, sizeof *job);
        return NULL;
    }
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&job->lock, NULL);
    pthread_cond_init(&job->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    bson_init(&job->reply);
    job->command = bson_copy(command);
    job->uri = mongoc_uri_copy(server_address(server)->uri);
    mongoc_uri_set_option_as_int32(job->uri, MONGOC_URI_SOCKETTIMEOUTMS, INT32_MAX);
    mongoc_uri_set_option_as_bool(job->uri, MONGOC_URI_SERVERSELECTIONTRYONCE, false);
    mongoc_uri_set_option_as_int32(job->uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS, 5000);
    job->sides = 2;
    pthread_t thread;
    if (caller_start_thread(&thread, work, job) != 0) {
        job->sides = 1;
        leave(job);
        err_set(err, STATUS_HOST, "no thread could be started for the index; lower --threads");
        return NULL;
    }
    pthread_detach(thread);
    return job;
}

/* Waits for the job's end; false: a stop signal came first. */
static bool wait_job(job_t *job) {
    pthread_mutex_lock(&job->lock);
    while (!job->done && !stop_signal()) {
        int64_t until = clock_now_ns() + (int64_t)LOOK_UP_MS * 1000000;
        struct timespec at = clock_to_timespec(until);
        pthread_cond_timedwait(&job->ended, &job->lock, &at);
    }
    bool done = job->done;
    pthread_mutex_unlock(&job->lock);
    return done;
}

static bson_t *index_command(const server_t *server, const char *collection, const index_spec_t *spec) {
    server_kind_t kind = server_facts(server)->kind;
    bson_t index = BSON_INITIALIZER;
    BSON_APPEND_DOCUMENT(&index, "key", &spec->keys);
    BSON_APPEND_UTF8(&index, "name", spec->name);
    bson_concat(&index, &spec->options);
    bson_t *command =
        BCON_NEW("createIndexes", BCON_UTF8(collection), "indexes", "[", BCON_DOCUMENT(&index), "]");
    bson_destroy(&index);
    /* the server's default, all voting members, would wait for a member that is down */
    if (kind == SERVER_REPLICA_SET)
        BSON_APPEND_UTF8(command, "commitQuorum", "majority");
    if (kind != SERVER_STANDALONE)
        BCON_APPEND(command, "writeConcern", "{", "w", BCON_UTF8("majority"), "}");
    return command;
}

static bool all_one(const bson_t *weights) {
    bson_iter_t at;
    bool one = bson_iter_init(&at, weights);
    while (one && bson_iter_next(&at))
        one = bson_iter_as_double(&at) == 1;
    return one;
}

/* That of bytes, which a server does not list. */
static bool is_simple(const index_spec_t *spec) {
    bson_t collation;
    bson_iter_t at;
    return bson_read_field(&spec->options, "collation", &collation) &&
           bson_iter_init_find(&at, &collation, "locale") && BSON_ITER_HOLDS_UTF8(&at) &&
           strcmp(bson_iter_utf8(&at, NULL), "simple") == 0;
}

/* A server adds these, with these values, where they are not given, or leaves them out. */
static bool is_added(const index_spec_t *spec, const bson_iter_t *option) {
    const char *name = bson_iter_key(option);
    const char *word = BSON_ITER_HOLDS_UTF8(option) ? bson_iter_utf8(option, NULL) : "";
    bson_t weights;
    if (strcmp(name, "collation") == 0)
        return is_simple(spec);
    if (strcmp(name, "weights") == 0)
        return bson_read_field(&spec->options, name, &weights) && all_one(&weights);
    return strcmp(name, "v") == 0 || strcmp(name, "2dsphereIndexVersion") == 0 ||
           strcmp(name, "textIndexVersion") == 0 ||
           (strcmp(name, "default_language") == 0 && strcmp(word, "english") == 0) ||
           (strcmp(name, "language_override") == 0 && strcmp(word, "language") == 0);
}

/* Has `b` all options of `a`, with the same values? */
static bool has_options(const index_spec_t *a, const index_spec_t *b) {
    bson_iter_t at;
    bool same = bson_iter_init(&at, &a->options);
    while (same && bson_iter_next(&at))
        same = is_added(a, &at) || collection_same_option(a, b, bson_iter_key(&at));
    return same;
}

/* A server builds no second one that is the same but for its name. */
bool collection_same_index(const index_spec_t *a, const index_spec_t *b) {
    return collection_same_keys(a, b) && has_options(a, b) && has_options(b, a);
}

static bool is_same(const bson_t *listed, const index_spec_t *spec) {
    index_spec_t there;
    err_t ignored;
    if (!collection_take_index(listed, &there, &ignored))
        return false;
    const bool same = collection_same_index(spec, &there);
    collection_free_index(&there);
    return same;
}

static bool is_there(server_t *server, mongoc_client_t *client, const index_spec_t *spec) {
    bson_t reply, listed;
    bson_iter_t batch;
    err_t ignored;
    bool same = false;
    if (collection_ask_indexes(server, client, &reply, &ignored) && bson_read_batch(&reply, &batch))
        while (!same && bson_read_next(&batch, &listed))
            same = is_same(&listed, spec);
    bson_destroy(&reply);
    return same;
}

bool collection_build_index(server_t *server, mongoc_client_t *client, const index_spec_t *spec,
                            collection_built_t *built, err_t *err) {
    char doing[300];
    snprintf(doing, sizeof doing, "build the index %s on %.120s", spec->name, server_namespace(server));
    bson_t *command = index_command(server, server_collection(server), spec);
    int64_t start = clock_now_ns();
    bool ok = false, again = true;
    *built = (collection_built_t){.took_ns = 0};
    patience_t patience = server_patience(server);
    while (!ok && again) {
        job_t *job = start_job(server, command, err);
        if (!job)
            break;
        if (!wait_job(job)) {
            again = err_set(err, (status_t)(128 + stop_signal()),
                            "interrupted while the index %s was built on %s: the "
                            "server goes on with it",
                            spec->name, server_namespace(server));
        } else if (job->ok || (server_code(&job->reply) == CODE_INDEX_OPTIONS_CONFLICT &&
                               is_there(server, client, spec))) {
            ok = true;
            server_answered(server);
        } else {
            /* patience is for a server that does not answer, not for one that was building until now */
            if (patience.tries == 0)
                patience = server_patience(server);
            again = server_again(server, client, &patience, &job->error, &job->reply, doing, err);
            built->refused = refusal_of(&job->error, &job->reply) != REFUSAL_GONE;
        }
        leave(job);
    }
    bson_destroy(command);
    built->took_ns = clock_now_ns() - start;
    return ok;
}

static bool is_among(const index_spec_t *spec, const index_spec_t *others, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (collection_same_index(spec, &others[i]))
            return true;
    return false;
}

bool collection_try_indexes(server_t *server, mongoc_client_t *client, const char *collection,
                            const index_spec_t *specs, size_t count, err_t *err) {
    bool ok = true;
    int code = 0;
    for (size_t i = 0; ok && i < count; i++) {
        if (is_among(&specs[i], specs, i))
            continue;
        err_t why;
        bson_t reply, *command = index_command(server, collection, &specs[i]);
        ok = server_command(server, client, server_database(server), command, false, &reply, &why);
        code = ok ? 0 : server_code(&reply);
        bson_destroy(command);
        bson_destroy(&reply);
        if (!ok)
            *err = why;
        if (code && code != CODE_UNAUTHORIZED)
            err_set(err, STATUS_USAGE,
                    "the server does not build the index %s: %.900s. Change --index, or the metadata of the "
                    "dump (*.metadata.json). Nothing was dropped",
                    specs[i].name, why.text);
    }
    return ok || code == CODE_UNAUTHORIZED;
}
