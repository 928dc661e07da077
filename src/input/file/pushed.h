/* pushed: a stream that the program itself writes, piece by piece: a pipe in memory. One thread writes, and another one reads;
 * who writes waits while there is no room. */
#ifndef TIPPLE_INPUT_FILE_PUSHED_H
#define TIPPLE_INPUT_FILE_PUSHED_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct pushed pushed_t;

/* room: so many bytes are kept until they are read, at least 1. NULL: out of memory. */
pushed_t *pushed_new(size_t room);
void pushed_free(pushed_t *pushed); /* NULL: nothing is done */

/* Who writes. False: nobody reads any more, and the rest of the bytes was not taken. */
bool pushed_put(pushed_t *pushed, const void *bytes, size_t length);
void pushed_end(pushed_t *pushed); /* all is written */

/* Who reads. 1: there are bytes, or the end; 0: not yet. */
int pushed_wait(pushed_t *pushed, int milliseconds);
/* Without a wait: up to `size` bytes of what is there; 0: nothing is there, as at the end. */
ssize_t pushed_take(pushed_t *pushed, void *out, size_t size);
void pushed_leave(pushed_t *pushed); /* nobody reads any more */

#endif
