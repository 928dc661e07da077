/* Registering inputs: entries for the new ones, which are written so that two loads that begin at once make no input
 * twice. */
#include "catalog/register/register.h"
#include "catalog/register/register_inner.h"
#include "format/record/record_id.h"
#include "input/file/input_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { RACES = 1000 };

/* ---- keys: unique, so that two loads cannot register one input twice ---- */

enum { KEY = 512 };

/* A long name is cut off, and its hash is added. */
static void print_name_key(const wanted_t *wanted, char key[KEY]) {
    enum { MOST = 480, KEPT = 460 };
    const size_t length = strlen(wanted->name);
    const char *kind = register_is_stream(&wanted->seen) ? "stream" : "name";
    if (length <= MOST)
        snprintf(key, KEY, "%s/%s", kind, wanted->name);
    else
        snprintf(key, KEY, "%s/%.*s/%016llx", kind, KEPT, wanted->name,
                 (unsigned long long)XXH3_64bits(wanted->name, length));
}

static void print_key(const wanted_t *wanted, uint32_t ordinal, char key[KEY]) {
    if (!wanted->named)
        snprintf(key, KEY, "new/%u", ordinal);
    else if (wanted->by_name)
        print_name_key(wanted, key);
    else
        snprintf(key, KEY, "%llu/%s/%u/%.255s", (unsigned long long)wanted->seen.size, wanted->seen.digest,
                 wanted->copy, register_last_name(wanted->name));
}

static int order_wanted(const void *a, const void *b) {
    const wanted_t *left = *(const wanted_t *const *)a, *right = *(const wanted_t *const *)b;
    int order = register_compare_content(&left->seen, register_last_name(left->name), &right->seen,
                                         register_last_name(right->name));
    return order ? order : (left > right) - (left < right);
}

static int order_by_key(const void *a, const void *b) {
    return strcmp((*(const entry_t *const *)a)->key, (*(const entry_t *const *)b)->key);
}

/* True if another entry has this key. */
static bool is_key_of_other(const entry_t *const *by_key, size_t count, const char *key, const entry_t *own) {
    const entry_t wanted = {.key = (char *)key}, *const at = &wanted;
    const entry_t *const *found = count ? bsearch(&at, by_key, count, sizeof *by_key, order_by_key) : NULL;
    return found && *found != own;
}

static void number_sorted(const matching_t *m, wanted_t **fresh, size_t count, const entry_t *const *by_key) {
    const registration_t *registering = m->registering;
    for (size_t i = 0; i < count; i++) {
        const entry_t *own = m->found[fresh[i] - registering->wanted];
        if (i && register_compare_content(&fresh[i - 1]->seen, register_last_name(fresh[i - 1]->name),
                                          &fresh[i]->seen, register_last_name(fresh[i]->name)) == 0)
            fresh[i]->copy = fresh[i - 1]->copy + 1;
        char key[KEY];
        for (print_key(fresh[i], 0, key); is_key_of_other(by_key, m->entries.count, key, own);
             print_key(fresh[i], 0, key))
            fresh[i]->copy++;
    }
}

/* Inputs that get a new key, since they are new or have grown, and equal each other or other entries, are kept apart by
 * a number. */
static bool number_copies(matching_t *m, err_t *err) {
    const registration_t *registering = m->registering;
    const size_t entries = m->entries.count, bytes = (registering->count + 1) * sizeof(wanted_t *);
    wanted_t **fresh = malloc(bytes);
    const entry_t **by_key = malloc((entries + 1) * sizeof(entry_t *));
    size_t count = 0;
    if (!fresh || !by_key) {
        free(fresh);
        free(by_key);
        return err_memory(err, bytes);
    }
    for (size_t i = 0; i < registering->count; i++) {
        wanted_t *wanted = &registering->wanted[i];
        const entry_t *entry = m->found[i];
        if (!wanted->by_name && !wanted->changed &&
            (!entry || !entry_version_of(entry, wanted->seen.size, wanted->seen.digest)))
            fresh[count++] = wanted;
    }
    for (size_t i = 0; i < entries; i++)
        by_key[i] = &m->entries.entries[i];
    if (entries)
        qsort(by_key, entries, sizeof *by_key, order_by_key);
    if (count)
        qsort(fresh, count, sizeof *fresh, order_wanted);
    number_sorted(m, fresh, count, by_key);
    free(fresh);
    free(by_key);
    return true;
}

