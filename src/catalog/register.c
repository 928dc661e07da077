#include "catalog/register.h"
#include "base/search.h"
#include "catalog/record_id/record_id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { RACES = 1000, MOST_GONE = 16 };

bool register_relate(const entry_t *entry, const version_t *seen, bool may_grow,
                     register_digest_fn *digest_at, void *context, size_t input, view_t *view,
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

/* ---- which entry is which ---- */

/* The entries that are not removed, in an order. compare: one of them to what is looked for. */
typedef struct {
    const entry_t **entries;
    int (*compare)(const entry_t *entry, const wanted_t *wanted);
} order_t;

/* A file, asked for once: many entries may have one last name. */
typedef struct {
    enum { NOT_ASKED, NO_FILE, A_FILE } is;
    enum { NOT_READ, ITS_CONTENT, OTHER_CONTENT } holds; /* of an entry's */
    file_id_t file;
} asked_t;

typedef struct {
    registration_t *registering;
    entries_t entries, fresh; /* as read; and new ones, in the order of the inputs that have none of those */
    order_t by_path, by_content, by_last_name;
    size_t count;          /* of each */
    bool *taken, *named;   /* by entry; its path is the name of an input */
    asked_t *there;        /* by entry: under its path */
    const entry_t **found; /* by wanted */
    asked_t *own;          /* by wanted: what it is read from */
} matching_t;

static const char *last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_stream(const version_t *version) {
    return !version->digest[0];
}

static int by_ordinal(const entry_t *left, const entry_t *right) {
    return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

static int order_by_path(const void *a, const void *b) {
    const entry_t *left = *(const entry_t *const *)a, *right = *(const entry_t *const *)b;
    int order = strcmp(left->path, right->path);
    return order ? order : by_ordinal(left, right);
}

static int compare_content(const version_t *left, const char *left_name, const version_t *right,
                           const char *right_name) {
    int order = strcmp(left->digest, right->digest);
    if (!order)
        order = (left->size > right->size) - (left->size < right->size);
    return order ? order : strcmp(left_name, right_name);
}

static int order_by_content(const void *a, const void *b) {
    const entry_t *left = *(const entry_t *const *)a, *right = *(const entry_t *const *)b;
    int order = compare_content(entry_newest(left), last_name(left->path), entry_newest(right),
                                last_name(right->path));
    return order ? order : by_ordinal(left, right);
}

static int order_by_last_name(const void *a, const void *b) {
    const entry_t *left = *(const entry_t *const *)a, *right = *(const entry_t *const *)b;
    int order = strcmp(last_name(left->path), last_name(right->path));
    return order ? order : by_ordinal(left, right);
}

static int path_to(const entry_t *entry, const wanted_t *wanted) {
    return strcmp(entry->path, wanted->name);
}

static int content_to(const entry_t *entry, const wanted_t *wanted) {
    return compare_content(entry_newest(entry), last_name(entry->path), &wanted->seen,
                           last_name(wanted->name));
}

static int last_name_to(const entry_t *entry, const wanted_t *wanted) {
    return strcmp(last_name(entry->path), last_name(wanted->name));
}

/* The first that is not before what is wanted. */
static size_t first_in(const matching_t *m, const order_t *order, const wanted_t *wanted) {
    return SEARCH_FIRST(m->count, i, order->compare(order->entries[i], wanted) < 0);
}

/* NULL: behind the last one that is like what is wanted. */
static const entry_t *like_at(const matching_t *m, const order_t *order, const wanted_t *wanted, size_t at) {
    const bool is_like = at < m->count && order->compare(order->entries[at], wanted) == 0;
    return is_like ? order->entries[at] : NULL;
}

static bool is_taken(const matching_t *m, const entry_t *entry) {
    return m->taken[entry - m->entries.entries];
}

static void take(matching_t *m, size_t wanted, const entry_t *entry) {
    m->found[wanted] = entry;
    m->taken[entry - m->entries.entries] = true;
}

/* Entries of this name, the newest input last. */
static const entry_t *next_of_name(const matching_t *m, const wanted_t *wanted, size_t *at) {
    for (const entry_t *entry; (entry = like_at(m, &m->by_path, wanted, *at));) {
        ++*at;
        if (!is_taken(m, entry) && is_stream(entry_newest(entry)) == is_stream(&wanted->seen))
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
    size_t at = first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = next_of_name(m, wanted, &at));) {
        const uint32_t version = entry_version_of(entry, wanted->seen.size, wanted->seen.digest);
        if (version && !was_outgrown(m->registering, number, entry, version)) {
            take(m, number, entry);
            wanted->changed = wanted->reload && was_cut_back(entry, version);
            return;
        }
    }
}

static const asked_t *ask(const registration_t *registering, asked_t *asked, const char *path) {
    if (asked->is == NOT_ASKED) {
        const bool found = path && registering->file_at && registering->file_at(path, &asked->file);
        asked->is = found ? A_FILE : NO_FILE;
    }
    return asked;
}

static const asked_t *what_stands(const matching_t *m, const entry_t *entry) {
    return ask(m->registering, &m->there[entry - m->entries.entries], entry->path);
}

/* Does the file that the input is read from stand under the entry's path? */
static bool stands_itself(const matching_t *m, size_t number, const entry_t *entry) {
    const registration_t *registering = m->registering;
    const asked_t *own = ask(registering, &m->own[number], registering->wanted[number].path);
    const asked_t *there = what_stands(m, entry);
    return own->is == A_FILE && there->is == A_FILE && own->file.device == there->file.device &&
           own->file.inode == there->file.inode;
}

/* Does the entry's content stand under its path? What has that name may be anything: a path is read in the folder that
 * the command was given in, and files come and go. */
static bool stands_content(const matching_t *m, const entry_t *entry) {
    asked_t *there = &m->there[entry - m->entries.entries];
    if (what_stands(m, entry)->is == NO_FILE)
        return false;
    if (there->holds == NOT_READ)
        there->holds =
            m->registering->holds(m->registering->holds_context, entry) ? ITS_CONTENT : OTHER_CONTENT;
    return there->holds == ITS_CONTENT;
}

/* Is the input that is read from another file a copy of it, then? False: nobody can tell, or it has become the input. */
static bool stands_beside(const matching_t *m, size_t number, const entry_t *entry) {
    const registration_t *registering = m->registering;
    return ask(registering, &m->own[number], registering->wanted[number].path)->is == A_FILE &&
           !stands_itself(m, number, entry) && stands_content(m, entry);
}

/* The same by what the file system says, where that is enough: thousands of entries need not be read for a file that
 * begins with none of them. */
static bool stands_untouched(const matching_t *m, const entry_t *entry) {
    const asked_t *there = what_stands(m, entry);
    const version_t *newest = entry_newest(entry);
    return there->is == A_FILE && (there->file.member || (there->file.size == newest->size &&
                                                          there->file.modified_ns == newest->modified_ns));
}

/* The same file under another folder; a stream has nothing but its name. Where its content stands under the
 * old name as well, this one is a copy of it. `copy` counts the equal ones that other inputs are. */
static void match_moved(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    if (is_stream(&wanted->seen))
        return;
    size_t at = first_in(m, &m->by_content, wanted);
    for (const entry_t *entry; (entry = like_at(m, &m->by_content, wanted, at)); at++) {
        if (!is_taken(m, entry) && !stands_beside(m, number, entry)) {
            take(m, number, entry);
            wanted->moved = true;
            return;
        }
        wanted->copy++;
    }
}

static int text_to(const entry_t *entry, const wanted_t *wanted) {
    return compare_content(entry_newest(entry), "", &wanted->seen, "");
}

/* The same file by another name, which is a link to it. */
static void match_linked(matching_t *m, size_t number) {
    wanted_t *wanted = &m->registering->wanted[number];
    const order_t order = {m->by_content.entries, text_to};
    if (m->found[number] || !wanted->may_grow)
        return;
    size_t at = first_in(m, &order, wanted);
    for (const entry_t *entry; (entry = like_at(m, &order, wanted, at)); at++)
        if (!is_taken(m, entry) && stands_itself(m, number, entry)) {
            take(m, number, entry);
            wanted->moved = true;
            return;
        }
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
    return err_set(err, STATUS_INPUT,
                   "%s has changed since it was loaded into %s: %s. Put the old content back, load it under "
                   "another name, or give --reload-changed, which removes its documents and loads it again",
                   wanted->name, registering->name, what);
}

/* Something of it was sent, perhaps. Of an empty file, or a mere header line, a longer one is nothing but another file. */
static bool may_hold_records(const entry_t *entry) {
    bool any = false;
    for (size_t i = 0; i < entry->piece_count; i++) {
        const piece_t *piece = &entry->pieces[i];
        any |= piece->complete || piece->done.count ? piece_counts(piece).read > 0 : piece->epoch > 0;
    }
    return any;
}

/* Does its file stand nowhere any more? */
static bool is_gone(const matching_t *m, size_t number, const entry_t *entry) {
    return !stands_itself(m, number, entry) && !stands_untouched(m, entry) && !stands_content(m, entry);
}

/* The next entry of this last name whose file stands nowhere any more, and may have become this one. */
static const entry_t *next_gone(const matching_t *m, size_t number, size_t *at) {
    const wanted_t *wanted = &m->registering->wanted[number];
    for (const entry_t *entry; (entry = like_at(m, &m->by_last_name, wanted, *at));) {
        ++*at;
        if (!is_taken(m, entry) && !m->named[entry - m->entries.entries] && !is_stream(entry_newest(entry)) &&
            entry_newest(entry)->size < wanted->seen.size && may_hold_records(entry) &&
            is_gone(m, number, entry))
            return entry;
    }
    return NULL;
}

/* The same file under another folder, and grown. Where several could be it, or so many are gone that the name says
 * nothing, it is a new one. */
static bool match_moved_and_grown(matching_t *m, size_t number, err_t *err) {
    registration_t *registering = m->registering;
    wanted_t *wanted = &registering->wanted[number];
    const entry_t *grown = NULL, *entry;
    size_t gone = 0, at = first_in(m, &m->by_last_name, wanted);
    if (!wanted->may_grow || is_stream(&wanted->seen))
        return true;
    for (size_t look = at; gone <= MOST_GONE && next_gone(m, number, &look);)
        gone++;
    while (gone <= MOST_GONE && (entry = next_gone(m, number, &at))) {
        view_t view;
        uint32_t version;
        if (!register_relate(entry, &wanted->seen, true, registering->digest_at, registering->context, number,
                             &view, &version, err))
            return false;
        wanted->resembles += view == VIEW_GROWN;
        grown = view == VIEW_GROWN ? entry : grown;
    }
    if (wanted->resembles == 1) {
        take(m, number, grown);
        wanted->moved = true;
    }
    return true;
}

/* The next entry of this file under another spelling of its name. */
static const entry_t *next_of_file(const matching_t *m, size_t number, size_t *at) {
    const wanted_t *wanted = &m->registering->wanted[number];
    for (const entry_t *entry; (entry = like_at(m, &m->by_last_name, wanted, *at));) {
        ++*at;
        if (!is_taken(m, entry) && !is_stream(entry_newest(entry)) &&
            strcmp(entry->path, wanted->name) != 0 && stands_itself(m, number, entry))
            return entry;
    }
    return NULL;
}

/* Somebody has begun with it: before that, nothing of it was sent, nor read. */
static bool was_begun(const entry_t *entry) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (entry->pieces[i].epoch)
            return true;
    return false;
}

