#include "report/json.h"
#include "base/chars.h"
#include "base/numbers.h"
#include "report/markup.h"

#include <math.h>
#include <string.h>

enum { DEEPEST = 40 };

static void put_text(markup_t *out, const char *text) {
    const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
    char piece[ESCAPE_PIECE];
    markup_put(out, "\"");
    while (at < end) {
        at += escape_json(at, (size_t)(end - at), piece);
        markup_put(out, piece);
    }
    markup_put(out, "\"");
}

static void put_number(markup_t *out, double number) {
    char text[NUMBER_ROOM];
    if (!isfinite(number))
        markup_put(out, "null");
    else if (number == floor(number) && fabs(number) < 1e15)
        markup_print(out, "%.0f", number == 0 ? 0 : number);
    else
        markup_put(out, number_print(text, number));
}

static void new_line(markup_t *out, int depth) {
    markup_put(out, "\n");
    for (int i = 0; i < depth; i++)
        markup_put(out, "  ");
}

/* An array of plain values, such as a point or a row, is printed on one line. */
static bool is_plain(bson_iter_t items) {
    while (bson_iter_next(&items))
        if (BSON_ITER_HOLDS_DOCUMENT(&items) || BSON_ITER_HOLDS_ARRAY(&items))
            return false;
    return true;
}

static void put_items(markup_t *out, bson_iter_t *items, bool named, int depth);

static void put_value(markup_t *out, bson_iter_t *at, int depth) {
    bson_iter_t inner;
    const bool nested = BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at);
    if (nested && depth < DEEPEST && bson_iter_recurse(at, &inner))
        put_items(out, &inner, BSON_ITER_HOLDS_DOCUMENT(at), depth + 1);
    else if (BSON_ITER_HOLDS_UTF8(at))
        put_text(out, bson_iter_utf8(at, NULL));
    else if (BSON_ITER_HOLDS_BOOL(at))
        markup_put(out, bson_iter_bool(at) ? "true" : "false");
    else if (BSON_ITER_HOLDS_NUMBER(at))
        put_number(out, bson_iter_as_double(at));
    else
        markup_put(out, "null");
}

static void put_items(markup_t *out, bson_iter_t *items, bool named, int depth) {
    const bool one_line = !named && is_plain(*items);
    size_t count = 0;
    markup_put(out, named ? "{" : "[");
    for (; bson_iter_next(items); count++) {
        markup_put(out, count ? one_line ? ", " : "," : "");
        if (!one_line)
            new_line(out, depth);
        if (named) {
            put_text(out, bson_iter_key(items));
            markup_put(out, ": ");
        }
        put_value(out, items, depth);
    }
    if (count && !one_line)
        new_line(out, depth - 1);
    markup_put(out, named ? "}" : "]");
}

char *json_print(const bson_t *document, size_t *length) {
    markup_t out = {.text.length = 0};
    bson_iter_t items;
    if (bson_iter_init(&items, document))
        put_items(&out, &items, true, 1);
    else
        markup_put(&out, "{}");
    markup_put(&out, "\n");
    return markup_take(&out, length);
}
