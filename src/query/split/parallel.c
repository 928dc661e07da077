#include "query/split/parallel.h"
#include "base/ejson.h"
#include "base/stop.h"
#include "base/text.h"
#include "query/split/beyond.h"
#include "query/split/bounds.h"
#include "query/split/parts.h"
#include "query/split/range_cost.h"
#include "query/split/side.h"
#include "query/split/topology.h"
#include "query/suite/aggregate.h"
#include "server/bson_read.h"
#include "server/refusal.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { NEEDS_DISK = 292, EXCEEDED_MEMORY = 146 };
enum { MOST_PARTS_BYTES = 12 << 20, MERGES_MAJOR = 5, MERGES_MINOR = 1, MOST_RANGES = 64 };

/* The codes with which a server refuses a moment: it is too long ago, or it cannot be provided. */
enum { SNAPSHOT_TOO_OLD = 239, SNAPSHOT_UNAVAILABLE = 246 };

/* What is found out only while sending; it holds from then on. */
typedef struct {
    _Atomic(const char *) whole; /* why it runs as a whole; NULL: it does not */
    atomic_bool no_snapshot;
} learnt_t;

struct parallel {
    server_t *server;
    const request_t *request;
    parts_t parts;
    bounds_t bounds;
    bson_t *pipelines; /* one for each range; NULL: it runs as a whole */
    char why[1600];
    bool snapshot, router;
    learnt_t *learnt;
};

/* ---- opening ---- */

typedef struct {
    parallel_t *parallel;
    server_t *server;
    mongoc_client_t *client;
    const request_t *request;
    uint32_t asked, ranges; /* as asked for (0: auto), and as they will be */
    err_t *err;
} opener_t;

/* Says why it runs as a whole. */
static bool __attribute__((format(printf, 2, 3))) whole(opener_t *opener, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(opener->parallel->why, sizeof opener->parallel->why, fmt, args);
    va_end(args);
    opener->ranges = 1;
    return true;
}

/* It cannot be split, whatever the data is: an error if ranges were asked for. */
static bool __attribute__((format(printf, 2, 3))) cannot(opener_t *opener, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    vsnprintf(opener->parallel->why, sizeof opener->parallel->why, fmt, args);
    va_end(args);
    opener->ranges = 1;
    return !opener->asked || err_set(opener->err, STATUS_USAGE, "%s (--parallel %u; auto would run it whole)",
                                     opener->parallel->why, opener->asked);
}

/* Is it {_id: 1}, "_id_", or the order on disk? */
static bool hints_at_id(const bson_iter_t *hint) {
    bson_iter_t key;
    if (BSON_ITER_HOLDS_UTF8(hint))
        return strcmp(bson_iter_utf8(hint, NULL), "_id_") == 0;
    return BSON_ITER_HOLDS_DOCUMENT(hint) && bson_iter_recurse(hint, &key) && bson_iter_next(&key) &&
           (strcmp(bson_iter_key(&key), "_id") == 0 || strcmp(bson_iter_key(&key), "$natural") == 0);
}

static bool is_simple(const bson_iter_t *collation) {
    bson_iter_t locale;
    return BSON_ITER_HOLDS_DOCUMENT(collation) && bson_iter_recurse(collation, &locale) &&
           bson_iter_find(&locale, "locale") && BSON_ITER_HOLDS_UTF8(&locale) &&
           strcmp(bson_iter_utf8(&locale, NULL), "simple") == 0;
}

/* Checks what the request itself says. */
static bool look_at_request(opener_t *opener) {
    const request_t *request = opener->request;
    parts_t *parts = &opener->parallel->parts;
    bson_iter_t option;
    if (request->kind != QUERY_PIPELINE)
        return cannot(opener, "it cannot be split: only aggregations are");
    parts_plan(parts, request->body);
    if (!parts->can)
        return cannot(opener, "%s", parts->why);
    if (bson_iter_init_find(&option, request->options, "hint") && !hints_at_id(&option))
        return cannot(opener, "it cannot be split: its 'hint' is not at _id, and ranges are of _id");
    if (bson_iter_init_find(&option, request->options, "collation") && !is_simple(&option))
        return cannot(opener,
                      "it cannot be split: by its 'collation' texts compare otherwise than _ids are cut");
    if (bson_iter_init_find(&option, request->options, "let")) {
        const char *beyond = beyond_expression(&option);
        if (beyond)
            return cannot(opener, "it cannot be split: %s in 'let' does not depend on a document alone",
                          beyond);
    }
    const server_facts_t *facts = server_facts(opener->server);
    if (facts->major < MERGES_MAJOR || (facts->major == MERGES_MAJOR && facts->minor < MERGES_MINOR))
        return cannot(opener, "it cannot be split: servers merge parts from MongoDB %d.%d on, this is %s",
                      MERGES_MAJOR, MERGES_MINOR, facts->version);
    return true;
}

