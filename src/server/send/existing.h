/* existing: what becomes of a record whose `_id`, one of the data's own, another document has already. */
#ifndef TIPPLE_SERVER_SEND_EXISTING_H
#define TIPPLE_SERVER_SEND_EXISTING_H

#include <stdbool.h>

typedef enum {
    EXISTING_REJECT,  /* the record is a reject */
    EXISTING_KEEP,    /* the document that is there stays, and that is all */
    EXISTING_REPLACE, /* the record's document takes its place */
    EXISTING_MODES
} existing_t;

extern const char
    *const existing_names[EXISTING_MODES]; /* as a person gives them, and the catalog keeps them */

/* NULL or "": reject. False: no mode has this name. */
bool existing_named(const char *name, existing_t *existing);

#endif
