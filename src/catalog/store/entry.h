/* entry: what the catalog knows of one input: the numbers of its records (extents), its versions that were seen, and
 * how far each of its pieces is. Plain data, the same for the ledger, the store and the simulator. A piece is what one
 * load works on at a time: a whole input, or one range of a large plain file. */
#ifndef TIPPLE_CATALOG_STORE_ENTRY_H
#define TIPPLE_CATALOG_STORE_ENTRY_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* done_runs: which blocks of a piece are done, as runs [from, to) of block numbers, each with a hash of its blocks. The
 * hash is a sum, so the order in which blocks come does not matter. It is compared when the same text is read again.
 * Not thread-safe. */

typedef struct {
    uint64_t from, to;
    uint64_t hash;
} done_run_t;

typedef struct {
    done_run_t *runs; /* ascending, never touching */
    size_t count, room;
} done_runs_t;

/* If the block is already in the set, nothing changes and *is_new is false. Returns false when memory is out. */
bool done_runs_add(done_runs_t *set, uint64_t from, uint64_t to, uint64_t hash, bool *is_new);

/* Would adding this block add a run? */
bool done_runs_would_grow(const done_runs_t *set, uint64_t from, uint64_t to);
bool done_runs_cover(const done_runs_t *set, uint64_t from, uint64_t to);
/* The run that holds this block; NULL: none. */
const done_run_t *done_runs_find(const done_runs_t *set, uint64_t block);
bool done_runs_copy(done_runs_t *to, const done_runs_t *from); /* false: out of memory */
void done_runs_free(done_runs_t *set);

/* A load. All zeros: no load. */
typedef struct {
    uint8_t bytes[12];
} load_id_t;

bool load_id_equal(const load_id_t *a, const load_id_t *b);
bool load_id_is_nobody(const load_id_t *id);

typedef struct {
    uint64_t read, loaded, already_there, rejected, filtered;
    /* a part of loaded: last records that had been cut off, and were replaced by the whole record */
    uint64_t corrected;
    uint64_t replaced; /* a part of loaded: --existing replace, and another document was there */
    uint64_t kept;     /* a part of already_there: --existing keep, and another document was there */
} counts_t;

void counts_add(counts_t *to, const counts_t *from);
void counts_subtract(counts_t *to, const counts_t *from);

/* A part of an input's text: from `start` on it has the numbers [base, base + length). */
typedef struct {
    uint64_t base, start, length;
} extent_t;

/* A rejected record: where it begins, and a hash of its bytes. */
typedef struct {
    uint64_t offset, hash;
} reject_mark_t;

/* A rejected record that a person has fixed: the hash of a document that was made of it. A record has one of these for
 * each document that was noted for it, since a message of a killed load may still arrive. At most one of them is
 * confirmed; it answers the reject. A fix is for this record only: another record at the same place (what a cut-off
 * record may grow into) is another reject. */
enum {
    FIX_NOTHING = 0
}; /* as a hash: a person left the record out, or the filter leaves out what was made of it */
typedef struct {
    uint64_t offset, of; /* of the reject: where the record begins, and the hash of its bytes */
    uint64_t hash;
    bool confirmed;      /* the document is in the collection, so no other one can be stored there */
    uint32_t generation; /* of the collection in which it was confirmed; 0: not known */
} fix_mark_t;

/* The last block of an input. When the input grows, the block grows with it. So it is kept apart from the done runs,
 * and counts as done only for the version that is complete. */
typedef struct {
    uint64_t from, to, hash; /* from == to: there is none */
    counts_t counts;
} tail_t;

typedef struct {
    uint64_t from, to;   /* blocks; UINT64_MAX: up to the end, wherever that will be */
    load_id_t owner;     /* the load that alone may change it; no load: free */
    uint32_t epoch;      /* how often it was taken */
    uint32_t generation; /* of the collection that the rest of the piece was written for */
    uint32_t complete;   /* the highest version of the input for which all of the piece was done; 0: none */
    bool unsafe;         /* a part of it was acknowledged by one member only */
    /* of the file that the done blocks are from; 0: of several files, not compared yet */
    int64_t modified_ns;
    /* by which dialect its records are read, also when the text has more lines than today; 0: not decided */
    uint64_t dialect;
    /* 1 + what becomes of its values that do not fit; 0: what the collection was bound with */
    uint32_t bad_value;
    done_runs_t done;
    counts_t counts; /* of the done blocks, without the tail */
    tail_t tail;
    reject_mark_t *rejects; /* ascending */
    size_t reject_count, reject_room;
} piece_t;

/* The last record of an input that ended without a line end. When the input grows, this record may turn out to be
 * longer: then its document is not a foreign one, and is corrected. length 0: there is no such record. */
