#include "load/spec/load_result.h"

#include <stdlib.h>

void load_result_free(load_result_t *result) {
    misfits_free(&result->skipped);
    free(result->guessed);
    result->guessed = NULL;
    for (size_t i = 0; i < result->bad_field_count; i++)
        free(result->bad_fields[i].places);
    free(result->bad_fields);
    free(result->ambiguous_first);
    for (size_t i = 0; i < result->column_count; i++) {
        free(result->columns[i].name);
        free(result->columns[i].file);
    }
    free(result->columns);
    result->columns = NULL;
    result->column_count = result->column_room = 0;
    result->bad_fields = NULL;
    result->ambiguous_first = NULL;
    result->bad_field_count = result->bad_field_room = 0;
}
