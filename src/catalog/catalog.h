/* catalog: what a command does with its ledger and the store, step by step. Each function is a short series of
 * commands, and is safe against anything that happens between two of them: a lost reply, another load, a kill, a
 * message that arrives late. The simulator runs these functions unchanged. One thread at a time calls them, and it is
 * the one that uses the store.
 *
 *     open ---- bind ---- [ look, take, extend, checkpoint ] ---- check the collection      a load
 *                 \---- widen, leave out: columns of the bound collection
 *     drop, begin alone, end alone: every other load must have ended, or be dead, before these
 *     remove: inputs and their documents
 *     hold: pieces that --retry keeps while it changes something in them
 *
 * A load enrolls and beats before it reads the header. So of two commands that begin at once, at least one sees
 * the other: the load by its beat, the drop (or the load that works alone) by the header. */
#ifndef TIPPLE_CATALOG_CATALOG_H
#define TIPPLE_CATALOG_CATALOG_H

#include "base/text.h"
#include "catalog/ledger/ledger.h"
#include "catalog/store/store.h"

#include <stdatomic.h>

/* A command at work on the catalog of a collection. The command is a load itself: it has enrolled, and its heartbeat
 * goes on. Wherever it waits for other loads, it does so by this table. */
typedef struct {
    store_t *store;
    const char *name; /* of the collection, for sentences */
    load_id_t self;
    int64_t lease_ns;
    const atomic_ullong *own_beats; /* how many of our beats were acknowledged */
    void *context;                  /* of the functions below */
    int64_t (*now)(void *context);
    /* Lets a moment pass. False: stop (err is set). */
    bool (*wait)(void *context, err_t *err);
    /* Called with a load that the command waits for; with NULL if it is not known which one. May be NULL. */
    void (*waits_for)(void *context, const load_seen_t *load);
} catalog_t;

static inline int64_t catalog_now(const catalog_t *catalog) {
    return catalog->now(catalog->context);
}

/* ---- the header (catalog.c) ---- */

/* What a load needs to know of a collection's header. */
typedef struct {
    const char *name;             /* of the collection, for sentences */
    const char *format;           /* "mot" */
    const char *format_digest;    /* another digest: the same bytes make other documents */
    const char *id;               /* the fields of --id, "" for none; NULL: whichever it has */
    const char *existing;         /* one of existing_names; NULL: whichever it has */
    const char *format_text;      /* of a guessed format: its file, to be kept; otherwise NULL */
    const char *filter;           /* normalised; "" when none */
    const header_column_t *added; /* columns that this load adds, for its first write */
    size_t added_count;
    uint64_t widened;         /* the header's, when the format was read there; UINT64_MAX: there was none */
    uint8_t uuid[STORE_UUID]; /* of the collection */
    bool empty;               /* the collection holds nothing */
    bool append;              /* --append: or it may hold documents of others */
    bool accepts_other_uuid;  /* --same-collection: what was done for another collection does not count */
} catalog_settings_t;

/* The collection of a namespace: the part after the first dot. */
const char *catalog_collection_of(const char *name);

/* Sentences that several commands share. Each of these functions sets one, and returns false. */
/* The collection of this name has no catalog; or header->has_entries: a catalog whose header was removed. */
bool catalog_refuse_none(const char *name, const catalog_header_t *header, err_t *err);
/* There is a catalog of this name, but no such collection. */
bool catalog_refuse_gone(const char *name, err_t *err);
/* The catalog was there when the load began, and is not there any more. */
bool catalog_refuse_removed(const char *name, err_t *err);
/* The collection holds documents of others. has_catalog: there is one, but no load has put a record into the
 * collection. */
bool catalog_refuse_unknown_data(const char *name, bool has_catalog, err_t *err);
/* Another load was first with a guess or with new columns: this one may begin again (err->again) with the format that
 * is kept now. Status 4. */
bool catalog_refuse_lost(const catalog_settings_t *settings, err_t *err);

/* True if the header describes a collection, and it is not the one with this UUID. The sentence about it begins with
 * the collection's name and CATALOG_OTHER. */
