/* sim_wire: the inserts' seam, as messages. */
#include "load/rejects/fix_item.h"
#include "sim.h"

enum { PATIENCE = 12 };

void sim_bson(uint8_t *to, int64_t id, uint32_t document) {
    const int32_t length = BSON_BYTES, number = (int32_t)document;
    memcpy(to, &length, 4);
    memcpy(to + 4, "\x12_id", 5);
    memcpy(to + 9, &id, 8);
    memcpy(to + 17, "\x10n", 3);
    memcpy(to + 20, &number, 4);
    to[24] = to[25] = to[26] = 0; /* padding: all are of one length */
}

uint64_t sim_bson_hash(int64_t id, uint32_t document) {
    uint8_t bson[BSON_BYTES];
    sim_bson(bson, id, document);
    return reject_identity_hash(bson, sizeof bson);
}

static void begin(void *context) {
    ((sim_wire_t *)context)->patience = PATIENCE;
}

static packet_t message_of(const sim_wire_t *wire, message_kind_t kind) {
    packet_t message = {.kind = kind, .safe = !wire->load->command.unsafe};
    memcpy(message.uuid, wire->load->settings.uuid, STORE_UUID);
    return message;
}

static bool insert(void *context, const message_t *asked, reply_t *reply, err_t *err) {
    sim_wire_t *wire = context;
    packet_t message = message_of(wire, MESSAGE_INSERT);
    (void)err;
    message.ordinal = wire->ordinal;
    message.piece = wire->piece;
    message.epoch = wire->epoch;
    message.count = asked->count;
    for (uint32_t i = 0; i < asked->count; i++) {
        message.ids[i] = wire->ids[message_index(asked, i)];
        message.documents[i] = wire->documents[message_index(asked, i)];
    }
    *reply = (reply_t){.kind = REPLY_LOST, .words = ""};
    if (!message_send(wire->load, &message, 1))
        return true;
    wire->incarnation = message.incarnation < wire->incarnation ? message.incarnation : wire->incarnation;
    if (message.code) {
        reply->kind = REPLY_FAILED;
        reply->code = message.code;
        return true;
    }
    reply->kind = REPLY_GIVEN;
    reply->inserted = asked->count;
    reply->concern_failed = message.concern_failed;
    reply->concern_code = message.concern_failed ? 64 : 0;
    reply->errors = wire->errors;
    for (uint32_t i = 0; i < asked->count; i++)
        if (message.codes[i]) {
            wire->errors[reply->error_count++] = (write_error_t){.index = i, .code = message.codes[i]};
            reply->inserted--;
        }
    /* a reply that does not add up: an error is not told, or told of another document */
    choices_t *choices = wire->load->world->choices;
    if (reply->error_count && chance(choices, CHOICE_FAULT, wire->load->world->rates.garble)) {
        write_error_t *last = &wire->errors[reply->error_count - 1];
        TRACE(wire->load->world, "its reply does not add up");
        switch (choose(choices, CHOICE_DETAIL, 3)) {
        case 0:
            reply->error_count--;
            break;
        case 1:
            last->index = asked->count + 1;
            break;
        default:
            last->index = reply->error_count > 1 ? wire->errors[0].index : asked->count;
            break;
        }
    }
    return true;
}

static fetched_t fetch(void *context, const message_t *asked, found_fn *found, void *finder, err_t *err) {
    sim_wire_t *wire = context;
    stored_t stored[SIM_BATCH * 3];
    packet_t message = message_of(wire, MESSAGE_FETCH);
    message.count = asked->count;
    for (uint32_t i = 0; i < asked->count; i++)
        message.ids[i] = wire->ids[message_index(asked, i)];
    message.found = stored;
    message.found_room = sizeof stored / sizeof *stored;
    if (!message_send(wire->load, &message, 1))
        return FETCH_AGAIN;
    wire->incarnation = message.incarnation < wire->incarnation ? message.incarnation : wire->incarnation;
    if (message.code) {
        err_set(err, STATUS_SERVER, "another collection");
        return FETCH_FAILED;
    }
    for (size_t i = 0; i < message.found_count; i++) {
        uint8_t bson[BSON_BYTES];
        sim_bson(bson, stored[i].id, stored[i].document);
        if (!found(finder, bson, sizeof bson, err))
            return FETCH_FAILED;
    }
    return FETCHED;
}

static bool again(void *context, const trouble_t *trouble, err_t *err) {
    sim_wire_t *wire = context;
    (void)trouble;
    if (!wire->patience || wire->load->told_to_stop)
        return err_set(err, STATUS_SERVER, "no more patience");
    wire->patience--;
    actor_sleep(wire->load->world, SIM_TICK / 2);
    return true;
}

static bool refuse(void *context, const trouble_t *trouble, err_t *err) {
    (void)context;
    return err_set(err, STATUS_SERVER, "refused with code %d",
                   trouble->error ? trouble->error->code : trouble->reply->code);
}

void sim_wire_make(sim_wire_t *wire, sim_load_t *load) {
    *wire = (sim_wire_t){.wire = {.context = wire,
                                  .max_document_bytes = 1000,
                                  .max_message_bytes = 10000,
                                  .max_batch = SIM_BATCH,
                                  .begin = begin,
                                  .insert = insert,
                                  .fetch = fetch,
                                  .again = again,
                                  .refuse = refuse},
                         .load = load,
                         .patience = PATIENCE,
                         .incarnation = UINT32_MAX};
}

static int by_id(const void *a, const void *b) {
    const stored_t *left = a, *right = b;
    return (left->id > right->id) - (left->id < right->id);
}

bool sim_fetch_range(sim_wire_t *wire, int64_t from, int64_t to, stored_t *found, size_t room,
                     size_t *count) {
    packet_t message = message_of(wire, MESSAGE_FETCH);
    message.by_range = true;
    message.from_id = from;
    message.to_id = to;
    message.found = found;
    message.found_room = room;
    if (!message_send(wire->load, &message, 2) || message.code)
        return false;
    wire->incarnation = message.incarnation < wire->incarnation ? message.incarnation : wire->incarnation;
    *count = message.found_count;
    if (*count)
        qsort(found, *count, sizeof *found, by_id);
    return true;
}

bool sim_replace(sim_wire_t *wire, int64_t id, uint32_t old, uint32_t document, bool *done) {
    packet_t message = message_of(wire, MESSAGE_REPLACE);
    message.count = 1;
    message.ids[0] = id;
    message.documents[0] = document;
    message.old = old;
    if (!message_send(wire->load, &message, 2) || message.code)
        return false;
    wire->incarnation = message.incarnation < wire->incarnation ? message.incarnation : wire->incarnation;
    *done = message.changed > 0;
    return true;
}
