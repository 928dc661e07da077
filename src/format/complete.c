#include "format/complete.h"
#include "base/text.h"
#include "base/threads/pool.h"
#include "builtin/builtin.h"
#include "format/record/typed.h"
#include "format/records.h"
#include "format/schema/schema_digest.h"
#include "format/schema/schema_parse.h"

#include <bson/bson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- lookups ---- */

/* A lookup's file is read as any delimited file is, by a format with two fields. */
typedef struct {
    schema_t *schema; /* of the format that is completed */
    lookup_t *lookup;
    schema_t *own;
    records_t *records;
    records_place_t place;
    text_t path;
    uint8_t *text; /* with slack around it */
    size_t length, room;
} loading_t;

static void put_quoted(text_t *out, const char *text) {
    text_append(out, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            text_append(out, "\\");
        text_append_bytes(out, text, 1);
    }
    text_append(out, "\"");
}

static bool make_schema(loading_t *loading, err_t *err) {
    text_t yaml = {.length = 0};
    text_append(&yaml,
                "format: lookup\nrecord: {delimiter: [\",\", \";\", \"\\t\", \"|\"], header: yes}\nfields:\n"
                "  - {name: key, nulls: [], column: ");
    put_quoted(&yaml, loading->lookup->key);
    text_append(&yaml, "}\n  - {name: value, nulls: [], column: ");
    put_quoted(&yaml, loading->lookup->value);
    text_append(&yaml, "}\n");
    const size_t length = yaml.length;
    char *text = text_take(&yaml, err);
    loading->own = text ? schema_parse(text, length, "the format of a lookup", err) : NULL;
    free(text);
    return loading->own &&
           ((loading->records = records_new(loading->own)) || err_memory(err, sizeof(schema_t)));
}

/* Reading a pipe might never end, and what was read of one cannot be read again by the load's next run. */
static bool may_be_read(const char *path, err_t *err) {
    struct stat facts;
    return stat(path, &facts) != 0 || S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode) ||
           err_set(
               err, STATUS_INPUT,
               "%.1000s: is no regular file; the lookup's file is read again by each load and verify: give "
               "a file that stays",
               path);
}

/* Beside the format file, unless it is absolute. */
static bool read_file(loading_t *loading, const char *format, err_t *err) {
    const char *slash = strrchr(format, '/'), *file = loading->lookup->file;
    opened_t opened;
    if (*file != '/')
        text_print(&loading->path, "%.*s", slash ? (int)(slash + 1 - format) : 2, slash ? format : "./");
    text_append(&loading->path, file);
    if (loading->path.lacking)
        return err_memory(err, loading->path.lacking);
    if (!may_be_read(loading->path.bytes, err) ||
        !builtin_open(builtin_formats, "lookup", loading->path.bytes, &opened, err))
        return false;
    loading->length = opened.length;
    loading->text = calloc(1, opened.length + 2 * (size_t)POOL_SLACK);
    if (loading->text)
        memcpy(loading->text + POOL_SLACK, opened.text, opened.length);
    free(opened.text);
    return loading->text || err_memory(err, opened.length);
}

static bool take_text(loading_t *loading, const bson_t *document, const char *key, schema_text_t *text) {
    bson_iter_t at;
    uint32_t length;
    err_t ignored;
    if (!bson_iter_init_find(&at, document, key) || !BSON_ITER_HOLDS_UTF8(&at))
        return false;
    const char *bytes = bson_iter_utf8(&at, &length);
    char *copy = schema_own(loading->schema, length + 1, &ignored);
    if (copy)
        memcpy(copy, bytes, length);
    *text = (schema_text_t){copy, length};
    return copy != NULL;
}

static bool add_pair(loading_t *loading, const record_t *record, err_t *err) {
    lookup_t *lookup = loading->lookup;
    struct lookup_pair pair;
    bson_t document;
    if (!bson_init_static(&document, loading->place.bytes, record->document_length) ||
        !take_text(loading, &document, "key", &pair.key) ||
        !take_text(loading, &document, "value", &pair.value))
        return err_set(err, STATUS_INPUT,
                       "%.1000s:%u: is not UTF-8: make it UTF-8 first (iconv -f ENCODING -t UTF-8)",
                       loading->path.bytes, record->line + 1);
    if (lookup->count == loading->room) {
        loading->room = 2 * loading->room + 64;
        struct lookup_pair *more = schema_own(loading->schema, loading->room * sizeof *more, err);
        if (!more)
            return false;
        if (lookup->count)
            memcpy(more, lookup->pairs, lookup->count * sizeof *more);
        lookup->pairs = more;
    }
    lookup->pairs[lookup->count++] = pair;
    lookup->longest = pair.value.length > lookup->longest ? pair.value.length : lookup->longest;
    return true;
}

