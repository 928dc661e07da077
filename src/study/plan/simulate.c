#include "study/plan/simulate.h"
#include "base/grow.h"
#include "base/numbers/chance.h"
#include "base/numbers/units.h"
#include "base/stop.h"
#include "format/record/record_id.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const simulate_names[SIMULATE_WAYS] = {
    [SIMULATE_IN_STEP] = "all shards in step",
    [SIMULATE_OWN] = "a loader for each shard",
    [SIMULATE_TAKEOVER] = "others take over",
    [SIMULATE_HANDED_OUT] = "lanes handed out again",
};

/* ---- chance: a random stream for each thing that chance decides, so that all ways have the same events ---- */

static uint64_t chance_stream(uint64_t seed, uint64_t of) {
    uint64_t mixed = seed * 0xD1342543DE82EF95u + of;
    return chance_next(&mixed);
}

/* Above 0, at most 1. */
static double chance_share(uint64_t *stream) {
    return ((double)(chance_next(stream) >> 11) + 1) / 9007199254740992.0;
}

static double chance_normal(uint64_t *stream) {
    double radius = sqrt(-2 * log(chance_share(stream)));
    return radius * cos(6.283185307179586 * chance_share(stream));
}

/* ---- coming events, the earliest first ---- */

typedef struct {
    double at;
    uint32_t who, stamp;
} event_t;

typedef struct {
    event_t *events;
    size_t count, room;
} agenda_t;

static bool agenda_put(agenda_t *agenda, event_t event) {
    if (!GROW(agenda->events, agenda->room, agenda->count + 1, NULL))
        return false;
    size_t at = agenda->count++;
    for (; at && agenda->events[(at - 1) / 2].at > event.at; at = (at - 1) / 2)
        agenda->events[at] = agenda->events[(at - 1) / 2];
    agenda->events[at] = event;
    return true;
}

static void agenda_drop_first(agenda_t *agenda) {
    event_t last = agenda->events[--agenda->count];
    size_t at = 0;
    for (size_t child; (child = 2 * at + 1) < agenda->count; at = child) {
        if (child + 1 < agenda->count && agenda->events[child + 1].at < agenda->events[child].at)
            child++;
        if (agenda->events[child].at >= last.at)
            break;
        agenda->events[at] = agenda->events[child];
    }
    agenda->events[at] = last;
}

/* ---- the world ----
 *
 * Shards use a time of their own, which runs slower than the clock while all shards together want more than the common
 * bound allows. In this time, a shard's end does not move when another shard starts or stops. */

typedef struct {
    double speed, left,
        ends;       /* left: seconds of work at ordinary speed, when it last stopped; ends: in shards' time */
    uint32_t stamp; /* of its end on the agenda: entries with an older stamp are void */
    uint8_t down, starved;    /* its server is down; its loader is down */
    bool runs, working, done; /* working: it has a piece that is not finished */
} shard_t;

enum { FAILS = 0, RETURNS = 1, REPLACED = 2, EVENTS = 3 };

typedef struct {
    const simulate_spec_t *spec;
    simulate_way_t way;
    shard_t *shards;
    uint64_t *streams; /* of failures: of the shards' servers, then of the loaders */
    agenda_t ends, times;
    double now, shard_time, pace, wanted, piece;
    uint64_t pool; /* pieces that no shard has begun */
    uint32_t down_servers, down_loaders, done;
    uint64_t events; /* of all runs */
    bool memory_out;
} world_t;

static void put_time(world_t *world, double at, uint32_t who, uint32_t what) {
    world->memory_out |= !agenda_put(&world->times, (event_t){at, who, what});
}

/* The common bound, in multiples of an ordinary shard's speed. Loaders that are down carry nothing, except where their
 * shards wait for them anyway. */
static double bound(const world_t *world) {
    const simulate_spec_t *spec = world->spec;
    if (spec->common_seconds <= 0)
        return INFINITY;
    double all = spec->shards * spec->own_seconds / spec->common_seconds;
    if (!spec->loaders || world->way == SIMULATE_OWN)
        return all;
    return all * (spec->loaders - world->down_loaders) / spec->loaders;
}

