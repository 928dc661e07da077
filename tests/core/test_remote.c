/* remote: what is read of an object is what it holds, whatever its server does in between; what is no such thing is refused. The
 * server is a few threads of this program: each test says which of its answers are odd. Skipped where libcurl is missing. */
#include "base/clock.h"
#include "input/remote/remote.h"
#include "test.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { SIZE = 3000000, MOST_CLIENTS = 500 };

/* What is odd: of the answers with these numbers, from 1 on (0 of a range: of none). */
typedef struct {
    bool no_ranges, no_length, empty;
    unsigned whole_at;              /* is a 200 with all of it, in place of a 206 */
    unsigned from, to, status;      /* have this status instead */
    unsigned cut_from, cut_to, cut; /* end after this number of bytes */
    unsigned stall_at;              /* stops after its first bytes */
    unsigned mute_from, mute_to;    /* do not come */
    unsigned lie_at, lie;           /* is of a range that begins by this number of bytes later */
    unsigned less;                  /* a range is never longer than this */
    bool goes_on;                   /* but after its last byte come others, which belong to nothing */
    unsigned together;              /* from the second on, come when this number was asked for */
    unsigned change_from;           /* come from another content: */
    const char *etag, *new_etag, *modified, *new_modified;
    size_t new_size;
    const char *body;    /* of a status */
    bool endless;        /* what has no length, or stalls, goes on by two bytes now and then */
    unsigned late_ms;    /* how long the second to the ninth take before they begin */
    int64_t patience_ms; /* 0: 8 s */
} oddities_t;

static struct {
    oddities_t odd;
    pthread_mutex_t lock; /* of it */
    int listens, port;
    pthread_t thread;
    int clients[MOST_CLIENTS];
    atomic_uint client_count, answers, connections, round;
    atomic_bool alone; /* an answer waited for others in vain */
    uint8_t *bytes;
} server = {.lock = PTHREAD_MUTEX_INITIALIZER};

typedef struct {
    unsigned number;
    unsigned long long from, to;
    bool range;
} asked_t;

static bool within(unsigned number, unsigned from, unsigned to) {
    return from && number >= from && number <= to;
}

