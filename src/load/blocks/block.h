/* block: the records whose first byte lies in one 256 KiB window of a file's decompressed text. A block is the unit of work, of
 * acknowledgement and of resume. A feeder makes it, the queue hands it to one loader, and only that loader touches it until all
 * of its records are settled. Its raw bytes stay until the last reply, because rejects need them. Documents travel in batches.
 * Here are also the sentences that refuse an input because of what a block shows. */
#ifndef TIPPLE_LOAD_BLOCKS_BLOCK_H
#define TIPPLE_LOAD_BLOCKS_BLOCK_H

#include "base/threads.h"
#include "catalog/ledger/ledger.h"
#include "format/record/dialect.h"
#include "format/record/record.h"
#include "format/record/record_id.h"
#include "input/file/input_file.h"

#include <stdatomic.h>

/* A piece under way, or a whole input, as the threads of a load or of verify see it. The catalog's record of a piece is piece_t;
 * work_t is its state in the ledger. The fields are sorted by their owners. */
typedef struct active_piece {
    /* filled in before the piece is given to the feeders, and again if it is begun anew; else const */
    const input_file_t *input;
    work_t *work;          /* the ledger's, for whoever has the catalog; NULL: without a ledger */
    uint32_t ordinal;      /* of the input in the catalog */
    const char *known_as;  /* its name there */
    const char *forget;    /* of a stream: the command that removes it; NULL: of another input */
    uint64_t from, to;     /* blocks; to is UINT64_MAX if it reaches the end of the input */
    bad_value_t bad_value; /* what becomes of values that do not fit */
    bool begun_before;     /* part of it may be in the collection: blocks that are not done are read back */
    bool compares;         /* done blocks are read and compared with their hashes, not skipped */
    bool only_compares;    /* all blocks are done: they are compared, and nothing else happens */
    bool is_older;    /* only_compares, but it ends before the hashed text does: the hashes say nothing */
    bool may_be_torn; /* it may grow: a last record without a line end is sent last, by itself */
    done_runs_t done_before; /* blocks that earlier runs have made durable */
    torn_t *torn;            /* last records of earlier versions that had no line end */
    size_t torn_count;
    fix_mark_t *fixes; /* records that a user has fixed */
    size_t fix_count;
    tail_t tail; /* of a complete input: its last block, for only_compares */

    /* the feeders', until the last of their news of it */
    struct active_piece *next; /* in the list that one of them reads */
    extent_t *extents; /* the numbers of its text; while a text of unknown size is fed, more are added */
    size_t extent_count;
    const dialect_t *dialect; /* NULL until its first bytes were read */
    /* hash of the dialect by which its records are read, also when it has grown; 0: no whole line was seen yet */
    uint64_t read_by;
    uint64_t blocks; /* number after its last block; known when it is fed */
    /* under a lock of theirs: the offset of its first record, 0: not known yet; and of JSON the last [ or ] around records
     * before it */
    uint64_t first_record;
    uint8_t bracket_before;

    /* of all threads */
    atomic_bool begun;   /* by this load: a block was handed out */
    atomic_bool opened;  /* by a feeder of this load: a stream can be read only once */
    atomic_bool misfit;  /* it cannot be read further: it is skipped, or ends the load */
    atomic_bool changed; /* its content is not what was loaded before */

    /* under the lock of load_state_t */
    bool columns_seen; /* the result has its header; in the input's first piece only */

    /* under `counting` of load_state_t: `counted` lines end before the offset counted_to; UINT64_MAX: not known */
    uint64_t counted_to, counted;

    /* the main thread's */
    bool aside;       /* to be skipped as soon as its blocks are settled */
    uint64_t to_read; /* bytes on disk when the load began: for the progress line */
    /* --reload-missing: it is begun anew after the rest of it was loaded: from block read_from on it is read twice */
    bool read_before;
    uint64_t read_from;
} active_piece_t;

/* Finds the number of an offset of the text. False: the extents do not reach it. */
static inline bool active_piece_number(const active_piece_t *piece, uint64_t offset, uint64_t *number) {
    return extents_number(piece->extents, piece->extent_count, offset, number);
}

/* The document of a cut-off record, if the whole record makes none: a message of a killed load may still bring it. */
typedef struct late_document {
    struct late_document *next;
    active_piece_t *piece;
    uint32_t length;
    uint8_t document[];
} late_document_t;