static void set_pace(world_t *world) {
    double most = bound(world);
    world->pace = world->wanted > most ? most / world->wanted : 1;
    if (world->way == SIMULATE_IN_STEP && world->down_servers)
        world->pace = 0;
}

/* The work of a shard, in even shares. */
static double share_of(const simulate_spec_t *spec, uint32_t i) {
    if (!spec->by_lanes || spec->shards > RECORD_ID_LANES)
        return 1;
    uint32_t first = i * RECORD_ID_LANES / spec->shards, end = (i + 1) * RECORD_ID_LANES / spec->shards;
    return (double)(end - first) * spec->shards / RECORD_ID_LANES;
}

static void start(world_t *world, uint32_t who) {
    shard_t *shard = &world->shards[who];
    /* in step, a server that is down stops all shards: the pace contains that */
    bool stands = world->way != SIMULATE_IN_STEP && (shard->down || shard->starved);
    if (shard->runs || shard->done || stands)
        return;
    if (!shard->working) {
        if (!world->pool) {
            shard->done = true;
            world->done++;
            return;
        }
        world->pool--;
        shard->left = world->piece * (world->way == SIMULATE_HANDED_OUT ? 1 : share_of(world->spec, who));
        shard->working = true;
    }
    shard->runs = true;
    shard->ends = world->shard_time + shard->left / shard->speed;
    world->wanted += shard->speed;
    world->memory_out |= !agenda_put(&world->ends, (event_t){shard->ends, who, ++shard->stamp});
}

static void halt(world_t *world, uint32_t who) {
    shard_t *shard = &world->shards[who];
    if (!shard->runs || world->way == SIMULATE_IN_STEP)
        return;
    shard->left = (shard->ends - world->shard_time) * shard->speed;
    shard->runs = false;
    shard->stamp++;
    world->wanted -= shard->speed;
}

static void finish_piece(world_t *world, uint32_t who) {
    shard_t *shard = &world->shards[who];
    shard->runs = shard->working = false;
    world->wanted -= shard->speed;
    if (world->way == SIMULATE_HANDED_OUT) {
        start(world, who);
    } else {
        shard->done = true;
        world->done++;
    }
}

static void feed(world_t *world, uint32_t loader, bool fed) {
    for (uint32_t who = loader; who < world->spec->shards; who += world->spec->loaders) {
        world->shards[who].starved = !fed;
        fed ? start(world, who) : halt(world, who);
    }
}

/* ---- failures ---- */

static void next_failure(world_t *world, uint32_t who, double from) {
    double mtbf = who < world->spec->shards ? world->spec->mtbf : world->spec->loader_mtbf;
    if (mtbf > 0)
        put_time(world, from - mtbf * log(chance_share(&world->streams[who])), who, FAILS);
}

static void server_event(world_t *world, uint32_t who, uint32_t what) {
    bool fails = what == FAILS;
    world->shards[who].down = fails;
    world->down_servers += fails ? 1u : -1u;
    if (fails) {
        halt(world, who);
        put_time(world, world->now + world->spec->repair, who, RETURNS);
    } else {
        start(world, who);
        next_failure(world, who, world->now);
    }
}

static void loader_event(world_t *world, uint32_t who, uint32_t what) {
    const simulate_spec_t *spec = world->spec;
    uint32_t loader = who - spec->shards;
    bool others = world->way != SIMULATE_OWN && spec->takeover < spec->loader_repair && spec->loaders > 1;
    if (what == FAILS) {
        world->down_loaders++;
        feed(world, loader, false);
        put_time(world, world->now + spec->loader_repair, who, RETURNS);
        if (others)
            put_time(world, world->now + spec->takeover, who, REPLACED);
    } else {
        feed(world, loader, true);
    }
    if (what == RETURNS) {
        world->down_loaders--;
        next_failure(world, who, world->now);
    }
}

/* ---- a run ---- */

/* All shards are filled together, at the speed of the slowest. */
static void keep_in_step(world_t *world) {
    double longest = 0;
    for (uint32_t i = 0; i < world->spec->shards; i++)
        longest = fmax(longest, share_of(world->spec, i) / world->shards[i].speed);
    for (uint32_t i = 0; i < world->spec->shards; i++)
        world->shards[i].speed = share_of(world->spec, i) / longest;
}

