/* fixed_encode: converts one record of fixed width, after fixed_walk, to a document. Inside src/format only. */
#ifndef TIPPLE_FORMAT_FIXED_FIXED_ENCODE_H
#define TIPPLE_FORMAT_FIXED_FIXED_ENCODE_H

#include "format/fixed/fixed_ops.h"
#include "format/fixed/fixed_walk.h"

/* Writes the elements of the document, without its length and end. It takes at most walk->worst bytes plus those of the
 * plan. */
uint8_t *fixed_encode(fixed_encoder_t *encoder, const fixed_walk_t *walk, uint8_t *out);

#endif
