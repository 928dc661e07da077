/* measure: what is measured: each query, for each combination of its `each` values, of the servers to read from and of
 * the number of clients; and what was found. Main thread; what is sent is read-only afterwards. */
#ifndef TIPPLE_QUERY_MEASURE_H
#define TIPPLE_QUERY_MEASURE_H

#include "query/hist.h"
#include "query/suite/answer.h"
#include "query/suite/send.h"
#include "query/watch/watch.h"

enum { MEASURE_MOST_CLIENTS = SUITE_MOST_CLIENTS, MEASURE_MOST_CHOICES = SUITE_MOST_CHOICES };

/* More would use too much memory. WITH_ROOM is small enough for any table. */
enum {
    MEASURE_MOST = 10000,
    MEASURE_MOST_REQUESTS = 1000000,
    WITH_ROOM = 91,
    MEASURE_MOST_ANSWERS = 64 << 20,
    QUESTION_DIGEST = 33
};

typedef struct {
    char *const *queries; /* names or tags; none: all */
    size_t query_count;
    char *const *params; /* NAME=VALUE */
    size_t param_count;
    uint32_t clients[MEASURE_MOST_CHOICES];
    size_t client_choices;                   /* none: as the suite says; 1 client */
    const char *reads[MEASURE_MOST_CHOICES]; /* none: as the suite, the query or the URI says */
    size_t reads_choices;
    bool query_clients; /* nobody has said how many clients: what a query says itself comes first */
    bool timed;         /* all are measured for a time; false: only queries that draw */
    bool setup;         /* make missing indexes */
    bool answers;       /* are wanted when all is measured */
    uint64_t first;     /* only the first N documents of each answer; 0: all of it */
    size_t most;        /* at most this many measurements, the first ones; 0: all */
} choices_t;

/* What is sent: one request, or many to choose from. Measurements that differ only in the number of clients share
 * it. */
typedef struct {
    request_t *requests;
    size_t count;
    char with[WITH_ROOM];           /* "n=1000 span=day": the values of `each` */
    bson_t *each;                   /* name: label of the value */
    char question[QUESTION_DIGEST]; /* a digest of what is asked; of what is drawn, how it is drawn */
    bson_t *expected;               /* with parameters filled in; NULL: nothing is expected */
    const query_t *query;
    const char *reads;
    double all_documents;
    explained_t explained;
} work_t;

typedef struct {
    const work_t *work;
    uint32_t clients;
    bool timed; /* as many requests as a time allows; false: a fixed number for each client */
    /* what was found: */
    hist_t *hist;
    moments_t per_ms;                   /* documents a millisecond, of each operation */
    uint64_t returned, empty, failures; /* empty: requests to which nothing came back */
    char failure[512];                  /* the first failure */
    int64_t elapsed_ns;                 /* of all rounds */
    watch_sum_t watched;
    bool keeps;      /* the first answer's documents are wanted: for what is expected, or in the end */
    answer_t answer; /* the first answer */
    bool answered;
    char digest[EXPECTED_DIGEST]; /* of what was kept of it; "": nothing was */
    char difference[600];         /* from what was expected; "": none */
} measure_t;

typedef struct {
    suite_t *suite;
    server_t *server;
    work_t *works;
    size_t work_count, work_room;
    measure_t *items;
    size_t count, room;
    uint64_t kept_bytes; /* of answers */
} measures_t;

/* Chooses queries, fills in parameters, draws; checks indexes (status 1 names the missing one),
 * expectations, and that it is not too much. *list holds what is there also after a failure. */
bool measure_prepare(measures_t *list, suite_t *suite, server_t *server, mongoc_client_t *client,
                     const choices_t *choices, err_t *err);
void measure_free(measures_t *list);

/* When the first answer is there: is it the expected one? What nobody asks for is not kept, nor what goes beyond
 * MEASURE_MOST_ANSWERS bytes of all together. */
void measure_settle(measures_t *list, measure_t *measure, bool wanted);

/* Did nothing come back to any of its requests? Then its times are not those of an answer. */
bool measure_of_nothing(const measure_t *measure);

/* Why a stored index with the wanted key gives other answers or another speed: "it is sparse". NULL: it will do. usual: the
 * collection's own collation, or NULL. */
const char *indexes_differ(const bson_t *wanted, const bson_t *stored, const bson_t *usual);

/* Checks the indexes of `setup`. A missing one is made (makes), or is an error of status 1 with its name and what to do. So
 * is an index of the same key that differs: it is never replaced. */
bool indexes_check(const suite_t *suite, const query_t *query, server_t *server, mongoc_client_t *client,
                   bool makes, err_t *err);

/* How many connections measuring uses at most at once. */
uint32_t measure_connections(const suite_t *suite, const choices_t *choices);

#endif
