/* grow: arrays that are filled one by one, and get twice the room whenever they are full. */
#ifndef TIPPLE_BASE_GROW_H
#define TIPPLE_BASE_GROW_H

#include "base/err.h"

/* Of an array, not of a pointer. */
#define COUNT(array) (sizeof(array) / sizeof *(array))

/* Room for at least `needed` items in the array ITEMS, a pointer that may move and begins as NULL; ROOM is the size_t that
 * counts how many it has room for. False: memory is out, nothing has changed, and err has the sentence. err may
 * be NULL, for who has no sentence to say. */
#define GROW(items, room, needed, err) grow_items(&(items), &(room), (needed), sizeof *(items), (err))

/* There is not room enough. items: the address of the pointer. */
bool grow_beyond(void *items, size_t *room, size_t needed, size_t size, err_t *err);

/* Mostly there is room enough: some ask for every field. */
static inline bool grow_items(void *items, size_t *room, size_t needed, size_t size, err_t *err) {
    return needed <= *room || grow_beyond(items, room, needed, size, err);
}

#endif
