/* host: what this process has held, and what is this machine. */
#include "base/host.h"
#include "query/watch/watch.h"
#include "test.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <netdb.h>
#include <openssl/x509.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

TEST(peak_memory) {
    enum { MUCH = 64 << 20 };
    uint64_t before = host_peak_memory();
    assert_uint_in_range(before, 100 << 10, 1ull << 40);
    char *much = malloc(MUCH);
    assert_non_null(much);
    memset(much, 7, MUCH);
    uint64_t with = host_peak_memory();
    assert_true(with >= before + MUCH / 2 && with >= MUCH);
    assert_int_equal(much[MUCH - 1], 7);
    free(much);
    assert_true(host_peak_memory() + MUCH / 4 >= with); /* a peak stays, as exactly as the system counts */
}

TEST(here) {
    static const char *const here[] = {"127.0.0.1",        "127.9.8.7", "::1",
                                       "::ffff:127.0.0.1", "localhost", "/tmp/mongodb-27017.sock"};
    static const char *const elsewhere[] = {"192.0.2.1", "198.51.100.7",   "2001:db8::1", "::ffff:192.0.2.1",
                                            "",          "127.0.0.1:27017"};
    for (size_t i = 0; i < sizeof here / sizeof *here; i++)
        if (!watch_is_here(here[i]))
            fail_msg("%s is here", here[i]);
    for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++)
        if (watch_is_here(elsewhere[i]))
            fail_msg("%s is not here", elsewhere[i]);
}

/* What is open already, such as connections that end in the background, is not to be had again. */
TEST(descriptors) {
    enum { FEW = 64, OPEN = 50, MORE = 40 };
    struct rlimit before, few;
    err_t err = {.text = ""};
    int opened[OPEN + MORE];
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    if (before.rlim_max < 4 * FEW)
        skip();
    few = (struct rlimit){.rlim_cur = FEW, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    for (size_t i = 0; i < OPEN + MORE; i++) {
        if (i == OPEN)
            assert_true(host_want_descriptors("--threads", MORE, &err));
        opened[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
        assert_true(opened[i] >= 0);
    }
    for (size_t i = 0; i < OPEN + MORE; i++)
        close(opened[i]);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* Each address of this machine's interfaces, written as text. */
TEST(own_addresses) {
    struct ifaddrs *own;
    size_t seen = 0;
    assert_int_equal(getifaddrs(&own), 0);
    for (const struct ifaddrs *at = own; at; at = at->ifa_next) {
        char text[NI_MAXHOST];
        int family = at->ifa_addr ? at->ifa_addr->sa_family : AF_UNSPEC;
        if (family != AF_INET && family != AF_INET6)
            continue;
        socklen_t size = family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
        assert_int_equal(getnameinfo(at->ifa_addr, size, text, sizeof text, NULL, 0, NI_NUMERICHOST), 0);
        if (!watch_is_here(text))
            fail_msg("%s is here", text);
        seen++;
    }
    freeifaddrs(own);
    assert_true(seen > 0);
}

/* Where a thread cannot be started, as for want of memory, it says so. */
TEST(threads) {
    pthread_attr_t before, huge;
    err_t err = {.text = ""};
    assert_true(host_has_threads(&err));
    assert_int_equal(pthread_getattr_default_np(&before), 0);
    pthread_attr_init(&huge);
    assert_int_equal(pthread_attr_setstacksize(&huge, (size_t)1 << 46), 0);
    assert_int_equal(pthread_setattr_default_np(&huge), 0);
    const bool can = host_has_threads(&err);
    assert_int_equal(pthread_setattr_default_np(&before), 0);
    pthread_attr_destroy(&before);
    pthread_attr_destroy(&huge);
    assert_false(can);
    assert_int_equal(err.status, STATUS_HOST);
    assert_non_null(strstr(err.text, "not enough memory"));
}

/* Makes an empty file in a folder, and the folders that it is in. */
static void put_file(const char *root, const char *path) {
    char whole[PATH_MAX];
    snprintf(whole, sizeof whole, "%s%s", root, path);
    for (char *slash = whole + strlen(root); (slash = strchr(slash + 1, '/'));) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    fclose(fopen(whole, "w"));
}

/* From the last place to the first: each is preferred to those that were there before. */
TEST(authorities) {
    static const char *const kept[] = {"/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem",
                                       "/etc/pki/tls/certs/ca-bundle.crt",
                                       "/etc/ssl/certs/ca-certificates.crt"};
    static const char *const variables[] = {"SSL_CERT_FILE", "SSL_CERT_DIR"};
    char root[] = "/tmp/tipple-authorities-XXXXXX", path[PATH_MAX], command[PATH_MAX];
    assert_non_null(mkdtemp(root));
    unsetenv("SSL_CERT_FILE");
    unsetenv("SSL_CERT_DIR");
    assert_false(host_find_authorities(root, path));
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
        put_file(root, kept[i]);
        assert_true(host_find_authorities(root, path));
        assert_string_equal(path + strlen(root), kept[i]);
    }
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        setenv(variables[i], "/mine", 1);
        assert_false(host_find_authorities(root, path));
        unsetenv(variables[i]);
    }
    snprintf(path, sizeof path, "%s/README", X509_get_default_cert_dir());
    put_file(root, path);
    assert_true(host_find_authorities(root, path));
    snprintf(path, sizeof path, "%s/0a1b2c3d.0", X509_get_default_cert_dir());
    put_file(root, path);
    assert_false(host_find_authorities(root, path));
    snprintf(command, sizeof command, "rm -r %s", root);
    assert_int_equal(system(command), 0);
}