static bool read_pairs(loading_t *loading, err_t *err) {
    const uint8_t *text = loading->text + POOL_SLACK;
    dialect_t *dialect = malloc(sizeof *dialect);
    record_t record;
    parsed_t parsed = PARSED_MEMORY;
    bool ok = dialect ? dialect_fits(loading->own, text, loading->length, loading->path.bytes, err)
                      : err_memory(err, sizeof *dialect);
    if (ok && !dialect_sniff_again(loading->own, text, loading->length, dialect))
        ok = err_set(err, STATUS_INPUT, "%.1000s: has no columns", loading->path.bytes);
    if (ok && dialect && !dialect->header)
        ok = err_set(
            err, STATUS_INPUT,
            "%.1000s: has no line at all, but the lookup's columns '%s' and '%s' were expected in its "
            "first line",
            loading->path.bytes, loading->lookup->key, loading->lookup->value);
    if (ok)
        records_begin(loading->records, dialect, text, (uint32_t)loading->length, true, false, 0);
    while (ok &&
           (parsed = records_next_into(loading->records, &loading->place, &record, NULL)) != PARSED_END) {
        if (parsed == PARSED_MEMORY)
            ok = err_memory(err, loading->length);
        else if (parsed == PARSED_REJECT || parsed == PARSED_OTHER_HEADER)
            ok = err_set(err, STATUS_INPUT, "%.1000s:%u:%u: %s", loading->path.bytes, record.line + 1,
                         record.column, record.reason);
        else if (parsed == PARSED_DOCUMENT)
            ok = add_pair(loading, &record, err);
    }
    free(dialect);
    return ok;
}

static int order(const void *one, const void *other) {
    return lookup_order(&((const struct lookup_pair *)one)->key, &((const struct lookup_pair *)other)->key);
}

/* Sorted; what is there twice, once. */
static bool sort_pairs(loading_t *loading, err_t *err) {
    lookup_t *lookup = loading->lookup;
    size_t kept = 0;
    if (lookup->count)
        qsort(lookup->pairs, lookup->count, sizeof *lookup->pairs, order);
    for (size_t i = 0; i < lookup->count; i++) {
        const struct lookup_pair *before = kept ? &lookup->pairs[kept - 1] : NULL, *pair = &lookup->pairs[i];
        if (!before || lookup_order(&before->key, &pair->key) != 0)
            lookup->pairs[kept++] = *pair;
        else if (lookup_order(&before->value, &pair->value) != 0)
            return err_set(err, STATUS_INPUT, "%.1000s: '%.200s' is there twice, as '%.200s' and as '%.200s'",
                           loading->path.bytes, pair->key.text, before->value.text, pair->value.text);
    }
    lookup->count = kept;
    return true;
}

static bool load_lookup(schema_t *schema, lookup_t *lookup, const char *format, err_t *err) {
    loading_t loading = {.schema = schema, .lookup = lookup};
    const bool ok = make_schema(&loading, err) && read_file(&loading, format, err) &&
                    read_pairs(&loading, err) && sort_pairs(&loading, err);
    records_destroy(loading.records);
    schema_destroy(loading.own);
    text_free(&loading.path);
    free(loading.place.bytes);
    free(loading.text);
    return ok;
}

/* ---- constants ---- */

static bool check_constant(const schema_t *schema, const make_t *made, err_t *err) {
    const field_t *field = &made->field;
    uint8_t text[SCHEMA_MOST_CONSTANT + POOL_SLACK] = {0};
    pattern_t patterns[PATTERN_MOST];
    char sentence[TYPED_MISFIT];
    typed_t value;
    if (made->kind != MAKE_CONSTANT || field->type == TYPE_TEXT || field->type == TYPE_TRIMMED)
        return true;
    for (size_t i = 0; i < field->patterns.count; i++)
        pattern_compile(field->patterns.items[i].text, field->patterns.items[i].length, &patterns[i]);
    memcpy(text, made->text.text, made->text.length);
    if (typed_convert(field, patterns, ENCODING_NONE, text, made->text.length, &value))
        return true;
    typed_misfit(field, text, made->text.length, sentence);
    return yaml_tree_complain(schema->tree, field->at, err, "%s", sentence);
}

bool format_complete(schema_t *schema, const char *path, err_t *err) {
    bool lookups = false;
    for (size_t i = 0; i < schema->made_count; i++)
        if (!check_constant(schema, &schema->made[i], err))
            return false;
    for (size_t i = 0; i < schema->field_count; i++) {
        lookup_t *lookup = schema->fields[i].lookup;
        if (lookup && !load_lookup(schema, lookup, path, err))
            return false;
        lookups |= lookup != NULL;
    }
    return !lookups || schema_digest(schema, err);
}
