#include "format/filter.h"
#include "base/document.h"
#include "base/text.h"
#include "format/record/bsonw.h"
#include "format/types.h"
#include "format/values/blanks.h"
#include "format/values/convert.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The orders of a document's value to the comparison's value for which it is true: a bit for each of -1, 0 and 1. */
typedef enum { LESS = 1, EQUAL = 2, AT_MOST = 3, MORE = 4, UNEQUAL = 5, AT_LEAST = 6 } comparison_t;

typedef struct {
    const char *text;
    comparison_t comparison;
} operator_t;
static const operator_t operators[] = {{"==", EQUAL}, {"!=", UNEQUAL}, {"<=", AT_MOST}, {">=", AT_LEAST},
                                       {"<", LESS},   {">", MORE},     {"=", EQUAL}};
enum {
    OTHER_EQUAL = COUNT(operators) - 1, /* a second spelling of the first operator */
    MOST_TERMS = 32,
    SLACK = 8,                 /* bytes that value_read may read after a text */
    DOCUMENT_HEAD = 4 + 1 + 1, /* a length, a type, an empty key */
};

typedef struct {
    const field_t *field;
    const operator_t *op;
    char *text; /* with SLACK zeros after it */
    size_t length;
    uint8_t *document; /* {"": VALUE} */
    bson_iter_t value;
} term_t;

