/* range_cost: is it worth while to run an aggregation as ranges, and as how many? Asks the server; any thread, with
 * a client of its own. */
#ifndef TIPPLE_QUERY_SPLIT_RANGE_COST_H
#define TIPPLE_QUERY_SPLIT_RANGE_COST_H

#include "query/split/bounds.h"
#include "server/server.h"
#include "query/split/topology.h"
#include "query/split/parts.h"

/* A shard that is behind the moment of all parts writes something to get there, and waits for its journal: up
 * to a tenth of a second, whatever there is to read. */
enum {
    RANGE_COST_WHY = 300,
    RANGE_COST_MOST_RANGES = 16,
    RANGE_COST_LEAST_DOCUMENTS = 50000,
    RANGE_COST_LEAST_IN_CLUSTER = 500000
};

/* By what is known of the ground: as many as there are cores; 1: why. Nothing is asked. */
uint32_t range_cost_ranges(const topology_t *ground, char why[RANGE_COST_WHY]);

/* What only the server knows. *pays: whether these ranges do, else why: the whole pipeline goes by an index
 * that ranges would not; or, on a collection that is not clustered, where a range costs more than the same
 * documents in a scan, a few documents took longer in ranges than whole. False: it did not answer. */
bool range_cost_ask(server_t *server, mongoc_client_t *client, const request_t *request,
                    const topology_t *ground, const parts_t *parts, const bounds_t *bounds, bool *pays,
                    char why[RANGE_COST_WHY], bson_error_t *error);

/* In the reply of an explain: the index that finds the documents, copied; false: none but that of _id. */
bool range_cost_index(const bson_t *explained, char *name, size_t room);

#endif
