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
static bool fail(frame_t *frame, int error, err_t *err) {
    const char *words = frame->stream.get_last_error(&frame->stream);
    return err_set(err, STATUS_INPUT, "the producer of the rows failed: %s",
                   words && *words ? words : strerror(error));
}

static bool read_schema(frame_t *frame, err_t *err) {
    struct ArrowSchema schema = {.release = NULL};
    const int error = frame->stream.get_schema(&frame->stream, &schema);
    if (error)
        return fail(frame, error, err);
    const bool ok = schema.release ? tree_make(&schema, &frame->root, err)
                                   : err_set(err, STATUS_INPUT, "the producer of the rows gave no schema");
    if (schema.release)
        schema.release(&schema);
    return ok;
}

/* Bytes of the buffer: a piece that is almost full, a document of any size, and what is written after its limit. */
enum { ROOM = COLUMNS_PIECE + COLUMNS_MOST_DOCUMENT + 2 * COLUMN_SLACK };

frame_t *columns_open(struct ArrowArrayStream *stream, err_t *err) {
    if (!stream->release) {
        err_set(err, STATUS_INPUT, "the stream of rows has been read already: make another one");
        return NULL;
    }
    frame_t *frame = calloc(1, sizeof *frame);
    uint8_t *buffer = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!frame || buffer == MAP_FAILED) {
        free(frame);
        stream->release(stream);
        err_memory(err, ROOM);
        return NULL;
    }
    frame->stream = *stream;
    frame->buffer = buffer;
    stream->release = NULL; /* it was moved */
    if (read_schema(frame, err))
        return frame;
    columns_close(frame, NULL);
    return NULL;
}

void columns_set(frame_t *frame, columns_how_t how, uint64_t rows) {
    frame->how = how;
    frame->rows = rows;
}

bool columns_has_id(const frame_t *frame) {
    bool has = false;
    for (size_t i = 0; i < frame->root.child_count; i++)
        has |= strcmp((const char *)frame->root.children[i].key.bytes, "_id") == 0;
    return has;
}

/* The next batch with rows. False: there is none, or frame->err says why. */
static bool next_batch(frame_t *frame) {
    while (frame->at == frame->batch.length && !frame->ended && frame->state != FAILED) {
        frame->rows += (uint64_t)frame->at;
        frame->at = 0;
        if (frame->batch.release)
            frame->batch.release(&frame->batch);
        frame->batch = (struct ArrowArray){.length = 0};
        const int error = frame->stream.get_next(&frame->stream, &frame->batch);
        frame->ended = !error && !frame->batch.release;
        const column_t *broken = error || frame->ended ? NULL : bind_array(&frame->root, &frame->batch, 0);
        if (error)
            frame->state = FAILED;
        if (error)
            fail(frame, error, &frame->err);
        if (broken)
            encode_broken(frame, broken);
    }
    return !frame->ended && frame->state != FAILED;
}

/* Documents that were encoded before a failure are given out before it. */
int columns_next(frame_t *frame, const uint8_t **bytes, size_t *length, err_t *err) {
    uint8_t *out = frame->buffer;
    if (frame->given > 2 * COLUMNS_PIECE) /* it had a large document */
        madvise(out, ROOM, MADV_DONTNEED);
    while (out - frame->buffer < COLUMNS_PIECE && next_batch(frame)) {
        uint8_t *end = encode_row(frame, out);
        if (end) {
            out = end;
            frame->at++;
        }
    }
    *bytes = frame->buffer;
    *length = frame->given = (size_t)(out - frame->buffer);
    if (!*length && frame->state == FAILED)
        *err = frame->err;
    return *length ? 1 : frame->state == FAILED ? -1 : 0;
}

/* ---- what there is to say ---- */

/* The sum of a column of this path; a new one where none has it. NULL: memory is out. */
static columns_sum_t *find_sum(columns_sums_t *sums, const char *path) {
    for (size_t i = 0; i < sums->count; i++)
        if (strcmp(sums->columns[i].path, path) == 0)
            return &sums->columns[i];
    char *copy = GROW(sums->columns, sums->room, sums->count + 1, NULL) ? strdup(path) : NULL;
    if (!copy)
        return NULL;
    sums->columns[sums->count] = (columns_sum_t){.path = copy};
    return &sums->columns[sums->count++];
}

/* Two columns of one stream may have the same path. */
static void add_sum(uint64_t *to, uint64_t *first, uint64_t count, uint64_t row) {
    if (count && (!*to || row < *first))
        *first = row;
    *to += count;
}

static void add_sums(column_t *column, columns_sums_t *sums) {
    columns_sum_t *const from = &column->sum, *to;
    if ((from->extension || from->unzoned || from->kept || from->cut) && (to = find_sum(sums, from->path))) {
        if (!to->extension) {
            to->extension = from->extension;
            from->extension = NULL;
        }
        to->unzoned |= from->unzoned;
        add_sum(&to->kept, &to->first_kept, from->kept, from->first_kept);
        add_sum(&to->cut, &to->first_cut, from->cut, from->first_cut);
    }
    for (size_t i = 0; i < column->child_count; i++)
        add_sums(&column->children[i], sums);
}

static void note(text_t *text, const columns_sum_t *sum, unsigned bad) {
    if (sum->extension)
        text_print(text,
                   "column '%s' has the extension type %s, which is not known here: its storage is stored\n",
                   sum->path, sum->extension);
    if (sum->kept)
        text_print(text,
                   "column '%s': %" PRIu64
                   " value%s that a document cannot hold became %s, the first one in row "
                   "%" PRIu64 "\n",
                   sum->path, sum->kept, units_s(sum->kept),
                   bad == BAD_VALUE_NULL ? "null" : "text, binary data or pairs", sum->first_kept);
    if (sum->cut)
        text_print(text,
                   "column '%s': %" PRIu64
                   " time%s lost digits below a millisecond, the first one in row %" PRIu64 "\n",
                   sum->path, sum->cut, units_s(sum->cut), sum->first_cut);
}

char *columns_notes(const columns_sums_t *sums, unsigned bad, err_t *err) {
    text_t text = {.bytes = NULL};
    const columns_sum_t *unzoned = NULL;
    bool others = false;
    text_append(&text, "");
    for (size_t i = 0; i < sums->count; i++) {
        const columns_sum_t *sum = &sums->columns[i];
        note(&text, sum, bad);
        others |= sum->unzoned && unzoned;
        if (sum->unzoned && !unzoned)
            unzoned = sum;
    }
    if (unzoned)
        text_print(&text, "column '%s'%s without a time zone: the times were stored as UTC\n", unzoned->path,
                   others ? " and others are" : " is");
    return text_take(&text, err);
}

void columns_close(frame_t *frame, columns_sums_t *sums) {
    if (!frame)
        return;
    if (sums) {
        add_sums(&frame->root, sums);
        sums->rows = frame->rows + (uint64_t)frame->at;
    }
    if (frame->batch.release)
        frame->batch.release(&frame->batch);
    frame->stream.release(&frame->stream);
    tree_free(&frame->root);
    free(frame->keys);
    munmap(frame->buffer, ROOM);
    free(frame);
}

void columns_sums_free(columns_sums_t *sums) {
    for (size_t i = 0; i < sums->count; i++) {
        free(sums->columns[i].path);
        free(sums->columns[i].extension);
    }
    free(sums->columns);
}
