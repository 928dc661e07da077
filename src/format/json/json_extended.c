/* Typed values of extended JSON. Each reader begins behind the colon of the first key, and leaves the last bracket. */
#include "format/json/json_typed.h"
#include "format/values/hex.h"

typedef struct word word_t;

struct word {
    const char *name;
    const uint8_t *(*read)(json_value_t *json, const uint8_t *at, const word_t *word, uint8_t *type);
    json_put_text_fn *put; /* for read_text */
    const char *form;      /* the sentence if it has another form */
};

static const uint8_t *wrong_form(json_value_t *json, const uint8_t *at, const word_t *word) {
    return json_reject(json, at, "%s", word->form);
}

/* One of these keys, and its colon. *which: which one. */
static const uint8_t *expect_key(json_value_t *json, const uint8_t *at, const word_t *word,
                                 const char *const names[2], int *which) {
    json_quoted_t key;
    at = json_quoted(json, at, word->form, &key);
    if (!at)
        return NULL;
    *which = json_is(&key, names[0]) ? 0 : 1;
    if (!json_is(&key, names[*which]))
        return wrong_form(json, key.at, word);
    return json_expect(json, at, ':', word->form);
}

/* This key, and its colon. */
static const uint8_t *expect_this_key(json_value_t *json, const uint8_t *at, const word_t *word,
                                      const char *name) {
    const char *const names[2] = {name, name};
    int which;
    return expect_key(json, at, word, names, &which);
}

/* An object of two items, in any order. */
static const uint8_t *read_pair(json_value_t *json, const uint8_t *at, const word_t *word,
                                const char *const names[2], json_item_t items[2]) {
    int first, which;
    at = json_expect(json, at, '{', word->form);
    at = at ? expect_key(json, at, word, names, &first) : NULL;
    at = at ? json_item(json, at, word->form, &items[first]) : NULL;
    at = at ? json_expect(json, at, ',', word->form) : NULL;
    at = at ? expect_key(json, at, word, names, &which) : NULL;
    if (at && which == first)
        return wrong_form(json, at, word);
    at = at ? json_item(json, at, word->form, &items[which]) : NULL;
    return at ? json_expect(json, at, '}', word->form) : NULL;
}

/* ------------------------------------------------------------------------------------------------- of one text */

static const uint8_t *read_text(json_value_t *json, const uint8_t *at, const word_t *word, uint8_t *type) {
    json_quoted_t text;
    at = json_quoted(json, at, word->form, &text);
    return at && word->put(json, &text, type) ? at : NULL;
}

static bool put_symbol(json_value_t *json, const json_quoted_t *text, uint8_t *type) {
    *type = BSON_TYPE_SYMBOL;
    return json_put_string(json, text);
}

static const uint8_t *read_date(json_value_t *json, const uint8_t *at, const word_t *word, uint8_t *type) {
    json_item_t item;
    int64_t ms;
    const bool in_object = json_is_next(json, at, '{');
    if (in_object) {
        at = expect_this_key(json, json_expect(json, at, '{', word->form), word, "$numberLong");
        if (!at)
            return NULL;
    }
    at = json_item(json, at, word->form, &item);
    if (!at)
        return NULL;
    if (item.quoted && !in_object)
        return json_put_date(json, &item.span, JSON_DATE_FULL, type) ? at : NULL;
    if (item.quoted != in_object || !json_whole(&item.span, &ms))
        return wrong_form(json, item.span.at, word);
    if (in_object && !(at = json_expect(json, at, '}', word->form)))
        return NULL;
    json_put_date_ms(json, ms, type);
    return at;
}

/* ------------------------------------------------------------------------------------------------- constants */

static const uint8_t *read_one(json_value_t *json, const uint8_t *at, const word_t *word, uint8_t *type) {
    json_item_t item;
    at = json_item(json, at, word->form, &item);
    if (at && (item.quoted || !json_is(&item.span, "1")))
        return wrong_form(json, item.span.at, word);
    *type = word->name[2] == 'i' ? BSON_TYPE_MINKEY : BSON_TYPE_MAXKEY;
    return at;
}

