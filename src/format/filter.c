#include "format/filter.h"
#include "base/suggest.h"
#include "format/values/convert.h"
#include "format/values/pattern.h"

#include <bson/bson.h>
#include <stdio.h>
#include <stdlib.h>

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
    bool is_text, is_date, is_whole;
} term_t;

struct filter {
    term_t terms[MOST_TERMS];
    size_t count;
    char *normal;
};

static char *trimmed(const char *text, size_t length) {
    while (length && text[length - 1] == ' ')
        length--;
    while (length && *text == ' ')
        text++, length--;
    if (length >= 2 && (text[0] == '\'' || text[0] == '"') && text[length - 1] == text[0])
        text++, length -= 2;
    return strndup(text, length);
}

/* Behind a quoted text: where the closing quote stands before "&&" or the end; NULL: it is not closed. */
static const char *quoted_end(const char *text) {
    for (const char *at = text + 1; (at = strchr(at, *text)); at++) {
        const char *behind = at + 1 + strspn(at + 1, " ");
        if (!*behind || strncmp(behind, "&&", 2) == 0)
            return behind;
    }
    return NULL;
}

/* How long the first comparison is. In quotes "&&" is text. */
static size_t term_length(const char *text) {
    const char *both = strstr(text, "&&");
    const char *value = text + strcspn(text, "=!<>");
    value += strspn(value, "=!<>");
    value += strspn(value, " ");
    const char *end = (!both || value < both) && (*value == '\'' || *value == '"') ? quoted_end(value) : NULL;
    end = end ? end : both;
    return end ? (size_t)(end - text) : strlen(text);
}

/* The quote without which a value would be read as another one, or "". */
static const char *quote_of(const term_t *term) {
    const char *text = term->text;
    bool plain = !term->length || (!strchr(" '\"=", text[0]) && text[term->length - 1] != ' ');
    if (plain && !strstr(text, "&&"))
        return "";
    for (const char *at = text; (at = strchr(at, '\'')); at++)
        if (strncmp(at + 1 + strspn(at + 1, " "), "&&", 2) == 0)
            return "\"";
    return "'";
}

static bool read_value(term_t *term, err_t *err) {
    const field_t *field = term->field;
    uint8_t padded[64 + 16] = {0};
    size_t length = strlen(term->text);
    term->length = length;
    if (field->type == TYPE_TEXT || field->type == TYPE_TRIMMED) {
        term->is_text = true;
        return true;
    }
    if (length < 64)
        memcpy(padded, term->text, length);
    if (field->type == TYPE_DATE) {
        term->is_date = true;
        for (size_t i = 0; i < field->patterns.count && length < 64; i++) {
            pattern_t pattern;
            if (!pattern_compile(field->patterns.items[i].text, field->patterns.items[i].length, &pattern) &&
                pattern_read(&pattern, padded, length, &term->whole))
                return true;
        }
        return err_set(err, STATUS_USAGE, "--filter: '%s' is not a date as %s has them: %s", term->text,
                       field->name, field->patterns.items[0].text);
    }
    if (length < 64 && convert_number(padded, length, 0, &term->number)) {
        term->is_whole = convert_int(padded, length, &term->whole);
        return true;
    }
    return err_set(err, STATUS_USAGE, "--filter: '%s' is not a number, which the field %s is", term->text,
                   field->name);
}

static bool unknown_field(const schema_t *schema, const char *name, err_t *err) {
    const char *names[SCHEMA_MOST_FIELDS];
    for (size_t i = 0; i < schema->field_count; i++)
        names[i] = schema->fields[i].name;
    const char *near = suggest_word(name, names, schema->field_count);
    return err_set(
        err, STATUS_USAGE,
        "--filter: the format %s has no field '%s'%s%s%s; `tipple formats --show %s` lists its fields",
        schema->name, name, near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "", schema->name);
}

static bool add_term(filter_t *filter, const schema_t *schema, const char *text, size_t length, err_t *err) {
    size_t at = 0;
    int op = -1;
    for (; at < length && op < 0; at++)
        for (int i = 0; i < OPERATORS && op < 0; i++)
            if (at + strlen(operators[i].text) <= length &&
                strncmp(text + at, operators[i].text, strlen(operators[i].text)) == 0)
                op = i;
    if (op < 0 || at <= 1)
        return err_set(
            err, STATUS_USAGE,
            "--filter: '%.*s' is not a comparison; write it like testType==NT, with ==, !=, <, <=, > or >=",
            (int)length, text);
    if (filter->count == MOST_TERMS)
        return err_set(err, STATUS_USAGE, "--filter: more than %d comparisons", MOST_TERMS);
    term_t *term = &filter->terms[filter->count];
    size_t behind = at - 1 + strlen(operators[op].text);
    char *name = trimmed(text, at - 1);
    *term = (term_t){.comparison = operators[op].comparison, .text = trimmed(text + behind, length - behind)};
    filter->count++;
    bool ok = name && term->text ? true : err_memory(err, length);
    if (ok && !(term->field = schema_field(schema, name)))
        ok = unknown_field(schema, name, err);
    free(name);
    return ok && read_value(term, err);
}

static bool write_normal(filter_t *filter, err_t *err) {
    size_t room = 1;
    for (size_t i = 0; i < filter->count; i++)
        room += strlen(filter->terms[i].field->key) + filter->terms[i].length + 10;
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
                                 term->field->key, op, quote, term->text, quote);
    }
    return true;
}

filter_t *filter_parse(const schema_t *schema, char *const *texts, size_t count, err_t *err) {
    filter_t *filter = calloc(1, sizeof *filter);
    bool ok = filter ? true : err_memory(err, sizeof *filter);
    for (size_t i = 0; ok && i < count; i++) {
        for (const char *at = texts[i]; ok;) {
            size_t length = term_length(at);
            ok = add_term(filter, schema, at, length, err);
            at += length;
            if (!*at)
                break;
            at += 2;
        }
    }
    if (!ok || !write_normal(filter, err)) {
        filter_free(filter);
        return NULL;
    }
    return filter;
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
        return order > 0;
    case AT_LEAST:
        return order >= 0;
    }
    return false;
}

static int order_texts(const char *a, size_t n, const char *b, size_t m) {
    int order = memcmp(a, b, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

static bool term_holds(const term_t *term, const bson_t *document) {
    bson_iter_t top, at;
    if (!bson_iter_init(&top, document) || !bson_iter_find_descendant(&top, term->field->key, &at))
        return term->comparison == UNEQUAL;
    bson_type_t type = bson_iter_type(&at);
    if (term->is_text && type == BSON_TYPE_UTF8) {
        uint32_t length;
        const char *text = bson_iter_utf8(&at, &length);
        return holds(term->comparison, order_texts(text, length, term->text, term->length));
    }
    if (term->is_date && type == BSON_TYPE_DATE_TIME) {
        int64_t ms = bson_iter_date_time(&at);
        return holds(term->comparison, (ms > term->whole) - (ms < term->whole));
    }
    bool whole = type == BSON_TYPE_INT32 || type == BSON_TYPE_INT64;
    if (!term->is_text && !term->is_date && whole && term->is_whole) {
        int64_t value = bson_iter_as_int64(&at);
        return holds(term->comparison, (value > term->whole) - (value < term->whole));
    }
    if (!term->is_text && !term->is_date && (whole || type == BSON_TYPE_DOUBLE)) {
        double value = bson_iter_as_double(&at);
        return holds(term->comparison, (value > term->number) - (value < term->number));
    }
    return term->comparison == UNEQUAL;
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
