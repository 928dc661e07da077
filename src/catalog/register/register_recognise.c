#include "catalog/register/register_inner.h"

#include <string.h>

const entry_t *register_next_of_name(const matching_t *m, const wanted_t *wanted, size_t *at) {
    for (const entry_t *entry; (entry = register_like_at(m, &m->by_path, wanted, *at));) {
        ++*at;
        if (!register_is_taken(m, entry) && register_is_of_kind(entry, wanted))
            return entry;
    }
    return NULL;
}

/* It is what the catalog has, or had, before another load began with a longer one, and did not end. */
static bool was_cut_back(const entry_t *entry, uint32_t version) {
    const piece_t *last = &entry->pieces[entry->piece_count - 1];
    return version < entry->version && last->complete < entry->version;
}

bool register_has_grown_meanwhile(const registration_t *registering, size_t number, const version_t *newest) {
    const wanted_t *wanted = &registering->wanted[number];
    return registration_has_grown(newest, &wanted->seen, wanted->may_grow, registering->digest_at,
                                  registering->context, number);
}

/* Is it an earlier version that came back, and was its last record replaced since? Then the collection is not what it
 * makes, and so it is an input that has changed. */
static bool was_outgrown(const registration_t *registering, size_t number, const entry_t *entry,
                         uint32_t version) {
    return !registering->read_only && version < entry->outgrown &&
           entry_version(entry, version)->torn.length &&
           !register_has_grown_meanwhile(registering, number, entry_newest(entry));
}

/* The version of the entry that the input is; 0: none. */
static uint32_t version_now(const matching_t *m, size_t number, const entry_t *entry) {
    const version_t *seen = &m->registering->wanted[number].seen;
    const uint32_t version = entry_version_of(entry, seen->size, seen->digest);
    return version && was_outgrown(m->registering, number, entry, version) ? 0 : version;
}

static void take_moved(matching_t *m, size_t number, const entry_t *entry) {
    register_take(m, number, entry);
    m->registering->wanted[number].moved = true;
}

static void match_in_place(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    size_t at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; !m->found[number] && (entry = register_next_of_name(m, wanted, &at));) {
        const uint32_t version = version_now(m, number, entry);
        if (version) {
            register_take(m, number, entry);
            wanted->changed = wanted->reload && was_cut_back(entry, version);
        }
    }
}

/* It was recognised under this name before, and holds what it held: what else has come since under the entry's own path, or was
 * removed there, is not asked. It never says that an input has changed. */
static void match_further_name(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    size_t at = 0;
    if (wanted->by_name)
        return;
    for (const entry_t *entry; !m->found[number] && (entry = register_next_of_further_name(m, wanted, &at));)
        if (version_now(m, number, entry))
            take_moved(m, number, entry);
}

/* An empty file is like any other: that one was emptied tells its own name. */
static bool has_held_records(const matching_t *m, const wanted_t *wanted) {
    size_t at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = register_next_of_name(m, wanted, &at));)
        if (register_may_hold_records(entry))
            return true;
    return false;
}

/* The same file, which was loaded by another name of it: a link, another spelling. Of equal files each is itself. */
static void match_itself(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    file_place_t place = {.member = NULL};
    if (wanted->by_name)
        return;
    for (const entry_t *entry; !m->found[number] && (entry = register_next_of_file(m, number, &place));)
        if (!register_is_taken(m, entry) &&
            register_compare_content(entry_newest(entry), "", &wanted->seen, "") == 0)
            take_moved(m, number, entry);
}

/* The same file under another folder; a stream, or what --input-name has named, has nothing but its name. Where its content stands under the
 * old name as well, this one is a copy of it. `copy` counts the equal ones that other inputs are. */
