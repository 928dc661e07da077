/* Inputs that have other content than any entry of their name: grown, moved and grown, or changed. */
#include "catalog/register/register_inner.h"

#include <stdio.h>
#include <string.h>

enum { MOST_GONE = 16 };

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
    const uint64_t above = least && register_may_hold_records(least) ? entry_newest(least)->size : 0;
    size_t gone = 0, at = 0;
    *count = 0;
    if (!wanted->may_grow || register_is_stream(&wanted->seen))
        return true;
    for (size_t look = 0; gone <= MOST_GONE && register_next_gone_below(m, number, wanted->seen.size, &look);)
        gone++;
    for (const entry_t *entry;
         gone <= MOST_GONE && (entry = register_next_gone_below(m, number, wanted->seen.size, &at));) {
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
    for (const entry_t *entry; (entry = register_next_of_name(m, wanted, &at));
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
    for (const entry_t *entry; (entry = register_next_of_name(m, wanted, &at));)
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
    const bool meanwhile = register_has_grown_meanwhile(registering, number, entry_newest(changed.of_name));
    if (!wanted->reload || meanwhile)
        return refuse_changed(registering, number, changed.of_name, meanwhile, err);
    register_take(m, number, changed.of_name);
    wanted->changed = true;
    return true;
}

bool register_match_changed(matching_t *m, err_t *err) {
    const registration_t *registering = m->registering;
    /* What is surely another one's is taken by now, in whatever order they are given; so it is after each of these. What
     * stood in the place of one that was moved is a new one then, or has been moved itself. */
    static bool (*const match[])(matching_t *, size_t, err_t *) = {
        match_surely_grown, match_moved_and_grown, match_grown, match_changed, match_moved_and_grown};
    for (size_t how = 0; how < sizeof match / sizeof *match; how++)
        for (size_t i = 0; i < registering->count; i++)
            if (registering->wanted[i].named && !m->found[i] && !match[how](m, i, err))
                return false;
    return true;
}
