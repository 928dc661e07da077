/* deliver: splits a batch into messages. insert_message sends one, judges the reply (outcome), reads duplicates back (ask), and
 * sends again what is in doubt. With EXISTING_REPLACE, deliver_replace_others then replaces other documents that were found. */
#include "load/deliver/deliver.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* ---- exceptions ---- */

/* Adds a document that was not simply loaded. reason: of a reject; else NULL. */
static bool deliver_add(deliver_t *deliver, uint32_t index, fate_t fate, const char *reason, err_t *err) {
    if (!GROW(deliver->exceptions, deliver->exception_room, deliver->count + 1, err))
        return false;
    exception_t *exception = &deliver->exceptions[deliver->count++];
    exception->index = index;
    exception->fate = fate;
    exception->taken = false;
    exception->reason[0] = '\0';
    if (reason)
        snprintf(exception->reason, sizeof exception->reason, "%s", reason);
    return true;
}

static bool deliver_add_reject(deliver_t *deliver, uint32_t index, const char *reason, err_t *err) {
    return deliver_add(deliver, index, FATE_REJECTED, reason, err);
}

/* Adds a reject whose `_id` another document has. */
static bool deliver_add_taken(deliver_t *deliver, const asked_t *asked, err_t *err) {
    const deliver_owner_t *owner = deliver->owner;
    char reason[WIRE_WORDS];
    uint32_t length;
    const uint8_t *document = documents_at(deliver->documents, asked->index, &length);
    ask_say_taken(reason, document, length);
    const size_t used = strlen(reason);
    if (owner && owner->advice)
        snprintf(reason + used, sizeof reason - used, "%s", owner->advice);
    if (!deliver_add_reject(deliver, asked->index, reason, err))
        return false;
    deliver->exceptions[deliver->count - 1].taken = true;
    return true;
}

static void deliver_name_place(const deliver_t *deliver, uint32_t index, char *text, size_t size) {
    const deliver_owner_t *owner = deliver->owner;
    if (owner && owner->place)
        owner->place(owner->context, index, text, size);
    else
        snprintf(text, size, "document %u of a batch", (unsigned)index);
}

/* Names the document over whose unlisted code patience ended. Always false. */
static bool deliver_blame(const deliver_t *deliver, uint32_t index, const write_error_t *error, err_t *err) {
    char place[600];
    if (!error || err->status != STATUS_SERVER || !outcome_is_unlisted(error))
        return false;
    deliver_name_place(deliver, index, place, sizeof place);
    err_add(err, "; if it is this document that is at fault, correct its record and load again");
    return err_where(err, "%s", place);
}

static bool deliver_may_send(const deliver_t *deliver, err_t *err) {
    const deliver_owner_t *owner = deliver->owner;
    return !owner || !owner->may_send || owner->may_send(owner->context, err);
}

static void deliver_note_reply(deliver_t *deliver, const reply_t *reply, const verdict_t *verdict) {
    deliver->touched |= reply->kind == REPLY_LOST || (reply->kind == REPLY_GIVEN && reply->inserted) ||
                        (reply->kind == REPLY_FAILED && verdict->next != OUTCOME_STOP);
}

/* Ends the load. The reply need not say which documents went in, but says how many. Always false. */
static bool deliver_stop(deliver_t *deliver, const trouble_t *trouble, uint32_t count, err_t *err) {
    const reply_t *reply = trouble->reply;
    if (reply->kind == REPLY_GIVEN && !reply->concern_failed && reply->inserted + reply->error_count <= count)
        deliver->stored += (uint32_t)reply->inserted;
    return deliver->wire->refuse(deliver->wire->context, trouble, err);
}

enum {
    MANY = 8,       /* the part of a batch with exceptions from which on the next one is looked up first */
    SAME_AGAIN = 8, /* how often a document gets the same unlisted code before it counts as the cause */
};

deliver_t *deliver_new(const wire_t *wire, const deliver_owner_t *owner, err_t *err) {
    deliver_t *deliver = calloc(1, sizeof *deliver);
    if (!deliver) {
        err_memory(err, sizeof *deliver);
        return NULL;
    }
    deliver->wire = wire;
    deliver->owner = owner;
    deliver->ask = (ask_t){
        .wire = wire, .accepts = owner ? owner->accepts : NULL, .context = owner ? owner->context : NULL};
    deliver->ask.keeps = owner && owner->existing == EXISTING_REPLACE;
    return deliver;
}

