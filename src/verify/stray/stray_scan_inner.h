/* stray_scan: what its files share. */
#ifndef TIPPLE_VERIFY_STRAY_STRAY_SCAN_INNER_H
#define TIPPLE_VERIFY_STRAY_STRAY_SCAN_INNER_H

#include "base/threads.h"
#include "verify/stray/gaps.h"
#include "verify/stray/stray_scan.h"

/* A given file by its number in the catalog. */
typedef struct {
    uint32_t ordinal;
    const load_file_t *file;
} given_t;

typedef struct search search_t;
typedef struct searcher searcher_t;
typedef bool task_fn(searcher_t *searcher, size_t from_lane, size_t to_lane, err_t *err);

struct search {
    const stray_scan_options_t *options;
    given_t *given; /* by ordinal */
    gaps_t *gaps;   /* between their windows */
    bson_t *others; /* {_id: ...}: where what is no place lies */
    size_t other_count;

    task_fn *look; /* at some lanes */
    size_t tasks;  /* then those of the others */

    pthread_mutex_t lock; /* of what follows */
    size_t next_task;
    stray_scan_t result;
    uint64_t inside; /* documents where verifiers have looked */
    differences_t *differences;
    team_t team;
};

struct searcher {
    search_t *search;
    mongoc_client_t *client;
    mongoc_read_prefs_t *primary;
    bson_t *options; /* of the finds */
    differences_t *found;
    stray_scan_t result; /* of the task at hand */
    uint64_t inside;     /* documents of it where verifiers have looked */
    char doing[300];
};

/* stray_place.c: a document that was found, by its `_id`: it is counted where it belongs, or told. */
bool stray_take_id(searcher_t *searcher, const bson_t *document, const bson_iter_t *id, err_t *err);
/* Of files that are given, for sorting. */
int stray_by_ordinal(const void *a, const void *b);

#endif