/* ---- entries of new inputs ---- */

/* A new entry names the one before it, and only one entry can: so of two loads that register at once, one has to read
 * the catalog again. Otherwise both could take one file for a new input, under two names of it or as two versions. */
static bool say_what_it_follows(int64_t before, entry_t *entry, err_t *err) {
    enum { ROOM = 32 };
    if (!(entry->follows = malloc(ROOM)))
        return err_memory(err, ROOM);
    snprintf(entry->follows, ROOM, "after/%lld", (long long)before);
    return true;
}

/* The first portion of pieces is registered as taken, which saves one write. Like every take, this counts only after it
 * is read back. */
static void take_pieces(const registration_t *registering, const wanted_t *wanted, portion_t *portion,
                        entry_t *entry) {
    const uint64_t bytes = wanted->bytes / entry->piece_count;
    for (size_t i = 0; i < entry->piece_count && portion_has_room(portion, wanted->group, i, bytes); i++) {
        piece_t *piece = &entry->pieces[i];
        piece->owner = registering->self;
        piece->epoch = 1;
        piece->generation = registering->generation;
        portion_add(portion, wanted->group, bytes);
    }
}

/* Streams without a name get a number, for messages and reject files. NULL: out of memory. */
static char *name_of(const wanted_t *wanted, uint32_t ordinal) {
    if (wanted->named)
        return strdup(wanted->name);
    const char *stream = strcmp(wanted->name, "-") == 0 ? "stdin" : wanted->name;
    const size_t room = strlen(stream) + 16;
    char *name = malloc(room);
    if (name)
        snprintf(name, room, "%s#%u", stream, ordinal);
    return name;
}

static bool make_entry(const registration_t *registering, wanted_t *wanted, uint64_t unit, uint32_t ordinal,
                       entry_t *entry, err_t *err) {
    char key[KEY];
    print_key(wanted, ordinal, key);
    *entry = (entry_t){.ordinal = ordinal,
                       .path = name_of(wanted, ordinal),
                       .key = strdup(key),
                       .kind = strdup(wanted->kind),
                       .registered_by = registering->self};
    return ((entry->path && entry->key && entry->kind) || err_memory(err, strlen(wanted->name))) &&
           entry_add_version(entry, &wanted->seen, err) &&
           entry_add_extent(entry,
                            (extent_t){.base = unit * RECORD_ID_EXTENT_UNIT,
                                       .length = wanted->extent_units * RECORD_ID_EXTENT_UNIT},
                            err) &&
           entry_make_pieces(entry, wanted->pieces, wanted->piece_blocks, err);
}

/* Takes the numbers for all new inputs by one command. */
static bool take_numbers(store_t *store, const matching_t *m, uint64_t *unit, uint64_t *ordinal,
                         size_t *count, err_t *err) {
    const registration_t *registering = m->registering;
    uint64_t units = 0, ordinals = 0;
    *count = 0;
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        if (m->found[i])
            continue;
        units = units + wanted->extent_units < units ? UINT64_MAX : units + wanted->extent_units;
        ordinals += wanted->ordinals;
        ++*count;
    }
    return !*count || registering->read_only ||
           store_take_numbers(store, registering->generation, units, ordinals, unit, ordinal, err);
}

static bool make_entries(matching_t *m, uint64_t unit, uint64_t ordinal, err_t *err) {
    registration_t *registering = m->registering;
    portion_t portion = registering->portion;
    int64_t before = m->entries.count ? (int64_t)m->entries.entries[m->entries.count - 1].ordinal : -1;
    bool ok = true;
    for (size_t i = 0; ok && i < registering->count; i++) {
        wanted_t *wanted = &registering->wanted[i];
        if (m->found[i])
            continue;
        entry_t *entry = entries_add(&m->fresh, err);
        ok = entry && make_entry(registering, wanted, unit, (uint32_t)ordinal, entry, err) &&
             say_what_it_follows(before, entry, err);
        before = (int64_t)ordinal;
        for (size_t piece = 0; ok && piece < entry->piece_count; piece++) {
            entry->pieces[piece].bad_value = registering->bad_value;
            entry->pieces[piece].generation = registering->bad_value ? registering->generation : 0;
        }
        if (ok)
            take_pieces(registering, wanted, &portion, entry);
        unit += wanted->extent_units;
        ordinal += wanted->ordinals;
    }
    return ok;
}