typedef struct block {
    struct block *next; /* in the list that is queued, later in the list of done blocks */
    active_piece_t *piece;
    buffer_t buffer;
    uint32_t length; /* of the text in the buffer */
    uint64_t offset; /* of text[0] in the file */
    /* of text[0], from 1, counted from the record at lines_from; 0: not known (--retry) */
    uint64_t first_line;
    uint64_t lines_from; /* mostly 0: the file's beginning */
    uint64_t in_line;    /* bytes of text[0]'s line before text[0] */
    uint64_t from, to;   /* numbers of the blocks that are done when it is settled */
    uint64_t hash;       /* of its text, for the catalog, which compares sums over blocks */
    int64_t id_base;     /* `_id` of a record = id_base + its offset in the text */
    bool file_start;
    bool after_another; /* another block has the records before it in its window */
    bool tail;          /* one of the last of its input: done only when the whole input is, as it may grow */
    bool partial;       /* cut off by --limit or a fault of the input: never written down as done */
    bool begun_before;  /* its documents in the collection are read back before anything is sent */
    bool by_itself;     /* --retry: it is one record, which a user has fixed; */
    uint64_t rejected_as; /* hash of the bytes that were rejected; 0: not known */
    const char *refusal;  /* why its record is a reject, whatever it makes; mostly NULL */
    struct {              /* a record after the others that is too long */
        uint64_t length;  /* 0: none */
        uint32_t kept;    /* its first bytes, at buffer.bytes + length, to be shown */
        uint32_t held;    /* how many of its bytes are there: more than the longest allowed record has */
    } oversize;
    counts_t counts;
    reject_mark_t *rejects; /* of its records; freed with it */
    size_t reject_count, reject_room;
    uint32_t pending;      /* documents in batches without a reply */
    bool counted;          /* by load_state_add_block, as on its way */
    late_document_t *late; /* to be searched once more before its piece is complete */
    bool outgrown;         /* a record that an earlier version of the input had cut off is longer here */
    bool parsed;           /* all of its records were parsed */
} block_t;

/* The name that the catalog has for its input, which may have been moved since. */
static inline const char *block_known_as(const block_t *block) {
    return block->piece->known_as ? block->piece->known_as : block->piece->input->name;
}

/* Returns the line in the file of a line of the block; reads the file up to the block. 0: not known, far into a large file. */
uint64_t block_line(const block_t *block, uint64_t line);

/* A place, as it follows the name of its file: ":57"; or " offset 4711" if the line is 0. */
enum { PLACE_MAX = 32 };
const char *place_words(char out[PLACE_MAX], uint64_t line, uint64_t offset);

/* ---- another header in the middle of a file, with other columns than those it is read by ---- */

/* Sets the sentence that the lines after that header cannot be read. Returns false. line: 0 if only the offset is known. */
bool other_header_say(const char *name, uint64_t line, uint64_t offset, err_t *err);

/* The same for a record of a block; with `loading` also how to remove what was loaded. */
bool other_header_refuse(const block_t *block, const record_t *record, bool loading, err_t *err);

/* ---- another content than the one that an earlier run has loaded ---- */

/* what: the evidence. With --reload-changed all of the input is loaded again. Always false. */
bool changed_refuse(active_piece_t *piece, const char *what, err_t *err);

/* ---- another stream than the one that an earlier run has begun under the same name ----
 *
 * A stream cannot be read again, so --reload-changed does not help. */

/* what: the evidence, before "at byte N", or "between byte N and M" (to is not 0). Always false. */
bool other_stream_refuse(const active_piece_t *piece, const char *what, uint64_t from, uint64_t to,
                         err_t *err);

/* The same for a stream that ends before the end of what was loaded of the other one. */
bool other_stream_refuse_shorter(const active_piece_t *piece, uint64_t end, err_t *err);

/* True if part of a stream of this name may be in the collection. Only the documents there show whether it is this stream. */
static inline bool other_stream_may_be(const active_piece_t *piece) {
    return piece->begun_before && piece->input->kind == INPUT_STREAM;
}

/* ---- batch ----
 *
 * Documents on their way to one shard, back to back as they will be sent, and the blocks of their records. Belongs to one loader
 * thread. */

/* Documents of one block in a batch. */
typedef struct {
    block_t *block;
    uint32_t count;
} part_t;

typedef struct {
    uint8_t *bytes;
    size_t used, room; /* the next document is made at bytes + used */
    size_t usual;      /* room that is kept */
    uint32_t *starts;  /* in bytes; one more than there are documents */
    uint32_t *offsets; /* of each document's record in its block's text */
    uint32_t count;
    part_t *parts;
    size_t part_count, part_room;
    int64_t since_ns;  /* when its first document came */
    bool may_be_there; /* see documents_t */
} batch_t;

/* documents: the most that it will ever hold at once. */
bool batch_init(batch_t *batch, uint32_t documents, err_t *err);
void batch_free(batch_t *batch);

/* Makes room for `needed` bytes after the used ones. The room grows in steps up to `most`, and beyond only for one large
 * document. */
bool batch_reserve(batch_t *batch, size_t needed, size_t most, err_t *err);

/* Takes the document of `length` bytes at bytes + used into the batch; the block has one more pending. */
bool batch_add(batch_t *batch, block_t *block, uint32_t offset, uint32_t length, err_t *err);

/* Empties the batch. The memory stays, except for what one large document needed. */
void batch_clear(batch_t *batch);

#endif
