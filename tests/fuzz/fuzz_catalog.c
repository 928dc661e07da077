/* The catalog: what a server finds in it is read, or refused by a sentence; reading it comes to an end; and an entry that
 * is written again means the same. */
#include "catalog/store/entry_bson.h"
#include "catalog/store/store_mongo.h"
#include "odd_driver.h"
#include "server/bson_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- entries ---- */

static void same_versions(const entry_t *a, const entry_t *b) {
    LAB_MUST(a->version == b->version && a->version > 0 && a->version_count == b->version_count);
    for (size_t i = 0; i < a->version_count; i++) {
        const version_t *x = &a->versions[i], *y = &b->versions[i];
        LAB_MUST(x->number == y->number && x->slot == y->slot && x->size == y->size &&
                 strcmp(x->digest, y->digest) == 0 && x->modified_ns == y->modified_ns &&
                 x->completed_ns == y->completed_ns && x->torn.length == y->torn.length);
        LAB_MUST(!x->torn.length || (x->torn.offset == y->torn.offset && x->torn.hash == y->torn.hash));
    }
}

static void same_counts(const counts_t *x, const counts_t *y) {
    LAB_MUST(x->read == y->read && memcmp(x->of, y->of, sizeof x->of) == 0);
}

static void same_pieces(const entry_t *a, const entry_t *b) {
    LAB_MUST(a->piece_count == b->piece_count && a->piece_count > 0);
    for (size_t i = 0; i < a->piece_count; i++) {
        const piece_t *x = &a->pieces[i], *y = &b->pieces[i];
        LAB_MUST(x->from == y->from && x->to == y->to && load_id_equal(&x->owner, &y->owner) &&
                 x->epoch == y->epoch && x->generation == y->generation && x->complete == y->complete &&
                 x->unsafe == y->unsafe && x->modified_ns == y->modified_ns);
        LAB_MUST(x->done.count == y->done.count && x->reject_count == y->reject_count);
        for (size_t j = 0; j < x->done.count; j++)
            LAB_MUST(x->done.runs[j].from == y->done.runs[j].from &&
                     x->done.runs[j].to == y->done.runs[j].to &&
                     x->done.runs[j].hash == y->done.runs[j].hash);
        for (size_t j = 0; j < x->reject_count; j++)
            LAB_MUST(x->rejects[j].offset == y->rejects[j].offset &&
                     x->rejects[j].hash == y->rejects[j].hash);
        for (size_t j = 1; j < x->reject_count; j++)
            LAB_MUST(x->rejects[j - 1].offset < x->rejects[j].offset);
        for (size_t j = 1; j < x->done.count; j++)
            LAB_MUST(x->done.runs[j - 1].to < x->done.runs[j].from);
        same_counts(&x->counts, &y->counts);
        if (x->tail.from == x->tail.to)
            continue;
        LAB_MUST(x->tail.from == y->tail.from && x->tail.to == y->tail.to && x->tail.hash == y->tail.hash);
        same_counts(&x->tail.counts, &y->tail.counts);
    }
}

/* What belongs to the entry as it is registered: whether it was removed, and its fixes, come by changes. */
static void same_entries(const entry_t *a, const entry_t *b) {
    LAB_MUST(a->ordinal == b->ordinal && strcmp(a->key, b->key) == 0 && strcmp(a->path, b->path) == 0);
    LAB_MUST(strcmp(a->kind ? a->kind : "", b->kind ? b->kind : "") == 0);
    LAB_MUST(load_id_equal(&a->registered_by, &b->registered_by) && a->extent_count == b->extent_count);
    for (size_t i = 0; i < a->extent_count; i++)
        LAB_MUST(a->extents[i].base == b->extents[i].base && a->extents[i].start == b->extents[i].start &&
                 a->extents[i].length == b->extents[i].length);
    same_versions(a, b);
    same_pieces(a, b);
}

