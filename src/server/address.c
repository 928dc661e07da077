/* The URI of a target: taken apart before the driver sees it, so that no sentence of the driver can quote a secret. */
#include "base/conceal.h"
#include "base/text.h"
#include "server/server_inner.h"

#include <ctype.h>
#include <mongoc/mongoc.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#ifdef MONGOC_ENABLE_SASL
enum { HAS_SASL = true };
#else
enum { HAS_SASL = false };
#endif

#define SHAPE "mongodb://HOST:PORT/DATABASE.COLLECTION (with a user: mongodb://USER:PASSWORD@HOST:PORT/...)"

#define ESCAPES                                                                                              \
    "in a user name or password the characters / ? # @ : %% must be written as %%2F %%3F %%23 %%40 %%3A "    \
    "%%25, and options follow the path, after a ?: it should look like " SHAPE

void address_free(address_t *address) {
    if (address->uri)
        mongoc_uri_destroy(address->uri);
    free(address->database);
    free(address->collection);
    free(address->name);
    free(address->hosts);
    *address = (address_t){0};
}

/* The text with its %XX decoded, to be freed by bson_free. NULL: a %XX is wrong, or memory is out. */
static char *unescaped(const char *text, size_t length) {
    char *encoded = strndup(text, length), *plain = encoded ? mongoc_uri_unescape(encoded) : NULL;
    free(encoded);
    return plain;
}

/* As the URI has it, and decoded. */
static bool remember_secret(const char *text, size_t length) {
    if (!length)
        return true;
    char *meant = unescaped(text, length);
    const bool ok =
        conceal_remember(text, length) && (!meant || !*meant || conceal_remember(meant, strlen(meant)));
    bson_free(meant);
    return ok;
}

/* Upper and lower case are the same. */
static bool is_one_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcasecmp(name, names[i]) == 0)
            return true;
    return false;
}

/* Does the driver know an option of this name? Those with a grammar of their own are listed here, since the driver has
 * no function for them. */
static bool is_known(const char *name) {
    static const char *const others[] = {
        "w",           "authMechanism",     "authMechanismProperties", "authSource",
        "compressors", "gssapiServiceName", "readConcernLevel",        "readPreferenceTags"};
    return is_one_of(name, others, COUNT(others)) || mongoc_uri_option_is_int32(name) ||
           mongoc_uri_option_is_int64(name) || mongoc_uri_option_is_bool(name) ||
           mongoc_uri_option_is_utf8(name);
}

/* The next of "a=1&b=2". */
typedef struct {
    const char *text, *value;
    size_t length;
    char name[64]; /* "": no = ends it */
} uri_option_t;

static bool next_option(const char **query, uri_option_t *option) {
    if (!**query)
        return false;
    const char *end = strchrnul(*query, '&'), *equals = memchr(*query, '=', (size_t)(end - *query));
    option->text = *query;
    option->length = (size_t)(end - *query);
    option->value = equals ? equals + 1 : *query;
    snprintf(option->name, sizeof option->name, "%.*s", equals ? (int)(equals - *query) : 0, *query);
    *query = end + (*end == '&');
    return true;
}

/* Remembers the options that may not be shown; where there are none, the options are known to be harmless. Refuses what the driver
 * would ignore except for a line in its log: with a misspelled tls=true everything would be sent in the clear. No name is
 * shown: it may be a piece of a secret with a & in it. */
static bool take_options(const char *query, err_t *err) {
    static const char *const secret[] = {"authMechanismProperties", "tlsCertificateKeyFilePassword",
                                         "sslClientCertificateKeyPassword", "proxyPassword"};
    const char *next = query;
    uri_option_t option;
    size_t number = 0, unknown = 0;
    bool ok = true, open = true;
    while (ok && next_option(&next, &option)) {
        number++;
        const bool known = is_known(option.name);
        unknown = known || unknown ? unknown : number;
        if (known && !is_one_of(option.name, secret, COUNT(secret)))
            continue;
        open = false;
        ok = remember_secret(option.value, option.length - (size_t)(option.value - option.text));
    }
    if (!ok || (open && *query && !conceal_show_options(query)))
        return err_memory(err, strlen(query));
    return !unknown ||
           err_set(err, STATUS_USAGE,
                   "option %zu after the ? of the URI is none that the driver knows, so it would have no "
                   "effect: correct it, or leave it out (mongo-c-driver %s); options are OPTION=VALUE with & "
                   "between them, and in a value & is written as %%26",
                   unknown, mongoc_get_version());
}

