/* pipeline: the feeders and senders of a simulated load. They read an input block by block, compare what is
 * done with its hashes, read back what somebody may have sent before, deliver the rest by the production
 * code, and tell the main thread by events. */
#include "catalog/ledger/ledger.h"
#include "format/record/record_id.h"
#include "load/read_back/range.h"
#include "load/rejects/fix_item.h"
#include "sim.h"

#include <stdio.h>

/* The records [first, last) make the blocks [from, to). */
typedef struct {
    uint32_t first, last;
    uint64_t from, to;
    bool tail;
} group_t;

typedef struct {
    sim_load_t *load;
    task_t *task;
    const input_t *input;
    const content_t *content;
    sim_wire_t wire;
} feed_t;

static ledger_input_t *input_of(const sim_load_t *load, const work_t *work) {
    return &((sim_load_t *)(uintptr_t)load)->ledger.inputs[work->input];
}

static void fail_load(sim_load_t *load, const err_t *err) {
    if (!load->failed)
        load->error = *err;
    load->failed = load->changed = true;
    TRACE(load->world, "fails: %s", err->text);
    actor_wake(&load->main);
}

static void fail_input(sim_load_t *load, const char *why) {
    err_t err;
    err_set(&err, STATUS_INPUT, "%s", why);
    fail_load(load, &err);
}

/* It is another content than what was done: --reload-changed removes it. */
static void fail_changed(const feed_t *feed, const char *why) {
    feed->load->turned_out[feed->task->work->input] = true;
    fail_input(feed->load, why);
}

static void tell_main(sim_load_t *load) {
    load->changed = true;
    actor_wake(&load->main);
}

static void push(sim_load_t *load, const event_t *event) {
    if (load->event_count == SIM_EVENTS) {
        sim_fail(load->world, "events", "a load has more events than there is room for");
        return;
    }
    load->events[load->event_count++] = *event;
    load->changed = true;
}

static bool goes_on(const feed_t *feed) {
    return !feed->load->failed;
}

/* ---- cutting ---- */

static uint32_t cut(const feed_t *feed, group_t groups[CONTENT_RECORDS]) {
    const content_t *content = feed->content;
    const task_t *task = feed->task;
    const bool is_last = task->to == UINT64_MAX;
    const uint64_t end =
        is_last || content_end_block(content) < task->to ? content_end_block(content) : task->to;
    uint32_t count = 0;
    uint64_t at = task->from;
    for (uint32_t i = 0; i < content->count; i++) {
        const uint64_t block = content_block(feed->input, &content->records[i]);
        if (block < task->from || block >= task->to)
            continue;
        if (count && content_block(feed->input, &content->records[groups[count - 1].first]) == block) {
            groups[count - 1].last = i + 1;
            continue;
        }
        if (count)
            at = groups[count - 1].to = block;
        groups[count++] = (group_t){.first = i, .last = i + 1, .from = at, .to = end};
    }
    if (count && is_last)
        groups[count - 1].tail = true;
    return count;
}

/* ---- hashes of what is done ---- */

/* Is this what was there when the done runs were written? */
static bool is_as_done(const feed_t *feed, const group_t *groups, uint32_t count) {
    const done_runs_t *done = &feed->task->done;
    for (size_t i = 0; i < done->count; i++) {
        const done_run_t *run = &done->runs[i];
        uint64_t hash = 0, at = run->from;
        for (uint32_t j = 0; j < count; j++)
            if (groups[j].from < run->to && groups[j].to > run->from) {
                if (groups[j].from != at)
                    return false;
                hash += content_block_hash(feed->input, feed->content, groups[j].first, groups[j].last);
                at = groups[j].to;
            }
        if (at != run->to || hash != run->hash)
            return false;
    }
    return true;
}

/* ---- one block ---- */

/* The number of the record's place; where there is none yet, the main thread gets one. */
static bool number_of(feed_t *feed, const record_t *record, uint64_t *number) {
    sim_load_t *load = feed->load;
    const uint64_t offset = content_offset(feed->input, record);
    while (goes_on(feed) && !entry_number(&input_of(load, feed->task->work)->entry, offset, number)) {
        if (!load->extend.wanted)
            load->extend = (extend_t){true, feed->task->work, offset};
        tell_main(load);
        actor_sleep(load->world, SIM_TICK / 4);
    }
    return goes_on(feed);
}

