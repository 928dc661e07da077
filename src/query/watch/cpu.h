/* cpu: how busy the cores of this host, and one of its processes, were, as the kernel counts it; and which host is this
 * one. Any thread. */
#ifndef TIPPLE_QUERY_WATCH_CPU_H
#define TIPPLE_QUERY_WATCH_CPU_H

#include <stdbool.h>
#include <stdint.h>

/* Ticks of all cores together. `user` includes processes with a nice value, and guests; `sys` includes interrupts. Time
 * that a hypervisor gave to others (steal) is in none of the four: this host did not have the cores then. So a share of
 * these four is a share of the time that this host had. */
typedef struct {
    uint64_t user, sys, iowait, idle;
} cpu_times_t;

typedef struct {
    char name[32];  /* "mongod" */
    uint64_t ticks; /* user and sys, of all of its threads */
} cpu_process_t;

/* False: the kernel does not report it, or there is no such process. */
bool cpu_host(cpu_times_t *times);
bool cpu_process(int64_t process, cpu_process_t *found);

double cpu_ticks_per_second(void); /* of one core */

/* From the text of /proc/stat and of /proc/PID/stat. False: the text is something else. */
bool cpu_parse_host(const char *text, cpu_times_t *times);
bool cpu_parse_process(const char *text, cpu_process_t *found);

/* Does this name, address or socket path lead to this machine? True for a loopback address, and for an address of one
 * of its own interfaces. May ask the network to resolve the name. */
bool host_is_here(const char *name);

#endif
