/* JSON and BSON, of which only the kind is guessed. Texts of JSON stay texts; those that are dates by one pattern are noted. */
#include "base/chars.h"
#include "base/document.h"
#include "format/cut/ends.h"
#include "format/guess/guess_inner.h"
#include "format/json/json.h"
#include "format/schema/schema.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>

enum { LOOK_AT = 256 << 10 /* bytes, for dates */, MOST_PATH = 400 };

/* True if nothing follows the closing bracket: otherwise [] may be the first value of a row. */
static bool is_empty_array(const uint8_t *text, size_t length) {
    const uint8_t *const end = memchr(text, ']', length);
    return end && lines_blanks(end + 1, text + length) == text + length;
}

record_kind_t guess_kind_of(const uint8_t *text, size_t length) {
    const uint8_t *const end = text + length, *at = text + json_span_begins(text, length);
    bool lies;
    if (bson_span_begins(text, length)) {
        const size_t next = bson_span_find(text, length, &lies);
        if (next + 4 > length || bson_length_may_be(bson_length(text + next)))
            return RECORDS_BSON;
    }
    const uint8_t first = at < end ? *at : 0;
    at = first ? lines_blanks(at + 1, end) : end;
    const uint8_t second = at < end ? *at : 0;
    return (first == '{' && (second == '"' || second == '}')) ||
                   (first == '[' &&
                    (second == '{' || second == '[' || (second == ']' && is_empty_array(text, length))))
               ? RECORDS_JSON
               : RECORDS_DELIMITED;
}

/* ---- dates in the texts of JSON ---- */

guess_column_t *guess_column_at(guess_t *guess, const char *path, err_t *err) {
    size_t i = 0;
    while (i < guess->structure.columns && strcmp(guess->columns[i].text, path) != 0)
        i++;
    if (i == guess->structure.columns && !guess_add_column(guess, path, strlen(path), NULL, err))
        return NULL;
    return &guess->columns[i];
}

/* Makes a column of each path of an object or an array, and adds the texts there; those of an array stand where it does. */
static bool note_values(guess_t *guess, bson_iter_t *at, bool array, char path[MOST_PATH], size_t before,
                        err_t *err) {
    while (guess->structure.columns < GUESS_MOST_PATHS && element_next(at)) {
        const char *key = bson_iter_key(at);
        const size_t keyed = array ? 0 : strlen(key);
        bson_iter_t child;
        path[before] = '\0';
        if (before + keyed + 2 > MOST_PATH ||
            (!array && (strchr(key, '.') || schema_key_problem(key, keyed))))
            continue;
        if (!array)
            sprintf(path + before, "%s%s", before ? "." : "", key);
        guess_column_t *column = guess_column_at(guess, path, err);
        if (!column)
            return false;
        if (BSON_ITER_HOLDS_UTF8(at)) {
            uint32_t length;
            const char *text = bson_iter_utf8(at, &length);
            guess_column_add(&column->column, (const uint8_t *)text, length);
        } else if ((BSON_ITER_HOLDS_DOCUMENT(at) || BSON_ITER_HOLDS_ARRAY(at)) &&
                   bson_iter_recurse(at, &child) &&
                   !note_values(guess, &child, BSON_ITER_HOLDS_ARRAY(at), path, strlen(path), err)) {
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
                    : object ? !bson_iter_init(&at, object) || note_values(guess, &at, false, path, 0, err)
                             : err->status != STATUS_HOST;
    if (object)
        bson_destroy(object);
    free(copy);
    return ok;
}

/* ---- records ---- */

bool guess_take_documents(guess_t *guess, const uint8_t *text, size_t length, bool last, err_t *err) {
    const bool json = guess->kind == RECORDS_JSON;
    size_t at = json ? lines_bom(text, length) : 0, end;
    bool lies;
    while (at < length && (end = json ? json_span_find(&(json_span_t){0}, text + at, length - at, last)
                                      : bson_span_find(text + at, length - at, &lies))) {
        size_t object = at;
        while (object < at + end && json_span_is_around(text[object]))
            object++;
        at += end;
        guess->counts.records += object < at;
        if (json && object < LOOK_AT && !note_object(guess, text + object, at - object, err))
            return false;
    }
    return true;
}

bool guess_check_documents(const guess_t *guess, err_t *err) {
    const guess_options_t *options = &guess->options;
    const bool types = options->type_count > 0, bson = guess->kind == RECORDS_BSON;
    const char *odd = bson && types                            ? "type"
                      : (bson || !types) && options->bad_value ? "on-bad-value"
                      : (bson || !types) && options->timezone  ? "with timezone"
                                                               : guess_options_said(options, true);
    return !odd || err_set(err, STATUS_USAGE, "%.1000s: is %s, with which --%s does not go: leave it out%s",
                           guess->name, bson ? "BSON" : "JSON", odd,
                           !bson ? "; --type says of which type the values of a key are" : "");
}
