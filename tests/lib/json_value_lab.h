/* json_value_lab: what the unit test and the fuzz target of json_value share: a text read with guards around text and
 * room, and the same text read by libbson, as a referee. */
#ifndef TIPPLE_TESTS_JSON_VALUE_LAB_H
#define TIPPLE_TESTS_JSON_VALUE_LAB_H

#include "format/json/json_inner.h"
#include "format_lab.h"

#include <math.h>

enum { LAB_GUARD = 64 };

typedef struct {
    parsed_t read;
    size_t at, needed;       /* at: of a reject the byte in the text */
    uint8_t *raw, *document; /* document: `length` bytes, if it is one */
    uint32_t length;
    bool own_id;
    char reason[320];
} lab_json_t;

LAB_UNUSED void lab_json_free(lab_json_t *one) {
    free(one->raw);
    *one = (lab_json_t){0};
}

/* With exactly this room, and bytes on either side of it that must stay as they are. */
LAB_UNUSED lab_json_t lab_json_room(json_value_t *json, const void *text, size_t length, size_t room,
                                    bool add_id, int64_t id) {
    lab_json_t one = {.raw = malloc(room + 2 * LAB_GUARD)};
    slack_t slack = slack_new(text, length);
    LAB_MUST(one.raw);
    memset(one.raw, 0xA5, room + 2 * LAB_GUARD);
    one.document = one.raw + LAB_GUARD;
    one.read = json_value_read(json, slack.text, length, true, one.document, room, add_id ? &id : NULL);
    one.needed = json->needed;
    for (size_t i = 0; i < LAB_GUARD; i++)
        LAB_MUST(one.raw[i] == 0xA5 && one.document[room + i] == 0xA5);
    if (one.read == PARSED_DOCUMENT) {
        one.length = (uint32_t)(json->out - json->start);
        one.own_id = json->has_own_id;
        LAB_MUST(one.length <= room && one.length <= JSON_MOST_BYTES);
    }
    if (one.read == PARSED_REJECT) {
        one.at = (size_t)(json->place - slack.text);
        LAB_MUST(*json->reason && one.at <= length);
        snprintf(one.reason, sizeof one.reason, "%s", json->reason);
    }
    slack_free(&slack);
    return one;
}

/* With the room that it asks for. */
LAB_UNUSED lab_json_t lab_json_id(json_value_t *json, const void *text, size_t length, bool add_id,
                                  int64_t id) {
    lab_json_t none = lab_json_room(json, text, length, 0, add_id, id);
    LAB_MUST(none.read == PARSED_FULL);
    lab_json_t one = lab_json_room(json, text, length, none.needed, add_id, id);
    LAB_MUST(one.read == PARSED_DOCUMENT || one.read == PARSED_REJECT);
    lab_json_free(&none);
    return one;
}

LAB_UNUSED lab_json_t lab_json_read(json_value_t *json, const void *text, size_t length) {
    return lab_json_id(json, text, length, false, 0);
}

/* ------------------------------------------------------------------------------------------------------ the referee */

/* NULL: libbson takes it for wrong. */
LAB_UNUSED bson_t *lab_referee(const void *text, size_t length) {
    bson_error_t error;
    return bson_new_from_json(text, (ssize_t)length, &error);
}

static bool lab_same_values(bson_iter_t *ours, bson_iter_t *theirs);

static bool lab_same_inside(const bson_iter_t *ours, const bson_iter_t *theirs) {
    bson_iter_t a, b;
    return bson_iter_recurse(ours, &a) && bson_iter_recurse(theirs, &b) && lab_same_values(&a, &b);
}

/* Where we differ from libbson on purpose, and it takes the text, too. */
static bool lab_may_differ(const bson_iter_t *ours, const bson_iter_t *theirs) {
    const bson_type_t our_type = bson_iter_type(ours), their_type = bson_iter_type(theirs);
    if (our_type == BSON_TYPE_DOUBLE && (their_type == BSON_TYPE_INT32 || their_type == BSON_TYPE_INT64)) {
        const double number = bson_iter_double(ours);
        const bool minus_zero = number == 0 && signbit(number) && !bson_iter_as_int64(theirs);
        return minus_zero || fabs(number) >= 9223372036854775808.0; /* it is not cut off to 64 bits */
    }
    /* $regex alone is an operator of a query */
    if (our_type == BSON_TYPE_DOCUMENT && their_type == BSON_TYPE_REGEX) {
        bson_iter_t inside;
        return bson_iter_recurse(ours, &inside) && bson_iter_next(&inside) &&
               strcmp(bson_iter_key(&inside), "$regex") == 0;
    }
    return false;
}

static bool lab_same_value(const bson_iter_t *ours, const bson_iter_t *theirs) {
    const bson_type_t type = bson_iter_type(ours);
    if (strcmp(bson_iter_key(ours), bson_iter_key(theirs)) != 0)
        return false;
    if (type != bson_iter_type(theirs))
        return lab_may_differ(ours, theirs);
    if (type == BSON_TYPE_DOCUMENT || type == BSON_TYPE_ARRAY)
        return lab_same_inside(ours, theirs);
    bson_t a = BSON_INITIALIZER, b = BSON_INITIALIZER;
    const bool same =
        bson_append_iter(&a, "", 0, ours) && bson_append_iter(&b, "", 0, theirs) && bson_equal(&a, &b);
    bson_destroy(&a);
    bson_destroy(&b);
    return same;
}

static bool lab_same_values(bson_iter_t *ours, bson_iter_t *theirs) {
    for (;;) {
        const bool more = bson_iter_next(ours);
        if (more != bson_iter_next(theirs))
            return false;
        if (!more)
            return true;
        if (!lab_same_value(ours, theirs))
            return false;
    }
}

/* The same bytes; or nearly the same, except for what differs on purpose. */
LAB_UNUSED bool lab_same_json(const lab_json_t *one, const bson_t *referee) {
    bson_t ours;
    bson_iter_t a, b;
    if (one->length == referee->len && memcmp(one->document, bson_get_data(referee), referee->len) == 0)
        return true;
    LAB_MUST(bson_init_static(&ours, one->document, one->length));
    return bson_iter_init(&a, &ours) && bson_iter_init(&b, referee) && lab_same_values(&a, &b);
}

LAB_UNUSED bool lab_valid_json(const lab_json_t *one) {
    bson_t document;
    return bson_init_static(&document, one->document, one->length) &&
           bson_validate(&document, BSON_VALIDATE_UTF8 | BSON_VALIDATE_UTF8_ALLOW_NULL, NULL);
}

/* %XX is a byte. Returns how many there are. */
static inline size_t lab_plain(char *text) {
    char *to = text;
    unsigned byte;
    for (const char *at = text; *at && *at != '\n'; at++) {
        const bool is = *at == '%' && sscanf(at + 1, "%2x", &byte) == 1;
        *to++ = is ? (char)byte : *at;
        at += is ? 2 : 0;
    }
    *to = '\0';
    return (size_t)(to - text);
}

#endif
