/* blanks: the spaces around a text. */
#ifndef TIPPLE_FORMAT_VALUES_BLANKS_H
#define TIPPLE_FORMAT_VALUES_BLANKS_H

#include <stddef.h>
#include <stdint.h>

/* Leaves them out. Tabs stay. */
static inline void blanks_trim(const uint8_t **text, size_t *length) {
    while (*length && (*text)[0] == ' ')
        ++*text, --*length;
    while (*length && (*text)[*length - 1] == ' ')
        --*length;
}

#endif
