#include "query/suite/value.h"
#include "base/numbers.h"
#include "base/text.h"
#include "format/values/base64.h"
#include "format/values/hex.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* ---- values as a shell of MongoDB writes them ---- */

static const char a_date[] = "{$date: \"2014-01-31T12:30:00Z\"}", an_id[] = "{$oid: \"...\"}",
                  a_long[] = "{$numberLong: \"...\"}", an_int[] = "{$numberInt: \"...\"}",
                  a_double[] = "{$numberDouble: \"...\"}", a_decimal[] = "{$numberDecimal: \"...\"}",
                  a_uuid[] = "{$uuid: \"...\"}", a_binary[] = "{$binary: {base64: \"...\", subType: \"00\"}}",
                  a_timestamp[] = "{$timestamp: {t: SECONDS, i: NUMBER}}", least[] = "{$minKey: 1}",
                  greatest[] = "{$maxKey: 1}", an_infinite[] = "{$numberDouble: Infinity}",
                  a_negative[] = "{$numberDouble: -Infinity}", no_number[] = "{$numberDouble: NaN}",
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
} spelled[] = {
    {"undefined", "null"}, {"Infinity", an_infinite}, {"+Infinity", an_infinite}, {"-Infinity", a_negative},
    {"inf", an_infinite},  {"Inf", an_infinite},      {"INF", an_infinite},       {"+inf", an_infinite},
    {"-inf", a_negative},  {"-Inf", a_negative},      {"-INF", a_negative},       {"NaN", no_number},
    {"nan", no_number},    {"NAN", no_number},        {"MinKey", least},          {"MaxKey", greatest},
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
    for (size_t i = 0; i < sizeof spelled / sizeof *spelled; i++)
        if (strcmp(text, spelled[i].word) == 0)
            return spelled[i].instead;
    return is_regex(text)                          ? a_regex
           : is_day(text)                          ? a_date
           : is_big(text)                          ? a_long
           : is_grouped(text) || is_reckoned(text) ? a_number
                                                   : instead_of_call(text);
}

const char *shell_syntax_begins(const char *text) {
    return *text == '/' ? a_regex : is_reckoned(text) ? a_number : instead_of_call(text);
}

/* ---- values of YAML ---- */

typedef struct {
    const yaml_tree_t *tree;
    const bson_t *params;     /* NULL: parameters are only checked, their values are not known */
    const char *const *names; /* of parameters, if they are checked */
    size_t name_count;
    size_t filled_bytes; /* by parameters, so far */
    err_t *err;
} reader_t;

enum { MOST_FILLED = 16 << 20 }; /* a document of a server has no more */

#define COMPLAIN(at, ...) yaml_tree_complain(reader->tree, at, reader->err, __VA_ARGS__)

static bool too_large(reader_t *reader, const yaml_item_t *at) {
    return COMPLAIN(at, "this makes a document that is too large for BSON");
}

static bool done(reader_t *reader, const yaml_item_t *at, bool appended) {
    return appended || too_large(reader, at);
}

/* ---- scalars ---- */

static bool is_one_of(const char *text, const char *const *words) {
    for (; *words; words++)
        if (strcmp(text, *words) == 0)
            return true;
    return false;
}

static bool looks_like_integer(const char *text) {
    text += *text == '-' || *text == '+';
    return *text && strspn(text, "0123456789") == strlen(text);
}

/* 1.5, 1e9, .5; not "1.2.3" or "e5", and nothing else that number_read would take (nan, infinity). */
static bool looks_like_double(const char *text, double *number) {
    static const char *const infinite[] = {".inf", ".Inf", ".INF", "+.inf", NULL};
    static const char *const below[] = {"-.inf", "-.Inf", "-.INF", NULL};
    static const char *const none[] = {".nan", ".NaN", ".NAN", NULL};
    if (is_one_of(text, infinite) || is_one_of(text, below)) {
        *number = *text == '-' ? -INFINITY : INFINITY;
        return true;
    }
    if (is_one_of(text, none)) {
        *number = NAN;
        return true;
    }
    if (!*text || strspn(text, "+-0123456789.eE") != strlen(text) || !strpbrk(text, "0123456789"))
        return false;
    return number_read(text, strlen(text), number) == strlen(text);
}

