/* catalog: what a load does with its ledger and the store, step by step. Each function is a short series of commands.
 * It is safe against anything that happens between two of them: a lost reply, another load, a kill, a message that
 * arrives late. The simulator runs these functions unchanged. One thread at a time. */
#ifndef TIPPLE_CATALOG_CATALOG_H
#define TIPPLE_CATALOG_CATALOG_H

#include "base/text.h"
#include "catalog/ledger/ledger.h"
#include "catalog/store/store.h"

/* others: the other loads of a collection, as a command sees them that is one of them itself: how it tells whether they are
 * alive, and how it waits for them. One thread at a time. */

typedef struct {
    load_id_t self; /* a load that is alive: it has enrolled, and its heartbeat goes on */
    int64_t lease_ns;
    void *context;
    int64_t (*now)(void *context);
    uint64_t (*own_beats)(void *context); /* how many of our beats were acknowledged */
    /* Lets a moment pass. False: stop (err is set). */
    bool (*wait)(void *context, err_t *err);
    /* Called with a load that the command waits for; with NULL where it is not known which one. NULL: not told. */
    void (*waits_for)(void *context, const load_seen_t *load);
} others_t;

/* Reads the loads, and judges them by what was read before. */
bool others_look(store_t *store, const others_t *others, liveness_t *liveness, err_t *err);

/* Waits until each other load (or only this one) has ended or is known to be dead. Refused while one is alive, but not
 * within patience_ns because of one that has loaded nothing. why: a part of the sentence. */
bool others_wait(store_t *store, const char *name, const others_t *others, const load_id_t *only,
                 int64_t patience_ns, const char *why, err_t *err);

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
    /* --same-collection: what was done for another collection then does not count */
    bool accepts_other_uuid;
} catalog_settings_t;

/* Of a namespace: what stands behind the first dot. */
const char *catalog_collection_of(const char *name);

/* Sets the sentence that a collection of this name has no catalog, or only the entries of one: as was read where no header was found.
 * Always false. */
bool catalog_refuse_none(const char *name, const catalog_header_t *header, err_t *err);

/* Sets the sentence that there is a catalog of this name, but no such collection. Always false. */
bool catalog_refuse_gone(const char *name, err_t *err);

/* Sets the sentence that a load finds it no more. Always false. */
bool catalog_refuse_removed(const char *name, err_t *err);

/* Is the collection of this UUID another one than the header describes? False also where it describes none yet. Where it is, the
 * sentence begins with the collection's name and these words. */
bool catalog_is_other(const catalog_header_t *header, const uint8_t uuid[STORE_UUID]);
#define CATALOG_OTHER                                                                                        \
    "is not the collection that its catalog describes: it was dropped and made again, restored, resharded "  \
    "or moved to another shard since then"

/* Sets the sentence that it holds documents of others. has_catalog: of which no load has put a record there. Always false. */
bool catalog_refuse_unknown_data(const char *name, bool has_catalog, err_t *err);

/* Can we work with this header? If not: status 1, and what to do; or catalog_refuse_lost. Reads nothing. */
bool catalog_check_header(const catalog_header_t *header, const catalog_settings_t *settings, err_t *err);

/* Reads the header, or makes it if there is none. The caller frees *header. Call it after the load's first beat: then a
 * load that drops the collection sees that beat, or we see that it drops. */
bool catalog_open(store_t *store, const catalog_settings_t *settings, catalog_header_t *header, err_t *err);

/* Call it directly before the first document is sent: from now on the collection belongs to this format and filter. If
 * two loads differ, one is refused with status 1, and it has written nothing. */
bool catalog_bind(store_t *store, const catalog_settings_t *settings, err_t *err);

/* Sets the sentence that another load was first with a guess, or with new columns: this one may begin again (err->again) with the
 * format that is kept now. Status 4. Always false. */
bool catalog_refuse_lost(const catalog_settings_t *settings, err_t *err);

/* catalog_columns.c. The list of columns in the header of a bound collection: each has one row, whatever the case of its name. A
 * column that came has a type, and its row stays for good. A column that stays left out has none, and its row names the first input
 * that it was left out of: it goes when that is forgotten, and there were no others. Each change is one conditional write, under
 * which every document that is there stays as it is. */

/* Of a text that is a list of texts with a NUL after each: the one after this one; NULL: the first. Returns NULL after the last. */
static inline const char *text_next(const text_t *list, const char *before) {
    const char *next = before ? before + strlen(before) + 1 : list->bytes;
    return list->length && next < list->bytes + list->length ? next : NULL;
}

/* Writes down the columns that the load adds, and format_text. Where another load was first: catalog_refuse_lost. */
bool catalog_widen(store_t *store, const catalog_settings_t *settings, err_t *err);

/* Writes down columns that stay left out, before the first document of their input. names: with a NUL after each. *several: all of
 * them are left out of other inputs, too, so that more inputs change nothing. Status 1: another load has added one. */
bool catalog_leave_out(store_t *store, const catalog_settings_t *settings, const text_t *names,
                       const char *input, bool *several, err_t *err);

/* Nothing is left out of this input any more: its documents are removed. */
bool catalog_forget_columns(store_t *store, const char *input, err_t *err);

/* Drops the collection if it still has this UUID (zeros: there is no collection). context: that of `others`. */
typedef bool catalog_drop_fn(void *context, const uint8_t uuid[STORE_UUID], err_t *err);

/* catalog_drop.c. Drops the collection with all that the catalog holds, but the counters of numbers continue. `drop` drops the data.
 * Refused with status 1 while another load is alive. */