static void set_up(world_t *world, uint64_t seed) {
    const simulate_spec_t *spec = world->spec;
    world->now = world->shard_time = world->wanted = 0;
    world->ends.count = world->times.count = 0;
    world->down_servers = world->down_loaders = world->done = 0;
    bool handed_out = world->way == SIMULATE_HANDED_OUT;
    world->piece = spec->own_seconds / (handed_out ? spec->lanes : 1);
    world->pool = (uint64_t)spec->shards * (handed_out ? spec->lanes : 1);
    for (uint32_t i = 0; i < spec->shards; i++) {
        uint64_t stream = chance_stream(seed, 2 * (uint64_t)i);
        double speed = exp(spec->spread * chance_normal(&stream));
        if (chance_share(&stream) <= spec->slow)
            speed *= spec->slow_speed;
        world->shards[i] = (shard_t){.speed = speed};
    }
    if (world->way == SIMULATE_IN_STEP)
        keep_in_step(world);
    for (uint32_t i = 0; i < spec->shards + spec->loaders; i++) {
        world->streams[i] = chance_stream(seed, 2 * (uint64_t)i + 1);
        next_failure(world, i, 0);
    }
    for (uint32_t i = 0; i < spec->shards; i++)
        start(world, i);
    set_pace(world);
}

static void drop_void_ends(world_t *world) {
    while (world->ends.count && world->ends.events[0].stamp != world->shards[world->ends.events[0].who].stamp)
        agenda_drop_first(&world->ends);
}

static void step_to(world_t *world, double time) {
    world->shard_time += (time - world->now) * world->pace;
    world->now = time;
}

/* The next thing that happens. */
static void step(world_t *world, simulate_run_t *run) {
    drop_void_ends(world);
    double end = world->ends.count && world->pace > 0
                     ? world->now + (world->ends.events[0].at - world->shard_time) / world->pace
                     : INFINITY;
    if (world->times.count && world->times.events[0].at < end) {
        event_t event = world->times.events[0];
        agenda_drop_first(&world->times);
        step_to(world, event.at);
        run->failed += event.stamp == FAILS;
        (event.who < world->spec->shards ? server_event : loader_event)(world, event.who, event.stamp);
    } else {
        event_t event = world->ends.events[0];
        agenda_drop_first(&world->ends);
        world->now = end;
        world->shard_time = event.at;
        finish_piece(world, event.who);
    }
    set_pace(world);
}

static uint64_t most_events(const simulate_spec_t *spec) {
    return spec->most_events ? spec->most_events : SIMULATE_MOST_EVENTS;
}

static bool too_many_events(const simulate_spec_t *spec, err_t *err) {
    char most[UNITS_MAX];
    return err_set(
        err, STATUS_USAGE,
        "more than %s events would be simulated (pieces of the load that end, servers and loaders that "
        "fail and return): lower --runs, --shards or --lanes, or raise --mtbf and --loader-mtbf",
        units_count(most, most_events(spec)));
}

/* How often servers or loaders fail in a second. */
static double failures(uint32_t count, double mtbf, double repair) {
    return mtbf > 0 ? count / (mtbf + repair) : 0;
}

/* Checks the least number of events, when nothing delays a run, before anything is simulated. */
static bool few_events(const simulate_spec_t *spec, uint32_t runs, simulate_way_t ways, err_t *err) {
    const double seconds = fmax(spec->own_seconds, spec->common_seconds);
    const double failing = failures(spec->shards, spec->mtbf, spec->repair) +
                           failures(spec->loaders, spec->loader_mtbf, spec->loader_repair);
    const double pieces = (double)spec->shards * (ways == SIMULATE_WAYS ? spec->lanes + ways - 1 : 1);
    return runs * (pieces + ways * seconds * failing) <= (double)most_events(spec) ||
           too_many_events(spec, err);
}

/* Called now and then between events: is there a reason to stop? */
static bool may_go_on(const world_t *world, err_t *err) {
    if (world->memory_out)
        return err_memory(err, world->times.room * sizeof(event_t));
    if (world->events > most_events(world->spec))
        return too_many_events(world->spec, err);
    return !stop_signal() || err_set(err, (status_t)(128 + stop_signal()), "interrupted");
}