static const uint8_t *read_undefined(json_value_t *json, const uint8_t *at, const word_t *word,
                                     uint8_t *type) {
    at = json_blanks(json, at);
    if (json_ended(json, at) || memcmp(at, "true", 4) != 0)
        return wrong_form(json, at, word);
    *type = BSON_TYPE_UNDEFINED;
    return at + 4;
}

/* ----------------------------------------------------------------------------------------------- binary, regex */

/* One or two hexadecimal digits; or, where it is not in quotes, a number. */
static bool subtype_of(const json_item_t *item, uint8_t *subtype) {
    int64_t value = 0;
    if (!item->quoted) {
        if (!json_whole(&item->span, &value) || value < 0 || value > UINT8_MAX)
            return false;
        *subtype = (uint8_t)value;
        return true;
    }
    return hex_read_byte(item->span.text, item->span.length, subtype);
}

static bool put_binary(json_value_t *json, const json_item_t *base64, const json_item_t *subtype,
                       uint8_t *type) {
    uint8_t number;
    if (!subtype_of(subtype, &number))
        return json_reject(json, subtype->span.at, "the subtype of binary data is two hexadecimal digits");
    return json_put_binary(json, &base64->span, number, type);
}

static const uint8_t *read_binary(json_value_t *json, const uint8_t *at, const word_t *word, uint8_t *type) {
    static const char *const names[2] = {"base64", "subType"};
    json_item_t items[2];
    const bool old = json_is_next(json, at, '"');
    if (old) {
        at = json_item(json, at, word->form, &items[0]);
        at = at ? json_expect(json, at, ',', word->form) : NULL;
        at = at ? expect_this_key(json, at, word, "$type") : NULL;
        at = at ? json_item(json, at, word->form, &items[1]) : NULL;
    } else {
        at = read_pair(json, at, word, names, items);
        if (at && (!items[0].quoted || !items[1].quoted))
            return wrong_form(json, at, word);
    }
    return at && put_binary(json, &items[0], &items[1], type) ? at : NULL;
}

static const uint8_t *read_regex(json_value_t *json, const uint8_t *at, const word_t *word, uint8_t *type) {
    static const char *const names[2] = {"pattern", "options"};
    json_item_t items[2];
    at = read_pair(json, at, word, names, items);
    if (at && (!items[0].quoted || !items[1].quoted))
        return wrong_form(json, at, word);
    return at && json_put_regex(json, &items[0].span, &items[1].span, type) ? at : NULL;
}

/* --------------------------------------------------------------------------------- timestamp, pointer, code */

static bool is_unsigned(const json_item_t *item, uint32_t *value) {
    int64_t number;
    if (item->quoted || !json_whole(&item->span, &number) || number < 0 || number > UINT32_MAX)
        return false;
    *value = (uint32_t)number;
    return true;
}

static const uint8_t *read_timestamp(json_value_t *json, const uint8_t *at, const word_t *word,
                                     uint8_t *type) {
    static const char *const names[2] = {"t", "i"};
    json_item_t items[2];
    uint32_t seconds, increment;
    const uint8_t *const next = read_pair(json, at, word, names, items);
    if (!next)
        return NULL;
    if (!is_unsigned(&items[0], &seconds) || !is_unsigned(&items[1], &increment))
        return wrong_form(json, at, word);
    json_put_timestamp(json, seconds, increment, type);
    return next;
}

/* $ref or $id, and what belongs to it. *which: 0 or 1. */
static const uint8_t *read_reference(json_value_t *json, const uint8_t *at, const word_t *word,
                                     json_quoted_t spans[2], int *which) {
    static const char *const names[2] = {"$ref", "$id"};
    at = expect_key(json, at, word, names, which);
    if (!at)
        return NULL;
    if (*which == 0)
        return json_quoted(json, at, word->form, &spans[0]);
    at = json_expect(json, at, '{', word->form);
    at = at ? expect_this_key(json, at, word, "$oid") : NULL;
    at = at ? json_quoted(json, at, word->form, &spans[1]) : NULL;
    return at ? json_expect(json, at, '}', word->form) : NULL;
}

