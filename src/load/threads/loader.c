/* A loader parses the records of a block into the batches of their shards, or leaves them out, sends batches that are full or
 * old, and notes what each reply proves. */
#include "load/threads/loader.h"
#include "base/clock.h"
#include "base/stop.h"
#include "base/text.h"
#include "format/cut/ends.h"
#include "input/cutter.h"
#include "load/deliver/ask.h"
#include "load/read_back/read_back.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- records that are not sent, and what an earlier run has left in their place ---- */

/* Reads what is there of a block; sets `comparing`. */
static bool loader_read_back(loader_t *loader, block_t *block, err_t *err) {
    const bool own_ids = loader->loading->plan->schema->id;
    loader->comparing = false;
    loader->may_be_there = own_ids && block->begun_before;
    if (!block->begun_before || !loader->writer || own_ids) /* own `_id`s make no range that could be read */
        return true;
    const int64_t start = clock_now_ns();
    const bool ok = begun_read(loader, block, &loader->comparing, err);
    if (loader->comparing)
        rejects_format_fits(loader->loading->rejects);
    ACCOUNT_ADD(loader->counters.wait_server_ns, clock_now_ns() - start);
    return ok;
}

/* True if a late message may bring the cut-off record's document. With a shard key other than _id, the document may be on any
 * shard, and is not looked for. */
static bool may_come_late(const loader_t *loader, const block_t *block, const record_t *record) {
    const route_t *route = loader->loading->target->route;
    return loader->writer && !loader->loading->plan->schema->id && (!route || route_key(route)->is_id) &&
           correct_was_torn(block, record->offset);
}

/* Makes sure that no document of this record is there: removes what a cut-off record has made in its place, now or when it
 * arrives. */
static bool want_nothing(loader_t *loader, block_t *block, const record_t *record, const uint8_t *document,
                         read_back_found_t *there, err_t *err) {
    *there = READ_BACK_NOTHING;
    if (loader->comparing && !begun_nothing(loader, record, document, there, err))
        return false;
    return !block->piece->torn_count || *there == READ_BACK_ACCEPTED ||
           !may_come_late(loader, block, record) ||
           correct_expect_late(loader->loading->plan->schema, block, record->offset, err);
}

/* A record that was cut off at the end of its input may turn out to be none: a repeated header, or a byte order mark. Checks all
 * such places from *from up to `to`, and moves *from past them. */
static bool loader_clear_torn(loader_t *loader, block_t *block, uint32_t *from, uint32_t to, err_t *err) {
    const active_piece_t *piece = block->piece;
    if (loader->loading->plan->schema->id) /* loader_may_have_grown checks that */
        return true;
    for (size_t i = 0; i < piece->torn_count; i++) {
        const uint64_t offset = piece->torn[i].offset;
        read_back_found_t there;
        if (offset < block->offset + *from || offset >= block->offset + to)
            continue;
        const record_t none = {.offset = (uint32_t)(offset - block->offset)};
        *from = none.offset + 1;
        if (!correct_was_torn(block, none.offset))
            continue;
        if (!want_nothing(loader, block, &none, NULL, &there, err))
            return false;
        if (there == READ_BACK_NOTHING)
            continue;
        block->piece->changed = true;
        return err_set(err, STATUS_INPUT,
                       "%s has grown, and its old last record (at byte %llu) is no record any more; but a "
                       "document that another program has put in its place is in the collection: give "
                       "--reload-changed, which removes the documents of this input and loads it again",
                       piece->input->name, (unsigned long long)offset);
    }
    *from = to + 1;
    return true;
}

/* With own `_id`s: false if a record of the block was loaded cut off and is longer now, because nobody knows which document to
 * correct. */