typedef struct {
    uint64_t offset, length, hash; /* of its bytes */
} torn_t;

/* When an entry has this many versions, those that are not needed any more are dropped, the oldest first. */
#ifndef ENTRY_USUAL_VERSIONS
#define ENTRY_USUAL_VERSIONS 100 /* the simulator has fewer */
#endif

/* A version of an input that was seen: its text up to `size` bytes on disk. */
typedef struct {
    uint32_t number,
        slot; /* from 1: its place in the catalog; a new version may take the place of a dropped one */
    uint64_t size;
    char digest[33]; /* "" for a stream, which is recognised by its name */
    int64_t modified_ns;
    torn_t torn; /* written down before the record is sent */
    /* the modification time of the file from which it was loaded to its end; 0: it was never loaded to its end */
    int64_t completed_ns;
} version_t;

typedef struct {
    uint32_t ordinal;
    char *path, *key, *kind;
    char **names; /* other paths under which its file was recognised */
    size_t name_count;
    /* the entry before it when it was registered, so that only one can follow; NULL: it is not known any more */
    char *follows;
    bool remains;        /* of a removed entry: documents of it may still be there, and must be removed */
    bool removed;        /* its documents were removed for ever: its numbers are never used again */
    uint32_t heirs;      /* of a removed entry: inputs from here on came after that; 0: it is not known */
    uint32_t version;    /* the number of the newest version */
    version_t *versions; /* by number; some may be dropped, but never the newest */
    size_t version_count;
    /* the newest version in which a last record is longer that an earlier version had cut off; 0: none */
    uint32_t outgrown;
    extent_t *extents;
    size_t extent_count;
    piece_t *pieces;
    size_t piece_count;
    fix_mark_t *fixes; /* ascending by offset */
    size_t fix_count, fix_room;
    load_id_t registered_by;
} entry_t;

const version_t *entry_newest(const entry_t *entry);
/* NULL: there is no version of this number, or it was dropped. */
version_t *entry_version(const entry_t *entry, uint32_t number);
/* So many other paths are kept. */
enum { ENTRY_MOST_NAMES = 16 };
bool entry_add_name(entry_t *entry, const char *name, err_t *err);
bool entry_has_name(const entry_t *entry, const char *name);
/* The version of this size and digest; 0: none. Dropped versions are not found: an input that has such a version's
 * content again counts as changed. */
uint32_t entry_version_of(const entry_t *entry, uint64_t size, const char *digest);
/* By which dialect its records were read for this generation of the collection; 0: not decided. */
uint64_t entry_dialect(const entry_t *entry, uint32_t generation);
/* The same for values that do not fit (bad_value_t), in a collection that was bound with this; all of its pieces agree. */
uint32_t entry_bad_value(const entry_t *entry, uint32_t bound);
/* The slot of the next version, once the input was loaded to the end of the version `complete`: the slot of a dropped
 * version, or a new slot after all others. Never dropped are those from `complete` on (their last records may have to be
 * corrected), and those whose cut-off record a person has fixed. */
uint32_t entry_next_slot(const entry_t *entry, uint32_t complete);

/* The number of a place in the input's text; false if no extent holds it. */
bool extents_number(const extent_t *extents, size_t count, uint64_t offset, uint64_t *number);
bool entry_number(const entry_t *entry, uint64_t offset, uint64_t *number);
/* The first offset that no extent covers. */
uint64_t entry_extents_end(const entry_t *entry);

/* The piece that has this block; NULL: none. */
const piece_t *entry_piece(const entry_t *entry, uint64_t block);

/* Is the piece done for this version and this generation of the collection? safe: what only one member has acknowledged
 * does not count. */
bool piece_is_complete(const piece_t *piece, uint32_t version, uint32_t generation, bool safe);

/* Are all of its pieces complete for its newest version? */
/* Somebody has begun with it, in whichever generation: before that, nothing of it was sent, nor read. */
bool entry_is_begun(const entry_t *entry);
bool entry_is_complete(const entry_t *entry, uint32_t generation, bool safe);

/* A stream that was given no name: no later load knows it again. */
bool entry_is_nameless(const entry_t *entry);
/* Nothing but its name and its content says which input it is: a stream, or a file that --input-name has named. */
bool entry_is_by_name(const entry_t *entry);

/* The counts of all that is done, with the tail where it counts. */
counts_t piece_counts(const piece_t *piece);
/* The rejected record that begins at this offset; NULL: none. */
const reject_mark_t *piece_reject(const piece_t *piece, uint64_t offset);
/* The rejected records of all pieces. */
typedef struct {
    uint64_t open;     /* without a confirmed fix of the piece's generation */
    uint64_t left_out; /* by a person, or by the filter when they were fixed */
    uint64_t fixed;
} reject_sums_t;
reject_sums_t entry_reject_sums(const entry_t *entry);
uint64_t entry_open_rejects(const entry_t *entry);