/* Whoever has an entry asks it these things. */
static void ask(odd_t *odd, const entry_t *entry) {
    entry_t copy = {.path = NULL};
    err_t err = {.text = ""};
    uint64_t number;
    const uint64_t offset = (uint64_t)odd_number(odd), end = entry_extents_end(entry);
    LAB_MUST(!entry_number(entry, offset, &number) || end > 0);
    for (size_t i = 1; i < entry->fix_count; i++)
        LAB_MUST(entry->fixes[i - 1].offset <= entry->fixes[i].offset);
    for (size_t i = 0; i < entry->fix_count; i++) {
        const fix_mark_t *fix = &entry->fixes[i],
                         *answer = entry_fixes(entry, fix->offset, fix->of, 0).answer;
        LAB_MUST(!fix->confirmed || answer);
        LAB_MUST(!answer || (answer->confirmed && answer->offset == fix->offset && answer->of == fix->of));
        LAB_MUST(fix->hash == FIX_NOTHING ||
                 fix_marks_accept(entry->fixes, entry->fix_count, fix->offset, fix->of, fix->hash));
    }
    uint64_t rejects = 0;
    for (size_t i = 0; i < entry->piece_count; i++) {
        rejects += entry->pieces[i].reject_count;
        (void)piece_counts(&entry->pieces[i]);
        (void)done_runs_cover(&entry->pieces[i].done, offset, offset + 1);
        for (size_t j = 0; j < entry->pieces[i].reject_count; j++)
            LAB_MUST(piece_reject(&entry->pieces[i], entry->pieces[i].rejects[j].offset) ==
                     &entry->pieces[i].rejects[j]);
    }
    LAB_MUST(entry_open_rejects(entry) <= rejects && entry_newest(entry));
    (void)entry_is_complete(entry, odd_byte(odd), odd_byte(odd) & 1);
    LAB_MUST(entry_copy(&copy, entry, &err));
    same_entries(entry, &copy);
    entry_free(&copy);
}

static void there_and_back(odd_t *odd, const entry_t *entry) {
    entry_t again = {.path = NULL};
    const char *odd_field;
    err_t err = {.text = ""};
    bson_t written = BSON_INITIALIZER;
    ask(odd, entry);
    entry_to_bson(entry, &written);
    LAB_MUST(bson_validate(&written, BSON_VALIDATE_NONE, NULL));
    LAB_MUST(entry_from_bson(&written, &again, &odd_field, &err) && !*odd_field);
    same_entries(entry, &again);
    entry_free(&again);
    bson_destroy(&written);
}

/* ---- the store ---- */

static void try_header(store_t *store, err_t *err) {
    catalog_header_t header;
    bool found, changed;
    if (!store_read_header(store, &header, &found, err)) {
        LAB_MUST(err->text[0]);
        return;
    }
    LAB_MUST(!found || header.lease_ms > 0);
    if (found) {
        LAB_MUST(store->live_from == header.first_ordinal &&
                 (header.layout != STORE_LAYOUT || header.first_ordinal <= header.next_ordinal));
        const header_change_t change = {.kind = HEADER_TAKE_NUMBERS,
                                        .generation = header.generation,
                                        .next_extent = header.next_extent,
                                        .next_ordinal = header.next_ordinal,
                                        .extents = 1,
                                        .ordinals = 1};
        LAB_MUST(store->change_header(store, &change, &changed, err) || err->text[0]);
    }
    catalog_header_free(&header);
}

/* What the last reply holds, as {cursor: {firstBatch: [...]}}. */
static bool page(bson_iter_t *at) {
    bson_iter_t inner;
    return odd_server.reply && bson_iter_init_find(at, odd_server.reply, "cursor") &&
           BSON_ITER_HOLDS_DOCUMENT(at) && bson_iter_recurse(at, &inner) &&
           bson_iter_find(&inner, "firstBatch") && BSON_ITER_HOLDS_ARRAY(&inner) &&
           bson_iter_recurse(&inner, at);
}

