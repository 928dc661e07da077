/* shrink: makes a world that goes wrong small, by trying whether it still does when some of its choices are
 * zero, or left out. And how a world is kept in a file. */
#ifndef TIPPLE_SIM_SHRINK_H
#define TIPPLE_SIM_SHRINK_H

#include "sim.h"

typedef struct {
    uint8_t *bytes; /* by malloc; after the last one there are only zeros */
    size_t count;
} script_t;

/* How many worlds it took. */
size_t shrink(world_t *world, choices_t *choices, script_t *script, uint32_t loads, uint32_t small);

/* A text: "loads N", "small 0" (or so many blocks), "wrong WHAT", then "at PLACE VALUE" for each choice that is not zero. */
bool script_save(const script_t *script, const char *path, uint32_t loads, uint32_t small, const char *what);
bool script_read(script_t *script, const char *path, uint32_t *loads, uint32_t *small);

#endif
