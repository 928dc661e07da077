#include "base/document.h"
#include "base/chars.h"
#include "base/numbers.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- elements ---- */

/* libbson declares its iterator with an alignment of 128 bytes, to which clang does not align one that is passed by value. Only
 * numbers are read of it here, for which 4 bytes are enough. */
#ifdef __clang__
#pragma clang attribute push(__attribute__((no_sanitize("alignment"))), apply_to = function)
#endif

static uint32_t number_at(const uint8_t *bytes) {
    uint32_t number;
    memcpy(&number, bytes, sizeof number);
    return BSON_UINT32_FROM_LE(number);
}

enum { BINARY_HEAD = 5 }; /* length and subtype */

/* Moves the iterator onto an element at which libbson stops only because the inner length is missing. False: something
 * else is wrong there. */
static bool stand(bson_iter_t *at, const uint8_t *raw, uint32_t length, uint32_t from) {
    const uint8_t *end = raw + length, *name_end = NULL;
    if (from < length && raw[from] == BSON_TYPE_BINARY)
        name_end = memchr(raw + from, 0, length - from);
    if (!name_end)
        return false;
    const uint8_t *value = name_end + 1;
    if (end - value <= BINARY_HEAD || value[4] != BSON_SUBTYPE_BINARY_DEPRECATED ||
        number_at(value) >= (size_t)(end - value) - BINARY_HEAD)
        return false;
    at->raw = raw;
    at->len = length;
    at->off = at->type = from;
    at->key = from + 1;
    at->d1 = (uint32_t)(value - raw);
    at->d2 = at->d1 + 4;
    at->d3 = at->d1 + BINARY_HEAD;
    at->d4 = at->err_off = 0;
    at->next_off = at->d3 + number_at(value);
    return true;
}

bool element_next(bson_iter_t *at) {
    const uint8_t *raw = at->raw; /* libbson does not keep the place where it stopped */
    const uint32_t length = at->len, from = at->next_off;
    return bson_iter_next(at) || (at->err_off && raw && stand(at, raw, length, from));
}

bool element_find(bson_iter_t *at, const char *key, size_t length) {
    while (element_next(at))
        if (bson_iter_key_len(at) == length && memcmp(bson_iter_key(at), key, length) == 0)
            return true;
    return false;
}

bool element_at(const bson_t *document, const char *path, bson_iter_t *at) {
    bson_iter_t outer;
    if (!bson_iter_init(at, document))
        return false;
    for (;;) {
        const size_t length = strcspn(path, ".");
        if (!element_find(at, path, length))
            return false;
        if (!path[length])
            return true;
        outer = *at;
        if (!(BSON_ITER_HOLDS_DOCUMENT(&outer) || BSON_ITER_HOLDS_ARRAY(&outer)) ||
            !bson_iter_recurse(&outer, at))
            return false;
        path += length + 1;
    }
}

bool element_append(bson_t *to, const char *key, const bson_iter_t *from) {
    bson_t alone = BSON_INITIALIZER;
    const size_t named = strlen(key) + 1, bytes = from->next_off - from->d1;
    const uint32_t length = (uint32_t)(4 + 1 + named + bytes + 1), little = BSON_UINT32_TO_LE(length);
    uint8_t *out = bson_reserve_buffer(&alone, length);
    if (!out)
        return false;
    memcpy(out, &little, sizeof little);
    out[4] = from->raw[from->type];
    memcpy(out + 5, key, named);
    memcpy(out + 5 + named, from->raw + from->d1, bytes);
    out[length - 1] = 0;
    const bool ok = bson_concat(to, &alone);
    bson_destroy(&alone);
    return ok;
}

bool element_same(const bson_iter_t *a, const bson_iter_t *b) {
    const uint32_t bytes = a->next_off - a->d1;
    return a->raw[a->type] == b->raw[b->type] && bytes == b->next_off - b->d1 &&
           memcmp(a->raw + a->d1, b->raw + b->d1, bytes) == 0;
}

