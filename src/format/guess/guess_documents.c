/* A text of JSON or BSON: there is nothing to guess but that it is one. */
#include "base/chars.h"
#include "format/cut/bson_length.h"
#include "format/cut/bson_span.h"
#include "format/cut/json_span.h"
#include "format/guess/guess_inner.h"
#include "format/record/dialect.h"
#include "format/schema/schema.h"
#include "format/types.h"

#include <string.h>

/* Behind the bracket that closes it is nothing: else [] may be the first value of a row. */
static bool is_empty_array(const uint8_t *text, size_t length) {
    const uint8_t *end = memchr(text, ']', length);
    return end && lines_blanks(end + 1, text + length) == text + length;
}

bool guess_is_json(const uint8_t *text, size_t length) {
    uint8_t first, second;
    guess_first_bytes(text, length, &first, &second);
    return (first == '{' && (second == '"' || second == '}')) ||
           (first == '[' &&
            (second == '{' || second == '[' || (second == ']' && is_empty_array(text, length))));
}

void guess_json_take(guess_t *guess, const uint8_t *text, size_t length, bool from_start, bool last,
                     size_t *used) {
    size_t at = from_start ? lines_bom(text, length) : 0, end;
    while (at < length && (end = json_span_find(&(json_span_t){0}, text + at, length - at, last))) {
        for (size_t i = at; i < at + end; i++)
            if (!json_span_is_around(text[i])) {
                guess->records++;
                break;
            }
        at += end;
    }
    guess->bytes += at;
    *used = at;
}

bool guess_json_types(const guess_t *guess, err_t *err) {
    for (size_t i = 0; i < guess->options.type_count; i++) {
        const type_spec_t *spec = &guess->types[i];
        if (spec->key || !spec->type)
            return err_set(err, STATUS_USAGE,
                           "--type '%s': a value of JSON keeps the key that it has there: say NAME:TYPE",
                           spec->text);
        if (!value_types[spec->type->type].of_json)
            return err_set(err, STATUS_USAGE, "--type '%s': '%s' is no type of values of JSON", spec->text,
                           spec->type->name);
        const bool is_id = strcmp(spec->name, "_id") == 0;
        const char *problem = is_id ? NULL : schema_key_problem(spec->name, strlen(spec->name));
        if (problem)
            return err_set(err, STATUS_USAGE, "--type '%s': '%s' cannot be a document's key: %s", spec->text,
                           spec->name, problem);
        for (size_t j = 0; j < i; j++)
            if (guess_keys_collide(spec->name, guess->types[j].name))
                return err_set(err, STATUS_USAGE,
                               "--type '%s' does not go with --type '%s': one is within the other",
                               spec->text, guess->types[j].text);
    }
    return true;
}

void guess_json_fields(text_t *out, const guess_t *guess) {
    if (guess->options.bad_value)
        text_print(out, "on_bad_value: %s\n", schema_bad_values[guess->options.bad_value]);
    text_append(out, guess->options.type_count ? "fields:\n" : "");
    for (size_t i = 0; i < guess->options.type_count; i++) {
        const type_spec_t *spec = &guess->types[i];
        text_append(out, "  - {name: ");
        guess_put_scalar(out, spec->name, strlen(spec->name));
        text_print(out, ", type: %s", spec->type->name);
        if (spec->pattern) {
            text_append(out, ", pattern: ");
            guess_put_scalar(out, spec->pattern, strlen(spec->pattern));
        }
        text_append(out, "}\n");
    }
}

void guess_json_tell(text_t out[GUESS_LINES], const guess_t *guess) {
    text_append(&out[0], "no --format: read as JSON");
    text_append(&out[1], "each object brings its own fields");
    for (size_t i = 0; i < guess->options.type_count; i++) {
        const type_spec_t *spec = &guess->types[i];
        char name[200];
        guess_shown(name, sizeof name, spec->name, strlen(spec->name));
        text_print(&out[1], "%s%s as %s%s%s", i ? ", " : "; by --type: ", name, spec->type->name,
                   spec->pattern ? " " : "", spec->pattern ? spec->pattern : "");
    }
    if (guess->options.bad_value)
        text_print(&out[1], "; values that do not fit: %s", schema_bad_values[guess->options.bad_value]);
    text_append(&out[4], guess->options.type_count ? "" : "the same as --format json");
}

/* ---- BSON ---- */

bool guess_is_bson(const uint8_t *text, size_t length) {
    bool lies;
    if (!bson_span_begins(text, length))
        return false;
    const size_t next = bson_span_find(text, length, &lies);
    return next + 4 > length || bson_length_may_be(bson_length(text + next));
}

void guess_bson_take(guess_t *guess, const uint8_t *text, size_t length, size_t *used) {
    size_t end;
    bool lies;
    for (*used = 0; (end = bson_span_find(text + *used, length - *used, &lies)) != 0; *used += end)
        guess->records++;
    guess->bytes += *used;
}

void guess_bson_tell(text_t out[GUESS_LINES], const guess_t *guess) {
    text_append(&out[0], "no --format: read as BSON");
    text_append(&out[1], "each document brings its own fields");
    if (!guess->options.validate)
        text_append(&out[4], "the same as --format bson");
}
