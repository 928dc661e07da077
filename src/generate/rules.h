/* rules: records that follow from formulas, as a file of src/builtin/generate writes them down.
 *
 * A file of rules is read once and becomes operations on a stack of numbers. Its lines:
 *
 *   let NAME                        a block begins
 *   report ROW 1-51 5 if CONDITION...  a block for those of that row of a table: its minutes, the usual quality of its
 *                                   numbers, and what must hold, or else it writes nothing
 *   name = FORMULA                  computed here, and kept until it is computed again
 *   name := FORMULA                 computed wherever the name is used
 *   use NAME                        the lines of that block
 *   table N column... number...     N columns, row by row; a word before the numbers of a row names the row's number
 *   quality 5: 5*99|1               the shares of quality codes
 *   odd 1000 place=text             see draw.h
 *   NAME if CONDITION...: FIELD...  text of the record (below); `NAME else: ` and `NAME else CONDITION...: ` say it when no
 *                                   line above said it, back to the last one without an else
 *
 * A line goes on where the next one begins with a blank, and # begins a remark. "GA1-3,GE1" as the name of a line or of a
 * number stands for a line each; # in it is then the digit.
 *
 * NAME is + (it goes on where the line above ends, and is left out where that one is), a word in small letters (the first
 * line of a record), or the text before the fields: a section (AA1), a remark (MET, its length is added), an
 * element (Q01), QNN for the original observations; their markers (ADD, REM, EQD, QNN) come by themselves. A section
 * without fields holds what the format isd has room for.
 *
 * FIELDs stand between blanks; _ is a blank:
 *   formula:4      the number, rounded, in 4 digits, or in all of them (:0); nines for no number
 *     :+5          with a sign in the first place
 *     :.3 :c       with up to 3 decimal places, as short as can be; the character of that code
 *   9*95|2*5       one of these texts, by their shares; 1 where nothing is said
 *   q q4           the quality of the last number: 9 if that is missing, else drawn from the usual codes; mostly 4
 *   MET            anything else is itself
 *
 * FORMULA: numbers, names (used below the line that computes them), column[row], column{part} (the row at which the shares
 * of the column reach that part of their sum), 40% (1 by chance, else 0), 2..7 (a whole number from these), ( ), - ! * / + -
 * < > >= = and a ? b : c; floor, sin (of degrees), noise (between -x and x, mostly near 0), date (20240131 of
 * the days since 1970), min, max and mod. 0/0 is no number. A CONDITION holds unless it is 0.
 *
 * Only the four operations and floor compute, so the same seed makes the same bytes on every machine. */
#ifndef TIPPLE_GENERATE_RULES_H
#define TIPPLE_GENERATE_RULES_H

#include "format/format.h"
#include "generate/draw.h"

enum {
    RULES_VALUES = 256,
    RULES_OPERATIONS = 1 << 15,
    RULES_NUMBERS = 8192,
    RULES_CHOICES = 1024,
    RULES_BLOCKS = 64,
    RULES_TEXT = 1 << 17
};

typedef struct {
    uint8_t code, width, sign;
    bool flag;
    uint32_t at;        /* a value, column, choice or text; how far a jump goes */
    const double *from; /* the operand; NULL: what the stack has on top */
    const double *left; /* of a binary one; NULL: below it */
} operation_t;

typedef struct {
    const char *title;
    size_t first, end; /* operations */
    /* of a report: the name of its senders (a row of a table), one of its minutes, and the usual quality */
    size_t sender;
    int32_t minute, last_minute;
    char usual;
} block_t;

typedef struct {
    const char *name;
    const char *formula;        /* after := */
    size_t first, step, height; /* a column's numbers; height 0: it is no column */
} name_t;

/* Drawn by 16 random bits: the first one whose bound is above them. */
typedef struct {
    uint32_t below;
    uint16_t length;
    const char *text;
} choice_t;

typedef struct {
    double *value;   /* by name; the caller may exchange the array */
    uint64_t random; /* the stream that chance comes from */
    char usual;      /* quality */

    size_t name_count, operation_count, number_count, choice_count, block_count, text_size;
    name_t name[RULES_VALUES];
    operation_t operation[RULES_OPERATIONS];
    double number[RULES_NUMBERS], own[RULES_VALUES];
    choice_t choice[RULES_CHOICES];
    block_t block[RULES_BLOCKS];
    odd_plan_t odd;
    uint16_t mix[128]; /* by quality: its first choice */
    char text[RULES_TEXT];
    facts_t file;
    schema_t *format;  /* what sections there are */
    const char *at;    /* in the formula at hand */
    const char *wrong; /* the first words that were not understood */
} rules_t;

/* Reads a file of rules, which has the name of a format. The first names are those of `names` (ends with NULL), whose
 * values the caller sets. False: there is no memory, or the file has a mistake. */
bool rules_read(rules_t *rules, const char *name, const char *const *names, err_t *err);

void rules_end(rules_t *rules);

/* The block of that title, which must be there. */
const block_t *rules_block(const rules_t *rules, const char *title);

/* The index of a name; RULES_VALUES: there is none. */
size_t rules_name(const rules_t *rules, const char *name);

/* Computes and writes what a block says; returns the end. NULL: a condition of the report does not hold. */
char *rules_run(rules_t *rules, const block_t *block, char *to);

#endif