static bool loader_may_have_grown(const loader_t *loader, block_t *block, err_t *err) {
    const schema_t *schema = loader->loading->plan->schema;
    bool made;
    if (!schema->id || !block->piece->torn_count || !correct_has_outgrown(schema, block))
        return true;
    if (!correct_made_document(schema, block, &made, err))
        return false;
    if (!made)
        return true;
    block->piece->changed = true;
    return err_set(err, STATUS_INPUT,
                   "%s has grown in the middle of a record, and the cut-off record may be in the collection "
                   "by an _id of its own (--id %s): find that document, delete it, and give "
                   "--reload-changed, which loads all of the input again",
                   block->piece->input->name, schema->id->text);
}

/* Accounts for a record that is not sent. document: NULL if it makes none. reason: NULL if the filter leaves it out. */
static bool loader_leave_out(loader_t *loader, block_t *block, const record_t *record,
                             const uint8_t *document, const char *reason, err_t *err) {
    char other[WIRE_WORDS];
    read_back_found_t there;
    if (!want_nothing(loader, block, record, document, &there, err))
        return false;
    if (there == READ_BACK_OTHER) {
        begun_say_other(loader, other, reason, block->id_base + record->offset);
        reason = other;
    }
    if (reason && there != READ_BACK_ACCEPTED && account_is_fixed(loader, block, record))
        there = READ_BACK_ACCEPTED;
    if (reason && there != READ_BACK_ACCEPTED)
        return account_reject(loader, block, record, reason, err);
    account_fate(loader, block, reason ? FATE_THERE : FATE_FILTERED, 1);
    return true;
}

static const int64_t OLDEST_BATCH_NS = 1000000000, LATE_NAP_NS = 20000000;

/* ---- callbacks of deliver ---- */

static void place_of(void *context, uint32_t index, char *text, size_t size) {
    const loader_t *loader = context;
    account_place(loader, loader->sending, index, text, size);
}

static bool accepts_stored(void *context, uint32_t index, const uint8_t *stored, uint32_t length) {
    const loader_t *loader = context;
    uint32_t offset;
    const block_t *block = account_find(loader->sending, index, &offset);
    if (!block || !block->piece->fix_count)
        return false;
    const record_t record = account_record(loader->loading->plan->schema, block, offset);
    return fix_marks_accept(block->piece->fixes, block->piece->fix_count, block->offset + offset,
                            account_identity(block, &record), XXH3_64bits(stored, length));
}

static int64_t now(void *context) {
    (void)context;
    return clock_awake_or_not_ns();
}

/* No message is under way for longer than a lease; removals rely on that, too. */
static bool outlive(void *context, int64_t since_ns, err_t *err) {
    load_state_t *loading = ((const loader_t *)context)->loading;
    const struct timespec pause = {.tv_nsec = LATE_NAP_NS};
    while (clock_awake_or_not_ns() - since_ns < loading->lease_ns) {
        if (pipeline_failed(&loading->pipeline) || stop_signal())
            return stop_interrupted(err);
        nanosleep(&pause, NULL);
    }
    return true;
}

/* ---- sending a batch ---- */

/* Looks up, through the router, the first document that a thread has sent straight to a shard: a shard also stores documents that
 * it does not own, which a router would never show. */
static bool prove_found(loader_t *loader, const documents_t *documents, size_t place,
                        const delivered_t *delivered, bool stale, err_t *err) {
    bool there;
    if (loader->found[place] || delivered->count || stale)
        return true;
    if (!deliver_look(loader->deliver, documents, 0, &there, err))
        return false;
    loader->found[place] = true;
    return there ||
           err_set(err, STATUS_SERVER,
                   "a document that was sent straight to the shard %s is not found through the router: this "
                   "is a mistake in tipple, please report it; leave --direct out, and --drop what was loaded",
                   chunkmap_shard_name(loader->map, place - 1));
}

