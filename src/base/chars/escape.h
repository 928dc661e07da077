/* escape: makes text of others (a header, a value, a file name) harmless. On a terminal a control character is a
 * command; in JSON a control character, or a byte that is not UTF-8, is an error. */
#ifndef TIPPLE_BASE_CHARS_ESCAPE_H
#define TIPPLE_BASE_CHARS_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

enum { ESCAPE_PIECE = 12 };

/* Writes the character at the start of [at, at + left) as a string to `piece`. Returns how many bytes the character
 * has, at least one. On a terminal, \x1b is written for each byte of a control character (a line end is one, too) and
 * for each byte that is not UTF-8, and \u202e for a character that ends a line or turns the direction of a text. */
size_t escape_shown(const uint8_t *at, size_t left, char piece[ESCAPE_PIECE]);

/* The same within a JSON string: \u001b for a control character, U+FFFD for a byte that is not UTF-8. */
size_t escape_json(const uint8_t *at, size_t left, char piece[ESCAPE_PIECE]);

/* A whole text, escaped for a terminal. What does not fit is left out, a whole character at a time. Returns out. */
char *escape_text(char *out, size_t room, const char *text, size_t length);

/* A whole text of our own that contains text of others: line ends are kept. out has room for four times the text and a
 * NUL. */
void escape_lines(char *out, const char *text, size_t length);

/* A text that was printed by this format: a line end in it is ours if the format has line ends, or if it begins a line
 * that is indented, as lists of ours are. Each other one came with a text of others, which could begin a line that looks
 * like a sentence of ours: it becomes \x0a. What has no room behind it then is left out. */
void escape_line_ends(char *text, size_t room, const char *format);

#endif
