#include "base/caller.h"
#include "base/clock.h"
#include "base/host/host.h"
#include "base/log.h"
#include "base/numbers/units.h"
#include "base/stop.h"
#include "server/bson_read.h"
#include "server/connect.h"
#include "server/server_inner.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* ---- server_connect ---- */

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
        address_conceal(&server->address, error.message);
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

/* ---- absence ---- */

enum { PROBE_MS = 2000 };

typedef enum { PROBE_ANSWERED, PROBE_CLOSED, PROBE_FAILED } probe_t;

/* Sends hello to a host, with TLS (no certificate is checked) or without it. No credentials are sent. */
static probe_t probe(const mongoc_host_list_t *host, bool tls, bson_t *reply) {
    bson_error_t error;
    err_t ignored;
    mongoc_client_t *client = NULL;
    mongoc_uri_t *uri = address_uri_of(host->host_and_port, &ignored);
    bson_init(reply);
    if (uri) {
        address_set_waits(uri, PROBE_MS);
        client = mongoc_client_new_from_uri(uri);
        mongoc_uri_destroy(uri);
    }
    if (!client)
        return PROBE_FAILED;
    if (tls) {
        mongoc_ssl_opt_t trusting = {.weak_cert_validation = true, .allow_invalid_hostname = true};
        mongoc_client_set_ssl_opts(client, &trusting);
    }
    bson_t *hello = BCON_NEW("hello", BCON_INT32(1));
    const int64_t began_ns = clock_now_ns();
    bson_destroy(reply);
    bool answered = mongoc_client_command_simple(client, "admin", hello, NULL, reply, &error);
    bson_destroy(hello);
    mongoc_client_destroy(client);
    if (answered)
        return PROBE_ANSWERED;
    /* a host that does not answer at all has not closed the connection */
    if (clock_now_ns() - began_ns >= (int64_t)PROBE_MS * 1000000)
        return PROBE_FAILED;
    /* this is what a server does that requires a client certificate: the handshake succeeds, and then it closes the
     * connection */
    return strstr(error.message, "Failed to receive length header") ? PROBE_CLOSED : PROBE_FAILED;
}

/* With TLS the handshake is enough. */
static bool speaks(const mongoc_host_list_t *host, bool tls) {
    bson_t reply;
    probe_t result = probe(host, tls, &reply);
    bson_destroy(&reply);
    return result == PROBE_ANSWERED || (tls && result == PROBE_CLOSED);
}

/* A server may take both, and a connection that broke once tells nothing of it. */
static bool speaks_only(const mongoc_host_list_t *host, bool tls) {
    return speaks(host, tls) && !speaks(host, !tls);
}

/* Of a reply that names no set. A member that has just begun does not know its set yet. */
static bool is_alone(const bson_t *reply, bool wants_set, bool several) {
    if (bson_has_field(reply, "isreplicaset"))
        return false;
    return wants_set || (several && strcmp(bson_read_text(reply, "msg"), "isdbgrid") != 0);
}

/* The driver drops a server that is not of the replica set it looks for, and then says that it knows no server; also one whose
 * connection broke, whatever it is. */
static bool is_of_another_set(const address_t *address, const mongoc_host_list_t *host, bool tls,
                              err_t *err) {
    bson_t reply;
    bson_iter_t iter;
    const char *wanted = mongoc_uri_get_replica_set(address->uri), *set = NULL;
    bool other = false;
    if (probe(host, tls, &reply) == PROBE_ANSWERED) {
        if (bson_iter_init_find(&iter, &reply, "setName") && BSON_ITER_HOLDS_UTF8(&iter))
            set = bson_iter_utf8(&iter, NULL);
        /* a URI with one host means that server alone, however late it answered */
        bool several = mongoc_uri_get_hosts(address->uri)->next;
        other = set ? wanted && strcmp(set, wanted) != 0 : is_alone(&reply, wanted, several);
    }
    if (other && set)
        err_set(err, STATUS_USAGE,
                "the server at %s belongs to the replica set '%s', not '%s': correct replicaSet= in the "
                "URI",
                host->host_and_port, set, wanted);
    else if (other && wanted)
        err_set(err, STATUS_USAGE,
                "the server at %s belongs to no replica set: leave replicaSet=%s out of the URI",
                host->host_and_port, wanted);
    else if (other)
        err_set(err, STATUS_USAGE,
                "a server at %s is a standalone, and the URI names several hosts: name one",
                host->host_and_port);
    bson_destroy(&reply);
    return other;
}

