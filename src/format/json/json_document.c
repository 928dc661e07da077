#include "format/json/json_document.h"
#include "base/document.h"
#include "base/text.h"
#include "base/threads.h"
#include "format/json/json_value.h"

#include <stdlib.h>
#include <string.h>

static json_read_t read_all(json_value_t *json, const uint8_t *text, size_t length, uint8_t **document,
                            json_result_t *result) {
    json_read_t read = JSON_FULL;
    size_t room = 0;
    *result = (json_result_t){.needed = 2 * length + 2 * JSON_MARGIN};
    while (read == JSON_FULL && GROW(*document, room, result->needed, NULL))
        read = json_value_read(json, text, length, *document, room, false, 0, result);
    return read;
}

/* placed: the sentence ends with the place of a mistake. */
static bson_t *read_text(const char *text, bool placed, err_t *err) {
    const size_t length = strlen(text);
    uint8_t *padded = calloc(1, length + 2 * POOL_SLACK), *document = NULL;
    json_value_t *json = json_value_new();
    json_result_t result = {0};
    bson_t *made = NULL;
    json_read_t read = JSON_MEMORY;
    if (padded && json) {
        memcpy(padded + POOL_SLACK, text, length + 1);
        read = read_all(json, padded + POOL_SLACK, length, &document, &result);
    }
    if (read == JSON_DOCUMENT)
        made = bson_new_from_data(document, result.length);
    if (read == JSON_REJECT && !placed)
        err_set(err, STATUS_USAGE, "%s", result.reason);
    else if (read == JSON_REJECT)
        err_set(err, STATUS_USAGE, "%s%s%s, at byte %zu", result.field ? result.field : "",
                result.field ? ": " : "", result.reason, result.at);
    else if (!made)
        err_memory(err, length);
    json_value_destroy(json);
    free(padded);
    free(document);
    return made;
}

bson_t *json_document(const char *text, err_t *err) {
    return read_text(text, true, err);
}

bool json_append(bson_t *to, const char *key, const char *value, err_t *err) {
    bson_iter_t at;
    text_t whole = {0};
    text_print(&whole, "{\"\": %s}", value);
    char *const text = text_take(&whole, err);
    bson_t *const made = text ? read_text(text, false, err) : NULL;
    bool ok = made && bson_iter_init(&at, made) && bson_iter_next(&at);
    if (made && bson_count_keys(made) != 1)
        ok = err_set(err, STATUS_USAGE, "it ends before a comma");
    ok = ok && element_append(to, key, &at);
    bson_destroy(made);
    free(text);
    return ok;
}
