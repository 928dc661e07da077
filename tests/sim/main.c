/* simulate: tries worlds until the time is over, or one of them goes wrong; then makes that one small and
 * shows it. */
#include "sim.h"
#undef malloc
#undef calloc
#undef realloc
#undef free
#undef strdup

#include <stdio.h>
#include <time.h>

static world_t world;
static choices_t choices;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv) {
    double most = 10;
    uint64_t seed = (uint64_t)time(NULL) * 1000;
    uint32_t loads = 0;
    bool trace = false, one = false;
    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--seconds") && i + 1 < argc)
            most = atof(argv[++i]);
        else if (!strcmp(argv[i], "--seed") && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else if (!strcmp(argv[i], "--loads") && i + 1 < argc)
            loads = (uint32_t)atoi(argv[++i]);
        else if (!strcmp(argv[i], "--trace"))
            trace = true;
        else if (!strcmp(argv[i], "--one"))
            one = true;
    }
    const double began = seconds();
    uint64_t count = 0, steps = 0;
    for (uint64_t number = seed;; number++) {
        choices_begin(&choices, NULL, 0, true, number * 0x2545f4914f6cdd1dull);
        const bool ok = world_run(&world, &choices, trace, loads, false);
        count++;
        steps += world.steps;
        if (!ok) {
            printf("seed %llu: %s: %s (%llu steps, %zu choices)\n", (unsigned long long)number, world.what,
                   world.why, (unsigned long long)world.steps, choices.count);
            return 1;
        }
        if (one || seconds() - began > most)
            break;
    }
    printf("%llu worlds, %llu steps in %.1f s: all held\n", (unsigned long long)count,
           (unsigned long long)steps, seconds() - began);
    return 0;
}
