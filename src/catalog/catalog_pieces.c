/* Pieces of inputs, through the ledger: reading them, taking them, writing down what is done; and holding them for
 * --retry. */
#include "catalog/catalog.h"
#include "format/record/record_id.h"

#include <malloc.h>
#include <stdlib.h>

/* How often in a lease the catalog is asked whose the pieces of ours are. */
enum { CONFIRMED_A_LEASE = 4 };

/* ---- reading ---- */

static bool refuse_gone(err_t *err) {
    return err_set(err, STATUS_SERVER,
                   "the catalog of the collection was removed or changed while it was loaded: "
                   "start over with --drop");
}

/* Reads the entries of the inputs that are `asked_for` into the ledger, a page at a time. whole: they are all of our
 * inputs; else all must be there. */
static bool read_into(store_t *store, ledger_t *ledger, bool whole, int64_t now_ns, err_t *err) {
    const size_t bytes = (ledger->input_count + 1) * sizeof(uint32_t);
    uint32_t *ordinals = malloc(bytes);
    uint64_t from = store->live_from;
    size_t asked = 0, found = 0;
    bool ok = (ordinals || err_memory(err, bytes)) && ledger_begin_reading(ledger, now_ns, err), more = ok;
    for (size_t i = 0; ok && i < ledger->sorted; i++) {
        ledger_input_t *input = &ledger->inputs[ledger->by_ordinal[i]];
        if (input->asked_for)
            ordinals[asked++] = input->entry.ordinal;
        input->asked_for = false;
    }
    while (more) {
        entries_t page = {0};
        err_t later;
        if (!store->read_entries(store, &from, ordinals, asked, &page, &more, ok ? err : &later))
            ok = more = false;
        found += page.count;
        ledger_note_removed(ledger, &page);
        ok = ok && ledger_read(ledger, &page, err);
        entries_free(&page);
    }
    free(ordinals);
    if (ok && !whole)
        return found == asked || refuse_gone(err);
    return ok && ledger_has_read_all(ledger, err);
}

bool catalog_look_at_loads(const catalog_t *catalog, ledger_t *ledger, err_t *err) {
    ledger->loads_reading = ledger->readings;
    return catalog_look_at_others(catalog, &ledger->liveness, err);
}

/* Of which inputs the entries are read. */
typedef enum { ALL, UNSETTLED, UNCONFIRMED /* pieces of them that are OURS, since a moment */ } asked_for_t;

static bool is_asked_for(const ledger_t *ledger, const ledger_input_t *input, asked_for_t what,
                         int64_t since_ns) {
    bool is = what == ALL || (what == UNSETTLED && !ledger_is_settled(ledger, input));
    for (size_t i = 0; what == UNCONFIRMED && i < input->work_count; i++) {
        const work_t *work = &ledger->works[input->first_work + i];
        is |= work->state == WORK_OURS && work->confirmed_ns <= since_ns;
    }
    return is;
}

/* Reads the entries of these inputs into the ledger. */
static bool read_inputs(store_t *store, ledger_t *ledger, asked_for_t what, int64_t since_ns, int64_t now_ns,
                        err_t *err) {
    const bool whole = what == UNSETTLED;
    bool any = whole;
    for (size_t i = 0; i < ledger->input_count; i++) {
        ledger_input_t *input = &ledger->inputs[i];
        input->asked_for = is_asked_for(ledger, input, what, since_ns);
        any |= input->asked_for;
    }
    return !any || read_into(store, ledger, whole, now_ns, err);
}

bool catalog_look(const catalog_t *catalog, ledger_t *ledger, err_t *err) {
    return read_inputs(catalog->store, ledger, UNSETTLED, 0, catalog_now(catalog), err) &&
           catalog_look_at_loads(catalog, ledger, err);
}

bool catalog_confirm(const catalog_t *catalog, ledger_t *ledger, bool in_any_case, err_t *err) {
    const int64_t now_ns = catalog_now(catalog),
                  since_ns = in_any_case ? now_ns : now_ns - catalog->lease_ns / CONFIRMED_A_LEASE;
    if (!in_any_case && ledger_confirmed(ledger) > since_ns)
        return true;
    return read_inputs(catalog->store, ledger, UNCONFIRMED, since_ns, now_ns, err);
}

/* ---- taking and writing down ---- */

/* Changes of thousands of small files take several megabytes for a moment. */
static void give_back_memory(size_t changes) {
    enum { MANY = 1000 };
    if (changes >= MANY)
        malloc_trim(0);
}

/* Takes numbers for an extent of this length. */
static bool number(store_t *store, extent_t *extent, err_t *err) {
    const uint64_t units = (extent->length + RECORD_ID_EXTENT_UNIT - 1) / RECORD_ID_EXTENT_UNIT;
    uint64_t unit = 0, ordinal;
    const bool ok = store_take_numbers(store, 0, units, 0, &unit, &ordinal, err);
    extent->base = unit * RECORD_ID_EXTENT_UNIT;
    return ok;
}

