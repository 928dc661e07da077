#include "format/emitted.h"
#include "base/chars.h"
#include "base/text.h"
#include "format/cut/split.h"

struct emitted {
    const schema_t *schema;
    emitted_put_fn *put;
    void *to;
    dialect_t dialect; /* of the new file */
    const char *other; /* the input's name, if its dialect is another one */
    bool begun;        /* the file has a record or a header, so that its dialect stays */
    bool later;        /* it had one before this input */
    bool open;         /* its last line has no line feed */
    bool certain;      /* its dialect will be found: nothing is kept any more */
    bool refused;
    text_t kept;
    size_t head;
    int lines; /* kept ones that are not blank */
    split_t split;
};

emitted_t *emitted_new(const schema_t *schema, size_t head, emitted_put_fn *put, void *to) {
    emitted_t *emitted = calloc(1, sizeof *emitted);
    if (emitted)
        *emitted = (emitted_t){.schema = schema, .head = head, .put = put, .to = to};
    return emitted;
}

void emitted_destroy(emitted_t *emitted) {
    if (!emitted)
        return;
    split_free(&emitted->split);
    text_free(&emitted->kept);
    free(emitted);
}

const dialect_t *emitted_begin(emitted_t *emitted, const dialect_t *of, const char *input) {
    if (!emitted->begun) {
        emitted->dialect = *of;
        emitted->kept.length = 0;
        emitted->open = false;
    }
    emitted->later = emitted->begun;
    emitted->other = emitted->dialect.hash == of->hash ? NULL : input;
    return emitted->other ? of : &emitted->dialect;
}

static void put(emitted_t *emitted, const void *bytes, size_t length) {
    if (emitted->certain)
        emitted->put(emitted->to, bytes, length);
    else
        text_append_bytes(&emitted->kept, bytes, length);
}

/* True if a reader finds the dialect. A first line that is a header decides alone, and it is the one that the dialect was
 * found from. */
static bool check_head(emitted_t *emitted, err_t *err) {
    const dialect_t *is = &emitted->dialect;
    const text_t *kept = &emitted->kept;
    dialect_t again;
    if (emitted->schema->kind != RECORDS_DELIMITED || is->header || !emitted->begun)
        return true;
    if (!dialect_sniff(emitted->schema, (const uint8_t *)kept->bytes, kept->length, "the new file", &again,
                       err))
        return false;
    return (!again.header && again.hash == is->hash) ||
           err_set(err, STATUS_INPUT,
                   "the records cannot be printed: without a header, the delimiter and the columns of a file "
                   "are found from its first lines, and the columns of the new file would be %u with the "
                   "delimiter '%c' instead of %u with '%c'; take a format that has only this delimiter and "
                   "these columns",
                   again.columns, again.delimiter, is->columns, is->delimiter);
}

/* Puts out what is kept. */
static bool let_go(emitted_t *emitted, err_t *err) {
    const text_t *kept = &emitted->kept;
    emitted->refused = kept->lacking ? !err_memory(err, kept->lacking) : !check_head(emitted, err);
    emitted->certain = !emitted->refused;
    if (emitted->certain && kept->length)
        emitted->put(emitted->to, kept->bytes, kept->length);
    return emitted->certain;
}

void emitted_mark(emitted_t *emitted) {
    if (!emitted->certain && !emitted->kept.length)
        put(emitted, "\xEF\xBB\xBF", 3);
}

/* False for a header with a quote that is never closed: the lines after it might be read as a part of it. */
static bool check_header(emitted_t *emitted, const emitted_line_t *line, err_t *err) {
    split_t *split = &emitted->split;
    if (!emitted->schema->multiline)
        return true;
    if (!split_record(split, emitted->schema, emitted->dialect.delimiter, line->text, line->length))
        return err_memory(err, line->length);
    emitted->refused = split->open;
    return !split->open ||
           err_set(err, STATUS_INPUT,
                   "the header '%.*s' has a quote that is never closed: close it in the input, "
                   "or give the format 'multiline: no'",
                   line->length < 80 ? (int)line->length : 80, (const char *)line->text);
}

bool emitted_line(emitted_t *emitted, const emitted_line_t *line, err_t *err) {
    if (emitted->later && !line->record)
        return true;
    if (emitted->later && emitted->other)
        return err_set(err, STATUS_INPUT,
                       "%s has another delimiter or other columns than the inputs before it, and a file of "
                       "records has only one of each: print its records by themselves",
                       emitted->other);
    if (!line->passed && !line->record && line->length && !check_header(emitted, line, err))
        return false;
    if (!line->passed && lines_bom(line->text, line->length))
        emitted_mark(emitted); /* else the file would lose the first bytes of the line */
    if (emitted->open)
        put(emitted, "\n", 1);
    put(emitted, line->text, line->length);
    put(emitted, line->end, line->end_length);
    emitted->open = !line->end_length || line->end[line->end_length - 1] != '\n';
    if (line->passed || !line->length)
        return true;
    emitted->begun = true;
    emitted->lines++;
    return emitted->certain ||
           (emitted->lines < DIALECT_SAMPLE_LINES && emitted->kept.length < emitted->head) ||
           let_go(emitted, err);
}

bool emitted_end(emitted_t *emitted, err_t *err) {
    return emitted->certain || emitted->refused || let_go(emitted, err);
}