bool pipeline_bind(sim_load_t *load) {
    err_t err;
    while (load->binding && !load->failed)
        actor_sleep(load->world, SIM_TICK / 4);
    if (load->bound || load->failed)
        return !load->failed;
    load->binding = true;
    load->bound = catalog_bind(&load->store.store, &load->settings, &err);
    load->binding = false;
    if (!load->bound)
        fail_load(load, &err);
    return load->bound;
}

typedef struct {
    feed_t *feed;
    const group_t *group;
    uint32_t count; /* documents */
    const record_t *records[SIM_BATCH];
    int64_t ids[SIM_BATCH];
    uint32_t documents[SIM_BATCH];
    bool settled[SIM_BATCH];                   /* there, or otherwise known */
    bool nothing[SIM_BATCH], fixed[SIM_BATCH]; /* makes no document; has one that a person has made of it */
    reject_mark_t rejects[SIM_BATCH];
    size_t reject_count;
    counts_t counts;
    bool failed;
} batch_t;

/* It comes into the reject file, once. */
static void write_reject(const feed_t *feed, const record_t *record, const reject_mark_t *mark) {
    world_t *world = feed->load->world;
    const char *path = input_of(feed->load, feed->task->work)->entry.path;
    for (uint32_t i = 0; i < world->rejected_count; i++) {
        const rejected_t *known = &world->rejected[i];
        if (known->offset == mark->offset && known->hash == mark->hash && strcmp(known->path, path) == 0)
            return;
    }
    if (!world->retries || world->rejected_count == SIM_REJECTED)
        return;
    rejected_t *rejected = &world->rejected[world->rejected_count++];
    *rejected = (rejected_t){
        .input = feed->input->number, .record = *record, .offset = mark->offset, .hash = mark->hash};
    snprintf(rejected->path, sizeof rejected->path, "%s", path);
}

static void reject(batch_t *batch, const record_t *record) {
    const reject_mark_t mark = {content_offset(batch->feed->input, record), content_record_hash(record)};
    world_t *world = batch->feed->load->world;
    batch->counts.of[FATE_REJECTED]++;
    batch->rejects[batch->reject_count++] = mark;
    write_reject(batch->feed, record, &mark);
    check_rejected_again(world, batch->feed->task,
                         input_of(batch->feed->load, batch->feed->task->work)->entry.ordinal, mark.offset,
                         mark.hash);
}

/* Is this what a person has made of the record? */
static bool accepts(const batch_t *batch, uint32_t at, uint64_t hash) {
    const task_t *task = batch->feed->task;
    return fix_marks_accept(task->fixes, task->fix_count,
                            content_offset(batch->feed->input, batch->records[at]),
                            content_record_hash(batch->records[at]), hash);
}

static bool encode(batch_t *batch, const group_t *group, uint32_t first, uint32_t last) {
    feed_t *feed = batch->feed;
    sim_load_t *load = feed->load;
    batch->group = group;
    for (uint32_t i = first; i < last; i++) {
        const record_t *record = &feed->content->records[i];
        uint64_t number;
        batch->counts.read++;
        const bool looks = load->world->retries && feed->task->epoch > 1;
        if (record->kind == RECORD_BAD && !looks) {
            reject(batch, record);
        } else if (record->kind == RECORD_FILTERED) {
            batch->counts.of[FATE_FILTERED]++;
        } else {
            if (!number_of(feed, record, &number))
                return false;
            const uint32_t at = batch->count++;
            batch->records[at] = record;
            batch->ids[at] = record_id_make(record_id_lane(input_of(load, feed->task->work)->entry.ordinal,
                                                           content_offset(feed->input, record)),
                                            number);
            batch->documents[at] = document_of(feed->input, record, load->command.format);
            batch->nothing[at] = batch->settled[at] = record->kind == RECORD_BAD;
        }
    }
    return true;
}

