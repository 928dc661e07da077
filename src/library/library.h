/* library: what the calls of tipple.h share: formats, and how a call fails. A call checks what it was given, and never
 * prints. Each handle belongs to one thread at a time; a load works in a thread of its own (load.c), while formats and
 * readers (src/tipple.c) work in the caller's. */
#ifndef TIPPLE_LIBRARY_LIBRARY_H
#define TIPPLE_LIBRARY_LIBRARY_H

#include "format/schema/schema.h"
#include "tipple/tipple.h"

struct tipple_format {
    schema_t *schema;
    char *name; /* by which it was opened; NULL: it was guessed */
    char *text; /* its file, if it was guessed */
};

/* A sentence as the command would print it: without passwords, and with what a terminal would obey escaped. */
enum { LIBRARY_WORDS = 4 * sizeof((err_t *)NULL)->text };
void library_words(char words[LIBRARY_WORDS], const char *text);

/* Each says why a call fails. error may be NULL. Always false. */
bool library_tell(tipple_error_t *error, const err_t *err);
bool library_refuse(tipple_error_t *error, const char *why); /* the call was wrong: status 1 */
bool library_no_memory(tipple_error_t *error, size_t bytes);

/* True: the call was not given `what`, and error says so. */
bool library_misses(const void *given, const char *what, tipple_error_t *error);

/* What stands instead of an option of another tool or of an earlier version: "--max-rate auto"; NULL: nothing. word: a name,
 * or a letter if not is_long. For the command, too. */
const char *library_gone(const char *word, bool is_long);

/* Before any work: what there is to say is in tipple_error_t, and nowhere else. */
void library_be_silent(void);

#endif
