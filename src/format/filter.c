#include "base/document.h"
#include "base/text.h"
#include "format/engine/program.h"
#include "format/records.h"
#include "format/types.h"
#include "format/values/values.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

/* Each comparison is true for some orders of the two values: a bit for each of -1, 0 and 1. */
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
    char *text; /* with SLACK zeros after it, and then {"": VALUE} */
    size_t length;
    bson_iter_t value;
} term_t;

struct filter {
    term_t terms[MOST_TERMS];
    size_t count;
    text_t normal;
};

static void trim(const char **text, size_t *length) {
    const uint8_t *at = (const uint8_t *)*text;
    blanks_trim(&at, length);
    *text = (const char *)at;
}

/* True for a value that would be read as another one, or not at all, without quotes. */
static bool needs_quotes(const char *value, size_t length) {
    return length &&
           (strchr(" !~('\"", *value) || value[length - 1] == ' ' || strcspn(value, "=<>") < length ||
            memmem(value, length, "||", 2) || memmem(value, length, "&&", 2));
}

/* Reads the text as a value of this type, to be compared with what is stored: a text is not trimmed, a number not divided. */
static uint8_t *read_as(const term_t *term, field_type_t type, uint8_t *out) {
    field_t field = *term->field;
    field.type = type == TYPE_TRIMMED ? TYPE_TEXT : type;
    field.point = 0;
    field.exact = false;
    field.divide = 0;
    value_text_t text = {.field = &field, .text = (const uint8_t *)term->text, .length = term->length};
    return value_read(&text, out, out + DOCUMENT_HEAD - 4);
}

/* Numbers are written plainly, with a point before the fraction. Where the format would read another one out of the same
 * text (1.234 with points between the thousands), nobody knows which is meant. */
static bool is_number_clear(const term_t *term, err_t *err) {
    const numeral_t numeral = {term->field->point, term->field->thousands};
    const uint8_t *text = (const uint8_t *)term->text;
    uint8_t plain[NUMERAL_LONGEST];
    size_t length = term->length, plain_length;
    blanks_trim(&text, &length);
    return !numeral.point || !numeral_read(&numeral, text, length, plain, &plain_length) ||
           (plain_length == length && memcmp(plain, text, length) == 0) ||
           err_set(err, STATUS_USAGE,
                   "--filter: '%s' is another number in the files, by the marks of %s. Numbers of a filter "
                   "have a point before the fraction and no marks between thousands: write 1234.5, or one "
                   "more 0 after the fraction",
                   term->text, term->field->name);
}

static bool read_value(term_t *term, err_t *err) {
    const field_t *field = term->field;
    /* numbers of all types but decimals are compared with each other */
    const bool number = value_types[field->type].flags & VALUE_NUMBER && field->type != TYPE_DECIMAL;
    uint8_t *const document = (uint8_t *)term->text + term->length + SLACK;
    if (!(value_types[field->type].flags & VALUE_ORDERED))
        return err_set(err, STATUS_USAGE, "--filter: %s is %s, which cannot be compared", field->name,
                       schema_type_name(field->type));
    uint8_t *end = read_as(term, number ? TYPE_LONG : field->type, document + 4);
    if (!end && number) /* a whole number, or else the double that is compared with all digits */
        end = read_as(term, TYPE_NUMBER, document + 4);
    if (!end)
        return err_set(err, STATUS_USAGE, "--filter: '%s' cannot be compared with %s: %s was expected",
                       term->text, field->name,
                       value_is_skipped(field, (const uint8_t *)term->text, term->length)
                           ? "a time that the clocks of the zone showed"
                       : field->type == TYPE_DATE ? field->patterns.items[0].text
                       : number                   ? "a number of at most 17 digits, or of 64 bits,"
                                                  : schema_type_name(field->type));
    const size_t size = (size_t)(end - document) + 1;
    bsonw_int32(document, (int32_t)size);
    *end = 0;
    return bson_iter_init_from_data(&term->value, document, size) && bson_iter_next(&term->value);
}

