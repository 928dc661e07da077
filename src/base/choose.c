#include "base/choose.h"

#include <stdio.h>
#include <string.h>

int choose_word(const char *option, const char *text, const char *const *words, size_t count, err_t *err) {
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < count; i++) {
        if (strcmp(words[i], text) == 0)
            return (int)i;
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", words[i]);
    }
    err_set(err, STATUS_USAGE, "--%s: '%s' is not one of %s", option, text, known);
    return -1;
}
