/* store: where the catalog is kept, as the few operations that the other modules need. Each function is one command to
 * one collection. It decides nothing: the caller says what a write believes and what it changes. store_mongo.c keeps
 * the catalog in MongoDB. The simulator has its own store, in which messages are late, doubled and lost.
 *
 * A write that returns true was acknowledged by a majority and journaled. If a function returns false, it is not known
 * whether its write happened, or will happen later. Reads see at least what was acknowledged before to the same store.
 * All functions are called by one thread at a time. */
#ifndef TIPPLE_CATALOG_STORE_STORE_H
#define TIPPLE_CATALOG_STORE_STORE_H

#include "catalog/store/entry.h"

enum { STORE_LAYOUT = 3, STORE_OWN = 25, STORE_UUID = 16, STORE_MOST_FIXES = 1000 /* in one command */ };

/* A column that came after the collection was bound to its format, or that stays left out of it. */
typedef struct {
    const char *name;   /* in a header */
    const char *by;     /* the input that had it first */
    const char *type;   /* of one that came; "": it stays left out */
    const char *digest; /* of a --format up to its field; "": of a guess */
    bool others;        /* of one that stays left out: of other inputs, too */
    int64_t at_ms;
} header_column_t;

/* Each collection has one. */
typedef struct {
    int32_t layout, lane_rule;
    char own[STORE_OWN]; /* drawn when it was made, and kept for good, in hexadecimal digits; "": unknown */
    uint8_t uuid[STORE_UUID]; /* of the collection that the header describes; zeros: none yet */
    uint32_t generation;      /* how often the collection was replaced by another one */
    uint64_t next_extent, next_ordinal;
    uint64_t first_ordinal; /* of this generation: entries below it belong to what was dropped */
    bool odd;               /* of another layout, with a field that a change could not believe */
    int64_t lease_ms;
    char *format, *format_digest, *filter; /* NULL: not bound yet */
    char *id;                              /* the fields that the `_id`s are made of; NULL or "": none */
    char *existing;                        /* --existing: "keep" or "replace"; NULL: "reject" */
    /* the load that alone works on the collection, with --existing replace; no load: none does */
    load_id_t replacing;
    char *format_text; /* the format file, if it was guessed; otherwise NULL */
    uint64_t widened;  /* how often its columns have changed since then */
    /* in the order in which they came, or were left out; each is one piece of memory */
    header_column_t *columns;
    size_t column_count;
    bool
        knows_columns; /* this version has bound the collection, and registered all of its inputs; an earlier one notes none */
    bool registered;    /* this version has registered all inputs */
    load_id_t dropping; /* the load that drops the collection; no load: nobody drops it */
    uint64_t drops;     /* how many drops were begun */
    bool appends;       /* --append: there may be documents of others, outside of all extents */
    bool has_entries;   /* if there is no header: there are entries, so the header was removed */
} catalog_header_t;

void catalog_header_free(catalog_header_t *header);

/* A change of the header. It is made only if everything that it believes is still true. */
typedef struct {
    enum {
        HEADER_TAKE_NUMBERS, /* believes generation and both counters; adds extents and ordinals */
        HEADER_BIND, /* believes generation; that format, digest and filter are not set; that no load drops */
        /* believes format_digest and `widened`, and that no load drops; adds 1 to `widened`, sets columns and, if given,
           format_text */
        HEADER_WIDEN,
        /* believes `dropping` and `drops`; sets `dropping` to `by`, and adds 1 to `drops` */
        HEADER_BEGIN_DROP,
        HEADER_CANCEL_DROP, /* believes dropping == by */
        /* believes dropping == by, and next_ordinal, which becomes the first one; no format, another generation, `uuid` */
        HEADER_END_DROP,
        /* believes generation, and that no load drops; sets uuid and the next generation */
        HEADER_NEW_UUID,
        HEADER_BEGIN_REPLACING, /* believes `replacing`, and that no load drops; sets `replacing` to `by` */
        HEADER_END_REPLACING,   /* believes replacing == by; sets it to no load */
        HEADER_APPEND,          /* believes generation, and that no load drops; sets `appends` */
        HEADER_SYNC,            /* changes nothing that matters, but is journaled */
    } kind;
    uint64_t next_extent, next_ordinal, extents, ordinals;
    const char *format, *format_digest, *filter;
    const char *id, *format_text; /* HEADER_BIND; or NULL */
    const char *existing;         /* the same */
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

/* A change of one piece of an entry (and of what belongs to the whole entry). It is made only if everything that it
 * believes is still true: the piece's owner and epoch, and, with version != 0, the entry's version. */
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
    const version_t *new_version; /* or NULL: becomes number version + 1 */
    /* of the new version, which replaces the one there; without a new version: the slot of `version` */
    uint32_t slot;
    const char *new_key; /* with new_version */
    const torn_t *torn;  /* or NULL; of the version `version` */
    bool sets_completed; /* of the version `version` */
    /* versions in this many slots lose their `completed`: the piece begins again, from the file that is here */
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
    bool reopens;            /* entry_reopen_fix of each */
} entry_change_t;

