/* guess_structure: where the records of a text are, and what divides their fields. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H

#include "format/guess/structure/guess_cut.h"

/* What a person says of it: see guess_options_t. header_line 0: nobody says which line names the columns. */
typedef struct {
    uint32_t header_line;
    const char *quote;
    char delimiter;
} structure_said_t;

bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, const structure_said_t *said, err_t *err);

#endif
