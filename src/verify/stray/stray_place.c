/* Whose place in the collection an `_id` is, and what is said of one that nobody has. */
#include "base/document.h"
#include "verify/compare/id_hash.h"
#include "verify/stray/stray_scan_inner.h"

#include <xxhash.h>

/* ---- whose place is it? ---- */

int stray_by_ordinal(const void *a, const void *b) {
    const given_t *left = a, *right = b;
    return (left->ordinal > right->ordinal) - (left->ordinal < right->ordinal);
}

static const load_file_t *given_file(const search_t *search, uint32_t ordinal) {
    given_t key = {.ordinal = ordinal};
    const given_t *found =
        bsearch(&key, search->given, search->options->file_count, sizeof key, stray_by_ordinal);
    return found ? found->file : NULL;
}

typedef enum {
    COLLECTION_LOOKED_AT,
    PLACE_BEHIND_END,
    PLACE_OF_ANOTHER,
    PLACE_OF_NOBODY,
    PLACE_WRONG_LANE
} whose_t;

/* Not in the extents of any input, not even of one that was removed. */
static bool is_outside(const search_t *search, int64_t id) {
    uint64_t offset;
    return id < 0 || !places_find(search->options->places, record_id_voff(id), &offset);
}

static whose_t whose(const search_t *search, int64_t id, const load_file_t **file, uint64_t *offset) {
    const entry_t *entry = id < 0 ? NULL : places_find(search->options->places, record_id_voff(id), offset);
    if (!entry || entry->removed)
        return PLACE_OF_NOBODY;
    if (record_id_lane(entry->ordinal, *offset) != record_id_lane_of(id))
        return PLACE_WRONG_LANE;
    if (!(*file = given_file(search, entry->ordinal)))
        return PLACE_OF_ANOTHER;
    return *offset / RECORD_ID_BLOCK_BYTES < (*file)->blocks ? COLLECTION_LOOKED_AT : PLACE_BEHIND_END;
}

/* ---- what does not belong there ---- */

static bool tell(searcher_t *searcher, difference_t *difference, const char *why, err_t *err) {
    if (!why || !differences_wants(searcher->found, difference) || difference_say_why(difference, why, err))
        return differences_add(searcher->found, difference, err);
    difference_free(difference);
    return false;
}

static bool tell_unrelated_id(searcher_t *searcher, const bson_iter_t *id, err_t *err) {
    difference_t difference = {.kind = DIFFERENCE_UNRELATED, .file = DIFFERENCE_NO_FILE, .records = 1};
    return difference_name_id(&difference, id, err) &&
           tell(searcher, &difference, NULL, err); /* sorted by it */
}

static bool take_place(searcher_t *searcher, int64_t id, err_t *err) {
    static const char *const whys[] = {
        [PLACE_OF_NOBODY] = "no file of the catalog has this place",
        [PLACE_WRONG_LANE] = "tipple did not make it: its lane is not that of its place",
    };
    const search_t *search = searcher->search;
    const load_file_t *file = NULL;
    uint64_t offset = 0;
    whose_t who = whose(search, id, &file, &offset);
    if (who == COLLECTION_LOOKED_AT) {
        searcher->inside++;
        return true;
    }
    if (who == PLACE_OF_ANOTHER) {
        searcher->result.others++;
        return true;
    }
    if (search->options->appends && is_outside(search, id)) {
        searcher->result.not_ours++;
        return true;
    }
    difference_t difference = {
        .kind = DIFFERENCE_UNRELATED, .file = DIFFERENCE_NO_FILE, .records = 1, .id = id, .last_id = id};
    if (file) {
        difference.kind = DIFFERENCE_EXTRA;
        difference.file = (size_t)(file - search->options->files);
        difference.name = file->input->name;
        difference.offset = offset;
        difference.behind = offset + 1;
    }
    return tell(searcher, &difference,
                file ? verifier_why_behind(&search->options->entries->wanted[difference.file]) : whys[who],
                err);
}

/* Of a window that was looked at it has been told. */
static bool take_odd_id(searcher_t *searcher, const bson_iter_t *id, err_t *err) {
    const search_t *search = searcher->search;
    int64_t next;
    if (!element_floor(id, &next) || next < 0)
        next = -1;
    const load_file_t *file;
    uint64_t offset;
    if (next >= 0 && whose(search, next, &file, &offset) == COLLECTION_LOOKED_AT) {
        searcher->inside++;
        return true;
    }
    if (!search->options->appends || !is_outside(search, next))
        return tell_unrelated_id(searcher, id, err);
    searcher->result.not_ours++;
    return true;
}

static bool take_own_id(searcher_t *searcher, const bson_t *document, const bson_iter_t *id, err_t *err) {
    const stray_scan_options_t *options = searcher->search->options;
    const verified_ids_t *ids = options->ids;
    const bool awaited = ids->awaited_count &&
                         verified_ids_take(ids, XXH3_64bits(bson_get_data(document), document->len)),
               known = verified_ids_has(ids, id_hash_of(id));
    if (known || awaited) {
        searcher->inside += known;
        return true;
    }
    if (options->all_files && !options->appends)
        return tell_unrelated_id(searcher, id, err);
    ++*(options->all_files ? &searcher->result.not_ours : &searcher->result.others);
    return true;
}

bool stray_take_id(searcher_t *searcher, const bson_t *document, const bson_iter_t *id, err_t *err) {
    if (searcher->search->options->ids)
        return take_own_id(searcher, document, id, err);
    if (BSON_ITER_HOLDS_INT64(id))
        return take_place(searcher, bson_iter_int64(id), err);
    return take_odd_id(searcher, id, err);
}
