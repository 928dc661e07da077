/* Values that JSON has no spelling for: {"$oid": "..."} of Extended JSON, ObjectId("...") of the mongo shell.
 *
 * An object of Extended JSON is read like any other object, and the arguments of a call of the shell like an array. Then a copy
 * of that document is taken apart into pieces, and the value is written in its place. A value is a row of `words`: its
 * key and its call, its pieces, the function that writes it, and what it takes, which is the sentence about any other pieces. */
#include "base/chars.h"
#include "base/text.h"
#include "format/cut/ends.h"
#include "format/json/json_inner.h"
#include "format/values/values.h"

#include <math.h>

/* A piece of a typed value. */
typedef struct {
    uint8_t type;        /* of BSON; 0: the piece is missing */
    const uint8_t *text; /* of a text, with a NUL after it; of a document or an ObjectId its bytes */
    uint32_t length;
    int64_t whole; /* of a whole number, or true */
} piece_t;

/* Writes a value of the type json->made at json->out. False: the pieces do not make one. */
typedef bool put_fn(json_value_t *json, const piece_t *pieces);

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

static bool is_text(const piece_t *piece) {
    return piece->type == BSON_TYPE_UTF8;
}

static bool is_whole(const piece_t *piece) {
    return piece->type == BSON_TYPE_INT32 || piece->type == BSON_TYPE_INT64;
}

/* True if a text consists of these bytes, and there is one at least. */
static bool is_of(const piece_t *piece, const char *bytes) {
    return is_text(piece) && piece->length && strspn((const char *)piece->text, bytes) == piece->length;
}

static bool put_int64(json_value_t *json, int64_t value) {
    json->out = bsonw_int64(json->out, value);
    return true;
}

/* ---- dates and numbers ---- */

/* Only an ISODate (which wants a text) may lack an offset; only calls may be YYYY-MM-DD. Milliseconds of $date are written as
 * {"$numberLong": "..."}, which has become a number by now. */
static bool put_date(json_value_t *json, const piece_t *date) {
    enum { DAY = 10 };
    const json_word_t *const word = json->word;
    int64_t ms = date->whole;
    if (word->call ? is_whole(date) && !word->wants : date->type == BSON_TYPE_INT64 && *json->typed == '{')
        return put_int64(json, ms);
    return is_text(date) &&
           ((word->call && date->length == DAY && calendar_iso(date->text, &ms)) ||
            calendar_moment(date->text, date->length, !word->wants, &ms)) &&
           put_int64(json, ms);
}

static bool put_whole(json_value_t *json, const piece_t *pieces) {
    int64_t value = pieces->whole;
    if (!is_whole(pieces) &&
        (!is_of(pieces, "-0123456789") || !convert_int(pieces->text, pieces->length, &value)))
        return false;
    if (json->made == BSON_TYPE_INT64)
        return put_int64(json, value);
    json->out = bsonw_int32(json->out, (int32_t)value);
    return value == (int32_t)value;
}

static bool put_double(json_value_t *json, const piece_t *pieces) {
    static const schema_text_t odd[] = {{"NaN", 3}, {"Infinity", 8}, {"-Infinity", 9}};
    static const double values[] = {NAN, INFINITY, -INFINITY};
    const int word = words_find(&(texts_t){odd, COUNT(odd)}, ENCODING_NONE, pieces->text, pieces->length);
    double value;
    if (word >= 0)
        value = values[word];
    else if (!(is_of(pieces, "+-.0123456789eE") && convert_number(pieces->text, pieces->length, 0, &value)))
        return false;
    json->out = bsonw_double(json->out, value);
    return true;
}

static bool put_decimal(json_value_t *json, const piece_t *pieces) {
    const char *const text = (const char *)pieces->text;
    bson_decimal128_t value;
    return is_text(pieces) && strlen(text) == pieces->length && bson_decimal128_from_string(text, &value) &&
           put_int64(json, (int64_t)value.low) && put_int64(json, (int64_t)value.high);
}

