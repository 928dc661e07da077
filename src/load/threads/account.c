/* `account` counts each record in its block, for the catalog, and in its thread's counters. `begun` decides about records of
 * blocks of which an earlier run may have sent something. */
#include "base/text.h"
#include "format/cut/ends.h"
#include "input/source.h"
#include "load/deliver/ask.h"
#include "load/read_back/read_back.h"
#include "load/rejects/fix_item.h"
#include "load/threads/loader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- account ---- */

static void count(counts_t *counts, fate_t fate, uint64_t records) {
    ACCOUNT_ADD(counts->read, records);
    ACCOUNT_ADD(counts->of[fate], records);
    if (fate == FATE_CORRECTED || fate == FATE_REPLACED)
        ACCOUNT_ADD(counts->of[FATE_LOADED], records);
    else if (fate == FATE_KEPT)
        ACCOUNT_ADD(counts->of[FATE_THERE], records);
}

void account_fate(loader_t *loader, block_t *block, fate_t fate, uint64_t records) {
    count(&block->counts, fate, records);
    count(&loader->counters.counts, fate, records);
}

void account_block(loader_t *loader, block_t *block) {
    if (!block->parsed || block->pending)
        return;
    pool_give(loader->loading->pipeline.pool, &block->buffer);
    load_state_add_done(loader->loading, block);
}

/* Notes a reject for the catalog, which knows it by its place and bytes. */
static bool mark_reject(block_t *block, const reject_mark_t *mark, err_t *err) {
    if (!GROW(block->rejects, block->reject_room, block->reject_count + 1, err))
        return false;
    block->rejects[block->reject_count++] = *mark;
    return true;
}

/* Returns how many lines the file has before the block's cutter began; UINT64_MAX: unknown. They are counted only when a reject
 * needs them: by one thread, while others that need lines wait. */
static uint64_t lines_before(load_state_t *loading, const block_t *block) {
    active_piece_t *piece = block->piece;
    pthread_mutex_lock(&loading->counting);
    if (piece->counted_to != block->lines_from &&
        !source_lines(piece->input, loading->plan->schema->kind == RECORDS_BSON, block->lines_from,
                      &piece->counted))
        piece->counted = UINT64_MAX;
    piece->counted_to = block->lines_from;
    const uint64_t lines = piece->counted;
    pthread_mutex_unlock(&loading->counting);
    return lines;
}

/* Returns the line in the file of a place, by its line in the block; 0: unknown. */
static uint64_t line_at(const loader_t *loader, const block_t *block, uint64_t line) {
    const uint64_t before = block->lines_from ? lines_before(loader->loading, block) : 0;
    return before == UINT64_MAX || !block->first_line ? 0 : before + block->first_line + line;
}

/* A record that the user left out is counted as filtered, but stays noted as a reject, so that it can still be fixed. */
bool account_reject(loader_t *loader, block_t *block, const record_t *record, const char *reason,
                    err_t *err) {
    const active_piece_t *piece = block->piece;
    const bool whole = record->offset < block->length;
    const reject_mark_t mark = {block->offset + record->offset, account_identity(block, record)};
    if (fix_marks_of(piece->fixes, piece->fix_count, mark.offset, mark.hash, 0).state == FIX_LEFT_OUT) {
        account_fate(loader, block, FATE_FILTERED, 1);
        return mark_reject(block, &mark, err);
    }
    const reject_t it = {.piece = piece,
                         .offset = mark.offset,
                         .line = line_at(loader, block, record->line),
                         .column = record_column(record, block->in_line),
                         .field = record->field,
                         .reason = reason,
                         .bytes = block->buffer.bytes + record->offset,
                         .length = whole ? record->length : block->oversize.length,
                         .kept = whole ? record->length : block->oversize.kept,
                         .of = block->rejected_as};
    account_fate(loader, block, FATE_REJECTED, 1);
    return mark_reject(block, &mark, err) && rejects_add(loader->loading->rejects, &it, err);
}

record_t account_record(const schema_t *schema, const block_t *block, uint32_t offset) {
    const uint8_t *text = block->buffer.bytes, *from = text + offset;
    uint32_t length =
        (uint32_t)ends_find(schema, block->piece->dialect->delimiter, from, block->length - offset, true);
    if (schema->kind != RECORDS_BSON) {
        length -= length && from[length - 1] == '\n';
        length -= length && from[length - 1] == '\r';
    }
    return (record_t){
        .offset = offset, .length = length, .line = (uint32_t)ends_lines(schema, text, offset), .column = 1};
}

uint64_t account_identity(const block_t *block, const record_t *record) {
    const uint32_t length = record->offset < block->length ? record->length : block->oversize.kept;
    return reject_identity_hash(block->buffer.bytes + record->offset, length);
}

