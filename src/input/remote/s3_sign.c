/* Signatures of version 4 (AWS4-HMAC-SHA256), by libcrypto. */
#include "input/remote/s3.h"
#include "input/remote/transport.h"

#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { DIGEST = 32 };

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

static void print_hex(char out[2 * DIGEST + 1], const uint8_t digest[DIGEST]) {
    for (size_t i = 0; i < DIGEST; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

bool s3_sign(const s3_signable_t *what, const s3_key_t *key, text_t *to, err_t *err) {
    char names[128] = "", day[9], scope[128], hex[2 * DIGEST + 1], to_sign[256];
    char secret[sizeof key->secret + sizeof "AWS4"];
    uint8_t digest[DIGEST];
    text_t request = {0};
    text_grow(&request, sizeof key->token); /* now, since what grows later leaves a copy of the token */
    text_print(&request, "%s\n%s\n%s\n", what->method, what->path, what->query);
    for (size_t i = 0; i < what->header_count; i++) {
        const size_t length = strlen(names);
        snprintf(names + length, sizeof names - length, "%s%s", i ? ";" : "", what->headers[i][0]);
        text_print(&request, "%s:%s\n", what->headers[i][0], what->headers[i][1]);
    }
    text_print(&request, "\n%s\n%s", names, what->payload);
    bool ok = EVP_Digest(request.bytes, request.length, digest, NULL, EVP_sha256(), NULL) == 1;
    text_miss(to, &request);
    secret_free_text(&request);
    print_hex(hex, digest);
    snprintf(day, sizeof day, "%.8s", what->time);
    snprintf(scope, sizeof scope, "%s/%s/%s/aws4_request", day, what->region, what->service);
    snprintf(to_sign, sizeof to_sign, "AWS4-HMAC-SHA256\n%s\n%s\n%s", what->time, scope, hex);
    /* each digest is the key of the next one */
    const char *const steps[] = {day, what->region, what->service, "aws4_request", to_sign};
    size_t length = (size_t)snprintf(secret, sizeof secret, "AWS4%s", key->secret);
    for (size_t i = 0; ok && i < COUNT(steps); i++) {
        const uint8_t *step = (const uint8_t *)steps[i];
        ok = HMAC(EVP_sha256(), secret, (int)length, step, strlen(steps[i]), digest, NULL);
        memcpy(secret, digest, length = DIGEST);
    }
    print_hex(hex, digest);
    explicit_bzero(secret, sizeof secret);
    text_print(to, "AWS4-HMAC-SHA256 Credential=%s/%s, SignedHeaders=%s, Signature=%s", key->id, scope, names,
               hex);
    return ok ||
           err_set(err, STATUS_HOST,
                   "libcrypto has no SHA-256 on this host, without which no request to S3 can be signed");
}

bool s3_sign_request(remote_request_t *request, const char *region, const s3_key_t *key, err_t *err) {
    char host[600], path[8192], now[sizeof "20150830T123600Z"];
    const char *from = strstr(request->url.bytes, "://") + 3, *slash = from + strcspn(from, "/"),
               *end = slash + strcspn(slash, "?");
    /* the client leaves out the usual port, too */
    const char *usual = strncmp(request->url.bytes, "https", 5) == 0 ? ":443" : ":80";
    const bool has_usual =
        (size_t)(slash - from) > strlen(usual) && strncmp(slash - strlen(usual), usual, strlen(usual)) == 0;
    const time_t seconds = time(NULL);
    struct tm parts;
    strftime(now, sizeof now, "%Y%m%dT%H%M%SZ", gmtime_r(&seconds, &parts));
    snprintf(host, sizeof host, "%.*s", (int)(slash - from - (has_usual ? (long)strlen(usual) : 0)), from);
    snprintf(path, sizeof path, "%.*s", (int)(end - slash), slash);
    const char *headers[][2] = {{"host", host},
                                {"x-amz-content-sha256", of_nothing},
                                {"x-amz-date", now},
                                {"x-amz-security-token", key->token}};
    const s3_signable_t what = {.method = "GET",
                                .path = path,
                                .query = *end ? end + 1 : "",
                                .headers = headers,
                                .header_count = COUNT(headers) - !*key->token,
                                .payload = of_nothing,
                                .region = region,
                                .service = "s3",
                                .time = now};
    for (size_t i = 1; i < what.header_count; i++)
        text_print(&request->headers, "%s: %s\n", headers[i][0], headers[i][1]);
    text_append(&request->headers, "authorization: ");
    const bool ok = s3_sign(&what, key, &request->headers, err);
    text_append(&request->headers, "\n");
    return ok;
}