/* ---- the last record that was cut off, once ---- */

/* The document that an earlier version of the input made of the beginning of this record; 0: none. */
static uint32_t torn_document(const feed_t *feed, const record_t *record, uint32_t stored) {
    const entry_t *entry = &input_of(feed->load, feed->task->work)->entry;
    for (uint32_t i = 0; i < entry->version_count; i++) {
        const torn_t *torn = &entry->versions[i].torn;
        if (!torn->length || torn->offset != content_offset(feed->input, record))
            continue;
        record_t before = *record;
        before.length = (uint8_t)((torn->length + feed->input->unit - 1) / feed->input->unit);
        if (before.length >= record->length || content_record_hash(&before) != torn->hash)
            continue;
        const uint32_t document = document_of(feed->input, &before, feed->load->command.format);
        if (!stored || stored == document)
            return document;
    }
    return 0;
}

/* Another document is there: if it is of the record's beginning, the whole one takes its place. */
static bool correct(batch_t *batch, uint32_t at, uint32_t stored) {
    feed_t *feed = batch->feed;
    const record_t *record = batch->records[at];
    for (int turn = 0; turn < 8; turn++) {
        const uint32_t old = torn_document(feed, record, stored);
        if (stored == batch->documents[at] || !old) {
            if (stored == batch->documents[at])
                batch->counts.of[FATE_THERE]++;
            else
                reject(batch, record);
            return true;
        }
        bool done = false;
        TRACE(feed->load->world, "corrects the document of a record that was cut off");
        if (sim_replace(&feed->wire, batch->ids[at], old, batch->documents[at], &done) && done) {
            batch->counts.of[FATE_LOADED]++;
            batch->counts.of[FATE_CORRECTED]++;
            return true;
        }
        stored_t found[4];
        size_t count = 0;
        if (!goes_on(feed))
            return false;
        if (sim_fetch_range(&feed->wire, batch->ids[at], batch->ids[at], found, 4, &count) && count)
            stored = found[0].document;
        else
            actor_sleep(feed->load->world, SIM_TICK / 2);
    }
    err_t err;
    err_set(&err, STATUS_SERVER, "no more patience with a replace");
    fail_load(feed->load, &err);
    return false;
}

/* Another document is there, or was a moment ago: an old primary may not show it. */
static bool correct_taken(batch_t *batch, uint32_t at) {
    feed_t *feed = batch->feed;
    stored_t found[4];
    size_t count = 0;
    for (int turn = 0;
         !sim_fetch_range(&feed->wire, batch->ids[at], batch->ids[at], found, 4, &count) || !count; turn++) {
        if (turn > 8 || !goes_on(feed)) {
            err_t err;
            err_set(&err, STATUS_SERVER, "no more patience with a read");
            fail_load(feed->load, &err);
            return false;
        }
        actor_sleep(feed->load->world, SIM_TICK / 2);
    }
    return correct(batch, at, found[0].document);
}

/* ---- reading back ---- */

/* The record that is looked up. */
typedef struct {
    const batch_t *batch;
    uint32_t at;
} looked_up_t;

static bool accepts_hash(void *context, uint64_t hash) {
    const looked_up_t *is = context;
    return accepts(is->batch, is->at, hash);
}

/* The other document that is in the record's place. */
static uint32_t other_document(const batch_t *batch, uint32_t at, const stored_t *found, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (found[i].id == batch->ids[at] && found[i].document != batch->documents[at])
            return found[i].document;
    return 0;
}

static bool settle(batch_t *batch, uint32_t at, read_back_found_t is, const stored_t *found, size_t count) {
    if (batch->nothing[at]) {
        batch->fixed[at] |= is == READ_BACK_ACCEPTED;
        return true;
    }
    batch->settled[at] = is != READ_BACK_NOTHING;
    batch->counts.of[FATE_THERE] += is == READ_BACK_SAME || is == READ_BACK_ACCEPTED;
    batch->failed = is == READ_BACK_OTHER && !correct(batch, at, other_document(batch, at, found, count));
    return !batch->failed;
}

