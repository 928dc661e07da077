/* builtin: the format and suite files that are compiled in, and files of the user's own in their place; and
 * what is always ours: the style of pages, the data that `tipple generate` makes records up from, and the scripts by
 * which shells complete. */
#ifndef TIPPLE_BUILTIN_BUILTIN_H
#define TIPPLE_BUILTIN_BUILTIN_H

#include "base/err.h"

#include <stddef.h>

typedef struct {
    const char *name;
    const char *text; /* YAML, CSS or lines, NUL-terminated */
    size_t length;
} builtin_t;

extern const builtin_t builtin_formats[], builtin_suites[], builtin_styles[], builtin_generate[],
    builtin_completion[]; /* end with a NULL name */

/* NULL: there is none of this name. */
const builtin_t *builtin_find(const builtin_t *table, const char *name);

/* The text of a built-in one ("mot"), or of a file by its path (it has a '/' or ends in .yaml or .yml);
 * *opened is to be freed. An unknown name names the nearest one. Status 1. kind: "format", "suite". */
typedef struct {
    char *text;
    size_t length;
} opened_t;
bool builtin_open(const builtin_t *table, const char *kind, const char *name, opened_t *opened, err_t *err);
/* The text of a file of at most 4 MiB. */
bool builtin_read(const char *kind, const char *path, opened_t *opened, err_t *err);

#endif
