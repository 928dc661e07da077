/* format: formats by name: the built-in ones, or a file of the user's own. */
#ifndef TIPPLE_FORMAT_FORMAT_H
#define TIPPLE_FORMAT_FORMAT_H

#include "format/schema/schema.h"

/* "mot", or a path (it has a '/' or ends in .yaml or .yml). An unknown name names the nearest one. Status 1.
 */
schema_t *format_open(const char *name, err_t *err);

#endif
