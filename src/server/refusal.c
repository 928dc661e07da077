#include "server/refusal.h"
#include "base/conceal.h"
#include "server/server_errors.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

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

static refusal_t of_class(code_class_t class) {
    static const refusal_t refusals[] = {[CODE_UNKNOWN] = REFUSAL_OTHER,
                                         [CODE_PASSING] = REFUSAL_GONE,
                                         [CODE_NOT_ALLOWED] = REFUSAL_AUTH,
                                         [CODE_STATE] = REFUSAL_STATE,
                                         [CODE_OF_DOCUMENT] = REFUSAL_OTHER};
    return refusals[class];
}

refusal_t refusal_of(const bson_error_t *error, const bson_t *reply) {
    const code_row_t *row = row_of(error);
    if (row)
        return of_class(row->class);
    switch (error->domain) {
    case 0: /* the driver forgets the error of one part of a divided batch if a later part succeeds */
    case MONGOC_ERROR_STREAM:
    case MONGOC_ERROR_WRITE_CONCERN:
        return REFUSAL_GONE;
    case MONGOC_ERROR_SERVER_SELECTION: /* the words say what another thread was told when it logged in */
        return strstr(error->message, "Authentication failed") ? REFUSAL_AUTH : REFUSAL_GONE;
    case MONGOC_ERROR_PROTOCOL:
        return error->code == MONGOC_ERROR_PROTOCOL_INVALID_REPLY ? REFUSAL_GONE : REFUSAL_OTHER;
    case MONGOC_ERROR_SCRAM:
        return REFUSAL_AUTH;
    case MONGOC_ERROR_CLIENT:
        if (error->code != MONGOC_ERROR_CLIENT_AUTHENTICATE)
            return REFUSAL_OTHER;
        return is_about_login(error->message) ? REFUSAL_AUTH : REFUSAL_GONE;
    default:
        break;
    }
    if (reply && mongoc_error_has_label(reply, "RetryableWriteError"))
        return REFUSAL_GONE;
    return of_class(code_class((int)error->code, error->message));
}

static bool begins_with_any(const char *text, const char *const words[], size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strncmp(text, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

/* doing: "run 'moveChunk' on admin.d.c", as server.c names a command. */
static bool is_of_sharding(const char *doing) {
    static const char *const commands[] = {"'enableSharding'",
                                           "'shardCollection'",
                                           "'split'",
                                           "'moveChunk'",
                                           "'addShardToZone'",
                                           "'removeShardFromZone'",
                                           "'updateZoneKeyRange'",
                                           "'configureCollectionBalancing'",
                                           "'update' on config."};
    return strncmp(doing, "run ", 4) == 0 &&
           begins_with_any(doing + 4, commands, sizeof commands / sizeof *commands);
}

/* "read the config database", as config.c names it. */
static bool is_of_cluster(const char *doing) {
    static const char *const readings[] = {"read the config database", "run 'listShards'"};
    return begins_with_any(doing, readings, sizeof readings / sizeof *readings);
}

/* A role that reads is enough for it. Also "list the indexes of d.c" and "sample the _ids", as src/query names them. */
static bool is_of_reading(const char *doing) {
    static const char *const readings[] = {"run 'find'",
                                           "run 'aggregate'",
                                           "run 'count'",
                                           "run 'distinct'",
                                           "run 'explain'",
                                           "run 'mapReduce'",
                                           "run 'collStats'",
                                           "run 'dbStats'",
                                           "run 'listIndexes'",
                                           "run 'listCollections'",
                                           "read ",
                                           "look at ",
                                           "list ",
                                           "sample ",
                                           "see ",
                                           "draw ",
                                           "ask "};
    return begins_with_any(doing, readings, sizeof readings / sizeof *readings);
}

static bool explain_access(const address_t *address, const bson_error_t *error, const char *words,
                           const char *doing, err_t *err) {
    const char *user = mongoc_uri_get_username(address->uri);
    const char *source = mongoc_uri_get_auth_source(address->uri);
    bool permission = error->domain == MONGOC_ERROR_SERVER && error->code == CODE_UNAUTHORIZED;
    if (permission && !user)
        return err_set(err, STATUS_USAGE,
                       "could not %s: the server at %s asks for a user: put USER:PASSWORD@ before "
                       "the host in the URI (%s)",
                       doing, address->hosts, words);
    if (permission && (is_of_sharding(doing) || is_of_cluster(doing)))
        return err_set(err, STATUS_USAGE, "could not %s: the user '%s' may not: it needs the role %s (%s)",
                       doing, user, is_of_sharding(doing) ? "clusterManager" : "clusterMonitor", words);
    if (permission)
        return err_set(err, STATUS_USAGE,
                       "could not %s: the user '%s' may not: it needs the role %s on the database %s%s (%s)",
                       doing, user, is_of_reading(doing) ? "read" : "readWrite", address->database,
                       is_of_reading(doing) ? ", or readWrite to load" : "", words);
    return err_set(err, STATUS_USAGE,
                   "could not log in at %s as '%s': %s: correct the user name, the password, or "
                   "authSource (here: %s) in the URI",
                   address->hosts, user ? user : "", words, source ? source : "admin");
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
    refusal_t refusal = refusal_of(error, reply);
    char *whole_command = strstr(words, " to execute command ");
    if (refusal == REFUSAL_AUTH && whole_command)
        *whole_command = '\0';
    if (refusal == REFUSAL_AUTH)
        return explain_access(address, error, words, doing, err);
    const code_row_t *row = row_of(error);
    const char *hint = row ? row->hint : refusal == REFUSAL_STATE ? code_hint_room : NULL;
    if (error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_WRITE_CONCERN)
        snprintf(code, sizeof code, " (code %u)", error->code);
    return err_set(err, row ? row->status : STATUS_SERVER, "could not %s: %s%s%s%s", doing, words, code,
                   hint ? "; " : "", hint ? hint : "");
}
