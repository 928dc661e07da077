/* fixed_ops: carries out what a plan says of one part of a record of fixed width, field by field. Inside src/format only. */
#ifndef TIPPLE_FORMAT_FIXED_FIXED_OPS_H
#define TIPPLE_FORMAT_FIXED_FIXED_OPS_H

#include "format/fixed/fixed_plan.h"

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

/* base: where the part begins, from which the ops count. Writes its elements. */
uint8_t *fixed_ops_run(fixed_encoder_t *encoder, const fixed_ops_t *ops, const uint8_t *base, uint8_t *out);

#endif
