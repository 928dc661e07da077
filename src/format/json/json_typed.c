/* Values that JSON has no spelling for: {"$oid": "..."} of Extended JSON, ObjectId("...") of the mongo shell.
 *
 * An object of Extended JSON is read like any other object, and the arguments of a call of the shell like an array. Then a copy
 * of that document is taken apart into pieces, and the value is written in its place. A value is a row of `words`: its
 * key and its call, its pieces, the function that writes it, and what it takes, which is the sentence about any other pieces. */
#include "base/chars.h"
#include "base/text.h"
#include "format/cut/bson_length.h"
#include "format/json/json_inner.h"
#include "format/values/calendar.h"
#include "format/values/convert.h"
#include "format/values/hex.h"

#include <math.h>

enum { LONGEST_NAME = 24 };

/* A piece of a typed value. */
typedef struct {
    uint8_t type;        /* of BSON; 0: the piece is missing */
    const uint8_t *text; /* of a text; of any other piece its bytes */
    uint32_t length;
    int64_t whole; /* of a whole number, or true */
} piece_t;

/* Writes a value of the type json->made at json->out. False: the pieces do not make one. */
typedef bool put_fn(json_value_t *json, const piece_t *pieces);

static bool is_text(const piece_t *piece) {
    return piece->type == BSON_TYPE_UTF8;
}

static bool is_whole(const piece_t *piece) {
    return piece->type == BSON_TYPE_INT32 || piece->type == BSON_TYPE_INT64;
}

static bool is(const piece_t *piece, const char *word) {
    return piece->length == strlen(word) && memcmp(piece->text, word, piece->length) == 0;
}

static bool put_int64(json_value_t *json, int64_t value) {
    json->out = bsonw_int64(json->out, value);
    return true;
}

/* ---- dates and numbers ---- */

/* zoned: it needs an offset; day: it may be YYYY-MM-DD. */
static bool put_moment(json_value_t *json, const piece_t *date, bool zoned, bool day) {
    enum { DAY = 10 };
    int64_t ms;
    return is_text(date) &&
           ((day && date->length == DAY && calendar_iso(date->text, &ms)) ||
            calendar_moment(date->text, date->length, zoned, &ms)) &&
           put_int64(json, ms);
}

/* Milliseconds are written as {"$numberLong": "..."}, which has become a number by now. */
static bool put_date(json_value_t *json, const piece_t *pieces) {
    return pieces->type == BSON_TYPE_INT64 && *json->typed == '{' ? put_int64(json, pieces->whole)
                                                                  : put_moment(json, pieces, true, false);
}

static bool put_isodate(json_value_t *json, const piece_t *pieces) {
    return put_moment(json, pieces, false, true);
}

static bool put_new_date(json_value_t *json, const piece_t *pieces) {
    return is_whole(pieces) ? put_int64(json, pieces->whole) : put_moment(json, pieces, true, true);
}

static bool has_blank(const piece_t *piece) {
    return piece->length && (piece->text[0] == ' ' || piece->text[piece->length - 1] == ' ');
}

static bool put_whole(json_value_t *json, const piece_t *pieces) {
    int64_t value = pieces->whole;
    if (is_text(pieces)
            ? has_blank(pieces) || *pieces->text == '+' || !convert_int(pieces->text, pieces->length, &value)
            : !is_whole(pieces))
        return false;
    if (json->made == BSON_TYPE_INT64)
        return put_int64(json, value);
    json->out = bsonw_int32(json->out, (int32_t)value);
    return value == (int32_t)value;
}

static bool put_double(json_value_t *json, const piece_t *pieces) {
    double value;
    if (is(pieces, "NaN"))
        value = NAN;
    else if (is(pieces, "Infinity") || is(pieces, "-Infinity"))
        value = *pieces->text == '-' ? -INFINITY : INFINITY;
    else if (has_blank(pieces) || !convert_number(pieces->text, pieces->length, 0, &value))
        return false;
    json->out = bsonw_double(json->out, value);
    return true;
}

