#include "format/filter.h"
#include "base/document.h"
#include "base/text.h"
#include "format/record/typed.h"
#include "format/values/blanks.h"
#include "format/values/convert.h"
#include "format/values/numeral.h"
#include "format/values/pattern.h"

#include <bson/bson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum { EQUAL, UNEQUAL, LESS, AT_MOST, MORE, AT_LEAST } comparison_t;

static const struct {
    const char *text;
    comparison_t comparison;
} operators[] = {{"==", EQUAL}, {"!=", UNEQUAL}, {"<=", AT_MOST}, {">=", AT_LEAST},
                 {"=", EQUAL},  {"<", LESS},     {">", MORE}};
enum { OPERATORS = sizeof operators / sizeof *operators, MOST_TERMS = 32 };

typedef struct {
    const field_t *field;
    comparison_t comparison;
    char *text;
    size_t length;
    double number;
    int64_t whole;
    typed_t typed;
    bool is_text, is_date, is_whole, is_typed;
} term_t;

struct filter {
    term_t terms[MOST_TERMS];
    size_t count;
    char *normal;
    bool kept; /* the text is one of the catalog */
};

static char *trimmed(const char *text, size_t length) {
    const uint8_t *at = (const uint8_t *)text;
    blanks_trim(&at, &length);
    return strndup((const char *)at, length);
}

/* Finds what looks like a part of a comparison in a value without quotes; NULL: nothing. */
static const char *odd_in(const char *value, size_t length) {
    if (length && strchr("!~(", *value))
        return value;
    for (const char *at = value; at < value + length; at++)
        if (strchr("=<>", *at) || (at[0] == '|' && at + 1 < value + length && at[1] == '|'))
            return at;
    return NULL;
}

/* May a value end here, after a closing quote? Yes before the end, the next comparison, or what a user may take for
 * one. */
static bool ends_value(const char *after) {
    static const char *const words[] = {"and", "or", "AND", "OR"};
    after += strspn(after, " ");
    if (!*after || *after == '&' || *after == '|')
        return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const size_t length = strlen(words[i]);
        if (strncmp(after, words[i], length) == 0 && after[length] == ' ')
            return true;
    }
    return false;
}

/* The quote that closes this one; NULL: there is none. */
static const char *closing_quote(const char *open) {
    for (const char *at = open + 1; (at = strchr(at, *open)); at++)
        if (ends_value(at + 1))
            return at;
    return NULL;
}

/* The quote that the value needs so that it is not read as another one; "" if none. */
static const char *quote_of(const term_t *term) {
    const char *text = term->text;
    bool plain = !term->length || (!strchr(" '\"", text[0]) && text[term->length - 1] != ' ');
    if (plain && !strstr(text, "&&") && !odd_in(text, term->length))
        return "";
    for (const char *at = text; (at = strchr(at, '\'')); at++)
        if (at[1 + strspn(at + 1, " ")] && ends_value(at + 1))
            return "\"";
    return "'";
}

/* A value of a type whose texts are converted as in a file; a boolean is also what it is in the document. */
static bool read_typed(term_t *term, err_t *err) {
    static const schema_text_t words[] = {{"false", 5}, {"true", 4}};
    const field_t *field = term->field;
    field_t plain = *field;
    plain.nulls.count = 0;
    plain.no_capitals = false;
    plain.divide = 0; /* compared with what is stored */
    plain.point = 0;
    const uint8_t *text = (const uint8_t *)term->text;
    term->is_typed = typed_read(&plain, ENCODING_NONE, text, term->length, &term->typed);
    for (int is = 0; is < 2; is++)
        plain.words[is] = (texts_t){&words[is], 1};
    term->is_typed = term->is_typed || typed_read(&plain, ENCODING_NONE, text, term->length, &term->typed);
    return term->is_typed || err_set(err, STATUS_USAGE, "--filter: '%s' is no %s, which the field %s is",
                                     term->text, schema_type_name(field->type), field->name);
}

/* Numbers are written plainly, with a point before the fraction. Where the format would read another one out of the same
 * text (1.234 with points between the thousands), nobody knows which is meant. */
