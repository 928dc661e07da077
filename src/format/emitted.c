#include "format/emitted.h"
#include "base/chars.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/cut/split.h"

#include <stdlib.h>
#include <string.h>

struct emitted {
    const schema_t *schema;
    emitted_put_fn *put;
    void *to;
    dialect_t dialect; /* of the new file */
    const char *other; /* the input's name, if its dialect is another one */
    bool begun;        /* it has a record or a header, so that its dialect stays */
    size_t inputs;     /* that were begun */
    bool any;          /* it has a byte */
    bool open;         /* its last line has no line feed */
    bool sure;         /* its first lines are read as they were written: nothing is kept back any more */
    bool refused;
    uint8_t *kept;
    size_t length, room, head;
    int lines; /* kept ones that are not blank */
    split_t split;
};

emitted_t *emitted_new(const schema_t *schema, size_t head, emitted_put_fn *put, void *to) {
    emitted_t *emitted = calloc(1, sizeof *emitted);
    if (emitted) {
        emitted->schema = schema;
        emitted->head = head;
        emitted->put = put;
        emitted->to = to;
    }
    return emitted;
}

void emitted_destroy(emitted_t *emitted) {
    if (!emitted)
        return;
    split_free(&emitted->split);
    free(emitted->kept);
    free(emitted);
}

static bool put(emitted_t *emitted, const void *bytes, size_t length, err_t *err) {
    if (emitted->sure) {
        emitted->put(emitted->to, bytes, length);
    } else {
        if (!GROW(emitted->kept, emitted->room, emitted->length + length, err))
            return false;
        if (length)
            memcpy(emitted->kept + emitted->length, bytes, length);
        emitted->length += length;
    }
    emitted->any |= length > 0;
    return true;
}

const dialect_t *emitted_begin(emitted_t *emitted, const dialect_t *of, const char *input) {
    if (!emitted->begun)
        emitted->dialect = *of;
    emitted->inputs++;
    emitted->other = emitted->dialect.hash == of->hash ? NULL : input;
    return emitted->other ? of : &emitted->dialect;
}

/* A first line that is a header says everything, and it is the one that the dialect was found from. */
static bool check_head(emitted_t *emitted, err_t *err) {
    const dialect_t *is = &emitted->dialect;
    dialect_t again;
    if (emitted->schema->kind != RECORDS_DELIMITED || is->header || !emitted->begun)
        return true;
    if (!dialect_sniff(emitted->schema, emitted->kept, emitted->length, "the new file", &again, err))
        return false;
    return (!again.header && again.hash == is->hash) ||
           err_set(err, STATUS_INPUT,
                   "the records cannot be printed: without a header, the delimiter and the columns of a file "
                   "are found from its first lines, and those of the new file look like %u column%s with the "
                   "delimiter '%c' instead of %u with '%c'; take a format that has only this delimiter and "
                   "these columns",
                   again.columns, units_s(again.columns), again.delimiter, is->columns, is->delimiter);
}

static bool let_go(emitted_t *emitted, err_t *err) {
    if (!check_head(emitted, err)) {
        emitted->refused = true;
        return false;
    }
    emitted->sure = true;
    if (emitted->length)
        emitted->put(emitted->to, emitted->kept, emitted->length);
    return true;
}

void emitted_mark(emitted_t *emitted) {
    err_t ignored; /* without it the file is the same: a first record that begins like it gets one */
    if (!emitted->any)
        put(emitted, "\xEF\xBB\xBF", 3, &ignored);
}

/* The header of a later input with a single column: behind records it would be one of them, and it is not needed. */
static bool is_needless(const emitted_t *emitted, const emitted_line_t *line) {
    return emitted->begun && !line->record && line->length && !emitted->other &&
           emitted->schema->header == HEADER_YES && emitted->dialect.columns < 2;
}

/* Is a header in the middle still one? */
static bool check_later(emitted_t *emitted, const emitted_line_t *line, err_t *err) {
    if (emitted->other)
        return err_set(
            err, STATUS_INPUT,
            "%s has another delimiter or other columns than the inputs before it, and a file of records has "
            "only one of each: print its records by themselves",
            emitted->other);
    if (line->record)
        return true;
    const dialect_line_t is =
        dialect_line(emitted->schema, &emitted->dialect, &emitted->split, line->text, line->length);
    if (is == DIALECT_MEMORY)
        return err_memory(err, line->length);
    return is == DIALECT_HEADER ||
           err_set(err, STATUS_INPUT,
                   "the header '%.*s' is spelled otherwise than in the inputs before it, and would be read "
                   "as a record behind theirs: print the records of this input by themselves",
                   line->length < 80 ? (int)line->length : 80, (const char *)line->text);
}

/* A header whose quote is never closed ends where it does because of the lines after it, and those may be others now. */
static bool check_quotes(emitted_t *emitted, const emitted_line_t *line, err_t *err) {
    if (line->record || !line->length || !emitted->schema->multiline)
        return true;
    if (!split_record(&emitted->split, emitted->schema, emitted->dialect.delimiter, line->text, line->length))
        return err_memory(err, line->length);
    return !emitted->split.open ||
           err_set(err, STATUS_INPUT,
                   "the header '%.*s' has a quote that is never closed, so that the lines after it might be "
                   "read as a part of it: close the quote in the input, or give the format 'multiline: no'",
                   line->length < 80 ? (int)line->length : 80, (const char *)line->text);
}

static bool is_open(const emitted_line_t *line) {
    return !line->end_length || line->end[line->end_length - 1] != '\n';
}

static bool append(emitted_t *emitted, const emitted_line_t *line, err_t *err) {
    return (!emitted->open || put(emitted, "\n", 1, err)) && put(emitted, line->text, line->length, err) &&
           put(emitted, line->end, line->end_length, err);
}

/* Comments stay what they are wherever they are; the lines that are skipped do so only at a file's start. */
static bool pass_over(emitted_t *emitted, const emitted_line_t *line, err_t *err) {
    if (line->skipped && emitted->inputs > 1)
        return err_set(err, STATUS_INPUT,
                       "the line '%.*s' is skipped at the start of its input, but would be read as a record "
                       "behind the inputs before it: print the records of this input by themselves",
                       line->length < 80 ? (int)line->length : 80, (const char *)line->text);
    if (!append(emitted, line, err))
        return false;
    emitted->open = is_open(line);
    return true;
}

bool emitted_line(emitted_t *emitted, const emitted_line_t *line, err_t *err) {
    if (line->comment || line->skipped)
        return pass_over(emitted, line, err);
    if (is_needless(emitted, line))
        return true;
    if (!check_quotes(emitted, line, err)) {
        emitted->refused = true;
        return false;
    }
    if (emitted->begun && line->length && !check_later(emitted, line, err))
        return false;
    if (!emitted->any && lines_bom(line->text, line->length) && !put(emitted, "\xEF\xBB\xBF", 3, err))
        return false; /* a line that begins like a mark would lose it */
    if (!append(emitted, line, err))
        return false;
    emitted->open = is_open(line);
    emitted->begun |= line->length > 0;
    emitted->lines += line->length > 0;
    return emitted->sure || (emitted->lines < DIALECT_SAMPLE_LINES && emitted->length < emitted->head) ||
           let_go(emitted, err);
}

bool emitted_end(emitted_t *emitted, err_t *err) {
    return emitted->sure || emitted->refused || let_go(emitted, err);
}
