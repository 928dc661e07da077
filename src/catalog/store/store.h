/* store: where the catalog is kept, as the few operations that the other modules need. Each function of store_t is one
 * command to one collection and decides nothing: the caller says what a write believes and what it changes. store_mongo
 * keeps the catalog in MongoDB; the simulator has its own store, whose messages are late, doubled and lost.
 *
 *     a header    one for the collection: format and filter that it is bound to, counters of numbers, who drops it
 *     entries     one for each input (entry.h)
 *     loads       one for each load, with its heartbeat
 *
 * A write that returns true was acknowledged by a majority and journaled. If a function returns false, its write may
 * have happened or may still happen later. Reads see at least what was acknowledged before to the same store. A write
 * is made only if everything that it believes is still true, so whatever was read may be out of date. One thread at a
 * time calls the functions of a store. */
#ifndef TIPPLE_CATALOG_STORE_STORE_H
#define TIPPLE_CATALOG_STORE_STORE_H

#include "catalog/store/entry.h"

enum { STORE_LAYOUT = 3, STORE_OWN = 25, STORE_UUID = 16, STORE_MOST_FIXES = 1000 /* in one command */ };

/* ---- the header ---- */

/* A column that was added after the collection was bound to its format, or that is left out of its documents. */
typedef struct {
    const char *name;   /* in a header */
    const char *by;     /* the first input that had it */
    const char *type;   /* of an added column; "": the column is left out */
    const char *digest; /* of a --format up to this field; "": of a guess */
    bool others;        /* a column that is left out: of other inputs as well */
    int64_t at_ms;
} header_column_t;

typedef struct {
    int32_t layout, lane_rule;
    char own[STORE_OWN]; /* random, from when the header was made, never changed; hexadecimal; "": unknown */
    uint8_t uuid[STORE_UUID]; /* of the collection that the header describes; zeros: none yet */
    uint32_t generation;      /* how often the collection was replaced by another one */
    uint64_t next_extent, next_ordinal;
    uint64_t first_ordinal; /* entries with smaller ordinals belong to a collection that was dropped */
    bool odd;               /* of another layout, with a field that a change could not believe */
    int64_t lease_ms;
    char *format, *format_digest, *filter; /* NULL: not bound yet */
    char *id;                              /* the fields that the `_id`s are made of; NULL or "": none */
    char *existing;                        /* --existing: "keep" or "replace"; NULL: "reject" */
    /* the load that has the collection for itself, with --existing replace; or no load */
    load_id_t replacing;
    char *format_text;        /* the format file, if it was guessed; otherwise NULL */
    uint64_t widened;         /* how often its columns have changed since then */
    header_column_t *columns; /* in the order in which they came; the texts of each are one piece of memory */
    size_t column_count;
    /* this version has bound the collection and registered all inputs; earlier ones note none */
    bool knows_columns;
    bool registered;    /* this version has registered all inputs */
    load_id_t dropping; /* the load that is dropping the collection, or no load */
    uint64_t drops;     /* how many drops were begun */
    bool appends;       /* --append: there may be documents of others, outside of all extents */
    bool has_entries;   /* where no header was found: there are entries, so the header was removed by hand */
} catalog_header_t;

/* Frees texts and columns, which it then has no more; the rest stays as it is. */
void catalog_header_free(catalog_header_t *header);

