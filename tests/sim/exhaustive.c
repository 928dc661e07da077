#include "sim.h"

#undef malloc
#undef realloc
#undef free

const exhaustive_case_t exhaustive_cases[] = {
    {"two loads, one input of one block, one fault, one switch", 2, 1, 1, 1, true},
    {"two loads, one input of two blocks, one fault, one switch", 2, 2, 1, 1, false},
    {"two loads, one input of three blocks, no fault, three switches", 2, 3, 3, 0, false},
    {"two loads, one input of one block, one fault, three switches", 2, 1, 3, 1, false},
    {"two loads, one input of two blocks, one fault, two switches", 2, 2, 2, 1, false},
    {0},
};

/* The next list of choices in order: the last one that can be more becomes one more, and what came after it
 * is left out. False: there is none. */
static bool next_script(const choices_t *choices, uint8_t **script, size_t *count, size_t *room) {
    size_t at = choices->count;
    while (at && choices->list[at - 1].made + 1 >= choices->list[at - 1].of)
        at--;
    if (!at)
        return false;
    if (at > *room) {
        *room = 2 * at;
        *script = realloc(*script, *room);
    }
    for (size_t i = 0; i < at; i++)
        (*script)[i] = choices->list[i].made;
    (*script)[at - 1]++;
    *count = at;
    return true;
}

exhaustive_end_t exhaustive_run(world_t *world, choices_t *choices, const exhaustive_case_t *is,
                                double most_seconds, double (*seconds)(void), uint64_t *count) {
    const double began = seconds();
    uint8_t *script = NULL;
    size_t length = 0, room = 0;
    exhaustive_end_t end = EXHAUSTIVE_ALL;
    *count = 0;
    choices->limited = true;
    do {
        choices->switches = is->switches;
        choices->faults = is->faults;
        choices_begin(choices, script, length, false, 0);
        const bool ok = world_run(world, choices, false, is->loads, is->blocks);
        ++*count;
        if (!ok)
            end = EXHAUSTIVE_WRONG;
        else if (*count % 1024 == 0 && seconds() - began > most_seconds)
            end = EXHAUSTIVE_LATE;
    } while (end == EXHAUSTIVE_ALL && next_script(choices, &script, &length, &room));
    choices->limited = false;
    free(script);
    return end;
}
