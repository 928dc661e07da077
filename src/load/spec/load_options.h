/* load_options: the options of a load, each described once, as a row of a table. `load` takes all of them; tune, drill, verify,
 * parse and formats take the rows that name them, and so does a caller of the library (tipple_load_set). What an option means,
 * how its value is written, its bounds and its help are the same everywhere.
 *
 * The table is for a load_options_t. A command has one in its own struct, the library in its handle. Texts are borrowed. */
#ifndef TIPPLE_LOAD_SPEC_LOAD_OPTIONS_H
#define TIPPLE_LOAD_SPEC_LOAD_OPTIONS_H

#include "load/spec/load_spec.h"
#include "load/spec/options.h"

/* Who takes a row. */
enum {
    TAKEN_BY_LOAD = 1,
    TAKEN_BY_TUNE = 2,
    TAKEN_BY_DRILL = 4,
    TAKEN_BY_VERIFY = 8,
    TAKEN_BY_PARSE = 16,
    TAKEN_BY_FORMATS = 32,
    TAKEN_BY_LIBRARY = 64,
    TAKEN_BY_ASKING = 128, /* status, where, forget and query */
};

typedef struct {
    load_spec_t spec; /* first: a row of it can also be set in a plain load_spec_t */
    const char *uri_file;
    texts_list_t inputs, indexes, filters, types;
} load_options_t;

extern const option_t load_options[]; /* ends with a NULL name */

/* The headings of options, in the order in which pages print them. */
#define GROUP_COLLECTION "Server and collection"
#define GROUP_INPUT      "What is read"
#define GROUP_MISFITS    "Records that do not fit"
#define GROUP_AGAIN      "Loading again"
#define GROUP_SPEED      "Speed and memory"

/* Returns the row of this name that one of the takers takes, or NULL. */
const option_t *load_options_find(const char *name, unsigned takers);

void load_options_init(load_options_t *options);

/* Points the spec to the lists of the options, and checks the options of a guess. format: the name of the format, or NULL if it
 * is guessed. */
bool load_options_settle(load_options_t *options, const char *format, err_t *err);

#endif
