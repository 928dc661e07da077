/* builtin: the format files that are compiled in. */
#ifndef TIPPLE_BUILTIN_BUILTIN_H
#define TIPPLE_BUILTIN_BUILTIN_H

#include <stddef.h>

typedef struct {
    const char *name;
    const char *text; /* YAML, NUL-terminated */
    size_t length;
} builtin_t;

extern const builtin_t builtin_formats[]; /* ends with a NULL name */

#endif