/* --reload-missing: an input that was never loaded would be loaded as another one, and its documents be there twice. */
static bool check_known(const matching_t *m, err_t *err) {
    for (size_t i = 0; m->registering->known_only && i < m->registering->count; i++)
        if (!m->found[i])
            return err_set(
                err, STATUS_USAGE,
                "%s is not in the catalog of %s by this name, so none of its documents can be missing: give "
                "the file that was loaded, or load this one without --reload-missing",
                m->registering->wanted[i].name, m->registering->name);
    return true;
}

/* *again: we do not know that all of them were added by us. Then the catalog has to be read again, and what is there
 * counts: another load may have registered the same inputs first, or the reply to us was lost. */
static bool add_new(store_t *store, matching_t *m, bool *again, err_t *err) {
    uint64_t unit, ordinal, added;
    size_t count;
    *again = false;
    if (!take_numbers(store, m, &unit, &ordinal, &count, err))
        return false;
    if (!count || m->registering->read_only)
        return true;
    const entry_t **list = malloc(count * sizeof(entry_t *));
    if (!list)
        return err_memory(err, count * sizeof(entry_t *));
    bool ok = make_entries(m, unit, ordinal, err);
    for (size_t i = 0; ok && i < count; i++)
        list[i] = &m->fresh.entries[i];
    ok = ok && store->add_entries(store, list, count, &added, err);
    *again = ok && added < count;
    /* an entry of a dropped collection may be in the way */
    if (*again && store->live_from)
        ok = store->remove_entries(store, store->live_from, err);
    free(list);
    return ok;
}

/* ---- the answer ---- */

static bool list_standings(const matching_t *m, err_t *err) {
    registration_t *registering = m->registering;
    const entries_t *const both[] = {&m->entries, &m->fresh};
    const size_t bytes = (m->entries.count + m->fresh.count + 1) * sizeof *registering->standings;
    free(registering->standings);
    registering->standing_count = 0;
    if (!(registering->standings = malloc(bytes)))
        return err_memory(err, bytes);
    for (size_t i = 0; i < sizeof both / sizeof *both; i++)
        for (size_t j = 0; j < both[i]->count; j++)
            registering->standings[registering->standing_count++] = standing_input(&both[i]->entries[j]);
    return true;
}

static void free_keys(registration_t *registering) {
    for (size_t i = 0; registering->keys && i < registering->count; i++)
        free(registering->keys[i]);
    free(registering->keys);
    registering->keys = NULL;
}

/* Moves each entry to its input. */
static bool give_entries(matching_t *m, err_t *err) {
    registration_t *registering = m->registering;
    size_t fresh = 0;
    free_keys(registering);
    bool ok = (registering->keys = calloc(registering->count + 1, sizeof *registering->keys));
    registering->entries = m->entries.count + m->fresh.count;
    registering->loaded = 0;
    registering->remains = false;
    for (size_t i = 0; i < m->entries.count; i++) {
        const entry_t *entry = &m->entries.entries[i];
        registering->remains |= entry->remains;
        for (size_t j = 0; !entry->removed && j < entry->piece_count; j++)
            registering->loaded += piece_counts(&entry->pieces[j]).of[FATE_LOADED];
    }
    for (size_t i = 0; i < registering->count; i++) {
        wanted_t *wanted = &registering->wanted[i];
        entry_t *entry = m->found[i]      ? &m->entries.entries[m->found[i] - m->entries.entries]
                         : m->fresh.count ? &m->fresh.entries[fresh++]
                                          : NULL;
        if (entry) {
            entry_free(&wanted->entry);
            wanted->entry = *entry;
            *entry = (entry_t){0};
        }
        char key[KEY];
        print_key(wanted, wanted->entry.ordinal, key);
        if (wanted->entry.key && strcmp(wanted->entry.key, key) != 0)
            ok = ok && (registering->keys[i] = strdup(key));
    }
    return ok || err_memory(err, registering->count * KEY);
}