bool account_is_fixed(const loader_t *loader, const block_t *block, const record_t *record) {
    const active_piece_t *piece = block->piece;
    return loader->loading->plan->schema->id && !loader->loading->plan->spec->reload_missing &&
           piece->fix_count && !block->by_itself &&
           fix_marks_of(piece->fixes, piece->fix_count, block->offset + record->offset,
                        account_identity(block, record), loader->loading->target->generation)
                   .state == FIX_ANSWERED;
}

static bool reject_refused(loader_t *loader, block_t *block, uint32_t offset, const char *reason,
                           err_t *err) {
    const record_t record = account_record(loader->loading->plan->schema, block, offset);
    if (account_is_fixed(loader, block, &record)) {
        account_fate(loader, block, FATE_THERE, 1);
        return true;
    }
    return account_reject(loader, block, &record, reason, err);
}

static bool settle_exception(loader_t *loader, const batch_t *batch, block_t *block,
                             const exception_t *exception, err_t *err) {
    const uint32_t index = exception->index, offset = batch->offsets[index];
    if (exception->taken && block->piece->torn_count) {
        record_t record = account_record(loader->loading->plan->schema, block, offset);
        record.document_length = batch->starts[index + 1] - batch->starts[index];
        return begun_taken(loader, block, &record, batch->bytes + batch->starts[index], err);
    }
    if (exception->fate == FATE_REJECTED)
        return reject_refused(loader, block, offset, exception->reason, err);
    account_fate(loader, block, exception->fate, 1);
    return true;
}

void account_stopped(loader_t *loader, const delivered_t *delivered) {
    count(&loader->counters.counts, FATE_LOADED, delivered->stored);
    for (size_t i = 0; i < delivered->count; i++)
        if (delivered->exceptions[i].fate != FATE_REJECTED)
            count(&loader->counters.counts, delivered->exceptions[i].fate, 1);
}

bool account_batch(loader_t *loader, batch_t *batch, const delivered_t *delivered, err_t *err) {
    delivered_t rest = *delivered; /* not counted yet */
    uint32_t first = 0;
    bool ok = true;
    for (size_t i = 0; i < batch->part_count; i++) {
        block_t *block = batch->parts[i].block;
        uint32_t end = first + batch->parts[i].count, loaded = batch->parts[i].count;
        for (; ok && rest.count && rest.exceptions->index < end; loaded--, rest.count--)
            ok = settle_exception(loader, batch, block, rest.exceptions++, err);
        if (!ok) {
            account_stopped(loader, &rest);
            return false;
        }
        rest.stored -= loaded;
        account_fate(loader, block, FATE_LOADED, loaded);
        block->pending -= batch->parts[i].count;
        first = end;
        batch->parts[i].block = NULL;
        account_block(loader, block);
    }
    return true;
}

block_t *account_find(const batch_t *batch, uint32_t index, uint32_t *offset) {
    uint32_t end = 0;
    *offset = batch->offsets[index];
    for (size_t i = 0; i < batch->part_count; i++)
        if (index < (end += batch->parts[i].count))
            return batch->parts[i].block;
    return NULL;
}

void account_place(const loader_t *loader, const batch_t *batch, uint32_t index, char *text, size_t size) {
    char place[PLACE_MAX];
    uint32_t offset;
    const block_t *block = account_find(batch, index, &offset);
    if (block)
        snprintf(text, size, "%s%s", block->piece->input->name,
                 place_words(place,
                             line_at(loader, block,
                                     ends_lines(loader->loading->plan->schema, block->buffer.bytes, offset)),
                             block->offset + offset));
    else
        snprintf(text, size, "a record of this load");
}

/* ---- begun ---- */

/* True if a user has put the other document in the place of the current record. */
static bool accepts_hash(void *context, uint64_t hash) {
    loader_t *loader = context;
    const block_t *block = loader->begun.block;
    const active_piece_t *piece = block->piece;
    const uint64_t offset = block->offset + loader->begun.record->offset;
    if (!piece->fix_count)
        return false;
    if (fix_marks_accept(piece->fixes, piece->fix_count, offset,
                         account_identity(block, loader->begun.record), hash))
        return true;
    loader->begun.outgrown |= fix_marks_know(piece->fixes, piece->fix_count, offset, hash);
    return false;
}

/* Opens a reader, unless there is one. */
static bool need_reader(loader_t *loader, err_t *err) {
    loader->begun.range.accepts = accepts_hash;
    loader->begun.range.context = loader;
    return loader->begun.target ||
           (loader->begun.target = snapshot_read_new(loader->loading->target->server,
                                                     writer_client(loader->writer), err)) != NULL;
}

