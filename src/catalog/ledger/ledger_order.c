/* The ledger: inputs one after the other, by their numbers in the catalog, where later records replace earlier ones. */
#include "catalog/ledger/ledger.h"
#include "catalog/ledger/ledger_inner.h"

#include <stdlib.h>

static uint64_t rank_of(const ledger_t *ledger, size_t number) {
    const work_t *work = &ledger->works[number];
    return (uint64_t)ledger->inputs[work->input].entry.ordinal << 32 | work->piece;
}

static int by_rank(const void *a, const void *b, void *context) {
    const uint64_t left = rank_of(context, *(const size_t *)a), right = rank_of(context, *(const size_t *)b);
    return (left > right) - (left < right);
}

bool ledger_put_in_order(ledger_t *ledger, err_t *err) {
    const size_t bytes = (ledger->work_count + 1) * sizeof *ledger->order;
    if (!(ledger->order = malloc(bytes)))
        return err_memory(err, bytes);
    for (size_t i = 0; i < ledger->work_count; i++)
        ledger->order[i] = i;
    qsort_r(ledger->order, ledger->work_count, sizeof *ledger->order, by_rank, ledger);
    return true;
}

void ledger_follow_order(ledger_t *ledger) {
    while (ledger->order && ledger->order_from < ledger->work_count &&
           ledger->works[ledger->order[ledger->order_from]].state == WORK_DONE)
        ledger->order_from++;
}

bool ledger_is_its_turn(const ledger_t *ledger, const work_t *work) {
    const work_t *turn = NULL;
    for (size_t i = ledger->order_from; ledger->order && !turn && i < ledger->work_count; i++)
        if (ledger->works[ledger->order[i]].state != WORK_DONE)
            turn = &ledger->works[ledger->order[i]];
    return !turn || turn == work ||
           (turn->input != work->input &&
            ledger->inputs[turn->input].group == ledger->inputs[work->input].group);
}
