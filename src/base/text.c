#include "base/text.h"
#include "base/conceal.h"

#include <stdio.h>
#include <stdlib.h>

enum { FIRST_ROOM = 256 };

/* Memory is out: from now on nothing is appended. With no room left, every append comes to text_grow. */
static bool give_up(text_t *text, size_t lacking) {
    text->lacking = lacking;
    text->room = 0;
    return false;
}

bool text_grow(text_t *text, size_t more) {
    if (text->lacking)
        return false;
    const size_t room = 2 * (text->length + more) + FIRST_ROOM;
    char *larger = realloc(text->bytes, room);
    if (!larger)
        return give_up(text, room);
    larger[text->length] = '\0';
    text->bytes = larger;
    text->room = room;
    return true;
}

void text_print(text_t *text, const char *format, ...) {
    va_list list;
    va_start(list, format);
    text_print_list(text, format, list);
    va_end(list);
}

void text_print_list(text_t *text, const char *format, va_list list) {
    va_list again;
    va_copy(again, list);
    const int length = vsnprintf(NULL, 0, format, list);
    if (length < 0)
        give_up(text, FIRST_ROOM);
    else if (text->length + (size_t)length < text->room || text_grow(text, (size_t)length)) {
        vsnprintf(text->bytes + text->length, (size_t)length + 1, format, again);
        text->length += (size_t)length;
    }
    va_end(again);
}

void text_cut(text_t *text, size_t length) {
    if (length >= text->length)
        return;
    while (length && (text->bytes[length] & 0xC0) == 0x80)
        length--;
    text->length = length;
    text->bytes[length] = '\0';
}

char *text_take(text_t *text, err_t *err) {
    text_append(text, ""); /* an empty text is a text, too */
    const text_t taken = *text;
    *text = (text_t){.bytes = NULL};
    if (!taken.lacking)
        return taken.bytes;
    free(taken.bytes);
    err_memory(err, taken.lacking);
    return NULL;
}

char *text_take_or_end(text_t *text) {
    err_t err;
    text_append(text, "");
    if (text->lacking)
        err_end_without_memory(text->lacking);
    return text_take(text, &err);
}

char *text_concealed(const char *words) {
    text_t text = {0};
    /* *** makes each password at most two bytes longer, and something stands before each */
    if (!text_grow(&text, 2 * strlen(words) + sizeof "***"))
        /* a text that may hold a password must not be shown unchanged */
        err_end_without_memory(text.lacking);
    strcpy(text.bytes, words);
    return conceal(text.bytes, text.room);
}

void text_free(text_t *text) {
    free(text->bytes);
    *text = (text_t){.bytes = NULL};
}
