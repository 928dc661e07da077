/* bytes: reads numbers as gzip, zip and zstd write them, knows padding, and computes the CRC-32 that gzip and zip share. */
#ifndef TIPPLE_INPUT_FILE_BYTES_H
#define TIPPLE_INPUT_FILE_BYTES_H

#include <isa-l/crc.h>
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

/* crc: 0 at first, then what the call before returned. */
static inline uint32_t bytes_crc32(uint32_t crc, const uint8_t *bytes, size_t size) {
    return crc32_gzip_refl(crc, bytes, size);
}

#endif
