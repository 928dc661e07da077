/* each_collection: one command for all collections of a dump. Where the URI names no collection, and the one input is a
 * dump of mongodump, the command does its work for each collection in turn: under the name that it has in the dump, or in
 * the database that the URI names. Main thread. */
#ifndef TIPPLE_CLI_EACH_COLLECTION_H
#define TIPPLE_CLI_EACH_COLLECTION_H

#include "cli/options/cli.h"
#include "input/archive/dump_list.h"

/* The name of each target, and the argument for its documents. Begins as {0}; empty: there is one target. */
typedef struct {
    dump_list_t list;
} each_collection_t;

/* Finds the collections. True also if there is one target. */
bool each_collection_find(each_collection_t *each, const run_t *run, err_t *err);
void each_collection_free(each_collection_t *each);

/* Does the work for one collection: the command's status, with the sentence in *err. */
typedef int each_body_t(const run_t *run, const char *uri, char **inputs, int count, err_t *err);

/* Calls the body for each, or once with what was given. A collection that fails is named, and the next one is begun, until
 * the command is to stop, or the server fails twice in a row. Returns the status of the first that failed; 2: there are
 * rejects. */
int each_collection_run(const each_collection_t *each, const run_t *run, each_body_t *body, err_t *err);

#endif
