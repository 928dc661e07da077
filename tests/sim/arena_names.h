/* Included before everything else in what is simulated: its memory is the arena's. */
#ifndef TIPPLE_SIM_ARENA_NAMES_H
#define TIPPLE_SIM_ARENA_NAMES_H

#include "arena.h"

#include <stdlib.h>
#include <string.h>

#define malloc  arena_malloc
#define calloc  arena_calloc
#define realloc arena_realloc
#define free    arena_free
#undef strdup
#define strdup arena_strdup

#endif