static bool put_timestamp(json_value_t *json, const piece_t *pieces) {
    const int64_t seconds = pieces[0].whole, increment = pieces[1].whole;
    return is_whole(&pieces[0]) && is_whole(&pieces[1]) && seconds == (uint32_t)seconds &&
           increment == (uint32_t)increment &&
           put_int64(json, (int64_t)((uint64_t)seconds << 32) | increment);
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
    const char *const all = "ilmsux", *const options = (const char *)pieces[1].text;
    if (memchr(pieces->text, 0, pieces->length) || strspn(options, all) != pieces[1].length)
        return false;
    json->out = (uint8_t *)mempcpy(json->out, pieces->text, pieces->length + 1);
    for (const char *option = all; *option; option++)
        if (strchr(options, *option))
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
    if (scope->type != BSON_TYPE_DOCUMENT)
        return !scope->type && put_string(json, pieces);
    json->made = BSON_TYPE_CODEWSCOPE;
    json->out += 4;
    put_string(json, pieces);
    json->out = (uint8_t *)mempcpy(json->out, scope->text, scope->length);
    bsonw_int32(begin, (int32_t)(json->out - begin));
    return true;
}

/* ---- rows ---- */

#define TEXT BSON_TYPE_UTF8

/* The most frequent ones first. */
static const json_word_t words[] = {
    {"$oid", "ObjectId", BSON_TYPE_OID, TEXT, 1, put_oid, .takes = "24 hexadecimal digits in quotes"},
    {"$date", NULL, BSON_TYPE_DATE_TIME, 0, 0, put_date,
     .takes =
         "\"2024-05-31T23:59:59.123Z\", with Z or an offset like +01:00, or {\"$numberLong\": \"0\"} in ms"},
    {"", "ISODate", BSON_TYPE_DATE_TIME, TEXT, 1, put_date, .takes = "\"2024-05-31T23:59:59Z\""},
    {"", "new Date", BSON_TYPE_DATE_TIME, 0, 1, put_date,
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

static piece_t take_piece(const bson_iter_t *at) {
    piece_t piece = {.type = (uint8_t)bson_iter_type(at), .whole = bson_iter_as_int64(at)};
    if (piece.type == BSON_TYPE_UTF8)
        piece.text = (const uint8_t *)bson_iter_utf8(at, &piece.length);
    else if (piece.type == BSON_TYPE_DOCUMENT)
        bson_iter_document(at, &piece.length, &piece.text);
    else if (piece.type == BSON_TYPE_OID)
        piece.text = bson_iter_oid(at)->bytes;
    return piece;
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
        if (!is_first && (!second || strcmp(bson_iter_key(&at), second) != 0))
            return 0;
        pieces[!is_first] = take_piece(&at);
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
    json->word = row;
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

const uint8_t *json_shell(json_value_t *json, const uint8_t *at, uint8_t *type) {
    uint8_t *const begin = json->out;
    const json_word_t *call = words;
    while (call < words + COUNT(words) &&
           !(call->call && strncmp((const char *)at, call->call, strlen(call->call)) == 0))
        call++;
    if (json_ended(json, at) || call == words + COUNT(words))
        return json_reject(json, at, "a value was expected here");
    piece_t pieces[2] = {
        {.text = (const uint8_t *)call->call, .length = (uint32_t)strlen(call->call), .whole = 1}};
    at += pieces->length;
    if (!call->arguments)
        return put(json, call, true, pieces, begin, type) ? at : NULL;
    at = json_blanks(json, at);
    if (json_ended(json, at) || *at != '(')
        return json_reject(json, at, "a ( was expected here");
    const uint8_t *const first = lines_blanks(++at, json->end);
    at = json_arguments(json, at);
    if (!at || !copy(json, begin))
        return NULL;
    json->typed = first; /* typed values among the arguments set their own */
    const bool fits = take_pieces(json->moved, "0", "1", pieces) == call->arguments;
    return put(json, call, fits, pieces, begin, type) ? at : NULL;
}
