/* world: makes a world out of choices, lets it go on step by step, has things go wrong, and then has them go
 * right until every command has ended as it should. */
#include "format/record/record_id.h"
#include "sim.h"

#include <stdio.h>

enum { FAULT_STEPS = 1200, CALM_STEPS = 40000, MOST_RUNS = 14 };

/* ---- the beginning ---- */

static void make_input(world_t *world, uint32_t number) {
    choices_t *choices = world->choices;
    input_t *input = &world->inputs[number];
    *input = (input_t){.number = number, .named = true, .pieces = 1, .only_grew = true, .clock = 10 * number};
    input->unit = LEDGER_BLOCK_BYTES / 2;
    content_t *content = &input->states[0];
    uint32_t count = 2 * world->small;
    if (!world->small) {
        input->kind = (content_kind_t)choose(choices, CHOICE_DETAIL, 3);
        count = 1 + choose(choices, CHOICE_DETAIL, 8);
        input->odd = seldom(choices, CHOICE_DETAIL, 400, 200);
        if (input->kind == INPUT_FILE && chance(choices, CHOICE_DETAIL, 300))
            input->pieces = 2;
        if (input->kind == INPUT_PIPE) {
            input->unit = 24ull << 30;
            input->named = !chance(choices, CHOICE_DETAIL, 200);
            for (uint32_t i = 0; i < number; i++)
                input->named |= !world->inputs[i].named; /* a load has one stdin */
        }
    }
    uint8_t at = 0;
    for (uint32_t i = 0; i < count; i++) {
        record_t *record = &content->records[content->count++];
        record->start = at;
        record->length = 1;
        if (!world->small) {
            record->length = (uint8_t)(1 + seldom(choices, CHOICE_DETAIL, 250, 4));
            record->kind = content_kind(input, at);
        }
        record->whole = record->length;
        at = (uint8_t)(at + record->length);
    }
    if (!world->small && chance(choices, CHOICE_DETAIL, 350)) {
        record_t *last = &content->records[count - 1];
        content->torn = true;
        last->whole = (uint8_t)(last->length + choose(choices, CHOICE_DETAIL, 3));
    }
    content_seal(input, content);
    input->count = 1;
}

static void make_command(world_t *world, uint32_t slot) {
    choices_t *choices = world->choices;
    command_t *command = &world->commands[slot];
    *command = (command_t){.input_count = 1};
    if (world->small)
        return;
    command->input_count = 1 + choose(choices, CHOICE_DETAIL, world->input_count);
    const uint32_t first = choose(choices, CHOICE_DETAIL, world->input_count);
    for (uint32_t i = 0; i < command->input_count; i++)
        command->inputs[i] = (first + i) % world->input_count;
    command->host = seldom(choices, CHOICE_DETAIL, 250, CONTENT_HOSTS);
    command->unsafe = chance(choices, CHOICE_DETAIL, 100);
    command->format = seldom(choices, CHOICE_DETAIL, 60, 2);
    command->drop = chance(choices, CHOICE_DETAIL, slot && world->commands[slot - 1].drop ? 400 : 70);
    command->same_collection = chance(choices, CHOICE_DETAIL, 150);
}

/* In some worlds a person fixes what was rejected, which is more than elsewhere. */
static void make_retries(world_t *world) {
    choices_t *choices = world->choices;
    world->retries = true;
    world->removals = chance(choices, CHOICE_DETAIL, 300);
    world->overtakes = chance(choices, CHOICE_DETAIL, 300);
    for (uint32_t i = 0; i < world->input_count; i++) {
        input_t *input = &world->inputs[i];
        content_t *content = &input->states[0];
        input->odd = CONTENT_ODDER + choose(choices, CHOICE_DETAIL, 50);
        for (uint32_t j = 0; j < content->count; j++)
            content->records[j].kind = content_kind(input, content->records[j].start);
        content_seal(input, content);
    }
    for (uint32_t i = 1; i < world->load_count; i++)
        if (chance(choices, CHOICE_DETAIL, i == 1 ? 800 : 500))
            world->commands[i] =
                (command_t){.input_count = 1, .retry = true, .format = world->commands[0].format};
}