static bool play(world_t *world, simulate_way_t way, uint64_t seed, simulate_run_t *run, err_t *err) {
    const uint32_t half = (world->spec->shards + 1) / 2;
    *run = (simulate_run_t){.median = -1};
    world->way = way;
    set_up(world, seed);
    const double never = SIMULATE_NEVER * fmax(world->spec->own_seconds, world->spec->common_seconds);
    while (world->done < world->spec->shards && world->now < never) {
        if (world->memory_out || (++world->events & 0xFFF) == 0) {
            if (!may_go_on(world, err))
                return false;
        }
        step(world, run);
        if (run->median < 0 && world->done >= half)
            run->median = world->now;
    }
    run->end = world->now < never ? world->now : INFINITY;
    return may_go_on(world, err);
}

static bool open_world(world_t *world, const simulate_spec_t *spec, err_t *err) {
    if (!spec->shards || !spec->lanes || !(spec->own_seconds > 0) || !(spec->slow_speed > 0))
        return err_set(err, STATUS_USAGE,
                       "nothing to simulate: shards, their lanes, their time and their speed "
                       "must be more than nothing");
    *world = (world_t){.spec = spec,
                       .shards = calloc(spec->shards, sizeof(shard_t)),
                       .streams = calloc((size_t)spec->shards + spec->loaders, sizeof(uint64_t))};
    return (world->shards && world->streams) || err_memory(err, spec->shards * sizeof(shard_t));
}

static void close_world(world_t *world) {
    free(world->shards);
    free(world->streams);
    free(world->ends.events);
    free(world->times.events);
}

bool simulate_run(const simulate_spec_t *spec, simulate_way_t way, uint64_t seed, simulate_run_t *run,
                  err_t *err) {
    world_t world = {.spec = NULL};
    bool ok =
        open_world(&world, spec, err) && few_events(spec, 1, 1, err) && play(&world, way, seed, run, err);
    close_world(&world);
    return ok;
}

/* ---- many runs ---- */

uint64_t simulate_seed(uint64_t seed, uint32_t run) {
    return chance_stream(seed, run);
}

static int compare(const void *a, const void *b) {
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The smallest value that a `share` of all values does not exceed. */
static double percentile(const double *sorted, uint32_t count, double share) {
    double rank = ceil(share * count);
    return sorted[rank < 1 ? 0 : (uint32_t)rank - 1];
}

static simulate_figures_t sum_up(double *ends, uint32_t count, double even) {
    double sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += ends[i];
    qsort(ends, count, sizeof *ends, compare);
    return (simulate_figures_t){.p5 = percentile(ends, count, 0.05),
                                .p50 = percentile(ends, count, 0.5),
                                .p95 = percentile(ends, count, 0.95),
                                .least = ends[0],
                                .most = ends[count - 1],
                                .longer = sum / count / even - 1};
}

bool simulate_all(const simulate_spec_t *spec, simulate_figures_t figures[SIMULATE_WAYS], err_t *err) {
    world_t world = {.spec = spec};
    double *ends = calloc(spec->runs ? spec->runs : 1, sizeof *ends);
    if (!ends)
        return err_memory(err, spec->runs * sizeof *ends);
    bool ok = open_world(&world, spec, err);
    if (ok && !spec->runs)
        ok = err_set(err, STATUS_USAGE, "nothing to simulate: no runs");
    ok = ok && few_events(spec, spec->runs, SIMULATE_WAYS, err);
    for (simulate_way_t way = 0; ok && way < SIMULATE_WAYS; way++) {
        double waiting = 0, failed = 0;
        for (uint32_t i = 0; ok && i < spec->runs; i++) {
            simulate_run_t run;
            if (!(ok = play(&world, way, simulate_seed(spec->seed, i), &run, err)))
                break;
            ends[i] = run.end;
            waiting += isfinite(run.end) ? (run.end - run.median) / run.end : 1;
            failed += run.failed;
        }
        if (!ok)
            break;
        figures[way] = sum_up(ends, spec->runs, fmax(spec->own_seconds, spec->common_seconds));
        figures[way].waiting = waiting / spec->runs;
        figures[way].failed = failed / spec->runs;
    }
    close_world(&world);
    free(ends);
    return ok;
}
