/* changed: how a stored document differs from the one that its record makes, for a person: the first field,
 * and both of its values. Pure. */
#ifndef TIPPLE_VERIFY_COMPARE_CHANGED_H
#define TIPPLE_VERIFY_COMPARE_CHANGED_H

#include <bson/bson.h>
#include <stdint.h>

enum { CHANGED_FIELD = 160, CHANGED_VALUE = 120 };

typedef struct {
    char field[CHANGED_FIELD]; /* "wind.speed.rate"; "" when only the order of the fields is another */
    /* extended JSON, shortened; "" where the field is not there */
    char stored[CHANGED_VALUE], expected[CHANGED_VALUE];
    uint32_t more; /* further fields that differ */
} changed_t;

/* One value as extended JSON, cut off with "..." where there is no room. */
void changed_value(const bson_iter_t *value, char out[CHANGED_VALUE]);

void changed_describe(const uint8_t *expected, uint32_t expected_length, const uint8_t *stored,
                      uint32_t stored_length, changed_t *changed);

#endif
