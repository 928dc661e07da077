/* exhaustive: all worlds of a small kind: two loads, one input of a few blocks, so many switches from one load to the
 * other and so many faults at most. A switch is after a message, or when a load has to wait and not the usual one goes
 * on. A fault: a message that never arrives, is executed without a reply, stays under way (and is executed later, once or
 * twice), or is executed and once more later; a load that dies, with a message under way or without, or is suspended until
 * nobody else can go on. Everything that is chosen after a fault (how it is done) is tried, too. Worlds that cannot
 * differ are tried once: a load dies or sleeps right after what it did last, and reads are lost in one way. */
#ifndef TIPPLE_SIM_EXHAUSTIVE_H
#define TIPPLE_SIM_EXHAUSTIVE_H

#include "sim.h"

typedef struct {
    const char *name;
    uint32_t loads, blocks;
    int switches, faults;
    bool quick; /* some seconds */
} exhaustive_case_t;

extern const exhaustive_case_t exhaustive_cases[]; /* the last one has no name */

typedef enum { EXHAUSTIVE_ALL, EXHAUSTIVE_LATE, EXHAUSTIVE_WRONG } exhaustive_end_t;

exhaustive_end_t exhaustive_run(world_t *world, choices_t *choices, const exhaustive_case_t *is,
                                double most_seconds, double (*seconds)(void), uint64_t *count);

#endif
