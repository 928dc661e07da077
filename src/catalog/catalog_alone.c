#include "catalog/catalog.h"

static const char why_alone[] = "where documents are replaced, one load at a time works on the collection";

bool catalog_begin_alone(store_t *store, const char *name, const others_t *others, bool replaces,
                         bool *inherited, err_t *err) {
    header_change_t change = {.kind = HEADER_BEGIN_REPLACING, .by = others->self};
    load_id_t before = {{0}};
    bool changed;
    *inherited = false;
    for (;;) {
        catalog_header_t header;
        bool found;
        if (!store_read_numbers(store, &header, &found, err))
            return false;
        if (!found)
            return catalog_refuse_removed(name, err);
        change.replacing = header.replacing;
        if (load_id_equal(&change.replacing, &others->self))
            break;
        const bool is_other = !load_id_is_nobody(&change.replacing);
        if (is_other && !others_wait(store, name, others, &change.replacing, 0, why_alone, err))
            return false;
        if (!replaces)
            return true;
        before = is_other ? change.replacing : before;
        if (!store->change_header(store, &change, &changed, err))
            return false;
    }
    *inherited = !load_id_is_nobody(&before);
    /* who begins at the same time finds this load in the header, and is refused: it gets the time to end */
    if (others_wait(store, name, others, NULL, others->lease_ns, why_alone, err))
        return true;
    const header_change_t back = {.kind = HEADER_BEGIN_REPLACING, .replacing = others->self, .by = before};
    err_t ignored;
    store->change_header(store, &back, &changed, &ignored);
    return false;
}

bool catalog_end_alone(store_t *store, const load_id_t *self, err_t *err) {
    const header_change_t end = {.kind = HEADER_END_REPLACING, .by = *self};
    bool changed;
    return store->change_header(store, &end, &changed, err);
}
