/* The stream: batch after batch is bound and encoded, a piece of whole documents at a time. */
#include "format/columns/columns.h"
#include "base/log.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/columns/columns_inner.h"

#include <inttypes.h>
#include <search.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

bool columns_how_read(columns_how_t *how, const char *option, const char *value, err_t *err) {
    static const char *const nulls[] = {"leave-out", "keep"}, *const bad[] = {"text", "null", "reject",
                                                                              "stop"};
    const bool of_nulls = strcmp(option, "nulls") == 0;
    if (!of_nulls && strcmp(option, "on-bad-value") != 0)
        return err_set(err, STATUS_USAGE, "rows have no option '%.200s', only nulls and on-bad-value",
                       option);
    const int chosen =
        choose_word(option, value, of_nulls ? nulls : bad, of_nulls ? COUNT(nulls) : COUNT(bad), err);
    if (chosen >= 0)
        *(of_nulls ? &how->keep_nulls : &how->bad) = (unsigned)chosen;
    return chosen >= 0;
}

/* The producer's own words. */
static bool fail(frame_t *frame, int error) {
    const char *words = frame->stream.get_last_error(&frame->stream);
    return err_set(&frame->err, STATUS_INPUT, "the producer of the rows failed: %s",
                   words && *words ? words : strerror(error));
}

static bool read_schema(frame_t *frame) {
    struct ArrowSchema schema = {.release = NULL};
    const int error = frame->stream.get_schema(&frame->stream, &schema);
    if (error)
        return fail(frame, error);
    if (!schema.release)
        return err_set(&frame->err, STATUS_INPUT, "the producer of the rows gave no schema");
    const bool ok = tree_make(frame, &schema);
    schema.release(&schema);
    return ok;
}

frame_t *columns_open(struct ArrowArrayStream *stream, columns_sums_t *sums, err_t *err) {
    if (!stream->release) {
        err_set(err, STATUS_INPUT, "the stream of rows has been read already: make another one");
        return NULL;
    }
    frame_t *frame = mmap(NULL, sizeof *frame, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (frame == MAP_FAILED) {
        stream->release(stream);
        err_memory(err, sizeof *frame);
        return NULL;
    }
    frame->stream = *stream;
    frame->sums = sums;
    stream->release = NULL; /* it was moved */
    if (read_schema(frame))
        return frame;
    *err = frame->err;
    columns_close(frame);
    return NULL;
}

bool columns_has_id(const frame_t *frame) {
    bool has = false;
    for (size_t i = 0; i < frame->root.child_count; i++)
        has |= strcmp((const char *)frame->root.children[i].key.bytes, "_id") == 0;
    return has;
}

/* The next batch with rows. False: there is none, or frame->err says why. */
static bool next_batch(frame_t *frame) {
    while (frame->at == frame->batch.length && !frame->ended && !frame->err.status) {
        frame->at = 0;
        if (frame->batch.release)
            frame->batch.release(&frame->batch);
        frame->batch = (struct ArrowArray){.length = 0};
        const int error = frame->stream.get_next(&frame->stream, &frame->batch);
        frame->ended = !error && !frame->batch.release;
        if (error)
            fail(frame, error);
        else if (!frame->ended)
            encode_bind(frame);
    }
    return !frame->ended && !frame->err.status;
}

/* What the schema says of a column becomes a note. */
static void note_types(column_t *column) {
    columns_sum_t *const sum = column->sum;
    sum->unzoned |= column->unzoned;
    if (!sum->extension) {
        sum->extension = column->extension;
        column->extension = NULL;
    }
    for (size_t i = 0; i < column->child_count; i++)
        note_types(&column->children[i]);
}

/* After a large document: gives its memory back, by whole pages. */
static void give_back(frame_t *frame) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), skipped = page - (uintptr_t)frame->buffer % page;
    if (frame->given > 2 * COLUMNS_PIECE)
        madvise(frame->buffer + skipped, COLUMN_ROOM - skipped, MADV_DONTNEED);
}

/* Documents that were encoded before a failure are given out before it. */
int columns_next(frame_t *frame, const uint8_t **bytes, size_t *length, err_t *err) {
    uint8_t *out = frame->buffer;
    if (!frame->begun)
        note_types(&frame->root);
    frame->begun = true;
    give_back(frame);
    while (out - frame->buffer < COLUMNS_PIECE && next_batch(frame)) {
        uint8_t *end = encode_row(frame, out);
        if (end) {
            out = end;
            frame->at++;
            frame->sums->rows++;
        }
    }
    *bytes = frame->buffer;
    *length = frame->given = (size_t)(out - frame->buffer);
    if (*length || !frame->err.status)
        return *length > 0;
    *err = frame->err;
    return -1;
}

void columns_close(frame_t *frame) {
    if (!frame)
        return;
    if (frame->batch.release)
        frame->batch.release(&frame->batch);
    frame->stream.release(&frame->stream);
    tree_free(&frame->root);
    free(frame->keys);
    munmap(frame, sizeof *frame);
}

/* ---- what there is to say ---- */

void columns_tell(const columns_sums_t *sums, const char *input) {
    const char *const became = sums->how.bad == BAD_VALUE_NULL ? "null" : "text, binary data or pairs",
                      *unzoned = NULL, *others = "is";
    for (size_t i = 0; i < sums->count; i++) {
        const columns_sum_t *const sum = sums->columns[i];
        if (sum->extension)
            log_note(
                "%s: column '%s' has the extension type %s, which is not known here: its storage is stored",
                input, sum->path, sum->extension);
        if (sum->kept.count)
            log_note("%s: column '%s': %" PRIu64 " value%s that a document cannot hold became %s, the first "
                     "one in row %" PRIu64,
                     input, sum->path, sum->kept.count, units_s(sum->kept.count), became, sum->kept.first);
        if (sum->cut.count)
            log_note("%s: column '%s': %" PRIu64
                     " time%s lost digits below a millisecond, the first one in row %" PRIu64,
                     input, sum->path, sum->cut.count, units_s(sum->cut.count), sum->cut.first);
        if (sum->unzoned && unzoned)
            others = "and others are";
        else if (sum->unzoned)
            unzoned = sum->path;
    }
    if (unzoned)
        log_note("%s: column '%s' %s without a time zone: the times were stored as UTC", input, unzoned,
                 others);
}

static void free_sum(void *of) {
    columns_sum_t *sum = of;
    free(sum->path);
    free(sum->extension);
    free(sum);
}

void columns_sums_free(columns_sums_t *sums) {
    tdestroy(sums->by_path, free_sum);
    free(sums->columns);
}
