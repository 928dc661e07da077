#include "load/threads/account.h"
#include "base/text.h"
#include "format/cut/ends.h"
#include "input/source.h"
#include "load/rejects/reject_identity.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

void account_one(const account_t *account, block_t *block, unsent_t what) {
    block->counts.read++;
    ACCOUNT_ADD(account->counts->read, 1);
    if (what == RECORD_FILTERED) {
        block->counts.filtered++;
        ACCOUNT_ADD(account->counts->filtered, 1);
    } else if (what == RECORD_CORRECTED) {
        block->counts.loaded++;
        block->counts.corrected++;
        ACCOUNT_ADD(account->counts->loaded, 1);
        ACCOUNT_ADD(account->counts->corrected, 1);
    } else if (what == RECORD_REPLACED) {
        block->counts.loaded++;
        block->counts.replaced++;
        ACCOUNT_ADD(account->counts->loaded, 1);
        ACCOUNT_ADD(account->counts->replaced, 1);
    } else {
        block->counts.already_there++;
        block->counts.kept += what == RECORD_KEPT;
        ACCOUNT_ADD(account->counts->already_there, 1);
        ACCOUNT_ADD(account->counts->kept, what == RECORD_KEPT);
    }
}

void account_block(const account_t *account, block_t *block) {
    if (!block->parsed || block->pending)
        return;
    pool_give(account->loading->pipeline.pool, &block->buffer);
    load_state_add_done(account->loading, block);
}

/* For the catalog, which knows each rejected record by its place and bytes. */
static bool mark_reject(block_t *block, const reject_mark_t *mark, err_t *err) {
    if (!GROW(block->rejects, block->reject_room, block->reject_count + 1, err))
        return false;
    block->rejects[block->reject_count++] = *mark;
    return true;
}

/* One that a person has left out is no reject any more, but stays noted as one, so that it can still be fixed. */
static bool reject(const account_t *account, block_t *block, const reject_t *reject, err_t *err) {
    const load_file_t *file = block->file;
    const reject_mark_t mark = {reject->offset, reject_identity_hash(reject->bytes, reject->kept)};
    if (fix_marks_leave_out(file->fixes, file->fix_count, mark.offset, mark.hash)) {
        account_one(account, block, RECORD_FILTERED);
        return mark_reject(block, &mark, err);
    }
    block->counts.read++;
    block->counts.rejected++;
    ACCOUNT_ADD(account->counts->read, 1);
    ACCOUNT_ADD(account->counts->rejected, 1);
    return mark_reject(block, &mark, err) && rejects_add(account->loading->rejects, reject, err);
}

/* Where a cutter did not begin at a file's beginning, its lines are counted only now that somebody asks: by one thread, while
 * the others go on, but for those that ask for the same piece. UINT64_MAX: nobody knows. */
static uint64_t lines_before(load_state_t *loading, const block_t *block) {
    load_file_t *file = block->file;
    uint64_t lines = UINT64_MAX;
    pthread_mutex_lock(&loading->lock);
    while (file->counting)
        pthread_cond_wait(&loading->answered, &loading->lock);
    if (file->counted_to != block->lines_from) {
        file->counting = true;
        pthread_mutex_unlock(&loading->lock);
        if (!source_lines(file->input, loading->schema->kind == RECORDS_BSON, block->lines_from, &lines))
            lines = UINT64_MAX;
        pthread_mutex_lock(&loading->lock);
        file->counting = false;
        file->counted_to = block->lines_from;
        file->counted = lines;
        pthread_cond_broadcast(&loading->answered);
    }
    lines = file->counted;
    pthread_mutex_unlock(&loading->lock);
    return lines;
}

/* Of a place of the block's text, by its line in the block; 0: nobody knows it. */
static uint64_t line_at(const account_t *account, const block_t *block, uint64_t line) {
    const uint64_t before = block->lines_from ? lines_before(account->loading, block) : 0;
    return before == UINT64_MAX || !block->first_line ? 0 : before + block->first_line + line;
}

bool account_reject(const account_t *account, block_t *block, const record_t *record, const char *reason,
                    err_t *err) {
    reject_t it = {.file = block->file,
                   .offset = block->offset + record->offset,
                   .line = line_at(account, block, record->line),
                   .column = record_column(record, block->in_line),
                   .field = record->field,
                   .reason = reason,
                   .bytes = block->buffer.bytes + record->offset,
                   .length = record->length,
                   .kept = record->length,
                   .of = block->rejected_as};
    return reject(account, block, &it, err);
}

