/* The URI of a target: taken apart before the driver sees it, so that no sentence of the driver can quote a secret. */
#include "base/conceal.h"
#include "base/text.h"
#include "server/server.h"

#include <ctype.h>
#include <mongoc/mongoc.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define SHAPE "mongodb://HOST:PORT/DATABASE.COLLECTION (with a user: mongodb://USER:PASSWORD@HOST:PORT/...)"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* The name must leave room for NAME.tipple.files and similar names. */
enum { LONGEST_NAMESPACE = 255 - (int)sizeof OWN_FILES + 1, LONGEST_DATABASE = 63 };

void address_free(address_t *address) {
    if (address->uri)
        mongoc_uri_destroy(address->uri);
    free(address->database);
    free(address->collection);
    free(address->name);
    free(address->hosts);
    *address = (address_t){0};
}

/* As it is written, and as it is meant. */
static bool remember_secret(const char *text, size_t length) {
    if (!length)
        return true;
    char *written = strndup(text, length), *meant = written ? mongoc_uri_unescape(written) : NULL;
    const bool ok = written && conceal_remember(written, length) &&
                    (!meant || !*meant || conceal_remember(meant, strlen(meant)));
    free(written);
    bson_free(meant);
    return ok;
}

/* The next of "a=1&b=2". */
typedef struct {
    const char *text;
    size_t length, number; /* from 1 */
} uri_option_t;

static bool next_option(const char **query, uri_option_t *option) {
    if (!**query)
        return false;
    option->text = *query;
    option->length = strcspn(*query, "&");
    option->number++;
    *query += option->length + ((*query)[option->length] == '&');
    return true;
}

/* Upper and lower case are the same. */
static bool is_one_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Does the driver know an option of this name? The first ones have a grammar of their own, for which it has no function. */
static bool is_known(const char *name) {
    static const char *const others[] = {
        "w",           "authMechanism",     "authMechanismProperties", "authSource",
        "compressors", "gssapiServiceName", "readConcernLevel",        "readPreferenceTags"};
    return is_one_of(name, others, COUNT(others)) || mongoc_uri_option_is_int32(name) ||
           mongoc_uri_option_is_int64(name) || mongoc_uri_option_is_bool(name) ||
           mongoc_uri_option_is_utf8(name);
}

enum { OPTION_NAME = 64 };

/* "" where no = ends it. */
static void name_option(const uri_option_t *option, char name[OPTION_NAME]) {
    const char *equals = memchr(option->text, '=', option->length);
    snprintf(name, OPTION_NAME, "%.*s", equals ? (int)(equals - option->text) : 0, option->text);
}

/* Nothing that could begin another option, or hide one. */
static bool is_plain(const char *value, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)value[i]) && !strchr("-_.,:/ +$*", value[i]) &&
            !(value[i] == '%' && i + 2 < length && isxdigit((unsigned char)value[i + 1]) &&
              isxdigit((unsigned char)value[i + 2])))
            return false;
    return true;
}

/* May all of it be shown? */
static bool is_open(const uri_option_t *option) {
    static const char *const secret[] = {"authMechanismProperties", "tlsCertificateKeyFilePassword",
                                         "sslClientCertificateKeyPassword", "proxyPassword"};
    char name[OPTION_NAME];
    name_option(option, name);
    const size_t value = strlen(name) + 1;
    return value <= option->length && is_known(name) && !is_one_of(name, secret, COUNT(secret)) &&
           is_plain(option->text + value, option->length - value);
}

