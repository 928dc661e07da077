#include "load/loader.h"
#include "base/clock.h"
#include "base/lines.h"
#include "base/log.h"
#include "base/stop.h"
#include "format/records.h"
#include "target/writer.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 512 * 1024 };
static const int64_t OLDEST_BATCH_NS = 1000000000, LOOK_NS = 50000000;

/* Documents of one block in a batch. */
typedef struct {
    block_t *block;
    uint32_t count;
} part_t;

typedef struct {
    uint8_t *bytes;
    size_t used, room;
    uint32_t *starts;  /* in bytes; one more than there are documents */
    uint32_t *offsets; /* of each document's record in its block's text */
    uint32_t count;
    part_t *parts;
    size_t part_count, part_room;
    int64_t since_ns; /* when its first document came */
} batch_t;

struct loader {
    loading_t *loading;
    pthread_t thread;
    writer_t *writer;
    records_t *reader;
    batch_t batch;
    block_t *rest; /* of the list that was popped last */
    loader_counters_t counters;
};

void loading_fail(loading_t *loading, const err_t *err) {
    pthread_mutex_lock(&loading->lock);
    if (!loading->failed)
        loading->err = *err;
    loading->failed = true;
    pthread_mutex_unlock(&loading->lock);
    pool_close(loading->pool);
    queue_close(loading->queue);
}

bool loading_failed(loading_t *loading) {
    pthread_mutex_lock(&loading->lock);
    bool failed = loading->failed;
    pthread_mutex_unlock(&loading->lock);
    return failed;
}

block_t *loading_take_done(loading_t *loading) {
    pthread_mutex_lock(&loading->lock);
    block_t *done = loading->done;
    loading->done = NULL;
    pthread_mutex_unlock(&loading->lock);
    return done;
}