/* A load, as other loads see it. */
typedef struct {
    load_id_t id;
    uint64_t beat; /* rises as long as the load is alive */
    bool ended;    /* the load said so itself, or its process is known to be gone */
    bool leaving;  /* it sends nothing any more, and is about to end */
    bool forgets;  /* it is a `tipple forget`, which leaves a cluster as it is */
    uint64_t documents;
    int64_t started_ms, process;
    int64_t since_ms;  /* its first sign of life, by the server's clock */
    int64_t silent_ms; /* for people only, by the server's clock; no decision uses it */
    char host[64];
} load_seen_t;

typedef struct {
    load_seen_t *loads;
    size_t count, room;
} loads_t;

void loads_free(loads_t *loads);

typedef struct store store_t;
struct store {
    bool (*read_header)(store_t *store, catalog_header_t *header, bool *found, err_t *err);
    /* If there is a header already, it is unchanged. */
    bool (*make_header)(store_t *store, const catalog_header_t *header, err_t *err);
    bool (*change_header)(store_t *store, const header_change_t *change, bool *changed, err_t *err);

    /* first_ordinal of the header that was read last. */
    uint64_t first_ordinal;

    /* Adds the next entries by ordinal, from *from on, to *entries: as many as one reply holds. *more: there may be
     * others, from the new *from on. among: only these ordinals (ascending), or NULL. */
    bool (*read_entries)(store_t *store, uint64_t *from, const uint32_t *among, size_t among_count,
                         entries_t *entries, bool *more, err_t *err);
    /* Adds new entries, one after another, up to the first one whose ordinal is there already, or if another entry
     * has the same `follows`, or one that is not removed the same key. That is no error: two loads may register inputs at once.
     * *added: how many this call has added, as far as is known; if it is all, they are there as given. */
    bool (*add_entries)(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                        err_t *err);
    /* Each change is made separately; *changed: how many were made. */
    bool (*change_entries)(store_t *store, const entry_change_t *changes, size_t count, uint64_t *changed,
                           err_t *err);
    /* Removes all entries below this ordinal. */
    bool (*remove_entries)(store_t *store, uint64_t below, err_t *err);

    bool (*read_loads)(store_t *store, loads_t *loads, err_t *err);
    /* Raises the beat of a load that has not ended. It does not tell whether the load is there: epochs are what makes
     * loads safe. */
    bool (*beat)(store_t *store, const load_id_t *load, uint64_t beat, uint64_t documents, err_t *err);

    /* Before extents are taken: is nobody's document among their `_id`s? False: err. NULL: nobody asks. */
    bool (*may_take)(void *context, uint64_t first_extent, uint64_t extents, err_t *err);
    void *may_take_context;

    /* The UUID of the collection itself; zeros if there is none. */
    bool (*collection)(store_t *store, uint8_t uuid[STORE_UUID], err_t *err);
};

/* Zeros? */
bool store_is_no_uuid(const uint8_t uuid[STORE_UUID]);

/* ---- built on these operations ---- */

/* Reads all entries (or those among some ordinals), by ordinal, to the end, but for those that belong to what was
 * dropped: a load that slept meanwhile may add such entries at any time. */
bool store_read_all(store_t *store, const uint32_t *among, size_t among_count, entries_t *entries,
                    err_t *err);

/* Reads the header without its texts and columns: there is nothing to free. */
bool store_read_numbers(store_t *store, catalog_header_t *header, bool *found, err_t *err);

/* Takes numbers that no other load has: this many units of extents from *first_extent, this many ordinals from
 * *first_ordinal. Refused with status 1 if there are no more. Numbers may stay unused. generation: what was read of the
 * catalog is of this one; of another one it says nothing (status 4). 0: any. */
bool store_take_numbers(store_t *store, uint32_t generation, uint64_t extents, uint64_t ordinals,
                        uint64_t *first_extent, uint64_t *first_ordinal, err_t *err);

/* Does it seem to run, is it not about to end, and will it put back at its end what loads have changed of a cluster? For people
 * and for cleaning up only, since it uses how long ago the server last heard from it. */
bool load_puts_back(const load_seen_t *load, int64_t lease_ms);
/* How many others there are that put things back; self NULL: how many run at all. */
bool running_others(store_t *store, const load_id_t *self, int64_t lease_ms, size_t *count, err_t *err);

#endif
