/* share: which files, and parts of files, this load works on: all of them, divided with the other loads of
 * the collection by claims. Large files are claimed one by one or in parts, small ones in groups, because a
 * claim is a command. What another load has is waited for until it is done, or its load is dead; so a load
 * that ends well knows that everything is there. */
#ifndef TIPPLE_LOAD_SHARE_H
#define TIPPLE_LOAD_SHARE_H

#include "load/block.h"
#include "target/claims.h"

#include <pthread.h>

typedef struct share share_t;

typedef struct {
    load_file_t *files;
    size_t file_count;
    catalog_t *catalog;
    presence_t *presence;
    pthread_mutex_t *books_lock; /* of both */
} share_options_t;

share_t *share_new(const share_options_t *options, err_t *err);
void share_free(share_t *share); /* NULL is allowed */

/* The next files to feed, [*first, *end), which follow one another; waits while only others have some left.
 * False: there are no more, a signal came (err->text is empty), or it failed. Any thread. */
bool share_next(void *share, size_t *first, size_t *end, err_t *err);

/* No more are given out: whoever waits comes back. */
void share_stop(share_t *share);

/* Has this load claimed the part, and not heard that it was lost? */
bool share_claimed(share_t *share, const load_file_t *file);

/* This part is another load's now, which is waited for like others. Main thread. */
void share_lose(share_t *share, const load_file_t *file);

/* What others have done meanwhile, of what was not done when this load began. */
typedef struct {
    uint64_t files, records; /* parts count as files */
} share_others_t;
share_others_t share_others(share_t *share);

/* A file's state in the books, before the first byte of it is read. */
bool share_begin_file(load_file_t *file, err_t *err);

#endif
