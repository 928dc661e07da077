/* transport: requests and answers, for the files of this folder only.
 *
 * A place is what is asked for: a URL as the user gave it, and its scheme, a row of functions. A scheme makes a request of
 * a place, anew for each try (so that a signature has the time of its try), and judges each answer that is not the
 * wanted one. The transport does the rest: connections, redirects, retries, pauses, stalls.
 *
 *     http.c       libcurl; a request once (transport_send), or until it is answered (transport_fetch); the scheme of http
 *     object.c     objects and readers
 *     url.c        URLs, and secrets in pages of their own
 *     s3*.c        the scheme of s3: addresses, signatures, credentials, lists
 *
 * A transport is some connections, which belong to one thread at a time and are kept open for the next one that takes
 * them. It has no thread: bytes move while transport_wait is called. The functions of a scheme may be called by any
 * thread, also by several at once, and may send requests themselves. */
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

/* One request. It begins as zeros, and all of it is overwritten when it has been sent. */
typedef struct {
    const char *method; /* NULL: GET */
    text_t url;         /* as it is sent, encoded */
    text_t headers;     /* lines of "Name: value\n" */
    text_t body;        /* of a POST; or empty */
    uint64_t from, to;  /* asks for the bytes [from, to); both 0: for all */
    /* With transport_send: all of the answer must come within whole_ns, which is never 0; no silence may last longer than
     * silent_ns (0: whole_ns). */
    int64_t whole_ns, silent_ns;
    bool redirects; /* follows up to five, never from https to http; the login stays with its host */
    bool login;     /* asks ~/.netrc for one */
    bool direct;    /* by no proxy: for addresses of this machine or its cloud */
} remote_request_t;

/* What came back: of the last answer, where redirects were followed. */
typedef struct {
    unsigned status; /* 0: none came, or not all of it: `why` is the sentence */
    text_t headers;  /* as they came */
    /* of transport_send and transport_fetch; of others if the status is neither 200 nor 206: 64 KiB */
    text_t body;
    uint64_t length;      /* how long the body was, as far as it was read */
    bool passes, unknown; /* with status 0: trying again may help; the host's name is not known */
    err_t why;
} remote_answer_t;

typedef enum {
    REMOTE_FAIL,  /* *err says why */
    REMOTE_AGAIN, /* tried again after a pause, while patience lasts; *err says why it failed */
    REMOTE_ANEW, /* at once, because the scheme has learned something: a region, new credentials; three times at most */
} remote_next_t;

struct remote_scheme {
    const char *begins; /* "s3://" */
    /* how many objects are seen at once: web servers are asked for fewer than stores of objects */
    size_t at_once;
    /* Sets url, headers and what the server needs besides; from and to are set already. */
    bool (*prepare)(const remote_place_t *place, remote_request_t *request, err_t *err);
    /* An answer that did not come, or whose status is neither 200 nor 206. */
    remote_next_t (*judge)(const remote_place_t *place, const remote_answer_t *answer, err_t *err);
};

extern const remote_scheme_t remote_https, remote_http, remote_s3;

/* ---- answers ---- */

/* The value of a header of the answer, without blanks around it. False: there is none, and value is "". */
bool transport_header(const remote_answer_t *answer, const char *name, char *value, size_t room);

/* What answers mean that schemes do not know better: 408, 429 and 5xx pass, all other statuses are a sentence. */
remote_next_t transport_judge(const remote_place_t *place, const remote_answer_t *answer, err_t *err);

/* Overwrites and frees what it holds. */
void transport_free_answer(remote_answer_t *answer);

/* ---- whole answers ---- */

/* Sends the request once, and waits for the whole answer (most: of its body). False: this host lacks something (libcurl,
 * memory), or a signal came; *err says so. Otherwise the answer says what happened, and the caller frees it. */
bool transport_send(remote_request_t *request, size_t most, remote_answer_t *answer, err_t *err);

/* Asks for the bytes [from, to) of the place (both 0: for all) until they are answered by 200 or 206; `most`: of these. The
 * caller frees the answer in any case. */
bool transport_fetch(const remote_place_t *place, uint64_t from, uint64_t to, int64_t patience_ns,
                     size_t most, remote_answer_t *answer, err_t *err);

/* ---- answers in pieces ---- */

enum { TRANSFERS = 16 };

/* One request that is under way, on a connection of its own. */
typedef struct {
    /* What is done with bytes of a 200 or 206: how many were taken; TRANSFER_LATER: none, until transfer_go_on; any
     * other count than `size` ends the transfer. */
    size_t (*take)(void *context, remote_answer_t *answer, const uint8_t *bytes, size_t size);
    void *context;
    remote_answer_t answer;
    int64_t heard_ns; /* when it began, or its last bytes came */
    bool moving, waits;
    void *easy, *lines; /* libcurl's */
    char trouble[256];
} transfer_t;
#define TRANSFER_LATER ((size_t)-1)

typedef struct transport {
    void *multi;            /* libcurl's */
    struct transport *next; /* of those that nobody uses */
    transfer_t transfers[TRANSFERS];
} transport_t;

/* NULL: *err says why. */
transport_t *transport_take(err_t *err);
void transport_give(transport_t *transport); /* all of its transfers end */

/* Begins a request. `take` and `context` are set. The request is overwritten. */
bool transfer_begin(transport_t *transport, transfer_t *transfer, remote_request_t *request, err_t *err);
void transfer_go_on(transfer_t *transfer);
void transfer_end(transport_t *transport, transfer_t *transfer);

/* Its answer becomes one that did not come, for this reason, which passes. */
void transfer_break(transfer_t *transfer, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Waits for bytes, at most this long, and moves those that are there. A transfer that has ended is not `moving` any more, and
 * its answer says how. */
void transport_wait(transport_t *transport, int milliseconds);

/* ---- trying again ---- */

/* It begins with patience_ns alone, and then with retry_heard. */
typedef struct {
    int64_t patience_ns; /* for how long without a byte */
    int64_t heard_ns;    /* since when there was none */
    int64_t pause_ns;    /* before the next try */
    /* a transfer without a byte for this long is cut: at the next try it may be silent for longer */
    int64_t silent_ns;
    unsigned anew;
} retry_t;

void retry_heard(retry_t *retry); /* bytes have come, or are wanted from now on: everything begins anew */

/* An answer that is not the wanted one. True: the request is to be sent again at *again_ns. False: *err says why not. */
bool retry_judge(retry_t *retry, const remote_place_t *place, const remote_answer_t *answer,
                 int64_t *again_ns, err_t *err);

/* ---- URLs ---- */

const remote_scheme_t *url_scheme(const char *url); /* NULL: none that is read here */

/* The whole of a URL as it is shown: with the query that remote_hide or remote_shown has taken out of it, a secret that stays, or
 * else that URL itself. NULL: it must not be used, and *err says why. */
const char *url_whole(const char *shown, err_t *err);

/* ---- secrets ---- */

/* Memory in pages that are left out of cores, and overwritten when it is freed. libcurl has all of its memory from here, since
 * URLs and logins are in it. NULL: out of memory. */
void *secret_malloc(size_t size);
void *secret_calloc(size_t count, size_t size);
void *secret_realloc(void *memory, size_t size);
char *secret_strdup(const char *text);
void secret_free(void *memory);

/* Frees a text and overwrites it before. */
void secret_free_text(text_t *text);

#endif
