/* piece: whole lines, or documents, of one place of an input, to look at before a load. */
#ifndef TIPPLE_LOAD_BEFORE_PIECE_H
#define TIPPLE_LOAD_BEFORE_PIECE_H

#include "base/threads/pool.h"
#include "format/record/dialect.h"
#include "input/manifest.h"
#include "input/source.h"

/* Bytes that are read at a place; the first one of a file must tell its dialect, too. */
enum { PIECE_FIRST = 64 * 1024, PIECE_LATER = 8 * 1024, PIECE_ROOM = PIECE_FIRST + 2 * POOL_SLACK };

typedef struct {
    const uint8_t *text; /* with POOL_SLACK bytes before and after it */
    uint32_t length;
    bool more; /* the input goes on behind it, as far as can be seen; its last record may be cut off */
} piece_t;

/* Reads at an offset that lies behind what the source has given. room: PIECE_ROOM bytes. *dialect is set at offset 0. False:
 * there is nothing, or it cannot be read here, which the load will say. */
bool piece_read(const schema_t *schema, const input_file_t *file, source_t *source, uint64_t offset,
                uint8_t *room, dialect_t *dialect, piece_t *piece);

#endif
