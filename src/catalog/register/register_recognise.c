#include "catalog/register/register_inner.h"

#include <stdio.h>
#include <string.h>

enum {
    MOST_GONE = 16,
    MOST_NOTED = 1000, /* of more inputs nobody reads a note, and each may be asked of each */
};

/* Entries of this name, the newest input last. */
static const entry_t *next_of_name(const matching_t *m, const wanted_t *wanted, size_t *at) {
    for (const entry_t *entry; (entry = register_like_at(m, &m->by_path, wanted, *at));) {
        ++*at;
        if (!register_is_taken(m, entry) &&
            register_is_stream(entry_newest(entry)) == register_is_stream(&wanted->seen))
            return entry;
    }
    return NULL;
}

/* It is what the catalog has, or had, before another load began with a longer one, and did not end. */
static bool was_cut_back(const entry_t *entry, uint32_t version) {
    const piece_t *last = &entry->pieces[entry->piece_count - 1];
    return version < entry->version && last->complete < entry->version;
}

/* Another load has seen this file after us, when it was longer. */
static bool has_grown_meanwhile(const registration_t *registering, size_t number, const version_t *newest) {
    const wanted_t *wanted = &registering->wanted[number];
    char now[33];
    err_t ignored; /* it is not as long */
    return wanted->may_grow && newest->size > wanted->seen.size &&
           registering->digest_at(registering->context, number, newest->size, now, &ignored) &&
           strcmp(now, newest->digest) == 0;
}

/* Is it an earlier version that came back, and was its last record replaced since? Then the collection is not what it
 * makes, and so it is an input that has changed. */
static bool was_outgrown(const registration_t *registering, size_t number, const entry_t *entry,
                         uint32_t version) {
    return !registering->read_only && version < entry->outgrown &&
           entry_version(entry, version)->torn.length &&
           !has_grown_meanwhile(registering, number, entry_newest(entry));
}

static void match_in_place(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    size_t at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = next_of_name(m, wanted, &at));) {
        const uint32_t version = entry_version_of(entry, wanted->seen.size, wanted->seen.digest);
        if (version && !was_outgrown(m->registering, number, entry, version)) {
            register_take(m, number, entry);
            wanted->changed = wanted->reload && was_cut_back(entry, version);
            return;
        }
    }
}

/* The same file under another folder; a stream has nothing but its name. Where its content stands under the
 * old name as well, this one is a copy of it. `copy` counts the equal ones that other inputs are. */
static void match_moved(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    if (register_is_stream(&wanted->seen))
        return;
    size_t at = register_first_in(m, &m->by_content, wanted);
    for (const entry_t *entry; (entry = register_like_at(m, &m->by_content, wanted, at)); at++) {
        if (!register_is_taken(m, entry) && !register_stands_beside(m, number, entry)) {
            register_take(m, number, entry);
            wanted->moved = true;
            return;
        }
        wanted->copy++;
    }
}

static int text_to(const entry_t *entry, const wanted_t *wanted) {
    return register_compare_content(entry_newest(entry), "", &wanted->seen, "");
}

/* The same file by another name, which is a link to it. */
static void match_linked(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    const order_t order = {m->by_content.entries, text_to};
    if (m->found[number] || !wanted->may_grow)
        return;
    size_t at = register_first_in(m, &order, wanted);
    for (const entry_t *entry; (entry = register_like_at(m, &order, wanted, at)); at++)
        if (!register_is_taken(m, entry) && register_stands_itself(m, number, entry)) {
            register_take(m, number, entry);
            wanted->moved = true;
            return;
        }
}

/* Something of it was sent, perhaps. Of an empty file, or a mere header line, a longer one is nothing but another file. */
static bool may_hold_records(const entry_t *entry) {
    bool any = false;
    for (size_t i = 0; i < entry->piece_count; i++) {
        const piece_t *piece = &entry->pieces[i];
        any |= piece_counts(piece).read > 0 || (piece->complete < entry->version && piece->epoch > 0);
    }
    return any;
}

/* A copy under another name is another input; whoever renames a file may not expect it. */
static void note_equal(const matching_t *m, wanted_t *wanted) {
    const order_t order = {m->by_content.entries, text_to};
    if (!wanted->seen.size || register_is_stream(&wanted->seen))
        return;
    const size_t at = register_first_in(m, &order, wanted);
    const entry_t *entry = register_like_at(m, &order, wanted, at);
    if (entry && may_hold_records(entry))
        snprintf(wanted->equal, sizeof wanted->equal, "%s", entry->path);
}

