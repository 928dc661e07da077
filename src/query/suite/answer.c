#include "query/suite/answer.h"
#include "base/stop.h"

enum { KEPT_BYTES = 4 << 20 };

void answer_begin(answer_t *answer, bool keep) {
    *answer = (answer_t){.keep = keep, .most_bytes = KEPT_BYTES};
    if (keep)
        answer->documents = bson_new();
}

void answer_take(answer_t *answer, const bson_t *document) {
    if (answer->keep && !answer->more) {
        char digits[16];
        const char *key;
        bson_uint32_to_string((uint32_t)answer->count, &key, digits, sizeof digits);
        answer->more = answer->documents->len + document->len > answer->most_bytes ||
                       !bson_append_document(answer->documents, key, -1, document);
    }
    answer->count++;
    answer->bytes += document->len;
}

void answer_drop(answer_t *answer) {
    if (!answer->keep)
        return;
    bson_destroy(answer->documents);
    answer->documents = bson_new();
    answer->more = answer->count > 0;
}

void answer_end(answer_t *answer) {
    if (answer->keep)
        bson_destroy(answer->documents);
    answer->documents = NULL;
    answer->keep = false;
}

bool answer_cut_off(const command_cursor_t *cursor, bson_error_t *error) {
    if (!stop_signal() || !command_cursor_has_more(cursor))
        return false;
    bson_set_error(error, MONGOC_ERROR_CURSOR, MONGOC_ERROR_CURSOR_INVALID_CURSOR, "interrupted");
    return true;
}

bool answer_read(answer_t *answer, command_cursor_t *cursor, bson_error_t *error) {
    const bson_t *document, *reply;
    bson_error_t late;
    bool cut_off = false;
    while (!cut_off && command_cursor_next(cursor, &document)) {
        answer_take(answer, document);
        cut_off = answer_cut_off(cursor, error);
    }
    const bool ok = !command_cursor_failed(cursor, cut_off ? &late : error, &reply) && !cut_off;
    command_cursor_end(cursor);
    return ok;
}
