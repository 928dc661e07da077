/* Inputs that bring something which may be there by another name: all of it, its beginning, or more than it. What a file holds
 * says that for certain (but for its middle). Only after that, names say that it may be so, of inputs that nothing else is told of:
 * what is told to be taken out must never be what another one is told to be left with. */
#include "base/numbers/search.h"
#include "catalog/register/register_inner.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_TOLD = 1000,  /* of more inputs nobody reads it */
    MOST_LOOKS = 1000, /* at beginnings of files, by all inputs together */
    MOST_NAMES = 1000, /* of members of one size that one input is compared with */
};

/* Of an entry, each version that it had; or of an input. */
struct content {
    uint64_t size;
    const char *digest;
    const entry_t *entry; /* or */
    size_t number;
};

void register_like(wanted_t *wanted, const char *path, like_t how, uint32_t ordinal) {
    free(wanted->like);
    wanted->like = path ? strdup(path) : NULL;
    wanted->like_how = wanted->like ? how : LIKE_NONE; /* without memory for a note there is none */
    wanted->like_ordinal = ordinal;
}

static int compare_size(uint64_t left, uint64_t right) {
    return (left > right) - (left < right);
}

/* Entries before inputs, older before newer. */
static int order_contents(const void *a, const void *b) {
    const content_t *left = a, *right = b;
    int order = compare_size(left->size, right->size);
    order = order ? order : strcmp(left->digest, right->digest);
    order = order ? order : (left->entry == NULL) - (right->entry == NULL);
    order = order || !left->entry ? order : compare_size(left->entry->ordinal, right->entry->ordinal);
    return order ? order : compare_size(left->number, right->number);
}

/* Its documents will be removed: --reload-changed. */
static bool is_replaced(const matching_t *m, const entry_t *entry) {
    return register_is_taken(m, entry) && m->registering->wanted[register_input_of(m, entry)].changed;
}

static bool is_copy(const wanted_t *wanted) {
    return wanted->copy_mark && *wanted->copy_mark;
}

/* It has grown, or is new. Copies (--copies) are meant to be there several times. */
static bool brings(const matching_t *m, size_t number) {
    const wanted_t *wanted = &m->registering->wanted[number];
    const entry_t *entry = m->found[number];
    return wanted->named && !is_copy(wanted) && !wanted->changed && wanted->seen.size &&
           !register_is_stream(&wanted->seen) &&
           (!entry || !entry_version_of(entry, wanted->seen.size, wanted->seen.digest));
}

/* What had no records may be anything now, and is as good as new. */
static bool is_as_new(const matching_t *m, size_t number) {
    const entry_t *entry = m->found[number];
    return !entry || !register_may_hold_records(entry);
}

/* By this load it is a copy, which is meant to be there beside what it is a copy of. */
static bool is_of_copy(const matching_t *m, const entry_t *entry) {
    return register_is_taken(m, entry) && is_copy(&m->registering->wanted[register_input_of(m, entry)]);
}

static size_t count_contents(const matching_t *m) {
    size_t count = m->registering->count;
    for (size_t i = 0; i < m->count; i++)
        count += m->by_path.entries[i]->version_count;
    return count;
}

static bool list_contents(matching_t *m, err_t *err) {
    const size_t bytes = (count_contents(m) + 1) * sizeof *m->contents;
    if (!(m->contents = malloc(bytes)))
        return err_memory(err, bytes);
    for (size_t i = 0; i < m->count; i++) {
        const entry_t *entry = m->by_path.entries[i];
        if (register_is_stream(entry_newest(entry)) || !register_may_hold_records(entry) ||
            is_replaced(m, entry) || is_of_copy(m, entry))
            continue;
        for (size_t j = 0; j < entry->version_count; j++)
            if (entry->versions[j].size)
                m->contents[m->content_count++] =
                    (content_t){entry->versions[j].size, entry->versions[j].digest, entry, 0};
    }
    for (size_t i = 0; i < m->registering->count; i++)
        if (brings(m, i))
            m->contents[m->content_count++] = (content_t){m->registering->wanted[i].seen.size,
                                                          m->registering->wanted[i].seen.digest, NULL, i};
    if (m->content_count)
        qsort(m->contents, m->content_count, sizeof *m->contents, order_contents);
    return true;
}

static bool may_hold_records(const registration_t *registering, size_t number) {
    return !registering->may_hold || registering->may_hold(registering->context, number);
}

