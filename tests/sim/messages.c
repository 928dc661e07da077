/* messages: commands on their way from a load to a server. Mostly they arrive at once. Else they are objects
 * of the world, which may be executed at any later step, once or twice, whatever has become of their sender.
 */
#include "sim.h"

static const char *const names[MESSAGE_KINDS] = {"read header",
                                                 "make header",
                                                 "change header",
                                                 "read entries",
                                                 "add entries",
                                                 "change entries",
                                                 "remove entries",
                                                 "read loads",
                                                 "enroll",
                                                 "beat",
                                                 "end",
                                                 "ask for the collection",
                                                 "create",
                                                 "drop",
                                                 "insert",
                                                 "replace",
                                                 "fetch",
                                                 "remove documents",
                                                 "look for documents"};

static bool only_reads(message_kind_t kind) {
    return kind == MESSAGE_READ_HEADER || kind == MESSAGE_READ_ENTRIES || kind == MESSAGE_READ_LOADS ||
           kind == MESSAGE_COLLECTION || kind == MESSAGE_FETCH || kind == MESSAGE_LOOK;
}

/* ---- copies ---- */

static void *copy_of(const void *from, size_t size) {
    return from ? memcpy(malloc(size), from, size) : NULL;
}

static const entry_change_t *copy_changes(const entry_change_t *from, size_t count) {
    err_t err;
    entry_change_t *to = copy_of(from, count * sizeof *to);
    for (size_t i = 0; i < count; i++) {
        if (from[i].progress) {
            piece_t *piece = calloc(1, sizeof *piece);
            piece_copy(piece, from[i].progress, &err);
            to[i].progress = piece;
        }
        to[i].new_version = copy_of(from[i].new_version, sizeof *from[i].new_version);
        to[i].torn = copy_of(from[i].torn, sizeof *from[i].torn);
        to[i].extent = copy_of(from[i].extent, sizeof *from[i].extent);
        to[i].fixes = copy_of(from[i].fixes, from[i].fix_count * sizeof *from[i].fixes);
        if (from[i].new_key)
            to[i].new_key = strdup(from[i].new_key);
    }
    return to;
}

/* So that its sender can go on, or die. */
static void copy_message(packet_t *message) {
    err_t err;
    if (message->copied)
        return;
    message->copied = true;
    message->header_change = copy_of(message->header_change, sizeof *message->header_change);
    if (message->kind == MESSAGE_MAKE_HEADER)
        message->header = copy_of(message->header, sizeof *message->header);
    if (message->kind == MESSAGE_CHANGE_ENTRIES)
        message->changes = copy_changes(message->changes, message->count);
    if (message->kind == MESSAGE_ADD_ENTRIES) {
        const entry_t **list = malloc((message->count + 1) * sizeof(entry_t *));
        for (size_t i = 0; i < message->count; i++) {
            entry_t *entry = calloc(1, sizeof *entry);
            entry_copy(entry, message->add[i], &err);
            list[i] = entry;
        }
        message->add = list;
    }
}

static packet_t *put_under_way(world_t *world, const packet_t *message) {
    for (uint32_t i = 0; i < SIM_MESSAGES; i++)
        if (!world->messages[i].used) {
            world->messages[i] = *message;
            world->messages[i].used = true;
            if (i >= world->message_count)
                world->message_count = i + 1;
            world->pending++;
            return &world->messages[i];
        }
    return NULL; /* so many are enough: this one is lost */
}

static void take_out(world_t *world, packet_t *message) {
    message->used = false;
    while (world->message_count && !world->messages[world->message_count - 1].used)
        world->message_count--;
}

packet_t *message_under_way(world_t *world, uint32_t at) {
    for (uint32_t i = 0; i < world->message_count; i++)
        if (world->messages[i].used && !world->messages[i].executed && at-- == 0)
            return &world->messages[i];
    return NULL;
}

void message_execute(world_t *world, packet_t *message) {
    TRACE(world, "%s%s", names[message->kind], message->waiter ? " arrives" : " arrives late");
    if (message->waiter) {
        server_execute(world, message);
        message->executed = server_has_executed(message);
        world->pending -= message->executed;
        return;
    }
    packet_t copy = *message; /* the same once more needs what was asked */
    server_execute(world, &copy);
    message->at = server_has_executed(&copy) ? 0 : copy.at;
    if (!message->at && --message->times == 0) {
        world->pending--;
        take_out(world, message);
    }
}

/* Its sender is dead: what it has sent goes on its way, or was never sent. */
void message_forget_waiters(world_t *world, const sim_load_t *load) {
    for (uint32_t i = 0; i < world->message_count; i++) {
        packet_t *message = &world->messages[i];
        if (!message->used || !message->waiter || message->waiter->load != load)
            continue;
        const bool goes_on = !message->executed && !only_reads(message->kind) && !world->calm &&
                             !chance(world->choices, CHOICE_DETAIL, 200);
        if (goes_on) {
            copy_message(message);
            message->waiter = NULL;
            message->times = 1;
        } else {
            if (!message->executed)
                world->pending--;
            take_out(world, message);
        }
    }
}

/* ---- sending ---- */

enum { MOST_MESSAGES = 200000 };
enum { ARRIVES, NEVER_ARRIVES, REPLY_IS_LOST, STAYS_UNDER_WAY, ARRIVALS, DIES = ARRIVALS };

static void leave_under_way(world_t *world, const packet_t *message, uint32_t times) {
    packet_t *left = put_under_way(world, message);
    if (!left)
        return;
    left->waiter = NULL;
    left->times = times;
    copy_message(left);
}