/* Are they entries, each after the one before? */
static bool plain_page(uint64_t from, size_t *count) {
    bson_iter_t at, inner, id;
    *count = 0;
    if (!page(&at))
        return false;
    for (; bson_iter_next(&at); ++*count) {
        if (!BSON_ITER_HOLDS_DOCUMENT(&at) || !bson_iter_recurse(&at, &inner))
            return false;
        bool found = false;
        while (!found && bson_iter_next(&inner))
            found = strcmp(bson_iter_key(&inner), "_id") == 0 && (id = inner, true);
        const long double number = !found                        ? -1
                                   : BSON_ITER_HOLDS_DOUBLE(&id) ? (long double)bson_iter_double(&id)
                                   : BSON_ITER_HOLDS_INT32(&id) || BSON_ITER_HOLDS_INT64(&id)
                                       ? (long double)bson_iter_as_int64(&id)
                                       : -1;
        if (!(number >= (long double)from && number <= UINT32_MAX && number == floorl(number)))
            return false;
        from = (uint64_t)number + 1;
    }
    return !at.err_off;
}

static void try_each(odd_t *odd) {
    bson_iter_t at;
    for (bool more = page(&at); more && bson_iter_next(&at);) {
        entry_t entry = {.path = NULL};
        bson_t document;
        const char *odd_field = "";
        err_t err = {.text = ""};
        if (!bson_read_document(&at, &document))
            continue;
        if (!entry_from_bson(&document, &entry, &odd_field, &err))
            LAB_MUST(err.text[0]);
        else if (!*odd_field)
            there_and_back(odd, &entry);
        entry_free(&entry);
    }
}

/* Each page must lie after the one before: whoever reads to the end would never come to it. */
static void try_entries(odd_t *odd, store_t *store, err_t *err) {
    entries_t entries = {NULL, 0, 0};
    uint64_t from = 0, before;
    bool more = true, ok = true;
    for (int page = 0; ok && more && page < 4; page++) {
        size_t known = entries.count, count = 0;
        before = from;
        ok = store->read_entries(store, &from, NULL, 0, &entries, &more, err);
        LAB_MUST(!ok || plain_page(before, &count));
        try_each(odd);
        LAB_MUST(ok ? !more || from > before : err->text[0]);
        LAB_MUST(!ok || entries.count == known + count);
    }
    for (size_t i = 1; ok && i < entries.count; i++)
        LAB_MUST(entries.entries[i - 1].ordinal < entries.entries[i].ordinal);
    for (size_t i = 0; ok && i < entries.count; i++)
        there_and_back(odd, &entries.entries[i]);
    entries_free(&entries);
}

static void try_loads(store_t *store, err_t *err) {
    loads_t loads = {NULL, 0, 0};
    if (store->read_loads(store, &loads, err))
        for (size_t i = 1; i < loads.count; i++)
            LAB_MUST(memcmp(&loads.loads[i - 1].id, &loads.loads[i].id, sizeof loads.loads->id) < 0);
    else
        LAB_MUST(err->text[0]);
    loads_free(&loads);
}

static void try_rest(store_t *store, err_t *err) {
    static const uint32_t among[] = {1, 5, 9};
    entries_t entries = {NULL, 0, 0};
    uint8_t uuid[STORE_UUID];
    size_t count;
    uint64_t extent, ordinal;
    LAB_MUST(store_read_all(store, among, 3, &entries, err) || err->text[0]);
    entries_free(&entries);
    LAB_MUST(store->collection(store, uuid, err) || err->text[0]);
    LAB_MUST(running_others(store, NULL, 1000, &count, err) || err->text[0]);
    LAB_MUST(store_take_numbers(store, 0, 1, 1, &extent, &ordinal, err) || err->text[0]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static server_t *server; /* the first answers are as they should be */
    odd_t odd = {NULL, 0};
    err_t err = {.text = ""};
    odd_begin(&odd);
    if (!server)
        server = odd_connect(&err);
    LAB_MUST(server);
    odd = (odd_t){data, size};
    store_t *store = store_mongo_open(server, server_take(server, &err), &err);
    LAB_MUST(store);
    switch (odd_below(&odd, 4)) {
    case 0:
        try_entries(&odd, store, &err);
        break;
    case 1:
        try_header(store, &err);
        break;
    case 2:
        try_loads(store, &err);
        break;
    default:
        try_rest(store, &err);
    }
    store_mongo_close(store);
    odd_end();
    return 0;
}
