/* facts: the data that records are made up from: text files below src/builtin/generate, compiled in. A line is words
 * between blanks; it goes on where the next begins with blanks, and # begins a remark. */
#ifndef TIPPLE_GENERATE_SHARED_FACTS_H
#define TIPPLE_GENERATE_SHARED_FACTS_H

#include "base/err.h"

#include <stdint.h>

typedef struct {
    char *text; /* to be freed when nothing that was read is needed any more */
    char *next;
} facts_t;

/* False: there is no memory for it. */
bool facts_open(facts_t *facts, const char *name, err_t *err);

/* The next line, to be taken apart; NULL after the last. */
char *facts_line(facts_t *facts);

/* The next word of a line, "" at its end; *line is then the rest. They stay where they are. */
char *facts_word(char **line);

/* The next word as a number; 0 at the end. */
int32_t facts_number(char **line);

/* "1990-2003": both; "1990": twice the same. Negative ones are possible. */
void facts_range(char **line, int32_t *low, int32_t *high);

#endif
