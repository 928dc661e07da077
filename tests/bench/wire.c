#include "wire.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void die(const char *words, ...) {
    va_list arguments;
    va_start(arguments, words);
    fprintf(stderr, "%s: ", program_invocation_short_name);
    vfprintf(stderr, words, arguments);
    fputc('\n', stderr);
    exit(1);
}

void *need(void *memory) {
    if (!memory)
        die("out of memory");
    return memory;
}

uint32_t number(const char *text, uint32_t most) {
    char *end;
    unsigned long value = strtoul(text, &end, 10);
    if (*end || end == text || value < 1 || value > most)
        die("'%s' is not a number from 1 to %u", text, most);
    return (uint32_t)value;
}

uint8_t *read_file(const char *path, size_t *length) {
    int fd = open(path, O_RDONLY);
    struct stat info;
    if (fd < 0 || fstat(fd, &info) != 0)
        die("%s: %s", path, strerror(errno));
    *length = (size_t)info.st_size;
    uint8_t *bytes = need(malloc(*length + 1));
    for (size_t done = 0; done < *length;) {
        ssize_t got = read(fd, bytes + done, *length - done);
        if (got <= 0)
            die("%s cannot be read", path);
        done += (size_t)got;
    }
    close(fd);
    return bytes;
}

/* ---- messages ---- */

uint32_t read32(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

uint8_t *put32(uint8_t *at, uint32_t value) {
    for (int shift = 0; shift < 32; shift += 8)
        *at++ = (uint8_t)(value >> shift);
    return at;
}

uint8_t *put_key(uint8_t *at, uint8_t type, const char *key) {
    *at++ = type;
    return (uint8_t *)stpcpy((char *)at, key) + 1;
}

uint8_t *put_text(uint8_t *at, const char *key, const char *text) {
    at = put32(put_key(at, 0x02, key), (uint32_t)strlen(text) + 1);
    return (uint8_t *)stpcpy((char *)at, text) + 1;
}

uint8_t *put_bool(uint8_t *at, const char *key, bool value) {
    at = put_key(at, 0x08, key);
    *at++ = value;
    return at;
}

uint8_t *close_document(uint8_t *start, uint8_t *at) {
    *at++ = 0;
    put32(start, (uint32_t)(at - start));
    return at;
}

/* ---- a connection ---- */

int dial(uint16_t port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int fd = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof address) != 0)
        die("port %u: %s", port, strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return fd;
}

bool send_all(int fd, const uint8_t *bytes, size_t length) {
    while (length) {
        ssize_t sent = send(fd, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent <= 0)
            return false;
        bytes += sent;
        length -= (size_t)sent;
    }
    return true;
}

size_t receive(int fd, uint8_t *reply) {
    size_t have = 0, want = HEADER;
    while (have < want) {
        ssize_t got = recv(fd, reply + have, MOST_REPLY - have, 0);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return 0;
        have += (size_t)got;
        if (have >= HEADER)
            want = read32(reply);
        if (want < HEADER || want > MOST_REPLY)
            return 0;
    }
    return have;
}
