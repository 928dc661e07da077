#include "base/chars/own_names.h"

#include <stddef.h>
#include <string.h>

static bool ends(const char *collection, const char *end) {
    const size_t length = strlen(collection), from = strlen(end);
    return length >= from && strcmp(collection + length - from, end) == 0;
}

const char *own_names_kept(const char *collection) {
    static const struct {
        const char *end, *holds;
    } kept[] = {{OWN_FILES, "a load's catalog"},
                {OWN_LOADS, "a load's catalog"},
                {OWN_TRY, "what a load tries before it drops"}};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (ends(collection, kept[i].end))
            return kept[i].holds;
    return NULL;
}

bool own_names_has(const char *collection) {
    return own_names_kept(collection) || strstr(collection, SCRATCH_TUNE) ||
           strstr(collection, SCRATCH_DRILL);
}