bool element_floor(const bson_iter_t *at, int64_t *whole) {
    bson_decimal128_t decimal;
    char text[BSON_DECIMAL128_STRING];
    if (BSON_ITER_HOLDS_INT32(at) || BSON_ITER_HOLDS_INT64(at)) {
        *whole = bson_iter_as_int64(at);
        return true;
    }
    long double value = NAN;
    if (BSON_ITER_HOLDS_DOUBLE(at)) {
        value = bson_iter_double(at);
    } else if (BSON_ITER_HOLDS_DECIMAL128(at) && bson_iter_decimal128(at, &decimal)) {
        bson_decimal128_to_string(&decimal, text);
        number_read_long(text, strlen(text), &value);
    }
    if (!(value >= -0x1p63L && value < 0x1p63L))
        return false;
    *whole = (int64_t)floorl(value);
    return true;
}

bool element_is_headless(const bson_iter_t *at) {
    if (!BSON_ITER_HOLDS_BINARY(at) || at->raw[at->d2] != BSON_SUBTYPE_BINARY_DEPRECATED)
        return false;
    const uint32_t bytes = number_at(at->raw + at->d1);
    return bytes < 4 || number_at(at->raw + at->d3) != bytes - 4;
}

void element_binary(const bson_iter_t *at, bson_subtype_t *subtype, uint32_t *length, const uint8_t **bytes) {
    if (!element_is_headless(at)) {
        bson_iter_binary(at, subtype, length, bytes);
        return;
    }
    *subtype = BSON_SUBTYPE_BINARY_DEPRECATED;
    *length = number_at(at->raw + at->d1);
    *bytes = at->raw + at->d3;
}

#ifdef __clang__
#pragma clang attribute pop
#endif

/* ---- Extended JSON ---- */

enum { DEEPEST = 220 }; /* a server accepts 200, and a document may be in another one, such as a result */

typedef struct {
    text_t text;
    bool relaxed, conceals;
    uint64_t replaced; /* texts */
} out_t;

static void put(out_t *out, const char *bytes, size_t length) {
    text_append_bytes(&out->text, bytes, length);
}

static void put_word(out_t *out, const char *word) {
    put(out, word, strlen(word));
}

/* False: some of its bytes are no UTF-8, and U+FFFD stands in the place of each. */
static bool append_text(text_t *to, const char *text, size_t length) {
    const uint8_t *at = (const uint8_t *)text, *end = at + length;
    bool as_it_is = true;
    text_append(to, "\"");
    while (at < end) {
        const uint8_t *plain = at;
        while (plain < end && *plain >= ' ' && *plain < 0x7F && *plain != '"' && *plain != '\\')
            plain++;
        text_append_bytes(to, (const char *)at, (size_t)(plain - at));
        if ((at = plain) < end) {
            char piece[ESCAPE_PIECE];
            as_it_is &= utf8_character(at, (size_t)(end - at)) > 0;
            at += escape_json(at, (size_t)(end - at), piece);
            text_append(to, piece);
        }
    }
    text_append(to, "\"");
    return as_it_is;
}

/* The text without its secrets; what is between its NULs is searched by itself, so that no secret seems to go on in
 * another text. */
static void append_concealed(text_t *to, const char *text, size_t length) {
    text_t shown = {.length = 0};
    for (size_t at = 0; at <= length; at++) {
        char *piece = text_concealed(text + at);
        if (at)
            text_append_bytes(&shown, "", 1);
        text_append(&shown, piece);
        free(piece);
        at += strlen(text + at);
    }
    append_text(to, shown.bytes, shown.length);
    text_miss(to, &shown);
    text_free(&shown);
}

static void put_text(out_t *out, const char *text, size_t length) {
    if (out->conceals)
        append_concealed(&out->text, text, length);
    else
        out->replaced += !append_text(&out->text, text, length);
}

void ejson_append_text(text_t *to, const char *text) {
    append_text(to, text, strlen(text));
}