/* A number in a call keeps its digits: it is read from the JSON. */
static bool put_decimal(json_value_t *json, const piece_t *pieces) {
    const char *const text = (const char *)(is_text(pieces) ? pieces->text : json->typed);
    const size_t length = is_text(pieces) ? pieces->length : strspn(text, "-+.0123456789eE");
    bson_decimal128_t value;
    return !memchr(text, 0, length) && length <= INT32_MAX &&
           bson_decimal128_from_string_w_len(text, (int)length, &value) &&
           put_int64(json, (int64_t)value.low) && put_int64(json, (int64_t)value.high);
}

static bool is_32_bits(const piece_t *piece) {
    return is_whole(piece) && piece->whole >= 0 && piece->whole <= UINT32_MAX;
}

static bool put_timestamp(json_value_t *json, const piece_t *pieces) {
    return is_32_bits(&pieces[0]) && is_32_bits(&pieces[1]) &&
           put_int64(json, (int64_t)((uint64_t)pieces[0].whole << 32 | (uint64_t)pieces[1].whole));
}

/* {"$minKey": 1}, {"$undefined": true} */
static bool put_nothing(json_value_t *json, const piece_t *pieces) {
    (void)json;
    return pieces->whole == 1;
}

/* ---- bytes ---- */

static bool put_oid(json_value_t *json, const piece_t *pieces) {
    json->out += HEX_OBJECTID;
    return is_text(pieces) && pieces->length == 2 * HEX_OBJECTID &&
           hex_read(pieces->text, pieces->length, json->out - HEX_OBJECTID, NULL);
}

static bool put_uuid(json_value_t *json, const piece_t *pieces) {
    *bsonw_int32(json->out, HEX_UUID) = BSON_SUBTYPE_UUID;
    json->out += 5 + HEX_UUID;
    return is_text(pieces) && hex_read_uuid(pieces->text, pieces->length, json->out - HEX_UUID, NULL);
}

static bool put_binary(json_value_t *json, const piece_t *pieces) {
    const piece_t *const base64 = &pieces[0], *const sub = &pieces[1];
    uint8_t subtype = (uint8_t)sub->whole, *const data = json->out + 5;
    if (!is_text(base64) || (is_text(sub) ? !hex_read_byte(sub->text, sub->length, &subtype)
                                          : !is_whole(sub) || sub->whole != subtype))
        return false;
    const size_t twice = subtype == BSON_SUBTYPE_BINARY_DEPRECATED ? 4 : 0; /* its length is there again */
    uint8_t *const end = base64_read(base64->text, base64->length, data + twice);
    if (!end)
        return false;
    *bsonw_int32(json->out, (int32_t)(end - data)) = subtype;
    if (twice)
        bsonw_int32(data, (int32_t)(end - data) - 4);
    json->out = end;
    return true;
}

static bool put_bindata(json_value_t *json, const piece_t *pieces) {
    return put_binary(json, (piece_t[]){pieces[1], pieces[0]});
}

/* ---- texts ---- */

/* A piece that is a text, with its length and its zero. */
static bool put_string(json_value_t *json, const piece_t *pieces) {
    json->out = bsonw_text(json->out, pieces->text, pieces->length);
    return true;
}

/* Options in the order of the alphabet, as BSON wants them. */
static bool put_regex(json_value_t *json, const piece_t *pieces) {
    const piece_t *const options = &pieces[1];
    if (memchr(pieces->text, 0, pieces->length))
        return false;
    for (uint32_t i = 0; i < options->length; i++)
        if (!options->text[i] || !strchr("ilmsux", options->text[i]))
            return false;
    json->out = (uint8_t *)mempcpy(json->out, pieces->text, pieces->length);
    *json->out++ = 0;
    for (const char *option = "ilmsux"; *option; option++)
        if (memchr(options->text, *option, options->length))
            *json->out++ = (uint8_t)*option;
    *json->out++ = 0;
    return true;
}

static bool put_pointer(json_value_t *json, const piece_t *pieces) {
    if (!is_text(&pieces[0]) || pieces[1].type != BSON_TYPE_OID)
        return false;
    put_string(json, pieces);
    json->out = (uint8_t *)mempcpy(json->out, pieces[1].text, HEX_OBJECTID);
    return true;
}

