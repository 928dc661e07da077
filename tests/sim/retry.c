/* retry: a simulated `load --retry`, as retry.c and load.c go through it: a user has fixed some of what
 * loads have rejected, or left it out. What is decided of each record is decided by the production code. */
#include "catalog/catalog.h"
#include "catalog/places.h"
#include "catalog/store/entry.h"
#include "format/record/record_id.h"
#include "load/rejects/fix_item.h"
#include "sim.h"

enum { FIXES = 2, TURNS = 8 };

/* What has become of an entry in the person's hands. */
typedef enum { FIXED, FIXED_OTHERWISE, LEFT_OUT, STILL_BAD, MADE_FILTERED } hand_t;

typedef struct {
    const rejected_t *rejected;
    hand_t fate;
    int64_t id;
    uint32_t document; /* 0: none */
    const work_t *held;
    fix_item_t is;
} item_t;

typedef struct {
    sim_load_t *load;
    sim_wire_t wire;
    places_t *before, *places; /* before anything was ours, and since */
    item_t items[SIM_REJECTED];
    uint32_t count;
    bool some_rejected;
} retry_t;

/* ---- whose they are ---- */

static bool relate(void *context, const ledger_input_t *input, view_t *view, uint32_t *version, err_t *err) {
    (void)context, (void)err;
    *view = VIEW_SAME;
    *version = input->entry.version;
    return true;
}

static void waits_for(void *context, const load_seen_t *load) {
    TRACE(((const sim_load_t *)context)->world, "waits for load %d", load->id.bytes[0]);
}

/* Of an entry's pieces: is one of its rejects in the person's hands, and open? */
static bool is_wanted(const retry_t *retry, const entry_t *entry, const piece_t *piece) {
    const world_t *world = retry->load->world;
    bool wanted = false;
    for (uint32_t i = 0; i < world->rejected_count; i++) {
        const rejected_t *rejected = &world->rejected[i];
        const uint64_t block = rejected->offset / LEDGER_BLOCK_BYTES;
        uint64_t of;
        wanted |= places_named(retry->before, rejected->path, false) == entry && block >= piece->from &&
                  block < piece->to &&
                  standing_of_reject(entry, rejected->offset, &rejected->hash, &of) == STANDING_OPEN;
    }
    return wanted;
}

static bool want(retry_t *retry, const entry_t *entry, err_t *err) {
    ledger_t *ledger = &retry->load->ledger;
    bool wanted = false;
    for (size_t i = 0; i < entry->piece_count; i++)
        wanted |= is_wanted(retry, entry, &entry->pieces[i]);
    if (!wanted)
        return true;
    ledger_input_t input = {.name = entry->path, .group = ledger->input_count};
    if (!entry_copy(&input.entry, entry, err) || !ledger_add(ledger, &input, err))
        return false;
    work_t *works = &ledger->works[ledger->inputs[ledger->input_count - 1].first_work];
    for (size_t i = 0; i < entry->piece_count; i++)
        if (!is_wanted(retry, entry, &entry->pieces[i]))
            ledger_skip(ledger, &works[i]);
    return true;
}

static bool hold(retry_t *retry, err_t *err) {
    sim_load_t *load = retry->load;
    const ledger_options_t options = {.self = load->id,
                                      .generation = load->generation,
                                      .holds = true,
                                      .lease_ns = SIM_LEASE,
                                      .relate = relate};
    if (!(retry->before = places_read(&load->store.store, err)))
        return false;
    ledger_init(&load->ledger, &options);
    load->has_ledger = true;
    const entries_t *entries = places_entries(retry->before);
    for (size_t i = 0; i < entries->count; i++)
        if (!entries->entries[i].removed && !want(retry, &entries->entries[i], err))
            return false;
    load->catalog.waits_for = waits_for;
    return hold_take(&load->catalog, &load->ledger, err);
}

/* ---- which entries count ---- */

static uint32_t weight(const item_t *item) {
    return item->is.makes == FIX_FILTERED ? FIX_FAILS : item->is.makes;
}

