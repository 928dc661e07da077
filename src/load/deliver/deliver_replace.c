/* deliver: documents that take the place of others. Each replacement believes all bytes that were read of the other
 * document, so a message that comes late changes nothing, unless these bytes are back. */
#include "load/deliver/deliver_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool deliver_note_other(deliver_t *deliver, const asked_t *asked, err_t *err) {
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

/* ---- messages that may come late ---- */

/* What a document is to be when a message of ours may still be on its way that believes the same document, and replaces it
 * by another one: that message has to come before. */
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

/* ---- a message ---- */

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

static bool add_replaced(deliver_t *deliver, uint32_t index, err_t *err) {
    exception_t *exception = deliver_add_exception(deliver, index, err);
    if (exception)
        exception->replaced = true;
    return exception != NULL;
}

/* What a reply says of each document; those that it says nothing certain of are asked for. */
static bool sort_replies(deliver_t *deliver, uint32_t to, const verdict_t *verdict, err_t *err) {
    deliver->ask.count = 0;
    for (uint32_t i = 0; i < to; i++) {
        const uint32_t index = deliver->others[i].index;
        trail_t *trail = &deliver->trails[index];
        const outcome_t outcome = deliver->outcomes[i];
        if (outcome == OUTCOME_STORED ? !add_replaced(deliver, index, err)
            : outcome == OUTCOME_REFUSED && !trail->replacing
                ? !deliver_add_reject(deliver, index, deliver->errors[i]->words, err)
                : false)
            return false;
        if (outcome == OUTCOME_STORED || (outcome == OUTCOME_REFUSED && !trail->replacing))
            continue;
        trail->replacing |= verdict->reached;
        deliver->ask.asked[deliver->ask.count++] =
            (asked_t){.index = index, .error = outcome == OUTCOME_REFUSED ? deliver->errors[i] : NULL};
    }
    return true;
}

/* What is there now of those that were asked for. *missed: nothing is, of some; they are asked for again. */
static bool settle(deliver_t *deliver, bool *missed, err_t *err) {
    uint32_t left = 0;
    *missed = false;
    for (uint32_t i = 0; i < deliver->ask.count; i++) {
        const asked_t asked = deliver->ask.asked[i];
        bool ok = true;
        if (asked.found == FOUND_SAME)
            ok = add_replaced(deliver, asked.index, err);
        else if (asked.error)
            ok = deliver_add_reject(deliver, asked.index, asked.error->words, err);
        else if (asked.found == FOUND_OTHER)
            ok = deliver_note_other(deliver, &asked, err);
        else
            deliver->ask.asked[left++] = asked;
        if (!ok)
            return false;
    }
    *missed = left > 0;
    deliver->ask.count = left;
    return true;
}

/* Asks until something is there. A document that was there, and is not any more, may be not shown yet. */
static bool ask_again(deliver_t *deliver, err_t *err) {
    static const trouble_t gone = {.words = "a document that was to be replaced is not there any more"};
    const wire_t *wire = deliver->wire;
    for (bool missed = deliver->ask.count > 0; missed;) {
        if (!ask_all(&deliver->ask, deliver->documents, err) || !settle(deliver, &missed, err) ||
            (missed && !wire->again(wire->context, &gone, err)))
            return false;
    }
    return true;
}

/* The first of them; what has still another document in its place comes after the others. */
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

bool deliver_replace_others(deliver_t *deliver, err_t *err) {
    deliver->wire->begin(deliver->wire->context);
    for (uint32_t i = 0; i < deliver->other_count; i++)
        deliver->trails[deliver->others[i].index].replacing = false;
    while (deliver->other_count)
        if (!replace_some(deliver, err))
            return false;
    return true;
}