/* In some worlds inputs are forgotten, or loaded anew. */
static void make_removals(world_t *world) {
    choices_t *choices = world->choices;
    world->jumps = world->rates.jump > 0;
    if (world->small)
        return;
    const uint32_t kind = seldom(choices, CHOICE_DETAIL, 650, 5); /* of those that are not like any other */
    world->removals = kind == 1 || kind == 2;
    world->overtakes = kind == 2 || kind == 3;
    if (kind == 4)
        make_retries(world);
    for (uint32_t i = 0; world->removals && i < world->load_count; i++) {
        command_t *command = &world->commands[i];
        if (command->retry)
            continue;
        command->forget = chance(choices, CHOICE_DETAIL, i ? 400 : 100);
        command->documents = command->forget && !chance(choices, CHOICE_DETAIL, 250);
        command->reload = !command->forget && chance(choices, CHOICE_DETAIL, 400);
        command->drop = command->drop && !command->forget;
    }
}

static uint32_t rate(world_t *world, uint32_t often, uint32_t most) {
    static const uint32_t shares[] = {10, 30, 60, 100};
    if (!chance(world->choices, CHOICE_DETAIL, often))
        return 0;
    const uint32_t made = most * shares[choose(world->choices, CHOICE_DETAIL, 4)] / 100;
    return made ? made : 1;
}

/* Each world has some kinds of faults, and not the others, so that they do not hide each other. */
static void make_rates(world_t *world) {
    rates_t *rates = &world->rates;
    if (world->small) {
        *rates = (rates_t){.lose = 1, .doubled = 1, .kill = 1, .suspend = 1};
        return;
    }
    rates->change_actor = rate(world, 900, 400);
    rates->delay = rate(world, 500, 300);
    rates->lose = rate(world, 400, 80);
    rates->doubled = rate(world, 300, 60);
    rates->pass_time = rate(world, 400, 60);
    rates->suspend = rate(world, 350, 20);
    rates->kill = rate(world, 450, 20);
    rates->stop_beats = rate(world, 250, 20);
    rates->jump = rate(world, 250, 20);
    rates->terminate = rate(world, 150, 10);
    rates->concern = rate(world, 250, 150);
    rates->stray_duplicate = rate(world, 200, 80);
    rates->code = rate(world, 150, 20);
    rates->commit_late = rate(world, 300, 300);
    rates->failover = rate(world, 300, 20);
    rates->crash = rate(world, 400, 30);
    rates->migrate = rate(world, 250, 15);
    rates->grow = rate(world, 350, 15);
    rates->edit = rate(world, 250, 15);
    rates->person = rate(world, 120, 6);
    rates->garble = rate(world, 200, 200);
    rates->clean = rate(world, 200, 10);
    rates->restart = rate(world, 500, 20);
}

/* Both want several pieces at the same time: those with the rejects of all inputs, once these are loaded. */
static void make_two_retries(world_t *world) {
    world->first_alone = true;
    world->rates.between = 500;
    world->rates.change_actor = 400;
    world->load_count = world->load_count < 3 ? 3 : world->load_count;
    world->commands[0].input_count = world->input_count;
    for (uint32_t i = 0; i < world->input_count; i++)
        world->commands[0].inputs[i] = i;
    for (uint32_t i = 1; i < 3; i++)
        world->commands[i] =
            (command_t){.input_count = 1, .retry = true, .format = world->commands[0].format};
}

/* Messages that are under way stay there for long. In worlds with removals the first input of the first command is forgotten
 * once it is loaded, and many messages arrive a second time. */
static void make_slow(world_t *world) {
    world->slow = true;
    if (!world->removals)
        return;
    world->first_alone = true;
    world->rates.doubled = 300;
    world->load_count = world->load_count < 2 ? 2 : world->load_count;
    world->commands[0].forget = world->commands[0].documents = false;
    world->commands[1] = world->commands[0];
    world->commands[1].forget = world->commands[1].documents = true;
    world->commands[1].drop = world->commands[1].reload = false;
}