/* The password, and the options that may not be shown; where there are none, the options are known to be harmless. */
static bool remember_secrets(const char *user, const char *at, const char *query) {
    const char *colon = at ? memchr(user, ':', (size_t)(at - user)) : NULL, *next = query;
    uri_option_t option = {.number = 0};
    bool ok = !colon || remember_secret(colon + 1, (size_t)(at - colon - 1)), open = true;
    while (ok && next_option(&next, &option)) {
        const char *equals = memchr(option.text, '=', option.length),
                   *value = equals ? equals + 1 : option.text;
        if (is_open(&option))
            continue;
        open = false;
        ok = remember_secret(value, option.length - (size_t)(value - option.text));
    }
    return ok && (!open || !*query || conceal_show_options(query));
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
    const char *kept = own_names_kept(name);
    if (kept)
        return err_set(err, STATUS_USAGE,
                       "'%s' is the name of %s, not of data: name another collection in the URI", name, kept);
    if (strncmp(name, "system.", 7) == 0)
        return err_set(err, STATUS_USAGE,
                       "'%s' is one of the server's own collections: name another one in the URI", name);
    if (strcmp(name, "system") == 0)
        return err_set(
            err, STATUS_USAGE,
            "of a collection 'system' the catalog would be 'system.tipple.files', and such names are "
            "the server's own: name another one in the URI");
    if (strchr(name, '$') || strstr(name, "..") || name[strlen(name) - 1] == '.' || name[0] == '.')
        return err_set(err, STATUS_USAGE,
                       "'%s' cannot be a collection's name: no '$', and dots only between words", name);
    return true;
}

