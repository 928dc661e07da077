/* The fields of the first record, which may name the columns. */
#include "format/guess/guess_inner.h"

#include <stdlib.h>
#include <string.h>

static bool keep_text(guess_column_t *column, const span_t *span, err_t *err) {
    free(column->text);
    if (!(column->text = calloc(1, span->length + 1)))
        return err_memory(err, span->length);
    memcpy(column->text, span->text, span->length);
    column->length = span->length;
    const char *word = column->text;
    size_t letters = column->length;
    for (; letters && *word == ' '; word++)
        letters--;
    column->word = guess_is_column_word(word, letters);
    return true;
}

bool guess_cut_first(guess_t *guess, err_t *err) {
    structure_t *structure = &guess->structure;
    if (!split_record(guess->split, guess->schema, structure->way.delimiter, guess->first,
                      guess->first_length))
        return err_memory(err, guess->first_length);
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
