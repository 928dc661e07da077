/* sim_store: the catalog's seam, as messages. A command whose reply is lost is sent again, as drivers do. */
#include "sim.h"

enum { TRIES = 3 };

static sim_load_t *of(store_t *store) {
    sim_load_t *load;
    memcpy(&load, store + 1, sizeof load);
    return load;
}

static bool send(store_t *store, packet_t *message, err_t *err) {
    if (!message_send(of(store), message, TRIES))
        return err_set(err, STATUS_SERVER, "no reply");
    of(store)->incarnation = message->incarnation;
    return true;
}

static bool find_header(store_t *store, catalog_header_t *header, bool *found, err_t *err) {
    packet_t message = {.kind = MESSAGE_READ_HEADER, .header = header};
    *header = (catalog_header_t){0};
    if (!send(store, &message, err))
        return false;
    *found = message.flag;
    return true;
}

static bool make_header(store_t *store, const catalog_header_t *header, err_t *err) {
    catalog_header_t copy = *header;
    packet_t message = {.kind = MESSAGE_MAKE_HEADER, .header = &copy};
    return send(store, &message, err);
}

static bool change_header(store_t *store, const header_change_t *change, bool *changed, err_t *err) {
    packet_t message = {.kind = MESSAGE_CHANGE_HEADER, .header_change = change};
    if (!send(store, &message, err))
        return false;
    *changed = message.flag;
    return true;
}

static bool read_entries(store_t *store, uint64_t *from, const uint32_t *among, size_t among_count,
                         entries_t *entries, bool *more, err_t *err) {
    packet_t message = {.kind = MESSAGE_READ_ENTRIES,
                        .from = from,
                        .among = among,
                        .among_count = among_count,
                        .entries = entries,
                        .more = more};
    return send(store, &message, err);
}

static bool add_entries(store_t *store, const entry_t *const *entries, size_t count, uint64_t *added,
                        err_t *err) {
    packet_t message = {.kind = MESSAGE_ADD_ENTRIES, .add = entries, .count = count};
    if (!send(store, &message, err))
        return false;
    *added = message.changed;
    return true;
}

static bool change_entries(store_t *store, const entry_change_t *changes, size_t count, uint64_t *changed,
                           err_t *err) {
    packet_t message = {.kind = MESSAGE_CHANGE_ENTRIES, .changes = changes, .count = count};
    const uint64_t step = of(store)->world->steps;
    if (!send(store, &message, err))
        return false;
    if (count && !changes->adds_name)
        of(store)->wrote = step;
    *changed = message.changed;
    return true;
}

static bool remove_entries(store_t *store, uint64_t below, err_t *err) {
    packet_t message = {.kind = MESSAGE_REMOVE_ENTRIES, .number = below};
    return send(store, &message, err);
}

static bool read_loads(store_t *store, loads_t *loads, err_t *err) {
    packet_t message = {.kind = MESSAGE_READ_LOADS, .loads = loads};
    return send(store, &message, err);
}

static bool beat(store_t *store, const load_id_t *load, uint64_t number, uint64_t documents, err_t *err) {
    packet_t message = {.kind = MESSAGE_BEAT, .number = number};
    (void)load;
    (void)documents;
    return send(store, &message, err);
}

static bool collection(store_t *store, uint8_t uuid[STORE_UUID], err_t *err) {
    packet_t message = {.kind = MESSAGE_COLLECTION};
    if (!send(store, &message, err))
        return false;
    memcpy(uuid, message.uuid, STORE_UUID);
    return true;
}

void sim_store_make(sim_load_t *load) {
    load->store.store = (store_t){.find_header = find_header,
                                  .make_header = make_header,
                                  .change_header = change_header,
                                  .read_entries = read_entries,
                                  .add_entries = add_entries,
                                  .change_entries = change_entries,
                                  .remove_entries = remove_entries,
                                  .read_loads = read_loads,
                                  .beat = beat,
                                  .collection = collection};
    load->store.load = load;
}

bool sim_enroll(sim_load_t *load, err_t *err) {
    packet_t message = {.kind = MESSAGE_ENROLL};
    return send(&load->store.store, &message, err);
}

bool sim_end(sim_load_t *load, err_t *err) {
    packet_t message = {.kind = MESSAGE_END};
    return send(&load->store.store, &message, err);
}

bool sim_create(sim_load_t *load, err_t *err) {
    packet_t message = {.kind = MESSAGE_CREATE};
    return send(&load->store.store, &message, err);
}

bool sim_look(void *context, const entry_t *entry, bool *any, err_t *err) {
    sim_load_t *load = context;
    *any = false;
    for (size_t i = 0; i < entry->extent_count && !*any; i++) {
        packet_t message = {.kind = MESSAGE_LOOK,
                            .from_number = entry->extents[i].base,
                            .to_number = entry->extents[i].base + entry->extents[i].length};
        if (!send(&load->store.store, &message, err))
            return false;
        *any = message.flag;
    }
    return true;
}

bool sim_remove(void *context, const entry_t *entry, err_t *err) {
    sim_load_t *load = context;
    for (size_t i = 0; i < entry->extent_count; i++) {
        packet_t message = {.kind = MESSAGE_REMOVE,
                            .from_number = entry->extents[i].base,
                            .to_number = entry->extents[i].base + entry->extents[i].length};
        memcpy(message.uuid, load->settings.uuid, STORE_UUID);
        if (!send(&load->store.store, &message, err))
            return false;
        if (message.code)
            return err_set(err, STATUS_SERVER, "another collection");
    }
    return true;
}

bool sim_drop(sim_load_t *load, const uint8_t uuid[STORE_UUID], err_t *err) {
    packet_t message = {.kind = MESSAGE_DROP};
    memcpy(message.uuid, uuid, STORE_UUID);
    return send(&load->store.store, &message, err);
}