/* What is there in one block's range of `_id`s, against what the input gives. */
static bool read_back_block(batch_t *batch, uint64_t block, err_t *err) {
    feed_t *feed = batch->feed;
    const entry_t *entry = &input_of(feed->load, feed->task->work)->entry;
    uint64_t number;
    if (!entry_number(entry, block * LEDGER_BLOCK_BYTES, &number))
        return true;
    const uint32_t lane = record_id_lane(entry->ordinal, block * LEDGER_BLOCK_BYTES);
    stored_t found[24];
    size_t count;
    for (int turn = 0;; turn++) {
        if (sim_fetch_range(&feed->wire, record_id_make(lane, number),
                            record_id_make(lane, number + LEDGER_BLOCK_BYTES - 1), found, 24, &count))
            break;
        if (turn > 8 || !goes_on(feed))
            return err_set(err, STATUS_SERVER, "no more patience with a read");
        actor_sleep(feed->load->world, SIM_TICK / 2);
    }
    looked_up_t is = {.batch = batch};
    read_back_t range = {.accepts = accepts_hash, .context = &is};
    bool ok = true;
    for (size_t i = 0; ok && i < count; i++) {
        uint8_t bson[BSON_BYTES];
        sim_bson(bson, found[i].id, found[i].document);
        ok = read_back_keep(&range, bson, sizeof bson, err);
    }
    for (is.at = 0; ok && is.at < batch->count; is.at++) {
        uint8_t bson[BSON_BYTES];
        if (content_block(feed->input, batch->records[is.at]) != block)
            continue;
        sim_bson(bson, batch->ids[is.at], batch->documents[is.at]);
        const uint8_t *document = batch->nothing[is.at] ? NULL : bson;
        ok = settle(batch, is.at, read_back_look(&range, batch->ids[is.at], document, sizeof bson), found,
                    count);
    }
    free(range.bytes);
    return ok;
}

/* A pipe's blocks are many: only those at which a record can begin are asked for. */
static bool read_back(batch_t *batch, const group_t *group) {
    feed_t *feed = batch->feed;
    err_t err;
    const uint64_t step = feed->input->unit > LEDGER_BLOCK_BYTES ? feed->input->unit / LEDGER_BLOCK_BYTES : 1;
    for (uint64_t block = group->from; block < group->to; block += step)
        if (!read_back_block(batch, block, &err)) {
            if (!batch->failed)
                fail_load(feed->load, &err);
            return false;
        }
    return true;
}

/* ---- delivering ---- */

typedef struct {
    const batch_t *batch;
    const uint32_t *which; /* of its records, by place in the message */
} sent_t;

static bool accepts_stored(void *context, uint32_t index, const uint8_t *stored, uint32_t length) {
    const sent_t *sent = context;
    return accepts(sent->batch, sent->which[index], reject_identity_hash(stored, length));
}

static bool send_rest(batch_t *batch) {
    feed_t *feed = batch->feed;
    err_t err;
    uint8_t bytes[SIM_BATCH * BSON_BYTES];
    uint32_t starts[SIM_BATCH + 1] = {0}, which[SIM_BATCH], count = 0;
    for (uint32_t i = 0; i < batch->count; i++)
        if (!batch->settled[i]) {
            feed->wire.ids[count] = batch->ids[i];
            feed->wire.documents[count] = batch->documents[i];
            sim_bson(bytes + count * BSON_BYTES, batch->ids[i], batch->documents[i]);
            which[count++] = i;
            starts[count] = count * BSON_BYTES;
        }
    if (!count)
        return true;
    const documents_t documents = {.bytes = bytes, .starts = starts, .count = count};
    delivered_t delivered;
    sent_t sent = {.batch = batch, .which = which};
    const deliver_owner_t owner = {.context = &sent, .accepts = accepts_stored};
    deliver_t *deliverer = deliver_new(&feed->wire.wire, &owner, &err);
    bool ok = deliver(deliverer, &documents, &delivered, &err);
    if (!ok) {
        deliver_free(deliverer);
        fail_load(feed->load, &err);
        return false;
    }
    static const char taken[] = "another document";
    bool is_taken[SIM_BATCH] = {false};
    uint32_t rejected[SIM_BATCH], rejected_count = 0;
    batch->counts.of[FATE_LOADED] += delivered.stored;
    if (delivered.stored + delivered.count != count)
        sim_fail(feed->load->world, "contract", "not each document is stored or an exception");
    for (size_t i = 1; i < delivered.count; i++)
        if (delivered.exceptions[i - 1].index >= delivered.exceptions[i].index)
            sim_fail(feed->load->world, "contract", "exceptions are not in ascending order");
    for (size_t i = 0; i < delivered.count; i++)
        if (delivered.exceptions[i].fate == FATE_THERE)
            batch->counts.of[FATE_THERE]++;
        else {
            is_taken[rejected_count] = strncmp(delivered.exceptions[i].reason, taken, sizeof taken - 1) == 0;
            rejected[rejected_count++] = which[delivered.exceptions[i].index];
        }
    deliver_free(deliverer);
    for (uint32_t i = 0; i < rejected_count; i++) {
        const uint32_t at = rejected[i];
        if (!is_taken[i] || !torn_document(feed, batch->records[at], 0))
            reject(batch, batch->records[at]);
        else if (!correct_taken(batch, at))
            return false;
    }
    return true;
}

