#include "base/conceal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STARS "***"

typedef struct {
    const char *from, *to;
} span_t;

static const span_t NONE = {NULL, NULL};

static bool begins(const char *text, const char *with) {
    return strncmp(text, with, strlen(with)) == 0;
}

/* Up to a blank or a control character. */
static const char *end_of_word(const char *at) {
    while ((unsigned char)*at > ' ')
        at++;
    return at;
}

/* ":27017" with no letter after it; or ":PORT", which our own sentences print in its place. */
static bool is_port(const char *colon) {
    size_t digits = strspn(colon + 1, "0123456789");
    return begins(colon, ":PORT") || (digits && digits <= 5 && !isalnum((unsigned char)colon[1 + digits]));
}

/* The first colon outside of an address in brackets. */
static const char *find_colon(const char *from, const char *to) {
    if (*from == '[' && memchr(from, ']', (size_t)(to - from)))
        from = memchr(from, ']', (size_t)(to - from));
    return memchr(from, ':', (size_t)(to - from));
}

/* The place of USER:PASSWORD@, up to the last @ of the word: an earlier @ may be a part of the password. *is_login:
 * there is a user. */
static span_t in_login(const char *after, bool *is_login) {
    const char *end = end_of_word(after), *at = memrchr(after, '@', (size_t)(end - after));
    const char *colon = at ? memchr(after, ':', (size_t)(at - after)) : NULL;
    *is_login = at;
    return colon && colon + 1 < at && !begins(colon, ":PASSWORD@") ? (span_t){colon + 1, at} : NONE;
}

/* `after`: what follows "//". If there is no @, it may have been cut off, or the password has blanks. */
static span_t in_uri(const char *after, bool scheme) {
    bool is_login;
    const span_t login = in_login(after, &is_login);
    if (is_login)
        return login;
    const char *end = end_of_word(after);
    const char *colon = scheme ? find_colon(after, after + strcspn(after, "/? \t\n")) : NULL;
    if (!colon || colon >= end || is_port(colon))
        return NONE;
    const char *later = end + strcspn(end, "@\n");
    if (*later == '@')
        return (span_t){colon + 1, later};
    while (end > colon + 1 && strchr("'\";,.)", end[-1]))
        end--;
    return end > colon + 1 ? (span_t){colon + 1, end} : NONE;
}

/* `value`: what follows "password=" and similar. What usually ends a value does not end it inside the password of a
 * URI. */
static span_t in_option(const char *value) {
    static const char ends[] = "&; \t\r\n'\"";
    const char *end = value + strcspn(value, ends);
    for (const char *at = value; (at = memmem(at, (size_t)(end - at), "//", 2)); at += 2) {
        const span_t login = in_uri(at + 2, true);
        if (login.from && login.to > end)
            end = login.to + strcspn(login.to, ends);
    }
    return end > value ? (span_t){value, end} : NONE;
}

/* ---- the options of a MongoDB URI ---- */

/* Names, in small letters, of options whose values say nothing that is secret. */
static const char *const harmless[] = {
    "appname",
    "authmechanism",
    "authsource",
    "compressors",
    "connecttimeoutms",
    "directconnection",
    "fsync",
    "heartbeatfrequencyms",
    "j",
    "journal",
    "loadbalanced",
    "localthresholdms",
    "maxidletimems",
    "maxpoolsize",
    "maxstalenessseconds",
    "minpoolsize",
    "option", /* OPTION=VALUE, of our own sentences */
    "readconcernlevel",
    "readpreference",
    "readpreferencetags",
    "replicaset",
    "retryreads",
    "retrywrites",
    "safe",
    "servermonitoringmode",
    "serverselectiontimeoutms",
    "serverselectiontryonce",
    "slaveok",
    "socketcheckintervalms",
    "sockettimeoutms",
    "srvmaxhosts",
    "srvservicename",
    "ssl",
    "sslallowinvalidcertificates",
    "sslallowinvalidhostnames",
    "sslcertificateauthorityfile",
    "sslclientcertificatekeyfile",
    "timeoutms",
    "tls",
    "tlsallowinvalidcertificates",
    "tlsallowinvalidhostnames",
    "tlscafile",
    "tlscertificatekeyfile",
    "tlsdisablecertificaterevocationcheck",
    "tlsdisableocspendpointcheck",
    "tlsinsecure",
    "w",
    "waitqueuemultiple",
    "waitqueuetimeoutms",
    "wtimeout",
    "wtimeoutms",
    "zlibcompressionlevel",
};

