/* base64: bytes from their text in base64, and back. */
#ifndef TIPPLE_FORMAT_VALUES_BASE64_H
#define TIPPLE_FORMAT_VALUES_BASE64_H

#include <stddef.h>
#include <stdint.h>

/* A text with = to a multiple of four, as it is written of these bytes and of no others. `out` has room for three bytes
 * of each four. Returns the end of what is written, or NULL: it is not base64. */
uint8_t *base64_read(const uint8_t *text, size_t length, uint8_t *out);

/* Writes four bytes for each three of them, the last ones with =. Returns the end. */
uint8_t *base64_write(const uint8_t *bytes, size_t length, uint8_t *out);

#endif
