/* Functions that are built on the operations of a store, the same for every store. */
#include "catalog/store/store.h"
#include "base/text.h"
#include "format/record/record_id.h"

#include <stdlib.h>
#include <string.h>

/* The numbers of records have 53 bits; extents are counted in units. */
static const uint64_t MOST_UNITS = (1ull << RECORD_ID_OFFSET_BITS) / RECORD_ID_EXTENT_UNIT;

void catalog_header_free(catalog_header_t *header) {
    char **const texts[] = {&header->format, &header->format_digest, &header->filter, &header->format_text,
                            &header->id,     &header->existing};
    for (size_t i = 0; i < COUNT(texts); i++) {
        free(*texts[i]);
        *texts[i] = NULL;
    }
    for (size_t i = 0; i < header->column_count; i++)
        free((char *)header->columns[i].name);
    free(header->columns);
    header->columns = NULL;
    header->column_count = 0;
}

bool store_is_no_uuid(const uint8_t uuid[STORE_UUID]) {
    static const uint8_t none[STORE_UUID];
    return memcmp(uuid, none, STORE_UUID) == 0;
}

void loads_free(loads_t *loads) {
    free(loads->loads);
    *loads = (loads_t){0};
}

bool store_read_all(store_t *store, const uint32_t *among, size_t among_count, entries_t *entries,
                    err_t *err) {
    uint64_t from = store->live_from;
    bool more = true;
    while (more)
        if (!store->read_entries(store, &from, among, among_count, entries, &more, err))
            return false;
    return true;
}

bool store_read_header(store_t *store, catalog_header_t *header, bool *found, err_t *err) {
    if (!store->find_header(store, header, found, err))
        return false;
    store->live_from = *found ? header->first_ordinal : 0;
    return true;
}

bool store_read_numbers(store_t *store, catalog_header_t *header, bool *found, err_t *err) {
    *header = (catalog_header_t){0};
    const bool ok = store_read_header(store, header, found, err);
    catalog_header_free(header);
    return ok;
}

static bool refuse_numbers(err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "the collection has no more room for positions: its files may have 8 PiB of text "
                   "together, a gzip counting as 1,032 times its size; load into another collection");
}

bool store_take_numbers(store_t *store, uint32_t generation, uint64_t extents, uint64_t ordinals,
                        uint64_t *first_extent, uint64_t *first_ordinal, err_t *err) {
    for (bool changed = false; !changed;) {
        catalog_header_t header;
        bool found;
        if (!store_read_numbers(store, &header, &found, err))
            return false;
        const header_change_t change = {.kind = HEADER_TAKE_NUMBERS,
                                        .generation = header.generation,
                                        .next_extent = header.next_extent,
                                        .next_ordinal = header.next_ordinal,
                                        .knows_columns = header.registered,
                                        .extents = extents,
                                        .ordinals = ordinals};
        if (!found)
            return err_set(
                err, STATUS_SERVER,
                "the catalog of the collection was removed while it was loaded: start over with --drop");
        if (generation && header.generation != generation)
            return err_set(
                err, STATUS_SERVER,
                "the collection was dropped and made again while it was loaded: start over with --drop");
        if (extents > MOST_UNITS || change.next_extent > MOST_UNITS - extents || ordinals > UINT32_MAX ||
            change.next_ordinal > UINT32_MAX - ordinals)
            return refuse_numbers(err);
        if (extents && store->may_take &&
            !store->may_take(store->may_take_context, change.next_extent, extents, err))
            return false;
        if (!store->change_header(store, &change, &changed, err))
            return false;
        *first_extent = change.next_extent;
        *first_ordinal = change.next_ordinal;
    }
    return true;
}

static bool seems_to_run(const load_seen_t *load, int64_t lease_ms) {
    return !load->ended && !load->leaving && load->silent_ms < lease_ms;
}

bool load_puts_back(const load_seen_t *load, int64_t lease_ms) {
    return seems_to_run(load, lease_ms) && !load->forgets;
}

bool running_others(store_t *store, const load_id_t *self, int64_t lease_ms, size_t *count, err_t *err) {
    loads_t loads = {0};
    bool ok = store->read_loads(store, &loads, err);
    *count = 0;
    for (size_t i = 0; ok && i < loads.count; i++) {
        const load_seen_t *load = &loads.loads[i];
        *count += self ? load_puts_back(load, lease_ms) && !load_id_equal(self, &load->id)
                       : seems_to_run(load, lease_ms);
    }
    loads_free(&loads);
    return ok;
}
