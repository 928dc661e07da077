/* store: where the catalog is kept, as the few things that the rest needs of it. Each function is one command
 * to one collection and decides nothing: what a write believes and what it changes is said by whoever asks.
 * store_mongo.c keeps it in MongoDB; the simulator has one of its own, in which messages are late, doubled
 * and lost.
 *
 * A write that says true was acknowledged by a majority and journaled. A function that says false does not
 * know whether its write happened, or will happen later. Reads see at least what was acknowledged before to
 * the same store. All are called by one thread at a time. */
#ifndef TIPPLE_CATALOG_STORE_STORE_H
#define TIPPLE_CATALOG_STORE_STORE_H

#include "catalog/store/entry.h"

enum { STORE_LAYOUT = 2, STORE_UUID = 16, STORE_MOST_FIXES = 1000 /* in one command */ };

/* One a collection. */
typedef struct {
    int32_t layout, lane_rule;
    uint8_t uuid[STORE_UUID]; /* of the collection that it speaks of; zeros: none yet */
    uint32_t generation;      /* how often that was another one */
    uint64_t next_extent, next_ordinal;
    int64_t lease_ms;
    char *format, *format_digest, *filter; /* NULL: not bound yet */
    load_id_t dropping;                    /* a load that drops the collection; nobody: none does */
    uint64_t drops;                        /* how often a drop was begun */
    bool has_entries; /* where there is no header: there are entries all the same, so it was removed */
} catalog_header_t;

void catalog_header_free(catalog_header_t *header);

/* A change of the header. It is made only where everything that is believed is still so. */
typedef struct {
    enum {
        HEADER_TAKE_NUMBERS, /* believes both counters; adds extents and ordinals */
        HEADER_BIND, /* believes generation, that format, digest and filter are not set, and nobody drops */
        HEADER_BEGIN_DROP,  /* believes `dropping` and `drops`; sets `dropping` to `by`, one drop more */
        HEADER_CANCEL_DROP, /* believes dropping == by */
        HEADER_END_DROP,    /* believes dropping == by; no format, another generation, `uuid` */
        HEADER_NEW_UUID,    /* believes generation and nobody drops; sets uuid and the next generation */
        HEADER_SYNC,        /* changes nothing that matters, but is journaled */
    } kind;
    uint64_t next_extent, next_ordinal, extents, ordinals;
    const char *format, *format_digest, *filter;
    load_id_t dropping, by;
    uint64_t drops;
    uint32_t generation;
    bool unbound; /* HEADER_NEW_UUID: believes that no format is set, too */
    uint8_t uuid[STORE_UUID];
} header_change_t;

/* A change of one piece of an entry (and of what belongs to the whole entry). It is made only where all that
 * it believes is still so: the piece's owner and epoch, and with version != 0 the entry's version. */
typedef struct {
    uint32_t ordinal;
    uint32_t piece;
    load_id_t owner;
    uint32_t epoch;
    uint32_t version;
    bool no_extent_yet; /* believes that there is no extent of number `extent_at` */
    bool owns_all;      /* believes that every piece of the entry is the owner's */
    bool only_piece;    /* believes that the entry has no other piece */

    bool sets_owner;
    load_id_t new_owner;
    uint32_t new_epoch;           /* with sets_owner */
    uint32_t new_generation;      /* with sets_owner, of a piece that was never taken before; 0: as it is */
    const piece_t *progress;      /* or NULL; generation, complete, unsafe, done, counts, tail, rejects */
    const version_t *new_version; /* or NULL: becomes number version + 1 */
    uint32_t slot;       /* of the new version, which takes the place of the one there; else of `version` */
    const char *new_key; /* with new_version */
    const torn_t *torn;  /* or NULL; of the version `version` */
    bool sets_completed; /* of the version `version` */
    uint32_t
        uncompletes; /* versions in so many slots were not loaded to their ends from what is here: it begins anew */
    int64_t completed_ns;
    bool sets_outgrown;     /* to the version `version` */
    const extent_t *extent; /* or NULL: becomes number extent_at */
    size_t extent_at;
    bool removes;            /* a tombstone from now on, whose documents remain or not */
    bool sets_remains;       /* believes that it is a tombstone, and nothing of the piece */
    bool remains;            /* with either: documents of it may be there */
    const fix_mark_t *fixes; /* entry_add_fix of each, of records that all differ */
    size_t fix_count;        /* at most STORE_MOST_FIXES */
    bool reopens;            /* entry_reopen_fix of each */
} entry_change_t;

/* A load, as others see it. */
typedef struct {
    load_id_t id;
    uint64_t beat; /* rises as long as the load is alive */
    bool ended;    /* it said so itself, or its process is known to be gone */
    uint64_t documents;
    int64_t started_ms, process;
    int64_t silent_ms; /* for people, by the server's clock; nothing is decided by it */
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
    /* One that is there already stays as it is. */
    bool (*make_header)(store_t *store, const catalog_header_t *header, err_t *err);
    bool (*change_header)(store_t *store, const header_change_t *change, bool *changed, err_t *err);

    /* The next entries by ordinal, from *from on, added to *entries: as many as one reply holds. *more: there
     * may be others, from the new *from on. among: only these ordinals (ascending), or NULL. */
    bool (*read_entries)(store_t *store, uint64_t *from, const uint32_t *among, size_t among_count,
                         entries_t *entries, bool *more, err_t *err);
    /* New entries. One whose ordinal is there already is left out, and so is one whose key or `follows` another entry has
     * that is not removed; neither is an error: two loads may register two versions of one file at once. *added of
     * them were added by this call: where that is all of them, they are there as they were given. */
    bool (*add_entries)(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                        err_t *err);
    /* Each by itself; *changed of them were made. */
    bool (*change_entries)(store_t *store, const entry_change_t *changes, size_t count, uint64_t *changed,
                           err_t *err);
    /* All entries whose ordinal is below this one, and of which nothing was taken for a later generation than this: a
     * drop. Others are of a load that came after it, although one below may have been registered by a message from before. */
    bool (*remove_entries)(store_t *store, uint64_t below, uint32_t generation, err_t *err);

    bool (*read_loads)(store_t *store, loads_t *loads, err_t *err);
    /* Raises the beat of a load that has not ended. Nobody is told whether it is there: safety is the epochs'. */
    bool (*beat)(store_t *store, const load_id_t *load, uint64_t beat, uint64_t documents, err_t *err);

    /* The collection itself: zeros where there is none. */
    bool (*collection)(store_t *store, uint8_t uuid[STORE_UUID], err_t *err);
};

/* ---- what is built on them ---- */

/* All entries (or those among some ordinals), by ordinal, to the end. */
bool store_read_all(store_t *store, const uint32_t *among, size_t among_count, entries_t *entries,
                    err_t *err);

/* Numbers that nobody else has: so many units of extents from *first_extent, so many ordinals from
 * *first_ordinal. Refused with status 1 where there are no more. A hole may stay. */
bool store_take_numbers(store_t *store, uint64_t extents, uint64_t ordinals, uint64_t *first_extent,
                        uint64_t *first_ordinal, err_t *err);

/* How many loads seem to run, but for this one (or NULL): for people and for cleaning up, since it goes by
 * how long ago the server saw them. */
bool running_count(store_t *store, const load_id_t *but, int64_t lease_ms, size_t *count, err_t *err);

#endif
