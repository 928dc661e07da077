/* The options of a guess. They are read before any input is opened, so that mistakes in them are reported first.
 * The second line of a guessed format file names them as in a shell; guess_options_agree compares a kept format by that line. */
#include "base/chars.h"
#include "base/numbers.h"
#include "format/guess/guess.h"
#include "format/guess/guess_inner.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- the rows of --with ---- */

enum { HEADER, DELIMITER, QUOTE, ENCODING, DATES, DECIMAL, NESTED, VALIDATE, TIMEZONE };
_Static_assert(offsetof(guess_options_t, validate) == offsetof(guess_options_t, words) + VALIDATE,
               "the order of the members");

static const char *const header_words[] = {"yes", "no"}, *const quote_words[] = {"double", "single", "none"},
                         *const date_words[] = {"dmy", "mdy", "ymd"}, *const decimal_words[] = {".", ","},
                         *const switch_words[] = {"no", "yes"};

static const struct {
    const char *option; /* "with " and the key */
    const char *const *words;
    size_t count;
    const char *more; /* other values that it takes, for the sentence that lists its words */
} rows[GUESS_KEYS] = {
    [HEADER] = {"with header", header_words, 2, ", or the number of a line"},
    [DELIMITER] = {"with delimiter", guess_delimiter_words, GUESS_DELIMITERS, ""},
    [QUOTE] = {"with quote", quote_words, 3, ""},
    [ENCODING] = {"with encoding", encoding_names, ENCODING_WINDOWS_1252_NOT_UTF8,
                  ", and no encoding without shift states that iconv knows (iconv -l)"},
    [DATES] = {"with dates", date_words, 3, ""},
    [DECIMAL] = {"with decimal", decimal_words, 2, ""},
    [NESTED] = {"with nested", switch_words, 2, ""},
    [VALIDATE] = {"with validate", switch_words, 2, ""},
    [TIMEZONE] = {.option = "with timezone"},
};

static bool read_value(guess_options_t *options, size_t key, const char *text, err_t *err) {
    uint64_t line = 0;
    const bool is_line = key == HEADER && units_parse_count(text, &line) && line && line <= UINT32_MAX,
               is_charset = key == ENCODING && strcasecmp(text, "latin1") != 0 &&
                            strcasecmp(text, "windows-1252") != 0 && encoding_iconv_knows(text);
    const char *word = is_line ? "yes" : key == DELIMITER && strcmp(text, "\t") == 0 ? "tab" : text;
    const int number =
        is_charset ? 0 : 1 + choose_word(rows[key].option, word, rows[key].words, rows[key].count, err);
    if (!number && !is_charset)
        return err_add(err, "%s", rows[key].more);
    options->words[key] = (uint8_t)number;
    if (key == HEADER)
        options->header_line = (uint32_t)line;
    if (key == ENCODING)
        options->charset = is_charset ? text : NULL;
    return true;
}

bool guess_options_with(void *of, const char *text, err_t *err) {
    guess_options_t *options = of;
    const size_t length = strcspn(text, "=");
    const char *keys[GUESS_KEYS];
    char key[40];
    snprintf(key, sizeof key, "%.*s", (int)length, text);
    for (size_t i = 0; i < GUESS_KEYS; i++)
        keys[i] = rows[i].option + strlen("with ");
    const int row = choose_word("with", key, keys, GUESS_KEYS, err);
    const char *value = text + length + 1;
    if (row < 0)
        return false;
    if (!text[length])
        return err_set(err, STATUS_USAGE, "--with %s needs a value: --with %s=...", key, key);
    if (row == TIMEZONE) {
        zone_t *const zone = schema_read_zone(value, err);
        if (!zone)
            return err_where(err, "--with timezone");
        free(zone);
        options->timezone = value;
    } else if (!read_value(options, (size_t)row, value, err)) {
        return false;
    }
    options->said[row] = text;
    return true;
}

bool guess_options_bad_value(void *of, const char *text, err_t *err) {
    guess_options_t *options = of;
    const char *instead = schema_gone(text);
    if (instead)
        return err_set(err, STATUS_USAGE, "--on-bad-value %s is gone: %s", text, instead);
    const int chosen = choose_word("on-bad-value", text, schema_bad_values, BAD_VALUES, err);
    options->bad_value = chosen < 0 ? options->bad_value : (bad_value_t)chosen;
    return options->bad_value_given = chosen >= 0;
}

const char *guess_options_said(const guess_options_t *options, bool of_text) {
    const size_t count = of_text ? VALIDATE : GUESS_KEYS;
    size_t i = 0;
    while (i < count && !options->said[i])
        i++;
    return i < count ? rows[i].option : NULL;
}

bool guess_options_check(guess_options_t *options, char *const *types, size_t count, const char *format,
                         err_t *err) {
    const char *said = guess_options_said(options, false);
    options->types = types;
    options->type_count = count;
    return !format || !(said || count) ||
           err_set(err, STATUS_USAGE, "--%s is for guessing, and --format %s says all: leave one of them out",
                   said ? said : "type", format);
}

