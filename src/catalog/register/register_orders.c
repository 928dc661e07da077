#include "base/text.h"
#include "catalog/register/register_inner.h"

#include <stdlib.h>
#include <string.h>

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

static int by_ordinal(const entry_t *left, const entry_t *right) {
    return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

int register_compare_content(const version_t *left, const char *left_name, const version_t *right,
                             const char *right_name) {
    int order = strcmp(left->digest, right->digest);
    if (!order)
        order = (left->size > right->size) - (left->size < right->size);
    return order ? order : strcmp(left_name, right_name);
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
