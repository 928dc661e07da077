/* drill_history: earlier drills of a target, as a table or as a document. stdout; main thread. */
#ifndef TIPPLE_CLI_PRINT_DRILL_HISTORY_H
#define TIPPLE_CLI_PRINT_DRILL_HISTORY_H

#include "cli/print/result.h"
#include "study/drill/drills.h"

/* `tipple drill --history`. Status. */
int drill_history(const char *uri, int64_t patience_ns, bool json, err_t *err);

result_put_t drill_put_entry, drill_put_forecast; /* of drills_entry_t, forecast_t */

/* "2026-11-20 22:31", as the clocks here show it. */
const char *drill_history_day(char out[32], int64_t when_ms);

#endif
