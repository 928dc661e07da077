/* drill_history: earlier drills of a target, as a table or as JSON. stdout; main thread. */
#ifndef TIPPLE_CLI_PRINT_DRILL_HISTORY_H
#define TIPPLE_CLI_PRINT_DRILL_HISTORY_H

#include "study/drill/drills.h"

/* `tipple drill --history`. Status. */
int drill_history(const char *uri, int64_t patience_ns, bool json, err_t *err);

void drill_history_print_json_entry(const drills_entry_t *entry);

/* "2026-11-20 22:31", as the clocks here show it. */
const char *drill_history_day(char out[32], int64_t when_ms);

#endif
