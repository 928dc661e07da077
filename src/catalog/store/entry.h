/* entry: what the catalog knows of one input: where its records' numbers are (extents), which versions of it
 * were seen, and how far each piece of it is. Plain data, the same for the ledger, for the store that keeps
 * it and for the simulator. A piece is what one load works on at a time: a whole input, or one range of a
 * large plain file. */
#ifndef TIPPLE_CATALOG_STORE_ENTRY_H
#define TIPPLE_CATALOG_STORE_ENTRY_H

#include "base/err.h"
#include "catalog/store/done_runs.h"

/* A load. All zeros: nobody. */
typedef struct {
    uint8_t bytes[12];
} load_id_t;

bool load_id_equal(const load_id_t *a, const load_id_t *b);
bool load_id_is_nobody(const load_id_t *id);

typedef struct {
    uint64_t read, loaded, already_there, rejected, filtered;
    uint64_t
        corrected; /* of loaded: a last record that had been cut off, and was replaced by the whole one */
} counts_t;

void counts_add(counts_t *to, const counts_t *from);

/* A stretch of an input's text has the numbers [base, base + length) from `start` on. */
typedef struct {
    uint64_t base, start, length;
} extent_t;

/* A rejected record: where it begins, and a hash of its bytes. */
typedef struct {
    uint64_t offset, hash;
} reject_mark_t;

/* A rejected record that a person has fixed: the hash of a document that was made of it. A record has one of
 * each document that was noted for it, since a message of a load that was killed may still arrive; and at
 * most one that is confirmed, which answers the reject. It is for this record alone: another one at the same
 * place, which a cut-off record may grow into, is another reject. */
enum {
    FIX_NOTHING = 0
}; /* as a hash: the record was left out, or the filter leaves out what was made of it */
typedef struct {
    uint64_t offset, of; /* the reject's: where the record begins, and the hash of its bytes */
    uint64_t hash;
    bool confirmed;      /* the document is in the collection, and so no other one can come there */
    uint32_t generation; /* of the collection that it was confirmed in; 0: not known */
} fix_mark_t;

/* The last block of an input. The input may grow, and the block with it: so it is kept apart from the done
 * runs, and counts as done only for the version that is complete. */
typedef struct {
    uint64_t from, to, hash; /* from == to: there is none */
    counts_t counts;
} tail_t;

typedef struct {
    uint64_t from, to;   /* blocks; UINT64_MAX: up to the end, whatever it will be */
    load_id_t owner;     /* who alone may change it; nobody: free */
    uint32_t epoch;      /* how often it was taken */
    uint32_t generation; /* of the collection that the rest was written for */
    uint32_t complete;   /* the highest version of the input that all of it was done for; 0: none */
    bool unsafe;         /* something of it was acknowledged by one member only */
    int64_t
        modified_ns; /* of the file that the done blocks are from; 0: of more than one, not compared yet */
    done_runs_t done;
    counts_t counts; /* of the done blocks, without the tail */
    tail_t tail;
    reject_mark_t *rejects; /* ascending */
    size_t reject_count, reject_room;
} piece_t;

/* The last record of an input that ended without a line end. When the input grows the record may turn out to
 * be longer: then its document is not another one's, and is corrected. length 0: there is none. */
typedef struct {
    uint64_t offset, length, hash; /* of its bytes */
} torn_t;

/* Of so many versions those that nothing needs any more are dropped, the oldest first. */
#ifndef ENTRY_USUAL_VERSIONS
#define ENTRY_USUAL_VERSIONS 100 /* the simulator has fewer */
#endif

/* A version of an input that was seen: it is the text up to `size` bytes on disk. */
typedef struct {
    uint32_t number,
        slot; /* from 1; and where it stands in the catalog: a new one may take a dropped one's place */
    uint64_t size;
    char digest[33]; /* "" for a stream, whose name is its identity */
    int64_t modified_ns;
    torn_t torn; /* written down before the record is sent */
    int64_t
        completed_ns; /* the modification time of the file that it was loaded from to its end; 0: never was */
} version_t;

typedef struct {
    uint32_t ordinal;
    char *path, *key, *kind;
    char *follows; /* of a new one: the entry of this path before it, so that only one follows; else NULL */
    bool remains;  /* of a removed one: documents of it may still be there, and are to be removed */
    bool removed;  /* its documents were taken away for good: nothing of it is ever used again */
    uint32_t version;    /* the newest one's number */
    version_t *versions; /* by number; not all of them any more, but always the newest */
    size_t version_count;
    uint32_t
        outgrown; /* the newest version in which a last record that an earlier one had cut off is longer; 0: none */
    extent_t *extents;
    size_t extent_count;
    piece_t *pieces;
    size_t piece_count;
    fix_mark_t *fixes; /* ascending by offset */
    size_t fix_count, fix_room;
    load_id_t registered_by;
} entry_t;

