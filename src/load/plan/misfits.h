/* misfits: inputs that a load leaves out (--skip-bad-files), each with the reason: it cannot be listed or read, does not fit
 * the format, has changed since it was loaded, or waits for a misfit before it. The list of inputs, check_inputs, the
 * registration and the feeders find them; all of them are put into one list and reported by these sentences. Only one thread
 * at a time may change a list. */
#ifndef TIPPLE_LOAD_PLAN_MISFITS_H
#define TIPPLE_LOAD_PLAN_MISFITS_H

#include "base/err.h"
#include "input/manifest.h"

enum { MISFITS_SHOWN = 20 };

#define MISFITS_REMEDY "--skip-bad-files loads the other files"

typedef struct {
    char *name;   /* the input's */
    char *reason; /* a sentence that begins with the name */
    size_t input; /* its number in the manifest that was checked */
    bool waits;   /* nothing is wrong with it: misfits_add_waiting */
} misfit_t;

typedef struct {
    misfit_t *items;
    size_t count, room;
    size_t after; /* with --existing replace, inputs from this one on wait */
} misfits_t;

/* False: out of memory, *err says so. */
bool misfits_add(misfits_t *misfits, const char *name, const char *reason, size_t input, err_t *err);

/* In the order of the inputs. */
void misfits_sort(misfits_t *misfits);

/* The refusal, status 5: how many of `files` do not fit, and a line for each of the first ones. Where a
 * single input is all there is: its own sentence. may_skip: the command takes --skip-bad-files. Returns false. */
bool misfits_refuse(const misfits_t *misfits, size_t files, const char *format, bool may_skip, err_t *err);

/* Warnings that those from this number on are skipped, or wait, with the same lines. */
void misfits_warn(const misfits_t *misfits, size_t from, size_t files);

/* Adds a file that is not loaded where files are loaded in order, because the other one is a misfit. False: as misfits_add. */
bool misfits_add_waiting(misfits_t *misfits, const char *name, const char *other, size_t input, err_t *err);

/* Adds all of the first list to the other one, and empties it. */
bool misfits_move(misfits_t *misfits, misfits_t *to, err_t *err);

/* Warns of these, which are in the order of the manifest, takes them out of it, and moves them to *skipped. False: no input is
 * left, or they may not be skipped, status 5 (format: as misfits_refuse; skipped is NULL where the command has no
 * --skip-bad-files); or out of memory. */
bool misfits_take_out(misfits_t *misfits, manifest_t *manifest, bool skip, misfits_t *skipped,
                      const char *format, err_t *err);

/* With --existing replace: takes out those that come after the first of *skipped. */
bool misfits_let_wait(manifest_t *manifest, misfits_t *skipped, err_t *err);

/* Is the reason what its first line says, and not that it cannot be read? */
bool misfits_is_header(const char *name, const char *reason);

void misfits_free(misfits_t *misfits);

#endif