/* Was a document of this hash noted for the record at this offset whose bytes have the hash `of`? If that record was
 * left out, documents that were noted for earlier bytes at this offset are accepted too. */
bool fix_marks_accept(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of, uint64_t hash);
/* Was a document of this hash noted for any record that began at this offset? */
bool fix_marks_know(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t hash);
/* Was this record fixed to a document, in a collection of this generation? */
bool fix_marks_answer(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of,
                      uint32_t generation);
/* Has a person left this record out, or does the filter leave out what was made of it? */
bool fix_marks_leave_out(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of);
/* Does the confirmed fix hold for this generation of the collection? If it was confirmed in an earlier one, its
 * document may be missing. */
bool fix_mark_holds(const fix_mark_t *fix, uint32_t generation);
/* The confirmed fix; NULL: none. */
const fix_mark_t *entry_answer(const entry_t *entry, uint64_t offset, uint64_t of);
/* An entry is one document of at most 16 MB: does it have room for this many more rejects and fixes? */
bool entry_has_room(const entry_t *entry, size_t rejects, size_t fixes);
/* May there be a document of a fix that was never confirmed? */
bool entry_has_unsettled_fix(const entry_t *entry, uint64_t offset, uint64_t of);

/* All of these return false (or NULL) when memory is out; err has the sentence. */
bool entry_add_extent(entry_t *entry, extent_t extent, err_t *err);
bool entry_add_version(entry_t *entry, const version_t *version, err_t *err); /* adds it after all others */
bool entry_put_version(entry_t *entry, const version_t *version, uint32_t slot,
                       err_t *err); /* the next one, in this slot */
bool entry_make_pieces(entry_t *entry, size_t count, uint64_t blocks_each, err_t *err);
/* A fix that is not confirmed is added to the others of its record. A confirmed document replaces them all. If it is
 * confirmed as FIX_NOTHING they all stay noted: a late message may still bring one of their documents, or has brought
 * it. */
bool entry_add_fix(entry_t *entry, fix_mark_t fix, err_t *err);
/* Its document is not there any more: the fix counts as noted, no longer as confirmed. */
void entry_reopen_fix(entry_t *entry, const fix_mark_t *fix);
/* Afterwards this many rejects can be added without allocating. */
bool piece_reserve_rejects(piece_t *piece, size_t count, err_t *err);
/* A mark replaces another one at the same place. Fast if the marks are ascending and mostly come after the existing
 * ones. */
bool piece_add_rejects(piece_t *piece, const reject_mark_t *marks, size_t count, err_t *err);
bool piece_copy(piece_t *to, const piece_t *from, err_t *err);
/* A deep copy. `to` is empty, or an entry, which is freed. */
bool entry_copy(entry_t *to, const entry_t *from, err_t *err);

void piece_clear_progress(piece_t *piece); /* as if nothing of it was ever done */
void piece_free(piece_t *piece);
void entry_free(entry_t *entry); /* frees what it holds */

typedef struct {
    entry_t *entries;
    size_t count, room;
} entries_t;

entry_t *entries_add(entries_t *entries, err_t *err); /* an empty entry */
/* Finds an entry by ordinal; NULL: it is not there. */
const entry_t *entries_find(const entries_t *entries, uint32_t ordinal);
void entries_free(entries_t *entries);

/* standing: what the catalog says about an entry of a reject file. Pure. */

typedef enum {
    STANDING_OPEN, /* this record is rejected, or was until it was fixed */
    /* its place is not done: a load that was killed, or that is still running, has rejected it */
    STANDING_NOT_YET,
    /* the beginning of a record, cut off where the input ended; the record has grown since */
    STANDING_OUTGROWN,
    STANDING_UNKNOWN, /* no such record is rejected: the input was loaded again, from other content */
} standing_t;

/* Whose the rejects of an input are: its own, or, where it is removed, those of the inputs of its name from `heirs` on, which
 * came after that. */
typedef struct {
    uint32_t ordinal;
    bool removed;
    uint32_t heirs;
} standing_input_t;

standing_input_t standing_input(const entry_t *entry);

/* hash: of the bytes that were rejected; NULL: not known. *of: for an open record, the same hash as the catalog has
 * it. */
standing_t standing_of_reject(const entry_t *entry, uint64_t offset, const uint64_t *hash, uint64_t *of);

/* Must there be a document of the fixed record? Yes if one was seen there: the fix is confirmed, or its document was
 * found when the record's place was done again. */
bool standing_awaits_fix(const entry_t *entry, uint64_t offset, uint64_t hash);

#endif
