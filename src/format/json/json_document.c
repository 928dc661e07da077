#include "format/json/json_document.h"
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

bson_t *json_document(const char *text, err_t *err) {
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
    if (read == JSON_REJECT)
        err_set(err, STATUS_USAGE, "%s%s%s, at byte %zu", result.field ? result.field : "",
                result.field ? ": " : "", result.reason, result.at);
    else if (!made)
        err_memory(err, length);
    json_value_destroy(json);
    free(padded);
    free(document);
    return made;
}
