#include "verify/inspector.h"
#include "base/clock.h"
#include "base/lines.h"
#include "base/stop.h"
#include "format/records.h"
#include "load/threads/account.h"
#include "verify/read_back/merge.h"
#include "verify/read_back/snapshot_read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

/* After trouble, the majority is asked again only when it has had this long to settle. */
static const int64_t SETTLED_NS = 2000000000, NAP_NS = 20000000;

struct inspector {
    inspection_t *inspection;
    snapshot_read_t *target;
    records_t *reader;
    records_place_t place;
    inspected_t counters; /* settled ones; read by others meanwhile */
    differences_t *differences;
    uint64_t lanes[RECORD_ID_LANES];

    /* the look at hand */
    const block_t *block;
    inspected_t look;
    differences_t *found;
    record_t record; /* that the merge is at */
    int64_t record_id;
    int64_t first_id; /* of the window at hand */
    uint64_t window_offset;
    const char *why; /* why nothing is expected at the record, or something else */
    size_t fix;      /* the next one */
};

/* Counters are read by the reporter while we write them. */
#define ADD(counter, amount) __atomic_store_n(&(counter), (counter) + (amount), __ATOMIC_RELAXED)

inspector_t *inspector_new(inspection_t *inspection, err_t *err) {
    inspector_t *inspector = calloc(1, sizeof *inspector);
    if (!inspector) {
        err_memory(err, sizeof *inspector);
        return NULL;
    }
    inspector->inspection = inspection;
    inspector->reader = records_new(inspection->schema);
    inspector->differences = differences_new(inspection->most);
    inspector->found = differences_new(inspection->most);
    bool ok = (inspector->reader && inspector->differences && inspector->found) || err_memory(err, 1);
    if (ok && (inspector->target = snapshot_read_new(inspection->server, NULL, err)))
        return inspector;
    inspector_free(inspector);
    return NULL;
}

void inspector_free(inspector_t *inspector) {
    if (!inspector)
        return;
    snapshot_read_free(inspector->target);
    records_destroy(inspector->reader);
    free(inspector->place.bytes);
    differences_free(inspector->differences);
    differences_free(inspector->found);
    free(inspector);
}

const inspected_t *inspector_counters(const inspector_t *inspector) {
    return &inspector->counters;
}

differences_t *inspector_differences(inspector_t *inspector) {
    return inspector->differences;
}

const uint64_t *inspector_lanes(const inspector_t *inspector) {
    return inspector->lanes;
}

/* ---- what is found ---- */

/* The place of an `_id` of the window at hand. */
static void collection_difference(const inspector_t *inspector, int64_t id, difference_t *difference) {
    const block_t *block = inspector->block;
    difference->file = (size_t)(block->file - inspector->inspection->files);
    difference->name = block->file->input->name;
    difference->id = difference->last_id = id;
    difference->records = 1;
    difference->offset = inspector->window_offset + (uint64_t)(id - inspector->first_id);
    difference->behind = difference->offset + 1;
}

/* Counting line ends costs as much as the block has text, so only where somebody will read it. */
static uint64_t line_at(const block_t *block, uint64_t offset) {
    if (offset < block->offset)
        return 0;
    uint64_t within = offset - block->offset;
    return block->first_line +
           lines_count(block->buffer.bytes, within < block->length ? within : block->length);
}

static bool describe_altered(difference_t *difference, const merge_found_t *found, err_t *err) {
    if (!(difference->altered = malloc(sizeof *difference->altered)))
        return err_memory(err, sizeof *difference->altered);
    altered_describe(found->expected, found->expected_length, found->stored, found->stored_length,
                     difference->altered);
    return true;
}

static bool say_why(difference_t *difference, const char *why, err_t *err) {
    return (difference->why = strdup(why)) != NULL || err_memory(err, strlen(why));
}

