#include "load/threads/loader.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/stop.h"
#include "base/zeroed.h"
#include "format/records.h"
#include "load/blocks/other_header.h"
#include "load/threads/begun.h"
#include "load/threads/correct.h"
#include "server/send/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const int64_t OLDEST_BATCH_NS = 1000000000;

struct loader {
    load_state_t *loading;
    pipeline_worker_t work;
    writer_t *writer; /* NULL: nothing is sent */
    deliver_t *deliver;
    deliver_owner_t owner;
    const batch_t *sending;
    records_t *reader;
    size_t way;       /* the router that it stays with */
    batch_t *batches; /* the first one for the router to sort, then one a shard */
    size_t batch_count;
    batch_t *batch;  /* the one that the next document is made in */
    chunkmap_t *map; /* of the block at hand; NULL where there are no shards */
    bool *found;     /* by batch: what went straight to the shard was found through the router */
    hashed_t *hashed;
    bson_t key;
    bool by_document; /* the block's records belong to several shards, perhaps */
    begun_t *begun;   /* NULL: no block was begun before */
    bool comparing;   /* the one at hand was, and something of it is there */
    account_t account;
    loader_counters_t counters;
    hist_t batch_times;
};

/* A block that was not settled is nobody's any more when its last documents are. */
static void drop_batch(load_state_t *loading, batch_t *batch) {
    for (size_t i = 0; i < batch->part_count; i++) {
        block_t *block = batch->parts[i].block;
        if (block && (block->pending -= batch->parts[i].count) == 0)
            pipeline_free_block(&loading->pipeline, block);
    }
    batch_free(batch);
}

/* ---- what deliver asks of us ---- */

static void place_of(void *context, uint32_t index, char *text, size_t size) {
    const loader_t *loader = context;
    account_place(&loader->account, loader->sending, index, text, size);
}

static bool accepts_stored(void *context, uint32_t index, const uint8_t *stored, uint32_t length) {
    const loader_t *loader = context;
    uint32_t offset;
    const block_t *block = account_find(loader->sending, index, &offset);
    if (!block || !block->file->fix_count)
        return false;
    const record_t record = account_record(loader->loading->schema, block, offset);
    return fix_marks_accept(block->file->fixes, block->file->fix_count, block->offset + offset,
                            account_identity(block, &record), XXH3_64bits(stored, length));
}

/* ---- batches ---- */

/* A shard takes what it is sent, also what is not its own, and a router would never show it. So the first
 * document that a thread has sent straight to a shard is looked for through the router. */
static bool prove_found(loader_t *loader, const documents_t *documents, size_t place,
                        const delivered_t *delivered, bool stale, err_t *err) {
    bool there;
    if (loader->found[place] || delivered->count || stale)
        return true;
    if (!deliver_look(loader->deliver, documents, 0, &there, err))
        return false;
    loader->found[place] = true;
    return there ||
           err_set(
               err, STATUS_SERVER,
               "a document that was sent straight to the shard %s is not found through the router: this is "
               "a mistake in tipple, please report it; leave --direct out, and --drop what was loaded",
               chunkmap_shard_name(loader->map, place - 1));
}

