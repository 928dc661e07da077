/* JSON and BSON, of which only the kind is guessed. Texts of JSON stay texts; if all texts of a key are dates by one
 * pattern, a line names the option that makes them dates. */
#include "base/chars.h"
#include "base/document.h"
#include "format/cut/bson_length.h"
#include "format/cut/bson_span.h"
#include "format/cut/json_span.h"
#include "format/guess/guess_inner.h"
#include "format/json/json.h"
#include "format/schema/schema.h"
#include "format/types.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_AT = 256 << 10 /* bytes, for dates */, MOST_PATH = 400, MOST_DATES = 5 /* that are named */ };

/* True if nothing follows the closing bracket: otherwise [] may be the first value of a row. */
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

/* ---- dates in the texts of JSON ---- */

/* path[0, length): the keys to the text, with dots between them. False: out of memory. */
static bool note_text(guess_t *guess, const char *path, size_t length, const uint8_t *text,
                      size_t text_length, err_t *err) {
    size_t at = 0;
    while (at < guess->text_count &&
           (strncmp(guess->texts[at]->path, path, length) != 0 || guess->texts[at]->path[length]))
        at++;
    if (at == GUESS_MOST_TEXTS)
        return true;
    if (at == guess->text_count) {
        guess_texts_t *texts = calloc(1, sizeof *texts + length + 1);
        if (!texts)
            return err_memory(err, length);
        guess_column_begin(&texts->column);
        memcpy(texts->path, path, length);
        guess->texts[guess->text_count++] = texts;
    }
    guess_column_add(&guess->texts[at]->column, text, text_length);
    return true;
}

/* Notes the texts of an object or an array; those of an array stand where it does. */
static bool note_texts(guess_t *guess, bson_iter_t *at, bool array, char path[MOST_PATH], size_t before,
                       err_t *err) {
    while (element_next(at)) {
        const char *key = bson_iter_key(at);
        const size_t keyed = array ? 0 : strlen(key);
        size_t length = before;
        bson_iter_t child;
        if (before + keyed + 2 > MOST_PATH ||
            (!array && (strchr(key, '.') || schema_key_problem(key, keyed))))
            continue;
        if (!array)
            length += (size_t)sprintf(path + before, "%s%s", before ? "." : "", key);
        if (BSON_ITER_HOLDS_UTF8(at)) {
            uint32_t size;
            const uint8_t *text = (const uint8_t *)bson_iter_utf8(at, &size);
            if (!note_text(guess, path, length, text, size, err))
                return false;
        } else if ((BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at)) &&
                   bson_iter_recurse(at, &child) &&
                   !note_texts(guess, &child, BSON_ITER_HOLDS_ARRAY(at), path, length, err)) {
            return false;
        }
    }
    return true;
}

/* text: one object, with what stands around it. False: out of memory. */
static bool note_object(guess_t *guess, const uint8_t *text, size_t length, err_t *err) {
    char path[MOST_PATH];
    while (length && json_span_is_around(text[length - 1]))
        length--;
    char *copy = strndup((const char *)text, length);
    bson_t *object = copy ? json_document(copy, false, err) : NULL;
    bson_iter_t at;
    const bool ok = !copy    ? err_memory(err, length)
                    : object ? !bson_iter_init(&at, object) || note_texts(guess, &at, false, path, 0, err)
                             : err->status != STATUS_HOST;
    if (object)
        bson_destroy(object);
    free(copy);
    return ok;
}

static bool is_typed(const guess_t *guess, const char *path) {
    for (size_t i = 0; i < guess->options.type_count; i++)
        if (guess_keys_collide(guess->types[i].name, path))
            return true;
    return false;
}

static void list_dates(text_t *lines, const guess_t *guess) {
    size_t count = 0;
    for (size_t i = 0; i < guess->text_count; i++) {
        const guess_texts_t *texts = guess->texts[i];
        const guess_column_t column = {.is = guess_column_decide(&texts->column)};
        if (!guess_kind_is_date(column.is.kind) || __builtin_popcount(column.is.orders) > 1 ||
            is_typed(guess, texts->path) || ++count > MOST_DATES)
            continue;
        text_append(lines,
                    count == 1 ? "\ntexts stay texts; these options make dates of those that are:" : "");
        guess_put_spec(lines, "-t", texts->path, &column);
    }
    if (count > MOST_DATES)
        text_print(lines, ", and so of %zu more keys", count - MOST_DATES);
}

/* ---- JSON ---- */

bool guess_json_take(guess_t *guess, const uint8_t *text, size_t length, bool last, size_t *used,
                     err_t *err) {
    size_t at = lines_bom(text, length), end;
    while (at < length && (end = json_span_find(&(json_span_t){0}, text + at, length - at, last))) {
        size_t object = at;
        while (object < at + end && json_span_is_around(text[object]))
            object++;
        at += end;
        guess->records += object < at;
        if (object < LOOK_AT && !note_object(guess, text + object, at - object, err))
            return false;
    }
    guess->bytes += at;
    *used = at;
    return true;
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

static void write_types(text_t *yaml, text_t *lines, const guess_t *guess) {
    text_append(yaml, guess->options.type_count ? "fields:\n" : "");
    for (size_t i = 0; i < guess->options.type_count; i++) {
        const type_spec_t *spec = &guess->types[i];
        char name[200];
        guess_put_scalar(yaml, "  - {name: ", spec->name);
        text_print(yaml, ", type: %s", spec->type->name);
        guess_shown(name, sizeof name, spec->name, strlen(spec->name));
        text_print(lines, "%s%s as %s", i ? ", " : "\nby --type: ", name, spec->type->name);
        if (spec->pattern) {
            guess_put_scalar(yaml, ", pattern: ", spec->pattern);
            text_print(lines, " %s", spec->pattern);
        }
        text_append(yaml, "}\n");
    }
}

void guess_write_documents(text_t *yaml, text_t *lines, const guess_t *guess, uint64_t text_bytes) {
    const char *kind = guess->bson ? "bson" : "json";
    const bool plain = !guess->options.type_count && !guess->options.validate;
    text_print(yaml, "record: {%s: yes%s}\n", kind, guess->options.validate ? ", validate: yes" : "");
    text_print(lines, "no --format: read as %s%s%s", guess->bson ? "BSON" : "JSON",
               plain ? ", the same as --format " : "", plain ? kind : "");
    if (guess->was_utf16)
        text_append(lines, ", UTF-16 made UTF-8");
    text_append(lines, " (");
    guess_put_share(lines, guess, text_bytes);
    text_append(lines, ")");
    if (guess->options.bad_value) {
        text_print(yaml, "on_bad_value: %s\n", schema_bad_values[guess->options.bad_value]);
        text_print(lines, ", values that do not fit: %s", schema_bad_values[guess->options.bad_value]);
    }
    write_types(yaml, lines, guess);
    list_dates(lines, guess);
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