static size_t servers_known(mongoc_client_t *client) {
    size_t count;
    mongoc_server_description_t **servers = mongoc_client_get_server_descriptions(client, &count);
    mongoc_server_descriptions_destroy_all(servers, count);
    return count;
}

static bool closed_at_hello(const char *words) {
    return strstr(words, "Failed to read 4 bytes") || strstr(words, "closed calling hello") ||
           strstr(words, "connection closed");
}

/* The first bytes of another protocol, such as "HTTP", make a length that no reply of a server can have. */
static bool is_other_protocol(const char *words) {
    enum { LONGEST_REPLY = 48000000 };
    const char *read = strstr(words, "Failed to read ");
    return strstr(words, "Invalid reply from server") ||
           (read && strtoull(read + strlen("Failed to read "), NULL, 10) > LONGEST_REPLY);
}

/* The driver's own reasons, in brackets. Before them are words about its options; after them, in newer drivers, its
 * name for the type of the deployment. NULL: it gives none. */
static const char *reasons_of(const bson_error_t *error, char out[sizeof error->message]) {
    const char *from = strchr(error->message, '['), *to = from ? strrchr(from, ']') : NULL;
    if (!from)
        return NULL;
    snprintf(out, sizeof error->message, "%.*s", to ? (int)(to + 1 - from) : (int)sizeof error->message,
             from);
    return out;
}

#define UNTRUSTED "certificate verify failed"

/* One host with a wrong certificate says nothing of another one, which may only be slower to answer. A long list of reasons
 * is cut off: then it is the number of tries that tells. */
static bool all_are_untrusted(const mongoc_host_list_t *host, const char *words, uint32_t tries) {
    enum { MANY_TRIES = 20 };
    for (const char *at = words; host && (at = strstr(at, UNTRUSTED)); host = host->next)
        at += strlen(UNTRUSTED);
    return !host || tries > MANY_TRIES;
}

bool absence_is_final(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                      uint32_t tries, err_t *err) {
    char room[sizeof error->message];
    const char *words = error->message, *hosts = address->hosts, *reasons = reasons_of(error, room);
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    bool tls = mongoc_uri_get_tls(address->uri);
    bool told = true;
    if (error->domain == MONGOC_ERROR_PROTOCOL && error->code == MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION) {
        err_set(err, STATUS_USAGE, "the server at %s is of a version that cannot be spoken to: %s", hosts,
                words);
    } else if ((error->domain != MONGOC_ERROR_SERVER_SELECTION && error->domain != MONGOC_ERROR_STREAM) ||
               servers_known(client) > 0) {
        told = false; /* a host answers: the others may do so later, or may not be needed */
    } else if (strstr(words, UNTRUSTED) && all_are_untrusted(host, words, tries)) {
        err_set(
            err, STATUS_USAGE,
            "the certificate of %s is not trusted here: name the file of the authority that signed it with "
            "tlsCAFile=FILE in the URI, and the host as the certificate does %s",
            hosts, reasons ? reasons : words);
    } else if (strstr(words, "initialize TLS")) {
        err_set(
            err, STATUS_USAGE,
            "TLS cannot be set up: a file that the URI names as tlsCAFile or "
            "tlsCertificateKeyFile is missing, unreadable, or no PEM file, or its key is encrypted and its "
            "password, tlsCertificateKeyFilePassword in the URI, is missing or wrong");
    } else if (tls && host && strstr(words, "TLS handshake failed") && speaks_only(host, false)) {
        err_set(err, STATUS_USAGE,
                "the server at %s does not speak TLS: leave tls=true out of the URI, and every other option "
                "whose name begins with tls or ssl, which asks for TLS whatever its value is",
                hosts);
    } else if (!tls && host && closed_at_hello(words) && speaks_only(host, true)) {
        err_set(err, STATUS_USAGE,
                "the server at %s expects TLS: add tls=true to the URI, and tlsCAFile=FILE where its "
                "certificate is not signed by an authority known to this host",
                hosts);
    } else if (tls && !mongoc_uri_has_option(address->uri, MONGOC_URI_TLSCERTIFICATEKEYFILE) &&
               closed_at_hello(words) && tries > 2) {
        err_set(err, STATUS_USAGE,
                "the server at %s closes the connection after the TLS handshake: it may ask for a "
                "client certificate; add tlsCertificateKeyFile=FILE to the URI",
                hosts);
    } else if (host && !host->next && is_other_protocol(words)) {
        err_set(
            err, STATUS_USAGE,
            "what answers at %s does not speak MongoDB's protocol: correct the host and the port in the URI",
            hosts);
    } else {
        told = host && tries <= 2 && (!reasons || strstr(words, "set name")) &&
               is_of_another_set(address, host, tls, err);
    }
    if (told)
        address_conceal(address, err->text);
    return told;
}

