/* Blocks that are compared by ranges of `_id`s: one range for each window, merged with what the block's records
 * make. */
#include "verify/verifier.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/text.h"
#include "format/cut/ends.h"
#include "input/cutter.h"
#include "load/threads/loader.h"
#include "verify/verifier_inner.h"

#include <stdlib.h>
#include <time.h>
#include <xxhash.h>

/* After trouble, the majority is asked again only when it has had this long to settle. */
static const int64_t SETTLED_NS = 2000000000, NAP_NS = 20000000;

verifier_t *verifier_new(inspection_t *inspection, err_t *err) {
    verifier_t *verifier = calloc(1, sizeof *verifier);
    if (!verifier) {
        err_memory(err, sizeof *verifier);
        return NULL;
    }
    verifier->inspection = inspection;
    verifier->reader = records_new(inspection->schema);
    verifier->fix_reader = records_new(inspection->schema);
    verifier->differences = differences_new(inspection->most);
    verifier->found = differences_new(inspection->most);
    bool ok = (verifier->reader && verifier->fix_reader && verifier->differences && verifier->found) ||
              err_memory(err, 1);
    ok = ok && (!inspection->schema->id || (verifier->by_id = by_id_new(err)));
    if (ok && (verifier->target = snapshot_read_new(inspection->server, NULL, err)))
        return verifier;
    verifier_free(verifier);
    return NULL;
}

void verifier_free(verifier_t *verifier) {
    if (!verifier)
        return;
    snapshot_read_free(verifier->target);
    records_destroy(verifier->reader);
    free(verifier->place.bytes);
    records_destroy(verifier->fix_reader);
    free(verifier->fix_place.bytes);
    differences_free(verifier->differences);
    differences_free(verifier->found);
    by_id_free(verifier->by_id);
    free(verifier->ids.hashes);
    free(verifier->ids.awaited);
    free(verifier->block_ids.hashes);
    free(verifier->block_ids.awaited);
    last_wins_free(&verifier->last);
    last_wins_free(&verifier->block_last);
    free(verifier);
}

const inspected_t *verifier_counters(const verifier_t *verifier) {
    return &verifier->counters;
}

differences_t *verifier_differences(verifier_t *verifier) {
    return verifier->differences;
}

last_wins_t *verifier_last(verifier_t *verifier) {
    return &verifier->last;
}

const verified_ids_t *verifier_ids(const verifier_t *verifier) {
    return &verifier->ids;
}

/* ---- what is found ---- */

/* Fills in the place of an `_id` of the window at hand. */
static void place_of(const verifier_t *verifier, int64_t id, difference_t *difference) {
    const block_t *block = verifier->block;
    difference->file = (size_t)(block->piece - verifier->inspection->pieces);
    difference->name = block->piece->input->name;
    difference->id = difference->last_id = id;
    difference->records = 1;
    difference->offset = verifier->window_offset + (uint64_t)(id - verifier->first_id);
    difference->end = difference->offset + 1;
}

/* Counting line ends costs as much as the block has text, so it is done only for differences that are kept. */
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

const char *verifier_why_after_end(const wanted_t *wanted) {
    return verifier_is_earlier(wanted)
               ? "the file ends before; it is an earlier version of the one that was loaded"
               : "the file ends before";
}

static bool is_after_end(const block_t *block, uint64_t offset) {
    return block->tail && offset >= block->offset + block->length + block->oversize.length;
}

static bool describe_extra(const verifier_t *verifier, difference_t *difference, err_t *err) {
    const bool at_record = difference->id == verifier->record_id;
    if (is_after_end(verifier->block, difference->offset))
        return difference_say_why(
            difference, verifier_why_after_end(&verifier->inspection->entries->wanted[difference->file]),
            err);
    difference->line = difference->last_line = line_at(verifier, verifier->block, difference->offset);
    return difference_say_why(difference,
                              at_record && verifier->why ? verifier->why : "no record begins there", err);
}

static const difference_kind_t kinds[] = {
    [MERGE_MISSING] = DIFFERENCE_MISSING,       [MERGE_EXTRA] = DIFFERENCE_EXTRA,
    [MERGE_DUPLICATED] = DIFFERENCE_DUPLICATED, [MERGE_CHANGED] = DIFFERENCE_CHANGED,
    [MERGE_UNRELATED] = DIFFERENCE_UNRELATED,
};

/* True if the user has fixed the record, and the catalog knows the document that was made of it. If a reject file was
 * given that says what it has to be (why), that counts instead. */
