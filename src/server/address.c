#include "server/address.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHAPE "mongodb://HOST:PORT/DATABASE.COLLECTION (with a user: mongodb://USER:PASSWORD@HOST:PORT/...)"

/* NAME.tipple.drills and its like must be names too. */
enum { LONGEST_NAMESPACE = 255 - (int)sizeof ".tipple.drills" + 1, LONGEST_DATABASE = 63 };

void address_free(address_t *address) {
    if (address->uri)
        mongoc_uri_destroy(address->uri);
    free(address->database);
    free(address->collection);
    free(address->name);
    free(address->hosts);
    for (size_t i = 0; i < address->secret_count; i++)
        free(address->secrets[i]);
    *address = (address_t){0};
}

void address_conceal(const address_t *address, char *text) {
    for (size_t i = 0; i < address->secret_count; i++) {
        const char *secret = address->secrets[i];
        size_t length = strlen(secret);
        char *at = strstr(text, secret);
        if (at && length < 3) {
            /* stars in the middle of words would spell a short secret out */
            strcpy(text, strlen(text) >= 3 ? "***" : "*");
            return;
        }
        for (; at; at = strstr(at + 3, secret)) {
            memcpy(at, "***", 3);
            memmove(at + 3, at + length, strlen(at + length) + 1);
        }
    }
}

static bool keep_secret(address_t *address, const char *text, size_t length) {
    if (!length || address->secret_count == ADDRESS_SECRETS)
        return true;
    char *secret = strndup(text, length);
    if (!secret)
        return false;
    address->secrets[address->secret_count++] = secret;
    char *decoded = mongoc_uri_unescape(secret);
    if (decoded && strcmp(decoded, secret) != 0 && *decoded && address->secret_count < ADDRESS_SECRETS)
        address->secrets[address->secret_count++] = strdup(decoded);
    bson_free(decoded);
    return address->secrets[address->secret_count - 1] != NULL;
}

/* The password, and the values of options that are passwords. */
static bool gather_secrets(address_t *address, const char *user, const char *at, const char *query) {
    const char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL;
    if (colon && !keep_secret(address, colon + 1, (size_t)(at - colon - 1)))
        return false;
    while (query && *query) {
        size_t length = strcspn(query, "&;");
        size_t key = strcspn(query, "=&;");
        char name[64];
        snprintf(name, sizeof name, "%.*s", (int)(key < 63 ? key : 63), query);
        bool secret = strcasestr(name, "password") || strcasecmp(name, "authMechanismProperties") == 0;
        if (secret && key < length && !keep_secret(address, query + key + 1, length - key - 1))
            return false;
        query += length + (query[length] != '\0');
    }
    return true;
}

static bool good_database(const char *name, err_t *err) {
    static const char *const taken[] = {"admin", "config", "local"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        if (strcmp(name, taken[i]) == 0)
            return err_set(err, STATUS_USAGE,
                           "the database '%s' is the server's own: name another one in the URI", name);
    if (strlen(name) > LONGEST_DATABASE)
        return err_set(err, STATUS_USAGE, "the database name '%.80s...' is longer than %d bytes", name,
                       LONGEST_DATABASE);
    size_t good = strcspn(name, "/\\ \"$*<>:|?");
    if (name[good])
        return err_set(err, STATUS_USAGE, "the database name '%s' in the URI may not contain '%c'", name,
                       name[good]);
    return true;
}

static bool good_collection(const char *name, err_t *err) {
    static const struct {
        const char *tail, *holds;
    } own[] = {{".tipple.files", "a load's catalog"},
               {".tipple.loads", "a load's catalog"},
               {".tipple.drills", "the history of drills"},
               {".tipple.mark", "the mark of a tune or drill under way"}};
    size_t length = strlen(name);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        size_t tail = strlen(own[i].tail);
        if (length >= tail && strcmp(name + length - tail, own[i].tail) == 0)
            return err_set(err, STATUS_USAGE,
                           "'%s' is the name of %s, not of data: name another collection in the URI", name,
                           own[i].holds);
    }
    if (strncmp(name, "system.", 7) == 0)
        return err_set(err, STATUS_USAGE,
                       "'%s' is one of the server's own collections: name another one in the URI", name);
    if (strchr(name, '$') || strstr(name, "..") || name[length - 1] == '.' || name[0] == '.')
        return err_set(err, STATUS_USAGE,
                       "'%s' cannot be a collection's name: no '$', and dots only between words", name);
    return true;
}

