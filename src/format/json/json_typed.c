/* Values that JSON has no spelling for: {"$oid": "..."} of Extended JSON, ObjectId("...") of the mongo shell.
 *
 * An object of Extended JSON is read as any other object, and then becomes the value in its place. The texts in a call of
 * the shell are read to a place a few bytes after that of the value. So the pieces that make a value lie in the document,
 * and the value is written over them from their beginning on: a function that writes one first takes what it still needs. */
#include "base/chars.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/cut/bson_length.h"
#include "format/json/json_inner.h"
#include "format/values/calendar.h"
#include "format/values/convert.h"
#include "format/values/hex.h"

#include <math.h>

enum { MOST_PIECES = 2, LONGEST_NAME = 24, PIECES_AFTER = 16 };

/* A piece of a typed value. */
typedef struct {
    uint8_t
        type; /* of BSON; 0: the piece is missing; BSON_TYPE_DOUBLE: a number in a call that is not whole */
    const uint8_t *text; /* of a text, or of a number in a call; of any other piece its bytes */
    size_t length;
    int64_t whole;      /* of a whole number */
    const uint8_t *key; /* its key in the document; NULL: it stands in a call, */
    const uint8_t *at;  /* at this place in the JSON */
} piece_t;

/* Writes a value at json->out. False: the pieces do not make one; the sentence is written, or it is that of the form. */
typedef bool put_fn(json_value_t *json, const piece_t *pieces);

/* Where the piece is in the JSON. The places of keys are known, and its key is the last one that was written at its place. */
static const uint8_t *place_of(json_value_t *json, const piece_t *piece) {
    const json_keys_t *const keys = &json->keys;
    const uint8_t *at = json->text;
    if (!piece->key)
        return piece->at;
    for (const json_key_t *slot = keys->slots; slot <= keys->slots + keys->mask; slot++)
        if (slot->object >= keys->first && json->start + slot->key == piece->key &&
            json->text + slot->place > at)
            at = json->text + slot->place;
    for (at++; *at != '"'; at++)
        at += *at == '\\';
    return json_blanks(json, json_blanks(json, at + 1) + 1);
}

/* The sentence is about this piece: if it is a text, about what stands in its quotes. */
static bool refuse(json_value_t *json, const piece_t *piece, const char *sentence) {
    const uint8_t *const at = place_of(json, piece);
    return json_reject(json, at + (*at == '"'), "%s", sentence);
}

static bool is_text(const piece_t *piece) {
    return piece->type == BSON_TYPE_UTF8;
}

static bool is_whole(const piece_t *piece) {
    return piece->type == BSON_TYPE_INT32 || piece->type == BSON_TYPE_INT64;
}

static bool is(const piece_t *piece, const char *word) {
    return piece->length == strlen(word) && memcmp(piece->text, word, piece->length) == 0;
}

/* ---- dates ---- */

enum { DAY = 10, MINUTE = 16 }; /* bytes of YYYY-MM-DD, and of YYYY-MM-DDThh:mm */

typedef enum {
    DATE_FULL,   /* YYYY-MM-DDThh:mm, perhaps :ss and .fff, and Z or an offset like +01:00 or +0100 */
    DATE_DAY,    /* or only YYYY-MM-DD */
    DATE_NO_ZONE /* or without an offset, which means Z */
} date_form_t;

static const char FORM[] = "a date is written like 2024-05-31T23:59:59.123Z or 2024-05-31T23:59:59+01:00";

/* Two digits, less than `below`. */
static bool two(const uint8_t *at, uint32_t below, int64_t *value) {
    const uint32_t tens = (uint32_t)at[0] - '0', ones = (uint32_t)at[1] - '0';
    *value = tens * 10 + ones;
    return tens <= 9 && ones <= 9 && *value < below;
}

/* Z, +hh:mm, +hhmm, or the same with -. */
static bool zone(const uint8_t *at, size_t length, int64_t *offset_ms) {
    int64_t hours, minutes;
    *offset_ms = 0;
    if (length == 1)
        return *at == 'Z';
    if ((length != 5 && length != 6) || (*at != '+' && *at != '-') || (length == 6 && at[3] != ':') ||
        !two(at + 1, 24, &hours) || !two(at + length - 2, 60, &minutes))
        return false;
    *offset_ms = (hours * 60 + minutes) * 60000 * (*at == '-' ? -1 : 1);
    return true;
}