/* Takes numbers for the text by which inputs have grown. */
static bool number_takes(store_t *store, take_t *takes, size_t count, err_t *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++)
        if (takes[i].anew && takes[i].anew->extent.length)
            ok = number(store, &takes[i].anew->extent, err);
    return ok;
}

bool catalog_take(const catalog_t *catalog, ledger_t *ledger, const work_t *only, size_t least,
                  uint64_t most_bytes, err_t *err) {
    store_t *store = catalog->store;
    const int64_t now_ns = catalog_now(catalog);
    take_t *takes = NULL;
    size_t count = 0;
    uint64_t changed;
    bool ok = ledger_choose(ledger, only, least, most_bytes, &takes, &count, err) &&
              number_takes(store, takes, count, err);
    entry_change_t *changes = malloc((count + 1) * sizeof *changes);
    ok = ok && (changes || err_memory(err, count * sizeof *changes));
    for (size_t i = 0; ok && i < count; i++) {
        changes[i] = takes[i].change;
        ledger->inputs[ledger->works[takes[i].work].input].asked_for = true;
    }
    ledger->writes++;
    /* read after the take, so that what the former owner wrote in between is seen */
    ok = ok && store->change_entries(store, changes, count, &changed, err) &&
         read_into(store, ledger, false, now_ns, err);
    if (ok)
        ledger_taken(ledger, takes, count);
    takes_free(takes, count);
    free(changes);
    give_back_memory(count);
    return ok;
}

bool catalog_checkpoint(const catalog_t *catalog, ledger_t *ledger, err_t *err) {
    store_t *store = catalog->store;
    const int64_t now_ns = catalog_now(catalog);
    entry_change_t *changes = NULL;
    size_t count = 0;
    uint64_t changed = 0;
    bool ok = ledger_checkpoint(ledger, &changes, &count, err);
    ledger->writes += ok && count;
    ok = ok && (!count || store->change_entries(store, changes, count, &changed, err));
    if (ok && changed == count) {
        ledger_written(ledger, changes, count, now_ns);
    } else if (ok) {
        ok = read_inputs(store, ledger, ALL, 0, now_ns, err);
    }
    free(changes);
    give_back_memory(count);
    return ok;
}

bool catalog_extend(const catalog_t *catalog, ledger_t *ledger, const work_t *work, uint64_t offset,
                    err_t *err) {
    store_t *store = catalog->store;
    const int64_t now_ns = catalog_now(catalog);
    for (;;) {
        const entry_t *entry = &ledger->inputs[work->input].entry;
        uint64_t taken, changed;
        if (entry_number(entry, offset, &taken))
            return true;
        extent_t extent = {.start = entry_extents_end(entry)};
        const uint64_t pieces = (offset - extent.start) / RECORD_ID_STREAM_PIECE + 1;
        extent.length = pieces * RECORD_ID_STREAM_PIECE;
        if (!number(store, &extent, err))
            return false;
        entry_change_t change = ledger_change(ledger, work);
        change.no_extent_yet = true;
        change.extent = &extent;
        change.extent_at = entry->extent_count;
        ledger->writes++;
        if (!store->change_entries(store, &change, 1, &changed, err))
            return false;
        /* the extent that is there counts, whichever load wrote it */
        ledger->inputs[work->input].asked_for = true;
        if (!read_into(store, ledger, false, now_ns, err))
            return false;
    }
}

/* ---- holding ---- */

bool hold_take(const catalog_t *catalog, ledger_t *ledger, err_t *err) {
    for (;;) {
        const load_seen_t *load;
        if (!catalog_look(catalog, ledger, err))
            return false;
        if (ledger_may_hold(ledger, &load)) {
            if (!catalog_take(catalog, ledger, NULL, SIZE_MAX, 0, err))
                return false;
            if (ledger_holds(ledger))
                return true;
            if (!hold_give_back(catalog, ledger, err)) /* another command was faster */
                return false;
        } else if (load) {
            catalog->waits_for(catalog->context, load);
        }
        if (!catalog->wait(catalog->context, err))
            return false;
    }
}

bool hold_change(const catalog_t *catalog, ledger_t *ledger, const entry_change_t *changes, size_t count,
                 err_t *err) {
    uint64_t changed = 0;
    if (!count)
        return true;
    if (!catalog->store->change_entries(catalog->store, changes, count, &changed, err))
        return false;
    return changed == count ||
           (catalog_confirm(catalog, ledger, true, err) &&
            err_set(err, STATUS_SERVER,
                    "the catalog was changed while records were loaded again: run the same "
                    "command again"));
}

bool hold_give_back(const catalog_t *catalog, ledger_t *ledger, err_t *err) {
    entry_change_t *changes;
    size_t count;
    uint64_t changed;
    const bool ok = ledger_give_back(ledger, &changes, &count, err) &&
                    (!count || catalog->store->change_entries(catalog->store, changes, count, &changed, err));
    free(changes);
    return ok;
}