static void free_rooms(deliver_t *deliver) {
    free(deliver->trails);
    free(deliver->outcomes);
    free(deliver->errors);
    free(deliver->pending);
    free(deliver->twins);
    free(deliver->others);
    free(deliver->before);
    ask_free(&deliver->ask);
}

void deliver_free(deliver_t *deliver) {
    if (!deliver)
        return;
    free_rooms(deliver);
    free(deliver->doubts);
    free(deliver->exceptions);
    free(deliver);
}

/* Only batches with exceptions or look-ups need this. */
static bool make_room(deliver_t *deliver, err_t *err) {
    const uint32_t count = deliver->documents->count;
    if (count > deliver->room) {
        free_rooms(deliver);
        deliver->room = 0;
        deliver->trails = malloc(count * sizeof *deliver->trails);
        deliver->outcomes = malloc(count * sizeof *deliver->outcomes);
        deliver->errors = malloc(count * sizeof *deliver->errors);
        deliver->pending = malloc(count * sizeof *deliver->pending);
        deliver->twins = malloc(count * sizeof *deliver->twins);
        deliver->others = malloc(count * sizeof *deliver->others);
        deliver->before = malloc(count * sizeof *deliver->before);
        if (!deliver->trails || !deliver->outcomes || !deliver->errors || !deliver->pending ||
            !deliver->twins || !deliver->others || !deliver->before)
            return err_memory(err, count * sizeof *deliver->trails);
        if (!ask_make_room(&deliver->ask, count, err))
            return false;
        deliver->room = count;
    }
    return true;
}

/* ---- EXISTING_REPLACE ----
 *
 * Each replacement names all bytes that were read of the other document, so a message that comes late changes nothing, unless
 * these bytes are back. */

enum {
    MOST_AT_ONCE = 8 << 20, /* bytes of a message, both documents counted */
    OVERHEAD = 256,         /* of a statement */
    DOUBTS = 1 << 16,
};

static uint32_t length_of(const deliver_t *deliver, const asked_t *other) {
    uint32_t length;
    documents_at(deliver->documents, other->index, &length);
    return length;
}

static bool deliver_note_other(deliver_t *deliver, const asked_t *asked, err_t *err) {
    uint32_t length;
    const uint8_t *document = documents_at(deliver->documents, asked->index, &length);
    char reason[WIRE_WORDS];
    if (asked->others > 1)
        return deliver_add_reject(deliver, asked->index,
                                  "several other documents with its _id are in the collection, on several "
                                  "shards: which one to replace is not known",
                                  err);
    if (!ask_same_id(document, length, deliver->ask.kept + asked->kept_at, asked->kept_length))
        return deliver_add_taken(deliver, asked, err);
    if ((uint64_t)length + asked->kept_length + OVERHEAD > deliver->wire->max_document_bytes) {
        snprintf(reason, sizeof reason,
                 "it and the document with its _id that is in the collection have %u bytes together: too "
                 "many to replace one by the other",
                 length + asked->kept_length);
        return deliver_add_reject(deliver, asked->index, reason, err);
    }
    deliver->others[deliver->other_count++] = *asked;
    return true;
}

/* ---- documents that were looked up ---- */

static bool add_other(deliver_t *deliver, const asked_t *asked, err_t *err) {
    switch (deliver->owner ? deliver->owner->existing : EXISTING_REJECT) {
    case EXISTING_KEEP:
        return deliver_add(deliver, asked->index, FATE_KEPT, NULL, err);
    case EXISTING_REPLACE:
        return deliver_note_other(deliver, asked, err);
    default:
        return deliver_add_taken(deliver, asked, err);
    }
}

static int by_index(const void *a, const void *b) {
    const exception_t *left = a, *right = b;
    return (left->index > right->index) - (left->index < right->index);
}

static int by_hash(const void *a, const void *b) {
    const twin_t *left = a, *right = b;
    return left->hash != right->hash ? (left->hash > right->hash) - (left->hash < right->hash)
                                     : (left->index > right->index) - (left->index < right->index);
}

static uint64_t hash_of(const deliver_t *deliver, uint32_t index) {
    uint32_t length;
    const uint8_t *document = documents_at(deliver->documents, index, &length);
    return XXH3_64bits(document, length);
}

