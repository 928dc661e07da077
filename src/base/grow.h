/* grow: arrays that are filled one item at a time; their room doubles whenever they are full. */
#ifndef TIPPLE_BASE_GROW_H
#define TIPPLE_BASE_GROW_H

#include "base/err.h"

/* For an array, not for a pointer. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Makes room for at least `needed` items in the array ITEMS, a pointer that may move and begins as NULL. ROOM is the
 * size_t that counts how many items it has room for. False: memory is out, nothing has changed, and err has the
 * sentence. err may be NULL if the caller has no use for a sentence. */
#define GROW(items, room, needed, err) grow_items(&(items), &(room), (needed), sizeof *(items), (err))

/* For when there is too little room. items: the address of the pointer. */
bool grow_beyond(void *items, size_t *room, size_t needed, size_t size, err_t *err);

/* Inline, because there is mostly room enough, and some callers ask for every field. */
static inline bool grow_items(void *items, size_t *room, size_t needed, size_t size, err_t *err) {
    return needed <= *room || grow_beyond(items, room, needed, size, err);
}

#endif
