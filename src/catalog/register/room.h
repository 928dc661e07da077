/* room: how many of a collection's numbers an input takes when it is registered. */
#ifndef TIPPLE_CATALOG_REGISTER_ROOM_H
#define TIPPLE_CATALOG_REGISTER_ROOM_H

#include "format/record/record_id.h"
#include "input/file/input_file.h"

/* The most text that it can hold, in whole units of extents. A bound of 0 means unknown, unless the input is simply
 * empty. */
static inline uint64_t room_units(const input_file_t *input) {
    uint64_t bytes = input->text_bound;
    if (!bytes && input->kind != INPUT_PLAIN && input->kind != INPUT_ZIP_MEMBER)
        bytes = RECORD_ID_STREAM_PIECE;
    uint64_t units = bytes / RECORD_ID_EXTENT_UNIT + (bytes % RECORD_ID_EXTENT_UNIT != 0);
    return units ? units : 1;
}

/* How many ordinals it takes. A plain file takes so many that the next file's lanes continue where its own end. Files
 * then share the lanes as evenly as if they were one file. Only the number modulo the lanes counts. */
static inline uint64_t room_ordinals(const input_file_t *input) {
    uint64_t windows = input->kind == INPUT_PLAIN
                           ? (input->text_bound + RECORD_ID_BLOCK_BYTES - 1) / RECORD_ID_BLOCK_BYTES
                           : 0;
    return windows ? (windows - 1) % RECORD_ID_LANES + 1 : 1;
}

#endif