static bool is_number_clear(const term_t *term, err_t *err) {
    const field_t *field = term->field;
    const numeral_t numeral = {.point = field->point, .mark = field->thousands};
    const uint8_t *text = (const uint8_t *)term->text;
    uint8_t plain[NUMERAL_LONGEST], padded[NUMERAL_LONGEST + 16] = {0}, other[NUMERAL_LONGEST + 16] = {0};
    double number, meant;
    size_t size;
    if (!field->point || term->length >= NUMERAL_LONGEST ||
        !numeral_read(&numeral, text, term->length, plain, &size))
        return true;
    memcpy(padded, text, term->length);
    memcpy(other, plain, size);
    if (!convert_number(other, size, 0, &number))
        return true;
    if (!convert_number(padded, term->length, 0, &meant))
        return err_set(err, STATUS_USAGE,
                       "--filter: '%s' is not a number here: whatever 'decimal' and 'thousands' of %s say, a "
                       "filter has a point before the fraction and no marks between thousands: %.*s",
                       term->text, field->name, (int)size, (const char *)plain);
    return number == meant ||
           err_set(
               err, STATUS_USAGE,
               "--filter: '%s' can be read in two ways: a filter has a point before the fraction, but in the "
               "files %s would be %.*s. Write %.*s, or %s0",
               term->text, field->name, (int)size, (const char *)plain, (int)size, (const char *)plain,
               term->text);
}

static bool read_value(term_t *term, err_t *err) {
    const field_t *field = term->field;
    enum { LONGEST = 64 };
    uint8_t padded[LONGEST + 16] = {0};
    const size_t length = term->length;
    if (field->array.length)
        return err_set(err, STATUS_USAGE, "--filter: %s is an array, which cannot be compared", field->name);
    if (field->type == TYPE_BINARY || field->type == TYPE_JSON)
        return err_set(err, STATUS_USAGE, "--filter: %s has the type %s, which cannot be compared",
                       field->name, schema_type_name(field->type));
    if (field->type == TYPE_TEXT || field->type == TYPE_TRIMMED) {
        term->is_text = true;
        return true;
    }
    if (length < LONGEST)
        memcpy(padded, term->text, length);
    if (field->type == TYPE_DATE) {
        term->is_date = true;
        for (size_t i = 0; i < field->patterns.count && length < LONGEST; i++) {
            pattern_t pattern;
            if (!pattern_compile(field->patterns.items[i].text, field->patterns.items[i].length, &pattern) &&
                pattern_read(&pattern, padded, length, &term->whole))
                return true;
        }
        return err_set(err, STATUS_USAGE, "--filter: '%s' is not a date as %s has them: %s", term->text,
                       field->name, field->patterns.items[0].text);
    }
    if (typed_is_rare(field->type))
        return read_typed(term, err);
    if (length >= LONGEST || !convert_number(padded, length, 0, &term->number))
        return err_set(err, STATUS_USAGE, "--filter: '%s' is not a number, which the field %s is", term->text,
                       field->name);
    term->is_whole = convert_int(padded, length, &term->whole);
    /* Beyond all whole numbers digits do not count. Next to them they do: 9223372036854775807.0 would be a larger one,
     * and -9223372036854775809 the least one that there is. */
    const bool digits = strspn(term->text, "+-0123456789") == length;
    if (!term->is_whole && digits && term->number == -0x1p63)
        term->number = nextafter(term->number, -INFINITY);
    const bool beyond = fabs(term->number) > 0x1p63 || (digits && term->number == 0x1p63);
    return term->is_whole || beyond || convert_kept(padded, length, 0, &term->number) ||
           err_set(
               err, STATUS_USAGE,
               "--filter: '%s' has more digits than a number can be compared with: at most 17, or a whole "
               "number of 64 bits",
               term->text);
}

