#include "catalog/register/turns.h"

enum { NEW = UINT32_MAX }; /* comes after all others */

static uint32_t number_of(const wanted_t *wanted) {
    return wanted->changed || !wanted->entry.piece_count ? (uint32_t)NEW : wanted->entry.ordinal;
}

static bool is_done(const registration_t *registering, const wanted_t *wanted) {
    const entry_t *entry = &wanted->entry;
    return number_of(wanted) != NEW && entry_is_complete(entry, registering->generation, true) &&
           entry_version_of(entry, wanted->seen.size, wanted->seen.digest);
}

static bool is_begun(const registration_t *registering, const entry_t *entry) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (entry->pieces[i].epoch && entry->pieces[i].generation == registering->generation)
            return true;
    return false;
}

static const wanted_t *find(const registration_t *registering, uint32_t ordinal) {
    for (size_t i = 0; i < registering->count; i++)
        if (number_of(&registering->wanted[i]) == ordinal)
            return &registering->wanted[i];
    return NULL;
}

/* Is it the old entry of an input that has changed, which will be the last one? */
static bool is_replaced(const registration_t *registering, const entry_t *entry) {
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        if (wanted->changed && wanted->entry.ordinal == entry->ordinal)
            return true;
    }
    return false;
}

static bool refuse_unfinished(const entry_t *entry, const wanted_t *last, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "%s comes before %s in the catalog, and is not loaded to its end: with --existing replace "
                   "each input is finished before the next one begins. Name both; or, if the first is not "
                   "needed any more, `tipple forget` it",
                   entry->path, last->name);
}

static bool refuse_late(const wanted_t *first, const entry_t *entry, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "%s has records that are not loaded, but %s, which comes after it in the catalog, is loaded or "
        "begun: with --existing replace older records would take the place of newer ones. Put the new "
        "records into a file of their own; or `tipple forget` %s and load it again: it is then the last one",
        first->name, entry->path, first->name);
}

/* Is it for certain, or by all that is known of it, one that is loaded by another name, or a part of it? */
static const char *how_alike(const wanted_t *wanted) {
    static const char *const how[LIKE_LEADS + 1] = {[LIKE_EQUAL] = "has the content of",
                                                    [LIKE_BEGINS] = "begins with the content of",
                                                    [LIKE_PART] = "has the beginning of",
                                                    [LIKE_PACKED] = "may be, packed otherwise,"};
    return wanted->like_ordinal != LIKE_NEW ? how[wanted->like_how] : NULL;
}

static bool check_alike(const registration_t *registering, const wanted_t *wanted, const entries_t *all,
                        err_t *err) {
    const char *const how = how_alike(wanted);
    for (size_t i = 0; how && i < all->count; i++) {
        const entry_t *entry = &all->entries[i];
        if (!entry->removed && entry->ordinal > wanted->like_ordinal && entry->ordinal != number_of(wanted) &&
            is_begun(registering, entry))
            return err_set(
                err, STATUS_USAGE,
                "%s %s %s, which was loaded before %s: with --existing replace older records would take "
                "the place of newer ones. Leave it out; or, if these are to be the newest, `tipple forget` "
                "%s, and take its file away",
                wanted->name, how, wanted->like, entry->path, wanted->like);
    }
    return true;
}

bool turns_check(const registration_t *registering, const entries_t *all, err_t *err) {
    const wanted_t *first = NULL, *last = NULL;
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        if (is_done(registering, wanted))
            continue;
        if (!check_alike(registering, wanted, all, err))
            return false;
        first = !first || number_of(wanted) < number_of(first) ? wanted : first;
        last = !last || number_of(wanted) > number_of(last) ? wanted : last;
    }
    for (size_t i = 0; first && i < all->count; i++) {
        const entry_t *entry = &all->entries[i];
        const bool before = entry->ordinal < number_of(last) &&
                            !entry_is_complete(entry, registering->generation, true) &&
                            !is_replaced(registering, entry),
                   after = entry->ordinal > number_of(first) && is_begun(registering, entry);
        if (entry->removed || (!before && !after))
            continue;
        const wanted_t *given = find(registering, entry->ordinal);
        if (before && !given)
            return refuse_unfinished(entry, last, err);
        if (after && !(given && given->group == first->group))
            return refuse_late(first, entry, err);
    }
    return true;
}
