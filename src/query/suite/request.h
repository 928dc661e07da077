/* request: a query with its parameters filled in, ready to be sent many times: nothing is parsed or looked up between
 * two sends. Read-only after request_build; any thread may send it with a client of its own. */
#ifndef TIPPLE_QUERY_SUITE_REQUEST_H
#define TIPPLE_QUERY_SUITE_REQUEST_H

#include "query/suite/suite.h"

#include <mongoc/mongoc.h>

/* Which servers to read from. */
typedef struct {
    const char *mode; /* primary, secondary, nearest, ...; NULL: as the query says, or the URI */
    const mongoc_read_prefs_t *usual; /* the URI's, whose tags and staleness hold for other modes, too */
} reads_t;

typedef struct {
    query_kind_t kind;
    char *database, *collection;
    bson_t *body;               /* the pipeline ({"0": ...}), the filter, or a whole command */
    bson_t *options;            /* for the driver */
    mongoc_read_prefs_t *prefs; /* NULL: the URI's */
    char *field;                /* accumulate: the field */
    bool keeps;                 /* and whether its values are kept in a list first */
    int64_t chunk, limit; /* and how many documents are asked for at once, and in all; chunk 0: all at once */
    /* how many it looks at. NAN: as many as it returns; INFINITY: the whole collection; below 0: nobody knows */
    double documents;
} request_t;

/* params: the value of every parameter; collection: used if the query names none. Errors name their place in the suite.
 * An aggregation that does not only read is refused, wherever its stages came from. */
bool request_build(request_t *request, const suite_t *suite, const query_t *query, const char *database,
                   const char *collection, const bson_t *params, const reads_t *reads, err_t *err);
/* Asks for the first N documents alone. */
void request_limit(request_t *request, uint64_t most);
void request_free(request_t *request); /* zeroed is allowed */

/* Checks that each stage of an aggregation is one that is known to read only, also in the pipelines of $lookup,
 * $unionWith and $facet. pipeline: {"0": ...}, as made from `list`; a refusal names the place of the stage in `list`.
 * known: parameters are filled in; false: a null may stand for a parameter, and is ignored. */
bool reading_check(const bson_t *pipeline, bool known, const yaml_tree_t *tree, const yaml_item_t *list,
                   err_t *err);

#endif