/* Whichever of its two pieces comes first. */
static bool put_code(json_value_t *json, const piece_t *pieces) {
    const piece_t *const scope = &pieces[1];
    uint8_t *const begin = json->out;
    if (!is_text(pieces) || (scope->type && scope->type != BSON_TYPE_DOCUMENT))
        return false;
    if (!scope->type)
        return put_string(json, pieces);
    json->made = BSON_TYPE_CODEWSCOPE;
    json->out += 4;
    put_string(json, pieces);
    json->out = (uint8_t *)mempcpy(json->out, scope->text, scope->length);
    bsonw_int32(begin, (int32_t)(json->out - begin));
    return true;
}

/* ---- rows ---- */

struct json_word {
    const char *key, *call; /* the first key of the object, and the name of the call, if it has one */
    uint8_t type;           /* of the value, in BSON */
    uint8_t wants;          /* the type of the first piece, and of both pieces within an object; 0: any */
    uint8_t arguments;      /* of the call */
    put_fn *put;
    const char *takes;    /* the sentence */
    const char *other;    /* a second key of the object */
    const char *inner[2]; /* the keys of the object that its value may be */
};

#define TEXT BSON_TYPE_UTF8

/* The most frequent ones first. */
static const json_word_t words[] = {
    {"$oid", "ObjectId", BSON_TYPE_OID, TEXT, 1, put_oid, .takes = "24 hexadecimal digits in quotes"},
    {"$date", NULL, BSON_TYPE_DATE_TIME, 0, 0, put_date,
     .takes =
         "\"2024-05-31T23:59:59.123Z\", with Z or an offset like +01:00, or {\"$numberLong\": \"0\"} in ms"},
    {"", "ISODate", BSON_TYPE_DATE_TIME, 0, 1, put_isodate, .takes = "\"2024-05-31T23:59:59Z\""},
    {"", "Date", BSON_TYPE_DATE_TIME, 0, 1, put_new_date,
     .takes = "\"2024-05-31T23:59:59Z\" or milliseconds"},
    {"$numberInt", "NumberInt", BSON_TYPE_INT32, TEXT, 1, put_whole,
     .takes = "a whole number of 32 bits in quotes"},
    {"$numberLong", "NumberLong", BSON_TYPE_INT64, TEXT, 1, put_whole,
     .takes = "a whole number of 64 bits in quotes"},
    {"$numberDouble", NULL, BSON_TYPE_DOUBLE, TEXT, 0, put_double,
     .takes = "a number in quotes, or \"NaN\", \"Infinity\" or \"-Infinity\""},
    {"$numberDecimal", "NumberDecimal", BSON_TYPE_DECIMAL128, TEXT, 1, put_decimal,
     .takes = "a number of at most 34 digits in quotes"},
    {"$binary", NULL, BSON_TYPE_BINARY, TEXT, 0, put_binary, .other = "$type", .inner = {"base64", "subType"},
     .takes = "{\"base64\": \"AA==\", \"subType\": \"00\"}, with two hexadecimal digits"},
    {"", "BinData", BSON_TYPE_BINARY, 0, 2, put_bindata, .takes = "a subtype up to 255 and base64 in quotes"},
    {"$uuid", "UUID", BSON_TYPE_BINARY, TEXT, 1, put_uuid,
     .takes = "\"01234567-89ab-cdef-0123-456789abcdef\""},
    {"$timestamp", "Timestamp", BSON_TYPE_TIMESTAMP, 0, 2, put_timestamp, .inner = {"t", "i"},
     .takes = "two whole numbers of 32 bits, as {\"t\": 1, \"i\": 1} or (1, 1)"},
    {"$regularExpression", NULL, BSON_TYPE_REGEX, TEXT, 0, put_regex, .inner = {"pattern", "options"},
     .takes = "{\"pattern\": \"a\", \"options\": \"i\"}, with options of ilmsux"},
    {"$minKey", "MinKey", BSON_TYPE_MINKEY, BSON_TYPE_INT32, 0, put_nothing, .takes = "1, or MinKey"},
    {"$maxKey", "MaxKey", BSON_TYPE_MAXKEY, BSON_TYPE_INT32, 0, put_nothing, .takes = "1, or MaxKey"},
    {"$undefined", "undefined", BSON_TYPE_UNDEFINED, BSON_TYPE_BOOL, 0, put_nothing, .takes = "true"},
    {"$symbol", NULL, BSON_TYPE_SYMBOL, TEXT, 0, put_string, .takes = "a text"},
    {"$code", NULL, BSON_TYPE_CODE, TEXT, 0, put_code, .other = "$scope",
     .takes = "a text, and perhaps a \"$scope\" with an object"},
    {"$dbPointer", NULL, BSON_TYPE_DBPOINTER, 0, 0, put_pointer, .inner = {"$ref", "$id"},
     .takes = "{\"$ref\": \"a.b\", \"$id\": {\"$oid\": \"...\"}}"},
    {"$regex", NULL, BSON_TYPE_REGEX, TEXT, 0, put_regex, .other = "$options",
     .takes = "a text, and \"$options\" of ilmsux"},
    {"", "NaN", BSON_TYPE_DOUBLE, .put = put_double},
    {"", "Infinity", BSON_TYPE_DOUBLE, .put = put_double},
    {"", "-Infinity", BSON_TYPE_DOUBLE, .put = put_double},
};