/* A batch for one shard: through the router, or straight there with the version of the map that sorted it. */
static bool write_batch(loader_t *loader, const batch_t *batch, size_t place, delivered_t *delivered,
                        err_t *err) {
    load_state_t *loading = loader->loading;
    const documents_t documents = {batch->bytes, batch->starts, batch->count};
    straight_t straight = {.server = NULL};
    bson_t version = BSON_INITIALIZER;
    bool stale = false;
    if (place && loading->direct && (straight.server = direct_server(loading->direct, place - 1))) {
        route_version(loading->route, loader->map, place - 1, &version);
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
    const int64_t took_ns = clock_now_ns() - began;
    ACCOUNT_ADD(loader->counters.wait_server_ns, took_ns);
    hist_add(&loader->batch_times, took_ns);
    if (stale)
        loading->stale = true;
    bson_destroy(&version);
    return ok && (!straight.server || prove_found(loader, &documents, place, delivered, stale, err));
}

static bool wait_for_leave(loader_t *loader, const batch_t *batch, size_t place, int64_t *began, err_t *err) {
    return throttle_enter(loader->loading->throttle, place, batch->count, batch->used, began) ||
           stop_interrupted(err);
}

/* The collection is bound by the main thread, which answers nobody when the load has failed or was interrupted. */
static bool ask_to_bind(loader_t *loader, err_t *err) {
    return load_state_ask(loader->loading, NULL, 0, err) || (err->text[0] ? false : stop_interrupted(err));
}

/* ---- whose it is ---- */

/* Deliver asks, before it sends something again. */
static bool may_send(void *context, err_t *err) {
    const loader_t *loader = context;
    const batch_t *batch = loader->sending;
    if (!load_state_wait_confirmed(loader->loading, err))
        return false;
    err->text[0] = '\0';
    for (size_t i = 0; i < batch->part_count; i++)
        if (block_is_lost(batch->parts[i].block))
            return false;
    return true;
}

/* The block at hand goes on to its end, and is dropped then. */
static void drop_block(void *context, block_t *block) {
    if (block->parsed && !block->pending)
        pipeline_free_block(&((load_state_t *)context)->pipeline, block);
}

/* What is another load's by now, or nobody's, is left out. Where some of it turns out to be while the rest is sent
 * again, that is begun anew: what is there already shows as duplicates. */
static bool write_own(loader_t *loader, batch_t *batch, size_t place, delivered_t *delivered, err_t *err) {
    for (;;) {
        if (!load_state_wait_confirmed(loader->loading, err))
            return false;
        batch_drop_lost(batch, drop_block, loader->loading);
        err->text[0] = '\0';
        if (!batch->count || write_batch(loader, batch, place, delivered, err))
            return true;
        if (err->text[0])
            return false;
    }
}

static bool send_batch(loader_t *loader, batch_t *batch, err_t *err) {
    load_state_t *loading = loader->loading;
    size_t place = (size_t)(batch - loader->batches);
    delivered_t delivered = {.count = 0};
    int64_t began = 0;
    if (!batch->count)
        return true;
    batch->starts[batch->count] = (uint32_t)batch->used;
    if (__builtin_expect(loader->writer && !loading->bound, 0) && !ask_to_bind(loader, err))
        return false;
    if (__builtin_expect(loading->throttle != NULL, 0) && !wait_for_leave(loader, batch, place, &began, err))
        return false;
    if (loader->writer && !write_own(loader, batch, place, &delivered, err))
        return false;
    if (__builtin_expect(loading->throttle != NULL, 0))
        throttle_leave(loading->throttle, place, began, batch->count);
    ACCOUNT_ADD(loader->counters.batches, 1);
    ACCOUNT_ADD(loader->counters.sent_documents, batch->count);
    ACCOUNT_ADD(loader->counters.sent_bytes, batch->used);
    ACCOUNT_ADD(loader->counters.retries, delivered.retries);
    uint64_t loaded = loader->counters.counts.loaded;
    if (!account_batch(&loader->account, batch, &delivered, err))
        return false;
    traffic_add(loading->shards, place, loader->counters.counts.loaded - loaded);
    traffic_add(loading->ways, loader->way, loader->counters.counts.loaded - loaded);
    batch_clear(batch);
    return true;
}

static bool send_all(loader_t *loader, err_t *err) {
    for (size_t i = 0; i < loader->batch_count; i++)
        if (!send_batch(loader, &loader->batches[i], err))
            return false;
    return true;
}

/* Room for one more document of up to `needed` bytes: by growing to --batch-bytes, then by sending. */
static bool make_room(loader_t *loader, batch_t *batch, size_t needed, err_t *err) {
    const size_t most = loader->loading->batch_bytes;
    if (batch->used + needed > most && batch->count && !send_batch(loader, batch, err))
        return false;
    return batch_reserve(batch, needed, most, err);
}

static bool add_document(loader_t *loader, block_t *block, const record_t *record, err_t *err) {
    batch_t *batch = loader->batch;
    return batch_add(batch, block, record->offset, record->document_length, err) &&
           (batch->count < loader->loading->batch_documents || send_batch(loader, batch, err));
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
    size_t current = loader->batch ? (size_t)(loader->batch - loader->batches) : 0;
    batch_t *larger = realloc(loader->batches, count * sizeof *larger);
    if (!larger)
        return err_memory(err, count * sizeof *larger);
    loader->batches = larger;
    loader->batch = larger + current;
    bool *found = realloc(loader->found, count * sizeof *found);
    if (!found)
        return err_memory(err, count);
    loader->found = found;
    for (; loader->batch_count < count; loader->batch_count++) {
        found[loader->batch_count] = false;
        if (!batch_init(&larger[loader->batch_count], loader->loading->batch_documents, err))
            return false;
    }
    return true;
}

/* The map for a block, and the batch that its documents go to. With _id as the key all of them belong to one
 * chunk, and so to one shard, unless a chunk ends within the block. */
static bool route_block(loader_t *loader, const block_t *block, err_t *err) {
    route_t *route = loader->loading->route;
    if (!route)
        return true;
    chunkmap_t *map = route_map(route);
    /* what was sorted by the old map must go with the old map's version: a shard that has it still would not
     * notice else that a document is not its own */
    bool ok = map == loader->map || !loader->map || !loader->loading->direct || send_all(loader, err);
    chunkmap_free(loader->map);
    loader->map = map;
    if (!ok || !want_batches(loader, 1 + chunkmap_shards(map), err))
        return false;
    size_t shard;
    bool one_chunk = chunkmap_find_range(loader->map, block->id_base, block->id_base + block->length, &shard);
    loader->by_document = !route_key(route)->is_id || !one_chunk;
    if (!loader->by_document)
        loader->batch = &loader->batches[1 + shard];
    return true;
}

static bool want_begun(loader_t *loader, err_t *err) {
    if (!loader->begun)
        loader->begun = begun_new(loader->loading, writer_client(loader->writer), &loader->account, err);
    return loader->begun != NULL;
}

/* An account_taken_t. */
static bool take_taken(void *context, block_t *block, const record_t *record, const uint8_t *document,
                       err_t *err) {
    loader_t *loader = context;
    return want_begun(loader, err) && begun_taken(loader->begun, block, record, document, err);
}

/* What of a block that was begun before is there already? */
static bool read_block_back(loader_t *loader, block_t *block, err_t *err) {
    loader->comparing = false;
    if (!block->begun_before || !loader->writer)
        return true;
    const int64_t start = clock_now_ns();
    if (!want_begun(loader, err))
        return false;
    const bool ok = begun_read(loader->begun, block, &loader->comparing, err);
    ACCOUNT_ADD(loader->counters.wait_server_ns, clock_now_ns() - start);
    return ok;
}

/* With another shard key than _id it may be on any shard, and is not looked for. */
static bool may_come_late(const loader_t *loader, const block_t *block, const record_t *record) {
    const route_t *route = loader->loading->route;
    return loader->writer && (!route || route_key(route)->is_id) && correct_was_torn(block, record->offset);
}

/* No document is to be at the place of this record: what a cut-off one has made there is taken away, now or when it
 * comes. */
static bool want_nothing(loader_t *loader, block_t *block, const record_t *record, const uint8_t *document,
                         begun_there_t *there, err_t *err) {
    *there = BEGUN_NONE;
    if (loader->comparing && !begun_nothing(loader->begun, record, document, there, err))
        return false;
    return !block->file->torn_count || *there == BEGUN_FIXED || !may_come_late(loader, block, record) ||
           correct_expect_late(loader->loading->schema, block, record->offset, err);
}

/* A record that was cut off when its input ended there may turn out to be none: a header that is repeated, or a
 * byte-order mark. All such places from *from on, up to the record at hand. */
static bool clear_torn(loader_t *loader, block_t *block, uint32_t *from, uint32_t to, err_t *err) {
    const load_file_t *file = block->file;
    for (size_t i = 0; i < file->torn_count; i++) {
        const uint64_t offset = file->torn[i].offset;
        begun_there_t there;
        if (offset < block->offset + *from || offset >= block->offset + to)
            continue;
        const record_t none = {.offset = (uint32_t)(offset - block->offset)};
        *from = none.offset + 1;
        if (!correct_was_torn(block, none.offset))
            continue;
        if (!want_nothing(loader, block, &none, NULL, &there, err))
            return false;
        if (there == BEGUN_NONE)
            continue;
        block->file->changed = true;
        return err_set(
            err, STATUS_INPUT,
            "%s has grown, and what was its last record (at byte %llu) is none any more; but a document that "
            "somebody has put in its place is in the collection: give --reload-changed, "
            "which removes the documents of this input and loads it again",
            file->input->name, (unsigned long long)offset);
    }
    *from = to + 1;
    return true;
}

/* A record that is not to be sent; document: NULL where none can be made. reason NULL: the filter leaves it out.
 */
static bool leave_out(loader_t *loader, block_t *block, const record_t *record, const uint8_t *document,
                      const char *reason, err_t *err) {
    char other[WIRE_WORDS];
    begun_there_t there;
    if (!want_nothing(loader, block, record, document, &there, err))
        return false;
    if (there == BEGUN_OTHER) {
        begun_say_other(loader->begun, other, reason, block->id_base + record->offset);
        reason = other;
    }
    if (reason && there != BEGUN_FIXED)
        return record->offset < block->length ? account_reject(&loader->account, block, record, reason, err)
                                              : account_oversize(&loader->account, block, reason, err);
    account_one(&loader->account, block, reason ? RECORD_THERE : RECORD_FILTERED);
    return true;
}

/* ---- records ---- */

static bool take_document(loader_t *loader, block_t *block, record_t *record, err_t *err) {
    load_state_t *loading = loader->loading;
    record->column = 1; /* should it be rejected after all */
    record->field = NULL;
    const uint8_t *document = loader->batch->bytes + loader->batch->used;
    if (__builtin_expect(record->length > loading->max_record, 0))
        return leave_out(loader, block, record, NULL, ACCOUNT_TOO_LONG, err);
    if (__builtin_expect(record->document_length > loading->max_document, 0))
        return leave_out(loader, block, record, NULL, "its document is larger than the server takes", err);
    if (loading->filter && !filter_passes(loading->filter, document, record->document_length))
        return leave_out(loader, block, record, document, NULL, err);
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
    rejects_looked_at(loader->loading->rejects, 1, true);
    return account_reject(&loader->account, block, &record, why, err);
}

/* Its records, one by one, into the batch. */
static bool load_records(loader_t *loader, block_t *block, err_t *err) {
    load_state_t *loading = loader->loading;
    record_t record;
    uint64_t looked_at = 0;
    uint32_t torn_from = 0;
    bool documents = false, ok = route_block(loader, block, err) && read_block_back(loader, block, err);
    ok = ok && batch_reserve(loader->batch, 1, loading->batch_bytes, err);
    records_begin(loader->reader, block->file->dialect, block->buffer.bytes, block->length, block->file_start,
                  true, block->id_base);
    while (ok) {
        const batch_t *batch = loader->batch;
        parsed_t parsed = records_next(loader->reader, batch->bytes + batch->used, batch->room - batch->used,
                                       &record, NULL);
        if (__builtin_expect(block->file->torn_count > 0, 0) &&
            (parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT) &&
            !clear_torn(loader, block, &torn_from, record.offset, err))
            return false;
        if (parsed == PARSED_DOCUMENT) {
            looked_at++;
            documents = true;
            ok = take_document(loader, block, &record, err);
        } else if (parsed == PARSED_FULL) {
            ok = make_room(loader, loader->batch, record.needed, err);
        } else if (parsed == PARSED_REJECT) {
            if (looked_at || documents)
                rejects_looked_at(loading->rejects, looked_at, documents);
            looked_at = 1;
            ok = leave_out(loader, block, &record, NULL, record.reason, err);
        } else if (parsed == PARSED_OTHER_HEADER) {
            return other_header_refuse(block, &record, true, err);
        } else if (parsed == PARSED_END) {
            break;
        } else if (parsed == PARSED_MEMORY) {
            ok = err_memory(err, record.length);
        }
    }
    rejects_looked_at(loading->rejects, looked_at + (block->oversize.length > 0), documents);
    if (ok && block->by_itself && !looked_at)
        return refuse_record(loader, block,
                             "this line is a header, or empty, and so no record: put the record into it, or "
                             "delete it to leave the record out",
                             err);
    block->outgrown = correct_has_outgrown(loader->loading->schema, block);
    record = (record_t){.offset = block->length}; /* one that is too long */
    ok = ok && clear_torn(loader, block, &torn_from, block->length, err);
    if (ok && block->oversize.length)
        ok = leave_out(loader, block, &record, NULL, ACCOUNT_TOO_LONG, err);
    return ok && (!__builtin_expect(loader->comparing, 0) || begun_end(loader->begun, err));
}

/* The journey of a block. */
static bool load_block(loader_t *loader, block_t *block, err_t *err) {
    load_state_t *loading = loader->loading;
    const bool ok =
        block->refusal ? refuse_record(loader, block, block->refusal, err) : load_records(loader, block, err);
    block->parsed = ok;
    if (ok) {
        account_block(&loader->account, block);
        return true;
    }
    pipeline_fail(&loading->pipeline, err); /* before the block is gone: else all would look settled */
    if (!block->pending)
        pipeline_free_block(&loading->pipeline, block);
    return false;
}

/* A batch that waits for its last documents too long goes as it is; the fullest one does while memory is
 * short. *waiting: documents are still waiting afterwards. */
static bool send_if_due(loader_t *loader, bool *waiting, err_t *err) {
    int64_t now = 0;
    batch_t *fullest = NULL;
    *waiting = false;
    for (size_t i = 0; i < loader->batch_count; i++) {
        batch_t *batch = &loader->batches[i];
        if (!batch->count)
            continue;
        now = now ? now : clock_now_ns();
        if (now - batch->since_ns >= OLDEST_BATCH_NS) {
            if (!send_batch(loader, batch, err))
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
    return send_batch(loader, fullest, err);
}

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
        return send_if_due(loader, waiting, err);
    *waiting = false;
    return send_all(loader, err);
}

static bool end_blocks(void *context, err_t *err) {
    return send_all(context, err);
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
    records_destroy(loader->reader);
    deliver_free(loader->deliver);
    writer_destroy(loader->writer);
    free(loader);
}

static bool open_writer(loader_t *loader, server_t *near, err_t *err) {
    const load_state_t *loading = loader->loading;
    if (!(loader->writer = writer_new(loading->server, near, err)))
        return false;
    if (loading->uuid)
        writer_set_uuid(loader->writer, loading->uuid);
    loader->owner = (deliver_owner_t){.context = loader,
                                      .place = place_of,
                                      .accepts = accepts_stored,
                                      .may_send = loading->lease_ns ? may_send : NULL};
    loader->deliver = deliver_new(writer_wire(loader->writer), &loader->owner, &loading->reject_codes, err);
    return loader->deliver != NULL;
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
    ok = ok && (!loading->route || (loader->hashed = hashed_new()) || err_memory(err, 1));
    server_t *near = NULL;
    if (loading->routers.count) {
        loader->way = number / loading->parts % loading->routers.count; /* all shards by every router */
        near = loading->routers.servers[loader->way];
    }
    ok = ok && (!loading->server || open_writer(loader, near, err));
    loader->account = (account_t){
        .loading = loading, .counts = &loader->counters.counts, .taken = take_taken, .taken_context = loader};
    if (!ok || !pipeline_start(&loading->pipeline, &loader->work, err)) {
        free_loader(loader);
        return NULL;
    }
    return loader;
}

void loader_peek(const loader_t *loader, loader_counters_t *counters) {
    const loader_counters_t *from = &loader->counters;
#define PEEK(name) counters->name = __atomic_load_n(&from->name, __ATOMIC_RELAXED)
    PEEK(counts.read), PEEK(counts.loaded), PEEK(counts.already_there), PEEK(counts.rejected),
        PEEK(counts.filtered), PEEK(counts.corrected);
    PEEK(batches), PEEK(sent_documents), PEEK(sent_bytes), PEEK(retries), PEEK(short_batches);
    PEEK(wait_server_ns), PEEK(unrouted);
#undef PEEK
    counters->wait_input_ns = __atomic_load_n(&loader->work.waited_ns, __ATOMIC_RELAXED);
}

void loader_end(loader_t *loader, loader_counters_t *counters, hist_t *batch_times) {
    *counters = loader->counters;
    counters->wait_input_ns = loader->work.waited_ns;
    counters->total_ns = loader->work.took_ns;
    counters->kept_as_text = records_kept_as_text(loader->reader);
    hist_merge(batch_times, &loader->batch_times);
    free_loader(loader);
}