/* What was thought of last: kept worlds, which have zeros here, stay what they are. */
static void make_more(world_t *world) {
    choices_t *choices = world->choices;
    world->rates.between = rate(world, 400, 500);
    uint32_t kind = seldom(choices, CHOICE_DETAIL, world->retries ? 900 : world->removals ? 300 : 120, 4);
    if (kind == 3 && world->retries)
        make_two_retries(world);
    else if (kind == 3)
        make_slow(world);
    world->restores = kind == 1;
    world->empties = kind == 2;
    if (kind == 1 || kind == 2)
        world->rates.person = 1 + choose(choices, CHOICE_DETAIL, 20);
    for (uint32_t i = 0; world->restores && i < world->load_count; i++)
        world->commands[i].same_collection |=
            !world->commands[i].retry && chance(choices, CHOICE_DETAIL, 600);
}

static void begin(world_t *world, choices_t *choices, bool trace, uint32_t loads, uint32_t small) {
    for (uint32_t i = 0; i < SIM_LOADS; i++) {
        sim_load_t *load = &world->loads[i];
        load->state = LOAD_NONE;
        load->main.alive = load->heart.alive = false;
        for (uint32_t j = 0; j < SIM_WORKERS; j++)
            load->workers[j].alive = false;
    }
    arena_reset();
    const size_t loads_at = offsetof(world_t, loads), after = offsetof(world_t, load_count);
    memset(world, 0, loads_at);
    memset((char *)world + after, 0, offsetof(world_t, messages) - after);
    for (uint32_t i = 0; i < SIM_MESSAGES; i++)
        world->messages[i].used = false;
    memset((char *)world + offsetof(world_t, message_count), 0,
           sizeof *world - offsetof(world_t, message_count));
    world->choices = choices;
    world->trace = trace;
    world->small = small;
    server_begin(world);
    world->server.topology = (topology_t)choose(choices, CHOICE_DETAIL, small ? 1 : 3);
    if (small)
        world->server.topology = KIND_REPLSET;
    world->server.by_id = small || !chance(choices, CHOICE_DETAIL, 400);
    world->input_count = small ? 1 : 1 + seldom(choices, CHOICE_DETAIL, 350, SIM_INPUTS);
    for (uint32_t i = 0; i < world->input_count; i++)
        make_input(world, i);
    world->load_count = loads ? loads : 1 + choose(choices, CHOICE_DETAIL, SIM_LOADS);
    for (uint32_t i = 0; i < world->load_count; i++)
        make_command(world, i);
    make_rates(world);
    make_removals(world);
    static const char *const topologies[] = {"a standalone", "a replica set", "two shards"};
    TRACE(world, "%s%s, %u inputs, %u loads", topologies[world->server.topology],
          world->server.by_id ? "" : ", sharded by a field", world->input_count, world->load_count);
    /* another folder is known by the whole content: so not with inputs that grow */
    if (!world->rates.grow && !world->rates.edit)
        for (uint32_t i = 0; i < world->load_count && !small; i++)
            world->commands[i].other_folder = chance(choices, CHOICE_DETAIL, 150);
    if (!small)
        make_more(world);
}

/* ---- inputs change ---- */

static content_t *another_state(input_t *input, uint32_t host) {
    if (input->count == CONTENT_STATES)
        return NULL;
    content_t *state = &input->states[input->count];
    *state = input->states[input->now[host]];
    return state;
}

static void show_input(const world_t *world, const input_t *input, uint32_t host, const char *what) {
    const content_t *content = &input->states[input->now[host]];
    TRACE(world, "input %u %s on host %u: state %u, %u records, %llu bytes%s%s", input->number, what, host,
          input->now[host], content->count, (unsigned long long)content->size,
          content->torn ? ", cut off" : "", content->damaged ? ", damaged" : "");
}

static void put_state(world_t *world, input_t *input, uint32_t host, const char *what) {
    input->now[host] = input->count++;
    if (!chance(world->choices, CHOICE_DETAIL, 250)) /* the other host may have another copy */
        input->now[1 - host] = input->now[host];
    show_input(world, input, host, what);
}

