/* guess_middle: the first record of a text that begins with some line of a larger one, perhaps within quotes. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_MIDDLE_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_MIDDLE_H

#include "format/guess/structure/guess_cut.h"

/* NULL: none is found. schema: of the structure. split is used. */
const uint8_t *guess_middle(const structure_t *structure, const schema_t *schema, split_t *split,
                            const uint8_t *text, const uint8_t *end);

#endif
