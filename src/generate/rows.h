/* rows: records that are drawn as a file of src/builtin/generate says, row by row.
 *
 * A row sets a value, or writes text. Rows lie in blocks, which run from their first row to the last one:
 *
 *   let NAME                        a block begins
 *   report ROW 1-51 5 if CONDITION...  a block for those of that row of a table: its minutes, the usual quality of its
 *                                   numbers, and what must hold, or else it does nothing
 *   use NAME if CONDITION...        the rows of that block
 *   name if CONDITION... = STEP...  a value: the steps change a number, which begins as 0
 *   NAME if CONDITION...: FIELD...  text of the record
 *   table M N column... number...   M rows of N columns; a word before the numbers of a row names the row's number
 *   quality 5: 5*99|1               the shares of quality codes
 *   odd 1000 place=text             see draw.h
 *
 * A line goes on where the next one begins with a blank, and # begins a remark. "GA1-3,GE1" as the name of a row stands for
 * a row each; # in it is then the digit. A row without "if" always does its work; "else" or "else CONDITION..." in place of
 * "if" leaves it out where a row above did, back to the last one without an else.
 *
 * A CONDITION is a name (above 0), !name, name<3, name>=3, name=3, or 40% (by chance).
 *
 * A STEP is a number, a name, or a product of a number and up to two names (2.5*temp*share), and adds it. With a mark
 * before it, it does something else with the sum so far:
 *   1..6         adds a whole number from these; either end may be a name
 *   ~5           adds noise between -5 and 5, mostly near 0
 *   ?5           adds a part of 5 by chance
 *   column[name] adds the number in that row of the column
 *   column{}     the row at which the shares of the column reach that part of their sum
 *   *5 /5 %5     times, by, the rest by
 *   >=5 <=5      at least, at most
 *   .floor .sin .date   (of degrees; 20240131 of the days since 1970)
 *
 * NAME is + (it goes on where the row above ends, and is left out where that one is), a word in small letters (the first
 * row of a record), or the text before the fields: a section (AA1), a remark (MET, its length is added), an
 * element (Q01), QNN for the original observations; their markers (ADD, REM, EQD, QNN) come by themselves. A section
 * without fields holds what the format isd has room for.
 *
 * FIELDs stand between blanks; _ is a blank:
 *   temp:4         a step's number, rounded, in its last 4 digits, or in all of them (:0); nines for no number
 *     :+5 :!4      with a sign in the first place; with 1 for minus there, and 0 for plus
 *     :.3 :c       with up to 3 decimal places, as short as can be; the character of that code
 *     2%temp:4     no number in 2% of the records
 *   9*95|2*5       one of these texts, by their shares; 1 where nothing is said
 *   q q4           the quality of the last number: 9 if that is missing, else drawn from the usual codes; mostly 4
 *   MET            anything else is itself
 *
 * Only the four operations compute, so the same seed makes the same bytes on every machine. */
#ifndef TIPPLE_GENERATE_ROWS_H
#define TIPPLE_GENERATE_ROWS_H

#include "format/format.h"
#include "generate/draw.h"

enum {
    ROWS_VALUES = 256,
    ROWS_MOST = 4096,
    ROWS_STEPS = 1 << 14,
    ROWS_NUMBERS = 4096,
    ROWS_CHOICES = 1024,
    ROWS_BLOCKS = 128,
    ROWS_TEXT = 1 << 17
};

typedef struct {
    char code, sign;
    uint8_t width;
    uint16_t absent;            /* of 65,536: no number */
    uint32_t at;                /* a choice, or a column's name */
    double times;               /* the operand: times * *a * *b */
    const double *a, *b, *high; /* the end of a range */
} step_t;

/* Holds if the value, or a number below 100 by chance (NULL), is at least `low` and below `high`. */
typedef struct {
    const double *value;
    double low, high;
} condition_t;

typedef struct {
    double *value; /* to be set; NULL: the row writes text */
    const step_t *step, *step_end;
    const condition_t *condition, *condition_end;
    size_t skip;                     /* rows to leave out when a condition does not hold */
    bool always, goes_on, otherwise; /* no condition at all; "+"; "else" */
    const char *marker;              /* of the part of a record that it belongs to; "": the first one */
    uint8_t length;                  /* of the text before the fields */
    char id[4];
} row_t;

typedef struct {
    const char *title;
    size_t first, end; /* rows */
    /* of a report: the name of its senders (a row of a table), one of its minutes, and the usual quality */
    size_t sender;
    int32_t minute, last_minute;
    char usual;
} block_t;

typedef struct {
    const char *name;
    const double *first; /* of a column */
    size_t columns, height;
} name_t;

/* Drawn by 16 random bits: the first one whose bound is above them. */
typedef struct {
    uint32_t below;
    uint16_t length;
    const char *text;
} choice_t;

typedef struct {
    double value[ROWS_VALUES]; /* by name */
    double unused;             /* is set by rows that only skip others */
    uint64_t random;           /* the stream that chance comes from */
    char usual;                /* quality */

    size_t name_count, row_count, step_count, condition_count, number_count, choice_count, block_count,
        text_size;
    name_t name[ROWS_VALUES];
    row_t row[ROWS_MOST];
    step_t step[ROWS_STEPS];
    condition_t condition[ROWS_MOST];
    double number[ROWS_NUMBERS];
    choice_t choice[ROWS_CHOICES];
    block_t block[ROWS_BLOCKS];
    odd_plan_t odd;
    uint32_t mix[128]; /* by quality: its first choice */
    char text[ROWS_TEXT];
    facts_t file;
    schema_t *format; /* what sections there are */
} rows_t;

/* Reads a file of rows, which has the name of a format. The first names are those of `names` (ends with NULL), whose
 * values the caller sets. False: there is no memory. A mistake in the file is not found here. */
bool rows_read(rows_t *rows, const char *name, const char *const *names, err_t *err);

/* Of a maker that begins with its rows. */
void rows_end(void *maker);

/* The block of that title, which must be there. */
const block_t *rows_block(const rows_t *rows, const char *title);

/* Computes and writes what a block says; returns the end. */
char *rows_run(rows_t *rows, const block_t *block, char *to);

#endif
