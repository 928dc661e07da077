/* shell_syntax: values as a shell of MongoDB or YAML itself writes them, which here would be texts: ISODate("..."), /^a/i,
 * 2024-05-01. A query with such a text finds something else than what was meant, and nobody says so. Any thread. */
#ifndef TIPPLE_QUERY_SUITE_SHELL_SYNTAX_H
#define TIPPLE_QUERY_SUITE_SHELL_SYNTAX_H

/* What to write in the place of a plain scalar: "{$date: ...}"; NULL: it is a text, and nothing else. */
const char *shell_syntax(const char *text);

/* The same of a text as typed for a shell, of which only the beginning is known to belong together: /a, b/ is cut in two by
 * YAML. */
const char *shell_syntax_begins(const char *text);

/* A sentence of the text's length, the text, and what to write instead. */
#define SHELL_SYNTAX_WORDS "'%.*s' would be a text here: write %s, or put it in quotes if it is a text"

#endif