bool catalog_is_other(const catalog_header_t *header, const uint8_t uuid[STORE_UUID]);
#define CATALOG_OTHER                                                                                        \
    "is not the collection that its catalog describes: it was dropped and made again, restored, resharded "  \
    "or moved to another shard since then"

/* True if we can work with this header. If not: status 1 and what to do, or catalog_refuse_lost. Reads nothing. */
bool catalog_check_header(const catalog_header_t *header, const catalog_settings_t *settings, err_t *err);

/* Reads the header, or makes it if there is none. The caller frees *header. Call it after the load's first beat. */
bool catalog_open(store_t *store, const catalog_settings_t *settings, catalog_header_t *header, err_t *err);

/* With --append: notes that documents of others are expected. Call it when nothing can refuse the load any more, before
 * the first document is sent. */
bool catalog_expect_others(store_t *store, const catalog_settings_t *settings, uint32_t generation,
                           err_t *err);

/* Binds the collection to this format and filter. Call it directly before the first document is sent. If two loads
 * differ, one is refused with status 1 and has written nothing. */
bool catalog_bind(store_t *store, const catalog_settings_t *settings, err_t *err);

/* False, with status 4, if the collection is not the one that this load works on any more. */
bool catalog_check_collection(store_t *store, const catalog_settings_t *settings, uint32_t generation,
                              err_t *err);

/* ---- columns of a bound collection (catalog_columns.c) ---- */

/* The header lists columns, each in one row, whatever the case of its name. An added column has a type, and its row
 * stays for good. A column that is left out has none; its row names the first input that it was left out of, and goes
 * when that input is forgotten and there were no others. Each change is one conditional write, under which every
 * document that is there stays as it is. */

/* The next text of a list of texts that end with NULs; before NULL: the first. NULL after the last. */
static inline const char *text_next(const text_t *list, const char *before) {
    const char *next = before ? before + strlen(before) + 1 : list->bytes;
    return list->length && next < list->bytes + list->length ? next : NULL;
}

/* Writes down the columns that the load adds, and format_text. If another load was first: catalog_refuse_lost. */
bool catalog_widen(store_t *store, const catalog_settings_t *settings, err_t *err);

/* Writes down columns that are left out, before the first document of their input. names: a list as above. *several:
 * all of them are left out of other inputs as well, so that more inputs change nothing. Status 1: another load has
 * added one. */
bool catalog_leave_out(store_t *store, const catalog_settings_t *settings, const text_t *names,
                       const char *input, bool *several, err_t *err);

/* The input's documents are removed, so nothing is left out of it any more. */
bool catalog_forget_columns(store_t *store, const char *input, err_t *err);

/* ---- other loads (catalog_alone.c) ---- */

/* Reads the loads, and judges them by what was read before. */
bool catalog_look_at_others(const catalog_t *catalog, liveness_t *liveness, err_t *err);

/* Drops the collection if it still has this UUID (zeros: there is no collection). context: the catalog's. */
typedef bool catalog_drop_fn(void *context, const uint8_t uuid[STORE_UUID], err_t *err);

/* Drops the collection, by `drop`, and everything that the catalog holds, except that the counters of numbers continue.
 * Refused with status 1 while another load is alive. */
bool catalog_drop(const catalog_t *catalog, catalog_drop_fn *drop, err_t *err);

/* With --existing replace (`replaces`) this load works alone from now on, until catalog_end_alone: refused with status
 * 1 while another load is alive, and others are refused meanwhile. *inherited: a load that had replaced documents did
 * not end well, and messages of it may be on their way. Without `replaces`, only waits until such a load is dead. */
bool catalog_begin_alone(const catalog_t *catalog, bool replaces, bool *inherited, err_t *err);
/* Only if no message of this load can be on its way. */
bool catalog_end_alone(const catalog_t *catalog, err_t *err);

/* ---- pieces (catalog_pieces.c) ---- */

/* Reads the entries of all inputs, and then the loads. Leaves out inputs that are done according to the answer to our
 * last write. */
