/* host: what this machine and process have. */
#ifndef TIPPLE_BASE_HOST_HOST_H
#define TIPPLE_BASE_HOST_HOST_H

#include "base/err.h"

#include <stdint.h>

/* May this process open so many files and connections more? The limit is raised as far as it may be.
 * Status 8. */
bool host_want_descriptors(uint64_t count, err_t *err);

/* Is there one for a connection more, at this moment? Status 8. */
bool host_has_descriptors(err_t *err);

/* The most memory that this process ever held; 0 where the system does not tell. */
uint64_t host_peak_memory(void);

/* Names the kernel and its table of processes: where the name is the same, a process number means the same.
 * "" when it cannot be told. */
enum { HOST_PROCESSES = 128 };
void host_processes(char name[HOST_PROCESSES]);

/* Does this name, or address, or socket's path lead to this machine? True for a loopback address, and for one
 * of its own interfaces. May ask the network what a name means. */
bool host_is_here(const char *name);

/* A process of the table `processes` that is no longer there. here: the table of this host (host_processes);
 * of another one it cannot be told, and this is false. */
bool host_is_gone(const char *here, const char *processes, int64_t process);

#endif
