/* The fields of the first record, which may name the columns, and lines behind it that are no records. */
#include "base/chars.h"
#include "format/guess/guess_inner.h"
#include "format/record/dialect.h"
#include "format/values/blanks.h"

#include <stdlib.h>
#include <string.h>

bool guess_is_word(const span_t *span) {
    const uint8_t *word = span->text;
    size_t letters = span->length;
    blanks_trim(&word, &letters);
    return guess_is_column_word((const char *)word, letters);
}

static bool keep_text(guess_column_t *column, const span_t *span, err_t *err) {
    free(column->text);
    if (!(column->text = calloc(1, span->length + 1)))
        return err_memory(err, span->length);
    memcpy(column->text, span->text, span->length);
    column->length = span->length;
    column->word = guess_is_word(span);
    return true;
}

bool guess_cut_first(guess_t *guess, err_t *err) {
    structure_t *structure = &guess->structure;
    const guess_line_t first = {guess->first, guess->first_length};
    if (!guess_split_line(guess, &first, err))
        return false;
    if (guess->split->count == structure->columns)
        structure->odd_header = structure->row_names = structure->unsure_names = false;
    guess->first_misfits = guess->split->count != structure->columns || !split_is_sound(guess->split);
    const size_t shift = structure->odd_header && structure->row_names;
    bool ok = true;
    for (size_t i = 0; ok && i < structure->columns; i++) {
        static const span_t none = {(const uint8_t *)"", 0, 0, 0};
        const bool named = i >= shift && i - shift < guess->split->count;
        ok = keep_text(&guess->columns[i], named ? &guess->split->spans[i - shift] : &none, err);
    }
    return ok;
}

/* ---- lines behind a header that are no records, but tell of the names above them ---- */

bool guess_is_of_digits(const char *text, size_t length) {
    while (length && text[length - 1] >= '0' && text[length - 1] <= '9')
        length--;
    return !length;
}

/* |---|--:|: so Markdown does, too. */
static bool is_markdown(const guess_t *guess, const guess_line_t *line) {
    for (size_t i = 0; i < line->length; i++)
        if (!strchr("-: |", line->text[i]) && line->text[i] != (uint8_t)guess->structure.way.delimiter)
            return false;
    return memmem(line->text, line->length, "--", 2) != NULL;
}

/* 5s 15s 20d: so RDB writes below each name how wide the column is, and its type. */
static bool is_of_widths(const guess_t *guess) {
    for (size_t i = 0; i < guess->split->count; i++) {
        const span_t *span = &guess->split->spans[i];
        if (span->length < 2 || !guess_is_of_digits((const char *)span->text, span->length - 1) ||
            !strchr("sdn", span->text[span->length - 1]))
            return false;
    }
    return guess->split->count > 1;
}

bool guess_is_underline(const guess_t *guess, const guess_line_t *line) {
    return dialect_is_underline(guess->schema, guess->structure.way.delimiter, line->text, line->length);
}

bool guess_underline_look(guess_t *guess, const guess_line_t *line, const uint8_t *text, bool second,
                          bool *is, err_t *err) {
    *is = guess_is_underline(guess, line);
    guess->records += *is;
    guess->underlines += *is;
    if (!second)
        return true;
    if (!*is && !guess_split_line(guess, line, err))
        return false;
    guess->widths = !*is && guess->structure.way.delimiter == '\t' && is_of_widths(guess);
    if (*is || guess->widths || (is_markdown(guess, line) && guess->split->count == guess->structure.columns))
        guess->underline = 1 + lines_count(text, (size_t)(line->text - text));
    return true;
}