/* The digits after the point of a second. Returns how many there are; *ms is less than 0 if milliseconds do not keep them. */
static size_t decimals(const uint8_t *at, size_t left, int64_t *ms) {
    size_t count = 0;
    int64_t unit = 100;
    bool lost = false;
    for (*ms = 0; count < left && at[count] >= '0' && at[count] <= '9'; count++, unit /= 10) {
        *ms += unit * (at[count] - '0');
        lost |= !unit && at[count] != '0';
    }
    *ms = lost ? -1 : *ms;
    return count;
}

/* To milliseconds since 1970. NULL: it is a date; otherwise the sentence. */
static const char *read_date(const uint8_t *text, size_t length, date_form_t form, int64_t *ms) {
    int64_t hours, minutes, seconds = 0, fraction = 0, offset = 0;
    if (length < DAY)
        return FORM;
    if (!calendar_iso(text, ms))
        return text[4] == '-' && text[7] == '-' ? "there is no such day" : FORM;
    if (length == DAY && form != DATE_FULL)
        return NULL;
    if (length < MINUTE || text[10] != 'T' || text[13] != ':')
        return FORM;
    size_t at = MINUTE;
    const bool has_seconds = at < length && text[at] == ':';
    if (has_seconds && length - at < 3)
        return FORM;
    if (!two(text + 11, 24, &hours) || !two(text + 14, 60, &minutes) ||
        (has_seconds && !two(text + at + 1, 60, &seconds)))
        return "there is no such time of day";
    at += has_seconds ? 3 : 0;
    if (has_seconds && at < length && text[at] == '.') {
        const size_t count = decimals(text + at + 1, length - at - 1, &fraction);
        if (!count)
            return FORM;
        if (fraction < 0)
            return "a date is kept in milliseconds, and this one has more digits";
        at += 1 + count;
    }
    if (at == length ? form != DATE_NO_ZONE : !zone(text + at, length - at, &offset))
        return "a date ends with Z, or with an offset like +01:00";
    *ms += (hours * 60 + minutes) * 60000 + seconds * 1000 + fraction - offset;
    return NULL;
}

static bool put_ms(json_value_t *json, int64_t ms) {
    json->out = bsonw_int64(json->out, ms);
    return true;
}

static bool put_written_date(json_value_t *json, const piece_t *date, date_form_t form) {
    int64_t ms = 0;
    const char *wrong = read_date(date->text, date->length, form, &ms);
    return wrong ? refuse(json, date, wrong) : put_ms(json, ms);
}

/* Milliseconds are written as {"$numberLong": "..."}, which has become a number by now. */
static bool put_date(json_value_t *json, const piece_t *pieces) {
    if (is_text(pieces))
        return put_written_date(json, pieces, DATE_FULL);
    return pieces->type == BSON_TYPE_INT64 && *json->typed == '{' && put_ms(json, pieces->whole);
}

static bool put_isodate(json_value_t *json, const piece_t *pieces) {
    return put_written_date(json, pieces, DATE_NO_ZONE);
}

static bool put_new_date(json_value_t *json, const piece_t *pieces) {
    if (is_text(pieces))
        return put_written_date(json, pieces, DATE_DAY);
    return is_whole(pieces) ? put_ms(json, pieces->whole)
                            : refuse(json, pieces, "a date is a whole number of milliseconds");
}

/* ---- numbers ---- */

/* A whole number, perhaps with a minus, and nothing else. False: it is not one, or does not fit. */
static bool read_whole(const uint8_t *text, size_t length, int64_t *value) {
    const size_t minus = length && text[0] == '-';
    if (length == minus || text[minus] < '0' || text[minus] > '9' || text[length - 1] < '0')
        return false;
    for (size_t i = minus; i < length; i++)
        if (text[i] != '0') /* -0 is no number of convert_int, but 0 is the same whole number */
            return convert_int(text, length, value);
    *value = 0;
    return true;
}

