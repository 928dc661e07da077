/* search: a place in what is sorted. */
#ifndef TIPPLE_BASE_SEARCH_H
#define TIPPLE_BASE_SEARCH_H

#include <stddef.h>

/* The first index AT of 0 to COUNT - 1 for which IS_BEFORE, an expression with AT in it, does not hold; COUNT: it holds for
 * all. It must hold for none behind one for which it does not. */
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
