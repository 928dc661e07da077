#include "base/clock.h"
#include "load/deliver/correct.h"
#include "load/threads/loader_inner.h"

static bool want_begun(loader_t *loader, err_t *err) {
    if (!loader->begun)
        loader->begun = begun_new(loader->loading, writer_client(loader->writer), &loader->account, err);
    return loader->begun != NULL;
}

bool loader_take_taken(void *context, block_t *block, const record_t *record, const uint8_t *document,
                       err_t *err) {
    loader_t *loader = context;
    return want_begun(loader, err) && begun_taken(loader->begun, block, record, document, err);
}

bool loader_read_back(loader_t *loader, block_t *block, err_t *err) {
    const bool own_ids = loader->loading->schema->id;
    loader->comparing = false;
    loader->may_be_there = own_ids && block->begun_before;
    if (!block->begun_before || !loader->writer || own_ids) /* there is no range of `_id`s to be read */
        return true;
    const int64_t start = clock_now_ns();
    if (!want_begun(loader, err))
        return false;
    const bool ok = begun_read(loader->begun, block, &loader->comparing, err);
    if (loader->comparing)
        rejects_format_fits(loader->loading->rejects);
    ACCOUNT_ADD(loader->counters.wait_server_ns, clock_now_ns() - start);
    return ok;
}

/* With another shard key than _id it may be on any shard, and is not looked for. */
static bool may_come_late(const loader_t *loader, const block_t *block, const record_t *record) {
    const route_t *route = loader->loading->route;
    return loader->writer && !loader->loading->schema->id && (!route || route_key(route)->is_id) &&
           correct_was_torn(block, record->offset);
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

bool loader_clear_torn(loader_t *loader, block_t *block, uint32_t *from, uint32_t to, err_t *err) {
    const load_file_t *file = block->file;
    if (loader->loading->schema->id) /* load_records sees whether it is longer */
        return true;
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
        return err_set(err, STATUS_INPUT,
                       "%s has grown, and its old last record (at byte %llu) is no record any more; but a "
                       "document that somebody else has put in its place is in the collection: give "
                       "--reload-changed, which removes the documents of this input and loads it again",
                       file->input->name, (unsigned long long)offset);
    }
    *from = to + 1;
    return true;
}

bool loader_may_have_grown(const loader_t *loader, block_t *block, err_t *err) {
    const schema_t *schema = loader->loading->schema;
    bool made;
    if (!schema->id || !block->file->torn_count || !correct_has_outgrown(schema, block))
        return true;
    if (!correct_made_document(schema, block, &made, err))
        return false;
    if (!made)
        return true;
    block->file->changed = true;
    return err_set(err, STATUS_INPUT,
                   "%s has grown in the middle of a record, and the cut-off record may be in the collection "
                   "by an _id of its own (--id %s): find that document, delete it, and give "
                   "--reload-changed, which loads all of the input again",
                   block->file->input->name, schema->id->text);
}

bool loader_leave_out(loader_t *loader, block_t *block, const record_t *record, const uint8_t *document,
                      const char *reason, err_t *err) {
    char other[WIRE_WORDS];
    begun_there_t there;
    if (!want_nothing(loader, block, record, document, &there, err))
        return false;
    if (there == BEGUN_OTHER) {
        begun_say_other(loader->begun, other, reason, block->id_base + record->offset);
        reason = other;
    }
    if (reason && there != BEGUN_FIXED && account_is_fixed(&loader->account, block, record))
        there = BEGUN_FIXED;
    if (reason && there != BEGUN_FIXED)
        return record->offset < block->length ? account_reject(&loader->account, block, record, reason, err)
                                              : account_oversize(&loader->account, block, reason, err);
    account_one(&loader->account, block, reason ? RECORD_THERE : RECORD_FILTERED);
    return true;
}
