/* verifier: compares blocks, for one thread. It makes their records into documents again, reads the range of `_id`s
 * that they stand for from the target (majority, through the router, so that orphans do not count), and compares both
 * byte by byte.
 *
 *     a file's windows     |     w     |    w+1    |    w+2    |          each is one range of `_id`s:
 *     records              --a--|-b-|-----c------------------|-d-|        a, b and c must be in that of w,
 *                                                                         nothing in that of w+1
 *
 * A block that was cut short by a lost connection, a stepdown or a moved chunk is compared again from its start. So is,
 * once, a block in which something differs, and the second result counts: a primary that was elected a moment ago may
 * not know yet that the majority has what it holds. */
#ifndef TIPPLE_VERIFY_VERIFIER_H
#define TIPPLE_VERIFY_VERIFIER_H

#include "catalog/register/register.h"
#include "format/records.h"
#include "load/blocks/block.h"
#include "load/rejects/fixes.h"
#include "server/server.h"
#include "server/wire.h"
#include "verify/own_ids.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* What all verifiers of a run share. */
typedef struct {
    const schema_t *schema;
    existing_t existing;
    const filter_t *filter; /* or NULL */
    const fixes_t *fixes;   /* none: no reject file was given */
    server_t *server;
    const active_piece_t *pieces;  /* a block's file is one of these */
    const registration_t *entries; /* of the catalog, in the order of the files */
    uint64_t most;                 /* differences kept of a kind */
    bool whole;                    /* documents that belong to no record are looked for as well */
    atomic_llong shaken_ns;        /* when the server was last found again */
} inspection_t;

typedef struct verifier verifier_t;

verifier_t *verifier_new(inspection_t *inspection, err_t *err);
void verifier_free(verifier_t *verifier); /* NULL is allowed */

/* Compares a block; its buffer stays the caller's. */
bool verifier_look(verifier_t *verifier, const block_t *block, err_t *err);

/* What it has found so far. Other threads may read the counters (each of them is whole); the rest belongs to the
 * verifier's own thread until that has ended. */
const inspected_t *verifier_counters(const verifier_t *verifier);
differences_t *verifier_differences(verifier_t *verifier);
last_wins_t *verifier_last(verifier_t *verifier); /* EXISTING_REPLACE */
const verified_ids_t *verifier_ids(const verifier_t *verifier);

/* True if the file is an earlier version of an input that has grown and was loaded on. Then documents after its end are
 * right. */
bool verifier_is_earlier(const wanted_t *wanted);
/* Why nothing is expected after its end. */
const char *verifier_why_after_end(const wanted_t *wanted);

#endif