/* Sends a batch through the router, or straight to the shard with the version of the map by which it was sorted. */
static bool write_batch(loader_t *loader, const batch_t *batch, size_t place, delivered_t *delivered,
                        err_t *err) {
    load_state_t *loading = loader->loading;
    const documents_t documents = {batch->bytes, batch->starts, batch->count, batch->may_be_there};
    straight_t straight = {.server = NULL};
    bson_t version = BSON_INITIALIZER;
    bool stale = false;
    if (place && loading->target->direct &&
        (straight.server = direct_server(loading->target->direct, place - 1))) {
        route_version(loading->target->route, loader->map, place - 1, &version);
        straight.version = &version;
    }
    int64_t began = traffic_begin(loading->shards, place);
    if (!straight.server)
        traffic_begin(loading->ways, loader->way);
    loader->sending = batch;
    bool ok = writer_begin_batch(loader->writer, straight, err);
    if (ok) {
        ok = deliver(loader->deliver, &documents, delivered, err);
        writer_end_batch(loader->writer, &stale);
    }
    if (!straight.server)
        traffic_end(loading->ways, loader->way, began);
    traffic_end(loading->shards, place, began);
    ACCOUNT_ADD(loader->counters.wait_server_ns, clock_now_ns() - began);
    if (stale)
        loading->target->stale = true;
    bson_destroy(&version);
    return ok && (!straight.server || prove_found(loader, &documents, place, delivered, stale, err));
}

static bool wait_for_leave(loader_t *loader, const batch_t *batch, size_t place, int64_t *began, err_t *err) {
    return throttle_enter(loader->loading->throttle, place, batch->count, batch->used, began) ||
           stop_interrupted(err);
}

static bool bind_target(load_state_t *loading, err_t *err) {
    if (!load_state_enter(loading, err))
        return stop_interrupted(err);
    const bool bound = target_bind(loading->target, err);
    load_state_leave(loading);
    return bound;
}

static bool may_send(void *context, err_t *err) {
    return load_state_wait_confirmed(((const loader_t *)context)->loading, err);
}

/* Sends and empties a batch. */
static bool loader_send(loader_t *loader, batch_t *batch, err_t *err) {
    load_state_t *loading = loader->loading;
    size_t place = (size_t)(batch - loader->batches);
    delivered_t delivered = {.count = 0};
    int64_t began = 0;
    if (!batch->count)
        return true;
    batch->starts[batch->count] = (uint32_t)batch->used;
    if (__builtin_expect(loader->writer && !loading->target->bound, 0) && !bind_target(loading, err))
        return false;
    if (__builtin_expect(loading->throttle != NULL, 0) && !wait_for_leave(loader, batch, place, &began, err))
        return false;
    const bool written = !loader->writer || (load_state_wait_confirmed(loading, err) &&
                                             write_batch(loader, batch, place, &delivered, err));
    if (__builtin_expect(loading->throttle != NULL, 0))
        throttle_leave(loading->throttle, place, began, batch->count);
    if (!written) {
        account_stopped(loader, &delivered);
        if (delivered.touched)
            loading->touched = true;
        return false;
    }
    ACCOUNT_ADD(loader->counters.batches, 1);
    ACCOUNT_ADD(loader->counters.sent_documents, batch->count);
    ACCOUNT_ADD(loader->counters.sent_bytes, batch->used);
    ACCOUNT_ADD(loader->counters.retries, delivered.retries);
    uint64_t loaded = loader->counters.counts.of[FATE_LOADED];
    if (!account_batch(loader, batch, &delivered, err))
        return false;
    traffic_add(loading->shards, place, loader->counters.counts.of[FATE_LOADED] - loaded);
    traffic_add(loading->ways, loader->way, loader->counters.counts.of[FATE_LOADED] - loaded);
    batch_clear(batch);
    if (loader->keys)
        memset(loader->keys, 0, loader->key_room * sizeof *loader->keys);
    return true;
}

static bool loader_send_all(loader_t *loader, err_t *err) {
    for (size_t i = 0; i < loader->batch_count; i++)
        if (!loader_send(loader, &loader->batches[i], err))
            return false;
    return true;
}

/* Sends batches that have waited too long for more documents, and the fullest one while memory is short. *waiting: documents
 * still wait afterwards. */
