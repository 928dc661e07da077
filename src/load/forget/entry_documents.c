#include "load/forget/entry_documents.h"
#include "catalog/store/entry_bson.h"
#include "format/record/record_id.h"
#include "server/bson_read.h"

enum { RANGES_AT_ONCE = 100 };

/* In one lane all numbers of an extent are the entry's. */
typedef bool take_range_t(void *context, int64_t from, int64_t to, err_t *err);

static bool each_range(const entry_t *entry, uint64_t offset, take_range_t *take, void *context, err_t *err) {
    for (size_t i = 0; i < entry->extent_count; i++) {
        const extent_t *extent = &entry->extents[i];
        const uint64_t blocks = (extent->length + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES,
                       before = offset > extent->start ? offset - extent->start : 0;
        for (uint64_t block = 0; before < extent->length && block < blocks && block < RECORD_ID_LANES;
             block++) {
            const uint32_t lane =
                record_id_lane(entry->ordinal, extent->start + block * RECORD_ID_BLOCK_BYTES);
            if (!take(context, record_id_make(lane, extent->base + before),
                      record_id_make(lane, extent->base + extent->length - 1), err))
                return false;
        }
    }
    return true;
}

/* Those of loads are int64; what others have put there may have other ones. */
static void append_id_range(bson_t *to, int64_t from, int64_t last) {
    BCON_APPEND(to, "_id", "{", "$gte", BCON_INT64(from), "$lte", BCON_INT64(last), "$type",
                BCON_UTF8("long"), "}");
}

static bool run(const entry_place_t *place, bson_t *command, bool writes, bson_t *reply, err_t *err) {
    const bool ok = server_command(place->server, place->client, server_database(place->server), command,
                                   writes, reply, err);
    bson_destroy(command);
    return ok;
}

typedef struct {
    const entry_place_t *place;
    bool any;
} looking_t;

/* One range a command: of several, by $or, a server reads all of a clustered collection. */
static bool look_at_range(void *context, int64_t from, int64_t last, err_t *err) {
    looking_t *looking = context;
    bson_t filter = BSON_INITIALIZER, reply, document;
    bson_iter_t documents;
    if (looking->any)
        return true;
    append_id_range(&filter, from, last);
    bson_t *command = BCON_NEW("find", BCON_UTF8(server_collection(looking->place->server)), "filter",
                               BCON_DOCUMENT(&filter), "limit", BCON_INT32(1), "singleBatch", BCON_BOOL(true),
                               "projection", "{", "_id", BCON_INT32(1), "}");
    bson_destroy(&filter);
    const bool ok = run(looking->place, command, false, &reply, err);
    looking->any = ok && bson_read_batch(&reply, &documents) && bson_read_next(&documents, &document);
    bson_destroy(&reply);
    return ok;
}

bool entry_documents_look(const entry_place_t *place, const entry_t *entry, uint64_t offset, bool *any,
                          err_t *err) {
    looking_t looking = {.place = place};
    const bool ok = each_range(entry, offset, look_at_range, &looking, err);
    *any = looking.any;
    return ok;
}

typedef struct {
    const entry_place_t *place;
    bson_t deletes;
    uint32_t count;
} removing_t;

static bool send_deletes(removing_t *removing, err_t *err) {
    const entry_place_t *place = removing->place;
    bson_t reply;
    if (!removing->count)
        return true;
    bson_t *command = BCON_NEW("delete", BCON_UTF8(server_collection(place->server)), "deletes",
                               BCON_ARRAY(&removing->deletes), "ordered", BCON_BOOL(false));
    server_append_uuid(place->server, place->uuid, command);
    const bool ok = run(place, command, true, &reply, err);
    bson_destroy(&reply);
    bson_reinit(&removing->deletes);
    removing->count = 0;
    return ok;
}

static bool remove_range(void *context, int64_t from, int64_t last, err_t *err) {
    removing_t *removing = context;
    char text[16];
    bson_t q = BSON_INITIALIZER;
    append_id_range(&q, from, last);
    BCON_APPEND(&removing->deletes, entry_index_key(removing->count++, text), "{", "limit", BCON_INT32(0),
                "q", BCON_DOCUMENT(&q), "}");
    bson_destroy(&q);
    return removing->count < RANGES_AT_ONCE || send_deletes(removing, err);
}

bool entry_documents_remove(const entry_place_t *place, const entry_t *entry, err_t *err) {
    removing_t removing = {.place = place};
    bson_init(&removing.deletes);
    const bool ok = each_range(entry, 0, remove_range, &removing, err) && send_deletes(&removing, err);
    bson_destroy(&removing.deletes);
    return ok;
}

bool entry_documents_may_remove(const entry_place_t *place, err_t *err) {
    bson_t reply;
    const bool ok =
        run(place,
            BCON_NEW("delete", BCON_UTF8(server_collection(place->server)), "deletes", "[", "{", "q", "{",
                     "_id", "{", "$in", "[", "]", "}", "}", "limit", BCON_INT32(0), "}", "]"),
            true, &reply, err);
    bson_destroy(&reply);
    return ok;
}