static const uint8_t *read_pointer(json_value_t *json, const uint8_t *at, const word_t *word, uint8_t *type) {
    json_quoted_t spans[2];
    int first = 0, second = 0;
    at = json_expect(json, at, '{', word->form);
    at = at ? read_reference(json, at, word, spans, &first) : NULL;
    at = at ? json_expect(json, at, ',', word->form) : NULL;
    at = at ? read_reference(json, at, word, spans, &second) : NULL;
    if (at && first == second)
        return wrong_form(json, at - 1, word);
    at = at ? json_expect(json, at, '}', word->form) : NULL;
    if (!at || !json_put_string(json, &spans[0]) || !json_put_oid(json, &spans[1], type))
        return NULL;
    *type = BSON_TYPE_DBPOINTER;
    return at;
}

static const uint8_t *read_scope(json_value_t *json, const uint8_t *at, const word_t *word) {
    at = json_expect(json, at, '{', word->form);
    return at ? json->object(json, at, NULL) : NULL;
}

static const uint8_t *read_code(json_value_t *json, const uint8_t *at, const word_t *word, uint8_t *type) {
    json_quoted_t code;
    uint8_t *const begin = json->out;
    at = json_quoted(json, at, word->form, &code);
    if (!at)
        return NULL;
    const bool with_scope = json_is_next(json, at, ',');
    *type = with_scope ? BSON_TYPE_CODEWSCOPE : BSON_TYPE_CODE;
    json->out += with_scope ? 4 : 0;
    if (!json_put_string(json, &code))
        return NULL;
    if (!with_scope)
        return at;
    at = expect_this_key(json, json_expect(json, at, ',', word->form), word, "$scope");
    at = at ? read_scope(json, at, word) : NULL;
    if (at)
        json_put_length(begin, json->out);
    return at;
}

/* The scope is written before its code, and then they change places. */
static const uint8_t *read_scope_first(json_value_t *json, const uint8_t *at, const word_t *word,
                                       uint8_t *type) {
    json_quoted_t code;
    uint8_t *const begin = json->out, *const scope = begin + 4;
    json->out = scope;
    at = read_scope(json, at, word);
    at = at ? json_expect(json, at, ',', word->form) : NULL;
    at = at ? expect_this_key(json, at, word, "$code") : NULL;
    at = at ? json_quoted(json, at, word->form, &code) : NULL;
    uint8_t *const string = json->out;
    if (!at || !json_put_string(json, &code) || !json_exchange(json, scope, string, json->out))
        return NULL;
    json_put_length(begin, json->out);
    *type = BSON_TYPE_CODEWSCOPE;
    return at;
}

/* ------------------------------------------------------------------------------- operators that may be values */

/* Is it exactly two items, the second one under this key? Nothing is written. Returns what follows the second, or NULL. */
static const uint8_t *is_pair(json_value_t *json, const uint8_t *at, const char *second,
                              json_item_t items[2]) {
    static const word_t no_word = {.form = ""};
    at = json_item(json, at, "", &items[0]);
    at = at ? json_expect(json, at, ',', "") : NULL;
    at = at ? expect_this_key(json, at, &no_word, second) : NULL;
    at = at ? json_item(json, at, "", &items[1]) : NULL;
    return at && json_is_next(json, at, '}') && items[1].quoted ? at : NULL;
}

/* The old forms of a regular expression and of binary data. *read: one of them, though perhaps a wrong one. Otherwise it
 * is an ordinary object, and if there is something wrong with it, who reads it as one finds that again. */
