/* Lists of objects, page by page, and the little of XML that S3 answers in. */
#include "base/chars.h"
#include "input/remote/remote.h"
#include "input/remote/s3.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- XML ---- */

const char *s3_find_element(const char *xml, const char *end, const char *name, const char **from,
                            const char **to) {
    char closes[64];
    const size_t length = strlen(name);
    const int closing = snprintf(closes, sizeof closes, "</%s>", name);
    for (const char *at = xml; (at = memchr(at, '<', (size_t)(end - at))); at++) {
        const char *after = at + 1 + length;
        if (after >= end || memcmp(at + 1, name, length) != 0 || !strchr("> \t\r\n", *after))
            continue;
        const char *opened = memchr(after, '>', (size_t)(end - after));
        *from = opened ? opened + 1 : end;
        *to = memmem(*from, (size_t)(end - *from), closes, (size_t)closing);
        return *to ? *to + closing : NULL;
    }
    return NULL;
}

/* Writes the character of an entity at *at, a &, and moves behind it. What is no entity stays. */
static size_t put_entity(const char **at, const char *end, uint8_t out[4]) {
    static const struct {
        const char *name;
        char character;
    } rows[] = {{"&amp;", '&'}, {"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}};
    const size_t left = (size_t)(end - *at);
    for (size_t i = 0; i < COUNT(rows); i++)
        if (left >= strlen(rows[i].name) && memcmp(*at, rows[i].name, strlen(rows[i].name)) == 0) {
            *at += strlen(rows[i].name);
            *out = (uint8_t)rows[i].character;
            return 1;
        }
    const bool is_hex = left > 3 && (*at)[1] == '#' && (*at)[2] == 'x';
    char *after = NULL;
    const unsigned long number =
        left > 3 && (*at)[1] == '#' ? strtoul(*at + 2 + is_hex, &after, is_hex ? 16 : 10) : 0;
    if (after && after < end && *after == ';' && number && number < 0x110000) {
        *at = after + 1;
        return utf8_put(out, (uint32_t)number);
    }
    *out = '&';
    ++*at;
    return 1;
}

bool s3_element(const char *xml, const char *end, const char *name, char *out, size_t room) {
    const char *at, *to;
    size_t size = 0;
    *out = '\0';
    if (!s3_find_element(xml, end, name, &at, &to))
        return false;
    while (at < to && size + 4 < room) {
        uint8_t character[4] = {(uint8_t)*at};
        size_t length = 1;
        if (*at == '&')
            length = put_entity(&at, to, character);
        else
            at++;
        memcpy(out + size, character, length);
        size += length;
    }
    out[size] = '\0';
    return true;
}

/* ---- lists ---- */

enum { KEY_ROOM = 4096, MOST_OBJECTS = 1000000, MOST_PAGE = 64 << 20 };

typedef struct {
    const char *shown, *bucket_url; /* s3://BUCKET */
    const char *pattern;            /* the key of the URL; NULL: all with the prefix */
    text_t prefix;
    remote_visit_t *visit;
    void *context;
    size_t count, matching;
} list_t;

bool remote_is_several(const char *url) {
    if (url_scheme(url) != &remote_s3)
        return false;
    const char *name = url + strlen("s3://"), *key = strchr(name, '/');
    return !key || !key[1] || key[strlen(key) - 1] == '/' || strpbrk(key, "*?[");
}

/* As forms are encoded. */
static void decode(char *text) {
    char *to = text;
    for (const char *at = text; *at; at++) {
        char digits[3] = {0};
        if (*at == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2])) {
            memcpy(digits, at + 1, 2);
            *to++ = (char)strtoul(digits, NULL, 16);
            at += 2;
        } else
            *to++ = *at == '+' ? ' ' : *at;
    }
    *to = '\0';
}