/* Names that a server refuses are left to the server, which says so itself. */
static bool good_name(const address_t *address, err_t *err) {
    static const char *const taken[] = {"admin", "config", "local"};
    const char *name = address->collection;
    for (size_t i = 0; i < COUNT(taken); i++)
        if (strcmp(address->database, taken[i]) == 0)
            return err_set(err, STATUS_USAGE,
                           "the database '%s' is the server's own: name another one in the URI", taken[i]);
    if (own_names_catalog(name))
        return err_set(err, STATUS_USAGE,
                       "'%s' is a load's catalog, not data: name another collection in the URI", name);
    return strncmp(name, "system", 6) != 0 || (name[6] && name[6] != '.') ||
           err_set(err, STATUS_USAGE,
                   "'%s' is one of the server's own collections, or its catalog would be one: name another "
                   "one in the URI",
                   name);
}

static bool set_name(address_t *address, const char *name, err_t *err) {
    const char *dot = strchr(name, '.');
    address->name = strdup(name);
    address->database = strndup(name, (size_t)(dot - name));
    address->collection = strdup(dot + 1);
    return (address->name && address->database && address->collection) || err_memory(err, strlen(name));
}

/* The path: "database.collection", percent-encoded, split at its first dot. */
static bool take_path(address_t *address, const char *path, size_t length, err_t *err) {
    const size_t plain = strcspn(path, "?&=");
    if (plain < length)
        return err_set(
            err, STATUS_USAGE,
            "the URI's /DATABASE.COLLECTION holds a '%c': options come after a ?, with & between them; in a "
            "name it is written %%%02X",
            path[plain], (unsigned)path[plain]);
    char *name = unescaped(path, length);
    if (!name)
        return err_set(err, STATUS_USAGE,
                       "the URI's /DATABASE.COLLECTION is not percent-encoded UTF-8: a '%%' must be "
                       "followed by two hexadecimal digits");
    const char *dot = strchr(name, '.');
    const bool ok = (dot && dot != name && dot[1]) ||
                    err_set(err, STATUS_USAGE,
                            "the URI names no collection: its path is '/%s', and should be "
                            "/DATABASE.COLLECTION, e.g. mongodb://127.0.0.1:27017/mot.results",
                            name);
    const bool set = ok && set_name(address, name, err);
    bson_free(name);
    return set && good_name(address, err);
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

static mongoc_uri_t *uri_of(text_t *text, bson_error_t *error, err_t *err) {
    char *whole = text_take(text, err);
    if (!whole)
        return NULL;
    mongoc_uri_t *uri = mongoc_uri_new_with_error(whole, error);
    explicit_bzero(whole, strlen(whole)); /* it may contain a password */
    free(whole);
    return uri;
}

/* The URI up to `end`, and its options, without what stands between them: the collection. */
static bool parse_bare(address_t *address, const char *uri, const char *end, const char *query, err_t *err) {
    bson_error_t error = {.message = ""};
    uri_option_t option;
    text_t text = {.length = 0};
    text_print(&text, "%.*s/%s%s", (int)(end - uri), uri, *query ? "?" : "", query);
    address->uri = uri_of(&text, &error, err);
    if (address->uri || !*error.message)
        return address->uri;
    /* the driver's words quote values, and a value may be a secret in the wrong place: only names of options are passed
     * on */
    char name[sizeof option.name] = "";
    while (next_option(&query, &option))
        if (strlen(option.name) > 2 && strcasestr(error.message, option.name))
            strcpy(name, option.name);
    if (*name)
        return err_set(err, STATUS_USAGE, "the target's URI is not valid: its option %s cannot be used",
                       name);
    return err_set(
        err, STATUS_USAGE,
        "the target's URI is not valid: its user, hosts, ports or options cannot be used; " ESCAPES);
}

/* The place after the ://. NULL: this is no URI of MongoDB. */
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
    char *name = unescaped(path, strcspn(path, "?"));
    char *database = name && !strchr(name, '.') ? strdup(name) : NULL;
    bson_free(name);
    return database;
}

