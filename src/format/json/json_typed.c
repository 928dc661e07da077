/* Values that JSON has no spelling for: {"$oid": "..."} of Extended JSON, ObjectId("...") of the mongo shell.
 *
 * An object of Extended JSON is read as any other object, and then becomes the value in its place. The texts in a call of
 * the shell are read to a place a few bytes after that of the value. So the pieces that make a value lie in the document,
 * and the value is written over them from their beginning on: a function that writes one first takes what it still needs.
 * A value is a row of `words` or `calls`: its pieces, the function that writes it, and how it is written in JSON. */
#include "base/chars.h"
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
    uint32_t length;
    int64_t whole;      /* of a whole number, or true */
    const uint8_t *key; /* its key in the document; NULL: it stands in a call, */
    const uint8_t *at;  /* at this place in the JSON */
} piece_t;

/* Writes a value of the type json->made at json->out. False: the pieces do not make one; the sentence is written, or it is that
 * of the form. */
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
    if (is_text(pieces))
        return put_moment(json, pieces, true, false);
    return pieces->type == BSON_TYPE_INT64 && *json->typed == '{' && put_int64(json, pieces->whole);
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
    const bool is_long = json->made == BSON_TYPE_INT64;
    int64_t value;
    if (has_blank(pieces) || *pieces->text == '+' || !convert_int(pieces->text, pieces->length, &value) ||
        (!is_long && value != (int32_t)value))
        return false;
    json->out = is_long ? bsonw_int64(json->out, value) : bsonw_int32(json->out, (int32_t)value);
    return true;
}

static bool put_double(json_value_t *json, const piece_t *pieces) {
    double value;
    if (is(pieces, "NaN"))
        value = NAN;
    else if (is(pieces, "Infinity") || is(pieces, "-Infinity"))
        value = *pieces->text == '-' ? -INFINITY : INFINITY;
    else if (has_blank(pieces) || !convert_number(pieces->text, pieces->length, 0, &value) ||
             json_vanishes(pieces->text, pieces->length, value))
        return false;
    json->out = bsonw_double(json->out, value);
    return true;
}

static bool put_decimal(json_value_t *json, const piece_t *pieces) {
    bson_decimal128_t value;
    return !memchr(pieces->text, 0, pieces->length) && pieces->length <= INT32_MAX &&
           bson_decimal128_from_string_w_len((const char *)pieces->text, (int)pieces->length, &value) &&
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
    return pieces->type == (json->made == BSON_TYPE_UNDEFINED ? BSON_TYPE_BOOL : BSON_TYPE_INT32) &&
           pieces->whole == 1;
}

/* ---- bytes ---- */

static bool put_oid(json_value_t *json, const piece_t *pieces) {
    uint8_t bytes[HEX_OBJECTID];
    if (pieces->length != 2 * sizeof bytes || !hex_read(pieces->text, pieces->length, bytes, NULL))
        return false;
    json->out = (uint8_t *)mempcpy(json->out, bytes, sizeof bytes);
    return true;
}

static bool put_uuid(json_value_t *json, const piece_t *pieces) {
    uint8_t bytes[HEX_UUID];
    if (!hex_read_uuid(pieces->text, pieces->length, bytes, NULL))
        return false;
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
    json->out += pieces->length;
    *json->out++ = 0;
    json->out = (uint8_t *)mempcpy(json->out, options, (size_t)(end - options));
    return true;
}

static bool put_pointer(json_value_t *json, const piece_t *pieces) {
    uint8_t id[HEX_OBJECTID];
    if (!is_text(&pieces[0]) || pieces[1].type != BSON_TYPE_OID)
        return false;
    memcpy(id, pieces[1].text, sizeof id);
    put_string(json, pieces);
    json->out = (uint8_t *)mempcpy(json->out, id, sizeof id);
    return true;
}

#define CODE_FORM "{\"$code\": \"...\"} or {\"$code\": \"...\", \"$scope\": {}}"

