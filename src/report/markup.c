#include "report/markup.h"
#include "base/chars.h"

#include <stdint.h>

char *markup_take(markup_t *markup, size_t *length) {
    if (length)
        *length = markup->text.length;
    return text_take_or_end(&markup->text);
}

void markup_put(markup_t *markup, const char *own) {
    text_append(&markup->text, own);
}

void markup_print(markup_t *markup, const char *format, ...) {
    va_list list;
    va_start(list, format);
    text_print_list(&markup->text, format, list);
    va_end(list);
}

static const struct {
    char character;
    const char *name;
} named[] = {{'&', "&amp;"},  {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"},
             {'\'', "&#39;"}, {'\n', " "},   {'\r', " "},   {'\t', " "}};

static void put_character(markup_t *markup, const uint8_t *at, size_t length) {
    for (size_t i = 0; length == 1 && i < sizeof named / sizeof *named; i++) {
        if (*at == (uint8_t)named[i].character) {
            markup_put(markup, named[i].name);
            return;
        }
    }
    char piece[ESCAPE_PIECE];
    if (!length || utf8_is_control(at, length))
        markup_put(markup, "\xEF\xBF\xBD");
    else if (length == 3 && escape_shown(at, length, piece) && *piece == '\\') /* from right to left */
        markup_put(markup, piece);
    else
        text_append_bytes(&markup->text, (const char *)at, length);
}

void markup_text_short(markup_t *markup, const char *text, size_t most) {
    const uint8_t *at = (const uint8_t *)text, *end = at + strlen(text);
    for (size_t i = 0; at < end; i++) {
        const size_t length = utf8_character(at, (size_t)(end - at));
        const uint8_t *next = at + (length ? length : 1);
        if (i + 1 >= most && next < end) {
            markup_put(markup, "…");
            return;
        }
        put_character(markup, at, length);
        at = next;
    }
}

void markup_text(markup_t *markup, const char *text) {
    markup_text_short(markup, text, SIZE_MAX);
}
