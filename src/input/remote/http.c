/* Requests by libcurl: one is under way in a transfer, and the transfers of a transport move together. Also when a request
 * is sent again, and the scheme of http. */
#include "base/clock.h"
#include "base/host.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/stop.h"
#include "input/remote/s3.h"
#include "input/remote/transport.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { REFUSAL_MOST = 64 * 1024, HEADERS_MOST = 64 * 1024, STEP_MS = 100, CURL_BUFFER = 64 * 1024 };

enum { MOST_ANEW = 3, AT_ONCE = 8 };
#define SECOND_NS INT64_C(1000000000)
static const int64_t FIRST_PAUSE_NS = SECOND_NS / 10, LONGEST_PAUSE_NS = 10 * SECOND_NS,
                     SILENT_NS = 30 * SECOND_NS, SAY_NS = 5 * SECOND_NS, SAY_AGAIN_NS = 60 * SECOND_NS;

/* ---- libcurl ---- */

/* The part of its interface that is used here, with prototypes and constants of our own: its numbers never change, so building
 * needs no package of it. The library is opened at the first URL (libcurl.so.4), so that a command without one starts without
 * it and its 30 libraries; with TIPPLE_LIBCURL it is linked in (the wheel). */

typedef struct {
    int message; /* CURL_DONE is the only one */
    void *easy;
    union {
        void *whatever;
        int code;
    } data;
} curl_message_t;

/* One row for each function: result, name, arguments. */
#define CURL_FUNCTIONS(row)                                                                                  \
    row(int, curl_global_init_mem,                                                                           \
        (long flags, void *(*)(size_t), void (*)(void *), void *(*)(void *, size_t),                         \
         char *(*)(const char *), void *(*)(size_t, size_t)));                                               \
    row(void *, curl_easy_init, (void));                                                                     \
    row(int, curl_easy_setopt, (void *easy, int option, ...));                                               \
    row(int, curl_easy_getinfo, (void *easy, int info, ...));                                                \
    row(int, curl_easy_pause, (void *easy, int what));                                                       \
    row(void, curl_easy_reset, (void *easy));                                                                \
    row(const char *, curl_easy_strerror, (int code));                                                       \
    row(void *, curl_slist_append, (void *list, const char *text));                                          \
    row(void, curl_slist_free_all, (void *list));                                                            \
    row(void *, curl_multi_init, (void));                                                                    \
    row(int, curl_multi_add_handle, (void *multi, void *easy));                                              \
    row(int, curl_multi_remove_handle, (void *multi, void *easy));                                           \
    row(int, curl_multi_perform, (void *multi, int *running));                                               \
    row(int, curl_multi_poll, (void *multi, void *more, unsigned count, int milliseconds, int *ready));      \
    row(curl_message_t *, curl_multi_info_read, (void *multi, int *left))

enum { CURL_GLOBAL_ALL = 3, CURL_DONE = 1, CURL_WRITE_PAUSE = 0x10000001, CURL_PAUSE_NONE = 0 };

/* Protocols, as bits. */
enum { CURL_HTTP = 1, CURL_HTTPS = 2 };

enum { CURL_INFO_PRIVATE = 0x100000 + 21, CURL_INFO_CONNECT_STATUS = 0x200000 + 22 };

enum { CURL_E_HOST = 6, CURL_E_STOPPED = 23 /* a callback did not take all bytes */, CURL_E_MEMORY = 27 };

#define POINTER(result, name, arguments) result(*name) arguments
static struct { CURL_FUNCTIONS(POINTER); } curl;

static bool curl_is_there;

/* The authorities that this system keeps where our own libcurl does not look; "": OpenSSL finds some. */
static char kept_authorities[PATH_MAX];

static bool start_curl(void) {
    return curl.curl_global_init_mem(CURL_GLOBAL_ALL, secret_malloc, secret_free, secret_realloc,
                                     secret_strdup, secret_calloc) == 0;
}