static bool is_fixed(const verifier_t *verifier, const merge_found_t *found) {
    const active_piece_t *piece = verifier->block->piece;
    const uint64_t offset = verifier->window_offset + (uint64_t)(found->id - verifier->first_id);
    if ((found->kind != MERGE_EXTRA && found->kind != MERGE_CHANGED) || !found->stored ||
        found->id != verifier->record_id || (found->kind == MERGE_CHANGED && verifier->why))
        return false;
    return fix_marks_accept(piece->fixes, piece->fix_count, offset,
                            account_identity(verifier->block, &verifier->record),
                            XXH3_64bits(found->stored, found->stored_length));
}

void verifier_count_unloaded(verifier_t *verifier) {
    verifier->look.expected--;
    verifier->look.fixed--;
    verifier->look.unloaded++;
}

static bool take_finding(void *context, const merge_found_t *found, err_t *err) {
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
            /* the place of the record is known */
            if (found->id == verifier->record_id) {
                difference.line = difference.last_line = verifier->block->first_line + record->line;
                difference.end = difference.offset + record->length + record->line_end;
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

/* ---- reading the target ---- */

static int next_stored(void *context, const uint8_t **stored, uint32_t *length, err_t *err) {
    verifier_t *verifier = context;
    const int got = snapshot_read_next(verifier->target, stored, length, err);
    if (got > 0)
        verifier->look.stored_bytes += *length;
    return got;
}

static int64_t end_of(int64_t first) {
    return first > INT64_MAX - RECORD_ID_BLOCK_BYTES ? INT64_MAX : first + RECORD_ID_BLOCK_BYTES;
}

/* ---- what a block's records make ---- */

typedef struct {
    verifier_t *verifier;
    merge_t merge;
} sink_t;

/* Nothing was found at the record. That is a difference if the catalog says that a document it was fixed to was
 * there. */
static bool check_fix(verifier_t *verifier, err_t *err) {
    const block_t *block = verifier->block;
    const size_t number = (size_t)(block->piece - verifier->inspection->pieces);
    const merge_found_t missing = {.kind = MERGE_MISSING, .id = verifier->record_id};
    if (!standing_awaits_fix(&verifier->inspection->entries->wanted[number].entry,
                             block->offset + verifier->record.offset,
                             account_identity(block, &verifier->record)))
        return true;
    verifier->look.expected++;
    verifier->why = "the document that it was fixed to";
    return verifier->fixed || take_finding(verifier, &missing, err);
}

void verifier_let_go(verifier_t *verifier) {
    records_place_t *const places[] = {&verifier->place, &verifier->fix_place};
    for (size_t i = 0; i < COUNT(places); i++) {
        if (places[i]->room <= CUTTER_BUFFER)
            continue;
        free(places[i]->bytes);
        *places[i] = (records_place_t){.room = 0};
    }
}

static bool expect(sink_t *sink, int64_t id, const uint8_t *document, uint32_t length, err_t *err) {
    verifier_t *verifier = sink->verifier;
    verifier->look.expected += document != NULL;
    verifier->look.encoded_bytes += length;
    if (verifier->by_id)
        return document ? verifier_expect_by_id(verifier, document, length, err)
                        : verifier_expect_fix(verifier, err);
    verifier->fixed = false;
    return merge_expect(&sink->merge, id, document, length, err) &&
           (document || id != verifier->record_id || !verifier->block->piece->fix_count ||
            check_fix(verifier, err));
}

/* Makes the document of the fix at hand, or that of the record once more, in fix_place. */
static bool make(verifier_t *verifier, err_t *err) {
    const block_t *block = verifier->block;
    record_t record = verifier->record;
    records_t *reader = verifier->fix_reader;
    if (verifier->at_fix)
        return fixes_make(verifier->inspection->fixes, verifier->at_fix, reader, &verifier->fix_place, err);
    records_from(reader, block_known_as(block));
    records_begin(reader, block->piece->dialect, block->buffer.bytes + record.offset, record.length, false,
                  true, verifier->record_id);
    return records_next_into(reader, &verifier->fix_place, &record, NULL) == PARSED_DOCUMENT ||
           err_memory(err, record.needed);
}

bool verifier_describe(verifier_t *verifier, difference_t *difference, const uint8_t *expected,
                       uint32_t expected_length, const uint8_t *stored, uint32_t stored_length, err_t *err) {
    return (expected || make(verifier, err)) &&
           difference_describe(difference, expected ? expected : verifier->fix_place.bytes, expected_length,
                               stored, stored_length, err);
}

/* Expects the document of a fix. */
static bool expect_fix(sink_t *sink, const fix_t *fix, err_t *err) {
    verifier_t *verifier = sink->verifier;
    verifier->look.fixed++;
    verifier->look.expected++;
    verifier->look.encoded_bytes += fix->length;
    verifier->fixed = false;
    if (!verifier->by_id)
        return merge_expect_hash(&sink->merge, fix->id, fix->is.mark.hash, fix->length, err);
    return make(verifier, err) &&
           verifier_expect_by_id(verifier, verifier->fix_place.bytes, fix->length, err);
}

/* Expects the fixed records before this `_id`. */
static bool expect_fixes(sink_t *sink, int64_t before, err_t *err) {
    verifier_t *verifier = sink->verifier;
    const fixes_t *fixes = verifier->inspection->fixes;
    for (; verifier->fix < fixes->count; verifier->fix++) {
        const fix_t *fix = fixes->items[verifier->fix];
        if (fix->id >= before)
            break;
        verifier->why = fix->length ? "as it was fixed" : "its record was left out when it was fixed";
        verifier->at_fix = fix->length ? fix : NULL;
        const bool ok = fix->length ? expect_fix(sink, fix, err) : expect(sink, fix->id, NULL, 0, err);
        verifier->at_fix = NULL;
        if (!ok)
            return false;
    }
    return true;
}

/* Expects the record at hand, or what it was fixed to. */
static bool expect_record(sink_t *sink, const uint8_t *document, uint32_t length, err_t *err) {
    verifier_t *verifier = sink->verifier;
    const fixes_t *fixes = verifier->inspection->fixes;
    int64_t id = verifier->record_id;
    if (!expect_fixes(sink, id, err))
        return false;
    if (verifier->fix < fixes->count && fixes->items[verifier->fix]->id == id)
        return expect_fixes(sink, id + 1, err);
    return expect(sink, id, document, length, err);
}

/* True if the rejected record at hand was left out, as the catalog says. */
static bool was_left_out(const verifier_t *verifier) {
    const block_t *block = verifier->block;
    return block->piece->fix_count &&
           fix_marks_of(block->piece->fixes, block->piece->fix_count, block->offset + verifier->record.offset,
                        account_identity(block, &verifier->record), 0)
                   .state == FIX_LEFT_OUT;
}

static bool take_record(sink_t *sink, parsed_t parsed, err_t *err) {
    verifier_t *verifier = sink->verifier;
    const inspection_t *inspection = verifier->inspection;
    const record_t *record = &verifier->record;
    const uint8_t *document = verifier->place.bytes;
    verifier->look.records++;
    verifier->record_id = verifier->block->id_base + record->offset;
    verifier->why = NULL;
    if (parsed == PARSED_REJECT || record->length > CUTTER_RECORD ||
        record->document_length > server_facts(inspection->server)->max_document_bytes) {
        verifier->look.rejected++;
        verifier->look.left_out += was_left_out(verifier);
        verifier->why = "its record is rejected: was it fixed? (--retry)";
        document = NULL;
    } else if (inspection->filter && !filter_passes(inspection->filter, document, record->document_length)) {
        verifier->look.filtered++;
        verifier->why = "the filter leaves its record out";
        document = NULL;
    }
    if (!document)
        verifier_let_go(verifier); /* the document that the record was fixed to may be as long */
    return expect_record(sink, document, document ? record->document_length : 0, err);
}

/* A record that is too long comes after the others. */
static bool take_oversize(sink_t *sink, err_t *err) {
    verifier_t *verifier = sink->verifier;
    const block_t *block = verifier->block;
    verifier->record = (record_t){
        .offset = block->length,
        .length = (uint32_t)block->oversize.length,
        .line = (uint32_t)ends_lines(verifier->inspection->schema, block->buffer.bytes, block->length)};
    return take_record(sink, PARSED_REJECT, err);
}

static bool take_records(sink_t *sink, err_t *err) {
    verifier_t *verifier = sink->verifier;
    const block_t *block = verifier->block;
    records_from(verifier->reader, block_known_as(block));
    records_begin(verifier->reader, block->piece->dialect, block->buffer.bytes, block->length,
                  block->file_start, true, block->id_base);
    for (;;) {
        parsed_t parsed = records_next_into(verifier->reader, &verifier->place, &verifier->record, NULL);
        if (parsed == PARSED_END)
            break;
        if (parsed == PARSED_MEMORY)
            return err_memory(err, verifier->record.length);
        if (parsed == PARSED_OTHER_HEADER)
            return other_header_refuse(block, &verifier->record, false, err);
        if ((parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT) && !take_record(sink, parsed, err))
            return false;
    }
    return !block->oversize.length || take_oversize(sink, err);
}

/* ---- a window, a block ---- */

static bool take_window(sink_t *sink, bool first, err_t *err) {
    verifier_t *verifier = sink->verifier;
    verifier->record_id = -1;
    verifier->fix = fixes_first(verifier->inspection->fixes, verifier->first_id);
    return (!first || take_records(sink, err)) &&
           expect_fixes(sink, verifier->first_id + RECORD_ID_BLOCK_BYTES, err);
}

static bool merge_window(verifier_t *verifier, bool first, err_t *err) {
    sink_t sink = {.verifier = verifier,
                   .merge = {.next = next_stored, .report = take_finding, .context = verifier}};
    snapshot_read_begin(verifier->target, verifier->first_id, end_of(verifier->first_id));
    bool ok = merge_begin(&sink.merge, err) && take_window(&sink, first, err) && merge_end(&sink.merge, err);
    verifier->look.seen += sink.merge.seen;
    verifier->look.same += sink.merge.same;
    return ok;
}

/* The same for documents that have an `_id` of their own. */
static bool ask_window(verifier_t *verifier, bool first, err_t *err) {
    sink_t sink = {.verifier = verifier};
    return take_window(&sink, first, err) && verifier_ask_by_id(verifier, err);
}

/* The first `_id` of a window of the block. False: the catalog has no place for it, so nothing can be there. */
static bool find_window(const verifier_t *verifier, uint64_t window, int64_t *first) {
    const block_t *block = verifier->block;
    uint64_t voff, offset = window * RECORD_ID_BLOCK_BYTES;
    if (window == block->from) {
        *first = block->id_base - (int64_t)(block->offset - offset);
        return true;
    }
    bool found = active_piece_number(block->piece, offset, &voff);
    if (found)
        *first = record_id_make(record_id_lane(block->piece->ordinal, offset), voff);
    return found;
}

/* Compares a block once. False: with snapshot_read_again it is worth another try, else err. */
static bool compare_once(verifier_t *verifier, const block_t *block, err_t *err) {
    verifier->block = block;
    verifier->look = (inspected_t){.blocks = 1};
    verifier->block_ids.count = verifier->block_ids.awaited_count = 0;
    last_wins_clear(&verifier->block_last);
    if (verifier->by_id)
        by_id_clear(verifier->by_id);
    differences_clear(verifier->found);
    for (uint64_t window = block->from; window < block->to; window++) {
        bool first = window == block->from;
        verifier->window_offset = window * RECORD_ID_BLOCK_BYTES;
        if (!find_window(verifier, window, &verifier->first_id))
            break;
        if (!(verifier->by_id ? ask_window(verifier, first, err) : merge_window(verifier, first, err)))
            return false;
    }
    return true;
}

/* Waits until the server, if it was away just now, has had time to settle. */
static bool let_settle(const inspection_t *inspection, err_t *err) {
    for (;;) {
        int64_t shaken = inspection->shaken_ns;
        if (!shaken || clock_now_ns() - shaken >= SETTLED_NS)
            return true;
        if (stop_signal())
            return err_set(err, (status_t)(128 + stop_signal()), "interrupted");
        struct timespec nap = {.tv_nsec = NAP_NS};
        nanosleep(&nap, NULL);
    }
}

bool verifier_look(verifier_t *verifier, const block_t *block, err_t *err) {
    inspection_t *inspection = verifier->inspection;
    snapshot_read_refresh(verifier->target);
    for (bool second = false;;) {
        if (!compare_once(verifier, block, err)) {
            if (!snapshot_read_again(verifier->target))
                return false;
            inspection->shaken_ns = clock_now_ns();
            inspected_add(&verifier->counters, &(inspected_t){.retries = 1});
            continue;
        }
        if (differences_total(verifier->found) && !second) {
            if (!let_settle(inspection, err))
                return false;
            second = true;
            snapshot_read_refresh(verifier->target);
            continue;
        }
        inspected_add(&verifier->counters, &verifier->look);
        verifier_let_go(verifier);
        return verified_ids_add(&verifier->ids, &verifier->block_ids, err) &&
               last_wins_move(&verifier->last, &verifier->block_last, err) &&
               differences_move(verifier->differences, verifier->found, err);
    }
}
