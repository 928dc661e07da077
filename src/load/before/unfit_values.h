/* unfit_values: values at the beginning of an input that are not of the types that a person has named (--type). */
#ifndef TIPPLE_LOAD_BEFORE_UNFIT_VALUES_H
#define TIPPLE_LOAD_BEFORE_UNFIT_VALUES_H

#include "format/schema/schema.h"

/* text[0, length): whole records from the input's beginning, with POOL_SLACK bytes before and after it. *line: what is to be
 * said, which the caller frees; NULL: all values fit. False: out of memory. */
bool unfit_values_find(const schema_t *schema, const char *name, const uint8_t *text, size_t length,
                       char **line, err_t *err);

#endif