/* Of two inputs of this load that are equal, the later one is told to be like the other. */
static bool is_another(const matching_t *m, size_t number, const content_t *content) {
    if (content->entry)
        return content->entry != m->found[number];
    const bool equal = content->size == m->registering->wanted[number].seen.size;
    return (equal ? content->number < number : content->number != number) &&
           may_hold_records(m->registering, content->number);
}

static bool has_name_of_other(const matching_t *m, const char *path, const entry_t *own) {
    const wanted_t name = {.name = path};
    const entry_t *other;
    for (size_t at = register_first_in(m, &m->by_path, &name);
         (other = register_like_at(m, &m->by_path, &name, at)); at++)
        if (other != own)
            return true;
    return false;
}

static void be_like_entry(const matching_t *m, size_t number, const entry_t *entry, like_t how) {
    wanted_t *wanted = &m->registering->wanted[number];
    register_like(wanted, entry->path, how, entry->ordinal);
    m->there[entry - m->entries.entries].is_like = true;
}

static void be_like_input(const matching_t *m, size_t number, size_t other, like_t how) {
    register_like(&m->registering->wanted[number], m->registering->wanted[other].name, how, LIKE_NEW);
    m->own[other].is_like = true;
}

/* An earlier version is a part of the newest one. */
static void be_like(const matching_t *m, size_t number, const content_t *content, like_t how) {
    if (!content->entry)
        be_like_input(m, number, content->number, how);
    else
        be_like_entry(m, number, content->entry,
                      content->size == entry_newest(content->entry)->size ? how : LIKE_PART);
}

/* The first content of this size or a larger one; of this size and digest or behind. */
static size_t first_of(const matching_t *m, uint64_t size, const char *digest) {
    return SEARCH_FIRST(m->content_count, i,
                        m->contents[i].size < size || (digest && m->contents[i].size == size &&
                                                       strcmp(m->contents[i].digest, digest) < 0));
}

/* What begins alike and went another way is another one: only the newest version of an entry is a beginning. */
static bool is_whole(const content_t *content) {
    return !content->entry || content->size == entry_newest(content->entry)->size;
}

/* Is the input, up to this size, another one? */
static bool find_equal(const matching_t *m, size_t number, uint64_t size, const char *digest, like_t how) {
    for (size_t at = first_of(m, size, digest);
         at < m->content_count && m->contents[at].size == size && strcmp(m->contents[at].digest, digest) == 0;
         at++)
        if (is_another(m, number, &m->contents[at]) && (how == LIKE_EQUAL || is_whole(&m->contents[at]))) {
            be_like(m, number, &m->contents[at], how);
            return true;
        }
    return false;
}

/* A member's digest is of its name, too. Is it another one, by the name of that one? */
static bool find_member(const matching_t *m, size_t number) {
    const registration_t *registering = m->registering;
    const wanted_t *wanted = &registering->wanted[number];
    size_t looks = MOST_NAMES;
    if (!wanted->of_archive || !registering->digest_as)
        return false;
    for (size_t at = first_of(m, wanted->seen.size, NULL);
         looks && at < m->content_count && m->contents[at].size == wanted->seen.size; at++, looks--) {
        const content_t *content = &m->contents[at];
        const char *name = content->entry ? content->entry->path : registering->wanted[content->number].name;
        while ((name = strchr(name, '!')) && is_another(m, number, content)) {
            char digest[33];
            registering->digest_as(registering->context, number, ++name, digest);
            if (strcmp(digest, content->digest) == 0) {
                be_like(m, number, content, LIKE_EQUAL);
                return true;
            }
        }
    }
    return false;
}

/* Does it begin with another one? The longest one that it begins with, and that is longer than what it was itself. */
static bool find_beginning(const matching_t *m, size_t number, size_t looks, bool *found, err_t *err) {
    const registration_t *registering = m->registering;
    const wanted_t *wanted = &registering->wanted[number];
    const uint64_t own = m->found[number] ? entry_newest(m->found[number])->size : 0;
    *found = false;
    if (!wanted->may_grow)
        return true;
    for (uint64_t size = wanted->seen.size; looks && !*found; looks--) {
        const size_t at = first_of(m, size, NULL);
        char digest[33];
        if (!at || (size = m->contents[at - 1].size) <= own)
            return true;
        if (!registering->digest_at(registering->context, number, size, digest, err))
            return false;
        *found = find_equal(m, number, size, digest, LIKE_BEGINS);
    }
    return true;
}

