#include "format/filter.h"
#include "base/document.h"
#include "base/text.h"
#include "format/record/bsonw.h"
#include "format/types.h"
#include "format/values/blanks.h"
#include "format/values/convert.h"

#include <bson/bson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The orders of a document's value to the comparison's value for which it is true: a bit for each of -1, 0 and 1. */
typedef enum { LESS = 1, EQUAL = 2, AT_MOST = 3, MORE = 4, UNEQUAL = 5, AT_LEAST = 6 } comparison_t;

static const struct {
    const char *text;
    comparison_t comparison;
} operators[] = {{"==", EQUAL}, {"!=", UNEQUAL}, {"<=", AT_MOST}, {">=", AT_LEAST},
                 {"=", EQUAL},  {"<", LESS},     {">", MORE}};
enum {
    OPERATORS = sizeof operators / sizeof *operators,
    MOST_TERMS = 32,
    SLACK = 8,                 /* bytes that value_read may read after a text */
    DOCUMENT_HEAD = 4 + 1 + 1, /* a length, a type, an empty key */
};

typedef struct {
    const field_t *field;
    comparison_t comparison;
    char *text; /* with SLACK zeros after it */
    size_t length;
    uint8_t *document; /* {"": VALUE} */
    bson_iter_t value;
} term_t;

struct filter {
    term_t terms[MOST_TERMS];
    size_t count;
    char *normal;
    bool kept; /* the text is one of the catalog */
};