/* Entries of forgotten inputs stay as tombstones, so a catalog without any entry was damaged. */
static bool check_any(const matching_t *m, err_t *err) {
    const registration_t *registering = m->registering;
    return m->entries.count || !registering->bound ||
           err_set(err, STATUS_USAGE,
                   "the catalog of %s is damaged: documents were loaded, but the entries of their inputs "
                   "were removed; start over with --drop",
                   registering->name);
}

/* Notes other paths under which inputs were recognised: whatever happens under the old path, the same command
 * recognises them again. */
static bool note_names(store_t *store, const registration_t *registering, err_t *err) {
    size_t count = 0;
    uint64_t changed;
    entry_change_t *changes = calloc(registering->count + 1, sizeof *changes);
    if (!changes)
        return err_memory(err, registering->count * sizeof *changes);
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        if (wanted->moved && wanted->entry.name_count < ENTRY_MOST_NAMES &&
            !entry_has_name(&wanted->entry, wanted->name))
            changes[count++] = (entry_change_t){.ordinal = wanted->entry.ordinal, .adds_name = wanted->name};
    }
    const bool ok =
        !count || registering->read_only || store->change_entries(store, changes, count, &changed, err);
    free(changes);
    return ok;
}

/* Refuses if the collection was dropped meanwhile: entries that are added after a drop are not read, so no other load
 * would know what was sent of them. A drop that ends later waits for this load, or removes them. */
static bool check_not_dropped(store_t *store, const registration_t *registering, err_t *err) {
    catalog_header_t header;
    bool found;
    if (!store_read_numbers(store, &header, &found, err))
        return false;
    const bool same = found && (!registering->generation || header.generation == registering->generation);
    return same ||
           err_set(
               err, STATUS_SERVER,
               "another load has dropped %s while this one registered its inputs: run the same command again",
               registering->name);
}

/* ---- after a collision with another load ---- */

/* *same: nothing changed in which input an entry belongs to. */
static bool look_at_matched(store_t *store, const matching_t *m, bool *same, err_t *err) {
    entries_t now = {0};
    size_t count = 0, at = 0;
    uint32_t *ordinals = malloc((m->entries.count + 1) * sizeof *ordinals);
    if (!ordinals)
        return err_memory(err, m->entries.count * sizeof *ordinals);
    for (size_t i = 0; i < m->entries.count; i++)
        if (m->taken_by[i])
            ordinals[count++] = m->entries.entries[i].ordinal;
    const bool ok = !count || store_read_all(store, ordinals, count, &now, err);
    *same = ok && now.count == count;
    for (size_t i = 0; *same && i < m->entries.count; i++) {
        const entry_t *then = &m->entries.entries[i], *entry = &now.entries[at];
        if (m->taken_by[i]) {
            *same = entry->version == then->version && entry->removed == then->removed;
            at++;
        }
    }
    entries_free(&now);
    free(ordinals);
    return ok;
}

/* Another load has added entries, which come after all that are known, because each entry follows the one before it. Moves the
 * known ones, and those, to *known. All is to be read again (*known is empty) if there are none, since then an older entry is in
 * the way, and if an entry of an input has changed. */
static bool read_on(store_t *store, matching_t *m, entries_t *known, err_t *err) {
    const size_t before = m->entries.count;
    uint64_t from = before ? m->entries.entries[before - 1].ordinal + 1ull : store->live_from;
    bool same = false, more = true;
    if (!look_at_matched(store, m, &same, err))
        return false;
    while (same && more)
        if (!store->read_entries(store, &from, NULL, 0, &m->entries, &more, err))
            return false;
    if (m->entries.count > before) {
        *known = m->entries;
        m->entries = (entries_t){0};
    }
    return true;
}

