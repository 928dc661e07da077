/* From a URI to a server that takes writes, and what stands in the way: the driver connects, waits and explains; here are the
 * sentence before its words, a hint where a usual mistake shows, and the status. Also what a refusal of a server means later.
 * server.h has the contract. */
#include "base/clock.h"
#include "base/conceal.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
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

static const code_row_t *row_of(const bson_error_t *error) {
    const bool servers = error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_WRITE_CONCERN;
    return servers ? code_row((int)error->code) : NULL;
}

code_class_t refusal_of(const bson_error_t *error, const bson_t *reply) {
    const code_row_t *row = row_of(error);
    if (row)
        return row->class;
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

/* Which role lets a user do it, by the beginnings of `doing`; everything else writes into the collection. */
static const char *role_for(const char *doing) {
    static const struct {
        const char *doing, *role;
    } roles[] = {
        {"run 'enableSharding'|run 'shardCollection'|run 'addShardToZone'|"
         "run 'removeShardFromZone'|run 'updateZoneKeyRange'|run 'configureCollectionBalancing'|"
         "run 'update' on config.",
         "clusterManager"},
        {"read the config database", "clusterMonitor"},
        {"run 'find'|run 'aggregate'|run 'count'|run 'distinct'|run 'explain'|run 'mapReduce'|run "
         "'collStats'|"
         "run 'dbStats'|run 'listIndexes'|run 'listCollections'|read |look at |list |sample |see |draw |ask ",
         "read"},
    };
    for (size_t i = 0; i < COUNT(roles); i++)
        if (find_any(doing, roles[i].doing) == doing)
            return roles[i].role;
    return "readWrite";
}

static bool explain_access(const address_t *address, const bson_error_t *error, const char *words,
                           const char *doing, err_t *err) {
    const char *user = mongoc_uri_get_username(address->uri), *role = role_for(doing);
    const char *source = mongoc_uri_get_auth_source(address->uri);
    const bool of_cluster = strncmp(role, "cluster", 7) == 0;
    if (error->domain != MONGOC_ERROR_SERVER || error->code != CODE_UNAUTHORIZED)
        return err_set(err, STATUS_USAGE,
                       "could not log in at %s as '%s': %s: correct the user name, the password, or "
                       "authSource (here: %s) in the URI",
                       address->hosts, user ? user : "", words, source ? source : "admin");
    if (!user)
        return err_set(err, STATUS_USAGE,
                       "could not %s: the server at %s asks for a user: put USER:PASSWORD@ before "
                       "the host in the URI (%s)",
                       doing, address->hosts, words);
    return err_set(err, STATUS_USAGE, "could not %s: the user '%s' may not: it needs the role %s%s%s%s (%s)",
                   doing, user, role, of_cluster ? "" : " on the database ",
                   of_cluster ? "" : address->database,
                   strcmp(role, "read") == 0 ? ", or readWrite to load" : "", words);
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
    const code_row_t *row = row_of(error);
    const char *hint = row ? row->hint : refusal == CODE_STATE ? code_hint_room : NULL;
    if (error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_WRITE_CONCERN)
        snprintf(code, sizeof code, " (code %u)", error->code);
    return err_set(err, row ? row->status : STATUS_SERVER, "could not %s: %s%s%s%s", doing, words, code,
                   hint ? "; " : "", hint ? hint : "");
}

/* ---- why no server answers ---- */

#define CLOSED "Failed to read 4 bytes|closed calling hello|connection closed"
#define RUNS   "see that the server runs and that the URI has its host and port"
#define TLS_FILES                                                                                            \
    "a file that the URI names as tlsCAFile or tlsCertificateKeyFile is missing, unreadable, or no PEM "     \
    "file, "                                                                                                 \
    "or its key is encrypted and its password, tlsCertificateKeyFilePassword in the URI, is missing or "     \
    "wrong"

/* Usual mistakes by the driver's words, and whether the URI asks for TLS. tries: after this many failed ones waiting is useless, if each host of the URI says so;
 * 0: it may pass with time. */
static const struct {
    const char *words;
    enum { PLAIN = 1, TLS_ALONE = 2, TLS_WITH_FILE = 4, TLS = 6, ANY = 7 } links;
    uint32_t tries;
    const char *hint;
} hints[] = {
    {"certificate verify failed", TLS, 1,
     "the certificate is not trusted here: name the file of the authority that signed it with tlsCAFile=FILE "
     "in "
     "the URI, and the host as the certificate does"},
    {"initialize TLS", ANY, 1, TLS_FILES},
    {CLOSED, TLS_ALONE, 3,
     "the connection is closed after the TLS handshake: the server may ask for a client certificate; add "
     "tlsCertificateKeyFile=FILE to the URI"},
    {"TLS handshake failed", TLS, 0,
     "if the server does not speak TLS, leave tls=true out of the URI, and every other option whose name "
     "begins with "
     "tls or ssl"},
    {CLOSED, PLAIN, 0,
     "if the server expects TLS, add tls=true to the URI, and tlsCAFile=FILE where its certificate is not "
     "signed "
     "by an authority known to this host"},
    {CLOSED, TLS_WITH_FILE, 0, RUNS},
    {"Failed to read |Invalid reply from server", ANY, 10,
     "what answers there does not speak MongoDB's protocol: correct the host and the port in the URI"},
    {"Failed to resolve |Failed to look up", ANY, 0, "correct the name of the host, or make it known here"},
    {"", ANY, 0, RUNS},
};

#define OWN_NAMES                                                                                            \
    "the replica set names its members so: make these names known and reachable here, or, where one server " \
    "is "                                                                                                    \
    "enough, add directConnection=true to the URI"

static size_t hint_for(const address_t *address, const char *words) {
    const unsigned link = !mongoc_uri_get_tls(address->uri) ? PLAIN
                          : mongoc_uri_has_option(address->uri, MONGOC_URI_TLSCERTIFICATEKEYFILE)
                              ? TLS_WITH_FILE
                              : TLS_ALONE;
    size_t i = 0;
    while (*hints[i].words && (!(hints[i].links & link) || !find_any(words, hints[i].words)))
        i++;
    return i;
}

/* The driver's own reasons, in brackets. Before them are words about its options; after them, in newer drivers, its
 * name for the type of the deployment. *out is empty if it gives none. */
static void take_reasons(const bson_error_t *error, char out[sizeof error->message]) {
    const char *from = strchr(error->message, '['), *to = from ? strrchr(from, ']') : NULL;
    snprintf(out, sizeof error->message, "%.*s", to ? (int)(to + 1 - from) : (int)sizeof error->message,
             from ? from : "");
}

/* The driver leaves the URI's hosts for those that the replica set names, which may be known in a container or in a private
 * network only. Then its reasons name none of the URI's. */
static bool are_of_own_names(const address_t *address, const char *reasons) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    bool own = host && find_any(reasons, "Failed to resolve |target host: |calling hello on ");
    for (; own && host; host = host->next)
        own = !strstr(reasons, host->host);
    return own;
}

