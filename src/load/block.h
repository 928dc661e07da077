/* block: the records whose first byte lies in one 256 KiB window of a file's decompressed text; the unit of
 * work, of acknowledgement and of resume. A feeder makes it, the queue hands it to one loader, and that
 * loader alone touches it until it is done. Its raw bytes stay until the last reply, because rejects need
 * them. */
#ifndef TIPPLE_LOAD_BLOCK_H
#define TIPPLE_LOAD_BLOCK_H

#include "base/pool.h"
#include "format/dialect.h"
#include "input/manifest.h"
#include "target/catalog.h"
#include "target/position.h"

#include <stdatomic.h>

/* One input of a load, or one part of it. Written by its feeder before its first block is handed out, then
 * read-only, but for what the load's main thread keeps in `books`. */
typedef struct {
    const input_file_t *input;
    catalog_file_t *books;
    size_t part;              /* of the books; the parts of a file follow one another */
    uint64_t from, to;        /* its windows; to is UINT64_MAX where it goes up to the end */
    const dialect_t *dialect; /* NULL until its first bytes were read */
    bool skip;                /* an earlier run has loaded all of it */
    bool begun_before;        /* by another run: blocks that are not done may be there in part, or changed */
    runs_t done_before;       /* blocks that an earlier run has made durable */
    struct block *tail;       /* the main thread's: the last block, settled, while others are not */
    atomic_bool suspect;      /* its data is damaged, or it was changed: no block of it is done for good */
    atomic_bool fed;          /* all blocks were handed out: `blocks` is known */
    atomic_bool lost;         /* another load has taken it over: no more of it, and nothing into the books */
    atomic_uint turn;         /* how often it was lost, and came back */
    uint64_t blocks;          /* behind its last window */
    uint64_t read_before;     /* records of it that were done when this load began */
    uint64_t counted_to, counted; /* so many lines lie before this offset; the loaders', under their lock */
    bool dirty, completed; /* the main thread's: changed since the last checkpoint; reported as complete */
} load_file_t;

typedef struct block {
    struct block *next; /* in the list that is queued, later in that of done blocks */
    load_file_t *file;
    buffer_t buffer;
    uint32_t length;     /* of the text in the buffer */
    uint64_t offset;     /* of text[0] in the file */
    uint64_t first_line; /* of text[0], from 1, counted from the record at lines_from on */
    uint64_t lines_from; /* mostly 0: the file's beginning */
    uint64_t from, to;   /* windows that are done with this block */
    uint32_t turn;       /* its file's, when it was cut */
    int64_t id_base;     /* `_id` of a record = id_base + its offset in the text */
    bool file_start;
    bool last;    /* its file's last: done only when all of the file is, because the file may still grow */
    bool partial; /* cut off by --limit or a fault of the input: never marked as done */
    bool begun_before;   /* what is there of it is read back and compared before anything is sent */
    struct {             /* a record behind the others that is over --max-record */
        uint64_t length; /* 0: none */
        uint32_t kept;   /* its first bytes, at buffer.bytes + length */
    } oversize;
    counts_t counts;
    uint32_t pending; /* documents in batches without a reply */
    bool parsed;      /* all of its records were looked at */
} block_t;

/* Was its file taken over by another load after it was cut? Then it is that load's to send. */
static inline bool block_is_lost(const block_t *block) {
    return block->file->lost || block->turn != block->file->turn;
}

#endif
