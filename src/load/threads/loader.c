#include "load/threads/loader.h"
#include "base/text.h"
#include "input/cutter.h"
#include "load/deliver/ask.h"
#include "load/deliver/correct.h"
#include "load/threads/loader_inner.h"

#include <stdlib.h>
#include <string.h>

/* A block that was not settled is nobody's any more when its last documents are. */
static void drop_batch(load_state_t *loading, batch_t *batch) {
    for (size_t i = 0; i < batch->part_count; i++) {
        block_t *block = batch->parts[i].block;
        if (block && (block->pending -= batch->parts[i].count) == 0)
            pipeline_free_block(&loading->pipeline, block);
    }
    batch_free(batch);
}

/* ---- which batch a document goes to ---- */

/* Room for one more document of up to `needed` bytes: by growing to the bytes of a batch, then by sending. */
static bool make_room(loader_t *loader, batch_t *batch, size_t needed, err_t *err) {
    const size_t most = loader->loading->batch_bytes;
    if (batch->used + needed > most && batch->count && !loader_send(loader, batch, err))
        return false;
    return batch_reserve(batch, needed, most, err);
}

/* False: the batch has it already. */
static bool add_key(loader_t *loader, uint64_t hash) {
    const uint64_t key = hash ? hash : 1;
    size_t at = key & (loader->key_room - 1);
    for (; loader->keys[at]; at = (at + 1) & (loader->key_room - 1))
        if (loader->keys[at] == key)
            return false;
    loader->keys[at] = key;
    return true;
}

/* Where records replace documents, no message holds two records of one `_id`, so that the order within a message does not matter: the
 * batch ends before a document whose `_id` it has already, which is in its room after the others. */
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

