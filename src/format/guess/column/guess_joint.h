/* guess_joint: quotes, dashes and blanks between two letters, if they are windows-1252: such as join two words or stand in
 * one, as in don’t, Paris–Lyon, or letters of other encodings, as in Garc’a, Espa–a, M laga (García, España, Málaga)? */
#ifndef TIPPLE_FORMAT_GUESS_COLUMN_GUESS_JOINT_H
#define TIPPLE_FORMAT_GUESS_COLUMN_GUESS_JOINT_H

#include "format/guess/column/guess_word.h"

/* word[at] is ’ ‘ – — or a blank that does not break lines, and stands between two letters. */
bool guess_is_odd_joint(const uint8_t *word, size_t length, size_t at);

#endif