bool catalog_look(const catalog_t *catalog, ledger_t *ledger, err_t *err);
/* Reads only the loads, when the ledger's entries were read a moment ago. */
bool catalog_look_at_loads(const catalog_t *catalog, ledger_t *ledger, err_t *err);

/* Reads the entries of pieces that are OURS and that the catalog has not confirmed for a quarter of a lease
 * (in_any_case: of all that are OURS). */
bool catalog_confirm(const catalog_t *catalog, ledger_t *ledger, bool in_any_case, err_t *err);

/* Tries to take some pieces (ledger_choose). Afterwards ledger_hand_out gives those that are ours. */
bool catalog_take(const catalog_t *catalog, ledger_t *ledger, const work_t *only, size_t least,
                  uint64_t most_bytes, err_t *err);

/* Writes down what is done. All of it must be durable before. */
bool catalog_checkpoint(const catalog_t *catalog, ledger_t *ledger, err_t *err);

/* Takes numbers for an input of unknown size, so that `offset` has one, and adds extents to the ledger's entry. */
bool catalog_extend(const catalog_t *catalog, ledger_t *ledger, const work_t *work, uint64_t offset,
                    err_t *err);

/* Pieces that a command holds while it changes something in them, and then gives back unchanged. It takes them as a
 * load takes pieces, but all or none: a command that waits for one piece holds none, so no two commands wait for each
 * other. The ledger has option `holds`, and its inputs are sorted by ordinal; ledger_skip leaves out pieces that are
 * not wanted. */

/* Waits until all pieces are ours. */
bool hold_take(const catalog_t *catalog, ledger_t *ledger, err_t *err);
/* Makes changes that are valid only while the pieces are held. False: not all of them were made, and err says why. */
bool hold_change(const catalog_t *catalog, ledger_t *ledger, const entry_change_t *changes, size_t count,
                 err_t *err);
/* Gives the pieces back. Pieces that another command has taken meanwhile stay its own. */
bool hold_give_back(const catalog_t *catalog, ledger_t *ledger, err_t *err);

/* ---- removing inputs (catalog_removal.c) ---- */

/* Inputs are taken out of the catalog first, and then their documents are removed. Their numbers are never used again:
 * documents in late messages of dead loads belong to no input. */

typedef struct {
    const catalog_t *catalog; /* whose context the functions below are given */
    /* catalog_remove: nothing can refuse it any more; documents are removed from now on. May be NULL. */
    void (*begins)(void *context);
    /* *any: the collection holds documents with the entry's numbers. */
    bool (*look)(void *context, const entry_t *entry, bool *any, err_t *err);
    /* Removes such documents. */
    bool (*remove)(void *context, const entry_t *entry, err_t *err);
} removal_t;

/* Finishes removals that were killed: removes the documents of inputs that are out of the catalog. Every load does this
 * before it registers its own inputs. */
bool catalog_finish_removals(const removal_t *removal, err_t *err);

/* Notes that documents of a tombstone may be there again, sent by a load that did not know of the removal. The next
 * catalog_finish_removals removes them. */
bool catalog_may_remain(const catalog_t *catalog, uint32_t ordinal, err_t *err);
/* Calls catalog_may_remain if there are such documents (*any). */
bool catalog_look_again(const removal_t *removal, const entry_t *entry, bool *any, err_t *err);

/* An input that is to be removed. */
typedef struct {
    const entry_t *entry; /* as it was read before */
    bool documents;       /* with its documents */
    bool read;            /* records of it were read before; for messages */
} removed_t;

/* Takes the inputs out of the catalog first, so that no load continues them and their numbers belong to no input. Then
 * removes their documents, until none came for a lease, which is waited once for all inputs. A removal that arrives
 * late finds nothing that is needed. Status 1, and all inputs stay, while a load that is alive owns a piece of one, or
 * while there are documents of one that is to be removed without. After a kill, the next load or the same command
 * removes the rest. An input may be given twice. */
bool catalog_remove(const removed_t *inputs, size_t count, const removal_t *removal, err_t *err);

#endif
