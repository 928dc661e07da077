/* The parts of a source. Only for source*.c. */
#ifndef TIPPLE_INPUT_SOURCE_INNER_H
#define TIPPLE_INPUT_SOURCE_INNER_H

#include "input/source.h"

#include <string.h>

struct source_kit {
    spare_t spare;
    source_t *archive; /* the compressed tar that was read last, wherever reading has stopped in it */
    size_t piece;      /* how many bytes to read at once; 0: suitable for whole files */
    bool looks;        /* only looks at texts: see source_kit_new_to_look */
    pool_t *pool;      /* if it is closed, a stream's bytes are not needed any more; may be NULL */
};

struct source {
    const input_file_t *file;
    const char *name; /* for sentences */
    source_kit_t *kit;
    bool owns_kit;
    bool is_archive;      /* its bytes are given out whatever they are, as of a tar */
    decoder_t *decoder;   /* of a stream: made at the first read, when its first bytes are known */
    input_kind_t packing; /* which decoder it is */
    uint64_t position;    /* of the next byte of the text */
    uint64_t disk_before; /* what the stream of a compressed archive had taken when this member was opened */
    bool over;            /* the end or a fault was reached: nothing more is read */
    bool faulty;
    bool changed;              /* the file was replaced or changed */
    int64_t idle_ns, until_ns; /* see source_hurry */
    bool utf16;                /* of the unpacked text */
    uint8_t *left;             /* text that was read before (source_leave), and is given out first */
    size_t left_length, left_at;
    feed_t feed;
    err_t fault; /* last, and after the feed's: they are long and rarely written */
};

static inline bool source_is_stdin(const input_file_t *file) {
    return file->kind == INPUT_STREAM && strcmp(file->path, "-") == 0 && !file->pushed;
}

/* The source of the compressed tar that contains this member; NULL: none. */
static inline const source_t *source_stream_of(const source_t *source) {
    return source->feed.pull ? source->feed.context : NULL;
}

/* A stream's is chosen when its first bytes are known. */
bool source_choose_decoder(source_t *source, input_kind_t kind, err_t *err);

#endif
