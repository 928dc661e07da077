/* From a URI to a server that takes writes, and what stands in the way: the driver connects, waits and explains; here are the
 * sentence before its words, a hint where a usual mistake shows, and the status. Also what a refusal of a server means later.
 * server.h has the contract. */
#include "base/conceal.h"
#include "base/host.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/text.h"
#include "server/bson_read.h"
#include "server/server_errors.h"
#include "server/server_inner.h"

#include <ctype.h>
#include <pthread.h>
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

/* ---- what a refusal means ---- */

/* The first place of any of these words, "a|b|c", in a text. */
static const char *find_any(const char *text, const char *words) {
    const char *first = NULL;
    for (size_t length; length = strcspn(words, "|"), length; words += length + (words[length] == '|')) {
        const char *at = memmem(text, strlen(text), words, length);
        first = at && (!first || at < first) ? at : first;
    }
    return first;
}

/* The driver calls everything that goes wrong during a login a failed login, also a lost connection, or a server that
 * is shutting down. */
static bool is_about_login(const char *words) {
    static const char *const others[] = {
        "Failed to send ",           "quiesce mode",       "shutdown", "not primary", "node is recovering",
        "operation was interrupted", "Could not find host"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(words, others[i]))
            return false;
    return true;
}

static code_row_t row_of(const bson_error_t *error) {
    const bool servers = error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_WRITE_CONCERN;
    return servers ? code_row((int)error->code)
                   : (code_row_t){.class = CODE_UNKNOWN, .status = STATUS_SERVER};
}

code_class_t refusal_of(const bson_error_t *error, const bson_t *reply) {
    const code_row_t row = row_of(error);
    if (row.class != CODE_UNKNOWN)
        return row.class;
    switch (error->domain) {
    case 0: /* the driver forgets the error of one part of a divided batch if a later part succeeds */
    case MONGOC_ERROR_STREAM:
    case MONGOC_ERROR_WRITE_CONCERN:
        return CODE_PASSING;
    case MONGOC_ERROR_SERVER_SELECTION: /* the words are those of a login of another thread */
        return strstr(error->message, "Authentication failed") ? CODE_NOT_ALLOWED : CODE_PASSING;
    case MONGOC_ERROR_PROTOCOL:
        return error->code == MONGOC_ERROR_PROTOCOL_INVALID_REPLY ? CODE_PASSING : CODE_UNKNOWN;
    case MONGOC_ERROR_SCRAM:
        return CODE_NOT_ALLOWED;
    case MONGOC_ERROR_CLIENT:
        if (error->code != MONGOC_ERROR_CLIENT_AUTHENTICATE)
            return CODE_UNKNOWN;
        return is_about_login(error->message) ? CODE_NOT_ALLOWED : CODE_PASSING;
    default:
        break;
    }
    if (reply && mongoc_error_has_label(reply, "RetryableWriteError"))
        return CODE_PASSING;
    return code_class((int)error->code, error->message);
}

static bool explain_access(const address_t *address, const bson_error_t *error, const char *words,
                           const char *doing, err_t *err) {
    const char *user = mongoc_uri_get_username(address->uri),
               *source = mongoc_uri_get_auth_source(address->uri);
    if (error->domain != MONGOC_ERROR_SERVER || error->code != CODE_UNAUTHORIZED)
        return err_set(err, STATUS_USAGE,
                       "could not log in at %s as '%.*s%s': %s: correct the user name, the password, or "
                       "authSource (here: %s) in the URI",
                       address->hosts, (int)strcspn(user ? user : "", ":"), user ? user : "",
                       user && strchr(user, ':') ? ":***" : "", words, source ? source : "admin");
    if (!user)
        return err_set(err, STATUS_USAGE,
                       "could not %s: the server at %s asks for a user: put USER:PASSWORD@ before "
                       "the host in the URI (%s)",
                       doing, address->hosts, words);
    return err_set(err, STATUS_USAGE,
                   "could not %s: the user '%s' may not: it needs a role, readWrite on the database %s (read "
                   "for queries), clusterMonitor for serverStatus and the config database, or clusterManager "
                   "to shard (%s)",
                   doing, user, address->database, words);
}

