#include "query/suite/typed_query.h"
#include "base/chars.h"
#include "base/text.h"
#include "query/suite/value.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { DEEPEST = 64 };

typedef struct {
    typed_query_t *to;
    const char *at, *name;
    yaml_place_t place; /* of `at` */
    struct {
        char bracket;
        yaml_place_t place;
    } open[DEEPEST];
    int depth;
    bool key;            /* in a map: what comes is a key */
    yaml_place_t named;  /* where a key began whose colon has not come; line 0: none did */
    bool ended;          /* a key or value has, and what divides it from the next has not come */
    yaml_place_t valued; /* the colon of a key whose value has not come; line 0: there is none */
    err_t *err;
} reader_t;

#define COMPLAIN(where, fmt, ...)                                                                            \
    err_set(reader->err, STATUS_USAGE, "%s:%d:%d: " fmt, reader->name, (where).line, (where).column,         \
            ##__VA_ARGS__)

static bool is_blank(char c) {
    return c && strchr(TYPED_QUERY_BLANKS, c);
}

static bool put(typed_query_t *to, char byte, yaml_place_t place, err_t *err) {
    text_append_bytes(&to->text, &byte, 1);
    if (((unsigned char)byte & 0xC0) == 0x80) /* of a character that has begun */
        return true;
    if (!GROW(to->places, to->room, to->count + 1, err))
        return false;
    to->places[to->count++] = place;
    return true;
}

static bool put_words(typed_query_t *to, const char *words, yaml_place_t place, err_t *err) {
    while (*words)
        if (!put(to, *words++, place, err))
            return false;
    return true;
}

static bool take_as(reader_t *reader, char as) {
    const char byte = *reader->at++;
    const bool ok = put(reader->to, as, reader->place, reader->err);
    if (byte == '\n')
        reader->place = (yaml_place_t){.line = reader->place.line + 1, .column = 1};
    else
        reader->place.column += ((unsigned char)*reader->at & 0xC0) != 0x80;
    return ok;
}

/* Takes one byte; as what it is, or as a blank: a query is one line for YAML, so its lines need no indent. */
static bool take(reader_t *reader, bool blank) {
    return take_as(reader, blank || is_blank(*reader->at) ? ' ' : *reader->at);
}

static bool put_byte(reader_t *reader) {
    return take_as(reader, *reader->at);
}

/* What YAML takes as a shell does. It knows more (\a, \e, \N), which is something else there; and none between ' and '. */
static bool check_escape(const reader_t *reader, char quote) {
    return quote == '"' ? (reader->at[1] && strchr("nrtbfv0\\\"/xu", reader->at[1]) &&
                           !(reader->at[1] == '0' && isdigit((unsigned char)reader->at[2]))) ||
                              COMPLAIN(reader->place,
                                       "an escape of a text is one of \\n \\r \\t \\b \\f \\v \\0 \\x \\u "
                                       "\\\\ \\\" \\/ here")
                        : COMPLAIN(reader->place, "a text with a backslash is written in \"...\" here");
}

/* The number of an escape \u1234; 0: there is none. */
static unsigned number_of_escape(const char *at) {
    char digits[] = "1234";
    if (at[0] != '\\' || at[1] != 'u' || strspn(at + 2, "0123456789abcdefABCDEF") < 4)
        return 0;
    return (unsigned)strtoul(memcpy(digits, at + 2, 4), NULL, 16);
}

/* Of a character above U+FFFF JSON has two escapes, each of a half (\ud83d\ude00), and YAML one (\U0001f600). */
static bool take_halves(reader_t *reader, unsigned high) {
    enum { LENGTH = sizeof "\\ud83d\\ude00" - 1 };
    const unsigned low = high < 0xDC00 ? number_of_escape(reader->at + LENGTH / 2) : 0;
    char both[16];
    if (low < 0xDC00 || low > 0xDFFF)
        return COMPLAIN(reader->place, "%.6s is one half of a character, and the other half is missing",
                        reader->at);
    snprintf(both, sizeof both, "\\U%08x", 0x10000 + ((high & 0x3FF) << 10 | (low & 0x3FF)));
    const bool ok = put_words(reader->to, both, reader->place, reader->err);
    reader->at += LENGTH;
    reader->place.column += LENGTH;
    return ok;
}

/* Of YAML: it folds lines. */
static bool ends_line(const char *at) {
    return *at == '\n' || *at == '\r' || strncmp(at, "\xC2\x85", 2) == 0 ||
           strncmp(at, "\xE2\x80\xA8", 3) == 0 || strncmp(at, "\xE2\x80\xA9", 3) == 0;
}

static bool take_quoted(reader_t *reader) {
    const char quote = *reader->at;
    const yaml_place_t place = reader->place;
    bool ok = take(reader, false);
    while (ok && *reader->at && *reader->at != quote) {
        if (ends_line(reader->at))
            return COMPLAIN(place, "this text goes over the end of its line: write \\n in \"...\" there");
        if (*reader->at == '\\' && !check_escape(reader, quote))
            return false;
        const unsigned number = number_of_escape(reader->at);
        if (number >= 0xD800 && number < 0xE000) {
            ok = take_halves(reader, number);
            continue;
        }
        if (*reader->at == '\\')
            ok = put_byte(reader);
        ok = ok && put_byte(reader);
    }
    if (ok && !*reader->at)
        return COMPLAIN(place, "this %c is never closed", quote);
    return ok && take(reader, false);
}

/* Never at the beginning, where a bracket is. */
static bool is_comment(const reader_t *reader) {
    return *reader->at == '#' && (is_blank(reader->at[-1]) || strchr("[{,", reader->at[-1]));
}

/* Until its line ends. */
static bool take_comment(reader_t *reader) {
    bool ok = true;
    while (ok && *reader->at && *reader->at != '\n')
        ok = take(reader, true);
    return ok;
}

/* A text of which YAML might take only a half. */
static bool refuse_shell(const reader_t *reader, const char *instead) {
    char shown[256];
    escape_text(shown, sizeof shown, reader->at, strcspn(reader->at, ",]}"));
    return COMPLAIN(reader->place, SHELL_SYNTAX_WORDS, 60, shown, instead);
}

/* 5, -1.5, 2e3: as JSON has it. 007, .5 and 0x10 are something else for YAML, or nothing. */
static bool is_number(const char *text, size_t length) {
    static const char digits[] = "0123456789";
    const char *at = text + (*text == '-');
    size_t count = strspn(at, digits);
    bool ok = count && (count == 1 || *at != '0');
    at += count;
    if (*at == '.') {
        count = strspn(++at, digits);
        ok = ok && count;
        at += count;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        count = strspn(at, digits);
        ok = ok && count;
        at += count;
    }
    return ok && at == text + length;
}

static bool has_wide_blank(const char *text, size_t length) {
    static const char *const blanks[] = {"\xC2\xA0",     "\xE1\x9A\x80", "\xE2\x80",
                                         "\xE2\x81\x9F", "\xE3\x80\x80", "\xEF\xBB\xBF"};
    bool any = false;
    for (size_t i = 0; i < sizeof blanks / sizeof *blanks; i++)
        any |= memmem(text, length, blanks[i], strlen(blanks[i])) != NULL;
    return any;
}

/* Values of JavaScript, and what YAML or Python may have for true, false and null. */
static bool is_of_shell(const char *text, size_t length) {
    static const char *const words[] = {"yes", "no", "on", "off", "none", "nil"}, *const exact[] = {"true",
                                                                                                    "false",
                                                                                                    "null"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], text, length) == 0)
            return true;
    for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
        if (strlen(exact[i]) == length && strncasecmp(exact[i], text, length) == 0)
            return memcmp(exact[i], text, length) != 0;
    return isupper((unsigned char)*text) && memchr(text, '.', length); /* Math.PI */
}