/* Do the reasons say this of each host of the URI? A long list of reasons is cut off, and never does. */
static bool all_say(const address_t *address, const char *reasons, const char *words) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    for (const char *at = reasons; host && (at = find_any(at, words)); host = host->next)
        at++;
    return !host;
}

/* Asks a host for hello, with TLS (no certificate is checked) or without, and without credentials. A server that wants a
 * client's certificate closes the connection after the handshake: then it speaks TLS, too. */
static bool probe(const mongoc_host_list_t *host, bool tls, bson_t *reply) {
    enum { PROBE_MS = 1000 };
    bson_error_t error = {0};
    err_t ignored;
    mongoc_uri_t *uri = address_uri_of(host->host_and_port, &ignored);
    if (uri)
        address_set_waits(uri, PROBE_MS);
    mongoc_client_t *client = uri ? mongoc_client_new_from_uri(uri) : NULL;
    bson_t *hello = BCON_NEW("hello", BCON_INT32(1));
    if (client && tls) {
        mongoc_ssl_opt_t trusting = {.weak_cert_validation = true, .allow_invalid_hostname = true};
        mongoc_client_set_ssl_opts(client, &trusting);
    }
    bson_init(reply);
    if (client)
        bson_destroy(reply);
    const bool answered = client && mongoc_client_command_simple(client, "admin", hello, NULL, reply, &error);
    bson_destroy(hello);
    if (client)
        mongoc_client_destroy(client);
    if (uri)
        mongoc_uri_destroy(uri);
    return answered || (tls && strstr(error.message, "Failed to receive length header"));
}

/* The driver drops a server that is not of the replica set it looks for, and then says that it knows no server. A member that has
 * just begun does not know its set yet. */
static bool check_set(const address_t *address, const char *host, const bson_t *hello, err_t *err) {
    const char *wanted = mongoc_uri_get_replica_set(address->uri), *set = bson_read_text(hello, "setName");
    if (wanted && *set && strcmp(set, wanted) != 0)
        return err_set(
            err, STATUS_USAGE,
            "the server at %s belongs to the replica set '%s', not '%s': correct replicaSet= in the "
            "URI",
            host, set, wanted);
    return *set || !wanted || bson_has_field(hello, "isreplicaset") || !bson_has_field(hello, "ok") ||
           err_set(err, STATUS_USAGE,
                   "the server at %s belongs to no replica set: leave replicaSet=%s out of the URI", host,
                   wanted);
}

