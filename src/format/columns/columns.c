/* The stream: batch after batch is bound and encoded, a piece of whole documents at a time. */
#include "format/columns/columns.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/columns/columns_inner.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/mman.h>

bool columns_how_read(columns_how_t *how, const char *option, const char *value, err_t *err) {
    static const char *const nulls[] = {"leave-out", "keep"}, *const bad[] = {"text", "null", "reject",
                                                                              "stop"};
    if (strcmp(option, "nulls") != 0 && strcmp(option, "on-bad-value") != 0)
        return err_set(err, STATUS_USAGE, "rows have no option '%.200s', only nulls and on-bad-value",
                       option);
    const bool of_nulls = *option == 'n';
    const int chosen = of_nulls ? choose_word(option, value, nulls, COUNT(nulls), err)
                                : choose_word(option, value, bad, COUNT(bad), err);
    if (chosen >= 0 && of_nulls)
        how->keep_nulls = chosen;
    else if (chosen >= 0)
        how->bad = (unsigned)chosen;
    return chosen >= 0;
}

/* The producer's own words. */
static bool fail(columns_frame_t *columns, int error, err_t *err) {
    const char *words = columns->stream.get_last_error(&columns->stream);
    return err_set(err, STATUS_INPUT, "the producer of the rows failed: %s",
                   words && *words ? words : strerror(error));
}

static bool read_schema(columns_frame_t *columns, err_t *err) {
    struct ArrowSchema schema = {.release = NULL};
    const int error = columns->stream.get_schema(&columns->stream, &schema);
    if (error)
        return fail(columns, error, err);
    const bool ok = schema.release ? plan_make(&schema, &columns->root, err)
                                   : err_set(err, STATUS_INPUT, "the producer of the rows gave no schema");
    if (schema.release)
        schema.release(&schema);
    return ok;
}

/* Bytes of the buffer: a piece that is almost full, a document of any size, and what is written after its limit. */
enum { ROOM = COLUMNS_PIECE + COLUMNS_MOST_DOCUMENT + 2 * COLUMN_SLACK };

columns_frame_t *columns_open(struct ArrowArrayStream *stream, err_t *err) {
    if (!stream->release) {
        err_set(err, STATUS_INPUT, "the stream of rows has been read already: make another one");
        return NULL;
    }
    columns_frame_t *columns = calloc(1, sizeof *columns);
    uint8_t *buffer = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!columns || buffer == MAP_FAILED) {
        free(columns);
        stream->release(stream);
        err_memory(err, ROOM);
        return NULL;
    }
    columns->stream = *stream;
    columns->buffer = buffer;
    stream->release = NULL; /* it was moved */
    if (read_schema(columns, err))
        return columns;
    columns_close(columns);
    return NULL;
}

void columns_close(columns_frame_t *columns) {
    if (!columns)
        return;
    if (columns->batch.release)
        columns->batch.release(&columns->batch);
    columns->stream.release(&columns->stream);
    plan_free(&columns->root);
    free(columns->keys);
    munmap(columns->buffer, ROOM);
    free(columns);
}

void columns_set(columns_frame_t *columns, columns_how_t how) {
    columns->how = how;
}

bool columns_has_id(const columns_frame_t *columns) {
    bool has = false;
    for (size_t i = 0; i < columns->root.child_count; i++)
        has |= strcmp((const char *)columns->root.children[i].key.bytes, "_id") == 0;
    return has;
}

/* The next batch with rows. False: there is none, or columns->err says why. */
static bool next_batch(columns_frame_t *columns) {
    while (columns->at == columns->batch.length && !columns->ended && columns->state != FAILED) {
        columns->rows += (uint64_t)columns->at;
        columns->at = 0;
        if (columns->batch.release)
            columns->batch.release(&columns->batch);
        columns->batch = (struct ArrowArray){.length = 0};
        const int error = columns->stream.get_next(&columns->stream, &columns->batch);
        columns->ended = !error && !columns->batch.release;
        const column_t *broken =
            error || columns->ended ? NULL : bind_array(&columns->root, &columns->batch, 0);
        if (error)
            columns->state = FAILED;
        if (error)
            fail(columns, error, &columns->err);
        if (broken)
            encode_broken(columns, broken);
    }
    return !columns->ended && columns->state != FAILED;
}

/* Documents that were encoded before a failure are given out before it. */
int columns_next(columns_frame_t *columns, const uint8_t **bytes, size_t *length, err_t *err) {
    uint8_t *out = columns->buffer;
    if (columns->given > 2 * COLUMNS_PIECE) /* it had a large document */
        madvise(out, ROOM, MADV_DONTNEED);
    while (out - columns->buffer < COLUMNS_PIECE && next_batch(columns)) {
        uint8_t *end = encode_row(columns, out);
        if (end) {
            out = end;
            columns->at++;
        }
    }
    *bytes = columns->buffer;
    *length = columns->given = (size_t)(out - columns->buffer);
    if (!*length && columns->state == FAILED)
        *err = columns->err;
    return *length ? 1 : columns->state == FAILED ? -1 : 0;
}

/* ---- what there is to say ---- */

typedef void visit_fn(void *context, const column_t *column);

static void walk(const column_t *column, visit_fn *visit, void *context) {
    visit(context, column);
    for (size_t i = 0; i < column->child_count; i++)
        walk(&column->children[i], visit, context);
}

typedef struct {
    columns_take_fn *take;
    void *context;
} taker_t;

static void take_misfit(void *context, const column_t *column) {
    const taker_t *taker = context;
    if (column->kept)
        taker->take(taker->context, column->path, column->kept, column->first_kept);
}

void columns_misfits(const columns_frame_t *columns, columns_take_fn *take, void *context) {
    walk(&columns->root, take_misfit, &(taker_t){take, context});
}

typedef struct {
    const columns_how_t *how;
    const column_t *unzoned; /* the first one, */
    size_t unzoned_count;    /* of this number */
    text_t text;
} notes_t;

static void note(void *context, const column_t *column) {
    notes_t *notes = context;
    if (column->kind == KIND_MOMENT && !column->zoned && !notes->unzoned_count++)
        notes->unzoned = column;
    if (column->extension)
        text_print(&notes->text,
                   "column '%s' has the extension type %s, which is not known here: its storage is stored\n",
                   column->path, column->extension);
    if (column->kept)
        text_print(
            &notes->text,
            "column '%s': %" PRIu64 " value%s that a document cannot hold became %s, the first one in row "
            "%" PRIu64 "\n",
            column->path, column->kept, units_s(column->kept),
            notes->how->bad == BAD_VALUE_NULL ? "null" : "text, binary data or pairs", column->first_kept);
    if (column->cut)
        text_print(&notes->text,
                   "column '%s': %" PRIu64
                   " time%s lost digits below a millisecond, the first one in row %" PRIu64 "\n",
                   column->path, column->cut, units_s(column->cut), column->first_cut);
}

char *columns_notes(const columns_frame_t *columns, err_t *err) {
    notes_t notes = {.how = &columns->how};
    text_print(&notes.text, "%s", "");
    walk(&columns->root, note, &notes);
    if (notes.unzoned_count)
        text_print(&notes.text, "column '%s'%s without a time zone: the times were stored as UTC\n",
                   notes.unzoned->path, notes.unzoned_count > 1 ? " and others are" : " is");
    return text_take(&notes.text, err);
}