static bool grows(matching_t *m, size_t number, const entry_t *entry, bool *grown, err_t *err) {
    const registration_t *registering = m->registering;
    const wanted_t *wanted = &registering->wanted[number];
    view_t view;
    uint32_t version;
    if (!register_relate(entry, &wanted->seen, wanted->may_grow, registering->digest_at, registering->context,
                         number, &view, &version, err))
        return false;
    *grown = view == VIEW_GROWN;
    if (*grown)
        take(m, number, entry);
    return true;
}

/* An input of this name, or this file, that has other content now: grown, or changed. */
static bool match_grown(matching_t *m, size_t number, err_t *err) {
    registration_t *registering = m->registering;
    wanted_t *wanted = &registering->wanted[number];
    const entry_t *changed = NULL;
    bool grown = false;
    size_t at = first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; !grown && (entry = next_of_name(m, wanted, &at)); changed = entry)
        if (!grows(m, number, entry, &grown, err))
            return false;
    at = is_stream(&wanted->seen) ? m->count : first_in(m, &m->by_last_name, wanted);
    for (const entry_t *entry; !grown && (entry = next_of_file(m, number, &at)); changed = entry)
        if (!grows(m, number, entry, &grown, err))
            return false;
    if (grown || !changed)
        return true;
    wanted->unread = !was_begun(changed);
    const bool meanwhile = has_grown_meanwhile(registering, number, entry_newest(changed));
    if (!wanted->reload || meanwhile)
        return refuse_changed(registering, number, changed, meanwhile, err);
    take(m, number, changed);
    wanted->changed = true;
    return true;
}