static bool put_int(json_value_t *json, const piece_t *pieces) {
    int64_t value;
    if (!read_whole(pieces->text, pieces->length, &value) || value != (int32_t)value)
        return refuse(json, pieces, "this is not a whole number of 32 bits");
    json->out = bsonw_int32(json->out, (int32_t)value);
    return true;
}

static bool put_long(json_value_t *json, const piece_t *pieces) {
    int64_t value;
    if (!read_whole(pieces->text, pieces->length, &value))
        return refuse(json, pieces, "this is not a whole number of 64 bits");
    json->out = bsonw_int64(json->out, value);
    return true;
}

static bool has_blank(const piece_t *piece) {
    return piece->length && (piece->text[0] == ' ' || piece->text[piece->length - 1] == ' ');
}

static bool put_double(json_value_t *json, const piece_t *pieces) {
    double value;
    if (is(pieces, "NaN"))
        value = NAN;
    else if (is(pieces, "Infinity") || is(pieces, "-Infinity"))
        value = *pieces->text == '-' ? -INFINITY : INFINITY;
    else if (has_blank(pieces) || !convert_number(pieces->text, pieces->length, 0, &value) ||
             json_vanishes(pieces->text, pieces->length, value))
        return refuse(json, pieces, "this is no double, nor NaN, Infinity or -Infinity");
    json->out = bsonw_double(json->out, value);
    return true;
}

static bool put_decimal(json_value_t *json, const piece_t *pieces) {
    bson_decimal128_t value;
    if (memchr(pieces->text, 0, pieces->length) || pieces->length > INT32_MAX ||
        !bson_decimal128_from_string_w_len((const char *)pieces->text, (int)pieces->length, &value))
        return refuse(json, pieces, "this is not a number of decimal128, which has 34 digits");
    json->out = bsonw_int64(bsonw_int64(json->out, (int64_t)value.low), (int64_t)value.high);
    return true;
}

static bool is_32_bits(const piece_t *piece) {
    return is_whole(piece) && piece->whole >= 0 && piece->whole <= UINT32_MAX;
}

static bool put_timestamp(json_value_t *json, const piece_t *pieces) {
    return is_32_bits(&pieces[0]) && is_32_bits(&pieces[1]) &&
           put_ms(json, (int64_t)((uint64_t)pieces[0].whole << 32 | (uint64_t)pieces[1].whole));
}

/* ---- bytes ---- */

static bool put_oid(json_value_t *json, const piece_t *pieces) {
    uint8_t bytes[HEX_OBJECTID];
    if (pieces->length != 2 * sizeof bytes || !hex_read(pieces->text, pieces->length, bytes, NULL))
        return refuse(json, pieces, "an ObjectId is 24 hexadecimal digits");
    memcpy(json->out, bytes, sizeof bytes);
    json->out += sizeof bytes;
    return true;
}

static bool put_uuid(json_value_t *json, const piece_t *pieces) {
    uint8_t bytes[HEX_UUID];
    if (!hex_read_uuid(pieces->text, pieces->length, bytes, NULL))
        return refuse(json, pieces,
                      "a UUID is written like 01234567-89ab-cdef-0123-456789abcdef, in hexadecimal digits");
    json->out = bsonw_binary(json->out, bytes, sizeof bytes);
    json->out[-HEX_UUID - 1] = BSON_SUBTYPE_UUID;
    return true;
}

static bool put_binary(json_value_t *json, const piece_t *pieces) {
    const piece_t *const base64 = &pieces[0], *const sub = &pieces[1];
    uint8_t subtype = (uint8_t)sub->whole, *const data = json->out + 5;
    if (!is_text(base64) || !sub->type)
        return false;
    if (is_text(sub) ? !hex_read_byte(sub->text, sub->length, &subtype)
                     : !is_whole(sub) || sub->whole != subtype)
        return refuse(json, sub,
                      "the subtype of binary data is two hexadecimal digits, or a whole number up to 255");
    const size_t twice = subtype == BSON_SUBTYPE_BINARY_DEPRECATED ? 4 : 0; /* its length is there again */
    const uint8_t *const end = base64_read(base64->text, base64->length, data + twice);
    if (!end)
        return refuse(json, base64, "this is not base64");
    *bsonw_int32(json->out, (int32_t)(end - data)) = subtype;
    if (twice)
        bsonw_int32(data, (int32_t)(end - data) - 4);
    json->out += end - json->out;
    return true;
}