/* The nearest ones are not known: the first ones of the format show what they look like. */
static bool unknown_field(const schema_t *schema, const char *name, err_t *err) {
    enum { SHOWN = 20 };
    const char *names[SCHEMA_MOST_FIELDS];
    if (schema->kind == RECORDS_BSON)
        return err_set(
            err, STATUS_USAGE,
            "--filter does not go with BSON, whose fields no format names: choose the documents when "
            "they are dumped (mongodump --query)");
    if (!schema->field_count)
        return err_set(
            err, STATUS_USAGE,
            "--filter: of which type '%s' is, is not known, since the format %s names no fields: say it "
            "with --type, such as --type '%s:int' (and no --format), or with a format file that has the "
            "field",
            name, schema->name, name);
    text_t list = {.length = 0};
    for (size_t i = 0; i < schema->field_count; i++) {
        names[i] = schema->fields[i].name;
        if (i < SHOWN)
            text_print(&list, "%s%s", i ? ", " : "", names[i]);
    }
    if (schema->field_count > SHOWN)
        text_print(&list, " and %zu more", schema->field_count - SHOWN);
    char *known = text_take(&list, err);
    if (known)
        err_set(err, STATUS_USAGE, "--filter: the format %s has no field '%s'%s; its fields are %.2000s",
                schema->name, name, suggestion(name, names, schema->field_count).text, known);
    free(known);
    return false;
}

/* Of records of fixed width, what utc and point are made of is not stored by itself: no document could be compared. */
static bool is_stored(const schema_t *schema, const field_t *field, err_t *err) {
    for (size_t i = 0; schema->kind == RECORDS_FIXED && i < schema->made_count; i++) {
        const make_t *made = &schema->made[i];
        for (size_t j = 0; made->kind != MAKE_FIRST && j < made->from_count; j++)
            if (field == &schema->fields[made->from[j].fields[0]])
                return err_set(
                    err, STATUS_USAGE,
                    made->kind == MAKE_UTC
                        ? "--filter: %s is not stored by itself but in %s: compare %s, such as "
                          "'%s>=2024-01-31'"
                        : "--filter: %s is not stored by itself but in %s, which cannot be compared",
                    field->name, made->field.key, made->field.key, made->field.key);
    }
    return true;
}

/* One --filter while it is read. */
typedef struct {
    const char *text, *at;
} reading_t;

static bool complain(const reading_t *reading, const char *at, err_t *err, const char *what) {
    err_set(err, STATUS_USAGE, "--filter: column %zu of '%.500s': %s", (size_t)(at - reading->text) + 1,
            reading->text, what);
    return false;
}

/* Reads the field and the operator; *at is after them, at the value. */
static bool read_comparison(reading_t *reading, const schema_t *schema, term_t *term, err_t *err) {
    const char *name = reading->at, *op = name + strcspn(name, "=!<>");
    const char *both = strstr(name, "&&");
    int i = 0;
    while (i < OPERATORS && strncmp(op, operators[i].text, strlen(operators[i].text)) != 0)
        i++;
    if (i == OPERATORS || op == name || (both && both < op))
        return err_set(
            err, STATUS_USAGE,
            "--filter: '%.*s' is not a comparison; write it like testType==NT, with ==, !=, <, <=, > or >=",
            (int)(both ? both - name : (ptrdiff_t)strlen(name)), name);
    char *word = trimmed(name, (size_t)(op - name));
    if (!word)
        return err_memory(err, (size_t)(op - name));
    term->comparison = operators[i].comparison;
    term->field = schema_field(schema, word);
    reading->at = op + strlen(operators[i].text);
    if (!term->field)
        unknown_field(schema, word, err);
    free(word);
    return term->field && is_stored(schema, term->field, err);
}

