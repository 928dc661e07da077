/* transport: requests and answers, for the files of this folder only.
 *
 * A place is what is asked for: a URL as the user gave it, and its scheme, a row of functions. A scheme makes a request of
 * a place, anew for each try (so that a signature has the time of its try), and judges each answer that is not the
 * wanted one. The transport does the rest: connections, redirects, retries, pauses, stalls, lengths.
 *
 *     http.c       libcurl; a request once (transport_send), or until it is answered (transport_fetch); the scheme of http
 *     object.c     objects and readers
 *     s3*.c        the scheme of s3: addresses, signatures, credentials, lists
 *
 * The functions of a scheme may be called by any thread, also by several at once, and may send requests themselves. */
#ifndef TIPPLE_INPUT_REMOTE_TRANSPORT_H
#define TIPPLE_INPUT_REMOTE_TRANSPORT_H

#include "base/err.h"
#include "base/text.h"

#include <stdint.h>

/* ---- places and schemes ---- */

typedef struct remote_scheme remote_scheme_t;

typedef struct {
    const remote_scheme_t *scheme;
    const char *url;   /* as given; s3://bucket/key */
    const char *shown; /* for sentences */
    const char *query; /* what the scheme asks of this place instead of its bytes, such as a list; or NULL */
} remote_place_t;

/* One request. All of it is overwritten when it has been sent. */
typedef struct {
    const char *method; /* NULL: GET */
    text_t url;         /* as it is sent, encoded */
    text_t headers;     /* lines of "Name: value\n" */
    const char *body;   /* of a POST or PUT; or NULL */
    uint64_t from, to;  /* asks for these bytes; both 0: for all */
    unsigned answer_ms; /* the first byte must come within this time; 0: the usual one */
    bool redirects;     /* follows up to five, never from https to http; the login stays with its host */
    bool login;         /* asks ~/.netrc for one */
    bool direct;        /* by no proxy: for addresses of this machine or its cloud */
} remote_request_t;

/* What came back: of the last answer, where redirects were followed. */
typedef struct {
    unsigned status; /* 0: none came, and why.text says why */
    text_t headers;  /* as they came */
    text_t body;     /* all of it, or its first 64 KiB if the status is neither 200 nor 206 */
    err_t why;       /* with status 0 */
    bool passes;     /* with status 0: trying again may help */
} remote_answer_t;

typedef enum {
    REMOTE_FAIL,  /* *err says why */
    REMOTE_AGAIN, /* it passes: after a pause, while patience lasts; *err says why it failed until then */
    REMOTE_ANEW, /* at once, because the scheme has learned something: a region, new credentials; three times at most */
} remote_next_t;

struct remote_scheme {
    const char *begins; /* "s3://" */
    /* Sets url, headers and what the server needs besides; from and to are set already. */
    bool (*prepare)(const remote_place_t *place, remote_request_t *request, err_t *err);
    /* An answer whose status is neither 200 nor 206. */
    remote_next_t (*judge)(const remote_place_t *place, const remote_answer_t *answer, err_t *err);
};

extern const remote_scheme_t remote_https, remote_http, remote_s3;

/* ---- the transport ---- */

/* The value of a header of the answer, without blanks around it. False: there is none, and value is "". */
bool transport_header(const remote_answer_t *answer, const char *name, char *value, size_t room);

/* Sends the request once, and waits for the whole answer (most: of its body). False: this host lacks something (libcurl,
 * memory), or a signal came; *err says so. Otherwise the answer says what happened, and the caller frees it. */
bool transport_send(remote_request_t *request, size_t most, remote_answer_t *answer, err_t *err);

/* Asks for the place until it is answered by 200 or 206. The caller frees the answer in any case. */
bool transport_fetch(const remote_place_t *place, int64_t patience_ns, size_t most, remote_answer_t *answer,
                     err_t *err);

void transport_free_answer(remote_answer_t *answer);

/* What statuses mean that schemes do not know better: 408, 429 and 5xx pass, all others are a sentence. */
remote_next_t transport_judge(const remote_place_t *place, const remote_answer_t *answer, err_t *err);

/* ---- secrets ---- */

/* A copy in pages that are left out of cores; secret_free overwrites it. NULL: out of memory. */
char *secret_keep(const char *text, size_t length);
void secret_free(char *secret);

/* Frees a text and overwrites it before. */
void secret_free_text(text_t *text);

#endif
