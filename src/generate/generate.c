#define ZLIB_CONST
#include "generate/generate.h"
#include "base/numbers.h"
#include "base/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { TEXT_BYTES = 1 << 18, PACKED_BYTES = 1 << 18, GZIP_WINDOW = 15 + 16 };

/* Where the files go, one after the other. */
typedef struct {
    const generate_kind_t *kind;
    void *maker;
    bool gzip, in_directory;
    int fd;
    uint64_t left; /* rows */
    generate_made_t made;
    z_stream stream;
    char packed[PACKED_BYTES];
    char name[GENERATE_NAME_SIZE]; /* in a directory: of the file at hand */
    const char *held;              /* what comes first in the next text: a header, or a row of another file */
    size_t held_size;
    char text[TEXT_BYTES + GENERATE_ROOM];
} output_t;

static bool cannot_write(const output_t *output, err_t *err) {
    const int error = errno, signal = stop_signal();
    char size[UNITS_MAX];
    units_size(size, (double)output->made.bytes);
    if (signal)
        return err_set(err, (status_t)(128 + signal),
                       "interrupted after %s, so the file is not whole; run the same command again", size);
    if (error == EPIPE)
        return err_set(err, STATUS_READER_GONE, "the reader of the output went away after %s", size);
    if (error == ENOSPC || error == EDQUOT)
        return err_set(
            err, STATUS_HOST,
            "the output is full after %s (%s); free some space or ask for fewer --rows, then run the same "
            "command again",
            size, strerror(error));
    return err_set(err, STATUS_HOST, "the output could not be written after %s: %s", size, strerror(error));
}

static bool write_bytes(output_t *output, const char *bytes, size_t count, err_t *err) {
    while (count) {
        const ssize_t n = stop_signal() ? -1 : write(output->fd, bytes, count);
        if (n < 0 && errno == EINTR && !stop_signal())
            continue;
        if (n < 0)
            return cannot_write(output, err);
        bytes += n;
        count -= (size_t)n;
        output->made.bytes += (uint64_t)n;
    }
    return true;
}

/* Compresses and writes the first `count` bytes of the text. */
static bool pack(output_t *output, size_t count, int flush, err_t *err) {
    z_stream *stream = &output->stream;
    stream->next_in = (const Bytef *)output->text;
    stream->avail_in = (uInt)count;
    do {
        stream->next_out = (Bytef *)output->packed;
        stream->avail_out = PACKED_BYTES;
        deflate(stream, flush);
        if (!write_bytes(output, output->packed, PACKED_BYTES - stream->avail_out, err))
            return false;
    } while (!stream->avail_out);
    return true;
}

/* Fills the text with rows until it is full or the file ends. Returns the bytes of the text. */
static size_t fill(output_t *output) {
    char name[GENERATE_NAME_SIZE] = "", *to = output->text + output->held_size;
    memmove(output->text, output->held, output->held_size);
    for (output->held_size = 0; output->left && to < output->text + TEXT_BYTES && !output->held_size;
         output->left--) {
        char *end = output->kind->put_row(output->maker, to);
        if (output->in_directory)
            output->kind->name_file(output->maker, name);
        if (strcmp(name, output->name) == 0) {
            to = end;
        } else {
            output->held = to;
            output->held_size = (size_t)(end - to);
            strcpy(output->name, name);
        }
    }
    return (size_t)(to - output->text);
}

static bool write_file(output_t *output, int fd, err_t *err) {
    output->fd = fd;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    if (output->gzip)
        deflateReset(&output->stream);
    do {
        size_t count = fill(output);
        if (!(output->gzip ? pack(output, count, Z_NO_FLUSH, err)
                           : write_bytes(output, output->text, count, err)))
            return false;
    } while (output->left && !output->held_size);
    output->made.files++;
    return !output->gzip || pack(output, 0, Z_FINISH, err);
}

static bool write_named(output_t *output, const char *path, err_t *err) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
    bool ok = write_file(output, fd, err) || err_where(err, "%s", path);
    if (close(fd) != 0 && ok)
        ok = err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
    return ok;
}

static bool write_directory(output_t *output, const char *directory, err_t *err) {
    char *path;
    bool ok = mkdir(directory, 0777) == 0 || errno == EEXIST ||
              err_set(err, STATUS_HOST, "the directory %s cannot be made: %s", directory, strerror(errno));
    for (fill(output); ok && output->held_size;) {
        if (asprintf(&path, "%s/%s%s", directory, output->name, output->gzip ? ".gz" : "") < 0)
            return err_memory(err, strlen(directory));
        ok = write_named(output, path, err);
        free(path);
    }
    return ok;
}

static bool write_all(output_t *output, const generate_t *what, int fd, err_t *err) {
    output->maker = calloc(1, output->kind->size);
    if (!output->maker)
        return err_memory(err, output->kind->size);
    if (output->gzip && deflateInit2(&output->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                                     Z_DEFAULT_STRATEGY) != Z_OK)
        return err_memory(err, PACKED_BYTES);
    char *header_end = output->kind->begin(output->maker, what, output->text, err);
    if (!header_end)
        return false;
    output->held = output->text;
    output->held_size = (size_t)(header_end - output->text);
    return what->directory ? write_directory(output, what->directory, err)
           : what->output  ? write_named(output, what->output, err)
                           : write_file(output, fd, err);
}

bool generate_check(const generate_kind_t *kind, const generate_t *what, err_t *err) {
    if (what->count > kind->most)
        return err_set(
            err, STATUS_USAGE,
            "--rows %llu: one file has at most %llu %s; make several files, with seeds of their own",
            (unsigned long long)what->count, (unsigned long long)kind->most, kind->unit);
    return !kind->check || kind->check(what, err);
}

bool generate_write(const generate_kind_t *kind, const generate_t *what, int fd, generate_made_t *made,
                    err_t *err) {
    *made = (generate_made_t){.bytes = 0};
    if (!generate_check(kind, what, err))
        return false;
    output_t *output = calloc(1, sizeof *output);
    if (!output)
        return err_memory(err, sizeof *output);
    output->kind = kind;
    output->gzip = what->gzip;
    output->in_directory = what->directory;
    output->left = what->count;
    bool ok = write_all(output, what, fd, err);
    *made = output->made;
    if (output->gzip)
        deflateEnd(&output->stream);
    if (output->maker && kind->end)
        kind->end(output->maker);
    free(output->maker);
    free(output);
    return ok;
}