bool refusal_explain(const address_t *address, const bson_error_t *error, const bson_t *reply,
                     const char *doing, err_t *err) {
    char words[504], code[24] = "";
    snprintf(words, sizeof words, "%s", error->message[0] ? error->message : "no reason was given");
    for (char *c = words; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    conceal_known(words);
    size_t length = strlen(words);
    if (length && words[length - 1] == '.')
        words[length - 1] = '\0';
    const code_class_t refusal = refusal_of(error, reply);
    char *whole_command = strstr(words, " to execute command ");
    if (refusal == CODE_NOT_ALLOWED && whole_command)
        *whole_command = '\0';
    if (refusal == CODE_NOT_ALLOWED)
        return explain_access(address, error, words, doing, err);
    const code_row_t row = row_of(error);
    const char *hint = refusal == CODE_STATE && row.class != refusal ? code_hint_room
                       : strstr(words, "journaling enabled")         ? "load --unsafe goes without a journal"
                                                                     : row.hint;
    if (error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_WRITE_CONCERN)
        snprintf(code, sizeof code, " (code %u)", error->code);
    return err_set(err, row.status, "could not %s: %s%s%s%s", doing, words, code, hint ? "; " : "",
                   hint ? hint : "");
}

/* ---- why no server answers ---- */

#define CLOSED "Failed to read 4 bytes|closed calling hello|connection closed"

/* Usual mistakes by the driver's words, and whether the URI asks for TLS. After that many tries waiting is useless, if each
 * host of the URI says so; tries 0: it may pass with time. */
typedef struct {
    const char *words;
    enum { PLAIN = 1, TLS = 2, ANY = 3 } links;
    uint32_t tries;
    const char *hint;
} hint_t;

/* The words may as well be those of a server that is away. It is a mistake if the host answers with TLS instead of without, or the
 * other way round. A busy host may not answer in time: it is asked at this try, and whenever the tries have doubled. */
enum { TRIES_BEFORE_A_PROBE = 4 };

static const hint_t hints[] = {
    {"certificate verify failed", TLS, 1,
     "the certificate is not trusted here: name the file of the authority that signed it with tlsCAFile=FILE "
     "in the URI, and the host as the certificate does"},
    {"initialize TLS", ANY, 1,
     "a file that the URI names as tlsCAFile or tlsCertificateKeyFile is missing, unreadable, or no PEM "
     "file, or tlsCertificateKeyFilePassword, the password of its key, is missing or wrong"},
    {"TLS handshake failed", TLS, TRIES_BEFORE_A_PROBE,
     "if the server does not speak TLS, leave every option out of the URI that begins with tls or ssl"},
    {CLOSED, TLS, 0,
     "if the server asks for a client certificate, add tlsCertificateKeyFile=FILE to the URI"},
    {CLOSED, PLAIN, TRIES_BEFORE_A_PROBE,
     "if the server expects TLS, add tls=true to the URI, and tlsCAFile=FILE if this host does not know "
     "the authority that signed its certificate"},
    {"Failed to read |Invalid reply from server", ANY, 10,
     "what answers there does not speak MongoDB's protocol: correct the host and the port in the URI"},
    {"Failed to resolve |Failed to look up", ANY, 0,
     "correct the name of the host, or make it known here; if the replica set names its members so, and one "
     "server is enough, add directConnection=true to the URI"},
    {"", ANY, 0, "see that the server runs and that the URI has its host and port"},
};

static const hint_t *hint_for(const address_t *address, const char *words) {
    const unsigned link = mongoc_uri_get_tls(address->uri) ? TLS : PLAIN;
    const hint_t *hint = hints;
    while (*hint->words && (!(hint->links & link) || !find_any(words, hint->words)))
        hint++;
    return hint;
}

/* The driver's own reasons, in brackets. Before them are words about its options; after them, in newer drivers, its
 * name for the type of the deployment. *out is empty if it gives none. */
static void take_reasons(const bson_error_t *error, char out[sizeof error->message]) {
    const char *from = strchr(error->message, '['), *to = from ? strrchr(from, ']') : NULL;
    snprintf(out, sizeof error->message, "%.*s", to ? (int)(to + 1 - from) : (int)sizeof error->message,
             from ? from : "");
}

/* Do the reasons say this of each host of the URI? A long list of reasons is cut off, and never does. */
static bool all_say(const address_t *address, const char *reasons, const char *words) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    for (const char *at = reasons; host && (at = find_any(at, words)); host = host->next)
        at++;
    return !host;
}

