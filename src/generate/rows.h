/* rows: records that are drawn as a file of src/builtin/generate says, row by row.
 *
 * A row sets a value, or writes text. Rows lie in blocks, which run from their first row to the last one:
 *
 *   let NAME                        a block begins
 *   report NAME 1 51 5 if CONDITION...  a block of several of that name: its first and last minute, the usual
 *                                   quality of its numbers, and what must hold, or else it does nothing
 *   use NAME if CONDITION...        the rows of that block
 *   name if CONDITION... = STEP...  a value: the steps change a number, which begins as 0
 *   NAME if CONDITION...: FIELD...  text of the record
 *   table N column... cell...       rows of N columns; a cell is a number or a text, and " is the cell above
 *   quality 5: 5*99|1               the shares of quality codes
 *   odd 1000 place=text             see draw.h
 *   when CONDITION line             the line is read only if that holds now
 *
 * A line goes on where the next one begins with a blank, and # begins a remark. "GA1-3,GE1" as the name of a row stands for
 * a row each; # in it is then the digit. A row without "if" always does its work; "else" or "else CONDITION..." in place of
 * "if" leaves it out where a row above did, back to the last one with "if".
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
 * element (Q01); their markers (ADD, REM, EQD) come by themselves. A section
 * without fields holds what the format isd has room for.
 *
 * FIELDs stand between blanks; for signs in texts see plain_text:
 *   temp:4         a step's number, rounded, in its last 4 digits, or in all of them (:0); nines for no number
 *     :+5 :!4      with a sign in the first place; with 1 for minus there, and 0 for plus
 *     :.3          with up to 3 decimal places, as short as can be
 *     2%temp:4     no number in 2% of the records
 *   column[name]   the text in that row of the column
 *   9*95|2*5       one of these texts, by their shares; 1 where nothing is said
 *   q q4           the quality of the last number: 9 if that is missing, else drawn from the usual codes; mostly 4
 *   MET            anything else is itself
 *
 * The file becomes a program, read once: steps that compute or write, and conditions that leave out the steps to the end
 * of their row. Only the four operations compute, so the same seed makes the same bytes on every machine. */
#ifndef TIPPLE_GENERATE_ROWS_H
#define TIPPLE_GENERATE_ROWS_H

#include "format/schema/schema.h"
#include "generate/draw.h"

enum {
    ROWS_NAMES = 256,
    ROWS_VALUES = 1 << 13, /* of names, then numbers */
    ROWS_STEPS = 1 << 15,
    ROWS_CELLS = 1 << 14,
    ROWS_CHOICES = 1024,
    ROWS_BLOCKS = 128,
    ROWS_TEXT = 1 << 18,
    ROWS_GUIDE = 1024
};

typedef struct {
    uint32_t at, length; /* in the text of the rows */
} phrase_t;

typedef struct {
    double number;
    phrase_t text;
} cell_t;

typedef struct {
    const cell_t *first; /* its next one is `columns` further */
    size_t columns;
    shares_t shares;
    uint32_t guide[ROWS_GUIDE + 1];
} column_t;

/* The row must be there. */
static inline const cell_t *column_at(const column_t *column, double row) {
    return &column->first[(size_t)row * column->columns];
}

/* Drawn by 16 random bits: the first one whose bound is above them. */
typedef struct {
    uint32_t below;
    phrase_t text;
} choice_t;

/* All rows are one list of steps, that of a block without a gap. What they refer to are indices. */
typedef struct {
    uint8_t code, width, row; /* `row`: in the first condition of a row, what kind of row that is */
    char sign;
    bool puts;     /* writes what has been computed */
    uint16_t set;  /* the value that is set to what has been computed; 0: none */
    uint16_t a, b; /* values: the operand is times * a * b */
    /* of a range, its end; of a condition, what a must be below; a column; the first of several choices; a marker */
    uint16_t at;
    /* of a condition: steps to leave out if it does not hold, 0: all; of what is absent, its share of 65,536 */
    uint16_t skip;
    double times;   /* of a condition: the least a */
    phrase_t after; /* the text after what the step writes; of a part: before its fields */
} step_t;

typedef struct {
    const char *title;
    size_t first, end; /* steps */
    /* of a report, whose title is the name of its senders: one of its minutes, and the usual quality */
    int32_t minute, last_minute;
    char usual;
} block_t;

typedef struct {
    double value[ROWS_VALUES]; /* by name; the first one is always 1, and the names begin after it */
    uint64_t random;           /* the stream that chance comes from */
    char usual;                /* quality */

    uint32_t name_count, number_count, step_count, cell_count, choice_count, block_count, text_size;
    const char *name[ROWS_NAMES];
    column_t column[ROWS_NAMES]; /* by name */
    step_t step[ROWS_STEPS];
    cell_t cell[ROWS_CELLS];
    double below[ROWS_CELLS]; /* the sums of columns */
    choice_t choice[ROWS_CHOICES];
    block_t block[ROWS_BLOCKS];
    odd_plan_t odd;
    uint16_t mix[128];    /* by quality: its first choice */
    char text[ROWS_TEXT]; /* of the file, and of the rows in it that stand for several */
    schema_t *format;     /* what sections there are */
} rows_t;

/* Reads a file of rows, which has the name of a format. The first names are those of `names` (ends with NULL), whose
 * values the caller sets. False: there is no memory. A mistake in the file is not found here. */
bool rows_read(rows_t *rows, const char *name, const char *const *names, err_t *err);

/* Of a maker that begins with its rows. */
void rows_end(void *maker);

/* Writes the names of the first columns that the format has. */
char *rows_header(const rows_t *rows, size_t columns, char delimiter, char *to);

/* The block of that title, which must be there. */
const block_t *rows_block(const rows_t *rows, const char *title);

/* Computes and writes what a block says; returns the end. */
char *rows_run(rows_t *rows, const block_t *block, char *to);

#endif
