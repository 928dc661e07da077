/* exhaustive: all worlds of a small kind: two loads, one input of three blocks, so many switches between them
 * and so many faults at most. Everything that is chosen after a fault (how it is done) is tried, too. */
#ifndef TIPPLE_SIM_EXHAUSTIVE_H
#define TIPPLE_SIM_EXHAUSTIVE_H

#include "sim.h"

typedef struct {
    const char *name;
    uint32_t loads;
    int switches, faults;
    bool quick; /* some seconds */
} exhaustive_case_t;

extern const exhaustive_case_t exhaustive_cases[]; /* the last one has no name */

typedef enum { EXHAUSTIVE_ALL, EXHAUSTIVE_LATE, EXHAUSTIVE_WRONG } exhaustive_end_t;

exhaustive_end_t exhaustive_run(world_t *world, choices_t *choices, const exhaustive_case_t *is,
                                double most_seconds, double (*seconds)(void), uint64_t *count);

#endif