/* Asks the first host for hello, with TLS where the URI has none, and without it where it does. */
static bool answers_otherwise(const address_t *address) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    const mongoc_ssl_opt_t trusting = {.weak_cert_validation = true, .allow_invalid_hostname = true};
    text_t text = {.length = 0};
    text_append(&text, "mongodb://");
    for (const char *at = host ? host->host_and_port : ""; *at; at++) /* of a socket, a path */
        text_append_bytes(&text, *at == '/' ? "%2F" : at, *at == '/' ? 3 : 1);
    text_append(&text, "/?connectTimeoutMS=1000&serverSelectionTimeoutMS=1000");
    mongoc_uri_t *uri = text.lacking ? NULL : mongoc_uri_new_with_error(text.bytes, NULL);
    mongoc_client_t *client = uri ? mongoc_client_new_from_uri(uri) : NULL;
    bson_t *hello = BCON_NEW("hello", BCON_INT32(1));
    if (client && !mongoc_uri_get_tls(address->uri))
        mongoc_client_set_ssl_opts(client, &trusting);
    const bool answers = client && mongoc_client_command_simple(client, "admin", hello, NULL, NULL, NULL);
    bson_destroy(hello);
    text_free(&text);
    if (client)
        mongoc_client_destroy(client);
    if (uri)
        mongoc_uri_destroy(uri);
    return answers;
}

/* The driver drops each server that is not of the replica set in the URI, and without any it asks nobody again. */
static bool fits_no_server(const address_t *address, mongoc_client_t *client) {
    enum { MOST_NUMBERS = 128 }; /* the driver counts the servers that it meets */
    bool fits = !mongoc_uri_get_replica_set(address->uri);
    for (uint32_t number = 1; !fits && number <= MOST_NUMBERS; number++) {
        mongoc_server_description_t *met = mongoc_client_get_server_description(client, number);
        fits = met;
        mongoc_server_description_destroy(met);
    }
    return !fits;
}

bool connect_is_hopeless(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                         uint32_t tries, err_t *err) {
    char reasons[sizeof error->message];
    const hint_t *hint = hint_for(address, error->message);
    if (error->domain != MONGOC_ERROR_SERVER_SELECTION && error->domain != MONGOC_ERROR_STREAM)
        return false;
    if (fits_no_server(address, client))
        return !err_set(err, STATUS_USAGE,
                        "no server at %s belongs to the replica set '%s': correct replicaSet= in the URI",
                        address->hosts, mongoc_uri_get_replica_set(address->uri));
    if (!hint->tries || tries < hint->tries || !all_say(address, error->message, hint->words))
        return false;
    if (hint->tries == TRIES_BEFORE_A_PROBE && (tries & (tries - 1) || !answers_otherwise(address)))
        return false;
    take_reasons(error, reasons);
    conceal_known(reasons);
    return !err_set(err, STATUS_USAGE, "no connection to %s: %s %s", address->hosts, hint->hint, reasons);
}

/* "a:1 is RSSecondary, b:2 is RSOther"; false when no server answered at all. */
static bool describe_members(mongoc_client_t *client, char *text, size_t size) {
    size_t count, used = 0;
    mongoc_server_description_t **servers = mongoc_client_get_server_descriptions(client, &count);
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s is %s", i ? ", " : "",
                                 mongoc_server_description_host(servers[i])->host_and_port,
                                 mongoc_server_description_type(servers[i]));
    mongoc_server_descriptions_destroy_all(servers, count);
    return count > 0;
}

const char *connect_describe(const address_t *address, mongoc_client_t *client, bson_error_t *error) {
    char members[400], reasons[sizeof error->message];
    const char *hint = hint_for(address, error->message)->hint;
    take_reasons(error, reasons);
    const char *space = *reasons ? " " : "";
    if (error->domain == MONGOC_ERROR_SERVER_SELECTION) {
        if (client && describe_members(client, members, sizeof members))
            bson_set_error(error, error->domain, error->code, "no primary: %s%s%s", members, space, reasons);
        else
            bson_set_error(error, error->domain, error->code, "no answer from %s%s%s", address->hosts, space,
                           reasons);
    }
    conceal_known(error->message);
    return hint;
}

