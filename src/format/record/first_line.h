/* first_line: the first line that is not blank of the text that was examined last. Thousands of similar files begin
 * with the same line, and what depends only on that line need not be found again. */
#ifndef TIPPLE_FORMAT_RECORD_FIRST_LINE_H
#define TIPPLE_FORMAT_RECORD_FIRST_LINE_H

#include "format/schema/schema.h"

/* Empty at first. A line that is too long is not kept. */
typedef struct {
    size_t length; /* with a CR at its end; 0: there is none */
    uint8_t line[2000];
} first_line_t;
void first_line_note(first_line_t *first, const schema_t *schema, const uint8_t *text, size_t length);
bool first_line_is(const first_line_t *first, const schema_t *schema, const uint8_t *text, size_t length);

#endif
