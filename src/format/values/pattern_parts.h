/* pattern_parts: the parts of date patterns that have no full width, or several spellings. Inside src/format/values only. */
#ifndef TIPPLE_FORMAT_VALUES_PATTERN_PARTS_H
#define TIPPLE_FORMAT_VALUES_PATTERN_PARTS_H

#include "format/values/pattern.h"

enum {
    PART_SHORT_YEAR = 'y',
    PART_MONTH = 'B', /* January */
    PART_MON = 'b',   /* Jan */
    PART_BARE_MONTH = 'n',
    PART_BARE_DAY = 'd',
    PART_BARE_HOUR = 'H',
    PART_FRACTION = 'F', /* as many digits as the part is wide */
    PART_OFFSET = 'Z',
    PART_HALF_DAY = 'A',
    PART_EPOCH_S = 'e',
    PART_EPOCH_MS = 'E',
};

/* As pattern_read and pattern_write, for a pattern that varies. */
bool pattern_parts_read(const pattern_t *pattern, const uint8_t *text, size_t length, int64_t *ms);
size_t pattern_parts_write(const pattern_t *pattern, int64_t ms, uint8_t *out);

#endif
