#include "load/run/coordinator.h"

static void note_written(coordinator_t *coordinator) {
    coordinator->written(coordinator->context, ledger_confirmed(coordinator->ledger));
}

bool coordinator_flush(coordinator_t *coordinator, err_t *err) {
    bool ok = coordinator->collect(coordinator->context, err);
    ok = ok && catalog_checkpoint(coordinator->catalog, coordinator->ledger, err);
    note_written(coordinator);
    return ok;
}

bool coordinator_confirm(coordinator_t *coordinator, err_t *err) {
    const bool ok = catalog_confirm(coordinator->catalog, coordinator->ledger, false, err);
    note_written(coordinator);
    return ok;
}

typedef bool look_fn(const catalog_t *catalog, ledger_t *ledger, err_t *err);

static bool look(coordinator_t *coordinator, look_fn *at, err_t *err) {
    const bool ok = at(coordinator->catalog, coordinator->ledger, err);
    note_written(coordinator);
    return ok;
}

static bool hand_out(coordinator_t *coordinator, bool *any, err_t *err) {
    *any = false;
    for (work_t *work; (work = ledger_hand_out(coordinator->ledger)); *any = true)
        if (!coordinator->hand_out(coordinator->context, work, err))
            return false;
    return true;
}

static bool take(coordinator_t *coordinator, err_t *err) {
    const bool ok = catalog_take(coordinator->catalog, coordinator->ledger, NULL, coordinator->least_pieces,
                                 coordinator->piece_bytes, err);
    bool any;
    note_written(coordinator);
    return ok && hand_out(coordinator, &any, err);
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
    const size_t lost = coordinator->ledger->lost;
    if (!coordinator_flush(coordinator, err) || !coordinator_confirm(coordinator, err))
        return false;
    *written_ns = catalog_now(coordinator->catalog);
    bool any;
    if (!hand_out(coordinator, &any, err)) /* what we lost may have become something to be compared */
        return false;
    return coordinator->ledger->lost != lost || coordinator->enough(coordinator->context) ||
           !is_stuck(coordinator, *idle, err);
}

bool coordinator_run(coordinator_t *coordinator, err_t *err) {
    const catalog_t *catalog = coordinator->catalog;
    ledger_t *ledger = coordinator->ledger;
    int64_t written_ns = catalog_now(coordinator->catalog);
    /* what was registered as taken comes first; that may have been long ago */
    bool any, idle = false, looked = true,
              ok = look(coordinator, catalog_look_at_loads, err) && coordinator_confirm(coordinator, err) &&
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
            ok = take(coordinator, err);
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
            ok = ok && look(coordinator, catalog_look, err) && hand_out(coordinator, &any, err);
            looked = true;
        }
    }
    return false;
}
