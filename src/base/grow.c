#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_ROOM = 4 };

bool grow_beyond(void *items, size_t *room, size_t needed, size_t size, err_t *err) {
    size_t more = *room ? 2 * *room : FIRST_ROOM;
    more = more < needed ? needed : more;
    void *now;
    memcpy(&now, items, sizeof now); /* a pointer of any type */
    void *larger = realloc(now, more * size);
    if (!larger)
        return err && err_memory(err, more * size);
    memcpy(items, &larger, sizeof larger);
    *room = more;
    return true;
}
