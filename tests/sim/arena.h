/* arena: the memory of one simulated world. Production code is compiled with malloc and its family replaced
 * by these, so that a load which is killed in the middle of a call leaves nothing, and a world is forgotten
 * at once. Under sanitizers each allocation is the system's own, so that they see what is used after it was
 * freed. */
#ifndef TIPPLE_SIM_ARENA_H
#define TIPPLE_SIM_ARENA_H

#include <stddef.h>
#include <stdint.h>

void *arena_malloc(size_t size);
void *arena_calloc(size_t count, size_t size);
void *arena_realloc(void *at, size_t size);
void arena_free(void *at);
char *arena_strdup(const char *text);

/* Everything is free again. */
void arena_reset(void);

#endif
