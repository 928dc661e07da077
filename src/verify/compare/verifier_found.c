/* What is told of a document that is not as its record makes it. */
#include "format/cut/ends.h"
#include "load/threads/account.h"
#include "verify/compare/verifier_inner.h"

#include <xxhash.h>

/* The place of an `_id` of the window at hand. */
static void place_of(const verifier_t *verifier, int64_t id, difference_t *difference) {
    const block_t *block = verifier->block;
    difference->file = (size_t)(block->file - verifier->inspection->files);
    difference->name = block->file->input->name;
    difference->id = difference->last_id = id;
    difference->records = 1;
    difference->offset = verifier->window_offset + (uint64_t)(id - verifier->first_id);
    difference->behind = difference->offset + 1;
}

/* Counting line ends costs as much as the block has text, so only where somebody will read it. */
static uint64_t line_at(const verifier_t *verifier, const block_t *block, uint64_t offset) {
    if (offset < block->offset)
        return 0;
    uint64_t within = offset - block->offset;
    return block->first_line + ends_lines(verifier->inspection->schema, block->buffer.bytes,
                                          within < block->length ? within : block->length);
}

static bool describe_unrelated(difference_t *difference, const merge_found_t *found, err_t *err) {
    difference->file = DIFFERENCE_NO_FILE;
    difference->records = 1;
    return difference_name_id_of(difference, found->stored, found->stored_length, err);
}

bool verifier_is_earlier(const wanted_t *wanted) {
    const uint32_t version = entry_version_of(&wanted->entry, wanted->seen.size, wanted->seen.digest);
    return version && version < wanted->entry.version;
}

const char *verifier_why_behind(const wanted_t *wanted) {
    return verifier_is_earlier(wanted)
               ? "the file ends before; it is an earlier version of the one that was loaded"
               : "the file ends before";
}

static bool is_behind_end(const block_t *block, uint64_t offset) {
    return block->tail && offset >= block->offset + block->length + block->oversize.length;
}

static bool describe_extra(const verifier_t *verifier, difference_t *difference, err_t *err) {
    const bool at_record = difference->id == verifier->record_id;
    if (is_behind_end(verifier->block, difference->offset))
        return difference_say_why(
            difference, verifier_why_behind(&verifier->inspection->entries->wanted[difference->file]), err);
    difference->line = difference->last_line = line_at(verifier, verifier->block, difference->offset);
    return difference_say_why(difference,
                              at_record && verifier->why ? verifier->why : "no record begins there", err);
}

static const difference_kind_t kinds[] = {
    [MERGE_MISSING] = DIFFERENCE_MISSING,       [MERGE_EXTRA] = DIFFERENCE_EXTRA,
    [MERGE_DUPLICATED] = DIFFERENCE_DUPLICATED, [MERGE_CHANGED] = DIFFERENCE_CHANGED,
    [MERGE_UNRELATED] = DIFFERENCE_UNRELATED,
};

/* A person has fixed the record, and the catalog knows the document that came of it. Where a reject file was given that
 * says what it has to be (why), that counts. */
static bool is_fixed(const verifier_t *verifier, const merge_found_t *found) {
    const load_file_t *file = verifier->block->file;
    const uint64_t offset = verifier->window_offset + (uint64_t)(found->id - verifier->first_id);
    if ((found->kind != MERGE_EXTRA && found->kind != MERGE_CHANGED) || !found->stored ||
        found->id != verifier->record_id || (found->kind == MERGE_CHANGED && verifier->why))
        return false;
    return fix_marks_accept(file->fixes, file->fix_count, offset,
                            account_identity(verifier->block, &verifier->record),
                            XXH3_64bits(found->stored, found->stored_length));
}

void verifier_count_unloaded(verifier_t *verifier) {
    verifier->look.expected--;
    verifier->look.fixed--;
    verifier->look.unloaded++;
}

bool verifier_take_finding(void *context, const merge_found_t *found, err_t *err) {
    verifier_t *verifier = context;
    const record_t *record = &verifier->record;
    difference_t difference = {.kind = kinds[found->kind]};
    bool ok = true;
    if (is_fixed(verifier, found)) {
        verifier->fixed = true;
        verifier->look.fixed++;
        verifier->look.same++;
        return true;
    }
    const fix_t *fix = verifier->at_fix && verifier->at_fix->id == found->id ? verifier->at_fix : NULL;
    if (found->kind == MERGE_MISSING && fix && fix->open) {
        verifier_count_unloaded(verifier);
        return true;
    }
    if (found->kind == MERGE_UNRELATED) {
        ok = describe_unrelated(&difference, found, err);
    } else {
        place_of(verifier, found->id, &difference);
        const bool wanted = differences_wants(verifier->found, &difference);
        if (found->kind == MERGE_EXTRA) {
            ok = !wanted || describe_extra(verifier, &difference, err);
        } else {
            /* at a record, whose place is known */
            if (found->id == verifier->record_id) {
                difference.line = difference.last_line = verifier->block->first_line + record->line;
                difference.behind = difference.offset + record->length + record->line_end;
            }
            if (found->kind != MERGE_MISSING)
                ok = !wanted ||
                     verifier_describe(verifier, &difference, found->expected, found->expected_length,
                                       found->stored, found->stored_length, err);
            else if (verifier->why)
                ok = difference_say_why(&difference, verifier->why, err);
        }
    }
    if (ok)
        return differences_add(verifier->found, &difference, err);
    difference_free(&difference);
    return false;
}
