/* host: what this machine and process have. */
#ifndef TIPPLE_BASE_HOST_H
#define TIPPLE_BASE_HOST_H

#include <stdint.h>

/* The most memory that this process ever held; 0 where the system does not tell. */
uint64_t host_peak_memory(void);

#endif
