/* dead_zones: what a load that was killed while it placed the collection has set for its cut would be in the way of the next
 * one. Of several loads that begin at once the first takes it away; the others give it the time. */
#include "base/stop.h"
#include "catalog/store/entry_bson.h"
#include "load/job/job.h"
#include "server/cluster.h"

#include <string.h>

int64_t job_lease_ms(const job_t *job) {
    return job->lease_ms ? job->lease_ms : STORE_LEASE_MS;
}

/* What loads of the collection that were killed while they placed it have left, and who takes it away. */
typedef enum {
    DEAD_NOTHING, /* or a load that runs is placing it */
    DEAD_OURS,    /* of all loads that run, ours came first */
    DEAD_ANOTHERS,
} dead_t;

static bool comes_before(const load_seen_t *one, const load_seen_t *other) {
    return one->since_ms != other->since_ms
               ? one->since_ms < other->since_ms
               : memcmp(one->id.bytes, other->id.bytes, sizeof one->id.bytes) < 0;
}

static const load_seen_t *find_load(const loads_t *loads, const load_id_t *id) {
    for (size_t i = 0; i < loads->count; i++)
        if (load_id_equal(&loads->loads[i].id, id))
            return &loads->loads[i];
    return NULL;
}

static dead_t whose_dead(const job_t *job, const loads_t *loads, const zone_notes_t *notes) {
    const load_seen_t *own = find_load(loads, &job->id);
    dead_t dead = notes->load_count && own ? DEAD_OURS : DEAD_NOTHING;
    for (size_t i = 0; i < notes->load_count; i++) {
        const load_id_t id = load_id_from_oid(&notes->loads[i]);
        const load_seen_t *load = find_load(loads, &id);
        if (load && load_seems_to_run(load, job_lease_ms(job)))
            return DEAD_NOTHING;
    }
    for (size_t i = 0; dead == DEAD_OURS && i < loads->count; i++)
        if (load_puts_back(&loads->loads[i], job_lease_ms(job)) && comes_before(&loads->loads[i], own))
            dead = DEAD_ANOTHERS;
    return dead;
}

static dead_t look_for_dead(const job_t *job) {
    loads_t loads = {0};
    zone_notes_t notes;
    err_t err;
    const bool ok = zone_notes_read(job->server, job->client, &notes, &err) &&
                    job->store->read_loads(job->store, &loads, &err);
    const dead_t dead = ok ? whose_dead(job, &loads, &notes) : DEAD_NOTHING;
    loads_free(&loads);
    return dead;
}

void job_undo_dead(const job_t *job) {
    enum { LOOKS = 100, NAP_MS = 100 };
    dead_t dead = DEAD_NOTHING;
    undone_t undone;
    err_t err;
    for (int looks = 0; !job->spec->dry_run && looks < LOOKS; looks++) {
        dead = look_for_dead(job);
        if (dead != DEAD_ANOTHERS || !stop_nap(NAP_MS, &err))
            break;
    }
    if (dead != DEAD_NOTHING && !stop_signal())
        undo(job->server, job->client, NULL, &undone);
}
