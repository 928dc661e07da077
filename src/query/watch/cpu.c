#include "query/watch/cpu.h"
#include "base/host.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool cpu_parse_host(const char *text, cpu_times_t *times) {
    uint64_t user, nice, sys, idle, iowait = 0, irq = 0, softirq = 0;
    /* the columns after these are left out: steal, and guests, which user and nice already contain */
    if (sscanf(text, "cpu  %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64,
               &user, &nice, &sys, &idle, &iowait, &irq, &softirq) < 4 ||
        strncmp(text, "cpu ", 4) != 0)
        return false;
    *times = (cpu_times_t){user + nice, sys + irq + softirq, iowait, idle};
    return true;
}

bool cpu_parse_process(const char *text, cpu_process_t *found) {
    uint64_t user, sys;
    /* "17 (a (b) c) S 1 ...": a name may hold anything, but after its end there is no other ')' */
    const char *name = strchr(text, '('), *end = strrchr(text, ')');
    if (!name || !end || end < name ||
        sscanf(end + 1,
               " %*c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s"
               " %" SCNu64 " %" SCNu64,
               &user, &sys) != 2)
        return false;
    snprintf(found->name, sizeof found->name, "%.*s", (int)(end - name - 1), name + 1);
    found->ticks = user + sys;
    return true;
}

bool cpu_host(cpu_times_t *times) {
    char text[512];
    host_read_file("/proc/stat", text, sizeof text);
    return cpu_parse_host(text, times);
}

bool cpu_process(int64_t process, cpu_process_t *found) {
    char path[64], text[1024];
    snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", process);
    host_read_file(path, text, sizeof text);
    return cpu_parse_process(text, found);
}

double cpu_ticks_per_second(void) {
    return (double)sysconf(_SC_CLK_TCK);
}
