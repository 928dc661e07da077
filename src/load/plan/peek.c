/* peek: shows the records with which inputs begin. */
#include "load/plan/peek.h"
#include "base/numbers.h"
#include "base/threads.h"
#include "input/cutter.h"
#include "input/source.h"

#include <stdlib.h>
#include <string.h>

enum { MEMORY = 4 << 20 };

struct peek {
    const schema_t *schema;
    bool with_ids;
    pool_t *pool;
    source_kit_t kit;
    records_t *records;
    records_place_t place;
    uint8_t text[INPUT_HEAD_MOST + 2 * POOL_SLACK];
};

peek_t *peek_new(const schema_t *schema, bool with_ids, err_t *err) {
    peek_t *peek = calloc(1, sizeof *peek);
    if (!peek || !(peek->pool = pool_new(MEMORY, CUTTER_BUFFER)) || !(peek->records = records_new(schema))) {
        peek_free(peek);
        err_memory(err, MEMORY);
        return NULL;
    }
    peek->schema = schema;
    peek->with_ids = with_ids && schema->id;
    peek->kit.looks = true;
    return peek;
}

void peek_free(peek_t *peek) {
    if (!peek)
        return;
    records_destroy(peek->records);
    free(peek->place.bytes);
    source_kit_close(&peek->kit);
    pool_destroy(peek->pool);
    free(peek);
}

peek_end_t peek_text(peek_t *peek, const dialect_t *dialect, const uint8_t *text, size_t length,
                     bool file_start, peek_see_fn *see, void *context, err_t *err) {
    record_t record;
    parsed_t parsed;
    records_begin(peek->records, dialect, text, (uint32_t)length, file_start, peek->with_ids, 0);
    do {
        parsed = records_next_into(peek->records, &peek->place, &record, NULL);
        const peeked_t peeked = {parsed, &record, peek->place.bytes};
        const bool is_record =
            parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT || parsed == PARSED_OTHER_HEADER;
        if (is_record && !see(context, &peeked))
            return PEEK_ENOUGH;
    } while (parsed != PARSED_END && parsed != PARSED_MEMORY && parsed != PARSED_OTHER_HEADER);
    if (parsed != PARSED_MEMORY)
        return PEEK_ENDED;
    err_memory(err, record.needed);
    return PEEK_FAULT;
}

static peek_end_t show_cuts(peek_t *peek, cutter_t *cutter, const dialect_t *dialect, bool all,
                            peek_see_fn *see, void *context, err_t *err) {
    static const peeked_t too_long = {.parsed = PARSED_REJECT};
    peek_end_t end = PEEK_ENDED;
    cut_t cut = {.broken = true};
    int got = 0;
    while (end == PEEK_ENDED && (all || cut.broken) && (got = cutter_next(cutter, &cut, err)) > 0) {
        end = peek_text(peek, dialect, cut.buffer.bytes, cut.length, cut.offset == 0, see, context, err);
        if (end == PEEK_ENDED && cut.oversize.length && !see(context, &too_long))
            end = PEEK_ENOUGH;
        pool_give(peek->pool, &cut.buffer);
    }
    return got < 0 ? PEEK_FAULT : end;
}

peek_end_t peek_input(peek_t *peek, const input_file_t *file, bool all, peek_see_fn *see, void *context,
                      err_t *err) {
    peek_end_t end = PEEK_FAULT;
    dialect_head_t head;
    dialect_t dialect;
    source_t *source = source_open_in(&peek->kit, file, err);
    cutter_t *cutter = source ? cutter_new(source, peek->pool, CUTTER_RECORD, err) : NULL;
    records_from(peek->records, file->name);
    if (cutter && cutter_look(cutter, peek->schema, &head, err)) {
        head.quiet = true;
        if (dialect_sniff_head(peek->schema, &head, file->name, &dialect, err)) {
            cutter_read_as(cutter, peek->schema, &dialect);
            end = show_cuts(peek, cutter, &dialect, all, see, context, err);
        }
    }
    cutter_destroy(cutter);
    source_close(source);
    return end;
}

/* ---- has an input any record? ---- */