/* Of two entries of one place the first that makes a document counts. */
static void add(retry_t *retry, const item_t *item) {
    for (uint32_t i = 0; i < retry->count; i++) {
        item_t *known = &retry->items[i], less;
        if (known->id != item->id)
            continue;
        less = weight(item) > weight(known) ? *known : *item;
        if (weight(item) > weight(known))
            *known = *item;
        retry->some_rejected |= less.document && less.document != known->document;
        return;
    }
    retry->items[retry->count++] = *item;
}

static hand_t choose_hand(world_t *world) {
    static const hand_t fates[] = {FIXED,           FIXED_OTHERWISE, FIXED,     FIXED_OTHERWISE,
                                   FIXED_OTHERWISE, LEFT_OUT,        STILL_BAD, MADE_FILTERED};
    return fates[choose(world->choices, CHOICE_DETAIL, sizeof fates / sizeof *fates)];
}

static const fix_makes_t makes[FATES] = {[FIXED] = FIX_MAKES,
                                         [FIXED_OTHERWISE] = FIX_MAKES,
                                         [LEFT_OUT] = FIX_LEAVES_OUT,
                                         [STILL_BAD] = FIX_FAILS,
                                         [MADE_FILTERED] = FIX_FILTERED};

/* As fixes.c judges it. *belongs: to this collection. */
static void take(retry_t *retry, const rejected_t *rejected, bool *closed, bool *belongs) {
    world_t *world = retry->load->world;
    item_t item = {.rejected = rejected, .fate = choose_hand(world)};
    const entry_t *entry = places_named(retry->places, rejected->path, false);
    uint64_t number, of = rejected->hash;
    standing_t standing = STANDING_UNKNOWN;
    if (entry && entry_number(entry, rejected->offset, &number))
        standing = standing_of_reject(entry, rejected->offset, &rejected->hash, &of);
    if (standing == STANDING_OPEN &&
        !(item.held = ledger_held(&retry->load->ledger, entry->ordinal, rejected->offset)))
        standing = STANDING_NOT_YET;
    *belongs |= standing != STANDING_UNKNOWN;
    *closed |= standing == STANDING_UNKNOWN && item.fate != LEFT_OUT;
    TRACE(world, "%s at %u: %s", rejected->path, rejected->record.start,
          standing == STANDING_OPEN      ? "counts"
          : standing == STANDING_NOT_YET ? "is not done yet"
                                         : "is left out");
    if (standing == STANDING_NOT_YET && item.fate != LEFT_OUT)
        retry->some_rejected = true;
    if (standing != STANDING_OPEN)
        return;
    check_counts(world, entry, rejected);
    item.id = record_id_make(record_id_lane(entry->ordinal, rejected->offset), number);
    item.is =
        (fix_item_t){.entry = entry,
                     .mark = {.offset = rejected->offset, .of = of, .generation = retry->load->generation},
                     .makes = makes[item.fate]};
    if (item.is.makes == FIX_MAKES) {
        item.document =
            document_of(&world->inputs[rejected->input], &rejected->record, retry->load->command.format) |
            (1u + item.fate) << 24;
        item.is.mark.hash = sim_bson_hash(item.id, item.document);
    }
    add(retry, &item);
}

static bool read_rejects(retry_t *retry, err_t *err) {
    const world_t *world = retry->load->world;
    const uint32_t count = world->rejected_count;
    bool closed = false, belongs = false;
    if (!(retry->places = places_read(&retry->load->store.store, err)))
        return false;
    for (uint32_t i = 0; i < count; i++)
        take(retry, &world->rejected[i], &closed, &belongs);
    return !closed || belongs || err_set(err, STATUS_USAGE, "no such record is rejected");
}

/* ---- what the catalog is told ---- */

/* Right before it writes, more often than elsewhere: others take what it holds. */
static void oversleep(const retry_t *retry) {
    sim_load_t *load = retry->load;
    world_t *world = load->world;
    if (!chance(world->choices, CHOICE_FAULT, 10 * world->rates.suspend))
        return;
    TRACE(world, "is suspended");
    load->suspended = true;
    actor_pause(world);
}

