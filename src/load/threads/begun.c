#include "load/threads/begun.h"
#include "load/deliver/ask.h"
#include "load/deliver/correct.h"
#include "load/read_back/read_back.h"
#include "load/read_back/snapshot_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

struct begun {
    load_state_t *loading;
    mongoc_client_t *client;
    const account_t *account;
    snapshot_read_t *target;
    read_back_t *range;
    block_t *block;      /* that is read back */
    const block_t *sent; /* of a document that was not taken */
    const record_t *record;
    bool outgrown; /* at its place is what a person has made of its beginning, when that was all of it */
};

begun_t *begun_new(load_state_t *loading, mongoc_client_t *client, const account_t *account, err_t *err) {
    begun_t *begun = calloc(1, sizeof *begun);
    if (!begun) {
        err_memory(err, sizeof *begun);
        return NULL;
    }
    *begun = (begun_t){.loading = loading, .client = client, .account = account};
    if ((begun->target = snapshot_read_new(loading->server, client, err)) &&
        (begun->range = read_back_new(err)))
        return begun;
    begun_free(begun);
    return NULL;
}

void begun_free(begun_t *begun) {
    if (!begun)
        return;
    read_back_free(begun->range);
    snapshot_read_free(begun->target);
    free(begun);
}

/* Where the window begins in which the block's first record does. */
static uint64_t window_of(const block_t *block) {
    return block->offset / RECORD_ID_BLOCK_BYTES * RECORD_ID_BLOCK_BYTES;
}

/* Was all of its input fed again, so that no document may be where no record begins? */
static bool is_of_input(const block_t *block) {
    return block->file->begun_before;
}

/* Where the last record of the block before ends, an earlier version of the input may have had another one. */
static uint64_t bytes_before(const block_t *block) {
    return is_of_input(block) && !block->after_another ? block->offset - window_of(block) : 0;
}

/* Something else is there than what the input makes now: with --reload-changed all of it is loaded again. */
static bool refuse_changed(const begun_t *begun, uint64_t offset, const char *how, err_t *err) {
    load_file_t *file = begun->block->file;
    file->changed = true;
    return err_set(err, STATUS_INPUT,
                   "%s has changed since it was loaded: at byte %llu %s. Put the old content back, or give "
                   "--reload-changed, which removes its documents and loads it again",
                   file->input->name, (unsigned long long)offset, how);
}

/* Of the window in which its records begin, as far as its text reaches. */
static uint64_t bytes_of(const block_t *block) {
    const uint64_t text = block->length + block->oversize.length,
                   window = window_of(block) + RECORD_ID_BLOCK_BYTES - block->offset;
    if (!is_of_input(block)) /* a record that is too long begins where the text ends */
        return block->length + (block->oversize.length > 0);
    return text < window ? text : window;
}

static bool read_range(begun_t *begun, int64_t from, int64_t end, err_t *err) {
    return snapshot_read_all(begun->target, from, end, read_back_clear, read_back_keep, begun->range, err) &&
           read_back_ready(begun->range, err);
}

static bool refuse_stray(const begun_t *begun, uint64_t offset, err_t *err) {
    const load_file_t *file = begun->block->file;
    return other_stream_may_be(file)
               ? other_stream_refuse(file, "the old one has a record where the new one has none,", offset, 0,
                                     err)
               : refuse_changed(begun, offset,
                                "there is a document of it in the collection, but no record begins there",
                                err);
}

/* Windows in which no record begins, because its last one, or one before it, is so long. */
static bool check_empty_windows(begun_t *begun, const block_t *block, err_t *err) {
    const uint64_t text_end = block->offset + block->length + block->oversize.length;
    for (uint64_t window = block->from; window < block->to; window++) {
        const uint64_t at = window * RECORD_ID_BLOCK_BYTES;
        const uint64_t bytes = text_end - at < RECORD_ID_BLOCK_BYTES ? text_end - at : RECORD_ID_BLOCK_BYTES;
        uint64_t number;
        int64_t stray;
        bool any;
        if (at == window_of(block) || at >= text_end || !load_file_number(block->file, at, &number))
            continue;
        const int64_t first = record_id_make(record_id_lane(block->file->ordinal, at), number);
        if (!read_range(begun, first, first + (int64_t)bytes, err) ||
            !read_back_end(begun->range, INT64_MIN, &any, &stray, err))
            return false;
        if (any)
            return refuse_stray(begun, at + (uint64_t)(stray - first), err);
    }
    return true;
}

