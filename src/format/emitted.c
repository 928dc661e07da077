#include "format/emitted.h"
#include "base/chars.h"
#include "base/text.h"

const dialect_t *emitted_begin(emitted_t *emitted, const dialect_t *of, const char *input) {
    emitted->later = emitted->lines > 0;
    if (!emitted->later) {
        emitted->dialect = *of;
        emitted->kept.length = 0;
        emitted->open = false;
    }
    emitted->other = emitted->dialect.hash == of->hash ? NULL : input;
    return emitted->other ? of : &emitted->dialect;
}

/* True if a reader of the new file finds its dialect. */
static bool check_head(const emitted_t *emitted, err_t *err) {
    const dialect_t *is = &emitted->dialect;
    const text_t *kept = &emitted->kept;
    dialect_t again;
    if (emitted->certain || emitted->schema->kind != RECORDS_DELIMITED || !emitted->lines)
        return true;
    if (!dialect_sniff(emitted->schema, (const uint8_t *)kept->bytes, kept->length, "the new file", &again,
                       err))
        return false;
    return (again.header == is->header && again.hash == is->hash) ||
           err_set(
               err, STATUS_INPUT,
               "the records cannot be printed: the delimiter and the columns of a file are found from its "
               "first lines, and the columns of the new file would be %u with the delimiter '%c' instead of "
               "%u with '%c'; take a format that has only this delimiter and these columns",
               again.columns, again.delimiter, is->columns, is->delimiter);
}

bool emitted_end(emitted_t *emitted, err_t *err) {
    text_t *kept = &emitted->kept;
    if (kept->lacking)
        return err_memory(err, kept->lacking);
    emitted->certain = check_head(emitted, err);
    if (emitted->certain && kept->length) {
        emitted->put(emitted->to, kept->bytes, kept->length);
        kept->length = 0;
    }
    return emitted->certain;
}

void emitted_mark(emitted_t *emitted) {
    if (!emitted->certain && !emitted->kept.length)
        text_append_bytes(&emitted->kept, "\xEF\xBB\xBF", 3);
}

bool emitted_line(emitted_t *emitted, const emitted_line_t *line, err_t *err) {
    text_t *kept = &emitted->kept;
    if (emitted->later && !line->record)
        return true;
    if (emitted->later && emitted->other)
        return err_set(err, STATUS_INPUT,
                       "%s has another delimiter or other columns than the inputs before it, and a file of "
                       "records has only one of each: print its records by themselves",
                       emitted->other);
    if (!line->passed && lines_bom(line->text, line->length))
        emitted_mark(emitted); /* else the file would lose the first bytes of the line */
    if (emitted->open)
        text_append_bytes(kept, "\n", 1);
    text_append_bytes(kept, (const char *)line->text, line->length);
    text_append_bytes(kept, (const char *)line->end, line->end_length);
    emitted->open = !line->end_length || line->end[line->end_length - 1] != '\n';
    emitted->lines += !line->passed && line->length;
    return (!emitted->certain &&
            (!emitted->lines || (emitted->lines < DIALECT_SAMPLE_LINES && kept->length < emitted->head))) ||
           emitted_end(emitted, err);
}
