/* draw: odd records, shares, and numbers as text, for all kinds of made-up records. Everything is the same on every machine.
 *
 * Odd records are appointed: every oddity has one record in `every`, at a random place among them, or soon after it where
 * the oddity does not fit that record. So its share is exact, a file long enough has every kind, and the records between
 * cost nothing.
 *
 * Each maker of records has its own plan: nothing is shared between threads. */
#ifndef TIPPLE_GENERATE_DRAW_H
#define TIPPLE_GENERATE_DRAW_H

#include "base/numbers.h"

#include <string.h>

/* ---- odd records ---- */

/* A word of a data file as the text that it stands for, in place: _ is a blank, % a pipe, ~ the letter E with an acute accent
 * in Latin-1, and ^ ends the text. */
char *plain_text(char *word);

typedef struct {
    const char *text; /* "place=text|text...; place=text...", each text in turn; # is any digit */
    uint64_t every, turn, next;
    uint64_t bits; /* at random, of the record at hand */
} odd_t;

enum { ODD_MOST = 128, ODD_TEXTS = 64 };

typedef struct {
    uint64_t key, next; /* the next odd record */
    size_t count;
    odd_t odd[ODD_MOST];
} odd_plan_t;

/* "1000 place=text": one in 1,000, and how; the text stays where it is. */
void odd_add(odd_plan_t *plan, const char *line);

/* One change of a record: the text to stand at the place. After '?' or '!' (else 0) the record must have that there
 * already, or must not: false, the record does not fit. */
typedef bool odd_change_t(void *record, char asks, const char *place, const char *text);

/* Changes the record plan->next, and appoints the next one. */
void odd_apply(odd_plan_t *plan, odd_change_t *change, void *record);

/* Random bits as a number from 0 to below 1. */
static inline double part_of(uint64_t bits) {
    return (double)(bits >> 11) * (1.0 / (double)(UINT64_C(1) << 53));
}

/* ---- shares ---- */

/* Numbers from 0 on, each as often as its share says. */
typedef struct {
    const double *below; /* by number: its share and all before it */
    uint32_t *guide;     /* by step: the first number of the parts from there on; one more for the end */
    size_t count, steps; /* the steps are a power of 2 */
} shares_t;

/* Sets the guide by the shares. */
void shares_guide(const shares_t *shares);

/* The number at which the shares reach this part of their sum, which is below 1. */
static inline size_t shares_at(const shares_t *shares, double part) {
    const uint32_t *guide = &shares->guide[(size_t)(part * (double)shares->steps)];
    const double place = part * shares->below[shares->count - 1];
    size_t low = guide[0], high = guide[1];
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (place < shares->below[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* ---- numbers as text ---- */

/* The last `width` digits, with zeros in front; 0: all digits. Returns their end. */
static inline char *digits_put(char *to, uint64_t number, unsigned width) {
    static const char pairs[] = "0001020304050607080910111213141516171819202122232425262728293031323334"
                                "3536373839404142434445464748495051525354555657585960616263646566676869"
                                "707172737475767778798081828384858687888990919293949596979899";
    if (!width)
        for (uint64_t limit = width = 1; number >= (limit *= 10);)
            width++;
    char *at = to + width;
    for (; at - to > 1; number /= 100)
        memcpy(at -= 2, pairs + 2 * (number % 100), 2);
    if (at > to)
        *to = (char)('0' + number % 10);
    return to + width;
}

#endif