static bool write_all(int fd, const void *bytes, size_t size) {
    for (const char *at = bytes; size;) {
        const ssize_t n = send(fd, at, size, MSG_NOSIGNAL);
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

/* False: the connection ends. */
static bool answer(int fd, const asked_t *asked) {
    pthread_mutex_lock(&server.lock);
    const oddities_t now = server.odd, *odd = &now;
    pthread_mutex_unlock(&server.lock);
    const bool changed = within(asked->number, odd->change_from, UINT32_MAX);
    const unsigned long long all = odd->empty ? 0 : changed && odd->new_size ? odd->new_size : SIZE;
    const char *etag = changed && odd->new_etag ? odd->new_etag : odd->etag,
               *modified = changed && odd->new_modified ? odd->new_modified : odd->modified;
    char head[1000];
    for (unsigned ms = 0; asked->number > 1 && server.answers < odd->together && !server.alone; ms++) {
        usleep(1000);
        server.alone = ms > 20000;
    }
    if (within(asked->number, 2, 9))
        usleep(1000 * odd->late_ms);
    if (within(asked->number, odd->mute_from, odd->mute_to)) {
        (void)!recv(fd, head, 1, 0);
        return false;
    }
    if (within(asked->number, odd->from, odd->to)) {
        static const char page[4096];
        const char *body = odd->body ? odd->body : "";
        if (odd->endless) {
            snprintf(head, sizeof head, "HTTP/1.1 %u Odd\r\nConnection: close\r\n\r\n", odd->status);
            bool ok = write_all(fd, head, strlen(head));
            while (ok)
                ok = write_all(fd, page, sizeof page);
            return false;
        }
        snprintf(head, sizeof head, "HTTP/1.1 %u Odd\r\nContent-Length: %zu\r\n\r\n%s", odd->status,
                 strlen(body), body);
        return write_all(fd, head, strlen(head));
    }
    unsigned long long from = asked->from, to = asked->to < all ? asked->to : all;
    const bool part = asked->range && !odd->no_ranges && asked->number != odd->whole_at;
    if (part && from >= all) {
        snprintf(head, sizeof head,
                 "HTTP/1.1 416 No\r\nContent-Range: bytes */%llu\r\nContent-Length: 0\r\n\r\n", all);
        return write_all(fd, head, strlen(head));
    }
    if (!part) {
        from = 0;
        to = all;
    } else if (odd->less && to - from > odd->less) {
        to = from + odd->less;
    }
    const unsigned lie = asked->number == odd->lie_at ? odd->lie : 0;
    int at = snprintf(head, sizeof head, "HTTP/1.1 %s\r\n", part ? "206 Part" : "200 OK");
    const unsigned long long more = part && odd->goes_on && from ? 1000 : 0;
    if (!odd->no_length)
        at += snprintf(head + at, sizeof head - (size_t)at, "Content-Length: %llu\r\n", to - from + more);
    else
        at += snprintf(head + at, sizeof head - (size_t)at, "Connection: close\r\n");
    if (part)
        at += snprintf(head + at, sizeof head - (size_t)at, "Content-Range: bytes %llu-%llu/%llu\r\n",
                       from + lie, to - 1 + lie, all);
    if (etag)
        at += snprintf(head + at, sizeof head - (size_t)at, "ETag: %s\r\n", etag);
    if (modified)
        at += snprintf(head + at, sizeof head - (size_t)at, "Last-Modified: %s\r\n", modified);
    snprintf(head + at, sizeof head - (size_t)at, "\r\n");
    if (!write_all(fd, head, strlen(head)))
        return false;
    const bool cut = within(asked->number, odd->cut_from, odd->cut_to) && odd->cut < to - from,
               stalls = asked->number == odd->stall_at;
    if (!write_all(fd, server.bytes + from, stalls ? 1000 : cut ? odd->cut : (size_t)(to - from)))
        return false;
    for (unsigned i = 0; odd->endless && i < 100; i++) {
        usleep(100000);
        if (!write_all(fd, "a\n", 2))
            return false;
    }
    static const char others[1000];
    if (more && !write_all(fd, others, more))
        return false;
    char end;
    if (stalls)
        (void)!recv(fd, &end, 1, 0);
    return !cut && !stalls && !odd->no_length;
}

static void *serve(void *client) {
    const int fd = *(int *)client;
    server.connections++;
    char text[4096];
    size_t length = 0;
    for (ssize_t n; (n = recv(fd, text + length, sizeof text - 1 - length, 0)) > 0;) {
        length += (size_t)n;
        text[length] = '\0';
        if (!strstr(text, "\r\n\r\n"))
            continue;
        asked_t asked = {.to = UINT64_MAX};
        if (strtoul(text + strlen("GET /"), NULL, 10) !=
            server.round) /* a reader that was closed has asked for it */
            break;
        const char *range = strstr(text, "Range: bytes=");
        asked.range = range && sscanf(range, "Range: bytes=%llu-%llu", &asked.from, &asked.to) == 2;
        asked.to += asked.range;
        asked.number = ++server.answers;
        length = 0;
        if (!answer(fd, &asked))
            break;
    }
    shutdown(fd, SHUT_RDWR);
    server.connections--;
    return NULL;
}

static void *listen_on(void *ignored) {
    for (int fd; (fd = accept(server.listens, NULL, NULL)) >= 0;) {
        pthread_t thread;
        const unsigned number = server.client_count;
        assert_true(number < MOST_CLIENTS);
        server.clients[number] = fd;
        server.client_count = number + 1;
        if (pthread_create(&thread, NULL, serve, &server.clients[number]) == 0)
            pthread_detach(thread);
    }
    return ignored;
}

static int start(void **state) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    (void)state;
    server.bytes = malloc(SIZE);
    for (size_t i = 0; i < SIZE; i++)
        server.bytes[i] = (uint8_t)(i * 2654435761u >> 13);
    server.listens = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(server.listens, (struct sockaddr *)&address, sizeof address) != 0 ||
        listen(server.listens, 64) != 0)
        return -1;
    getsockname(server.listens, (struct sockaddr *)&address, &length);
    server.port = ntohs(address.sin_port);
    return pthread_create(&server.thread, NULL, listen_on, NULL);
}

static int stop(void **state) {
    (void)state;
    shutdown(server.listens, SHUT_RDWR);
    close(server.listens);
    pthread_join(server.thread, NULL);
    for (unsigned i = 0; i < server.client_count; i++)
        shutdown(server.clients[i], SHUT_RDWR);
    while (server.connections)
        usleep(1000);
    for (unsigned i = 0; i < server.client_count; i++)
        close(server.clients[i]);
    free(server.bytes);
    return 0;
}

TEST_GROUP(start, stop);

