/* misfits: inputs that do not fit the format, or whose beginning cannot be read: their names, why, and the
 * sentences about them. Only one thread at a time may change it. */
#ifndef TIPPLE_LOAD_BEFORE_MISFITS_H
#define TIPPLE_LOAD_BEFORE_MISFITS_H

#include "base/err.h"

enum { MISFITS_SHOWN = 20 };

typedef struct {
    char *name;   /* the input's */
    char *reason; /* a sentence that begins with the name */
    size_t input; /* its number in the manifest that was checked */
} misfit_t;

typedef struct {
    misfit_t *items;
    size_t count;
} misfits_t;

/* False: out of memory, *err says so. */
bool misfits_add(misfits_t *misfits, const char *name, const char *reason, size_t input, err_t *err);

/* In the order of the inputs. */
void misfits_sort(misfits_t *misfits);

/* The refusal, status 5: how many of `files` do not fit, and a line for each of the first ones. Where a
 * single input is all there is: its own sentence. Returns false. */
bool misfits_refuse(const misfits_t *misfits, size_t files, const char *format, err_t *err);

/* A warning that they are skipped, with the same lines. */
void misfits_warn(const misfits_t *misfits, size_t files, const char *format);

/* Is the reason what its first line says, and not that it cannot be read? */
bool misfits_is_header(const char *name, const char *reason);

void misfits_free(misfits_t *misfits);

#endif
