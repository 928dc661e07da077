/* draw: facts, odd records, and numbers as text, for all kinds of made-up records.
 *
 * Everything is computed in whole numbers, so that the same seed gives the same bytes on every machine. What the records
 * are made up from are facts: text files below src/builtin/generate that are compiled in. A line of facts is words
 * between blanks; it goes on where the next line begins with blanks, and # begins a remark.
 *
 * Odd records are appointed: every oddity has one record in `every`, at a random place among them, or soon after it where
 * the oddity does not fit that record. So its share is exact, a file long enough has every kind, and the records between
 * cost nothing.
 *
 * Each maker of records has its own facts and plan: nothing is shared between threads. */
#ifndef TIPPLE_GENERATE_DRAW_H
#define TIPPLE_GENERATE_DRAW_H

#include "base/err.h"
#include "base/numbers.h"

#include <string.h>

/* ---- facts ---- */

typedef struct {
    char *text; /* to be freed when nothing that was read is needed any more */
    char *next;
} facts_t;

/* False: there is no memory for it. */
bool facts_open(facts_t *facts, const char *name, err_t *err);

/* The next line, for facts_word and the like; NULL after the last. */
char *facts_line(facts_t *facts);

/* The next word of a line, "" at its end; *line is then the rest. Words stay in the text of the facts. */
char *facts_word(char **line);

/* The next word as a number; 0 at the end. */
int32_t facts_number(char **line);

/* "1990-2003": both numbers; "1990": the same one twice. They may be negative. */
void facts_range(char **line, int32_t *low, int32_t *high);

/* ---- odd records ---- */

typedef struct {
    const char *text; /* "place=text|text...; place=text...", each text in turn; # is any digit */
    uint64_t every, turn, next;
    uint64_t bits; /* at random, of the record at hand */
} odd_t;

enum { ODD_MOST = 128 };

typedef struct {
    uint64_t key, next; /* the next odd record */
    size_t count;
    odd_t odd[ODD_MOST];
} odd_plan_t;

void odd_init(odd_plan_t *plan, uint64_t key);

/* "1000 place=text": one in 1,000, and how; the text stays where it is. */
void odd_add(odd_plan_t *plan, const char *line);

/* One change of a record: the text to stand at the place. After '?' or '!' (else 0) the record must have that there
 * already, or must not: false, the record does not fit. */
typedef bool odd_change_t(void *record, char asks, const char *place, const char *text);

/* Changes the record plan->next, and appoints the next one. */
void odd_apply(odd_plan_t *plan, odd_change_t *change, void *record);

/* ---- whole numbers ---- */

/* Maps each x below the limit to another number below the limit: a permutation of the 31-bit numbers, repeated until the
 * result is below the limit. */
static inline uint32_t whole_scatter(uint32_t x, uint32_t key, uint32_t limit) {
    const uint32_t bits31 = 0x7fffffff;
    do {
        x ^= key & bits31;
        x ^= x >> 16;
        x = (x * 0x7feb352du) & bits31;
        x ^= x >> 15;
        x = (x * 0x846ca68bu) & bits31;
        x ^= x >> 16;
    } while (x >= limit);
    return x;
}

/* ---- numbers as text ---- */

/* The last `width` digits, with zeros in front; 0: all digits. Returns their end. */
static inline char *digits_put(char *to, uint64_t number, unsigned width) {
    uint64_t rest = width ? 0 : number;
    for (width += !width; rest > 9; rest /= 10)
        width++;
    for (unsigned i = width; i--; number /= 10)
        to[i] = (char)('0' + number % 10);
    return to + width;
}

#endif
