#include "generate/generate.h"
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

enum { TEXT_BYTES = 1 << 18 };

/* Where the files go, one after the other. */
typedef struct {
    const generate_kind_t *kind;
    const generate_t *what;
    void *maker;
    int fd;
    gzFile file; /* of it: packs what is written, or not; NULL: none is open */
    generate_made_t made;
    char path[2 * PATH_MAX]; /* of the file; "": the caller's descriptor. No longer one can be opened */
    char *end;               /* of what is not written yet */
    char text[TEXT_BYTES + GENERATE_ROOM];
} output_t;

static bool cannot_write(const output_t *output, err_t *err) {
    const int error = errno, signal = stop_signal();
    if (signal)
        err_set(err, (status_t)(128 + signal),
                "interrupted, so the file is not whole; run the same command again");
    else if (error == EPIPE)
        err_set(err, STATUS_READER_GONE, "the reader of the output went away");
    else
        err_set(err, STATUS_HOST,
                "the output could not be written: %s; free some space or write elsewhere, then run the same "
                "command again",
                strerror(error));
    return *output->path && err_where(err, "%s", output->path);
}

/* Writes the text in pieces that a pipe takes as a whole or not at all, so that a signal ends the wait for a reader: zlib goes on
 * after a part of a piece. */
static bool write_text(output_t *output, err_t *err) {
    for (const char *at = output->text; at < output->end;) {
        const size_t left = (size_t)(output->end - at), size = left < PIPE_BUF ? left : PIPE_BUF;
        if (stop_signal() || !gzwrite(output->file, at, (unsigned)size))
            return cannot_write(output, err);
        output->made.bytes += size;
        at += size;
    }
    output->end = output->text;
    return true;
}

/* Opens the file that the path names, or the descriptor. */
static bool begin_file(output_t *output, int fd, err_t *err) {
    output->fd = fd =
        *output->path ? open(output->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666) : dup(fd);
    if (fd < 0)
        return err_set(err, STATUS_HOST, "%s cannot be written: %s", output->path, strerror(errno));
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
    output->file = gzdopen(fd, output->what->gzip ? "w" : "wT");
    return (output->file && gzbuffer(output->file, PIPE_BUF) == 0) || err_memory(err, TEXT_BYTES);
}

static bool end_file(output_t *output, err_t *err) {
    const bool closed = gzclose(output->file) == Z_OK;
    output->file = NULL;
    output->made.files++;
    return closed || cannot_write(output, err);
}

/* Opens the file of a directory that the row put last belongs into, if it is another one than before. */
static bool change_file(output_t *output, err_t *err) {
    char name[GENERATE_NAME_SIZE], path[sizeof output->path];
    output->kind->name_file(output->maker, name);
    snprintf(path, sizeof path, "%s/%s%s", output->what->directory, name, output->what->gzip ? ".gz" : "");
    if (strcmp(path, output->path) == 0)
        return true;
    if (output->file && !end_file(output, err))
        return false;
    strcpy(output->path, path);
    return begin_file(output, -1, err);
}

static bool write_all(output_t *output, int fd, err_t *err) {
    const generate_t *what = output->what;
    output->end = output->kind->begin(output->maker, what, output->text, err);
    if (!output->end)
        return false;
    if (what->directory && mkdir(what->directory, 0777) != 0 && errno != EEXIST)
        return err_set(err, STATUS_HOST, "the directory %s cannot be made: %s", what->directory,
                       strerror(errno));
    snprintf(output->path, sizeof output->path, "%s", what->output ? what->output : "");
    if (!what->directory && !begin_file(output, fd, err))
        return false;
    for (uint64_t left = what->count; left; left--) {
        output->end = output->kind->put_row(output->maker, output->end);
        if (what->directory && !change_file(output, err))
            return false;
        if ((what->directory || output->end - output->text >= TEXT_BYTES) && !write_text(output, err))
            return false;
    }
    return !output->file || (write_text(output, err) && end_file(output, err));
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
    output_t *output = calloc(1, sizeof *output + kind->size);
    if (!output)
        return err_memory(err, sizeof *output + kind->size);
    output->kind = kind;
    output->what = what;
    output->maker = output + 1;
    bool ok = write_all(output, fd, err);
    *made = output->made;
    if (output->file) {
        const int nothing = open("/dev/null", O_WRONLY); /* for what is left: it may wait for a slow reader */
        dup2(nothing, output->fd);
        close(nothing);
        gzclose(output->file);
    }
    if (kind->end)
        kind->end(output->maker);
    free(output);
    return ok;
}