/* Connects once more, to the first host: is it of another set, or does only one side speak TLS? False: it is so (err). */
static bool look_closer(const address_t *address, const char *reasons, err_t *err) {
    const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri);
    const bool tls = mongoc_uri_get_tls(address->uri), may_be_set = !*reasons || strstr(reasons, "set name");
    bson_t hello, other;
    bool ok = true;
    if (probe(host, tls, &hello)) {
        ok = !may_be_set || check_set(address, host->host_and_port, &hello, err);
    } else if (find_any(reasons, tls ? "TLS handshake failed" : CLOSED)) {
        ok = !probe(host, !tls, &other) ||
             err_set(
                 err, STATUS_USAGE,
                 tls ? "the server at %s does not speak TLS: leave tls=true out of the URI, and every other "
                       "option whose name begins with tls or ssl, which asks for TLS whatever its value is"
                     : "the server at %s expects TLS: add tls=true to the URI, and tlsCAFile=FILE where its "
                       "certificate is not signed by an authority known to this host",
                 address->hosts);
        bson_destroy(&other);
    }
    bson_destroy(&hello);
    return ok;
}

static size_t servers_known(mongoc_client_t *client) {
    size_t count;
    mongoc_server_description_t **servers = mongoc_client_get_server_descriptions(client, &count);
    mongoc_server_descriptions_destroy_all(servers, count);
    return count;
}

bool connect_is_hopeless(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                         uint32_t tries, err_t *err) {
    char reasons[sizeof error->message];
    const char *words = error->message;
    take_reasons(error, reasons);
    if (error->domain == MONGOC_ERROR_PROTOCOL && error->code == MONGOC_ERROR_PROTOCOL_BAD_WIRE_VERSION)
        return !err_set(err, STATUS_USAGE, "the server at %s is of a version that cannot be spoken to: %s",
                        address->hosts, words);
    /* where a host answers, the others may do so later, or may not be needed */
    if ((error->domain != MONGOC_ERROR_SERVER_SELECTION && error->domain != MONGOC_ERROR_STREAM) ||
        servers_known(client) > 0)
        return false;
    const size_t hint = hint_for(address, words);
    bool hopeless =
        hints[hint].tries && tries >= hints[hint].tries && all_say(address, words, hints[hint].words);
    if (hopeless)
        err_set(err, STATUS_USAGE, "no connection to %s: %s %s", address->hosts, hints[hint].hint, reasons);
    else if ((tries == 1 || tries == 4) && mongoc_uri_get_hosts(address->uri))
        hopeless = !look_closer(address, reasons, err);
    if (hopeless)
        conceal_known(err->text);
    return hopeless;
}

/* "a:1 is a secondary, b:2 is in recovery"; false when no server answered at all. */
static bool describe_members(mongoc_client_t *client, char *text, size_t size) {
    static const char *const words[][2] = {{"RSSecondary", "a secondary"},
                                           {"RSArbiter", "an arbiter"},
                                           {"RSOther", "a member in recovery"},
                                           {"RSGhost", "not yet initiated as a replica set"}};
    size_t count, used = 0;
    mongoc_server_description_t **servers = mongoc_client_get_server_descriptions(client, &count);
    for (size_t i = 0; i < count && used < size; i++) {
        const char *type = mongoc_server_description_type(servers[i]);
        for (size_t row = 0; row < COUNT(words); row++)
            type = strcmp(words[row][0], type) == 0 ? words[row][1] : type;
        used += (size_t)snprintf(text + used, size - used, "%s%s is %s", i ? ", " : "",
                                 mongoc_server_description_host(servers[i])->host_and_port, type);
    }
    mongoc_server_descriptions_destroy_all(servers, count);
    return count > 0;
}

const char *connect_describe(const address_t *address, mongoc_client_t *client, const bson_error_t *error,
                             char *text, size_t size) {
    char members[400], reasons[sizeof error->message];
    take_reasons(error, reasons);
    const char *space = *reasons ? " " : "";
    if (error->domain != MONGOC_ERROR_SERVER_SELECTION)
        snprintf(text, size, "%s", error->message);
    else if (client && describe_members(client, members, sizeof members))
        snprintf(text, size, "no primary: %s%s%s", members, space, reasons);
    else
        snprintf(text, size, "no answer from %s%s%s", address->hosts, space, reasons);
    conceal_known(text);
    return are_of_own_names(address, reasons) ? OWN_NAMES : hints[hint_for(address, error->message)].hint;
}

/* ---- saying what it waits for ---- */

/* A connection that is waited for. */
typedef struct {
    patience_t patience;
    int64_t next_ns; /* when the user hears of it */
    char doing[300];
} waiting_t;

