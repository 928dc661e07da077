#include "server/presplit/zones.h"
#include "server/presplit/zone_notes.h"

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

static const char *text_at(const bson_t *document, const char *key) {
    bson_iter_t at;
    return bson_iter_init_find(&at, document, key) && BSON_ITER_HOLDS_UTF8(&at) ? bson_iter_utf8(&at, NULL)
                                                                                : "";
}

const char *zones_of_range(const bson_t *range) {
    return text_at(range, "tag");
}

bool zones_is_own(const zones_t *zones, const char *namespace, const bson_t *range) {
    return zones_number(namespace, zones_of_range(range)) < zones->noted;
}

/* Called for each tag of the shards that is a text; stops when it returns false. */
static bool each_tag(const zones_t *zones, zones_tag_fn *take, void *context) {
    for (size_t i = 0; i < zones->shards.count; i++) {
        const bson_t *shard = zones->shards.documents[i];
        bson_iter_t at, tags;
        if (!bson_iter_init_find(&at, shard, "tags") || !BSON_ITER_HOLDS_ARRAY(&at) ||
            !bson_iter_recurse(&at, &tags))
            continue;
        while (bson_iter_next(&tags))
            if (BSON_ITER_HOLDS_UTF8(&tags) &&
                !take(context, text_at(shard, "_id"), bson_iter_utf8(&tags, NULL)))
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
        zones->others++;
        snprintf(zones->other, sizeof zones->other, "%.127s", zones_of_range(zones->ranges.documents[i]));
    }
    each_tag(zones, count_tag, &(counting_t){zones, namespace});
}

static void take_collection(zones_t *zones, const bson_t *entry) {
    bson_iter_t at;
    zones->sharded = !(bson_iter_init_find(&at, entry, "dropped") && bson_iter_as_bool(&at)) &&
                     bson_iter_init_find(&at, entry, "key");
    zones->unbalanced = bson_iter_init_find(&at, entry, "noBalance") && bson_iter_as_bool(&at);
}

/* Destroys filter. */
static bool find(server_t *server, mongoc_client_t *client, const char *collection, bson_t *filter,
                 config_list_t *list, zones_t *zones, err_t *err) {
    bool ok = config_find(server, client, collection, filter, NULL, list, &zones->hidden, err);
    bson_destroy(filter);
    return ok;
}

bool zones_read(server_t *server, mongoc_client_t *client, zones_t *zones, err_t *err) {
    const char *name = server_namespace(server);
    config_list_t entries = {NULL, 0};
    zone_notes_t before, behind;
    *zones = (zones_t){.hidden = false};
    /* a load that begins or ends meanwhile has its zones and its note, or one of both */
    if (!zone_notes_read(server, client, &before, err))
        return false;
    bool ok = find(server, client, "collections", BCON_NEW("_id", BCON_UTF8(name)), &entries, zones, err) &&
              find(server, client, "tags", BCON_NEW("ns", BCON_UTF8(name)), &zones->ranges, zones, err) &&
              find(server, client, "shards", BCON_NEW("tags", "{", "$exists", BCON_BOOL(true), "}"),
                   &zones->shards, zones, err);
    if (ok && entries.count)
        take_collection(zones, entries.documents[0]);
    ok = ok && zone_notes_read(server, client, &behind, err);
    if (ok) {
        zones->noted = behind.count > before.count ? behind.count : before.count;
        count(zones, name);
    }
    config_free(&entries);
    return ok || zones->hidden;
}

void zones_free(zones_t *zones) {
    config_free(&zones->ranges);
    config_free(&zones->shards);
}
