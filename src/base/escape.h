/* escape: somebody else's text (a header, a value, a file's name) where it cannot do harm. On a terminal a control
 * character is a command; in JSON it, and whatever is not UTF-8, is a mistake. */
#ifndef TIPPLE_BASE_ESCAPE_H
#define TIPPLE_BASE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

enum { ESCAPE_PIECE = 12 };

/* What stands for the character at the start of [at, at + left), as a string; returns how many bytes it took, at
 * least one. On a terminal \x1b stands for a byte of a control character or of what is not UTF-8; line ends, too. */
size_t escape_shown(const uint8_t *at, size_t left, char piece[ESCAPE_PIECE]);

/* Within a JSON string \u001b stands for a control character, and U+FFFD for a byte that is not UTF-8. */
size_t escape_json(const uint8_t *at, size_t left, char piece[ESCAPE_PIECE]);

/* All of a text as on a terminal; what does not fit is left out, a whole character at a time. Returns out. */
char *escape_text(char *out, size_t room, const char *text, size_t length);

/* All of a text of ours that holds theirs: line ends stay. out has room for four times the text and a NUL. */
void escape_lines(char *out, const char *text, size_t length);

#endif
