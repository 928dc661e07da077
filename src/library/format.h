/* format: what a format of the library is. */
#ifndef TIPPLE_LIBRARY_FORMAT_H
#define TIPPLE_LIBRARY_FORMAT_H

#include "format/schema/schema.h"
#include "tipple/tipple.h"

struct tipple_format {
    schema_t *schema;
    char *name; /* by which it was opened; NULL: it was guessed */
    char *text; /* its file, if it was guessed */
};

#endif
