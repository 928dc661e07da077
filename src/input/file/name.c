#include "input/file/name.h"
#include "base/chars.h"
#include "format/values/values.h"

#include <ctype.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_url(const char *path) {
    const size_t scheme = strspn(path, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    return scheme && strncmp(path + scheme, "://", 3) == 0;
}

char *name_clean(const char *path) {
    if (is_url(path))
        return strdup(path);
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

static bool is_digit_of_escape(uint8_t c) {
    return isxdigit(c) && !isupper(c);
}

/* If the text itself contains \xHH, that would be read as an escape: so this backslash is escaped. Other backslashes
 * are unchanged. */
static bool looks_escaped(const uint8_t *text, size_t left) {
    return left >= 4 && text[0] == '\\' && text[1] == 'x' && is_digit_of_escape(text[2]) &&
           is_digit_of_escape(text[3]);
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
    char *small = realloc(out, (size_t)(end - out) + 1); /* most names need no escape */
    return small ? small : out;
}

bool name_cut_to_file(char *name) {
    struct stat status;
    for (char *cut = strchr(name, 0); (cut = memrchr(name, '!', (size_t)(cut - name)));) {
        *cut = 0;
        if (stat(name, &status) == 0 && S_ISREG(status.st_mode))
            return true;
        *cut = '!';
    }
    return false;
}

char *name_on_disk(const char *name) {
    char *out = malloc(strlen(name) + 1), *end = out;
    if (!out)
        return NULL;
    for (; *name; end++) {
        uint8_t byte = (uint8_t)*name;
        const bool escaped = looks_escaped((const uint8_t *)name, strlen(name)) &&
                             hex_read_byte((const uint8_t *)name + 2, 2, &byte);
        *end = (char)byte;
        name += escaped ? 4 : 1;
    }
    *end = 0;
    if (is_url(out))
        out[strcspn(out, "!")] = 0;
    else if (access(out, F_OK) != 0)
        name_cut_to_file(out);
    return out;
}

static bool is_description(const char *name, size_t length) {
    static const char *const patterns[] = {
        "readme",  "readme[!a-z0-9]*", "licen[cs]e", "licen[cs]e[!a-z0-9]*",
        "?*.pdf",  "?*.doc",           "?*.docx",    "?*.xls",
        "?*.xlsx", "?*.htm",           "?*.html"};
    char text[NAME_MAX + 1];
    snprintf(text, sizeof text, "%.*s", (int)length, name);
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
        if (fnmatch(patterns[i], text, FNM_CASEFOLD) == 0)
            return true;
    return false;
}

const char *name_reason_to_skip(const char *path, size_t *length, bool found, bool is_file) {
    static const char macosx[] = "__MACOSX";
    for (const char *at = path, *end = path + (length ? *length : strlen(path)); at < end;) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const size_t part = (size_t)((slash ? slash : end) - at);
        const bool is_here_or_up = part == 1 || (part == 2 && at[1] == '.');
        const char *why = NULL;
        if ((part >= 2 && memcmp(at, "._", 2) == 0) ||
            (part == strlen(macosx) && memcmp(at, macosx, part) == 0))
            why = "a resource fork of macOS, not data";
        else if (found && *at == '.' && !is_here_or_up)
            why = "hidden; name it to load it";
        else if (found && is_file && !slash && is_description(at, part))
            why = "by its name a description, not data; name the file to load it";
        if (why && length)
            *length = (size_t)(at - path) + part;
        if (why)
            return why;
        at += part + 1;
    }
    return NULL;
}
