/* load_print: what a load did, for the terminal. */
#ifndef TIPPLE_CLI_PRINT_LOAD_PRINT_H
#define TIPPLE_CLI_PRINT_LOAD_PRINT_H

#include "load/load.h"

#include <bson/bson.h>

/* status: what the load ends with; document: what load_make_result has made of the result. */
void load_print(const load_spec_t *spec, const load_result_t *result, int status, const bson_t *document);

#endif
