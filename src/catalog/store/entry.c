/* What an entry holds: its versions, extents and pieces, and the blocks of a piece that are done. */
#include "catalog/store/entry.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- loads and counts ---- */

bool load_id_equal(const load_id_t *a, const load_id_t *b) {
    return memcmp(a, b, sizeof *a) == 0;
}

bool load_id_is_nobody(const load_id_t *id) {
    static const load_id_t nobody;
    return load_id_equal(id, &nobody);
}

static void add_times(counts_t *to, const counts_t *from, uint64_t times) {
    to->read += from->read * times;
    for (size_t fate = 0; fate < FATES; fate++)
        to->of[fate] += from->of[fate] * times;
}

void counts_add(counts_t *to, const counts_t *from) {
    add_times(to, from, 1);
}

void counts_subtract(counts_t *to, const counts_t *from) {
    add_times(to, from, UINT64_MAX); /* -1 */
}

/* ---- copies ---- */

/* Replaces a pointer to memory of another owner by a pointer to a copy of our own; NULL for no bytes, or on failure. */
static bool own(void *pointer, size_t bytes, err_t *err) {
    void *from, *copy = bytes ? malloc(bytes) : NULL;
    memcpy(&from, pointer, sizeof from);
    if (copy)
        memcpy(copy, from, bytes);
    memcpy(pointer, &copy, sizeof copy);
    return copy || !bytes || err_memory(err, bytes);
}

/* ---- done runs ---- */

/* The first run that ends at or after a block. */
static size_t run_ending_at(const done_runs_t *set, uint64_t block) {
    return SEARCH_FIRST(set->count, i, set->runs[i].to < block);
}

bool done_runs_would_grow(const done_runs_t *set, uint64_t from, uint64_t to) {
    size_t i = run_ending_at(set, from);
    return i == set->count || set->runs[i].from > to;
}

/* Joins a run and the next one if they touch. */
static void join(done_runs_t *set, size_t first) {
    if (first + 1 >= set->count || set->runs[first].to != set->runs[first + 1].from)
        return;
    set->runs[first].to = set->runs[first + 1].to;
    set->runs[first].hash += set->runs[first + 1].hash;
    set->count--;
    memmove(&set->runs[first + 1], &set->runs[first + 2], (set->count - first - 1) * sizeof *set->runs);
}

bool done_runs_add(done_runs_t *set, uint64_t from, uint64_t to, uint64_t hash, bool *is_new) {
    size_t i = run_ending_at(set, from + 1);
    *is_new = from < to && (i == set->count || set->runs[i].from >= to);
    if (!*is_new)
        return true;
    if (!GROW(set->runs, set->room, set->count + 1, NULL))
        return false;
    memmove(&set->runs[i + 1], &set->runs[i], (set->count - i) * sizeof *set->runs);
    set->runs[i] = (done_run_t){from, to, hash};
    set->count++;
    join(set, i);
    if (i)
        join(set, i - 1);
    return true;
}

const done_run_t *done_runs_find(const done_runs_t *set, uint64_t block) {
    size_t i = run_ending_at(set, block + 1);
    return i < set->count && set->runs[i].from <= block ? &set->runs[i] : NULL;
}

bool done_runs_cover(const done_runs_t *set, uint64_t from, uint64_t to) {
    const done_run_t *run = done_runs_find(set, from);
    return from >= to || (run && to <= run->to);
}

bool done_runs_copy(done_runs_t *to, const done_runs_t *from, err_t *err) {
    done_runs_t copy = {from->runs, from->count, from->count};
    const bool ok = own(&copy.runs, copy.count * sizeof *copy.runs, err);
    if (ok) {
        free(to->runs);
        *to = copy;
    }
    return ok;
}

void done_runs_free(done_runs_t *set) {
    free(set->runs);
    *set = (done_runs_t){0};
}

/* ---- reading ---- */

const version_t *entry_newest(const entry_t *entry) {
    return &entry->versions[entry->version_count - 1];
}

version_t *entry_version(const entry_t *entry, uint32_t number) {
    const size_t at = SEARCH_FIRST(entry->version_count, i, entry->versions[i].number < number);
    return at < entry->version_count && entry->versions[at].number == number ? &entry->versions[at] : NULL;
}

uint32_t entry_version_of(const entry_t *entry, uint64_t size, const char *digest) {
    for (size_t i = entry->version_count; i-- > 0;)
        if (entry->versions[i].size == size && strcmp(entry->versions[i].digest, digest) == 0)
            return entry->versions[i].number;
    return 0;
}

static bool has_fix_of(const entry_t *entry, const torn_t *torn) {
    for (size_t i = 0; torn->length && i < entry->fix_count; i++)
        if (entry->fixes[i].offset == torn->offset && entry->fixes[i].of == torn->hash)
            return true;
    return false;
}