static bool append_integer(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    errno = 0;
    long long number = strtoll(node->text, NULL, 10);
    if (errno)
        return COMPLAIN(
            node,
            "%.60s does not fit into 64 bits: write a smaller number or, where a server takes it, "
            "{$numberDecimal: \"...\"}",
            node->text);
    bool small = number >= INT32_MIN && number <= INT32_MAX;
    return done(reader, node,
                small ? bson_append_int32(to, key, -1, (int32_t)number)
                      : bson_append_int64(to, key, -1, number));
}

/* named: infinity was written as such, and is not the result of an overflow. */
static bool append_number(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node,
                          double number, bool named) {
    return (isinf(number) && !named) ? COMPLAIN(node, "%s is larger than any double", node->text)
                                     : done(reader, node, bson_append_double(to, key, -1, number));
}

static bool append_scalar(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    static const char *const nulls[] = {"~", "null", "Null", "NULL", NULL};
    static const char *const truths[] = {"true", "True", "TRUE", NULL};
    static const char *const lies[] = {"false", "False", "FALSE", NULL};
    double number;
    if (!node->quoted && strlen(node->text) == node->length) {
        if (is_one_of(node->text, nulls))
            return done(reader, node, bson_append_null(to, key, -1));
        if (is_one_of(node->text, truths) || is_one_of(node->text, lies))
            return done(reader, node, bson_append_bool(to, key, -1, is_one_of(node->text, truths)));
        if (looks_like_integer(node->text))
            return append_integer(reader, to, key, node);
        if (looks_like_double(node->text, &number))
            return append_number(reader, to, key, node, number, strpbrk(node->text, "nN"));
        const char *const instead = shell_syntax(node->text);
        if (instead)
            return COMPLAIN(node, SHELL_SYNTAX_WORDS, 60, node->text, instead);
    }
    if (!bson_utf8_validate(node->text, node->length, true))
        return COMPLAIN(node, "this text is not UTF-8");
    return done(reader, node, bson_append_utf8(to, key, -1, node->text, (int)node->length));
}

/* ---- extended JSON ---- */

typedef bool append_fn(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node);

static bool is_scalar(const yaml_item_t *node) {
    return node && node->kind == YAML_ITEM_SCALAR && strlen(node->text) == node->length;
}

static bool append_int32(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    if (!is_scalar(node) || !looks_like_integer(node->text))
        return COMPLAIN(node, "$numberInt holds a whole number");
    long long number = strtoll(node->text, NULL, 10);
    if (number < INT32_MIN || number > INT32_MAX)
        return COMPLAIN(node, "%s does not fit into 32 bits", node->text);
    return done(reader, node, bson_append_int32(to, key, -1, (int32_t)number));
}

static bool append_int64(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    if (!is_scalar(node) || !looks_like_integer(node->text))
        return COMPLAIN(node, "$numberLong holds a whole number");
    errno = 0;
    long long number = strtoll(node->text, NULL, 10);
    if (errno)
        return COMPLAIN(node, "%s does not fit into 64 bits", node->text);
    return done(reader, node, bson_append_int64(to, key, -1, number));
}

static bool append_double(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    static const char *const named[] = {"Infinity", "-Infinity", "NaN", NULL};
    double number;
    if (is_scalar(node) && is_one_of(node->text, named))
        number_read(node->text, node->length, &number);
    else if (!is_scalar(node) || !looks_like_double(node->text, &number))
        return COMPLAIN(node, "$numberDouble holds a number");
    return append_number(reader, to, key, node, number, strpbrk(node->text, "nN"));
}

static bool append_decimal(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    bson_decimal128_t number;
    if (!is_scalar(node) || !bson_decimal128_from_string(node->text, &number))
        return COMPLAIN(node, "$numberDecimal holds a number");
    return done(reader, node, bson_append_decimal128(to, key, -1, &number));
}

