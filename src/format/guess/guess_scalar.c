/* A text as a format file can have it. */
#include "base/chars.h"
#include "format/guess/guess_inner.h"

#include <string.h>
#include <strings.h>

static bool is_word(const char *text, size_t length) {
    static const char *const meant[] = {"yes", "no", "true", "false", "null", "on", "off", "y", "n", "none"};
    for (size_t i = 0; i < length; i++) {
        const char c = text[i];
        const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!letter && !(i && ((c >= '0' && c <= '9') || c == '.')))
            return false;
    }
    for (size_t i = 0; i < sizeof meant / sizeof *meant; i++)
        if (strlen(meant[i]) == length && strncasecmp(meant[i], text, length) == 0)
            return false;
    return length > 0;
}

static uint32_t code_point(const uint8_t *at, size_t length) {
    uint32_t point = length == 1 ? *at : *at & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++)
        point = point << 6 | (at[i] & 0x3F);
    return point;
}

/* Characters that YAML takes as they are. */
static bool is_shown(const uint8_t *at, size_t length) {
    if (length == 3 && at[0] == 0xE2 && at[1] == 0x80 && (at[2] == 0xA8 || at[2] == 0xA9))
        return false; /* they end a line */
    if (length == 3 && at[0] == 0xEF &&
        ((at[1] == 0xBB && at[2] == 0xBF) || (at[1] == 0xBF && at[2] >= 0xBE)))
        return false; /* a byte-order mark; no characters */
    return length && !utf8_is_control(at, length);
}

/* As one word of YAML; the text is UTF-8. */
void guess_put_scalar(text_t *out, const char *text, size_t length) {
    if (is_word(text, length)) {
        text_append_bytes(out, text, length);
        return;
    }
    text_append(out, "\"");
    for (size_t i = 0; i < length;) {
        const uint8_t *at = (const uint8_t *)text + i;
        size_t bytes = utf8_character(at, length - i);
        bytes = bytes ? bytes : 1;
        if (*at == '"' || *at == '\\')
            text_print(out, "\\%c", *at);
        else if (*at == '\t')
            text_append(out, "\\t");
        else if (*at == '\n')
            text_append(out, "\\n");
        else if (is_shown(at, bytes))
            text_append_bytes(out, text + i, bytes);
        else if (code_point(at, bytes) < 0x100)
            text_print(out, "\\x%02X", code_point(at, bytes));
        else
            text_print(out, "\\u%04X", code_point(at, bytes));
        i += bytes;
    }
    text_append(out, "\"");
}
