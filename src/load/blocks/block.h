/* block: the records whose first byte lies in one 256 KiB window of a file's decompressed text; the unit of
 * work, of acknowledgement and of resume. A feeder makes it, the queue hands it to one loader, and that
 * loader alone touches it until it is done. Its raw bytes stay until the last reply, because rejects need
 * them. */
#ifndef TIPPLE_LOAD_BLOCKS_BLOCK_H
#define TIPPLE_LOAD_BLOCKS_BLOCK_H

#include "base/threads.h"
#include "catalog/ledger/ledger.h"
#include "format/record/dialect.h"
#include "format/record/record.h"
#include "format/record/record_id.h"
#include "input/file/input_file.h"

#include <stdatomic.h>

/* One input, or one piece of it, as the threads of a load (or of verify) see it. It is filled in before the
 * piece is handed to a feeder; afterwards only what says so changes. */
typedef struct {
    const input_file_t *input;
    work_t *work;         /* the ledger's, which only the main thread touches; NULL: without a ledger */
    uint32_t ordinal;     /* of the input in the catalog */
    const char *known_as; /* its name there */
    const char *forget;   /* of a stream: the command that takes it out; NULL: of another input */
    extent_t *extents;    /* what numbers its text has; its feeder adds some where the size is not known */
    size_t extent_count;
    uint64_t first_record;    /* where it begins; 0: not known yet. The feeders', under a lock of theirs */
    uint8_t bracket_before;   /* JSON: the last [ or ] around the records before that; as first_record */
    uint64_t from, to;        /* blocks; to is UINT64_MAX where it goes up to the end */
    bad_value_t bad_value;    /* what becomes of its values that do not fit */
    const dialect_t *dialect; /* NULL until its first bytes were read */
    /* hash of the dialect by which its records are read, now and when it has grown; 0: no whole line has told it yet */
    uint64_t read_by;
    bool begun_before;  /* something of it may be in the collection: blocks that are not done are read back */
    bool compares;      /* done blocks are read and compared with their hashes, not passed over */
    bool only_compares; /* and nothing else: all of them are done */
    bool is_older;      /* only_compares, but it ends before what the hashes are of: they say nothing */
    bool may_be_torn;   /* it may grow: a last record without a line end is sent by itself, at last */
    done_runs_t done_before; /* blocks that earlier runs have made durable */
    torn_t *torn;            /* last records of earlier versions, that had no line end */
    size_t torn_count;
    fix_mark_t *fixes; /* records that a person has fixed */
    size_t fix_count;
    tail_t tail;            /* of a complete one: its last block, for only_compares */
    atomic_uint epoch;      /* of our ownership; 0: it is another load's now */
    atomic_uint fed_epoch;  /* the last one that a feeder began with */
    atomic_bool begun;      /* by this load: a block was handed out */
    atomic_bool opened;     /* by a feeder of this load: a stream can be read only once */
    atomic_bool misfit;     /* it cannot be read on, and is left out, or ends the load */
    bool aside;             /* the main thread's: it is left out as soon as its blocks are settled */
    atomic_bool changed;    /* it has other content than when it was loaded before */
    const text_t *left_out; /* for ASK_TO_LEAVE_OUT: names of its columns, a NUL after each */
    /* its header was noted for the result; of its first piece, under the lock of load_state_t */
    bool columns_seen;
    atomic_bool feeding; /* a feeder reads it, perhaps for an ownership that was lost meanwhile */
    uint64_t blocks;     /* after its last one; known when it is fed */
    /* --reload-missing: it is begun anew when what is not done yet was loaded: from this block on it is read twice */
    bool read_before;
    uint64_t read_from;
    uint64_t to_read; /* bytes on disk, when the load began: for the progress line */
    uint64_t counted_to,
        counted;   /* so many lines end before this offset (UINT64_MAX: nobody knows); the senders', under */
    bool counting; /* their lock, while none of them is counting */
} load_file_t;

/* Where a place of the text has its number. */
static inline bool load_file_number(const load_file_t *file, uint64_t offset, uint64_t *number) {
    return extents_number(file->extents, file->extent_count, offset, number);
}

/* What a cut-off record has made, and the whole one does not: a message of a load that was killed may still bring
 * it. */
