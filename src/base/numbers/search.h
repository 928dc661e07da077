/* search: the place of a number or a key in a sorted array. */
#ifndef TIPPLE_BASE_NUMBERS_SEARCH_H
#define TIPPLE_BASE_NUMBERS_SEARCH_H

#include <stddef.h>

/* The first index AT of 0 to COUNT - 1 for which IS_BEFORE, an expression that uses AT, is false; COUNT if it is true
 * for all. Once IS_BEFORE is false for an index, it must be false for all later ones. */
#define SEARCH_FIRST(count, at, is_before)                                                                   \
    ({                                                                                                       \
        size_t search_low = 0, search_high = (count);                                                        \
        while (search_low < search_high) {                                                                   \
            const size_t at = search_low + (search_high - search_low) / 2;                                   \
            if (is_before)                                                                                   \
                search_low = at + 1;                                                                         \
            else                                                                                             \
                search_high = at;                                                                            \
        }                                                                                                    \
        search_low;                                                                                          \
    })

#endif