static bool put_bindata(json_value_t *json, const piece_t *pieces) {
    return put_binary(json, (piece_t[]){pieces[1], pieces[0]});
}

/* ---- texts ---- */

/* A piece that is a text, with its length and its zero. */
static bool put_string(json_value_t *json, const piece_t *pieces) {
    const size_t size = pieces->length + 5;
    memmove(json->out, pieces->text - 4, size);
    json->out += size;
    return true;
}

/* Options in the order of the alphabet, as BSON wants them. */
static bool put_regex(json_value_t *json, const piece_t *pieces) {
    static const char known[] = "ilmsux";
    uint8_t options[sizeof known], *end = options;
    for (size_t i = 0; i < pieces[1].length; i++)
        if (!pieces[1].text[i] || !strchr(known, pieces[1].text[i]))
            return refuse(json, &pieces[1], "the options of a regular expression are ilmsux");
    for (const char *option = known; *option; option++)
        if (memchr(pieces[1].text, *option, pieces[1].length))
            *end++ = (uint8_t)*option;
    *end++ = 0;
    if (memchr(pieces->text, 0, pieces->length))
        return refuse(json, pieces, "this must not contain the character \\u0000");
    memmove(json->out, pieces->text, pieces->length);
    json->out[pieces->length] = 0;
    json->out += pieces->length + 1;
    memcpy(json->out, options, (size_t)(end - options));
    json->out += end - options;
    return true;
}

static bool put_pointer(json_value_t *json, const piece_t *pieces) {
    uint8_t id[HEX_OBJECTID];
    if (!is_text(&pieces[0]) || pieces[1].type != BSON_TYPE_OID)
        return false;
    memcpy(id, pieces[1].text, sizeof id);
    put_string(json, pieces);
    memcpy(json->out, id, sizeof id);
    json->out += sizeof id;
    return true;
}

/* Whichever of its two pieces comes first. */
static bool put_code(json_value_t *json, const piece_t *pieces) {
    const piece_t *const scope = &pieces[1];
    const size_t size = pieces->length + 5;
    uint8_t *const begin = json->out;
    if (!is_text(pieces) || (scope->type && scope->type != BSON_TYPE_DOCUMENT))
        return false;
    if (!scope->type)
        return put_string(json, pieces);
    if (!GROW(json->moved, json->moved_room, size, NULL))
        return json_memory(json);
    memcpy(json->moved, pieces->text - 4, size);
    memmove(begin + 4 + size, scope->text, scope->length);
    memcpy(begin + 4, json->moved, size);
    json->out = begin + 4 + size + scope->length;
    bsonw_int32(begin, (int32_t)(json->out - begin));
    return true;
}

/* ---- constants ---- */

static bool put_one(json_value_t *json, const piece_t *pieces) {
    (void)json;
    return pieces->type == BSON_TYPE_INT32 && pieces->whole == 1;
}

static bool put_true(json_value_t *json, const piece_t *pieces) {
    (void)json;
    return pieces->type == BSON_TYPE_BOOL && *pieces->text;
}

/* form: the sentence where no other one is written, and put may be NULL. */
static bool put(json_value_t *json, put_fn *how, const piece_t *pieces, const char *form) {
    json->failure = JSON_DOCUMENT;
    return (how && how(json, pieces)) ||
           (json->failure == JSON_DOCUMENT && json_reject(json, json->typed, "%s", form));
}

/* ---- Extended JSON ---- */

struct json_word {
    const char *name; /* the first key of the object, */
    uint8_t type;     /* which becomes a value of this type of BSON */
    uint8_t wants;    /* the type of the first piece, and of both pieces within an object; 0: any */
    put_fn *put;
    const char *form;     /* the sentence about any other form */
    const char *keys[2];  /* of the object; NULL: its name alone */
    const char *inner[2]; /* of the object that its value may be */
    bool is_operator;     /* or it is an ordinary object: an operator of a query */
};