static uint64_t window_of(const block_t *block) {
    return block->offset / RECORD_ID_BLOCK_BYTES * RECORD_ID_BLOCK_BYTES;
}

/* True if the whole input is fed again: a document where no record begins means that it changed. */
static bool is_of_input(const block_t *block) {
    return block->piece->begun_before;
}

/* Returns how many bytes between the window's beginning and the block's first record are checked, too: an earlier version of the
 * input may have had another record there. */
static uint64_t bytes_before(const block_t *block) {
    return is_of_input(block) && !block->after_another ? block->offset - window_of(block) : 0;
}

/* how: the evidence, after "at byte N". */
static bool refuse_changed(const loader_t *loader, uint64_t offset, const char *how, err_t *err) {
    char what[160];
    snprintf(what, sizeof what, "at byte %llu %s", (unsigned long long)offset, how);
    return changed_refuse(loader->begun.block->piece, what, err);
}

/* Returns how many bytes of the block's text lie in the window in which its first record begins. */
static uint64_t bytes_of(const block_t *block) {
    const uint64_t text = block->length + block->oversize.length,
                   window = window_of(block) + RECORD_ID_BLOCK_BYTES - block->offset;
    if (!is_of_input(block)) /* a record that is too long begins at the text's end */
        return block->length + (block->oversize.length > 0);
    return text < window ? text : window;
}

static bool read_range(loader_t *loader, int64_t from, int64_t end, err_t *err) {
    return snapshot_read_all(loader->begun.target, from, end, read_back_clear, read_back_keep,
                             &loader->begun.range, err);
}

/* Passes the documents after the last record, and refuses one where no record begins. base: `_id` of the text at `offset`. */
static bool end_range(loader_t *loader, int64_t known, int64_t base, uint64_t offset, err_t *err) {
    const active_piece_t *piece = loader->begun.block->piece;
    const read_back_t *range = &loader->begun.range;
    read_back_end(&loader->begun.range, known);
    if (!range->strayed)
        return true;
    offset += (uint64_t)(range->stray - base);
    return other_stream_may_be(piece)
               ? other_stream_refuse(piece, "the old one has a record where the new one has none,", offset, 0,
                                     err)
               : refuse_changed(loader, offset,
                                "there is a document of it in the collection, but no record begins there",
                                err);
}

/* Refuses documents in the windows of the block in which no record begins, because a long record fills them. */
static bool check_empty_windows(loader_t *loader, const block_t *block, err_t *err) {
    const uint64_t text_end = block->offset + block->length + block->oversize.length;
    for (uint64_t window = block->from; window < block->to; window++) {
        const uint64_t at = window * RECORD_ID_BLOCK_BYTES;
        const uint64_t bytes = text_end - at < RECORD_ID_BLOCK_BYTES ? text_end - at : RECORD_ID_BLOCK_BYTES;
        uint64_t number;
        if (at == window_of(block) || at >= text_end || !active_piece_number(block->piece, at, &number))
            continue;
        const int64_t first = record_id_make(record_id_lane(block->piece->ordinal, at), number);
        if (!read_range(loader, first, first + (int64_t)bytes, err) ||
            !end_range(loader, INT64_MIN, first, at, err))
            return false;
    }
    return true;
}

/* Reading back costs a hundredth of sending duplicates, and a document on another shard would not even be a duplicate. */
bool begun_read(loader_t *loader, block_t *block, bool *any, err_t *err) {
    loader->begun.block = block;
    const bool ok =
        need_reader(loader, err) &&
        (!is_of_input(block) || block->after_another || check_empty_windows(loader, block, err)) &&
        read_range(loader, block->id_base - (int64_t)bytes_before(block),
                   block->id_base + (int64_t)bytes_of(block), err);
    *any = ok && loader->begun.range.used;
    return ok;
}

/* Finds what is in the place of a record. document: NULL if it makes none. */
static read_back_found_t look(loader_t *loader, const record_t *record, const uint8_t *document) {
    loader->begun.record = record;
    loader->begun.outgrown = false;
    return read_back_look(&loader->begun.range, loader->begun.block->id_base + record->offset, document,
                          document ? record->document_length : 0);
}

/* False if the document of a cut-off record cannot be changed safely, because the whole record's document may belong to another
 * shard. */
static bool may_correct(loader_t *loader, block_t *block, const record_t *record, err_t *err) {
    return !loader->loading->target->route || route_key(loader->loading->target->route)->is_id ||
           correct_refuse(block, record->offset,
                          "a collection that is sharded by another key than _id does not allow that", err);
}