/* An option in a text, in quotes where a shell needs them. */
typedef void put_fn(text_t *text, const char *option, const char *value);

static void put_guessing(text_t *text, const guess_options_t *options, put_fn *put) {
    for (size_t i = 0; i < GUESS_KEYS; i++)
        put(text, "--with", options->said[i]);
    for (size_t i = 0; i < options->type_count; i++)
        put(text, "--type", options->types[i]);
}

void guess_options_quote(text_t *line, const guess_options_t *options) {
    put_guessing(line, options, shell_quote_option);
    if (options->bad_value_given)
        shell_quote_option(line, "--on-bad-value", schema_bad_values[options->bad_value]);
}

/* As a format file has it: without line ends. */
static void put_escaped(text_t *yaml, const char *option, const char *value) {
    text_t line = {.length = 0};
    shell_quote_option(&line, option, value);
    const size_t room = 4 * line.length + 1;
    if (line.length && text_grow(yaml, room))
        yaml->length += strlen(escape_text(yaml->bytes + yaml->length, room, line.bytes, line.length));
    text_miss(yaml, &line);
    text_free(&line);
}

void type_spec_name(text_t *yaml, const type_spec_t *specs, size_t count) {
    for (size_t i = 0; i < count; i++)
        put_escaped(yaml, "--type", specs[i].taken ? specs[i].text : NULL);
}

void guess_options_name(text_t *yaml, const guess_options_t *options) {
    if (!guess_options_said(options, false) && !options->type_count)
        return;
    text_append(yaml, "# with");
    put_guessing(yaml, options, put_escaped);
    text_append(yaml, "\n");
}

/* True if a --type is about a column that the kept format lacks. */
static bool is_of_new(const schema_t *schema, const char *text) {
    type_spec_t spec;
    err_t ignored;
    bool known = !schema_is_named(schema) || !type_spec_read(text, &spec, &ignored);
    if (known)
        return false;
    for (size_t i = 0; i < schema->field_count; i++)
        known |= strcmp(schema->fields[i].name, spec.name) == 0 ||
                 words_find(&schema->fields[i].columns, ENCODING_NONE, (const uint8_t *)spec.name,
                            strlen(spec.name)) >= 0;
    free(spec.name);
    return !known;
}

const char *guess_options_unused(const guess_options_t *options, const schema_t *schema) {
    for (size_t i = 0; i < options->type_count; i++)
        if (is_of_new(schema, options->types[i]))
            return options->types[i];
    return NULL;
}

bool guess_options_agree(const guess_options_t *options, const schema_t *schema, const char *yaml,
                         const char *what, err_t *err) {
    const char *named = strstr(yaml, "\n# with "), *kept = named ? named + 3 : "without options";
    text_t line = {.length = 0};
    bool ok = true;
    text_print(&line, "%.*s ", (int)strcspn(kept, "\n"), kept);
    for (size_t i = 0; ok && i < GUESS_KEYS + options->type_count; i++) {
        const bool with = i < GUESS_KEYS;
        const char *value = with ? options->said[i] : options->types[i - GUESS_KEYS];
        text_t item = {.length = 0};
        put_escaped(&item, with ? "--with" : "--type", value);
        text_append(&item, " ");
        if (line.lacking || item.lacking)
            ok = err_memory(err, line.lacking + item.lacking);
        else if (value && !strstr(line.bytes, item.bytes) && (with || !is_of_new(schema, value)))
            ok = err_set(err, STATUS_USAGE, "%.*s: %s was guessed %.*s: " GUESS_ANEW, (int)item.length - 2,
                         item.bytes + 1, what, (int)line.length - 1, line.bytes);
        text_free(&item);
    }
    text_free(&line);
    return ok;
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

#define GUESSED_TYPES (~(1u << TYPE_LENGTH)) /* a field of a length is of fixed width */

static const schema_type_t *find_type(const char *word) {
    return schema_type_find(word, strcspn(word, "("), GUESSED_TYPES);
}

/* Reads TYPE or TYPE(PATTERN). */
static bool read_type(type_spec_t *spec, char *at, err_t *err) {
    char *const open = at + strcspn(at, "("), *const end = open + strlen(open);
    spec->type = !*open || end[-1] == ')' ? find_type(at) : NULL;
    if (!spec->type)
        return err_set(err, STATUS_USAGE, "--type '%s': '%s' is not a type; types are %s", spec->text, at,
                       schema_type_words(GUESSED_TYPES).text);
    spec->pattern = *open ? open + 1 : NULL;
    if (*open)
        end[-1] = '\0';
    return true;
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
    spec->key = find_type(at) ? NULL : take_word(&at);
    return (spec->key && !*at) || read_type(spec, at, err);
}

bool guess_options_type(const char *text, err_t *err) {
    type_spec_t spec;
    const bool ok = type_spec_read(text, &spec, err);
    free(spec.name);
    return ok;
}