static bool describe_foreign(difference_t *difference, const merge_found_t *found, err_t *err) {
    bson_iter_t id;
    char text[ALTERED_VALUE];
    difference->file = DIFFERENCE_NO_FILE;
    difference->records = 1;
    if (bson_iter_init_from_data(&id, found->stored, found->stored_length) && bson_iter_find(&id, "_id"))
        altered_print_value(&id, text, sizeof text);
    else
        snprintf(text, sizeof text, "(none)");
    return (difference->other_id = strdup(text)) != NULL || err_memory(err, sizeof text);
}

static bool describe_extra(const inspector_t *inspector, difference_t *difference, err_t *err) {
    bool at_record = difference->id == inspector->record_id;
    difference->line = difference->last_line = line_at(inspector->block, difference->offset);
    return say_why(difference, at_record && inspector->why ? inspector->why : "no record begins there", err);
}

static const difference_kind_t kinds[] = {
    [MERGE_MISSING] = DIFFERENCE_MISSING, [MERGE_EXTRA] = DIFFERENCE_EXTRA,
    [MERGE_DOUBLED] = DIFFERENCE_DOUBLED, [MERGE_ALTERED] = DIFFERENCE_ALTERED,
    [MERGE_FOREIGN] = DIFFERENCE_FOREIGN,
};

/* A person has fixed the record, and the catalog knows the document that came of it. */
static bool is_fixed(const inspector_t *inspector, const merge_found_t *found) {
    const load_file_t *file = inspector->block->file;
    const uint64_t offset = inspector->window_offset + (uint64_t)(found->id - inspector->first_id);
    if ((found->kind != MERGE_EXTRA && found->kind != MERGE_ALTERED) || !found->stored ||
        found->id != inspector->record_id)
        return false;
    return fix_marks_accept(file->fixes, file->fix_count, offset,
                            account_identity(inspector->block, &inspector->record),
                            XXH3_64bits(found->stored, found->stored_length));
}

static bool take_finding(void *context, const merge_found_t *found, err_t *err) {
    inspector_t *inspector = context;
    const record_t *record = &inspector->record;
    difference_t difference = {.kind = kinds[found->kind]};
    bool wanted = differences_wants(inspector->found, difference.kind), ok = true;
    if (is_fixed(inspector, found)) {
        inspector->look.fixed++;
        inspector->look.same++;
        return true;
    }
    if (found->kind == MERGE_FOREIGN) {
        ok = describe_foreign(&difference, found, err);
    } else {
        collection_difference(inspector, found->id, &difference);
        if (found->kind == MERGE_EXTRA) {
            ok = !wanted || describe_extra(inspector, &difference, err);
        } else {
            /* at a record, whose place is known */
            if (found->id == inspector->record_id) {
                difference.line = difference.last_line = inspector->block->first_line + record->line;
                difference.behind = difference.offset + record->length + record->line_end;
            }
            if (found->kind != MERGE_MISSING)
                ok = !wanted || describe_altered(&difference, found, err);
            else if (inspector->why)
                ok = say_why(&difference, inspector->why, err);
        }
    }
    if (ok)
        return differences_add(inspector->found, &difference, err);
    free(difference.why);
    free(difference.altered);
    return false;
}

/* ---- reading the target ---- */

static int next_stored(void *context, const uint8_t **stored, uint32_t *length, err_t *err) {
    inspector_t *inspector = context;
    const int got = snapshot_read_next(inspector->target, stored, length, err);
    if (got > 0)
        inspector->look.stored_bytes += *length;
    return got;
}

static int64_t end_of(int64_t first) {
    return first > INT64_MAX - RECORD_ID_BLOCK_BYTES ? INT64_MAX : first + RECORD_ID_BLOCK_BYTES;
}

