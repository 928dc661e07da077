/* origin: where the bytes of an input lie: in a file that is open, in a pipe, in an object that a URL names, or in the text of
 * another input, which gives them in order. Belongs to one thread. */
#ifndef TIPPLE_INPUT_DECODE_ORIGIN_H
#define TIPPLE_INPUT_DECODE_ORIGIN_H

#include "base/err.h"
#include "input/file/input_file.h"
#include "input/remote/remote.h"

#include <sys/types.h>

/* Works like source_read. */
typedef ssize_t origin_pull_t(void *context, void *out, size_t size, err_t *err);

typedef struct {
    int fd;                  /* -1: none */
    remote_reader_t *remote; /* NULL: none */
    origin_pull_t *pull;     /* NULL: none; with its context */
    void *context;
} origin_t;

static const origin_t origin_none = {.fd = -1};

static inline origin_t origin_of(origin_pull_t *pull, void *context) {
    return (origin_t){.fd = -1, .pull = pull, .context = context};
}

/* True if the bytes can be read from any place. */
static inline bool origin_has_places(const origin_t *origin) {
    return origin->fd >= 0 || origin->remote;
}

/* Opens what holds the input's bytes. Never waits, not even for a pipe that has no writer yet. pace: of an object. */
bool origin_open(origin_t *origin, const input_file_t *file, const remote_pace_t *pace, err_t *err);
void origin_close(origin_t *origin);

/* Like pread; the text of another input comes in order, whatever the offset. If an object or another input fails, *err has the
 * sentence. */
ssize_t origin_pread(const origin_t *origin, void *out, size_t size, uint64_t offset, err_t *err);

/* Reads all of these bytes; *got: fewer only at its end. name: for sentences. */
bool origin_read(const origin_t *origin, const char *name, void *out, size_t size, uint64_t offset,
                 size_t *got, err_t *err);

#endif