/* Reads the value, up to "&&" or the end. In quotes it may be anything. */
static bool cut_value(reading_t *reading, term_t *term, err_t *err) {
    static const char no_end[] =
        "this quote is not closed in front of && or the end; a value that begins with a quote is put "
        "into quotes of the other kind, such as \"'s\"";
    static const char odd[] =
        "comparisons are joined by && (there is no 'or'), and a value without quotes does not begin with !, "
        "~ or ( and has no =, <, > or || in it; such a value is put into quotes, such as '>5'";
    const char *value = reading->at + strspn(reading->at, " ");
    const bool quoted = *value == '\'' || *value == '"';
    const char *both = strstr(value, "&&"), *close = quoted ? closing_quote(value) : NULL;
    const char *end = quoted ? close : both ? both : value + strlen(value);
    if (!end)
        return complain(reading, value, err, no_end);
    const char *wrong = quoted ? NULL : odd_in(value, (size_t)(end - value));
    reading->at = quoted ? end + 1 + strspn(end + 1, " ") : end;
    if (!wrong && *reading->at && strncmp(reading->at, "&&", 2) != 0)
        wrong = reading->at;
    if (wrong)
        return complain(reading, wrong, err, odd);
    value += quoted;
    term->text = quoted ? strndup(value, (size_t)(end - value)) : trimmed(value, (size_t)(end - value));
    if (!term->text)
        return err_memory(err, (size_t)(end - value));
    term->length = strlen(term->text);
    return true;
}

static bool add_term(filter_t *filter, const schema_t *schema, reading_t *reading, err_t *err) {
    if (filter->count == MOST_TERMS)
        return err_set(err, STATUS_USAGE, "--filter: more than %d comparisons", MOST_TERMS);
    term_t *term = &filter->terms[filter->count++];
    return read_comparison(reading, schema, term, err) && cut_value(reading, term, err) &&
           (filter->kept || is_number_clear(term, err)) && read_value(term, err);
}

/* The field's key; its name if the key is another field's name, and would be read as that field. */
static const char *spelling_of(const schema_t *schema, const field_t *field) {
    return schema_field(schema, field->key) == field ? field->key : field->name;
}

static bool write_normal(filter_t *filter, const schema_t *schema, err_t *err) {
    size_t room = 1;
    for (size_t i = 0; i < filter->count; i++)
        room += strlen(spelling_of(schema, filter->terms[i].field)) + filter->terms[i].length + 10;
    if (!(filter->normal = calloc(1, room)))
        return err_memory(err, room);
    size_t used = 0;
    for (size_t i = 0; i < filter->count; i++) {
        const term_t *term = &filter->terms[i];
        const char *op = "", *quote = quote_of(term);
        for (int j = OPERATORS - 1; j >= 0; j--)
            if (operators[j].comparison == term->comparison)
                op = operators[j].text;
        used += (size_t)snprintf(filter->normal + used, room - used, "%s%s%s%s%s%s", i ? " && " : "",
                                 spelling_of(schema, term->field), op, quote, term->text, quote);
    }
    return true;
}

static filter_t *parse(const schema_t *schema, char *const *texts, size_t count, bool kept, err_t *err) {
    filter_t *filter = calloc(1, sizeof *filter);
    bool ok = true;
    if (!filter) {
        err_memory(err, sizeof *filter);
        return NULL;
    }
    filter->kept = kept;
    for (size_t i = 0; ok && i < count; i++) {
        reading_t reading = {.text = texts[i], .at = texts[i]};
        while ((ok = add_term(filter, schema, &reading, err)) && *reading.at)
            reading.at += 2; /* "&&" */
    }
    if (!ok || !write_normal(filter, schema, err)) {
        filter_free(filter);
        return NULL;
    }
    return filter;
}

filter_t *filter_parse(const schema_t *schema, char *const *texts, size_t count, err_t *err) {
    return parse(schema, texts, count, false, err);
}

filter_t *filter_parse_kept(const schema_t *schema, const char *text, err_t *err) {
    return parse(schema, (char *const *)&text, 1, true, err);
}

void filter_free(filter_t *filter) {
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++)
        free(filter->terms[i].text);
    free(filter->normal);
    free(filter);
}

const char *filter_text(const filter_t *filter) {
    return filter->normal;
}

enum { NO_ORDER = 2 /* one of them is NaN */ };

/* order: -1, 0, 1 or NO_ORDER. */
static bool holds(comparison_t comparison, int order) {
    switch (comparison) {
    case EQUAL:
        return order == 0;
    case UNEQUAL:
        return order != 0;
    case LESS:
        return order < 0;
    case AT_MOST:
        return order <= 0;
    case MORE:
        return order == 1;
    case AT_LEAST:
        return order == 0 || order == 1;
    }
    return false;
}

