/* each_collection: one command for all collections of a dump. Where the URI names no collection, and the one input is a
 * dump of mongodump, the command does its work for each collection in turn: under the name that it has in the dump, or in
 * the database that the URI names. Main thread. */
#ifndef TIPPLE_CLI_EACH_COLLECTION_H
#define TIPPLE_CLI_EACH_COLLECTION_H

#include "cli/options/cli.h"
/* Is asked before the first one, with the number of collections; 0: the URI names the one target. */
typedef bool each_may_t(const run_t *run, size_t collections, err_t *err);

/* Does the work for one collection: the command's status, with the sentence in *err. */
typedef int each_body_t(const run_t *run, const char *uri, char **inputs, int count, err_t *err);

/* Calls the body for each, or once with what was given. A collection that fails is named, and the next one is begun, until
 * the command is to stop, or the server fails twice in a row. Returns the status of the first that failed; 2: there are
 * rejects. may: NULL: nothing is asked. */
int each_collection(const run_t *run, each_may_t *may, each_body_t *body, err_t *err);

#endif