typedef struct late {
    struct late *next;
    load_file_t *file;
    uint32_t epoch, length;
    uint8_t document[];
} late_t;

typedef struct block {
    struct block *next; /* in the list that is queued, later in that of done blocks */
    load_file_t *file;
    buffer_t buffer;
    uint32_t length; /* of the text in the buffer */
    uint64_t offset; /* of text[0] in the file */
    /* of text[0], from 1, counted from the record at lines_from on; 0: nobody knows it (--retry) */
    uint64_t first_line;
    uint64_t lines_from; /* mostly 0: the file's beginning */
    uint64_t in_line;    /* so many bytes of text[0]'s line stand before it */
    uint64_t from, to;   /* numbers of the blocks that are done with it */
    uint64_t hash;       /* of its text, for the catalog; sums of blocks are compared */
    uint32_t epoch;      /* its file's, when it was cut */
    int64_t id_base;     /* `_id` of a record = id_base + its offset in the text */
    bool file_start;
    bool after_another; /* another block has the records before it in its window */
    bool tail;          /* one of its input's last: done only when all of the input is, because it may grow */
    bool partial;       /* cut off by --limit or a fault of the input: never written down as done */
    bool begun_before;  /* what is there of it is read back and compared before anything is sent */
    bool by_itself;     /* it is one record: a person has fixed it; */
    uint64_t rejected_as; /* the hash of the bytes that were rejected; 0: not known */
    const char *refusal;  /* why its record is a reject, whatever it makes; mostly NULL */
    struct {              /* a record after the others that is too long */
        uint64_t length;  /* 0: none */
        uint32_t kept;    /* its first bytes, at buffer.bytes + length, for people */
        uint32_t held;    /* so many are there: more than the longest record has */
    } oversize;
    counts_t counts;
    reject_mark_t *rejects; /* of its records, to be freed with it */
    size_t reject_count, reject_room;
    uint32_t pending; /* documents in batches without a reply */
    bool counted;     /* among the blocks that are on their way (load_state_add_block) */
    late_t *late;     /* to be looked for once more before its piece is complete */
    bool outgrown;    /* a record that an earlier version of the input had cut off is longer here */
    bool parsed;      /* all of its records were looked at */
} block_t;

/* The name that the catalog has of its input: also where the file was moved since. */
static inline const char *block_known_as(const block_t *block) {
    return block->file->known_as ? block->file->known_as : block->file->input->name;
}

/* The line in its file of a place of the block's text, by its line in the block: the file is read up to the block. 0: nobody
 * knows it, since it is far into a large file. */
uint64_t block_line(const block_t *block, uint64_t line);

/* A place as it stands after the name of its file: ":57"; or " offset 4711" where nobody knows the line. */
enum { PLACE_MAX = 32 };
const char *place_words(char out[PLACE_MAX], uint64_t line, uint64_t offset);

/* Was its piece taken by another load after it was cut? Then it is that load's to send. */
static inline bool block_is_lost(const block_t *block) {
    return block->epoch != block->file->epoch;
}

/* ---- another header in the middle of a file, with other columns than those it is read by ---- */

/* The sentence: what follows that line cannot be read as it is. Returns false. line: 0 if only the offset is known. */
bool other_header_say(const char *name, uint64_t line, uint64_t offset, err_t *err);

/* The same of a block's record; loading: and what to do about that which was loaded. */
bool other_header_refuse(const block_t *block, const record_t *record, bool loading, err_t *err);

/* ---- another stream than the one that an earlier run has begun under the same name ----
 *
 * A stream cannot be read again, so --reload-changed does not help. */

/* what: how it shows, before "at byte N", or "between byte N and M" (to is not 0). Always false. */
bool other_stream_refuse(const load_file_t *file, const char *what, uint64_t from, uint64_t to, err_t *err);

/* The same of a stream that ends before what there is of the other one. */
bool other_stream_refuse_shorter(const load_file_t *file, uint64_t end, err_t *err);

/* Something of a stream of this name may be in the collection, and of which one shows only there. */
static inline bool other_stream_may_be(const load_file_t *file) {
    return file->begun_before && file->input->kind == INPUT_STREAM;
}

#endif