uint32_t entry_next_slot(const entry_t *entry, uint32_t complete) {
    for (size_t i = 0; i + ENTRY_USUAL_VERSIONS <= entry->version_count; i++) {
        const version_t *version = &entry->versions[i];
        if (version->number < complete && !has_fix_of(entry, &version->torn))
            return version->slot;
    }
    return (uint32_t)entry->version_count;
}

bool entry_has_name(const entry_t *entry, const char *name) {
    bool has = strcmp(entry->path, name) == 0;
    for (size_t i = 0; !has && i < entry->name_count; i++)
        has = strcmp(entry->names[i], name) == 0;
    return has;
}

uint64_t entry_dialect(const entry_t *entry, uint32_t generation) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (entry->pieces[i].dialect && entry->pieces[i].generation == generation)
            return entry->pieces[i].dialect;
    return 0;
}

uint32_t entry_bad_value(const entry_t *entry, uint32_t bound) {
    return entry->piece_count && entry->pieces->bad_value ? entry->pieces->bad_value - 1 : bound;
}

bool extents_number(const extent_t *extents, size_t count, uint64_t offset, uint64_t *number) {
    for (size_t i = count; i-- > 0;) {
        const extent_t *extent = &extents[i];
        if (offset >= extent->start && offset - extent->start < extent->length) {
            *number = extent->base + (offset - extent->start);
            return true;
        }
    }
    return false;
}

bool entry_number(const entry_t *entry, uint64_t offset, uint64_t *number) {
    return extents_number(entry->extents, entry->extent_count, offset, number);
}

uint64_t entry_extents_end(const entry_t *entry) {
    uint64_t end = 0;
    for (size_t i = 0; i < entry->extent_count; i++)
        if (entry->extents[i].start + entry->extents[i].length > end)
            end = entry->extents[i].start + entry->extents[i].length;
    return end;
}

const piece_t *entry_piece(const entry_t *entry, uint64_t block) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (block >= entry->pieces[i].from && block < entry->pieces[i].to)
            return &entry->pieces[i];
    return NULL;
}

bool piece_is_complete(const piece_t *piece, uint32_t version, uint32_t generation, bool safe) {
    return piece->complete >= version && piece->generation == generation && !(safe && piece->unsafe);
}

bool entry_is_begun(const entry_t *entry) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (entry->pieces[i].epoch)
            return true;
    return false;
}

bool entry_is_nameless(const entry_t *entry) {
    return entry->key && strncmp(entry->key, "new/", 4) == 0;
}

bool entry_is_by_name(const entry_t *entry) {
    return !entry_newest(entry)->digest[0] || strncmp(entry->key, "name/", 5) == 0;
}

bool entry_is_complete(const entry_t *entry, uint32_t generation, bool safe) {
    for (size_t i = 0; i < entry->piece_count; i++)
        if (!piece_is_complete(&entry->pieces[i], i + 1 == entry->piece_count ? entry->version : 1,
                               generation, safe))
            return false;
    return true;
}

counts_t piece_counts(const piece_t *piece) {
    counts_t counts = piece->counts;
    if (piece->complete)
        counts_add(&counts, &piece->tail.counts);
    return counts;
}

bool entry_has_room(const entry_t *entry, size_t rejects, size_t fixes) {
    enum {
        MOST = 15 << 20,
        A_FIX = 160,
        A_RUN = 64,
        A_VERSION = 200,
        AN_EXTENT = 80
    }; /* in bytes, rather too many than too few */
    size_t bytes = rejects * sizeof(reject_mark_t) + (entry->fix_count + fixes) * A_FIX +
                   entry->version_count * A_VERSION + entry->extent_count * AN_EXTENT;
    for (size_t i = 0; i < entry->piece_count; i++)
        bytes += entry->pieces[i].reject_count * sizeof(reject_mark_t) + entry->pieces[i].done.count * A_RUN;
    return bytes <= MOST;
}

/* ---- changing ---- */

/* Makes room for one more item of `size` bytes at the end of *items. */
static bool one_more(void **items, size_t count, size_t size, err_t *err) {
    void *larger = realloc(*items, (count + 1) * size);
    if (!larger)
        return err_memory(err, (count + 1) * size);
    *items = larger;
    return true;
}

bool entry_add_name(entry_t *entry, const char *name, err_t *err) {
    if (!one_more((void **)&entry->names, entry->name_count, sizeof *entry->names, err))
        return false;
    if (!(entry->names[entry->name_count] = strdup(name)))
        return err_memory(err, strlen(name));
    entry->name_count++;
    return true;
}

bool entry_add_extent(entry_t *entry, extent_t extent, err_t *err) {
    if (!one_more((void **)&entry->extents, entry->extent_count, sizeof extent, err))
        return false;
    entry->extents[entry->extent_count++] = extent;
    return true;
}

bool entry_add_version(entry_t *entry, const version_t *version, err_t *err) {
    return entry_put_version(entry, version, (uint32_t)entry->version_count, err);
}