char *ejson_text(const char *text) {
    text_t quoted = {.length = 0};
    ejson_append_text(&quoted, text);
    return text_take_or_end(&quoted);
}

/* A number with the name of its type: in canonical JSON, and where plain JSON has no such number. */
static void put_typed(out_t *out, bool plain, const char *type, const char *number) {
    char text[96];
    snprintf(text, sizeof text, plain ? "%.0s%s" : "{ \"$%s\" : \"%s\" }", type, number);
    put_word(out, text);
}

static void put_double(out_t *out, double number) {
    char text[NUMBER_ROOM + 2];
    number_print(text, number);
    if (!isfinite(number))
        strcpy(text, isnan(number) ? "NaN" : number > 0 ? "Infinity" : "-Infinity");
    else if (!strpbrk(text, ".e"))
        strcat(text, ".0");
    put_typed(out, out->relaxed && isfinite(number), "numberDouble", text);
}

static void put_int64(out_t *out, const char *type, int64_t number) {
    char text[24];
    snprintf(text, sizeof text, "%" PRId64, number);
    put_typed(out, out->relaxed, type, text);
}

/* Binary data without the inner length that it should have are shown as if it were there. */
static void put_alone(bson_t *alone, const bson_iter_t *at) {
    bson_subtype_t subtype;
    const uint8_t *bytes;
    uint32_t length;
    if (!element_is_headless(at)) {
        element_append(alone, "v", at);
        return;
    }
    element_binary(at, &subtype, &length, &bytes);
    bson_append_binary(alone, "v", 1, subtype, bytes, length);
}

/* Types that hold neither doubles nor texts and are rare in data: printed by libbson, in a document of their own. */
static bool put_rare(out_t *out, const bson_iter_t *at) {
    static const char before[] = "{ \"v\" : ";
    bson_t alone = BSON_INITIALIZER;
    size_t length;
    /* after the year 9999, which ISO 8601 cannot write, although libbson prints one */
    const bool far = BSON_ITER_HOLDS_DATE_TIME(at) && bson_iter_date_time(at) > 253402300799999;
    put_alone(&alone, at);
    char *json = out->relaxed && !far ? bson_as_relaxed_extended_json(&alone, &length)
                                      : bson_as_canonical_extended_json(&alone, &length);
    bson_destroy(&alone);
    if (!json)
        return false;
    put(out, json + sizeof before - 1, length - 2 - (sizeof before - 1)); /* up to " }" */
    bson_free(json);
    return true;
}

static bool put_items(out_t *out, const bson_iter_t *parent, bson_iter_t *items, int depth);

static void put_named(out_t *out, const char *before, const char *text, size_t length) {
    put_word(out, before);
    put_text(out, text, length);
}

/* A text, code or a symbol. */
static void put_words(out_t *out, const bson_iter_t *at) {
    uint32_t length;
    if (BSON_ITER_HOLDS_UTF8(at)) {
        const char *text = bson_iter_utf8(at, &length);
        put_text(out, text, length);
        return;
    }
    const bool code = BSON_ITER_HOLDS_CODE(at);
    const char *text = code ? bson_iter_code(at, &length) : bson_iter_symbol(at, &length);
    put_named(out, code ? "{ \"$code\" : " : "{ \"$symbol\" : ", text, length);
    put_word(out, " }");
}

static bool put_code_with_scope(out_t *out, const bson_iter_t *at, int depth) {
    uint32_t length, scope_length;
    const uint8_t *scope;
    bson_iter_t items;
    const char *code = bson_iter_codewscope(at, &length, &scope_length, &scope);
    if (depth >= DEEPEST || !bson_iter_init_from_data(&items, scope, scope_length))
        return false;
    put_named(out, "{ \"$code\" : ", code, length);
    put_word(out, ", \"$scope\" : ");
    const bool ok = put_items(out, at, &items, depth + 1);
    put_word(out, " }");
    return ok;
}