static const uint8_t *read_operator(json_value_t *json, const uint8_t *at, const char *name, uint8_t *begin,
                                    uint8_t *type, bool *read) {
    json_item_t items[2];
    const size_t used = json->scratch_used;
    const bool regex = strcmp(name, "$regex") == 0, options = strcmp(name, "$options") == 0;
    json->failure = JSON_DOCUMENT;
    at = is_pair(json, at, regex ? "$options" : options ? "$regex" : "$binary", items);
    *read = json->failure == JSON_MEMORY || (at && (items[0].quoted || !(regex || options)));
    if (!*read) {
        json->scratch_used = used;
        return NULL;
    }
    json->out = begin;
    if (!at)
        return NULL;
    if (regex || options)
        return json_put_regex(json, &items[options].span, &items[!options].span, type) ? at : NULL;
    return put_binary(json, &items[1], &items[0], type) ? at : NULL;
}

/* The most frequent ones first. */
static const word_t words[] = {
    {"$oid", read_text, json_put_oid, "an ObjectId is written {\"$oid\": \"0123456789abcdef01234567\"}"},
    {"$date", read_date, NULL,
     "a date is written {\"$date\": \"2024-05-31T23:59:59Z\"}, or {\"$date\": {\"$numberLong\": \"0\"}} in "
     "milliseconds"},
    {"$numberInt", read_text, json_put_int, "a whole number of 32 bits is written {\"$numberInt\": \"1\"}"},
    {"$numberLong", read_text, json_put_long,
     "a whole number of 64 bits is written {\"$numberLong\": \"1\"}"},
    {"$numberDouble", read_text, json_put_double, "a double is written {\"$numberDouble\": \"1.5\"}"},
    {"$numberDecimal", read_text, json_put_decimal,
     "a decimal number is written {\"$numberDecimal\": \"1.5\"}"},
    {"$binary", read_binary, NULL,
     "binary data is written {\"$binary\": {\"base64\": \"AA==\", \"subType\": \"00\"}}"},
    {"$uuid", read_text, json_put_uuid,
     "a UUID is written {\"$uuid\": \"01234567-89ab-cdef-0123-456789abcdef\"}"},
    {"$timestamp", read_timestamp, NULL, "a timestamp is written {\"$timestamp\": {\"t\": 1, \"i\": 1}}"},
    {"$regularExpression", read_regex, NULL,
     "a regular expression is written {\"$regularExpression\": {\"pattern\": \"a\", \"options\": \"i\"}}"},
    {"$minKey", read_one, NULL, "this is written {\"$minKey\": 1}"},
    {"$maxKey", read_one, NULL, "this is written {\"$maxKey\": 1}"},
    {"$undefined", read_undefined, NULL, "this is written {\"$undefined\": true}"},
    {"$symbol", read_text, put_symbol, "a symbol is written {\"$symbol\": \"a\"}"},
    {"$code", read_code, NULL,
     "code is written {\"$code\": \"...\"} or {\"$code\": \"...\", \"$scope\": {}}"},
    {"$scope", read_scope_first, NULL, "code with a scope is written {\"$code\": \"...\", \"$scope\": {}}"},
    {"$dbPointer", read_pointer, NULL,
     "a DBPointer is written {\"$dbPointer\": {\"$ref\": \"a.b\", \"$id\": {\"$oid\": \"...\"}}}"},
};

/* Most names differ in their first four bytes, which takes no call to find. */
static bool is_named(const char *name, const char *expected) {
    return memcmp(name, expected, 4) == 0 && strcmp(name, expected) == 0;
}

static bool is_operator(const char *name) {
    return is_named(name, "$regex") || is_named(name, "$options") || is_named(name, "$type");
}

bool json_extended(json_value_t *json, const uint8_t **at, uint8_t *begin, uint8_t *type) {
    const char *const name = (const char *)begin + 5; /* behind the length and the type */
    if (is_operator(name)) {
        bool read;
        const uint8_t *const next = read_operator(json, *at, name, begin, type, &read);
        if (read)
            *at = next ? json_expect(json, next, '}', "") : NULL;
        return read;
    }
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_named(name, words[i].name)) {
            json->out = begin;
            *at = words[i].read(json, *at, &words[i], type);
            if (*at)
                *at = json_expect(json, *at, '}', words[i].form);
            return true;
        }
    return false;
}
