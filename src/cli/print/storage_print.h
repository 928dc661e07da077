/* storage_print: what `tipple tune --storage` found, for a person and for programs. stdout; main thread. */
#ifndef TIPPLE_CLI_PRINT_STORAGE_PRINT_H
#define TIPPLE_CLI_PRINT_STORAGE_PRINT_H

#include "study/tune/storage.h"

void storage_print_table(const storage_spec_t *spec, const storage_result_t *result);
void storage_print_json(const storage_spec_t *spec, const storage_result_t *result, int status);

/* The `tipple load` line that loads like a setting; free. */
char *storage_print_line(const storage_spec_t *spec, const storage_result_t *result, size_t setting);

#endif
