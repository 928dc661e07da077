/* options: what is set of a library's load, by the names of the command's options. */
#ifndef TIPPLE_LIBRARY_OPTIONS_H
#define TIPPLE_LIBRARY_OPTIONS_H

#include "base/err.h"
#include "load/spec/load_spec.h"

typedef struct {
    char **items;
    size_t count, room;
} words_t;

typedef struct {
    load_spec_t spec; /* points into what follows */
    words_t texts, inputs, indexes, filters, types;
} library_options_t;

/* False: out of memory. */
bool library_options_init(library_options_t *options, const char *uri, err_t *err);
void library_options_free(library_options_t *options);

bool library_options_set(library_options_t *options, const char *name, const char *value, err_t *err);

/* A format by its name; or, if it has one, by its text, which was guessed. Copied. */
bool library_options_set_format(library_options_t *options, const char *name, const char *text, err_t *err);

/* Does what was set say anything to this format, the load's? NULL: it is to be guessed. Before the load begins. */
bool library_options_check(library_options_t *options, const char *format, err_t *err);

#endif
