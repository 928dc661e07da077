/* hex: the texts of ObjectIds and UUIDs. Their letters are all small or all capital, so that a text comes back from its
 * bytes and one bit. */
#ifndef TIPPLE_FORMAT_VALUES_HEX_H
#define TIPPLE_FORMAT_VALUES_HEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HEX_OBJECTID = 12, HEX_UUID = 16, HEX_UUID_TEXT = 36 };

/* 24 digits. capital: its letters are; without letters it is false. */
bool hex_read_objectid(const uint8_t *text, size_t length, uint8_t out[HEX_OBJECTID], bool *capital);
size_t hex_print_objectid(const uint8_t bytes[HEX_OBJECTID], bool capital, uint8_t *out);

/* 32 digits in groups of 8, 4, 4, 4 and 12, with a dash between them. */
bool hex_read_uuid(const uint8_t *text, size_t length, uint8_t out[HEX_UUID], bool *capital);
size_t hex_print_uuid(const uint8_t bytes[HEX_UUID], bool capital, uint8_t *out);

#endif
