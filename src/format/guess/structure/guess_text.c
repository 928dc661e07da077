#include "base/chars.h"
#include "format/cut/bson_span.h"
#include "format/cut/json_span.h"
#include "format/guess/structure/guess_structure.h"
#include "format/record/dialect.h"
#include "format/values/digits.h"

#include <string.h>

enum { LOOK_AT = 64 * 1024 };

static bool refuse_kind(const char *name, const char *kind, err_t *err) {
    return err_set(err, STATUS_INPUT,
                   "%.1000s: looks like %s, and not like a delimited text; give --format if it is one", name,
                   kind);
}

void guess_first_bytes(const uint8_t *text, size_t length, uint8_t *first, uint8_t *second) {
    const uint8_t *const end = text + length, *at = text + json_span_begins(text, length);
    *first = at < end ? *at : 0;
    at = at < end ? lines_blanks(at + 1, end) : end;
    *second = at < end ? *at : 0;
}

bool guess_is_named_bson(const char *name) {
    const char *end = strstr(name, ".bson");
    return end && (!end[5] || (end[5] == '.' && !strpbrk(end, "/!")));
}

bool guess_is_empty(const uint8_t *text, size_t length) {
    size_t at = lines_bom(text, length);
    while (at < length && (text[at] == '\n' || text[at] == '\r'))
        at++;
    return at == length;
}

/* The length of the line at `at`, without blanks and commas at its end. */
static size_t line_length(const uint8_t *at, const uint8_t *end) {
    const uint8_t *feed = memchr(at, '\n', (size_t)(end - at));
    size_t count = (size_t)((feed ? feed : end) - at);
    while (count && (json_span_is_blank(at[count - 1]) || at[count - 1] == ','))
        count--;
    return count;
}

/* True if the first line that is not blank opens an array of JSON: a bracket alone, or a whole array. */
static bool is_array(const uint8_t *text, size_t length, uint8_t second) {
    static const char *const words[] = {"null", "true", "false"};
    const uint8_t *const end = text + length, *at = text + json_span_begins(text, length);
    const size_t count = line_length(at, end);
    bool value = second == '[' || second == '-' || second == ']' || digits_is_one(second);
    for (size_t i = 0; count && i < sizeof words / sizeof *words; i++) {
        const uint8_t *word = lines_blanks(at + 1, end), *after = word + strlen(words[i]);
        value |= after < at + count && memcmp(word, words[i], strlen(words[i])) == 0 &&
                 (*after == ',' || *after == ']' || json_span_is_blank(*after));
    }
    return value && (count == 1 || (count && at[count - 1] == ']'));
}

/* {'a': 1} and {a: 1}, as Python and JavaScript print objects. */
static bool is_object(const uint8_t *text, size_t length, uint8_t second) {
    const size_t count = line_length(text, text + length);
    return (second == '\'' || second == '_' || (second >= 'A' && second <= 'z')) && count &&
           text[count - 1] == '}' && memchr(text, ':', count);
}

/* <DATE>,<TIME>: names in brackets. */
static bool is_row_of_brackets(const uint8_t *text, size_t length) {
    static const char *const between[] = {">,<", ">;<", ">\t<", ">|<"};
    const uint8_t *feed = memchr(text, '\n', length);
    bool any = false;
    for (size_t i = 0; i < sizeof between / sizeof *between; i++)
        any |= memmem(text, feed ? (size_t)(feed - text) : length, between[i], 3) != NULL;
    return any;
}

/* True if most lines end with CR CR LF, as a program writes that makes CR LF of each LF, and reads lines with CR LF. Lines
 * within quotes then end with CR LF. */
static bool has_lines_of_two_cr(const uint8_t *text, size_t length) {
    size_t lines = 0, with_two = 0;
    for (const uint8_t *at = text, *feed; (feed = memchr(at, '\n', (size_t)(text + length - at)));
         at = feed + 1) {
        lines++;
        with_two += feed - at >= 2 && feed[-1] == '\r' && feed[-2] == '\r';
    }
    return with_two > lines / 2;
}

bool guess_refuse_two_cr(const char *name, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: lines of it end with CR CR LF (bytes 0d 0d 0a), but only LF and CR LF end a line here; "
        "make each an LF first (sed 's/\\r*$//'), or pipe that in and name the input '-'",
        name);
}

bool guess_refuse_cr(const char *name, err_t *err) {
    return err_set(
        err, STATUS_INPUT,
        "%.1000s: lines of it end with CR alone (byte 0d), and others with LF; make "
        "each CR an LF first (tr '\\r' '\\n'), or pipe that in and name the input '-'. If the CRs are parts "
        "of "
        "values, give --format",
        name);
}

bool guess_is_text(const char *name, const uint8_t *text, size_t length, err_t *err) {
    const size_t head = length < LOOK_AT ? length : LOOK_AT;
    if (memchr(text, 0, head) && bson_span_begins_broken(text, length))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: looks like BSON, and its first document is broken: give --format bson, by which "
            "that is a reject and the others are read, or get the file again",
            name);
    if (memchr(text, 0, head) && guess_is_named_bson(name))
        return dialect_refuse_bson(name, text, length, err);
    if (memchr(text, 0, head))
        return err_set(
            err, STATUS_INPUT,
            "%.1000s: holds NUL bytes, as no delimited text does: its format cannot be guessed; give "
            "--format",
            name);
    if (has_lines_of_two_cr(text, head))
        return guess_refuse_two_cr(name, err);
    uint8_t first, second;
    guess_first_bytes(text, head, &first, &second);
    if (!first)
        return err_set(err, STATUS_INPUT,
                       "%.1000s: holds no record, so its format cannot be guessed; give --format", name);
    if (first == '[' && (second == '"' || is_array(text, head, second)))
        return refuse_kind(name, "JSON without objects", err);
    if (first == '{' && is_object(text, head, second))
        return refuse_kind(name, "objects of Python or JavaScript (JSON has its keys in double quotes)", err);
    if (first == '<' && !is_row_of_brackets(text, head) &&
        (second == '?' || second == '!' || (second >= 'A' && second <= 'z')))
        return refuse_kind(name, "XML or HTML", err);
    return true;
}

const char *guess_shown(char *out, size_t room, const char *text, size_t length) {
    enum { SHOWN = 40 };
    const bool cut = length > SHOWN;
    length = cut ? SHOWN : length;
    while (cut && length && ((uint8_t)text[length] & 0xC0) == 0x80)
        length--;
    return escape_text(out, room, text, length);
}
