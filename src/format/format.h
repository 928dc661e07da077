/* format: opens formats by name: a built-in one, or a file of the user. */
#ifndef TIPPLE_FORMAT_FORMAT_H
#define TIPPLE_FORMAT_FORMAT_H

#include "format/schema/schema.h"

/* name: "mot", or a path (it contains '/' or ends in .yaml or .yml). For an unknown name, the sentence has the closest
 * known one. Failure: status 1. */
schema_t *format_open(const char *name, err_t *err);

#endif
