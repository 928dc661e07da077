/* All entries of a catalog, sorted by path and by extent. */
#include "catalog/places.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    extent_t extent;
    const entry_t *entry;
} stretch_t;

struct places {
    entries_t entries; /* by ordinal */
    const entry_t **by_path;
    stretch_t *stretches; /* sorted by base; extents never overlap */
    size_t stretch_count;
};

static int by_base(const void *a, const void *b) {
    const stretch_t *left = a, *right = b;
    return (left->extent.base > right->extent.base) - (left->extent.base < right->extent.base);
}

static int by_path(const void *a, const void *b) {
    const entry_t *left = *(const entry_t *const *)a, *right = *(const entry_t *const *)b;
    const int order = strcmp(left->path, right->path);
    return order ? order : (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

static bool sort_names(places_t *places, err_t *err) {
    const size_t count = places->entries.count, bytes = (count + 1) * sizeof *places->by_path;
    if (!(places->by_path = malloc(bytes)))
        return err_memory(err, bytes);
    for (size_t i = 0; i < count; i++)
        places->by_path[i] = &places->entries.entries[i];
    qsort(places->by_path, count, sizeof *places->by_path, by_path);
    return true;
}

static bool collect(places_t *places, err_t *err) {
    size_t count = 0;
    for (size_t i = 0; i < places->entries.count; i++)
        count += places->entries.entries[i].extent_count;
    if (!(places->stretches = malloc((count + 1) * sizeof *places->stretches)))
        return err_memory(err, count * sizeof *places->stretches);
    for (size_t i = 0; i < places->entries.count; i++) {
        const entry_t *entry = &places->entries.entries[i];
        for (size_t j = 0; j < entry->extent_count; j++)
            places->stretches[places->stretch_count++] = (stretch_t){entry->extents[j], entry};
    }
    qsort(places->stretches, places->stretch_count, sizeof *places->stretches, by_base);
    return true;
}

places_t *places_read(store_t *store, err_t *err) {
    places_t *places = calloc(1, sizeof *places);
    if (!places) {
        err_memory(err, sizeof *places);
        return NULL;
    }
    if (store_read_all(store, NULL, 0, &places->entries, err) && sort_names(places, err) &&
        collect(places, err))
        return places;
    places_free(places);
    return NULL;
}

void places_free(places_t *places) {
    if (!places)
        return;
    entries_free(&places->entries);
    free(places->by_path);
    free(places->stretches);
    free(places);
}

const entries_t *places_entries(const places_t *places) {
    return &places->entries;
}

/* Comparing the counts is enough, because extents are only ever added. */
bool places_equal(const places_t *a, const places_t *b) {
    return a->stretch_count == b->stretch_count;
}

const entry_t *places_find(const places_t *places, uint64_t number, uint64_t *offset) {
    const size_t above = SEARCH_FIRST(places->stretch_count, i, places->stretches[i].extent.base <= number);
    if (!above)
        return NULL;
    const stretch_t *stretch = &places->stretches[above - 1];
    if (number - stretch->extent.base >= stretch->extent.length)
        return NULL;
    *offset = stretch->extent.start + (number - stretch->extent.base);
    return stretch->entry;
}

/* ---- names ---- */

const entry_t *places_named(const places_t *places, const char *name, bool further) {
    for (size_t i = places->entries.count; i-- > 0;) {
        const entry_t *entry = &places->entries.entries[i];
        if (!entry->removed && (strcmp(entry->path, name) == 0 || (further && entry_has_name(entry, name))))
            return entry;
    }
    return NULL;
}

/* The input that NAME#ORDINAL addresses, with any zeros before the number; or NULL. */
static const entry_t *addressed(const places_t *places, const char *name) {
    enum { MOST_DIGITS = 10 };
    const char *mark = strrchr(name, '#'), *digits = mark ? mark + 1 + strspn(mark + 1, "0") : NULL;
    if (!mark || !mark[1] || strspn(digits, "0123456789") != strlen(digits) || strlen(digits) > MOST_DIGITS)
        return NULL;
    const unsigned long long ordinal = strtoull(mark + 1, NULL, 10);
    const entry_t *entry = ordinal <= UINT32_MAX ? entries_find(&places->entries, (uint32_t)ordinal) : NULL;
    const size_t length = (size_t)(mark - name);
    return entry && strncmp(entry->path, name, length) == 0 && !entry->path[length] ? entry : NULL;
}

const entry_t *places_next(const places_t *places, const char *name, size_t *at) {
    const size_t count = places->entries.count,
                 first = SEARCH_FIRST(count, i, strcmp(places->by_path[i]->path, name) < 0);
    if (*at == SIZE_MAX)
        return NULL; /* after the one that is addressed, which comes last */
    if (first + *at < count && strcmp(places->by_path[first + *at]->path, name) == 0)
        return places->by_path[first + (*at)++];
    *at = SIZE_MAX;
    return addressed(places, name);
}

static const entry_t *newer(const entry_t *a, const entry_t *b) {
    return !a || a->ordinal < b->ordinal ? b : a;
}

places_meant_t places_meant(const places_t *places, const char *name) {
    places_meant_t meant = {.live = NULL};
    size_t at = 0;
    for (const entry_t *entry; (entry = places_next(places, name, &at));) {
        meant.lives += !entry->removed;
        meant.remains |= entry->removed && entry->remains;
        if (entry->removed)
            meant.gone = newer(meant.gone, entry);
        else
            meant.live = newer(meant.live, entry);
    }
    meant.is_sure = meant.lives == 1 &&
                    (!meant.gone || (meant.gone->ordinal < meant.live->ordinal && !addressed(places, name)));
    return meant;
}

void places_show(const places_t *places, const entry_t *entry, text_t *out) {
    const size_t length = out->length;
    places_meant_t meant = places_meant(places, entry->path);
    text_append(out, entry->path);
    /* adds zeros until no file has that name itself */
    for (int digits = 1; !out->lacking && (!meant.is_sure || meant.live != entry); digits++) {
        out->length = length;
        text_print(out, "%s#%0*u", entry->path, digits, entry->ordinal);
        meant = places_meant(places, out->bytes + length);
    }
}

void places_show_meant(const places_t *places, const char *name, text_t *out) {
    enum { MOST = 10 };
    size_t at = 0, shown = 0;
    for (const entry_t *entry; (entry = places_next(places, name, &at));) {
        if (entry->removed || ++shown > MOST)
            continue;
        text_append(out, shown > 1 ? ", " : "");
        places_show(places, entry, out);
    }
    if (shown > MOST)
        text_print(out, " and %zu more", shown - MOST);
}

/* ---- sums ---- */

places_summary_t places_summary(const places_t *places, uint32_t generation) {
    places_summary_t summary = {.files = 0};
    for (size_t i = 0; i < places->entries.count; i++) {
        const entry_t *entry = &places->entries.entries[i];
        summary.removals += entry->removed && entry->remains;
        if (entry->removed)
            continue;
        summary.files++;
        summary.complete += entry_is_complete(entry, generation, false);
        const reject_sums_t rejects = entry_reject_sums(entry);
        summary.open_rejects += rejects.open;
        summary.fixed += rejects.fixed;
        summary.left_out += rejects.left_out;
        for (size_t j = 0; j < entry->piece_count; j++) {
            const counts_t counts = piece_counts(&entry->pieces[j]);
            summary.loaded += counts.of[FATE_LOADED];
            summary.corrected += counts.of[FATE_CORRECTED];
            summary.already_there += counts.of[FATE_THERE];
            summary.rejected += counts.of[FATE_REJECTED];
        }
    }
    return summary;
}
