#include "base/clock.h"
#include "base/stop.h"
#include "load/deliver/ask.h"
#include "load/deliver/loose_hash.h"
#include "load/threads/loader_inner.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

static const int64_t OLDEST_BATCH_NS = 1000000000, LATE_NAP_NS = 20000000;

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

static int64_t now(void *context) {
    (void)context;
    return clock_awake_or_not_ns();
}

/* No message is on its way for longer than a lease: that is what removals rely on, too. */
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
           err_set(err, STATUS_SERVER,
                   "a document that was sent straight to the shard %s is not found through the router: this "
                   "is a mistake in tipple, please report it; leave --direct out, and --drop what was loaded",
                   chunkmap_shard_name(loader->map, place - 1));
}

/* A batch for one shard: through the router, or straight there with the version of the map that sorted it. */
static bool write_batch(loader_t *loader, const batch_t *batch, size_t place, delivered_t *delivered,
                        err_t *err) {
    load_state_t *loading = loader->loading;
    const documents_t documents = {batch->bytes, batch->starts, batch->count, batch->may_be_there};
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
    ACCOUNT_ADD(loader->counters.wait_server_ns, clock_now_ns() - began);
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
    return load_state_ask(loader->loading, ASK_TO_BIND, NULL, 0, err) ||
           (err->text[0] ? false : stop_interrupted(err));
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
        *delivered = (delivered_t){.count = 0};
        batch_drop_lost(batch, drop_block, loader->loading); /* nobody confirms what is lost */
        if (batch->count && !load_state_wait_confirmed(loader->loading, err))
            return false;
        batch_drop_lost(batch, drop_block, loader->loading);
        err->text[0] = '\0';
        if (!batch->count || write_batch(loader, batch, place, delivered, err))
            return true;
        if (err->text[0])
            return false;
    }
}

bool loader_send(loader_t *loader, batch_t *batch, err_t *err) {
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
    if (loader->writer && !write_own(loader, batch, place, &delivered, err)) {
        account_stopped(&loader->account, &delivered);
        if (delivered.touched)
            loading->touched = true;
        return false;
    }
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
    if (loader->keys)
        memset(loader->keys, 0, loader->key_room * sizeof *loader->keys);
    return true;
}

bool loader_send_all(loader_t *loader, err_t *err) {
    for (size_t i = 0; i < loader->batch_count; i++)
        if (!loader_send(loader, &loader->batches[i], err))
            return false;
    return true;
}

bool loader_send_if_due(loader_t *loader, bool *waiting, err_t *err) {
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

bool loader_open_writer(loader_t *loader, server_t *near, err_t *err) {
    const load_state_t *loading = loader->loading;
    if (!(loader->writer = writer_new(loading->server, near, err)))
        return false;
    if (loading->uuid)
        writer_set_uuid(loader->writer, loading->uuid);
    loader->owner = (deliver_owner_t){.context = loader,
                                      .existing = loading->existing,
                                      .likeness = loose_hash,
                                      .now = now,
                                      .outlive = outlive,
                                      .place = place_of,
                                      .accepts = accepts_stored,
                                      .advice = loading->schema->id ? NULL : ASK_ADVICE,
                                      .may_send = loading->lease_ns ? may_send : NULL};
    loader->deliver = deliver_new(writer_wire(loader->writer), &loader->owner, err);
    return loader->deliver != NULL;
}