static void trim(const char **text, size_t *length) {
    const uint8_t *at = (const uint8_t *)*text;
    blanks_trim(&at, length);
    *text = (const char *)at;
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

/* Numbers are written plainly, with a point before the fraction. Where the format would read another one out of the same
 * text (1.234 with points between the thousands), nobody knows which is meant. */
static bool is_number_clear(const term_t *term, err_t *err) {
    const field_t *field = term->field;
    const numeral_t numeral = {.point = field->point, .mark = field->thousands};
    const uint8_t *text = (const uint8_t *)term->text;
    uint8_t plain[NUMERAL_LONGEST + SLACK] = {0};
    double number, meant;
    size_t size;
    if (!field->point || term->length >= NUMERAL_LONGEST ||
        !numeral_read(&numeral, text, term->length, plain, &size))
        return true;
    if (!convert_number(plain, size, 0, &number))
        return true;
    if (!convert_number(text, term->length, 0, &meant))
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

/* A number of a filter is a whole number, or else the double that is compared with all digits. */
static uint8_t *read_number(const term_t *term, uint8_t *type, uint8_t *out, err_t *err) {
    const uint8_t *text = (const uint8_t *)term->text;
    int64_t whole;
    double number;
    if (convert_int(text, term->length, &whole)) {
        *type = BSON_TYPE_INT64;
        return bsonw_int64(out, whole);
    }
    *type = BSON_TYPE_DOUBLE;
    if (!convert_number(text, term->length, 0, &number)) {
        err_set(err, STATUS_USAGE, "--filter: '%s' is not a number, which the field %s is", term->text,
                term->field->name);
        return NULL;
    }
    /* Beyond all whole numbers digits do not count. Next to them they do: 9223372036854775807.0 would be a larger one,
     * and -9223372036854775809 the least one that there is. */
    const bool digits = strspn(term->text, "+-0123456789") == term->length;
    if (digits && number == -0x1p63)
        number = nextafter(number, -INFINITY);
    const bool beyond = fabs(number) > 0x1p63 || (digits && number == 0x1p63);
    if (beyond || convert_kept(text, term->length, 0, &number))
        return bsonw_double(out, number);
    err_set(err, STATUS_USAGE,
            "--filter: '%s' has more digits than a number can be compared with: at most 17, or a whole "
            "number of 64 bits",
            term->text);
    return NULL;
}

/* A value of another type, as the field's texts are, but plain; a boolean may also be what it is in the document. */
static uint8_t *read_typed(const term_t *term, uint8_t *type, uint8_t *out, err_t *err) {
    static const schema_text_t words[] = {{"false", 5}, {"true", 4}};
    const field_t *field = term->field;
    const uint8_t *text = (const uint8_t *)term->text;
    field_t plain = *field;
    plain.exact = false;
    plain.divide = 0; /* compared with what is stored */
    plain.point = 0;
    uint8_t *end = value_read(&plain, NULL, ENCODING_NONE, text, term->length, type, out);
    for (int is = 0; is < 2; is++)
        plain.words[is] = (texts_t){&words[is], 1};
    if (!end)
        end = value_read(&plain, NULL, ENCODING_NONE, text, term->length, type, out);
    if (!end && field->type == TYPE_DATE)
        err_set(err, STATUS_USAGE, "--filter: '%s' is not a date as %s has them: %s", term->text, field->name,
                field->patterns.items[0].text);
    else if (!end)
        err_set(err, STATUS_USAGE, "--filter: '%s' is no %s, which the field %s is", term->text,
                schema_type_name(field->type), field->name);
    return end;
}

static uint8_t *put_text(const term_t *term, uint8_t *type, uint8_t *out) {
    *type = BSON_TYPE_UTF8;
    memcpy(bsonw_int32(out, (int32_t)term->length + 1), term->text, term->length + 1);
    return out + 4 + term->length + 1;
}

static bool read_value(term_t *term, err_t *err) {
    const field_t *field = term->field;
    const size_t room = DOCUMENT_HEAD + TYPES_VALUE + term->length;
    if (field->array.length)
        return err_set(err, STATUS_USAGE, "--filter: %s is an array, which cannot be compared", field->name);
    if (field->type == TYPE_BINARY || field->type == TYPE_JSON)
        return err_set(err, STATUS_USAGE, "--filter: %s has the type %s, which cannot be compared",
                       field->name, schema_type_name(field->type));
    if (!(term->document = calloc(1, room)))
        return err_memory(err, room);
    uint8_t *const type = term->document + 4, *const out = term->document + DOCUMENT_HEAD, *end;
    if (field->type == TYPE_TEXT || field->type == TYPE_TRIMMED)
        end = put_text(term, type, out);
    else if (field->type == TYPE_INT || field->type == TYPE_LONG || field->type == TYPE_NUMBER ||
             field->type == TYPE_LENGTH)
        end = read_number(term, type, out, err);
    else
        end = read_typed(term, type, out, err);
    if (!end)
        return false;
    const size_t size = (size_t)(end - term->document) + 1;
    bsonw_int32(term->document, (int32_t)size);
    return bson_iter_init_from_data(&term->value, term->document, size) && bson_iter_next(&term->value);
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
    size_t length = (size_t)(op - name);
    trim(&name, &length);
    char *word = strndup(name, length);
    if (!word)
        return err_memory(err, length);
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
    term->length = (size_t)(end - value);
    if (!quoted)
        trim(&value, &term->length);
    if (!(term->text = calloc(1, term->length + SLACK)))
        return err_memory(err, term->length);
    memcpy(term->text, value, term->length);
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
    text_t normal = {.length = 0};
    for (size_t i = 0; i < filter->count; i++) {
        const term_t *term = &filter->terms[i];
        const char *op = "", *quote = quote_of(term);
        for (int j = OPERATORS - 1; j >= 0; j--)
            if (operators[j].comparison == term->comparison)
                op = operators[j].text;
        text_print(&normal, "%s%s%s%s%s%s", i ? " && " : "", spelling_of(schema, term->field), op, quote,
                   term->text, quote);
    }
    text_append(&normal, "");
    return (filter->normal = text_take(&normal, err));
}

static filter_t *parse(const schema_t *schema, char *const *texts, size_t count, bool kept, err_t *err) {
    filter_t *filter = ZEROED(filter_t);
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
    for (size_t i = 0; i < filter->count; i++) {
        free(filter->terms[i].text);
        free(filter->terms[i].document);
    }
    free(filter->normal);
    free(filter);
}

const char *filter_text(const filter_t *filter) {
    return filter->normal;
}

static bool holds(comparison_t comparison, int order) {
    return order != VALUE_NO_ORDER && (comparison >> (order + 1) & 1);
}

/* Does a value under this key do? Of an array each element is tried. key: what is left of it; none is left: the value is it. */
static bool any_does(const term_t *term, comparison_t comparison, const bson_iter_t *at, const char *key) {
    const bool array = BSON_ITER_HOLDS_ARRAY(at);
    bson_iter_t child;
    if (!array && !*key)
        return holds(comparison, value_order(at, &term->value));
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
