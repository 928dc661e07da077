/* spare: decoders that a thread keeps for the next input of their kind. An inflater's tables and windows are some
 * 90 KB, a file may have less than one. */
#ifndef TIPPLE_INPUT_DECODE_SPARE_H
#define TIPPLE_INPUT_DECODE_SPARE_H

#include "input/decode/decoder.h"

/* Begins as zeros, but for the engine. */
typedef struct {
    inflate_engine_t engine;
    decoder_t *by_kind[INPUT_STREAM + 1]; /* one that is not in use, or NULL */
} spare_t;

/* A decoder for INPUT_PLAIN, INPUT_GZIP or INPUT_ZSTD, as good as new; NULL: memory is out. */
decoder_t *spare_take(spare_t *spare, input_kind_t kind);
void spare_give(spare_t *spare, input_kind_t kind, decoder_t *decoder);
void spare_free(spare_t *spare); /* what it holds */

#endif
