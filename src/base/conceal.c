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

/* ---- what lies ahead ---- */

/* What was found ahead of `from`: it is the same for each place from there to `to`. */
typedef struct {
    const char *from, *to;
} ahead_t;

/* Where a text was looked through up to. What was found ahead is kept: a text is looked through once, however many
 * URIs it may have. */
typedef struct {
    const char *text, *at; /* nothing stands before text */
    bool in_uri;           /* in the word behind mongodb:// */
    ahead_t word, colon, later, option;
    const char *login,
        *shut;         /* the word's last @, or NULL; its end without what closes a quotation or sentence */
    const char *plain; /* the same end of the option */
} place_t;

static bool is_known(const ahead_t *ahead, const char *at) {
    return ahead->from && ahead->from <= at && at <= ahead->to;
}

/* Up to a blank or a control character. */
static const char *end_of_word(place_t *place, const char *at) {
    if (!is_known(&place->word, at)) {
        const char *end = at;
        while ((unsigned char)*end > ' ')
            end++;
        place->word = (ahead_t){at, end};
        place->login = memrchr(at, '@', (size_t)(end - at));
        while (end > at && strchr("'\";,.)", end[-1]))
            end--;
        place->shut = end;
    }
    return place->word.to;
}

static const char *next_of(ahead_t *ahead, const char *at, const char *wanted) {
    if (!is_known(ahead, at))
        *ahead = (ahead_t){at, at + strcspn(at, wanted)};
    return ahead->to;
}

/* ---- the password of a URI ---- */

typedef enum { NO_PORT, PORT_OR_PASSWORD, PORT } port_t;

/* ":27017" is one if what goes on behind it is a URI; where a word or a sentence ends behind it, it may be the
 * beginning of a password with blanks. ":PORT" is what our own sentences print in its place. */
static port_t port_at(const char *colon) {
    const char *behind = colon + 1 + strspn(colon + 1, "0123456789");
    if (begins(colon, ":PORT"))
        return PORT;
    if (behind == colon + 1 || behind > colon + 6 || isalnum((unsigned char)*behind))
        return NO_PORT;
    return *behind == '/' || *behind == '?' || (*behind == ',' && (unsigned char)behind[1] > ' ')
               ? PORT
               : PORT_OR_PASSWORD;
}

/* The first colon outside of an address in brackets. */
static const char *find_colon(const char *from, const char *to) {
    if (*from == '[' && memchr(from, ']', (size_t)(to - from)))
        from = memchr(from, ']', (size_t)(to - from));
    return memchr(from, ':', (size_t)(to - from));
}

/* The place of USER:PASSWORD@, up to the last @ of the word: an earlier @ may be a part of the password. *is_login:
 * there is a user. */
static span_t in_login(place_t *place, const char *after, bool *is_login) {
    end_of_word(place, after);
    const char *at = place->login, *colon = next_of(&place->colon, after, ":");
    *is_login = at && at >= after;
    return *is_login && colon + 1 < at && !begins(colon, ":PASSWORD@") ? (span_t){colon + 1, at} : NONE;
}

/* `after`: what follows "//". If there is no @ in its word, the end may have been cut off, or the password has blanks:
 * then it ends before a later @ of the line. */
static span_t in_uri(place_t *place, const char *after, bool scheme) {
    bool is_login;
    const span_t login = in_login(place, after, &is_login);
    if (is_login)
        return login;
    const char *end = end_of_word(place, after);
    const char *colon = scheme ? find_colon(after, after + strcspn(after, "/? \t\n")) : NULL;
    const port_t port = colon ? port_at(colon) : PORT;
    if (!colon || colon >= end || port == PORT)
        return NONE;
    const char *later = next_of(&place->later, end, "@\n");
    if (*later == '@')
        return (span_t){colon + 1, later};
    return port == NO_PORT && place->shut > colon + 1 ? (span_t){colon + 1, place->shut} : NONE;
}

/* `value`: what follows "password=" and similar. What usually ends a value does not end it inside the password of a
 * URI. */
