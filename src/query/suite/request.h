/* request: what is sent of a query, and what comes back.
 *
 * A request_t is a query with its parameters filled in: the bytes that go to the driver, and nothing else. It is built
 * once, is read-only afterwards, and any thread may send it with a client of its own.
 *
 * Only what reads is built. A stage of an aggregation has to be in a list of stages that are known to read, wherever it
 * came from: the suite, a parameter, or a document that was drawn.
 *
 * An answer_t is what one sending brought: always how many documents, and if `keep` is set the documents themselves, up to
 * `most_bytes`. An accumulate answers with one document, which the client made, and with the number of documents that it
 * read. */
#ifndef TIPPLE_QUERY_SUITE_REQUEST_H
#define TIPPLE_QUERY_SUITE_REQUEST_H

#include "query/suite/suite.h"
#include "server/server.h"

/* ---- building (request.c) ---- */

/* The words of read preferences, and how many there are. */
extern const char *const suite_read_modes[];
extern const size_t suite_read_mode_count;

/* Which servers to read from. */
typedef struct {
    const char *mode;                 /* one of suite_read_modes; NULL: as the URI says */
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
    /* how many it reads. NAN: as many as it returns; INFINITY: the whole collection; below 0: nobody knows */
    double documents;
} request_t;

/* params: the value of every parameter; collection: used if the query names none. Errors name their place in the
 * suite. Call request_free in any case. */
bool request_build(request_t *request, const suite_t *suite, const query_t *query, const char *database,
                   const char *collection, const bson_t *params, const reads_t *reads, err_t *err);
/* Asks for the first N documents alone. */
void request_limit(request_t *request, uint64_t most);
void request_free(request_t *request); /* zeroed is allowed */

/* Checks that each stage of a pipeline ({"0": ...}, made from `list`) reads only, also in the pipelines of $lookup,
 * $unionWith and $facet. A refusal names the place of the stage in `list`. */
bool reading_check(const bson_t *pipeline, const yaml_tree_t *tree, const yaml_item_t *list, err_t *err);

/* What a query expects ({documents, digest}), with its parameters; initialised even if it fails. */
bool expected_fill(bson_t *filled, const suite_t *suite, const query_t *query, const bson_t *params,
                   err_t *err);

/* Reads an index of a `setup` as a server takes it. Its name, or else that of collection_name_index, fits. index:
 * initialised even if it fails. */
bool suite_read_index(const yaml_tree_t *tree, const yaml_item_t *node, bson_t *index, err_t *err);

/* ---- answers (answer.c) ---- */

/* Zeroed before; `keep` may be set. */
typedef struct {
    bool keep;
    size_t most_bytes;
    bson_t *documents; /* keep: {"0": ..., ...} */
    bool more;         /* some were not kept */
    uint64_t count;
} answer_t;

/* Zeroes it; with `keep` false the answer only counts. */
void answer_begin(answer_t *answer, bool keep);
void answer_take(answer_t *answer, const bson_t *document);
void answer_drop(answer_t *answer); /* keeps the count, and no document any more */
void answer_end(answer_t *answer);

/* Sends the request and reads everything that comes back, by batches until this moment. False: error holds what the driver or
 * the server said. */
bool request_send(const request_t *request, mongoc_client_t *client, answer_t *answer, int64_t until_ns,
                  bson_error_t *error);

/* Sends an aggregation and waits for the first batch. options: as for the driver's own functions; prefs NULL: the
 * client's. */
void aggregate_begin(command_cursor_t *cursor, mongoc_client_t *client, const char *database,
                     const char *collection, const bson_t *pipeline, const bson_t *options,
                     const mongoc_read_prefs_t *prefs);

/* What a server reads for a find (explain with executionStats), and through a router how many shards did. NAN: the server
 * does not say. */
typedef struct {
    bool asked;
    double returned, keys, documents; /* keys of indexes and documents that were examined */
    double shards, ms, shard_ms;      /* shard_ms: of a shard, on average */
} explained_t;

/* request: a find, which runs once more for it. False: error holds what the driver or the server said. */
bool explained_ask(const request_t *request, mongoc_client_t *client, explained_t *explained,
                   bson_error_t *error);

enum { EXPECTED_DIGEST = 33 };

/* XXH3-128 of the documents' content, as hexadecimal digits. Of numbers only the value counts, not the type: whole
 * numbers exactly (doubles and decimals up to 2^53), others to ten digits. The order of fields does not count, that of
 * documents does. */
void expected_digest(const bson_t *documents, char digest[EXPECTED_DIGEST]);

/* filled: by expected_fill. Describes the difference; "": none. */
void expected_check(const bson_t *filled, const answer_t *answer, char *difference, size_t room);

/* A field's count, sum, least and greatest, as a $group with $min, $max and $sum would give them, but computed here, in
 * doubles, whatever the types of the numbers. What is not a number is below all numbers, as for the server. */
typedef struct {
    const char *field; /* with dots: of documents inside the document */
    bool keeps;        /* first all numbers as a list, then the figures of it */
    double *list;
    size_t listed, room;
    uint64_t count; /* documents that have a number in the field */
    double least, greatest;
    long double sum; /* whole numbers of 64 bits are exact in it */
    uint64_t documents;
} accumulate_t;

void accumulate_begin(accumulate_t *sums, const char *field, bool keeps);
void accumulate_take(accumulate_t *sums, const bson_t *document);
/* {_id: 0, value: {count, max, min, sum}}, and the end. */
void accumulate_result(accumulate_t *sums, bson_t *result);

#endif