/* True if an equal document comes before it in the batch: the same row may come twice, and is stored once. */
static bool has_twin_before(deliver_t *deliver, uint32_t index) {
    const uint32_t count = deliver->documents->count;
    for (uint32_t i = 0; !deliver->knows_twins && i < count; i++)
        deliver->twins[i] = (twin_t){hash_of(deliver, i), i};
    if (!deliver->knows_twins)
        qsort(deliver->twins, count, sizeof *deliver->twins, by_hash);
    deliver->knows_twins = true;
    const uint64_t hash = hash_of(deliver, index);
    return deliver->twins[SEARCH_FIRST(count, i, deliver->twins[i].hash < hash)].index < index;
}

/* Settles a document that was found. It is loaded if a message of ours may have stored it. */
static bool settle_same(deliver_t *deliver, uint32_t index, err_t *err) {
    const bool by_us = deliver->trails[index].in_doubt && !has_twin_before(deliver, index);
    deliver->stored += by_us;
    return by_us || deliver_add(deliver, index, FATE_THERE, NULL, err);
}

/* Settles the documents that were looked up; those of which nothing was found remain in `asked`. replacing: what was found is the
 * replacement of another document. */
static bool settle(deliver_t *deliver, bool replacing, err_t *err) {
    uint32_t left = 0;
    bool ok = true;
    for (uint32_t i = 0; ok && i < deliver->ask.count; i++) {
        const asked_t asked = deliver->ask.asked[i];
        if (asked.found == FOUND_SAME)
            ok = replacing ? deliver_add(deliver, asked.index, FATE_REPLACED, NULL, err)
                           : settle_same(deliver, asked.index, err);
        else if (asked.error)
            ok = deliver_add_reject(deliver, asked.index, asked.error->words, err);
        else if (asked.found == FOUND_OTHER)
            ok = add_other(deliver, &asked, err);
        else
            deliver->ask.asked[left++] = asked;
    }
    deliver->ask.count = left;
    return ok;
}

/* Looks up the documents in `asked`. Those of which nothing is found are pending again (*missed). */
static bool look_up(deliver_t *deliver, bool *missed, err_t *err) {
    if (!ask_all(&deliver->ask, deliver->documents, err) || !settle(deliver, false, err))
        return false;
    for (uint32_t i = 0; i < deliver->ask.count; i++)
        deliver->pending[deliver->pending_count++] = deliver->ask.asked[i].index;
    *missed |= deliver->ask.count > 0;
    return true;
}

/* ---- messages that may come late ---- */

/* Waits for messages of ours that may still be on their way and would replace one of these documents, once it is stored. */
static bool outlive_doubts(deliver_t *deliver, const message_t *message, err_t *err) {
    const deliver_owner_t *owner = deliver->owner;
    for (uint32_t i = 0; deliver->doubts && i < message->count; i++) {
        uint32_t length;
        const uint8_t *document = documents_at(message->all, message_index(message, i), &length);
        const int64_t since = deliver->doubts[owner->likeness(document, length) % DOUBTS];
        if (since && !owner->outlive(owner->context, since, err))
            return false;
    }
    return true;
}

static bool note_doubts(deliver_t *deliver, uint32_t count, err_t *err) {
    const deliver_owner_t *owner = deliver->owner;
    if (!owner->now)
        return true;
    if (!deliver->doubts && !(deliver->doubts = calloc(DOUBTS, sizeof *deliver->doubts)))
        return err_memory(err, DOUBTS * sizeof *deliver->doubts);
    for (uint32_t i = 0; i < count; i++)
        deliver->doubts[owner->likeness(deliver->before[i].bytes, deliver->before[i].length) % DOUBTS] =
            owner->now(owner->context);
    return true;
}

/* ---- a message that replaces ---- */

static uint32_t end_of(const deliver_t *deliver) {
    uint64_t bytes = 0;
    uint32_t to = 0;
    for (; to < deliver->other_count && to < deliver->wire->max_batch; to++) {
        const asked_t *other = &deliver->others[to];
        bytes += (uint64_t)length_of(deliver, other) + other->kept_length + OVERHEAD;
        if (to && bytes > MOST_AT_ONCE)
            break;
    }
    return to;
}