static bool write_marks(retry_t *retry, err_t *err) {
    oversleep(retry);
    entry_change_t changes[SIM_REJECTED];
    size_t count = 0;
    for (uint32_t i = 0; i < retry->count; i++) {
        item_t *item = &retry->items[i];
        if (!item->is.written)
            continue;
        TRACE(retry->load->world, "%s a fix of _id %lld: %016llx",
              item->is.mark.confirmed ? "confirms" : "notes", (long long)item->id,
              (unsigned long long)item->is.mark.hash);
        changes[count++] = ledger_fix_change(&retry->load->ledger, item->held, &item->is.mark, 1);
    }
    return hold_change(&retry->load->catalog, &retry->load->ledger, changes, count, err);
}

static bool note(retry_t *retry, err_t *err) {
    for (uint32_t i = 0; i < retry->count; i++)
        fix_item_note(&retry->items[i].is);
    return write_marks(retry, err);
}

/* What is there under its `_id`: *count documents, of all shards. */
static bool read_back(retry_t *retry, const item_t *item, stored_t found[4], size_t *count, err_t *err) {
    for (int turn = 0; turn < TURNS; turn++) {
        if (sim_fetch_range(&retry->wire, item->id, item->id, found, 4, count))
            return true;
        actor_sleep(retry->load->world, SIM_TICK / 2);
    }
    return err_set(err, STATUS_SERVER, "no more patience with a read");
}

static bool settle(retry_t *retry, err_t *err) {
    for (uint32_t i = 0; i < retry->count; i++) {
        item_t *item = &retry->items[i];
        uint64_t there = FIX_NOTHING;
        stored_t found[4];
        size_t count = 0;
        if (fix_item_asks(&item->is) && !read_back(retry, item, found, &count, err))
            return false;
        for (size_t j = 0; j < count; j++) {
            const uint64_t hash = sim_bson_hash(found[j].id, found[j].document);
            if (fix_item_knows(&item->is, hash))
                there = hash;
        }
        fix_item_settle(&item->is, there);
    }
    return true;
}

/* The collection is the one that it was, and nothing of it was lost since this began. */
static bool make_durable(retry_t *retry, uint32_t incarnation, err_t *err) {
    sim_load_t *load = retry->load;
    store_t *store = &load->store.store;
    const header_change_t sync = {.kind = HEADER_SYNC};
    uint8_t uuid[STORE_UUID];
    bool changed;
    if (!store->collection(store, uuid, err))
        return false;
    if (memcmp(uuid, load->settings.uuid, sizeof uuid) != 0)
        return err_set(err, STATUS_SERVER, "the collection was dropped or replaced");
    if (load->world->server.topology != KIND_STANDALONE)
        return true;
    return store->change_header(store, &sync, &changed, err) &&
           (load->incarnation == incarnation || err_set(err, STATUS_SERVER, "the server was started again"));
}

/* ---- sending ---- */

static bool send_some(retry_t *retry, item_t *const *items, uint32_t count, err_t *err) {
    uint8_t bytes[SIM_BATCH * BSON_BYTES];
    uint32_t starts[SIM_BATCH + 1] = {0};
    for (uint32_t i = 0; i < count; i++) {
        retry->wire.ids[i] = items[i]->id;
        retry->wire.documents[i] = items[i]->document;
        sim_bson(bytes + i * BSON_BYTES, items[i]->id, items[i]->document);
        starts[i + 1] = (i + 1) * BSON_BYTES;
        items[i]->is.stored = true;
    }
    const documents_t documents = {.bytes = bytes, .starts = starts, .count = count};
    delivered_t delivered;
    deliver_t *deliverer = deliver_new(&retry->wire.wire, NULL, err);
    const bool ok = deliver(deliverer, &documents, &delivered, err);
    for (size_t i = 0; ok && i < delivered.count; i++)
        if (delivered.exceptions[i].fate != FATE_THERE) {
            item_t *item = items[delivered.exceptions[i].index];
            item->is.stored = false;
            item->is.refused = true;
        }
    deliver_free(deliverer);
    return ok;
}

static void make_wire(retry_t *retry, const item_t *item) {
    sim_wire_make(&retry->wire, retry->load);
    retry->wire.ordinal = item->is.entry->ordinal;
    retry->wire.piece = item->held->piece;
    retry->wire.epoch = item->held->epoch;
}