const version_t *entry_newest(const entry_t *entry);
/* NULL: there is none of this number, or not any more. */
version_t *entry_version(const entry_t *entry, uint32_t number);
/* The version of this size and digest; 0: none. One that was dropped is none, so that an input that comes back in it has
 * changed. */
uint32_t entry_version_of(const entry_t *entry, uint64_t size, const char *digest);
/* The size of the first one, which says how the text is to be read; 0: not known. */
uint64_t entry_first_size(const entry_t *entry);
/* Where the next version is to stand, once the input was loaded to the end of the version `complete`: in the place of one
 * that was dropped, or behind them all. Needed are the first one, those from `complete` on (their last records may have to be corrected), and
 * those whose cut-off record a person has fixed. */
uint32_t entry_next_slot(const entry_t *entry, uint32_t complete);

/* The number of a place in the input's text; false where no extent has one. */
bool extents_number(const extent_t *extents, size_t count, uint64_t offset, uint64_t *number);
bool entry_number(const entry_t *entry, uint64_t offset, uint64_t *number);
/* The first offset that no extent covers. */
uint64_t entry_extents_end(const entry_t *entry);

/* Is the piece done for this version, under this generation of the collection? safe: what one member only has
 * acknowledged does not count. */
bool piece_is_complete(const piece_t *piece, uint32_t version, uint32_t generation, bool safe);

/* All of its pieces, for its newest version. */
bool entry_is_complete(const entry_t *entry, uint32_t generation, bool safe);

/* The counts of all that is done, the tail included where it counts. */
counts_t piece_counts(const piece_t *piece);
/* The rejected record that begins there; NULL: none. */
const reject_mark_t *piece_reject(const piece_t *piece, uint64_t offset);
/* Rejected records of all pieces that no confirmed fix of their generation answers. */
uint64_t entry_open_rejects(const entry_t *entry);

/* Was a document of this hash noted for the record at this offset whose bytes have the hash `of`? Where that
 * record was left out, those that were noted for what it was before may stay. */
bool fix_marks_accept(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of, uint64_t hash);
/* Was it noted for any record that began there? */
bool fix_marks_know(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t hash);
/* Has a person left this record out, or does the filter leave out what was made of it? */
bool fix_marks_leave_out(const fix_mark_t *fixes, size_t count, uint64_t offset, uint64_t of);
/* Was any noted for a record that begins from `from` on, and before `to`? */
bool fix_marks_between(const fix_mark_t *fixes, size_t count, uint64_t from, uint64_t to);
/* Does what was confirmed hold for this generation of the collection? In an earlier one the document may not be there. */
bool fix_mark_holds(const fix_mark_t *fix, uint32_t generation);
/* The one that is confirmed; NULL: none. */
const fix_mark_t *entry_answer(const entry_t *entry, uint64_t offset, uint64_t of);
/* An entry is one document, of 16 MB at most: is there room in it for so many more rejects and fixes? */
bool entry_has_room(const entry_t *entry, size_t rejects, size_t fixes);
/* May there be a document of a fix that nobody has confirmed? */
bool entry_has_unsettled_fix(const entry_t *entry, uint64_t offset, uint64_t of);

/* All of these are false (or NULL) when memory is out; err has the sentence. */
bool entry_add_extent(entry_t *entry, extent_t extent, err_t *err);
bool entry_add_version(entry_t *entry, const version_t *version, err_t *err); /* behind all others */
bool entry_put_version(entry_t *entry, const version_t *version, uint32_t slot,
                       err_t *err); /* the next one */
bool entry_make_pieces(entry_t *entry, size_t count, uint64_t blocks_each, err_t *err);
/* One that is not confirmed comes to the others of its record. A confirmed document replaces them all;
 * confirmed as FIX_NOTHING, it leaves them all noted: a late message may bring one, or has brought it. */
bool entry_add_fix(entry_t *entry, fix_mark_t fix, err_t *err);
/* Its document is not there any more: from now on it is one that was only noted. */
void entry_reopen_fix(entry_t *entry, const fix_mark_t *fix);
/* So many can be added afterwards without more memory. */
bool piece_reserve_rejects(piece_t *piece, size_t count, err_t *err);
/* One at the place of another one replaces it. Fast where they are ascending, and mostly behind those that are there. */
bool piece_add_rejects(piece_t *piece, const reject_mark_t *marks, size_t count, err_t *err);
bool piece_copy(piece_t *to, const piece_t *from, err_t *err);
/* Deep: `to` is empty or an entry, which is freed. */
bool entry_copy(entry_t *to, const entry_t *from, err_t *err);

void piece_clear_progress(piece_t *piece); /* as if nothing of it had ever been done */
void piece_free(piece_t *piece);
void entry_free(entry_t *entry); /* what it holds */

typedef struct {
    entry_t *entries;
    size_t count, room;
} entries_t;

entry_t *entries_add(entries_t *entries, err_t *err); /* an empty one */
/* Among entries by ordinal; NULL: it is not there. */
const entry_t *entries_find(const entries_t *entries, uint32_t ordinal);
void entries_free(entries_t *entries);

#endif
