/* entry: what the catalog knows of one input. Plain data, the same for the ledger, the store and the simulator; nothing
 * here asks a server or reads a clock. An entry is used by one thread at a time.
 *
 *     versions   the contents of the input that were seen, oldest first: it may grow, and each growth is a new version
 *     extents    the numbers of its text, from which the `_id`s of its records are made. Extents are only ever added;
 *                those of two inputs never overlap, and are never used again, not even after the input was removed
 *     pieces     what one load works on at a time: the whole input, or one range of a large plain file. They cover the
 *                input without a gap; only the last one grows with it
 *     rejects    of a piece: its records that make no document
 *     fixes      of the input: documents that were made of such records by --retry (entry_rejects.c)
 *
 * All functions that return false (or NULL) with an err have run out of memory, unless they say otherwise. */
#ifndef TIPPLE_CATALOG_STORE_ENTRY_H
#define TIPPLE_CATALOG_STORE_ENTRY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- done runs ---- */

/* The blocks of a piece that are done, as runs [from, to) of block numbers. The hash of a run is the sum of the hashes
 * of its blocks, so it does not depend on the order in which blocks end. It is compared when the same text is read
 * again. */
typedef struct {
    uint64_t from, to;
    uint64_t hash;
} done_run_t;

typedef struct {
    done_run_t *runs; /* ascending; two runs never touch */
    size_t count, room;
} done_runs_t;

/* *is_new is false, and nothing changes, if a part of the block is in the set already. Returns false when memory is
 * out. */
bool done_runs_add(done_runs_t *set, uint64_t from, uint64_t to, uint64_t hash, bool *is_new);
/* True if adding this block would add a run, instead of extending one. */
bool done_runs_would_grow(const done_runs_t *set, uint64_t from, uint64_t to);
bool done_runs_cover(const done_runs_t *set, uint64_t from, uint64_t to);
/* The run that holds this block, or NULL. */
const done_run_t *done_runs_find(const done_runs_t *set, uint64_t block);
bool done_runs_copy(done_runs_t *to, const done_runs_t *from, err_t *err);
void done_runs_free(done_runs_t *set);

/* ---- an entry ---- */

/* A load. All zeros: no load. */
typedef struct {
    uint8_t bytes[12];
} load_id_t;

bool load_id_equal(const load_id_t *a, const load_id_t *b);
bool load_id_is_nobody(const load_id_t *id);

/* What became of a record. A record of the last three kinds counts as loaded or there as well. */
typedef enum {
    FATE_LOADED,
    FATE_THERE, /* its document was there already */
    FATE_REJECTED,
    FATE_FILTERED,
    FATE_CORRECTED, /* loaded: a last record that had been cut off, and was replaced by the whole one */
    FATE_REPLACED,  /* loaded: --existing replace, and another document was there */
    FATE_KEPT,      /* there: --existing keep, and another document was there */
    FATES
} fate_t;

typedef struct {
    uint64_t read, of[FATES];
} counts_t;

void counts_add(counts_t *to, const counts_t *from);
void counts_subtract(counts_t *to, const counts_t *from);

/* The input's text from `start` on has the numbers [base, base + length). */
typedef struct {
    uint64_t base, start, length;
} extent_t;

/* A rejected record: its offset, and a hash of its bytes. */
typedef struct {
    uint64_t offset, hash;
} reject_mark_t;

/* A document that --retry has made of a rejected record. A record has one mark for each document that was noted for it,
 * because a message of a killed load may still arrive. At most one of them is confirmed; it answers the reject. A fix
 * is for one record only: other bytes at the same offset (a cut-off record that has grown) are another reject. */
/* As a hash: the user left the record out, or the filter leaves out the fixed record. */
enum { FIX_NOTHING = 0 };
typedef struct {
    uint64_t offset, of; /* of the reject: its offset, and the hash of its bytes */
    uint64_t hash;       /* of the document */
    bool confirmed;      /* the document is in the collection, so no other one can be stored there */
    uint32_t generation; /* of the collection in which it was confirmed; 0: not known */
} fix_mark_t;

/* The last block of an input. When the input grows, the block grows with it, so it is kept apart from the done runs and
 * counts as done only for the version that is complete. */
typedef struct {
    uint64_t from, to, hash; /* from == to: there is none */
    counts_t counts;
} tail_t;

typedef struct {
    uint64_t from, to;   /* blocks; UINT64_MAX: to the end of the input, wherever that will be */
    load_id_t owner;     /* the only load that may change the piece; no load: the piece is free */
    uint32_t epoch;      /* how often it was taken */
    uint32_t generation; /* of the collection that the rest of the piece was written for */
    uint32_t complete;   /* the newest version of the input for which the whole piece was done; 0: none */
    bool unsafe;         /* a part of it was acknowledged by one member only */
    /* of the file that the done blocks are from; 0: of several files, not compared yet */
    int64_t modified_ns;
    uint64_t dialect; /* by which its records are read, also after the text has grown; 0: not decided */
    /* 1 + what becomes of its values that do not fit; 0: what the collection was bound with */
    uint32_t bad_value;
    done_runs_t done;
    counts_t counts; /* of the done blocks, without the tail */
    tail_t tail;
    reject_mark_t *rejects; /* ascending */
    size_t reject_count, reject_room;
} piece_t;

