/* fuzz_json: one text as a JSON object. What is made of it is valid BSON, and the same as libbson makes of it, if that
 * takes it, too. A document is the same with any room that it fits in, with less there is none, and no byte is written
 * around it. With an _id of ours the rest is the same. */
#include "format/types.h"
#include "format_laws.h"
#include "json_value_lab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool contains(const uint8_t *text, size_t length, const char *word) {
    return memmem(text, length, word, strlen(word)) != NULL;
}

/* In arrays libbson gives these a key of whatever is in memory, and in each other they end it. A key may also be spelled
 * with escapes. */
static bool may_referee(const uint8_t *text, size_t length) {
    return !contains(text, length, "$code") && !contains(text, length, "$scope") &&
           !contains(text, length, "$dbPointer") && !contains(text, length, "\\u00");
}

/* Is there a value in the document itself in whose place a server stores the time of day? */
static bool is_replaced(const bson_t *document) {
    bson_iter_t iter;
    uint32_t seconds, increment;
    bson_iter_init(&iter, document);
    while (bson_iter_next(&iter)) {
        if (!BSON_ITER_HOLDS_TIMESTAMP(&iter))
            continue;
        bson_iter_timestamp(&iter, &seconds, &increment);
        if (!seconds && !increment)
            return true;
    }
    return false;
}

static void with_id(json_value_t *json, const lab_json_t *one, const uint8_t *text, size_t length) {
    lab_json_t other = lab_json_id(json, text, length, true, 7);
    bson_t document, before, rest = BSON_INITIALIZER, expected = BSON_INITIALIZER;
    bson_iter_t iter;
    LAB_MUST(bson_init_static(&before, one->document, one->length));
    if (is_replaced(&before)) {
        LAW(other.read == PARSED_REJECT, text, length, text, length);
        lab_json_free(&other);
        return;
    }
    LAW(other.read == PARSED_DOCUMENT && lab_valid_json(&other), text, length, text, length);
    LAB_MUST(bson_init_static(&document, other.document, other.length));
    LAW(bson_iter_init(&iter, &document) && bson_iter_next(&iter), text, length, text, length);
    LAW(strcmp(bson_iter_key(&iter), "_id") == 0, text, length, text, length);
    LAW(other.own_id == bson_has_field(&before, "_id"), text, length, text, length);
    LAW(other.own_id || bson_iter_as_int64(&iter) == 7, text, length, text, length);
    bson_copy_to_excluding_noinit(&document, &rest, "_id", NULL);
    bson_copy_to_excluding_noinit(&before, &expected, "_id", NULL);
    LAW(bson_equal(&rest, &expected), text, length, text, length);
    bson_destroy(&rest);
    bson_destroy(&expected);
    lab_json_free(&other);
}

static void with_room(json_value_t *json, const lab_json_t *one, const uint8_t *text, size_t length,
                      size_t room) {
    lab_json_t other = lab_json_room(json, text, length, room, false, 0);
    if (other.read == PARSED_DOCUMENT)
        LAW(other.length == one->length && memcmp(other.document, one->document, one->length) == 0, text,
            length, text, length);
    else
        LAW(other.read == PARSED_FULL && room < other.needed, text, length, text, length);
    lab_json_free(&other);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static json_value_t *json;
    law_quiet();
    if (!json)
        json = values_new();
    LAB_MUST(json);
    lab_json_t one = lab_json_read(json, data, size);
    if (one.read == PARSED_DOCUMENT) {
        bson_t *const referee = may_referee(data, size) ? lab_referee(data, size) : NULL;
        LAW(lab_valid_json(&one), data, size, data, size);
        LAW(!referee || lab_same_json(&one, referee), data, size, data, size);
        if (referee)
            bson_destroy(referee);
        with_id(json, &one, data, size);
        with_room(json, &one, data, size, one.length);
        with_room(json, &one, data, size, one.length + JSON_MARGIN);
        with_room(json, &one, data, size, (size_t)data[size / 2] + JSON_MARGIN);
    }
    lab_json_free(&one);
    return 0;
}