static bool refuse_changed(const registration_t *registering, size_t number, const entry_t *entry,
                           bool grown_meanwhile, err_t *err) {
    char what[120];
    const wanted_t *wanted = &registering->wanted[number];
    const version_t *newest = entry_newest(entry);
    if (wanted->unread)
        return err_set(
            err, STATUS_INPUT,
            "%s has changed since a load into %s began, which was interrupted before it came to this "
            "file: nothing of it was loaded. Give --reload-changed, which takes it as it is now",
            wanted->name, registering->name);
    if (grown_meanwhile)
        return err_set(err, STATUS_INPUT,
                       "%s has grown while this load began, and another load loads it already: run the same "
                       "command again",
                       wanted->name);
    if (newest->size == wanted->seen.size)
        snprintf(what, sizeof what, "it has the same size, but other content");
    else
        snprintf(what, sizeof what, "it had %llu bytes, and has %llu now", (unsigned long long)newest->size,
                 (unsigned long long)wanted->seen.size);
    return err_set(
        err, STATUS_INPUT,
        "%s has changed since it was loaded into %s: %s. Give --reload-changed, which %s, put the old "
        "content "
        "back, or load it under another name. If the file that was loaded was moved, name it in the same "
        "command, too",
        wanted->name, registering->name, what,
        registering->own_ids ? "loads it again (documents that only its old content made stay)"
                             : "removes its documents and loads it again");
}

static size_t count_of_name(const matching_t *m, const wanted_t *wanted) {
    size_t count = 0, at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = register_like_at(m, &m->by_path, wanted, at)); at++)
        count += register_is_stream(entry_newest(entry)) == register_is_stream(&wanted->seen);
    return count;
}

static bool refuse_several(const registration_t *registering, const wanted_t *wanted, size_t count,
                           err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%s has other content than each of the %zu inputs of this name that were loaded into %s, and nothing "
        "says which it replaces. Take that one out (tipple forget --delete '%s#N'; tipple status --inputs "
        "shows N), then "
        "load this one in one command with the others, by the paths that they have now",
        wanted->name, count, registering->name, wanted->name);
}

/* The next entry of this last name, of fewer bytes than this, whose file stands nowhere any more, and may have become this
 * one. */
static const entry_t *next_gone(const matching_t *m, size_t number, uint64_t below, size_t *at) {
    for (const entry_t *entry; (entry = register_next_gone(m, number, at));)
        if (!register_is_taken(m, entry) && entry_newest(entry)->size < below && may_hold_records(entry))
            return entry;
    return NULL;
}

/* Whoever has moved a file and changed it may not expect that it is another input. */
static void note_gone(const matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    if (m->registering->count > MOST_NOTED || wanted->resembles || wanted->equal[0] || wanted->replaced ||
        register_is_stream(&wanted->seen))
        return;
    size_t at = 0;
    const entry_t *entry = next_gone(m, number, UINT64_MAX, &at);
    if (entry)
        snprintf(wanted->gone, sizeof wanted->gone, "%s", entry->path);
}

/* The next entry of this file under another spelling of its name. */
static const entry_t *next_of_file(const matching_t *m, size_t number, size_t *at) {
    const wanted_t *wanted = &m->registering->wanted[number];
    if (register_is_stream(&wanted->seen) || wanted->replaced) /* that was put in another's place */
        return NULL;
    for (const entry_t *entry; (entry = register_next_of_file(m, number, at));)
        if (!register_is_taken(m, entry) && strcmp(entry->path, wanted->name) != 0)
            return entry;
    return NULL;
}

/* Somebody has begun with it: before that, nothing of it was sent, nor read. */
static bool was_begun(const entry_t *entry) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (entry->pieces[i].epoch)
            return true;
    return false;
}

static bool grows(const matching_t *m, size_t number, const entry_t *entry, bool *grown, err_t *err) {
    const registration_t *registering = m->registering;
    const wanted_t *wanted = &registering->wanted[number];
    view_t view;
    uint32_t version;
    if (!registration_relate(entry, &wanted->seen, wanted->may_grow, registering->digest_at,
                             registering->context, number, &view, &version, err))
        return false;
    *grown = view == VIEW_GROWN;
    return true;
}

