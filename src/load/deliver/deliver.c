#include "load/deliver/deliver.h"
#include "base/text.h"
#include "load/deliver/deliver_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum {
    MANY = 8,       /* the part of a batch that makes it worth asking before the next one is sent */
    SAME_AGAIN = 8, /* so often a document gets the same unlisted code before it is thought to be its fault */
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

/* Only batches in which something went wrong need this. */
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

/* ---- what was not simply loaded ---- */

static bool add_there(deliver_t *deliver, uint32_t index, bool kept, err_t *err) {
    exception_t *exception = deliver_add_exception(deliver, index, err);
    if (exception) {
        exception->there = true;
        exception->kept = kept;
    }
    return exception != NULL;
}

static bool add_other(deliver_t *deliver, const asked_t *asked, err_t *err) {
    switch (deliver->owner ? deliver->owner->existing : EXISTING_REJECT) {
    case EXISTING_KEEP:
        return add_there(deliver, asked->index, true, err);
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

/* Has one before it in the batch all of its bytes? The same row may come twice, and is stored once. */
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

/* What the reading back has come to; what nothing was found of is pending again. */
static bool settle_asked(deliver_t *deliver, bool *missed, err_t *err) {
    for (uint32_t i = 0; i < deliver->ask.count; i++) {
        const asked_t *asked = &deliver->ask.asked[i];
        bool ok = true;
        if (asked->found == FOUND_SAME) {
            const bool by_us =
                deliver->trails[asked->index].in_doubt && !has_twin_before(deliver, asked->index);
            deliver->stored += by_us;
            ok = by_us || add_there(deliver, asked->index, false, err);
        } else if (asked->error) {
            ok = deliver_add_reject(deliver, asked->index, asked->error->words, err);
        } else if (asked->found == FOUND_OTHER) {
            ok = add_other(deliver, asked, err);
        } else {
            deliver->pending[deliver->pending_count++] = asked->index;
            *missed = true;
        }
        if (!ok)
            return false;
    }
    return true;
}

/* ---- a message ---- */

/* How often in a row has this document had this unlisted code? */
static void follow_trail(trail_t *trail, const write_error_t *error) {
    const bool unlisted = error && outcome_is_unlisted(error);
    trail->times = unlisted && trail->code == error->code ? trail->times + 1 : unlisted;
    trail->code = unlisted ? error->code : 0;
}

/* The documents of a message by what its reply proves of them: done with, to be read back, to be sent again.
 */
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
                index; /* never before what is still to be looked at */
            break;
        }
    }
    return true;
}

/* True: a document has had the same unlisted code so often, while all others of its message went in, that it
 * must be the document. err has the sentence. */
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

/* What one reply has come to, and whether another try is worth it. *message is what is to be sent next. */
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
    if (deliver->ask.count && !*missed) /* it has answered: its patience is whole again, but not for ever */
        wire->begin(wire->context);
    if (deliver->ask.count &&
        (!ask_all(&deliver->ask, deliver->documents, err) || !settle_asked(deliver, missed, err)))
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

/* Which of them are there already: an earlier run may have sent them. *message is what is left to be sent. */
static bool ask_before(deliver_t *deliver, uint32_t from, uint32_t to, message_t *message, err_t *err) {
    bool missed = false;
    if (!make_room(deliver, err))
        return false;
    memset(deliver->trails + from, 0, (to - from) * sizeof *deliver->trails);
    deliver->ask.count = deliver->pending_count = 0;
    for (uint32_t i = from; i < to; i++)
        deliver->ask.asked[deliver->ask.count++] = (asked_t){.index = i};
    if (!ask_all(&deliver->ask, deliver->documents, err) || !settle_asked(deliver, &missed, err))
        return false;
    *message =
        (message_t){.all = deliver->documents, .indexes = deliver->pending, .count = deliver->pending_count};
    return true;
}

/* The documents [from, to), which fit one message, where no others have their `_id`s. */
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

/* Where the message that begins with this document ends: 0 documents where the first is too large by itself.
 */
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
    /* a server needs longer to refuse a document than to show it */
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
