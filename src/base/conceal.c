#include "base/conceal.h"

#include <ctype.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define STARS "***"
enum { STAR_COUNT = sizeof STARS - 1 };

/* Characters that may close a quotation or end a sentence after a URI. */
static const char closers[] = "'`\";,.)";

/* ---- by value ---- */

typedef struct known {
    struct known *next;
    size_t length;
    char text[];
} known_t;

/* Both lists grow at their beginning only, so they can be read without a lock. */
static _Atomic(known_t *) secrets, shown_options;

static bool remember(_Atomic(known_t *) *list, const char *text, size_t length) {
    for (const known_t *known = *list; known; known = known->next)
        if (known->length == length && memcmp(known->text, text, length) == 0)
            return true;
    known_t *known = malloc(sizeof *known + length + 1);
    if (!known)
        return false;
    memcpy(known->text, text, length);
    known->text[length] = '\0';
    known->length = length;
    known->next = *list;
    while (!atomic_compare_exchange_weak(list, &known->next, known))
        ;
    return true;
}

bool conceal_remember(const char *secret, size_t length) {
    return remember(&secrets, secret, length);
}

bool conceal_show_options(const char *options) {
    return remember(&shown_options, options, strlen(options));
}

/* The end of these options if they are among shown_options; NULL: they may hold a secret. */
static const char *end_of_shown(const char *options, const char *end) {
    for (const known_t *known = shown_options; known; known = known->next)
        if (known->length <= (size_t)(end - options) && memcmp(options, known->text, known->length) == 0 &&
            options + known->length + strspn(options + known->length, closers) >= end)
            return end;
    return NULL;
}

/* ---- by shape ---- */

/* A walk over a text, word by word, which hides secrets or only searches for them. */
typedef struct {
    char *to;           /* the text without its secrets grows here; NULL: secrets are only searched for */
    const char *copied; /* the text before this place was copied to `to` */
    bool surely; /* words that may also be harmless, such as "password=5" or "http://h:abc", do not count */
    bool found;
} walk_t;

static void hide(walk_t *walk, const char *from, const char *to) {
    if (from >= to || (to - from == STAR_COUNT && memcmp(from, STARS, STAR_COUNT) == 0))
        return;
    walk->found = true;
    if (!walk->to)
        return;
    memmove(walk->to, walk->copied, (size_t)(from - walk->copied));
    walk->to += from - walk->copied;
    walk->copied = to;
    for (int i = 0; i < STAR_COUNT && walk->to < to; i++)
        *walk->to++ = '*';
}

static const char *end_of_word(const char *at) {
    while ((unsigned char)*at > ' ')
        at++;
    return at;
}

static void hide_to_the_end(walk_t *walk, const char *from, const char *end) {
    while (end > from && strchr(closers, end[-1]))
        end--;
    hide(walk, from, end);
}

/* "mongodb:", "mongodb+srv:", and what a typing mistake may have made of it. */
static bool is_mongo(const char *word, const char *colon) {
    enum { LONGEST = sizeof "mongodb+srv" };
    for (const char *at = colon; at > word && colon - at < LONGEST; at--) {
        if (!isalpha((unsigned char)at[-1]) && at[-1] != '+')
            return false;
        if (strncasecmp(at - 1, "mongo", 5) == 0)
            return true;
    }
    return false;
}

/* The length of a name whose value is a secret, with its =; 0: the word is no such name. */
static size_t secret_name(const char *at) {
    static const char *const names[] = {"password=", "authMechanismProperties="};
    for (int i = 0; i < 2; i++)
        if (strncasecmp(at, names[i], strlen(names[i])) == 0)
            return strlen(names[i]);
    return 0;
}

typedef enum { NO_PORT, PORT_OR_PASSWORD, PORT } port_t;

/* ":27017" is one if a URI goes on after it; where a word or a sentence ends after it, it may be the beginning of a
 * password with blanks. ":PORT" is what our own sentences print in its place. */
static port_t port_at(const char *colon) {
    const char *after = colon + 1 + strspn(colon + 1, "0123456789");
    if (strncmp(colon, ":PORT", 5) == 0)
        return PORT;
    if (after == colon + 1 || after > colon + 6 || isalnum((unsigned char)*after))
        return NO_PORT;
    return *after == '/' || *after == '?' || (*after == ',' && (unsigned char)after[1] > ' ')
               ? PORT
               : PORT_OR_PASSWORD;
}

/* The first colon of the hosts, outside of an address in brackets; NULL: none before `end`. */
static const char *host_colon(const char *hosts, const char *end) {
    const char *hosts_end = hosts + strcspn(hosts, "/? \t\n");
    end = hosts_end < end ? hosts_end : end;
    if (hosts < end && *hosts == '[' && memchr(hosts, ']', (size_t)(end - hosts)))
        hosts = memchr(hosts, ']', (size_t)(end - hosts));
    return hosts < end ? memchr(hosts, ':', (size_t)(end - hosts)) : NULL;
}

/* line_login: the last @ of the line, or NULL. Returns the end of the word; of a later one, if a password with blanks
 * ends there. */