/* ---- connecting ---- */

static int32_t milliseconds(int64_t ns, int64_t least, int64_t most) {
    int64_t ms = ns / SERVER_MS;
    return (int32_t)(ms < least ? least : ms > most ? most : ms);
}

/* How long a write may wait to be confirmed: half of the patience. By then a frozen primary has a successor, and the
 * other half is for asking that one. The socket waits a little longer, because the server's own answer says more. */
static int32_t confirm_ms(int64_t patience_ns) {
    return milliseconds(patience_ns / 2, LEAST_CONFIRM_MS, INT32_MAX / 2);
}

static void default_int32(mongoc_uri_t *uri, const char *option, int32_t value) {
    if (!mongoc_uri_has_option(uri, option))
        mongoc_uri_set_option_as_int32(uri, option, value);
}

static void set_authorities(mongoc_uri_t *uri) {
    char path[PATH_MAX];
    if (mongoc_uri_get_tls(uri) && !mongoc_uri_has_option(uri, MONGOC_URI_TLSCAFILE) &&
        host_find_authorities("", path))
        mongoc_uri_set_option_as_utf8(uri, MONGOC_URI_TLSCAFILE, path);
}

void connect_set_options(mongoc_uri_t *uri, const server_options_t *options) {
    const int64_t patience_ns = options->patience_ns;
    set_authorities(uri);
    if (!mongoc_uri_get_appname(uri))
        mongoc_uri_set_appname(uri, "tipple");
    /* for the password of a key OpenSSL would ask at the terminal, and again for each connection; with a wrong one it fails */
    if (mongoc_uri_has_option(uri, MONGOC_URI_TLSCERTIFICATEKEYFILE) &&
        !mongoc_uri_has_option(uri, MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD))
        mongoc_uri_set_option_as_utf8(uri, MONGOC_URI_TLSCERTIFICATEKEYFILEPASSWORD, "none");
    /* a deterministic _id makes a second try harmless, and the server's own record of tries is expensive */
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_RETRYWRITES, false);
    /* the callers try reads again; the driver would try once, and leaks memory when it does */
    mongoc_uri_set_option_as_bool(uri, MONGOC_URI_RETRYREADS, false);
    mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SERVERSELECTIONTIMEOUTMS,
                                   milliseconds(patience_ns, 50, LOOK_UP_MS));
    /* after an error that names a new primary, the driver believes it until the server says otherwise, at most for
     * this time */
    default_int32(uri, MONGOC_URI_HEARTBEATFREQUENCYMS, milliseconds(patience_ns / 10, 500, 2000));
    default_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, milliseconds(patience_ns, 500, 10000));
    if (options->reply_ns) /* the driver waits up to a millisecond less */
        mongoc_uri_set_option_as_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS,
                                       milliseconds(options->reply_ns, 0, LONGEST_READ_MS) + 2);
    default_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS,
                  options->reads ? LONGEST_READ_MS : confirm_ms(patience_ns) + SOCKET_MORE_MS);
    /* finds the other members of a set from one of them: without them, its stepdown would end the load */
    bool named = mongoc_uri_get_srv_hostname(uri) ||
                 mongoc_uri_get_option_as_bool(uri, MONGOC_URI_LOADBALANCED, false);
    if (!named && !mongoc_uri_has_option(uri, MONGOC_URI_DIRECTCONNECTION))
        mongoc_uri_set_option_as_bool(uri, MONGOC_URI_DIRECTCONNECTION, false);
}

static void set_concerns(server_t *server, bool unsafe) {
    const bool standalone = server->facts.kind == SERVER_STANDALONE;
    server->catalog = standalone
                          ? BCON_NEW("writeConcern", "{", "w", BCON_INT32(1), "j", BCON_BOOL(!unsafe), "}")
                          : BCON_NEW("writeConcern", "{", "w", BCON_UTF8("majority"), "j", BCON_BOOL(true),
                                     "wtimeout", BCON_INT32(confirm_ms(server->patience_ns)), "}");
    server->data =
        standalone ? BCON_NEW("writeConcern", "{", "w", BCON_INT32(1), "}") : bson_copy(server->catalog);
    if (unsafe) {
        mongoc_write_concern_t *own =
            mongoc_write_concern_copy(mongoc_uri_get_write_concern(server->address.uri));
        bson_reinit(server->data);
        mongoc_write_concern_append(own, server->data);
        mongoc_write_concern_destroy(own);
    }
}

