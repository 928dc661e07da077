#include "study/drill/gauge.h"
#include "format/record/record_id.h"
#include "format/records.h"
#include "input/cutter.h"
#include "input/manifest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* A server compresses pages of about this size. */
enum { PAGE = 32 * 1024, PACKED = 2 * PAGE, MOST_PAGES = 256, LONGEST_RECORD = 16 << 20 };

/* What a server's file contains in addition: page headers, ends of blocks, unused space. Measured: 1.05 to 1.23. */
static const double besides = 1.15;

/* The server's defaults. */
enum { ZLIB_LEVEL = 6, ZSTD_LEVEL = 6 };

typedef struct {
    const schema_t *schema;
    gauge_t *gauge;
    source_kit_t *kit;
    pool_t *pool;
    records_t *records;
    records_place_t place;
    uint8_t page[PAGE], compressed[PACKED];
    size_t filled, pages;
    double zlib_bytes, zstd_bytes;
    /* of the compressed files that were read: bytes on disk and text, up to where reading stopped */
    double packed_disk, packed_text;
} gauger_t;

/* There is room for what does not compress, so it fails for want of memory only. */
static bool pack(gauger_t *gauger, err_t *err) {
    uLongf zlib = PACKED;
    size_t zstd = ZSTD_compress(gauger->compressed, PACKED, gauger->page, PAGE, ZSTD_LEVEL);
    if (ZSTD_isError(zstd) || compress2(gauger->compressed, &zlib, gauger->page, PAGE, ZLIB_LEVEL) != Z_OK)
        return err_memory(err, PAGE);
    gauger->zlib_bytes += (double)zlib;
    gauger->zstd_bytes += (double)zstd;
    gauger->pages++;
    return true;
}

/* Adds a document to the pages. The last page is used only if it is full. */
static bool put(gauger_t *gauger, const uint8_t *bytes, size_t length, err_t *err) {
    while (length && gauger->pages < MOST_PAGES) {
        size_t some = length < PAGE - gauger->filled ? length : PAGE - gauger->filled;
        memcpy(gauger->page + gauger->filled, bytes, some);
        gauger->filled += some;
        bytes += some;
        length -= some;
        if (gauger->filled == PAGE) {
            if (!pack(gauger, err))
                return false;
            gauger->filled = 0;
        }
    }
    return true;
}

static bool look_at(gauger_t *gauger, const dialect_t *dialect, const cut_t *cut, err_t *err) {
    gauge_t *gauge = gauger->gauge;
    record_t record;
    records_begin(gauger->records, dialect, cut->buffer.bytes, cut->length, cut->offset == 0, true,
                  record_id_make(record_id_lane((uint32_t)gauge->files, cut->offset), cut->offset));
    for (;;) {
        parsed_t parsed = records_next_into(gauger->records, &gauger->place, &record, NULL);
        if (parsed == PARSED_END)
            break;
        if (parsed == PARSED_MEMORY)
            return err_memory(err, record.length);
        gauge->records += parsed == PARSED_DOCUMENT || parsed == PARSED_REJECT;
        if (parsed != PARSED_DOCUMENT)
            continue;
        gauge->documents++;
        gauge->bson_bytes += record.document_length;
        if (!put(gauger, gauger->place.bytes, record.document_length, err))
            return false;
    }
    gauge->text_bytes += cut->length;
    return true;
}

/* Every place of a plain file is equally cheap to read: takes every n-th window of it, so that the end counts as much
 * as the beginning. */
static uint64_t step_of(const schema_t *schema, const input_file_t *file, uint64_t most) {
    bool anywhere = !schema->multiline && file->kind == INPUT_PLAIN && !input_is_in_stream(file);
    return anywhere ? file->text_bound / most + 1 : 1;
}

