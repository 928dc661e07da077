#include "base/ejson.h"
#include "base/escape.h"
#include "base/number.h"
#include "base/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DEEPEST = 200 };

typedef struct {
    text_t text;
    bool relaxed;
} out_t;

static void put(out_t *out, const char *bytes, size_t length) {
    text_append_bytes(&out->text, bytes, length);
}

static void put_word(out_t *out, const char *word) {
    put(out, word, strlen(word));
}

static void append_text(text_t *to, const char *text, size_t length) {
    const uint8_t *at = (const uint8_t *)text, *end = at + length;
    text_append(to, "\"");
    while (at < end) {
        const uint8_t *plain = at;
        while (plain < end && *plain >= ' ' && *plain < 0x7F && *plain != '"' && *plain != '\\')
            plain++;
        text_append_bytes(to, (const char *)at, (size_t)(plain - at));
        if ((at = plain) < end) {
            char piece[ESCAPE_PIECE];
            at += escape_json(at, (size_t)(end - at), piece);
            text_append(to, piece);
        }
    }
    text_append(to, "\"");
}

void ejson_append_text(text_t *to, const char *text) {
    append_text(to, text, strlen(text));
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

/* Types that hold no doubles and are rare in data: printed by libbson, in a document of their own. */
static bool put_rare(out_t *out, const bson_iter_t *at) {
    static const char before[] = "{ \"v\" : ";
    bson_t alone = BSON_INITIALIZER;
    size_t length;
    bson_append_iter(&alone, "v", 1, at);
    char *json = out->relaxed ? bson_as_relaxed_extended_json(&alone, &length)
                              : bson_as_canonical_extended_json(&alone, &length);
    bson_destroy(&alone);
    if (!json)
        return false;
    for (size_t i = sizeof before - 1, end = length - 2; i < end;) { /* up to " }" */
        char piece[ESCAPE_PIECE];
        const bool ascii = json[i] >= ' ' && json[i] < 0x7F; /* libbson has escaped quotes and backslashes */
        const size_t used = ascii ? 1 : escape_json((const uint8_t *)json + i, end - i, piece);
        put(out, ascii ? json + i : piece, ascii ? 1 : strlen(piece));
        i += used;
    }
    bson_free(json);
    return true;
}

static bool put_items(out_t *out, const bson_iter_t *parent, bson_iter_t *items, int depth);

static bool put_value(out_t *out, const bson_iter_t *at, int depth) {
    bson_iter_t items;
    uint32_t length;
    switch (bson_iter_type(at)) {
    case BSON_TYPE_DOUBLE:
        put_double(out, bson_iter_double(at));
        return true;
    case BSON_TYPE_UTF8: {
        const char *text = bson_iter_utf8(at, &length);
        append_text(&out->text, text, length);
        return true;
    }
    case BSON_TYPE_INT32:
        put_int64(out, "numberInt", bson_iter_int32(at));
        return true;
    case BSON_TYPE_INT64:
        put_int64(out, "numberLong", bson_iter_int64(at));
        return true;
    case BSON_TYPE_DOCUMENT:
    case BSON_TYPE_ARRAY:
        return depth < DEEPEST && bson_iter_recurse(at, &items) && put_items(out, at, &items, depth + 1);
    default:
        return put_rare(out, at);
    }
}

/* parent: the value that holds the items; NULL: they are the document's own. */
static bool put_items(out_t *out, const bson_iter_t *parent, bson_iter_t *items, int depth) {
    const bool array = parent && BSON_ITER_HOLDS_ARRAY(parent);
    const char *between = array ? "[ " : "{ ";
    bool any = false, ok = true;
    for (; ok && bson_iter_next(items); any = true, between = ", ") {
        put_word(out, between);
        if (!array) {
            append_text(&out->text, bson_iter_key(items), bson_iter_key_len(items));
            put_word(out, " : ");
        }
        ok = put_value(out, items, depth);
    }
    put_word(out, any ? "" : between);
    put_word(out, array ? " ]" : any || parent ? " }" : "}"); /* a whole document without fields is "{ }" */
    return ok && !items->err_off;
}

char *ejson_print(const bson_t *document, bool relaxed, size_t *length) {
    out_t out = {.relaxed = relaxed};
    bson_iter_t items;
    if (!bson_iter_init(&items, document) || !put_items(&out, NULL, &items, 0)) {
        text_free(&out.text);
        return NULL;
    }
    if (length)
        *length = out.text.length;
    return text_take_or_end(&out.text);
}
