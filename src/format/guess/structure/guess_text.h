/* guess_text: is it delimited text at all? */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_TEXT_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_TEXT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first two bytes that are no blanks; 0: there is none. */
void guess_first_bytes(const uint8_t *text, size_t length, uint8_t *first, uint8_t *second);
/* x.bson, x.bson.gz, a.tar!x.bson */
bool guess_is_named_bson(const char *name);
/* Refuses what is no delimited text of bytes. */
bool guess_is_text(const char *name, const uint8_t *text, size_t length, err_t *err);

/* Of a text whose lines, or some of them, end with CR CR LF. Returns false. */
bool guess_refuse_two_cr(const char *name, err_t *err);
/* Of one whose lines may end with CR alone. Returns false. */
bool guess_refuse_cr(const char *name, err_t *err);

/* How a text is shown in a sentence: the first characters. */
const char *guess_shown(char *out, size_t room, const char *text, size_t length);

#endif
