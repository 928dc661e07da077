#include "load/fixes.h"
#include "base/pool.h"
#include "format/records.h"
#include "load/reject_read.h"
#include "target/position.h"

#include <stdlib.h>
#include <string.h>

struct fixes {
    fix_t *items;
    size_t count, room;
};

typedef struct {
    fixes_t *fixes;
    const places_t *places;
    const fixes_options_t *options;
    const char *path; /* of the reject file at hand */
    records_t *reader;
    records_place_t place;
} reading_t;

static const entry_t *input_of(const reading_t *reading, const retry_t *retry, err_t *err) {
    const entry_t *entry = places_named(reading->places, retry->path);
    if (!entry)
        err_set(err, STATUS_USAGE,
                "%s:%llu: the file %s is not in the catalog of %s; was the record rejected by a load into "
                "another "
                "collection?",
                reading->path, (unsigned long long)retry->at_line, retry->path, reading->options->name);
    return entry;
}

/* The document of a record under an `_id`, in reading->place; its length is 0 where there is none. */
static bool encode(reading_t *reading, const retry_t *retry, int64_t id, uint32_t *length, err_t *err) {
    const fixes_options_t *options = reading->options;
    record_t record;
    *length = 0;
    uint8_t *room = calloc(1, retry->length + 2 * (size_t)POOL_SLACK);
    if (!room)
        return err_memory(err, retry->length);
    memcpy(room + POOL_SLACK, retry->bytes, retry->length);
    records_begin(reading->reader, &retry->dialect, room + POOL_SLACK, (uint32_t)retry->length, false, true,
                  id);
    parsed_t parsed = records_next_into(reading->reader, &reading->place, &record, NULL);
    free(room);
    if (parsed == PARSED_MEMORY)
        return err_memory(err, record.length);
    if (parsed == PARSED_DOCUMENT && record.length <= options->max_record &&
        record.document_length <= options->max_document &&
        (!options->filter || filter_passes(options->filter, reading->place.bytes, record.document_length)))
        *length = record.document_length;
    return true;
}

static bool add(reading_t *reading, const retry_t *retry, int64_t id, uint32_t length, err_t *err) {
    fixes_t *fixes = reading->fixes;
    if (fixes->count == fixes->room) {
        size_t room = fixes->room ? 2 * fixes->room : 64;
        fix_t *larger = realloc(fixes->items, room * sizeof *larger);
        if (!larger)
            return err_memory(err, room * sizeof *larger);
        fixes->items = larger;
        fixes->room = room;
    }
    fix_t fix = {
        .id = id, .line = retry->line, .length = length, .left_out = !retry->length, .number = fixes->count};
    if (length && !(fix.document = malloc(length)))
        return err_memory(err, length);
    if (length)
        memcpy(fix.document, reading->place.bytes, length);
    fixes->items[fixes->count++] = fix;
    return true;
}

static bool take(void *context, const retry_t *retry, err_t *err) {
    reading_t *reading = context;
    uint64_t voff;
    uint32_t length = 0;
    if (retry->cut_off) /* a load leaves it out as well */
        return true;
    if (memchr(retry->bytes, '\n', retry->length))
        return err_set(err, STATUS_USAGE,
                       "%s:%llu: more than one line stands below this #@ line; a record is one line, "
                       "because it has one position and one _id",
                       reading->path, (unsigned long long)retry->at_line);
    const entry_t *entry = input_of(reading, retry, err);
    if (!entry)
        return false;
    if (!entry_number(entry, retry->offset, &voff))
        return err_set(err, STATUS_USAGE,
                       "%s:%llu: offset %llu is outside of %s as the catalog has it; the #@ line was changed",
                       reading->path, (unsigned long long)retry->at_line, (unsigned long long)retry->offset,
                       retry->path);
    int64_t id = position_id(position_lane(entry->ordinal, retry->offset), voff);
    return (!retry->length || encode(reading, retry, id, &length, err)) &&
           add(reading, retry, id, length, err);
}

/* Among equals the first that makes a document is the one that a load has taken. */
static int by_id(const void *a, const void *b) {
    const fix_t *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    if ((left->document == NULL) != (right->document == NULL))
        return left->document ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

static void drop_doubles(fixes_t *fixes) {
    size_t kept = 0;
    for (size_t i = 0; i < fixes->count; i++) {
        if (kept && fixes->items[kept - 1].id == fixes->items[i].id)
            free(fixes->items[i].document);
        else
            fixes->items[kept++] = fixes->items[i];
    }
    fixes->count = kept;
}

fixes_t *fixes_read(char *const *paths, size_t count, const places_t *places, const fixes_options_t *options,
                    err_t *err) {
    reading_t reading = {.places = places, .options = options};
    reading.fixes = calloc(1, sizeof *reading.fixes);
    reading.reader = records_new(options->schema);
    bool ok = (reading.fixes && reading.reader) || err_memory(err, 1);
    for (size_t i = 0; ok && i < count; i++) {
        reading.path = paths[i];
        ok = rejects_read(paths[i], options->schema, take, &reading, err);
    }
    records_destroy(reading.reader);
    free(reading.place.bytes);
    if (!ok || !reading.fixes) {
        fixes_free(reading.fixes);
        return NULL;
    }
    if (reading.fixes->count)
        qsort(reading.fixes->items, reading.fixes->count, sizeof *reading.fixes->items, by_id);
    drop_doubles(reading.fixes);
    return reading.fixes;
}

void fixes_free(fixes_t *fixes) {
    if (!fixes)
        return;
    for (size_t i = 0; i < fixes->count; i++)
        free(fixes->items[i].document);
    free(fixes->items);
    free(fixes);
}

size_t fixes_count(const fixes_t *fixes) {
    return fixes->count;
}

const fix_t *fixes_at(const fixes_t *fixes, size_t at) {
    return &fixes->items[at];
}

size_t fixes_first(const fixes_t *fixes, int64_t id) {
    size_t low = 0, high = fixes->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (fixes->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