static uint32_t number(const bson_t *hello, const char *field, uint32_t otherwise) {
    const double value = bson_read_number(hello, field);
    return value > 0 && value <= UINT32_MAX ? (uint32_t)value : otherwise;
}

/* Learns the kind and limits of the server that takes writes. False, with error: there is no such server. */
static bool learn_limits(server_t *server, mongoc_client_t *client, bool *read_only, bson_error_t *error) {
    bson_t *command = BCON_NEW("hello", BCON_INT32(1)), hello;
    server_facts_t *facts = &server->facts;
    const bool ok = mongoc_client_command_simple(client, "admin", command, NULL, &hello, error);
    const bool writable = ok && bson_read_true(&hello, "isWritablePrimary");
    facts->kind = *bson_read_text(&hello, "msg")       ? SERVER_ROUTER /* "isdbgrid" */
                  : *bson_read_text(&hello, "setName") ? SERVER_REPLICA_SET
                                                       : SERVER_STANDALONE;
    facts->max_document_bytes = number(&hello, "maxBsonObjectSize", 16 << 20);
    facts->max_message_bytes = number(&hello, "maxMessageSizeBytes", 48000000);
    facts->max_batch = number(&hello, "maxWriteBatchSize", 100000);
    *read_only = bson_read_true(&hello, "readOnly");
    /* a direct connection to a member that is not the primary: it may become the primary */
    if (ok && !writable)
        bson_set_error(error, MONGOC_ERROR_SERVER_SELECTION, MONGOC_ERROR_SERVER_SELECTION_FAILURE,
                       "[%s is no primary]", server->address.hosts);
    bson_destroy(command);
    bson_destroy(&hello);
    return writable;
}

static bool learn_version(server_t *server, const bson_t *info, err_t *err) {
    bson_iter_t iter;
    const char *version = bson_iter_init_find(&iter, info, "version") ? bson_iter_utf8(&iter, NULL) : NULL;
    server_facts_t *facts = &server->facts;
    snprintf(facts->version, sizeof facts->version, "%s", version ? version : "");
    sscanf(facts->version, "%d.%d", &facts->major, &facts->minor);
    if (facts->major < OLDEST_MAJOR || (facts->major == OLDEST_MAJOR && facts->minor < OLDEST_MINOR))
        return err_set(err, STATUS_USAGE, "the server at %s is MongoDB %s; tipple needs %d.%d or newer",
                       server->address.hosts, *facts->version ? facts->version : "of no version",
                       OLDEST_MAJOR, OLDEST_MINOR);
    return true;
}

static bool learn(server_t *server, mongoc_client_t *client, const char *doing, err_t *err) {
    bson_t *command = BCON_NEW("buildInfo", BCON_INT32(1));
    patience_t patience = server_patience(server);
    bool ok = false, more = true, read_only = false;
    while (more && !ok) {
        bson_t reply;
        bson_error_t error;
        /* buildInfo first: it opens the connection, and so logs in */
        ok = mongoc_client_command_simple(client, "admin", command, NULL, &reply, &error) &&
             learn_limits(server, client, &read_only, &error);
        if (ok)
            more = learn_version(server, &reply, err);
        else
            more = !connect_is_hopeless(&server->address, client, &error, patience.tries + 1, err) &&
                   server_again(server, client, &patience, &error, &reply, doing, err);
        if (!ok && !more && refusal_of(&error, &reply) == CODE_UNKNOWN && err->status == STATUS_SERVER)
            err->status = STATUS_USAGE; /* of the URI: nothing else was said so far */
        bson_destroy(&reply);
    }
    bson_destroy(command);
    return more && (!read_only || server->reads ||
                    err_set(err, STATUS_USAGE, "the server at %s is read-only: nothing can be loaded into it",
                            server->address.hosts));
}

