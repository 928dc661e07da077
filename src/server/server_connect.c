#include "base/conceal.h"
#include "base/host.h"
#include "base/log.h"
#include "server/absence.h"
#include "server/server_inner.h"
#include "server/waiting.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { OLDEST_MAJOR = 4, OLDEST_MINOR = 4 };

/* How long the driver waits for a server before our own loop continues, which also checks for a stop signal. */
enum {
    LOOK_UP_MS = 250,
    LEAST_CONFIRM_MS = 3000,
    SOCKET_MORE_MS = 500,
    LONGEST_READ_MS = 7 * 24 * 3600 * 1000
};

/* ---- connecting ---- */

static int32_t milliseconds(int64_t ns, int64_t least, int64_t most) {
    int64_t ms = ns / SERVER_MS;
    return (int32_t)(ms < least ? least : ms > most ? most : ms);
}

/* How long a write may wait to be confirmed: half of the patience. By then a frozen primary has a successor, and the
 * other half is for asking that one. The socket waits a little longer, because the server's own answer tells more. */
static int32_t confirm_ms(int64_t patience_ns) {
    return milliseconds(patience_ns / 2, LEAST_CONFIRM_MS, INT32_MAX / 2);
}

static void default_int32(mongoc_uri_t *uri, const char *option, int32_t value) {
    if (!mongoc_uri_has_option(uri, option))
        mongoc_uri_set_option_as_int32(uri, option, value);
}

/* For the password of a key, OpenSSL would ask at the terminal, and again for each connection. With a wrong one, it fails. */
static void ask_nobody(mongoc_uri_t *uri) {
    if (mongoc_uri_has_option(uri, MONGOC_URI_TLSCERTIFICATEKEYFILE) &&
        !mongoc_uri_has_option(uri, MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD))
        mongoc_uri_set_option_as_utf8(uri, MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD, "none");
}

static void set_options(mongoc_uri_t *uri, int64_t patience_ns, bool reads) {
    if (!mongoc_uri_get_appname(uri))
        mongoc_uri_set_appname(uri, "tipple");
    ask_nobody(uri);
    /* a deterministic _id makes a second try harmless, and the server's own record of tries is expensive */
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_RETRYWRITES, false);
    /* the callers try reads again; the driver would try once, and leaks memory when it does */
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_RETRYREADS, false);
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS,
                                   milliseconds(patience_ns, 50, LOOK_UP_MS));
    /* after an error that tells of a new primary, the driver believes it until the server says otherwise, at most for
     * this time */
    default_int32(uri, MONGOC_URI_HEARTBEATFREQUENCYMS, milliseconds(patience_ns / 10, 500, 2000));
    default_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, milliseconds(patience_ns, 500, 10000));
    default_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS,
                  reads ? LONGEST_READ_MS : confirm_ms(patience_ns) + SOCKET_MORE_MS);
    /* finds the other members of a set from one of them: without them, its stepdown would end the load */
    bool beside = mongoc_uri_get_srv_hostname(uri) ||
                  mongoc_uri_get_option_as_bool(uri, MONGOC_URI_LOADBALANCED, false);
    if (!beside && !mongoc_uri_has_option(uri, MONGOC_URI_DIRECTCONNECTION))
        mongoc_uri_set_option_as_bool(uri, MONGOC_URI_DIRECTCONNECTION, false);
}

static void set_concerns(server_t *server, bool unsafe) {
    bool standalone = server->facts.kind == SERVER_STANDALONE;
    int64_t timeout = confirm_ms(server->patience_ns);
    server->catalog = mongoc_write_concern_new();
    mongoc_write_concern_set_w(server->catalog, standalone ? 1 : MONGOC_WRITE_CONCERN_W_MAJORITY);
    mongoc_write_concern_set_journal(server->catalog, true);
    if (!standalone)
        mongoc_write_concern_set_wtimeout_int64(server->catalog, timeout);
    server->catalog_option = bson_new();
    mongoc_write_concern_append(server->catalog, server->catalog_option);
    if (unsafe) {
        server->data = mongoc_write_concern_copy(mongoc_uri_get_write_concern(server->address.uri));
    } else if (standalone) {
        server->data = mongoc_write_concern_new();
        mongoc_write_concern_set_w(server->data, 1);
    } else {
        server->data = mongoc_write_concern_copy(server->catalog);
    }
}

static uint32_t number(const bson_t *hello, const char *field, uint32_t otherwise) {
    bson_iter_t iter;
    int64_t value = bson_iter_init_find(&iter, hello, field) ? bson_iter_as_int64(&iter) : 0;
    return value > 0 && value <= UINT32_MAX ? (uint32_t)value : otherwise;
}