static bool answered(opener_t *opener, bool ok, const bson_error_t *error, const char *doing) {
    return ok || refusal_explain(server_address(opener->server), error, NULL, doing, opener->err);
}

/* Finds where to cut, and whether that pays. */
static bool look_at_collection(opener_t *opener, const topology_t *ground) {
    parallel_t *parallel = opener->parallel;
    bounds_t *bounds = &parallel->bounds;
    char why[RANGE_COST_WHY];
    bson_error_t error;
    bool pays;
    if (!ground->exists)
        return whole(opener, "there is no such collection");
    if (ground->view)
        return cannot(opener, "it cannot be split: %s is a view, not a collection",
                      opener->request->collection);
    if (ground->collation)
        return cannot(opener, "it cannot be split: the collection has a collation, by which texts compare "
                              "otherwise than _ids are cut");
    opener->ranges = opener->asked ? opener->asked : range_cost_ranges(ground, why);
    if (opener->ranges == 1)
        return whole(opener, "%s", why);
    bool ok = bounds_find(bounds, opener->client, opener->request, opener->ranges, &error);
    if (!answered(opener, ok, &error, "sample the _ids"))
        return false;
    if (bounds->ranges == 1)
        return whole(opener, "%s", bounds->why);
    opener->ranges = bounds->ranges;
    if (opener->asked)
        return true;
    ok = range_cost_ask(opener->server, opener->client, opener->request, ground, &parallel->parts, bounds,
                        &pays, why, &error);
    return answered(opener, ok, &error, "see whether ranges pay") && (pays || whole(opener, "%s", why));
}

static bool make_pipelines(opener_t *opener) {
    parallel_t *parallel = opener->parallel;
    if (!(parallel->pipelines = calloc(opener->ranges, sizeof *parallel->pipelines)))
        return err_memory(opener->err, opener->ranges * sizeof *parallel->pipelines);
    for (uint32_t i = 0; i < opener->ranges; i++) {
        bson_iter_t from, to;
        bool begins = bounds_at(&parallel->bounds, i, &from), ends = bounds_at(&parallel->bounds, i + 1, &to);
        parts_pipeline(&parallel->parts, begins ? &from : NULL, ends ? &to : NULL, 0,
                       &parallel->pipelines[i]);
    }
    return true;
}

static bool look_at_moment(const parallel_t *parallel, mongoc_client_t *client, moment_t *moment, bool *holds,
                           bson_error_t *error);

static bool look(opener_t *opener) {
    parallel_t *parallel = opener->parallel;
    topology_t ground;
    moment_t moment;
    bson_error_t error;
    bool holds;
    if (!look_at_request(opener))
        return false;
    if (opener->ranges == 1)
        return true;
    if (!topology_look(&ground, opener->server, opener->client, opener->request, opener->err) ||
        !look_at_collection(opener, &ground))
        return false;
    if (opener->ranges == 1)
        return true;
    parallel->router = ground.router;
    parallel->snapshot = server_facts(opener->server)->kind != SERVER_STANDALONE &&
                         !ask_has_concern(opener->client, opener->request);
    /* does the server allow it? */
    if (parallel->snapshot)
        parallel->snapshot = look_at_moment(parallel, opener->client, &moment, &holds, &error);
    return make_pipelines(opener);
}