#define TEXT BSON_TYPE_UTF8
#define REGEX                                                                                                \
    { "$regex", "$options" }
#define CODE                                                                                                 \
    { "$code", "$scope" }
#define CODE_FORM "code is written {\"$code\": \"...\"} or {\"$code\": \"...\", \"$scope\": {}}"

/* The most frequent ones first. */
static const json_word_t words[] = {
    {"$oid", BSON_TYPE_OID, TEXT, put_oid,
     .form = "an ObjectId is written {\"$oid\": \"0123456789abcdef01234567\"}"},
    {"$date", BSON_TYPE_DATE_TIME, 0, put_date,
     .form = "a date is written {\"$date\": \"2024-05-31T23:59:59Z\"}, or {\"$date\": {\"$numberLong\": "
             "\"0\"}} in "
             "milliseconds"},
    {"$numberInt", BSON_TYPE_INT32, TEXT, put_int,
     .form = "a whole number of 32 bits is written {\"$numberInt\": \"1\"}"},
    {"$numberLong", BSON_TYPE_INT64, TEXT, put_long,
     .form = "a whole number of 64 bits is written {\"$numberLong\": \"1\"}"},
    {"$numberDouble", BSON_TYPE_DOUBLE, TEXT, put_double,
     .form = "a double is written {\"$numberDouble\": \"1.5\"}"},
    {"$numberDecimal", BSON_TYPE_DECIMAL128, TEXT, put_decimal,
     .form = "a decimal number is written {\"$numberDecimal\": \"1.5\"}"},
    {"$binary", BSON_TYPE_BINARY, TEXT, put_binary,
     .form = "binary data is written {\"$binary\": {\"base64\": \"AA==\", \"subType\": \"00\"}}",
     .keys = {"$binary", "$type"}, .inner = {"base64", "subType"}},
    {"$uuid", BSON_TYPE_BINARY, TEXT, put_uuid,
     .form = "a UUID is written {\"$uuid\": \"01234567-89ab-cdef-0123-456789abcdef\"}"},
    {"$timestamp", BSON_TYPE_TIMESTAMP, 0, put_timestamp,
     .form = "a timestamp is written {\"$timestamp\": {\"t\": 1, \"i\": 1}}", .inner = {"t", "i"}},
    {"$regularExpression", BSON_TYPE_REGEX, TEXT, put_regex,
     .form =
         "a regular expression is written {\"$regularExpression\": {\"pattern\": \"a\", \"options\": \"i\"}}",
     .inner = {"pattern", "options"}},
    {"$minKey", BSON_TYPE_MINKEY, 0, put_one, .form = "this is written {\"$minKey\": 1}"},
    {"$maxKey", BSON_TYPE_MAXKEY, 0, put_one, .form = "this is written {\"$maxKey\": 1}"},
    {"$undefined", BSON_TYPE_UNDEFINED, 0, put_true, .form = "this is written {\"$undefined\": true}"},
    {"$symbol", BSON_TYPE_SYMBOL, TEXT, put_string, .form = "a symbol is written {\"$symbol\": \"a\"}"},
    {"$code", BSON_TYPE_CODE, TEXT, put_code, .form = CODE_FORM, .keys = CODE},
    {"$scope", BSON_TYPE_CODE, TEXT, put_code, .form = CODE_FORM, .keys = CODE},
    {"$dbPointer", BSON_TYPE_DBPOINTER, 0, put_pointer,
     .form = "a DBPointer is written {\"$dbPointer\": {\"$ref\": \"a.b\", \"$id\": {\"$oid\": \"...\"}}}",
     .inner = {"$ref", "$id"}},
    {"$regex", BSON_TYPE_REGEX, TEXT, put_regex, .form = "", .keys = REGEX, .is_operator = true},
    {"$options", BSON_TYPE_REGEX, TEXT, put_regex, .form = "", .keys = REGEX, .is_operator = true},
    {"$type", BSON_TYPE_BINARY, TEXT, put_binary, .form = "", .keys = {"$binary", "$type"},
     .is_operator = true},
};

const json_word_t *json_word(const uint8_t *key) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (memcmp(key, words[i].name, 4) == 0 && strcmp((const char *)key, words[i].name) == 0)
            return &words[i];
    return NULL;
}