/* A name that is too long to be told from another one by its beginning has its hash there, too. */
static void print_stream_key(wanted_t *wanted) {
    enum { MOST = 480, KEPT = 460 };
    const size_t length = strlen(wanted->name);
    if (length <= MOST)
        snprintf(wanted->key, sizeof wanted->key, "stream/%s", wanted->name);
    else
        snprintf(wanted->key, sizeof wanted->key, "stream/%.*s/%016llx", KEPT, wanted->name,
                 (unsigned long long)XXH3_64bits(wanted->name, length));
}

static void print_key(wanted_t *wanted, uint32_t ordinal) {
    if (!wanted->named)
        snprintf(wanted->key, sizeof wanted->key, "new/%u", ordinal);
    else if (is_stream(&wanted->seen))
        print_stream_key(wanted);
    else
        snprintf(wanted->key, sizeof wanted->key, "%llu/%s/%u/%.255s", (unsigned long long)wanted->seen.size,
                 wanted->seen.digest, wanted->copy, last_name(wanted->name));
}

static int order_wanted(const void *a, const void *b) {
    const wanted_t *left = *(const wanted_t *const *)a, *right = *(const wanted_t *const *)b;
    int order = compare_content(&left->seen, last_name(left->name), &right->seen, last_name(right->name));
    return order ? order : (left > right) - (left < right);
}