/* A change of the header. */
typedef struct {
    enum {
        HEADER_TAKE_NUMBERS, /* believes generation and both counters; adds extents and ordinals */
        HEADER_BIND, /* believes generation; that format, digest and filter are not set; that no load drops */
        /* believes format_digest and `widened`, and that no load drops; adds 1 to `widened`, sets columns and, if
         * given, format_text */
        HEADER_WIDEN,
        HEADER_BEGIN_DROP, /* believes `dropping` and `drops`; sets `dropping` to `by`, and adds 1 to `drops` */
        /* believes dropping == by; with `drops`, also that there are columns of the drop before, and keeps them */
        HEADER_CANCEL_DROP,
        /* believes dropping == by, and next_ordinal, which becomes the first one; no format, another generation,
         * `uuid` */
        HEADER_END_DROP,
        HEADER_NEW_UUID, /* believes generation, and that no load drops; sets uuid and the next generation */
        HEADER_BEGIN_REPLACING, /* believes `replacing`, and that no load drops; sets `replacing` to `by` */
        HEADER_END_REPLACING,   /* believes that `by` is replacing; then no load is */
        HEADER_APPEND,          /* believes generation, and that no load drops; sets `appends` */
        HEADER_SYNC,            /* changes nothing that matters, but is journaled */
    } kind;
    uint64_t next_extent, next_ordinal, extents, ordinals;
    const char *format, *format_digest, *filter;
    const char *id, *format_text, *existing; /* HEADER_BIND; or NULL */
    /* HEADER_BIND, HEADER_WIDEN: all of them; `drops` says of which collection */
    const header_column_t *columns;
    size_t column_count;
    /* HEADER_WIDEN: as in the header; HEADER_BIND: true; HEADER_TAKE_NUMBERS: `registered` of the header */
    bool knows_columns;
    uint64_t widened;
    load_id_t dropping, replacing, by;
    uint64_t drops;
    uint32_t generation;
    bool unbound; /* HEADER_NEW_UUID: also believes that no format is set */
    uint8_t uuid[STORE_UUID];
} header_change_t;

/* ---- entries ---- */

/* A change of one piece of an entry, and of what belongs to the whole entry. It believes the piece's owner and epoch
 * and, if `version` is not 0, the entry's version. */
typedef struct {
    uint32_t ordinal;
    uint32_t piece;
    load_id_t owner;
    uint32_t epoch;
    uint32_t version;
    bool no_extent_yet; /* believes that there is no extent of number `extent_at` */
    bool owns_all;      /* believes that the owner has every piece of the entry */
    bool only_piece;    /* believes that the entry has no other piece */

    bool sets_owner;
    load_id_t new_owner;
    uint32_t new_epoch;           /* with sets_owner */
    uint32_t new_generation;      /* with sets_owner, for a piece that was never taken before; 0: unchanged */
    const piece_t *progress;      /* or NULL; generation, complete, unsafe, done, counts, tail, rejects */
    const version_t *new_version; /* NULL: no new version; else it gets number version + 1 */
    uint32_t slot;       /* of the new version, which replaces the one there; else the slot of `version` */
    const char *new_key; /* with new_version */
    const torn_t *torn;  /* or NULL; of the version `version` */
    bool sets_completed; /* of the version `version` */
    /* this many slots lose `completed`: the piece begins again, from the file that is here */
    uint32_t uncompletes;
    int64_t completed_ns;
    bool sets_outgrown;     /* to the version `version` */
    const extent_t *extent; /* or NULL: becomes number extent_at */
    size_t extent_at;
    bool removes;            /* makes the entry a tombstone; `remains` says whether documents may be left */
    uint32_t heirs;          /* with removes */
    bool sets_remains;       /* believes that it is a tombstone, and nothing about the piece */
    bool remains;            /* with either: documents of it may be there */
    const char *adds_name;   /* or NULL; believes that it is no tombstone, and nothing about the piece */
    const fix_mark_t *fixes; /* entry_add_fix of each; all are of different records */
    size_t fix_count;        /* at most STORE_MOST_FIXES */
    bool reopens;            /* entry_reopen_fix of each instead */
} entry_change_t;

/* ---- loads ---- */

/* A load, as other loads see it. */
typedef struct {
    load_id_t id;
    uint64_t beat; /* rises as long as the load is alive */
    bool ended;    /* the load said so itself, or its process is known to be gone */
    bool leaving;  /* it sends nothing any more, and is about to end */
    bool forgets;  /* it is a `tipple forget`, which leaves a cluster as it is */
    uint64_t documents;
    int64_t started_ms, process;
    int64_t since_ms; /* its first heartbeat, by the server's clock */
    /* since its last one, by the server's clock; shown to users, no decision depends on it */
    int64_t silent_ms;
    char host[64];
} load_seen_t;