/* The driver's name for a type of server, in words for people. */
static const char *type_words(const char *type) {
    static const char *const words[][2] = {
        {"RSSecondary", "a secondary"},
        {"RSArbiter", "an arbiter"},
        {"RSOther", "a member in recovery"},
        {"RSGhost", "not yet initiated as a replica set"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], type) == 0)
            return words[i][1];
    return type;
}

/* "a:1 is a secondary, b:2 is in recovery"; false when no server answered at all. */
static bool describe_members(mongoc_client_t *client, char *text, size_t size) {
    size_t count, used = 0;
    mongoc_server_description_t **servers = mongoc_client_get_server_descriptions(client, &count);
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s is %s", i ? ", " : "",
                                 mongoc_server_description_host(servers[i])->host_and_port,
                                 type_words(mongoc_server_description_type(servers[i])));
    mongoc_server_descriptions_destroy_all(servers, count);
    return count > 0;
}

/* The members in a hello, as far as there is room. */
static void name_members(const bson_t *hello, char *text, size_t size) {
    bson_iter_t list;
    size_t used = 0;
    *text = 0;
    if (!bson_read_list(hello, "hosts", &list))
        return;
    for (const char *host; used < size && (host = bson_read_next_text(&list));)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? "," : "", host);
}

/* The driver leaves the URI's hosts for those that the set names, which may be known in a container or in a private network
 * only. Its reasons then name none of the URI's. */
static bool describe_own_names(const address_t *address, const char *reasons, char *text, size_t size) {
    const mongoc_host_list_t *first = mongoc_uri_get_hosts(address->uri), *host = first;
    char members[300];
    bson_t hello;
    if (!reasons || !host ||
        !(strstr(reasons, "Failed to resolve ") || strstr(reasons, "target host: ") ||
          strstr(reasons, "calling hello on ")))
        return false;
    for (; host; host = host->next)
        if (strstr(reasons, host->host))
            return false;
    bool found = probe(first, mongoc_uri_get_tls(address->uri), &hello) == PROBE_ANSWERED &&
                 bson_has_field(&hello, "setName");
    if (found) {
        name_members(&hello, members, sizeof members);
        snprintf(text, size,
                 "%s answers, but the replica set %.60s names its members %s, and of these none does %s",
                 first->host_and_port, bson_read_text(&hello, "setName"), members, reasons);
    }
    bson_destroy(&hello);
    return found;
}

bool absence_describe(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                      char *text, size_t size) {
    char members[400], room[sizeof error->message];
    const char *reasons = reasons_of(error, room);
    bool own_names = false;
    if (error->domain != MONGOC_ERROR_SERVER_SELECTION)
        snprintf(text, size, "%s", error->message);
    else if (client && describe_members(client, members, sizeof members))
        snprintf(text, size, "no primary: %s%s%s", members, reasons ? " " : "", reasons ? reasons : "");
    else if (!(own_names = describe_own_names(address, reasons, text, size)))
        snprintf(text, size, "no answer from %s%s%s", address->hosts, reasons ? " " : "",
                 reasons ? reasons : "");
    address_conceal(address, text);
    return own_names;
}

/* ---- waiting ---- */

enum { REFUSED_MS = 100 };
#define MS      1000000ll
#define FIRST   (800 * MS)
#define NEXT    (10000 * MS)
#define RESOLVE "Failed to resolve "

static void *tell(void *context) {
    waiting_t *waiting = context;
    int64_t next = clock_now_ns() + FIRST;
    pthread_mutex_lock(&waiting->lock);
    while (!waiting->over) {
        const struct timespec until = clock_to_timespec(next);
        if (pthread_cond_timedwait(&waiting->changed, &waiting->lock, &until) != ETIMEDOUT)
            continue;
        char time[UNITS_MAX];
        const int64_t left = waiting->deadline_ns - clock_now_ns();
        log_note("waiting for %s (%s); --patience ends in %s", waiting->address->hosts, waiting->why,
                 units_time(time, left > 0 ? left : 0));
        next += NEXT;
    }
    pthread_mutex_unlock(&waiting->lock);
    return NULL;
}