bool catalog_register(store_t *store, registration_t *registering, err_t *err) {
    entries_t known = {0};
    bool again = true;
    for (int race = 0; again && race < RACES; race++) {
        matching_t m = {.registering = registering, .entries = known};
        bool ok = (known.count || store_read_all(store, NULL, 0, &m.entries, err)) && check_any(&m, err) &&
                  register_match(&m, err) && number_copies(&m, err) && check_known(&m, err) &&
                  add_new(store, &m, &again, err);
        known = (entries_t){0};
        ok = ok && (!again || read_on(store, &m, &known, err));
        ok = ok && (again || registering->read_only || !m.fresh.count ||
                    check_not_dropped(store, registering, err));
        ok = ok && (again || list_standings(&m, err));
        ok = ok && (again || give_entries(&m, err));
        register_matching_free(&m);
        if (!ok)
            return false;
    }
    entries_free(&known);
    if (!again)
        return note_names(store, registering, err);
    return err_set(err, STATUS_SERVER,
                   "other loads of %s registered the same inputs again and again: run the same command again",
                   registering->name);
}

void register_free_wanted(registration_t *registering) {
    for (size_t i = 0; registering->wanted && i < registering->count; i++) {
        wanted_t *wanted = &registering->wanted[i];
        entry_free(&wanted->entry);
        register_like_none(wanted);
    }
}

void register_free(registration_t *registering) {
    register_free_wanted(registering);
    free_keys(registering);
    free(registering->standings);
    registering->standings = NULL;
    registering->standing_count = 0;
}

/* ---- how an input compares with an entry ---- */

bool registration_relate(const entry_t *entry, const version_t *seen, bool may_grow,
                         register_digest_fn *digest_at, const void *context, size_t input, view_t *view,
                         uint32_t *version, err_t *err) {
    const version_t *newest = entry_newest(entry);
    *version = entry_version_of(entry, seen->size, seen->digest);
    *view = *version == entry->version ? VIEW_SAME : *version ? VIEW_OLDER : VIEW_CHANGED;
    if (*version || !may_grow || newest->size >= seen->size)
        return true;
    char then[33];
    if (!digest_at(context, input, newest->size, then, err))
        return false;
    if (strcmp(then, newest->digest) == 0)
        *view = VIEW_GROWN;
    return true;
}

bool registration_has_grown(const version_t *newest, const version_t *seen, bool may_grow,
                            register_digest_fn *digest_at, const void *context, size_t input) {
    char now[33];
    err_t ignored; /* of an input that is shorter now */
    return may_grow && newest->size > seen->size && digest_at(context, input, newest->size, now, &ignored) &&
           strcmp(now, newest->digest) == 0;
}

bool registration_refuse_grown(const char *name, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%s has grown since this command began, and another load has registered the longer "
                   "version: run the same command again",
                   name);
}

bool registration_is_called(const wanted_t *wanted, const char *path) {
    const char *const slash = strrchr(wanted->name, '/');
    const char *const name = wanted->last_name ? wanted->last_name : slash ? slash + 1 : wanted->name;
    const size_t length = strlen(name), end = strlen(path);
    return end >= length && strcmp(path + end - length, name) == 0 &&
           (end == length || path[end - length - 1] == '/');
}

const alike_t *registration_like(const wanted_t *wanted, like_t how) {
    return wanted->like && wanted->like[how].path ? &wanted->like[how] : NULL;
}

like_t registration_tells(const wanted_t *wanted) {
    for (like_t how = 0; how < LIKE_KINDS; how++) {
        const alike_t *like = registration_like(wanted, how);
        if (like && !(how == LIKE_PART && like->ordinal == LIKE_NEW))
            return how;
    }
    return LIKE_KINDS;
}

/* ---- how many numbers an input takes ---- */

uint64_t room_units(const input_file_t *input) {
    uint64_t bytes = input->text_bound;
    /* a bound of 0 means unknown, unless the input is simply empty */
    if (!bytes && input->kind != INPUT_PLAIN && input->kind != INPUT_ZIP_MEMBER)
        bytes = RECORD_ID_STREAM_PIECE;
    const uint64_t units = bytes / RECORD_ID_EXTENT_UNIT + (bytes % RECORD_ID_EXTENT_UNIT != 0);
    return units ? units : 1;
}

uint64_t room_ordinals(const input_file_t *input) {
    const uint64_t windows = input->kind == INPUT_PLAIN
                                 ? (input->text_bound + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES
                                 : 0;
    return windows ? (windows - 1) % RECORD_ID_LANES + 1 : 1;
}