static remote_object_t *see(const oddities_t *odd, err_t *err) {
    char url[100];
    unsetenv("http_proxy");
    pthread_mutex_lock(&server.lock);
    server.odd = *odd;
    pthread_mutex_unlock(&server.lock);
    server.answers = 0;
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%u/orders.csv?sig=secret", server.port, ++server.round);
    remote_object_t *object = remote_see(url, (odd->patience_ms ? odd->patience_ms : 8000) * 1000000, err);
    if (!object && err->status == STATUS_HOST && strstr(err->text, "libcurl"))
        skip();
    return object;
}

static remote_object_t *must_see(const oddities_t *odd) {
    err_t err;
    remote_object_t *object = see(odd, &err);
    if (!object)
        fail_msg("%s", err.text);
    return object;
}

static bool read_range(const remote_object_t *object, const remote_pace_t *pace, size_t from, size_t to,
                       err_t *err) {
    uint8_t buffer[50000];
    remote_reader_t *reader = remote_open(object, pace, err);
    assert_non_null(reader);
    remote_read_until(reader, to);
    ssize_t n = 1;
    while (from < to && n > 0) {
        const size_t most = to - from < sizeof buffer ? to - from : sizeof buffer;
        n = remote_read(reader, buffer, most, from, err);
        if (n > 0)
            assert_memory_equal(buffer, server.bytes + from, (size_t)n);
        from += n > 0 ? (size_t)n : 0;
    }
    if (n > 0 && to == SIZE)
        assert_int_equal(remote_read(reader, buffer, 1, SIZE, err), 0);
    remote_close(reader);
    return n > 0;
}

static const remote_pace_t wide = {.ahead = 1 << 20, .connections = 4}, narrow = {.ahead = 0};

/* All of it, by several connections and by one, is what the server has. */
static void reads_all(const oddities_t *odd) {
    err_t err;
    remote_object_t *object = must_see(odd);
    assert_int_equal(remote_size(object), SIZE);
    if (!read_range(object, &wide, 0, SIZE, &err) || !read_range(object, &narrow, 100000, SIZE, &err))
        fail_msg("%s", err.text);
    remote_forget(object);
}

static void refuses_with(status_t status, const oddities_t *odd, bool changed, const char *words) {
    err_t err = {.status = STATUS_OK};
    remote_object_t *object = see(odd, &err);
    const bool ok = object && read_range(object, &wide, 0, SIZE, &err);
    remote_forget(object);
    assert_false(ok);
    assert_int_equal(err.status, status);
    assert_int_equal(err.changed, changed);
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in: %s", words, err.text);
}

static void refuses(const oddities_t *odd, bool changed, const char *words) {
    refuses_with(STATUS_INPUT, odd, changed, words);
}

#define ODD(...)                                                                                             \
    &(oddities_t) {                                                                                          \
        __VA_ARGS__                                                                                          \
    }

TEST(plain) {
    reads_all(ODD(.together = 5));
    assert_false(server.alone);
}

TEST(head_is_fetched_once) {
    err_t err;
    enum { END = 64 * 1024 };
    uint8_t buffer[REMOTE_HEAD];
    remote_object_t *object = must_see(ODD(.etag = "\"a\""));
    remote_reader_t *reader = remote_open(object, &narrow, &err);
    assert_int_equal(remote_read(reader, buffer, sizeof buffer, 0, &err), REMOTE_HEAD);
    assert_int_equal(server.answers, 1);
    for (size_t got = 0; got < END;) {
        const size_t at = SIZE - END + got;
        const ssize_t n = remote_read(reader, buffer, END - got, at, &err);
        assert_true(n > 0);
        assert_memory_equal(buffer, server.bytes + at, (size_t)n);
        got += (size_t)n;
    }
    assert_int_equal(server.answers, 2);
    remote_close(reader);
    remote_forget(object);
}

TEST(nothing_is_fetched_beyond) {
    err_t err;
    remote_object_t *object = must_see(ODD(.etag = "\"a\""));
    assert_true(read_range(object, &wide, 0, REMOTE_HEAD, &err));
    assert_int_equal(server.answers, 1);
    assert_true(read_range(object, &wide, 1000000, 1100000, &err));
    assert_int_equal(server.answers, 2);
    remote_forget(object);
}

