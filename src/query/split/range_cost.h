/* range_cost: does it pay to run an aggregation as ranges, and as how many? Asks the server. Any thread, with a client
 * of its own. */
#ifndef TIPPLE_QUERY_SPLIT_RANGE_COST_H
#define TIPPLE_QUERY_SPLIT_RANGE_COST_H

#include "query/split/bounds.h"
#include "query/split/parts.h"
#include "query/split/topology.h"
#include "server/server.h"

/* To provide the moment that all parts see, a shard that is behind it writes something and waits for its journal: up to
 * a tenth of a second, however little there is to read. */
enum {
    RANGE_COST_WHY = 300,
    RANGE_COST_MOST_RANGES = 16,
    RANGE_COST_LEAST_DOCUMENTS = 50000,
    RANGE_COST_LEAST_IN_CLUSTER = 500000
};

/* From what is known: as many ranges as there are cores; 1: why says the reason. Does not ask the server. */
uint32_t range_cost_ranges(const topology_t *ground, char why[RANGE_COST_WHY]);

/* Asks the server whether these ranges pay. *pays false: why says the reason. The whole pipeline uses an index that
 * ranges would not use; or the collection is not clustered, so a range costs more than the same documents in a scan,
 * and a few documents took longer in ranges than as a whole. Returns false if the server did not answer. */
bool range_cost_ask(server_t *server, mongoc_client_t *client, const request_t *request,
                    const topology_t *ground, const parts_t *parts, const bounds_t *bounds, bool *pays,
                    char why[RANGE_COST_WHY], bson_error_t *error);

/* From the reply of an explain: the name of the index that finds the documents, copied; false: none, or only that of
 * _id. */
bool range_cost_index(const bson_t *explained, char *name, size_t room);

#endif