/* The number and the bytes of a window's documents. */
static bool read_sums(inspector_t *inspector, uint64_t *count, uint64_t *bytes, err_t *err) {
    server_t *server = inspector->inspection->server;
    bson_t match = BSON_INITIALIZER, reply;
    bson_iter_t iter, value;
    snapshot_read_append_range(&match, inspector->first_id, end_of(inspector->first_id));
    bson_t *command =
        BCON_NEW("aggregate", BCON_UTF8(server_collection(server)), "pipeline", "[", "{", "$match",
                 BCON_DOCUMENT(&match), "}", "{", "$group", "{", "_id", BCON_NULL, "n", "{", "$sum",
                 BCON_INT64(1), "}", "bytes", "{", "$sum", "{", "$bsonSize", BCON_UTF8("$$ROOT"), "}", "}",
                 "}", "}", "]", "cursor", "{", "}", "readConcern", "{", "level", BCON_UTF8("majority"), "}");
    bool ok = server_command(server, snapshot_read_client(inspector->target), server_database(server),
                             command, false, &reply, err);
    *count = *bytes = 0;
    if (ok && bson_iter_init(&iter, &reply) &&
        bson_iter_find_descendant(&iter, "cursor.firstBatch.0.n", &value))
        *count = (uint64_t)bson_iter_as_int64(&value);
    if (ok && bson_iter_init(&iter, &reply) &&
        bson_iter_find_descendant(&iter, "cursor.firstBatch.0.bytes", &value))
        *bytes = (uint64_t)bson_iter_as_int64(&value);
    bson_destroy(&reply);
    bson_destroy(command);
    bson_destroy(&match);
    return ok;
}

/* ---- what a block's records make ---- */

/* Where documents go once they are made: into the merge, or (--quick) into sums. */
typedef struct {
    inspector_t *inspector;
    merge_t merge;
    uint64_t count, bytes;
} sink_t;

static bool expect(sink_t *sink, int64_t id, const uint8_t *document, uint32_t length, err_t *err) {
    inspected_t *look = &sink->inspector->look;
    look->expected += document != NULL;
    look->encoded_bytes += length;
    if (!sink->inspector->inspection->quick)
        return merge_expect(&sink->merge, id, document, length, err);
    sink->count += document != NULL;
    sink->bytes += length;
    return true;
}

/* Fixed records in front of this `_id`. */
static bool expect_fixes(sink_t *sink, int64_t before, err_t *err) {
    inspector_t *inspector = sink->inspector;
    const fixes_t *fixes = inspector->inspection->fixes;
    for (; fixes && inspector->fix < fixes_count(fixes); inspector->fix++) {
        const fix_t *fix = fixes_at(fixes, inspector->fix);
        if (fix->id >= before)
            break;
        inspector->look.fixed += fix->document != NULL;
        inspector->why = fix->document ? "as it was fixed" : "its record was left out when it was fixed";
        if (!expect(sink, fix->id, fix->document, fix->length, err))
            return false;
    }
    return true;
}

/* The record at hand, or what it was fixed to. */
static bool expect_record(sink_t *sink, const uint8_t *document, uint32_t length, err_t *err) {
    inspector_t *inspector = sink->inspector;
    const fixes_t *fixes = inspector->inspection->fixes;
    int64_t id = inspector->record_id;
    if (fixes && !expect_fixes(sink, id, err))
        return false;
    if (fixes && inspector->fix < fixes_count(fixes) && fixes_at(fixes, inspector->fix)->id == id)
        return expect_fixes(sink, id + 1, err);
    return expect(sink, id, document, length, err);
}

static bool take_record(sink_t *sink, parsed_t parsed, err_t *err) {
    inspector_t *inspector = sink->inspector;
    const inspection_t *inspection = inspector->inspection;
    const record_t *record = &inspector->record;
    const uint8_t *document = inspector->place.bytes;
    inspector->look.records++;
    inspector->record_id = inspector->block->id_base + record->offset;
    inspector->why = NULL;
    if (parsed == PARSED_REJECT || record->length > inspection->max_record ||
        record->document_length > server_facts(inspection->server)->max_document_bytes) {
        inspector->look.rejected++;
        inspector->why = "its record is rejected: was it fixed? (--retry)";
        document = NULL;
    } else if (inspection->filter && !filter_passes(inspection->filter, document, record->document_length)) {
        inspector->look.filtered++;
        inspector->why = "the filter leaves its record out";
        document = NULL;
    }
    return expect_record(sink, document, document ? record->document_length : 0, err);
}

