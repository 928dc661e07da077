/* fixed_encode: converts one record of fixed width, after fixed_walk, to a document. Inside src/format only. */
#ifndef TIPPLE_FORMAT_FIXED_FIXED_ENCODE_H
#define TIPPLE_FORMAT_FIXED_FIXED_ENCODE_H

#include "format/fixed/fixed_walk.h"

typedef struct {
    const fixed_plan_t *plan;
    const uint8_t *record;
    uint32_t length;
    bool high; /* the record holds bytes beyond ASCII */
    uint32_t made;
    uint64_t kept_as_text;
    uint64_t day_text; /* the last record's date as text, and as days since 1970 */
    int32_t day;
} fixed_encoder_t;

/* Writes the elements of the document, without its length and end. It takes at most walk->worst bytes plus those of the
 * plan. */
uint8_t *fixed_encode(fixed_encoder_t *encoder, const fixed_walk_t *walk, uint8_t *out);

#endif
