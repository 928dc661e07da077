/* Inputs that bring something which may be there by another name: all of it, its beginning, or more than it. What a file holds
 * says that for certain (but for its middle); of packed ones their names and sizes say that it may be so. */
#include "base/numbers/search.h"
#include "catalog/register/register_inner.h"

#include <stdlib.h>
#include <string.h>

enum {
    MOST_TOLD = 1000,   /* of more inputs nobody reads it */
    MOST_LOOKS = 1000,  /* at beginnings of files, by all inputs together */
    MOST_ARCHIVES = 16, /* entries of one size whose archives are looked into, for one input */
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
    for (size_t i = 0; register_is_taken(m, entry) && i < m->registering->count; i++)
        if (m->found[i] == entry)
            return m->registering->wanted[i].changed;
    return false;
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
            is_replaced(m, entry))
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

/* An earlier version is a part of the newest one. */
static void be_like(const matching_t *m, size_t number, const content_t *content, like_t how) {
    const entry_t *entry = content->entry;
    const bool earlier = entry && content->size != entry_newest(entry)->size;
    register_like(&m->registering->wanted[number],
                  entry ? entry->path : m->registering->wanted[content->number].name,
                  earlier ? LIKE_PART : how, entry ? entry->ordinal : LIKE_NEW);
}

/* The first content of this size or a larger one; of this size and digest or behind. */
static size_t first_of(const matching_t *m, uint64_t size, const char *digest) {
    return SEARCH_FIRST(m->content_count, i,
                        m->contents[i].size < size || (digest && m->contents[i].size == size &&
                                                       strcmp(m->contents[i].digest, digest) < 0));
}

/* Is the input, up to this size, another one? */
static bool find_equal(const matching_t *m, size_t number, uint64_t size, const char *digest, like_t how) {
    for (size_t at = first_of(m, size, digest);
         at < m->content_count && m->contents[at].size == size && strcmp(m->contents[at].digest, digest) == 0;
         at++)
        if (is_another(m, number, &m->contents[at])) {
            be_like(m, number, &m->contents[at], how);
            return true;
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

/* Does the file under the entry's path, which is longer, begin with the input? */
static bool is_beginning_of(const matching_t *m, size_t number, const entry_t *entry) {
    version_t version = m->registering->wanted[number].seen;
    const asked_t *there = register_what_stands(m, entry);
    if (there->is != A_FILE || there->file.member || (there->file.copy && *there->file.copy) ||
        register_stands_itself(m, number, entry))
        return false;
    version.number = 1;
    const entry_t as_input = {.path = entry->path, .version = 1, .versions = &version, .version_count = 1};
    return m->registering->holds(m->registering->holds_context, &as_input);
}

static bool find_whole(const matching_t *m, size_t number, size_t looks) {
    const wanted_t *wanted = &m->registering->wanted[number];
    if (!wanted->may_grow || !m->registering->file_at)
        return false;
    for (size_t at = first_of(m, wanted->seen.size + 1, NULL); looks && at < m->content_count; at++) {
        const content_t *content = &m->contents[at];
        if (!content->entry || content->entry == m->found[number] ||
            content->size != entry_newest(content->entry)->size)
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

/* Members are known by their whole names. Each that is gone may be one other member. */
static bool find_renamed_member(const matching_t *m, size_t number) {
    const wanted_t *wanted = &m->registering->wanted[number];
    size_t looks = MOST_ARCHIVES;
    if (!wanted->of_archive)
        return false;
    for (size_t at = first_of(m, wanted->seen.size, NULL);
         looks && at < m->content_count && m->contents[at].size == wanted->seen.size; at++) {
        const entry_t *entry = m->contents[at].entry;
        if (!entry || entry_newest(entry)->size != wanted->seen.size || !strchr(entry->path, '!') ||
            strcmp(entry->kind, wanted->kind) != 0 || register_is_taken(m, entry) ||
            m->there[entry - m->entries.entries].is_like)
            continue;
        looks--;
        if (register_stands_content(m, entry))
            continue;
        m->there[entry - m->entries.entries].is_like = true;
        be_like(m, number, &m->contents[at], LIKE_MEMBER);
        return true;
    }
    return false;
}

/* Whoever has moved a file and changed it may not expect that it is another input. */
static bool find_moved(const matching_t *m, size_t number) {
    size_t at = 0;
    const entry_t *entry = register_next_gone_below(m, number, UINT64_MAX, &at);
    if (entry)
        register_like(&m->registering->wanted[number], entry->path, LIKE_MOVED, entry->ordinal);
    return entry;
}

static bool find_alike(matching_t *m, size_t number, size_t looks, err_t *err) {
    const wanted_t *wanted = &m->registering->wanted[number];
    bool found;
    if (wanted->resembles > 1 || find_equal(m, number, wanted->seen.size, wanted->seen.digest, LIKE_EQUAL))
        return true;
    if (find_whole(m, number, looks))
        return true;
    if (!find_beginning(m, number, looks, &found, err))
        return false;
    if (found || wanted->like || !is_as_new(m, number))
        return true;
    return find_moved(m, number) || find_renamed_member(m, number) || register_find_packed(m, number, err);
}

bool register_find_alike(matching_t *m, err_t *err) {
    size_t count = 0, told = 0;
    for (size_t i = 0; i < m->registering->count; i++)
        count += brings(m, i);
    if (!count)
        return true;
    if (!list_contents(m, err))
        return false;
    const size_t looks = MOST_LOOKS / (count < MOST_TOLD ? count : MOST_TOLD);
    for (size_t i = 0; i < m->registering->count && told < MOST_TOLD; i++) {
        if (brings(m, i) && !find_alike(m, i, looks, err))
            return false;
        told += brings(m, i);
    }
    return true;
}
