#include "base/out.h"
#include "base/chars.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Behind a %. */
typedef struct {
    char flags[8], size, kind; /* size: of the number, 'L' for ll and 'H' for hh; 0: an int */
    int width, precision;      /* precision -1: none */
} conversion_t;

void out_bytes(const void *bytes, size_t length) {
    fwrite(bytes, 1, length, stdout);
}

static void put(const char *text) {
    out_bytes(text, strlen(text));
}

static void read_number(const char **at, int *number, va_list *list) {
    if (**at == '*') {
        *number = va_arg(*list, int);
        ++*at;
        return;
    }
    char *end;
    *number = (int)strtol(*at, &end, 10);
    *at = end;
}

/* Returns what stands behind it. */
static const char *read_conversion(const char *at, conversion_t *conversion, va_list *list) {
    *conversion = (conversion_t){.precision = -1};
    for (size_t i = 0; *at && strchr("-+ #0", *at) && i < sizeof conversion->flags - 1; at++)
        conversion->flags[i++] = *at;
    read_number(&at, &conversion->width, list);
    if (*at == '.') {
        at++;
        read_number(&at, &conversion->precision, list);
    }
    for (; *at && strchr("hlzjt", *at); at++)
        conversion->size = conversion->size != *at ? *at : *at == 'l' ? 'L' : 'H';
    conversion->kind = *at;
    return *at ? at + 1 : at;
}

static intmax_t take_signed(const conversion_t *conversion, va_list *list) {
    switch (conversion->size) {
    case 'l':
        return va_arg(*list, long);
    case 'L':
        return va_arg(*list, long long);
    case 'j': // NOLINT(bugprone-branch-clone)
        return va_arg(*list, intmax_t);
    case 'z':
    case 't':
        return va_arg(*list, ptrdiff_t);
    default:
        return va_arg(*list, int);
    }
}

static uintmax_t take_unsigned(const conversion_t *conversion, va_list *list) {
    switch (conversion->size) {
    case 'l':
        return va_arg(*list, unsigned long);
    case 'L':
        return va_arg(*list, unsigned long long);
    case 'j': // NOLINT(bugprone-branch-clone)
        return va_arg(*list, uintmax_t);
    case 'z':
    case 't':
        return va_arg(*list, size_t);
    default:
        return va_arg(*list, unsigned);
    }
}

static void put_shown(const conversion_t *conversion, const char *text, size_t length) {
    text_t own = {.length = 0};
    text_append_bytes(&own, text, length);
    char *taken = text_take_or_end(&own), *clean = text_concealed(taken);
    for (size_t at = 0, end = strlen(clean); at < end;) {
        char piece[ESCAPE_PIECE];
        at += escape_shown((const uint8_t *)clean + at, end - at, piece);
        text_append(&own, piece);
    }
    free(taken);
    free(clean);
    char *shown = text_take_or_end(&own);
    const size_t wide = (size_t)abs(conversion->width), has = utf8_columns(shown),
                 pad = wide > has ? wide - has : 0;
    const bool left = conversion->width < 0 || strchr(conversion->flags, '-');
    printf("%*s%s%*s", left ? 0 : (int)pad, "", shown, left ? (int)pad : 0, "");
    free(shown);
}

static void put_text(const conversion_t *conversion, const char *text) {
    text = text ? text : "(null)";
    put_shown(conversion, text,
              conversion->precision < 0 ? strlen(text) : strnlen(text, (size_t)conversion->precision));
}

static void put_conversion(const conversion_t *conversion, va_list *list) {
    char form[24];
    const bool real = conversion->kind && strchr("aAeEfFgG", conversion->kind),
               whole = conversion->kind == 'd' || conversion->kind == 'i';
    snprintf(form, sizeof form, "%%%s*.*%s%c", conversion->flags, real ? "" : "j", conversion->kind);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    if (conversion->kind == 's')
        put_text(conversion, va_arg(*list, const char *));
    else if (conversion->kind == 'c')
        put_shown(conversion, (char[]){(char)va_arg(*list, int)}, 1);
    else if (real)
        printf(form, conversion->width, conversion->precision, va_arg(*list, double));
    else if (whole)
        printf(form, conversion->width, conversion->precision, take_signed(conversion, list));
    else if (conversion->kind && strchr("uxXo", conversion->kind))
        printf(form, conversion->width, conversion->precision, take_unsigned(conversion, list));
    else
        put("%"); /* %%; the compiler knows of any other */
#pragma GCC diagnostic pop
}

void out_print(const char *format, ...) {
    va_list list;
    va_start(list, format);
    while (*format) {
        const size_t plain = strcspn(format, "%");
        conversion_t conversion;
        out_bytes(format, plain);
        format += plain;
        if (!*format)
            break;
        format = read_conversion(format + 1, &conversion, &list);
        put_conversion(&conversion, &list);
    }
    va_end(list);
}

void out_lines(const char *text) {
    char *clean = text_concealed(text);
    const size_t length = strlen(clean);
    text_t room = {.length = 0};
    if (!text_grow(&room, 4 * length + 1))
        err_end_without_memory(room.lacking);
    escape_lines(room.bytes, clean, length);
    put(room.bytes);
    text_free(&room);
    free(clean);
}
