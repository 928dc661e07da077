/* hex: bytes as texts and back: hexadecimal digits, ObjectIds, UUIDs, and base64. */
#ifndef TIPPLE_FORMAT_VALUES_HEX_H
#define TIPPLE_FORMAT_VALUES_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEX_OBJECTID = 12, HEX_UUID = 16, HEX_UUID_TEXT = 36 };

/* One or two digits. */
bool hex_read_byte(const uint8_t *text, size_t length, uint8_t *out);

/* Any even number of digits, into half as many bytes. capital: its letters are; without letters it is false. They must all
 * be small or all capital; NULL: they may be mixed. */
bool hex_read(const uint8_t *text, size_t length, uint8_t *out, bool *capital);
/* Two digits a byte, in small letters. Returns how many there are. */
size_t hex_print(const uint8_t *bytes, size_t count, uint8_t *out);

/* 32 digits in groups of 8, 4, 4, 4 and 12, with a dash between them. */
bool hex_read_uuid(const uint8_t *text, size_t length, uint8_t out[HEX_UUID], bool *capital);
size_t hex_print_uuid(const uint8_t bytes[HEX_UUID], uint8_t *out);

/* A text with = to a multiple of four, as it is written of these bytes and of no others. `out` has room for three bytes
 * of each four. Returns the end of what is written, or NULL: it is not base64. */
uint8_t *base64_read(const uint8_t *text, size_t length, uint8_t *out);

/* Writes four bytes for each three of them, the last ones with =, and a NUL. Returns the end, where the NUL is. */
uint8_t *base64_write(const uint8_t *bytes, size_t length, uint8_t *out);

#endif
