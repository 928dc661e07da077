/* libcurl: the part of its interface that http.c uses, with prototypes and constants of our own: its numbers never change,
 * so building needs no package of it. The library is opened at the first URL (libcurl.so.4), so that a command without one
 * starts without it and its 30 libraries; with TIPPLE_LIBCURL it is linked in (the wheel). */
#ifndef TIPPLE_INPUT_REMOTE_LIBCURL_H
#define TIPPLE_INPUT_REMOTE_LIBCURL_H

#include <stddef.h>

typedef struct curl_slist {
    char *data;
    struct curl_slist *next;
} curl_slist_t;

typedef struct {
    int message; /* CURL_DONE is the only one */
    void *easy;
    union {
        void *whatever;
        int code;
    } data;
} curl_message_t;

typedef void *curl_allocate_t(size_t);
typedef void curl_free_t(void *);
typedef void *curl_grow_t(void *, size_t);
typedef char *curl_copy_t(const char *);
typedef void *curl_zeros_t(size_t, size_t);

/* One row for each function: result, name, arguments. */
#define CURL_FUNCTIONS(row)                                                                                  \
    row(int, curl_global_init_mem,                                                                           \
        (long flags, curl_allocate_t *, curl_free_t *, curl_grow_t *, curl_copy_t *, curl_zeros_t *));       \
    row(void *, curl_easy_init, (void));                                                                     \
    row(int, curl_easy_setopt, (void *easy, int option, ...));                                               \
    row(int, curl_easy_getinfo, (void *easy, int info, ...));                                                \
    row(int, curl_easy_pause, (void *easy, int what));                                                       \
    row(void, curl_easy_reset, (void *easy));                                                                \
    row(const char *, curl_easy_strerror, (int code));                                                       \
    row(curl_slist_t *, curl_slist_append, (curl_slist_t * list, const char *text));                         \
    row(void, curl_slist_free_all, (curl_slist_t * list));                                                   \
    row(void *, curl_multi_init, (void));                                                                    \
    row(int, curl_multi_add_handle, (void *multi, void *easy));                                              \
    row(int, curl_multi_remove_handle, (void *multi, void *easy));                                           \
    row(int, curl_multi_perform, (void *multi, int *running));                                               \
    row(int, curl_multi_poll, (void *multi, void *more, unsigned count, int milliseconds, int *ready));      \
    row(curl_message_t *, curl_multi_info_read, (void *multi, int *left))

enum { CURL_GLOBAL_ALL = 3, CURL_DONE = 1, CURL_WRITE_PAUSE = 0x10000001, CURL_PAUSE_NONE = 0 };

/* Protocols, as bits. */
enum { CURL_HTTP = 1, CURL_HTTPS = 2 };

/* Options: numbers below 10,000 take a long, others a pointer or, above 20,000, a function. */
enum {
    CURL_NETRC = 51, /* 1: if it has an entry */
    CURL_FOLLOWLOCATION = 52,
    CURL_MAXREDIRS = 68,
    CURL_HTTP_VERSION = 84, /* 2: 1.1 */
    CURL_BUFFERSIZE = 98,
    CURL_NOSIGNAL = 99,
    CURL_PROTOCOLS = 181,
    CURL_REDIR_PROTOCOLS = 182,
    CURL_PATH_AS_IS = 234,
    CURL_SUPPRESS_CONNECT_HEADERS = 265,
    CURL_WRITEDATA = 10001,
    CURL_URL = 10002,
    CURL_RANGE = 10007,
    CURL_ERRORBUFFER = 10010,
    CURL_USERAGENT = 10018,
    CURL_HTTPHEADER = 10023,
    CURL_HEADERDATA = 10029,
    CURL_CUSTOMREQUEST = 10036,
    CURL_CAINFO = 10065,
    CURL_PRIVATE = 10103,
    CURL_COPYPOSTFIELDS = 10165,
    CURL_NOPROXY = 10177,
    CURL_WRITEFUNCTION = 20011,
    CURL_HEADERFUNCTION = 20079,
    CURL_ERROR_ROOM = 256,
};

enum {
    CURL_INFO_PRIVATE = 0x100000 + 21,
    CURL_INFO_STATUS = 0x200000 + 2,
    CURL_INFO_CONNECT_STATUS = 0x200000 + 22,
};

/* Results that have words of their own here. */
enum {
    CURL_E_PROTOCOL = 1,
    CURL_E_URL = 3,
    CURL_E_PROXY = 5,
    CURL_E_HOST = 6,
    CURL_E_STOPPED = 23, /* a callback did not take all bytes */
    CURL_E_MEMORY = 27,
    CURL_E_REDIRECTS = 47,
    CURL_E_CERTIFICATE = 60,
    CURL_E_AUTHORITIES = 77,
};

#endif
