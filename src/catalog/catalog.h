/* catalog: what a load does with its ledger and the store, step by step. Each function is a short series of
 * commands, safe against whatever happens between any two of them: a lost reply, another load, a kill, a
 * message that arrives late. The simulator runs them as they are. One thread at a time. */
#ifndef TIPPLE_CATALOG_CATALOG_H
#define TIPPLE_CATALOG_CATALOG_H

#include "catalog/ledger/ledger.h"
#include "catalog/store/store.h"

/* What a load needs of a collection's header. */
typedef struct {
    const char *name;          /* of the collection, for sentences */
    const char *format;        /* "mot" */
    const char *format_digest; /* another one makes another document of the same bytes */
    const char *filter;        /* normalised; "" when none */
    uint8_t uuid[STORE_UUID];  /* of the collection */
    bool empty;                /* the collection holds nothing */
    bool accepts_other_uuid;   /* --same-collection: nothing that was done for another one is believed */
} catalog_settings_t;

/* False, with the sentence that a collection of this name has no catalog. */
bool catalog_refuse_none(const char *name, err_t *err);

/* Is this a header that we can work with? status 1 and what to do, if not. Reads nothing. */
bool catalog_check_header(const catalog_header_t *header, const catalog_settings_t *settings, err_t *err);

/* The header, made where there is none. *header is to be freed. Call it after the load's first beat: a load
 * that drops the collection sees that beat, or we see that it drops. */
bool catalog_open(store_t *store, const catalog_settings_t *settings, catalog_header_t *header, err_t *err);

/* Right before the first document is sent: the collection belongs to this format and filter from now on. Of
 * two different loads one is refused, status 1, and has written nothing. */
bool catalog_bind(store_t *store, const catalog_settings_t *settings, err_t *err);

/* A drop of the collection: everything but the numbers, which go on. `drop` drops the data. Refused with
 * status 1 while another load is alive. wait: a moment passes, and our beat goes on; false: stop (err is
 * set). */
typedef struct {
    load_id_t self;
    int64_t lease_ns;
    int64_t (*now)(void *context);
    uint64_t (*own_beats)(void *context);
    bool (*wait)(void *context, err_t *err);
    /* Drops the collection if it still has this UUID (zeros: there is none). */
    bool (*drop)(void *context, const uint8_t uuid[STORE_UUID], err_t *err);
    void *context;
} catalog_drop_t;
bool catalog_drop(store_t *store, const char *name, const catalog_drop_t *drop, err_t *err);

/* ---- with a ledger ---- */

/* Entries of all inputs, but for those that the answer to our last write has said to be done; then the loads. */
bool catalog_look(store_t *store, ledger_t *ledger, int64_t now_ns, uint64_t own_beats, err_t *err);

/* The loads alone: the ledger's entries were read a moment ago. */
bool catalog_look_at_loads(store_t *store, ledger_t *ledger, int64_t now_ns, uint64_t own_beats, err_t *err);

/* Reads the entries of pieces that are OURS and that the catalog has said nothing about after since_ns. now_ns: before
 * this was called, by the same clock. */
bool catalog_confirm(store_t *store, ledger_t *ledger, int64_t now_ns, int64_t since_ns, err_t *err);

/* Tries to take some pieces (see ledger_choose). Which of them are ours afterwards, ledger_hand_out tells. */
bool catalog_take(store_t *store, ledger_t *ledger, size_t least, uint64_t most_bytes, err_t *err);

/* Writes down what is done. Everything must be durable before. */
bool catalog_checkpoint(store_t *store, ledger_t *ledger, err_t *err);

/* Numbers for an input of unknown size, so that `offset` has one; extents are added to the ledger's entry.
 * *ours false: the piece is another load's by now. */
bool catalog_extend(store_t *store, ledger_t *ledger, work_t *work, uint32_t epoch, uint64_t offset,
                    bool *ours, err_t *err);

/* Is the collection still the one that this load works on? status 4 if not. */
bool catalog_check_collection(store_t *store, const catalog_settings_t *settings, uint32_t generation,
                              err_t *err);

#endif