static bool take_page(list_t *list, const char *xml, const char *end, err_t *err) {
    char encoding[16], key[KEY_ROOM];
    const char *from, *to;
    const bool encoded = s3_element(xml, end, "EncodingType", encoding, sizeof encoding);
    while ((xml = s3_find_element(xml, end, "Contents", &from, &to))) {
        s3_element(from, to, "Key", key, sizeof key);
        if (encoded)
            decode(key);
        if (++list->count > MOST_OBJECTS)
            return err_set(
                err, STATUS_INPUT,
                "%s: there are more than %d objects; name a longer prefix, several times if need be",
                list->shown, MOST_OBJECTS);
        if (!*key || key[strlen(key) - 1] == '/' ||
            (list->pattern && fnmatch(list->pattern, key, FNM_PATHNAME | FNM_PERIOD) != 0))
            continue;
        list->matching++;
        text_t url = {0};
        text_print(&url, "%s/%s", list->bucket_url, key);
        char *whole = text_take(&url, err);
        const bool ok = whole && list->visit(list->context, whole, err);
        free(whole);
        if (!ok)
            return false;
    }
    return true;
}

/* The query of the next page: its parts are in the order in which they are signed. */
static char *query_of(const list_t *list, const char *token, err_t *err) {
    text_t query = {0};
    const char *rest = list->pattern ? list->pattern + list->prefix.length : NULL;
    if (*token) {
        text_append(&query, "continuation-token=");
        s3_encode(&query, token, false);
        text_append(&query, "&");
    }
    if (rest && !strchr(rest, '/')) /* what is further below cannot match */
        text_append(&query, "delimiter=%2F&");
    text_append(&query, "encoding-type=url&list-type=2&prefix=");
    s3_encode(&query, list->prefix.bytes, false);
    return text_take(&query, err);
}

static bool list_pages(list_t *list, int64_t patience_ns, err_t *err) {
    char token[2048] = "", last[sizeof token] = "", truncated[8];
    do {
        remote_answer_t answer = {.status = 0};
        char *query = query_of(list, token, err);
        const remote_place_t place = {
            .scheme = &remote_s3, .url = list->bucket_url, .shown = list->shown, .query = query};
        bool ok = query && transport_fetch(&place, 0, 0, patience_ns, MOST_PAGE, &answer, err);
        if (ok) {
            const char *xml = answer.body.bytes ? answer.body.bytes : "", *end = xml + answer.body.length;
            memcpy(last, token, sizeof last);
            s3_element(xml, end, "IsTruncated", truncated, sizeof truncated);
            s3_element(xml, end, "NextContinuationToken", token, sizeof token);
            const bool more = strcmp(truncated, "true") == 0;
            if (!more)
                *token = '\0';
            if (!strstr(xml, "<ListBucketResult") || (more && (!*token || strcmp(token, last) == 0)))
                ok = err_set(err, STATUS_INPUT,
                             "%s: what answered is no list of S3; check AWS_ENDPOINT_URL_S3", list->shown);
            ok = ok && take_page(list, xml, end, err);
        }
        transport_free_answer(&answer);
        free(query);
        if (!ok)
            return false;
    } while (*token);
    return true;
}

bool remote_list(const char *url, int64_t patience_ns, remote_visit_t *visit, void *context, err_t *err) {
    const char *name = url + strlen("s3://"), *key = name + strcspn(name, "/");
    char *bucket_url = strndup(url, (size_t)(key - url));
    key += *key == '/';
    const size_t special = strcspn(key, "*?[\\");
    list_t list = {.shown = url, .bucket_url = bucket_url, .visit = visit, .context = context};
    list.pattern = key[special] ? key : NULL;
    text_append_bytes(&list.prefix, key, special);
    bool ok = (bucket_url && !list.prefix.lacking) || err_memory(err, strlen(url));
    ok = ok && list_pages(&list, patience_ns, err);
    if (ok && !list.matching && list.pattern)
        ok = err_set(
            err, STATUS_INPUT,
            "%s: no object matches this pattern; check the prefix and the name (* and ? match no /, and a "
            "prefix that ends with / has everything below it)",
            url);
    else if (ok && !list.matching)
        ok = err_set(err, STATUS_INPUT, "%s: there is no object with this prefix; check its name", url);
    text_free(&list.prefix);
    free(bucket_url);
    return ok;
}
