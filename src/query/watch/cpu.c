#include "query/watch/cpu.h"
#include "base/host.h"

#include <ifaddrs.h>
#include <inttypes.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

bool cpu_parse_host(const char *text, cpu_times_t *times) {
    uint64_t user, nice, sys, idle, iowait = 0, irq = 0, softirq = 0;
    /* the columns after these are left out: steal, and guests, which user and nice already contain */
    if (sscanf(text, "cpu  %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
               &user, &nice, &sys, &idle, &iowait, &irq, &softirq) < 4 ||
        strncmp(text, "cpu ", 4) != 0)
        return false;
    *times = (cpu_times_t){user + nice, sys + irq + softirq, iowait, idle};
    return true;
}

bool cpu_parse_process(const char *text, cpu_process_t *found) {
    uint64_t user, sys;
    /* "17 (a (b) c) S 1 ...": a name may hold anything, but after its end there is no other ')' */
    const char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (!name || !end || end < name ||
        sscanf(end + 1,
               " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
               " %" SCNu64 " %" SCNu64,
               &user, &sys) != 2)
        return false;
    snprintf(found->name, sizeof found->name, "%.*s", (int)(end - name - 1), name + 1);
    found->ticks = user + sys;
    return true;
}

bool cpu_host(cpu_times_t *times) {
    char text[512];
    host_read_file("/proc/stat", text, sizeof text);
    return cpu_parse_host(text, times);
}

bool cpu_process(int64_t process, cpu_process_t *found) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", process);
    host_read_file(path, text, sizeof text);
    return cpu_parse_process(text, found);
}

double cpu_ticks_per_second(void) {
    return (double)sysconf(_SC_CLK_TCK);
}

/* The bytes of an address, without port and scope. */
static size_t address_of(const struct sockaddr *socket, const uint8_t **bytes) {
    if (socket && socket->sa_family == AF_INET) {
        *bytes = (const uint8_t *)&((const struct sockaddr_in *)(const void *)socket)->sin_addr;
        return sizeof(struct in_addr);
    }
    if (socket && socket->sa_family == AF_INET6) {
        *bytes = (const uint8_t *)&((const struct sockaddr_in6 *)(const void *)socket)->sin6_addr;
        return sizeof(struct in6_addr);
    }
    return 0;
}

static bool is_loopback(const struct sockaddr *socket) {
    static const uint8_t mapped[13] = {[10] = 0xff, [11] = 0xff, [12] = 127};
    const uint8_t *bytes;
    size_t length = address_of(socket, &bytes);
    return length == sizeof(struct in_addr) ? bytes[0] == 127
           : length > 0
               ? memcmp(bytes, &in6addr_loopback, length) == 0 || memcmp(bytes, mapped, sizeof mapped) == 0
               : false;
}

static bool is_own(const struct sockaddr *socket, const struct ifaddrs *own) {
    const uint8_t *a, *b;
    size_t length = address_of(socket, &a);
    for (; own && length; own = own->ifa_next)
        if (address_of(own->ifa_addr, &b) == length && memcmp(a, b, length) == 0)
            return true;
    return false;
}

bool host_is_here(const char *name) {
    const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    struct ifaddrs *own = NULL;
    bool here = name[0] == '/';
    if (here || getaddrinfo(name, NULL, &hints, &found) != 0)
        return here;
    if (getifaddrs(&own) != 0)
        own = NULL;
    for (const struct addrinfo *at = found; at && !here; at = at->ai_next)
        here = is_loopback(at->ai_addr) || is_own(at->ai_addr, own);
    freeifaddrs(own);
    freeaddrinfo(found);
    return here;
}
