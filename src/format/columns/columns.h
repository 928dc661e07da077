/* columns: a stream of Arrow arrays becomes a text of BSON, one document a row.
 *
 * What everything here revolves around is column_t (columns_inner.h), a node of a tree that is made once of the stream's schema
 * (plan.c) and points into the arrays of the batch at hand. A row is encoded by a walk over this tree (encode.c). There is one
 * table of Arrow's types, `types` in plan.c; a row of it names the kind of value, by which encode.c knows the buffers and the
 * bytes. Invariants:
 *
 * - The bytes depend on the rows, their schema and columns_how_t, not on the batches that they come in. So the same rows make
 *   the same documents at the same places again, by which a second load recognises what the first one has loaded.
 * - The C interface says nothing about the sizes of buffers, except those of views. What it does say is checked before anything
 *   is read by it: lengths, offsets and the number of buffers and children when a batch is bound, in all arrays of the tree; an
 *   offset, an index, a view, a type id or a run when the row that uses it is encoded. So a broken array is named with its column
 *   and its row, and no bytes are made of this row and of any later one.
 * - A document is written once, into a buffer that never moves, and has room for the largest one after a piece that is full.
 *   The kernel gives the pages of this buffer when they are written: COLUMNS_PIECE and one document of usual size are in memory.
 *
 * A value that BSON cannot hold (the integer 2^63, 35 digits, a text that is not UTF-8) is kept as a text, or as binary data, and
 * counted; columns_how_t may want something else. A row to be rejected keeps its place: its document is written with the value as
 * a symbol, a type of BSON that nothing else here makes, and a reader by the format arrow1 rejects each document with a symbol.
 *
 * A frame_t belongs to one thread at a time. */
#ifndef TIPPLE_FORMAT_COLUMNS_COLUMNS_H
#define TIPPLE_FORMAT_COLUMNS_COLUMNS_H

#include "base/err.h"
#include "format/schema/schema.h"
#include "tipple/arrow.h"

/* The built-in format of such texts, whose number is that of the table of types. A table by which any value would become
 * another one gets a new number: a collection must not have documents of both. */
#define COLUMNS_FORMAT "arrow1"

enum {
    COLUMNS_PIECE = 256 << 10,        /* bytes after which a piece is given out */
    COLUMNS_MOST_DOCUMENT = 16 << 20, /* bytes of what a server stores */
};

/* What becomes of a value that does not fit: a bad_value_t, or this: the stream ends there, with status 5. */
enum { COLUMNS_STOP = BAD_VALUES };

/* keep_nulls: those of columns, and of fields in structs, are stored; else they are left out. In lists and maps they always are. */
typedef struct {
    unsigned keep_nulls, bad;
} columns_how_t;

/* Sets "nulls" (keep, leave-out) or "on-bad-value" (text, null, reject, stop). False: there is no such option or value; status 1. */
bool columns_how_read(columns_how_t *how, const char *option, const char *value, err_t *err);

typedef struct frame frame_t;

/* How many values, and the first row of them, from 1. */
typedef struct {
    uint64_t count, first;
} columns_tally_t;

/* What there is to say of a column, or of several of one path. */
typedef struct {
    char *path;           /* "address.zip" */
    char *extension;      /* the name of its type where that is not known here; NULL: it has none */
    bool unzoned;         /* its times have no zone */
    columns_tally_t kept; /* values that did not fit */
    columns_tally_t cut;  /* times whose digits were cut off */
} columns_sum_t;

/* What one stream after another shares: how values are stored, which the owner sets, and what there is to say of all columns, in
 * the order in which they came. Zero at first. */
typedef struct {
    columns_how_t how;
    columns_sum_t **columns; /* which stay where they are */
    size_t count, room;
    void *by_path; /* a tree of the same */
    uint64_t rows; /* of all streams */
} columns_sums_t;

/* Takes the stream over, and has released it when columns_close returns, or when this fails. The sums stay where they are until
 * then; they say nothing of the stream before its first columns_next. NULL: status 5, the column and what is wrong with it; or
 * memory is out. */
frame_t *columns_open(struct ArrowArrayStream *stream, columns_sums_t *sums, err_t *err);

/* NULL: nothing is done. */
void columns_close(frame_t *frame);

/* Does each row bring an `_id`? */
bool columns_has_id(const frame_t *frame);

/* The next whole documents, until the next call. 1: there are some; 0: the stream has ended; -1: err has the sentence, now and at
 * every later call. */
int columns_next(frame_t *frame, const uint8_t **bytes, size_t *length, err_t *err);

/* Notes what the sums say, a line for each. input: the name of the rows. */
void columns_tell(const columns_sums_t *sums, const char *input);
void columns_sums_free(columns_sums_t *sums);

#endif
