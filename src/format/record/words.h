/* words: finds a field's text among the words that its format lists. */
#ifndef TIPPLE_FORMAT_RECORD_WORDS_H
#define TIPPLE_FORMAT_RECORD_WORDS_H

#include "format/schema/schema.h"

/* Which of the words the text is, from 0; -1: none. A text that is not UTF-8 may be one in the encoding. */
int words_find(const texts_t *words, encoding_t encoding, const uint8_t *text, size_t length);

#endif
