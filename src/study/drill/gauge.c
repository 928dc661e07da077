/* How many records and documents some files have: short files are read whole, long ones at some places. */
#include "format/records.h"
#include "input/cutter.h"
#include "input/manifest.h"
#include "study/drill/drill_inner.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_TEXT = 32 << 20, MOST_FILES = 32 };

typedef struct {
    const schema_t *schema;
    gauge_t *gauge;
    source_kit_t kit;
    pool_t *pool;
    records_t *records;
    records_place_t place;
    dialect_t dialect;
    double text;        /* bytes that were read */
    uint64_t documents; /* that were read */
    /* of the compressed files that were read: bytes on disk and text, up to where reading stopped */
    double packed_disk, packed_text;
} gauger_t;

/* Counts the records and documents of one buffer. */
static bool count(gauger_t *gauger, const cut_t *cut, err_t *err) {
    record_t record;
    records_begin(gauger->records, &gauger->dialect, cut->buffer.bytes, cut->length, cut->offset == 0, true,
                  0);
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

/* Reads `most` bytes. Every place of a plain file is equally cheap to read: of these every step-th window is read, so
 * that the end counts as much as the beginning. */
static bool read_places(gauger_t *gauger, const input_file_t *file, cutter_t *cutter, double most,
                        err_t *err) {
    const bool anywhere = !gauger->schema->multiline && input_has_places(file);
    const uint64_t step = anywhere ? file->text_bound / (uint64_t)most + 1 : 1;
    const double before = gauger->text;
    gauger->gauge->exact = gauger->gauge->exact && step == 1;
    while (gauger->text - before < most) {
        cut_t cut;
        const int got = cutter_next(cutter, &cut, err);
        if (got <= 0)
            return got == 0;
        const uint64_t next = cut.next_offset / CUTTER_WINDOW + step - 1;
        const bool ok = count(gauger, &cut, err);
        pool_give(gauger->pool, &cut.buffer);
        if (!ok || (step > 1 && next * CUTTER_WINDOW >= file->text_bound))
            return ok;
        if (step > 1 && !cutter_seek(cutter, next, UINT64_MAX, err))
            return false;
    }
    gauger->gauge->exact = false;
    return true;
}

static bool read_file(gauger_t *gauger, const input_file_t *file, double most, err_t *err) {
    source_t *source = source_open_in(&gauger->kit, file, err);
    cutter_t *cutter = source ? cutter_new(source, gauger->pool, CUTTER_RECORD, err) : NULL;
    const double before = gauger->text;
    const bool ok = cutter && cutter_begin(cutter, gauger->schema, file->name, &gauger->dialect, err) &&
                    read_places(gauger, file, cutter, most, err);
    if (ok && file->kind != INPUT_PLAIN && source_disk_bytes(source)) {
        gauger->packed_disk += (double)source_disk_bytes(source);
        gauger->packed_text += gauger->text - before;
    }
    cutter_destroy(cutter);
    source_close(source);
    return ok;
}

/* How much text a file has. The length of a stream is not known. */
static double text_of(const gauger_t *gauger, const input_file_t *file) {
    if (file->kind == INPUT_PLAIN || file->kind == INPUT_ZIP_MEMBER)
        return (double)file->text_bound;
    const double share = (double)input_disk_share(file);
    return gauger->packed_disk > 0 ? share * gauger->packed_text / gauger->packed_disk : 0;
}

static bool read_some(gauger_t *gauger, const manifest_t *manifest, err_t *err) {
    const size_t files = manifest->count < MOST_FILES ? manifest->count : MOST_FILES;
    double all_text = 0;
    gauger->gauge->exact = files == manifest->count;
    for (size_t i = 0; i < files; i++)
        if (!read_file(gauger, &manifest->files[i * manifest->count / files],
                       (double)MOST_TEXT / (double)files, err))
            return false;
    if (!gauger->documents)
        return err_set(err, STATUS_INPUT, "no record of the sample could be read. `tipple parse` shows why");
    for (size_t i = 0; i < manifest->count; i++)
        all_text += text_of(gauger, &manifest->files[i]);
    gauger->gauge->documents = (double)gauger->documents;
    if (!gauger->gauge->exact)
        gauger->gauge->documents *= fmax(all_text / gauger->text, 1);
    return true;
}

bool gauge_take(const load_spec_t *load, gauge_t *gauge, err_t *err) {
    const manifest_options_t options = {.patience_ns = load->patience_ns};
    manifest_t manifest = {.count = 0};
    schema_t *schema = load_spec_open_format(load, err);
    gauger_t gauger = {.schema = schema, .gauge = gauge};
    bool ok = schema && manifest_build(&manifest, load->inputs, load->input_count, &options, err) &&
              manifest_decode(&manifest, schema->charset);
    *gauge = (gauge_t){.records = 0};
    if (ok) {
        gauger.pool = pool_new(1 << 30, CUTTER_BUFFER);
        gauger.records = records_new(schema);
        ok = gauger.pool && gauger.records ? read_some(&gauger, &manifest, err) : err_memory(err, 1);
    }
    records_destroy(gauger.records);
    pool_destroy(gauger.pool);
    source_kit_close(&gauger.kit);
    free(gauger.place.bytes);
    manifest_free(&manifest);
    schema_destroy(schema);
    return ok;
}
