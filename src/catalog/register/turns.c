/* With --existing replace later records replace earlier ones: may these inputs be loaded now, or would older records
 * take the place of newer ones? */
#include "catalog/register/register.h"

enum { NEW = UINT32_MAX }; /* an input without an entry comes after all others */

static uint32_t number_of(const wanted_t *wanted) {
    return wanted->changed || !wanted->entry.piece_count ? (uint32_t)NEW : wanted->entry.ordinal;
}

static bool is_done(const registration_t *registering, const wanted_t *wanted) {
    const entry_t *entry = &wanted->entry;
    return number_of(wanted) != NEW && entry_is_complete(entry, registering->generation, true) &&
           entry_version_of(entry, wanted->seen.size, wanted->seen.digest);
}

/* True if a load of this generation has begun it. Otherwise all of it will be read again, in its turn. */
static bool is_begun_now(const registration_t *registering, const entry_t *entry) {
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

/* True for the old entry of an input that has changed, which will be the last one. */
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
    return err_set(err, STATUS_USAGE,
                   "%s has records that are not loaded, but %s, which comes after it in the catalog, is "
                   "loaded or begun: with --existing replace older records would take the place of newer "
                   "ones. Put the new records into a file of their own; or `tipple forget` %s#%u and load it "
                   "again: it is then the last one",
                   first->name, entry->path, first->entry.path, first->entry.ordinal);
}

static bool refuse_again(const wanted_t *first, const entry_t *entry, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "%s is to be read again, since the collection is another one, and %s comes after it in "
                   "the catalog: with --existing replace older records would take the place of newer ones. "
                   "Name all inputs that were loaded since, in this command",
                   first->name, entry->path);
}

/* An input that comes after the other one and is loaded, or will be loaded before this one; or NULL. */
static const char *find_since(const registration_t *registering, const wanted_t *wanted, const alike_t *alike,
                              const entries_t *all) {
    const bool both_new = alike->ordinal == LIKE_NEW;
    const uint32_t own = wanted->entry.piece_count ? wanted->entry.ordinal : (uint32_t)NEW;
    for (size_t i = 0; !both_new && i < all->count; i++) {
        const entry_t *entry = &all->entries[i];
        if (!entry->removed && entry->ordinal > alike->ordinal && entry->ordinal != own &&
            entry_is_begun(entry))
            return entry->path;
    }
    const wanted_t *other = registering->wanted + (both_new ? alike->input + 1 : 0);
    for (; number_of(wanted) == NEW && other < wanted; other++)
        if (number_of(other) == NEW)
            return other->name;
    return NULL;
}

/* Refuses an input that is, surely or by all that is known of it, one that is loaded under another name, if other
 * records came since: it would undo them. */
static bool check_whole(const registration_t *registering, const wanted_t *wanted, const entries_t *all,
                        err_t *err) {
    static const char *const hows[LIKE_KINDS] = {[LIKE_EQUAL] = "has the content of",
                                                 [LIKE_BEGINS] = "begins with the content of",
                                                 [LIKE_PACKED] = "may be, packed otherwise,"};
    for (like_t how = 0; how < LIKE_KINDS; how++) {
        const alike_t *alike = registration_like(wanted, how);
        const char *since = hows[how] && alike ? find_since(registering, wanted, alike, all) : NULL;
        if (since && alike->ordinal == LIKE_NEW)
            return err_set(err, STATUS_USAGE,
                           "%s %s %s, and %s comes between them: with --existing replace older records would "
                           "take the place of newer ones. Leave one of the two out",
                           wanted->name, hows[how], alike->path, since);
        if (since)
            return err_set(err, STATUS_USAGE,
                           "%s %s %s, which was loaded before %s: with --existing replace older records "
                           "would take the place of newer ones. Leave it out; or, if these are to be the "
                           "newest, `tipple forget` %s#%u, and take its file away",
                           wanted->name, hows[how], alike->path, since, alike->path, alike->ordinal);
    }
    return true;
}

/* Refuses an input whose records are all older than the last ones of another input. */
static bool check_part(const wanted_t *wanted, err_t *err) {
    const alike_t *alike = registration_like(wanted, LIKE_PART);
    if (!alike || (alike->ordinal == LIKE_NEW ? !alike->before : alike->ordinal > number_of(wanted)))
        return true;
    if (alike->ordinal == LIKE_NEW)
        return err_set(err, STATUS_USAGE,
                       "%s is the beginning of %s, and comes after it: with --existing replace older records "
                       "would take the place of newer ones. Leave it out, or name it before the other one",
                       wanted->name, alike->path);
    return err_set(err, STATUS_USAGE,
                   "%s is the beginning of %s, or an earlier version of it: with --existing replace older "
                   "records would take the place of newer ones. Leave it out; or, if these are to be the "
                   "newest, `tipple forget` %s#%u, and take its file away",
                   wanted->name, alike->path, alike->path, alike->ordinal);
}

/* Refuses an earlier version of an input, unless all of it is known to be there. */
static bool check_version(const registration_t *registering, const wanted_t *wanted, err_t *err) {
    const entry_t *entry = &wanted->entry;
    const uint32_t version =
        number_of(wanted) == NEW ? 0 : entry_version_of(entry, wanted->seen.size, wanted->seen.digest);
    bool done = true;
    for (size_t i = 0; i < entry->piece_count; i++)
        done &= piece_is_complete(&entry->pieces[i], version, registering->generation, true);
    if (!version || version == entry->version || done || !entry_is_begun(entry))
        return true;
    return err_set(err, STATUS_USAGE,
                   "%s is an earlier version of what was loaded, or begun, of it: with --existing replace "
                   "older records would take the place of newer ones. Load the newest one; or `tipple "
                   "forget` %s#%u, and load this one anew",
                   wanted->name, entry->path, entry->ordinal);
}

const char *turns_since(const registration_t *registering, const wanted_t *wanted, const entries_t *all) {
    const entry_t *entry = &wanted->entry;
    const alike_t itself = {.ordinal = entry->ordinal};
    if (!wanted->moved || !is_done(registering, wanted) || entry_has_name(entry, wanted->name))
        return NULL;
    const version_t *then =
        entry_version(entry, entry_version_of(entry, wanted->seen.size, wanted->seen.digest));
    const int64_t now_ns = wanted->seen.modified_ns;
    return now_ns == then->modified_ns || now_ns == then->completed_ns
               ? NULL
               : find_since(registering, wanted, &itself, all);
}

bool turns_check(const registration_t *registering, const entries_t *all, err_t *err) {
    const wanted_t *first = NULL, *last = NULL;
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        if (is_done(registering, wanted))
            continue;
        if (!check_part(wanted, err) || !check_whole(registering, wanted, all, err) ||
            !check_version(registering, wanted, err))
            return false;
        first = !first || number_of(wanted) < number_of(first) ? wanted : first;
        last = !last || number_of(wanted) > number_of(last) ? wanted : last;
    }
    for (size_t i = 0; first && i < all->count; i++) {
        const entry_t *entry = &all->entries[i];
        const bool before = entry->ordinal < number_of(last) &&
                            !entry_is_complete(entry, registering->generation, true) &&
                            !is_replaced(registering, entry),
                   after = entry->ordinal > number_of(first) && entry_is_begun(entry);
        if (entry->removed || (!before && !after))
            continue;
        const wanted_t *given = find(registering, entry->ordinal);
        if (before && !given)
            return refuse_unfinished(entry, last, err);
        if (after && is_begun_now(registering, entry) && !(given && given->group == first->group))
            return refuse_late(first, entry, err);
        if (after && !given)
            return refuse_again(first, entry, err);
    }
    return true;
}
