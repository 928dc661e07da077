/* markup: a text that grows, and the only place where texts of others become part of a page. Our own markup is added
 * unchanged (markup_put), everything else is escaped (markup_text). Main thread. If memory is out, the process ends
 * with status 8 and a sentence. */
#ifndef TIPPLE_REPORT_MARKUP_H
#define TIPPLE_REPORT_MARKUP_H

#include "base/text.h"

typedef struct {
    text_t text;
} markup_t; /* begins as {0} */

/* The caller frees the text. It ends with a NUL that length (may be NULL) does not count. */
char *markup_take(markup_t *markup, size_t *length);

/* Adds our own words. What the format inserts must not contain texts of others. */
void markup_put(markup_t *markup, const char *own);
void markup_print(markup_t *markup, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds any text, as text between tags or as a value in double quotes: & < > " ' become entities; a control character,
 * or a byte that is not UTF-8, becomes U+FFFD; a line end becomes a space. */
void markup_text(markup_t *markup, const char *text);
/* At most `most` characters of it, and "…" in place of the rest. */
void markup_text_short(markup_t *markup, const char *text, size_t most);

#endif