/* To ask costs a hundredth of what duplicates cost, and on another shard there would be none. */
bool begun_read(begun_t *begun, block_t *block, bool *any, err_t *err) {
    begun->block = block;
    const bool ok = (!is_of_input(block) || block->after_another || check_empty_windows(begun, block, err)) &&
                    read_range(begun, block->id_base - (int64_t)bytes_before(block),
                               block->id_base + (int64_t)bytes_of(block), err);
    *any = ok && read_back_any(begun->range);
    return ok;
}

/* Of another document at the place of the record at hand: has a person put it there instead? */
static bool accepts_hash(void *context, uint64_t hash) {
    begun_t *begun = context;
    const block_t *block = begun->block;
    const load_file_t *file = block->file;
    const uint64_t offset = block->offset + begun->record->offset;
    if (!file->fix_count)
        return false;
    if (fix_marks_accept(file->fixes, file->fix_count, offset, account_identity(block, begun->record), hash))
        return true;
    begun->outgrown |= fix_marks_know(file->fixes, file->fix_count, offset, hash);
    return false;
}

/* What there is of a record; document: NULL where none could be made. */
static bool look(begun_t *begun, const record_t *record, const uint8_t *document, read_back_found_t *found,
                 err_t *err) {
    begun->record = record;
    begun->outgrown = false;
    return read_back_look(begun->range, begun->block->id_base + record->offset, document,
                          document ? record->document_length : 0, accepts_hash, begun, found, err);
}

/* A record that was cut off when its input ended there, and is longer now: its document cannot be changed
 * safely where its new one may belong to another shard. */
static bool may_correct(const begun_t *begun, block_t *block, const record_t *record, err_t *err) {
    if (!begun->loading->route || route_key(begun->loading->route)->is_id)
        return true;
    block->file->changed = true;
    return err_set(err, STATUS_INPUT,
                   "%s has grown in the middle of a record (at byte %llu), whose document would have to be "
                   "replaced; a collection that is sharded by another key than _id does not allow that: give "
                   "--reload-changed, which removes the documents of this input and loads it again",
                   block->file->input->name, (unsigned long long)(block->offset + record->offset));
}

static bool may_send(void *loading, const block_t *block, err_t *err) {
    return load_state_wait_confirmed(loading, err) && !block_is_lost(block);
}

static correct_place_t correct_place(const begun_t *begun) {
    load_state_t *loading = begun->loading;
    return (correct_place_t){.server = loading->server,
                             .client = begun->client,
                             .uuid = loading->uuid,
                             .schema = loading->schema,
                             .may_send = may_send,
                             .context = loading};
}

/* Why a record is a reject whose place in the collection another document has. */
static void say_taken(const begun_t *begun, char reason[WIRE_WORDS], const block_t *block,
                      const record_t *record, const uint8_t *document) {
    if (begun->outgrown)
        begun_say_other(begun, reason, NULL, block->id_base + record->offset);
    else
        ask_say_taken(reason, document, record->document_length);
    const size_t used = strlen(reason);
    if (!begun->outgrown && !begun->loading->schema->id)
        snprintf(reason + used, WIRE_WORDS - used, ASK_ADVICE);
}

static bool correct_document(begun_t *begun, block_t *block, const record_t *record, const uint8_t *document,
                             err_t *err) {
    const correct_place_t place = correct_place(begun);
    char reason[WIRE_WORDS];
    corrected_t corrected;
    if (!may_correct(begun, block, record, err) ||
        !correct_replace(&place, block, record->offset, document, record->document_length, &corrected, err))
        return false;
    if (corrected == CORRECT_DONE)
        account_one(begun->account, block, RECORD_CORRECTED);
    if (corrected == CORRECT_DONE || corrected == CORRECT_LOST)
        return true;
    if (corrected == CORRECT_REFUSED)
        snprintf(reason, sizeof reason, "%.*s", (int)sizeof reason - 1, err->text);
    else
        say_taken(begun, reason, block, record, document);
    return account_reject(begun->account, block, record, reason, err);
}

static bool refuse_stream(const begun_t *begun, uint64_t offset, err_t *err) {
    return other_stream_refuse(begun->block->file, "the new one has another record than the old one",
                               begun->block->offset + offset, 0, err);
}

