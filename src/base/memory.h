/* memory: the driver's allocations. It ends the process where it gets no memory, by abort(), and nobody can ask it
 * to return instead. The command makes that end one of its own: the sentence, and status 8. To the catalog it is a
 * kill, which may come at any moment. A library must not choose so for the program it is part of: only main does. */
#ifndef TIPPLE_BASE_MEMORY_H
#define TIPPLE_BASE_MEMORY_H

/* Before anything else asks the driver for something. */
void memory_guard_driver(void);

#endif
