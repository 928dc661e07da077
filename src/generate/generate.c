#define ZLIB_CONST
#include "generate/generate.h"
#include "base/numbers/units.h"
#include "base/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { TEXT_BYTES = 1 << 20, PACKED_BYTES = 1 << 18, GZIP_WINDOW = 15 + 16 };

/* Where the files go, one after the other. */
typedef struct {
    const generate_kind_t *kind;
    bool gzip;
    int fd;
    uint64_t written; /* to all files */
    z_stream stream;
    unsigned char packed[PACKED_BYTES];
    char text[TEXT_BYTES];
} output_t;

static bool may_go_on(uint64_t written, err_t *err) {
    char size[UNITS_MAX];
    int signal = stop_signal();
    return !signal || err_set(err, (status_t)(128 + signal),
                              "interrupted after %s, so the file is not whole; run the same command again",
                              units_size(size, written));
}

static bool cannot_write(const output_t *output, int error, err_t *err) {
    char size[UNITS_MAX];
    units_size(size, output->written);
    if (error == EPIPE)
        return err_set(err, STATUS_READER_GONE, "the reader of the output went away after %s", size);
    if (error == ENOSPC || error == EDQUOT)
        return err_set(
            err, STATUS_HOST,
            "the output is full after %s (%s); free some space or ask for fewer --%s, then run the same "
            "command again",
            size, strerror(error), output->kind->unit);
    return err_set(err, STATUS_HOST, "the output could not be written after %s: %s", size, strerror(error));
}

static bool write_bytes(output_t *output, const void *from, size_t count, err_t *err) {
    const char *bytes = from;
    while (count) {
        if (!may_go_on(output->written, err))
            return false;
        ssize_t n = write(output->fd, bytes, count);
        if (n >= 0) {
            bytes += n;
            count -= (size_t)n;
            output->written += (uint64_t)n;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd room = {.fd = output->fd, .events = POLLOUT};
            poll(&room, 1, 1000);
        } else if (errno != EINTR) {
            return cannot_write(output, errno, err);
        }
    }
    return true;
}

/* The first `count` bytes of the text. */
static bool pack(output_t *output, size_t count, int flush, err_t *err) {
    z_stream *stream = &output->stream;
    stream->next_in = (const Bytef *)output->text;
    stream->avail_in = (uInt)count;
    do {
        stream->next_out = output->packed;
        stream->avail_out = PACKED_BYTES;
        deflate(stream, flush);
        if (!write_bytes(output, output->packed, PACKED_BYTES - stream->avail_out, err))
            return false;
    } while (!stream->avail_out);
    return true;
}

/* What the maker makes until the end of its file. */
static bool write_file(output_t *output, void *maker, int fd, err_t *err) {
    output->fd = fd;
    if (output->gzip)
        deflateReset(&output->stream);
    for (size_t count; (count = output->kind->fill(maker, output->text, TEXT_BYTES));)
        if (!(output->gzip ? pack(output, count, Z_NO_FLUSH, err)
                           : write_bytes(output, output->text, count, err)))
            return false;
    return !output->gzip || pack(output, 0, Z_FINISH, err);
}

static bool write_named(output_t *output, void *maker, const char *path, err_t *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
    bool ok = write_file(output, maker, fd, err) || err_where(err, "%s", path);
    if (close(fd) != 0 && ok)
        ok = err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
    return ok;
}

static bool write_directory(output_t *output, void *maker, const char *directory, uint64_t *files,
                            err_t *err) {
    char name[GENERATE_NAME_SIZE], *path;
    bool ok = mkdir(directory, 0777) == 0 || errno == EEXIST ||
              err_set(err, STATUS_HOST, "the directory %s cannot be made: %s", directory, strerror(errno));
    while (ok && output->kind->next_file(maker, name)) {
        if (asprintf(&path, "%s/%s%s", directory, name, output->gzip ? ".gz" : "") < 0)
            return err_memory(err, strlen(directory));
        ok = write_named(output, maker, path, err);
        *files += ok;
        free(path);
    }
    return ok;
}

static output_t *open_output(const generate_kind_t *kind, bool gzip, err_t *err) {
    output_t *output = malloc(sizeof *output);
    if (!output)
        return err_memory(err, sizeof *output), NULL;
    output->kind = kind;
    output->gzip = gzip;
    output->written = 0;
    output->stream = (z_stream){.next_in = NULL};
    if (!gzip || deflateInit2(&output->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                              Z_DEFAULT_STRATEGY) == Z_OK)
        return output;
    free(output);
    return err_memory(err, PACKED_BYTES), NULL;
}

/* Into the descriptor, or as files into the directory. */
static bool generate(const generate_kind_t *kind, const generate_t *what, int fd, const char *directory,
                     uint64_t *files, uint64_t *bytes, err_t *err) {
    *files = *bytes = 0;
    if (!kind->check(what, err))
        return false;
    void *maker = kind->begin(what, err);
    output_t *output = maker ? open_output(kind, what->gzip, err) : NULL;
    bool ok = output && (directory ? write_directory(output, maker, directory, files, err)
                                   : write_file(output, maker, fd, err));
    if (output) {
        *bytes = output->written;
        if (output->gzip)
            deflateEnd(&output->stream);
    }
    free(output);
    kind->end(maker);
    return ok;
}

bool generate_file(const generate_kind_t *kind, const generate_t *what, int fd, uint64_t *bytes, err_t *err) {
    uint64_t files;
    return generate(kind, what, fd, NULL, &files, bytes, err);
}

bool generate_files(const generate_kind_t *kind, const generate_t *what, const char *directory,
                    uint64_t *files, uint64_t *bytes, err_t *err) {
    return generate(kind, what, -1, directory, files, bytes, err);
}
