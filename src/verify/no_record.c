#include "verify/no_record.h"
#include "format/records.h"
#include "input/cutter.h"

#include <stdlib.h>

enum { MEMORY = 4 << 20 };

typedef struct {
    const schema_t *schema;
    uint64_t max_record;
    pool_t *pool;
    records_t *records;
    records_place_t place;
    dialect_t dialect;
} looking_t;

/* Of any kind: a document, or one of which none can be made. */
static bool holds_none(looking_t *looking, const cut_t *cut) {
    record_t record;
    if (cut->oversize.length || cut->broken)
        return false;
    records_begin(looking->records, &looking->dialect, cut->buffer.bytes, cut->length, cut->offset == 0,
                  false, 0);
    parsed_t parsed;
    do
        parsed = records_next_into(looking->records, &looking->place, &record, NULL);
    while (parsed == PARSED_HEADER || parsed == PARSED_BLANK || parsed == PARSED_COMMENT ||
           parsed == PARSED_SKIPPED);
    return parsed == PARSED_END;
}

static bool is_without(looking_t *looking, const input_file_t *file) {
    err_t ignored;
    source_t *source = source_open(file, &ignored);
    cutter_t *cutter = source ? cutter_new(source, looking->pool, looking->max_record, &ignored) : NULL;
    cut_t cut;
    int got =
        cutter && cutter_begin(cutter, looking->schema, file->name, &looking->dialect, &ignored) ? 1 : -1;
    while (got > 0 && (got = cutter_next(cutter, &cut, &ignored)) > 0) {
        if (!holds_none(looking, &cut))
            got = -1;
        pool_give(looking->pool, &cut.buffer);
    }
    cutter_destroy(cutter);
    source_close(source);
    return got == 0;
}

bool inputs_hold_no_record(const schema_t *schema, const manifest_t *manifest, uint64_t max_record) {
    looking_t looking = {.schema = schema, .max_record = max_record};
    looking.pool = pool_new(MEMORY, CUTTER_BUFFER);
    looking.records = records_new(schema);
    bool ok = looking.pool && looking.records;
    for (size_t i = 0; ok && i < manifest->count; i++)
        ok = is_without(&looking, &manifest->files[i]);
    records_destroy(looking.records);
    free(looking.place.bytes);
    pool_destroy(looking.pool);
    return ok;
}