/* One word, which may be a field ($amount, $$ROOT, a.b) or a name. as_key: also of other letters, or a number. */
static bool is_word(const char *text, size_t length, bool as_key) {
    size_t at = strspn(text, "$");
    const bool whole = length == 1 || *text != '0'; /* 007 and 1e3 are other keys in a shell */
    if (as_key && whole && strspn(text, "0123456789") >= length)
        return true;
    const bool begins = isalpha((unsigned char)text[at]) || text[at] == '_' || (as_key && (text[at] & 0x80));
    while (at < length && (isalnum((unsigned char)text[at]) || strchr("_.$", text[at]) ||
                           (as_key && (text[at] == '-' || text[at] & 0x80))))
        at++;
    return begins && at == length && !has_wide_blank(text, length) && (as_key || !is_of_shell(text, length));
}

/* What a suite takes or refuses, by what it stands in: {$date: 2024-05-01}, {$numberDouble: NaN}. */
static bool is_of_suite(const char *from, size_t length) {
    char text[64];
    if (length >= sizeof text)
        return false;
    snprintf(text, sizeof text, "%.*s", (int)length, from);
    return shell_syntax(text) != NULL;
}

static bool refuse_word(const reader_t *reader, size_t length) {
    if (memmem(reader->at, length, "//", 2) || memmem(reader->at, length, "/*", 2))
        return COMPLAIN(reader->place, "a comment begins with # here, and a text with // is in quotes");
    char shown[256];
    escape_text(shown, sizeof shown, reader->at, length);
    return reader->key
               ? COMPLAIN(reader->place, "'%.60s' is not one word: put a key like that in quotes", shown)
               : COMPLAIN(reader->place,
                          "'%.60s' is no number as in JSON, nor true, false, null or one word: put a text "
                          "in quotes; is a comma missing?",
                          shown);
}

