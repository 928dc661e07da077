/* The errors of driver and servers as a table: what each means for a load, and what a person can do. */
#include "target/server.h"
#include "target/codes.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct {
    int code;
    refusal_t refusal;
    status_t status;
    const char *hint; /* what to do */
} row_t;

#define ROOM    "make room there, then run the same command again"
#define MEMBERS "are enough members of the replica set up?"

static const row_t rows[] = {
    /* passing by themselves */
    {6, REFUSAL_GONE, STATUS_SERVER, NULL},     /* HostUnreachable */
    {7, REFUSAL_GONE, STATUS_SERVER, NULL},     /* HostNotFound */
    {24, REFUSAL_GONE, STATUS_SERVER, NULL},    /* LockTimeout */
    {46, REFUSAL_GONE, STATUS_SERVER, NULL},    /* LockBusy */
    {50, REFUSAL_GONE, STATUS_SERVER, NULL},    /* MaxTimeMSExpired */
    {63, REFUSAL_GONE, STATUS_SERVER, NULL},    /* StaleShardVersion */
    {64, REFUSAL_GONE, STATUS_SERVER, MEMBERS}, /* WriteConcernTimeout */
    {70, REFUSAL_GONE, STATUS_SERVER, NULL},    /* ShardNotFound: the router reads its list again */
    {89, REFUSAL_GONE, STATUS_SERVER, NULL},    /* NetworkTimeout */
    {91, REFUSAL_GONE, STATUS_SERVER, NULL},    /* ShutdownInProgress */
    {112, REFUSAL_GONE, STATUS_SERVER, NULL},   /* WriteConflict */
    {117, REFUSAL_GONE, STATUS_SERVER, NULL},   /* ConflictingOperationInProgress */
    {133, REFUSAL_GONE, STATUS_SERVER, NULL},   /* FailedToSatisfyReadPreference */
    {134, REFUSAL_GONE, STATUS_SERVER, NULL},   /* ReadConcernMajorityNotAvailableYet */
    {150, REFUSAL_GONE, STATUS_SERVER, NULL},   /* StaleEpoch */
    {189, REFUSAL_GONE, STATUS_SERVER, NULL},   /* PrimarySteppedDown */
    {202, REFUSAL_GONE, STATUS_SERVER, NULL},   /* NetworkInterfaceExceededTimeLimit */
    {215, REFUSAL_GONE, STATUS_SERVER, NULL},   /* DatabaseDropPending */
    {216, REFUSAL_GONE, STATUS_SERVER, NULL},   /* ElectionInProgress */
    {249, REFUSAL_GONE, STATUS_SERVER, NULL},   /* StaleDbVersion */
    {262, REFUSAL_GONE, STATUS_SERVER, NULL},   /* ExceededTimeLimit */
    {279, REFUSAL_GONE, STATUS_SERVER, NULL},   /* ClientDisconnect */
    {355, REFUSAL_GONE, STATUS_SERVER, NULL},   /* InterruptedDueToStorageChange */
    {365, REFUSAL_GONE, STATUS_SERVER, NULL},   /* TemporarilyUnavailable */
    {402, REFUSAL_GONE, STATUS_SERVER, NULL},   /* ResourceExhausted */
    {433, REFUSAL_GONE, STATUS_SERVER, NULL},   /* AdmissionQueueOverflow */
    {449, REFUSAL_GONE, STATUS_SERVER, NULL},   /* RateLimitExceeded */
    {9001, REFUSAL_GONE, STATUS_SERVER, NULL},  /* SocketException */
    {10058, REFUSAL_GONE, STATUS_SERVER, NULL}, /* LegacyNotPrimary */
    {10107, REFUSAL_GONE, STATUS_SERVER, NULL}, /* NotWritablePrimary */
    {11600, REFUSAL_GONE, STATUS_SERVER, NULL}, /* InterruptedAtShutdown */
    {11601, REFUSAL_GONE, STATUS_SERVER, NULL}, /* Interrupted */
    {11602, REFUSAL_GONE, STATUS_SERVER, NULL}, /* InterruptedDueToReplStateChange */
    {13388, REFUSAL_GONE, STATUS_SERVER, NULL}, /* StaleConfig */
    {13435, REFUSAL_GONE, STATUS_SERVER, NULL}, /* NotPrimaryNoSecondaryOk */
    {13436, REFUSAL_GONE, STATUS_SERVER, NULL}, /* NotPrimaryOrSecondary */
    /* who may do what */
    {11, REFUSAL_AUTH, STATUS_USAGE, NULL},  /* UserNotFound */
    {13, REFUSAL_AUTH, STATUS_USAGE, NULL},  /* Unauthorized */
    {18, REFUSAL_AUTH, STATUS_USAGE, NULL},  /* AuthenticationFailed */
    {214, REFUSAL_AUTH, STATUS_USAGE, NULL}, /* AuthenticationRestrictionUnmet */
    {334, REFUSAL_AUTH, STATUS_USAGE, NULL}, /* MechanismUnavailable */
    {391, REFUSAL_AUTH, STATUS_USAGE, NULL}, /* ReauthenticationRequired */
    /* the state of the target, whatever the document */
    {20, REFUSAL_STATE, STATUS_SERVER,
     "is the server read-only, or the collection one of its own?"}, /* IllegalOperation */
    {79, REFUSAL_STATE, STATUS_USAGE, "correct w= in the URI"},     /* UnknownReplWriteConcern */
    {100, REFUSAL_STATE, STATUS_USAGE, "w= in the URI asks for more members than the replica set has"},
    {115, REFUSAL_STATE, STATUS_USAGE, "the server cannot do this"},     /* CommandNotSupported */
    {166, REFUSAL_STATE, STATUS_USAGE, "name a collection, not a view"}, /* CommandNotSupportedOnView */
    {264, REFUSAL_STATE, STATUS_SERVER, "raise the server's limit of open files (ulimit -n)"},
    {322, REFUSAL_STATE, STATUS_USAGE, NULL}, /* APIVersionError */
    {323, REFUSAL_STATE, STATUS_USAGE, NULL}, /* APIStrictError */
    {371, REFUSAL_STATE, STATUS_SERVER,
     "somebody blocked writes: setUserWriteBlockMode"}, /* UserWritesBlocked */
    {13297, REFUSAL_STATE, STATUS_USAGE,
     "a database of this name in other letters is there: use its spelling"}, /* DatabaseDifferCase */
    {8000, REFUSAL_STATE, STATUS_SERVER, NULL},                              /* AtlasError */
    {14031, REFUSAL_STATE, STATUS_SERVER, ROOM},                             /* OutOfDiskSpace */
};

