#include "sim.h"

#undef malloc
#undef calloc
#undef realloc
#undef free

#include <stdio.h>

enum { MOST_TRIES = 6000 };

typedef struct {
    world_t *world;
    choices_t *choices;
    script_t *best;
    uint8_t *trial;
    size_t tries;
    uint32_t loads;
    uint32_t small;
    char what[sizeof((world_t *)0)->what];
} shrinking_t;

/* Does it still go wrong in the same way? Then it is the best one so far, as long as its last choice that
 * counts. */
static bool try(shrinking_t *s, size_t count) {
    if (s->tries++ > MOST_TRIES)
        return false;
    choices_begin(s->choices, s->trial, count, false, 0);
    if (world_run(s->world, s->choices, false, s->loads, s->small) || strcmp(s->world->what, s->what) != 0)
        return false;
    size_t used = 0;
    for (size_t i = 0; i < s->choices->count; i++) {
        s->best->bytes[i < count ? i : 0] = i < count ? s->choices->list[i].made : s->best->bytes[0];
        if (i < count && s->choices->list[i].made)
            used = i + 1;
    }
    s->best->count = used;
    return true;
}

static bool zero(shrinking_t *s, size_t at, size_t length) {
    bool any = false;
    memcpy(s->trial, s->best->bytes, s->best->count);
    for (size_t i = at; i < at + length && i < s->best->count; i++) {
        any |= s->trial[i] != 0;
        s->trial[i] = 0;
    }
    return any && try(s, s->best->count);
}

static bool leave_out(shrinking_t *s, size_t at, size_t length) {
    const size_t count = s->best->count;
    if (at + length > count)
        return false;
    memcpy(s->trial, s->best->bytes, at);
    memcpy(s->trial + at, s->best->bytes + at + length, count - at - length);
    return try(s, count - length);
}

size_t shrink(world_t *world, choices_t *choices, script_t *script, uint32_t loads, uint32_t small) {
    shrinking_t s = {.world = world, .choices = choices, .best = script, .loads = loads, .small = small};
    s.trial = malloc(script->count + 1);
    choices_begin(choices, script->bytes, script->count, false, 0);
    if (world_run(world, choices, false, loads, small)) {
        free(s.trial);
        return 1; /* it does not go wrong any more: nothing to be made small */
    }
    memcpy(s.what, world->what, sizeof s.what);
    bool better = true;
    while (better && s.tries < MOST_TRIES) {
        better = false;
        for (size_t length = script->count / 2 + 1; length; length /= 2)
            for (size_t at = 0; at < script->count; at += length) {
                better |= zero(&s, at, length);
                if (length <= 16)
                    better |= leave_out(&s, at, length);
            }
    }
    free(s.trial);
    return s.tries;
}

/* ---- files ---- */

bool script_save(const script_t *script, const char *path, uint32_t loads, uint32_t small, const char *what) {
    FILE *file = fopen(path, "w");
    if (!file)
        return false;
    fprintf(file, "loads %u\nsmall %u\nwrong %s\n", loads, small, what);
    for (size_t i = 0; i < script->count; i++)
        if (script->bytes[i])
            fprintf(file, "at %zu %u\n", i, script->bytes[i]);
    return fclose(file) == 0;
}

bool script_read(script_t *script, const char *path, uint32_t *loads, uint32_t *small) {
    FILE *file = fopen(path, "r");
    char line[200];
    size_t at, room = 1 << 16;
    unsigned value;
    *loads = *small = 0;
    if (!file)
        return false;
    script->bytes = calloc(room, 1);
    script->count = 0;
    while (fgets(line, sizeof line, file)) {
        sscanf(line, "loads %u", loads);
        sscanf(line, "small %u", small);
        if (sscanf(line, "at %zu %u", &at, &value) == 2 && at < room) {
            script->bytes[at] = (uint8_t)value;
            if (at + 1 > script->count)
                script->count = at + 1;
        }
    }
    fclose(file);
    return true;
}
