/* odd: which rows are odd, and how. Every oddity has one appointment in every so many rows, at a random one among
 * them or soon behind it where that is none for it: its share is exact, a file long enough has every kind, and the rows
 * between cost nothing. */
#ifndef TIPPLE_GENERATE_SHARED_ODD_H
#define TIPPLE_GENERATE_SHARED_ODD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    const char
        *text; /* what is odd: "place=text|text...; place=text...", each text in turn; # is any digit */
    uint64_t every, turn, next;
    uint64_t bits; /* at random, of the row at hand */
} odd_t;

enum { ODD_MOST = 128, ODD_WORD = 128 };

typedef struct {
    uint64_t key, next; /* the next odd row */
    size_t count;
    odd_t odd[ODD_MOST];
} odd_plan_t;

void odd_init(odd_plan_t *plan, uint64_t key);
void odd_add(odd_plan_t *plan, uint64_t every, const char *text);

/* "1000 place=text": every and text. */
void odd_read(odd_plan_t *plan, char *line);

/* Does what is odd about the row plan->next, and goes on to the next one. `apply` returns false when the row is not
 * one for it. */
void odd_apply(odd_plan_t *plan, bool (*apply)(void *row, odd_t *odd), void *row);

/* The next change of an oddity from *at on, which begins at its text: the place, and the text that is to stand there. */
bool odd_change(odd_t *odd, const char **at, char place[ODD_WORD], char text[ODD_WORD]);

#endif