static void put_pointer(out_t *out, const bson_iter_t *at) {
    uint32_t length;
    const char *collection;
    const bson_oid_t *oid;
    char digits[25];
    bson_iter_dbpointer(at, &length, &collection, &oid);
    bson_oid_to_string(oid, digits);
    put_named(out, "{ \"$dbPointer\" : { \"$ref\" : ", collection, length);
    text_print(&out->text, ", \"$id\" : { \"$oid\" : \"%s\" } } }", digits);
}

/* Values that hold texts are not printed by libbson: it prints nothing of a text that is not UTF-8. */
static bool put_value(out_t *out, const bson_iter_t *at, int depth) {
    bson_iter_t items;
    switch (bson_iter_type(at)) {
    case BSON_TYPE_DOUBLE:
        put_double(out, bson_iter_double(at));
        return true;
    case BSON_TYPE_UTF8:
    case BSON_TYPE_CODE:
    case BSON_TYPE_SYMBOL:
        put_words(out, at);
        return true;
    case BSON_TYPE_INT32:
        put_int64(out, "numberInt", bson_iter_int32(at));
        return true;
    case BSON_TYPE_INT64:
        put_int64(out, "numberLong", bson_iter_int64(at));
        return true;
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        return depth < DEEPEST && bson_iter_recurse(at, &items) && put_items(out, at, &items, depth + 1);
    case BSON_TYPE_REGEX: {
        const char *options, *pattern = bson_iter_regex(at, &options);
        put_named(out, "{ \"$regularExpression\" : { \"pattern\" : ", pattern, strlen(pattern));
        put_named(out, ", \"options\" : ", options, strlen(options));
        put_word(out, " } }");
        return true;
    }
    case BSON_TYPE_CODEWSCOPE:
        return put_code_with_scope(out, at, depth);
    case BSON_TYPE_DBPOINTER:
        put_pointer(out, at);
        return true;
    default:
        return put_rare(out, at);
    }
}

/* parent: the value that holds the items; NULL: the document holds them. */
static bool put_items(out_t *out, const bson_iter_t *parent, bson_iter_t *items, int depth) {
    const bool array = parent && BSON_ITER_HOLDS_ARRAY(parent);
    const char *between = array ? "[ " : "{ ";
    bool any = false, ok = true;
    for (; ok && element_next(items); any = true, between = ", ") {
        put_word(out, between);
        if (!array) {
            put_text(out, bson_iter_key(items), bson_iter_key_len(items));
            put_word(out, " : ");
        }
        ok = put_value(out, items, depth);
    }
    put_word(out, any ? "" : between);
    put_word(out, array ? " ]" : any || parent ? " }" : "}"); /* a whole document without fields is "{ }" */
    return ok && !items->err_off;
}

static bool put_document(out_t *out, const bson_t *document) {
    bson_iter_t items;
    return bson_iter_init(&items, document) && put_items(out, NULL, &items, 0);
}

bool ejson_append(text_t *to, const bson_t *document, bool relaxed) {
    out_t out = {.text = *to, .relaxed = relaxed};
    const bool ok = put_document(&out, document);
    *to = out.text;
    return ok;
}

/* NULL: it is not BSON, or nested too deep. length and replaced may be NULL. */
static char *print(out_t out, const bson_t *document, size_t *length, uint64_t *replaced) {
    const bool ok = put_document(&out, document);
    if (length)
        *length = out.text.length;
    if (replaced)
        *replaced = out.replaced;
    if (ok)
        return text_take_or_end(&out.text);
    text_free(&out.text);
    return NULL;
}

char *ejson_print_telling(const bson_t *document, bool relaxed, size_t *length, uint64_t *replaced) {
    return print((out_t){.relaxed = relaxed}, document, length, replaced);
}

char *ejson_print_concealed(const bson_t *document, size_t *length) {
    return print((out_t){.relaxed = true, .conceals = true}, document, length, NULL);
}
