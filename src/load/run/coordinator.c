#include "load/run/coordinator.h"

/* Only an answer that was taken in as a whole confirms that the pieces are ours. */
static bool note_written(coordinator_t *coordinator, bool ok) {
    if (ok)
        coordinator->written(coordinator->context, ledger_confirmed(coordinator->ledger));
    return ok;
}

bool coordinator_flush(coordinator_t *coordinator, err_t *err) {
    bool ok = coordinator->collect(coordinator->context, err);
    ok = ok && catalog_checkpoint(coordinator->catalog, coordinator->ledger, err);
    return note_written(coordinator, ok);
}

bool coordinator_confirm(coordinator_t *coordinator, err_t *err) {
    return note_written(coordinator, catalog_confirm(coordinator->catalog, coordinator->ledger, false, err));
}

static bool hand_out(coordinator_t *coordinator, bool *any, err_t *err) {
    *any = false;
    for (work_t *work; (work = ledger_hand_out(coordinator->ledger)); *any = true)
        if (!coordinator->hand_out(coordinator->context, work, err))
            return false;
    return true;
}

/* True if a piece of ours is not done although everything was fed and settled: nothing would ever change that. */
static bool is_stuck(const coordinator_t *coordinator, bool idle, err_t *err) {
    const ledger_t *ledger = coordinator->ledger;
    for (size_t i = 0; idle && i < ledger->work_count; i++) {
        const work_t *work = &ledger->works[i];
        if (work->state == WORK_OURS && work->handed_out && !work->torn.length)
            return !err_set(err, STATUS_SERVER,
                            "%s was read to its end, but not all of it is done: this is a mistake in tipple, "
                            "please report it; the same command resumes from there",
                            ledger->inputs[work->input].name);
    }
    return false;
}

/* Does one round while pieces of ours are under way. */
static bool work(coordinator_t *coordinator, bool may_take, bool *hungry, bool *idle, int64_t *written_ns,
                 err_t *err) {
    const int64_t left_ns = *written_ns + coordinator->checkpoint_ns - catalog_now(coordinator->catalog);
    if (!coordinator->wait(coordinator->context, left_ns > 0 ? left_ns : 0, may_take, hungry, idle, err))
        return false;
    if (!*idle && catalog_now(coordinator->catalog) - *written_ns < coordinator->checkpoint_ns)
        return true;
    if (!coordinator_flush(coordinator, err) || !coordinator_confirm(coordinator, err))
        return false;
    *written_ns = catalog_now(coordinator->catalog);
    return coordinator->enough(coordinator->context) || !is_stuck(coordinator, *idle, err);
}

bool coordinator_run(coordinator_t *coordinator, err_t *err) {
    const catalog_t *catalog = coordinator->catalog;
    ledger_t *ledger = coordinator->ledger;
    int64_t written_ns = catalog_now(coordinator->catalog);
    /* what was registered as taken comes first; that may have been long ago */
    bool any, idle = false, looked = true,
              ok = catalog_look_at_loads(catalog, ledger, err) && coordinator_confirm(coordinator, err) &&
                   hand_out(coordinator, &any, err),
              hungry = ok && !any;
    while (ok) {
        const load_seen_t *load;
        next_t next;
        if (!ledger_next(ledger, &next, &load, err))
            return false;
        if ((next == NEXT_END && looked) || (idle && coordinator->enough(coordinator->context)))
            return true;
        if (next == NEXT_TAKE && hungry) {
            ok = note_written(coordinator, catalog_take(catalog, ledger, NULL, coordinator->least_pieces,
                                                        coordinator->piece_bytes, err));
            hungry = idle = looked = false;
        } else if (next == NEXT_TAKE || next == NEXT_WORK) {
            ok = work(coordinator, next == NEXT_TAKE, &hungry, &idle, &written_ns, err);
            looked = false;
        } else {
            if (next == NEXT_WAIT && looked) {
                catalog->waits_for(catalog->context, load);
                ok = catalog->wait(catalog->context, err);
            }
            hungry = true;
            ok = ok && note_written(coordinator, catalog_look(catalog, ledger, err));
            looked = true;
        }
        ok = ok && hand_out(coordinator, &any, err); /* what was taken, or has to be compared */
    }
    return false;
}