/* One that is the same is there already; with another one the record is a reject again. */
static bool compare(retry_t *retry, item_t *item, bool *open, err_t *err) {
    stored_t found[4];
    size_t count = 0;
    *open = false;
    if (item->fate == STILL_BAD)
        item->is.refused = true;
    if (!item->document)
        return true;
    make_wire(retry, item);
    if (!read_back(retry, item, found, &count, err))
        return false;
    for (size_t i = 0; i < count; i++)
        item->is.stored |= found[i].document == item->document;
    item->is.refused = count && !item->is.stored;
    *open = !count;
    return true;
}

/* Documents of one piece go together. */
static bool send_all(retry_t *retry, err_t *err) {
    sim_load_t *load = retry->load;
    for (uint32_t i = 0; i < retry->count;) {
        item_t *open[SIM_BATCH];
        uint32_t count = 0;
        const work_t *held = retry->items[i].held;
        const uint32_t most = 1 + choose(load->world->choices, CHOICE_DETAIL, SIM_BATCH);
        for (; i < retry->count && count < most && retry->items[i].held == held; i++) {
            bool is_open;
            if (load->told_to_stop)
                return err_set(err, STATUS_TERMINATED, "a signal");
            if (!compare(retry, &retry->items[i], &is_open, err))
                return false;
            if (is_open)
                open[count++] = &retry->items[i];
        }
        if (!count)
            continue;
        if (!pipeline_bind(load)) {
            *err = load->error;
            return false;
        }
        if (!catalog_confirm(&retry->load->catalog, &retry->load->ledger, false, err))
            return false;
        make_wire(retry, open[0]);
        if (!send_some(retry, open, count, err))
            return false;
    }
    for (uint32_t i = 0; i < retry->count; i++)
        retry->some_rejected |= retry->items[i].is.refused;
    return true;
}

/* ---- the journey ---- */

static bool open_collection(sim_load_t *load, err_t *err) {
    static const uint8_t none[STORE_UUID];
    store_t *store = &load->store.store;
    catalog_header_t header = {0};
    bool found;
    load->settings = (catalog_settings_t){
        .name = "c", .format = "f", .format_digest = load->command.format ? "two" : "one", .filter = ""};
    if (!store->collection(store, load->settings.uuid, err))
        return false;
    if (memcmp(load->settings.uuid, none, STORE_UUID) == 0)
        return err_set(err, STATUS_USAGE, "the collection does not exist");
    load->settings.empty = load->world->server.documents.count == 0;
    if (!store_read_header(store, &header, &found, err))
        return false;
    const bool usable = !found || catalog_check_header(&header, &load->settings, err);
    catalog_header_free(&header);
    if (!usable || !program_begin(load, err) || !catalog_open(store, &load->settings, &header, err))
        return false;
    load->opened = true;
    load->generation = header.generation;
    load->bound = header.format != NULL;
    catalog_header_free(&header);
    return true;
}

static void check_all(const retry_t *retry) {
    for (uint32_t i = 0; i < retry->count; i++) {
        const item_t *item = &retry->items[i];
        const bool answered = item->is.stored || (!retry->some_rejected && item->fate != STILL_BAD);
        check_answered(retry->load->world, retry->load, item->is.entry, item->is.mark.offset,
                       item->is.mark.of, answered, item->document != 0);
    }
}

bool retry_run(sim_load_t *load, status_t *status, err_t *err) {
    retry_t retry = {.load = load};
    if (!open_collection(load, err))
        return false;
    const uint32_t incarnation = load->incarnation;
    sim_wire_make(&retry.wire, load);
    if (!hold(&retry, err) || !read_rejects(&retry, err))
        return false;
    if (!note(&retry, err) || !send_all(&retry, err))
        return false;
    if (!settle(&retry, err) || !make_durable(&retry, incarnation, err) || !write_marks(&retry, err))
        return false;
    err_t ignored;
    hold_give_back(&load->catalog, &load->ledger, &ignored);
    if (retry.some_rejected)
        *status = STATUS_SOME_REJECTED;
    check_all(&retry);
    places_free(retry.places);
    places_free(retry.before);
    return true;
}