#ifdef TIPPLE_LIBCURL
#define PROTOTYPE(result, name, arguments) extern result name arguments
CURL_FUNCTIONS(PROTOTYPE);
#define FIND(result, name, arguments) curl.name = name
static void open_curl(void) {
    CURL_FUNCTIONS(FIND);
    curl_is_there = start_curl();
    if (!host_find_authorities("", kept_authorities))
        *kept_authorities = '\0';
}
#else
#define FIND(result, name, arguments)                                                                        \
    curl_is_there &= (*(void **)&curl.name = library ? dlsym(library, #name) : NULL) != NULL
static void open_curl(void) {
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};
    void *library = NULL;
    for (size_t i = 0; i < COUNT(names) && !library; i++)
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    curl_is_there = library;
    CURL_FUNCTIONS(FIND);
    curl_is_there = curl_is_there && start_curl();
}
#endif

static bool need_curl(err_t *err) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_curl);
    return curl_is_there ||
           err_set(err, STATUS_HOST,
                   "https, http and s3 need libcurl (7.66 or later), which is not here: apt-get install "
                   "libcurl4, then run the same command again");
}

/* ---- transports ---- */

/* Those that nobody uses. Their connections stay open. */
static transport_t *idle;
static pthread_mutex_t idle_lock = PTHREAD_MUTEX_INITIALIZER;

transport_t *transport_take(err_t *err) {
    if (!need_curl(err))
        return NULL;
    pthread_mutex_lock(&idle_lock);
    transport_t *transport = idle;
    idle = transport ? transport->next : NULL;
    pthread_mutex_unlock(&idle_lock);
    if (transport)
        return transport;
    void *multi = curl.curl_multi_init();
    transport = multi ? calloc(1, sizeof *transport) : NULL;
    if (transport)
        transport->multi = multi;
    else
        err_memory(err, sizeof *transport);
    return transport;
}

void transport_give(transport_t *transport) {
    if (!transport)
        return;
    for (size_t i = 0; i < TRANSFERS; i++)
        transfer_end(transport, &transport->transfers[i]);
    pthread_mutex_lock(&idle_lock);
    transport->next = idle;
    idle = transport;
    pthread_mutex_unlock(&idle_lock);
}

/* ---- answers ---- */

bool transport_header(const remote_answer_t *answer, const char *name, char *value, size_t room) {
    const size_t length = strlen(name);
    value[0] = '\0';
    for (const char *line = answer->headers.bytes; line && *line; line = strchr(line, '\n') + 1)
        if (strncasecmp(line, name, length) == 0 && line[length] == ':') {
            const char *begins = line + length + 1 + strspn(line + length + 1, " \t"),
                       *ends = begins + strcspn(begins, "\r\n");
            while (ends > begins && (ends[-1] == ' ' || ends[-1] == '\t'))
                ends--;
            snprintf(value, room, "%.*s", (int)(ends - begins), begins);
            return true;
        }
    return false;
}

void transport_free_answer(remote_answer_t *answer) {
    secret_free_text(&answer->headers);
    secret_free_text(&answer->body);
}

/* ---- one request ---- */

/* A status line begins an answer: of a redirect that is followed, or the last one. */
static size_t on_header(const char *line, size_t one, size_t length, void *context) {
    transfer_t *transfer = context;
    remote_answer_t *answer = &transfer->answer;
    length *= one;
    if (length > 5 && memcmp(line, "HTTP/", 5) == 0) {
        const char *space = memchr(line, ' ', length);
        text_free(&answer->headers);
        answer->status = space ? (unsigned)strtoul(space, NULL, 10) : 0;
    } else if (answer->headers.length + length > HEADERS_MOST) { /* they might never end */
        transfer_break(transfer, "the headers of the answer are too long");
        return 0;
    } else if (line[length - 1] == '\n') {
        text_append_bytes(&answer->headers, line, length);
    }
    transfer->heard_ns = clock_now_ns();
    return length;
}

static size_t on_body(const uint8_t *bytes, size_t one, size_t size, void *context) {
    transfer_t *transfer = context;
    remote_answer_t *answer = &transfer->answer;
    size *= one;
    transfer->heard_ns = clock_now_ns();
    size_t taken = size;
    if (answer->status == 200 || answer->status == 206)
        taken = transfer->take(transfer->context, answer, bytes, size);
    else if (answer->body.length + size <= REFUSAL_MOST)
        text_append_bytes(&answer->body, (const char *)bytes, size);
    else
        taken = 0; /* a refusal might never end */
    transfer->waits = taken == TRANSFER_LATER;
    return transfer->waits ? (size_t)CURL_WRITE_PAUSE : taken;
}

