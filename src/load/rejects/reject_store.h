/* reject_store: the reject file of one load. It is locked for as long as the load lives; a second load takes
 * the next free name: NAME.2, NAME.3 and so on. So does a load of another collection: the own id of its catalog tells which
 * one a file is of. It is only ever appended to, whole entries at a time: the beginning of one that could not be written whole
 * is cut off. One thread at a time. */
#ifndef TIPPLE_LOAD_REJECTS_REJECT_STORE_H
#define TIPPLE_LOAD_REJECTS_REJECT_STORE_H

#include "load/rejects/reject_file.h"

#include <sys/uio.h>

typedef struct reject_store reject_store_t;

typedef struct {
    const char *path;              /* borrowed, as the next ones */
    const char *retried;           /* a reject file that is only read, whatever its name; or NULL */
    const char *again;             /* for the comment: retry_options; or NULL */
    const char *catalog;           /* its own id; "": unknown */
    const reject_inputs_t *inputs; /* of the catalog; or NULL */
} reject_store_options_t;

/* Opens no file for writing yet: reads what the retried file holds, where that is the load's own. False:
 * status 8. */
reject_store_t *reject_store_new(const reject_store_options_t *options, err_t *err);
void reject_store_free(reject_store_t *store); /* gives the lock back; NULL is allowed */

/* Opens the file, which must be a reject file or not there, and reads what it holds. False: status 8 with
 * what to do. Nothing happens the second time. */
bool reject_store_open(reject_store_t *store, err_t *err);

/* Somebody's own file: the sentence. */
bool reject_store_refuse(const char *path, status_t status, err_t *err);

/* Is it in the file already, or in the retried one, where that is the load's own? */
bool reject_store_knows(const reject_store_t *store, const reject_identity_t *identity);

/* Writes an entry of these pieces, whose head begins with the mark, and knows it from now on. */
const char *reject_store_mark(const reject_store_t *store);
bool reject_store_append(reject_store_t *store, const reject_identity_t *identity, struct iovec *pieces,
                         int count, err_t *err);

/* On the disk. */
bool reject_store_flush(reject_store_t *store, err_t *err);

/* The file that holds the rejects: the one that was opened, if one was. */
const char *reject_store_path(const reject_store_t *store);

#endif
