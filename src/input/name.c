#include "input/name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char resource_fork[] = "a resource fork of macOS, not data";

char *name_clean(const char *path) {
    char *out = malloc(strlen(path) + 2), *end = out;
    if (!out)
        return NULL;
    if (*path == '/')
        *end++ = '/';
    while (*path) {
        size_t length = strcspn(path, "/");
        if (length && !(length == 1 && *path == '.')) {
            if (end > out && end[-1] != '/')
                *end++ = '/';
            memcpy(end, path, length);
            end += length;
        }
        path += length + (path[length] == '/');
    }
    if (end == out)
        *end++ = '.';
    *end = 0;
    return out;
}

/* The length of the well-formed UTF-8 character at the text's begin, or 0. */
static size_t utf8_length(const unsigned char *text, size_t left) {
    static const struct {
        unsigned char mask, mark, length;
        unsigned least;
    } shapes[] = {
        {0x80, 0x00, 1, 0x20}, {0xe0, 0xc0, 2, 0xa0}, {0xf0, 0xe0, 3, 0x800}, {0xf8, 0xf0, 4, 0x10000}};
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        if ((text[0] & shapes[i].mask) != shapes[i].mark)
            continue;
        if (shapes[i].length > left)
            return 0;
        unsigned code = text[0] & (unsigned char)~shapes[i].mask;
        for (size_t n = 1; n < shapes[i].length; n++) {
            if ((text[n] & 0xc0) != 0x80)
                return 0;
            code = code << 6 | (text[n] & 0x3f);
        }
        bool fits =
            code >= shapes[i].least && code <= 0x10ffff && code != 0x7f && (code < 0xd800 || code > 0xdfff);
        return fits ? shapes[i].length : 0;
    }
    return 0;
}

char *name_join(const char *before, const char *between, const char *text, size_t length) {
    size_t start = before ? strlen(before) + strlen(between) : 0;
    char *out = malloc(start + 4 * length + 1);
    if (!out)
        return NULL;
    if (before)
        sprintf(out, "%s%s", before, between);
    char *end = out + start;
    for (size_t i = 0; i < length;) {
        size_t n = utf8_length((const unsigned char *)text + i, length - i);
        if (n) {
            memcpy(end, text + i, n);
            end += n;
            i += n;
        } else {
            end += sprintf(end, "\\x%02x", (unsigned char)text[i++]);
        }
    }
    *end = 0;
    return out;
}

static bool is_macosx(const char *name, size_t length) {
    return length == strlen(NAME_MACOSX) && memcmp(name, NAME_MACOSX, length) == 0;
}

const char *name_reason_to_skip(const char *name, size_t length) {
    if ((length >= 2 && memcmp(name, "._", 2) == 0) || is_macosx(name, length))
        return resource_fork;
    bool is_here_or_up = length && length <= 2 && memcmp(name, "..", length) == 0;
    return length && name[0] == '.' && !is_here_or_up ? "hidden; name it to load it" : NULL;
}

const char *name_reason_to_skip_path(const char *path) {
    const char *last = strrchr(path, '/');
    if (strncmp(last ? last + 1 : path, "._", 2) == 0)
        return resource_fork;
    while (*path) {
        size_t length = strcspn(path, "/");
        if (is_macosx(path, length))
            return resource_fork;
        path += length + (path[length] == '/');
    }
    return NULL;
}
