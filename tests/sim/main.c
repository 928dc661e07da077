/* simulate: tries worlds until one of them goes wrong; then makes that one small and shows it.
 *
 *   simulate [--worlds N] [--seconds N] [--seed S] [--loads N]   random worlds from seed S on: N of them, or as many as the
 *                                                                time allows; without --worlds from a fresh seed
 *   simulate --one --seed S [--trace]                            one of them
 *   simulate --quiet ...                                         without making small what went wrong
 *   simulate --exhaustive [--quick] [--seconds N]                all small ones
 *   simulate FILE...                                             worlds that were kept, see seeds/ */
#include "sim.h"

/* memory of our own, not of a world's */
#undef malloc
#undef realloc
#undef free

#include <stdio.h>
#include <time.h>

static world_t world;
static choices_t choices;

typedef struct {
    double seconds;
    uint64_t seed, worlds; /* worlds: 0: as many as the time allows */
    uint32_t loads;
    bool has_seed, trace, one, exhaustive, quick, quiet;
    const char *save;
} options_t;

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool usage(void) {
    fprintf(stderr,
            "usage: simulate [--worlds N] [--seconds N] [--seed S] [--loads 1..%d] [--one] [--trace] "
            "[--exhaustive] [--quick] [--quiet] [--save FILE] [FILE...]\n",
            SIM_LOADS);
    return false;
}

static bool read_options(options_t *options, int argc, char **argv, int *at) {
    for (*at = 1; *at < argc && argv[*at][0] == '-'; ++*at) {
        const char *name = argv[*at], *value = *at + 1 < argc ? argv[*at + 1] : NULL;
        if (!strcmp(name, "--trace"))
            options->trace = true;
        else if (!strcmp(name, "--quick"))
            options->quick = true;
        else if (!strcmp(name, "--quiet"))
            options->quiet = true;
        else if (!strcmp(name, "--one"))
            options->one = true;
        else if (!strcmp(name, "--exhaustive"))
            options->exhaustive = true;
        else if (!value)
            return usage();
        else if (!strcmp(name, "--seconds"))
            options->seconds = strtod(value, NULL), ++*at;
        else if (!strcmp(name, "--worlds"))
            options->worlds = strtoull(value, NULL, 10), ++*at;
        else if (!strcmp(name, "--seed"))
            options->seed = strtoull(value, NULL, 10), options->has_seed = true, ++*at;
        else if (!strcmp(name, "--loads"))
            options->loads = (uint32_t)strtoul(value, NULL, 10), ++*at;
        else if (!strcmp(name, "--save"))
            options->save = value, ++*at;
        else
            return usage();
    }
    return options->loads <= SIM_LOADS || usage();
}

static uint64_t state_of(uint64_t seed) {
    return seed * 0x2545f4914f6cdd1du + 0x9e3779b97f4a7c15u;
}

/* Shows a world that went wrong, once made small. */
static void show(const options_t *options, const uint8_t *script, size_t count, uint32_t small) {
    script_t is = {.bytes = malloc(count + 1), .count = count};
    memcpy(is.bytes, script, count);
    const size_t tries = shrink(&world, &choices, &is, options->loads, small);
    printf("made smaller in %zu tries; what is left of it:\n", tries);
    choices_begin(&choices, is.bytes, is.count, false, 0);
    world_run(&world, &choices, true, options->loads, small);
    printf("%s: %s\n", world.what, world.why);
    if (options->save && !script_save(&is, options->save, options->loads, small, world.what))
        fprintf(stderr, "simulate: %s cannot be written\n", options->save);
    free(is.bytes);
}

static int random_worlds(const options_t *options) {
    const double began = seconds();
    uint64_t count = 0, steps = 0, seed = options->seed;
    printf("seed %llu\n", (unsigned long long)seed);
    fflush(stdout);
    for (;; seed++) {
        choices_begin(&choices, NULL, 0, true, state_of(seed));
        const bool ok = world_run(&world, &choices, options->one && options->trace, options->loads, 0);
        count++;
        steps += world.steps;
        if (!ok) {
            printf("seed %llu, world %llu: %s: %s\n", (unsigned long long)seed, (unsigned long long)count,
                   world.what, world.why);
            fflush(stdout);
            uint8_t *script = malloc(choices.count + 1);
            const size_t made = choices.count;
            for (size_t i = 0; i < made; i++)
                script[i] = choices.list[i].made;
            if ((!options->one && !options->quiet) || options->save)
                show(options, script, made, 0);
            free(script);
            if (!options->quiet)
                printf("again: tools/simulate --one --trace --seed %llu\n", (unsigned long long)seed);
            return 1;
        }
        if (options->one ||
            (options->worlds ? count == options->worlds : seconds() - began > options->seconds))
            break;
    }
    printf("%llu worlds, %llu steps, %.0f worlds a second: all held\n", (unsigned long long)count,
           (unsigned long long)steps, (double)count / (seconds() - began + 1e-9));
    return 0;
}

static int kept_worlds(const options_t *options, char **files, int count) {
    int wrong = 0;
    for (int i = 0; i < count; i++) {
        script_t script = {0};
        uint32_t loads;
        uint32_t small;
        if (!script_read(&script, files[i], &loads, &small)) {
            fprintf(stderr, "simulate: %s cannot be read\n", files[i]);
            return 2;
        }
        choices_begin(&choices, script.bytes, script.count, false, 0);
        if (!world_run(&world, &choices, options->trace, loads, small)) {
            printf("%s: %s: %s\n", files[i], world.what, world.why);
            wrong++;
        }
        free(script.bytes);
    }
    printf("%d kept worlds, %d went wrong\n", count, wrong);
    return wrong ? 1 : 0;
}

static int all_small_worlds(const options_t *options) {
    bool in_time = true;
    for (const exhaustive_case_t *is = exhaustive_cases; is->name; is++) {
        if (options->quick && !is->quick)
            continue;
        uint64_t count;
        const double began = seconds();
        const exhaustive_end_t end = exhaustive_run(
            &world, &choices, is, options->seconds > 0 ? options->seconds : 1e9, seconds, &count);
        printf("%s: %llu worlds in %.1f s%s\n", is->name, (unsigned long long)count, seconds() - began,
               end == EXHAUSTIVE_LATE    ? ", not all of them"
               : end == EXHAUSTIVE_WRONG ? ""
                                         : ", all of them: all held");
        fflush(stdout);
        in_time &= end != EXHAUSTIVE_LATE;
        if (end == EXHAUSTIVE_WRONG) {
            printf("%s: %s\n", world.what, world.why);
            uint8_t *script = malloc(choices.count + 1);
            const size_t made = choices.count;
            for (size_t i = 0; i < made; i++)
                script[i] = choices.list[i].made;
            options_t same = *options;
            same.loads = is->loads;
            show(&same, script, made, is->blocks);
            free(script);
            return 1;
        }
    }
    return in_time ? 0 : 3;
}

int main(int argc, char **argv) {
    options_t options = {.seconds = -1};
    int at;
    if (!read_options(&options, argc, argv, &at))
        return 2;
    if (at < argc)
        return kept_worlds(&options, argv + at, argc - at);
    if (options.exhaustive)
        return all_small_worlds(&options);
    if (options.seconds < 0)
        options.seconds = 10;
    if (!options.has_seed && options.worlds) {
        options.seed = 1;
    } else if (!options.has_seed) {
        struct timespec now;
        clock_gettime(CLOCK_REALTIME, &now);
        options.seed = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
    }
    return random_worlds(&options);
}