static void grow_input(world_t *world, input_t *input) {
    choices_t *choices = world->choices;
    const uint32_t host = choose(choices, CHOICE_DETAIL, CONTENT_HOSTS);
    content_t *state = another_state(input, host);
    if (!state || input->kind == INPUT_PIPE || state->damaged)
        return;
    record_t *last = state->count ? &state->records[state->count - 1] : NULL;
    uint32_t more = choose(choices, CHOICE_DETAIL, 3);
    if (state->torn && last->length < last->whole && !more && chance(choices, CHOICE_DETAIL, 400))
        last->length++; /* a little, and still cut off */
    else if (state->torn) {
        last->length = last->whole;
        state->torn = false;
    } else {
        more++;
    }
    for (uint32_t i = 0; i < more && state->count < CONTENT_RECORDS; i++) {
        last = state->count ? &state->records[state->count - 1] : NULL;
        record_t *record = &state->records[state->count++];
        *record = (record_t){.start = (uint8_t)(last ? last->start + last->length : 0)};
        record->whole = record->length = (uint8_t)(1 + seldom(choices, CHOICE_DETAIL, 250, 4));
        record->kind = content_kind(input, record->start);
    }
    if (more && chance(choices, CHOICE_DETAIL, 350)) {
        last = &state->records[state->count - 1];
        state->torn = true;
        if (last->length > 1 && chance(choices, CHOICE_DETAIL, 500))
            last->length--;
    }
    content_seal(input, state);
    if (input->now[host] + 1 != input->count)
        input->only_grew = false; /* two hosts' copies grew in two ways */
    if (state->size > input->states[input->now[host]].size)
        put_state(world, input, host, "grows");
}

/* In the middle, so that both ends stay. */
static void edit_input(world_t *world, input_t *input) {
    choices_t *choices = world->choices;
    const uint32_t host = choose(choices, CHOICE_DETAIL, CONTENT_HOSTS);
    content_t *state = another_state(input, host);
    if (!state || input->kind == INPUT_PIPE)
        return;
    const uint32_t how = choose(choices, CHOICE_DETAIL, 6);
    if (how == 0) { /* an earlier state again */
        input->now[host] = choose(choices, CHOICE_DETAIL, input->count);
        show_input(world, input, host, "is what it was");
        input->only_grew = false;
        return;
    }
    if (how == 1) { /* touched */
        if (input->kind != INPUT_FILE)
            return;
        content_seal(input, state);
        input->only_grew = input->only_grew && input->now[host] + 1 == input->count;
        put_state(world, input, host, "is touched");
        return;
    }
    if (how == 5 && state->count < CONTENT_RECORDS) { /* another file, and a longer one */
        const record_t *last = &state->records[state->count - 1];
        state->records[0].variant = (uint8_t)input->count;
        state->records[state->count] =
            (record_t){.start = (uint8_t)(last->start + last->length), .length = 1, .whole = 1};
        state->records[state->count].kind = content_kind(input, state->records[state->count].start);
        state->count++;
        state->torn = state->damaged = false;
        content_seal(input, state);
        input->only_grew = false;
        put_state(world, input, host, "is replaced");
        return;
    }
    if (state->count < 3)
        return;
    const uint32_t at = 1 + choose(choices, CHOICE_DETAIL, state->count - 2);
    if (how == 2 || how == 3) {
        state->records[at].variant = (uint8_t)input->count;
    } else if (state->records[at].length > 1) { /* another record start */
        if (state->count == CONTENT_RECORDS)
            return;
        memmove(&state->records[at + 1], &state->records[at], (state->count - at) * sizeof *state->records);
        state->count++;
        state->records[at + 1].start = (uint8_t)(state->records[at].start + state->records[at].length - 1);
        state->records[at + 1].length = state->records[at + 1].whole = 1;
        state->records[at].whole = --state->records[at].length;
        state->records[at + 1].variant = state->records[at].variant = (uint8_t)input->count;
        state->records[at + 1].kind = content_kind(input, state->records[at + 1].start);
    } else if (at + 2 < state->count) { /* fewer */
        state->records[at].length = state->records[at].whole =
            (uint8_t)(state->records[at].length + state->records[at + 1].length);
        state->records[at].variant = (uint8_t)input->count;
        memmove(&state->records[at + 1], &state->records[at + 2],
                (state->count - at - 2) * sizeof *state->records);
        state->count--;
    }
    if (input->kind == INPUT_PACKED) {
        state->origin = state->damaged ? state->origin : input->now[host];
        state->damaged = true;
    }
    content_seal(input, state);
    input->only_grew = false;
    put_state(world, input, host, input->kind == INPUT_PACKED ? "is damaged" : "is edited");
}

