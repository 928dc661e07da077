#include "server/presplit/undo.h"
#include "base/document.h"
#include "base/log.h"
#include "server/bson_read.h"
#include "server/presplit/zone_notes.h"
#include "server/presplit/zones.h"

#include <stdlib.h>

typedef struct {
    server_t *server;
    mongoc_client_t *client;
    undone_t *undone;
    const zones_t *zones;
} undoing_t;

/* Destroys command. */
static void run(undoing_t *undoing, undo_step_t step, bson_t *command) {
    err_t err;
    const bool ok = server_command(undoing->server, undoing->client, "admin", command, false, NULL, &err);
    bson_destroy(command);
    if (ok)
        undoing->undone->steps[step].gone++;
    else if (!undoing->undone->steps[step].left++)
        undoing->undone->steps[step].why = err;
}

static void drop_range(undoing_t *undoing, const bson_t *range) {
    const char *name = server_namespace(undoing->server);
    bson_t min, max;
    if (zones_is_own(undoing->zones, name, range) && bson_read_field(range, "min", &min) &&
        bson_read_field(range, "max", &max))
        run(undoing, UNDO_RANGES,
            BCON_NEW("updateZoneKeyRange", BCON_UTF8(zones_namespace(range)), "min", BCON_DOCUMENT(&min),
                     "max", BCON_DOCUMENT(&max), "zone", BCON_NULL));
}

static bool drop_tag(void *context, const char *shard, const char *zone) {
    run(context, UNDO_TAGS, BCON_NEW("removeShardFromZone", BCON_UTF8(shard), "zone", BCON_UTF8(zone)));
    return true;
}

/* Behind a load that was killed, or could not do it when it had sharded the collection. */
static void keep_off(server_t *server, mongoc_client_t *client, undone_t *undone) {
    bool owed;
    err_t err;
    const bool ok = balancer_keep_off(server, client, &owed, &err);
    undone->steps[UNDO_KEPT_OFF].gone = ok && owed;
    undone->steps[UNDO_KEPT_OFF].left = !ok;
    if (!ok)
        undone->steps[UNDO_KEPT_OFF].why = err;
}

/* The notes go behind all that they are about, and only those that were there before it was looked at. */
static void undo_zones(server_t *server, mongoc_client_t *client, const undo_own_t *own, undone_t *undone,
                       zones_t *zones) {
    undoing_t undoing = {server, client, undone, zones};
    zone_notes_t notes;
    err_t err, ignored;
    *zones = (zones_t){.hidden = false};
    if (!zone_notes_read(server, client, &notes, &err) ||
        !zones_read(server, client, own && own->zones ? own->uuid : NULL, zones, &err) || zones->hidden) {
        undone->steps[UNDO_RANGES].unknown = true;
        undone->steps[UNDO_RANGES].why = err;
    }
    undone->hidden = zones->hidden;
    if (own && zones->noted < own->zones)
        zones->noted = own->zones;
    for (size_t i = 0; i < zones->ranges.count; i++)
        drop_range(&undoing, zones->ranges.documents[i]);
    zones_each_tag(zones, server_namespace(server), drop_tag, &undoing);
    if (!undone->steps[UNDO_RANGES].unknown && !undone->steps[UNDO_RANGES].left &&
        !undone->steps[UNDO_TAGS].left)
        zone_notes_clear(server, client, &notes, &ignored); /* what stays claims nothing but our names */
}

void undo(server_t *server, mongoc_client_t *client, const undo_own_t *own, undone_t *undone) {
    zones_t zones;
    err_t err;
    *undone = (undone_t){.hidden = false};
    undo_zones(server, client, own, undone, &zones);
    const bool sharded = zones.sharded;
    zones_free(&zones);
    const bool ok =
        balancer_release(server, client, own && own->balancing ? own->uuid : NULL, &undone->hold, &err);
    undone->steps[UNDO_BALANCING].gone = ok && undone->hold.hold == BALANCER_OURS;
    undone->steps[UNDO_BALANCING].left = !ok && undone->hold.hold == BALANCER_OURS;
    undone->steps[UNDO_BALANCING].unknown = !ok && undone->hold.hold != BALANCER_OURS;
    if (!ok)
        undone->steps[UNDO_BALANCING].why = err;
    if (ok && sharded)
        keep_off(server, client, undone);
}

bool undo_tell(const server_t *server, const undone_t *undone, const char *hint, err_t *err) {
    static const char *const left[] = {"zone ranges that loads have set could not be taken away",
                                       "tags of shards that loads have set could not be taken away",
                                       "its balancing, which a load has turned off, could not be turned on",
                                       "its balancing, which was off before --drop, could not be turned off"};
    static const char *const unknown[] = {"zones that loads have set could not be looked for", "",
                                          "whether a load has turned its balancing off could not be seen",
                                          ""};
    const char *name = server_namespace(server);
    bool ok = true;
    for (undo_step_t step = 0; step < UNDO_STEPS; step++) {
        if (!undone->steps[step].left && !undone->steps[step].unknown)
            continue;
        log_warn("%s: %s (%s)%s", name, undone->steps[step].left ? left[step] : unknown[step],
                 undone->steps[step].why.text, ok ? hint : "");
        if (ok)
            *err = undone->steps[step].why;
        ok = false;
    }
    char *quoted = ejson_text(undone->hold.name);
    if (undone->hold.hold == BALANCER_IN_DOUBT)
        log_warn("balancing of %s is off: a load that was killed, or a person, turned it off. It stays off; "
                 "sh.enableBalancing(%s) turns it on",
                 undone->hold.name, quoted ? quoted : "...");
    free(quoted);
    return ok;
}