struct filter {
    term_t terms[MOST_TERMS];
    size_t count;
    char *normal;
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

/* The quote that the value needs so that it is not read as another one; "" if none. */
static const char *quote_of(const term_t *term) {
    const char *text = term->text;
    const bool plain = !term->length || (!strchr(" '\"", text[0]) && text[term->length - 1] != ' ');
    if (plain && !strstr(text, "&&") && !odd_in(text, term->length))
        return "";
    return strchr(text, '\'') ? "\"" : "'";
}

/* Numbers of all types but decimals are compared with each other. */
static bool is_number(const term_t *term) {
    const uint8_t kind = value_types[term->field->type].bson[0];
    return kind == BSON_TYPE_INT32 || kind == BSON_TYPE_INT64 || kind == BSON_TYPE_DOUBLE;
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
    return !field->point || term->length >= NUMERAL_LONGEST ||
           !numeral_read(&numeral, text, term->length, plain, &size) ||
           !convert_number(plain, size, 0, &number) ||
           (convert_number(text, term->length, 0, &meant) && number == meant) ||
           err_set(
               err, STATUS_USAGE,
               "--filter: a filter has a point before the fraction and no marks between thousands, but in "
               "the files %s would be %.*s where it is '%s'. Write %.*s, or one more 0 after the fraction",
               field->name, (int)size, (const char *)plain, term->text, (int)size, (const char *)plain);
}

/* Reads the value as the field's type has it, but plain. A text is not trimmed, and a number is a whole number or else the
 * double that is compared with all digits. */
static uint8_t *read_typed(const term_t *term, uint8_t *type, uint8_t *out) {
    const uint8_t *text = (const uint8_t *)term->text;
    field_t plain = *term->field;
    plain.exact = false;
    plain.divide = 0; /* compared with what is stored */
    plain.point = 0;
    plain.type = plain.type == TYPE_TRIMMED ? TYPE_TEXT : is_number(term) ? TYPE_LONG : plain.type;
    uint8_t *end = value_read(&plain, NULL, ENCODING_NONE, text, term->length, type, out);
    if (end || !is_number(term))
        return end;
    plain.type = TYPE_NUMBER;
    return value_read(&plain, NULL, ENCODING_NONE, text, term->length, type, out);
}

static bool read_value(term_t *term, err_t *err) {
    const field_t *field = term->field;
    const size_t room = DOCUMENT_HEAD + TYPES_VALUE + term->length;
    if (field->array.length || field->type == TYPE_BINARY || field->type == TYPE_JSON)
        return err_set(err, STATUS_USAGE, "--filter: %s is %s, which cannot be compared", field->name,
                       field->array.length ? "an array" : schema_type_name(field->type));
    if (!(term->document = calloc(1, room)))
        return err_memory(err, room);
    uint8_t *const end = read_typed(term, term->document + 4, term->document + DOCUMENT_HEAD);
    if (!end)
        return err_set(err, STATUS_USAGE, "--filter: '%s' cannot be compared with %s: %s was expected",
                       term->text, field->name,
                       field->type == TYPE_DATE ? field->patterns.items[0].text
                       : is_number(term)        ? "a number of at most 17 digits, or of 64 bits,"
                                                : schema_type_name(field->type));
    const size_t size = (size_t)(end - term->document) + 1;
    bsonw_int32(term->document, (int32_t)size);
    return bson_iter_init_from_data(&term->value, term->document, size) && bson_iter_next(&term->value);
}

static bool unknown_field(const schema_t *schema, const char *name, err_t *err) {
    enum { SHOWN = 20 };
    const char *names[SCHEMA_MOST_FIELDS];
    const size_t count = schema->field_count;
    if (!count)
        return err_set(
            err, STATUS_USAGE,
            "--filter: the format %s names no fields, so the type of '%s' is not known. Of JSON, say it with "
            "--type '%s:int'; documents of BSON are chosen when they are dumped (mongodump --query)",
            schema->name, name, name);
    for (size_t i = 0; i < count; i++)
        names[i] = schema->fields[i].name;
    err_set(err, STATUS_USAGE, "--filter: the format %s has no field '%s'%s; its fields are", schema->name,
            name, suggestion(name, names, count).text);
    for (size_t i = 0; i < count && i < SHOWN; i++)
        err_add(err, "%s%s", i ? ", " : " ", names[i]);
    return err_add(err, "%s", count > SHOWN ? " and others" : "");
}

/* Of records of fixed width, what utc and point are made of is not stored by itself: no document could be compared. */
static bool is_stored(const schema_t *schema, const field_t *field, err_t *err) {
    for (size_t i = 0; schema->kind == RECORDS_FIXED && i < schema->made_count; i++) {
        const make_t *made = &schema->made[i];
        for (size_t j = 0; made->kind != MAKE_FIRST && j < made->from_count; j++)
            if (field == &schema->fields[made->from[j].fields[0]])
                return err_set(err, STATUS_USAGE,
                               "--filter: %s is not stored by itself but in %s; only a date can be compared",
                               field->name, made->field.key);
    }
    return true;
}

/* Reads the field and the operator; *at is after them, at the value. */
static bool read_comparison(const char **at, const schema_t *schema, term_t *term, err_t *err) {
    const char *name = *at, *op = name + strcspn(name, "=!<>");
    const char *both = strstr(name, "&&");
    int i = 0;
    while (i < (int)COUNT(operators) && strncmp(op, operators[i].text, strlen(operators[i].text)) != 0)
        i++;
    if (i == (int)COUNT(operators) || op == name || (both && both < op))
        return err_set(
            err, STATUS_USAGE,
            "--filter: '%.*s' is not a comparison; write it like testType==NT, with ==, !=, <, <=, > or >=",
            (int)(both ? both - name : (ptrdiff_t)strlen(name)), name);
    size_t length = (size_t)(op - name);
    trim(&name, &length);
    char *word = strndup(name, length);
    if (!word)
        return err_memory(err, length);
    term->op = &operators[i == OTHER_EQUAL ? 0 : i];
    term->field = schema_field(schema, word);
    *at = op + strlen(operators[i].text);
    if (!term->field)
        unknown_field(schema, word, err);
    free(word);
    return term->field && is_stored(schema, term->field, err);
}

/* Reads the value, up to "&&" or the end. In quotes it may be anything but such a quote. text: the filter, for its columns
 * in messages. */
static bool cut_value(const char *text, const char **at, term_t *term, err_t *err) {
    const char *value = *at + strspn(*at, " ");
    const bool quoted = *value == '\'' || *value == '"';
    const char *both = strstr(value, "&&");
    const char *end = quoted ? strchr(value + 1, *value) : both ? both : value + strlen(value);
    const char *wrong = !end ? value : quoted ? NULL : odd_in(value, (size_t)(end - value));
    *at = end && quoted ? end + 1 + strspn(end + 1, " ") : end;
    if (!wrong && **at && strncmp(*at, "&&", 2) != 0)
        wrong = *at;
    if (wrong)
        return err_set(
            err, STATUS_USAGE, "--filter: column %zu of '%.500s': %s", (size_t)(wrong - text) + 1, text,
            end ? "comparisons are joined by && (there is no 'or'), and a value that begins with !, "
                  "~, ( or a quote or has =, <, > or || in it is put into quotes that it does not "
                  "have itself, such as '>5'"
                : "this quote is not closed");
    value += quoted;
    term->length = (size_t)(end - value);
    if (!quoted)
        trim(&value, &term->length);
    if (!(term->text = calloc(1, term->length + SLACK)))
        return err_memory(err, term->length);
    memcpy(term->text, value, term->length);
    return true;
}

/* The field's key; its name if the key is another field's name, and would be read as that field. */
static const char *spelling_of(const schema_t *schema, const field_t *field) {
    return schema_field(schema, field->key) == field ? field->key : field->name;
}

static bool write_normal(filter_t *filter, const schema_t *schema, err_t *err) {
    text_t normal = {.length = 0};
    for (size_t i = 0; i < filter->count; i++) {
        const term_t *term = &filter->terms[i];
        const char *quote = quote_of(term);
        text_print(&normal, "%s%s%s%s%s%s", i ? " && " : "", spelling_of(schema, term->field), term->op->text,
                   quote, term->text, quote);
    }
    text_append(&normal, "");
    return (filter->normal = text_take(&normal, err));
}

static bool add_terms(filter_t *filter, const schema_t *schema, const char *text, err_t *err) {
    for (const char *at = text;; at += 2 /* "&&" */) {
        if (filter->count == MOST_TERMS)
            return err_set(err, STATUS_USAGE, "--filter: more than %d comparisons", MOST_TERMS);
        term_t *term = &filter->terms[filter->count++];
        if (!read_comparison(&at, schema, term, err) || !cut_value(text, &at, term, err) ||
            !is_number_clear(term, err) || !read_value(term, err))
            return false;
        if (!*at)
            return true;
    }
}

filter_t *filter_parse(const schema_t *schema, char *const *texts, size_t count, err_t *err) {
    filter_t *filter = ZEROED(filter_t);
    bool ok = filter || err_memory(err, sizeof *filter);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_terms(filter, schema, texts[i], err);
    if (ok && write_normal(filter, schema, err))
        return filter;
    filter_free(filter);
    return NULL;
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

/* Does a value under this key do, in a document or an array? Of an array each element is tried. key: what is left of it; none
 * is left: the value is it. */
static bool any_does(const term_t *term, comparison_t comparison, bson_iter_t *at, bool array,
                     const char *key) {
    const size_t length = array ? 0 : strcspn(key, ".");
    const char *left = key + length + (!array && key[length] == '.');
    while (array ? element_next(at) : element_find(at, key, length)) {
        const bool arrays = BSON_ITER_HOLDS_ARRAY(at);
        bson_iter_t child;
        if ((arrays || BSON_ITER_HOLDS_DOCUMENT(at)) && bson_iter_recurse(at, &child)
                ? any_does(term, comparison, &child, arrays, left)
                : !*left && holds(comparison, value_order(at, &term->value)))
            return true;
        if (!array)
            return false;
    }
    return false;
}

static bool term_holds(const term_t *term, const bson_t *document) {
    const bool unequal = term->op->comparison == UNEQUAL;
    bson_iter_t at;
    return (bson_iter_init(&at, document) &&
            any_does(term, unequal ? EQUAL : term->op->comparison, &at, false, term->field->key)) != unequal;
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
