#include "server/bson_read.h"
#include "server/cluster.h"
#include "server/collection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char FIRST[] = "tipple.";

void zones_name(const char *namespace, size_t number, char name[ZONES_NAME]) {
    snprintf(name, ZONES_NAME, "%s%s.%zu", FIRST, namespace, number);
}

size_t zones_number(const char *namespace, const char *zone) {
    const size_t first = sizeof FIRST - 1, length = strlen(namespace);
    if (strncmp(zone, FIRST, first) != 0 || strncmp(zone + first, namespace, length) != 0)
        return SIZE_MAX;
    const char *digits = zone + first + length + 1;
    if (digits[-1] != '.' || !*digits || strspn(digits, "0123456789") != strlen(digits))
        return SIZE_MAX;
    const size_t number = strtoull(digits, NULL, 10);
    char name[ZONES_NAME];
    zones_name(namespace, number, name);
    return strcmp(zone, name) == 0 ? number : SIZE_MAX; /* .007 is not .7 */
}

const char *zones_of_range(const bson_t *range) {
    return bson_read_text(range, "tag");
}

const char *zones_namespace(const bson_t *range) {
    return bson_read_text(range, "ns");
}

bool zones_is_own(const zones_t *zones, const char *namespace, const bson_t *range) {
    return zones_number(namespace, zones_of_range(range)) < zones->noted;
}

/* Called for each tag of the shards that is a text; stops when it returns false. */
static bool each_tag(const zones_t *zones, zones_tag_fn *take, void *context) {
    for (size_t i = 0; i < zones->shards.count; i++) {
        const bson_t *shard = zones->shards.documents[i];
        bson_iter_t tags;
        if (!bson_read_list(shard, "tags", &tags))
            continue;
        for (const char *tag; (tag = bson_read_next_text(&tags));)
            if (!take(context, bson_read_text(shard, "_id"), tag))
                return false;
    }
    return true;
}

typedef struct {
    const char *namespace;
    size_t noted;
    zones_tag_fn *take;
    void *context;
} own_tags_t;

static bool take_own(void *context, const char *shard, const char *zone) {
    const own_tags_t *own = context;
    return zones_number(own->namespace, zone) >= own->noted || own->take(own->context, shard, zone);
}

bool zones_each_tag(const zones_t *zones, const char *namespace, zones_tag_fn *take, void *context) {
    own_tags_t own = {namespace, zones->noted, take, context};
    return each_tag(zones, take_own, &own);
}

typedef struct {
    zones_t *zones;
    const char *namespace;
} counting_t;

static bool count_tag(void *context, const char *shard, const char *zone) {
    const counting_t *counting = context;
    const size_t number = zones_number(counting->namespace, zone);
    (void)shard;
    if (number < counting->zones->noted)
        counting->zones->own_tags++;
    else if (number != SIZE_MAX)
        snprintf(counting->zones->alike, sizeof counting->zones->alike, "%s", zone);
    return true;
}

static void count(zones_t *zones, const char *namespace) {
    for (size_t i = 0; i < zones->ranges.count; i++) {
        if (zones_is_own(zones, namespace, zones->ranges.documents[i])) {
            zones->own_ranges++;
            continue;
        }
        if (strcmp(zones_namespace(zones->ranges.documents[i]), namespace) != 0)
            continue; /* a person's, of a collection that has another name by now */
        zones->others++;
        snprintf(zones->other, sizeof zones->other, "%.127s", zones_of_range(zones->ranges.documents[i]));
    }
    each_tag(zones, count_tag, &(counting_t){zones, namespace});
}

/* Destroys filter. */
static bool find(server_t *server, mongoc_client_t *client, const char *collection, bson_t *filter,
                 config_list_t *list, zones_t *zones, err_t *err) {
    bool ok = config_find(server, client, collection, filter, NULL, list, &zones->hidden, err);
    bson_destroy(filter);
    return ok;
}

/* The names, as a list, of the collection of the address and of those that have been placed by loads. */
static bool find_names(server_t *server, mongoc_client_t *client, const zone_notes_t *notes, bson_t *names,
                       zones_t *zones, err_t *err) {
    config_list_t entries = {NULL, 0};
    bson_t uuids = BSON_INITIALIZER;
    char key[24];
    for (size_t i = 0; i < notes->uuid_count; i++) {
        snprintf(key, sizeof key, "%zu", i);
        BSON_APPEND_BINARY(&uuids, key, BSON_SUBTYPE_UUID, notes->uuids[i], sizeof notes->uuids[i]);
    }
    BSON_APPEND_UTF8(names, "0", server_namespace(server));
    const bool ok = !notes->uuid_count ||
                    find(server, client, "collections", BCON_NEW("uuid", "{", "$in", BCON_ARRAY(&uuids), "}"),
                         &entries, zones, err);
    for (size_t i = 0; i < entries.count; i++) {
        snprintf(key, sizeof key, "%zu", i + 1);
        BSON_APPEND_UTF8(names, key, bson_read_text(entries.documents[i], "_id"));
    }
    config_free(&entries);
    bson_destroy(&uuids);
    return ok;
}

bool zones_read(server_t *server, mongoc_client_t *client, const uint8_t *placed, zones_t *zones,
                err_t *err) {
    zone_notes_t before, behind;
    sharding_t sharding;
    bson_t names = BSON_INITIALIZER;
    *zones = (zones_t){.hidden = false};
    /* a load that begins or ends meanwhile has its zones and its note, or one of both */
    bool ok = zone_notes_read(server, client, &before, err);
    if (ok && placed)
        zone_notes_add(&before, placed);
    if (ok) {
        ok = sharding_read(server, client, NULL, &sharding, err) && !sharding.hidden;
        zones->hidden = sharding.hidden;
        zones->sharded = sharding.sharded;
        zones->unbalanced = sharding.unbalanced;
        zones->unmoved = sharding.unmoved;
        sharding_free(&sharding);
    }
    ok = ok && find_names(server, client, &before, &names, zones, err) &&
         find(server, client, "tags", BCON_NEW("ns", "{", "$in", BCON_ARRAY(&names), "}"), &zones->ranges,
              zones, err) &&
         find(server, client, "shards", BCON_NEW("tags", "{", "$exists", BCON_BOOL(true), "}"),
              &zones->shards, zones, err) &&
         zone_notes_read(server, client, &behind, err);
    if (ok) {
        zones->noted = behind.count > before.count ? behind.count : before.count;
        count(zones, server_namespace(server));
    }
    bson_destroy(&names);
    return ok || zones->hidden;
}

void zones_free(zones_t *zones) {
    config_free(&zones->ranges);
    config_free(&zones->shards);
}

bool zones_may_drop(server_t *server, mongoc_client_t *client, const zones_t *zones, err_t *err) {
    collection_t place;
    bool sharded = false;
    if (!zones->hidden)
        return true;
    return collection_identity(server, client, &place, err) &&
           (!place.exists || sharding_is_any(server, client, &sharded, err)) &&
           (!sharded ||
            err_set(
                err, STATUS_USAGE,
                "%s is sharded, and this user may not read what a drop takes away with it: its shard key, "
                "zones that people have set, balancing that is turned off. The role clusterManager has "
                "what it takes; or drop it yourself first, if none of that is to come back. Nothing was "
                "touched",
                server_namespace(server)));
}
