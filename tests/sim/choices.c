#include "choices.h"

#include <stdlib.h>

static uint64_t next(uint64_t *state) {
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

void choices_begin(choices_t *choices, const uint8_t *script, size_t count, bool random, uint64_t seed) {
    choices->count = 0;
    choices->script = script;
    choices->script_count = count;
    choices->random = random;
    choices->state = seed;
}

static uint32_t note(choices_t *choices, choice_kind_t kind, uint32_t made, uint32_t of) {
    if (choices->count == choices->room) {
        choices->room = choices->room ? 2 * choices->room : 4096;
        choices->list = realloc(choices->list, choices->room * sizeof *choices->list);
        if (!choices->list)
            abort();
    }
    choices->list[choices->count++] = (choice_t){(uint8_t)made, (uint8_t)of, (uint8_t)kind};
    if (made && kind == CHOICE_SWITCH)
        choices->switches--;
    if (made && kind == CHOICE_FAULT)
        choices->faults--;
    return made;
}

/* In an exhaustive search what may not be anything else is no choice. */
static bool is_closed(const choices_t *choices, choice_kind_t kind) {
    return choices->limited && ((kind == CHOICE_SWITCH && choices->switches <= 0) ||
                                (kind == CHOICE_FAULT && choices->faults <= 0));
}

uint32_t choose(choices_t *choices, choice_kind_t kind, uint32_t of) {
    if (of <= 1 || is_closed(choices, kind))
        return 0;
    uint32_t made = 0;
    if (choices->count < choices->script_count)
        made = choices->script[choices->count] % of;
    else if (choices->random)
        made = (uint32_t)((next(&choices->state) >> 32) * of >> 32);
    return note(choices, kind, made, of);
}

uint32_t seldom(choices_t *choices, choice_kind_t kind, uint32_t in_thousand, uint32_t of) {
    if (!in_thousand || of <= 1 || is_closed(choices, kind))
        return 0;
    uint32_t made = 0;
    if (choices->count < choices->script_count) {
        made = choices->script[choices->count] % of;
    } else if (choices->random) {
        const uint64_t number = next(&choices->state);
        if ((uint32_t)(number & 0xffffffff) < in_thousand * 4294967u)
            made = 1 + (uint32_t)((number >> 32) * (of - 1) >> 32);
    }
    return note(choices, kind, made, of);
}

bool chance(choices_t *choices, choice_kind_t kind, uint32_t in_thousand) {
    return seldom(choices, kind, in_thousand, 2) == 1;
}
