#include "study/drill/gauge.h"
#include "format/record/record_id.h"
#include "format/records.h"
#include "input/cutter.h"
#include "input/manifest.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TEXT = 32 << 20, MOST_FILES = 32 };

typedef struct {
    const schema_t *schema;
    gauge_t *gauge;
    source_kit_t *kit;
    pool_t *pool;
    records_t *records;
    records_place_t place;
    size_t files;          /* that were read */
    double text, all_text; /* bytes that were read, and of all files */
    uint64_t documents;    /* that were read */
    /* of the compressed files that were read: bytes on disk and text, up to where reading stopped */
    double packed_disk, packed_text;
} gauger_t;

/* Counts the records and documents of one buffer. */
static bool count(gauger_t *gauger, const dialect_t *dialect, const cut_t *cut, err_t *err) {
    record_t record;
    records_begin(gauger->records, dialect, cut->buffer.bytes, cut->length, cut->offset == 0, true,
                  record_id_make(record_id_lane((uint32_t)gauger->files, cut->offset), cut->offset));
    for (;;) {
        parsed_t parsed = records_next_into(gauger->records, &gauger->place, &record, NULL);
        if (parsed == PARSED_END)
            break;
        if (parsed == PARSED_MEMORY)
            return err_memory(err, record.length);
        gauger->gauge->records += parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT;
        gauger->documents += parsed == PARSED_DOCUMENT;
    }
    gauger->text += cut->length;
    return true;
}

/* Every place of a plain file is equally cheap to read: takes every n-th window of it, so that the end counts as much
 * as the beginning. */
static uint64_t step_of(const schema_t *schema, const input_file_t *file, uint64_t most) {
    bool anywhere = !schema->multiline && file->kind == INPUT_PLAIN && !input_is_in_stream(file);
    return anywhere ? file->text_bound / most + 1 : 1;
}

static bool read_file(gauger_t *gauger, const input_file_t *file, uint64_t most, bool *whole, err_t *err) {
    dialect_t *dialect = malloc(sizeof *dialect);
    source_t *source = dialect ? source_open_in(gauger->kit, file, err) : NULL;
    cutter_t *cutter = source ? cutter_new(source, gauger->pool, CUTTER_RECORD, err) : NULL;
    bool ok = cutter ? cutter_begin(cutter, gauger->schema, file->name, dialect, err)
                     : !dialect && err_memory(err, sizeof *dialect);
    const double before = gauger->text;
    double seen = 0;
    uint64_t step = step_of(gauger->schema, file, most);
    *whole = false;
    while (ok && !*whole && seen < (double)most) {
        cut_t cut;
        int got = cutter_next(cutter, &cut, err);
        uint64_t next = got > 0 ? cut.next_offset / CUTTER_WINDOW + step - 1 : 0;
        if ((ok = got >= 0) && got > 0) {
            ok = count(gauger, dialect, &cut, err);
            pool_give(gauger->pool, &cut.buffer);
        }
        *whole = got == 0 && step == 1;
        if (ok && step > 1 && (got == 0 || next * CUTTER_WINDOW >= file->text_bound))
            break;
        if (ok && step > 1)
            ok = cutter_seek(cutter, next, UINT64_MAX, err);
        seen = gauger->text - before;
    }
    if (ok && file->kind != INPUT_PLAIN && source_disk_bytes(source)) {
        gauger->packed_disk += (double)source_disk_bytes(source);
        gauger->packed_text += seen;
    }
    gauger->files++;
    if (cutter)
        cutter_destroy(cutter);
    if (source)
        source_close(source);
    free(dialect);
    return ok;
}

/* How much text a file has. The length of a stream is not known. */
static double text_of(const gauger_t *gauger, const input_file_t *file) {
    if (file->kind == INPUT_PLAIN || file->kind == INPUT_ZIP_MEMBER)
        return (double)file->text_bound;
    return gauger->packed_disk > 0 ? (double)file->disk_bytes * gauger->packed_text / gauger->packed_disk : 0;
}

static void sum_up(gauger_t *gauger, const manifest_t *manifest, bool whole) {
    for (size_t i = 0; i < manifest->count; i++)
        gauger->all_text += text_of(gauger, &manifest->files[i]);
    gauger->gauge->exact = whole;
    gauger->gauge->documents =
        whole ? (double)gauger->documents
              : floor(fmax(gauger->all_text, gauger->text) / gauger->text * (double)gauger->documents);
}

static bool read_some(gauger_t *gauger, const manifest_t *manifest, err_t *err) {
    const size_t files = manifest->count < MOST_FILES ? manifest->count : MOST_FILES;
    bool all = files == manifest->count;
    for (size_t i = 0; i < files; i++) {
        bool whole;
        if (!read_file(gauger, &manifest->files[i * manifest->count / files], MOST_TEXT / files, &whole, err))
            return false;
        all = all && whole;
    }
    if (!gauger->documents)
        return err_set(err, STATUS_INPUT, "no record of the sample could be read. `tipple parse` shows why");
    sum_up(gauger, manifest, all);
    return true;
}

bool gauge_take(const schema_t *schema, const manifest_t *manifest, gauge_t *gauge, err_t *err) {
    gauger_t *gauger = calloc(1, sizeof *gauger);
    *gauge = (gauge_t){.records = 0};
    if (!gauger)
        return err_memory(err, sizeof *gauger);
    gauger->schema = schema;
    gauger->gauge = gauge;
    gauger->kit = source_kit_new();
    gauger->pool = pool_new(1 << 30, CUTTER_BUFFER);
    gauger->records = records_new(schema);
    bool ok = gauger->kit && gauger->pool && gauger->records ? read_some(gauger, manifest, err)
                                                             : err_memory(err, 1);
    records_destroy(gauger->records);
    pool_destroy(gauger->pool);
    source_kit_free(gauger->kit);
    free(gauger->place.bytes);
    free(gauger);
    return ok;
}
