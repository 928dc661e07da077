#include "format/guess/column/guess_nearly.h"

#include <string.h>

enum { SOME = 3, A_MISFIT_IN = 20 };

/* A number that would lose its zeros or its plus sign is a code or a telephone number, and no mistake. */
static bool is_code(const uint8_t *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if ((text[i] < '0' || text[i] > '9') && (i || text[i] != '+'))
            return false;
    return true;
}

static void add_misfit(nearly_t *nearly, const uint8_t *text, size_t length) {
    if (!nearly->misfits++) {
        nearly->length = length < NEARLY_SHOWN ? length : NEARLY_SHOWN;
        memcpy(nearly->first, text, nearly->length);
    }
    nearly->ended = nearly->misfits > SOME + nearly->column.values / A_MISFIT_IN ||
                    (nearly->column.styles && is_code(text, length));
}

/* The column has been text for some time: does the value fit what it was before? */
static void add_to_others(nearly_t *nearly, const uint8_t *text, size_t length) {
    const column_t before = nearly->column;
    guess_column_add(&nearly->column, text, length);
    if (nearly->column.typed)
        return;
    nearly->column = before;
    add_misfit(nearly, text, length);
}

void guess_nearly_add(nearly_t *nearly, column_t *column, const uint8_t *text, size_t length) {
    if (!column->typed) {
        guess_column_add(column, text, length);
        if (!nearly->ended)
            add_to_others(nearly, text, length);
        return;
    }
    const column_t before = *column;
    guess_column_add(column, text, length);
    if (column->typed)
        return;
    nearly->column = before;
    add_misfit(nearly, text, length);
}

bool guess_nearly_decide(const nearly_t *nearly, decision_t *is) {
    if (!nearly->misfits || nearly->ended || nearly->column.values < nearly->misfits * A_MISFIT_IN)
        return false;
    *is = guess_column_decide(&nearly->column);
    return is->kind != KIND_TEXT && is->kind != KIND_TRIMMED && !is->unsure_decimal &&
           !(is->orders & (is->orders - 1));
}
