/* The rules by which an input is recognised. What is surely another input's is taken first, in whatever order they are
 * given. */
#include "catalog/register/register_inner.h"

#include <stdio.h>
#include <string.h>

/* The next entry of the input's name. *at begins as the first place of that name. */
static const entry_t *next_of_name(const matching_t *m, const wanted_t *wanted, size_t *at) {
    for (const entry_t *entry; (entry = register_like_at(m, &m->by_path, wanted, *at));) {
        ++*at;
        if (!register_is_taken(m, entry) && register_is_of_kind(entry, wanted))
            return entry;
    }
    return NULL;
}

/* True for an earlier version that is here again, while a load of a longer one was begun and did not end. */
static bool was_cut_back(const entry_t *entry, uint32_t version) {
    const piece_t *last = &entry->pieces[entry->piece_count - 1];
    return version < entry->version && last->complete < entry->version;
}

/* True if another load has seen this file after us, when it was longer. */
static bool has_grown_meanwhile(const registration_t *registering, size_t number, const version_t *newest) {
    const wanted_t *wanted = &registering->wanted[number];
    return registration_has_grown(newest, &wanted->seen, wanted->may_grow, registering->digest_at,
                                  registering->context, number);
}

/* True for an earlier version that is here again, whose last record was replaced since. The collection is not what it
 * makes, so the input has changed. */
static bool was_outgrown(const registration_t *registering, size_t number, const entry_t *entry,
                         uint32_t version) {
    return !registering->read_only && version < entry->outgrown &&
           entry_version(entry, version)->torn.length &&
           !has_grown_meanwhile(registering, number, entry_newest(entry));
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
    for (const entry_t *entry; !m->found[number] && (entry = next_of_name(m, wanted, &at));) {
        const uint32_t version = version_now(m, number, entry);
        if (version) {
            register_take(m, number, entry);
            wanted->changed = wanted->reload && was_cut_back(entry, version);
        }
    }
}

/* The input was recognised under this name before, and holds what it held. What is under the entry's own path now does
 * not matter. Such a name never means that the input has changed. */
static void match_further_name(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    size_t at = 0;
    if (wanted->by_name)
        return;
    for (const entry_t *entry; !m->found[number] && (entry = register_next_of_further_name(m, wanted, &at));)
        if (version_now(m, number, entry))
            take_moved(m, number, entry);
}

/* All empty files are alike. If a file of this name has held records, it was emptied. */
static bool has_held_records(const matching_t *m, const wanted_t *wanted) {
    size_t at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = next_of_name(m, wanted, &at));)
        if (register_may_hold_records(entry))
            return true;
    return false;
}

/* The same file, which was loaded under another name: a link, another spelling. Equal files are different inputs. */
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

/* The same file under another folder. If its content is under the old name as well, this one is a copy of it. `copy`
 * counts the equal entries that are other inputs. */
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

/* A stream without a name is identified by the load that registered it and its position on that load's command line. */
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

/* An input is addressed by its name, so a name stands for one kind of input. */
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

/* ---- other content than any entry of their name: grown, moved and grown, or changed ---- */

enum { MOST_GONE = 16 };

static bool refuse_changed(const registration_t *registering, size_t number, const entry_t *entry,
                           bool grown_meanwhile, err_t *err) {
    char what[120];
    const wanted_t *wanted = &registering->wanted[number];
    const version_t *newest = entry_newest(entry);
    if (wanted->unread)
        return err_set(
            err, STATUS_INPUT,
            "%s has changed since a load into %s began, which was interrupted before it came to this file: "
            "nothing of it was loaded. Give --reload-changed, which takes it as it is now",
            wanted->name, registering->name);
    if (grown_meanwhile)
        return registration_refuse_grown(wanted->name, err);
    if (newest->size == wanted->seen.size)
        snprintf(what, sizeof what, "it has the same size, but other content");
    else
        snprintf(what, sizeof what, "it had %llu bytes, and has %llu now", (unsigned long long)newest->size,
                 (unsigned long long)wanted->seen.size);
    const char *removes = registering->own_ids
                              ? "loads it again (documents that only its old content made stay)"
                              : "removes the documents of its old content, such as yesterday's, and loads it";
    if (wanted->by_name)
        return err_set(err, STATUS_INPUT,
                       "%s has changed since it was loaded into %s by this --input-name: %s. Give it another "
                       "--input-name, put the old content back, or give --reload-changed, which %s",
                       wanted->name, registering->name, what, removes);
    return err_set(
        err, STATUS_INPUT,
        "%s has changed since it was loaded into %s: %s. If a new file of this name comes each night, load "
        "it alone, with --input-name and a name that has its date. --reload-changed %s. Or put the old "
        "content back. If the file that was loaded was moved, name it in the same command, too%s",
        wanted->name, registering->name, what, removes,
        wanted->name[0] == '/' ? ""
                               : "; if it was another folder's file of this name, load this one by its whole "
                                 "path, while you are in another folder");
}

