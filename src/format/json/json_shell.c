/* Values as the mongo shell spells them: ISODate("..."), new Date(0), MinKey, /a/i. */
#include "base/chars.h"
#include "format/json/json_typed.h"

#include <math.h>

enum { MOST_ITEMS = 2, LONGEST_NAME = 24 };

typedef struct {
    const char *name;
    size_t items;
    bool (*put)(json_value_t *json, const json_item_t *items, uint8_t *type);
    json_put_text_fn *put_text; /* of its only item, where put is NULL */
    const char *form;           /* the sentence if it has another form */
} call_t;

static bool put_isodate(json_value_t *json, const json_item_t *items, uint8_t *type) {
    return json_put_date(json, &items->span, JSON_DATE_NO_ZONE, type);
}

static bool put_date(json_value_t *json, const json_item_t *items, uint8_t *type) {
    int64_t ms;
    if (items->quoted)
        return json_put_date(json, &items->span, JSON_DATE_DAY, type);
    if (!json_whole(&items->span, &ms))
        return json_reject(json, items->span.at, "a date is a whole number of milliseconds");
    return json_put_date_ms(json, ms, type);
}

static bool number_of(json_value_t *json, const json_item_t *item, int64_t most, int64_t *value) {
    if (!item->quoted && json_whole(&item->span, value) && *value >= 0 && *value <= most)
        return true;
    return json_reject(json, item->span.at, "this is not a whole number up to %lld", (long long)most);
}

static bool put_timestamp(json_value_t *json, const json_item_t *items, uint8_t *type) {
    int64_t seconds = 0, increment = 0;
    return number_of(json, &items[0], UINT32_MAX, &seconds) &&
           number_of(json, &items[1], UINT32_MAX, &increment) &&
           json_put_timestamp(json, (uint32_t)seconds, (uint32_t)increment, type);
}

static bool put_binary(json_value_t *json, const json_item_t *items, uint8_t *type) {
    int64_t subtype = 0;
    return number_of(json, &items[0], UINT8_MAX, &subtype) &&
           json_put_binary(json, &items[1].span, (uint8_t)subtype, type);
}

static const call_t calls[] = {
    {"ISODate", 1, put_isodate, NULL, "this is written ISODate(\"2024-05-31T23:59:59Z\")"},
    {"ObjectId", 1, NULL, json_put_oid, "this is written ObjectId(\"0123456789abcdef01234567\")"},
    {"NumberInt", 1, NULL, json_put_int, "this is written NumberInt(1)"},
    {"NumberLong", 1, NULL, json_put_long, "this is written NumberLong(\"1\")"},
    {"NumberDecimal", 1, NULL, json_put_decimal, "this is written NumberDecimal(\"1.5\")"},
    {"Date", 1, put_date, NULL, "this is written Date(0), or new Date(\"2024-05-31T23:59:59Z\")"},
    {"Timestamp", 2, put_timestamp, NULL, "this is written Timestamp(1, 1)"},
    {"BinData", 2, put_binary, NULL, "this is written BinData(0, \"AA==\")"},
    {"UUID", 1, NULL, json_put_uuid, "this is written UUID(\"01234567-89ab-cdef-0123-456789abcdef\")"},
};

static const struct {
    const char *name;
    bson_type_t type;
    double number;
} constants[] = {
    {"undefined", BSON_TYPE_UNDEFINED, 0},    {"MinKey", BSON_TYPE_MINKEY, 0},
    {"MaxKey", BSON_TYPE_MAXKEY, 0},          {"NaN", BSON_TYPE_DOUBLE, NAN},
    {"Infinity", BSON_TYPE_DOUBLE, INFINITY}, {"-Infinity", BSON_TYPE_DOUBLE, -INFINITY},
};

static const uint8_t *no_value(json_value_t *json, const uint8_t *at) {
    return json_reject(json, at, "a value was expected here");
}

/* Goes over a name, and copies it. */
static const uint8_t *read_name(const json_value_t *json, const uint8_t *at, char name[LONGEST_NAME]) {
    size_t length = 0;
    for (; at < json->end && length < LONGEST_NAME - 1; at++) {
        if (!((*at | 0x20) >= 'a' && (*at | 0x20) <= 'z') && !(*at == '-' && !length))
            break;
        name[length++] = (char)*at;
    }
    name[length] = '\0';
    return at;
}

/* `at` is behind the name. */
static const uint8_t *read_call(json_value_t *json, const uint8_t *at, const call_t *call, uint8_t *type) {
    json_item_t items[MOST_ITEMS];
    at = json_expect(json, at, '(', call->form);
    for (size_t i = 0; i < call->items && at; i++) {
        if (i)
            at = json_expect(json, at, ',', call->form);
        at = at ? json_item(json, at, call->form, &items[i]) : NULL;
    }
    at = at ? json_expect(json, at, ')', call->form) : NULL;
    if (!at)
        return NULL;
    return (call->put ? call->put(json, items, type) : call->put_text(json, &items->span, type)) ? at : NULL;
}

/* MinKey, MinKey() */
static const uint8_t *read_constant(json_value_t *json, const uint8_t *at, size_t which, uint8_t *type) {
    *type = (uint8_t)constants[which].type;
    if (*type == BSON_TYPE_DOUBLE) {
        json->out = bsonw_double(json->out, constants[which].number);
        return at;
    }
    if (!json_is_next(json, at, '('))
        return at;
    at = json_expect(json, at, '(', "");
    return json_expect(json, at, ')', "a closing parenthesis was expected here");
}

/* /pattern/options. The pattern stays as it is written: \/ is the same as / in a regular expression. */
static const uint8_t *read_slashes(json_value_t *json, const uint8_t *at, uint8_t *type) {
    const uint8_t *const begin = at + 1;
    bool in_class = false;
    for (at = begin; at < json->end && (*at != '/' || in_class) && *at >= ' '; at++) {
        if (*at == '\\' && at + 1 < json->end && at[1] >= ' ')
            at++;
        else if (*at == '[')
            in_class = true;
        else if (*at == ']')
            in_class = false;
    }
    if (json_ended(json, at) || *at != '/')
        return json_reject(json, begin - 1, "the regular expression has no end");
    const json_quoted_t pattern = {begin, (size_t)(at - begin), begin};
    const uint8_t *const odd = utf8_wrong(begin, at);
    if (odd)
        return json_reject_utf8(json, odd);
    char letters[LONGEST_NAME];
    const uint8_t *const first = at + 1;
    at = read_name(json, first, letters);
    const json_quoted_t options = {first, (size_t)(at - first), first};
    return json_put_regex(json, &pattern, &options, type) ? at : NULL;
}

const uint8_t *json_shell(json_value_t *json, const uint8_t *at, uint8_t *type) {
    char name[LONGEST_NAME];
    const uint8_t *const begin = at;
    if (json_ended(json, at))
        return json_too_short(json);
    if (*at == '/')
        return read_slashes(json, at, type);
    at = read_name(json, at, name);
    const bool is_new = strcmp(name, "new") == 0;
    if (is_new)
        at = read_name(json, json_blanks(json, at), name);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(name, calls[i].name) == 0)
            return read_call(json, at, &calls[i], type);
    for (size_t i = 0; i < sizeof constants / sizeof *constants && !is_new; i++)
        if (strcmp(name, constants[i].name) == 0)
            return read_constant(json, at, i, type);
    return no_value(json, begin);
}
