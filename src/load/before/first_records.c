#include "load/before/first_records.h"
#include "base/numbers/units.h"
#include "format/records.h"
#include "load/before/piece.h"

#include <stdlib.h>

enum { MOST_FILES = 32 };

typedef struct {
    const schema_t *schema;
    records_t *records;
    dialect_t dialect;
    uint8_t *room; /* PIECE_ROOM bytes */
    records_place_t place;
    source_kit_t *kit;
    uint64_t documents, rejects;
    bool stops;
    err_t why; /* of the first reject; or, if it stops, of the one where it does */
} looker_t;

/* Nobody knows it of a record at the end of a piece that is not the input's. */
static bool is_whole(const record_t *record, const piece_t *piece) {
    return !piece->more || record->offset + record->length + record->line_end < piece->length;
}

static void take_reject(looker_t *looker, const record_t *record, const char *name) {
    looker->stops = records_must_stop(looker->records);
    if (!looker->rejects++ || looker->stops)
        err_set(&looker->why, STATUS_INPUT, "%.500s:%u:%u: %.900s", name, record->line + 1, record->column,
                record->reason);
}

/* False: out of memory. */
static bool look_at(looker_t *looker, const piece_t *piece, const char *name) {
    record_t record;
    parsed_t parsed;
    records_from(looker->records, name, 0);
    records_begin(looker->records, &looker->dialect, piece->text, piece->length, true,
                  looker->schema->id != NULL, 0);
    do {
        parsed = records_next_into(looker->records, &looker->place, &record, NULL);
        looker->documents += parsed == PARSED_DOCUMENT;
        if (parsed == PARSED_REJECT && is_whole(&record, piece))
            take_reject(looker, &record, name);
    } while (parsed != PARSED_END && parsed != PARSED_MEMORY && parsed != PARSED_OTHER_HEADER &&
             !looker->stops);
    return parsed != PARSED_MEMORY;
}

static bool look_into(looker_t *looker, const input_file_t *file) {
    err_t ignored;
    piece_t piece;
    source_t *source = source_open_in(looker->kit, file, &ignored);
    const bool ok = !source ||
                    !piece_read(looker->schema, file, source, 0, looker->room, &looker->dialect, &piece) ||
                    look_at(looker, &piece, file->name);
    source_close(source);
    return ok;
}

static bool judge(const looker_t *looker, err_t *err) {
    char count[UNITS_MAX];
    if (looker->stops)
        return err_set(
            err, STATUS_INPUT,
            "%s: by 'on_bad_value: stop' the load would end there. Nothing was dropped: correct the file, "
            "or choose another --on-bad-value",
            looker->why.text);
    return looker->documents || !looker->rejects ||
           err_set(err, STATUS_INPUT,
                   "%s; of the first records, %s, none makes a document by the format '%.100s'. Nothing was "
                   "dropped: "
                   "give their --format, or try it with `tipple parse`",
                   looker->why.text, units_count(count, looker->rejects), looker->schema->name);
}

bool first_records_try(const schema_t *schema, const manifest_t *manifest, err_t *err) {
    looker_t looker = {.schema = schema,
                       .records = records_new(schema),
                       .room = calloc(1, PIECE_ROOM),
                       .kit = source_kit_new_to_look()};
    const size_t files = manifest->count < MOST_FILES ? manifest->count : MOST_FILES;
    bool ok = looker.records && looker.room && looker.kit;
    for (size_t i = 0; ok && !looker.stops && i < files; i++) {
        const input_file_t *file = &manifest->files[i * manifest->count / files];
        ok = file->kind == INPUT_STREAM || look_into(&looker, file);
    }
    records_destroy(looker.records);
    free(looker.place.bytes);
    free(looker.room);
    source_kit_free(looker.kit);
    return ok ? judge(&looker, err) : err_memory(err, PIECE_ROOM);
}