static bool loader_send_if_due(loader_t *loader, bool *waiting, err_t *err) {
    int64_t now = 0;
    batch_t *fullest = NULL;
    *waiting = false;
    for (size_t i = 0; i < loader->batch_count; i++) {
        batch_t *batch = &loader->batches[i];
        if (!batch->count)
            continue;
        now = now ? now : clock_now_ns();
        if (now - batch->since_ns >= OLDEST_BATCH_NS) {
            if (!loader_send(loader, batch, err))
                return false;
            continue;
        }
        *waiting = true;
        if (!fullest || batch->used > fullest->used)
            fullest = batch;
    }
    if (!fullest || !pool_is_short(loader->loading->pipeline.pool))
        return true;
    ACCOUNT_ADD(loader->counters.short_batches, 1);
    return loader_send(loader, fullest, err);
}

/* Opens the loader's own connection. near: its router, or NULL. */
static bool loader_open_writer(loader_t *loader, server_t *near, err_t *err) {
    const load_state_t *loading = loader->loading;
    if (!(loader->writer = writer_new(loading->target->server, near, err)))
        return false;
    writer_set_uuid(loader->writer, loading->target->settings.uuid);
    loader->owner = (deliver_owner_t){.context = loader,
                                      .existing = loading->existing,
                                      .likeness = loose_hash,
                                      .now = now,
                                      .outlive = outlive,
                                      .place = place_of,
                                      .accepts = accepts_stored,
                                      .advice = loading->plan->schema->id ? NULL : ASK_ADVICE,
                                      .may_send = loading->lease_ns ? may_send : NULL};
    loader->deliver = deliver_new(writer_wire(loader->writer), &loader->owner, err);
    return loader->deliver != NULL;
}

/* Drops a batch that is not sent, and frees each unsettled block with its last document. */
static void drop_batch(load_state_t *loading, batch_t *batch) {
    for (size_t i = 0; i < batch->part_count; i++) {
        block_t *block = batch->parts[i].block;
        if (block && (block->pending -= batch->parts[i].count) == 0)
            pipeline_free_block(&loading->pipeline, block);
    }
    batch_free(batch);
}

/* ---- which batch a document goes to ---- */

/* Makes room for a document of `needed` bytes: grows the batch up to its limit, then sends it. */
static bool make_room(loader_t *loader, batch_t *batch, size_t needed, err_t *err) {
    const size_t most = loader->loading->batch_bytes;
    if (batch->used + needed > most && batch->count && !loader_send(loader, batch, err))
        return false;
    return batch_reserve(batch, needed, most, err);
}

/* Adds a hash. False: the batch has it already. */
static bool add_key(loader_t *loader, uint64_t hash) {
    const uint64_t key = hash ? hash : 1;
    size_t at = key & (loader->key_room - 1);
    for (; loader->keys[at]; at = (at + 1) & (loader->key_room - 1))
        if (loader->keys[at] == key)
            return false;
    loader->keys[at] = key;
    return true;
}

/* Where records replace documents: sends the batch before a document whose `_id` it has already, so that the order within a
 * message does not matter. The document lies after the others in the batch's room. */
static bool separate(loader_t *loader, const record_t *record, err_t *err) {
    batch_t *batch = loader->batch;
    const uint32_t length = record->document_length;
    const uint64_t hash = ask_id_hash(batch->bytes + batch->used, length);
    if (add_key(loader, hash))
        return true;
    uint8_t *aside = malloc(length);
    if (!aside)
        return err_memory(err, length);
    memcpy(aside, batch->bytes + batch->used, length);
    const bool ok =
        loader_send(loader, batch, err) && batch_reserve(batch, length, loader->loading->batch_bytes, err);
    if (ok)
        memcpy(batch->bytes + batch->used, aside, length);
    free(aside);
    return ok && (add_key(loader, hash) || true);
}