/* What was loaded under the other name may be this file, or what another link led to. */
static bool refuse_other_name(const registration_t *registering, const wanted_t *wanted, const entry_t *other,
                              err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%s is the file that has the name %s, too, and what was loaded of that into %s has other "
        "content. If it was this file, which has changed: name it %s, with --reload-changed. If it "
        "was another one: name that in the same command, by the path that it has now, or, if it is gone, "
        "take the link away",
        wanted->name, other->path, registering->name, other->path);
}

/* Entries whose files are gone, with more records than `least` has, which this input begins with; *one: one of them. Of so
 * many that the name says nothing, none. */
static bool find_gone(const matching_t *m, size_t number, const entry_t *least, const entry_t **one,
                      size_t *count, err_t *err) {
    const wanted_t *wanted = &m->registering->wanted[number];
    const uint64_t above = least && may_hold_records(least) ? entry_newest(least)->size : 0;
    size_t gone = 0, at = 0;
    *count = 0;
    if (!wanted->may_grow || register_is_stream(&wanted->seen))
        return true;
    for (size_t look = 0; gone <= MOST_GONE && next_gone(m, number, wanted->seen.size, &look);)
        gone++;
    for (const entry_t *entry; gone <= MOST_GONE && (entry = next_gone(m, number, wanted->seen.size, &at));) {
        bool grown = false;
        if (entry != least && entry_newest(entry)->size > above && !grows(m, number, entry, &grown, err))
            return false;
        *count += grown;
        *one = grown ? entry : *one;
    }
    return true;
}

/* Of two entries that it may be, grown: the one of which fewer records are to be sent. */
static const entry_t *longer(const entry_t *one, const entry_t *other) {
    return one && entry_newest(one)->size >= entry_newest(other)->size ? one : other;
}

/* The longest entry of this name, or of this file, that has grown. */
static bool find_grown(const matching_t *m, size_t number, const entry_t **here, err_t *err) {
    const wanted_t *wanted = &m->registering->wanted[number];
    bool grown = false;
    size_t at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = next_of_name(m, wanted, &at));
         *here = grown ? longer(*here, entry) : *here)
        if (!grows(m, number, entry, &grown, err))
            return false;
    at = 0;
    for (const entry_t *entry; !*here && (entry = next_of_file(m, number, &at)); *here = grown ? entry : NULL)
        if (!grows(m, number, entry, &grown, err))
            return false;
    return true;
}

/* An input that has grown in its place; but where a longer one may have been moved there, and has, only if `surely` is
 * false: then that is this one, if no other input was. */
static bool grow_in_place(matching_t *m, size_t number, bool surely, err_t *err) {
    wanted_t *wanted = &m->registering->wanted[number];
    const entry_t *here = NULL, *moved = NULL;
    size_t longer_ones = 0;
    if (!find_grown(m, number, &here, err) ||
        (here && !find_gone(m, number, here, &moved, &longer_ones, err)))
        return false;
    if (!here || (surely && longer_ones))
        return true;
    wanted->resembles = longer_ones;
    wanted->moved = longer_ones == 1;
    register_take(m, number, wanted->moved ? moved : here);
    return true;
}

static bool match_surely_grown(matching_t *m, size_t number, err_t *err) {
    return grow_in_place(m, number, true, err);
}

static bool match_grown(matching_t *m, size_t number, err_t *err) {
    return grow_in_place(m, number, false, err);
}

/* The newest entries of its name, and of this file under another one, that have other content than it has now. */
typedef struct {
    const entry_t *of_name, *of_file;
} changed_t;

static changed_t find_changed(const matching_t *m, size_t number) {
    const wanted_t *wanted = &m->registering->wanted[number];
    changed_t changed = {NULL, NULL};
    size_t at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = next_of_name(m, wanted, &at));)
        changed.of_name = entry;
    at = 0;
    for (const entry_t *entry; (entry = next_of_file(m, number, &at));)
        changed.of_file = entry;
    return changed;
}

/* The same file under another folder, and grown. Where several could be it, or so many are gone that the name says
 * nothing, it is a new one. One that has changed in its place is that. */
