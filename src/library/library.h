/* library: what the calls of tipple.h share: a format, the options of a load, and how a call fails. A call
 * checks what it was given, and never prints: what there is to say is in tipple_error_t. Each struct belongs to one thread at
 * a time; a load works in a thread of its own (load.c). */
#ifndef TIPPLE_LIBRARY_LIBRARY_H
#define TIPPLE_LIBRARY_LIBRARY_H

#include "format/schema/schema.h"
#include "load/spec/load_options.h"
#include "tipple/tipple.h"

struct tipple_format {
    schema_t *schema;
    char *name; /* by which it was opened; NULL: it was guessed */
    char *text; /* its file, if it was guessed */
};

/* ---- options of a load, by the names of the rows of load_options ---- */

typedef struct {
    load_options_t load;
    texts_list_t copies; /* of all texts that were given, which the load's options point to */
} library_options_t;

/* False: out of memory. */
bool library_options_init(library_options_t *options, const char *uri, err_t *err);
void library_options_free(library_options_t *options);

bool library_options_set(library_options_t *options, const char *name, const char *value, err_t *err);

/* A format by its name; or, if it has one, by its text, which was guessed. Copied. */
bool library_options_set_format(library_options_t *options, const char *name, const char *text, err_t *err);

/* ---- how a call fails ---- */

enum { LIBRARY_WORDS = 4 * sizeof((err_t *)NULL)->text };

/* A sentence as the command would print it: without passwords, and with what a terminal would obey escaped. */
void library_words(char words[LIBRARY_WORDS], const char *text);

/* error may be NULL. Always false. */
bool library_tell(tipple_error_t *error, const err_t *err);
bool library_no_memory(tipple_error_t *error, size_t bytes);

/* True: the call was not given `what`, and error says so. */
bool library_misses(const void *given, const char *what, tipple_error_t *error);

/* A library does not talk: what there is to say is in tipple_error_t. */
void library_be_silent(void);

#endif
