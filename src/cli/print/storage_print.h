/* storage_print: what `tipple tune --storage` found, for a person and for programs. stdout; main thread. */
#ifndef TIPPLE_CLI_PRINT_STORAGE_PRINT_H
#define TIPPLE_CLI_PRINT_STORAGE_PRINT_H

#include "cli/print/result.h"
#include "study/tune/storage.h"

void storage_make_result(bson_t *to, const storage_spec_t *spec, const storage_result_t *result);
void storage_print_table(const storage_spec_t *spec, const storage_result_t *result, const bson_t *document);

#endif
