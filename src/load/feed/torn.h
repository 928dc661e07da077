/* torn: the last record of a file that may grow, where it has no line end: it is sent by itself, when the catalog knows of
 * it. */
#ifndef TIPPLE_LOAD_FEED_TORN_H
#define TIPPLE_LOAD_FEED_TORN_H

#include "load/threads/load_state.h"

/* Cuts it off its input's last block. torn->block: a block of this record alone, or NULL: there is none. *block becomes NULL
 * where it was nothing else. */
bool torn_cut(const schema_t *schema, pool_t *pool, block_t **block, news_t *torn, err_t *err);

#endif