void waiting_begin(waiting_t *waiting, const address_t *address, int64_t patience_ns) {
    pthread_condattr_t monotonic;
    *waiting =
        (waiting_t){.address = address, .deadline_ns = clock_now_ns() + patience_ns, .why = "no answer yet"};
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&waiting->lock, NULL);
    pthread_cond_init(&waiting->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    waiting->runs = pthread_create(&waiting->thread, NULL, tell, waiting) == 0;
}

void waiting_end(waiting_t *waiting) {
    pthread_mutex_lock(&waiting->lock);
    waiting->over = true;
    pthread_cond_signal(&waiting->changed);
    pthread_mutex_unlock(&waiting->lock);
    if (waiting->runs)
        pthread_join(waiting->thread, NULL);
    pthread_mutex_destroy(&waiting->lock);
    pthread_cond_destroy(&waiting->changed);
}

/* The error of connecting to it, which the driver does not tell: 0 where there is none. */
static int connect_error(const struct addrinfo *at) {
    const int fd = socket(at->ai_family, at->ai_socktype | SOCK_NONBLOCK | SOCK_CLOEXEC, at->ai_protocol);
    int error = 0;
    socklen_t size = sizeof error;
    struct pollfd look = {.fd = fd, .events = POLLOUT};
    if (fd < 0)
        return errno;
    if (connect(fd, at->ai_addr, at->ai_addrlen) != 0)
        error = errno;
    if (error == EINPROGRESS && poll(&look, 1, REFUSED_MS) > 0)
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
    close(fd);
    return error == EINPROGRESS ? 0 : error;
}

static void name_refusal(const mongoc_host_list_t *host, char *why, size_t room) {
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    char port[8];
    snprintf(port, sizeof port, "%u", (unsigned)host->port);
    const int error = getaddrinfo(host->host, port, &hints, &found) == 0 ? connect_error(found) : 0;
    snprintf(why, room, "%s",
             error == ECONNREFUSED ? "connection refused"
             : error               ? strerror(error)
                                   : "no connection");
    if (found)
        freeaddrinfo(found);
}

void waiting_why(waiting_t *waiting, mongoc_client_t *client, const bson_error_t *error) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(waiting->address->uri);
    const char *const words = error->message, *unknown = strstr(words, RESOLVE);
    char why[sizeof waiting->why];
    if (unknown)
        unknown += strlen(RESOLVE);
    if (host && strstr(words, "Failed to connect to target host"))
        name_refusal(host, why, sizeof why);
    else if (unknown && !(host && strncmp(unknown, host->host, strlen(host->host)) == 0))
        snprintf(why, sizeof why, "the name %.*s is not known", (int)strcspn(unknown, "]' "), unknown);
    else if (unknown)
        snprintf(why, sizeof why, "its name is not known");
    else if (error->domain != MONGOC_ERROR_SERVER_SELECTION || strchr(words, '['))
        absence_describe(waiting->address, client, error, why, sizeof why);
    else
        snprintf(why, sizeof why, "no answer");
    pthread_mutex_lock(&waiting->lock);
    memcpy(waiting->why, why, sizeof why);
    pthread_mutex_unlock(&waiting->lock);
}

/* ---- await ---- */

#if MONGOC_CHECK_VERSION(2, 0, 0)

/* This driver takes no connections of ours for the clients of a pool. */
void await_stop(mongoc_client_t *client) {
    (void)client;
    stop_hangs_up();
}

#else


enum { POLL_MS = 50, TYPE = 77, HOUR_MS = 3600 * 1000 };

/* The driver's own way to connect. All of its releases have this function, but no header declares it: hence weak. */
mongoc_stream_t *mongoc_client_default_stream_initiator(const mongoc_uri_t *uri,
                                                        const mongoc_host_list_t *host, void *client,
                                                        bson_error_t *error) __attribute__((weak));

typedef struct {
    mongoc_stream_t stream; /* what the driver sees; must be the first member */
    mongoc_stream_t *base;
    bool asked; /* something was sent, and no byte of the answer has arrived */
} awaited_t;

