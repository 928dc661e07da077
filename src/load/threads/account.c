#include "load/threads/account.h"
#include "base/text.h"
#include "format/cut/ends.h"
#include "input/source.h"
#include "load/rejects/reject_identity.h"

#include <stdio.h>
#include <string.h>
#include <xxhash.h>

/* In the block, for the catalog, and in the thread's counts. */
#define COUNT_BOTH(field, amount)                                                                            \
    (block->counts.field += (amount), ACCOUNT_ADD(account->counts->field, (amount)))

void account_one(const account_t *account, block_t *block, unsent_t what) {
    COUNT_BOTH(read, 1);
    if (what == RECORD_FILTERED) {
        COUNT_BOTH(filtered, 1);
    } else if (what == RECORD_CORRECTED || what == RECORD_REPLACED) {
        COUNT_BOTH(loaded, 1);
        COUNT_BOTH(corrected, what == RECORD_CORRECTED);
        COUNT_BOTH(replaced, what == RECORD_REPLACED);
    } else {
        COUNT_BOTH(already_there, 1);
        COUNT_BOTH(kept, what == RECORD_KEPT);
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

/* One that the user has left out is no reject any more, but stays noted as one, so that it can still be fixed. */
bool account_reject(const account_t *account, block_t *block, const record_t *record, const char *reason,
                    err_t *err) {
    const load_file_t *file = block->file;
    const bool whole = record->offset < block->length;
    const reject_mark_t mark = {block->offset + record->offset, account_identity(block, record)};
    if (fix_marks_leave_out(file->fixes, file->fix_count, mark.offset, mark.hash)) {
        account_one(account, block, RECORD_FILTERED);
        return mark_reject(block, &mark, err);
    }
    const reject_t it = {.file = file,
                         .offset = mark.offset,
                         .line = line_at(account, block, record->line),
                         .column = record_column(record, block->in_line),
                         .field = record->field,
                         .reason = reason,
                         .bytes = block->buffer.bytes + record->offset,
                         .length = whole ? record->length : block->oversize.length,
                         .kept = whole ? record->length : block->oversize.kept,
                         .of = block->rejected_as};
    COUNT_BOTH(read, 1);
    COUNT_BOTH(rejected, 1);
    return mark_reject(block, &mark, err) && rejects_add(account->loading->rejects, &it, err);
}

bool account_oversize(const account_t *account, block_t *block, const char *reason, err_t *err) {
    const record_t record = {
        .offset = block->length,
        .line = (uint32_t)ends_lines(account->loading->schema, block->buffer.bytes, block->length),
        .column = 1};
    return account_reject(account, block, &record, reason, err);
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
void account_stopped(const account_t *account, const delivered_t *delivered) {
    uint32_t replaced = 0, there = 0, kept = 0;
    for (size_t i = 0; i < delivered->count; i++) {
        replaced += delivered->exceptions[i].replaced;
        there += delivered->exceptions[i].there;
        kept += delivered->exceptions[i].kept;
    }
    ACCOUNT_ADD(account->counts->read, delivered->stored + replaced + there);
    ACCOUNT_ADD(account->counts->loaded, delivered->stored + replaced);
    ACCOUNT_ADD(account->counts->replaced, replaced);
    ACCOUNT_ADD(account->counts->already_there, there);
    ACCOUNT_ADD(account->counts->kept, kept);
}

bool account_batch(const account_t *account, batch_t *batch, const delivered_t *delivered, err_t *err) {
    delivered_t rest = *delivered; /* what is not counted yet */
    uint32_t first = 0;
    bool ok = true;
    for (size_t i = 0; i < batch->part_count; i++) {
        block_t *block = batch->parts[i].block;
        uint32_t end = first + batch->parts[i].count, loaded = batch->parts[i].count;
        for (; ok && rest.count && rest.exceptions->index < end; loaded--, rest.count--)
            ok = settle_exception(account, batch, block, rest.exceptions++, err);
        if (!ok) {
            account_stopped(account, &rest);
            return false;
        }
        rest.stored -= loaded;
        COUNT_BOTH(read, loaded);
        COUNT_BOTH(loaded, loaded);
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
