/* markup: a text that grows, and the one place where texts that others wrote become part of a page. Markup of
 * our own goes in as it is (markup_put), everything else escaped (markup_text): nothing in a page comes
 * another way. Main thread. Without memory for it the process ends with
 * status 8 and a sentence. */
#ifndef TIPPLE_REPORT_MARKUP_H
#define TIPPLE_REPORT_MARKUP_H

#include "base/text.h"

typedef struct {
    text_t text;
} markup_t; /* from {0} */

/* For free(); ends with a NUL that length (may be NULL) does not count. */
char *markup_take(markup_t *markup, size_t *length);

/* Our own words. Of what the format fills in, texts that others wrote must not be part. */
void markup_put(markup_t *markup, const char *own);
void markup_print(markup_t *markup, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Anybody's words, as text between tags or in a value between double quotes: & < > " ' are named, a control
 * character or what is no UTF-8 is U+FFFD, and a line end is a space. */
void markup_text(markup_t *markup, const char *text);
/* At most so many characters of them, and "…" in place of the rest. */
void markup_text_short(markup_t *markup, const char *text, size_t most);

#endif
