/* program: a simulated load from its first command to its exit status, as load.c and target.c go through it. */
#include "catalog/catalog.h"
#include "catalog/places.h"
#include "format/record/record_id.h"
#include "sim.h"

#include <stdio.h>

static const char *const formats[] = {"one", "two"};

/* ---- inputs ---- */

static bool digest_at(const void *context, size_t at, uint64_t size, char digest[33], err_t *err) {
    const sim_load_t *load = context;
    (void)err;
    content_digest_at(&load->world->inputs[load->command.inputs[at]], load->seen[at], size, digest);
    return true;
}

static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err) {
    sim_load_t *load = context;
    const size_t at = (size_t)(input - load->ledger.inputs);
    const input_t *is = &load->world->inputs[load->command.inputs[at]];
    return registration_relate(&input->entry, &input->seen, is->kind != INPUT_PIPE, digest_at, load, at, view,
                               version, err);
}

static void name_of(const sim_load_t *load, const input_t *input, char name[40]) {
    snprintf(name, 40, "%s/input%u",
             load->command.other_folder && input->kind != INPUT_PIPE ? "there" : "here", input->number);
}

static void want(sim_load_t *load, uint32_t at, wanted_t *wanted) {
    static const char *const kinds[] = {"plain", "gzip", "stream"};
    const input_t *input = &load->world->inputs[load->command.inputs[at]];
    const content_t *content = &input->states[input->now[load->command.host]];
    char name[40];
    load->seen[at] = content;
    name_of(load, input, name);
    *wanted = (wanted_t){.name = strdup(name),
                         .kind = kinds[input->kind],
                         .named = input->named,
                         .by_name = input->kind == INPUT_PIPE,
                         .may_grow = input->kind != INPUT_PIPE,
                         .ordinals = 1,
                         .pieces = 1,
                         .bytes = content->size,
                         .group = at,
                         .reload = load->command.reload};
    if (input->kind == INPUT_PIPE) {
        wanted->extent_units = RECORD_ID_STREAM_PIECE / RECORD_ID_EXTENT_UNIT;
        return;
    }
    wanted->seen.size = content->size;
    wanted->seen.modified_ns = content->modified_ns;
    memcpy(wanted->seen.digest, content->digest, sizeof content->digest);
    wanted->extent_units = (content->size + RECORD_ID_EXTENT_UNIT - 1) / RECORD_ID_EXTENT_UNIT;
    wanted->text_end = wanted->extent_units * RECORD_ID_EXTENT_UNIT;
    if (input->pieces > 1 && content->count &&
        content_block(input, &content->records[content->count - 1]) >= PIECE_BLOCKS * (input->pieces - 1)) {
        wanted->pieces = input->pieces;
        wanted->piece_blocks = PIECE_BLOCKS;
    }
}

/* ---- removing ---- */

static int64_t now(void *context) {
    return load_clock(context);
}

static bool nap(void *context, err_t *err) {
    const sim_load_t *load = context;
    actor_sleep(load->world, SIM_TICK);
    return !load->told_to_stop || err_set(err, STATUS_TERMINATED, "a signal");
}

static removal_t removal_of(const sim_load_t *load) {
    return (removal_t){.catalog = &load->catalog, .look = sim_look, .remove = sim_remove};
}

static bool finish_removals(sim_load_t *load, err_t *err) {
    const removal_t removal = removal_of(load);
    return !load->registration.remains || catalog_finish_removals(&removal, err);
}

static bool ask_catalog(sim_load_t *load, err_t *err) {
    load->registered = load->world->steps;
    return catalog_register(&load->store.store, &load->registration, err);
}

