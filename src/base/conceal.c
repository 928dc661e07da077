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

/* ":27017", whatever follows that is no letter; and what our own sentences say in its place. */
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

/* USER:PASSWORD@, up to the last @ of the word, since an earlier one may be the password's own. *is_login: there is
 * a user at all. */
static span_t in_login(const char *after, bool *is_login) {
    const char *end = end_of_word(after), *at = memrchr(after, '@', (size_t)(end - after));
    const char *colon = at ? memchr(after, ':', (size_t)(at - after)) : NULL;
    *is_login = at;
    return colon && colon + 1 < at && !begins(colon, ":PASSWORD@") ? (span_t){colon + 1, at} : NONE;
}

/* Behind "//". Without an @ it may have been cut off, or the password has blanks. */
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

/* Behind "password=" and its like. What ends a value does not end it in the password of a URI. */
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

static span_t password_at(const char *text, const char *at) {
    static const char *const options[] = {"password=", "authMechanismProperties=", "--password "};
    if (at[0] == '/' && at[1] == '/')
        return in_uri(at + 2, at > text && at[-1] == ':');
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (strncasecmp(at, options[i], strlen(options[i])) == 0)
            return in_option(at + strlen(options[i]));
    return NONE;
}

/* The next password from here on. */
static span_t find(const char *text, const char *from) {
    for (const char *at = from; (at = strpbrk(at, "/pPaA-")); at++) {
        const span_t span = password_at(text, at);
        if (span.from && !(span.to - span.from == 3 && begins(span.from, STARS)))
            return span;
    }
    return NONE;
}

bool conceal_finds(const char *text) {
    bool is_login;
    for (const char *at = text; (at = strstr(at, "//")); at += 2)
        if (in_login(at + 2, &is_login).from)
            return true;
    return false;
}

/* No memory is asked for: sentences about memory that is out go through here, too. */
char *conceal(char *text, size_t room) {
    char *from = text;
    for (span_t span; (span = find(text, from)).from;) {
        char *at = text + (span.from - text);
        const size_t left = room - 1 - (size_t)(at - text), rest = strlen(span.to),
                     stars = left < sizeof STARS - 1 ? left : sizeof STARS - 1,
                     kept = rest < left - stars ? rest : left - stars;
        memmove(at + stars, span.to, kept);
        memcpy(at, STARS, stars);
        at[stars + kept] = '\0';
        from = at + stars;
    }
    return text;
}
