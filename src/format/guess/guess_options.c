/* The options of a guess. They are read before any input is opened, so that mistakes in them are reported first.
 * The second line of a guessed format file names them as in a shell; guess_options_agree compares a kept format by that line. */
#include "format/guess/guess_options.h"
#include "base/chars.h"
#include "base/numbers.h"
#include "format/guess/structure/guess_structure.h"
#include "format/values/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the rows of --with ---- */

enum { HEADER, DELIMITER, QUOTE, ENCODING, DATES, DECIMAL, NESTED, VALIDATE, KEYS, OF_TEXT = VALIDATE };

static const char *const header_words[] = {"yes", "no"}, *const quote_words[] = {"double", "single", "none"},
                         *const quotes[] = {"\"", "'", ""}, *const date_words[] = {"dmy", "mdy", "ymd"},
                         *const decimal_words[] = {".", ","}, *const switch_words[] = {"no", "yes"};

static const struct {
    const char *option; /* "with " and the key */
    const char *const *words;
    size_t count;
    const char *values; /* of the words, as the member at `offset` has them; NULL: not in one member */
    size_t offset;
    const char *more; /* other values that it takes, for the sentence that lists its words */
} rows[KEYS] = {
#define ROW(key, words, count, values, ...)                                                                  \
    { "with " #key, words, count, values, offsetof(guess_options_t, key), __VA_ARGS__ }
    [HEADER] = ROW(header, header_words, 2, "\1\2", ", or the number of a line"),
    [DELIMITER] = ROW(delimiter, guess_delimiter_words, GUESS_DELIMITERS, guess_delimiter_signs, ""),
    [QUOTE] = ROW(quote, quote_words, 3, NULL, ""),
    [ENCODING] = ROW(encoding, encoding_names, ENCODING_WINDOWS_1252_NOT_UTF8, NULL,
                     ", and no encoding without shift states that iconv knows (iconv -l)"),
    [DATES] = ROW(dates, date_words, 3, "\1\2\3", ""),
    [DECIMAL] = ROW(decimal, decimal_words, 2, ".,", ""),
    [NESTED] = ROW(nested, switch_words, 2, "\0\1", ""),
    [VALIDATE] = ROW(validate, switch_words, 2, "\0\1", ""),
#undef ROW
};

/* The value that the user gave; NULL: none. room has 16 bytes. */
static const char *said(const guess_options_t *options, size_t row, char *room) {
    if (row == HEADER && options->header_line) {
        snprintf(room, 16, "%u", options->header_line);
        return room;
    }
    if (row == QUOTE)
        return options->quote ? guess_options_quote_word(*options->quote) : NULL;
    if (row == ENCODING)
        return options->encoding_given ? encoding_names[options->encoding] : options->charset;
    const char value = ((const char *)options)[rows[row].offset];
    const char *at = value ? memchr(rows[row].values, value, rows[row].count) : NULL;
    return at ? rows[row].words[at - rows[row].values] : NULL;
}

const char *guess_options_quote_word(char quote) {
    return quote_words[quote == '"' ? 0 : quote ? 1 : 2];
}

static bool read_value(guess_options_t *options, size_t row, const char *text, err_t *err) {
    uint64_t line = 0;
    const bool is_line = row == HEADER && units_parse_count(text, &line) && line && line <= UINT32_MAX;
    const bool is_charset = row == ENCODING && strcasecmp(text, "latin1") != 0 &&
                            strcasecmp(text, "windows-1252") != 0 && encoding_iconv_knows(text);
    const char *word = is_line ? "yes" : row == DELIMITER && strcmp(text, "\t") == 0 ? "tab" : text;
    const int chosen =
        is_charset ? 0 : choose_word(rows[row].option, word, rows[row].words, rows[row].count, err);
    if (chosen < 0)
        return err_add(err, "%s", rows[row].more);
    if (row == HEADER)
        options->header_line = (uint32_t)line;
    if (row == QUOTE) {
        options->quote = quotes[chosen];
    } else if (row == ENCODING) {
        options->charset = is_charset ? text : NULL;
        options->encoding = (encoding_t)chosen;
        options->encoding_given = !is_charset;
    } else {
        ((char *)options)[rows[row].offset] = rows[row].values[chosen];
    }
    return true;
}

bool guess_options_with(void *options, const char *text, err_t *err) {
    const size_t length = strcspn(text, "=");
    const char *keys[KEYS];
    char key[40];
    snprintf(key, sizeof key, "%.*s", (int)length, text);
    for (size_t i = 0; i < KEYS; i++)
        keys[i] = rows[i].option + strlen("with ");
    const int row = choose_word("with", key, keys, KEYS, err);
    if (row < 0)
        return false;
    return text[length] ? read_value(options, (size_t)row, text + length + 1, err)
                        : err_set(err, STATUS_USAGE, "--with %s needs a value: --with %s=...", key, key);
}

bool guess_options_bad_value(void *of, const char *text, err_t *err) {
    guess_options_t *options = of;
    const char *instead = schema_gone("on_bad_value", text);
    if (instead)
        return err_set(err, STATUS_USAGE, "--on-bad-value %s is gone: %s", text, instead);
    const int chosen = choose_word("on-bad-value", text, schema_bad_values, BAD_VALUES, err);
    if (chosen < 0)
        return false;
    options->bad_value = (bad_value_t)chosen;
    return options->bad_value_given = true;
}

const char *guess_options_of_text(const guess_options_t *options) {
    char room[16];
    for (size_t i = 0; i < OF_TEXT; i++)
        if (said(options, i, room))
            return rows[i].option;
    return NULL;
}

bool guess_options_check(guess_options_t *options, char *const *types, size_t count, const char *format,
                         err_t *err) {
    const char *of_text = guess_options_of_text(options), *given = of_text             ? of_text
                                                                   : options->validate ? "with validate"
                                                                   : count             ? "type"
                                                                                       : NULL;
    options->types = types;
    options->type_count = count;
    return !format || !given ||
           err_set(err, STATUS_USAGE, "--%s is for guessing, and --format %s says all: leave one of them out",
                   given, format);
}

/* Appends the option of this number, from 0; nothing if the user has not given it. False: there is no such number. */
static bool quote_one(text_t *line, const guess_options_t *options, size_t at) {
    char room[16], word[80];
    if (at < KEYS) {
        const char *value = said(options, at, room);
        snprintf(word, sizeof word, "%s=%s", rows[at].option + strlen("with "), value ? value : "");
        shell_quote_option(line, "--with", value ? word : NULL);
    } else if (at < KEYS + options->type_count) {
        shell_quote_option(line, "--type", options->types[at - KEYS]);
    }
    return at < KEYS + options->type_count;
}

void guess_options_quote(text_t *line, const guess_options_t *options) {
    for (size_t i = 0; quote_one(line, options, i); i++) {
    }
    if (options->bad_value_given)
        shell_quote_option(line, "--on-bad-value", schema_bad_values[options->bad_value]);
}

/* Appends a text as a comment of a format file shows it: without line ends. */
static void append_shown(text_t *out, const text_t *from) {
    for (size_t i = 0; i < from->length;) {
        char piece[ESCAPE_PIECE];
        i += escape_shown((const uint8_t *)from->bytes + i, from->length - i, piece);
        text_append(out, piece);
    }
    text_miss(out, from);
}

void guess_options_name(text_t *yaml, const guess_options_t *options) {
    text_t line = {.length = 0};
    guess_options_quote(&line, options);
    text_append(yaml, line.length ? "# with" : "");
    append_shown(yaml, &line);
    text_append(yaml, line.length ? "\n" : "");
    text_free(&line);
}

/* True if the line names the option. */
static bool has_option(const char *line, size_t length, const text_t *option) {
    const char *at = line;
    while ((at = memmem(at, length - (size_t)(at - line), option->bytes, option->length))) {
        at += option->length;
        if (at == line + length || strncmp(at, " --", 3) == 0)
            return true;
    }
    return false;
}

bool guess_options_agree(const guess_options_t *options, const schema_t *schema, const char *yaml,
                         const char *what, err_t *err) {
    const char *named = strstr(yaml, "\n# with"), *line = named ? named + strlen("\n# with") : "";
    const size_t length = strcspn(line, "\n");
    text_t option = {.length = 0}, shown = {.length = 0};
    bool ok = true;
    for (size_t i = 0; ok && quote_one(&option, options, i); i++) {
        append_shown(&shown, &option);
        if (shown.lacking)
            ok = err_memory(err, shown.lacking);
        else if (shown.length && !has_option(line, length, &shown))
            ok = err_set(err, STATUS_USAGE, "%s: %s was guessed with%s%.*s: " GUESS_ANEW, shown.bytes + 1,
                         what, length ? "" : "out options", (int)length, line);
        text_free(&option);
        text_free(&shown);
    }
    if (!ok || !options->bad_value_given || options->bad_value == schema->bad_value)
        return ok;
    return err_set(err, STATUS_USAGE, "--on-bad-value %s: %s has %s: " GUESS_ANEW,
                   schema_bad_values[options->bad_value], what, schema_bad_values[schema->bad_value]);
}

/* ---- one --type ---- */

/* Ends the text at its first single colon, and makes one of each pair before it; *at moves past it. NULL: there is no
 * single colon, and nothing has changed. */
static char *take_word(char **at) {
    char *const word = *at, *colon = word, *to = word;
    while ((colon = strchr(colon, ':')) && colon[1] == ':')
        colon += 2;
    if (!colon)
        return NULL;
    for (const char *from = word; from < colon; from += 1 + (*from == ':'))
        *to++ = *from;
    *to = '\0';
    *at = colon + 1;
    return word;
}

static const schema_type_t *find_type(const char *word) {
    const size_t length = strcspn(word, "(");
    for (size_t i = 0; i < SCHEMA_TYPES; i++)
        if (strlen(schema_types[i].name) == length && strncmp(schema_types[i].name, word, length) == 0 &&
            schema_types[i].type != TYPE_LENGTH)
            return &schema_types[i];
    return NULL;
}

/* Reads the pattern. at: the text after the ( that follows a type. */
static bool read_pattern(type_spec_t *spec, char *at, err_t *err) {
    const size_t length = strlen(at);
    pattern_t pattern;
    if (spec->type->type != TYPE_DATE)
        return err_set(err, STATUS_USAGE, "--type '%s': a pattern goes with the types date and datetime%s",
                       spec->text,
                       spec->type->type == TYPE_BOOLEAN
                           ? "; the words of a boolean stand in a format file: true: [ja], false: [nein]"
                           : "");
    if (!length || at[length - 1] != ')')
        return err_set(err, STATUS_USAGE, "--type '%s': after the pattern a ) is missing", spec->text);
    at[length - 1] = '\0';
    spec->pattern = at;
    const char *problem = pattern_compile(at, length - 1, &pattern);
    return !problem ||
           err_set(err, STATUS_USAGE, "--type '%s': '%s' is not a date pattern: %s", spec->text, at, problem);
}

/* Reads TYPE or TYPE(PATTERN). */
static bool read_type(type_spec_t *spec, char *at, err_t *err) {
    const char *words[SCHEMA_TYPES];
    char *const pattern = at + strcspn(at, "(");
    if ((spec->type = find_type(at)))
        return !*pattern || read_pattern(spec, pattern + 1, err);
    *pattern = '\0';
    for (size_t i = 0; i < SCHEMA_TYPES; i++)
        words[i] = schema_types[i].type == TYPE_LENGTH ? "long" : schema_types[i].name;
    return err_set(err, STATUS_USAGE, "--type '%s': '%.64s' is not a type; types are " SCHEMA_TYPE_WORDS "%s",
                   spec->text, at, suggestion(at, words, SCHEMA_TYPES).text);
}

bool type_spec_read(const char *text, type_spec_t *spec, err_t *err) {
    *spec = (type_spec_t){.text = text};
    if (!utf8_valid((const uint8_t *)text, strlen(text)))
        return err_set(err, STATUS_USAGE, "--type: '%s' is not UTF-8", text);
    char *at = spec->name = strdup(text);
    if (!at)
        return err_memory(err, strlen(text));
    if (!take_word(&at) || !*at)
        return err_set(
            err, STATUS_USAGE,
            "--type: '%s' is not NAME:TYPE, NAME:TYPE(PATTERN), NAME:KEY:TYPE or NAME:KEY: (a colon "
            "within a name is written twice)",
            text);
    if (!find_type(at) && (spec->key = take_word(&at))) {
        const char *problem = schema_key_problem(spec->key, strlen(spec->key));
        if (problem)
            return err_set(err, STATUS_USAGE, "--type '%s': '%s' cannot be a document's key: %s", text,
                           spec->key, problem);
    }
    return (spec->key && !*at) || read_type(spec, at, err);
}

void type_spec_free(type_spec_t *spec) {
    free(spec->name);
    *spec = (type_spec_t){.text = NULL};
}

bool guess_options_type(const char *text, err_t *err) {
    type_spec_t spec;
    const bool ok = type_spec_read(text, &spec, err);
    type_spec_free(&spec);
    return ok;
}
