/* limited: the first records of all inputs, as many as --limit allows, and no more. One thread's. */
#ifndef TIPPLE_LOAD_FEED_LIMITED_H
#define TIPPLE_LOAD_FEED_LIMITED_H

#include "format/records.h"
#include "load/blocks/block.h"

typedef struct {
    const schema_t *schema;
    uint64_t left; /* records; UINT64_MAX: there is no limit */
    bool about;    /* lines count for records as long as they are few */
    records_t *counter;
    records_place_t scratch;
} limited_t;

/* Cuts the block off behind the last record that is allowed: it is partial then. */
bool limited_cut(limited_t *limited, block_t *block, err_t *err);
void limited_free(limited_t *limited);

#endif