/* ---- things go wrong ---- */

static sim_load_t *some_load(world_t *world) {
    sim_load_t *load = &world->loads[choose(world->choices, CHOICE_DETAIL, world->load_count)];
    return load->state == LOAD_RUNS ? load : NULL;
}

/* The load that did something last: what becomes of another one could as well have become of it before that. */
static void fault_of_last(world_t *world, const actor_t *last) {
    if (!last || last->load->state != LOAD_RUNS || last->load->suspended)
        return;
    if (chance(world->choices, CHOICE_FAULT, world->rates.kill))
        program_kill(world, last->load);
    else if (chance(world->choices, CHOICE_FAULT, world->rates.suspend)) {
        last->load->suspended = true;
        TRACE(world, "load %u is suspended", last->load->id.bytes[0]);
    }
}

static void fault_of_load(world_t *world) {
    choices_t *choices = world->choices;
    const rates_t *rates = &world->rates;
    sim_load_t *load;
    if (chance(choices, CHOICE_FAULT, rates->kill) && (load = some_load(world)))
        program_kill(world, load);
    if (chance(choices, CHOICE_FAULT, rates->suspend) && (load = some_load(world))) {
        load->suspended = !load->suspended;
        TRACE(world, "load %u is %s", load->id.bytes[0], load->suspended ? "suspended" : "continued");
    }
    if (chance(choices, CHOICE_FAULT, rates->stop_beats) && (load = some_load(world))) {
        load->beats_stop_until = world->now + (1 + choose(choices, CHOICE_DETAIL, 20)) * SIM_TICK;
        TRACE(world, "load %u is not heard for a time", load->id.bytes[0]);
    }
    if (chance(choices, CHOICE_FAULT, rates->jump) && (load = some_load(world)) &&
        world->now >= load->may_jump_from) {
        load->may_jump_from = world->now + SIM_LEASE;
        load->clock_then = load_clock(load) + (1 + choose(choices, CHOICE_DETAIL, 30)) * SIM_TICK;
        load->clock_at = world->now;
        TRACE(world, "the clock of load %u jumps", load->id.bytes[0]);
    }
    if (chance(choices, CHOICE_FAULT, rates->terminate) && (load = some_load(world))) {
        load->told_to_stop = load->changed = true;
        actor_wake(&load->main);
        TRACE(world, "load %u gets a signal", load->id.bytes[0]);
    }
}

static void fault_of_server(world_t *world) {
    choices_t *choices = world->choices;
    const rates_t *rates = &world->rates;
    server_t *server = &world->server;
    const uint32_t shards = server->topology == KIND_SHARDED ? SIM_SHARDS : 1;
    if (server->topology == KIND_STANDALONE) {
        if (chance(choices, CHOICE_FAULT, rates->crash))
            server_crash(world);
    } else {
        if (chance(choices, CHOICE_FAULT, rates->failover))
            server_fail_over(world, choose(choices, CHOICE_DETAIL, shards));
        if (rates->commit_late && chance(choices, CHOICE_DETAIL, 30))
            server_commit(world, choose(choices, CHOICE_DETAIL, shards));
        if (server->topology == KIND_SHARDED && chance(choices, CHOICE_FAULT, rates->migrate))
            server_migrate(world);
    }
    if (chance(choices, CHOICE_FAULT, rates->code)) {
        server->pass_code = server->pass_code ? 0 : chance(choices, CHOICE_DETAIL, 500) ? 82 : 9999;
        TRACE(world, "code %u for some documents", server->pass_code);
    }
    if (chance(choices, CHOICE_FAULT, rates->clean))
        server_clean(world);
    if (chance(choices, CHOICE_FAULT, rates->person) && server->exists) {
        if (world->restores || world->empties) {
            (world->restores ? server_restore : server_empty)(world);
            memset(world->content_with, 0, sizeof world->content_with); /* all commands are given again */
        } else if (chance(choices, CHOICE_DETAIL, 500)) {
            TRACE(world, "somebody drops the collection");
            server_drop(world);
        } else {
            TRACE(world, "the collection gets another UUID");
            server->uuid[0] = (uint8_t)++server->uuids;
        }
    }
}

