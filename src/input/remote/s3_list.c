/* Lists of objects, page by page, and the little of XML and JSON that S3 and its neighbours answer in. */
#include "base/chars.h"
#include "format/values/values.h"
#include "input/remote/remote.h"
#include "input/remote/s3.h"

#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- XML and JSON ---- */

/* The place after <NAME>; NULL: there is none. */
static const char *find_element(const char *xml, const char *name) {
    const size_t length = strlen(name);
    for (const char *at = xml; at && (at = strchr(at, '<')); at++)
        if (strncmp(at + 1, name, length) == 0 && at[1 + length] && strchr("> \t\r\n", at[1 + length])) {
            at = strchr(at, '>');
            return at ? at + 1 : NULL;
        }
    return NULL;
}

/* The place of the text of a name in JSON; NULL: there is none. */
static const char *find_member(const char *json, const char *name) {
    char quoted[32];
    const size_t length = (size_t)snprintf(quoted, sizeof quoted, "\"%s\"", name);
    for (const char *at = json; (at = strstr(at, quoted));) {
        at += length + strspn(at + length, " \t\r\n");
        if (*at == ':' && *(at += 1 + strspn(at + 1, " \t\r\n")) == '"')
            return at + 1;
    }
    return NULL;
}

/* Writes the character that an entity of XML at *at means, or one after a backslash of JSON, and moves on. */
static size_t put_character(const char **at, bool is_xml, uint8_t out[4]) {
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&apos;"};
    static const char characters[] = "&<>\"'";
    for (size_t i = 0; is_xml && i < COUNT(names); i++)
        if (strncmp(*at, names[i], strlen(names[i])) == 0) {
            *at += strlen(names[i]);
            *out = (uint8_t)characters[i];
            return 1;
        }
    *at += !is_xml && **at == '\\' && (*at)[1];
    const bool is_hex = strncmp(*at, "&#x", 3) == 0;
    char *after = NULL;
    const unsigned long number =
        is_xml && strncmp(*at, "&#", 2) == 0 ? strtoul(*at + 2 + is_hex, &after, is_hex ? 16 : 10) : 0;
    if (number && number < 0x110000 && *after == ';') {
        *at = after + 1;
        return utf8_put(out, (uint32_t)number);
    }
    *out = (uint8_t) * *at;
    ++*at;
    return 1;
}

bool s3_element(const char *body, const char *name, char *out, size_t room) {
    body = body ? body : "";
    const bool is_xml = body[strspn(body, " \t\r\n")] == '<';
    const char *at = is_xml ? find_element(body, name) : find_member(body, name), end = is_xml ? '<' : '"';
    size_t size = 0, length;
    for (; at && *at && *at != end; size += length) {
        uint8_t character[4];
        length = put_character(&at, is_xml, character);
        if (size + length >= room)
            break;
        memcpy(out + size, character, length);
    }
    out[at && *at ? size : 0] = '\0';
    return at && *at;
}

/* ---- lists ---- */

enum { KEY_ROOM = 4096, MOST_OBJECTS = 1000000, MOST_PAGE = 64 << 20 };

typedef struct {
    const char *shown, *bucket_url; /* s3://BUCKET */
    const char *pattern;            /* the key of the URL; NULL: all with the prefix */
    text_t prefix;
    size_t count; /* keys that do not match included */
    remote_urls_t *found;
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
        uint8_t byte = *at == '+' ? ' ' : (uint8_t)*at;
        if (*at == '%' && at[1] && at[2] && hex_read_byte((const uint8_t *)at + 1, 2, &byte))
            at += 2;
        *to++ = (char)byte;
    }
    *to = '\0';
}

static bool take_page(list_t *list, const char *xml, err_t *err) {
    char encoding[16], key[KEY_ROOM];
    const bool encoded = s3_element(xml, "EncodingType", encoding, sizeof encoding);
    while ((xml = find_element(xml, "Contents"))) {
        s3_element(xml, "Key", key, sizeof key);
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
        text_t url = {0};
        text_print(&url, "%s/%s", list->bucket_url, key);
        remote_urls_t *found = list->found;
        if (!GROW(found->urls, found->room, found->count + 1, err) ||
            !(found->urls[found->count] = text_take(&url, err)))
            return false;
        found->count++;
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
            const char *xml = answer.body.bytes ? answer.body.bytes : "";
            memcpy(last, token, sizeof last);
            s3_element(xml, "IsTruncated", truncated, sizeof truncated);
            s3_element(xml, "NextContinuationToken", token, sizeof token);
            const bool more = strcmp(truncated, "true") == 0;
            if (!more)
                *token = '\0';
            if (!strstr(xml, "</ListBucketResult>") || (more && (!*token || strcmp(token, last) == 0)))
                ok = err_set(err, STATUS_INPUT,
                             "%s: what answered is no list of S3; check AWS_ENDPOINT_URL_S3", list->shown);
            ok = ok && take_page(list, xml, err);
        }
        transport_free_answer(&answer);
        free(query);
        if (!ok)
            return false;
    } while (*token);
    return true;
}

bool remote_list(const char *url, int64_t patience_ns, remote_urls_t *found, err_t *err) {
    const char *name = url + strlen("s3://"), *key = name + strcspn(name, "/");
    char *bucket_url = strndup(url, (size_t)(key - url));
    key += *key == '/';
    const size_t special = strcspn(key, "*?[\\");
    list_t list = {.shown = url, .bucket_url = bucket_url, .found = found};
    list.pattern = key[special] ? key : NULL;
    text_append_bytes(&list.prefix, key, special);
    bool ok = (bucket_url && !list.prefix.lacking) || err_memory(err, strlen(url));
    ok = ok && list_pages(&list, patience_ns, err);
    if (ok && !found->count)
        ok = err_set(err, STATUS_INPUT,
                     "%s: there is no object of this name; check the prefix and the name (* and ? match "
                     "no /, and a prefix that ends with / has everything below it)",
                     url);
    if (!ok)
        s3_forget();
    text_free(&list.prefix);
    free(bucket_url);
    return ok;
}

void remote_free_urls(remote_urls_t *found) {
    for (size_t i = 0; i < found->count; i++)
        free(found->urls[i]);
    free(found->urls);
}