static bool add_headers(transfer_t *transfer, text_t *headers, err_t *err) {
    char *line = headers->bytes;
    bool ok = !headers->lacking;
    for (char *end; ok && line && (end = strchr(line, '\n')); line = end + 1) {
        *end = '\0';
        void *lines = curl.curl_slist_append(transfer->lines, line);
        ok = lines;
        transfer->lines = ok ? lines : transfer->lines;
    }
    return ok || err_memory(err, headers->length);
}

/* Options have numbers: those below 10,000 take a long, others a pointer or, above 20,000, a function. */
#define SET(option, number, value) curl.curl_easy_setopt(easy, number, value)

/* Authorities: those that SSL_CERT_FILE names, as for connections to MongoDB; else those of libcurl. */
static void set_options(transfer_t *transfer, const remote_request_t *request) {
    void *easy = transfer->easy;
    const bool secure = strncmp(request->url.bytes, "https:", 6) == 0;
    const char *named = getenv("SSL_CERT_FILE"), *authorities = named && *named ? named : kept_authorities;
    char range[64];
    snprintf(range, sizeof range, "%llu-%llu", (unsigned long long)request->from,
             (unsigned long long)request->to - 1);
    SET(NOSIGNAL, 99, 1L);
    SET(HTTP_VERSION, 84, 2L); /* 1.1 */
    SET(BUFFERSIZE, 98, (long)CURL_BUFFER);
    SET(PATH_AS_IS, 234, 1L);
    SET(SUPPRESS_CONNECT_HEADERS, 265, 1L);
    SET(PROTOCOLS, 181, (long)(CURL_HTTP | CURL_HTTPS));
    SET(REDIR_PROTOCOLS, 182, (long)(secure ? CURL_HTTPS : CURL_HTTP | CURL_HTTPS));
    SET(FOLLOWLOCATION, 52, (long)request->redirects);
    SET(MAXREDIRS, 68, 5L);
    SET(NETRC, 51, (long)request->login); /* 1: if it has an entry */
    SET(URL, 10002, request->url.bytes);
    SET(USERAGENT, 10018, "tipple/" TIPPLE_VERSION);
    SET(ERRORBUFFER, 10010, transfer->trouble);
    SET(PRIVATE, 10103, transfer);
    SET(HEADERDATA, 10029, transfer);
    SET(WRITEDATA, 10001, transfer);
    SET(HTTPHEADER, 10023, transfer->lines);
    SET(RANGE, 10007, request->to ? range : NULL);
    SET(CUSTOMREQUEST, 10036, request->method);
    SET(NOPROXY, 10177, request->direct ? "*" : NULL);
    if (request->body.length)
        SET(COPYPOSTFIELDS, 10165, request->body.bytes);
    if (*authorities)
        SET(CAINFO, 10065, authorities);
    SET(HEADERFUNCTION, 20079, on_header);
    SET(WRITEFUNCTION, 20011, on_body);
}

bool transfer_begin(transport_t *transport, transfer_t *transfer, remote_request_t *request, err_t *err) {
    transfer_end(transport, transfer);
    transport_free_answer(&transfer->answer);
    transfer->answer.status = 0;
    transfer->answer.length = 0;
    transfer->trouble[0] = '\0';
    if (!transfer->easy)
        transfer->easy = curl.curl_easy_init();
    bool ok = (transfer->easy && !request->url.lacking && !request->body.lacking) ||
              err_memory(err, sizeof *transfer);
    ok = ok && add_headers(transfer, &request->headers, err);
    if (ok) {
        set_options(transfer, request);
        transfer->heard_ns = clock_now_ns();
        ok = transfer->moving = curl.curl_multi_add_handle(transport->multi, transfer->easy) == 0;
        ok = ok || err_memory(err, sizeof *transfer);
    }
    secret_free_text(&request->url);
    secret_free_text(&request->headers);
    secret_free_text(&request->body);
    return ok;
}