/* And of those whose names alone may be shown: any other word may be a piece of a secret with & or = in it. */
static const char *const secret[] = {"authmechanismproperties", "gssapiservicename",
                                     "sslclientcertificatekeypassword", "tlscertificatekeyfilepassword"};

static bool is_one_of(const char *const *names, size_t count, const char *name, size_t length) {
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == length && strncasecmp(names[i], name, length) == 0)
            return true;
    return false;
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

size_t conceal_shown_of_option(const char *option, size_t length) {
    const char *equals = memchr(option, '=', length);
    const size_t name = equals ? (size_t)(equals - option) : 0;
    if (equals && is_one_of(harmless, sizeof harmless / sizeof *harmless, option, name))
        return is_plain(equals + 1, length - name - 1) ? length : name + 1;
    return equals && is_one_of(secret, sizeof secret / sizeof *secret, option, name) ? name + 1 : 0;
}

/* Behind a ? or & of a MongoDB URI, up to the next & or the word's end, without what closes a quotation or sentence. */
static span_t in_uri_option(const char *option) {
    const char *end = option;
    while ((unsigned char)*end > ' ' && *end != '&')
        end++;
    while (end > option && strchr("'\");,.:", end[-1]))
        end--;
    const char *from = option + conceal_shown_of_option(option, (size_t)(end - option));
    return end > from ? (span_t){from, end} : NONE;
}

/* ---- in a text ---- */

/* Where a text was looked through up to. */
typedef struct {
    const char *at;
    bool in_uri; /* in the word behind mongodb:// */
} place_t;

/* "mongodb:/", "mongodb+srv:/", and what somebody may have made of it. */
static bool is_mongo(const char *text, const char *colon) {
    enum { LONGEST = sizeof "mongodb+srv" };
    const char *word = colon;
    if (colon[0] != ':' || colon[1] != '/')
        return false;
    while (word > text && colon - word < LONGEST && (isalpha((unsigned char)word[-1]) || word[-1] == '+'))
        word--;
    for (; word < colon; word++)
        if (strncasecmp(word, "mongo", 5) == 0)
            return true;
    return false;
}

static span_t secret_at(const char *text, const char *at, bool in_uri_word) {
    static const char *const options[] = {"password=", "authMechanismProperties=", "--password "};
    if (at[0] == '/' && at[1] == '/')
        return in_uri(at + 2, at > text && at[-1] == ':');
    if (in_uri_word && strchr("?&;", *at))
        return in_uri_option(at + 1);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strncasecmp(at, options[i], strlen(options[i])) == 0)
            return in_option(at + strlen(options[i]));
    return NONE;
}

/* Is it, where each character is asked for in turn? */
static bool is_in_uri(const char *text, place_t *place) {
    place->in_uri = (unsigned char)*place->at > ' ' && (place->in_uri || is_mongo(text, place->at));
    return place->in_uri;
}

/* The next secret from there on. */
static span_t find(const char *text, place_t *place) {
    for (; *place->at; place->at++) {
        const char *at = place->at;
        const bool in_uri_word = is_in_uri(text, place);
        if (!strchr("/pPaA-?&;", *at))
            continue;
        const span_t span = secret_at(text, at, in_uri_word);
        if (span.from && !(span.to - span.from == 3 && begins(span.from, STARS)))
            return span;
    }
    return NONE;
}

static bool has_secret_option(const char *text) {
    place_t place = {.at = text};
    for (; *place.at; place.at++)
        if (is_in_uri(text, &place) && strchr("?&;", *place.at) && in_uri_option(place.at + 1).from)
            return true;
    return false;
}

bool conceal_finds(const char *text) {
    bool is_login;
    for (const char *at = text; (at = strstr(at, "//")); at += 2)
        if (in_login(at + 2, &is_login).from)
            return true;
    return has_secret_option(text);
}

/* Allocates nothing: sentences that say "out of memory" go through here, too. */
char *conceal(char *text, size_t room) {
    place_t place = {.at = text};
    for (span_t span; (span = find(text, &place)).from;) {
        char *at = text + (span.from - text);
        const size_t left = room - 1 - (size_t)(at - text), rest = strlen(span.to),
                     stars = left < sizeof STARS - 1 ? left : sizeof STARS - 1,
                     kept = rest < left - stars ? rest : left - stars;
        memmove(at + stars, span.to, kept);
        memcpy(at, STARS, stars);
        at[stars + kept] = '\0';
        place.at = at + stars;
    }
    return text;
}
