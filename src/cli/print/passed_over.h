/* passed_over: how many lines were no records by what the format says, for the terminal. */
#ifndef TIPPLE_CLI_PRINT_PASSED_OVER_H
#define TIPPLE_CLI_PRINT_PASSED_OVER_H

#include "base/text.h"
#include "format/record/record.h"

/* "no records: 3 lines skipped, 12 comment lines" */
void passed_over_tell(text_t *out, const passed_over_t *passed);

#endif