static bool match_moved_and_grown(matching_t *m, size_t number, err_t *err) {
    wanted_t *wanted = &m->registering->wanted[number];
    const entry_t *grown = NULL;
    const changed_t changed = find_changed(m, number);
    if (changed.of_name || changed.of_file)
        return true;
    if (!find_gone(m, number, NULL, &grown, &wanted->resembles, err))
        return false;
    if (wanted->resembles == 1) {
        register_take(m, number, grown);
        wanted->moved = true;
    }
    return true;
}

static bool match_changed(matching_t *m, size_t number, err_t *err) {
    registration_t *registering = m->registering;
    wanted_t *wanted = &registering->wanted[number];
    const changed_t changed = find_changed(m, number);
    if (!changed.of_name)
        return !changed.of_file || refuse_other_name(registering, wanted, changed.of_file, err);
    const size_t count = count_of_name(m, wanted);
    if (count > 1)
        return refuse_several(registering, wanted, count, err);
    wanted->unread = !was_begun(changed.of_name);
    const bool meanwhile = has_grown_meanwhile(registering, number, entry_newest(changed.of_name));
    if (!wanted->reload || meanwhile)
        return refuse_changed(registering, number, changed.of_name, meanwhile, err);
    register_take(m, number, changed.of_name);
    wanted->changed = true;
    return true;
}

/* One without a name is known by who registered it, and where in his list it stands. */
static void match_nameless(matching_t *m, size_t number) {
    for (size_t i = 0; i < m->entries.count; i++) {
        const entry_t *entry = &m->entries.entries[i];
        if (!m->taken[i] && !entry->removed && entry->key && strncmp(entry->key, "new/", 4) == 0 &&
            load_id_equal(&entry->registered_by, &m->registering->self)) {
            register_take(m, number, entry);
            return;
        }
    }
}

/* One name, one input: people say which they mean by it. */
static bool refuse_two_of_name(const registration_t *registering, const char *name, err_t *err) {
    return err_set(err, STATUS_USAGE,
                   "%s is the name of a file and of a stream (--input-name) for %s: give the stream another "
                   "--input-name, or name the file by its whole path",
                   name, registering->name);
}

static bool check_streams(const matching_t *m, err_t *err) {
    const registration_t *registering = m->registering;
    for (size_t i = 0; i < registering->count; i++) {
        const wanted_t *wanted = &registering->wanted[i];
        size_t at = register_first_in(m, &m->by_path, wanted);
        for (const entry_t *entry; wanted->named && (entry = register_like_at(m, &m->by_path, wanted, at));
             at++)
            if (register_is_stream(entry_newest(entry)) != register_is_stream(&wanted->seen) &&
                strncmp(entry->key, "new/", 4) != 0)
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
    wanted->equal[0] = wanted->gone[0] = '\0';
    wanted->resembles = 0;
}

bool register_match(matching_t *m, err_t *err) {
    registration_t *registering = m->registering;
    if (!register_sort(m, err) || !check_streams(m, err))
        return false;
    for (size_t i = 0; i < registering->count; i++) {
        wanted_t *wanted = &registering->wanted[i];
        wanted->changed = wanted->unread = false;
        if (wanted->named)
            match_in_place(m, i);
        else
            match_nameless(m, i);
        if (!is_made_by_us(m, i))
            forget_answer(wanted);
    }
    for (size_t i = 0; i < registering->count; i++) {
        if (!registering->wanted[i].named || m->found[i])
            continue;
        match_moved(m, i);
        match_linked(m, i);
    }
    /* What is surely another one's is taken by now, in whatever order they are given; so it is after each of these. What
     * stood in the place of one that was moved is a new one then, or has been moved itself. */
    static bool (*const match[])(matching_t *, size_t, err_t *) = {
        match_surely_grown, match_moved_and_grown, match_grown, match_changed, match_moved_and_grown};
    for (size_t how = 0; how < sizeof match / sizeof *match; how++)
        for (size_t i = 0; i < registering->count; i++)
            if (registering->wanted[i].named && !m->found[i] && !match[how](m, i, err))
                return false;
    for (size_t i = 0; i < registering->count; i++) {
        if (!registering->wanted[i].named || m->found[i])
            continue;
        note_equal(m, &registering->wanted[i]);
        note_gone(m, i);
    }
    return register_number_copies(m, err);
}
