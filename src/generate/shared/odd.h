/* odd: which rows are odd, and how. Every oddity has one appointment in every so many rows, at a random one among
 * them or soon behind it where that is none for it: its share is exact, a file long enough has every kind, and the rows
 * between cost nothing. */
#ifndef TIPPLE_GENERATE_SHARED_ODD_H
#define TIPPLE_GENERATE_SHARED_ODD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char *text; /* "place=text|text...; place=text...", each text in turn; # is any digit */
    uint64_t every, turn, next;
    uint64_t bits; /* at random, of the row at hand */
} odd_t;

enum { ODD_MOST = 128 };

typedef struct {
    uint64_t key, next; /* the next odd row */
    size_t count;
    odd_t odd[ODD_MOST];
} odd_plan_t;

void odd_init(odd_plan_t *plan, uint64_t key);

/* "1000 place=text": one in so many, and how; the text stays where it is. */
void odd_add(odd_plan_t *plan, const char *line);

/* One change of a row: the text to stand at the place. After '?' or '!' (else 0) the row must have that there already, or
 * must not: false, it is not one for this. */
typedef bool odd_change_t(void *row, char asks, const char *place, const char *text);

/* Does what is odd about the row plan->next, and goes on to the next one. */
void odd_apply(odd_plan_t *plan, odd_change_t *change, void *row);

#endif
