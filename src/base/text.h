/* text: a text that grows, from {0}. Whoever appends need not ask whether there is memory: what has no room is left out,
 * and so is all that follows; the text is then not given out when it is taken. */
#ifndef TIPPLE_BASE_TEXT_H
#define TIPPLE_BASE_TEXT_H

#include "base/err.h"

#include <stdarg.h>
#include <string.h>

typedef struct {
    char *bytes; /* NULL before anything was appended; else ends with a NUL that length does not count */
    size_t length, room;
    size_t lacking; /* bytes that there was no memory for; 0: nothing is left out */
} text_t;

/* Makes room for so many bytes more and the NUL; false: memory is out, or was before. */
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

/* To at most so many bytes of whole UTF-8 characters. */
void text_cut(text_t *text, size_t length);

/* All of it, for free(); what is left is empty. NULL: memory was out, and err has the sentence. */
char *text_take(text_t *text, err_t *err);

/* The same where no err_t leads to the person at the terminal: without memory the process ends with status 8 and a
 * sentence. */
char *text_take_or_end(text_t *text);

/* A copy without the passwords in it (conceal), for free(); ends the process in the same way. */
char *text_concealed(const char *words);

/* With its memory; what is left is empty. */
void text_free(text_t *text);

#endif
