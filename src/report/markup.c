#include "report/markup.h"
#include "base/utf8.h"

#include <bson/bson.h>
#include <stdio.h>
#include <string.h>

void markup_init(markup_t *markup) {
    *markup = (markup_t){.bytes = bson_malloc(256), .room = 256};
    markup->bytes[0] = '\0';
}

void markup_free(markup_t *markup) {
    bson_free(markup->bytes);
    *markup = (markup_t){.bytes = NULL};
}

char *markup_take(markup_t *markup, size_t *length) {
    char *bytes = markup->bytes;
    if (length)
        *length = markup->length;
    *markup = (markup_t){.bytes = NULL};
    return bytes;
}

static void put(markup_t *markup, const char *bytes, size_t length) {
    while (markup->length + length + 1 > markup->room) {
        markup->room *= 2;
        markup->bytes = bson_realloc(markup->bytes, markup->room);
    }
    memcpy(markup->bytes + markup->length, bytes, length);
    markup->length += length;
    markup->bytes[markup->length] = '\0';
}

void markup_put(markup_t *markup, const char *own) {
    put(markup, own, strlen(own));
}

void markup_print(markup_t *markup, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *text = bson_strdupv_printf(format, args);
    va_end(args);
    markup_put(markup, text);
    bson_free(text);
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
    if (!length || utf8_is_control(at, length))
        markup_put(markup, "\xEF\xBF\xBD");
    else
        put(markup, (const char *)at, length);
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