static void say_taken(loader_t *loader, char reason[WIRE_WORDS], const block_t *block, const record_t *record,
                      const uint8_t *document) {
    if (loader->begun.outgrown)
        begun_say_other(loader, reason, NULL, block->id_base + record->offset);
    else
        ask_say_taken(reason, document, record->document_length);
    const size_t used = strlen(reason);
    if (!loader->begun.outgrown && !loader->loading->plan->schema->id)
        snprintf(reason + used, WIRE_WORDS - used, ASK_ADVICE);
}

static bool correct_document(loader_t *loader, block_t *block, const record_t *record,
                             const uint8_t *document, err_t *err) {
    char reason[WIRE_WORDS];
    corrected_t corrected;
    if (!may_correct(loader, block, record, err) ||
        !correct_replace(loader, block, record->offset, document, record->document_length, &corrected, err))
        return false;
    if (corrected == CORRECT_DONE) {
        account_fate(loader, block, FATE_CORRECTED, 1);
        return true;
    }
    if (corrected == CORRECT_REFUSED)
        snprintf(reason, sizeof reason, "%.*s", (int)sizeof reason - 1, err->text);
    else
        say_taken(loader, reason, block, record, document);
    return account_reject(loader, block, record, reason, err);
}

static bool refuse_stream(loader_t *loader, uint64_t offset, err_t *err) {
    return other_stream_refuse(loader->begun.block->piece, "the new one has another record than the old one",
                               loader->begun.block->offset + offset, 0, err);
}

bool begun_taken(loader_t *loader, block_t *block, const record_t *record, const uint8_t *document,
                 err_t *err) {
    char reason[WIRE_WORDS];
    loader->begun.outgrown = false;
    if (!loader->loading->plan->schema->id && correct_was_torn(block, record->offset))
        return correct_document(loader, block, record, document, err);
    say_taken(loader, reason, block, record, document);
    return account_reject(loader, block, record, reason, err);
}

bool begun_nothing(loader_t *loader, const record_t *record, const uint8_t *document,
                   read_back_found_t *there, err_t *err) {
    const read_back_found_t found = look(loader, record, document);
    bool removed = false;
    if (found == READ_BACK_OTHER && other_stream_may_be(loader->begun.block->piece))
        return refuse_stream(loader, record->offset, err);
    if (found == READ_BACK_OTHER && correct_was_torn(loader->begun.block, record->offset) &&
        (!may_correct(loader, loader->begun.block, record, err) ||
         !correct_remove(loader, loader->begun.block, record->offset, &removed, err)))
        return false;
    if (found == READ_BACK_OTHER && !removed && !loader->begun.outgrown &&
        loader->loading->plan->spec->reload_changed)
        return refuse_changed(loader, loader->begun.block->offset + record->offset,
                              "it has another record than then", err);
    *there = removed || found == READ_BACK_SAME ? READ_BACK_NOTHING : found;
    return true;
}

void begun_say_other(loader_t *loader, char reason[WIRE_WORDS], const char *before, int64_t id) {
    snprintf(reason, WIRE_WORDS, "%s%sanother document with its _id (%lld) is in the collection%s",
             before ? before : "", before ? "; and " : "", (long long)id,
             loader->begun.outgrown ? ": what the record was fixed to when it was cut off" : "");
}

bool begun_document(loader_t *loader, const record_t *record, const uint8_t *document, bool *open,
                    err_t *err) {
    char reason[WIRE_WORDS];
    const read_back_found_t found = look(loader, record, document);
    *open = false;
    if (found == READ_BACK_OTHER && correct_was_torn(loader->begun.block, record->offset))
        return correct_document(loader, loader->begun.block, record, document, err);
    if (found == READ_BACK_OTHER && other_stream_may_be(loader->begun.block->piece))
        return refuse_stream(loader, record->offset, err);
    if (found == READ_BACK_OTHER && loader->loading->plan->spec->reload_changed)
        return refuse_changed(loader, loader->begun.block->offset + record->offset,
                              "it has another record than then", err);
    if (found == READ_BACK_OTHER) {
        say_taken(loader, reason, loader->begun.block, record, document);
        return account_reject(loader, loader->begun.block, record, reason, err);
    }
    *open = found == READ_BACK_NOTHING;
    if (!*open)
        account_fate(loader, loader->begun.block, FATE_THERE, 1);
    return true;
}

bool begun_end(loader_t *loader, err_t *err) {
    const block_t *block = loader->begun.block;
    const int64_t oversize = block->oversize.length ? block->id_base + block->length : INT64_MIN;
    return !is_of_input(block) || end_range(loader, oversize, block->id_base, block->offset, err);
}