/* It is executed without anybody who hears of it: perhaps only in part, and the rest later. */
static void execute_unheard(world_t *world, const packet_t *message) {
    packet_t copy = *message, rest = *message;
    if (message->kind == MESSAGE_INSERT && message->count > 1 && chance(world->choices, CHOICE_DETAIL, 400)) {
        const size_t first = 1 + choose(world->choices, CHOICE_DETAIL, (uint32_t)message->count - 1);
        copy.count = first;
        rest.count -= first;
        memmove(rest.ids, rest.ids + first, rest.count * sizeof *rest.ids);
        memmove(rest.documents, rest.documents + first, rest.count * sizeof *rest.documents);
        rest.times = 1;
        if (chance(world->choices, CHOICE_DETAIL, 500))
            put_under_way(world, &rest);
    }
    if (message->kind == MESSAGE_REMOVE && chance(world->choices, CHOICE_DETAIL, 400))
        copy.most = 1 + choose(world->choices, CHOICE_DETAIL, 3);
    server_execute(world, &copy);
    if (!server_has_executed(&copy) && chance(world->choices, CHOICE_DETAIL, 500))
        leave_under_way(world, &copy, 1);
}

/* Waits until the world executes it. */
static void wait_for_reply(world_t *world, packet_t *message) {
    packet_t *sent = put_under_way(world, message);
    actor_t *actor = world->current;
    if (!sent) {
        do
            server_execute(world, message);
        while (!server_has_executed(message));
        return;
    }
    sent->waiter = actor;
    actor->waits_for = sent;
    while (!sent->executed)
        coroutine_yield();
    actor->waits_for = NULL;
    *message = *sent;
    take_out(world, sent);
}

/* Between reading back and sending, and between looking and taking, there is always time for what somebody sent long ago. */
static void overtake(world_t *world) {
    if (world->small || !world->pending || !chance(world->choices, CHOICE_DETAIL, 250))
        return;
    packet_t *late = message_under_way(world, choose(world->choices, CHOICE_DETAIL, world->pending));
    if (late)
        message_execute(world, late);
}

/* In an exhaustive search other loads may go on here, and nowhere else: between two messages of a load nothing
 * happens that another one could see. */
static bool answer(world_t *world, bool ok) {
    if (world->small)
        actor_pause(world);
    return ok;
}

/* What becomes of it. A read that is lost in one way is lost in every way. A sender that dies with nothing under way is
 * one of those that the world kills between two messages. */
static uint32_t fate_of(world_t *world, const packet_t *message) {
    const uint32_t rate = world->rates.lose;
    if (!world->small)
        return seldom(world->choices, CHOICE_FAULT, rate, ARRIVALS);
    return seldom(world->choices, CHOICE_FAULT, rate,
                  only_reads(message->kind) ? NEVER_ARRIVES + 1 : DIES + 1);
}

static void die(sim_load_t *load, const packet_t *message) {
    TRACE(load->world, "its sender dies before %s arrives", names[message->kind]);
    leave_under_way(load->world, message, 1);
    program_kill(load->world, load);
    for (;;)
        coroutine_yield();
}

/* A load that asks again and again, and never lets others go on. */
static void count_message(world_t *world) {
    if (++world->sent < MOST_MESSAGES)
        return;
    sim_fail(world, "end", "a command sends messages again and again, and never ends");
    for (;;)
        coroutine_yield();
}

bool message_send(sim_load_t *load, packet_t *message, uint32_t tries) {
    world_t *world = load->world;
    count_message(world);
    choices_t *choices = world->choices;
    const rates_t *rates = &world->rates;
    message->slot = load->slot;
    message->run = load->run;
    message->load = load->id;
    for (uint32_t i = 0; i < tries; i++) {
        if (world->small ? i > 0 : chance(choices, CHOICE_SWITCH, rates->change_actor))
            actor_pause(world);
        const bool unheard = message->kind == MESSAGE_BEAT && world->now < load->beats_stop_until;
        uint32_t fate = fate_of(world, message);
        if (unheard)
            fate = NEVER_ARRIVES;
        message->at = 0;
        if (fate == ARRIVES) {
            const packet_t again = *message;
            if (chance(choices, CHOICE_SWITCH, rates->delay)) {
                TRACE(world, "%s is sent", names[message->kind]);
                wait_for_reply(world, message);
            } else {
                TRACE(world, "%s", names[message->kind]);
                server_execute(world, message);
                if (!server_has_executed(message))
                    wait_for_reply(world, message);
            }
            if (message->kind == MESSAGE_FETCH || (world->overtakes && message->kind == MESSAGE_READ_LOADS))
                overtake(world);
            if (!only_reads(message->kind) && chance(choices, CHOICE_FAULT, rates->doubled))
                leave_under_way(world, &again, 1);
            if (chance(choices, CHOICE_SWITCH, rates->change_actor))
                actor_pause(world);
            return answer(world, true);
        }
        if (fate == DIES)
            die(load, message);
        TRACE(world, "%s: no reply (%s)", names[message->kind],
              fate == NEVER_ARRIVES   ? "it never arrives"
              : fate == REPLY_IS_LOST ? "it was executed"
                                      : "it is still under way");
        if (fate == REPLY_IS_LOST && !only_reads(message->kind))
            execute_unheard(world, message);
        if (fate == STAYS_UNDER_WAY && !only_reads(message->kind))
            leave_under_way(world, message, 1 + choose(choices, CHOICE_DETAIL, 2));
        if (chance(choices, CHOICE_DETAIL, 300))
            break;
    }
    return answer(world, false);
}