void transfer_go_on(transfer_t *transfer) {
    if (!transfer->waits || !transfer->moving)
        return;
    transfer->waits = false;
    curl.curl_easy_pause(transfer->easy, CURL_PAUSE_NONE);
}

void transfer_end(transport_t *transport, transfer_t *transfer) {
    if (transfer->moving)
        curl.curl_multi_remove_handle(transport->multi, transfer->easy);
    if (transfer->easy)
        curl.curl_easy_reset(transfer->easy);
    curl.curl_slist_free_all(transfer->lines);
    transfer->lines = NULL;
    transfer->moving = transfer->waits = false;
}

/* Why a transfer failed, in libcurl's words where these say most. */
static void explain(transfer_t *transfer, int code) {
    static const struct {
        int code;
        bool of_url; /* else no object of the server can be read */
        const char *words;
    } rows[] = {
        {1 /* protocol */, true,
         "; a redirect is followed to http or https only, and never from https to http"},
        {3 /* url */, true, "; check the URL"},
        {5 /* proxy */, false, "; check the proxy that https_proxy, http_proxy or all_proxy names"},
        {CURL_E_HOST, false, "; check the URL, and the name servers of this host"},
        {47 /* redirects */, true, ""},
        {60 /* certificate */, false,
         "; if an authority of your own has signed it, name the file of that one: SSL_CERT_FILE=FILE"},
        {77 /* authorities */, false, "; SSL_CERT_FILE names it"},
    };
    remote_answer_t *answer = &transfer->answer;
    long proxy = 0;
    if (code == CURL_E_STOPPED) /* by `take`, which has what it wanted */
        return;
    curl.curl_easy_getinfo(transfer->easy, CURL_INFO_CONNECT_STATUS, &proxy);
    const bool refused = proxy && proxy != 200;
    const char *words =
        refused ? "; check the proxy that https_proxy or all_proxy names, and its login" : NULL;
    status_t status = code == CURL_E_MEMORY ? STATUS_HOST : STATUS_SERVER;
    for (size_t i = 0; i < COUNT(rows) && !words; i++) {
        words = rows[i].code == code ? rows[i].words : NULL;
        status = words && rows[i].of_url ? STATUS_INPUT : status;
    }
    answer->status = 0;
    answer->passes = !words || code == CURL_E_HOST;
    answer->unknown = code == CURL_E_HOST;
    err_set(&answer->why, status, "%s%s",
            transfer->trouble[0] ? transfer->trouble : curl.curl_easy_strerror(code), words ? words : "");
}

void transfer_break(transfer_t *transfer, const char *format, ...) {
    va_list list;
    transfer->answer.status = 0;
    transfer->answer.passes = true;
    transfer->answer.why.status = STATUS_SERVER;
    va_start(list, format);
    vsnprintf(transfer->answer.why.text, sizeof transfer->answer.why.text, format, list);
    va_end(list);
}

void transport_wait(transport_t *transport, int milliseconds) {
    int running, left;
    if (milliseconds)
        curl.curl_multi_poll(transport->multi, NULL, 0, milliseconds, NULL);
    curl.curl_multi_perform(transport->multi, &running);
    for (curl_message_t *message; (message = curl.curl_multi_info_read(transport->multi, &left));) {
        transfer_t *transfer = NULL;
        curl.curl_easy_getinfo(message->easy, CURL_INFO_PRIVATE, (void **)&transfer);
        if (message->message != CURL_DONE || !transfer)
            continue;
        if (message->data.code)
            explain(transfer, message->data.code);
        transfer_end(transport, transfer);
    }
}

/* ---- whole answers ---- */

/* Only a body whose length is not known before it has come is read to its end, which may never come. */
static size_t take_whole(void *context, remote_answer_t *answer, const uint8_t *bytes, size_t size) {
    const size_t room = *(const size_t *)context - answer->body.length, kept = size < room ? size : room;
    char length[32];
    text_append_bytes(&answer->body, (const char *)bytes, kept);
    answer->length += size;
    return transport_header(answer, "Content-Length", length, sizeof length) ? kept : size;
}