/* A record over --max-record stands behind the others. */
static bool take_oversize(sink_t *sink, err_t *err) {
    inspector_t *inspector = sink->inspector;
    const block_t *block = inspector->block;
    inspector->record = (record_t){.offset = block->length,
                                   .length = (uint32_t)block->oversize.length,
                                   .line = (uint32_t)lines_count(block->buffer.bytes, block->length)};
    return take_record(sink, PARSED_REJECT, err);
}

static bool take_records(sink_t *sink, err_t *err) {
    inspector_t *inspector = sink->inspector;
    const block_t *block = inspector->block;
    records_begin(inspector->reader, block->file->dialect, block->buffer.bytes, block->length,
                  block->file_start, true, block->id_base);
    for (;;) {
        parsed_t parsed = records_next_into(inspector->reader, &inspector->place, &inspector->record, NULL);
        if (parsed == PARSED_END)
            break;
        if (parsed == PARSED_MEMORY)
            return err_memory(err, inspector->record.length);
        if ((parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT) && !take_record(sink, parsed, err))
            return false;
    }
    return !block->oversize.length || take_oversize(sink, err);
}

/* ---- a window, a block ---- */

static bool take_window(sink_t *sink, bool first, err_t *err) {
    inspector_t *inspector = sink->inspector;
    const fixes_t *fixes = inspector->inspection->fixes;
    inspector->record_id = -1;
    inspector->fix = fixes ? fixes_first(fixes, inspector->first_id) : 0;
    return (!first || take_records(sink, err)) &&
           expect_fixes(sink, inspector->first_id + RECORD_ID_BLOCK_BYTES, err);
}

static bool merge_window(inspector_t *inspector, bool first, err_t *err) {
    sink_t sink = {.inspector = inspector,
                   .merge = {.next = next_stored, .tell = take_finding, .context = inspector}};
    snapshot_read_begin(inspector->target, inspector->first_id, end_of(inspector->first_id));
    bool ok = merge_begin(&sink.merge, err) && take_window(&sink, first, err) && merge_end(&sink.merge, err);
    inspector->look.seen += sink.merge.seen;
    inspector->look.same += sink.merge.same;
    return ok;
}

static bool tell_unequal(inspector_t *inspector, const sink_t *sink, uint64_t count, uint64_t bytes,
                         err_t *err) {
    const block_t *block = inspector->block;
    char why[200];
    difference_t difference = {.kind = DIFFERENCE_UNEQUAL};
    collection_difference(inspector, inspector->first_id, &difference);
    difference.behind = difference.offset + RECORD_ID_BLOCK_BYTES;
    difference.last_id = inspector->first_id + RECORD_ID_BLOCK_BYTES - 1;
    difference.records = 1;
    difference.line = block->first_line;
    difference.last_line = line_at(block, block->offset + block->length);
    if (difference.last_line > difference.line)
        difference.last_line--; /* the line end of the last record is its own */
    snprintf(why, sizeof why, "%llu documents of %llu bytes are expected, %llu of %llu bytes are there",
             (unsigned long long)sink->count, (unsigned long long)sink->bytes, (unsigned long long)count,
             (unsigned long long)bytes);
    return say_why(&difference, why, err) && differences_add(inspector->found, &difference, err);
}