/* Learns the kind and limits of the server that takes writes. False, with error: there is no such server. */
static bool learn_limits(server_t *server, mongoc_client_t *client, bool *read_only, bson_error_t *error) {
    static const struct {
        const char *type;
        server_kind_t kind;
    } kinds[] = {{"Standalone", SERVER_STANDALONE},
                 {"RSPrimary", SERVER_REPLICA_SET},
                 {"Mongos", SERVER_ROUTER},
                 {"LoadBalancer", SERVER_ROUTER}};
    mongoc_server_description_t *chosen = mongoc_client_select_server(client, true, NULL, error);
    if (!chosen)
        return false;
    const char *type = mongoc_server_description_type(chosen);
    const bson_t *hello = mongoc_server_description_hello_response(chosen);
    bson_iter_t iter;
    bool writable = false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(type, kinds[i].type) != 0)
            continue;
        writable = true;
        server->facts.kind = kinds[i].kind;
        server->facts.max_document_bytes = number(hello, "maxBsonObjectSize", 16 << 20);
        server->facts.max_message_bytes = number(hello, "maxMessageSizeBytes", 48000000);
        server->facts.max_batch = number(hello, "maxWriteBatchSize", 100000);
        *read_only = bson_iter_init_find(&iter, hello, "readOnly") && bson_iter_as_bool(&iter);
    }
    /* a direct connection to a member that is not the primary: it may become the primary */
    if (!writable)
        bson_set_error(error, MONGOC_ERROR_SERVER_SELECTION, MONGOC_ERROR_SERVER_SELECTION_FAILURE,
                       "[%s is no primary]", mongoc_server_description_host(chosen)->host_and_port);
    mongoc_server_description_destroy(chosen);
    return writable;
}

static bool learn_version(server_t *server, const bson_t *info, err_t *err) {
    bson_iter_t iter;
    const char *version = bson_iter_init_find(&iter, info, "version") ? bson_iter_utf8(&iter, NULL) : NULL;
    server_facts_t *facts = &server->facts;
    snprintf(facts->version, sizeof facts->version, "%s", version ? version : "");
    if (sscanf(facts->version, "%d.%d", &facts->major, &facts->minor) != 2)
        return err_set(err, STATUS_USAGE,
                       "the server at %s does not tell its version: is it a MongoDB server?",
                       server->address.hosts);
    if (facts->major < OLDEST_MAJOR || (facts->major == OLDEST_MAJOR && facts->minor < OLDEST_MINOR))
        return err_set(err, STATUS_USAGE, "the server at %s is MongoDB %s; tipple needs %d.%d or newer",
                       server->address.hosts, facts->version, OLDEST_MAJOR, OLDEST_MINOR);
    return true;
}

static bool learn(server_t *server, mongoc_client_t *client, waiting_t *waiting, err_t *err) {
    char doing[300];
    snprintf(doing, sizeof doing, "connect to %.280s", server->address.hosts);
    bson_t *command = BCON_NEW("buildInfo", BCON_INT32(1));
    patience_t patience = server_patience(server);
    bool ok, read_only = false;
    for (;;) {
        bson_t reply;
        bson_error_t error;
        /* buildInfo first: it opens the connection, and so logs in */
        ok = mongoc_client_command_simple(client, "admin", command, NULL, &reply, &error) &&
             learn_limits(server, client, &read_only, &error);
        if (!ok)
            waiting_why(waiting, client, &error);
        bool over = ok ? !learn_version(server, &reply, err)
                       : absence_is_final(&server->address, client, &error, patience.tries + 1, err) ||
                             !server_again(server, client, &patience, &error, &reply, doing, err);
        bson_destroy(&reply);
        ok = ok && !over;
        if (ok || over)
            break;
    }
    bson_destroy(command);
    if (ok && read_only && !server->reads)
        ok = err_set(err, STATUS_USAGE, "the server at %s is read-only: nothing can be loaded into it",
                     server->address.hosts);
    return ok;
}

/* A name server that is away, or that does not know the name, may be another a moment later: as with a name of a host. */
static bool is_look_up(const bson_error_t *error) {
    return error->domain == MONGOC_ERROR_STREAM && error->code == MONGOC_ERROR_STREAM_NAME_RESOLUTION &&
           strstr(error->message, "Failed to look up SRV");
}

static bool open_pool(server_t *server, uint32_t connections, waiting_t *waiting, err_t *err) {
    char doing[300];
    snprintf(doing, sizeof doing, "connect to %.280s", server->address.hosts);
    patience_t patience = server_patience(server);
    bson_error_t error;
    while (!(server->pool = mongoc_client_pool_new_with_error(server->address.uri, &error))) {
        if (is_look_up(&error)) {
            waiting_why(waiting, NULL, &error);
            if (!server_wait(server, NULL, &patience, &error, NULL, doing, err))
                return false;
            continue;
        }
        conceal_known(error.message);
        return err_set(err, STATUS_USAGE, "the target's URI cannot be used: %s", error.message);
    }
    mongoc_client_pool_set_error_api(server->pool, MONGOC_ERROR_API_VERSION_2);
    mongoc_client_pool_max_size(server->pool, connections ? connections : 1);
    return true;
}

