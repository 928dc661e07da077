/* host: what this machine and this process have. What the kernel does not report is "", 0, or not refused. */
#ifndef TIPPLE_BASE_HOST_H
#define TIPPLE_BASE_HOST_H

#include "base/err.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* May this process open `count` more files and connections? Raises the limit as far as allowed. Failure: status 8, and the
 * options to lower, such as "--threads". */
bool host_want_descriptors(const char *options, uint64_t count, err_t *err);

/* May it open one more connection right now? Failure: status 8. */
bool host_has_descriptors(err_t *err);

/* May it start one more thread right now, as the driver does to look for a server? Failure: status 8. */
bool host_has_threads(err_t *err);

/* The most memory that this process ever held; 0 if it is not known. */
uint64_t host_peak_memory(void);

/* The beginning of a file of the kernel, such as /proc/stat; "" if it cannot be read. */
void host_read_file(const char *path, char *text, size_t size);

/* Names the kernel and its process table: where this name is the same, a process number means the same process. "" if
 * it is not known. */
enum { HOST_PROCESSES = 128 };
void host_processes(char name[HOST_PROCESSES]);

/* The file of authorities that this system keeps at a place where OpenSSL, if it was built on another one, does not look.
 * False: OpenSSL finds some by itself, or there are none. `root` comes before each path: "", except in a test. */
bool host_find_authorities(const char *root, char path[PATH_MAX]);

#endif