static bool append_oid(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    bson_oid_t oid;
    if (!is_scalar(node) || !bson_oid_is_valid(node->text, node->length))
        return COMPLAIN(node, "$oid holds 24 hexadecimal digits");
    bson_oid_init_from_string(&oid, node->text);
    return done(reader, node, bson_append_oid(to, key, -1, &oid));
}

/* Reads a number of exactly `count` digits, after the text `before`. */
static bool take_digits(const char **text, const char *before, int count, int *number) {
    const char *at = *text;
    if (*before && (!*at || !strchr(before, *at++)))
        return false;
    for (*number = 0; count--; at++) {
        if (*at < '0' || *at > '9')
            return false;
        *number = *number * 10 + (*at - '0');
    }
    *text = at;
    return true;
}

/* 2014-01-31, 2014-01-31T12:30, 2014-01-31T12:30:00.250Z */
static bool read_date(const char *text, int64_t *ms) {
    struct tm day = {.tm_mday = 1};
    int thousandths = 0, digit;
    if (!take_digits(&text, "", 4, &day.tm_year) || !take_digits(&text, "-", 2, &day.tm_mon) ||
        !take_digits(&text, "-", 2, &day.tm_mday))
        return false;
    if (take_digits(&text, "T ", 2, &day.tm_hour)) {
        if (!take_digits(&text, ":", 2, &day.tm_min))
            return false;
        if (take_digits(&text, ":", 2, &day.tm_sec) && *text == '.')
            for (int scale = 100; take_digits(&text, scale == 100 ? "." : "", 1, &digit); scale /= 10)
                thousandths += scale * digit; /* BSON stores three digits: further ones are ignored */
    }
    if (*text == 'Z')
        text++;
    const struct tm wanted = day;
    day.tm_year -= 1900;
    day.tm_mon -= 1;
    const time_t at = timegm(&day);
    /* timegm takes 12:30:60 for 12:31:00, and says so in what it has been given */
    if (*text || day.tm_mday != wanted.tm_mday || day.tm_mon + 1 != wanted.tm_mon ||
        day.tm_hour != wanted.tm_hour || day.tm_min != wanted.tm_min || day.tm_sec != wanted.tm_sec)
        return false;
    *ms = (int64_t)at * 1000 + thousandths;
    return true;
}

static bool append_date(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    const yaml_item_t *number = node->kind == YAML_ITEM_MAP ? yaml_item_get(node, "$numberLong") : node;
    int64_t ms;
    if (!is_scalar(number))
        return COMPLAIN(node, "$date holds a moment, such as 2014-01-31 or 2014-01-31T12:30:00Z");
    errno = 0;
    if (looks_like_integer(number->text) && (number != node || strlen(number->text) > 4))
        ms = strtoll(number->text, NULL, 10);
    else if (!read_date(number->text, &ms))
        return COMPLAIN(node, "'%s' is not a moment; write it like 2014-01-31 or 2014-01-31T12:30:00Z",
                        number->text);
    if (errno == ERANGE)
        return COMPLAIN(node, "%s milliseconds do not fit into 64 bits", number->text);
    return done(reader, node, bson_append_date_time(to, key, -1, ms));
}

static bool append_timestamp(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    const yaml_item_t *t = node->kind == YAML_ITEM_MAP ? yaml_item_get(node, "t") : NULL;
    const yaml_item_t *i = t ? yaml_item_get(node, "i") : NULL;
    int64_t seconds, number;
    if (!i || node->count != 2)
        return COMPLAIN(node, "$timestamp holds {t: SECONDS, i: NUMBER}");
    return yaml_tree_int(reader->tree, t, 0, UINT32_MAX, &seconds, reader->err) &&
           yaml_tree_int(reader->tree, i, 0, UINT32_MAX, &number, reader->err) &&
           done(reader, node, bson_append_timestamp(to, key, -1, (uint32_t)seconds, (uint32_t)number));
}