parallel_t *parallel_open(server_t *server, mongoc_client_t *client, const request_t *request,
                          uint32_t ranges, err_t *err) {
    parallel_t *parallel = calloc(1, sizeof *parallel);
    opener_t opener = {.parallel = parallel,
                       .server = server,
                       .client = client,
                       .request = request,
                       .asked = ranges,
                       .err = err};
    if (!parallel || !(parallel->learnt = calloc(1, sizeof *parallel->learnt))) {
        err_memory(err, sizeof *parallel);
        free(parallel);
        return NULL;
    }
    parallel->server = server;
    parallel->request = request;
    bool ok = look(&opener);
    /* a collection that cannot be examined can still be queried */
    if (!ok && !ranges && !stop_signal() && err->status != STATUS_HOST)
        ok = whole(&opener, "%s", err->text);
    if (ok)
        return parallel;
    parallel_close(parallel);
    return NULL;
}

void parallel_close(parallel_t *parallel) {
    if (!parallel)
        return;
    for (uint32_t i = 0; parallel->pipelines && i < parallel->bounds.ranges; i++)
        bson_destroy(&parallel->pipelines[i]);
    free(parallel->pipelines);
    parts_free(&parallel->parts);
    bounds_free(&parallel->bounds);
    free(parallel->learnt);
    free(parallel);
}

/* ---- the plan ---- */

uint32_t parallel_ranges(const parallel_t *parallel) {
    return parallel->pipelines && !parallel->learnt->whole ? parallel->bounds.ranges : 1;
}

const char *parallel_why(const parallel_t *parallel) {
    const char *learnt = parallel->learnt->whole;
    return learnt ? learnt : parallel->why;
}

bool parallel_snapshot(const parallel_t *parallel) {
    return parallel->snapshot && !parallel->learnt->no_snapshot;
}

bool parallel_rounds(const parallel_t *parallel) {
    return parallel->parts.rounds;
}

/* ---- sending ---- */

/* The moment that all parts see. Checks that at that moment every document is in exactly one range: a document with an
 * _id of another type may have been stored since. */
static bool look_at_moment(const parallel_t *parallel, mongoc_client_t *client, moment_t *moment, bool *holds,
                           bson_error_t *error) {
    const request_t *request = parallel->request;
    bson_t least = BSON_INITIALIZER, greatest = BSON_INITIALIZER;
    bool snapshot = parallel_snapshot(parallel);
    const moment_t *then = snapshot ? moment : NULL;
    bool ok = (!snapshot || ask_now(client, request, parallel->router, moment, error)) &&
              ask_end(client, request, false, then, &least, error) &&
              ask_end(client, request, true, then, &greatest, error);
    *holds = ok && bounds_hold(&parallel->bounds, &least, &greatest);
    bson_destroy(&least);
    bson_destroy(&greatest);
    return ok;
}

typedef enum { SENT, FAILED, MOMENT_GONE, RUN_WHOLE } sent_t;

static sent_t refused(bool snapshot, const bson_error_t *error) {
    bool gone = snapshot && error->domain == MONGOC_ERROR_SERVER &&
                (error->code == SNAPSHOT_TOO_OLD || error->code == SNAPSHOT_UNAVAILABLE);
    return gone ? MOMENT_GONE : FAILED;
}

static sent_t run_whole(const parallel_t *parallel, const char *why) {
    parallel->learnt->whole = why;
    return RUN_WHOLE;
}

/* The documents of all parts as one list, in the order of their ranges: of equal keys (1, 1.0) the first one is shown,
 * as in a scan. */
static sent_t collect(const parallel_t *parallel, mongoc_client_t *client, const bson_t *replies,
                      bson_t *list) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < parallel->bounds.ranges; i++) {
        bson_iter_t batch;
        bson_t document;
        if (!ask_batch(client, parallel->request, &replies[i], &batch))
            return run_whole(parallel, "its ranges have too many groups to be merged");
        while (bson_iter_next(&batch) && bson_read_document(&batch, &document)) {
            char digits[16];
            const char *key;
            if (parts_overflowed(&document))
                return run_whole(parallel, "a range's sum left 64 bits");
            bson_uint32_to_string(count++, &key, digits, sizeof digits);
            if (list->len + document.len > MOST_PARTS_BYTES ||
                !bson_append_document(list, key, -1, &document))
                return run_whole(parallel, "its ranges have too many groups to be merged");
        }
    }
    return SENT;
}