static mongoc_stream_t *base_of(mongoc_stream_t *stream) {
    return ((awaited_t *)(void *)stream)->base;
}

/* False: a signal came, and there is no answer. True: an answer or an error is there for the base's own read. */
static bool wait_for_answer(mongoc_stream_t *base, int32_t timeout_ms) {
    int64_t start = clock_now_ns(), noticed = 0;
    int64_t until = start + (int64_t)(timeout_ms > 0 ? timeout_ms : HOUR_MS) * 1000000;
    for (int64_t now = start; now < until; now = clock_now_ns()) {
        if (stop_signal() && !noticed)
            noticed = now;
        if (noticed && now - noticed > STOP_REPLY_SECONDS * (int64_t)1000000000)
            return false;
        mongoc_stream_poll_t poll = {.stream = base, .events = POLLIN};
        ssize_t ready = mongoc_stream_poll(&poll, 1, POLL_MS);
        if (ready > 0 || (ready < 0 && errno != EINTR && errno != EAGAIN))
            return true;
    }
    return true;
}

static ssize_t await_readv(mongoc_stream_t *stream, mongoc_iovec_t *iov, size_t count, size_t least,
                           int32_t timeout_ms) {
    awaited_t *awaited = (awaited_t *)(void *)stream;
    const int64_t start = clock_now_ns();
    if (awaited->asked && !wait_for_answer(awaited->base, timeout_ms)) {
        errno = ETIMEDOUT;
        return -1;
    }
    /* the base's own read waits again, but only for the rest of the time */
    const int64_t left_ms = timeout_ms - (clock_now_ns() - start) / 1000000;
    if (timeout_ms > 0)
        timeout_ms = left_ms > 0 ? (int32_t)left_ms : 1;
    /* only for the first bytes: TLS may already have read the others, and poll does not see those */
    awaited->asked = false;
    return mongoc_stream_readv(awaited->base, iov, count, least, timeout_ms);
}

static ssize_t await_writev(mongoc_stream_t *stream, mongoc_iovec_t *iov, size_t count, int32_t timeout_ms) {
    awaited_t *awaited = (awaited_t *)(void *)stream;
    awaited->asked = true;
    return mongoc_stream_writev(awaited->base, iov, count, timeout_ms);
}

static void await_destroy(mongoc_stream_t *stream) {
    mongoc_stream_destroy(base_of(stream));
    free(stream);
}

static void await_failed(mongoc_stream_t *stream) {
    mongoc_stream_failed(base_of(stream));
    free(stream);
}

static int await_close(mongoc_stream_t *stream) {
    return mongoc_stream_close(base_of(stream));
}

static int await_flush(mongoc_stream_t *stream) {
    return mongoc_stream_flush(base_of(stream));
}

static int await_setsockopt(mongoc_stream_t *stream, int level, int name, void *value,
                            mongoc_socklen_t size) {
    return mongoc_stream_setsockopt(base_of(stream), level, name, value, size);
}

static bool await_check_closed(mongoc_stream_t *stream) {
    return mongoc_stream_check_closed(base_of(stream));
}

static bool await_timed_out(mongoc_stream_t *stream) {
    return mongoc_stream_timed_out(base_of(stream));
}

static bool await_should_retry(mongoc_stream_t *stream) {
    return mongoc_stream_should_retry(base_of(stream));
}

static mongoc_stream_t *open_stream(const mongoc_uri_t *uri, const mongoc_host_list_t *host, void *client,
                                    bson_error_t *error) {
    mongoc_stream_t *base = mongoc_client_default_stream_initiator(uri, host, client, error);
    awaited_t *awaited = base ? calloc(1, sizeof *awaited) : NULL;
    if (!awaited)
        return base;
    awaited->base = base;
    awaited->stream = (mongoc_stream_t){
        .type = TYPE,
        .destroy = await_destroy,
        .close = await_close,
        .flush = await_flush,
        .writev = await_writev,
        .readv = await_readv,
        .setsockopt = await_setsockopt,
        .get_base_stream = base_of,
        .check_closed = await_check_closed,
        .failed = await_failed,
        .timed_out = await_timed_out,
        .should_retry = await_should_retry,
    };
    return &awaited->stream;
}

void await_stop(mongoc_client_t *client) {
    if (mongoc_client_default_stream_initiator)
        mongoc_client_set_stream_initiator(client, open_stream, client);
}

#endif