/* Settles the documents of which the reply is certain. The others are to be looked up. */
static bool sort_replies(deliver_t *deliver, uint32_t to, const verdict_t *verdict, err_t *err) {
    bool ok = true;
    deliver->ask.count = 0;
    for (uint32_t i = 0; ok && i < to; i++) {
        const uint32_t index = deliver->others[i].index;
        trail_t *trail = &deliver->trails[index];
        const write_error_t *error = deliver->outcomes[i] == OUTCOME_REFUSED ? deliver->errors[i] : NULL;
        if (deliver->outcomes[i] == OUTCOME_STORED) {
            ok = deliver_add(deliver, index, FATE_REPLACED, NULL, err);
        } else if (error && !trail->replacing) {
            ok = deliver_add_reject(deliver, index, error->words, err);
        } else {
            trail->replacing |= verdict->reached;
            deliver->ask.asked[deliver->ask.count++] = (asked_t){.index = index, .error = error};
        }
    }
    return ok;
}

/* Looks up until each is found. One that was there, but is not now, may not be shown yet. */
static bool ask_again(deliver_t *deliver, err_t *err) {
    static const trouble_t gone = {.words = "a document that was to be replaced is not there any more"};
    const wire_t *wire = deliver->wire;
    while (deliver->ask.count) {
        if (!ask_all(&deliver->ask, deliver->documents, err) || !settle(deliver, true, err) ||
            (deliver->ask.count && !wire->again(wire->context, &gone, err)))
            return false;
    }
    return true;
}

/* Replaces the first of them. Those that still find another document in their place come again after the rest. */
static bool replace_some(deliver_t *deliver, err_t *err) {
    const wire_t *wire = deliver->wire;
    const uint32_t to = end_of(deliver), count = deliver->other_count;
    const message_t message = {.all = deliver->documents, .indexes = deliver->pending, .count = to};
    reply_t reply;
    for (uint32_t i = 0; i < to; i++) {
        const asked_t *other = &deliver->others[i];
        deliver->pending[i] = other->index;
        deliver->before[i] = (replaced_t){deliver->ask.kept + other->kept_at, other->kept_length};
    }
    if (!outlive_doubts(deliver, &message, err) || !deliver_may_send(deliver, err) ||
        !wire->replace(wire->context, &message, deliver->before, &reply, err))
        return false;
    const verdict_t verdict = outcome_judge(&reply, to, deliver->outcomes, deliver->errors);
    trouble_t trouble = {.reply = &reply, .error = verdict.error};
    deliver_note_reply(deliver, &reply, &verdict);
    if (verdict.next == OUTCOME_STOP)
        return deliver_stop(deliver, &trouble, to, err);
    const bool lost = reply.kind == REPLY_LOST || reply.kind == REPLY_FAILED;
    const uint32_t blamed = verdict.error ? deliver->pending[verdict.error->index] : 0;
    if ((lost && !note_doubts(deliver, to, err)) || !sort_replies(deliver, to, &verdict, err))
        return false;
    memmove(deliver->others, deliver->others + to, (count - to) * sizeof *deliver->others);
    deliver->other_count = count - to;
    if (!deliver->other_count)
        deliver->ask.kept_used = 0;
    if (deliver->ask.count == to) { /* nothing was settled */
        if (!wire->again(wire->context, &trouble, err))
            return deliver_blame(deliver, blamed, trouble.error, err);
        deliver->retries++;
    } else {
        wire->begin(wire->context);
    }
    return ask_again(deliver, err);
}

static bool deliver_replace_others(deliver_t *deliver, err_t *err) {
    deliver->wire->begin(deliver->wire->context);
    for (uint32_t i = 0; i < deliver->other_count; i++)
        deliver->trails[deliver->others[i].index].replacing = false;
    while (deliver->other_count)
        if (!replace_some(deliver, err))
            return false;
    return true;
}

/* ---- a message ---- */

/* Counts how often in a row this document got the same unlisted code. */
static void follow_trail(trail_t *trail, const write_error_t *error) {
    const bool unlisted = error && outcome_is_unlisted(error);
    trail->times = unlisted && trail->code == error->code ? trail->times + 1 : unlisted;
    trail->code = unlisted ? error->code : 0;
}