/* With another shard key the whole record would go to another shard than its beginning did. */
static bool may_correct(batch_t *batch) {
    const server_t *server = &batch->feed->load->world->server;
    for (uint32_t i = 0; i < batch->count; i++)
        if (!(server->by_id || server->topology != KIND_SHARDED) &&
            torn_document(batch->feed, batch->records[i], 0)) {
            fail_input(batch->feed->load, "the last record was cut off, and cannot be corrected");
            return false;
        }
    return true;
}

/* Some records of a block, until they are settled. */
static bool deliver_some(feed_t *feed, const group_t *group, uint32_t first, uint32_t last) {
    sim_load_t *load = feed->load;
    batch_t batch = {.feed = feed};
    sim_wire_make(&feed->wire, load);
    feed->wire.ordinal = input_of(load, feed->task->work)->entry.ordinal;
    feed->wire.piece = feed->task->work->piece;
    feed->wire.epoch = feed->task->epoch;
    if (!encode(&batch, group, first, last) || !pipeline_bind(load) || !may_correct(&batch))
        return false;
    if (feed->task->epoch > 1 && !read_back(&batch, group))
        return false;
    for (uint32_t i = 0; i < batch.count; i++)
        if (batch.fixed[i])
            batch.counts.of[FATE_THERE]++;
        else if (batch.nothing[i])
            reject(&batch, batch.records[i]);
    if (!send_rest(&batch) || !goes_on(feed))
        return false;
    event_t event = {.kind = EVENT_BLOCK,
                     .work = feed->task->work,
                     .incarnation = feed->wire.incarnation,
                     .block = {.from = group->from,
                               .to = group->to,
                               .hash = content_block_hash(feed->input, feed->content, first, last),
                               .counts = batch.counts,
                               .reject_count = batch.reject_count,
                               .tail = group->tail}};
    memcpy(event.rejects, batch.rejects, sizeof event.rejects);
    push(load, &event);
    TRACE(load->world, "blocks [%llu, %llu) are settled", (unsigned long long)group->from,
          (unsigned long long)group->to);
    return true;
}

/* ---- a piece ---- */

static void tell_fed(feed_t *feed, uint64_t end_block, uint32_t tail_parts) {
    push(feed->load, &(event_t){.kind = EVENT_FED,
                                .work = feed->task->work,
                                .incarnation = UINT32_MAX,
                                .end_block = end_block,
                                .tail_parts = tail_parts});
}