static bool look_into(gauger_t *gauger, const input_file_t *file, uint64_t most, bool *whole, err_t *err) {
    dialect_t *dialect = malloc(sizeof *dialect);
    source_t *source = dialect ? source_open_in(gauger->kit, file, err) : NULL;
    cutter_t *cutter = source ? cutter_new(source, gauger->pool, LONGEST_RECORD, err) : NULL;
    bool ok = cutter ? cutter_begin(cutter, gauger->schema, file->name, dialect, err)
                     : !dialect && err_memory(err, sizeof *dialect);
    uint64_t before = gauger->gauge->text_bytes, seen = 0, step = step_of(gauger->schema, file, most);
    *whole = false;
    while (ok && !*whole && seen < most) {
        cut_t cut;
        int got = cutter_next(cutter, &cut, err);
        uint64_t next = got > 0 ? cut.next_offset / CUTTER_WINDOW + step - 1 : 0;
        if ((ok = got >= 0) && got > 0) {
            ok = look_at(gauger, dialect, &cut, err);
            pool_give(gauger->pool, &cut.buffer);
        }
        *whole = got == 0 && step == 1;
        if (ok && step > 1 && (got == 0 || next * CUTTER_WINDOW >= file->text_bound))
            break;
        if (ok && step > 1)
            ok = cutter_seek(cutter, next, UINT64_MAX, err);
        seen = gauger->gauge->text_bytes - before;
    }
    if (ok && file->kind != INPUT_PLAIN && source_disk_bytes(source)) {
        gauger->packed_disk += (double)source_disk_bytes(source);
        gauger->packed_text += (double)seen;
    }
    gauger->gauge->files++;
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
    gauge_t *gauge = gauger->gauge;
    for (size_t i = 0; i < manifest->count; i++)
        gauge->all_text += text_of(gauger, &manifest->files[i]);
    if (whole || gauge->all_text < (double)gauge->text_bytes)
        gauge->all_text = (double)gauge->text_bytes;
    gauge->exact = whole;
    gauge->all_documents =
        whole ? (double)gauge->documents
              : floor(gauge->all_text / (double)gauge->text_bytes * (double)gauge->documents);
    if (gauger->pages) {
        gauge->zlib = besides * gauger->zlib_bytes / ((double)gauger->pages * PAGE);
        gauge->zstd = besides * gauger->zstd_bytes / ((double)gauger->pages * PAGE);
    }
}

static bool look_around(gauger_t *gauger, const manifest_t *manifest, err_t *err) {
    size_t files = manifest->count < GAUGE_MOST_FILES ? manifest->count : GAUGE_MOST_FILES;
    bool all = files == manifest->count;
    for (size_t i = 0; i < files; i++) {
        bool whole;
        if (!look_into(gauger, &manifest->files[i * manifest->count / files], GAUGE_MOST_TEXT / files, &whole,
                       err))
            return false;
        all = all && whole;
    }
    if (!gauger->gauge->documents)
        return err_set(err, STATUS_INPUT,
                       "none of the records that were looked at makes a document; `tipple parse` tells why");
    sum_up(gauger, manifest, all);
    return true;
}

bool gauge_take(const schema_t *schema, const manifest_t *manifest, gauge_t *gauge, err_t *err) {
    gauger_t *gauger = calloc(1, sizeof *gauger);
    *gauge = (gauge_t){.files = 0};
    if (!gauger)
        return err_memory(err, sizeof *gauger);
    gauger->schema = schema;
    gauger->gauge = gauge;
    gauger->kit = source_kit_new();
    gauger->pool = pool_new(1 << 30, CUTTER_BUFFER);
    gauger->records = records_new(schema);
    bool ok = gauger->kit && gauger->pool && gauger->records ? look_around(gauger, manifest, err)
                                                             : err_memory(err, 1);
    records_destroy(gauger->records);
    pool_destroy(gauger->pool);
    source_kit_free(gauger->kit);
    free(gauger->place.bytes);
    free(gauger);
    return ok;
}

/* For the two other compressors: estimated from these two, with the ratios measured in docs/planning.md. If the sample
 * does not fill one page, nothing was compressed: 0 means that the general figures apply. */
double gauge_ratio(const gauge_t *gauge, const char *compressor) {
    if (strcmp(compressor, "none") == 0)
        return 1.07;
    return strcmp(compressor, "zlib") == 0   ? gauge->zlib
           : strcmp(compressor, "zstd") == 0 ? gauge->zstd
                                             : gauge->zlib * 1.5;
}
