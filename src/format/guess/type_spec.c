#include "format/guess/type_spec.h"
#include "base/chars.h"
#include "base/text.h"
#include "format/schema/schema.h"
#include "format/values/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Up to the first single colon, with each pair of colons as one. NULL: there is no single colon, or memory is out. *at
 * moves behind it. */
static char *take_word(const char **at, err_t *err) {
    char *word = calloc(1, strlen(*at) + 1);
    size_t length = 0;
    if (!word) {
        err_memory(err, strlen(*at));
        return NULL;
    }
    for (const char *from = *at; *from; from++) {
        if (*from == ':' && from[1] != ':') {
            *at = from + 1;
            return word;
        }
        from += *from == ':';
        word[length++] = *from;
    }
    free(word);
    err->status = STATUS_OK;
    return NULL;
}

static const schema_type_t *find_type(const char *word, size_t length) {
    for (size_t i = 0; i < SCHEMA_TYPES; i++)
        if (strlen(schema_types[i].name) == length && strncmp(schema_types[i].name, word, length) == 0 &&
            schema_types[i].type != TYPE_LENGTH)
            return &schema_types[i];
    return NULL;
}

static bool read_pattern(type_spec_t *spec, const char *at, err_t *err) {
    const size_t length = strlen(at);
    pattern_t pattern;
    if (spec->type->type != TYPE_DATE)
        return err_set(err, STATUS_USAGE, "--type '%s': a pattern goes with the types date and datetime%s",
                       spec->text,
                       spec->type->type == TYPE_BOOLEAN
                           ? "; the words of a boolean stand in a format file: true: [ja], false: [nein]"
                           : "");
    if (at[length - 1] != ')')
        return err_set(err, STATUS_USAGE, "--type '%s': after the pattern a ) is missing", spec->text);
    if (!(spec->pattern = strndup(at + 1, length - 2)))
        return err_memory(err, length);
    const char *problem = pattern_compile(spec->pattern, length - 2, &pattern);
    return !problem || err_set(err, STATUS_USAGE, "--type '%s': '%s' is not a date pattern: %s", spec->text,
                               spec->pattern, problem);
}

/* TYPE or TYPE(PATTERN). */
static bool read_type(type_spec_t *spec, const char *at, err_t *err) {
    const char *words[SCHEMA_TYPES];
    const size_t length = strcspn(at, "(");
    char word[64];
    if ((spec->type = find_type(at, length)))
        return !at[length] || read_pattern(spec, at + length, err);
    for (size_t i = 0; i < SCHEMA_TYPES; i++)
        words[i] = schema_types[i].type == TYPE_LENGTH ? "long" : schema_types[i].name;
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    return err_set(err, STATUS_USAGE, "--type '%s': '%s' is not a type; types are " SCHEMA_TYPE_WORDS "%s",
                   spec->text, word, suggestion(word, words, SCHEMA_TYPES).text);
}

static bool read_key(type_spec_t *spec, err_t *err) {
    const char *problem = schema_key_problem(spec->key, strlen(spec->key));
    return !problem || err_set(err, STATUS_USAGE, "--type '%s': '%s' cannot be a document's key: %s",
                               spec->text, spec->key, problem);
}

bool type_spec_read(const char *text, type_spec_t *spec, err_t *err) {
    const char *at = text;
    *spec = (type_spec_t){.text = text};
    if (!utf8_valid((const uint8_t *)text, strlen(text)))
        return err_set(err, STATUS_USAGE, "--type: '%s' is not UTF-8", text);
    *err = (err_t){.status = STATUS_OK};
    if (!(spec->name = take_word(&at, err)) && err->status != STATUS_OK)
        return false;
    if (!spec->name || !*spec->name || !*at)
        return err_set(
            err, STATUS_USAGE,
            "--type: '%s' is not NAME:TYPE, NAME:TYPE(PATTERN), NAME:KEY:TYPE or NAME:KEY: (a colon "
            "within a name is written twice)",
            text);
    if (find_type(at, strcspn(at, "(")))
        return read_type(spec, at, err);
    if ((spec->key = take_word(&at, err)))
        return read_key(spec, err) && (!*at || read_type(spec, at, err));
    return err->status == STATUS_OK && read_type(spec, at, err);
}

void type_spec_free(type_spec_t *spec) {
    free(spec->name);
    free(spec->key);
    free(spec->pattern);
    *spec = (type_spec_t){.text = NULL};
}

/* ---- a format that is there ---- */

static const field_t *find_field(const type_spec_t *spec, const schema_t *schema) {
    for (size_t i = 0; i < schema->field_count; i++)
        for (size_t j = 0; j < schema->fields[i].columns.count; j++)
            if (strcmp(schema->fields[i].columns.items[j].text, spec->name) == 0)
                return &schema->fields[i];
    for (size_t i = 0; i < schema->field_count; i++)
        if (strcmp(schema->fields[i].name, spec->name) == 0)
            return &schema->fields[i];
    return NULL;
}

/* Without a pattern of its own: any but the usual one of the other word (date, datetime). */
static bool same_pattern(const type_spec_t *spec, const field_t *field) {
    const char *only = field->patterns.count == 1 ? field->patterns.items[0].text : NULL;
    if (spec->pattern)
        return only && strcmp(only, spec->pattern) == 0;
    if (!spec->type || spec->type->type != TYPE_DATE)
        return true;
    return strcmp(spec->type->name, "date") == 0 ? only != NULL : !only || strcmp(only, "YYYY-MM-DD") != 0;
}

bool type_spec_agrees(const type_spec_t *spec, const schema_t *schema, const char *what, err_t *err) {
    const field_t *field = find_field(spec, schema);
    if (!field && schema_any_fields(schema))
        return err_set(err, STATUS_USAGE, "--type '%s': %s has no type for '%s': " TYPE_SPEC_ANEW, spec->text,
                       what, spec->name);
    if (!field)
        return err_set(err, STATUS_USAGE, "--type '%s': %s has no column '%s'", spec->text, what, spec->name);
    if ((!spec->key || strcmp(field->key, spec->key) == 0) &&
        (!spec->type || field->type == spec->type->type) && same_pattern(spec, field))
        return true;
    return err_set(err, STATUS_USAGE, "--type '%s': %s has the column '%s' as '%s', %s%s%s: " TYPE_SPEC_ANEW,
                   spec->text, what, spec->name, field->key, schema_type_name(field->type),
                   field->type == TYPE_DATE && field->patterns.count == 1 ? " " : "",
                   field->type == TYPE_DATE && field->patterns.count == 1 ? field->patterns.items[0].text
                                                                          : "");
}