TEST(back_and_forth) {
    static const size_t places[] = {2900000, 100000, 2000000, 2100000, 70000, 2999999};
    for (unsigned ranges = 0; ranges < 2; ranges++) {
        err_t err;
        uint8_t byte[1000];
        remote_object_t *object = must_see(ODD(.no_ranges = !ranges));
        assert_int_equal(remote_gives_ranges(object), ranges);
        remote_reader_t *reader = remote_open(object, &wide, &err);
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
            const ssize_t n = remote_read(reader, byte, sizeof byte, places[i], &err);
            assert_true(n > 0);
            assert_memory_equal(byte, server.bytes + places[i], (size_t)n);
        }
        remote_close(reader);
        remote_forget(object);
    }
}

TEST(without_ranges) {
    reads_all(ODD(.no_ranges = true));
    reads_all(ODD(.no_ranges = true, .no_length = true));
    reads_all(ODD(.no_ranges = true, .cut_from = 2, .cut_to = 5, .cut = 1700000));
}

TEST(empty) {
    for (unsigned ranges = 0; ranges < 2; ranges++) {
        err_t err;
        uint8_t byte;
        remote_object_t *object = must_see(ODD(.empty = true, .no_ranges = !ranges));
        assert_int_equal(remote_size(object), 0);
        remote_reader_t *reader = remote_open(object, &narrow, &err);
        assert_int_equal(remote_read(reader, &byte, 1, 0, &err), 0);
        remote_close(reader);
        remote_forget(object);
    }
}

TEST(goes_on_after) {
    reads_all(ODD(.cut_from = 2, .cut_to = 40, .cut = 100000));
    reads_all(ODD(.cut_from = 1, .cut_to = 1, .cut = 10));
    reads_all(ODD(.from = 3, .to = 6, .status = 503));
    reads_all(ODD(.from = 1, .to = 3, .status = 429));
    reads_all(ODD(.from = 3, .to = 6, .status = 408));
    reads_all(ODD(.whole_at = 4));
    reads_all(ODD(.stall_at = 3, .patience_ms = 2000));
    reads_all(ODD(.less = 70000));
    reads_all(ODD(.less = 70000, .goes_on = true));
}

TEST(changes) {
    const char *monday = "Mon, 30 Nov 2026 10:00:00 GMT", *later = "Mon, 30 Nov 2026 10:00:01 GMT";
    refuses(ODD(.change_from = 3, .new_size = SIZE - 1), true, "changed while");
    refuses(ODD(.change_from = 3, .etag = "\"a\"", .new_etag = "\"b\""), true, "changed while");
    refuses(ODD(.change_from = 3, .modified = monday, .new_modified = later), true, "changed while");
    refuses(ODD(.change_from = 3, .etag = "\"a\"", .new_etag = "\"b\"", .modified = monday,
                .new_modified = later),
            true, "changed while");
    reads_all(ODD(.change_from = 3, .etag = "\"a\"", .new_etag = "\"b\"", .modified = monday));
    reads_all(ODD(.change_from = 3, .etag = "\"a\"", .modified = monday, .new_modified = later));
    reads_all(ODD(.change_from = 3, .etag = "W/\"a\"", .new_etag = "W/\"b\""));
}

TEST(refusals) {
    refuses(ODD(.lie_at = 3, .lie = 7), false, "Content-Range: bytes ");
    refuses(ODD(.lie_at = 1, .lie = 7), false, "Content-Range: bytes 7-");
    refuses(ODD(.from = 1, .to = 9, .status = 404), false, "HTTP 404");
    refuses(ODD(.from = 3, .to = 9, .status = 403,
                .body = "<Error><Code>AccessDenied</Code><Message>Request has "
                        "expired</Message></Error>"),
            false, "(AccessDenied)");
    refuses(ODD(.from = 1, .to = 9, .status = 403,
                .body = "<Error><Code>Bad</Code><Message>/a?sig=secret</Message></Error>"),
            false, "(Bad)");
    refuses(ODD(.from = 1, .to = 9, .status = 404, .endless = true), false, "HTTP 404");
    refuses_with(STATUS_SERVER, ODD(.no_ranges = 1, .no_length = 1, .endless = 1, .patience_ms = 900), false,
                 "how long it is");
    refuses_with(STATUS_SERVER, ODD(.stall_at = 1, .endless = true, .patience_ms = 2000), false,
                 "its answer had not ended after 2.0 s; that lasted for 2");
    refuses_with(STATUS_SERVER, ODD(.from = 1, .to = 999, .status = 503, .patience_ms = 300), false,
                 "HTTP 503");
    refuses_with(STATUS_SERVER, ODD(.from = 3, .to = 999, .status = 500, .patience_ms = 300), false,
                 "that lasted for");
}