/* The driver would quote a user name or password that it cannot read: so it does not get to see one. */
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
    const size_t plain = strcspn(path, "?&;=");
    if (plain < length)
        return err_set(
            err, STATUS_USAGE,
            "the URI's /DATABASE.COLLECTION holds a '%c': options come after a ?, with & between them; in a "
            "name it is written %%%02X",
            path[plain], (unsigned)path[plain]);
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
    bool ok = dot && dot != name && dot[1];
    if (!ok)
        err_set(err, STATUS_USAGE,
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

static _Thread_local bool parsing;

bool address_is_parsing(void) {
    return parsing;
}

/* In words of the driver: what stands in quotes is the name of an option, or becomes ***. */
static void hide_quoted(char *words) {
    for (char *from = words, *to; (from = strchr(from, '"')) && (to = strchr(++from, '"')); from = to + 1) {
        *to = '\0';
        const bool name = is_known(from);
        *to = '"';
        if (to - from < 3 || name)
            continue;
        memcpy(from, "***", 3);
        memmove(from + 3, to, strlen(to) + 1);
        to = from + 3;
    }
}

/* The driver's words quote values of options, each of which may be a secret at the wrong place. */
static bool say_what_is_wrong(const char *query, const bson_error_t *error, err_t *err) {
    char words[sizeof error->message];
    uri_option_t option = {.number = 0};
    bool open = strlen(error->message) + 1 < sizeof words; /* else it was cut off, perhaps in a secret */
    while (next_option(&query, &option))
        open = open && is_open(&option);
    snprintf(words, sizeof words, "%s", error->message);
    hide_quoted(words);
    conceal_known(words);
    return err_set(err, STATUS_USAGE, "the target's URI is not valid: %s. It should look like %s",
                   open ? words : "its user, hosts, ports or options cannot be read", SHAPE);
}

/* The URI up to `end`, and its options, without what stands between them: the collection. */
static bool parse_bare(address_t *address, const char *uri, const char *end, const char *query, err_t *err) {
    bson_error_t error;
    text_t text = {.length = 0};
    text_print(&text, "%.*s/%s%s", (int)(end - uri), uri, *query ? "?" : "", query);
    char *bare = text_take(&text, err);
    if (!bare)
        return false;
    parsing = true;
    address->uri = mongoc_uri_new_with_error(bare, &error);
    parsing = false;
    explicit_bzero(bare, strlen(bare)); /* it may contain a password */
    free(bare);
    return address->uri || say_what_is_wrong(query, &error, err);
}

/* What the driver would take for something else, quote, or ignore except for a line in its log: with a misspelled tls=true everything
 * would be sent in the clear. No name is shown: it may be a piece of a secret with a & in it. */
static bool good_options(const char *query, err_t *err) {
    uri_option_t option = {.number = 0};
    char name[OPTION_NAME];
    while (next_option(&query, &option)) {
        name_option(&option, name);
        if (!*name || name[strspn(name, NAME_LETTERS)])
            return err_set(err, STATUS_USAGE,
                           "option %zu after the ? of the URI is not OPTION=VALUE: options are "
                           "separated by &, and in a value & must be written as %%26",
                           option.number);
        for (size_t i = strlen(name); i < option.length; i++)
            if ((unsigned char)option.text[i] <= ' ')
                return err_set(err, STATUS_USAGE,
                               "option %zu after the ? of the URI has a blank in its value: write it as %%20",
                               option.number);
        if (!is_known(name))
            return err_set(
                err, STATUS_USAGE,
                "option %zu after the ? of the URI is none that the driver knows, so it would have no "
                "effect: correct it, or leave it out (mongo-c-driver %s)",
                option.number, mongoc_get_version());
    }
    return true;
}

/* After the ://; NULL: it is none of MongoDB's. */
static const char *find_hosts(const char *text) {
    const char *hosts = strstr(text, "://");
    return hosts && (strncasecmp(text, "mongodb://", 10) == 0 || strncasecmp(text, "mongodb+srv://", 14) == 0)
               ? hosts + 3
               : NULL;
}

char *address_of_database(const char *text) {
    const char *hosts = find_hosts(text);
    if (!hosts)
        return NULL;
    const char *path = hosts + strcspn(hosts, "/");
    path += *path == '/';
    char *encoded = strndup(path, strcspn(path, "?")), *name = encoded ? mongoc_uri_unescape(encoded) : NULL;
    char *database = name && !strchr(name, '.') ? strdup(name) : NULL;
    free(encoded);
    bson_free(name);
    return database;
}

/* With what has no meaning of its own in a URI, and what is among these characters. */
static void append_escaped(text_t *text, const char *part, const char *plain) {
    for (const unsigned char *c = (const unsigned char *)part; *c; c++)
        text_print(text, isalnum(*c) || strchr(plain, *c) ? "%c" : "%%%02X", *c);
}

char *address_with_collection(const char *text, const char *name, err_t *err) {
    const char *hosts = find_hosts(text), *path = hosts + strcspn(hosts, "/");
    text_t whole = {.length = 0};
    text_append_bytes(&whole, text, (size_t)(path - text));
    text_append(&whole, "/");
    append_escaped(&whole, name, "._-~");
    text_append(&whole, path + strcspn(path, "?"));
    return text_take(&whole, err);
}

/* The driver begins TLS for this mechanism whether the URI asks for it or not, and crashes where it does not. */
static bool good_login(const mongoc_uri_t *uri, err_t *err) {
    const char *mechanism = mongoc_uri_get_auth_mechanism(uri);
    return !mechanism || strcasecmp(mechanism, "MONGODB-X509") != 0 || mongoc_uri_get_tls(uri) ||
           err_set(err, STATUS_USAGE,
                   "authMechanism=MONGODB-X509 in the URI needs TLS: add tls=true and "
                   "tlsCertificateKeyFile=FILE");
}

bool address_parse(address_t *address, const char *text, err_t *err) {
    *address = (address_t){0};
    const char *hosts = find_hosts(text);
    if (!hosts)
        return err_set(err, STATUS_USAGE, "the target is not a MongoDB URI: it should look like %s", SHAPE);
    if (strchr(" \t\r\n", text[strlen(text) - 1]))
        return err_set(err, STATUS_USAGE,
                       "the target's URI ends with a blank or a line end: take it off; one that belongs to "
                       "the collection's name is written %%20");
    size_t authority = strcspn(hosts, "/");
    const char *path = hosts[authority] ? hosts + authority + 1 : hosts + authority;
    size_t path_length = strcspn(path, "?");
    const char *query = path[path_length] ? path + path_length + 1 : "";
    const char *at = memrchr(hosts, '@', authority);
    /* with a '/' or '?' in a password, parts of the password would be read as other parts of the URI */
    if (strchr(path, '@') || memchr(hosts, '?', authority) || (at && !readable_user(hosts, at)))
        return err_set(err, STATUS_USAGE,
                       "the URI cannot be taken apart: in a user name or password the characters "
                       "/ ? # @ : %% must be written as %%2F %%3F %%23 %%40 %%3A %%25, and options "
                       "follow the path: %s?OPTION=VALUE",
                       SHAPE);
    bool ok = remember_secrets(hosts, at, query) || err_memory(err, strlen(text));
    ok = ok && take_path(address, path, path_length, err) && good_options(query, err) &&
         parse_bare(address, text, hosts + authority, query, err);
    ok = ok && good_login(address->uri, err) && name_hosts(address, err);
    if (!ok)
        address_free(address);
    return ok;
}

char *address_to_paste(const char *text, const char *name, err_t *err) {
    address_t address;
    err_t ignored;
    bool open = false;
    if (text && address_parse(&address, text, &ignored)) {
        open = !conceal_finds(text) && address.name && strcmp(address.name, name) == 0;
        address_free(&address);
    }
    text_t line = {.length = 0};
    text_print(&line, open ? "%s" : ".../%s", open ? text : name);
    return text_take(&line, err);
}

/* ---- other hosts ---- */

/* Does this option describe the target's hosts? */
static bool is_of_the_hosts(const char *option) {
    static const char *const names[] = {MONGOC_URI_REPLICASET, MONGOC_URI_DIRECTCONNECTION,
                                        MONGOC_URI_LOADBALANCED, "srvservicename", "srvmaxhosts"};
    return is_one_of(option, names, COUNT(names));
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

mongoc_uri_t *address_uri_of(const char *hosts, err_t *err) {
    bson_error_t error;
    text_t text = {.length = 0};
    text_append(&text, "mongodb://");
    append_escaped(&text, hosts, "._-~:[],"); /* a socket's name is a path */
    text_append(&text, "/");
    char *whole = text_take(&text, err);
    if (!whole)
        return NULL;
    mongoc_uri_t *uri = mongoc_uri_new_with_error(whole, &error);
    free(whole);
    if (!uri)
        err_set(err, STATUS_SERVER, "the cluster names a host that is none: %s (%s)", hosts, error.message);
    return uri;
}

void address_set_waits(mongoc_uri_t *uri, int32_t milliseconds) {
    static const char *const waits[] = {MONGOC_URI_CONNECTTIMEOUTMS, MONGOC_URI_SERVERSELECTIONTIMEOUTMS,
                                        MONGOC_URI_SOCKETTIMEOUTMS};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++)
        mongoc_uri_set_option_as_int32(uri, waits[i], milliseconds);
}

bool address_of_hosts(const address_t *address, const char *hosts, const char *set, address_t *other,
                      err_t *err) {
    *other = (address_t){0};
    other->uri = address_uri_of(hosts, err);
    if (!other->uri)
        return false;
    copy_options(address->uri, other->uri);
    if (!copy_login(address->uri, other->uri, err)) {
        address_free(other);
        return false;
    }
    mongoc_uri_set_write_concern(other->uri, mongoc_uri_get_write_concern(address->uri));
    if (set)
        mongoc_uri_set_option_as_utf8(other->uri, MONGOC_URI_REPLICASET, set);
    other->name = strdup(address->name);
    other->database = strdup(address->database);
    other->collection = strdup(address->collection);
    other->hosts = strdup(hosts);
    bool ok = other->name && other->database && other->collection && other->hosts;
    if (ok)
        return true;
    address_free(other);
    return err_memory(err, strlen(hosts));
}
