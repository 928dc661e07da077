#include "query/split/range_cost.h"
#include "base/clock.h"
#include "base/numbers/units.h"
#include "query/split/side.h"

#include <stdio.h>
#include <string.h>

enum { PROBE_DOCUMENTS = 50000, PROBE_TRIES = 2, RANGES_A_CORE = 2 };

/* A probe in ranges must take less than this share of the time of the whole. */
static const double RANGE_COST_BELOW = 0.8;

uint32_t range_cost_ranges(const topology_t *ground, char why[RANGE_COST_WHY]) {
    const uint32_t most = ground->cores < RANGE_COST_MOST_RANGES ? ground->cores : RANGE_COST_MOST_RANGES;
    why[0] = 0;
    const int least = ground->router ? RANGE_COST_LEAST_IN_CLUSTER : RANGE_COST_LEAST_DOCUMENTS;
    if (ground->hidden)
        snprintf(why, RANGE_COST_WHY, "this user may not read how the collection is spread over the shards");
    else if (!ground->by_id)
        snprintf(why, RANGE_COST_WHY, "it is not sharded by _id: each range would go to every shard");
    else if (ground->count < least)
        snprintf(why, RANGE_COST_WHY, "it has fewer than %d documents: ranges would not pay", least);
    else if (ground->router && !ground->clustered)
        snprintf(why, RANGE_COST_WHY,
                 "it is not clustered: a range costs more than the same documents in a scan");
    else if (most < 2)
        snprintf(why, RANGE_COST_WHY, "the server has one core");
    else if (ground->cores <= ground->shards)
        snprintf(why, RANGE_COST_WHY, "its %u shards keep all of their cores (%u) busy without ranges",
                 ground->shards, ground->cores);
    else if (most <= ground->shards)
        snprintf(why, RANGE_COST_WHY, "its %u shards keep as many cores busy without ranges", ground->shards);
    if (why[0])
        return 1;
    /* more than there are cores: while one range is slow for a moment, its core is busy, and the others should have
     * work */
    return most * RANGES_A_CORE < RANGE_COST_MOST_RANGES ? most * RANGES_A_CORE : RANGE_COST_MOST_RANGES;
}

/* ---- the plan ---- */

/* Searches this document or list, at any depth. */
static bool look_for_index(bson_iter_t *inner, char *name, size_t room) {
    while (bson_iter_next(inner)) {
        const char *key = bson_iter_key(inner);
        bson_iter_t below;
        if (strcmp(key, "rejectedPlans") == 0 || strcmp(key, "command") == 0)
            continue;
        if (strcmp(key, "indexName") == 0 && BSON_ITER_HOLDS_UTF8(inner) &&
            strcmp(bson_iter_utf8(inner, NULL), "_id_") != 0) {
            snprintf(name, room, "%s", bson_iter_utf8(inner, NULL));
            return true;
        }
        if ((BSON_ITER_HOLDS_DOCUMENT(inner) || BSON_ITER_HOLDS_ARRAY(inner)) &&
            bson_iter_recurse(inner, &below) && look_for_index(&below, name, room))
            return true;
    }
    return false;
}

bool range_cost_index(const bson_t *explained, char *name, size_t room) {
    bson_iter_t field;
    return bson_iter_init(&field, explained) && look_for_index(&field, name, room);
}

static bool explain(mongoc_client_t *client, const request_t *request, bson_t *reply, bson_error_t *error) {
    const mongoc_read_prefs_t *prefs = request->prefs ? request->prefs : mongoc_client_get_read_prefs(client);
    bson_t command = BSON_INITIALIZER, aggregate;
    bson_append_document_begin(&command, "explain", -1, &aggregate);
    bson_append_utf8(&aggregate, "aggregate", -1, request->collection, -1);
    bson_append_array(&aggregate, "pipeline", -1, request->body);
    bson_append_document(&aggregate, "cursor", -1, &(bson_t)BSON_INITIALIZER);
    ask_options(request, &aggregate);
    bson_append_document_end(&command, &aggregate);
    bson_append_utf8(&command, "verbosity", -1, "queryPlanner", -1);
    bool ok = mongoc_client_command_with_opts(client, request->database, &command, prefs, NULL, reply, error);
    bson_destroy(&command);
    return ok;
}

/* ---- the probe ---- */

/* The shortest of some runs of one pipeline, or of several side by side: after the first run, everything is cached. */
static bool time_least(server_t *server, mongoc_client_t *client, const request_t *request,
                       const bson_t *pipelines, uint32_t count, int64_t *least_ns, bson_error_t *error) {
    bson_t replies[RANGE_COST_MOST_RANGES];
    bool ok = true;
    for (int i = 0; ok && i < PROBE_TRIES; i++) {
        int64_t began = clock_now_ns();
        ok = side_by_side(server, client, request, pipelines, count, NULL, replies, error);
        int64_t took = clock_now_ns() - began;
        *least_ns = i && *least_ns < took ? *least_ns : took;
        for (uint32_t k = 0; k < count; k++)
            bson_destroy(&replies[k]);
    }
    return ok;
}

/* Reads documents from the start of each range, together as many as in a scan. */
static bool probe(server_t *server, mongoc_client_t *client, const request_t *request, const parts_t *parts,
                  const bounds_t *bounds, bool *pays, char why[RANGE_COST_WHY], bson_error_t *error) {
    bson_t pipelines[RANGE_COST_MOST_RANGES], whole;
    int64_t apart_ns = 0, whole_ns = 0;
    for (uint32_t i = 0; i < bounds->ranges; i++) {
        bson_iter_t from, to;
        bool begins = bounds_at(bounds, i, &from), ends = bounds_at(bounds, i + 1, &to);
        parts_pipeline(parts, begins ? &from : NULL, ends ? &to : NULL, PROBE_DOCUMENTS / bounds->ranges,
                       &pipelines[i]);
    }
    parts_pipeline(parts, NULL, NULL, PROBE_DOCUMENTS, &whole);
    bool ok = time_least(server, client, request, &whole, 1, &whole_ns, error) &&
              time_least(server, client, request, pipelines, bounds->ranges, &apart_ns, error);
    *pays = (double)apart_ns < RANGE_COST_BELOW * (double)whole_ns;
    if (ok && !*pays) {
        char whole_time[UNITS_MAX], apart_time[UNITS_MAX];
        snprintf(why, RANGE_COST_WHY,
                 "it is not clustered, and a probe of %d documents took %s in %u ranges, %s whole",
                 PROBE_DOCUMENTS, units_time(apart_time, apart_ns), bounds->ranges,
                 units_time(whole_time, whole_ns));
    }
    for (uint32_t i = 0; i < bounds->ranges; i++)
        bson_destroy(&pipelines[i]);
    bson_destroy(&whole);
    return ok;
}

bool range_cost_ask(server_t *server, mongoc_client_t *client, const request_t *request,
                    const topology_t *ground, const parts_t *parts, const bounds_t *bounds, bool *pays,
                    char why[RANGE_COST_WHY], bson_error_t *error) {
    bson_t explained;
    char index[128];
    bool ok = explain(client, request, &explained, error);
    *pays = ok && !range_cost_index(&explained, index, sizeof index);
    if (ok && !*pays)
        snprintf(why, RANGE_COST_WHY,
                 "its documents are found by the index %s, which ranges of _id would not use", index);
    bson_destroy(&explained);
    return ok &&
           (!*pays || ground->clustered || probe(server, client, request, parts, bounds, pays, why, error));
}
