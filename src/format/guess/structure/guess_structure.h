/* guess_structure: where the records of a text are, and what divides their fields. */
#ifndef TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H
#define TIPPLE_FORMAT_GUESS_STRUCTURE_GUESS_STRUCTURE_H

#include "format/guess/structure/guess_cut.h"

/* What a person says of it: see guess_options_t. header_line 0: nobody says which line names the columns. */
typedef struct {
    uint32_t header_line;
    const char *quote;
    char delimiter;
} structure_said_t;

/* What divides, in the words of a person: a sign, two colons, tab, \x01, blanks (' '), or none ('\n'). */
enum { GUESS_DELIMITERS = 9, GUESS_TWO_COLONS = '\x03' };
extern const char *const guess_delimiter_words[];
extern const char guess_delimiter_signs[GUESS_DELIMITERS]; /* of the words */
const char *guess_delimiter_word(char delimiter); /* NULL: nobody can say it */
/* Of a way: GUESS_TWO_COLONS where two divide. */
char guess_way_sign(const way_t *way);

bool guess_find_structure(structure_t *structure, const char *name, const uint8_t *text, size_t length,
                          bool whole, const structure_said_t *said, err_t *err);

/* Of one text: is each line a record, rather than what quotes make of several, by the columns of numbers and dates? */
bool guess_tells_more(const structure_t *lines, const structure_t *quoted);

/* Does it look like a field in quotes, but for the blanks before it? Whole, or torn at the delimiter in its quotes. */
bool guess_is_behind_blank(const span_t *span, char quote);
bool guess_refuse_behind_blank(const char *name, const uint8_t *text, size_t length, err_t *err);

#endif