static int order_texts(const char *a, size_t n, const char *b, size_t m) {
    const int order = memcmp(a, b, n < m ? n : m);
    return order ? (order > 0) - (order < 0) : (n > m) - (n < m);
}

static int order_doubles(double a, double b) {
    return isunordered(a, b) ? NO_ORDER : (a > b) - (a < b);
}

/* Of all digits: a double has not room for each whole number. */
static int order_whole(int64_t whole, double number) {
    if (!(number >= -0x1p63 && number < 0x1p63))
        return order_doubles(0, number);
    const int64_t cut = (int64_t)number;
    return whole != cut ? (whole > cut) - (whole < cut) : order_doubles((double)cut, number);
}

/* A number of a document, and that of a comparison. */
static int order_numbers(const bson_iter_t *at, const term_t *term) {
    if (bson_iter_type(at) == BSON_TYPE_DOUBLE) {
        const double value = bson_iter_double(at);
        return !term->is_whole ? order_doubles(value, term->number)
               : isnan(value)  ? NO_ORDER
                               : -order_whole(term->whole, value);
    }
    const int64_t value = bson_iter_as_int64(at);
    return term->is_whole ? (value > term->whole) - (value < term->whole) : order_whole(value, term->number);
}

/* One value that is no array. */
static bool compares(const term_t *term, comparison_t comparison, const bson_iter_t *at) {
    const bson_type_t type = bson_iter_type(at);
    if (term->is_text && type == BSON_TYPE_UTF8) {
        uint32_t length;
        const char *text = bson_iter_utf8(at, &length);
        return holds(comparison, order_texts(text, length, term->text, term->length));
    }
    if (term->is_date && type == BSON_TYPE_DATE_TIME) {
        int64_t ms = bson_iter_date_time(at);
        return holds(comparison, (ms > term->whole) - (ms < term->whole));
    }
    typed_t typed;
    if (term->is_typed)
        return typed_take(term->field, at, &typed) && holds(comparison, typed_order(&typed, &term->typed));
    return !term->is_text && !term->is_date &&
           (type == BSON_TYPE_INT32 || type == BSON_TYPE_INT64 || type == BSON_TYPE_DOUBLE) &&
           holds(comparison, order_numbers(at, term));
}

/* Does a value under this key do? Of an array each element is tried. key: what is left of it; none is left: the value is it. */
static bool any_does(const term_t *term, comparison_t comparison, const bson_iter_t *at, const char *key) {
    const bool array = BSON_ITER_HOLDS_ARRAY(at);
    bson_iter_t child;
    if (!array && !*key)
        return compares(term, comparison, at);
    if ((!array && !BSON_ITER_HOLDS_DOCUMENT(at)) || !bson_iter_recurse(at, &child))
        return false;
    const size_t length = strcspn(key, ".");
    const char *left = key + length + (key[length] == '.');
    while (element_next(&child)) {
        const char *name = bson_iter_key(&child);
        const bool here = strncmp(name, key, length) == 0 && !name[length];
        if (array ? any_does(term, comparison, &child, key) : here)
            return array || any_does(term, comparison, &child, left);
    }
    return false;
}

static bool term_holds(const term_t *term, const bson_t *document) {
    const comparison_t comparison = term->comparison == UNEQUAL ? EQUAL : term->comparison;
    const char *key = term->field->key;
    const size_t length = strcspn(key, ".");
    bson_iter_t at;
    const bool does = bson_iter_init(&at, document) && element_find(&at, key, length) &&
                      any_does(term, comparison, &at, key + length + (key[length] == '.'));
    return does != (term->comparison == UNEQUAL);
}

bool filter_passes(const filter_t *filter, const uint8_t *document, uint32_t length) {
    bson_t view;
    if (!bson_init_static(&view, document, length))
        return false;
    for (size_t i = 0; i < filter->count; i++)
        if (!term_holds(&filter->terms[i], &view))
            return false;
    return true;
}