/* As register_inputs.c does it. */
static bool remove_changed(sim_load_t *load, err_t *err) {
    const removal_t removal = removal_of(load);
    registration_t *registration = &load->registration;
    removed_t changed[SIM_INPUTS];
    size_t count = 0;
    if (!finish_removals(load, err))
        return false;
    for (size_t i = 0; i < registration->count; i++)
        if (registration->wanted[i].changed)
            changed[count++] = (removed_t){&registration->wanted[i].entry, .documents = true};
    if (!catalog_remove(changed, count, &removal, err))
        return false;
    if (!count && !registration->remains)
        return true;
    do {
        register_free(registration);
        if (!ask_catalog(load, err) || !finish_removals(load, err))
            return false;
    } while (registration->remains);
    return true;
}

/* With --reload-changed: what turned out to be another content while it was read is taken out, and the load begins
 * anew. */
static void remove_turned_out(sim_load_t *load) {
    const removal_t removal = removal_of(load);
    removed_t changed[SIM_INPUTS];
    size_t count = 0;
    err_t ignored;
    for (size_t i = 0; i < load->ledger.input_count; i++)
        if (load->turned_out[i])
            changed[count++] = (removed_t){&load->ledger.inputs[i].entry, .documents = true};
    load->again |= count > 0;
    catalog_remove(changed, count, &removal, &ignored);
}

/* ---- registering ---- */

/* Of some loads new inputs are free, as those are that lie behind the first portion. (No choice of its own: kept worlds
 * stay what they are.) */
static portion_t first_portion(const sim_load_t *load) {
    if (load->rate == SIM_RATE_OF_FREE)
        return (portion_t){0};
    return (portion_t){.least = PIPELINE_LEAST_PIECES, .most_bytes = PIPELINE_PIECE_BYTES};
}

static bool register_inputs(sim_load_t *load, err_t *err) {
    const uint32_t count = load->command.input_count;
    wanted_t *wanted = calloc(count, sizeof *wanted);
    for (uint32_t i = 0; i < count; i++)
        want(load, i, &wanted[i]);
    load->registration = (registration_t){.wanted = wanted,
                                          .count = count,
                                          .self = load->id,
                                          .generation = load->generation,
                                          .portion = first_portion(load),
                                          .digest_at = digest_at,
                                          .context = load,
                                          .name = "c"};
    const int64_t asked_ns = load_clock(load);
    if (!ask_catalog(load, err) || !remove_changed(load, err))
        return false;
    const ledger_options_t options = {.self = load->id,
                                      .generation = load->generation,
                                      .safe = !load->command.unsafe,
                                      .again = load->rate == SIM_RATE_OF_AGAIN,
                                      .lease_ns = SIM_LEASE,
                                      .asked_ns = asked_ns,
                                      .relate = relate,
                                      .context = load};
    ledger_init(&load->ledger, &options);
    load->has_ledger = true;
    for (uint32_t i = 0; i < count; i++) {
        ledger_input_t input = {.entry = wanted[i].entry,
                                .seen = wanted[i].seen,
                                .name = wanted[i].name,
                                .key = load->registration.keys[i],
                                .text_end = wanted[i].text_end,
                                .bytes = wanted[i].seen.size,
                                .plain = load->world->inputs[load->command.inputs[i]].kind == INPUT_FILE,
                                .group = i};
        TRACE(load->world, "input %u is entry %u, version %u of it is the newest", i, input.entry.ordinal,
              input.entry.version);
        if (!ledger_add(&load->ledger, &input, err))
            return false;
    }
    return true;
}

/* ---- --drop ---- */

static bool drop_drop(void *context, const uint8_t uuid[STORE_UUID], err_t *err) {
    return sim_drop(context, uuid, err);
}

static bool drop(sim_load_t *load, err_t *err) {
    return catalog_drop(&load->catalog, drop_drop, err);
}

/* ---- the journey ---- */

static bool find_collection(sim_load_t *load, err_t *err) {
    static const uint8_t none[STORE_UUID];
    store_t *store = &load->store.store;
    uint8_t *uuid = load->settings.uuid;
    if (!store->collection(store, uuid, err))
        return false;
    if (memcmp(uuid, none, STORE_UUID) != 0)
        return true;
    return sim_create(load, err) && store->collection(store, uuid, err);
}

