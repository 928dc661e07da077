/* s3: what S3 wants besides HTTP, for the files of this folder only: addresses of buckets, signatures, keys to sign with,
 * lists of objects, and the meaning of its refusals.
 *
 *     s3.c              the scheme of transport.h: a request for s3://BUCKET/KEY, and what S3 answers instead
 *     s3_sign.c         signatures of version 4
 *     s3_credentials.c  settings and keys: from the environment, profiles, a process, STS, a container, an instance
 *     s3_list.c         the objects of a prefix or a pattern (remote_list)
 *
 * A process has one key at a time, as it has one environment: s3.c fetches the key when the first request is made,
 * again five minutes before it ends, and when S3 does not accept it any more. It is kept as long as there are objects,
 * so the next load of a program finds what its environment says by then. Without a key, requests are not signed, which
 * suffices for public buckets. The region of a bucket is the configured one until S3 names another.
 *
 * The key of an object stands in a URL as S3 has it, not percent-encoded. Keys to sign with are in memory of secret_new;
 * no sentence contains one, only where it came from. */
#ifndef TIPPLE_INPUT_REMOTE_S3_H
#define TIPPLE_INPUT_REMOTE_S3_H

#include "base/text.h"
#include "input/remote/transport.h"

#include <stdint.h>
#include <time.h>

/* ---- settings and keys ---- */

typedef struct {
    char id[256], secret[256], token[8192]; /* id "": there is none, and requests are not signed */
    char from[320];                         /* for sentences: "profile 'etl' of /home/me/.aws/credentials" */
    int64_t ends;                           /* seconds since 1970; 0: not known, or never */
} s3_key_t;

typedef struct {
    char region[64];
    char endpoint[512]; /* "http://127.0.0.1:9000", without a / at its end; "": Amazon's own */
} s3_settings_t;

/* Asks all places where Amazon's own programs look for a key, in their order. Any thread; it may take seconds, and up
 * to a minute for the process that a profile names. */
bool s3_find_key(s3_key_t *key, err_t *err);
bool s3_find_settings(s3_settings_t *settings, err_t *err);

/* Overwrites the key, and forgets the settings: the next request looks for both again. */
void s3_forget(void);

/* ---- signatures ---- */

/* Signs a request without a body whose URL is set, with its query sorted: appends headers. Others, such as Range, may be
 * added. service: "s3"; region and key: at most as long as those above. */
bool s3_sign(remote_request_t *request, const char *region, const char *service, time_t now,
             const s3_key_t *key, err_t *err);

/* Appends a text of which each byte but letters, digits and -._~ becomes %XX; slashes do, unless they are kept. */
void s3_encode(text_t *to, const char *text, bool keep_slashes);

/* ---- answers ---- */

/* The text of the first <NAME> in XML, without entities; or of "NAME": in JSON, in which no value is an object. What does not fit is
 * cut off. False: there is none, and the text is "". body may be NULL. */
bool s3_element(const char *body, const char *name, char *out, size_t room);

#endif