static void faults(world_t *world) {
    choices_t *choices = world->choices;
    fault_of_load(world);
    fault_of_server(world);
    input_t *input = &world->inputs[0];
    if (chance(choices, CHOICE_FAULT, world->rates.grow)) {
        input = &world->inputs[choose(choices, CHOICE_DETAIL, world->input_count)];
        grow_input(world, input);
    }
    if (chance(choices, CHOICE_FAULT, world->rates.edit)) {
        input = &world->inputs[choose(choices, CHOICE_DETAIL, world->input_count)];
        edit_input(world, input);
    }
}

/* ---- who goes on ---- */

enum { ACTORS = SIM_LOADS * (2 + SIM_WORKERS) };

static uint32_t list_actors(world_t *world, actor_t *list[ACTORS]) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < world->load_count; i++) {
        sim_load_t *load = &world->loads[i];
        if (load->state != LOAD_RUNS)
            continue;
        list[count++] = &load->main;
        list[count++] = &load->heart;
        for (uint32_t j = 0; j < SIM_WORKERS; j++)
            list[count++] = &load->workers[j];
    }
    return count;
}

static void pass_time(world_t *world, int64_t to) {
    if (to <= world->now)
        to = world->now + SIM_TICK / 4;
    world->now = to;
    for (uint32_t i = 0; i < world->load_count; i++) {
        sim_load_t *load = &world->loads[i];
        /* a clock that jumps right after a beat of its load has three of them in one interval */
        const int64_t most = world->rates.jump ? 3 * SIM_TICK / 2 : 7 * SIM_TICK;
        if (load->state == LOAD_RUNS && load->last_beat >= 0 && world->now - load->last_beat > most)
            load->disturbed = true;
    }
}

/* Nobody can go on: to the next moment at which somebody can. False: there is none. */
static bool wait_for_time(world_t *world, actor_t *const *actors, uint32_t count) {
    int64_t next = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const actor_t *actor = actors[i];
        if (!actor->alive || !actor->waits_time || actor->load->suspended)
            continue;
        const int64_t left = (actor->due - load_clock(actor->load)) * 100 / (int64_t)actor->load->rate + 1;
        if (world->now + left < next)
            next = world->now + left;
    }
    for (uint32_t i = 0; i < world->load_count; i++)
        if (!world->content_with[i] && world->rests_until[i] > world->now && world->rests_until[i] < next)
            next = world->rests_until[i];
    if (next == INT64_MAX)
        return false;
    pass_time(world, next);
    return true;
}

static bool may_begin(const world_t *world, uint32_t slot) {
    return (!world->first_alone || !slot || world->content_with[0]) &&
           (!world->commands[slot].retry || world->rejected_count);
}

static bool start_some(world_t *world) {
    bool any = false;
    for (uint32_t i = 0; i < world->load_count; i++) {
        if (world->loads[i].state == LOAD_RUNS || world->content_with[i])
            continue;
        any = true;
        const bool first = world->runs[i] == 0;
        if (first && !world->calm && !may_begin(world, i))
            continue;
        if (world->now < world->rests_until[i])
            continue;
        if (world->calm || chance(world->choices, CHOICE_DETAIL, first ? 300 : world->rates.restart) ||
            (first && (world->small || i == 0)))
            program_start(world, i);
    }
    return any;
}

static bool has_all_it_wants(world_t *world) {
    for (uint32_t i = 0; i < world->load_count; i++)
        if (world->loads[i].state == LOAD_RUNS || !world->content_with[i])
            return false;
    return true;
}

