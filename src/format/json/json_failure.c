#include "base/chars/escape.h"
#include "format/json/json_inner.h"

#include <stdio.h>

enum { KEY_SHOWN = 60 };

const uint8_t *json_reject(json_value_t *json, const uint8_t *at, const char *format, ...) {
    json->failure = JSON_REJECT;
    json->place = at < json->end ? at : json->end;
    if (at >= json->end) {
        snprintf(json->reason, sizeof json->reason, "the text ends before the document does");
        return NULL;
    }
    va_list values;
    va_start(values, format);
    vsnprintf(json->reason, sizeof json->reason, format, values);
    va_end(values);
    return NULL;
}

const uint8_t *json_too_short(json_value_t *json) {
    return json_reject(json, json->end, " ");
}

const uint8_t *json_memory(json_value_t *json) {
    json->failure = JSON_MEMORY;
    return NULL;
}

const uint8_t *json_too_large(json_value_t *json) {
    json->failure = JSON_REJECT;
    json->place = json->text;
    snprintf(json->reason, sizeof json->reason, "its document is larger than 16 MiB");
    return NULL;
}

const uint8_t *json_full(json_value_t *json, const uint8_t *end) {
    if (end > json->start && (size_t)(end - json->start) > JSON_MOST_WRITTEN)
        return json_too_large(json);
    json->failure = JSON_FULL;
    return NULL;
}

const uint8_t *json_within(json_value_t *json, const uint8_t *key) {
    char shown[KEY_SHOWN * 4];
    if (json->failure != JSON_REJECT)
        return NULL;
    escape_text(shown, KEY_SHOWN, (const char *)key, strlen((const char *)key));
    const size_t length = strlen(shown), dot = json->field[json->field_from] != '\0';
    if (length + dot > json->field_from)
        return NULL; /* the outermost keys are left out */
    if (dot)
        json->field[--json->field_from] = '.';
    json->field_from -= length;
    memcpy(json->field + json->field_from, shown, length);
    return NULL;
}

const uint8_t *json_reject_twice(json_value_t *json, const uint8_t *at, const uint8_t *key, uint32_t before) {
    char shown[KEY_SHOWN];
    escape_text(shown, sizeof shown, (const char *)key, strlen((const char *)key));
    return json_reject(json, at, "the key \"%s\" is there twice: the first one is at byte %u", shown,
                       before + 1);
}
