#include "load/mends.h"
#include "format/records.h"
#include "load/reject.h"
#include "target/position.h"

#include <stdlib.h>
#include <string.h>

struct mends {
    mend_t *items;
    size_t count, room;
};

typedef struct {
    mends_t *mends;
    catalog_t *catalog;
    const mends_options_t *options;
    const char *path; /* of the reject file at hand */
    records_t *reader;
    records_place_t place;
    const catalog_file_t *file; /* of the entry before */
    char *file_path;
} reading_t;

/* Entries of one file stand together. */
static const catalog_file_t *file_of(reading_t *reading, const mended_t *mended, err_t *err) {
    if (reading->file_path && strcmp(reading->file_path, mended->path) == 0)
        return reading->file;
    free(reading->file_path);
    reading->file = NULL;
    if (!(reading->file_path = strdup(mended->path))) {
        err_memory(err, strlen(mended->path));
        return NULL;
    }
    err->text[0] = '\0';
    reading->file = catalog_find(reading->catalog, mended->path, err);
    if (!reading->file && !err->text[0])
        err_set(err, STATUS_USAGE,
                "%s:%llu: the file %s is not in the books of %s; was the record rejected by a load into "
                "another collection?",
                reading->path, (unsigned long long)mended->at_line, mended->path, reading->options->name);
    return reading->file;
}

/* The document of a record under an `_id`, in reading->place; its length is 0 where there is none. */
static bool encode(reading_t *reading, const mended_t *mended, int64_t id, uint32_t *length, err_t *err) {
    const mends_options_t *options = reading->options;
    record_t record;
    *length = 0;
    uint8_t *room = calloc(1, mended->length + 2 * (size_t)POOL_SLACK);
    if (!room)
        return err_memory(err, mended->length);
    memcpy(room + POOL_SLACK, mended->bytes, mended->length);
    records_begin(reading->reader, &mended->dialect, room + POOL_SLACK, (uint32_t)mended->length, false, true,
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

static bool add(reading_t *reading, const mended_t *mended, int64_t id, uint32_t length, err_t *err) {
    mends_t *mends = reading->mends;
    if (mends->count == mends->room) {
        size_t room = mends->room ? 2 * mends->room : 64;
        mend_t *larger = realloc(mends->items, room * sizeof *larger);
        if (!larger)
            return err_memory(err, room * sizeof *larger);
        mends->items = larger;
        mends->room = room;
    }
    mend_t mend = {.id = id, .line = mended->line, .length = length, .number = mends->count};
    if (length && !(mend.document = malloc(length)))
        return err_memory(err, length);
    if (length)
        memcpy(mend.document, reading->place.bytes, length);
    mends->items[mends->count++] = mend;
    return true;
}

static bool take(void *context, const mended_t *mended, err_t *err) {
    reading_t *reading = context;
    uint64_t voff;
    uint32_t length = 0;
    if (memchr(mended->bytes, '\n', mended->length))
        return err_set(err, STATUS_USAGE,
                       "%s:%llu: more than one line stands below this #@ line; a mended record is one line, "
                       "because it has one position and one _id",
                       reading->path, (unsigned long long)mended->at_line);
    const catalog_file_t *file = file_of(reading, mended, err);
    if (!file)
        return false;
    if (!catalog_voff(file, mended->offset, &voff))
        return err_set(
            err, STATUS_USAGE,
            "%s:%llu: offset %llu lies outside of %s as the books have it; the #@ line was changed",
            reading->path, (unsigned long long)mended->at_line, (unsigned long long)mended->offset,
            mended->path);
    int64_t id = position_id(position_lane(file->ordinal, mended->offset), voff);
    return (!mended->length || encode(reading, mended, id, &length, err)) &&
           add(reading, mended, id, length, err);
}

/* Among equals the first that makes a document is the one that a load has taken. */
static int by_id(const void *a, const void *b) {
    const mend_t *left = a, *right = b;
    if (left->id != right->id)
        return left->id < right->id ? -1 : 1;
    if ((left->document == NULL) != (right->document == NULL))
        return left->document ? -1 : 1;
    return left->number < right->number ? -1 : 1;
}

static void drop_doubles(mends_t *mends) {
    size_t kept = 0;
    for (size_t i = 0; i < mends->count; i++) {
        if (kept && mends->items[kept - 1].id == mends->items[i].id)
            free(mends->items[i].document);
        else
            mends->items[kept++] = mends->items[i];
    }
    mends->count = kept;
}

mends_t *mends_read(char *const *paths, size_t count, catalog_t *catalog, const mends_options_t *options,
                    err_t *err) {
    reading_t reading = {.catalog = catalog, .options = options};
    reading.mends = calloc(1, sizeof *reading.mends);
    reading.reader = records_new(options->schema);
    bool ok = (reading.mends && reading.reader) || err_memory(err, 1);
    for (size_t i = 0; ok && i < count; i++) {
        reading.path = paths[i];
        ok = rejects_read(paths[i], options->schema, take, &reading, err);
    }
    records_destroy(reading.reader);
    free(reading.place.bytes);
    free(reading.file_path);
    if (!ok || !reading.mends) {
        mends_free(reading.mends);
        return NULL;
    }
    if (reading.mends->count)
        qsort(reading.mends->items, reading.mends->count, sizeof *reading.mends->items, by_id);
    drop_doubles(reading.mends);
    return reading.mends;
}

void mends_free(mends_t *mends) {
    if (!mends)
        return;
    for (size_t i = 0; i < mends->count; i++)
        free(mends->items[i].document);
    free(mends->items);
    free(mends);
}

size_t mends_count(const mends_t *mends) {
    return mends->count;
}

const mend_t *mends_at(const mends_t *mends, size_t at) {
    return &mends->items[at];
}

size_t mends_first(const mends_t *mends, int64_t id) {
    size_t low = 0, high = mends->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (mends->items[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}