static size_t count_of_name(const matching_t *m, const wanted_t *wanted) {
    size_t count = 0, at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = register_like_at(m, &m->by_path, wanted, at)); at++)
        count += register_is_of_kind(entry, wanted);
    return count;
}

static bool refuse_several(const registration_t *registering, const wanted_t *wanted, size_t count,
                           err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%s has other content than each of the %zu inputs of this name that were loaded into %s, and nothing "
        "says which it replaces. Take that one out (tipple forget --delete '%s#N'; tipple status --inputs "
        "shows N), then load this one in one command with the others, by the paths that they have now",
        wanted->name, count, registering->name, wanted->name);
}

/* The next entry of the input's file under another name. */
static const entry_t *next_of_file(const matching_t *m, size_t number, file_place_t *place) {
    const wanted_t *wanted = &m->registering->wanted[number];
    if (wanted->by_name || wanted->replaced) /* --reload-changed has put it in another input's place */
        return NULL;
    for (const entry_t *entry; (entry = register_next_of_file(m, number, place));)
        if (!register_is_taken(m, entry) && strcmp(entry->path, wanted->name) != 0)
            return entry;
    return NULL;
}

/* *grown: the input begins with the entry's content. False: err. */
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

/* What was loaded under the other name may be this file, or another one that a link led to then. */
static bool refuse_other_name(const registration_t *registering, const wanted_t *wanted, const entry_t *other,
                              err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%s is the file that has the name %s, too, and what was loaded of that into %s has other content. If "
        "it was this file, which has changed: name it %s, with --reload-changed. If it was another one: name "
        "that in the same command, by the path that it has now, or, if it is gone, %s",
        wanted->name, other->path, registering->name, other->path,
        other->path[0] == '/' ? "rename this one, or load a copy of it"
                              : "run this in another folder, by the whole path: a name that is no whole path "
                                "may have been another folder's file");
}

/* A relative name may have been another file's: it may have been typed in another folder. */
static bool is_by_whole_path(const wanted_t *wanted, const entry_t *other) {
    return other && other->path[0] == '/' && wanted->name[0] != '/';
}

static bool refuse_whole_path(const registration_t *registering, const wanted_t *wanted, const entry_t *other,
                              err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%s has other content than what was loaded of this name into %s, which may have been "
                   "another folder's file: this one was loaded as %s. If it has changed since: name it so, "
                   "by its whole path, with --reload-changed",
                   wanted->name, registering->name, other->path);
}

/* ---- the entry that an input begins with ---- */

/* What an input that has grown may have been. */
typedef struct {
    const entry_t *here;  /* the longest entry of its names or its file that it begins with; or NULL */
    const entry_t *moved; /* likewise of those whose files are gone, if it is longer than `here` */
    size_t moved_count;   /* how many of the latter it begins with */
} grown_t;

/* The bytes that an entry has for this comparison. One without records has none, because any file begins with it. */
static uint64_t weight(const entry_t *entry) {
    return entry && register_may_hold_records(entry) ? entry_newest(entry)->size : 0;
}

static bool look_here(const matching_t *m, size_t number, const entry_t *entry, grown_t *grown, err_t *err) {
    bool fits;
    if (!grows(m, number, entry, &fits, err))
        return false;
    if (fits && (!grown->here || weight(entry) > weight(grown->here)))
        grown->here = entry;
    return true;
}

/* If more than MOST_GONE are gone, the name says nothing, and none of them is it. */
static bool look_at_gone(const matching_t *m, size_t number, grown_t *grown, err_t *err) {
    const wanted_t *wanted = &m->registering->wanted[number];
    size_t gone = 0, at = 0;
    if (!wanted->may_grow || wanted->by_name)
        return true;
    for (size_t look = 0; gone <= MOST_GONE && register_next_gone_below(m, number, wanted->seen.size, &look);)
        gone++;
    for (const entry_t *entry;
         gone <= MOST_GONE && (entry = register_next_gone_below(m, number, wanted->seen.size, &at));) {
        bool fits = false;
        if (weight(entry) > weight(grown->here) && !grows(m, number, entry, &fits, err))
            return false;
        grown->moved_count += fits;
        grown->moved = fits && weight(entry) > weight(grown->moved) ? entry : grown->moved;
    }
    return true;
}

static bool find_grown(const matching_t *m, size_t number, grown_t *grown, err_t *err) {
    const wanted_t *wanted = &m->registering->wanted[number];
    *grown = (grown_t){.here = NULL};
    size_t at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = next_of_name(m, wanted, &at));)
        if (!look_here(m, number, entry, grown, err))
            return false;
    at = 0;
    for (const entry_t *entry; !wanted->by_name && (entry = register_next_of_further_name(m, wanted, &at));)
        if (!look_here(m, number, entry, grown, err))
            return false;
    file_place_t place = {.member = NULL};
    for (const entry_t *entry; (entry = next_of_file(m, number, &place));)
        if (!look_here(m, number, entry, grown, err))
            return false;
    return look_at_gone(m, number, grown, err);
}

/* If several are gone that it may have been, it is not one of them: what is here has grown, or the input is new. That
 * is reported. */