const json_word_t *json_word(const uint8_t *key) {
    for (const json_word_t *row = words; row < words + COUNT(words); row++)
        if (strcmp((const char *)key, row->key) == 0 ||
            (row->other && strcmp((const char *)key, row->other) == 0))
            return row;
    return NULL;
}

/* These keys are also operators of queries. */
static bool is_operator(const uint8_t *key) {
    return strcmp((const char *)key, "$regex") == 0 || strcmp((const char *)key, "$options") == 0 ||
           strcmp((const char *)key, "$type") == 0;
}

/* Takes an element. False: no piece has its type. */
static bool take_piece(const bson_iter_t *at, piece_t *piece) {
    *piece = (piece_t){.type = (uint8_t)bson_iter_type(at)};
    switch (piece->type) {
    case BSON_TYPE_UTF8:
        piece->text = (const uint8_t *)bson_iter_utf8(at, &piece->length);
        return true;
    case BSON_TYPE_DOCUMENT:
        bson_iter_document(at, &piece->length, &piece->text);
        return true;
    case BSON_TYPE_OID:
        piece->text = bson_iter_oid(at)->bytes;
        return true;
    default:
        piece->whole = bson_iter_as_int64(at);
        return is_whole(piece) || piece->type == BSON_TYPE_BOOL || piece->type == BSON_TYPE_DOUBLE;
    }
}

/* Takes the elements of a document, which have no other keys than these. Returns how many there are; 0: it has others, or no
 * first one. */
static size_t take_pieces(const uint8_t *document, const char *first, const char *second, piece_t pieces[2]) {
    bson_iter_t at;
    size_t count = 0;
    pieces[0].type = pieces[1].type = 0;
    bson_iter_init_from_data(&at, document, bson_length(document));
    for (; bson_iter_next(&at); count++) {
        const bool is_first = strcmp(bson_iter_key(&at), first) == 0;
        if ((!is_first && (!second || strcmp(bson_iter_key(&at), second) != 0)) ||
            !take_piece(&at, &pieces[!is_first]))
            return 0;
    }
    return pieces[0].type ? count : 0;
}

/* Copies the document that was written at `begin`, so that the value can be written over it. */
static bool copy(json_value_t *json, const uint8_t *begin) {
    const size_t length = (size_t)(json->out - begin);
    if (!GROW(json->moved, json->moved_room, length, NULL))
        return json_memory(json);
    memcpy(json->moved, begin, length);
    return true;
}

