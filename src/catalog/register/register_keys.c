#include "catalog/register/register_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A name that is too long to be told from another one by its beginning has its hash there, too. */
static void print_name_key(wanted_t *wanted) {
    enum { MOST = 480, KEPT = 460 };
    const size_t length = strlen(wanted->name);
    const char *kind = register_is_stream(&wanted->seen) ? "stream" : "name";
    if (length <= MOST)
        snprintf(wanted->key, sizeof wanted->key, "%s/%s", kind, wanted->name);
    else
        snprintf(wanted->key, sizeof wanted->key, "%s/%.*s/%016llx", kind, KEPT, wanted->name,
                 (unsigned long long)XXH3_64bits(wanted->name, length));
}

void register_print_key(wanted_t *wanted, uint32_t ordinal) {
    if (!wanted->named)
        snprintf(wanted->key, sizeof wanted->key, "new/%u", ordinal);
    else if (wanted->by_name)
        print_name_key(wanted);
    else
        snprintf(wanted->key, sizeof wanted->key, "%llu/%s/%u/%.255s", (unsigned long long)wanted->seen.size,
                 wanted->seen.digest, wanted->copy, register_last_name(wanted->name));
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

/* Has another entry this key? Keys are unique. */
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
        for (register_print_key(fresh[i], 0); is_key_of_other(by_key, m->entries.count, fresh[i]->key, own);
             register_print_key(fresh[i], 0))
            fresh[i]->copy++;
    }
}

bool register_number_copies(matching_t *m, err_t *err) {
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
        if (wanted->by_name) /* has grown, perhaps */
            register_print_key(wanted, 0);
        else if (!wanted->changed &&
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
