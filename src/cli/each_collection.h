/* each_collection: one command for all collections of a dump. Where the URI names no collection, and the one input is a
 * dump of mongodump, the command does its work for each collection in turn: under the name that it has in the dump, or in
 * the database that the URI names. Main thread. */
#ifndef TIPPLE_CLI_EACH_COLLECTION_H
#define TIPPLE_CLI_EACH_COLLECTION_H

#include "base/err.h"
#include "input/archive/dump_list.h"

/* Begins as {0}. */
typedef struct {
    dump_list_t
        list;   /* the name of each target, and the argument for its documents; none: it is no such command */
    bool drops; /* each target is dropped first */
} each_collection_t;

/* Finds out whether it is such a command. True also if it is not. */
bool each_collection_find(each_collection_t *each, const char *uri, char **inputs, int count, err_t *err);
void each_collection_free(each_collection_t *each);

/* Does the work for one collection: the command's status, with the sentence in *err. */
typedef int each_body_t(void *context, const char *uri, char **inputs, int count, err_t *err);

/* Calls the body for each, or once with what was given. What one collection is refused for is said, and the next one is
 * begun; it goes on with none where the server is gone, or the command is to stop. Status of the first that failed;
 * 2: there are rejects. json: the results name their collections; else each is named before its own. */
int each_collection_run(const each_collection_t *each, const char *uri, char **inputs, int count, bool json,
                        each_body_t *body, void *context, err_t *err);

#endif