static bool journey(sim_load_t *load, err_t *err) {
    store_t *store = &load->store.store;
    catalog_header_t header = {0};
    if (load->command.drop && !drop(load, err))
        return false;
    load->settings = (catalog_settings_t){.name = "c",
                                          .format = "f",
                                          .format_digest = formats[load->command.format],
                                          .filter = "",
                                          .accepts_other_uuid = load->command.same_collection};
    if (!find_collection(load, err))
        return false;
    load->settings.empty = load->world->server.documents.count == 0;
    if (!catalog_open(store, &load->settings, &header, err))
        return false;
    load->opened = true;
    load->generation = header.generation;
    catalog_header_free(&header);
    if (!register_inputs(load, err))
        return false;
    coordinator_t coordinator = pipeline_coordinator(load);
    bool ok = coordinator_run(&coordinator, err);
    load->failed |= !ok; /* which ends its senders */
    if (!ok && chance(load->world->choices, CHOICE_DETAIL, 500)) {
        err_t ignored;
        coordinator_flush(&coordinator, &ignored);
    }
    return ok && catalog_check_collection(store, &load->settings, load->generation, err);
}

/* ---- forget ---- */

/* A load that did not know of a removal may have sent more of it. */
static bool look_again(sim_load_t *load, const places_t *places, const char *name, err_t *err) {
    const removal_t removal = removal_of(load);
    const entries_t *entries = places_entries(places);
    for (size_t i = 0; load->command.documents && i < entries->count; i++) {
        const entry_t *entry = &entries->entries[i];
        bool any;
        if (entry->removed && strcmp(entry->path, name) == 0 &&
            !catalog_look_again(&removal, entry, &any, err))
            return false;
    }
    return true;
}

/* What the catalog says now may remain is gone when this ends well. */
static bool finish_all_removals(sim_load_t *load, err_t *err) {
    const removal_t removal = removal_of(load);
    load->registered = load->world->steps;
    return catalog_finish_removals(&removal, err);
}

/* As forget.c does it. */
static bool forget(sim_load_t *load, err_t *err) {
    store_t *store = &load->store.store;
    const catalog_settings_t settings = {.name = "c"};
    catalog_header_t header = {0};
    const input_t *input = &load->world->inputs[load->command.inputs[0]];
    char name[40];
    bool found;
    name_of(load, input, name);
    if (!store->collection(store, load->settings.uuid, err) ||
        !store_read_header(store, &header, &found, err))
        return false;
    if (!found)
        return err_set(err, STATUS_USAGE, "there is no catalog");
    const bool usable = catalog_check_header(&header, &settings, err);
    catalog_header_free(&header);
    places_t *places = usable ? places_read(store, err) : NULL;
    if (!places)
        return false;
    const entry_t *entry = places_named(places, name, false);
    bool ok = entry || places_meant(places, name).remains ||
              err_set(err, STATUS_USAGE, "%s is not in the catalog", name);
    const removal_t removal = removal_of(load);
    ok = ok && program_begin(load, err) &&
         catalog_remove(&(removed_t){entry, .documents = load->command.documents}, entry ? 1 : 0, &removal,
                        err) &&
         look_again(load, places, name, err) && finish_all_removals(load, err);
    places_free(places);
    return ok;
}

static void heart(void *argument) {
    sim_load_t *load = argument;
    for (;;) {
        err_t err;
        actor_sleep(load->world, SIM_BEAT);
        if (load->store.store.beat(&load->store.store, &load->id, ++load->beats, 0, &err))
            load->own_beats++;
    }
}

bool program_begin(sim_load_t *load, err_t *err) {
    if (!sim_enroll(load, err))
        return false;
    load->beats = 1;
    actor_start(&load->heart, load, "heart", heart);
    return true;
}