/* Whichever of its two pieces comes first. */
static bool put_code(json_value_t *json, const piece_t *pieces) {
    const piece_t *const scope = &pieces[1];
    const size_t size = pieces->length + 5;
    uint8_t *const begin = json->out;
    if (!is_text(pieces) || (scope->type && scope->type != BSON_TYPE_DOCUMENT))
        return json_reject(json, json->typed, "expected " CODE_FORM);
    if (!scope->type)
        return put_string(json, pieces);
    if (!GROW(json->moved, json->moved_room, size, NULL))
        return json_memory(json);
    memcpy(json->moved, pieces->text - 4, size);
    memmove(begin + 4 + size, scope->text, scope->length);
    memcpy(begin + 4, json->moved, size);
    json->out = begin + 4 + size + scope->length;
    json->made = BSON_TYPE_CODEWSCOPE;
    bsonw_int32(begin, (int32_t)(json->out - begin));
    return true;
}

/* ---- Extended JSON ---- */

struct json_word {
    const char *name; /* the first key of the object, or the name of a call */
    uint8_t type;     /* which becomes a value of this type of BSON */
    uint8_t
        wants; /* the type of the first piece, and of both pieces within an object; 0: any. Of a call: how many pieces */
    put_fn *put;
    const char *form;     /* how it is written */
    const char *keys[2];  /* of the object; NULL: its name alone */
    const char *inner[2]; /* of the object that its value may be */
    bool is_operator;     /* or it is an ordinary object: an operator of a query */
};

/* Writes the value of a row at `begin`. fits: the pieces have the types that it wants. */
static bool put(json_value_t *json, const json_word_t *row, bool fits, const piece_t *pieces, uint8_t *begin,
                uint8_t *type) {
    json->failure = JSON_DOCUMENT;
    json->out = begin;
    json->made = row->type;
    const bool made = fits && (!row->put || row->put(json, pieces));
    *type = json->made;
    if (made || json->failure != JSON_DOCUMENT)
        return made;
    const bool inside = fits && is_text(pieces); /* its quotes */
    return json_reject(json, inside ? place_of(json, pieces) + 1 : json->typed, "expected %s", row->form);
}

#define TEXT BSON_TYPE_UTF8
#define REGEX                                                                                                \
    { "$regex", "$options" }
#define CODE                                                                                                 \
    { "$code", "$scope" }

/* The most frequent ones first. */
static const json_word_t words[] = {
    {"$oid", BSON_TYPE_OID, TEXT, put_oid,
     .form = "{\"$oid\": \"0123456789abcdef01234567\"}, with 24 hexadecimal digits"},
    {"$date", BSON_TYPE_DATE_TIME, 0, put_date,
     .form = "{\"$date\": \"2024-05-31T23:59:59.123Z\"}, with Z or an offset like +01:00, or {\"$date\": "
             "{\"$numberLong\": \"0\"}} in milliseconds"},
    {"$numberInt", BSON_TYPE_INT32, TEXT, put_whole,
     .form = "{\"$numberInt\": \"1\"}, a whole number of 32 bits"},
    {"$numberLong", BSON_TYPE_INT64, TEXT, put_whole,
     .form = "{\"$numberLong\": \"1\"}, a whole number of 64 bits"},
    {"$numberDouble", BSON_TYPE_DOUBLE, TEXT, put_double,
     .form = "{\"$numberDouble\": \"1.5\"}, or with NaN, Infinity or -Infinity"},
    {"$numberDecimal", BSON_TYPE_DECIMAL128, TEXT, put_decimal,
     .form = "{\"$numberDecimal\": \"1.5\"}, with 34 digits at most"},
    {"$binary", BSON_TYPE_BINARY, TEXT, put_binary,
     .form = "{\"$binary\": {\"base64\": \"AA==\", \"subType\": \"00\"}}", .keys = {"$binary", "$type"},
     .inner = {"base64", "subType"}},
    {"$uuid", BSON_TYPE_BINARY, TEXT, put_uuid,
     .form = "{\"$uuid\": \"01234567-89ab-cdef-0123-456789abcdef\"}"},
    {"$timestamp", BSON_TYPE_TIMESTAMP, 0, put_timestamp, .form = "{\"$timestamp\": {\"t\": 1, \"i\": 1}}",
     .inner = {"t", "i"}},
    {"$regularExpression", BSON_TYPE_REGEX, TEXT, put_regex,
     .form = "{\"$regularExpression\": {\"pattern\": \"a\", \"options\": \"i\"}}",
     .inner = {"pattern", "options"}},
    {"$minKey", BSON_TYPE_MINKEY, 0, put_nothing, .form = "{\"$minKey\": 1}"},
    {"$maxKey", BSON_TYPE_MAXKEY, 0, put_nothing, .form = "{\"$maxKey\": 1}"},
    {"$undefined", BSON_TYPE_UNDEFINED, 0, put_nothing, .form = "{\"$undefined\": true}"},
    {"$symbol", BSON_TYPE_SYMBOL, TEXT, put_string, .form = "{\"$symbol\": \"a\"}"},
    {"$code", BSON_TYPE_CODE, TEXT, put_code, .form = CODE_FORM, .keys = CODE},
    {"$scope", BSON_TYPE_CODE, TEXT, put_code, .form = CODE_FORM, .keys = CODE},
    {"$dbPointer", BSON_TYPE_DBPOINTER, 0, put_pointer,
     .form = "{\"$dbPointer\": {\"$ref\": \"a.b\", \"$id\": {\"$oid\": \"...\"}}}", .inner = {"$ref", "$id"}},
    {"$regex", BSON_TYPE_REGEX, TEXT, put_regex, .form = "", .keys = REGEX, .is_operator = true},
    {"$options", BSON_TYPE_REGEX, TEXT, put_regex, .form = "", .keys = REGEX, .is_operator = true},
    {"$type", BSON_TYPE_BINARY, TEXT, put_binary, .form = "", .keys = {"$binary", "$type"},
     .is_operator = true},
};