static bool take_plain(reader_t *reader) {
    const char *const instead = reader->key ? NULL : shell_syntax_begins(reader->at);
    if (strncmp(reader->at, "//", 2) == 0 || strncmp(reader->at, "/*", 2) == 0)
        return COMPLAIN(reader->place, "a comment begins with # here");
    if (instead)
        return refuse_shell(reader, instead);
    const reader_t from = *reader;
    bool ok = true;
    while (ok && *reader->at && !strchr(reader->key ? ",[]{}:" : ",[]{}", *reader->at) && !is_comment(reader))
        ok = take(reader, false);
    size_t length = (size_t)(reader->at - from.at);
    while (length && is_blank(from.at[length - 1]))
        length--;
    return ok && (is_word(from.at, length, from.key) ||
                  (!from.key && (is_number(from.at, length) || is_of_suite(from.at, length))) ||
                  refuse_word(&from, length));
}

/* YAML would take it for a key of the value null. */
static bool check_named(const reader_t *reader) {
    return (!reader->named.line || COMPLAIN(reader->named, "this key has no value")) &&
           (!reader->valued.line || COMPLAIN(reader->valued, "no value follows this colon"));
}

static bool in_map(const reader_t *reader) {
    return reader->depth && reader->open[reader->depth - 1].bracket == '{';
}

static bool open_bracket(reader_t *reader) {
    if (reader->depth == DEEPEST)
        return COMPLAIN(reader->place, "nested deeper than %d levels", DEEPEST);
    reader->open[reader->depth].bracket = *reader->at;
    reader->open[reader->depth++].place = reader->place;
    reader->key = *reader->at == '{';
    reader->ended = false;
    return take(reader, false);
}

static bool close_bracket(reader_t *reader) {
    const char bracket = *reader->at;
    const yaml_place_t before = reader->open[reader->depth - 1].place;
    if ((bracket == '}') != in_map(reader))
        return COMPLAIN(reader->place, "%c stands where the %c of %d:%d is still open", bracket,
                        in_map(reader) ? '{' : '[', before.line, before.column);
    reader->depth--;
    reader->key = false;
    reader->ended = true;
    return take(reader, false);
}

static bool take_next(reader_t *reader) {
    const char next = *reader->at;
    if (strchr(",]}", next) && !check_named(reader))
        return false;
    if (!is_blank(next) && !strchr(",]}", next))
        reader->valued.line = 0;
    if (reader->ended && !strchr(",]}:", next) && !is_blank(next))
        return COMPLAIN(reader->place, "a %s is missing before this", reader->key ? "colon" : "comma");
    if (next == ':' && !(reader->key && reader->named.line))
        return COMPLAIN(reader->place, "a colon stands behind a key, in a map");
    if (reader->key && !reader->named.line && !strchr(",[]{}:", next) && !is_blank(next))
        reader->named = reader->place;
    if (next == '[' || next == '{')
        return open_bracket(reader);
    if (next == ']' || next == '}')
        return close_bracket(reader);
    reader->ended = !is_blank(next) ? next != ',' && next != ':' : reader->ended;
    if (next == '"' || next == '\'')
        return take_quoted(reader);
    if (next == ',')
        reader->key = in_map(reader);
    if (next == ':') {
        reader->key = false;
        reader->named.line = 0;
        reader->valued = reader->place; /* for YAML the colon of a key is one before a blank */
        return take(reader, false) && put(reader->to, ' ', reader->place, reader->err);
    }
    return next == ',' || is_blank(next) ? take(reader, false) : take_plain(reader);
}

static bool take_all(reader_t *reader) {
    bool ok = true;
    while (ok && is_blank(*reader->at))
        ok = take(reader, true);
    ok = ok && open_bracket(reader);
    while (ok && *reader->at && reader->depth)
        ok = is_comment(reader) ? take_comment(reader) : take_next(reader);
    while (ok && *reader->at && (is_blank(*reader->at) || is_comment(reader)))
        ok = is_blank(*reader->at) ? take(reader, false) : take_comment(reader);
    if (ok && *reader->at)
        return COMPLAIN(reader->place, "the query has ended before this");
    return ok && (!reader->depth || COMPLAIN(reader->open[reader->depth - 1].place, "this %c is never closed",
                                             reader->open[reader->depth - 1].bracket));
}

bool typed_query_read(typed_query_t *typed, const char *query, const char *name, err_t *err) {
    const bool pipeline = query[strspn(query, TYPED_QUERY_BLANKS)] == '[';
    reader_t reader = {.to = typed, .at = query, .name = name, .place = {1, 1}, .err = err};
    *typed = (typed_query_t){.count = 0};
    return put_words(typed, "suite: own\nqueries:\n  - name: query\n    ", reader.place, err) &&
           put_words(typed,
                     pipeline ? "documents: unknown\n    pipeline: "
                              : "documents: returned\n    find: {filter: ",
                     reader.place, err) &&
           take_all(&reader) && put_words(typed, pipeline ? "\n" : "}\n", reader.place, err) &&
           (!typed->text.lacking || err_memory(err, typed->text.lacking));
}

void typed_query_free(typed_query_t *typed) {
    text_free(&typed->text);
    free(typed->places);
    *typed = (typed_query_t){.count = 0};
}