/* Does the file that the entry is, which is longer, begin with the input? It is an input, too, or stands under the entry's path. */
static bool is_beginning_of(const matching_t *m, size_t number, const entry_t *entry) {
    const registration_t *registering = m->registering;
    version_t version = registering->wanted[number].seen;
    if (register_is_taken(m, entry)) {
        const size_t input = register_input_of(m, entry);
        char digest[33];
        err_t ignored;
        return registering->wanted[input].may_grow &&
               registering->digest_at(registering->context, input, version.size, digest, &ignored) &&
               strcmp(digest, version.digest) == 0;
    }
    const asked_t *there = register_what_stands(m, entry);
    if (there->is != A_FILE || there->file.member || (there->file.copy && *there->file.copy) ||
        register_stands_itself(m, number, entry))
        return false;
    version.number = 1;
    const entry_t as_input = {.path = entry->path, .version = 1, .versions = &version, .version_count = 1};
    return registering->holds(registering->holds_context, &as_input) && register_stands_content(m, entry);
}

static bool find_whole(const matching_t *m, size_t number, size_t looks) {
    const wanted_t *wanted = &m->registering->wanted[number];
    if (!wanted->may_grow || !m->registering->file_at)
        return false;
    for (size_t at = first_of(m, wanted->seen.size + 1, NULL); looks && at < m->content_count; at++) {
        const content_t *content = &m->contents[at];
        if (!content->entry || content->entry == m->found[number] || !is_whole(content))
            continue;
        looks--;
        if (is_beginning_of(m, number, content->entry)) {
            if (may_hold_records(m->registering, number))
                be_like(m, number, content, LIKE_PART);
            return true;
        }
    }
    return false;
}

/* Whoever has moved a file and changed it may not expect that it is another input. Where several are gone that had its name, that is
 * how files come and go there. */
static const entry_t *find_moved(const matching_t *m, size_t number) {
    size_t at = 0;
    const entry_t *entry = register_next_gone_below(m, number, UINT64_MAX, &at);
    return entry && !register_next_gone_below(m, number, UINT64_MAX, &at) ? entry : NULL;
}

static bool find_by_content(const matching_t *m, size_t number, size_t looks, err_t *err) {
    const wanted_t *wanted = &m->registering->wanted[number];
    bool found;
    return wanted->resembles > 1 ||
           find_equal(m, number, wanted->seen.size, wanted->seen.digest, LIKE_EQUAL) ||
           find_member(m, number) || find_whole(m, number, looks) ||
           find_beginning(m, number, looks, &found, err);
}

static bool find_by_name(matching_t *m, size_t number, err_t *err) {
    wanted_t *wanted = &m->registering->wanted[number];
    const entry_t *entry = NULL;
    if (wanted->replaced) /* in its own place: it is no other one, moved or packed */
        return true;
    if (wanted->like_how == LIKE_LEADS)
        entry = entries_find(&m->entries, wanted->like_ordinal);
    else if (!wanted->like && is_as_new(m, number) && !(entry = find_moved(m, number)))
        return register_find_packed(m, number, err);
    if (!entry)
        return true;
    if (m->there[entry - m->entries.entries].is_like)
        register_like(wanted, NULL, LIKE_NONE, LIKE_NEW);
    else
        be_like_entry(m, number, entry, wanted->like ? wanted->like_how : LIKE_MOVED);
    return true;
}

bool register_find_alike(matching_t *m, err_t *err) {
    registration_t *registering = m->registering;
    size_t count = 0;
    for (size_t i = 0; i < registering->count; i++)
        count += brings(m, i);
    if (!count)
        return true;
    if (!list_contents(m, err))
        return false;
    const size_t looks = MOST_LOOKS / (count < MOST_TOLD ? count : MOST_TOLD);
    for (int by_name = 0; by_name < 2; by_name++) {
        size_t told = 0;
        for (size_t i = 0; i < registering->count && told < MOST_TOLD; i++)
            if (brings(m, i) && !(by_name ? find_by_name(m, i, err) : find_by_content(m, i, looks, err)))
                return false;
            else
                told += brings(m, i);
    }
    for (size_t i = 0; i < registering->count; i++) {
        wanted_t *wanted = &registering->wanted[i];
        if (wanted->like)
            wanted->shares_name =
                has_name_of_other(m, m->found[i] ? m->found[i]->path : wanted->name, m->found[i]);
    }
    return true;
}
