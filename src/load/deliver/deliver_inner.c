#include "load/deliver/deliver_inner.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

exception_t *deliver_add_exception(deliver_t *deliver, uint32_t index, err_t *err) {
    if (!GROW(deliver->exceptions, deliver->exception_room, deliver->count + 1, err))
        return NULL;
    exception_t *exception = &deliver->exceptions[deliver->count++];
    exception->index = index;
    exception->there = exception->taken = exception->kept = exception->replaced = false;
    exception->reason[0] = '\0';
    return exception;
}

bool deliver_add_reject(deliver_t *deliver, uint32_t index, const char *reason, err_t *err) {
    exception_t *exception = deliver_add_exception(deliver, index, err);
    if (exception)
        snprintf(exception->reason, sizeof exception->reason, "%s", reason);
    return exception != NULL;
}

bool deliver_add_taken(deliver_t *deliver, const asked_t *asked, err_t *err) {
    const deliver_owner_t *owner = deliver->owner;
    exception_t *exception = deliver_add_exception(deliver, asked->index, err);
    uint32_t length;
    if (!exception)
        return false;
    const uint8_t *document = documents_at(deliver->documents, asked->index, &length);
    exception->taken = true;
    ask_say_taken(exception->reason, document, length);
    const size_t used = strlen(exception->reason);
    if (owner && owner->advice)
        snprintf(exception->reason + used, sizeof exception->reason - used, "%s", owner->advice);
    return true;
}

void deliver_name_place(const deliver_t *deliver, uint32_t index, char *text, size_t size) {
    const deliver_owner_t *owner = deliver->owner;
    if (owner && owner->place)
        owner->place(owner->context, index, text, size);
    else
        snprintf(text, size, "document %u of a batch", (unsigned)index);
}

bool deliver_blame(const deliver_t *deliver, uint32_t index, const write_error_t *error, err_t *err) {
    char place[600];
    if (!error || err->status != STATUS_SERVER || !outcome_is_unlisted(error))
        return false;
    deliver_name_place(deliver, index, place, sizeof place);
    err_add(err, "; if it is this document that is at fault, correct its record and load again");
    return err_where(err, "%s", place);
}

bool deliver_may_send(const deliver_t *deliver, err_t *err) {
    const deliver_owner_t *owner = deliver->owner;
    return !owner || !owner->may_send || owner->may_send(owner->context, err);
}

void deliver_note_reply(deliver_t *deliver, const reply_t *reply, const verdict_t *verdict) {
    deliver->touched |= reply->kind == REPLY_LOST || (reply->kind == REPLY_GIVEN && reply->inserted) ||
                        (reply->kind == REPLY_FAILED && verdict->next != OUTCOME_STOP);
}

bool deliver_stop(deliver_t *deliver, const trouble_t *trouble, uint32_t count, err_t *err) {
    const reply_t *reply = trouble->reply;
    if (reply->kind == REPLY_GIVEN && !reply->concern_failed && reply->inserted + reply->error_count <= count)
        deliver->stored += (uint32_t)reply->inserted;
    return deliver->wire->refuse(deliver->wire->context, trouble, err);
}