/* The driver would quote a user name or password that it cannot read; so it never gets to see one. */
static bool readable_user(const char *user, const char *at) {
    size_t colons = 0;
    for (const char *c = user; c < at; c++) {
        colons += *c == ':';
        if (strchr("/?#[]@", *c) || (unsigned char)*c <= ' ' || colons > 1)
            return false;
    }
    return true;
}

/* The path: "database.collection", percent-encoded, split at its first dot. */
static bool take_path(address_t *address, const char *path, size_t length, err_t *err) {
    if (!length)
        return err_set(err, STATUS_USAGE, "the URI names no collection: it should look like %s", SHAPE);
    char *encoded = strndup(path, length);
    if (!encoded)
        return err_memory(err, length);
    char *name = mongoc_uri_unescape(encoded);
    free(encoded);
    if (!name)
        return err_set(err, STATUS_USAGE,
                       "the URI's /DATABASE.COLLECTION is not percent-encoded UTF-8: a '%%' must be "
                       "followed by two hexadecimal digits");
    char *dot = strchr(name, '.');
    bool ok = true;
    if (!dot || dot == name || !dot[1])
        ok = err_set(err, STATUS_USAGE,
                     "the URI names no collection: its path is '/%s', and should be "
                     "/DATABASE.COLLECTION, e.g. mongodb://127.0.0.1:27017/mot.results",
                     name);
    else if (strlen(name) > LONGEST_NAMESPACE)
        ok = err_set(err, STATUS_USAGE,
                     "'%.80s...' is too long a name: at most %d bytes for database and collection "
                     "together",
                     name, LONGEST_NAMESPACE);
    if (ok) {
        address->name = strdup(name);
        address->database = strndup(name, (size_t)(dot - name));
        address->collection = strdup(dot + 1);
        ok = address->name && address->database && address->collection;
        if (!ok)
            err_memory(err, length);
    }
    bson_free(name);
    return ok && good_database(address->database, err) && good_collection(address->collection, err);
}

static bool name_hosts(address_t *address, err_t *err) {
    const char *service = mongoc_uri_get_srv_hostname(address->uri);
    text_t hosts = {.length = 0};
    text_append(&hosts, service ? service : "");
    for (const mongoc_host_list_t *host = mongoc_uri_get_hosts(address->uri); host; host = host->next)
        text_print(&hosts, "%s%s", hosts.length ? "," : "", host->host_and_port);
    address->hosts = text_take(&hosts, err);
    return address->hosts;
}

/* The URI up to `end`, and its options, without what stands between them: the collection. */
static bool parse_bare(address_t *address, const char *uri, const char *end, const char *query, err_t *err) {
    bson_error_t error;
    text_t text = {.length = 0};
    text_print(&text, "%.*s/%s%s", (int)(end - uri), uri, *query ? "?" : "", query);
    char *bare = text_take(&text, err);
    if (!bare)
        return false;
    address->uri = mongoc_uri_new_with_error(bare, &error);
    explicit_bzero(bare, strlen(bare)); /* there may be a password in it */
    free(bare);
    if (address->uri)
        return true;
    address_conceal(address, error.message);
    return err_set(err, STATUS_USAGE, "the target's URI is not valid: %s; it should look like %s",
                   error.message, SHAPE);
}

bool address_parse(address_t *address, const char *text, err_t *err) {
    *address = (address_t){0};
    const char *hosts = strstr(text, "://");
    if (!hosts || (strncasecmp(text, "mongodb://", 10) != 0 && strncasecmp(text, "mongodb+srv://", 14) != 0))
        return err_set(err, STATUS_USAGE, "the target is not a MongoDB URI: it should look like %s", SHAPE);
    if (strchr(" \t\r\n", text[strlen(text) - 1]))
        return err_set(err, STATUS_USAGE,
                       "the target's URI ends with a blank or a line end: take it off; one that belongs to "
                       "the collection's name is written %%20");
    hosts += 3;
    size_t authority = strcspn(hosts, "/");
    const char *path = hosts[authority] ? hosts + authority + 1 : hosts + authority;
    size_t path_length = strcspn(path, "?");
    const char *query = path[path_length] ? path + path_length + 1 : "";
    const char *at = memrchr(hosts, '@', authority);
    /* a stray '/' or '?' of a password would make other parts of the URI of its pieces */
    if (strchr(path, '@') || memchr(hosts, '?', authority) || (at && !readable_user(hosts, at)))
        return err_set(err, STATUS_USAGE,
                       "the URI cannot be taken apart: in a user name or password the characters "
                       "/ ? # @ : %% must be written as %%2F %%3F %%23 %%40 %%3A %%25, and options "
                       "follow the path: %s?OPTION=VALUE",
                       SHAPE);
    bool ok = gather_secrets(address, hosts, at, query) || err_memory(err, strlen(text));
    ok = ok && take_path(address, path, path_length, err);
    ok = ok && parse_bare(address, text, hosts + authority, query, err) && name_hosts(address, err);
    if (!ok)
        address_free(address);
    return ok;
}