static bool add_document(loader_t *loader, block_t *block, const record_t *record, err_t *err) {
    batch_t *batch = loader->batch;
    if (__builtin_expect(loader->keys != NULL, 0) && !separate(loader, record, err))
        return false;
    batch->may_be_there |= loader->may_be_there;
    return batch_add(batch, block, record->offset, record->document_length, err) &&
           (batch->count < loader->loading->batch_documents || loader_send(loader, batch, err));
}

/* Moves the document, made in the batch of the last one's shard, to the batch of its own. */
static bool route_document(loader_t *loader, block_t *block, const record_t *record, err_t *err) {
    const uint8_t *document = loader->batch->bytes + loader->batch->used;
    size_t place = 0;
    if (shardkey_of(route_key(loader->loading->target->route), loader->hashed, document,
                    record->document_length, &loader->key))
        place = 1 + chunkmap_find(loader->map, &loader->key);
    else
        ACCOUNT_ADD(loader->counters.unrouted, 1);
    batch_t *batch = &loader->batches[place];
    if (batch != loader->batch) {
        if (!make_room(loader, batch, record->document_length, err))
            return false;
        memcpy(batch->bytes + batch->used, document, record->document_length);
        loader->batch = batch;
    }
    return add_document(loader, block, record, err);
}

static bool want_batches(loader_t *loader, size_t count, err_t *err) {
    if (count <= loader->batch_count)
        return true;
    const size_t current = loader->batch ? (size_t)(loader->batch - loader->batches) : 0;
    size_t room = loader->batch_count, found_room = room;
    if (!GROW(loader->found, found_room, count, err) || !GROW(loader->batches, room, count, err))
        return false;
    loader->batch = loader->batches + current;
    for (; loader->batch_count < count; loader->batch_count++) {
        loader->found[loader->batch_count] = false;
        if (!batch_init(&loader->batches[loader->batch_count], loader->loading->batch_documents, err))
            return false;
    }
    return true;
}

/* Gets the map for a block, and the batch for its documents. With _id as the key, all of them belong to one chunk, and so to one
 * shard, unless a chunk ends within the block. */
static bool route_block(loader_t *loader, const block_t *block, err_t *err) {
    route_t *route = loader->loading->target->route;
    /* a document must not overtake another one of its `_id`, so all go the same way */
    if (!route || loader->keys)
        return true;
    chunkmap_t *map = route_map(route);
    /* batches sorted by the old map must be sent with its version; else a shard that still has that version would accept
     * documents that it does not own */
    bool ok = map == loader->map || !loader->map || !loader->loading->target->direct ||
              loader_send_all(loader, err);
    chunkmap_free(loader->map);
    loader->map = map;
    if (!ok || !want_batches(loader, 1 + chunkmap_shards(map), err))
        return false;
    size_t shard;
    bool one_chunk = chunkmap_find_range(loader->map, block->id_base, block->id_base + block->length, &shard);
    loader->by_document = loader->loading->plan->schema->id || !route_key(route)->is_id || !one_chunk;
    if (!loader->by_document)
        loader->batch = &loader->batches[1 + shard];
    return true;
}

/* ---- records ---- */

static bool take_document(loader_t *loader, block_t *block, record_t *record, err_t *err) {
    load_state_t *loading = loader->loading;
    record->column = 1; /* in case it is rejected after all */
    record->field = NULL;
    const uint8_t *document = loader->batch->bytes + loader->batch->used;
    if (__builtin_expect(record->length > CUTTER_RECORD, 0))
        return loader_leave_out(loader, block, record, NULL, CUTTER_TOO_LONG, err);
    if (__builtin_expect(record->document_length > loading->max_document, 0))
        return loader_leave_out(loader, block, record, NULL, "its document is larger than the server takes",
                                err);
    if (loading->plan->filter && !filter_passes(loading->plan->filter, document, record->document_length)) {
        records_leave_out(loader->reader, record);
        return loader_leave_out(loader, block, record, document, NULL, err);
    }
    if (__builtin_expect(loader->comparing, 0)) {
        bool open;
        if (!begun_document(loader, record, document, &open, err))
            return false;
        if (!open)
            return true;
    }
    return loader->by_document ? route_document(loader, block, record, err)
                               : add_document(loader, block, record, err);
}