/* Writes the value of a row at `begin`, if its pieces are those that it wants. The sentence is about its first piece. */
static bool put(json_value_t *json, const json_word_t *row, bool fits, const piece_t *pieces, uint8_t *begin,
                uint8_t *type) {
    json->out = begin;
    json->made = row->type;
    if (!fits || !row->put(json, pieces))
        return json_reject(json, json->typed + (*json->typed == '"'), "expected %s", row->takes);
    *type = json->made;
    return true;
}

bool json_typed(json_value_t *json, const json_word_t *word, uint8_t *begin, uint8_t *type) {
    piece_t pieces[2] = {{0}};
    if (!copy(json, begin))
        return false;
    size_t count = take_pieces(json->moved, word->key, word->other, pieces);
    if (word->inner[0] && !(word->other && pieces[0].type != BSON_TYPE_DOCUMENT))
        count = pieces[0].type == BSON_TYPE_DOCUMENT && count == 1 &&
                take_pieces(pieces[0].text, word->inner[0], word->inner[1], pieces) == 2 &&
                (!word->wants || pieces[1].type == word->wants);
    const bool fits = count && (!word->wants || pieces[0].type == word->wants);
    const bool is_number = word->type == BSON_TYPE_BINARY && is_whole(&pieces[1]);
    if (word->other && is_operator(begin + 5) && !(fits && count == 2 && (is_number || is_text(&pieces[1]))))
        return true;
    return put(json, word, fits, pieces, begin, type);
}

/* ---- the mongo shell ---- */

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

/* The call whose name ends at `at`: ISODate("..."), MinKey, MinKey(), NaN. */
static const uint8_t *read_call(json_value_t *json, const uint8_t *at, const json_word_t *call,
                                uint8_t *type) {
    piece_t pieces[2] = {
        {.text = (const uint8_t *)call->call, .length = (uint32_t)strlen(call->call), .whole = 1}};
    uint8_t *const begin = json->out;
    const uint8_t *const next = json_blanks(json, at);
    const bool opens = next < json->end && *next == '(';
    if (!call->arguments && (call->put == put_double || !opens))
        return put(json, call, true, pieces, begin, type) ? at : NULL;
    if (!opens)
        return json_reject(json, next, "a ( was expected here");
    at = json_arguments(json, next + 1);
    if (!at || !copy(json, begin))
        return NULL;
    json->typed = lines_blanks(next + 1, json->end); /* typed values among the arguments set their own */
    const bool fits = take_pieces(json->moved, "0", "1", pieces) == call->arguments &&
                      (call->arguments || bson_length(json->moved) == BSON_LENGTH_LEAST);
    return put(json, call, fits, pieces, begin, type) ? at : NULL;
}

/* /pattern/options. The pattern stays as it is written: \/ is the same as / in a regular expression. */
static const uint8_t *read_slashes(json_value_t *json, const uint8_t *at, uint8_t *type) {
    const uint8_t *const begin = at + 1;
    char options[LONGEST_NAME];
    bool in_class = false;
    for (at = begin; at < json->end && (*at != '/' || in_class) && *at >= ' '; at++)
        if (*at == '\\' && at + 1 < json->end && at[1] >= ' ')
            at++;
        else
            in_class = *at == '[' || (in_class && *at != ']');
    if (json_ended(json, at) || *at != '/')
        return json_reject(json, begin - 1, "the regular expression has no end");
    const uint8_t *const odd = utf8_wrong(begin, at), *const end = read_name(json, at + 1, options);
    if (odd)
        return json_reject_utf8(json, odd);
    if (json->out + (at - begin) > json->limit)
        return json_full(json, json->out + (at - begin));
    const piece_t pieces[2] = {{.text = begin, .length = (uint32_t)(at - begin)},
                               {.text = at + 1, .length = (uint32_t)(end - at - 1)}};
    json->slashes = true;
    *type = BSON_TYPE_REGEX;
    return put_regex(json, pieces) ? end : json_reject(json, begin - 1, "expected options of ilmsux");
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
    for (const json_word_t *call = words; call < words + COUNT(words); call++)
        if (call->call && strcmp(name, call->call) == 0 && (call->arguments || !is_new))
            return read_call(json, at, call, type);
    return json_reject(json, begin, "a value was expected here");
}
