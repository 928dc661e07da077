/* The scheme of s3: the address and the signature of a request, and what S3 answers instead of bytes. */
#include "base/clock.h"
#include "input/remote/s3.h"

#include <ctype.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

enum { BUCKET_ROOM = 256 };

/* A key is not looked for more often. */
static const int64_t PAUSE_NS = 10 * INT64_C(1000000000);

/* A bucket that is in another region than the configured one. */
typedef struct {
    char name[BUCKET_ROOM], region[64];
} bucket_t;

static struct {
    pthread_mutex_t lock;
    s3_key_t *key;     /* NULL: not looked for yet */
    int64_t looked_ns; /* when it was looked for */
    s3_settings_t settings;
    bucket_t moved[32]; /* each in the place of its name, one that was found out later over another */
} known = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- the key ---- */

/* Looks for a key. Where none is left, the one that was there stays. */
static bool look_for_key(err_t *err) {
    s3_key_t *key = secret_calloc(1, sizeof *key);
    known.looked_ns = clock_now_ns();
    bool ok = key || err_memory(err, sizeof *key);
    ok = ok && s3_find_key(key, err);
    const bool is_better = key && ok && (!known.key || *key->id);
    secret_free(is_better ? known.key : key);
    known.key = is_better ? key : known.key;
    return ok;
}

void s3_forget(void) {
    pthread_mutex_lock(&known.lock);
    secret_free(known.key);
    known.key = NULL;
    memset(known.moved, 0, sizeof known.moved);
    pthread_mutex_unlock(&known.lock);
}

/* Makes sure that there is a key that has not ended, and the settings. */
static bool be_ready(err_t *err) {
    enum { BEFORE_END_S = 300 };
    const int64_t now = time(NULL);
    if (!known.key)
        return s3_find_settings(&known.settings, err) && look_for_key(err);
    const int64_t ends = known.key->ends;
    if (!ends || now < ends - BEFORE_END_S || (now < ends && clock_now_ns() - known.looked_ns < PAUSE_NS))
        return true;
    err_t why;
    if (look_for_key(&why) || now < ends)
        return true; /* the old key serves until it ends */
    *err = why;
    return false;
}

/* ---- requests ---- */

/* Cuts s3://BUCKET/KEY. */
static bool split(const char *url, char bucket[BUCKET_ROOM], const char **key, err_t *err) {
    const char *name = url + strlen("s3://");
    const size_t length = strcspn(name, "/");
    bool ok = length && length < BUCKET_ROOM;
    for (size_t i = 0; ok && i < length; i++)
        ok = isalnum((unsigned char)name[i]) || strchr("-._", name[i]);
    if (!ok)
        return err_set(err, STATUS_INPUT, "%.1000s: there is no name of a bucket in it; give s3://BUCKET/KEY",
                       url);
    memcpy(bucket, name, length);
    bucket[length] = '\0';
    *key = name + length + (name[length] == '/');
    return true;
}

/* Where the region of a bucket is noted, if it is. */
static bucket_t *moved_of(const char *bucket) {
    return &known.moved[XXH3_64bits(bucket, strlen(bucket)) % COUNT(known.moved)];
}

/* Amazon serves a bucket under a name of its own, unless no certificate can cover that; other stores by its path. */
static void append_address(text_t *url, const char *bucket, const char *region) {
    const char *country = strncmp(region, "cn-", 3) == 0 ? ".cn" : "";
    bool has_name = true;
    for (const char *at = bucket; *at; at++)
        has_name &= islower((unsigned char)*at) || isdigit((unsigned char)*at) || *at == '-';
    if (*known.settings.endpoint)
        text_print(url, "%s/%s/", known.settings.endpoint, bucket);
    else if (has_name)
        text_print(url, "https://%s.s3.%s.amazonaws.com%s/", bucket, region, country);
    else
        text_print(url, "https://s3.%s.amazonaws.com%s/%s/", region, country, bucket);
}