/* For errors whose code says little. */
static const struct {
    const char *words;
    refusal_t refusal;
} telling[] = {
    {"No space left", REFUSAL_STATE},
    {"not enough disk space", REFUSAL_STATE},
    {"not master", REFUSAL_GONE},
    {"not primary", REFUSAL_GONE},
    {"node is recovering", REFUSAL_GONE},
    {"read-only mode", REFUSAL_STATE},
    {"operation was interrupted", REFUSAL_GONE},
};

/* The driver calls all that goes wrong while it logs in a failed login, also a connection that was lost, or a
 * server that is about to end. */
static bool is_about_login(const char *words) {
    static const char *const others[] = {
        "Failed to send ",           "quiesce mode",       "shutdown", "not primary", "node is recovering",
        "operation was interrupted", "Could not find host"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strstr(words, others[i]))
            return false;
    return true;
}

static const row_t *row_of(const bson_error_t *error) {
    if (error->domain != MONGOC_ERROR_SERVER && error->domain != MONGOC_ERROR_WRITE_CONCERN)
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].code == (int)error->code)
            return &rows[i];
    return NULL;
}

refusal_t server_refusal(const bson_error_t *error, const bson_t *reply) {
    const row_t *row = row_of(error);
    if (row)
        return row->refusal;
    switch (error->domain) {
    case 0: /* the driver forgets the error of one part of a divided batch when a later part succeeds */
    case MONGOC_ERROR_STREAM:
    case MONGOC_ERROR_WRITE_CONCERN:
        return REFUSAL_GONE;
    case MONGOC_ERROR_SERVER_SELECTION: /* what another thread was told when it logged in stands in the words
                                         */
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
    for (size_t i = 0; i < sizeof telling / sizeof *telling; i++)
        if (strstr(error->message, telling[i].words))
            return telling[i].refusal;
    return REFUSAL_OTHER;
}

static bool explain_access(const server_t *server, const bson_error_t *error, const char *words,
                           const char *doing, err_t *err) {
    const address_t *address = server_address(server);
    const char *user = mongoc_uri_get_username(address->uri);
    const char *source = mongoc_uri_get_auth_source(address->uri);
    bool permission = error->domain == MONGOC_ERROR_SERVER && error->code == CODE_UNAUTHORIZED;
    if (permission && !user)
        return err_set(err, STATUS_USAGE,
                       "could not %s: the server at %s asks for a user: put USER:PASSWORD@ before "
                       "the host in the URI (%s)",
                       doing, address->hosts, words);
    if (permission)
        return err_set(err, STATUS_USAGE,
                       "could not %s: the user '%s' may not: it needs the role readWrite on the "
                       "database %s (%s)",
                       doing, user, address->database, words);
    return err_set(err, STATUS_USAGE,
                   "could not log in at %s as '%s': %s: correct the user name, the password, or "
                   "authSource (here: %s) in the URI",
                   address->hosts, user ? user : "", words, source ? source : "admin");
}

bool server_explain(const server_t *server, const bson_error_t *error, const bson_t *reply, const char *doing,
                    err_t *err) {
    char words[504], code[24] = "";
    snprintf(words, sizeof words, "%s", error->message[0] ? error->message : "no reason was given");
    for (char *c = words; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
    address_conceal(server_address(server), words);
    size_t length = strlen(words);
    if (length && words[length - 1] == '.')
        words[length - 1] = '\0';
    refusal_t refusal = server_refusal(error, reply);
    char *whole_command = strstr(words, " to execute command ");
    if (refusal == REFUSAL_AUTH && whole_command)
        *whole_command = '\0';
    if (refusal == REFUSAL_AUTH)
        return explain_access(server, error, words, doing, err);
    const row_t *row = row_of(error);
    const char *hint = row ? row->hint : refusal == REFUSAL_STATE ? ROOM : NULL;
    if (error->domain == MONGOC_ERROR_SERVER || error->domain == MONGOC_ERROR_WRITE_CONCERN)
        snprintf(code, sizeof code, " (code %u)", error->code);
    return err_set(err, row ? row->status : STATUS_SERVER, "could not %s: %s%s%s%s", doing, words, code,
                   hint ? "; " : "", hint ? hint : "");
}
