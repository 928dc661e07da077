/* memory: the driver's allocations. When the driver gets no memory it calls abort(); it cannot return a failure. The
 * command turns that into an end of its own: a sentence, and status 8. For the catalog this is a kill, which may come
 * at any moment. A library must not decide this for the program that uses it: only main does. */
#ifndef TIPPLE_SERVER_MEMORY_H
#define TIPPLE_SERVER_MEMORY_H

/* Call it before anything else uses the driver. */
void memory_guard_driver(void);

#endif