/* The last record, which has no line end: it is sent when the catalog says that it is the last one. */
static bool deliver_torn(feed_t *feed, const group_t *group) {
    sim_load_t *load = feed->load;
    const record_t *record = &feed->content->records[group->last - 1];
    const uint64_t offset = content_offset(feed->input, record);
    push(load, &(event_t){.kind = EVENT_TORN,
                          .work = feed->task->work,
                          .incarnation = UINT32_MAX,
                          .torn = {.offset = offset,
                                   .length = feed->content->size - offset,
                                   .hash = content_record_hash(record)}});
    feed->task->waits_torn = true;
    tell_main(load);
    while (goes_on(feed) && !feed->task->work->torn_written)
        actor_sleep(load->world, SIM_TICK / 2);
    feed->task->waits_torn = false;
    return goes_on(feed) && deliver_some(feed, group, group->last - 1, group->last);
}

/* Is the input still what it was when this load began? */
static bool is_unchanged(const feed_t *feed) {
    const input_t *input = feed->input;
    return input->kind == INPUT_PIPE || &input->states[input->now[feed->load->command.host]] == feed->content;
}

static void feed_piece(feed_t *feed) {
    world_t *world = feed->load->world;
    group_t groups[CONTENT_RECORDS];
    const content_t *content = feed->content;
    const uint32_t count = cut(feed, groups);
    const task_t *task = feed->task;
    uint32_t order[CONTENT_RECORDS], waiting = 0;
    /* a run shows whether it is what it was only when it was read to its end: others may be delivered by then
     */
    const bool late = task->compares && chance(world->choices, CHOICE_DETAIL, 500);
    if (task->compares && !late && !is_as_done(feed, groups, count)) {
        fail_changed(feed, "it has changed since some of it was done");
        return;
    }
    for (uint32_t i = 0; i < count; i++)
        if (!done_runs_cover(&task->done, groups[i].from, groups[i].to))
            order[waiting++] = i;
    const bool has_tail = waiting && groups[order[waiting - 1]].tail, torn = has_tail && content->torn;
    const group_t *tail = has_tail ? &groups[order[waiting - 1]] : NULL;
    const uint32_t parts = has_tail ? 1u + (torn && tail->last - tail->first > 1) : 0;
    uint64_t end = task->to == UINT64_MAX || content_end_block(content) < task->to
                       ? content_end_block(content)
                       : task->to;
    if (!count)
        end = task->from; /* no record begins here */
    /* several senders: blocks are settled in any order, but for a record that waits until it is written down
     */
    if (waiting > 1 && chance(world->choices, CHOICE_DETAIL, 300))
        for (uint32_t i = torn ? waiting - 1 : waiting; i > 1; i--) {
            const uint32_t at = i - 1 - choose(world->choices, CHOICE_DETAIL, i), other = order[at];
            order[at] = order[i - 1];
            order[i - 1] = other;
        }
    bool at_end = false;
    const bool early = chance(world->choices, CHOICE_DETAIL, 300) && !content->damaged;
    for (uint32_t i = 0; i < waiting && goes_on(feed); i++) {
        const group_t *group = &groups[order[i]];
        if (!at_end && (i + 1 == waiting || group == tail)) { /* all of it was read */
            at_end = true;
            if (late && !is_as_done(feed, groups, count)) {
                fail_changed(feed, "it has changed since some of it was done, as it turned out");
                return;
            }
            if (content->damaged) {
                fail_input(feed->load, "it is damaged");
                return;
            }
            if (!is_unchanged(feed)) {
                fail_input(feed->load, "it was changed while it was read");
                return;
            }
            if (early)
                tell_fed(feed, end, parts);
        }
        const uint32_t last = group == tail && torn ? group->last - 1 : group->last;
        if (last > group->first && !deliver_some(feed, group, group->first, last))
            return;
        if (group == tail && torn && !deliver_torn(feed, group))
            return;
    }
    if (!goes_on(feed))
        return;
    if (!waiting && (content->damaged || !is_unchanged(feed) || (late && !is_as_done(feed, groups, count))))
        fail_input(feed->load, "it was changed or is damaged");
    else if (!waiting || !early)
        tell_fed(feed, end, parts);
}