static void match_moved(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    if (wanted->by_name)
        return;
    size_t at = register_first_in(m, &m->by_content, wanted);
    for (const entry_t *entry; (entry = register_like_at(m, &m->by_content, wanted, at)); at++) {
        if (registration_is_called(wanted, entry->path) && !entry_is_by_name(entry) &&
            !register_is_taken(m, entry) && !register_stands_beside(m, number, entry) &&
            (register_may_hold_records(entry) || !has_held_records(m, wanted))) {
            take_moved(m, number, entry);
            return;
        }
        wanted->copy++;
    }
}

bool register_may_hold_records(const entry_t *entry) {
    bool any = false;
    for (size_t i = 0; i < entry->piece_count; i++) {
        const piece_t *piece = &entry->pieces[i];
        any |= piece_counts(piece).read > 0 || (piece->complete < entry->version && piece->epoch > 0);
    }
    return any;
}

const entry_t *register_next_gone_below(const matching_t *m, size_t number, uint64_t below, size_t *at) {
    for (const entry_t *entry; (entry = register_next_gone(m, number, at));)
        if (!register_is_taken(m, entry) && entry_newest(entry)->size < below &&
            register_may_hold_records(entry))
            return entry;
    return NULL;
}

/* One without a name is known by who registered it, and where in his list it stands. */
static void match_nameless(matching_t *m, size_t number) {
    const registration_t *registering = m->registering;
    const load_id_t *by = load_id_is_nobody(&registering->before) ? &registering->self : &registering->before;
    for (size_t i = 0; i < m->entries.count; i++) {
        const entry_t *entry = &m->entries.entries[i];
        if (!m->taken_by[i] && !entry->removed && entry_is_nameless(entry) &&
            load_id_equal(&entry->registered_by, by)) {
            register_take(m, number, entry);
            return;
        }
    }
}

/* One name, one input: people say which they mean by it. */
static bool refuse_two_of_name(const registration_t *registering, const char *name, err_t *err) {
    return err_set(
        err, STATUS_USAGE,
        "%s would be two kinds of inputs in %s: a file by its path, a file by --input-name and a stream by "
        "--input-name may not have one name. Give another --input-name, or name the file by its whole path",
        name, registering->name);
}

static bool check_kinds(const matching_t *m, err_t *err) {
    const registration_t *registering = m->registering;
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        size_t at = register_first_in(m, &m->by_path, wanted);
        for (const entry_t *entry; wanted->named && (entry = register_like_at(m, &m->by_path, wanted, at));
             at++)
            if (!register_is_of_kind(entry, wanted) && !entry_is_nameless(entry))
                return refuse_two_of_name(registering, wanted->name, err);
    }
    return true;
}

/* Registered a moment ago: what was learned then is still true, and is still to be told. */
static bool is_made_by_us(const matching_t *m, size_t number) {
    const entry_t *entry = m->found[number];
    return entry && load_id_equal(&entry->registered_by, &m->registering->self);
}

static void forget_answer(wanted_t *wanted) {
    wanted->moved = false;
    wanted->copy = 0;
    wanted->resembles = 0;
    register_like_none(wanted);
}

bool register_match(matching_t *m, err_t *err) {
    registration_t *registering = m->registering;
    if (!register_sort(m, err) || !check_kinds(m, err))
        return false;
    for (size_t i = 0; i < registering->count; i++) {
        wanted_t *wanted = &registering->wanted[i];
        wanted->changed = wanted->unread = wanted->refused = false;
        if (wanted->named)
            match_in_place(m, i);
        else
            match_nameless(m, i);
        if (!is_made_by_us(m, i))
            forget_answer(wanted);
    }
    static void (*const match[])(matching_t *, size_t) = {match_further_name, match_itself, match_moved};
    for (size_t how = 0; how < sizeof match / sizeof *match; how++)
        for (size_t i = 0; i < registering->count; i++)
            if (registering->wanted[i].named && !m->found[i])
                match[how](m, i);
    return register_match_changed(m, err) && register_find_alike(m, err) && register_number_copies(m, err);
}
