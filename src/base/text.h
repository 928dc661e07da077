/* text: a text that grows, from {0}. Callers need not check for memory at each append: when memory is out, what does
 * not fit is left out, and so is all that follows; text_take then gives nothing out. */
#ifndef TIPPLE_BASE_TEXT_H
#define TIPPLE_BASE_TEXT_H

#include "base/err.h"

#include <stdarg.h>
#include <string.h>

typedef struct {
    char *bytes; /* NULL before the first append; after it, ends with a NUL that length does not count */
    size_t length, room;
    size_t lacking; /* bytes for which there was no memory; 0: nothing is left out */
} text_t;

/* Makes room for `more` bytes and the NUL. False: memory is out, now or at an earlier call. */
bool text_grow(text_t *text, size_t more);

static inline void text_append_bytes(text_t *text, const char *bytes, size_t length) {
    if (text->length + length >= text->room && !text_grow(text, length))
        return;
    memcpy(text->bytes + text->length, bytes, length);
    text->length += length;
    text->bytes[text->length] = '\0';
}

static inline void text_append(text_t *text, const char *words) {
    text_append_bytes(text, words, strlen(words));
}

void text_print(text_t *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_print_list(text_t *text, const char *format, va_list list) __attribute__((format(printf, 2, 0)));

/* If memory was out for a part of the text, it was out for the text: text_take gives nothing out. */
static inline void text_miss(text_t *text, const text_t *part) {
    if (part->lacking)
        text->lacking = part->lacking;
}

/* Shortens it to at most `length` bytes, to whole UTF-8 characters. */
void text_cut(text_t *text, size_t length);

/* Gives out the text, which the caller frees; *text is empty afterwards. NULL: memory was out, and err has the
 * sentence. */
char *text_take(text_t *text, err_t *err);

/* The same where there is no err_t: if memory was out, the process ends with status 8 and a sentence. */
char *text_take_or_end(text_t *text);

/* A copy without the passwords (conceal), which the caller frees. If memory is out, the process ends as in
 * text_take_or_end. */
char *text_concealed(const char *words);

/* Frees its memory; it is empty afterwards. */
void text_free(text_t *text);

#endif