static void check_piece(feed_t *feed) {
    group_t groups[CONTENT_RECORDS];
    const uint32_t count = cut(feed, groups);
    const tail_t *tail = &feed->task->tail;
    bool same = is_as_done(feed, groups, count);
    if (tail->from != tail->to && count && input_of(feed->load, feed->task->work)->view == VIEW_SAME) {
        const group_t *group = &groups[count - 1];
        const bool two = feed->content->torn && group->last - group->first > 1;
        uint64_t hash = content_block_hash(feed->input, feed->content, group->first, group->last - two);
        if (two)
            hash += content_block_hash(feed->input, feed->content, group->last - 1, group->last);
        same = same && hash == tail->hash &&
               group->from == tail->from; /* the hash of a text says where it begins */
        for (uint32_t i = 0; i + 1 < count; i++)
            same = same && done_runs_cover(&feed->task->done, groups[i].from, groups[i].to);
    }
    /* of an older copy, what lies in the last block of a newer version cannot be compared */
    for (uint32_t i = 0; i < count && input_of(feed->load, feed->task->work)->view == VIEW_OLDER; i++)
        same = same && done_runs_cover(&feed->task->done, groups[i].from, groups[i].to);
    if (!same)
        fail_changed(feed, "it has changed since it was done");
    else
        push(feed->load,
             &(event_t){.kind = EVENT_CHECKED, .work = feed->task->work, .incarnation = UINT32_MAX});
}

static void run_task(sim_load_t *load, task_t *task) {
    feed_t feed = {.load = load,
                   .task = task,
                   .input = &load->world->inputs[load->command.inputs[task->work->input]],
                   .content = load->seen[task->work->input]};
    if (task->check)
        check_piece(&feed);
    else
        feed_piece(&feed);
}

void pipeline_worker(void *argument) {
    sim_load_t *load = argument;
    for (;;) {
        task_t *task = NULL;
        for (uint32_t i = 0; i < SIM_TASKS && !task; i++)
            if (load->tasks[i].used && !load->tasks[i].begun)
                task = &load->tasks[i];
        if (!task) {
            actor_sleep(load->world, 1000 * SIM_LEASE);
            continue;
        }
        task->begun = true;
        run_task(load, task);
        task->used = false;
        tell_main(load);
    }
}

/* ---- what the coordinator asks for ---- */

static void wake_workers(sim_load_t *load) {
    for (uint32_t i = 0; i < SIM_WORKERS; i++)
        actor_wake(&load->workers[i]);
}

/* Its senders do not wait for what the catalog says, as those of loader.c do: what they send is late. */
static void written(void *context, int64_t confirmed_ns) {
    (void)confirmed_ns;
    wake_workers(context);
}

static bool copy_fixes(const sim_load_t *load, task_t *task, const entry_t *entry, err_t *err) {
    fix_mark_t *fixes = calloc(entry->fix_count + 1, sizeof *fixes);
    if (!fixes)
        return err_memory(err, 1);
    if (entry->fix_count)
        memcpy(fixes, entry->fixes, entry->fix_count * sizeof *fixes);
    task->fixes = fixes;
    task->began_at = load->world->now;
    task->fix_count = entry->fix_count;
    return true;
}

static bool hand_out(void *context, work_t *work, err_t *err) {
    sim_load_t *load = context;
    const piece_t *piece = ledger_piece(&load->ledger, work);
    for (uint32_t i = 0; i < SIM_TASKS; i++) {
        task_t *task = &load->tasks[i];
        if (task->used)
            continue;
        *task = (task_t){.work = work,
                         .epoch = work->epoch,
                         .check = work->state == WORK_CHECK,
                         .used = true,
                         .tail = piece->tail,
                         .from = piece->from,
                         .to = piece->to};
        const ledger_input_t *input = input_of(load, work);
        task->compares = piece->done.count && (!input->plain || ledger_needs_check(input, piece));
        TRACE(load->world, "%s piece %u of input %zu, epoch %u", task->check ? "checks" : "feeds",
              work->piece, work->input, work->epoch);
        if (!copy_fixes(load, task, &input->entry, err))
            return false;
        wake_workers(load);
        return done_runs_copy(&task->done, &piece->done, err);
    }
    return err_set(err, STATUS_HOST, "no room for tasks");
}

