/* A file that is written whole or not at all: under another name in the same folder, made durable, then renamed. After a
 * kill the old file is there, and perhaps a part of the new one under the other name. */
#include "report/inner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* If the path is a link, the file that it names is replaced, and the link stays. */
static bool find_place(const char *path, char place[PATH_MAX]) {
    struct stat found;
    if (lstat(path, &found) == 0 && S_ISLNK(found.st_mode))
        return realpath(path, place) != NULL;
    return (size_t)snprintf(place, PATH_MAX, "%s", path) < PATH_MAX || (errno = ENAMETOOLONG, false);
}

/* Makes a new file in the same folder: ".NAME.123.part"; of a long name, only the first part. */
static int make_part(const char *place, char part[PATH_MAX]) {
    const char *slash = strrchr(place, '/');
    const char *name = slash ? slash + 1 : place;
    const int written =
        snprintf(part, PATH_MAX, "%.*s.%.200s.%ld.part", (int)(name - place), place, name, (long)getpid());
    if (written >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    unlink(part); /* left by a killed process with the same number */
    return open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static bool write_all(int file, const char *text, size_t length) {
    while (length) {
        const ssize_t written = write(file, text, length);
        if (written < 0 && errno != EINTR)
            return false;
        text += written > 0 ? written : 0;
        length -= written > 0 ? (size_t)written : 0;
    }
    return true;
}

static int open_to_read(const char *path) {
    int file;
    do
        file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    while (file < 0 && errno == EINTR);
    return file;
}

/* Only a missing file, an empty file or an earlier page may be replaced. Anything else belongs to the user, and may
 * even be what this command reads or writes. 1: it may be replaced; 0: it must stay; -1: it cannot be read, and errno
 * says why. */
static int may_be_replaced(const char *path) {
    char head[FILE_MARK + 1];
    const int file = open_to_read(path);
    if (file < 0)
        return errno == ENOENT || errno == ENOTDIR || errno == ENAMETOOLONG ? 1 : -1;
    ssize_t got;
    do
        got = read(file, head, FILE_MARK);
    while (got < 0 && errno == EINTR);
    const int problem = errno;
    close(file);
    errno = problem;
    if (got < 0)
        return -1;
    head[got] = '\0';
    return !got || strstr(head, FILE_MARK_PAGE);
}

bool result_is_same_file(const char *one, const char *other) {
    struct stat first, second;
    const bool here = stat(one, &first) == 0, there = stat(other, &second) == 0;
    return here && there ? first.st_dev == second.st_dev && first.st_ino == second.st_ino
                         : here == there && strcmp(one, other) == 0;
}

bool file_check(const char *path, err_t *err) {
    char place[PATH_MAX], part[PATH_MAX];
    struct stat found;
    if (stat(path, &found) == 0 && !S_ISREG(found.st_mode))
        return err_set(err, STATUS_USAGE, "--report: %s is %s; name a file", path,
                       S_ISDIR(found.st_mode) ? "a folder" : "no ordinary file");
    const int may = may_be_replaced(path);
    if (may < 0)
        return err_set(err, err_status_of(errno),
                       "--report: what is in %s cannot be read: %s; name another file", path,
                       strerror(errno));
    if (!may)
        return err_set(err, STATUS_USAGE,
                       "--report: %s is no report of tipple, and stays as it is; name another file", path);
    const int file = find_place(path, place) ? make_part(place, part) : -1;
    const char *slash = strrchr(path, '/');
    if (file < 0 && slash && (errno == ENOENT || errno == ENOTDIR))
        return err_set(err, STATUS_USAGE, "--report: %s cannot be written: %.*s %s", path,
                       (int)(slash - path), path,
                       errno == ENOENT ? "does not exist; create this folder, or name another"
                                       : "is no folder; name another");
    if (file < 0)
        return err_set(err, err_status_of(errno),
                       "--report: %s could not be written afterwards: %s; name a file in a folder that is "
                       "there and that you may write to",
                       path, strerror(errno));
    close(file);
    unlink(part);
    return true;
}

/* Makes the new name durable by syncing its folder; some file systems cannot do this. */
static void sync_folder(const char *place) {
    char folder[PATH_MAX];
    snprintf(folder, sizeof folder, "%s", place);
    char *slash = strrchr(folder, '/');
    if (slash)
        slash[slash == folder] = '\0';
    const int file = open(slash ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (file < 0)
        return;
    fsync(file);
    close(file);
}

bool file_write(const char *path, const char *text, size_t length, err_t *err) {
    char place[PATH_MAX], part[PATH_MAX];
    const int may = may_be_replaced(path);
    if (may < 0)
        return err_set(err, STATUS_HOST,
                       "the report %s could not be written: what is there cannot be read: %s", path,
                       strerror(errno));
    if (!may)
        return err_set(err, STATUS_HOST,
                       "the report was not written: %s is no report of tipple by now, and stays as it is",
                       path);
    const int file = find_place(path, place) ? make_part(place, part) : -1;
    if (file < 0)
        return err_set(err, STATUS_HOST, "the report %s could not be written: %s", path, strerror(errno));
    struct stat before;
    const bool kept =
        stat(place, &before) != 0 || fchmod(file, before.st_mode & 07777) == 0; /* its readers */
    bool ok = kept && write_all(file, text, length) && fsync(file) == 0;
    int problem = errno;
    if (close(file) != 0 && ok) {
        ok = false;
        problem = errno;
    }
    if (ok && rename(part, place) != 0) {
        ok = false;
        problem = errno;
    }
    if (!ok) {
        unlink(part);
        return err_set(err, STATUS_HOST,
                       "the report %s could not be written: %s; nothing is left of it, and what was there "
                       "before is as it was",
                       path, strerror(problem));
    }
    sync_folder(place);
    return true;
}