bool entry_put_version(entry_t *entry, const version_t *version, uint32_t slot, err_t *err) {
    size_t kept = 0;
    for (size_t i = 0; slot < entry->version_count && i < entry->version_count; i++)
        if (entry->versions[i].slot != slot)
            entry->versions[kept++] = entry->versions[i];
    if (slot < entry->version_count)
        entry->version_count = kept;
    if (!one_more((void **)&entry->versions, entry->version_count, sizeof *entry->versions, err))
        return false;
    version_t *added = &entry->versions[entry->version_count++];
    *added = *version;
    added->number = ++entry->version;
    added->slot = slot;
    return true;
}

bool entry_make_pieces(entry_t *entry, size_t count, uint64_t blocks_each, err_t *err) {
    piece_t *pieces = calloc(count, sizeof *pieces);
    if (!pieces)
        return err_memory(err, count * sizeof *pieces);
    for (size_t i = 0; i < count; i++) {
        pieces[i].from = i * blocks_each;
        pieces[i].to = i + 1 < count ? (i + 1) * blocks_each : UINT64_MAX;
    }
    for (size_t i = 0; i < entry->piece_count; i++)
        piece_free(&entry->pieces[i]);
    free(entry->pieces);
    entry->pieces = pieces;
    entry->piece_count = count;
    return true;
}

static bool own_text(char **text, err_t *err) {
    return own(text, *text ? strlen(*text) + 1 : 0, err);
}

static bool own_piece(piece_t *piece, err_t *err) {
    bool ok = own(&piece->done.runs, piece->done.count * sizeof *piece->done.runs, err);
    ok &= own(&piece->rejects, piece->reject_count * sizeof *piece->rejects, err);
    piece->done.room = piece->done.count;
    piece->reject_room = piece->reject_count;
    return ok;
}

bool piece_copy(piece_t *to, const piece_t *from, err_t *err) {
    piece_t copy = *from;
    const bool ok = own_piece(&copy, err);
    piece_free(ok ? to : &copy);
    if (ok)
        *to = copy;
    return ok;
}

bool entry_copy(entry_t *to, const entry_t *from, err_t *err) {
    entry_t copy = *from;
    bool ok = own_text(&copy.path, err);
    ok &= own_text(&copy.key, err);
    ok &= own_text(&copy.kind, err);
    ok &= own_text(&copy.follows, err);
    ok &= own(&copy.versions, copy.version_count * sizeof *copy.versions, err);
    ok &= own(&copy.extents, copy.extent_count * sizeof *copy.extents, err);
    ok &= own(&copy.fixes, copy.fix_count * sizeof *copy.fixes, err);
    ok &= own(&copy.names, copy.name_count * sizeof *copy.names, err);
    ok &= own(&copy.pieces, copy.piece_count * sizeof *copy.pieces, err);
    copy.fix_room = copy.fix_count;
    copy.name_count = copy.names ? copy.name_count : 0;
    copy.piece_count = copy.pieces ? copy.piece_count : 0;
    for (size_t i = 0; i < copy.name_count; i++)
        ok &= own_text(&copy.names[i], err);
    for (size_t i = 0; i < copy.piece_count; i++)
        ok &= own_piece(&copy.pieces[i], err);
    entry_free(ok ? to : &copy);
    if (ok)
        *to = copy;
    return ok;
}

/* ---- freeing ---- */

void piece_clear_progress(piece_t *piece) {
    piece_free(piece);
    piece->counts = (counts_t){0};
    piece->tail = (tail_t){0};
    piece->complete = 0;
    piece->unsafe = false;
    piece->modified_ns = 0;
    piece->dialect = 0;
}

void piece_free(piece_t *piece) {
    done_runs_free(&piece->done);
    free(piece->rejects);
    piece->rejects = NULL;
    piece->reject_count = piece->reject_room = 0;
}

void entry_free(entry_t *entry) {
    free(entry->path);
    free(entry->key);
    free(entry->kind);
    free(entry->follows);
    for (size_t i = 0; i < entry->name_count; i++)
        free(entry->names[i]);
    free(entry->names);
    free(entry->versions);
    free(entry->extents);
    free(entry->fixes);
    for (size_t i = 0; i < entry->piece_count; i++)
        piece_free(&entry->pieces[i]);
    free(entry->pieces);
    *entry = (entry_t){0};
}

entry_t *entries_add(entries_t *entries, err_t *err) {
    if (!GROW(entries->entries, entries->room, entries->count + 1, err))
        return NULL;
    entry_t *entry = &entries->entries[entries->count++];
    *entry = (entry_t){0};
    return entry;
}

const entry_t *entries_find(const entries_t *entries, uint32_t ordinal) {
    const size_t at = SEARCH_FIRST(entries->count, i, entries->entries[i].ordinal < ordinal);
    return at < entries->count && entries->entries[at].ordinal == ordinal ? &entries->entries[at] : NULL;
}

void entries_free(entries_t *entries) {
    for (size_t i = 0; i < entries->count; i++)
        entry_free(&entries->entries[i]);
    free(entries->entries);
    *entries = (entries_t){0};
}
