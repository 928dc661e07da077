/* meter: runs one command and writes what it cost.
 *
 *     meter [--cpu N] REPORT COMMAND [ARGUMENT...]
 *
 * REPORT becomes a line of JSON: seconds, user, system (with all reaped descendants), peak_bytes (of the
 * largest of them), status. A program this small because Linux counts the size of whoever starts a command
 * into the command's own peak, and because a large one takes longer to start it. The command dies with the
 * meter, the meter with its own parent. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (double)at.tv_sec + (double)at.tv_nsec / 1e9;
}

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof set, &set) != 0) {
        fprintf(stderr, "meter: CPU %d cannot be chosen: %s\n", cpu, strerror(errno));
        _exit(126);
    }
}

static _Noreturn void become(char **command, int cpu) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (cpu >= 0)
        pin(cpu);
    execvp(command[0], command);
    fprintf(stderr, "meter: %s cannot be started: %s\n", command[0], strerror(errno));
    _exit(127);
}

int main(int argc, char **argv) {
    int cpu = -1, at = 1;
    if (argc > 2 && strcmp(argv[1], "--cpu") == 0) {
        cpu = atoi(argv[2]);
        at = 3;
    }
    if (argc < at + 2) {
        fprintf(stderr, "meter [--cpu N] REPORT COMMAND [ARGUMENT...]\n");
        return 125;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    double start = now();
    pid_t child = fork();
    if (child == 0)
        become(argv + at + 1, cpu);
    int ended;
    struct rusage usage;
    while (child < 0 || wait4(child, &ended, 0, &usage) < 0)
        if (child < 0 || errno != EINTR)
            return perror("meter"), 125;
    double took = now() - start;
    int status = WIFEXITED(ended) ? WEXITSTATUS(ended) : 128 + WTERMSIG(ended);
    FILE *report = fopen(argv[at], "w");
    if (!report)
        return perror(argv[at]), 125;
    fprintf(report, "{\"seconds\":%.6f,\"user\":%.6f,\"system\":%.6f,\"peak_bytes\":%ld,\"status\":%d}\n",
            took, seconds(usage.ru_utime), seconds(usage.ru_stime), usage.ru_maxrss * 1024, status);
    return fclose(report) == 0 ? status : 125;
}