bool catalog_drop(store_t *store, const char *name, const others_t *others, catalog_drop_fn *drop,
                  err_t *err);

/* catalog_alone.c. With --existing replace (`replaces`) this load works alone from now on, until catalog_end_alone: refused with status 1
 * while another load is alive, and others are refused meanwhile. The intent is written down first; a load writes its
 * beat, and then reads the header. *inherited: a load that had replaced documents did not end well, and messages of it may
 * be on their way. Without `replaces`: only waits until such a load is dead. */
bool catalog_begin_alone(store_t *store, const char *name, const others_t *others, bool replaces,
                         bool *inherited, err_t *err);
/* Only if no message of this load can be on its way. */
bool catalog_end_alone(store_t *store, const load_id_t *self, err_t *err);

/* ---- with a ledger ---- */

/* Reads the entries of all inputs, and then the loads. Left out are inputs of which the answer to our last write has
 * said that they are done. */
bool catalog_look(store_t *store, ledger_t *ledger, const others_t *others, err_t *err);

/* Reads only the loads, when the ledger's entries were read a moment ago. */
bool catalog_look_at_loads(store_t *store, ledger_t *ledger, const others_t *others, err_t *err);

/* Reads the entries of pieces that are OURS and of which the catalog has said nothing for a quarter of a lease
 * (in_any_case: of all that are OURS). */
bool catalog_confirm(store_t *store, ledger_t *ledger, const others_t *others, bool in_any_case, err_t *err);

/* now_ns, here and below: a time before the call, by the clock of `others`. */

/* Tries to take some pieces (see ledger_choose). ledger_hand_out then tells which of them are ours. */
bool catalog_take(store_t *store, ledger_t *ledger, int64_t now_ns, const work_t *only, size_t least,
                  uint64_t most_bytes, err_t *err);

/* Writes down what is done. All of it must be durable before. */
bool catalog_checkpoint(store_t *store, ledger_t *ledger, int64_t now_ns, err_t *err);

/* Takes numbers for an input of unknown size, so that `offset` has one; adds extents to the ledger's entry. *ours
 * false: the piece belongs to another load now. */
bool catalog_extend(store_t *store, ledger_t *ledger, int64_t now_ns, work_t *work, uint32_t epoch,
                    uint64_t offset, bool *ours, err_t *err);

/* Is the collection still the one that this load works on? If not: status 4. */
bool catalog_check_collection(store_t *store, const catalog_settings_t *settings, uint32_t generation,
                              err_t *err);

/* hold: pieces of inputs that a command keeps for itself while it changes something in them, and then gives back
 * unchanged. It takes them as a load takes pieces, but all or none: a command that waits for one piece holds none, so
 * no two commands wait for each other. The ledger has option `holds`, and its inputs are sorted by ordinal; ledger_skip
 * leaves out pieces that are not wanted. One thread at a time. */

typedef struct {
    store_t *store;
    ledger_t *ledger;
    others_t others;
} hold_t;

/* Waits until all pieces are ours. */
bool hold_take(const hold_t *hold, err_t *err);

/* As catalog_confirm. False: some pieces belong to another command now (status 4), or the catalog did not answer.
 * ledger_confirmed tells when it last answered. */
bool hold_confirm(const hold_t *hold, bool in_any_case, err_t *err);

/* Makes changes that are valid only while the pieces are held. False: not all of them were made, and err says why. */
bool hold_change(const hold_t *hold, const entry_change_t *changes, size_t count, err_t *err);

/* Gives the pieces back. Pieces that another command has taken meanwhile stay its own. */
bool hold_give_back(const hold_t *hold, err_t *err);

/* removal: takes inputs out of the catalog and removes their documents, if they have any. Their numbers are never used
 * again: documents in late messages of dead loads belong to no input. */

/* context: that of `others`. */
typedef struct {
    others_t others;
    /* catalog_remove: nothing refuses it any more; their documents are removed now. NULL: not told. */
    void (*begins)(void *context);
    /* Does the collection hold documents with the entry's numbers? Removes them, too. */
    bool (*look)(void *context, const entry_t *entry, bool *any, err_t *err);
    bool (*remove)(void *context, const entry_t *entry, err_t *err);
} removal_t;

/* Finishes removals that were killed: removes the documents of inputs that are out of the catalog. Every load does this
 * before it registers its own inputs. */
bool catalog_finish_removals(store_t *store, const removal_t *removal, err_t *err);

/* For a tombstone: documents with its numbers may be there again, sent by a load that did not know of the removal. The
 * next catalog_finish_removals removes them. */
bool catalog_may_remain(store_t *store, uint32_t ordinal, err_t *err);
/* Are there such documents? If so, does the same as catalog_may_remain. */
bool catalog_look_again(store_t *store, const removal_t *removal, const entry_t *entry, bool *any,
                        err_t *err);

/* An input that is to be removed. */
typedef struct {
    const entry_t *entry; /* as it was read before */
    bool documents;       /* with its documents */
    bool read;            /* records of it were read before: for who tells of it */
} removed_t;

/* Takes the inputs out of the catalog first, so that no load continues them and their numbers belong to no input. Then
 * removes their documents, until none came for a lease, which is waited once for all of them. A removal that arrives late
 * finds nothing that is needed. Refused with status 1, and all of them are left, while a load that is alive owns a piece
 * of one, and while there are documents of one that is to be removed without. After a kill, the next load or the same
 * command removes the rest. An input may be there twice. */
bool catalog_remove(store_t *store, const removed_t *inputs, size_t count, const removal_t *removal,
                    err_t *err);

#endif