static span_t in_option(place_t *place, const char *value) {
    static const char ends[] = "&; \t\r\n'\"";
    const char *end = value + strcspn(value, ends);
    for (const char *at = value; (at = memmem(at, (size_t)(end - at), "//", 2)); at += 2) {
        const span_t login = in_uri(place, at + 2, true);
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
    "autoreconnect",
    "compressors",
    "connect",
    "connecttimeoutms",
    "directconnection",
    "enableutf8validation",
    "fsync",
    "heartbeatfrequencyms",
    "j",
    "journal",
    "keepalive",
    "loadbalanced",
    "localthresholdms",
    "maxconnecting",
    "maxidletimems",
    "maxpoolsize",
    "maxstalenessseconds",
    "minheartbeatfrequencyms",
    "minpoolsize",
    "option", /* OPTION=VALUE, of our own sentences */
    "proxyport",
    "readconcern",
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
    "ssl_ca_certs",
    "ssl_cert_reqs",
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
    "tz_aware",
    "usenewurlparser",
    "useunifiedtopology",
    "uuidrepresentation",
    "w",
    "waitqueuemultiple",
    "waitqueuetimeoutms",
    "wtimeout",
    "wtimeoutms",
    "zlibcompressionlevel",
};

/* And of those whose names alone may be shown: any other word may be a piece of a secret with & or = in it. */
static const char *const secret[] = {"authmechanismproperties",
                                     "autoencryption",
                                     "gssapiservicename",
                                     "proxyhost",
                                     "proxypassword",
                                     "proxyusername",
                                     "sslclientcertificatekeypassword",
                                     "tlscertificatekeyfilepassword"};

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
static span_t in_uri_option(place_t *place, const char *option) {
    if (!is_known(&place->option, option)) {
        const char *end = option;
        while ((unsigned char)*end > ' ' && *end != '&')
            end++;
        place->option = (ahead_t){option, end};
        while (end > option && strchr("'\");,.:", end[-1]))
            end--;
        place->plain = end;
    }
    const char *end = place->plain;
    const char *from = end > option ? option + conceal_shown_of_option(option, (size_t)(end - option)) : end;
    return end > from ? (span_t){from, end} : NONE;
}

/* ---- in a text ---- */

/* "mongodb:", "mongodb+srv:", and what somebody may have made of it. */
static bool is_mongo(const char *text, const char *colon) {
    enum { LONGEST = sizeof "mongodb+srv" };
    const char *word = colon;
    if (colon[0] != ':')
        return false;
    while (word > text && colon - word < LONGEST && (isalpha((unsigned char)word[-1]) || word[-1] == '+'))
        word--;
    for (; word < colon; word++)
        if (strncasecmp(word, "mongo", 5) == 0)
            return true;
    return false;
}

/* What follows the slashes of "mongodb:///" and "mongodb:". */
static const char *after_slashes(const char *colon) {
    return colon + 1 + strspn(colon + 1, "/");
}

/* A value that only its name makes a secret. */
static span_t in_named(place_t *place) {
    static const char *const options[] = {"password=", "authMechanismProperties=", "--password "};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strncasecmp(place->at, options[i], strlen(options[i])) == 0)
            return in_option(place, place->at + strlen(options[i]));
    return NONE;
}

/* surely: not what is hidden in case it is a secret, and may as well be a name: "password=5", "http://h:abc". */
static span_t secret_at(place_t *place, bool in_uri_word, bool surely) {
    const char *at = place->at;
    bool is_login;
    if (at[0] == '/' && at[1] == '/') {
        const bool scheme = at > place->text && at[-1] == ':';
        const span_t span = in_uri(place, at + 2, scheme);
        return !surely || (span.from && *span.to == '@') || (scheme && is_mongo(place->text, at - 1)) ? span
                                                                                                      : NONE;
    }
    if (is_mongo(place->text, at))
        return in_login(place, after_slashes(at), &is_login);
    if (in_uri_word && strchr("?&;", *at))
        return in_uri_option(place, at + 1);
    return surely ? NONE : in_named(place);
}

/* Is it, where each character is asked for in turn? */
static bool is_in_uri(place_t *place) {
    place->in_uri = (unsigned char)*place->at > ' ' &&
                    (place->in_uri || (place->at[1] == '/' && is_mongo(place->text, place->at)));
    return place->in_uri;
}

/* The next secret from there on. */
static span_t find(place_t *place, bool surely) {
    for (; *place->at; place->at++) {
        const bool in_uri_word = is_in_uri(place);
        if (!strchr("/:pPaA-?&;", *place->at))
            continue;
        const span_t span = secret_at(place, in_uri_word, surely);
        if (span.from && !(span.to - span.from == 3 && begins(span.from, STARS)))
            return span;
    }
    return NONE;
}

bool conceal_finds(const char *text) {
    place_t place = {.text = text, .at = text};
    return find(&place, true).from;
}

/* Makes room for the stars at `to`: what is still to be read, behind the secret, moves on. `end`: of the room. */
static void make_room(place_t *place, char *to, const char *end) {
    char *rest = to + (place->at - to);
    const size_t left = (size_t)(end - to),
                 behind = left < sizeof STARS - 1 ? left : sizeof STARS - 1; /* where the rest begins then */
    memmove(to + behind, rest, left - behind);
    *place = (place_t){.text = to + behind, .at = to + behind, .in_uri = place->in_uri};
}

void conceal_cut_off(char *text) {
    const char *login = strrchr(text, '@'), *uri = strstr(login ? login : text, "://");
    const char *user = uri ? uri + 3 : NULL,
               *colon = uri ? find_colon(user, user + strcspn(user, "/? \t\n")) : NULL;
    if (colon)
        strcpy(text + (colon + 1 - text), strlen(colon + 1) < sizeof STARS - 1 ? "" : STARS);
}

/* Allocates nothing: sentences that say "out of memory" go through here, too. The text is moved to the end of its room,
 * and comes back from there without its secrets. */
char *conceal(char *text, size_t room) {
    place_t place = {.text = text, .at = text};
    char *end = text + room - 1, *to = text;
    if (strlen(text) == room - 1)
        conceal_cut_off(text);
    if (!find(&place, false).from)
        return text;
    const size_t length = strlen(text);
    const char *from = memmove(end - length, text, length + 1);
    place = (place_t){.text = from, .at = from};
    for (span_t span; (span = find(&place, false)).from; from = place.at) {
        const size_t before = (size_t)(span.from - from);
        memmove(to, from, before);
        to += before;
        place.text = place.at = span.to;
        if ((size_t)(span.to - to) < sizeof STARS - 1)
            make_room(&place, to, end);
        for (const char *star = STARS; *star && to < place.at;)
            *to++ = *star++;
    }
    memmove(to, from, strlen(from) + 1);
    return text;
}
