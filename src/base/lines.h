/* lines: counting line ends fast. */
#ifndef TIPPLE_BASE_LINES_H
#define TIPPLE_BASE_LINES_H

#include <stddef.h>
#include <stdint.h>

uint64_t lines_count(const uint8_t *text, size_t length);

#endif