/* Says why a transfer is given up: its answer has not ended within whole_ns, or nothing has come for silent_ns. */
static void cut_off(transfer_t *transfer, int64_t began_ns, int64_t whole_ns) {
    const int64_t now_ns = clock_now_ns();
    char length[32];
    const remote_answer_t *answer = &transfer->answer;
    const bool endless =
        answer->status == 200 && !transport_header(answer, "Content-Length", length, sizeof length);
    if (now_ns - began_ns > whole_ns)
        transfer_break(transfer, "its answer had not ended after %.1f s%s", (double)whole_ns / 1e9,
                       endless ? " and does not say how long it is (give it more time with --patience, or "
                                 "pipe it in, as curl -f -sSL URL | tipple load --input-name NAME -)"
                               : "");
    else
        transfer_break(transfer, "nothing came for %.1f s", (double)(now_ns - transfer->heard_ns) / 1e9);
}

bool transport_send(remote_request_t *request, size_t most, remote_answer_t *answer, err_t *err) {
    const int64_t began_ns = clock_now_ns(), whole_ns = request->whole_ns,
                  silent_ns = request->silent_ns ? request->silent_ns : whole_ns;
    *answer = (remote_answer_t){.status = 0};
    transport_t *transport = transport_take(err);
    if (!transport)
        return false;
    transfer_t *transfer = &transport->transfers[0];
    transfer->take = take_whole;
    transfer->context = &most;
    bool ok = transfer_begin(transport, transfer, request, err), late = false;
    while (ok && transfer->moving && !late) {
        transport_wait(transport, STEP_MS);
        const int64_t now_ns = clock_now_ns();
        late = now_ns - began_ns > whole_ns || now_ns - transfer->heard_ns > silent_ns;
        ok = !stop_signal() || stop_interrupted(err);
    }
    if (ok && transfer->moving)
        cut_off(transfer, began_ns, whole_ns);
    *answer = transfer->answer;
    transfer->answer = (remote_answer_t){.status = 0};
    transport_give(transport);
    return ok && (!answer->body.lacking || err_memory(err, most));
}

bool transport_fetch(const remote_place_t *place, uint64_t from, uint64_t to, int64_t patience_ns,
                     size_t most, remote_answer_t *answer, err_t *err) {
    retry_t retry = {.patience_ns = patience_ns};
    retry_heard(&retry);
    for (;;) {
        remote_request_t request = {
            .from = from, .to = to, .silent_ns = retry.silent_ns, .whole_ns = patience_ns};
        int64_t again_ns;
        *answer = (remote_answer_t){.status = 0};
        if (!place->scheme->prepare(place, &request, err) || !transport_send(&request, most, answer, err))
            return false;
        if (answer->status == 200 || answer->status == 206)
            return true;
        answer->passes &= !answer->unknown; /* a name that is not known now is mostly a mistake */
        if (!retry_judge(&retry, place, answer, &again_ns, err))
            return false;
        transport_free_answer(answer);
        while (clock_now_ns() < again_ns)
            if (!stop_nap(STEP_MS, err))
                return false;
    }
}

/* ---- trying again ---- */

static int64_t first_silence(const retry_t *retry) {
    const int64_t share_ns = retry->patience_ns / 4;
    return share_ns < SILENT_NS ? share_ns : SILENT_NS;
}

void retry_heard(retry_t *retry) {
    retry->heard_ns = clock_now_ns();
    retry->silent_ns = first_silence(retry);
    retry->pause_ns = 0;
    retry->anew = 0;
}

/* Of all threads together: they mostly wait for the same server. */
static void say_that_it_waits(int64_t now_ns, int64_t left_ns, const err_t *why) {
    static _Atomic int64_t said_ns;
    char time[UNITS_MAX];
    int64_t before_ns = said_ns;
    const bool is_long_ago = !before_ns || now_ns - before_ns >= SAY_AGAIN_NS;
    if (is_long_ago && atomic_compare_exchange_strong(&said_ns, &before_ns, now_ns))
        log_note("waiting: %s; patience ends in %s", why->text, units_time(time, (double)left_ns / 1e9));
}

