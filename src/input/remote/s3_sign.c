/* Signatures of version 4 (AWS4-HMAC-SHA256), by libcrypto. */
#include "format/values/values.h"
#include "input/remote/s3.h"
#include "input/remote/transport.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DIGEST = 32, HEX = 2 * DIGEST + 1 };

/* The SHA-256 of an empty body. */
static const char of_nothing[] = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

void s3_encode(text_t *to, const char *text, bool keep_slashes) {
    for (; *text; text++) {
        const bool is_letter = (*text >= 'a' && *text <= 'z') || (*text >= 'A' && *text <= 'Z'),
                   is_digit = *text >= '0' && *text <= '9', is_kept = keep_slashes && *text == '/';
        if (is_letter || is_digit || is_kept || strchr("-._~", *text))
            text_append_bytes(to, text, 1);
        else
            text_print(to, "%%%02X", (unsigned char)*text);
    }
}

/* The host as the client sends it: without the usual port. */
static void copy_host(const char *url, char *host, size_t room) {
    const char *usual = strncmp(url, "https", 5) == 0 ? ":443" : ":80";
    url = strstr(url, "://") + 3;
    snprintf(host, room, "%.*s", (int)strcspn(url, "/?"), url);
    char *port = strrchr(host, ':');
    if (port && strcmp(port, usual) == 0)
        *port = '\0';
}

bool s3_sign(remote_request_t *request, const char *region, const char *service, time_t now,
             const s3_key_t *key, err_t *err) {
    char host[600], day[9], second[17], scope[128], names[80] = "", hex[HEX] = "", to_sign[256];
    char secret[sizeof key->secret + sizeof "AWS4"];
    uint8_t digest[DIGEST] = {0};
    struct tm parts;
    text_t whole = {0};
    const char *path = strchr(strstr(request->url.bytes, "://") + 3, '/'), *query = strchrnul(path, '?');
    copy_host(request->url.bytes, host, sizeof host);
    strftime(day, sizeof day, "%Y%m%d", gmtime_r(&now, &parts));
    strftime(second, sizeof second, "%Y%m%dT%H%M%SZ", &parts);
    snprintf(scope, sizeof scope, "%s/%s/%s/aws4_request", day, region, service);
    const struct {
        const char *name, *value; /* "": it is not sent */
    } signed_headers[] = {{"host", host},
                          /* S3 wants to know that there is no body */
                          {"x-amz-content-sha256", strcmp(service, "s3") == 0 ? of_nothing : ""},
                          {"x-amz-date", second},
                          {"x-amz-security-token", key->token}};
    text_grow(&whole, sizeof key->token); /* now, since what grows later leaves a copy of the token */
    text_print(&whole, "%s\n%.*s\n%s\n", request->method ? request->method : "GET", (int)(query - path), path,
               *query ? query + 1 : "");
    for (size_t i = 0; i < COUNT(signed_headers); i++) {
        const char *name = signed_headers[i].name, *value = signed_headers[i].value;
        if (!*value)
            continue;
        sprintf(strchr(names, '\0'), "%s%s", i ? ";" : "", name);
        text_print(&whole, "%s:%s\n", name, value);
        if (i) /* the client sends the host */
            text_print(&request->headers, "%s: %s\n", name, value);
    }
    text_print(&whole, "\n%s\n%s", names, of_nothing);
    bool ok = EVP_Digest(whole.bytes, whole.length, digest, NULL, EVP_sha256(), NULL) == 1;
    text_miss(&request->headers, &whole);
    secret_free_text(&whole);
    hex_print(digest, DIGEST, (uint8_t *)hex);
    snprintf(to_sign, sizeof to_sign, "AWS4-HMAC-SHA256\n%s\n%s\n%s", second, scope, hex);
    /* each digest is the key of the next one */
    const char *const steps[] = {day, region, service, "aws4_request", to_sign};
    size_t length = (size_t)snprintf(secret, sizeof secret, "AWS4%s", key->secret);
    for (size_t i = 0; ok && i < COUNT(steps); i++) {
        ok = HMAC(EVP_sha256(), secret, (int)length, (const uint8_t *)steps[i], strlen(steps[i]), digest,
                  NULL);
        memcpy(secret, digest, length = DIGEST);
    }
    hex_print(digest, DIGEST, (uint8_t *)hex);
    explicit_bzero(secret, sizeof secret);
    text_print(&request->headers,
               "authorization: AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s\n", key->id,
               scope, names, hex);
    return ok ||
           err_set(err, STATUS_HOST,
                   "libcrypto has no SHA-256 on this host, without which no request to S3 can be signed");
}
