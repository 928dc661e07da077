/* source_with: source_open with a choice of library, for the tests, and what a kit holds. Internal to
 * src/input.
 */
#ifndef TIPPLE_INPUT_SOURCE_WITH_H
#define TIPPLE_INPUT_SOURCE_WITH_H

#include "input/decoder.h"
#include "input/source.h"

source_t *source_open_with(const input_file_t *file, inflate_engine_t engine, err_t *err);

struct source_kit {
    inflate_engine_t engine;
    decoder_t *spare[INPUT_STREAM + 1]; /* by kind: one that is not in use */
    source_t *archive;                  /* the packed tar that was read last, wherever it stands now */
    size_t piece;                       /* bytes to read at once; 0: as many as are good for all of a file */
    pool_t *pool;                       /* closed: nobody wants a stream's bytes any more; or NULL */
};

/* A decoder for INPUT_PLAIN, INPUT_GZIP or INPUT_ZSTD, as good as new; NULL: memory is out. */
decoder_t *source_kit_take(source_kit_t *kit, input_kind_t kind);
void source_kit_give(source_kit_t *kit, input_kind_t kind, decoder_t *decoder);

#endif