static bool append_regex(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    const yaml_item_t *pattern = node->kind == YAML_ITEM_MAP ? yaml_item_get(node, "pattern") : NULL;
    const yaml_item_t *options = pattern ? yaml_item_get(node, "options") : NULL;
    if (!is_scalar(pattern) || (options && !is_scalar(options)) || node->count != 1u + (options != NULL))
        return COMPLAIN(node, "$regularExpression holds {pattern: TEXT, options: LETTERS}");
    /* the driver drops letters that it does not know, and the second one of two */
    for (const char *at = options ? options->text : ""; *at; at++)
        if (!strchr("imsux", *at) || strchr(at + 1, *at))
            return COMPLAIN(options, "'%s' are no options: each of the letters i, m, s, u, x at most once",
                            options->text);
    return done(reader, node, bson_append_regex(to, key, -1, pattern->text, options ? options->text : ""));
}

/* {$binary: {base64: "AQID", subType: "00"}} */
static bool append_binary(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    const yaml_item_t *text = node->kind == YAML_ITEM_MAP ? yaml_item_get(node, "base64") : NULL;
    const yaml_item_t *type = text ? yaml_item_get(node, "subType") : NULL;
    if (!is_scalar(text) || !is_scalar(type) || node->count != 2 || text->length > INT32_MAX / 2)
        return COMPLAIN(node, "$binary holds {base64: TEXT, subType: TWO HEXADECIMAL DIGITS}");
    uint8_t subtype;
    if (!hex_read_byte((const uint8_t *)type->text, type->length, &subtype))
        return COMPLAIN(type, "'%s' is not a subtype: two hexadecimal digits", type->text);
    uint8_t *bytes = malloc(text->length + 1);
    if (!bytes)
        return err_memory(reader->err, text->length + 1);
    const uint8_t *const end = base64_read((const uint8_t *)text->text, text->length, bytes);
    const bool ok =
        end ? done(reader, node,
                   bson_append_binary(to, key, -1, (bson_subtype_t)subtype, bytes, (uint32_t)(end - bytes)))
            : COMPLAIN(text, "'%.60s' is not base64", text->text);
    free(bytes);
    return ok;
}

/* {$uuid: "c8edabc3-f738-4ca3-b68d-ab92a91478a3"} */
static bool append_uuid(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    uint8_t bytes[HEX_UUID];
    if (!is_scalar(node) || !hex_read_uuid((const uint8_t *)node->text, node->length, bytes, NULL))
        return COMPLAIN(node, "$uuid holds 32 hexadecimal digits in five groups");
    return done(reader, node, bson_append_binary(to, key, -1, BSON_SUBTYPE_UUID, bytes, sizeof bytes));
}

static bool append_minkey(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    return done(reader, node, bson_append_minkey(to, key, -1));
}

static bool append_maxkey(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    return done(reader, node, bson_append_maxkey(to, key, -1));
}

/* A value may hold a parameter often, and parameters hold others: what is short to write can be very large. */
static bool fill_in(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node,
                    const bson_iter_t *value) {
    const uint32_t before = to->len;
    if (!bson_append_iter(to, key, -1, value))
        return too_large(reader, node);
    reader->filled_bytes += to->len - before;
    return reader->filled_bytes <= MOST_FILLED ||
           COMPLAIN(node, "with its parameters filled in, this takes more than %d MB", MOST_FILLED >> 20);
}

static bool append_param(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    bson_iter_t value;
    if (!is_scalar(node))
        return COMPLAIN(node, "$param holds the name of a parameter");
    if (reader->params && bson_iter_init_find(&value, reader->params, node->text))
        return fill_in(reader, to, key, node, &value);
    for (size_t i = 0; !reader->params && i < reader->name_count; i++)
        if (strcmp(reader->names[i], node->text) == 0)
            return done(reader, node, bson_append_null(to, key, -1));
    return COMPLAIN(node, "there is no parameter '%s' here%s", node->text,
                    suggestion(node->text, reader->names, reader->name_count).text);
}

static const struct {
    const char *key;
    append_fn *append;
} specials[] = {
    {"$param", append_param},
    {"$date", append_date},
    {"$oid", append_oid},
    {"$numberInt", append_int32},
    {"$numberLong", append_int64},
    {"$numberDouble", append_double},
    {"$numberDecimal", append_decimal},
    {"$timestamp", append_timestamp},
    {"$regularExpression", append_regex},
    {"$binary", append_binary},
    {"$uuid", append_uuid},
    {"$minKey", append_minkey},
    {"$maxKey", append_maxkey},
};

