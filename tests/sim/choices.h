/* choices: everything that a world leaves open is decided by these, one small number after another, so that a
 * world is its list of numbers: it can be run again, made shorter, and all small ones can be tried. Zero is
 * always what happens on a good day. */
#ifndef TIPPLE_SIM_CHOICES_H
#define TIPPLE_SIM_CHOICES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum {
    CHOICE_DETAIL, /* how something is done that was decided before */
    CHOICE_SWITCH, /* who goes on */
    CHOICE_FAULT,  /* something bad happens */
} choice_kind_t;

typedef struct {
    uint8_t made, of; /* 0 <= made < of */
    uint8_t kind;
} choice_t;

typedef struct {
    choice_t *list; /* those that were made */
    size_t count, room;
    const uint8_t *script; /* these come first; then random ones, or zeros */
    size_t script_count;
    bool random;
    uint64_t state;
    /* of an exhaustive search: how many choices of a kind may still differ from zero */
    bool limited;
    int switches, faults;
} choices_t;

void choices_begin(choices_t *choices, const uint8_t *script, size_t count, bool random, uint64_t seed);
/* 0 <= n < of, all alike; of <= 255 */
uint32_t choose(choices_t *choices, choice_kind_t kind, uint32_t of);
/* True so many times in a thousand; where that is 0, nothing is chosen. */
bool chance(choices_t *choices, choice_kind_t kind, uint32_t in_thousand);
/* 0 mostly; else 0 < n < of, so many times in a thousand. */
uint32_t seldom(choices_t *choices, choice_kind_t kind, uint32_t in_thousand, uint32_t of);

#endif
