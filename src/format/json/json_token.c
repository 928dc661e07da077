#include "format/json/json_inner.h"

bool json_is_next(const json_value_t *json, const uint8_t *at, char character) {
    at = json_blanks(json, at);
    return at < json->end && *at == (uint8_t)character;
}

const uint8_t *json_expect(json_value_t *json, const uint8_t *at, char character, const char *sentence) {
    at = json_blanks(json, at);
    if (json_ended(json, at) || *at != (uint8_t)character)
        return json_reject(json, at, "%s", sentence);
    return at + 1;
}
