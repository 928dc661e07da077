/* emitted: the file of records that `emit` prints. Whoever reads this file finds its dialect from its first lines, as for
 * any other file. So the first lines are kept until it is certain that a reader finds the dialect that they are written
 * in, and until then nothing of the file is put out. Headers, blank lines and comments are those of the first input that has
 * a record or a header; of the inputs after it, only the records are printed. */
#ifndef TIPPLE_FORMAT_EMITTED_H
#define TIPPLE_FORMAT_EMITTED_H

#include "format/record/dialect.h"

typedef void emitted_put_fn(void *to, const void *bytes, size_t length);

/* Its owner sets the first four members; the others begin as 0. The owner frees `kept`. */
typedef struct {
    const schema_t *schema;
    size_t head; /* how many bytes of a file a reader examines to find its dialect */
    emitted_put_fn *put;
    void *to; /* for `put` */

    dialect_t dialect; /* of the new file */
    const char *other; /* the input's name, if its dialect is another one */
    bool later;        /* the file had a record or a header before this input, so that its dialect stays */
    bool open;         /* its last line has no line feed */
    bool certain;      /* its dialect will be found: lines are kept no longer than they are written */
    text_t kept;
    uint64_t lines; /* that are neither blank nor passed over */
} emitted_t;

/* The next input's lines follow. Returns the dialect in which its records have to be written: the new file has one dialect
 * for all of its inputs, and the first line of an input in another dialect is refused. `of` and the input's name stay valid
 * until the next call. */
const dialect_t *emitted_begin(emitted_t *emitted, const dialect_t *of, const char *input);

/* The input begins with a byte order mark, which stays where the new file begins. */
void emitted_mark(emitted_t *emitted);

typedef struct {
    const uint8_t *text, *end; /* end: its line end */
    size_t length, end_length; /* end_length 0: it has none */
    bool record;               /* false: a header or a blank line, as it stood, */
    bool passed;               /* or a line that was passed over: a comment, or a skipped one */
} emitted_line_t;

/* One more line of this input. False, with the sentence: the new file would be read as other documents. */
bool emitted_line(emitted_t *emitted, const emitted_line_t *line, err_t *err);

/* There are no more lines: puts out what is kept. False, with the sentence, as emitted_line. */
bool emitted_end(emitted_t *emitted, err_t *err);

#endif
