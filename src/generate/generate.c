#include "generate/generate.h"
#include "base/nearest.h"
#include "base/stop.h"
#include "base/units.h"
#include "generate/mot_rows.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUFFER_BYTES = 1 << 20 };

static const mot_release_t *find_release(const char *name, err_t *err) {
    char names[256] = "";
    size_t count = 0, used = 0;
    for (const mot_release_t *release = mot_releases; release->name; release++, count++) {
        if (strcmp(release->name, name) == 0)
            return release;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", count ? ", " : "", release->name);
    }
    const char *nearest = nearest_word(name, generate_mot_releases, count);
    char meant[64] = "";
    if (nearest)
        snprintf(meant, sizeof meant, "; did you mean %s?", nearest);
    err_set(err, STATUS_USAGE, "there is no MOT release '%.60s'%s The releases are %s", name,
            nearest ? meant : ".", names);
    return NULL;
}

static bool may_go_on(uint64_t written, err_t *err) {
    char size[UNITS_MAX];
    int signal = stop_signal();
    return !signal || err_set(err, (status_t)(128 + signal),
                              "interrupted after %s, so the file is not whole; run the same command again",
                              units_size(size, written));
}

static bool cannot_write(int error, uint64_t written, err_t *err) {
    char size[UNITS_MAX];
    units_size(size, written);
    if (error == EPIPE)
        return err_set(err, STATUS_HOST, "the reader of the output went away after %s", size);
    if (error == ENOSPC || error == EDQUOT)
        return err_set(
            err, STATUS_HOST,
            "the output is full after %s (%s); free some space or ask for fewer --rows, then run the same "
            "command again",
            size, strerror(error));
    return err_set(err, STATUS_HOST, "the output could not be written after %s: %s", size, strerror(error));
}

static bool write_whole(int fd, const char *bytes, size_t count, uint64_t *written, err_t *err) {
    while (count) {
        if (!may_go_on(*written, err))
            return false;
        ssize_t n = write(fd, bytes, count);
        if (n >= 0) {
            bytes += n;
            count -= (size_t)n;
            *written += (uint64_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd room = {.fd = fd, .events = POLLOUT};
            poll(&room, 1, 1000);
        } else if (errno != EINTR) {
            return cannot_write(errno, *written, err);
        }
    }
    return true;
}

bool generate_mot_check(const generate_mot_t *what, err_t *err) {
    if (!find_release(what->release ? what->release : generate_mot_default, err))
        return false;
    return what->rows <= GENERATE_MOT_MOST_ROWS ||
           err_set(err, STATUS_USAGE,
                   "--rows %llu: at most %d rows have ids of their own; make several files",
                   (unsigned long long)what->rows, GENERATE_MOT_MOST_ROWS);
}

bool generate_mot(const generate_mot_t *what, int fd, uint64_t *bytes, err_t *err) {
    *bytes = 0;
    if (!generate_mot_check(what, err))
        return false;
    const mot_release_t *release = find_release(what->release ? what->release : generate_mot_default, err);
    mot_rows_t *rows = mot_rows_new(release, what->rows, what->seed);
    char *buffer = malloc(BUFFER_BYTES);
    bool ok = rows && buffer;
    if (!ok)
        err_memory(err, BUFFER_BYTES);
    for (size_t count; ok && (count = mot_rows_fill(rows, buffer, BUFFER_BYTES));)
        ok = write_whole(fd, buffer, count, bytes, err);
    mot_rows_destroy(rows);
    free(buffer);
    return ok;
}