/* ---- other hosts ---- */

/* An option that says what kind of target its hosts are. */
static bool is_of_the_hosts(const char *option) {
    static const char *const names[] = {MONGOC_URI_REPLICASET, MONGOC_URI_DIRECTCONNECTION,
                                        MONGOC_URI_LOADBALANCED, "srvservicename", "srvmaxhosts"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcasecmp(option, names[i]) == 0)
            return true;
    return false;
}

static void copy_options(const mongoc_uri_t *from, mongoc_uri_t *to) {
    bson_iter_t at;
    if (!bson_iter_init(&at, mongoc_uri_get_options(from)))
        return;
    while (bson_iter_next(&at)) {
        const char *option = bson_iter_key(&at);
        if (is_of_the_hosts(option))
            continue;
        if (BSON_ITER_HOLDS_UTF8(&at))
            mongoc_uri_set_option_as_utf8(to, option, bson_iter_utf8(&at, NULL));
        else if (BSON_ITER_HOLDS_BOOL(&at))
            mongoc_uri_set_option_as_bool(to, option, bson_iter_bool(&at));
        else if (BSON_ITER_HOLDS_INT64(&at))
            mongoc_uri_set_option_as_int64(to, option, bson_iter_int64(&at));
        else if (BSON_ITER_HOLDS_INT32(&at))
            mongoc_uri_set_option_as_int32(to, option, bson_iter_int32(&at));
    }
    if (mongoc_uri_get_tls(from))
        mongoc_uri_set_option_as_bool(to, MONGOC_URI_TLS, true);
}

static bool copy_login(const mongoc_uri_t *from, mongoc_uri_t *to, err_t *err) {
    bson_t properties;
    if (mongoc_uri_get_username(from))
        mongoc_uri_set_username(to, mongoc_uri_get_username(from));
    if (mongoc_uri_get_password(from))
        mongoc_uri_set_password(to, mongoc_uri_get_password(from));
    if (mongoc_uri_get_username(from) || mongoc_uri_get_auth_mechanism(from))
        mongoc_uri_set_auth_source(to, mongoc_uri_get_auth_source(from));
    if (mongoc_uri_get_auth_mechanism(from))
        mongoc_uri_set_auth_mechanism(to, mongoc_uri_get_auth_mechanism(from));
    if (mongoc_uri_get_mechanism_properties(from, &properties))
        mongoc_uri_set_mechanism_properties(to, &properties);
    if (mongoc_uri_get_compressors(from) && !bson_empty(mongoc_uri_get_compressors(from))) {
        bson_iter_t at;
        text_t names = {.length = 0};
        for (bson_iter_init(&at, mongoc_uri_get_compressors(from)); bson_iter_next(&at);)
            text_print(&names, "%s%s", names.length ? "," : "", bson_iter_key(&at));
        char *list = text_take(&names, err);
        if (!list)
            return false;
        mongoc_uri_set_compressors(to, list);
        free(list);
    }
    return true;
}

bool address_beside(const address_t *address, const char *hosts, const char *set, address_t *beside,
                    err_t *err) {
    bson_error_t error;
    *beside = (address_t){0};
    char *text = bson_strdup_printf("mongodb://%s/", hosts);
    beside->uri = mongoc_uri_new_with_error(text, &error);
    bson_free(text);
    if (!beside->uri)
        return err_set(err, STATUS_SERVER, "the cluster names a host that is none: %s (%s)", hosts,
                       error.message);
    copy_options(address->uri, beside->uri);
    if (!copy_login(address->uri, beside->uri, err)) {
        address_free(beside);
        return false;
    }
    mongoc_uri_set_write_concern(beside->uri, mongoc_uri_get_write_concern(address->uri));
    if (set)
        mongoc_uri_set_option_as_utf8(beside->uri, MONGOC_URI_REPLICASET, set);
    beside->name = strdup(address->name);
    beside->database = strdup(address->database);
    beside->collection = strdup(address->collection);
    beside->hosts = strdup(hosts);
    bool ok = beside->name && beside->database && beside->collection && beside->hosts;
    for (size_t i = 0; ok && i < address->secret_count; i++)
        ok = (beside->secrets[beside->secret_count++] = strdup(address->secrets[i])) != NULL;
    if (ok)
        return true;
    address_free(beside);
    return err_memory(err, strlen(hosts));
}