static bool refuse_record(loader_t *loader, block_t *block, const char *why, err_t *err) {
    const record_t record = {.length = block->length, .column = 1};
    rejects_looked_at(loader->loading->rejects, 1, block->length);
    return account_reject(loader, block, &record, why, err);
}

/* Called at the loader's first document: a batch may add rejects before its block ends. */
static void note_fits(loader_t *loader) {
    loader->fits = true;
    rejects_format_fits(loader->loading->rejects);
}

static bool load_records(loader_t *loader, block_t *block, err_t *err) {
    load_state_t *loading = loader->loading;
    record_t record;
    uint64_t looked_at = 0;
    uint32_t torn_from = 0;
    bool ok = loader_may_have_grown(loader, block, err) && route_block(loader, block, err) &&
              loader_read_back(loader, block, err);
    ok = ok && batch_reserve(loader->batch, 1, loading->batch_bytes, err);
    records_from(loader->reader, block_known_as(block));
    records_begin(loader->reader, block->piece->dialect, block->buffer.bytes, block->length,
                  block->file_start, true, block->id_base);
    records_place(loader->reader, &(bad_place_t){.input = block->piece,
                                                 .offset = block->offset,
                                                 .line = block->first_line,
                                                 .lines_from = block->lines_from});
    while (ok) {
        const batch_t *batch = loader->batch;
        parsed_t parsed = records_next(loader->reader, batch->bytes + batch->used, batch->room - batch->used,
                                       &record, NULL);
        if (__builtin_expect(block->piece->torn_count > 0, 0) &&
            (parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT) &&
            !loader_clear_torn(loader, block, &torn_from, record.offset, err))
            return false;
        if (parsed == PARSED_DOCUMENT) {
            looked_at++;
            if (__builtin_expect(!loader->fits, 0))
                note_fits(loader);
            ok = take_document(loader, block, &record, err);
        } else if (parsed == PARSED_FULL) {
            ok = make_room(loader, loader->batch, record.needed, err);
        } else if (parsed == PARSED_REJECT) {
            if (looked_at)
                rejects_looked_at(loading->rejects, looked_at, 0);
            looked_at = 1;
            ok = loader_leave_out(loader, block, &record, NULL, record.reason, err);
        } else if (parsed == PARSED_OTHER_HEADER) {
            return other_header_refuse(block, &record, true, err);
        } else if (parsed == PARSED_END) {
            break;
        } else if (parsed == PARSED_MEMORY) {
            ok = err_memory(err, record.length);
        }
    }
    rejects_looked_at(loading->rejects, looked_at + (block->oversize.length > 0),
                      block->length + block->oversize.length);
    if (ok && block->by_itself && !looked_at)
        return refuse_record(loader, block,
                             "this line is a header, a comment or empty, and so no record: put the record "
                             "into it, or delete it to leave the record out",
                             err);
    block->outgrown = correct_has_outgrown(loader->loading->plan->schema, block);
    ok = ok && loader_clear_torn(loader, block, &torn_from, block->length, err);
    if (ok && block->oversize.length) {
        record = (record_t){
            .offset = block->length,
            .line = (uint32_t)ends_lines(loading->plan->schema, block->buffer.bytes, block->length),
            .column = 1};
        ok = loader_leave_out(loader, block, &record, NULL, CUTTER_TOO_LONG, err);
    }
    return ok && (!__builtin_expect(loader->comparing, 0) || begun_end(loader, err));
}