static bool unknown_field(const schema_t *schema, const char *name, err_t *err) {
    const char *names[SCHEMA_MOST_FIELDS];
    for (size_t i = 0; i < schema->field_count; i++)
        names[i] = schema->fields[i].name;
    return schema->field_count
               ? err_set(err, STATUS_USAGE, "--filter: the format %s has no field '%s'%s", schema->name, name,
                         suggestion(name, names, schema->field_count).text)
               : err_set(
                     err, STATUS_USAGE,
                     "--filter: the format %s names no fields, so the type of '%s' is not known. Of JSON, "
                     "say it with --type '%s:int'; documents of BSON are chosen when they are dumped "
                     "(mongodump --query)",
                     schema->name, name, name);
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
    const uint16_t keys = term->field ? program_replaced_by(schema, term->field) : 0;
    if (keys)
        err_set(err, STATUS_USAGE,
                "--filter: %s is not stored by itself but in %s; only a date can be compared",
                term->field->name, schema->made[__builtin_ctz(keys)].field.key);
    return term->field && !keys;
}

/* Reads the value, up to "&&" or the end. In quotes it may be anything but such a quote. text: the filter, for its columns
 * in messages. */
static bool cut_value(const char *text, const char **at, term_t *term, err_t *err) {
    const char *value = *at + strspn(*at, " ");
    const bool quoted = *value == '\'' || *value == '"';
    const char *const open = value, *end = quoted ? strchr(++value, *open) : strstr(value, "&&");
    if (!end && !quoted)
        end = value + strlen(value);
    term->length = end ? (size_t)(end - value) : 0;
    if (!quoted)
        trim(&value, &term->length);
    if (end)
        *at = end + quoted + strspn(end + quoted, " ");
    if (!end || (**at && strncmp(*at, "&&", 2) != 0) || (!quoted && needs_quotes(value, term->length)))
        return err_set(
            err, STATUS_USAGE, "--filter: column %zu of '%.500s': %s", (size_t)(open - text) + 1, text,
            end ? "comparisons are joined by && (there is no 'or'), and a value that begins with !, "
                  "~, ( or a quote or has =, <, > or || in it is put into quotes that it does not "
                  "have itself, such as '>5'"
                : "this quote is not closed");
    const size_t room = 2 * term->length + SLACK + DOCUMENT_HEAD + TYPES_VALUE;
    if (!(term->text = calloc(1, room)))
        return err_memory(err, room);
    memcpy(term->text, value, term->length);
    return true;
}

/* Adds a comparison to the filter's unique spelling. */
static void write_term(text_t *normal, const schema_t *schema, const term_t *term) {
    const field_t *field = term->field;
    const char *quote = !needs_quotes(term->text, term->length) ? "" : strchr(term->text, '\'') ? "\"" : "'";
    /* the name if the key is another field's name, and would be read as that field */
    text_print(normal, "%s%s%s%s%s%s", normal->length ? " && " : "",
               schema_field(schema, field->key) == field ? field->key : field->name, term->op->text, quote,
               term->text, quote);
}

static bool add_terms(filter_t *filter, const schema_t *schema, const char *text, err_t *err) {
    for (const char *at = text;; at += 2 /* "&&" */) {
        if (filter->count == MOST_TERMS)
            return err_set(err, STATUS_USAGE, "--filter: more than %d comparisons", MOST_TERMS);
        term_t *term = &filter->terms[filter->count++];
        if (!read_comparison(&at, schema, term, err) || !cut_value(text, &at, term, err) ||
            !is_number_clear(term, err) || !read_value(term, err))
            return false;
        write_term(&filter->normal, schema, term);
        if (!*at)
            return true;
    }
}

filter_t *filter_parse(const schema_t *schema, char *const *texts, size_t count, err_t *err) {
    filter_t *filter = ZEROED(filter_t);
    bool ok = filter || err_memory(err, sizeof *filter);
    for (size_t i = 0; ok && i < count; i++)
        ok = add_terms(filter, schema, texts[i], err);
    if (ok)
        text_append(&filter->normal, "");
    if (ok && (!filter->normal.lacking || err_memory(err, filter->normal.lacking)))
        return filter;
    filter_free(filter);
    return NULL;
}

void filter_free(filter_t *filter) {
    if (!filter)
        return;
    for (size_t i = 0; i < filter->count; i++)
        free(filter->terms[i].text);
    text_free(&filter->normal);
    free(filter);
}

const char *filter_text(const filter_t *filter) {
    return filter->normal.bytes;
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

void filter_need(const filter_t *filter, schema_t *schema) {
    for (size_t i = 0; i < filter->count; i++)
        schema_need(schema, filter->terms[i].field->key);
}