static bool sum_window(inspector_t *inspector, bool first, err_t *err) {
    sink_t sink = {.inspector = inspector};
    uint64_t count, bytes;
    if (!take_window(&sink, first, err) || !read_sums(inspector, &count, &bytes, err))
        return false;
    inspector->look.seen += count;
    inspector->look.stored_bytes += bytes;
    inspector->look.same += count == sink.count && bytes == sink.bytes ? count : 0;
    return (count == sink.count && bytes == sink.bytes) || tell_unequal(inspector, &sink, count, bytes, err);
}

/* The first `_id` of a window of the block. False: the catalog has no place for it, so nothing can be there.
 */
static bool find_window(const inspector_t *inspector, uint64_t window, int64_t *first) {
    const block_t *block = inspector->block;
    uint64_t voff, offset = window * RECORD_ID_BLOCK_BYTES;
    if (window == block->from) {
        *first = block->id_base - (int64_t)(block->offset - offset);
        return true;
    }
    bool found = load_file_number(block->file, offset, &voff);
    if (found)
        *first = record_id_make(record_id_lane(block->file->ordinal, offset), voff);
    return found;
}

/* One look at a block. False: with snapshot_read_again it is worth another, else err. */
static bool look_once(inspector_t *inspector, const block_t *block, uint64_t *seen, err_t *err) {
    inspector->block = block;
    inspector->look = (inspected_t){.blocks = 1};
    differences_clear(inspector->found);
    for (uint64_t window = block->from; window < block->to; window++) {
        bool first = window == block->from;
        uint64_t before = inspector->look.seen;
        inspector->window_offset = window * RECORD_ID_BLOCK_BYTES;
        if (!find_window(inspector, window, &inspector->first_id))
            break;
        if (!(inspector->inspection->quick ? sum_window(inspector, first, err)
                                           : merge_window(inspector, first, err)))
            return false;
        seen[record_id_lane_of(inspector->first_id)] += inspector->look.seen - before;
    }
    return true;
}

/* True: the server was away just now, and had time since. */
static bool let_settle(const inspection_t *inspection, err_t *err) {
    for (;;) {
        int64_t shaken = inspection->shaken_ns;
        if (!shaken || clock_now_ns() - shaken >= SETTLED_NS)
            return true;
        if (stop_signal())
            return err_set(err, (status_t)(128 + stop_signal()), "interrupted");
        struct timespec nap = {.tv_nsec = NAP_NS};
        nanosleep(&nap, NULL);
    }
}

static void settle(inspector_t *inspector) {
    inspected_t *sum = &inspector->counters;
    const inspected_t *look = &inspector->look;
    ADD(sum->records, look->records);
    ADD(sum->expected, look->expected);
    ADD(sum->rejected, look->rejected);
    ADD(sum->filtered, look->filtered);
    ADD(sum->fixed, look->fixed);
    ADD(sum->seen, look->seen);
    ADD(sum->same, look->same);
    ADD(sum->encoded_bytes, look->encoded_bytes);
    ADD(sum->stored_bytes, look->stored_bytes);
    ADD(sum->blocks, look->blocks);
}

bool inspector_look(inspector_t *inspector, const block_t *block, err_t *err) {
    inspection_t *inspection = inspector->inspection;
    snapshot_read_refresh(inspector->target);
    for (bool second = false;;) {
        uint64_t lanes[RECORD_ID_LANES] = {0};
        if (!look_once(inspector, block, lanes, err)) {
            if (!snapshot_read_again(inspector->target))
                return false;
            inspection->shaken_ns = clock_now_ns();
            ADD(inspector->counters.retries, 1);
            continue;
        }
        server_answered(inspection->server);
        if (differences_total(inspector->found) && !second) {
            if (!let_settle(inspection, err))
                return false;
            second = true;
            snapshot_read_refresh(inspector->target);
            continue;
        }
        for (size_t i = 0; i < RECORD_ID_LANES; i++)
            inspector->lanes[i] += lanes[i];
        settle(inspector);
        return differences_move(inspector->differences, inspector->found, err);
    }
}
