#include "load/before/first_records.h"
#include "base/numbers/units.h"
#include "format/records.h"
#include "format/schema/schema_bad_value.h"
#include "input/cutter.h"

#include <stdlib.h>

enum { MOST_FILES = 32, MEMORY = 4 << 20 };

typedef struct {
    const schema_t *schema;
    uint64_t max_record;
    pool_t *pool;
    source_kit_t *kit;
    records_t *records;
    records_place_t place;
    dialect_t dialect;
    uint64_t left; /* records that the load takes */
    uint64_t rejects;
    bool any; /* something makes a document, or nobody knows that here */
    bool damaged;
    err_t why; /* of the first reject or damaged input */
} looker_t;

static void take_reject(looker_t *looker, const record_t *record, const char *name) {
    if (!looker->rejects++)
        err_set(&looker->why, STATUS_INPUT, "%.500s:%u:%u: %.900s", name, record->line + 1, record->column,
                record->reason);
}

/* One document is enough. */
static bool goes_on(const looker_t *looker) {
    return looker->left && !looker->any;
}

/* False: out of memory. */
static bool try_cut(looker_t *looker, const cut_t *cut, const char *name) {
    record_t record;
    parsed_t parsed;
    records_from(looker->records, name);
    records_begin(looker->records, &looker->dialect, cut->buffer.bytes, cut->length, true,
                  looker->schema->id != NULL, 0);
    do {
        parsed = records_next_into(looker->records, &looker->place, &record, NULL);
        looker->any |= parsed == PARSED_DOCUMENT;
        if (parsed == PARSED_REJECT)
            take_reject(looker, &record, name);
        looker->left -= parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT;
    } while (parsed != PARSED_END && parsed != PARSED_MEMORY && parsed != PARSED_OTHER_HEADER &&
             goes_on(looker));
    looker->any |= cut->oversize.length > 0;
    return parsed != PARSED_MEMORY;
}

/* The damage of an input before which nothing makes a document; what cannot be opened is no failure: the load itself will
 * say so. */
static void take_damage(looker_t *looker, const err_t *fault) {
    if (fault->status != STATUS_INPUT || looker->any || looker->rejects || looker->damaged)
        return;
    looker->damaged = true;
    looker->why = *fault;
}

static bool try_input(looker_t *looker, const input_file_t *file) {
    err_t ignored, fault;
    cut_t cut = {.broken = true};
    int got = 0;
    bool ok = true;
    source_t *source = source_open_in(looker->kit, file, &ignored);
    cutter_t *cutter = source ? cutter_new(source, looker->pool, looker->max_record, &ignored) : NULL;
    if (cutter && cutter_begin(cutter, looker->schema, file->name, &looker->dialect, &ignored))
        while (ok && cut.broken && (got = cutter_next(cutter, &cut, &fault)) > 0) {
            ok = try_cut(looker, &cut, file->name);
            pool_give(looker->pool, &cut.buffer);
        }
    if (got < 0)
        take_damage(looker, &fault);
    cutter_destroy(cutter);
    source_close(source);
    return ok;
}

static bool judge(const looker_t *looker, err_t *err) {
    char count[UNITS_MAX];
    if (looker->damaged && !looker->any && !looker->rejects)
        return err_set(err, STATUS_INPUT, "%s. Nothing was dropped", looker->why.text);
    return looker->any || !looker->rejects ||
           err_set(
               err, STATUS_INPUT,
               "%s; no record that was looked at (%s) makes a document by the format '%.100s'. Nothing was "
               "dropped: give the --format of these files, or try one with `tipple parse`",
               looker->why.text, units_count(count, looker->rejects), looker->schema->name);
}

bool first_records_try(const schema_t *schema, const manifest_t *manifest, uint64_t max_record,
                       uint64_t limit, err_t *err) {
    looker_t looker = {.schema = schema,
                       .max_record = max_record,
                       .left = limit,
                       .pool = pool_new(MEMORY, CUTTER_BUFFER),
                       .kit = source_kit_new_to_look(),
                       .records = records_new(schema)};
    /* with a limit nobody knows which records of a second input are among those */
    const size_t most = limit == UINT64_MAX ? MOST_FILES : 1,
                 files = manifest->count < most ? manifest->count : most;
    bool ok = looker.pool && looker.kit && looker.records;
    for (size_t i = 0; ok && i < files && goes_on(&looker); i++) {
        const input_file_t *file = &manifest->files[i * manifest->count / files];
        ok = file->kind == INPUT_STREAM || try_input(&looker, file);
    }
    records_destroy(looker.records);
    free(looker.place.bytes);
    source_kit_free(looker.kit);
    pool_destroy(looker.pool);
    return ok ? judge(&looker, err) : err_memory(err, MEMORY);
}