/* Appends the text with percent signs, except for letters, digits and these characters. */
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

bool address_fits_sasl(const mongoc_uri_t *uri, bool sasl, err_t *err) {
    static const char *const by_sasl[] = {"GSSAPI", "PLAIN"};
    const char *mechanism = mongoc_uri_get_auth_mechanism(uri);
    return sasl || !mechanism || !is_one_of(mechanism, by_sasl, COUNT(by_sasl)) ||
           err_set(
               err, STATUS_USAGE,
               "authMechanism=%s in the URI needs SASL, and this build of tipple has none: build it with the "
               "libraries of this system, as a Debian package or by pip install . in the source tree "
               "(docs/install.md)",
               mechanism);
}

bool address_parse(address_t *address, const char *text, err_t *err) {
    *address = (address_t){0};
    const char *hosts = find_hosts(text);
    if (!hosts)
        return err_set(err, STATUS_USAGE, "the target is not a MongoDB URI: it should look like %s", SHAPE);
    size_t authority = strcspn(hosts, "/");
    const char *path = hosts[authority] ? hosts + authority + 1 : hosts + authority;
    size_t path_length = strcspn(path, "?");
    const char *query = path[path_length] ? path + path_length + 1 : "";
    const char *at = strchr(hosts, '@'), *colon = at ? memchr(hosts, ':', (size_t)(at - hosts)) : NULL;
    /* with a '/' or '?' in a password, parts of the password would be read as other parts of the URI */
    if ((at && (at >= path || strchr(at + 1, '@'))) || memchr(hosts, '?', authority))
        return err_set(err, STATUS_USAGE, "the URI cannot be taken apart: " ESCAPES);
    if (text[strcspn(text, " \t\r\n;")])
        return err_set(
            err, STATUS_USAGE,
            "the URI holds a blank, a line end or a ';': in a name or a value they are written as %%20, "
            "%%0A and %%3B, and options are separated by &");
    bool ok = !colon || remember_secret(colon + 1, (size_t)(at - colon - 1)) || err_memory(err, strlen(text));
    ok = ok && take_options(query, err) && take_path(address, path, path_length, err) &&
         parse_bare(address, text, hosts + authority, query, err);
    ok = ok && good_login(address->uri, err) && address_fits_sasl(address->uri, HAS_SASL, err) &&
         name_hosts(address, err);
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

bool address_of_hosts(const address_t *address, const char *hosts, const char *set, address_t *other,
                      err_t *err) {
    static const char *const of_the_hosts[] = {MONGOC_URI_REPLICASET, MONGOC_URI_DIRECTCONNECTION,
                                               MONGOC_URI_LOADBALANCED, "srvservicename", "srvmaxhosts"};
    const char *user = find_hosts(mongoc_uri_get_string(address->uri)), *path = user + strcspn(user, "/");
    const char *at = memrchr(user, '@', (size_t)(path - user)), *query = path + strcspn(path, "?");
    bson_error_t error;
    uri_option_t option;
    text_t text = {.length = 0};
    text_print(&text, "mongodb://%.*s", at ? (int)(at + 1 - user) : 0, user);
    append_escaped(&text, hosts, "._-~:[],"); /* a socket's name is a path */
    text_append(&text, "/");
    const char *sign = "?";
    for (query += *query == '?'; next_option(&query, &option);) {
        if (is_one_of(option.name, of_the_hosts, COUNT(of_the_hosts)))
            continue;
        text_print(&text, "%s%.*s", sign, (int)option.length, option.text);
        sign = "&";
    }
    *other = (address_t){.uri = uri_of(&text, &error, err)};
    if (other->uri && set)
        mongoc_uri_set_option_as_utf8(other->uri, MONGOC_URI_REPLICASET, set);
    if (other->uri && mongoc_uri_get_tls(address->uri)) /* as mongodb+srv:// does */
        mongoc_uri_set_option_as_bool(other->uri, MONGOC_URI_TLS, true);
    const bool ok =
        (other->uri || err_set(err, STATUS_SERVER, "the cluster names a host that is none: %s", hosts)) &&
        set_name(other, address->name, err) && name_hosts(other, err);
    if (!ok)
        address_free(other);
    return ok;
}