/* Sorts the documents of a message by what its reply proves: settled, to be read back, or to be sent again. */
static bool sort_documents(deliver_t *deliver, const message_t *message, const verdict_t *verdict,
                           err_t *err) {
    deliver->ask.count = deliver->pending_count = 0;
    for (uint32_t i = 0; i < message->count; i++) {
        const uint32_t index = message_index(message, i);
        const write_error_t *error = deliver->errors[i];
        trail_t *trail = &deliver->trails[index];
        switch (deliver->outcomes[i]) {
        case OUTCOME_STORED:
            deliver->stored++;
            break;
        case OUTCOME_DUPLICATE:
            deliver->ask.asked[deliver->ask.count++] = (asked_t){.index = index};
            break;
        case OUTCOME_REFUSED:
            if (trail->in_doubt)
                deliver->ask.asked[deliver->ask.count++] = (asked_t){.index = index, .error = error};
            else if (!deliver_add_reject(deliver, index, error->words, err))
                return false;
            break;
        case OUTCOME_IN_DOUBT:
            trail->in_doubt |= verdict->reached;
            follow_trail(trail, error);
            deliver->pending[deliver->pending_count++] =
                index; /* never overtakes i: the message may use this array */
            break;
        }
    }
    return true;
}

/* True if each pending document got the same unlisted code SAME_AGAIN times, while others of its message went in: then the
 * document is the cause. err has the sentence. */
static bool is_its_own_fault(const deliver_t *deliver, uint32_t sent, const write_error_t *error,
                             err_t *err) {
    char place[600];
    if (!error || deliver->pending_count == sent)
        return false;
    for (uint32_t i = 0; i < deliver->pending_count; i++)
        if (deliver->trails[deliver->pending[i]].times < SAME_AGAIN)
            return false;
    deliver_name_place(deliver, deliver->pending[0], place, sizeof place);
    err_set(err, STATUS_SERVER,
            "%s: the server refuses the document of this record again and again, and takes others: %s (code "
            "%d). Correct the record in its input and load again",
            place, error->words, error->code);
    return true;
}

/* Takes one reply, and waits before another try. *message: what to send next. */
static bool take_reply(deliver_t *deliver, const reply_t *reply, message_t *message, uint32_t sent,
                       bool *missed, err_t *err) {
    static const char absent[] =
        "the server refuses a document as a duplicate, but finds none with its _id (not yet?)";
    const wire_t *wire = deliver->wire;
    const verdict_t verdict = outcome_judge(reply, message->count, deliver->outcomes, deliver->errors);
    trouble_t trouble = {.reply = reply, .error = verdict.error};
    deliver_note_reply(deliver, reply, &verdict);
    if (verdict.next == OUTCOME_STOP)
        return deliver_stop(deliver, &trouble, message->count, err);
    const uint32_t before = message->count,
                   blamed = verdict.error ? message_index(message, verdict.error->index) : 0;
    if (!sort_documents(deliver, message, &verdict, err))
        return false;
    if (deliver->ask.count && !*missed) /* the server has answered: full patience again, but not for ever */
        wire->begin(wire->context);
    if (!look_up(deliver, missed, err))
        return false;
    if (!deliver->pending_count)
        return true;
    if (is_its_own_fault(deliver, sent, verdict.error, err))
        return false;
    if (verdict.next == OUTCOME_SETTLED)
        trouble = (trouble_t){.words = absent};
    if (deliver->pending_count < before)
        wire->begin(wire->context);
    if (!wire->again(wire->context, &trouble, err))
        return deliver_blame(deliver, blamed, trouble.error, err);
    *message =
        (message_t){.all = deliver->documents, .indexes = deliver->pending, .count = deliver->pending_count};
    return true;
}

/* Looks up which documents are there already. *message: the others, to be sent. */
static bool ask_before(deliver_t *deliver, uint32_t from, uint32_t to, message_t *message, err_t *err) {
    bool missed = false;
    if (!make_room(deliver, err))
        return false;
    memset(deliver->trails + from, 0, (to - from) * sizeof *deliver->trails);
    deliver->ask.count = deliver->pending_count = 0;
    for (uint32_t i = from; i < to; i++)
        deliver->ask.asked[deliver->ask.count++] = (asked_t){.index = i};
    if (!look_up(deliver, &missed, err))
        return false;
    *message =
        (message_t){.all = deliver->documents, .indexes = deliver->pending, .count = deliver->pending_count};
    return true;
}