static void take_grown(matching_t *m, size_t number, const grown_t *grown) {
    wanted_t *wanted = &m->registering->wanted[number];
    wanted->resembles = grown->moved_count;
    wanted->moved = grown->moved_count == 1;
    if (wanted->moved || grown->here)
        register_take(m, number, wanted->moved ? grown->moved : grown->here);
    if (!grown->moved_count && weight(grown->here) && strcmp(grown->here->path, wanted->name) != 0) {
        wanted->moved = true; /* it was loaded by another name of the file */
        wanted->resembles = 1;
    }
}

/* The newest entries, of the input's name and of its file under another name, that have other content than it has now.
 * by_link: a link, such as `latest.csv`, leads to the file, and may have led to another one when it was loaded. */
typedef struct {
    const entry_t *of_name, *of_file, *by_link;
} changed_t;

static bool is_by_link(const matching_t *m, const char *path) {
    return m->registering->by_link && m->registering->by_link(path);
}

static changed_t find_changed(const matching_t *m, size_t number) {
    const wanted_t *wanted = &m->registering->wanted[number];
    changed_t changed = {NULL, NULL, NULL};
    size_t at = register_first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = next_of_name(m, wanted, &at));)
        changed.of_name = entry;
    at = 0;
    /* a link may lead elsewhere by now; and if the content is somewhere else, this name is another file's now */
    while (
        !changed.of_name && !wanted->by_name && !wanted->replaced && m->further_count &&
        !is_by_link(m, wanted->name) && (changed.of_name = register_next_of_further_name(m, wanted, &at)) &&
        (register_stands_content(m, changed.of_name) || register_stands_further(m, number, changed.of_name)))
        changed.of_name = NULL;
    file_place_t place = {.member = NULL};
    for (const entry_t *entry; (entry = next_of_file(m, number, &place));)
        if (is_by_link(m, entry->path))
            changed.by_link = entry;
        else
            changed.of_file = entry;
    return changed;
}

/* It has grown in its place, if nothing else may have been moved there. */
static bool grow_in_place(matching_t *m, size_t number, err_t *err) {
    grown_t grown;
    if (!find_grown(m, number, &grown, err))
        return false;
    if (grown.here && !grown.moved)
        take_grown(m, number, &grown);
    return true;
}

/* It has grown in its place, or was moved there: both are possible. */
static bool grow_any(matching_t *m, size_t number, err_t *err) {
    grown_t grown;
    if (!find_grown(m, number, &grown, err))
        return false;
    take_grown(m, number, &grown);
    return true;
}

/* It was moved and has grown, if no other content is known of its place. */
static bool grow_moved(matching_t *m, size_t number, err_t *err) {
    const changed_t changed = find_changed(m, number);
    return changed.of_name || changed.of_file || grow_any(m, number, err);
}

static bool match_changed(matching_t *m, size_t number, err_t *err) {
    registration_t *registering = m->registering;
    wanted_t *wanted = &registering->wanted[number];
    const changed_t changed = find_changed(m, number);
    if (!changed.of_name && changed.of_file)
        return refuse_other_name(registering, wanted, changed.of_file, err);
    if (!changed.of_name && changed.by_link)
        register_be_like_entry(m, number, changed.by_link, LIKE_LEADS);
    if (!changed.of_name)
        return true;
    if (is_by_whole_path(wanted, changed.of_file))
        return refuse_whole_path(registering, wanted, changed.of_file, err);
    const size_t count = count_of_name(m, wanted);
    if (count > 1)
        return refuse_several(registering, wanted, count, err);
    wanted->unread = !entry_is_begun(changed.of_name);
    const bool meanwhile = has_grown_meanwhile(registering, number, entry_newest(changed.of_name));
    if (!wanted->reload || meanwhile)
        return refuse_changed(registering, number, changed.of_name, meanwhile, err);
    register_take(m, number, changed.of_name);
    wanted->changed = true;
    return true;
}

static bool match_other_content(matching_t *m, err_t *err) {
    const registration_t *registering = m->registering;
    /* By now, and after each of these steps, entries that surely belong to other inputs are taken. An input under the
     * old name of a moved file is then a new one, or was moved there itself. */
    static bool (*const match[])(matching_t *, size_t, err_t *) = {grow_in_place, grow_moved, grow_any,
                                                                   match_changed};
    bool ok = true;
    for (size_t how = 0; how < sizeof match / sizeof *match; how++)
        for (size_t i = 0; i < registering->count; i++) {
            wanted_t *wanted = &registering->wanted[i];
            if (!wanted->named || m->found[i] || wanted->refused || match[how](m, i, err))
                continue;
            wanted->refused = err->status == STATUS_INPUT && registering->refuse &&
                              registering->refuse(registering->refuse_context, i, err);
            if (!wanted->refused)
                return false;
            ok = false;
        }
    return ok;
}

/* ---- all inputs ---- */

/* True if this load registered the input a moment ago: what was found out then is still true, and still to be
 * reported. */
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
    return match_other_content(m, err) && register_find_alike(m, err);
}