record_t account_record(const schema_t *schema, const block_t *block, uint32_t offset) {
    const uint8_t *text = block->buffer.bytes, *from = text + offset;
    uint32_t length =
        (uint32_t)ends_find(schema, block->file->dialect->delimiter, from, block->length - offset, true);
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

bool account_is_fixed(const account_t *account, const block_t *block, const record_t *record) {
    const load_file_t *file = block->file;
    return account->loading->schema->id && !account->loading->reload_missing && file->fix_count &&
           !block->by_itself &&
           fix_marks_answer(file->fixes, file->fix_count, block->offset + record->offset,
                            account_identity(block, record), account->loading->generation);
}

/* A document that the server would not take. */
static bool reject_refused(const account_t *account, block_t *block, uint32_t offset, const char *reason,
                           err_t *err) {
    const record_t record = account_record(account->loading->schema, block, offset);
    if (account_is_fixed(account, block, &record)) {
        account_one(account, block, RECORD_THERE);
        return true;
    }
    return account_reject(account, block, &record, reason, err);
}

/* A document that was not simply loaded. */
static bool settle_exception(const account_t *account, const batch_t *batch, block_t *block,
                             const exception_t *exception, err_t *err) {
    const uint32_t index = exception->index, offset = batch->offsets[index];
    if (exception->taken && block->file->torn_count) {
        record_t record = account_record(account->loading->schema, block, offset);
        record.document_length = batch->starts[index + 1] - batch->starts[index];
        return account->taken(account->taken_context, block, &record, batch->bytes + batch->starts[index],
                              err);
    }
    if (!exception->there && !exception->replaced)
        return reject_refused(account, block, offset, exception->reason, err);
    account_one(account, block,
                exception->replaced ? RECORD_REPLACED
                : exception->kept   ? RECORD_KEPT
                                    : RECORD_THERE);
    return true;
}

/* Of a batch with which the load ends: nothing more is rejected, and its blocks are read again by the next run. */
static void count_certain(const account_t *account, uint32_t stored, const exception_t *exceptions,
                          size_t count) {
    uint32_t replaced = 0, there = 0, kept = 0;
    for (size_t i = 0; i < count; i++) {
        replaced += exceptions[i].replaced;
        there += exceptions[i].there;
        kept += exceptions[i].kept;
    }
    ACCOUNT_ADD(account->counts->read, stored + replaced + there);
    ACCOUNT_ADD(account->counts->loaded, stored + replaced);
    ACCOUNT_ADD(account->counts->replaced, replaced);
    ACCOUNT_ADD(account->counts->already_there, there);
    ACCOUNT_ADD(account->counts->kept, kept);
}

void account_stopped(const account_t *account, const delivered_t *delivered) {
    count_certain(account, delivered->stored, delivered->exceptions, delivered->count);
}

bool account_batch(const account_t *account, batch_t *batch, const delivered_t *delivered, err_t *err) {
    uint32_t first = 0, counted = 0;
    size_t exceptions = 0;
    bool ok = true;
    for (size_t i = 0; i < batch->part_count; i++) {
        block_t *block = batch->parts[i].block;
        uint32_t end = first + batch->parts[i].count, loaded = batch->parts[i].count;
        for (; ok && exceptions < delivered->count && delivered->exceptions[exceptions].index < end;
             exceptions++, loaded--)
            ok = settle_exception(account, batch, block, &delivered->exceptions[exceptions], err);
        if (!ok) {
            count_certain(account, delivered->stored - counted, delivered->exceptions + exceptions,
                          delivered->count - exceptions);
            return false;
        }
        counted += loaded;
        block->counts.read += loaded;
        block->counts.loaded += loaded;
        ACCOUNT_ADD(account->counts->read, loaded);
        ACCOUNT_ADD(account->counts->loaded, loaded);
        block->pending -= batch->parts[i].count;
        first = end;
        batch->parts[i].block = NULL;
        account_block(account, block);
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

void account_place(const account_t *account, const batch_t *batch, uint32_t index, char *text, size_t size) {
    char place[PLACE_MAX];
    uint32_t offset;
    const block_t *block = account_find(batch, index, &offset);
    if (block)
        snprintf(text, size, "%s%s", block->file->input->name,
                 place_words(place,
                             line_at(account, block,
                                     ends_lines(account->loading->schema, block->buffer.bytes, offset)),
                             block->offset + offset));
    else
        snprintf(text, size, "a record of this load");
}

bool account_oversize(const account_t *account, block_t *block, const char *reason, err_t *err) {
    reject_t it = {.file = block->file,
                   .offset = block->offset + block->length,
                   .line = line_at(account, block,
                                   ends_lines(account->loading->schema, block->buffer.bytes, block->length)),
                   .column = 1,
                   .reason = reason,
                   .bytes = block->buffer.bytes + block->length,
                   .length = block->oversize.length,
                   .kept = block->oversize.kept};
    return reject(account, block, &it, err);
}