/* A reader tries again for as long as a server that is silent may be. */
TEST(patience) {
    static const oddities_t silent[] = {
        {.mute_from = 3, .mute_to = 999, .patience_ms = 2000},
        {.from = 3, .to = 999, .status = 503, .patience_ms = 2000},
        {.cut_from = 3, .cut_to = 999, .patience_ms = 2000},
        {.mute_from = 1, .mute_to = 999, .patience_ms = 2000},
    };
    for (size_t i = 0; i < sizeof silent / sizeof *silent; i++) {
        const int64_t began_ns = clock_now_ns();
        refuses_with(STATUS_SERVER, &silent[i], false, "that lasted for");
        assert_true(clock_now_ns() - began_ns >= 2000000000);
    }
    reads_all(ODD(.late_ms = 1000, .patience_ms = 2000));
}

TEST(last_modified) {
    remote_object_t *object = must_see(ODD(.modified = "Thu, 01 Jan 1970 00:01:01 GMT"));
    assert_int_equal(remote_modified_ns(object), 61000000000);
    remote_forget(object);
    object = must_see(ODD(.etag = "\"a\""));
    assert_int_equal(remote_modified_ns(object), 0);
    remote_forget(object);
}

TEST(no_server) {
    err_t err;
    setenv("RES_OPTIONS", "timeout:1 attempts:1", 1);
    assert_null(remote_see("http://127.0.0.1:1/orders.csv", 300000000, &err));
    assert_int_equal(err.status, STATUS_SERVER);
    assert_non_null(strstr(err.text, "that lasted for"));
    const int64_t began_ns = clock_now_ns();
    assert_null(remote_see("http://no-such-host.invalid/orders.csv", 60000000000, &err));
    assert_true(clock_now_ns() - began_ns < 30000000000);
    assert_non_null(strstr(err.text, "check the URL"));
}

/* ---- URLs ---- */

static void is_shown(const char *url, const char *as) {
    err_t err;
    char *shown = remote_shown(url, &err);
    assert_string_equal(shown, as);
    free(shown);
}

TEST(urls) {
    assert_true(remote_is("https://host/a") && remote_is("HTTP://host/a"));
    assert_false(remote_is("gs://bucket/a") || remote_is("a.csv") || remote_is("https:/host/a"));
    is_shown("https://host/a/b.csv", "https://host/a/b.csv");
    is_shown("HTTPS://host:8443/a.csv?sig=x/y#z", "https://host:8443/a.csv");
    is_shown("https://me:secret@host/a@b.csv", "https://host/a@b.csv");
    is_shown("https://host/a%20b%C3%A9%2F%25.csv", "https://host/a b\xc3\xa9%2F%25.csv");
    is_shown("https://host/a b\xc3\xa9.csv", "https://host/a b\xc3\xa9.csv");
}

TEST(hidden) {
    char url[] = "https://host/hidden.csv?X-Amz-Signature=0123", file[] = "a.csv?b",
         plain[] = "https://host/b.csv";
    remote_hide(url);
    assert_string_equal(url, "https://host/hidden.csv");
    for (size_t i = strlen(url); i < sizeof url; i++)
        assert_int_equal(url[i], 0);
    remote_hide(file);
    remote_hide(plain);
    assert_string_equal(file, "a.csv?b");
    assert_string_equal(plain, "https://host/b.csv");
}

static void must_not_be_given(const char *url, const char *words) {
    err_t err;
    assert_null(remote_see(url, 1, &err));
    assert_int_equal(err.status, STATUS_USAGE);
    assert_null(strstr(err.text, "secret"));
    if (!strstr(err.text, words))
        fail_msg("'%s' is not in: %s", words, err.text);
}

TEST(must_not_be_given) {
    char one[] = "https://host/twice.csv?a=secret1", other[] = "https://host/twice.csv?a=secret2",
         login[] = "https://me:secret@host/login.csv";
    must_not_be_given("https://me:secret@host/a.csv", "~/.netrc");
    must_not_be_given("https://host/folder/", "is a folder");
    must_not_be_given("https://host", "is a folder");
    remote_hide(one);
    remote_hide(other);
    must_not_be_given(one, "was given twice");
    char whole[] = "https://host/plain.csv", part[] = "https://host/plain.csv?id=2";
    remote_hide(whole);
    remote_hide(part);
    must_not_be_given(whole, "was given twice");
    remote_hide(login);
    assert_string_equal(login, "https://host/login.csv");
    must_not_be_given(login, "~/.netrc");
}
