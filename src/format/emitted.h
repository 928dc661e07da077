/* emitted: a file of records that `emit` has made. Whoever reads it finds its dialect from its first lines, as that of
 * any other file: these lines are kept back until it is sure that they are read by the dialect that they were written
 * in. */
#ifndef TIPPLE_FORMAT_EMITTED_H
#define TIPPLE_FORMAT_EMITTED_H

#include "format/record/dialect.h"

typedef void emitted_put_fn(void *to, const void *bytes, size_t length);
typedef struct emitted emitted_t;

/* head: how many bytes of a file a reader looks at to find its dialect. NULL: out of memory. */
emitted_t *emitted_new(const schema_t *schema, size_t head, emitted_put_fn *put, void *to);
void emitted_destroy(emitted_t *emitted);

/* The next input's lines follow. Returns the dialect by which its records have to be written: the new file has one for
 * all of its inputs, and the first line of one whose dialect is another is refused. `of` and `input`, its name, stay
 * valid meanwhile. */
const dialect_t *emitted_begin(emitted_t *emitted, const dialect_t *of, const char *input);

/* The byte-order mark of an input: it stays where the new file begins. */
void emitted_mark(emitted_t *emitted);

typedef struct {
    const uint8_t *text, *end; /* end: its line end */
    size_t length, end_length; /* end_length 0: it has none */
    bool record;               /* false: a header or a blank line, as it stood */
    bool comment, skipped;     /* or a line that was passed over */
} emitted_line_t;

/* One more line of this input. False, with the sentence: the new file would be
 * read as other documents. */
bool emitted_line(emitted_t *emitted, const emitted_line_t *line, err_t *err);

/* There are no more. Puts what is still kept back, or is false, with the sentence. */
bool emitted_end(emitted_t *emitted, err_t *err);

#endif
