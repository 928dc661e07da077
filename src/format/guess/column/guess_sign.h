/* guess_sign: signs and words of two letters at most, if they are windows-1252: such as it has anywhere, or such as other
 * encodings would give? */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_SIGN_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_SIGN_H

#include "format/guess/column/guess_word.h"

/* Of a run as guess_word has it: WORD_PLAIN, WORD_UNSURE or WORD_ODD. */
guess_word_t guess_sign(const uint8_t *word, size_t length, uint8_t before, uint8_t after);

#endif