static append_fn *special_of(const yaml_item_t *map) {
    for (size_t i = 0; map->count == 1 && i < sizeof specials / sizeof *specials; i++)
        if (strcmp(map->first->key, specials[i].key) == 0)
            return specials[i].append;
    return NULL;
}

/* ---- maps and lists ---- */

static bool append(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node);

static bool append_children(reader_t *reader, bson_t *to, const yaml_item_t *node) {
    uint32_t number = 0;
    for (const yaml_item_t *child = node->first; child; child = child->next, number++) {
        char digits[16];
        const char *key = child->key;
        if (node->kind == YAML_ITEM_LIST)
            bson_uint32_to_string(number, &key, digits, sizeof digits);
        if (!append(reader, to, key, child))
            return false;
    }
    return true;
}

static bool append(reader_t *reader, bson_t *to, const char *key, const yaml_item_t *node) {
    append_fn *special = node->kind == YAML_ITEM_MAP ? special_of(node) : NULL;
    bson_t inner;
    if (special)
        return special(reader, to, key, node->first);
    if (node->kind == YAML_ITEM_SCALAR)
        return append_scalar(reader, to, key, node);
    bool list = node->kind == YAML_ITEM_LIST;
    if (!(list ? bson_append_array_unsafe_begin(to, key, -1, &inner)
               : bson_append_document_begin(to, key, -1, &inner)))
        return too_large(reader, node);
    bool ok = append_children(reader, &inner, node);
    ok = (list ? bson_append_array_end(to, &inner) : bson_append_document_end(to, &inner)) && ok;
    return ok;
}

bool value_append(bson_t *to, const char *key, const yaml_item_t *node, const yaml_tree_t *tree,
                  const bson_t *params, err_t *err) {
    reader_t reader = {.tree = tree, .params = params, .err = err};
    return append(&reader, to, key, node);
}

static bool document_of(reader_t *reader, bson_t *document, const yaml_item_t *node) {
    bson_t holder = BSON_INITIALIZER;
    bson_iter_t value;
    bson_init(document);
    bool ok = append(reader, &holder, "v", node) && bson_iter_init_find(&value, &holder, "v");
    if (ok && !BSON_ITER_HOLDS_DOCUMENT(&value) && !BSON_ITER_HOLDS_ARRAY(&value))
        ok = COMPLAIN(node, "a map was expected here");
    if (ok) {
        uint32_t length;
        const uint8_t *bytes;
        bson_t view;
        if (BSON_ITER_HOLDS_ARRAY(&value))
            bson_iter_array(&value, &length, &bytes);
        else
            bson_iter_document(&value, &length, &bytes);
        bson_destroy(document);
        ok = bson_init_static(&view, bytes, length);
        bson_copy_to(&view, document);
    }
    bson_destroy(&holder);
    return ok;
}

bool value_document(bson_t *document, const yaml_item_t *node, const yaml_tree_t *tree, const bson_t *params,
                    err_t *err) {
    reader_t reader = {.tree = tree, .params = params, .err = err};
    return document_of(&reader, document, node);
}

bool value_sketch(bson_t *document, const yaml_item_t *node, const yaml_tree_t *tree,
                  const char *const *names, size_t count, err_t *err) {
    reader_t reader = {.tree = tree, .names = names, .name_count = count, .err = err};
    return document_of(&reader, document, node);
}

bool value_check(const yaml_item_t *node, const yaml_tree_t *tree, const char *const *names, size_t count,
                 err_t *err) {
    reader_t reader = {.tree = tree, .names = names, .name_count = count, .err = err};
    bson_t holder = BSON_INITIALIZER;
    bool ok = append(&reader, &holder, "v", node);
    bson_destroy(&holder);
    return ok;
}

