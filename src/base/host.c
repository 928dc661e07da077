#include "base/host.h"

#include <stdio.h>
#include <sys/resource.h>

uint64_t host_peak_memory(void) {
    /* ru_maxrss is kept over exec, so it may be the shell's or script's that started us */
    FILE *status = fopen("/proc/self/status", "r");
    unsigned long long kilobytes = 0;
    char line[256];
    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "VmHWM: %llu kB", &kilobytes) == 1)
            break;
    if (status)
        fclose(status);
    struct rusage usage;
    if (!kilobytes && getrusage(RUSAGE_SELF, &usage) == 0)
        kilobytes = (unsigned long long)usage.ru_maxrss;
    return kilobytes * 1024;
}
