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

bson_t *json_document(const char *text, bool placed, err_t *err) {
    const size_t length = strlen(text);
    uint8_t *padded = calloc(1, length + 2 * POOL_SLACK), *document = NULL;
    json_value_t *json = json_value_new();
    json_result_t result = {0};
    json_read_t read = JSON_MEMORY;
    if (padded && json)
        read = read_all(json, memcpy(padded + POOL_SLACK, text, length + 1), length, &document, &result);
    bson_t *const made = read == JSON_DOCUMENT ? bson_new_from_data(document, result.length) : NULL;
    if (read == JSON_REJECT)
        err_set(err, STATUS_USAGE, "%s", result.reason);
    else if (!made)
        err_memory(err, length);
    if (read == JSON_REJECT && placed && result.field)
        err_where(err, "%s", result.field);
    if (read == JSON_REJECT && placed)
        err_add(err, ", at byte %zu", result.at);
    json_value_destroy(json);
    free(padded);
    free(document);
    return made;
}
