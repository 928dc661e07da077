/* verifier: one thread's look at blocks: their records are made into documents again, the range of `_id`s
 * that they stand for is read from the target (majority, through the router, so that orphans do not count),
 * and both are compared byte by byte.
 *
 *     a file's windows     |     w     |    w+1    |    w+2    |          each is one range of `_id`s:
 *     records              --a--|-b-|-----c------------------|-d-|        a, b and c must lie in that of w,
 *                                                                         nothing in that of w+1
 *
 * A block that was cut short by a lost connection, a stepdown or a moved chunk is looked at again from its
 * start. A block in which something differs is looked at once more, too, and what is told is the second look:
 * a primary that was elected a moment ago may not know yet that the majority has what it holds. */
#ifndef TIPPLE_VERIFY_VERIFIER_H
#define TIPPLE_VERIFY_VERIFIER_H

#include "catalog/register/register.h"
#include "format/filter.h"
#include "load/blocks/block.h"
#include "load/rejects/fixes.h"
#include "server/server.h"
#include "server/wire.h"
#include "verify/difference.h"
#include "verify/own_ids.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* What all verifiers of a run share. */
typedef struct {
    const schema_t *schema;
    existing_t existing;
    const filter_t *filter; /* or NULL */
    const fixes_t *fixes;   /* or NULL */
    server_t *server;
    const load_file_t *files;      /* a block's file is one of these */
    const registration_t *entries; /* of the catalog, in the order of the files */
    uint64_t most;                 /* differences kept of a kind */
    bool whole;                    /* documents that belong to no record are looked for, too */
    atomic_llong shaken_ns;        /* when the server was last found again */
} inspection_t;

typedef struct verifier verifier_t;

verifier_t *verifier_new(inspection_t *inspection, err_t *err);
void verifier_free(verifier_t *verifier); /* NULL is allowed */

/* Looks at a block; its buffer stays the caller's. */
bool verifier_look(verifier_t *verifier, const block_t *block, err_t *err);

/* What it has found so far. The counters may be read by other threads (each of them is whole); the rest only
 * by the verifier's own, or after it has ended. */
const inspected_t *verifier_counters(const verifier_t *verifier);
differences_t *verifier_differences(verifier_t *verifier);
last_wins_t *verifier_last(verifier_t *verifier); /* EXISTING_REPLACE */
const verified_ids_t *verifier_ids(const verifier_t *verifier);

/* Is the file what it was before it grew, and was loaded on? Then there are documents behind its end, and rightly. */
bool verifier_is_earlier(const wanted_t *wanted);
/* Why nothing is expected behind its end. */
const char *verifier_why_behind(const wanted_t *wanted);

#endif
