#include "format/record/words.h"
#include "base/utf8.h"

#include <string.h>

int words_find(const texts_t *words, bool latin1, const uint8_t *text, size_t length) {
    for (size_t i = 0; i < words->count; i++) {
        const schema_text_t *word = &words->items[i];
        if ((word->length == length && memcmp(word->text, text, length) == 0) ||
            (latin1 && length &&
             utf8_begins_in_latin1((const uint8_t *)word->text, word->length, text, length, false) == length))
            return (int)i;
    }
    return -1;
}