static void look_at_ends(world_t *world) {
    for (uint32_t i = 0; i < world->load_count; i++) {
        const sim_load_t *load = &world->loads[i];
        if (load->state != LOAD_ENDED)
            continue;
        if (!world->content_with[i])
            world->content_with[i] = is_nothing_wrong_with(world, i, load);
        if (world->calm && !world->content_with[i] && world->rests_after[i] != world->runs[i]) {
            world->rests_after[i] = world->runs[i];
            world->rests_until[i] =
                world->now + (2 + 5 * i) * SIM_LEASE; /* not all at once, again and again */
        }
    }
}

static void run_actor(world_t *world, actor_t *actor) {
    world->current = actor;
    coroutine_resume(actor->coroutine);
    if (coroutine_has_ended(actor->coroutine))
        actor->alive = false;
}

/* In an exhaustive search a switch is from one load to another. Which of its own actors goes on when the one that ran
 * has to wait is no choice. */
static actor_t *next_of_some_load(world_t *world, actor_t *const *ready, uint32_t count, actor_t *goes_on,
                                  const actor_t *last) {
    actor_t *first[SIM_LOADS] = {goes_on};
    uint32_t loads = goes_on != NULL;
    for (uint32_t turn = 0; turn < 2; turn++) /* of the load that ran last comes before the others */
        for (uint32_t i = 0; i < count; i++) {
            bool known = (last && ready[i]->load == last->load) != (turn == 0);
            for (uint32_t j = 0; j < loads; j++)
                known |= first[j]->load == ready[i]->load;
            if (!known)
                first[loads++] = ready[i];
        }
    return first[choose(world->choices, CHOICE_SWITCH, loads)];
}

static void step(world_t *world) {
    choices_t *choices = world->choices;
    actor_t *actors[ACTORS], *ready[ACTORS], *current = world->current;
    world->current = NULL;
    world->steps++;
    if (!world->calm && world->small)
        fault_of_last(world, current);
    else if (!world->calm)
        faults(world);
    start_some(world);
    if (world->pending && chance(choices, CHOICE_SWITCH, world->calm ? 300 : world->slow ? 10 : 100)) {
        packet_t *message = message_under_way(world, choose(choices, CHOICE_DETAIL, world->pending));
        if (message)
            message_execute(world, message);
    }
    if (!world->calm && chance(choices, CHOICE_DETAIL, world->rates.pass_time))
        pass_time(world, world->now + SIM_TICK * (1 + choose(choices, CHOICE_DETAIL, 8)) / 2);
    const uint32_t count = list_actors(world, actors);
    uint32_t ready_count = 0;
    bool goes_on = false;
    for (uint32_t i = 0; i < count; i++)
        if (actor_is_ready(actors[i])) {
            goes_on |= actors[i] == current;
            ready[ready_count++] = actors[i];
        }
    if (ready_count) {
        if (world->small)
            current = next_of_some_load(world, ready, ready_count, goes_on ? current : NULL, current);
        else if (!goes_on || (ready_count > 1 && chance(choices, CHOICE_SWITCH, 150)))
            current = ready[choose(choices, CHOICE_DETAIL, ready_count)];
        run_actor(world, current);
    } else if (world->slow && !world->calm && wait_for_time(world, actors, count)) {
        /* messages that are under way stay there */
    } else if (world->pending && message_under_way(world, 0)) {
        message_execute(world, message_under_way(world, choose(choices, CHOICE_DETAIL, world->pending)));
    } else if (!wait_for_time(world, actors, count)) {
        for (uint32_t i = 0; i < world->load_count; i++)
            world->loads[i].suspended = false;
    }
    if (world->dirty && !world->failed)
        check_now(world);
}

/* ---- the end ---- */