static void nothing_seen(void *context) {
    begun_t *begun = context;
    begun->outgrown = false;
}

/* What a person has put there for another record than the one at hand? */
static bool see_outgrown(void *context, const uint8_t *document, uint32_t length, err_t *err) {
    begun_t *begun = context;
    const load_file_t *file = begun->sent->file;
    const uint64_t offset = begun->sent->offset + begun->record->offset;
    (void)err;
    begun->outgrown |= fix_marks_know(file->fixes, file->fix_count, offset, XXH3_64bits(document, length));
    return true;
}

bool begun_taken(begun_t *begun, block_t *block, const record_t *record, const uint8_t *document,
                 err_t *err) {
    const int64_t id = block->id_base + record->offset;
    char reason[WIRE_WORDS];
    begun->sent = block;
    begun->record = record;
    begun->outgrown = false;
    const bool own_ids = begun->loading->schema->id;
    if (!own_ids && block->file->fix_count &&
        !snapshot_read_all(begun->target, id, id + 1, nothing_seen, see_outgrown, begun, err))
        return false;
    if (!own_ids && correct_was_torn(block, record->offset))
        return correct_document(begun, block, record, document, err);
    say_taken(begun, reason, block, record, document);
    return account_reject(begun->account, block, record, reason, err);
}

bool begun_nothing(begun_t *begun, const record_t *record, const uint8_t *document, begun_there_t *there,
                   err_t *err) {
    const correct_place_t place = correct_place(begun);
    read_back_found_t found;
    bool removed = false;
    if (!look(begun, record, document, &found, err))
        return false;
    if (found == READ_BACK_OTHER && other_stream_may_be(begun->block->file))
        return refuse_stream(begun, record->offset, err);
    if (found == READ_BACK_OTHER && correct_was_torn(begun->block, record->offset) &&
        (!may_correct(begun, begun->block, record, err) ||
         !correct_remove(&place, begun->block, record->offset, &removed, err)))
        return false;
    if (found == READ_BACK_OTHER && !removed && !begun->outgrown && begun->loading->reload_changed)
        return refuse_changed(begun, begun->block->offset + record->offset, "it has another record than then",
                              err);
    *there = found == READ_BACK_ACCEPTED            ? BEGUN_FIXED
             : found == READ_BACK_OTHER && !removed ? BEGUN_OTHER
                                                    : BEGUN_NONE;
    return true;
}

void begun_say_other(const begun_t *begun, char reason[WIRE_WORDS], const char *before, int64_t id) {
    snprintf(reason, WIRE_WORDS, "%s%sanother document with its _id (%lld) is in the collection%s",
             before ? before : "", before ? "; and " : "", (long long)id,
             begun->outgrown ? ": what the record was fixed to when it was cut off" : "");
}

bool begun_document(begun_t *begun, const record_t *record, const uint8_t *document, bool *open, err_t *err) {
    char reason[WIRE_WORDS];
    read_back_found_t found;
    *open = false;
    if (!look(begun, record, document, &found, err))
        return false;
    if (found == READ_BACK_OTHER && correct_was_torn(begun->block, record->offset))
        return correct_document(begun, begun->block, record, document, err);
    if (found == READ_BACK_OTHER && other_stream_may_be(begun->block->file))
        return refuse_stream(begun, record->offset, err);
    if (found == READ_BACK_OTHER && begun->loading->reload_changed)
        return refuse_changed(begun, begun->block->offset + record->offset, "it has another record than then",
                              err);
    if (found == READ_BACK_OTHER) {
        say_taken(begun, reason, begun->block, record, document);
        return account_reject(begun->account, begun->block, record, reason, err);
    }
    *open = found == READ_BACK_NOTHING;
    if (!*open)
        account_one(begun->account, begun->block, RECORD_THERE);
    return true;
}

bool begun_end(begun_t *begun, err_t *err) {
    const block_t *block = begun->block;
    const int64_t oversize = block->oversize.length ? block->id_base + block->length : INT64_MIN;
    int64_t stray;
    bool any;
    if (!is_of_input(block))
        return true;
    if (!read_back_end(begun->range, oversize, &any, &stray, err))
        return false;
    if (!any)
        return true;
    return refuse_stray(begun, block->offset + (uint64_t)(stray - block->id_base), err);
}
