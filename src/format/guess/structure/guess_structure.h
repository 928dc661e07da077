/* guess_structure: where the records of a text are, and what divides their fields. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H

#include "format/guess/structure/guess_cut.h"

/* header_line: which line names the columns, as a person says; 0: nobody does. quote: see guess_options_t. */
bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, uint32_t header_line, const char *quote, err_t *err);

#endif