static waiting_t waiting_begin(const server_t *server) {
    static const int64_t FIRST_NS = 400 * SERVER_MS;
    waiting_t waiting = {.patience = server_patience(server), .next_ns = clock_now_ns() + FIRST_NS};
    snprintf(waiting.doing, sizeof waiting.doing, "connect to %.280s", server->address.hosts);
    return waiting;
}

/* Whom it waits for, and why, in the driver's words: half a second after its beginning, then every ten seconds. */
static void say_waiting(const server_t *server, waiting_t *waiting, const bson_error_t *error) {
    char reasons[sizeof error->message], time[UNITS_MAX];
    const int64_t now_ns = clock_now_ns(), left_ns = waiting->patience.deadline_ns - now_ns;
    if (now_ns < waiting->next_ns || left_ns <= 0)
        return;
    waiting->next_ns += 10000LL * SERVER_MS;
    take_reasons(error, reasons);
    if (error->domain != MONGOC_ERROR_SERVER_SELECTION)
        snprintf(reasons, sizeof reasons, "%s", error->message);
    conceal_known(reasons);
    const bool brackets = *reasons == '[';
    if (brackets)
        reasons[strlen(reasons) - 1] = '\0';
    log_note("waiting for %s (%.199s); --patience ends in %s", server->address.hosts,
             *reasons ? reasons + brackets : "no answer", units_time(time, left_ns));
}

static bool wait_more(server_t *server, mongoc_client_t *client, waiting_t *waiting,
                      const bson_error_t *error, const bson_t *reply, err_t *err) {
    if (refusal_of(error, reply) == CODE_PASSING)
        say_waiting(server, waiting, error);
    return server_again(server, client, &waiting->patience, error, reply, waiting->doing, err);
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
    /* after an error that names a new primary, the driver believes it until the server says otherwise, at most for
     * this time */
    default_int32(uri, MONGOC_URI_HEARTBEATFREQUENCYMS, milliseconds(patience_ns / 10, 500, 2000));
    default_int32(uri, MONGOC_URI_CONNECTTIMEOUTMS, milliseconds(patience_ns, 500, 10000));
    default_int32(uri, MONGOC_URI_SOCKETTIMEOUTMS,
                  reads ? LONGEST_READ_MS : confirm_ms(patience_ns) + SOCKET_MORE_MS);
    /* finds the other members of a set from one of them: without them, its stepdown would end the load */
    bool named = mongoc_uri_get_srv_hostname(uri) ||
                 mongoc_uri_get_option_as_bool(uri, MONGOC_URI_LOADBALANCED, false);
    if (!named && !mongoc_uri_has_option(uri, MONGOC_URI_DIRECTCONNECTION))
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
                       "the server at %s does not report its version: is it a MongoDB server?",
                       server->address.hosts);
    if (facts->major < OLDEST_MAJOR || (facts->major == OLDEST_MAJOR && facts->minor < OLDEST_MINOR))
        return err_set(err, STATUS_USAGE, "the server at %s is MongoDB %s; tipple needs %d.%d or newer",
                       server->address.hosts, facts->version, OLDEST_MAJOR, OLDEST_MINOR);
    return true;
}

static bool learn(server_t *server, mongoc_client_t *client, err_t *err) {
    bson_t *command = BCON_NEW("buildInfo", BCON_INT32(1));
    waiting_t waiting = waiting_begin(server);
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
            more = !connect_is_hopeless(&server->address, client, &error, waiting.patience.tries + 1, err) &&
                   wait_more(server, client, &waiting, &error, &reply, err);
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

static bool open_pool(server_t *server, uint32_t connections, err_t *err) {
    waiting_t waiting = waiting_begin(server);
    bson_error_t error;
    while (!(server->pool = mongoc_client_pool_new_with_error(server->address.uri, &error))) {
        if (is_look_up(&error) && wait_more(server, NULL, &waiting, &error, NULL, err))
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

/* Of several standalones the driver takes one now and another one later. */
static bool is_one(const server_t *server, err_t *err) {
    return server->facts.kind != SERVER_STANDALONE || !mongoc_uri_get_hosts(server->address.uri)->next ||
           err_set(err, STATUS_USAGE,
                   "a server at %s is a standalone, and the URI names several hosts: name one",
                   server->address.hosts);
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
    server->resumes = options->resumes;
    set_options(server->address.uri, options->patience_ns, options->reads);
    stop_hangs_up();
    mongoc_client_t *client =
        has_answers(server->address.uri, options, err) && open_pool(server, options->connections, err)
            ? server_take(server, err)
            : NULL;
    bool ok =
        client && learn(server, client, err) && is_one(server, err) && can_confirm(server, options, err);
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
                                      .reads = server->reads,
                                      .resumes = server->resumes};
    address_t address;
    return address_of_hosts(&server->address, hosts, set, &address, err) ? connect_to(&address, &options, err)
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