static bool extend(sim_load_t *load, err_t *err) {
    if (!load->extend.wanted)
        return true;
    if (!catalog_extend(&load->catalog, &load->ledger, load->extend.work, load->extend.offset, err))
        return false;
    load->extend.wanted = false;
    wake_workers(load);
    return true;
}

static bool goes_well(sim_load_t *load, err_t *err) {
    if (load->failed) {
        *err = load->error;
        return false;
    }
    return !load->told_to_stop || err_set(err, STATUS_TERMINATED, "a signal");
}

static bool wait(void *context, int64_t most_ns, bool may_take, bool *hungry, bool *idle, err_t *err) {
    sim_load_t *load = context;
    (void)may_take;
    if (!extend(load, err) || !goes_well(load, err))
        return false;
    if (!load->changed)
        actor_sleep(load->world, most_ns);
    load->changed = false;
    if (!extend(load, err) || !goes_well(load, err))
        return false;
    *hungry = *idle = true;
    for (uint32_t i = 0; i < SIM_TASKS; i++) {
        const task_t *task = &load->tasks[i];
        if (task->used && !task->begun)
            *hungry = false;
        if (task->used && !task->waits_torn)
            *idle = false;
    }
    return true;
}

static bool nap(void *context, err_t *err) {
    sim_load_t *load = context;
    if (!extend(load, err) || !goes_well(load, err))
        return false;
    actor_sleep(load->world, SIM_TICK);
    return goes_well(load, err);
}

static bool enough(void *context) {
    (void)context;
    return false;
}

static bool tell_ledger(ledger_t *ledger, event_t *event, err_t *err) {
    switch (event->kind) {
    case EVENT_BLOCK:
        event->block.rejects = event->rejects;
        return ledger_block(ledger, event->work, &event->block, err);
    case EVENT_FED:
        ledger_fed(event->work, event->end_block, event->tail_parts);
        return true;
    case EVENT_TORN:
        ledger_torn(event->work, event->torn);
        return true;
    case EVENT_CHECKED:
        ledger_checked(ledger, event->work);
        return true;
    }
    return true;
}

/* On a standalone only a journaled write makes what was acknowledged before durable, if it is the same
 * process. */
static bool make_durable(sim_load_t *load, const event_t *events, uint32_t count, err_t *err) {
    const header_change_t sync = {.kind = HEADER_SYNC};
    bool changed;
    if (load->world->server.topology != KIND_STANDALONE)
        return true;
    if (!load->store.store.change_header(&load->store.store, &sync, &changed, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (events[i].incarnation < load->incarnation)
            return err_set(err, STATUS_SERVER, "the server was started again");
    return true;
}

static bool collect(void *context, err_t *err) {
    sim_load_t *load = context;
    event_t events[SIM_EVENTS];
    const uint32_t count = load->event_count;
    load->event_count = 0;
    memcpy(events, load->events, count * sizeof *events);
    if (count && !make_durable(load, events, count, err))
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (!tell_ledger(&load->ledger, &events[i], err))
            return false;
    return true;
}

static void waits_for(void *context, const load_seen_t *load) {
    const sim_load_t *self = context;
    TRACE(self->world, "waits for load %d", load ? load->id.bytes[0] : 0);
    for (size_t i = 0; i < self->ledger.work_count; i++)
        if (self->ledger.works[i].state == WORK_OPEN)
            sim_fail(self->world, "waits", "load %u waits, although nobody has piece %u of its input %zu",
                     self->id.bytes[0], self->ledger.works[i].piece, self->ledger.works[i].input);
}

coordinator_t pipeline_coordinator(sim_load_t *load) {
    load->coordinating = load->catalog;
    load->coordinating.wait = nap;
    load->coordinating.waits_for = waits_for;
    return (coordinator_t){.catalog = &load->coordinating,
                           .ledger = &load->ledger,
                           .least_pieces = PIPELINE_LEAST_PIECES,
                           .piece_bytes = PIPELINE_PIECE_BYTES,
                           .checkpoint_ns = 3 * SIM_TICK,
                           .context = load,
                           .hand_out = hand_out,
                           .wait = wait,
                           .enough = enough,
                           .collect = collect,
                           .written = written};
}
