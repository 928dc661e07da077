/* hand_out: the pieces that feeders are to read next, from the main thread to the feeders. Any thread. */
#ifndef TIPPLE_LOAD_FEED_HAND_OUT_H
#define TIPPLE_LOAD_FEED_HAND_OUT_H

#include "load/threads/load_state.h"

typedef struct hand_out hand_out_t;

/* Of these files. The loading's main thread is woken when the feeders have nothing left to do. NULL: out of
 * memory. */
hand_out_t *hand_out_new(load_file_t *files, size_t count, uint32_t feeders, load_state_t *loading);
void hand_out_free(hand_out_t *hand_out); /* NULL is allowed */

/* One more, by its number; in the order in which they are to be read. more: the next one of its stream will follow at
 * once; nobody gets any of them before, so that one feeder reads them in one pass. */
void hand_out_add(hand_out_t *hand_out, size_t number, bool more);

/* The next ones, [*first, *end): one, or those of one stream, which are read in one pass; some of these may not
 * be ours. Waits for them; false: there will be no more. */
bool hand_out_next(hand_out_t *hand_out, size_t *first, size_t *end);
/* Does not wait; false: there are none just now. */
bool hand_out_try(hand_out_t *hand_out, size_t *first, size_t *end);

/* No more are given out; threads that wait return at once. */
void hand_out_close(hand_out_t *hand_out);

/* How many wait to be read. */
size_t hand_out_waiting(hand_out_t *hand_out);
/* Nothing waits, and all feeders do. */
bool hand_out_is_idle(hand_out_t *hand_out);

#endif
