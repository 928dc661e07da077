#include "query/suite/typed_query.h"
#include "base/chars/escape.h"
#include "base/chars/shell_syntax.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

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
    bool key;           /* in a map: what comes is a key */
    yaml_place_t named; /* where a key began whose colon has not come; line 0: none did */
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

/* Takes one byte; as what it is, or as a blank: a query is one line for YAML, so its lines need no indent. */
static bool take(reader_t *reader, bool blank) {
    const char byte = *reader->at++;
    const bool ok = put(reader->to, blank || is_blank(byte) ? ' ' : byte, reader->place, reader->err);
    if (byte == '\n')
        reader->place = (yaml_place_t){.line = reader->place.line + 1, .column = 1};
    else
        reader->place.column += ((unsigned char)*reader->at & 0xC0) != 0x80;
    return ok;
}

static bool take_quoted(reader_t *reader) {
    const char quote = *reader->at;
    const yaml_place_t place = reader->place;
    bool ok = take(reader, false);
    while (ok && *reader->at && *reader->at != quote) {
        if (quote == '"' && *reader->at == '\\' && reader->at[1])
            ok = take(reader, false);
        ok = ok && take(reader, false);
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

static bool take_plain(reader_t *reader) {
    const char *const instead = reader->key ? NULL : shell_syntax_begins(reader->at);
    if (strncmp(reader->at, "//", 2) == 0 || strncmp(reader->at, "/*", 2) == 0)
        return COMPLAIN(reader->place, "a comment begins with # here");
    bool ok = !instead || refuse_shell(reader, instead);
    while (ok && *reader->at && !strchr(reader->key ? ",[]{}:" : ",[]{}", *reader->at) && !is_comment(reader))
        ok = take(reader, false);
    return ok;
}

/* YAML would take it for a key of the value null. */
static bool check_named(const reader_t *reader) {
    return !reader->named.line || COMPLAIN(reader->named, "this key has no value");
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
    return take(reader, false);
}

static bool take_next(reader_t *reader) {
    const char next = *reader->at;
    if (strchr(",]}", next) && !check_named(reader))
        return false;
    if (reader->key && !reader->named.line && !strchr(",[]{}:", next) && !is_blank(next))
        reader->named = reader->place;
    if (next == '[' || next == '{')
        return open_bracket(reader);
    if (next == ']' || next == '}')
        return close_bracket(reader);
    if (next == '"' || next == '\'')
        return take_quoted(reader);
    if (next == ',')
        reader->key = in_map(reader);
    if (next == ':' && reader->key) {
        reader->key = false;
        reader->named.line = 0; /* for YAML the colon of a key is one before a blank */
        return take(reader, false) && put(reader->to, ' ', reader->place, reader->err);
    }
    return next == ',' || next == ':' || is_blank(next) ? take(reader, false) : take_plain(reader);
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
                     pipeline ? "pipeline: " : "documents: returned\n    find: {filter: ", reader.place,
                     err) &&
           take_all(&reader) && put_words(typed, pipeline ? "\n" : "}\n", reader.place, err) &&
           (!typed->text.lacking || err_memory(err, typed->text.lacking));
}

void typed_query_free(typed_query_t *typed) {
    text_free(&typed->text);
    free(typed->places);
    *typed = (typed_query_t){.count = 0};
}
