/* guess_nearly: what a column would be without a few of its values. One mistyped date makes all of them text. */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_NEARLY_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_NEARLY_H

#include "format/guess/column/guess_column.h"

enum { NEARLY_SHOWN = 60 }; /* of the first value that does not fit */
typedef struct {
    column_t column; /* as if the values that do not fit were not there */
    uint64_t misfits;
    bool ended; /* there are too many of them */
    size_t length;
    uint8_t first[NEARLY_SHOWN];
} nearly_t;

/* Adds a value to both. */
void guess_nearly_add(nearly_t *nearly, column_t *column, const uint8_t *text, size_t length);
/* After all values. False: the column is what its values say, or they are too many that do not fit. */
bool guess_nearly_decide(const nearly_t *nearly, decision_t *is);

#endif