static bool load_block(void *context, block_t *block, err_t *err) {
    loader_t *loader = context;
    load_state_t *loading = loader->loading;
    const bool ok =
        block->refusal ? refuse_record(loader, block, block->refusal, err) : load_records(loader, block, err);
    block->parsed = ok;
    if (!loader->batch->count) /* a large document that is there already may have made it grow */
        batch_clear(loader->batch);
    if (ok) {
        account_block(loader, block);
        return true;
    }
    pipeline_fail(&loading->pipeline, err); /* before the block is freed: else all would look settled */
    if (!block->pending)
        pipeline_free_block(&loading->pipeline, block);
    return false;
}

/* ---- the thread ---- */

static bool between_blocks(void *context, bool drained, bool *waiting, err_t *err) {
    loader_t *loader = context;
    if (!drained)
        return loader_send_if_due(loader, waiting, err);
    *waiting = false;
    return loader_send_all(loader, err);
}

static void free_loader(loader_t *loader) {
    for (size_t i = 0; i < loader->batch_count; i++)
        drop_batch(loader->loading, &loader->batches[i]);
    free(loader->batches);
    free(loader->found);
    chunkmap_free(loader->map);
    hashed_destroy(loader->hashed);
    bson_destroy(&loader->key);
    snapshot_read_free(loader->begun.target);
    free(loader->begun.range.bytes);
    free(loader->keys);
    records_destroy(loader->reader);
    deliver_free(loader->deliver);
    writer_destroy(loader->writer);
    free(loader);
}

loader_t *loader_start(load_state_t *loading, uint32_t number, err_t *err) {
    loader_t *loader = ZEROED(loader_t);
    if (!loader) {
        err_memory(err, sizeof *loader);
        return NULL;
    }
    loader->loading = loading;
    static const pipeline_work_t work = {.block = load_block, .between = between_blocks};
    loader->work = (pipeline_worker_t){
        .work = &work, .context = loader, .part = number % loading->parts, .parts = loading->parts};
    bson_init(&loader->key);
    loader->reader = records_new(loading->plan->schema);
    bool ok = loader->reader || err_memory(err, 1);
    ok = ok && want_batches(loader, 1, err);
    for (loader->key_room = 2; loader->key_room < 2 * (size_t)loading->batch_documents;)
        loader->key_room *= 2;
    if (ok && loading->existing == EXISTING_REPLACE &&
        !(loader->keys = calloc(loader->key_room, sizeof *loader->keys)))
        ok = err_memory(err, loader->key_room * sizeof *loader->keys);
    ok = ok && (!loading->target->route || (loader->hashed = hashed_new()) || err_memory(err, 1));
    server_t *near = NULL;
    if (loading->target->routers.count) {
        loader->way =
            /* so that every router serves all shards */
            number / loading->parts % loading->target->routers.count;
        near = loading->target->routers.servers[loader->way];
    }
    ok = ok && (loading->plan->spec->dry_run || loader_open_writer(loader, near, err));
    if (!ok || !pipeline_start(&loading->pipeline, &loader->work, err)) {
        free_loader(loader);
        return NULL;
    }
    return loader;
}

void loader_add_counters(const loader_t *loader, loader_counters_t *sum) {
    const uint64_t *from = (const uint64_t *)&loader->counters;
    uint64_t *to = (uint64_t *)sum;
    for (size_t i = 0; i < sizeof *sum / sizeof *to; i++)
        to[i] += __atomic_load_n(&from[i], __ATOMIC_RELAXED);
}

void loader_end(loader_t *loader, loader_counters_t *sum, bad_values_t *bad_values) {
    loader_counters_t *counters = &loader->counters;
    const bad_values_t *bad = records_bad(loader->reader);
    counters->wait_input_ns = loader->work.waited_ns;
    counters->total_ns = loader->work.took_ns;
    counters->bad_values = bad->count;
    counters->ambiguous_times = bad->fields[bad_values_twice(bad)].count;
    counters->passed_over = records_passed_over(loader->reader);
    loader_add_counters(loader, sum);
    if (bad_values)
        bad_values_add(bad_values, bad);
    free_loader(loader);
}