/* Inserts the documents [from, to), which fit one message. Only notes other documents that have their `_id`s. */
static bool insert_message(deliver_t *deliver, uint32_t from, uint32_t to, err_t *err) {
    const wire_t *wire = deliver->wire;
    message_t message = {.all = deliver->documents, .from = from, .count = to - from};
    bool missed = false;
    wire->begin(wire->context);
    if (__builtin_expect(deliver->documents->may_be_there || deliver->asks_first, 0)) {
        if (!ask_before(deliver, from, to, &message, err))
            return false;
        if (!message.count)
            return true;
    }
    const uint32_t sent = message.count;
    for (bool first = true;; first = false) {
        reply_t reply;
        if (__builtin_expect(!first || from, 0) && !deliver_may_send(deliver, err))
            return false;
        if (!wire->insert(wire->context, &message, &reply, err))
            return false;
        if (__builtin_expect(outcome_is_clean(&reply, message.count), 1)) {
            deliver->stored += message.count;
            return true;
        }
        if (first) {
            if (!make_room(deliver, err))
                return false;
            memset(deliver->trails + from, 0, (to - from) * sizeof *deliver->trails);
        }
        deliver->pending_count = 0;
        if (!take_reply(deliver, &reply, &message, sent, &missed, err))
            return false;
        if (!deliver->pending_count)
            return true;
        deliver->retries += reply.kind != REPLY_UNSENT;
    }
}

static bool send_message(deliver_t *deliver, uint32_t from, uint32_t to, err_t *err) {
    deliver->other_count = 0;
    deliver->ask.kept_used = 0;
    return insert_message(deliver, from, to, err) &&
           (!deliver->other_count || deliver_replace_others(deliver, err));
}

/* Returns the end of the message that begins with this document, or `from` if this document alone is too large. */
static uint32_t message_end(const deliver_t *deliver, uint32_t from) {
    const wire_t *wire = deliver->wire;
    const uint32_t *starts = deliver->documents->starts, count = deliver->documents->count;
    uint32_t to = from;
    if (starts[count] - starts[from] <= wire->max_document_bytes && count - from <= wire->max_batch)
        return count; /* nothing in it can break a limit */
    while (to < count && to - from < wire->max_batch &&
           starts[to + 1] - starts[from] <= wire->max_message_bytes &&
           starts[to + 1] - starts[to] <= wire->max_document_bytes)
        to++;
    return to;
}

bool deliver(deliver_t *deliver, const documents_t *documents, delivered_t *delivered, err_t *err) {
    bool ok = true;
    deliver->documents = documents;
    deliver->knows_twins = false;
    deliver->count = 0;
    deliver->stored = deliver->retries = 0;
    deliver->touched = false;
    for (uint32_t from = 0, to; ok && from < documents->count; from = to) {
        to = message_end(deliver, from);
        if (to > from) {
            ok = send_message(deliver, from, to, err);
        } else {
            char reason[WIRE_WORDS];
            snprintf(reason, sizeof reason, "the document has %u bytes; the server takes up to %u",
                     documents->starts[from + 1] - documents->starts[from],
                     deliver->wire->max_document_bytes);
            ok = deliver_add_reject(deliver, to++, reason, err);
        }
    }
    /* a server needs longer to refuse a document than to return it */
    deliver->asks_first = deliver->count > documents->count / MANY;
    if (deliver->count > 1)
        qsort(deliver->exceptions, deliver->count, sizeof *deliver->exceptions, by_index);
    *delivered = (delivered_t){.exceptions = deliver->exceptions,
                               .count = deliver->count,
                               .stored = deliver->stored,
                               .retries = deliver->retries,
                               .touched = deliver->touched};
    return ok;
}

bool deliver_look(deliver_t *deliver, const documents_t *documents, uint32_t index, bool *there, err_t *err) {
    static const trouble_t absent = {.words =
                                         "a document that was acknowledged is not found through the router"};
    const wire_t *wire = deliver->wire;
    deliver->documents = documents;
    *there = false;
    if (!make_room(deliver, err))
        return false;
    wire->begin(wire->context);
    for (;;) {
        deliver->ask.asked[0] = (asked_t){.index = index};
        deliver->ask.count = 1;
        if (!ask_all(&deliver->ask, documents, err))
            return false;
        *there = deliver->ask.asked[0].found != FOUND_NOTHING;
        if (*there || !wire->again(wire->context, &absent, err))
            return *there || err->status == STATUS_SERVER;
    }
}
