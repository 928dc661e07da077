/* altered: how a stored document differs from the one that its record makes, for a person: the first field,
 * and both of its values. Pure. */
#ifndef TIPPLE_VERIFY_ALTERED_H
#define TIPPLE_VERIFY_ALTERED_H

#include <bson/bson.h>
#include <stdint.h>

enum { ALTERED_FIELD = 160, ALTERED_VALUE = 120 };

typedef struct {
    char field[ALTERED_FIELD]; /* "wind.speed.rate"; "" when only the order of the fields is another */
    /* extended JSON, shortened; "" where the field is not there */
    char stored[ALTERED_VALUE], expected[ALTERED_VALUE];
    uint32_t more; /* further fields that differ */
} altered_t;

void altered_describe(const uint8_t *expected, uint32_t expected_length, const uint8_t *stored,
                      uint32_t stored_length, altered_t *altered);

/* A value as extended JSON, shortened to `room`. */
void altered_print_value(const bson_iter_t *value, char *out, size_t room);

#endif