static sent_t merge(const parallel_t *parallel, mongoc_client_t *client, const bson_t *list, answer_t *answer,
                    bson_error_t *error) {
    const request_t *request = parallel->request;
    bson_t pipeline, options = BSON_INITIALIZER;
    const uint64_t before = answer->count;
    parts_merge(&parallel->parts, list, &pipeline);
    ask_merge_options(request, &options);
    aggregate_t aggregate;
    aggregate_begin(&aggregate, client, request->database, NULL, &pipeline, &options, request->prefs);
    const bool ok = answer_read(answer, &aggregate, error);
    const bool disk = !ok && answer->count == before && error->domain == MONGOC_ERROR_SERVER &&
                      (error->code == NEEDS_DISK || error->code == EXCEEDED_MEMORY);
    bson_destroy(&options);
    bson_destroy(&pipeline);
    return ok     ? SENT
           : disk ? run_whole(parallel, "what comes behind the merge needs more memory than it has there")
                  : FAILED;
}

static sent_t send_ranges(const parallel_t *parallel, mongoc_client_t *client, answer_t *answer,
                          bson_error_t *error) {
    const uint32_t ranges = parallel->bounds.ranges;
    const bool snapshot = parallel_snapshot(parallel);
    moment_t moment;
    bool holds;
    bson_t replies[MOST_RANGES], list = BSON_INITIALIZER;
    if (!look_at_moment(parallel, client, &moment, &holds, error))
        return refused(snapshot, error);
    if (!holds)
        return run_whole(parallel, "documents have come whose _ids are of another type");
    bool ok = side_by_side(parallel->server, client, parallel->request, parallel->pipelines, ranges,
                           snapshot ? &moment : NULL, replies, error);
    sent_t sent = ok ? collect(parallel, client, replies, &list) : refused(snapshot, error);
    if (sent == SENT)
        sent = merge(parallel, client, &list, answer, error);
    for (uint32_t i = 0; i < ranges; i++)
        bson_destroy(&replies[i]);
    bson_destroy(&list);
    return sent;
}

bool parallel_send(const parallel_t *parallel, mongoc_client_t *client, answer_t *answer,
                   bson_error_t *error) {
    if (parallel_ranges(parallel) == 1)
        return request_send(parallel->request, client, answer, error);
    sent_t sent = send_ranges(parallel, client, answer, error);
    /* once more at a newer moment, then without one */
    if (sent == MOMENT_GONE)
        sent = send_ranges(parallel, client, answer, error);
    if (sent == MOMENT_GONE) {
        parallel->learnt->no_snapshot = true;
        sent = send_ranges(parallel, client, answer, error);
    }
    return sent == RUN_WHOLE ? request_send(parallel->request, client, answer, error) : sent == SENT;
}

/* ---- for a person ---- */

/* The first $match of a range: its bounds. */
static char *bounds_of(const bson_t *pipeline) {
    bson_iter_t stage, value;
    bson_t match;
    return bson_iter_init_find(&stage, pipeline, "0") && bson_iter_recurse(&stage, &value) &&
                   bson_iter_next(&value) && bson_read_document(&value, &match)
               ? ejson_print(&match, true, NULL)
               : NULL;
}

void parallel_explain(const parallel_t *parallel, text_t *to) {
    const uint32_t ranges = parallel_ranges(parallel);
    bson_t part;
    if (ranges == 1) {
        text_print(to, "  whole     %s\n", parallel_why(parallel));
        return;
    }
    text_print(to, "  parallel  %u ranges, cut %s; %s\n", ranges,
               parallel->bounds.lanes ? "between lanes of _id" : "at sampled _ids",
               parallel_snapshot(parallel) ? "all as of one moment (snapshot)"
                                           : "each as of its own moment: not exact "
                                             "under writes");
    for (uint32_t i = 0; i < ranges; i++) {
        char *bounds = bounds_of(&parallel->pipelines[i]);
        text_print(to, "  range %-3u %s\n", i + 1, bounds ? bounds : "");
        free(bounds);
    }
    parts_pipeline(&parallel->parts, NULL, NULL, 0, &part);
    char *each = bson_read_list_json(&part), *merged = bson_read_list_json(&parallel->parts.merge);
    text_print(to, "  each      %s\n  merged by %s\n", each ? each : "", merged ? merged : "");
    if (parallel_rounds(parallel))
        text_print(to, "  sums of doubles are the plain run's to within rounding\n");
    free(each);
    free(merged);
    bson_destroy(&part);
}