/* Of the element's value at `at`. Returns what follows it; NULL: no piece has its type. */
static const uint8_t *take_piece(uint8_t type, const uint8_t *key, const uint8_t *at, piece_t *piece) {
    int64_t whole;
    const uint32_t length = bson_length(at);
    *piece = (piece_t){.type = type, .text = at, .key = key};
    switch (type) {
    case BSON_TYPE_UTF8:
        piece->text = at + 4;
        piece->length = length - 1;
        return at + 4 + length;
    case BSON_TYPE_DOCUMENT:
        piece->length = length;
        return at + length;
    case BSON_TYPE_INT32:
        piece->whole = (int32_t)length;
        return at + 4;
    case BSON_TYPE_INT64:
        memcpy(&whole, at, sizeof whole);
        piece->whole = (int64_t)BSON_UINT64_FROM_LE((uint64_t)whole);
        return at + 8;
    case BSON_TYPE_BOOL:
        return at + 1;
    case BSON_TYPE_OID:
        return at + HEX_OBJECTID;
    default:
        return NULL;
    }
}

/* Takes the elements of a document, which have no other keys than these. Returns how many there are; 0: it has others, or no
 * first one. */
static size_t take_pieces(const uint8_t *document, const char *const keys[2], piece_t pieces[MOST_PIECES]) {
    const uint8_t *at = document + 4;
    size_t count = 0;
    pieces[0].type = pieces[1].type = 0;
    for (; *at; count++) {
        const uint8_t type = *at++;
        const size_t length = strlen((const char *)at);
        const bool second = strcmp((const char *)at, keys[0]) != 0;
        if (second && (!keys[1] || strcmp((const char *)at, keys[1]) != 0))
            return 0;
        at = take_piece(type, at, at + length + 1, &pieces[second]);
        if (!at)
            return 0;
    }
    return pieces[0].type ? count : 0;
}

bool json_typed(json_value_t *json, const json_word_t *word, uint8_t *begin, uint8_t *type) {
    const char *const name[2] = {word->name, NULL};
    piece_t pieces[MOST_PIECES];
    size_t count = take_pieces(begin, word->keys[0] ? word->keys : name, pieces);
    if (word->inner[0] && pieces[0].type == BSON_TYPE_DOCUMENT)
        count = count == 1 && take_pieces(pieces[0].text, word->inner, pieces) == 2 &&
                (!word->wants || pieces[1].type == word->wants);
    const bool fits = count && (!word->wants || pieces[0].type == word->wants);
    const bool is_number = word->type == BSON_TYPE_BINARY && is_whole(&pieces[1]);
    if (word->is_operator && (!fits || count != MOST_PIECES || !(is_number || is_text(&pieces[1]))))
        return true;
    json->out = begin;
    *type = word->put == put_code && pieces[1].type ? BSON_TYPE_CODEWSCOPE : word->type;
    return put(json, fits ? word->put : NULL, pieces, word->form);
}

/* ---- the mongo shell ---- */

typedef struct {
    const char *name;
    uint8_t type;
    size_t count; /* of pieces */
    put_fn *put;
    const char *form;
} call_t;

