#include "server/send/existing.h"

#include <string.h>

const char *const existing_names[EXISTING_MODES] = {"reject", "keep", "replace"};

bool existing_named(const char *name, existing_t *existing) {
    *existing = EXISTING_REJECT;
    if (!name || !*name)
        return true;
    for (int i = 0; i < EXISTING_MODES; i++)
        if (strcmp(name, existing_names[i]) == 0) {
            *existing = (existing_t)i;
            return true;
        }
    return false;
}
