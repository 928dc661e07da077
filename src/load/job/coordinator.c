#include "load/job/coordinator.h"

/* So many times in a lease the catalog says of each piece whose it is. */
enum { CONFIRMED_A_LEASE = 4 };

static void tell(coordinator_t *coordinator) {
    coordinator->written(coordinator->context, ledger_confirmed(coordinator->ledger));
}

bool coordinator_flush(coordinator_t *coordinator, err_t *err) {
    bool ok = coordinator->collect(coordinator->context, err);
    coordinator->ledger->asked_ns = coordinator->now(coordinator->context);
    ok = ok && catalog_checkpoint(coordinator->store, coordinator->ledger, err);
    tell(coordinator);
    return ok;
}

bool coordinator_confirm(coordinator_t *coordinator, err_t *err) {
    ledger_t *ledger = coordinator->ledger;
    const int64_t now_ns = coordinator->now(coordinator->context),
                  since_ns = now_ns - ledger->options.lease_ns / CONFIRMED_A_LEASE;
    if (ledger_confirmed(ledger) > since_ns)
        return true;
    const bool ok = catalog_confirm(coordinator->store, ledger, now_ns, since_ns, err);
    tell(coordinator);
    return ok;
}

typedef bool look_fn(store_t *store, ledger_t *ledger, int64_t now_ns, uint64_t own_beats, err_t *err);

static bool look(coordinator_t *coordinator, look_fn *at, err_t *err) {
    const bool ok = at(coordinator->store, coordinator->ledger, coordinator->now(coordinator->context),
                       coordinator->own_beats(coordinator->context), err);
    tell(coordinator);
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
    coordinator->ledger->asked_ns = coordinator->now(coordinator->context);
    const bool ok = catalog_take(coordinator->store, coordinator->ledger, NULL, coordinator->least_pieces,
                                 coordinator->piece_bytes, err);
    bool any;
    tell(coordinator);
    return ok && hand_out(coordinator, &any, err);
}

/* Something of ours is not done although everything was fed and settled: nothing would ever change that. */
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

/* One round while pieces of ours are under way. */
static bool work(coordinator_t *coordinator, bool may_take, bool *hungry, bool *idle, int64_t *written_ns,
                 err_t *err) {
    const int64_t left_ns = *written_ns + coordinator->checkpoint_ns - coordinator->now(coordinator->context);
    if (!coordinator->wait(coordinator->context, left_ns > 0 ? left_ns : 0, may_take, hungry, idle, err))
        return false;
    if (!*idle && coordinator->now(coordinator->context) - *written_ns < coordinator->checkpoint_ns)
        return true;
    const size_t lost = coordinator->ledger->lost;
    if (!coordinator_flush(coordinator, err) || !coordinator_confirm(coordinator, err))
        return false;
    *written_ns = coordinator->now(coordinator->context);
    bool any;
    if (!hand_out(coordinator, &any, err)) /* what we lost may have become something to be compared */
        return false;
    return coordinator->ledger->lost != lost || coordinator->enough(coordinator->context) ||
           !is_stuck(coordinator, *idle, err);
}

bool coordinator_run(coordinator_t *coordinator, err_t *err) {
    ledger_t *ledger = coordinator->ledger;
    int64_t written_ns = coordinator->now(coordinator->context);
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
                coordinator->waits_for(coordinator->context, load);
                ok = coordinator->sleep(coordinator->context, coordinator->look_ns, err);
            }
            hungry = true;
            ok = ok && look(coordinator, catalog_look, err) && hand_out(coordinator, &any, err);
            looked = true;
        }
    }
    return false;
}