void loading_free_blocks(block_t *blocks) {
    while (blocks) {
        block_t *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* Counters are read by the reporter while we write them. */
#define ADD(counter, amount) __atomic_store_n(&(counter), (counter) + (amount), __ATOMIC_RELAXED)

static void free_block(loading_t *loading, block_t *block) {
    if (block)
        pool_give(loading->pool, &block->buffer);
    free(block);
}

static void settle_block(loader_t *loader, block_t *block) {
    loading_t *loading = loader->loading;
    if (!block->parsed || block->pending)
        return;
    pool_give(loading->pool, &block->buffer);
    pthread_mutex_lock(&loading->lock);
    block->next = loading->done;
    loading->done = block;
    pthread_mutex_unlock(&loading->lock);
}

static bool reject(loader_t *loader, block_t *block, const reject_t *reject, err_t *err) {
    block->counts.read++;
    block->counts.rejected++;
    ADD(loader->counters.counts.read, 1);
    ADD(loader->counters.counts.rejected, 1);
    return rejects_add(loader->loading->rejects, reject, err);
}

static bool reject_record(loader_t *loader, block_t *block, const record_t *record, const char *reason,
                          err_t *err) {
    reject_t it = {.file = block->file,
                   .offset = block->offset + record->offset,
                   .line = block->first_line + record->line,
                   .column = record->column,
                   .field = record->field,
                   .reason = reason,
                   .bytes = block->buffer.bytes + record->offset,
                   .length = record->length,
                   .kept = record->length};
    return reject(loader, block, &it, err);
}

/* A document that the server would not take. */
static bool reject_refused(loader_t *loader, block_t *block, uint32_t offset, const char *reason,
                           err_t *err) {
    const uint8_t *text = block->buffer.bytes, *end = memchr(text + offset, '\n', block->length - offset);
    record_t record = {.offset = offset,
                       .length = (uint32_t)((end ? end : text + block->length) - (text + offset)),
                       .line = (uint32_t)lines_count(text, offset),
                       .column = 1,
                       .reason = reason};
    return reject_record(loader, block, &record, reason, err);
}

/* What became of one document that the server refused. */
static bool settle_refused(loader_t *loader, block_t *block, uint32_t index, const refused_t *refused,
                           bool batch_in_doubt, err_t *err) {
    batch_t *batch = &loader->batch;
    counts_t *counts = &loader->counters.counts;
    const uint8_t *document = batch->bytes + batch->starts[index];
    uint32_t length = batch->starts[index + 1] - batch->starts[index];
    stored_t stored = STORED_MISSING;
    bool ours = refused->duplicate_id && (block->in_doubt || batch_in_doubt);
    if (refused->duplicate_id && !ours && !writer_compare(loader->writer, document, length, &stored, err))
        return false;
    if (!ours && stored != STORED_SAME)
        return reject_refused(
            loader, block, batch->offsets[index],
            refused->duplicate_id && stored == STORED_DIFFERENT
                ? "another document with its _id is in the collection, and it is not this one"
                : refused->reason,
            err);
    block->counts.read++;
    ADD(counts->read, 1);
    /* only our own lost reply was in doubt: this run has loaded it */
    if (ours && !block->in_doubt) {
        block->counts.loaded++;
        ADD(counts->loaded, 1);
    } else {
        block->counts.already_there++;
        ADD(counts->already_there, 1);
    }
    return true;
}

static bool settle_batch(loader_t *loader, const written_t *written, err_t *err) {
    batch_t *batch = &loader->batch;
    uint32_t first = 0;
    size_t refused = 0;
    bool ok = true;
    for (size_t i = 0; i < batch->part_count; i++) {
        block_t *block = batch->parts[i].block;
        uint32_t behind = first + batch->parts[i].count, loaded = batch->parts[i].count;
        for (; ok && refused < written->count && written->refused[refused].index < behind;
             refused++, loaded--)
            ok = settle_refused(loader, block, written->refused[refused].index, &written->refused[refused],
                                written->in_doubt, err);
        if (!ok)
            return false;
        block->counts.read += loaded;
        block->counts.loaded += loaded;
        ADD(loader->counters.counts.read, loaded);
        ADD(loader->counters.counts.loaded, loaded);
        block->pending -= batch->parts[i].count;
        first = behind;
        batch->parts[i].block = NULL;
        settle_block(loader, block);
    }
    return true;
}

static bool send_batch(loader_t *loader, err_t *err) {
    batch_t *batch = &loader->batch;
    written_t written = {.count = 0};
    if (!batch->count)
        return true;
    batch->starts[batch->count] = (uint32_t)batch->used;
    if (loader->writer) {
        int64_t start = clock_now_ns();
        bool ok = writer_insert(loader->writer, batch->bytes, batch->starts, batch->count, &written, err);
        ADD(loader->counters.wait_server_ns, clock_now_ns() - start);
        if (!ok)
            return false;
    }
    ADD(loader->counters.batches, 1);
    ADD(loader->counters.sent_documents, batch->count);
    ADD(loader->counters.sent_bytes, batch->used);
    ADD(loader->counters.retries, written.retries);
    if (!settle_batch(loader, &written, err))
        return false;
    batch->count = 0;
    batch->used = 0;
    batch->part_count = 0;
    return true;
}

static bool grow_batch(batch_t *batch, size_t room, err_t *err) {
    uint8_t *larger = realloc(batch->bytes, room);
    if (!larger)
        return err_memory(err, room);
    batch->bytes = larger;
    batch->room = room;
    return true;
}

/* Room for one more document of up to `needed` bytes: by growing to --batch-bytes, then by sending. */
static bool make_room(loader_t *loader, size_t needed, err_t *err) {
    batch_t *batch = &loader->batch;
    const size_t most = loader->loading->batch_bytes;
    if (batch->used + needed > most && batch->count && !send_batch(loader, err))
        return false;
    if (batch->used + needed <= batch->room)
        return true;
    size_t room = batch->room * 2 < most ? batch->room * 2 : most;
    return grow_batch(batch, batch->used + needed > room ? batch->used + needed : room, err);
}

static bool add_document(loader_t *loader, block_t *block, const record_t *record, err_t *err) {
    batch_t *batch = &loader->batch;
    if (!batch->part_count || batch->parts[batch->part_count - 1].block != block) {
        if (batch->part_count == batch->part_room) {
            size_t room = batch->part_room ? 2 * batch->part_room : 16;
            part_t *larger = realloc(batch->parts, room * sizeof *larger);
            if (!larger)
                return err_memory(err, room * sizeof *larger);
            batch->parts = larger;
            batch->part_room = room;
        }
        batch->parts[batch->part_count++] = (part_t){block, 0};
    }
    if (!batch->count)
        batch->since_ns = clock_now_ns();
    batch->parts[batch->part_count - 1].count++;
    batch->starts[batch->count] = (uint32_t)batch->used;
    batch->offsets[batch->count++] = record->offset;
    batch->used += record->document_length;
    block->pending++;
    return batch->count < loader->loading->batch_documents || send_batch(loader, err);
}

static bool take_document(loader_t *loader, block_t *block, record_t *record, err_t *err) {
    loading_t *loading = loader->loading;
    record->column = 1; /* should it be rejected after all */
    record->field = NULL;
    const uint8_t *document = loader->batch.bytes + loader->batch.used;
    if (__builtin_expect(record->length > loading->max_record, 0))
        return reject_record(loader, block, record, "the record is longer than --max-record", err);
    if (__builtin_expect(record->document_length > loading->max_document, 0))
        return reject_record(loader, block, record, "its document is larger than the server takes", err);
    if (loading->filter && !filter_passes(loading->filter, document, record->document_length)) {
        block->counts.read++;
        block->counts.filtered++;
        ADD(loader->counters.counts.read, 1);
        ADD(loader->counters.counts.filtered, 1);
        return true;
    }
    return add_document(loader, block, record, err);
}

static bool reject_oversize(loader_t *loader, block_t *block, err_t *err) {
    reject_t it = {.file = block->file,
                   .offset = block->offset + block->length,
                   .line = block->first_line + lines_count(block->buffer.bytes, block->length),
                   .column = 1,
                   .reason = "the record is longer than --max-record",
                   .bytes = block->buffer.bytes + block->length,
                   .length = block->oversize.length,
                   .kept = block->oversize.kept};
    return reject(loader, block, &it, err);
}

/* The journey of a block: its records, one by one, into the batch. */
static bool load_block(loader_t *loader, block_t *block, err_t *err) {
    loading_t *loading = loader->loading;
    batch_t *batch = &loader->batch;
    record_t record;
    uint64_t looked_at = 0;
    bool documents = false, ok = true;
    records_begin(loader->reader, block->file->dialect, block->buffer.bytes, block->length, block->file_start,
                  true, block->id_base);
    while (ok) {
        parsed_t parsed = records_next(loader->reader, batch->bytes + batch->used, batch->room - batch->used,
                                       &record, NULL);
        if (parsed == PARSED_DOCUMENT) {
            looked_at++;
            documents = true;
            ok = take_document(loader, block, &record, err);
        } else if (parsed == PARSED_FULL) {
            ok = make_room(loader, record.needed, err);
        } else if (parsed == PARSED_REJECT) {
            if (looked_at || documents)
                rejects_looked_at(loading->rejects, looked_at, documents);
            looked_at = 1;
            ok = reject_record(loader, block, &record, record.reason, err);
        } else if (parsed == PARSED_END) {
            break;
        } else if (parsed == PARSED_MEMORY) {
            ok = err_memory(err, record.length);
        }
    }
    rejects_looked_at(loading->rejects, looked_at, documents);
    if (ok && block->oversize.length)
        ok = reject_oversize(loader, block, err);
    block->parsed = ok;
    if (ok)
        settle_block(loader, block);
    else if (!batch->part_count || batch->parts[batch->part_count - 1].block != block)
        free_block(loading, block);
    return ok;
}

/* A batch that waits for its last documents too long, or holds blocks while memory is short, goes as it is.
 */
static bool send_if_due(loader_t *loader, err_t *err) {
    bool is_short = pool_is_short(loader->loading->pool);
    if (!loader->batch.count || (!is_short && clock_now_ns() - loader->batch.since_ns < OLDEST_BATCH_NS))
        return true;
    ADD(loader->counters.short_batches, is_short);
    return send_batch(loader, err);
}

static bool work_on(loader_t *loader, err_t *err) {
    loading_t *loading = loader->loading;
    for (;;) {
        int64_t start = clock_now_ns();
        block_t *block =
            loader->rest ? loader->rest : queue_pop(loading->queue, loader->batch.count ? LOOK_NS : -1);
        loader->rest = block ? block->next : NULL;
        ADD(loader->counters.wait_input_ns, clock_now_ns() - start);
        bool over = stop_signal() || loading_failed(loading);
        if (!block && queue_ended(loading->queue))
            return over && loading_failed(loading) ? true : send_batch(loader, err);
        if (block && over) {
            free_block(loading, block);
            continue;
        }
        if (block && !load_block(loader, block, err))
            return false;
        if (!send_if_due(loader, err))
            return false;
    }
}

static void *run(void *context) {
    loader_t *loader = context;
    loading_t *loading = loader->loading;
    err_t err;
    int64_t start = clock_now_ns();
    if (!work_on(loader, &err)) {
        loading_fail(loading, &err);
        /* what is still queued is nobody's any more */
        for (block_t *block; (block = loader->rest ? loader->rest : queue_pop(loading->queue, 0));) {
            loader->rest = block->next;
            free_block(loading, block);
        }
    }
    loader->counters.total_ns = clock_now_ns() - start;
    loader->counters.odd = records_odd(loader->reader);
    return NULL;
}

static void free_loader(loader_t *loader) {
    batch_t *batch = &loader->batch;
    for (size_t i = 0; i < batch->part_count; i++)
        free_block(loader->loading, batch->parts[i].block); /* of a batch that was never settled */
    free(batch->bytes);
    free(batch->starts);
    free(batch->offsets);
    free(batch->parts);
    records_destroy(loader->reader);
    if (loader->writer)
        writer_destroy(loader->writer);
    free(loader);
}

loader_t *loader_start(loading_t *loading, err_t *err) {
    loader_t *loader = calloc(1, sizeof *loader);
    if (!loader) {
        err_memory(err, sizeof *loader);
        return NULL;
    }
    loader->loading = loading;
    batch_t *batch = &loader->batch;
    size_t documents = loading->batch_documents + 1;
    batch->starts = malloc(documents * sizeof *batch->starts);
    batch->offsets = malloc(documents * sizeof *batch->offsets);
    loader->reader = records_new(loading->schema);
    size_t room = loading->batch_bytes < FIRST_ROOM ? loading->batch_bytes : FIRST_ROOM;
    bool ok = batch->starts && batch->offsets && loader->reader ? true : err_memory(err, documents * 8);
    ok = ok && grow_batch(batch, room, err);
    ok = ok && (!loading->server || (loader->writer = writer_new(loading->server, err)));
    if (ok && pthread_create(&loader->thread, NULL, run, loader) != 0)
        ok = err_set(err, STATUS_HOST, "no more threads can be made; lower --threads");
    if (!ok) {
        free_loader(loader);
        return NULL;
    }
    return loader;
}

void loader_peek(const loader_t *loader, loader_counters_t *counters) {
    const loader_counters_t *from = &loader->counters;
#define PEEK(name) counters->name = __atomic_load_n(&from->name, __ATOMIC_RELAXED)
    PEEK(counts.read), PEEK(counts.loaded), PEEK(counts.already_there), PEEK(counts.rejected),
        PEEK(counts.filtered);
    PEEK(batches), PEEK(sent_documents), PEEK(sent_bytes), PEEK(retries), PEEK(short_batches);
    PEEK(wait_server_ns), PEEK(wait_input_ns);
#undef PEEK
}

void loader_join(loader_t *loader, loader_counters_t *counters) {
    pthread_join(loader->thread, NULL);
    *counters = loader->counters;
    free_loader(loader);
}