static bool prepare(const remote_place_t *place, remote_request_t *request, err_t *err) {
    char name[BUCKET_ROOM];
    const char *key;
    if (!split(place->url, name, &key, err))
        return false;
    pthread_mutex_lock(&known.lock);
    bool ok = be_ready(err);
    if (ok) {
        const bucket_t *moved = moved_of(name);
        const char *region = strcmp(moved->name, name) == 0 ? moved->region : known.settings.region;
        append_address(&request->url, name, region);
        if (place->query)
            text_print(&request->url, "?%s", place->query);
        else
            s3_encode(&request->url, key, true);
        text_grow(
            &request->headers,
            2 * sizeof known.key->token); /* room at once: growing later would leave a copy of the token */
        ok = !request->url.lacking || err_memory(err, request->url.lacking);
        if (ok && *known.key->id)
            ok = s3_sign(request, region, "s3", time(NULL), known.key, err);
    }
    pthread_mutex_unlock(&known.lock);
    return ok;
}

/* ---- refusals ---- */

static const struct {
    bool of_key; /* by now there may be another one */
    const char *code, *advice;
} refusals[] = {
    {false, "AccessDenied",
     "allow s3:GetObject on it, or s3:ListBucket on its bucket for a list; an object that is not there "
     "is refused in the same words to whoever may not list"},
    {true, "InvalidAccessKeyId",
     "this store does not know the key: if it is one of another store than Amazon's, set "
     "AWS_ENDPOINT_URL_S3"},
    {true, "SignatureDoesNotMatch", "the secret key is not the one of this access key: correct it"},
    {true, "ExpiredToken", "the session has ended: sign in again, then run the same command again"},
    {true, "InvalidToken", "the session token does not belong to the key: set both anew"},
    {false, "RequestTimeTooSkewed", "the clock of this host is wrong: set it"},
    {false, "NoSuchBucket", "check its name; for another store than Amazon's, set AWS_ENDPOINT_URL_S3"},
    {false, "NoSuchKey", "check its name; a prefix has a / at its end"},
    {false, "InvalidObjectState", "it is archived: restore it first (aws s3api restore-object)"},
};

/* Notes the region that an answer names for a bucket. False: it names none. */
static bool learn_region(const char *bucket, const char *region) {
    if (!*region || region[strspn(region, "abcdefghijklmnopqrstuvwxyz0123456789-")])
        return false;
    bucket_t *moved = moved_of(bucket);
    snprintf(moved->name, sizeof moved->name, "%s", bucket);
    snprintf(moved->region, sizeof moved->region, "%s", region);
    return true;
}

static remote_next_t judge(const remote_place_t *place, const remote_answer_t *answer, err_t *err) {
    char code[64], region[64], name[BUCKET_ROOM];
    const char *xml = answer->body.bytes, *key;
    s3_element(xml, "Code", code, sizeof code);
    remote_next_t next = transport_judge(place, answer, err);
    if (next == REMOTE_AGAIN || !answer->status || !split(place->url, name, &key, err))
        return next;
    if (!transport_header(answer, "x-amz-bucket-region", region, sizeof region))
        s3_element(xml, "Region", region, sizeof region);
    size_t row = 0;
    while (row < COUNT(refusals) && strcmp(refusals[row].code, code) != 0)
        row++;
    const bool is_known = row < COUNT(refusals);
    pthread_mutex_lock(&known.lock);
    const bool is_signed = known.key && *known.key->id, moved = answer->status < 400 || answer->status == 400;
    err_set(err, STATUS_INPUT, "%.1000s: S3 answered %u%s%s", place->shown, answer->status, *code ? " " : "",
            code);
    err_add(err, " to a request %s%s", is_signed ? "with the key of " : "without a key",
            is_signed ? known.key->from
                      : ", as none was found in the environment, a profile, a container or an instance");
    if (!is_signed && answer->status == 403)
        err_add(err,
                ": unless it is public, set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY");
    else if (is_known)
        err_add(err, ": %s", refusals[row].advice);
    if (moved && learn_region(name, region))
        next = REMOTE_ANEW;
    err_t why;
    if (is_known && refusals[row].of_key && is_signed) {
        if (clock_now_ns() - known.looked_ns > PAUSE_NS) /* else another thread has just looked */
            look_for_key(&why);
        next = REMOTE_ANEW;
    }
    pthread_mutex_unlock(&known.lock);
    return strcmp(code, "RequestTimeout") == 0 ? REMOTE_AGAIN : next;
}

const remote_scheme_t remote_s3 = {.begins = "s3://", .at_once = 32, .prepare = prepare, .judge = judge};
