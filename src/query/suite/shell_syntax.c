#include "query/suite/shell_syntax.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static const char a_date[] = "{$date: \"2014-01-31T12:30:00Z\"}", an_id[] = "{$oid: \"...\"}",
                  a_long[] = "{$numberLong: \"...\"}", an_int[] = "{$numberInt: \"...\"}",
                  a_double[] = "{$numberDouble: \"...\"}", a_decimal[] = "{$numberDecimal: \"...\"}",
                  a_uuid[] = "{$uuid: \"...\"}", a_binary[] = "{$binary: {base64: \"...\", subType: \"00\"}}",
                  a_timestamp[] = "{$timestamp: {t: SECONDS, i: NUMBER}}", least[] = "{$minKey: 1}",
                  greatest[] = "{$maxKey: 1}", infinite[] = "{$numberDouble: Infinity}",
                  below[] = "{$numberDouble: -Infinity}", no_number[] = "{$numberDouble: NaN}",
                  anything[] = "a value of YAML or of Extended JSON", a_number[] = "the number itself";

static const char a_regex[] = "{$regularExpression: {pattern: \"...\", options: \"i\"}}";

static const struct {
    const char *name, *instead;
} calls[] = {
    {"ISODate", a_date},       {"Date", a_date},         {"ObjectId", an_id},
    {"NumberLong", a_long},    {"Long", a_long},         {"NumberInt", an_int},
    {"Int32", an_int},         {"Double", a_double},     {"NumberDecimal", a_decimal},
    {"Decimal128", a_decimal}, {"UUID", a_uuid},         {"BinData", a_binary},
    {"HexData", a_binary},     {"Binary", a_binary},     {"Timestamp", a_timestamp},
    {"RegExp", a_regex},       {"BSONRegExp", a_regex},  {"MinKey", least},
    {"MaxKey", greatest},      {"Number", a_number},     {"BigInt", a_long},
    {"parseInt", a_number},    {"parseFloat", a_number}, {"Math", a_number},
};

static const struct {
    const char *word, *instead;
} words[] = {
    {"undefined", "null"}, {"Infinity", infinite}, {"+Infinity", infinite}, {"-Infinity", below},
    {"inf", infinite},     {"Inf", infinite},      {"INF", infinite},       {"+inf", infinite},
    {"-inf", below},       {"-Inf", below},        {"-INF", below},         {"NaN", no_number},
    {"nan", no_number},    {"NAN", no_number},     {"MinKey", least},       {"MaxKey", greatest},
};

static const char *past_blanks(const char *text) {
    return text + strspn(text, " \t\r\n");
}

static size_t name_length(const char *text) {
    size_t length = 0;
    while (isalnum((unsigned char)text[length]) || (text[length] && strchr("_$.", text[length])))
        length++;
    return length;
}

/* ISODate("..."), new Date(...), Date.now(), of which a comma may have cut something off. */
static const char *instead_of_call(const char *text) {
    const bool made = strncmp(text, "new", 3) == 0 && past_blanks(text + 3) != text + 3;
    if (made)
        text = past_blanks(text + 3);
    const size_t length = name_length(text), first = strcspn(text, ".");
    if (!length || *(made ? past_blanks(text + length) : text + length) != '(' ||
        (made && !isupper((unsigned char)*text)))
        return NULL;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strlen(calls[i].name) == (first < length ? first : length) &&
            strncmp(text, calls[i].name, strlen(calls[i].name)) == 0)
            return calls[i].instead;
    return made ? anything : NULL;
}

/* /^a/, /a b/i, /a\/b/; not /var/log or /usr/bin/ */
static bool is_regex(const char *text) {
    const char *const last = strrchr(text, '/');
    for (const char *at = text + 1; *text == '/' && at < last; at++)
        if (*at == '/' && at[-1] != '\\')
            return false;
    return *text == '/' && last > text + 1 && strspn(last + 1, "dgimsuvyx") == strlen(last + 1);
}

static const char *past_digits(const char *text, int least_count, int most_count) {
    int count = 0;
    while (text && count < most_count && isdigit((unsigned char)*text)) {
        text++;
        count++;
    }
    return count < least_count ? NULL : text;
}

/* 2024-05-01, 2024-05-01T12:30:00Z: for YAML a moment. */
static bool is_day(const char *text) {
    const char *at = past_digits(text, 4, 4);
    at = at && *at == '-' ? past_digits(at + 1, 1, 2) : NULL;
    at = at && *at == '-' ? past_digits(at + 1, 1, 2) : NULL;
    if (!at || !*at)
        return at != NULL;
    if (*at != 'T' && *at != 't' && *at != ' ')
        return false;
    at = past_digits(past_blanks(at + 1), 1, 2);
    return at && *at == ':' && strspn(at, "0123456789:.+-Zz ") == strlen(at);
}

/* 1_000, 1_000.5: a number for YAML and JavaScript */
static bool is_grouped(const char *text) {
    text += *text == '-' || *text == '+';
    const char *const point = strchr(text, '.');
    return isdigit((unsigned char)*text) && strchr(text, '_') && (!point || !strchr(point + 1, '.')) &&
           strspn(text, "0123456789_.") == strlen(text);
}

/* 5n */
static bool is_big(const char *text) {
    text += *text == '-' || *text == '+';
    const size_t digits = strspn(text, "0123456789");
    return digits && strcmp(text + digits, "n") == 0;
}

/* 60*1000, 0x10, 0b1 */
static bool is_reckoned(const char *text) {
    text += *text == '-' || *text == '+';
    const size_t digits = strspn(text, "0123456789.");
    return digits &&
           (*past_blanks(text + digits) == '*' || (*text == '0' && text[1] && strchr("xXoObB", text[1])));
}

const char *shell_syntax(const char *text) {
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i].word) == 0)
            return words[i].instead;
    return is_regex(text)                          ? a_regex
           : is_day(text)                          ? a_date
           : is_big(text)                          ? a_long
           : is_grouped(text) || is_reckoned(text) ? a_number
                                                   : instead_of_call(text);
}

const char *shell_syntax_begins(const char *text) {
    return *text == '/' ? a_regex : is_reckoned(text) ? a_number : instead_of_call(text);
}
