/* The messages of a replay, complete with their lengths and numbers. */
#include "replay.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_MESSAGE = 48000000 };

typedef struct {
    const uint8_t *bytes;
    uint32_t length, shard;
} document_t;

/* Header, flags, the command as section 0, and the start of section 1, whose documents follow. The two
 * lengths, of the message and of section 1, are left to fill in. */
static size_t make_head(const replay_t *replay, uint32_t shard, uint8_t *head, size_t *section) {
    uint8_t *at = put32(head, 0);
    at = put32(put32(put32(at, 0), 0), OP_MSG);
    at = put32(at, 0);
    *at++ = 0;
    uint8_t *body = at;
    at = put_text(body + 4, "insert", replay->collection);
    at = put_bool(at, "ordered", false);
    uint8_t *concern = at = put_key(at, 0x03, "writeConcern");
    if (replay->majority)
        at = put_bool(put_text(at + 4, "w", "majority"), "j", true);
    else
        at = put32(put_key(at + 4, 0x10, "w"), 1);
    at = close_document(concern, at);
    if (replay->direct) {
        at = put_key(at, 0x03, "shardVersion");
        at = (uint8_t *)mempcpy(at, replay->versions[shard], read32(replay->versions[shard]));
    }
    at = close_document(body, put_text(at, "$db", replay->database));
    *at++ = 1;
    *section = (size_t)(at - head);
    at = (uint8_t *)stpcpy((char *)at + 4, "documents") + 1;
    return (size_t)(at - head);
}

static uint32_t shard_of(const replay_t *replay, const uint8_t *document, uint32_t length) {
    static const char ID[] = "\x12_id"; /* an int64, and the first */
    if (!replay->cut_count)
        return 0;
    if (length < 22 || memcmp(document + 4, ID, sizeof ID) != 0)
        die("--cut wants documents that begin with an _id of 64 bits");
    const int64_t id = (int64_t)((uint64_t)read32(document + 13) << 32 | read32(document + 9));
    uint32_t shard = 0;
    while (shard < replay->cut_count && replay->cuts[shard] <= id)
        shard++;
    return shard;
}

static document_t *find_documents(replay_t *replay, const char *path, const uint8_t *bytes, size_t length) {
    size_t room = 0;
    document_t *documents = NULL;
    for (size_t from = 0; from < length; from += read32(bytes + from)) {
        if (length - from < 5 || read32(bytes + from) < 5 || read32(bytes + from) > length - from)
            die("%s: no BSON document at %zu", path, from);
        if (replay->document_count == room) {
            room = room ? 2 * room : 1 << 16;
            documents = need(realloc(documents, room * sizeof *documents));
        }
        const uint32_t size = read32(bytes + from);
        documents[replay->document_count++] =
            (document_t){bytes + from, size, shard_of(replay, bytes + from, size)};
    }
    if (!documents)
        die("%s is empty", path);
    return documents;
}

/* One document of each shard in turn, as long as there are any. */
static void mix(const replay_t *replay, document_t *documents) {
    document_t *mixed = need(malloc(replay->document_count * sizeof *mixed));
    size_t at[MOST_SHARDS] = {0};
    for (size_t count = 0; count < replay->document_count;)
        for (uint32_t shard = 0; shard <= replay->cut_count; shard++) {
            while (at[shard] < replay->document_count && documents[at[shard]].shard != shard)
                at[shard]++;
            if (at[shard] < replay->document_count)
                mixed[count++] = documents[at[shard]++];
        }
    memcpy(documents, mixed, replay->document_count * sizeof *mixed);
    free(mixed);
}

static void add_message(queue_t *queue, message_t message) {
    if (queue->count == queue->room) {
        queue->room = queue->room ? 2 * queue->room : 1024;
        queue->messages = need(realloc(queue->messages, queue->room * sizeof *queue->messages));
    }
    queue->messages[queue->count++] = message;
}

static void make_message(replay_t *replay, uint32_t shard, const document_t *const *batch, uint32_t count) {
    uint8_t head[1024 + MOST_VERSION];
    size_t section, total = make_head(replay, shard, head, &section);
    const size_t head_length = total;
    for (uint32_t i = 0; i < count; i++)
        total += batch[i]->length;
    if (total > MOST_MESSAGE)
        die("a batch of %u documents is more than a server takes; lower --batch", count);
    queue_t *queue = &replay->queues[replay->direct ? shard : 0];
    uint8_t *message = need(malloc(total)), *at = mempcpy(message, head, head_length);
    for (uint32_t i = 0; i < count; i++)
        at = mempcpy(at, batch[i]->bytes, batch[i]->length);
    put32(message, (uint32_t)total);
    put32(message + 4, (uint32_t)queue->count + 1);
    put32(message + section, (uint32_t)(total - section));
    add_message(queue, (message_t){message, (uint32_t)total, count});
}

/* In the order of the file: a shard's message comes where its last document stands. */
void make_messages(replay_t *replay, const char *path) {
    size_t length;
    uint8_t *bytes = read_file(path, &length);
    document_t *documents = find_documents(replay, path, bytes, length);
    if (replay->mixed)
        mix(replay, documents);
    struct {
        const document_t **batch;
        uint32_t count;
    } trays[MOST_SHARDS];
    const uint32_t tray_count = replay->mixed ? 1 : replay->cut_count + 1;
    for (uint32_t i = 0; i < tray_count; i++) {
        trays[i].batch = need(malloc(replay->batch * sizeof *trays[i].batch));
        trays[i].count = 0;
    }
    for (size_t i = 0; i < replay->document_count; i++) {
        const uint32_t to = replay->mixed ? 0 : documents[i].shard;
        trays[to].batch[trays[to].count++] = &documents[i];
        if (trays[to].count == replay->batch) {
            make_message(replay, to, trays[to].batch, replay->batch);
            trays[to].count = 0;
        }
    }
    for (uint32_t i = 0; i < tray_count; i++) {
        if (trays[i].count)
            make_message(replay, i, trays[i].batch, trays[i].count);
        free(trays[i].batch);
    }
    free(documents);
    free(bytes);
}
