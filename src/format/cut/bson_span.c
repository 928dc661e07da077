#include "base/chars.h"
#include "format/cut/bson_length.h"
#include "format/cut/bson_span.h"
#include "format/cut/bson_walk.h"

#include <string.h>

size_t bson_span_find(const uint8_t *text, size_t length, bool *lies) {
    *lies = false;
    if (length < 4)
        return 0;
    const uint32_t document = bson_length(text);
    *lies = !bson_length_may_be(document) || (document <= length && text[document - 1]);
    return *lies || document > length ? 0 : document;
}

uint64_t bson_span_count(bson_span_counter_t *counter, const uint8_t *text, size_t length) {
    uint64_t count = 0;
    for (size_t at = 0, passed; at < length; at += passed) {
        passed = counter->left < length - at ? counter->left : length - at;
        if (counter->have < 4) {
            counter->head[counter->have++] = text[at];
            const uint32_t document = bson_length(counter->head);
            counter->left = bson_length_may_be(document) ? document - 4 : UINT32_MAX;
            passed = 1;
        } else if (!(counter->left -= (uint32_t)passed)) {
            counter->have = 0;
            count++;
        }
    }
    return count;
}

/* Of a document that is only there in part: its first element has a known type and a key of text. An empty one may be UTF-16. */
static bool begins_with_element(const uint8_t *text, size_t length) {
    if (length < 6 || !bson_walk_knows(text[4]))
        return false;
    const uint8_t *key = text + 5, *end = memchr(key, 0, length - 5);
    return end && *key >= ' ' && utf8_valid(key, (size_t)(end - key));
}

bool bson_span_begins(const uint8_t *text, size_t length) {
    bool lies;
    bson_walk_t walk;
    const size_t document = bson_span_find(text, length, &lies);
    if (lies || length < BSON_LENGTH_LEAST)
        return false;
    return document ? bson_walk(text, (uint32_t)document, false, &walk) : begins_with_element(text, length);
}