/* The document was made in the batch of the last one's shard; it moves where it belongs. */
static bool route_document(loader_t *loader, block_t *block, const record_t *record, err_t *err) {
    const uint8_t *document = loader->batch->bytes + loader->batch->used;
    size_t place = 0;
    if (shardkey_of(route_key(loader->loading->route), loader->hashed, document, record->document_length,
                    &loader->key))
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

/* More shards than before: a batch for each. The batches of all of them are still there. */
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

/* The map for a block, and the batch that its documents go to. With _id as the key all of them belong to one
 * chunk, and so to one shard, unless a chunk ends within the block. */
static bool route_block(loader_t *loader, const block_t *block, err_t *err) {
    route_t *route = loader->loading->route;
    /* a document of one `_id` must not overtake another one, and so all of them go the same way */
    if (!route || loader->keys)
        return true;
    chunkmap_t *map = route_map(route);
    /* what was sorted by the old map must go with the old map's version: a shard that has it still would not
     * notice else that a document is not its own */
    bool ok = map == loader->map || !loader->map || !loader->loading->direct || loader_send_all(loader, err);
    chunkmap_free(loader->map);
    loader->map = map;
    if (!ok || !want_batches(loader, 1 + chunkmap_shards(map), err))
        return false;
    size_t shard;
    bool one_chunk = chunkmap_find_range(loader->map, block->id_base, block->id_base + block->length, &shard);
    loader->by_document = loader->loading->schema->id || !route_key(route)->is_id || !one_chunk;
    if (!loader->by_document)
        loader->batch = &loader->batches[1 + shard];
    return true;
}

/* ---- records ---- */

static bool take_document(loader_t *loader, block_t *block, record_t *record, err_t *err) {
    load_state_t *loading = loader->loading;
    record->column = 1; /* should it be rejected after all */
    record->field = NULL;
    const uint8_t *document = loader->batch->bytes + loader->batch->used;
    if (__builtin_expect(record->length > CUTTER_RECORD, 0))
        return loader_leave_out(loader, block, record, NULL, CUTTER_TOO_LONG, err);
    if (__builtin_expect(record->document_length > loading->max_document, 0))
        return loader_leave_out(loader, block, record, NULL, "its document is larger than the server takes",
                                err);
    if (loading->filter && !filter_passes(loading->filter, document, record->document_length)) {
        records_leave_out(loader->reader, record);
        return loader_leave_out(loader, block, record, document, NULL, err);
    }
    if (__builtin_expect(loader->comparing, 0)) {
        bool open;
        if (!begun_document(loader->begun, record, document, &open, err))
            return false;
        if (!open)
            return true;
    }
    return loader->by_document ? route_document(loader, block, record, err)
                               : add_document(loader, block, record, err);
}

/* The only record of a block is a reject, whatever it makes. */
static bool refuse_record(loader_t *loader, block_t *block, const char *why, err_t *err) {
    const record_t record = {.length = block->length, .column = 1};
    rejects_looked_at(loader->loading->rejects, 1, block->length);
    return account_reject(&loader->account, block, &record, why, err);
}

/* Told once by each loader, at its first document: a batch may come to its rejects before its block ends. */
static void note_fits(loader_t *loader) {
    loader->fits = true;
    rejects_format_fits(loader->loading->rejects);
}

/* Its records, one by one, into the batch. */
static bool load_records(loader_t *loader, block_t *block, err_t *err) {
    load_state_t *loading = loader->loading;
    record_t record;
    uint64_t looked_at = 0;
    uint32_t torn_from = 0;
    bool ok = loader_may_have_grown(loader, block, err) && route_block(loader, block, err) &&
              loader_read_back(loader, block, err);
    ok = ok && batch_reserve(loader->batch, 1, loading->batch_bytes, err);
    records_from(loader->reader, block_known_as(block));
    records_begin(loader->reader, block->file->dialect, block->buffer.bytes, block->length, block->file_start,
                  true, block->id_base);
    records_place(loader->reader, &(bad_place_t){.input = block->file,
                                                 .offset = block->offset,
                                                 .line = block->first_line,
                                                 .lines_from = block->lines_from});
    while (ok) {
        const batch_t *batch = loader->batch;
        parsed_t parsed = records_next(loader->reader, batch->bytes + batch->used, batch->room - batch->used,
                                       &record, NULL);
        if (__builtin_expect(block->file->torn_count > 0, 0) &&
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
    block->outgrown = correct_has_outgrown(loader->loading->schema, block);
    record = (record_t){.offset = block->length}; /* one that is too long */
    ok = ok && loader_clear_torn(loader, block, &torn_from, block->length, err);
    if (ok && block->oversize.length)
        ok = loader_leave_out(loader, block, &record, NULL, CUTTER_TOO_LONG, err);
    return ok && (!__builtin_expect(loader->comparing, 0) || begun_end(loader->begun, err));
}

/* The journey of a block. */
static bool load_block(loader_t *loader, block_t *block, err_t *err) {
    load_state_t *loading = loader->loading;
    const bool ok =
        block->refusal ? refuse_record(loader, block, block->refusal, err) : load_records(loader, block, err);
    block->parsed = ok;
    if (!loader->batch->count) /* a large document may have been there already */
        batch_clear(loader->batch);
    if (ok) {
        account_block(&loader->account, block);
        return true;
    }
    pipeline_fail(&loading->pipeline, err); /* before the block is gone: else all would look settled */
    if (!block->pending)
        pipeline_free_block(&loading->pipeline, block);
    return false;
}

/* ---- the thread ---- */

static bool take_block(void *context, block_t *block, err_t *err) {
    loader_t *loader = context;
    if (!block_is_lost(block))
        return load_block(loader, block, err);
    pipeline_free_block(&loader->loading->pipeline, block);
    return true;
}

static bool between_blocks(void *context, bool drained, bool *waiting, err_t *err) {
    loader_t *loader = context;
    if (!drained)
        return loader_send_if_due(loader, waiting, err);
    *waiting = false;
    return loader_send_all(loader, err);
}

static bool end_blocks(void *context, err_t *err) {
    return loader_send_all(context, err);
}

static void free_loader(loader_t *loader) {
    for (size_t i = 0; i < loader->batch_count; i++)
        drop_batch(loader->loading, &loader->batches[i]);
    free(loader->batches);
    free(loader->found);
    chunkmap_free(loader->map);
    hashed_destroy(loader->hashed);
    bson_destroy(&loader->key);
    begun_free(loader->begun);
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
    static const pipeline_work_t work = {.block = take_block, .between = between_blocks, .end = end_blocks};
    loader->work = (pipeline_worker_t){
        .work = &work, .context = loader, .part = number % loading->parts, .parts = loading->parts};
    bson_init(&loader->key);
    loader->reader = records_new(loading->schema);
    bool ok = loader->reader || err_memory(err, 1);
    ok = ok && want_batches(loader, 1, err);
    for (loader->key_room = 2; loader->key_room < 2 * (size_t)loading->batch_documents;)
        loader->key_room *= 2;
    if (ok && loading->existing == EXISTING_REPLACE &&
        !(loader->keys = calloc(loader->key_room, sizeof *loader->keys)))
        ok = err_memory(err, loader->key_room * sizeof *loader->keys);
    ok = ok && (!loading->route || (loader->hashed = hashed_new()) || err_memory(err, 1));
    server_t *near = NULL;
    if (loading->routers.count) {
        loader->way = number / loading->parts % loading->routers.count; /* all shards by every router */
        near = loading->routers.servers[loader->way];
    }
    ok = ok && (!loading->server || loader_open_writer(loader, near, err));
    loader->account = (account_t){.loading = loading,
                                  .counts = &loader->counters.counts,
                                  .taken = loader_take_taken,
                                  .taken_context = loader};
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