static const json_word_t *find_word(const json_word_t *rows, size_t count, const char *name) {
    for (const json_word_t *row = rows; row < rows + count; row++)
        if (strcmp(name, row->name) == 0)
            return row;
    return NULL;
}

const json_word_t *json_word(const uint8_t *key) {
    return find_word(words, COUNT(words), (const char *)key);
}

/* False: no piece has the element's type. */
static bool take_piece(const bson_iter_t *at, piece_t *piece) {
    *piece = (piece_t){.type = (uint8_t)bson_iter_type(at), .key = (const uint8_t *)bson_iter_key(at)};
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
        return is_whole(piece) || piece->type == BSON_TYPE_BOOL;
    }
}

/* Takes the elements of a document, which have no other keys than these. Returns how many there are; 0: it has others, or no
 * first one. */
static size_t take_pieces(const uint8_t *document, const char *const keys[2], piece_t pieces[MOST_PIECES]) {
    bson_iter_t at;
    size_t count = 0;
    pieces[0].type = pieces[1].type = 0;
    bson_iter_init_from_data(&at, document, bson_length(document));
    for (; bson_iter_next(&at); count++) {
        const bool second = strcmp(bson_iter_key(&at), keys[0]) != 0;
        if ((second && (!keys[1] || strcmp(bson_iter_key(&at), keys[1]) != 0)) ||
            !take_piece(&at, &pieces[second]))
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
    return put(json, word, fits, pieces, begin, type);
}

/* ---- the mongo shell ---- */

static const json_word_t calls[] = {
    {"ISODate", BSON_TYPE_DATE_TIME, 1, put_isodate, .form = "ISODate(\"2024-05-31T23:59:59Z\")"},
    {"ObjectId", BSON_TYPE_OID, 1, put_oid, .form = "ObjectId(\"0123456789abcdef01234567\")"},
    {"NumberInt", BSON_TYPE_INT32, 1, put_whole, .form = "NumberInt(1), a whole number of 32 bits"},
    {"NumberLong", BSON_TYPE_INT64, 1, put_whole, .form = "NumberLong(\"1\"), a whole number of 64 bits"},
    {"NumberDecimal", BSON_TYPE_DECIMAL128, 1, put_decimal, .form = "NumberDecimal(\"1.5\")"},
    {"Date", BSON_TYPE_DATE_TIME, 1, put_new_date, .form = "Date(0), or new Date(\"2024-05-31T23:59:59Z\")"},
    {"Timestamp", BSON_TYPE_TIMESTAMP, 2, put_timestamp, .form = "Timestamp(1, 1)"},
    {"BinData", BSON_TYPE_BINARY, 2, put_bindata, .form = "BinData(0, \"AA==\")"},
    {"UUID", BSON_TYPE_BINARY, 1, put_uuid, .form = "UUID(\"01234567-89ab-cdef-0123-456789abcdef\")"},
    {"undefined", BSON_TYPE_UNDEFINED, .form = "undefined"},
    {"MinKey", BSON_TYPE_MINKEY, .form = "MinKey"},
    {"MaxKey", BSON_TYPE_MAXKEY, .form = "MaxKey"},
    {"NaN", BSON_TYPE_DOUBLE, .put = put_double},
    {"Infinity", BSON_TYPE_DOUBLE, .put = put_double},
    {"-Infinity", BSON_TYPE_DOUBLE, .put = put_double},
};

/* Goes over blanks and one character that must be there. */
static const uint8_t *expect(json_value_t *json, const uint8_t *at, char character, const char *form) {
    at = json_blanks(json, at);
    if (json_ended(json, at) || *at != (uint8_t)character)
        return json_reject(json, at, "expected %s", form);
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

/* A text or a number in a call. A number keeps its digits: a decimal may have more than a double. */
static const uint8_t *read_piece(json_value_t *json, const uint8_t *at, const char *form, piece_t *piece) {
    *piece = (piece_t){.text = json->out + 4, .at = at};
    if (json_ended(json, at) || (*at != '"' && *at != '-' && !digits_is_one(*at)))
        return json_reject(json, at, "expected %s", form);
    if (*at == '"') {
        at = json_scalar(json, at, &piece->type);
        piece->length = (uint32_t)(json->out - piece->text) - 1;
        return at;
    }
    bool is_whole = false;
    piece->text = at;
    at = json_digits(json, at, &is_whole);
    piece->length = at ? (uint32_t)(at - piece->text) : 0;
    piece->type = is_whole && convert_int(piece->text, piece->length, &piece->whole) ? BSON_TYPE_INT64
                                                                                     : BSON_TYPE_DOUBLE;
    return at;
}

/* The call whose name begins at `name` and ends at `at`: ISODate("..."), MinKey, MinKey(), NaN. */
static const uint8_t *read_call(json_value_t *json, const uint8_t *name, const uint8_t *at,
                                const json_word_t *call, uint8_t *type) {
    piece_t pieces[MOST_PIECES] = {{.text = name, .length = (uint32_t)(at - name)}, {.type = 0}};
    uint8_t *const begin = json->out;
    const uint8_t *const next = json_blanks(json, at);
    const bool is_constant = !call->wants && (call->put || json_ended(json, next) || *next != '(');
    if (!is_constant) {
        json->out += PIECES_AFTER;
        at = expect(json, at, '(', call->form);
        for (size_t i = 0; i < call->wants && at; i++) {
            at = i ? expect(json, at, ',', call->form) : at;
            at = at ? json_blanks(json, at) : NULL;
            json->typed = i ? json->typed : at;
            at = at ? read_piece(json, at, call->form, &pieces[i]) : NULL;
        }
        at = at ? expect(json, at, ')', call->form) : NULL;
    }
    return at && put(json, call, true, pieces, begin, type) ? at : NULL;
}

/* /pattern/options. The pattern stays as it is written: \/ is the same as / in a regular expression. */
static const uint8_t *read_slashes(json_value_t *json, const uint8_t *at, uint8_t *type) {
    const uint8_t *const begin = at + 1;
    char letters[LONGEST_NAME];
    bool in_class = false;
    for (at = begin; at < json->end && (*at != '/' || in_class) && *at >= ' '; at++)
        if (*at == '\\' && at + 1 < json->end && at[1] >= ' ')
            at++;
        else
            in_class = *at == '[' || (in_class && *at != ']');
    if (json_ended(json, at) || *at != '/')
        return json_reject(json, begin - 1, "the regular expression has no end");
    const uint8_t *const odd = utf8_wrong(begin, at), *const options = at + 1;
    if (odd)
        return json_reject_utf8(json, odd);
    if (json->out + (at - begin) > json->limit)
        return json_full(json, json->out + (at - begin));
    const uint8_t *const end = read_name(json, options, letters);
    json->slashes = true;
    *type = BSON_TYPE_REGEX;
    return put_regex(json, (piece_t[]){{.text = begin, .length = (uint32_t)(at - begin), .at = begin},
                                       {.text = options, .length = (uint32_t)(end - options), .at = options}})
               ? end
               : NULL;
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
    const json_word_t *const call = find_word(calls, COUNT(calls), name);
    if (!call || (is_new && !call->wants))
        return json_reject(json, begin, "a value was expected here");
    return read_call(json, begin, at, call, type);
}