/* The first try follows at once, then pauses double. */
static int64_t next_pause(retry_t *retry) {
    const int64_t pause_ns = retry->pause_ns;
    retry->pause_ns = pause_ns ? 2 * pause_ns : FIRST_PAUSE_NS;
    if (retry->pause_ns > LONGEST_PAUSE_NS)
        retry->pause_ns = LONGEST_PAUSE_NS;
    return pause_ns;
}

bool retry_judge(retry_t *retry, const remote_place_t *place, const remote_answer_t *answer,
                 int64_t *again_ns, err_t *err) {
    const int64_t now_ns = clock_now_ns(), ends_ns = retry->heard_ns + retry->patience_ns;
    const remote_next_t next = place->scheme->judge(place, answer, err);
    char time[UNITS_MAX];
    *again_ns = now_ns;
    if (next == REMOTE_ANEW)
        return retry->anew++ < MOST_ANEW;
    if (next == REMOTE_FAIL)
        return false;
    if (now_ns >= ends_ns) {
        units_time(time, (double)retry->patience_ns / 1e9);
        err->status = STATUS_SERVER;
        return err_add(err, "; that lasted for %s: run the same command again when the server answers", time);
    }
    if (now_ns >= retry->heard_ns + SAY_NS)
        say_that_it_waits(now_ns, ends_ns - now_ns, err);
    *again_ns = now_ns + next_pause(retry);
    if (*again_ns > ends_ns)
        *again_ns = ends_ns;
    retry->silent_ns *= 3; /* the second try has the rest of a short patience */
    if (retry->silent_ns > ends_ns - *again_ns)
        retry->silent_ns = ends_ns - *again_ns;
    if (retry->silent_ns < first_silence(retry))
        retry->silent_ns = first_silence(retry);
    return true;
}

/* ---- the scheme of http ---- */

/* Bytes that no URL has are encoded, as they stand in a name that a user has typed; what follows a # stays here. */
static bool prepare(const remote_place_t *place, remote_request_t *request, err_t *err) {
    if (!text_grow(&request->url,
                   3 * strlen(place->url) + 1)) /* at once: what grows leaves copies in memory */
        return err_memory(err, 3 * strlen(place->url));
    for (const char *at = place->url; *at && *at != '#'; at++) {
        const uint8_t byte = (uint8_t)*at;
        if (byte <= ' ' || byte >= 0x7f)
            text_print(&request->url, "%%%02X", byte);
        else
            text_append_bytes(&request->url, at, 1);
    }
    request->redirects = true;
    request->login = place->scheme == &remote_https;
    return true;
}

/* Of what the server says only its code is shown: a message may repeat a part of the query, such as a signature. */
remote_next_t transport_judge(const remote_place_t *place, const remote_answer_t *answer, err_t *err) {
    static const struct {
        unsigned status;
        const char *words;
    } rows[] = {
        {401,
         "it asks for a login, which https takes from ~/.netrc: machine HOST login USER password PASSWORD"},
        {403, "it may not be read with this login, or its URL was signed in advance and has expired: get a "
              "new one"},
        {404, "there is no such object; check the URL"},
        {410, "it is there no longer"},
    };
    const unsigned status = answer->status;
    if (!status) {
        err_set(err, answer->why.status, "%.1000s: %s", place->shown, answer->why.text);
        return answer->passes ? REMOTE_AGAIN : REMOTE_FAIL;
    }
    const bool passes = status == 408 || status == 429 || status >= 500;
    const char *words = passes ? "the server is busy or in trouble" : "check the URL";
    char code[64];
    for (size_t i = 0; i < COUNT(rows); i++)
        words = rows[i].status == status ? rows[i].words : words;
    err_set(err, STATUS_INPUT, "%.1000s: HTTP %u: %s", place->shown, status, words);
    if (s3_element(answer->body.bytes, "Code", code, sizeof code))
        err_add(err, " (%s)", code);
    return passes ? REMOTE_AGAIN : REMOTE_FAIL;
}

const remote_scheme_t
    remote_https = {.begins = "https://", .at_once = AT_ONCE, .prepare = prepare, .judge = transport_judge},
    remote_http = {.begins = "http://", .at_once = AT_ONCE, .prepare = prepare, .judge = transport_judge};
