#include "input/file/name.h"
#include "base/chars.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

static const char resource_fork[] = "a resource fork of macOS, not data",
                  description[] = "by its name a description, not data; name the file to load it";

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

static bool is_digit_of_escape(char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
}

/* If the text itself contains \xHH, that would be read as an escape: so this backslash is escaped. Other backslashes
 * are unchanged. */
static bool looks_escaped(const uint8_t *text, size_t left) {
    return left >= 4 && text[0] == '\\' && text[1] == 'x' && is_digit_of_escape((char)text[2]) &&
           is_digit_of_escape((char)text[3]);
}

char *name_join(const char *before, const char *between, const char *text, size_t length) {
    size_t start = before ? strlen(before) + strlen(between) : 0;
    char *out = malloc(start + 4 * length + 1);
    if (!out)
        return NULL;
    if (before)
        sprintf(out, "%s%s", before, between);
    char *end = out + start;
    const uint8_t *at = (const uint8_t *)text, *after = at + length;
    while (at < after) {
        char piece[ESCAPE_PIECE];
        const bool own = looks_escaped(at, (size_t)(after - at));
        at += own ? 1 : escape_shown(at, (size_t)(after - at), piece);
        end = stpcpy(end, own ? "\\x5c" : piece);
    }
    *end = 0;
    return out;
}

static int digit_of_escape(char c) {
    return c <= '9' ? c - '0' : c - 'a' + 10;
}

char *name_on_disk(const char *name) {
    char *out = malloc(strlen(name) + 1), *end = out;
    if (!out)
        return NULL;
    for (; *name; end++) {
        const bool escaped = looks_escaped((const uint8_t *)name, strlen(name));
        if (escaped)
            *end = (char)(digit_of_escape(name[2]) << 4 | digit_of_escape(name[3]));
        else
            *end = *name;
        name += escaped ? 4 : 1;
    }
    *end = 0;
    for (char *cut = end; cut; cut = memrchr(out, '!', (size_t)(cut - out))) {
        const char kept = *cut;
        *cut = 0;
        if (access(out, F_OK) == 0)
            return out;
        *cut = kept;
    }
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

const char *name_reason_to_skip_file(const char *name, size_t length) {
    static const char *const beginnings[] = {"readme", "license", "licence"};
    static const char *const endings[] = {".pdf", ".doc", ".docx", ".xls", ".xlsx", ".htm", ".html"};
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        const size_t n = strlen(beginnings[i]);
        if (length >= n && strncasecmp(name, beginnings[i], n) == 0 &&
            (length == n || !isalnum((unsigned char)name[n])))
            return description;
    }
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i]);
        if (length > n && strncasecmp(name + length - n, endings[i], n) == 0)
            return description;
    }
    return NULL;
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