bool value_parse(bson_t *to, const char *key, const char *text, err_t *err) {
    yaml_tree_t *tree = yaml_tree_parse(text, strlen(text), key, err);
    bool ok = tree && value_append(to, key, yaml_tree_root(tree), tree, NULL, err);
    yaml_tree_destroy(tree);
    return ok;
}

/* ---- numbers of any type ---- */

static const double MOST_EXACT = 9007199254740992; /* 2^53 */

/* A decimal as whole digits times a power of ten. The digits neither begin nor end with 0, so each value has one
 * form. */
typedef struct {
    bool negative;
    char digits[BSON_DECIMAL128_STRING]; /* "0" for zero; "NaN" and "Infinity" are kept */
    bool finite;
    long exponent;
} decimal_t;

/* "-12.50E+3" */
static void read_decimal(const bson_iter_t *at, decimal_t *decimal) {
    bson_decimal128_t value;
    char text[BSON_DECIMAL128_STRING];
    const char *c = text;
    size_t count = 0;
    bool after_point = false;
    *decimal = (decimal_t){.finite = false};
    bson_iter_decimal128(at, &value);
    bson_decimal128_to_string(&value, text);
    decimal->negative = *c == '-';
    c += *c == '-';
    if (*c == 'N' || *c == 'I') {
        strcpy(decimal->digits, c);
        return;
    }
    decimal->finite = true;
    for (; (*c >= '0' && *c <= '9') || *c == '.'; c++) {
        if (*c == '.') {
            after_point = true;
            continue;
        }
        decimal->exponent -= after_point;
        if (count || *c != '0')
            decimal->digits[count++] = *c;
    }
    if (*c == 'E')
        decimal->exponent += strtol(c + 1, NULL, 10);
    for (; count && decimal->digits[count - 1] == '0'; count--)
        decimal->exponent++;
    if (!count)
        *decimal = (decimal_t){.finite = true, .digits = "0"}, count = 1;
    decimal->digits[count] = '\0';
}

static bool decimal_double(const bson_iter_t *at, double *number) {
    decimal_t decimal;
    char text[BSON_DECIMAL128_STRING + 32];
    read_decimal(at, &decimal);
    snprintf(text, sizeof text, decimal.finite ? "%s%se%ld" : "%s%s", decimal.negative ? "-" : "",
             decimal.digits, decimal.exponent);
    number_read(text, strlen(text), number);
    return !decimal.finite || (isfinite(*number) && (*number != 0 || decimal.digits[0] == '0'));
}

static bool decimal_whole(const bson_iter_t *at, int64_t *whole) {
    decimal_t decimal;
    __int128 number = 0;
    read_decimal(at, &decimal);
    if (!decimal.finite || decimal.exponent < 0)
        return false;
    for (const char *c = decimal.digits; *c; c++) /* at most 34 */
        number = number * 10 + (*c - '0');
    for (; decimal.exponent && number <= INT64_MAX; decimal.exponent--)
        number *= 10;
    if (decimal.exponent || number > (__int128)INT64_MAX + decimal.negative)
        return false;
    *whole = (int64_t)(decimal.negative ? -number : number);
    return true;
}

bool numeric_double(const bson_iter_t *at, double *number) {
    switch (bson_iter_type(at)) {
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        *number = (double)bson_iter_as_int64(at);
        return true;
    case BSON_TYPE_DOUBLE:
        *number = bson_iter_double(at);
        return true;
    case BSON_TYPE_DECIMAL128:
        return decimal_double(at, number);
    default:
        return false;
    }
}

bool numeric_whole(const bson_iter_t *at, int64_t *whole) {
    switch (bson_iter_type(at)) {
    case BSON_TYPE_INT32:
    case BSON_TYPE_INT64:
        *whole = bson_iter_as_int64(at);
        return true;
    case BSON_TYPE_DOUBLE: {
        const double number = bson_iter_double(at);
        if (!(fabs(number) <= MOST_EXACT) || number != rint(number))
            return false;
        *whole = (int64_t)number;
        return true;
    }
    case BSON_TYPE_DECIMAL128:
        return decimal_whole(at, whole);
    default:
        return false;
    }
}
