#include "load/deliver/deliver.h"

static bool ends(code_class_t class) {
    return class == CODE_NOT_ALLOWED || class == CODE_STATE;
}

static void doubt_all(uint32_t count, outcome_t *outcomes, const write_error_t **errors) {
    for (uint32_t i = 0; i < count; i++) {
        outcomes[i] = OUTCOME_IN_DOUBT;
        errors[i] = NULL;
    }
}

/* True if each entry is about another document, and all documents without an entry were inserted. */
static bool adds_up(const reply_t *reply, uint32_t count, const write_error_t **errors) {
    for (uint32_t i = 0; i < reply->error_count; i++) {
        const write_error_t *error = &reply->errors[i];
        if (error->index >= count || errors[error->index])
            return false;
        errors[error->index] = error;
    }
    return reply->inserted == count - reply->error_count;
}

static outcome_t judge_error(const write_error_t *error) {
    if (error->code == CODE_DUPLICATE_KEY)
        return error->other_index ? OUTCOME_REFUSED : OUTCOME_DUPLICATE;
    return code_rejects(error->code) ? OUTCOME_REFUSED : OUTCOME_IN_DOUBT;
}

static verdict_t judge_given(const reply_t *reply, uint32_t count, outcome_t *outcomes,
                             const write_error_t **errors) {
    verdict_t verdict = {.next = OUTCOME_SETTLED, .reached = true};
    for (uint32_t i = 0; i < reply->error_count; i++) {
        const write_error_t *error = &reply->errors[i];
        if (!code_rejects(error->code) && ends(code_class(error->code, error->words)))
            return (verdict_t){.next = OUTCOME_STOP, .reached = true, .error = error};
    }
    if (reply->concern_failed && ends(code_class(reply->concern_code, reply->words)))
        return (verdict_t){.next = OUTCOME_STOP, .reached = true};
    if (!adds_up(reply, count, errors)) {
        doubt_all(count, outcomes, errors);
        verdict.next = OUTCOME_AGAIN;
        return verdict;
    }
    for (uint32_t i = 0; i < count; i++) {
        outcomes[i] = errors[i]               ? judge_error(errors[i])
                      : reply->concern_failed ? OUTCOME_IN_DOUBT
                                              : OUTCOME_STORED;
        if (outcomes[i] != OUTCOME_IN_DOUBT)
            continue;
        verdict.next = OUTCOME_AGAIN;
        if (errors[i] &&
            (!verdict.error || (outcome_is_unlisted(errors[i]) && !outcome_is_unlisted(verdict.error))))
            verdict.error = errors[i];
    }
    return verdict;
}

verdict_t outcome_judge(const reply_t *reply, uint32_t count, outcome_t *outcomes,
                        const write_error_t **errors) {
    verdict_t verdict = {.next = OUTCOME_AGAIN, .reached = reply->kind != REPLY_UNSENT};
    doubt_all(count, outcomes, errors);
    switch (reply->kind) {
    case REPLY_GIVEN:
        return judge_given(reply, count, outcomes, errors);
    case REPLY_FAILED: /* the code is about the message, so it rejects no document */
        if (ends(code_class(reply->code, reply->words)) && !reply->passing)
            verdict.next = OUTCOME_STOP;
        break;
    case REPLY_IMPOSSIBLE:
        verdict.next = OUTCOME_STOP;
        break;
    case REPLY_UNSENT:
    case REPLY_LOST:
        break;
    }
    return verdict;
}

bool outcome_is_unlisted(const write_error_t *error) {
    return error->code != CODE_DUPLICATE_KEY && !code_rejects(error->code) &&
           code_class(error->code, error->words) == CODE_UNKNOWN;
}