static int order_by_key(const void *a, const void *b) {
    return strcmp((*(const entry_t *const *)a)->key, (*(const entry_t *const *)b)->key);
}

/* Has another entry this key? Keys are unique. */
static bool is_key_of_other(const entry_t *const *by_key, size_t count, const char *key, const entry_t *own) {
    const entry_t wanted = {.key = (char *)key}, *const at = &wanted;
    const entry_t *const *found = count ? bsearch(&at, by_key, count, sizeof *by_key, order_by_key) : NULL;
    return found && *found != own;
}

/* Inputs that get a new key, since they are new or have grown, and equal each other or other entries, are told
 * apart by a number, too. */
static void number_sorted(const matching_t *m, wanted_t **fresh, size_t count, const entry_t *const *by_key) {
    const registration_t *registering = m->registering;
    for (size_t i = 0; i < count; i++) {
        const entry_t *own = m->found[fresh[i] - registering->wanted];
        if (i && compare_content(&fresh[i - 1]->seen, last_name(fresh[i - 1]->name), &fresh[i]->seen,
                                 last_name(fresh[i]->name)) == 0)
            fresh[i]->copy = fresh[i - 1]->copy + 1;
        for (print_key(fresh[i], 0); is_key_of_other(by_key, m->entries.count, fresh[i]->key, own);
             print_key(fresh[i], 0))
            fresh[i]->copy++;
    }
}

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
        if (!is_stream(&wanted->seen) && !wanted->changed &&
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

static void free_matching(matching_t *m) {
    entries_free(&m->entries);
    entries_free(&m->fresh);
    free(m->by_path.entries);
    free(m->by_content.entries);
    free(m->by_last_name.entries);
    free(m->taken);
    free(m->named);
    free(m->there);
    free(m->found);
    free(m->own);
}

static bool sort_entries(matching_t *m, err_t *err) {
    const size_t bytes = (m->entries.count + 1) * sizeof(entry_t *);
    m->by_path = (order_t){malloc(bytes), path_to};
    m->by_content = (order_t){malloc(bytes), content_to};
    m->by_last_name = (order_t){malloc(bytes), last_name_to};
    m->taken = calloc(m->entries.count + 1, sizeof *m->taken);
    m->named = calloc(m->entries.count + 1, sizeof *m->named);
    m->there = calloc(m->entries.count + 1, sizeof *m->there);
    m->found = calloc(m->registering->count + 1, sizeof(entry_t *));
    m->own = calloc(m->registering->count + 1, sizeof *m->own);
    if (!m->by_path.entries || !m->by_content.entries || !m->by_last_name.entries || !m->taken || !m->named ||
        !m->there || !m->found || !m->own)
        return err_memory(err, bytes);
    for (size_t i = 0; i < m->entries.count; i++)
        if (!m->entries.entries[i].removed)
            m->by_path.entries[m->count++] = &m->entries.entries[i];
    memcpy(m->by_content.entries, m->by_path.entries, m->count * sizeof(entry_t *));
    memcpy(m->by_last_name.entries, m->by_path.entries, m->count * sizeof(entry_t *));
    if (m->count) {
        qsort(m->by_path.entries, m->count, sizeof(entry_t *), order_by_path);
        qsort(m->by_content.entries, m->count, sizeof(entry_t *), order_by_content);
        qsort(m->by_last_name.entries, m->count, sizeof(entry_t *), order_by_last_name);
    }
    return true;
}

/* One without a name is known by who registered it, and where in his list it stands. */
static void match_nameless(matching_t *m, size_t number) {
    for (size_t i = 0; i < m->entries.count; i++) {
        const entry_t *entry = &m->entries.entries[i];
        if (!m->taken[i] && !entry->removed && entry->key && strncmp(entry->key, "new/", 4) == 0 &&
            load_id_equal(&entry->registered_by, &m->registering->self)) {
            take(m, number, entry);
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
        size_t at = first_in(m, &m->by_path, wanted);
        for (const entry_t *entry; wanted->named && (entry = like_at(m, &m->by_path, wanted, at)); at++)
            if (is_stream(entry_newest(entry)) != is_stream(&wanted->seen) &&
                strncmp(entry->key, "new/", 4) != 0)
                return refuse_two_of_name(registering, wanted->name, err);
    }
    return true;
}

static void note_named(matching_t *m, const wanted_t *wanted) {
    size_t at = first_in(m, &m->by_path, wanted);
    for (const entry_t *entry; (entry = like_at(m, &m->by_path, wanted, at)); at++)
        m->named[entry - m->entries.entries] = true;
}

static bool match_all(matching_t *m, err_t *err) {
    registration_t *registering = m->registering;
    if (!sort_entries(m, err) || !check_streams(m, err))
        return false;
    for (size_t i = 0; i < registering->count; i++) {
        wanted_t *wanted = &registering->wanted[i];
        wanted->moved = wanted->changed = wanted->unread = false;
        wanted->copy = 0;
        wanted->resembles = 0;
        note_named(m, wanted);
        if (wanted->named)
            match_in_place(m, i);
        else
            match_nameless(m, i);
    }
    for (size_t i = 0; i < registering->count; i++) {
        if (!registering->wanted[i].named || m->found[i])
            continue;
        match_moved(m, i);
        match_linked(m, i);
        if (!m->found[i] && !match_grown(m, i, err))
            return false;
    }
    for (size_t i = 0; i < registering->count; i++) /* what is surely another one's is taken by now */
        if (registering->wanted[i].named && !m->found[i] && !match_moved_and_grown(m, i, err))
            return false;
    return number_copies(m, err);
}

/* ---- new ones ---- */

/* A path may have several entries (the file was moved, and there is a new one). But each
 * is made by somebody who knows of those before it: of two loads that meet two versions of a new file at once, one
 * has to look again. */
static bool say_what_it_follows(const matching_t *m, const wanted_t *wanted, entry_t *entry, err_t *err) {
    const bool stream = is_stream(&wanted->seen);
    int64_t newest = -1;
    if (!wanted->named)
        return true;
    size_t at = first_in(m, &m->by_path, wanted);
    for (const entry_t *before; (before = like_at(m, &m->by_path, wanted, at)); at++)
        if (is_stream(entry_newest(before)) == stream)
            newest = before->ordinal;
    const size_t room = strlen(wanted->name) + 40;
    if (!(entry->follows = malloc(room)))
        return err_memory(err, room);
    snprintf(entry->follows, room, "%lld/%s/%s", (long long)newest, stream ? "stream" : "file", wanted->name);
    return true;
}

/* What this load begins with anyhow need not be written twice. It is believed when it was read back, like every take. */
static void take_pieces(const registration_t *registering, const wanted_t *wanted, portion_t *portion,
                        entry_t *entry) {
    for (size_t i = 0; i < entry->piece_count && portion_has_room(portion, wanted->group, i); i++) {
        piece_t *piece = &entry->pieces[i];
        piece->owner = registering->self;
        piece->epoch = 1;
        piece->generation = registering->generation;
        portion_add(portion, wanted->group, wanted->bytes / entry->piece_count);
    }
}

/* Streams without a name are told apart by a number, for people and for reject files. NULL: out of memory. */
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
    print_key(wanted, ordinal);
    *entry = (entry_t){.ordinal = ordinal,
                       .path = name_of(wanted, ordinal),
                       .key = strdup(wanted->key),
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

/* Numbers for all of them by one command. */
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
           store_take_numbers(store, units, ordinals, unit, ordinal, err);
}

static bool make_entries(matching_t *m, uint64_t unit, uint64_t ordinal, err_t *err) {
    registration_t *registering = m->registering;
    portion_t portion = registering->portion;
    bool ok = true;
    for (size_t i = 0; ok && i < registering->count; i++) {
        wanted_t *wanted = &registering->wanted[i];
        if (m->found[i])
            continue;
        entry_t *entry = entries_add(&m->fresh, err);
        ok = entry && make_entry(registering, wanted, unit, (uint32_t)ordinal, entry, err) &&
             say_what_it_follows(m, wanted, entry, err);
        if (ok)
            take_pieces(registering, wanted, &portion, entry);
        unit += wanted->extent_units;
        ordinal += wanted->ordinals;
    }
    return ok;
}

/* *again: not all of them were added by us, as far as we know. Then the catalog has to be read again, because what is
 * there counts: another load may have registered the same inputs first, or the reply to us was lost. */
static bool add_new(store_t *store, matching_t *m, bool *again, err_t *err) {
    uint64_t unit, ordinal, added;
    size_t count;
    *again = false;
    if (!take_numbers(store, m, &unit, &ordinal, &count, err))
        return false;
    if (!count || m->registering->read_only)
        return true;
    const entry_t **list = malloc(count * sizeof(entry_t *));
    bool ok = (list || err_memory(err, count * sizeof(entry_t *))) && make_entries(m, unit, ordinal, err);
    for (size_t i = 0; ok && i < count; i++)
        list[i] = &m->fresh.entries[i];
    ok = ok && store->add_entries(store, list, count, &added, err);
    *again = ok && added < count;
    free(list);
    return ok;
}

static void count_entry(registration_t *registering, const entry_t *entry) {
    registering->remains |= entry->remains;
    for (size_t i = 0; !entry->removed && i < entry->piece_count; i++)
        registering->loaded += piece_counts(&entry->pieces[i]).loaded;
}

/* Each is one input's: it is moved. */
static void give_entries(matching_t *m) {
    registration_t *registering = m->registering;
    size_t fresh = 0;
    registering->entries = m->entries.count + m->fresh.count;
    registering->loaded = 0;
    registering->remains = false;
    for (size_t i = 0; i < m->entries.count; i++)
        count_entry(registering, &m->entries.entries[i]);
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
        print_key(wanted, wanted->entry.ordinal);
    }
}

/* Entries of forgotten inputs stay, so that there is none only where somebody has removed them all. */
static bool check_any(const matching_t *m, err_t *err) {
    const registration_t *registering = m->registering;
    return m->entries.count || !registering->bound ||
           err_set(
               err, STATUS_USAGE,
               "the catalog of %s is damaged: documents were loaded, but the entries of their inputs were "
               "removed; start over with --drop",
               registering->name);
}

bool catalog_register(store_t *store, registration_t *registering, err_t *err) {
    bool again = true;
    for (int race = 0; again && race < RACES; race++) {
        matching_t m = {.registering = registering};
        bool ok = store_read_all(store, NULL, 0, &m.entries, err) && check_any(&m, err) &&
                  match_all(&m, err) && add_new(store, &m, &again, err);
        if (ok && !again)
            give_entries(&m);
        free_matching(&m);
        if (!ok)
            return false;
    }
    return !again ||
           err_set(err, STATUS_SERVER,
                   "other loads of %s registered the same inputs again and again: run the same command "
                   "again",
                   registering->name);
}

void register_free(registration_t *registering) {
    for (size_t i = 0; registering->wanted && i < registering->count; i++)
        entry_free(&registering->wanted[i].entry);
}
