/* kept_format: the format that was guessed when a collection was first loaded; its catalog keeps it, so that every later
 * load, --retry and verify reads the same. */
#ifndef TIPPLE_LOAD_PLAN_KEPT_FORMAT_H
#define TIPPLE_LOAD_PLAN_KEPT_FORMAT_H

#include "catalog/store/store.h"
#include "format/schema/schema.h"
#include "input/manifest.h"
#include "load/plan/guess_inputs.h"
#include "server/server.h"

/* *schema NULL: nothing was loaded yet; must: that is a failure (status 1). False: it was loaded with a --format, which must be
 * given again (status 1). *text (the format file) is to be freed. *widened: the header's, where *schema is set. name: of the collection. */
bool kept_format(store_t *store, const char *name, bool must, schema_t **schema, char **text,
                 uint64_t *widened, err_t *err);

/* Do the options go with a format that was kept, or given before? `whose`: which it is, in sentences; NULL: the one that was kept
 * for the collection `name`. Takes over --on-bad-value. */
bool kept_format_agrees(schema_t *schema, const char *text, const guess_options_t *options, const char *whose,
                        const char *name, err_t *err);

/* What the header of a collection says of the columns of a format that is given or kept: those that stay left out, those that came
 * later. A --format may have more optional fields at its end than the collection was bound with, and must have those that came:
 * they become `added`. Status 1: it lacks one, or has another one; 5: it has a column that was left out. */
bool kept_columns(const catalog_header_t *header, const char *name, schema_t *schema, err_t *err);

/* For a study: the format with which a load without --format would read these inputs, kept or guessed. *text as above. NULL: err. */
schema_t *kept_format_or_guess(const server_options_t *target, const guess_options_t *options,
                               manifest_t *manifest, char **text, err_t *err);

/* A format that is given for a collection whose format was guessed: it reads as strictly as that one. Status 1 if it is to read
 * texts whose lines look like records, or that are in quotes without need, and that one is not; fixes: only rejects are read
 * again, where it may. */
bool kept_format_hold(const catalog_header_t *header, const char *name, schema_t *schema, bool fixes,
                      err_t *err);

#endif