static const call_t calls[] = {
    {"ISODate", BSON_TYPE_DATE_TIME, 1, put_isodate, "this is written ISODate(\"2024-05-31T23:59:59Z\")"},
    {"ObjectId", BSON_TYPE_OID, 1, put_oid, "this is written ObjectId(\"0123456789abcdef01234567\")"},
    {"NumberInt", BSON_TYPE_INT32, 1, put_int, "this is written NumberInt(1)"},
    {"NumberLong", BSON_TYPE_INT64, 1, put_long, "this is written NumberLong(\"1\")"},
    {"NumberDecimal", BSON_TYPE_DECIMAL128, 1, put_decimal, "this is written NumberDecimal(\"1.5\")"},
    {"Date", BSON_TYPE_DATE_TIME, 1, put_new_date,
     "this is written Date(0), or new Date(\"2024-05-31T23:59:59Z\")"},
    {"Timestamp", BSON_TYPE_TIMESTAMP, 2, put_timestamp, "this is written Timestamp(1, 1)"},
    {"BinData", BSON_TYPE_BINARY, 2, put_bindata, "this is written BinData(0, \"AA==\")"},
    {"UUID", BSON_TYPE_BINARY, 1, put_uuid, "this is written UUID(\"01234567-89ab-cdef-0123-456789abcdef\")"},
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

/* Goes over blanks and one character that must be there; `sentence` if it is not. */
static const uint8_t *expect(json_value_t *json, const uint8_t *at, char character, const char *sentence) {
    at = json_blanks(json, at);
    if (json_ended(json, at) || *at != (uint8_t)character)
        return json_reject(json, at, "%s", sentence);
    return at + 1;
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

static bool is_digit(uint8_t byte) {
    return byte >= '0' && byte <= '9';
}

/* A number keeps its digits: a decimal may have more than a double. */
static const uint8_t *read_number(json_value_t *json, const uint8_t *at, const char *form, piece_t *piece) {
    const uint8_t *const begin = at, *const digits = at + (*at == '-');
    while (at < json->end && (is_digit(*at) || memchr("-+.eE", *at, 5)))
        at++;
    if (digits >= at || !is_digit(*digits))
        return json_reject(json, begin, "%s", form);
    if (at - digits > 1 && digits[0] == '0' && is_digit(digits[1]))
        return json_reject(json, digits, "a number begins with 0");
    *piece = (piece_t){.type = BSON_TYPE_DOUBLE, .text = begin, .length = (size_t)(at - begin), .at = begin};
    if (read_whole(begin, piece->length, &piece->whole))
        piece->type = BSON_TYPE_INT64;
    return at;
}

static const uint8_t *read_piece(json_value_t *json, const uint8_t *at, const char *form, piece_t *piece) {
    if (json_ended(json, at) || *at != '"')
        return read_number(json, at, form, piece);
    *piece = (piece_t){.type = BSON_TYPE_UTF8, .text = json->out + 4, .at = at};
    at = json_text(json, at + 1);
    piece->length = (size_t)(json->out - piece->text) - 1;
    return at;
}

/* `at` follows the name. */
static const uint8_t *read_call(json_value_t *json, const uint8_t *at, const call_t *call, uint8_t *type) {
    piece_t pieces[MOST_PIECES] = {{0}, {0}};
    uint8_t *const begin = json->out;
    at = expect(json, at, '(', call->form);
    json->out += PIECES_AFTER;
    for (size_t i = 0; i < call->count && at; i++) {
        at = i ? expect(json, at, ',', call->form) : at;
        at = at ? json_blanks(json, at) : NULL;
        json->typed = i ? json->typed : at;
        at = at ? read_piece(json, at, call->form, &pieces[i]) : NULL;
    }
    at = at ? expect(json, at, ')', call->form) : NULL;
    if (!at)
        return NULL;
    json->out = begin;
    *type = call->type;
    return put(json, call->put, pieces, call->form) ? at : NULL;
}

/* MinKey, MinKey() */
static const uint8_t *read_constant(json_value_t *json, const uint8_t *at, size_t which, uint8_t *type) {
    *type = (uint8_t)constants[which].type;
    if (*type == BSON_TYPE_DOUBLE) {
        json->out = bsonw_double(json->out, constants[which].number);
        return at;
    }
    const uint8_t *const next = json_blanks(json, at);
    if (json_ended(json, next) || *next != '(')
        return at;
    return expect(json, next + 1, ')', "a closing parenthesis was expected here");
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
    const uint8_t *const odd = utf8_wrong(begin, at), *const options = at + 1;
    if (odd)
        return json_reject_utf8(json, odd);
    char letters[LONGEST_NAME];
    const piece_t pattern = {.text = begin, .length = (size_t)(at - begin), .at = begin};
    at = read_name(json, options, letters);
    if (json->out + pattern.length > json->limit)
        return json_full(json, json->out + pattern.length);
    json->slashes = true;
    *type = BSON_TYPE_REGEX;
    const piece_t pieces[] = {pattern, {.text = options, .length = (size_t)(at - options), .at = options}};
    return put_regex(json, pieces) ? at : NULL;
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
    return json_reject(json, begin, "a value was expected here");
}
