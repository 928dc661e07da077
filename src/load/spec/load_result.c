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
    result->bad_fields = NULL;
    result->ambiguous_first = NULL;
    result->bad_field_count = result->bad_field_room = 0;
}
