/* spare: decoders that a thread keeps for the next input of the same kind. The tables and windows of an inflater are
 * about 90 KB; a file may be smaller than 1 KB. */
#ifndef TIPPLE_INPUT_DECODE_SPARE_H
#define TIPPLE_INPUT_DECODE_SPARE_H

#include "input/decode/decoder.h"

/* Begins as zeros, except the engine. */
typedef struct {
    inflate_engine_t engine;
    decoder_t *by_kind[INPUT_STREAM + 1]; /* a decoder that is not in use, or NULL */
} spare_t;

/* A decoder for INPUT_PLAIN or a compressed kind, ready for a new input; NULL: memory is out. */
decoder_t *spare_take(spare_t *spare, input_kind_t kind);
void spare_give(spare_t *spare, input_kind_t kind, decoder_t *decoder);
void spare_free(spare_t *spare); /* frees the decoders */

#endif