typedef struct {
    load_seen_t *loads;
    size_t count, room;
} loads_t;

void loads_free(loads_t *loads);

/* ---- the operations ---- */

typedef struct store store_t;
struct store {
    /* Entries with smaller ordinals belong to a collection that was dropped. Owned by store_read_header, which alone sets it, from
     * each header (0 without one); it only rises, so an old value leaves out too little, never too much. */
    uint64_t live_from;

    /* Called by store_read_header alone. */
    bool (*find_header)(store_t *store, catalog_header_t *header, bool *found, err_t *err);
    /* If there is a header already, it stays as it is. */
    bool (*make_header)(store_t *store, const catalog_header_t *header, err_t *err);
    bool (*change_header)(store_t *store, const header_change_t *change, bool *changed, err_t *err);

    /* Adds the next entries by ordinal, from *from on, to *entries: as many as one reply holds. *more: there may be
     * others, from the new *from on. among: only these ordinals (ascending), or NULL. */
    bool (*read_entries)(store_t *store, uint64_t *from, const uint32_t *among, size_t among_count,
                         entries_t *entries, bool *more, err_t *err);
    /* Adds new entries one after another, up to the first one that is in the way: its ordinal is taken, another entry
     * has the same `follows`, or one that is not removed has the same key. That is no error, because two loads may
     * register inputs at once. *added: how many this call is known to have added; if it is all, they are there as
     * given. */
    bool (*add_entries)(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                        err_t *err);
    /* Each change is made separately; *changed: how many were made. */
    bool (*change_entries)(store_t *store, const entry_change_t *changes, size_t count, uint64_t *changed,
                           err_t *err);
    /* Removes all entries below this ordinal. */
    bool (*remove_entries)(store_t *store, uint64_t below, err_t *err);

    bool (*read_loads)(store_t *store, loads_t *loads, err_t *err);
    /* Raises the beat of a load that has not ended. It does not report whether the load is there: epochs are what makes
     * loads safe. */
    bool (*beat)(store_t *store, const load_id_t *load, uint64_t beat, uint64_t documents, err_t *err);

    /* Asked before extents are taken: false (err) if a document of others has one of their `_id`s. NULL: nobody
     * asks. */
    bool (*may_take)(void *context, uint64_t first_extent, uint64_t extents, err_t *err);
    void *may_take_context;

    /* The UUID of the collection itself; zeros if there is none. */
    bool (*collection)(store_t *store, uint8_t uuid[STORE_UUID], err_t *err);
};

/* True for zeros. */
bool store_is_no_uuid(const uint8_t uuid[STORE_UUID]);

/* ---- built on these operations ---- */

/* Reads the header, which the caller frees, and sets store->live_from. */
bool store_read_header(store_t *store, catalog_header_t *header, bool *found, err_t *err);
/* The same without texts and columns: there is nothing to free. */
bool store_read_numbers(store_t *store, catalog_header_t *header, bool *found, err_t *err);

/* Reads all entries (or those among some ordinals) by ordinal, to the end, from live_from on: a load
 * that slept through a drop may add such entries at any time. */
bool store_read_all(store_t *store, const uint32_t *among, size_t among_count, entries_t *entries,
                    err_t *err);

/* Takes numbers that no other load has: this many units of extents from *first_extent, this many ordinals from
 * *first_ordinal. They may stay unused. Status 1 if there are no more. generation: of the collection that the caller
 * knows; status 4 if it is another one by now. 0: any. */
bool store_take_numbers(store_t *store, uint32_t generation, uint64_t extents, uint64_t ordinals,
                        uint64_t *first_extent, uint64_t *first_ordinal, err_t *err);

/* True if the load seems to run, is not about to end, and will undo at its end what loads have changed of a cluster. It
 * depends on how long ago the server heard from it, so it is for messages and for cleaning up only. */
bool load_puts_back(const load_seen_t *load, int64_t lease_ms);
/* How many other loads put things back; self NULL: how many loads run at all. */
bool running_others(store_t *store, const load_id_t *self, int64_t lease_ms, size_t *count, err_t *err);

#endif
