#include "format/record/words.h"

#include <string.h>

int words_find(const texts_t *words, encoding_t encoding, const uint8_t *text, size_t length) {
    for (size_t i = 0; i < words->count; i++) {
        const schema_text_t *word = &words->items[i];
        if ((word->length == length && memcmp(word->text, text, length) == 0 &&
             (encoding_keeps_utf8(encoding) || !length)) ||
            (encoding && length &&
             encoding_begins(encoding, (const uint8_t *)word->text, word->length, text, length, false) ==
                 length))
            return (int)i;
    }
    return -1;
}