/* The last record of an input that ended without a line end. When the input grows, this record may turn out to be
 * longer: then the document that is there is its own beginning, and is corrected. length 0: there is no such record. */
typedef struct {
    uint64_t offset, length, hash; /* of its bytes */
} torn_t;

/* An entry with this many versions drops those that are not needed any more, the oldest first. */
#ifndef ENTRY_USUAL_VERSIONS
#define ENTRY_USUAL_VERSIONS 100 /* the simulator has fewer */
#endif

/* A version of an input: its text up to `size` bytes on disk. */
typedef struct {
    uint32_t number; /* from 1 */
    uint32_t slot;   /* its place in the catalog's list; a new version may take the slot of a dropped one */
    uint64_t size;
    char digest[33]; /* "" for a stream, which is recognised by its name */
    int64_t modified_ns;
    torn_t torn; /* written down before the record is sent */
    /* modification time of the file from which it was loaded to its end; 0: it never was */
    int64_t completed_ns;
} version_t;

enum { ENTRY_MOST_NAMES = 16 };

typedef struct {
    uint32_t ordinal;
    char *path, *key, *kind;
    char **names; /* other paths under which its file was recognised, at most ENTRY_MOST_NAMES */
    size_t name_count;
    /* names the entry before it, so that only one entry can follow; NULL: not known any more */
    char *follows;
    bool removed; /* a tombstone: its documents were removed for good, and its numbers are never used again */
    bool remains; /* a tombstone whose documents may still be there, and must be removed */
    /* a tombstone: inputs from this ordinal on were registered after the removal; 0: not known */
    uint32_t heirs;
    uint32_t version;    /* the number of the newest version */
    version_t *versions; /* by number; some may be dropped, but never the newest */
    size_t version_count;
    /* the newest version whose last record is longer than an earlier version had it; 0: none */
    uint32_t outgrown;
    extent_t *extents;
    size_t extent_count;
    piece_t *pieces;
    size_t piece_count;
    fix_mark_t *fixes; /* ascending by offset */
    size_t fix_count, fix_room;
    load_id_t registered_by;
} entry_t;

/* ---- reading an entry ---- */

const version_t *entry_newest(const entry_t *entry);
/* NULL if there is no version of this number, or it was dropped. */
version_t *entry_version(const entry_t *entry, uint32_t number);
/* The number of the version with this size and digest; 0: none. Dropped versions are not found: an input that has the
 * content of one counts as changed. */
uint32_t entry_version_of(const entry_t *entry, uint64_t size, const char *digest);
/* The slot for the next version, where the input was loaded to the end of version `complete`: the slot of a version
 * that is dropped, or a new slot. Versions from `complete` on stay, because their last records may have to be
 * corrected, and so do those whose cut-off record was fixed. */
uint32_t entry_next_slot(const entry_t *entry, uint32_t complete);

bool entry_has_name(const entry_t *entry, const char *name);
/* The dialect by which its records were read for this generation of the collection; 0: not decided. */
uint64_t entry_dialect(const entry_t *entry, uint32_t generation);
/* What becomes of values that do not fit (bad_value_t); `bound` is the collection's own. All pieces agree on it. */
uint32_t entry_bad_value(const entry_t *entry, uint32_t bound);

/* The number of an offset in the input's text. False if no extent holds it. */
bool extents_number(const extent_t *extents, size_t count, uint64_t offset, uint64_t *number);
bool entry_number(const entry_t *entry, uint64_t offset, uint64_t *number);
/* The first offset after all extents. */
uint64_t entry_extents_end(const entry_t *entry);

/* The piece that has this block, or NULL. */
const piece_t *entry_piece(const entry_t *entry, uint64_t block);
/* True if the piece is done for this version and this generation of the collection. safe: what only one member has
 * acknowledged does not count. */
bool piece_is_complete(const piece_t *piece, uint32_t version, uint32_t generation, bool safe);
/* Counts of everything that is done, with the tail where it counts. */
counts_t piece_counts(const piece_t *piece);

/* True if a load has taken a piece of it, in any generation. Before that, nothing of it was sent or read. */
bool entry_is_begun(const entry_t *entry);
/* True if all of its pieces are complete for its newest version. */
bool entry_is_complete(const entry_t *entry, uint32_t generation, bool safe);
/* True for a stream without a name, which no later load recognises. */
bool entry_is_nameless(const entry_t *entry);
/* True if the input is recognised by its name alone: a stream, or a file that --input-name has named. */
bool entry_is_by_name(const entry_t *entry);
/* An entry is one document of at most 16 MB. True if it has room for this many more rejects and fixes. */
bool entry_has_room(const entry_t *entry, size_t rejects, size_t fixes);

/* ---- changing an entry ---- */

