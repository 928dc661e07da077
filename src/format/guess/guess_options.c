#include "format/guess/guess_options.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/guess/structure/guess_structure.h"
#include "format/guess/type_spec.h"
#include "format/schema/schema.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool read_dates(void *options, const char *text, err_t *err) {
    static const char *const words[] = {"dmy", "mdy", "ymd"};
    const int chosen = choose_word("with dates", text, words, 3, err);
    if (chosen >= 0)
        ((guess_options_t *)options)->dates = chosen == 1 ? GUESS_MDY : chosen == 2 ? GUESS_YMD : GUESS_DMY;
    return chosen >= 0;
}

static bool read_header(void *options, const char *text, err_t *err) {
    static const char *const words[] = {"yes", "no"};
    guess_options_t *guess = options;
    uint64_t line = 0;
    const bool is_line = units_parse_count(text, &line) && line && line <= UINT32_MAX;
    const int chosen = is_line ? 0 : choose_word("with header", text, words, 2, err);
    if (chosen < 0)
        return err_add(err, ", or the number of a line");
    guess->header_line = is_line ? (uint32_t)line : 0;
    guess->header = chosen == 1 ? GUESS_NO_HEADER : GUESS_HEADER;
    return true;
}

static bool read_decimal(void *options, const char *text, err_t *err) {
    static const char *const words[] = {".", ","};
    const int chosen = choose_word("with decimal", text, words, 2, err);
    if (chosen >= 0)
        ((guess_options_t *)options)->decimal = chosen == 1 ? ',' : '.';
    return chosen >= 0;
}

static bool read_delimiter(void *options, const char *text, err_t *err) {
    const int chosen = choose_word("with delimiter", strcmp(text, "\t") == 0 ? "tab" : text,
                                   guess_delimiter_words, GUESS_DELIMITERS, err);
    if (chosen >= 0)
        ((guess_options_t *)options)->delimiter = guess_delimiter_sign((size_t)chosen);
    return chosen >= 0;
}

static const char *const quote_words[] = {"double", "single", "none"}, *const quotes[] = {"\"", "'", ""};

static bool read_quote(void *options, const char *text, err_t *err) {
    const int chosen = choose_word("with quote", text, quote_words, 3, err);
    if (chosen >= 0)
        ((guess_options_t *)options)->quote = quotes[chosen];
    return chosen >= 0;
}

const char *guess_options_quote_word(char quote) {
    size_t at = 0;
    while (at < 2 && *quotes[at] != quote)
        at++;
    return quote_words[at];
}

static bool read_encoding(void *of, const char *text, err_t *err) {
    guess_options_t *options = of;
    if (strcasecmp(text, "latin1") != 0 && strcasecmp(text, "windows-1252") != 0 &&
        encoding_iconv_knows(text)) {
        options->charset = text;
        return true;
    }
    const int chosen =
        choose_word("with encoding", text, encoding_names, ENCODING_WINDOWS_1252_NOT_UTF8, err);
    if (chosen < 0)
        return err_add(err, ", and no encoding without shift states that iconv knows (iconv -l)");
    options->encoding = (encoding_t)chosen;
    return options->encoding_given = true;
}

static bool read_nested(void *options, const char *text, err_t *err) {
    static const char *const words[] = {"no", "yes"};
    const int chosen = choose_word("with nested", text, words, 2, err);
    if (chosen >= 0)
        ((guess_options_t *)options)->nested = chosen == 1;
    return chosen >= 0;
}

static bool read_validate(void *options, const char *text, err_t *err) {
    static const char *const words[] = {"no", "yes"};
    const int chosen = choose_word("with validate", text, words, 2, err);
    if (chosen >= 0)
        ((guess_options_t *)options)->validate = chosen == 1;
    return chosen >= 0;
}

static const struct {
    const char *key;
    bool (*read)(void *options, const char *text, err_t *err);
} keys[] = {{"header", read_header},     {"delimiter", read_delimiter}, {"quote", read_quote},
            {"encoding", read_encoding}, {"dates", read_dates},         {"decimal", read_decimal},
            {"nested", read_nested},     {"validate", read_validate}};
enum { KEYS = sizeof keys / sizeof *keys };

bool guess_options_with(void *options, const char *text, err_t *err) {
    const size_t length = strcspn(text, "=");
    const char *names[KEYS];
    char name[40];
    snprintf(name, sizeof name, "%.*s", (int)length, text);
    for (size_t i = 0; i < KEYS; i++) {
        names[i] = keys[i].key;
        if (strcmp(keys[i].key, name) == 0)
            return text[length]
                       ? keys[i].read(options, text + length + 1, err)
                       : err_set(err, STATUS_USAGE, "--with %s needs a value: --with %s=...", name, name);
    }
    return choose_word("with", name, names, KEYS, err) >= 0;
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

bool guess_options_type(const char *text, err_t *err) {
    type_spec_t spec;
    const bool ok = type_spec_read(text, &spec, err);
    type_spec_free(&spec);
    return ok;
}

/* Mistakes in them are told before anything is read. */
static bool check_types(const guess_options_t *options, err_t *err) {
    bool ok = true;
    for (size_t i = 0; ok && i < options->type_count; i++)
        ok = guess_options_type(options->types[i], err);
    return ok;
}

const char *guess_options_of_text(const guess_options_t *options) {
    return options->dates                                ? "with dates"
           : options->header                             ? "with header"
           : options->decimal                            ? "with decimal"
           : options->delimiter                          ? "with delimiter"
           : options->quote                              ? "with quote"
           : options->encoding_given || options->charset ? "with encoding"
           : options->nested                             ? "with nested"
                                                         : NULL;
}

bool guess_options_check(guess_options_t *options, char *const *types, size_t count, const char *format,
                         err_t *err) {
    options->types = types;
    options->type_count = count;
    const char *of_text = guess_options_of_text(options), *given = of_text             ? of_text
                                                                   : options->validate ? "with validate"
                                                                   : count             ? "type"
                                                                                       : NULL;
    return !format || !given
               ? check_types(options, err)
               : err_set(err, STATUS_USAGE,
                         "--%s is for guessing, and --format %s says all: leave one of them out", given,
                         format);
}
