/* What verify.c and verify_open.c share: one run. It belongs to the main thread, except what a worker has. */
#ifndef TIPPLE_VERIFY_VERIFY_INNER_H
#define TIPPLE_VERIFY_VERIFY_INNER_H

#include "catalog/places.h"
#include "catalog/register/register.h"
#include "catalog/store/store_mongo.h"
#include "format/record/record_id.h"
#include "load/rejects/fixes.h"
#include "load/spec/progress.h"
#include "load/threads/pipeline.h"
#include "server/collection.h"
#include "verify/verifier.h"
#include "verify/verify.h"

typedef struct verification verification_t;

/* One thread, and what it has found. */
typedef struct {
    verification_t *run;
    verifier_t *verifier;
    pipeline_worker_t work;
    uint64_t skipped;    /* blocks that are not in the sample */
    uint64_t text_bytes; /* of these blocks, and of those that were compared */
} verify_worker_t;

struct verification {
    const verify_spec_t *spec;
    verify_result_t *result;
    schema_t *schema;
    filter_t *filter;
    manifest_t *manifest; /* the result's */
    server_t *server;
    mongoc_client_t *client;
    collection_t place;
    bool nothing;   /* nothing was loaded, and nothing is expected */
    store_t *store; /* uses `client` */
    places_t *places;
    registration_t registration;
    catalog_header_t header;
    fixes_t fixes; /* of the reject files that were given */
    active_piece_t *pieces;
    pipeline_t pipeline;
    inspection_t inspection;
    /* the last one has no thread, and compares all long blocks */
    verify_worker_t workers[LOAD_MOST_THREADS + 1];
    uint32_t worker_count;
    existing_t existing;
    last_wins_t last;
    verified_ids_t ids; /* with own `_id`s */
    progress_t progress;
    uint64_t bytes_to_read, text_bytes; /* of all files; of the blocks that the workers are done with */
};

/* Reads what was asked for, connects, and finds the inputs in the catalog. With run->nothing there is nothing to
 * compare. What was opened is closed by verify_run, also after a failure. */
bool verify_open(verification_t *run, err_t *err);

#endif
