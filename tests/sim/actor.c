/* actor: who runs. An actor is a coroutine of a load; the world resumes one after another. */
#include "sim.h"

int64_t load_clock(const sim_load_t *load) {
    return load->clock_then + (load->world->now - load->clock_at) * (int64_t)load->rate / 100;
}

static void run(void *argument) {
    actor_t *actor = argument;
    actor->function(actor->load);
}

void actor_start(actor_t *actor, sim_load_t *load, const char *name, void (*function)(void *)) {
    coroutine_t *coroutine = actor->coroutine ? actor->coroutine : coroutine_new();
    *actor =
        (actor_t){.coroutine = coroutine, .load = load, .name = name, .function = function, .alive = true};
    coroutine_start(coroutine, run, actor);
}

bool actor_is_ready(const actor_t *actor) {
    if (!actor->alive || actor->load->suspended)
        return false;
    if (actor->waits_for)
        return actor->waits_for->executed;
    return !actor->waits_time || actor->woken || load_clock(actor->load) >= actor->due;
}

void actor_pause(world_t *world) {
    (void)world;
    coroutine_yield();
}

void actor_sleep(world_t *world, int64_t most_ns) {
    actor_t *actor = world->current;
    actor->due = load_clock(actor->load) + most_ns;
    actor->waits_time = true;
    while (!actor->woken && load_clock(actor->load) < actor->due)
        coroutine_yield();
    actor->waits_time = actor->woken = false;
}

void actor_wake(actor_t *actor) {
    actor->woken = true;
}
