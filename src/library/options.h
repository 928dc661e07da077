/* options: what is set of a library's load, by the names of the rows of load_options. */
#ifndef TIPPLE_LIBRARY_OPTIONS_H
#define TIPPLE_LIBRARY_OPTIONS_H

#include "load/spec/load_options.h"

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

#endif
