/* The entries of the catalog by path, by content, by last name and by file; and which files are under their paths
 * today. Files are asked about only when an input needs it, and once. */
#include "base/text.h"
#include "catalog/register/register_inner.h"

#include <stdlib.h>
#include <string.h>

/* ---- what an entry is ---- */

const char *register_last_name(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

bool register_is_stream(const version_t *version) {
    return !version->digest[0];
}

bool register_is_of_kind(const entry_t *entry, const wanted_t *wanted) {
    return entry_is_by_name(entry) == wanted->by_name &&
           register_is_stream(entry_newest(entry)) == register_is_stream(&wanted->seen);
}

bool register_may_hold_records(const entry_t *entry) {
    bool any = false;
    for (size_t i = 0; i < entry->piece_count; i++) {
        const piece_t *piece = &entry->pieces[i];
        any |= piece_counts(piece).read > 0 || (piece->complete < entry->version && piece->epoch > 0);
    }
    return any;
}

int register_compare_content(const version_t *left, const char *left_name, const version_t *right,
                             const char *right_name) {
    int order = strcmp(left->digest, right->digest);
    if (!order)
        order = (left->size > right->size) - (left->size < right->size);
    return order ? order : strcmp(left_name, right_name);
}

/* ---- entries in order ---- */

static int by_ordinal(const entry_t *left, const entry_t *right) {
    return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

static int compare_path(const version_t *left, const char *left_path, const version_t *right,
                        const char *right_path) {
    (void)left, (void)right;
    return strcmp(left_path, right_path);
}

static int compare_content(const version_t *left, const char *left_path, const version_t *right,
                           const char *right_path) {
    return register_compare_content(left, register_last_name(left_path), right,
                                    register_last_name(right_path));
}

static int compare_last_name(const version_t *left, const char *left_path, const version_t *right,
                             const char *right_path) {
    (void)left, (void)right;
    return strcmp(register_last_name(left_path), register_last_name(right_path));
}

static int in_order(const void *a, const void *b, void *context) {
    const entry_t *left = *(const entry_t *const *)a, *right = *(const entry_t *const *)b;
    const order_t *order = context;
    const int compared = order->compare(entry_newest(left), left->path, entry_newest(right), right->path);
    return compared ? compared : by_ordinal(left, right);
}

static int order_further(const void *a, const void *b) {
    const further_t *left = a, *right = b;
    const int order = strcmp(left->name, right->name);
    return order ? order : by_ordinal(left->entry, right->entry);
}

static bool sort_further(matching_t *m, err_t *err) {
    size_t count = 0;
    for (size_t i = 0; i < m->count; i++)
        count += m->by_path.entries[i]->name_count;
    if (!(m->further = malloc((count + 1) * sizeof *m->further)))
        return err_memory(err, count * sizeof *m->further);
    for (size_t i = 0; i < m->count; i++)
        for (size_t j = 0; j < m->by_path.entries[i]->name_count; j++)
            m->further[m->further_count++] =
                (further_t){m->by_path.entries[i]->names[j], m->by_path.entries[i]};
    if (count)
        qsort(m->further, count, sizeof *m->further, order_further);
    return true;
}

bool register_sort(matching_t *m, err_t *err) {
    const size_t bytes = (m->entries.count + 1) * sizeof(entry_t *);
    m->by_path = (order_t){malloc(bytes), compare_path};
    m->by_content = (order_t){malloc(bytes), compare_content};
    m->by_last_name = (order_t){malloc(bytes), compare_last_name};
    m->taken_by = calloc(m->entries.count + 1, sizeof *m->taken_by);
    m->there = calloc(m->entries.count + 1, sizeof *m->there);
    m->groups = calloc(m->entries.count + 1, sizeof *m->groups);
    m->files = calloc(1, sizeof *m->files);
    m->gone = malloc(bytes);
    m->found = calloc(m->registering->count + 1, sizeof(entry_t *));
    m->own = calloc(m->registering->count + 1, sizeof *m->own);
    if (!m->by_path.entries || !m->by_content.entries || !m->by_last_name.entries || !m->taken_by ||
        !m->there || !m->groups || !m->files || !m->gone || !m->found || !m->own ||
        !(m->files->files = malloc(bytes)))
        return err_memory(err, bytes);
    for (size_t i = 0; i < m->entries.count; i++)
        if (!m->entries.entries[i].removed)
            m->by_path.entries[m->count++] = &m->entries.entries[i];
    memcpy(m->by_content.entries, m->by_path.entries, m->count * sizeof(entry_t *));
    memcpy(m->by_last_name.entries, m->by_path.entries, m->count * sizeof(entry_t *));
    order_t *const orders[] = {&m->by_path, &m->by_content, &m->by_last_name};
    for (size_t i = 0; m->count && i < COUNT(orders); i++)
        qsort_r(orders[i]->entries, m->count, sizeof(entry_t *), in_order, orders[i]);
    return sort_further(m, err);
}

void register_matching_free(matching_t *m) {
    entries_free(&m->entries);
    entries_free(&m->fresh);
    free(m->by_path.entries);
    free(m->by_content.entries);
    free(m->by_last_name.entries);
    free(m->taken_by);
    free(m->there);
    free(m->groups);
    if (m->files)
        free(m->files->files);
    free(m->files);
    free(m->further);
    free(m->packed);
    free(m->contents);
    free(m->gone);
    free(m->found);
    free(m->own);
}

static int compare_to(const order_t *order, size_t at, const wanted_t *wanted) {
    const entry_t *entry = order->entries[at];
    return order->compare(entry_newest(entry), entry->path, &wanted->seen, wanted->name);
}

size_t register_first_in(const matching_t *m, const order_t *order, const wanted_t *wanted) {
    return SEARCH_FIRST(m->count, i, compare_to(order, i, wanted) < 0);
}

const entry_t *register_like_at(const matching_t *m, const order_t *order, const wanted_t *wanted,
                                size_t at) {
    const bool is_like = at < m->count && compare_to(order, at, wanted) == 0;
    return is_like ? order->entries[at] : NULL;
}

bool register_is_taken(const matching_t *m, const entry_t *entry) {
    return m->taken_by[entry - m->entries.entries];
}

size_t register_input_of(const matching_t *m, const entry_t *entry) {
    return m->taken_by[entry - m->entries.entries] - 1;
}

void register_take(matching_t *m, size_t wanted, const entry_t *entry) {
    m->found[wanted] = entry;
    m->taken_by[entry - m->entries.entries] = wanted + 1;
}

const entry_t *register_next_of_further_name(const matching_t *m, const wanted_t *wanted, size_t *at) {
    if (!*at)
        *at = SEARCH_FIRST(m->further_count, i, strcmp(m->further[i].name, wanted->name) < 0);
    for (; *at < m->further_count && strcmp(m->further[*at].name, wanted->name) == 0;) {
        const entry_t *entry = m->further[(*at)++].entry;
        if (!register_is_taken(m, entry))
            return entry;
    }
    return NULL;
}

/* ---- the files of today ---- */

static const asked_t *ask(const registration_t *registering, asked_t *asked, const char *path) {
    if (asked->is == NOT_ASKED) {
        const bool found = path && registering->file_at && registering->file_at(path, &asked->file);
        asked->is = found ? A_FILE : NO_FILE;
    }
    return asked;
}

const asked_t *register_what_stands(const matching_t *m, const entry_t *entry) {
    return ask(m->registering, &m->there[entry - m->entries.entries],
               entry_is_by_name(entry) ? NULL : entry->path);
}

static const asked_t *own_file(const matching_t *m, size_t number) {
    return ask(m->registering, &m->own[number], m->registering->wanted[number].path);
}

/* "ARCHIVE!MEMBER" */
static bool is_name_of_member(const char *name, const char *member) {
    const size_t length = strlen(name), end = strlen(member);
    return length > end && name[length - end - 1] == '!' && strcmp(name + length - end, member) == 0;
}

static bool is_same_copy(const char *one, const char *other) {
    return strcmp(one ? one : "", other ? other : "") == 0;
}

static bool is_same_file(const asked_t *one, const asked_t *other) {
    return one->is == A_FILE && other->is == A_FILE && one->file.device == other->file.device &&
           one->file.inode == other->file.inode;
}

bool register_stands_itself(const matching_t *m, size_t number, const entry_t *entry) {
    const registration_t *registering = m->registering;
    const wanted_t *wanted = &registering->wanted[number];
    const asked_t *there = register_what_stands(m, entry);
    return is_same_file(own_file(m, number), there) && is_same_copy(wanted->copy_mark, there->file.copy) &&
           (!there->file.member || is_name_of_member(wanted->name, there->file.member));
}

/* True if the file at the entry's path is longer and, as a whole, what was loaded as another entry: then that file was
 * moved there, and did not grow. */
static bool is_of_another(const matching_t *m, const entry_t *entry) {
    const asked_t *there = register_what_stands(m, entry);
    const wanted_t name = {.name = entry->path};
    const entry_t *other;
    if (there->file.member || there->file.size == entry_newest(entry)->size)
        return false;
    for (size_t at = register_first_in(m, &m->by_last_name, &name);
         (other = register_like_at(m, &m->by_last_name, &name, at)); at++) {
        if (other != entry && entry_newest(other)->size == there->file.size &&
            m->registering->holds(m->registering->holds_context, entry->path, other))
            return true;
    }
    return false;
}

bool register_stands_content(const matching_t *m, const entry_t *entry) {
    asked_t *there = &m->there[entry - m->entries.entries];
    if (register_what_stands(m, entry)->is == NO_FILE)
        return false;
    if (there->holds == NOT_READ)
        there->holds = m->registering->holds(m->registering->holds_context, entry->path, entry) &&
                               !is_of_another(m, entry)
                           ? ITS_CONTENT
                           : OTHER_CONTENT;
    return there->holds == ITS_CONTENT;
}

const char *register_stands_further(const matching_t *m, size_t number, const entry_t *entry) {
    const asked_t *own = own_file(m, number);
    for (size_t i = 0; i < entry->name_count; i++) {
        asked_t there = {.is = NOT_ASKED};
        const char *const path = entry->names[i];
        if (ask(m->registering, &there, path)->is == A_FILE && !is_same_file(own, &there) &&
            m->registering->holds(m->registering->holds_context, path, entry))
            return path;
    }
    return NULL;
}

bool register_stands_beside(const matching_t *m, size_t number, const entry_t *entry) {
    if (own_file(m, number)->is != A_FILE || register_stands_itself(m, number, entry))
        return false;
    return register_stands_content(m, entry) || register_stands_further(m, number, entry);
}

/* ---- entries whose files are gone ---- */

/* True if the file system says that the file is unchanged. Otherwise thousands of files would be read for an input that
 * begins with none of them. */
static bool stands_untouched(const matching_t *m, const entry_t *entry) {
    const asked_t *there = register_what_stands(m, entry);
    const version_t *newest = entry_newest(entry);
    return there->is == A_FILE && (there->file.member || (there->file.size == newest->size &&
                                                          there->file.modified_ns == newest->modified_ns));
}

/* The entries of the input's last name whose files are gone. Found once, because many inputs and entries may have one
 * last name. */
static const group_t *group_of(const matching_t *m, const wanted_t *wanted, size_t first) {
    static const group_t none = {.made = true};
    group_t *group = &m->groups[first];
    if (!register_like_at(m, &m->by_last_name, wanted, first)) /* the next name begins there */
        return &none;
    if (group->made)
        return group;
    group->made = true;
    const entry_t *entry;
    for (size_t at = first; (entry = register_like_at(m, &m->by_last_name, wanted, at)); at++)
        if (!entry_is_by_name(entry) && !stands_untouched(m, entry) && !register_stands_content(m, entry))
            m->gone[first + group->gone++] = entry;
    return group;
}

static const entry_t *next_gone(const matching_t *m, size_t number, size_t *at) {
    const wanted_t *wanted = &m->registering->wanted[number];
    const size_t first = register_first_in(m, &m->by_last_name, wanted);
    const group_t *group = group_of(m, wanted, first);
    while (*at < group->gone) {
        const entry_t *entry = m->gone[first + (*at)++];
        if (registration_is_called(wanted, entry->path) && !register_stands_itself(m, number, entry) &&
            !register_stands_further(m, number, entry))
            return entry;
    }
    return NULL;
}

const entry_t *register_next_gone_below(const matching_t *m, size_t number, uint64_t below, size_t *at) {
    for (const entry_t *entry; (entry = next_gone(m, number, at));)
        if (!register_is_taken(m, entry) && entry_newest(entry)->size < below &&
            register_may_hold_records(entry))
            return entry;
    return NULL;
}

/* ---- entries by their files ---- */

static int compare_files(const file_id_t *left, const char *left_member, const file_id_t *right,
                         const char *right_member) {
    int order = (left->device > right->device) - (left->device < right->device);
    order = order ? order : (left->inode > right->inode) - (left->inode < right->inode);
    return order ? order : strcmp(left_member, right_member);
}

static const char *member_of(const file_id_t *file) {
    return file->member ? file->member : "";
}

static int order_by_file(const void *a, const void *b, void *context) {
    const matching_t *m = *(const matching_t *const *)context;
    const entry_t *left = *(const entry_t *const *)a, *right = *(const entry_t *const *)b;
    const file_id_t *one = &register_what_stands(m, left)->file,
                    *other = &register_what_stands(m, right)->file;
    const int order = compare_files(one, member_of(one), other, member_of(other));
    return order ? order : (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

static const standing_files_t *list_files(const matching_t *m) {
    standing_files_t *files = m->files;
    if (files->made)
        return files;
    files->made = true;
    for (size_t i = 0; i < m->count; i++) {
        const entry_t *entry = m->by_path.entries[i];
        if (entry_is_by_name(entry) || strchr(entry->path, '\\'))
            continue; /* the name spells control characters, and may be another file's */
        if (register_what_stands(m, entry)->is == A_FILE)
            files->files[files->file_count++] = entry;
    }
    if (files->file_count)
        qsort_r(files->files, files->file_count, sizeof *files->files, order_by_file, &m);
    return files;
}

static int compare_at(const matching_t *m, const standing_files_t *files, size_t at, const file_id_t *own,
                      const char *member) {
    const file_id_t *file = &register_what_stands(m, files->files[at])->file;
    return compare_files(file, member_of(file), own, member);
}

/* Begins a search, or goes on with the part of the input's name after its next !, for a member of an archive. False:
 * there is none. */
static bool go_on(const wanted_t *wanted, file_place_t *place) {
    const bool begins = !place->member;
    const char *mark = begins ? NULL : strchr(place->rest, '!');
    if (!begins && !mark)
        return false;
    place->rest = begins ? wanted->name : mark + 1;
    place->member = begins ? "" : place->rest;
    return true;
}

const entry_t *register_next_of_file(const matching_t *m, size_t number, file_place_t *place) {
    const asked_t *own = m->count ? own_file(m, number) : NULL;
    if (!own || own->is != A_FILE)
        return NULL;
    const standing_files_t *files = list_files(m);
    for (bool begins = !place->member;; begins = true) {
        if (begins) {
            if (!go_on(&m->registering->wanted[number], place))
                return NULL;
            place->at =
                SEARCH_FIRST(files->file_count, i, compare_at(m, files, i, &own->file, place->member) < 0);
        }
        while (place->at < files->file_count &&
               compare_at(m, files, place->at, &own->file, place->member) == 0) {
            const entry_t *entry = files->files[place->at++];
            if (register_stands_itself(m, number, entry))
                return entry;
        }
    }
}