static void end(sim_load_t *load) {
    load->main.alive = load->heart.alive = false;
    for (uint32_t i = 0; i < SIM_WORKERS; i++)
        load->workers[i].alive = false;
    message_forget_waiters(load->world, load);
}

static void run(void *argument) {
    sim_load_t *load = argument;
    world_t *world = load->world;
    const bool loads = !load->command.forget && !load->command.retry;
    status_t status = STATUS_OK;
    const bool ok = loads                 ? program_begin(load, &load->err) && journey(load, &load->err)
                    : load->command.retry ? retry_run(load, &status, &load->err)
                                          : forget(load, &load->err);
    load->status = ok ? status : load->err.status;
    if (ok && loads && check_open_rejects(load))
        load->status = STATUS_SOME_REJECTED;
    if (ok && loads)
        check_said(world, load);
    if (ok && !load->command.retry)
        check_finished(world, load);
    if (load->status == STATUS_INPUT && load->command.reload && load->has_ledger)
        remove_turned_out(load);
    load->heart.alive = false;
    err_t ignored;
    sim_end(load, &ignored);
    TRACE(world, "ends with status %d%s%s", load->status, ok ? "" : ": ", ok ? "" : load->err.text);
    load->state = LOAD_ENDED;
    end(load);
}

void program_start(world_t *world, uint32_t slot) {
    sim_load_t *load = &world->loads[slot];
    const actor_t kept[2 + SIM_WORKERS] = {load->main, load->heart, load->workers[0], load->workers[1]};
    const uint32_t number = ++world->next_load;
    memset(load, 0, offsetof(sim_load_t, tasks));
    memset(load->tasks, 0, sizeof load->tasks);
    load->event_count = load->incarnation = 0;
    load->extend = (extend_t){0};
    load->changed = false;
    load->status = STATUS_OK;
    load->main = kept[0];
    load->heart = kept[1];
    load->workers[0] = kept[2];
    load->workers[1] = kept[3];
    load->world = world;
    load->slot = slot;
    load->run = ++world->runs[slot];
    load->id.bytes[0] = (uint8_t)number;
    load->id.bytes[1] = (uint8_t)(number >> 8);
    load->command = world->commands[slot];
    load->state = LOAD_RUNS;
    load->last_beat = -1;
    load->began = load->registered = load->wrote = world->steps;
    load->began_at = world->now;
    static const uint32_t rates[] = {100, 80, SIM_RATE_OF_AGAIN, SIM_RATE_OF_FREE};
    load->rate = world->small ? 100 : rates[choose(world->choices, CHOICE_DETAIL, 4)];
    load->clock_at = world->now;
    load->clock_then = 7 * (int64_t)number * SIM_TICK;
    sim_store_make(load);
    load->catalog = (catalog_t){.store = &load->store.store,
                                .name = "c",
                                .self = load->id,
                                .lease_ns = SIM_LEASE,
                                .own_beats = &load->own_beats,
                                .context = load,
                                .now = now,
                                .wait = nap};
    load->heart.alive = false;
    TRACE(world, "load %u starts in slot %u%s%s%s", number, slot,
          load->command.retry    ? ", --retry"
          : load->command.forget ? load->command.documents ? ", forget --delete" : ", forget"
          : load->command.drop   ? ", --drop"
          : load->command.reload ? ", --reload-changed"
                                 : "",
          load->command.unsafe ? ", --unsafe" : "",
          load->command.same_collection ? ", --same-collection" : "");
    actor_start(&load->main, load, "main", run);
    for (uint32_t i = 0; i < SIM_WORKERS; i++)
        actor_start(&load->workers[i], load, "worker", pipeline_worker);
}

void program_kill(world_t *world, sim_load_t *load) {
    TRACE(world, "load %u is killed", load->id.bytes[0]);
    load->state = LOAD_KILLED;
    load->suspended = false;
    end(load);
}