static const char *hide_in_word(walk_t *walk, const char *word, const char *line_login) {
    const char *end = end_of_word(word), *login = memrchr(word, '@', (size_t)(end - word));
    const char *bare = login ? memchr(word, ':', (size_t)(login - word)) : NULL;
    bool in_uri = false;
    /* USER:PASSWORD@HOST/DATABASE, to which the scheme is missing */
    const bool is_bare = bare && !walk->surely && bare[1] != '/' && !is_mongo(word, bare) &&
                         !memchr(word, '/', (size_t)(bare - word)) &&
                         memchr(login, '/', (size_t)(end - login));
    if (is_bare)
        hide(walk, bare + 1, login);
    for (const char *at = is_bare ? login : word; at < end; at++) {
        const size_t name = walk->surely ? 0 : secret_name(at);
        if (name) {
            hide_to_the_end(walk, at + name, end);
            return end;
        }
        if (in_uri && strchr("?&;", *at)) {
            if (!end_of_shown(at + 1, end))
                hide_to_the_end(walk, at + 1, end);
            return end;
        }
        const bool slashes = at[0] == '/' && at[1] == '/', scheme = slashes && at > word && at[-1] == ':',
                   mongo = (scheme && is_mongo(word, at - 1)) || (*at == ':' && is_mongo(word, at));
        if (!slashes && !mongo)
            continue;
        in_uri |= mongo && (scheme || at[1] == '/');
        const char *after = slashes ? at + 2 : at + 1 + strspn(at + 1, "/");
        if (login && login >= after) {
            /* up to the last @ of the word: an earlier one may be a part of the password */
            const char *colon = memchr(after, ':', (size_t)(login - after));
            if (!colon) {
                login = NULL;
                continue;
            }
            if (strncmp(colon, ":PASSWORD@", 10) != 0)
                hide(walk, colon + 1, login);
            at = login;
            continue;
        }
        const char *colon = scheme ? host_colon(after, end) : NULL;
        const port_t port = colon ? port_at(colon) : PORT;
        if (port == PORT)
            continue;
        /* the password may have blanks: it ends before a later @ of the line */
        if (line_login && line_login > end) {
            at = memchr(end, '@', (size_t)(line_login - end) + 1);
            end = end_of_word(at);
            at = login = memrchr(at, '@', (size_t)(end - at));
            hide(walk, colon + 1, at);
        } else if (port == NO_PORT && (mongo || !walk->surely)) { /* the end may have been cut off */
            hide_to_the_end(walk, colon + 1, end);
            return end;
        }
    }
    return end;
}

static bool walk_through(walk_t *walk, const char *text) {
    static const char option[] = "--password";
    const char *line_end = text, *line_login = NULL;
    bool is_value = false;
    for (const char *at = text; *at;) {
        if ((unsigned char)*at <= ' ') {
            at++;
            continue;
        }
        if (at >= line_end) {
            line_end = strchrnul(at, '\n');
            line_login = memrchr(at, '@', (size_t)(line_end - at));
        }
        if (is_value)
            hide_to_the_end(walk, at, end_of_word(at));
        at = is_value ? end_of_word(at) : hide_in_word(walk, at, line_login);
        is_value = !walk->surely && at - text >= (long)sizeof option - 1 &&
                   strncasecmp(at - (sizeof option - 1), option, sizeof option - 1) == 0;
    }
    return walk->found;
}

bool conceal_finds(const char *text) {
    walk_t walk = {.surely = true};
    return walk_through(&walk, text);
}

/* Of a text whose end was cut off, nothing after USER: of its last URI is shown. */
static void hide_cut(char *text) {
    const char *login = strrchr(text, '@'), *uri = strstr(login ? login : text, "://");
    const char *colon = uri ? host_colon(uri + 3, uri + strlen(uri)) : NULL;
    if (colon)
        strcpy(text + (colon + 1 - text), strlen(colon + 1) < STAR_COUNT ? "" : STARS);
}

/* Allocates nothing: sentences that say "out of memory" go through here, too. The text is moved to the end of its room,
 * and comes back from there without its secrets. */
char *conceal(char *text, size_t room) {
    walk_t walk = {.to = NULL};
    if (strlen(text) == room - 1)
        hide_cut(text);
    if (!walk_through(&walk, text))
        return text;
    const size_t length = strlen(text);
    const char *from = memmove(text + room - 1 - length, text, length + 1);
    walk = (walk_t){.to = text, .copied = from};
    walk_through(&walk, from);
    memmove(walk.to, walk.copied, strlen(walk.copied) + 1);
    return text;
}

void conceal_known(char *text) {
    enum { LEAST = 3, DRIVER_ROOM = 504 }; /* what is longer, the driver cuts off */
    if (strlen(text) + 1 == DRIVER_ROOM)
        hide_cut(text);
    for (const known_t *secret = secrets; secret; secret = secret->next)
        for (char *at = text; secret->length >= LEAST && (at = strstr(at, secret->text));) {
            const char *rest = at + secret->length;
            memcpy(at, STARS, STAR_COUNT);
            at += STAR_COUNT;
            memmove(at, rest, strlen(rest) + 1);
        }
}