static bool see_any(void *any, const peeked_t *peeked) {
    (void)peeked;
    *(bool *)any = true;
    return false;
}

/* Shows the records of the head alone, of which the last one may be cut off; none where the input keeps no head. */
static void show_head(peek_t *peek, const input_file_t *file, peek_see_fn *see, void *context) {
    const input_head_t *head = &file->head;
    uint8_t *text = peek->text + POOL_SLACK;
    dialect_t dialect;
    err_t ignored;
    if (!head->bytes)
        return;
    memcpy(text, head->bytes, head->length);
    records_from(peek->records, file->name);
    if (dialect_sniff(peek->schema, text, head->length, file->name, &dialect, &ignored))
        peek_text(peek, &dialect, text, head->length, true, see, context, &ignored);
}

bool peek_records(peek_t *peek, const input_file_t *file) {
    bool any = false;
    err_t ignored;
    show_head(peek, file, see_any, &any);
    return any || peek_input(peek, file, true, see_any, &any, &ignored) != PEEK_ENDED;
}

/* ---- does the format make a document of any of the first records? ---- */

enum { MOST_FILES = 32 };

typedef struct {
    const char *name; /* of the input at hand */
    uint64_t left;    /* records that the load takes */
    uint64_t rejects;
    bool any;  /* a record makes a document, or is too long to decide */
    err_t why; /* the first reject, or before one the first fault; empty: neither */
} trial_t;

static bool goes_on(const trial_t *trial) {
    return trial->left && !trial->any;
}

static bool see_trial(void *context, const peeked_t *peeked) {
    trial_t *trial = context;
    const record_t *record = peeked->record;
    trial->any |= !record || peeked->parsed == PARSED_DOCUMENT;
    if (peeked->parsed == PARSED_OTHER_HEADER) { /* that says more than a reject before it */
        err_set(&trial->why, STATUS_INPUT, "%.500s:%u: %.900s", trial->name, record->line + 1,
                record->reason);
        return false;
    }
    if (record && peeked->parsed == PARSED_REJECT && !trial->rejects++ && !trial->why.text[0])
        err_set(&trial->why, STATUS_INPUT, "%.500s:%u:%u: %.900s", trial->name, record->line + 1,
                record->column, record->reason);
    trial->left--;
    return goes_on(trial);
}

static bool judge(const trial_t *trial, const schema_t *schema, const char *nothing, err_t *err) {
    char count[UNITS_MAX];
    if (trial->any || !trial->why.text[0])
        return true;
    if (!trial->rejects)
        return err_set(err, STATUS_INPUT, "%s. Nothing was %s", trial->why.text, nothing);
    return err_set(err, STATUS_INPUT,
                   "%s; no record that was looked at (%s) makes a document by the format '%.100s'. Nothing "
                   "was %s: give the --format of these files, or try one with `tipple parse`",
                   trial->why.text, units_count(count, trial->rejects), schema->name, nothing);
}

bool peek_try(const schema_t *schema, const manifest_t *manifest, uint64_t limit, const char *nothing,
              err_t *err) {
    trial_t trial = {.left = limit};
    /* with a limit it is unknown which records of a second input the load takes */
    const size_t most = limit == UINT64_MAX ? MOST_FILES : 1,
                 files = manifest->count < most ? manifest->count : most;
    peek_t *peek = peek_new(schema, true, err);
    bool ok = peek;
    for (size_t i = 0; ok && i < files && goes_on(&trial); i++) {
        const input_file_t *file = &manifest->files[i * manifest->count / files];
        err_t fault;
        trial.name = file->name;
        trial_t first = trial; /* a document in the head is enough */
        show_head(peek, file, see_trial, &first);
        trial.any = first.any;
        if (first.any || file->kind == INPUT_STREAM ||
            peek_input(peek, file, false, see_trial, &trial, &fault) != PEEK_FAULT)
            continue;
        if (fault.status != STATUS_INPUT) {
            *err = fault;
            ok = false;
        } else if (!trial.why.text[0]) {
            trial.why = fault;
        }
    }
    peek_free(peek);
    return ok && judge(&trial, schema, nothing, err);
}