/* Without answers, nothing tells which documents the server has stored. */
static bool has_answers(const mongoc_uri_t *uri, const server_options_t *options, err_t *err) {
    return !options->unsafe || mongoc_write_concern_is_acknowledged(mongoc_uri_get_write_concern(uri)) ||
           err_set(err, STATUS_USAGE,
                   "w=0 in the URI asks for no answers, and without them nobody knows what was loaded: with "
                   "--unsafe, w=1 is the least");
}

/* A standalone refuses each write that others would have to confirm. */
static bool can_confirm(const server_t *server, const server_options_t *options, err_t *err) {
    const mongoc_write_concern_t *concern = mongoc_uri_get_write_concern(server->address.uri);
    return !options->unsafe || server->facts.kind != SERVER_STANDALONE ||
           (mongoc_write_concern_get_w(concern) <= 1 && !mongoc_write_concern_get_wtag(concern)) ||
           err_set(err, STATUS_USAGE,
                   "the server at %s is a standalone, and w= in the URI asks others to confirm the writes: "
                   "there are none; with --unsafe, w=1 is the most",
                   server->address.hosts);
}

/* Takes ownership of the address. */
static server_t *connect_to(address_t *address, const server_options_t *options, err_t *err) {
    enum { OF_THE_DRIVER = 4 }; /* it watches each host by a connection of its own */
    if (!host_want_descriptors(options->connections + OF_THE_DRIVER, err)) {
        address_free(address);
        return NULL;
    }
    server_t *server = calloc(1, sizeof *server);
    if (!server) {
        address_free(address);
        err_memory(err, sizeof *server);
        return NULL;
    }
    server->address = *address;
    server->patience_ns = options->patience_ns;
    server->reads = options->reads;
    server->resumes = options->resumes;
    set_options(server->address.uri, options->patience_ns, options->reads);
    waiting_t waiting;
    waiting_begin(&waiting, &server->address, options->patience_ns);
    mongoc_client_t *client = has_answers(server->address.uri, options, err) &&
                                      open_pool(server, options->connections, &waiting, err)
                                  ? server_take(server, err)
                                  : NULL;
    bool ok = client && learn(server, client, &waiting, err);
    waiting_end(&waiting);
    ok = ok && can_confirm(server, options, err);
    server_give(server, client);
    if (ok) {
        server->unsafe = options->unsafe;
        set_concerns(server, options->unsafe);
        return server;
    }
    server_destroy(server);
    return NULL;
}

server_t *server_connect(const server_options_t *options, err_t *err) {
    address_t address;
    return address_parse(&address, options->uri, err) ? connect_to(&address, options, err) : NULL;
}

server_t *server_beside(const server_t *server, const char *hosts, const char *set, uint32_t connections,
                        int64_t patience_ns, err_t *err) {
    const server_options_t options = {.patience_ns = patience_ns,
                                      .connections = connections,
                                      .unsafe = server->unsafe,
                                      .reads = server->reads,
                                      .resumes = server->resumes};
    address_t address;
    return address_beside(&server->address, hosts, set, &address, err) ? connect_to(&address, &options, err)
                                                                       : NULL;
}

/* ---- the end ---- */

static atomic_bool tls_was_used;

/* The monitors of a pool check their stop flag only every half second, which is longer than a small load takes, and one that
 * waits for a host that does not answer takes seconds. So a thread ends the pool. If the process ends first, the thread never
 * wakes. */
static void *end_pool(void *pool) {
    struct timespec later = {.tv_sec = 1};
    nanosleep(&later, NULL);
    mongoc_client_pool_destroy(pool);
    return NULL;
}

static bool end_pool_later(mongoc_client_pool_t *pool) {
    pthread_attr_t detached;
    pthread_t thread;
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    bool ok = pthread_create(&thread, &detached, end_pool, pool) == 0;
    pthread_attr_destroy(&detached);
    return ok;
}

void server_destroy(server_t *server) {
    if (!server)
        return;
    const bool tls = server->address.uri && mongoc_uri_get_tls(server->address.uri);
    tls_was_used |= tls;
    if (server->pool && ((tls && caller_current()) || !end_pool_later(server->pool)))
        mongoc_client_pool_destroy(server->pool);
    if (server->data)
        mongoc_write_concern_destroy(server->data);
    if (server->catalog)
        mongoc_write_concern_destroy(server->catalog);
    bson_destroy(server->catalog_option);
    address_free(&server->address);
    free(server);
}

void server_end_process(int status) {
    if (!tls_was_used)
        return;
    fflush(stdout);
    fflush(stderr);
    _exit(status);
}