bool entry_add_name(entry_t *entry, const char *name, err_t *err);
bool entry_add_extent(entry_t *entry, extent_t extent, err_t *err);
/* In a new slot after all others, or in this one. */
bool entry_add_version(entry_t *entry, const version_t *version, err_t *err);
bool entry_put_version(entry_t *entry, const version_t *version, uint32_t slot, err_t *err);
bool entry_make_pieces(entry_t *entry, size_t count, uint64_t blocks_each, err_t *err);

/* Deep copies. `to` is empty, or what it holds is freed. */
bool piece_copy(piece_t *to, const piece_t *from, err_t *err);
bool entry_copy(entry_t *to, const entry_t *from, err_t *err);

void piece_clear_progress(piece_t *piece); /* as if nothing of it had ever been done */
void piece_free(piece_t *piece);           /* frees what it holds */
void entry_free(entry_t *entry);           /* likewise */

typedef struct {
    entry_t *entries; /* by ordinal */
    size_t count, room;
} entries_t;

entry_t *entries_add(entries_t *entries, err_t *err);                    /* an empty entry, at the end */
const entry_t *entries_find(const entries_t *entries, uint32_t ordinal); /* or NULL */
void entries_free(entries_t *entries);

/* ---- rejected records and their fixes (entry_rejects.c) ---- */

/* The rejected record at this offset, or NULL. */
const reject_mark_t *piece_reject(const piece_t *piece, uint64_t offset);
/* Makes room: afterwards this many rejects can be added without allocating. */
bool piece_reserve_rejects(piece_t *piece, size_t count, err_t *err);
/* A mark replaces another one at the same offset. Fast if the marks ascend and most of them come after the existing
 * ones. */
bool piece_add_rejects(piece_t *piece, const reject_mark_t *marks, size_t count, err_t *err);

/* The rejected records of all pieces. */
typedef struct {
    uint64_t open;     /* without a confirmed fix of the piece's generation */
    uint64_t left_out; /* by the user, or by the filter when they were fixed */
    uint64_t fixed;
} reject_sums_t;
reject_sums_t entry_reject_sums(const entry_t *entry);
uint64_t entry_open_rejects(const entry_t *entry);

/* What answers a reject, by the confirmed one of its fixes. */
typedef enum {
    FIX_OPEN,     /* nothing does */
    FIX_OUTLIVED, /* a document of an earlier generation of the collection, so it may be missing */
    FIX_LEFT_OUT, /* the user left the record out, or the filter leaves out the fixed record */
    FIX_ANSWERED, /* a document that is in the collection */
} fix_state_t;

typedef struct {
    fix_state_t state;
    const fix_mark_t *answer; /* the confirmed fix; NULL: FIX_OPEN */
    bool noted; /* whatever the state: there may be a document of a fix that was never confirmed */
} record_fixes_t;

/* What is known of the record at this offset whose bytes have the hash `of`. generation: of the collection; 0: any. */
record_fixes_t fix_marks_of(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of,
                            uint32_t generation);
record_fixes_t entry_fixes(const entry_t *entry, uint64_t offset, uint64_t of, uint32_t generation);

/* True if a document of this hash was noted for the record at this offset whose bytes have the hash `of`. If that
 * record was left out, documents that were noted for earlier bytes at this offset are accepted as well. */
bool fix_marks_accept(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of, uint64_t hash);
/* True if a document of this hash was noted for any record at this offset. */
bool fix_marks_know(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t hash);

/* An unconfirmed fix joins the others of its record. A confirmed document replaces them all. A confirmed FIX_NOTHING
 * leaves them noted, because a late message may still bring one of their documents, or has brought it. */
bool entry_add_fix(entry_t *entry, fix_mark_t fix, err_t *err);
/* The document of the fix is gone: it counts as noted, no longer as confirmed. */
void entry_reopen_fix(entry_t *entry, const fix_mark_t *fix);

/* What the catalog says about an entry of a reject file. */
typedef enum {
    STANDING_OPEN,    /* the record is rejected, or was until it was fixed */
    STANDING_NOT_YET, /* its block is not done: a load that was killed, or still runs, has rejected it */
    STANDING_OUTGROWN, /* the beginning of a record that was cut off at the end of the input, which has grown since */
    STANDING_UNKNOWN, /* no such record is rejected: the input was loaded again, from other content */
} standing_t;

/* The inputs that the rejects of an input's name may belong to: the input itself, or, if it was removed, those of the
 * same name from the ordinal `heirs` on, which came after the removal. */
typedef struct {
    uint32_t ordinal;
    bool removed;
    uint32_t heirs;
} standing_input_t;

standing_input_t standing_input(const entry_t *entry);

/* hash: of the bytes that were rejected; NULL: not known. *of: for an open record, that hash as the catalog has it. */
standing_t standing_of_reject(const entry_t *entry, uint64_t offset, const uint64_t *hash, uint64_t *of);

/* True if the document of the fixed record must be there, because it was seen: the fix is confirmed, or its document
 * was found when the record's block was done again. */
bool standing_awaits_fix(const entry_t *entry, uint64_t offset, uint64_t hash);

#endif
