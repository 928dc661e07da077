/* shell_syntax: values as a shell of MongoDB or YAML itself writes them, which here would be texts: ISODate("..."), /^a/i,
 * 2024-05-01. A query with such a text finds something else than what was meant, and nobody says so. Any thread. */
#ifndef TIPPLE_QUERY_SUITE_SHELL_SYNTAX_H
#define TIPPLE_QUERY_SUITE_SHELL_SYNTAX_H

#include <stddef.h>

/* What to write in the place of a plain scalar: "{$date: ...}"; NULL: it is a text, and nothing else. */
const char *shell_syntax(const char *text);

/* What to write in the place of a regular expression between slashes. */
extern const char shell_syntax_regex[];

#endif
