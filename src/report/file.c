/* A file that is written whole or not at all: under another name in the same folder, synced to disk, then renamed. After a
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

/* Makes PLACE.123.part. If the path is a link, the file that it names is replaced, and the link stays. */
static int make_part(const char *path, char place[PATH_MAX], char part[PATH_MAX]) {
    if (!realpath(path, place))
        snprintf(place, PATH_MAX, "%s", path);
    if (snprintf(part, PATH_MAX, "%s.%ld.part", place, (long)getpid()) >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return -1;
    }
    unlink(part); /* left by a killed process with the same number */
    return open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

/* Only a missing file, an empty file or an earlier page may be replaced. Anything else belongs to the user, and may
 * even be what this command reads or writes. */
static bool may_be_replaced(const char *path, status_t status, const char *what, err_t *err) {
    char head[FILE_MARK + 1];
    struct stat found;
    if (stat(path, &found) != 0)
        return true; /* what hinders to write it is found then */
    FILE *file = S_ISREG(found.st_mode) ? fopen(path, "re") : NULL;
    size_t length = 0;
    while (file && length < FILE_MARK) {
        clearerr(file);
        length += fread(head + length, 1, FILE_MARK - length, file);
        if (!ferror(file) || errno != EINTR)
            break;
    }
    const char *why = S_ISREG(found.st_mode) && (!file || ferror(file)) ? strerror(errno) : NULL;
    head[length] = '\0';
    if (!why && (!file || (length && !strstr(head, FILE_MARK_PAGE))))
        why = "it is no report of tipple";
    if (file)
        fclose(file);
    return !why || err_set(err, status, "%s: %.200s stays as it is: %s; name another file", what, path, why);
}

bool result_is_same_file(const char *one, const char *other) {
    struct stat first, second;
    const bool here = stat(one, &first) == 0, there = stat(other, &second) == 0;
    return here && there ? first.st_dev == second.st_dev && first.st_ino == second.st_ino
                         : here == there && strcmp(one, other) == 0;
}

bool file_check(const char *path, err_t *err) {
    char place[PATH_MAX], part[PATH_MAX];
    if (!may_be_replaced(path, STATUS_USAGE, "--report", err))
        return false;
    const int file = make_part(path, place, part);
    if (file < 0)
        return err_set(
            err, err_status_of(errno),
            "--report: %.200s could not be written afterwards: %s; name a file in a folder that is "
            "there and that you may write to",
            path, strerror(errno));
    close(file);
    unlink(part);
    return true;
}

/* With the permissions of the file that it replaces. */
static bool write_part(int file, const char *place, const char *text, size_t length) {
    struct stat before;
    FILE *stream = fdopen(file, "w");
    const bool ok = stream && (stat(place, &before) != 0 || fchmod(file, before.st_mode & 07777) == 0) &&
                    fwrite(text, 1, length, stream) == length && fflush(stream) == 0 && fsync(file) == 0;
    const int problem = errno;
    const bool closed = (stream ? fclose(stream) : close(file)) == 0;
    errno = ok ? errno : problem;
    return ok && closed;
}

bool file_write(const char *path, const char *text, size_t length, err_t *err) {
    char place[PATH_MAX], part[PATH_MAX];
    if (!may_be_replaced(path, STATUS_HOST, "the report was not written", err))
        return false;
    const int file = make_part(path, place, part);
    if (file >= 0 && write_part(file, place, text, length) && rename(part, place) == 0)
        return true;
    err_set(err, STATUS_HOST, "the report %s could not be written: %s; what was there before is as it was",
            path, strerror(errno));
    if (file >= 0)
        unlink(part);
    return false;
}