/* A name server that is away, or that does not know the name, may be another a moment later: as with a name of a host. */
static bool is_look_up(const bson_error_t *error) {
    return error->domain == MONGOC_ERROR_STREAM && error->code == MONGOC_ERROR_STREAM_NAME_RESOLUTION &&
           strstr(error->message, "Failed to look up SRV");
}

static bool open_pool(server_t *server, uint32_t connections, const char *doing, err_t *err) {
    patience_t patience = server_patience(server);
    bson_error_t error;
    while (!(server->pool = mongoc_client_pool_new_with_error(server->address.uri, &error))) {
        if (is_look_up(&error) && server_again(server, NULL, &patience, &error, NULL, doing, err))
            continue;
        conceal_known(error.message);
        return !is_look_up(&error) &&
               err_set(err, STATUS_USAGE, "the target's URI cannot be used: %s", error.message);
    }
    mongoc_client_pool_set_error_api(server->pool, MONGOC_ERROR_API_VERSION_2);
    mongoc_client_pool_max_size(server->pool, connections ? connections : 1);
    return true;
}

/* Without answers, nobody knows which documents the server has stored. */
static bool has_answers(const mongoc_uri_t *uri, const server_options_t *options, err_t *err) {
    return !options->unsafe || mongoc_write_concern_is_acknowledged(mongoc_uri_get_write_concern(uri)) ||
           err_set(err, STATUS_USAGE,
                   "w=0 in the URI asks for no answers, and without them nobody knows what was loaded: with "
                   "--unsafe, w=1 is the least");
}

/* Of several standalones the driver takes one now and another one later; and one refuses each write that others would have to
 * confirm. */
static bool may_be_standalone(const server_t *server, const server_options_t *options, err_t *err) {
    const mongoc_write_concern_t *concern = mongoc_uri_get_write_concern(server->address.uri);
    const bool confirms = options->unsafe &&
                          (mongoc_write_concern_get_w(concern) > 1 || mongoc_write_concern_get_wtag(concern));
    const mongoc_host_list_t *hosts = mongoc_uri_get_hosts(server->address.uri); /* NULL: of mongodb+srv:// */
    const bool several = hosts && hosts->next;
    return (!several && !confirms) ||
           err_set(err, STATUS_USAGE, "a server at %s is a standalone, %s", server->address.hosts,
                   several ? "and the URI names several hosts: name one"
                           : "and w= in the URI asks others to confirm the writes: there are none; with "
                             "--unsafe, w=1 is the most");
}

/* Takes ownership of the address. */
static server_t *connect_to(address_t *address, const server_options_t *options, err_t *err) {
    char doing[300];
    enum { OF_THE_DRIVER = 4 }; /* it watches each host by a connection of its own */
    if (!host_want_descriptors("--threads", options->connections + OF_THE_DRIVER, err)) {
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
    connect_set_options(server->address.uri, options);
    stop_hangs_up();
    snprintf(doing, sizeof doing, "connect to %.280s", server->address.hosts);
    mongoc_client_t *client =
        has_answers(server->address.uri, options, err) && open_pool(server, options->connections, doing, err)
            ? server_take(server, err)
            : NULL;
    bool ok = client && learn(server, client, doing, err) &&
              (server->facts.kind != SERVER_STANDALONE || may_be_standalone(server, options, err));
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

server_t *server_of_hosts(const server_t *server, const char *hosts, const char *set, uint32_t connections,
                          int64_t patience_ns, err_t *err) {
    const server_options_t options = {.patience_ns = patience_ns,
                                      .connections = connections,
                                      .unsafe = server->unsafe,
                                      .reads = server->reads};
    address_t address;
    return address_of_hosts(&server->address, hosts, set, &address, err) ? connect_to(&address, &options, err)
                                                                         : NULL;
}

/* ---- the end ---- */

atomic_bool connect_outlived;

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
    connect_outlived |= tls;
    if (server->pool && ((tls && caller_current()) || !end_pool_later(server->pool)))
        mongoc_client_pool_destroy(server->pool);
    bson_destroy(server->data);
    bson_destroy(server->catalog);
    address_free(&server->address);
    free(server);
}

void server_end_process(int status) {
    if (!connect_outlived)
        return;
    fflush(stdout);
    fflush(stderr);
    _exit(status);
}