/* From now on everything goes well. */
static void calm_down(world_t *world) {
    TRACE(world, "from now on everything goes well");
    world->current = NULL;
    world->calm = true;
    const uint32_t change = world->rates.change_actor;
    world->rates = (rates_t){.change_actor = change};
    world->server.pass_code = 0;
    for (uint32_t i = 0; i < SIM_SHARDS; i++) {
        world->server.stale[i].active = false;
        server_commit(world, i);
    }
    documents_stored_t *documents = &world->server.documents;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < documents->count; i++)
        if (!documents->at[i].orphan)
            documents->at[kept++] = documents->at[i];
    documents->count = kept;
    for (uint32_t i = 0; i < world->load_count; i++) {
        sim_load_t *load = &world->loads[i];
        load->beats_stop_until = 0;
        load->suspended = false;
    }
}

static bool has_other_states(const world_t *world, const sim_load_t *load) {
    for (uint32_t i = 0; i < load->command.input_count; i++) {
        const input_t *input = &world->inputs[load->command.inputs[i]];
        bool torn = false;
        for (uint32_t j = 0; j < input->count; j++)
            torn |= input->states[j].torn;
        if (!input->only_grew || input->now[0] != input->now[1] ||
            (torn && input->count > 1 && !world->server.by_id))
            return true;
    }
    return false;
}

static bool is_named_refusal(const world_t *world, const sim_load_t *load) {
    const catalog_header_t *header = &world->server.header;
    if (load->command.forget || load->command.retry)
        return load->status == STATUS_USAGE && !strstr(load->err.text, "is being loaded") &&
               !strstr(load->err.text, "is dropping");
    if (load->status == STATUS_INPUT)
        return has_other_states(world, load) && !load->again;
    if (load->status != STATUS_USAGE || load->command.drop)
        return false;
    const bool other_format =
        header->format_digest && strcmp(header->format_digest, load->command.format ? "two" : "one") != 0;
    const bool other_uuid =
        memcmp(header->uuid, world->server.uuid, STORE_UUID) != 0 && !load->command.same_collection;
    return other_format || other_uuid;
}

bool is_nothing_wrong_with(const world_t *world, uint32_t slot, const sim_load_t *load) {
    if (load->command.retry && world->runs[slot] < 2)
        return false; /* a person fixes some in a second run */
    return load->status == STATUS_OK || load->status == STATUS_SOME_REJECTED ||
           (world->calm && is_named_refusal(world, load));
}

static void say_who_is_left(world_t *world) {
    for (uint32_t i = 0; i < world->load_count; i++)
        if (!world->content_with[i]) {
            const sim_load_t *load = &world->loads[i];
            sim_fail(world, "end", "slot %u does not end as it should: run %u, status %d (%.400s)", i,
                     world->runs[i], load->state == LOAD_RUNS ? -1 : (int)load->status,
                     load->state == LOAD_RUNS ? "" : load->err.text);
            return;
        }
}

bool world_run(world_t *world, choices_t *choices, bool trace, uint32_t loads, uint32_t small) {
    begin(world, choices, trace, loads, small);
    while (!world->failed && world->steps < (small ? 100000 : FAULT_STEPS) && !has_all_it_wants(world)) {
        step(world);
        look_at_ends(world);
        bool too_many = false, any = !small;
        for (uint32_t i = 0; i < world->load_count; i++) {
            too_many |= world->runs[i] > 5;
            any |= world->loads[i].state == LOAD_RUNS;
        }
        if (too_many || !any)
            break;
    }
    if (!world->failed)
        calm_down(world);
    const uint64_t end = world->steps + CALM_STEPS;
    uint32_t runs[SIM_LOADS];
    memcpy(runs, world->runs, sizeof runs);
    bool too_many = false;
    while (!world->failed && world->steps < end && !too_many && !has_all_it_wants(world)) {
        step(world);
        look_at_ends(world);
        for (uint32_t i = 0; i < world->load_count; i++)
            too_many |= world->runs[i] > runs[i] + MOST_RUNS;
    }
    if (!world->failed && !has_all_it_wants(world))
        say_who_is_left(world);
    world->current = NULL;
    for (packet_t *message; !world->failed && (message = message_under_way(world, 0));) {
        message_execute(world, message);
        if (world->dirty)
            check_now(world);
    }
    if (!world->failed)
        check_end(world);
    return !world->failed;
}
