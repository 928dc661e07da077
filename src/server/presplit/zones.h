/* zones: what a cluster's settings say about the collection: is it sharded, is it balanced, which zones does it have. A
 * load's own zones have exactly the names tipple.DATABASE.COLLECTION.0, 1, 2, ..., and a load has noted how many of them it
 * sets before it sets the first one, and for which collection; all others belong to a person, and stay. The ranges of a
 * collection go with it when a person gives it another name. Main thread. */
#ifndef TIPPLE_SERVER_PRESPLIT_ZONES_H
#define TIPPLE_SERVER_PRESPLIT_ZONES_H

#include "server/chunks/config.h"

enum { ZONES_NAME = 600, ZONES_OTHER = 128 };

/* The name of a load's zone; and the number of which this is the name: SIZE_MAX, it is no such name. Pure. */
void zones_name(const char *namespace, size_t number, char name[ZONES_NAME]);
size_t zones_number(const char *namespace, const char *zone);

typedef struct {
    bool hidden;  /* this user may not read the config database: the other fields are not known */
    size_t noted; /* zones of lower numbers are a load's */
    bool sharded, unbalanced;
    bool unmoved; /* a person has turned all moves of its chunks off */
    /* of the collection: those of a load, and those of a person; also of collections that loads have placed and that have
     * other names by now */
    config_list_t ranges;
    config_list_t shards;        /* all shards that have tags */
    size_t own_ranges, own_tags; /* a load's */
    size_t others;               /* how many ranges a person has set */
    char other[ZONES_OTHER];     /* the zone of one of those */
    char alike
        [ZONES_NAME]; /* a tag of a shard that has the name of a load's zone and is none; "": there is none */
} zones_t;

/* placed: the UUID of a collection that is known to have been placed by a load, noted or not; or NULL. */
bool zones_read(server_t *server, mongoc_client_t *client, const uint8_t *placed, zones_t *zones, err_t *err);
void zones_free(zones_t *zones);

/* May the collection of the address be dropped? What people have set of one that is sharded goes with it: so not by a user who
 * may not read it, and would not be told. */
bool zones_may_drop(server_t *server, mongoc_client_t *client, const zones_t *zones, err_t *err);

/* The zone of a range from config.tags; the collection that it is of; and is it a load's? */
const char *zones_of_range(const bson_t *range);
const char *zones_namespace(const bson_t *range);
bool zones_is_own(const zones_t *zones, const char *namespace, const bson_t *range);

/* Called for each tag of the shards that is a load's; stops when it returns false. */
typedef bool zones_tag_fn(void *context, const char *shard, const char *zone);
bool zones_each_tag(const zones_t *zones, const char *namespace, zones_tag_fn *take, void *context);

#endif
