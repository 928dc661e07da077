/* guess_structure: where the records of a text are, and what divides their fields. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H

#include "format/guess/structure/guess_cut.h"

bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, err_t *err);

#endif
