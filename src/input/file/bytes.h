/* bytes: reads and writes numbers as zip does, the lowest byte first, and knows padding. */
#ifndef TIPPLE_INPUT_FILE_BYTES_H
#define TIPPLE_INPUT_FILE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t bytes_le16(const uint8_t *p) {
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t bytes_le32(const uint8_t *p) {
    return bytes_le16(p) | (uint32_t)bytes_le16(p + 2) << 16;
}

static inline uint64_t bytes_le64(const uint8_t *p) {
    return bytes_le32(p) | (uint64_t)bytes_le32(p + 4) << 32;
}

static inline bool bytes_are_zero(const uint8_t *bytes, size_t size) {
    return !size || (!bytes[0] && memcmp(bytes, bytes + 1, size - 1) == 0);
}

static inline void bytes_put_le64(uint8_t *out, uint64_t value) {
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(value >> 8 * i);
}

#endif
