#define ZLIB_CONST
#include "generate/generate.h"
#include "base/numbers.h"
#include "base/stop.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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
    const generate_t *what;
    void *maker;
    int fd;
    generate_made_t made;
    z_stream stream;
    char packed[PACKED_BYTES];
    char path[2 * PATH_MAX]; /* of the file; "": the caller's descriptor. No longer one can be opened */
    char *end;               /* of what is not written yet */
    char text[TEXT_BYTES + GENERATE_ROOM];
} output_t;

static bool cannot_write(const output_t *output, err_t *err) {
    const int error = errno, signal = stop_signal();
    char size[UNITS_MAX];
    units_size(size, (double)output->made.bytes);
    if (signal)
        err_set(err, (status_t)(128 + signal),
                "interrupted after %s, so the file is not whole; run the same command again", size);
    else if (error == EPIPE)
        err_set(err, STATUS_READER_GONE, "the reader of the output went away after %s", size);
    else
        err_set(
            err, STATUS_HOST,
            "the output could not be written after %s: %s; free some space or write elsewhere, then run the "
            "same command again",
            size, strerror(error));
    return *output->path && err_where(err, "%s", output->path);
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

/* Writes the text, packed or not. */
static bool write_text(output_t *output, int flush, err_t *err) {
    z_stream *stream = &output->stream;
    const size_t count = (size_t)(output->end - output->text);
    output->end = output->text;
    if (!output->what->gzip)
        return write_bytes(output, output->text, count, err);
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

static bool cannot_open(const char *path, err_t *err) {
    return err_set(err, STATUS_HOST, "%s cannot be written: %s", path, strerror(errno));
}

/* Opens the file that `path` names. */
static bool begin_file(output_t *output, err_t *err) {
    if (*output->path)
        output->fd = open(output->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (output->fd < 0)
        return cannot_open(output->path, err);
    fcntl(output->fd, F_SETFL, fcntl(output->fd, F_GETFL) & ~O_NONBLOCK);
    return !output->what->gzip || deflateReset(&output->stream) == Z_OK;
}

static bool end_file(output_t *output, err_t *err) {
    const bool ok = write_text(output, Z_FINISH, err);
    const bool closed = !*output->path || close(output->fd) == 0;
    output->made.files++;
    return ok && (closed || cannot_open(output->path, err));
}

/* Puts the next row. If it belongs into another file of the directory than the one before it, that one ends. */
static bool put_row(output_t *output, err_t *err) {
    char *row = output->end, name[GENERATE_NAME_SIZE], path[sizeof output->path];
    output->end = output->kind->put_row(output->maker, row);
    if (!output->what->directory)
        return true;
    output->kind->name_file(output->maker, name);
    snprintf(path, sizeof path, "%s/%s%s", output->what->directory, name, output->what->gzip ? ".gz" : "");
    if (strcmp(path, output->path) == 0)
        return true;
    const size_t length = (size_t)(output->end - row);
    output->end = row;
    if (*output->path && !end_file(output, err))
        return false;
    memmove(output->text, row, length);
    output->end = output->text + length;
    strcpy(output->path, path);
    return begin_file(output, err);
}

static bool write_all(output_t *output, err_t *err) {
    const generate_t *what = output->what;
    if (what->gzip && deflateInit2(&output->stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, GZIP_WINDOW, 8,
                                   Z_DEFAULT_STRATEGY) != Z_OK)
        return err_memory(err, PACKED_BYTES);
    output->end = output->kind->begin(output->maker, what, output->text, err);
    if (!output->end)
        return false;
    if (what->directory && mkdir(what->directory, 0777) != 0 && errno != EEXIST)
        return err_set(err, STATUS_HOST, "the directory %s cannot be made: %s", what->directory,
                       strerror(errno));
    snprintf(output->path, sizeof output->path, "%s", what->output ? what->output : "");
    if (!what->directory && !begin_file(output, err))
        return false;
    for (uint64_t left = what->count; left; left--)
        if (!put_row(output, err) ||
            (output->end - output->text >= TEXT_BYTES && !write_text(output, Z_NO_FLUSH, err)))
            return false;
    return (what->directory && !*output->path) || end_file(output, err);
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
    output_t *output = calloc(1, sizeof *output + kind->size);
    if (!output)
        return err_memory(err, sizeof *output + kind->size);
    output->kind = kind;
    output->what = what;
    output->maker = output + 1;
    output->fd = fd;
    bool ok = write_all(output, err);
    *made = output->made;
    if (what->gzip)
        deflateEnd(&output->stream);
    if (kind->end)
        kind->end(output->maker);
    free(output);
    return ok;
}
