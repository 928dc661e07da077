/* Strays where the `_id`s are the data's own: what verifiers have found is known by the hashes of its `_id`s. */
#include "base/stop.h"
#include "verify/id_hash.h"
#include "verify/stray_inner.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

bool stray_take_own_id(searcher_t *searcher, const bson_t *document, const bson_iter_t *id, err_t *err) {
    const stray_scan_options_t *options = searcher->search->options;
    const verified_ids_t *ids = options->ids;
    const bool awaited = ids->awaited_count &&
                         verified_ids_take(ids, XXH3_64bits(bson_get_data(document), document->len)),
               known = verified_ids_has(ids, id_hash_of(id));
    if (known || awaited) {
        searcher->inside += known;
        return true;
    }
    if (options->all_files)
        return stray_tell_unrelated(searcher, id, err);
    searcher->result.others++;
    return true;
}

bson_t *stray_list_all(size_t *count) {
    bson_t *all = aligned_alloc(_Alignof(bson_t), sizeof *all);
    if (all)
        bson_init(all);
    *count = all != NULL;
    return all;
}

/* The fixed records whose documents were not found. */
static bool tell_awaited(search_t *search, err_t *err) {
    const verified_ids_t *ids = search->options->ids;
    for (size_t i = 0; i < ids->awaited_count; i++) {
        const awaited_fix_t *awaited = &ids->awaited[i];
        difference_t difference = {.kind = DIFFERENCE_MISSING,
                                   .file = awaited->file,
                                   .name = search->options->files[awaited->file].input->name,
                                   .offset = awaited->offset,
                                   .behind = awaited->behind,
                                   .line = awaited->line,
                                   .last_line = awaited->line,
                                   .records = 1,
                                   .id = awaited->id,
                                   .last_id = awaited->id};
        if (awaited->found)
            continue;
        if (!(difference.why = strdup("the document that it was fixed to")))
            return err_memory(err, 1);
        if (!differences_add(search->differences, &difference, err))
            return false;
    }
    return true;
}

static bool count_all(search_t *search, uint64_t *documents, err_t *err) {
    bson_t all = BSON_INITIALIZER;
    searcher_t searcher = {.search = search};
    searcher.client = server_take(search->options->server, err);
    const bool ok = searcher.client && stray_count(&searcher, &all, documents, err);
    server_give(search->options->server, searcher.client);
    return ok;
}

bool stray_look_at_ids(search_t *search, err_t *err) {
    const verified_ids_t *ids = search->options->ids;
    uint64_t kept;
    if (!ids->awaited_count) {
        /* counted one by one: what the server knows without counting is wrong after a crash */
        if (!count_all(search, &kept, err))
            return false;
        search->result.documents = kept;
        if (kept == ids->count)
            return true;
    }
    if (!stray_search(search, NULL, 0, err))
        return false;
    if (search->inside < ids->count && !stop_signal())
        search->result.changed = ids->count - search->inside;
    return stop_signal() || tell_awaited(search, err);
}
