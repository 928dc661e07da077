#include "format/schema.h"
#include "base/nearest.h"
#include "builtin/builtin.h"
#include "format/pattern.h"
#include "format/schema_digest.h"

#include <stdlib.h>
#include <string.h>

typedef struct owned {
    struct owned *next;
    char bytes[];
} owned_t;

typedef struct {
    schema_t *schema;
    const ytree_t *tree; /* what is being read: the file, or the built-in format that it is like */
    bool keys_are_names;
    err_t *err;
} reader_t;

#define COUNT(array)      (sizeof(array) / sizeof *(array))
#define COMPLAIN(at, ...) ytree_complain(reader->tree, at, reader->err, __VA_ARGS__)

static void *keep(reader_t *reader, size_t bytes) {
    owned_t *owned = calloc(1, sizeof *owned + bytes);
    if (!owned) {
        err_memory(reader->err, bytes);
        return NULL;
    }
    owned->next = reader->schema->owned;
    reader->schema->owned = owned;
    return owned->bytes;
}

static bool want_kind(reader_t *reader, const ynode_t *node, ynode_kind_t kind, const char *expected) {
    return node->kind == kind || COMPLAIN(node, "%s was expected here", expected);
}

/* A scalar or a list of scalars. */
static bool read_texts(reader_t *reader, const ynode_t *node, texts_t *texts) {
    size_t count = node->kind == YNODE_LIST ? node->count : 1;
    text_t *items = keep(reader, (count ? count : 1) * sizeof *items);
    if (!items)
        return false;
    const ynode_t *item = node->kind == YNODE_LIST ? node->first : node;
    for (size_t i = 0; i < count; i++, item = item->next) {
        if (!want_kind(reader, item, YNODE_SCALAR, "a word or a list of words"))
            return false;
        items[i] = (text_t){item->text, item->length};
    }
    *texts = (texts_t){items, count};
    return true;
}

static bool read_name(reader_t *reader, const ynode_t *node, const char **name) {
    if (!want_kind(reader, node, YNODE_SCALAR, "a name"))
        return false;
    if (!node->length || strlen(node->text) != node->length)
        return COMPLAIN(node, "a name cannot be empty");
    *name = node->text;
    return true;
}

static bool read_key(reader_t *reader, const ynode_t *node, const char **key) {
    if (!read_name(reader, node, key))
        return false;
    const char *text = *key;
    if (text[0] == '$' || text[0] == '.' || text[node->length - 1] == '.' || strstr(text, "..") ||
        strstr(text, ".$"))
        return COMPLAIN(node, "'%s' cannot be a document's key: no part of it may be empty or start with '$'",
                        text);
    if (strcmp(text, "_id") == 0 || strncmp(text, "_id.", 4) == 0)
        return COMPLAIN(node, "the key _id is made from the record's position; choose another key");
    if (node->length > 120)
        return COMPLAIN(node, "a key of more than 120 bytes is not supported");
    return true;
}

static const struct {
    const char *name;
    field_type_t type;
} types[] = {{"text", TYPE_TEXT},     {"code", TYPE_CODE}, {"int", TYPE_INT},      {"long", TYPE_LONG},
             {"number", TYPE_NUMBER}, {"date", TYPE_DATE}, {"datetime", TYPE_DATE}};

const char *schema_type_name(field_type_t type) {
    for (size_t i = 0; i < COUNT(types); i++)
        if (types[i].type == type)
            return types[i].name;
    return "";
}

static bool read_type(reader_t *reader, const ynode_t *node, field_t *field) {
    static const text_t date[] = {{"YYYY-MM-DD", 10}};
    static const text_t datetime[] = {{"YYYY-MM-DDThh:mm:ssZ", 20},
                                      {"YYYY-MM-DD hh:mm:ss", 19},
                                      {"YYYY-MM-DDThh:mm:ss", 19},
                                      {"YYYY-MM-DDThh:mm:ss.SSSZ", 24},
                                      {"YYYY-MM-DD hh:mm:ss.SSS", 23},
                                      {"YYYY-MM-DDThh:mm:ss.SSS", 23},
                                      {"YYYY-MM-DD", 10}};
    const char *words[COUNT(types)];
    if (!want_kind(reader, node, YNODE_SCALAR, "a type"))
        return false;
    for (size_t i = 0; i < COUNT(types); i++) {
        words[i] = types[i].name;
        if (strcmp(node->text, types[i].name) != 0)
            continue;
        field->type = types[i].type;
        if (strcmp(node->text, "date") == 0)
            field->as = (texts_t){date, COUNT(date)};
        if (strcmp(node->text, "datetime") == 0)
            field->as = (texts_t){datetime, COUNT(datetime)};
        return true;
    }
    const char *near = nearest_word(node->text, words, COUNT(types));
    return COMPLAIN(node, "'%s' is not a type; %s%s%stypes are text, code, int, long, number, date, datetime",
                    node->text, near ? "did you mean '" : "", near ? near : "", near ? "'? " : "");
}

static bool read_as(reader_t *reader, const ynode_t *node, field_t *field) {
    if (field->type != TYPE_DATE)
        return COMPLAIN(node, "'as' goes with the types date and datetime");
    if (!read_texts(reader, node, &field->as))
        return false;
    if (!field->as.count || field->as.count > PATTERN_MOST)
        return COMPLAIN(node, "1 to %d patterns were expected", PATTERN_MOST);
    for (size_t i = 0; i < field->as.count; i++) {
        pattern_t pattern;
        const char *problem = pattern_compile(field->as.items[i].text, field->as.items[i].length, &pattern);
        if (problem)
            return COMPLAIN(node, "'%s' is not a date pattern: %s", field->as.items[i].text, problem);
    }
    return true;
}

static bool read_divide(reader_t *reader, const ynode_t *node, field_t *field) {
    int64_t divide = 1;
    if (field->type != TYPE_NUMBER)
        return COMPLAIN(node, "'divide' goes with the type number");
    if (!ytree_int(reader->tree, node, 1, 1000000000, &divide, reader->err))
        return false;
    for (field->divide = 0; divide % 10 == 0; divide /= 10)
        field->divide++;
    return divide == 1 || COMPLAIN(node, "a power of ten was expected: 1, 10, 100, ...");
}

static bool read_field(reader_t *reader, const ynode_t *node, field_t *field) {
    static const char *const keys[] = {"name", "key", "type", "column", "absent", "as", "divide", "optional"};
    static const text_t empty[] = {{"", 0}};
    const ytree_t *tree = reader->tree;
    if (!want_kind(reader, node, YNODE_MAP, "a field such as {name: testId, key: t, type: int}"))
        return false;
    const ynode_t *width = ynode_get(node, "width");
    if (width)
        return COMPLAIN(width, "fixed-width fields are not read by this version");
    if (!ytree_only_keys(tree, node, keys, COUNT(keys), reader->err))
        return false;
    const ynode_t *name = ynode_get(node, "name"), *key = ynode_get(node, "key"),
                  *type = ynode_get(node, "type"), *column = ynode_get(node, "column"),
                  *absent = ynode_get(node, "absent"), *as = ynode_get(node, "as"),
                  *divide = ynode_get(node, "divide"), *optional = ynode_get(node, "optional");
    if (!name)
        return COMPLAIN(node, "this field has no name");
    *field = (field_t){.at = node, .type = TYPE_TEXT, .absent = {empty, 1}};
    if (!read_name(reader, name, &field->name) ||
        !read_key(reader, key && !reader->keys_are_names ? key : name, &field->key))
        return false;
    if (type && !read_type(reader, type, field))
        return false;
    if (as && !read_as(reader, as, field))
        return false;
    if (divide && !read_divide(reader, divide, field))
        return false;
    if (absent && !read_texts(reader, absent, &field->absent))
        return false;
    if (field->absent.count > 8)
        return COMPLAIN(absent, "at most 8 fillers were expected");
    if (optional && !ytree_bool(tree, optional, &field->optional, reader->err))
        return false;
    if (!read_texts(reader, column ? column : name, &field->columns))
        return false;
    return field->columns.count || COMPLAIN(column, "at least one column name was expected");
}

static bool read_fields(reader_t *reader, const ynode_t *list) {
    schema_t *schema = reader->schema;
    if (!want_kind(reader, list, YNODE_LIST, "a list of fields"))
        return false;
    if (!list->count || list->count > SCHEMA_MOST_FIELDS)
        return COMPLAIN(list, "1 to %d fields were expected", SCHEMA_MOST_FIELDS);
    if (!(schema->fields = keep(reader, list->count * sizeof *schema->fields)))
        return false;
    for (const ynode_t *node = list->first; node; node = node->next) {
        field_t *field = &schema->fields[schema->field_count];
        if (!read_field(reader, node, field))
            return false;
        for (size_t i = 0; i < schema->field_count; i++) {
            const field_t *other = &schema->fields[i];
            if (strcmp(other->name, field->name) == 0)
                return COMPLAIN(node, "a field named '%s' stands in line %d already", field->name,
                                other->at->line);
            size_t length = strlen(other->key), mine = strlen(field->key);
            size_t shorter = length < mine ? length : mine;
            if (strncmp(other->key, field->key, shorter) == 0 &&
                (length == mine || (length < mine ? field->key : other->key)[shorter] == '.'))
                return COMPLAIN(node,
                                "the key '%s' does not go with '%s' of line %d: one of them is in the way",
                                field->key, other->key, other->at->line);
        }
        schema->field_count++;
    }
    return true;
}

/* Fields of one subdocument must stand together: the document is written from front to back. */
static bool check_groups(reader_t *reader) {
    const schema_t *schema = reader->schema;
    for (size_t i = 2; i < schema->field_count; i++) {
        const char *key = schema->fields[i].key;
        for (const char *dot = strchr(key, '.'); dot; dot = strchr(dot + 1, '.')) {
            size_t prefix = (size_t)(dot - key) + 1;
            if (strncmp(schema->fields[i - 1].key, key, prefix) == 0)
                continue;
            for (size_t j = 0; j + 1 < i; j++)
                if (strncmp(schema->fields[j].key, key, prefix) == 0)
                    return COMPLAIN(schema->fields[i].at,
                                    "'%s' must stand beside '%s': fields of one subdocument stand together",
                                    key, schema->fields[j].key);
        }
    }
    return true;
}

static bool read_delimiters(reader_t *reader, const ynode_t *node) {
    schema_t *schema = reader->schema;
    texts_t texts;
    if (!read_texts(reader, node, &texts))
        return false;
    if (!texts.count || texts.count > SCHEMA_MOST_DELIMITERS)
        return COMPLAIN(node, "1 to %d delimiters were expected", SCHEMA_MOST_DELIMITERS);
    for (size_t i = 0; i < texts.count; i++) {
        const text_t *text = &texts.items[i];
        if (text->length != 1 || strchr("\r\n\"\\", text->text[0]) || (text->text[0] & 0x80))
            return COMPLAIN(node, "a delimiter is one ASCII character such as \"|\", \",\", \";\" or \"\\t\" "
                                  "(in double quotes), no quote, backslash or line end");
        schema->delimiters[schema->delimiter_count++] = text->text[0];
    }
    return true;
}

static bool read_escape(reader_t *reader, const ynode_t *node) {
    texts_t texts;
    if (!read_texts(reader, node, &texts))
        return false;
    reader->schema->escape_double = reader->schema->escape_backslash = false;
    for (size_t i = 0; i < texts.count; i++) {
        if (strcmp(texts.items[i].text, "double") == 0)
            reader->schema->escape_double = true;
        else if (strcmp(texts.items[i].text, "backslash") == 0)
            reader->schema->escape_backslash = true;
        else
            return COMPLAIN(node, "'%s' is not a way to escape; known are double and backslash",
                            texts.items[i].text);
    }
    return true;
}

static bool read_header(reader_t *reader, const ynode_t *node) {
    schema_t *schema = reader->schema;
    bool yes;
    err_t ignored;
    if (node->kind == YNODE_SCALAR && !node->quoted && ytree_bool(reader->tree, node, &yes, &ignored)) {
        schema->header = yes ? HEADER_YES : HEADER_NO;
        return true;
    }
    schema->header = HEADER_WORDS;
    if (!read_texts(reader, node, &schema->header_words))
        return false;
    for (size_t i = 0; i < schema->header_words.count; i++)
        if (!schema->header_words.items[i].length)
            return COMPLAIN(node, "a header's first word cannot be empty");
    return true;
}

static bool read_record(reader_t *reader, const ynode_t *node) {
    static const char *const keys[] = {"columns", "quote", "escape", "multiline", "header", "encoding"};
    schema_t *schema = reader->schema;
    if (!want_kind(reader, node, YNODE_MAP, "a map such as {columns: [\",\"], header: yes}"))
        return false;
    const ynode_t *fixed = ynode_get(node, "fixed");
    if (fixed)
        return COMPLAIN(fixed, "fixed-width records are not read by this version");
    if (!ytree_only_keys(reader->tree, node, keys, COUNT(keys), reader->err))
        return false;
    const ynode_t *columns = ynode_get(node, "columns"), *quote = ynode_get(node, "quote"),
                  *escape = ynode_get(node, "escape"), *multiline = ynode_get(node, "multiline"),
                  *header = ynode_get(node, "header"), *encoding = ynode_get(node, "encoding");
    if (!columns)
        return COMPLAIN(node, "'columns' is missing: the delimiters to choose from, such as [\",\", \"|\"]");
    if (!read_delimiters(reader, columns) || (escape && !read_escape(reader, escape)) ||
        (header && !read_header(reader, header)))
        return false;
    if (quote && !want_kind(reader, quote, YNODE_SCALAR, "a quote character"))
        return false;
    if (quote && (strcmp(quote->text, "none") == 0 || !quote->length))
        schema->quote = 0;
    else if (quote && quote->length == 1 && !(quote->text[0] & 0x80) && !strchr("\r\n\\", quote->text[0]) &&
             !memchr(schema->delimiters, quote->text[0], schema->delimiter_count))
        schema->quote = quote->text[0];
    else if (quote)
        return COMPLAIN(quote, "one ASCII character that is no delimiter, or none, was expected");
    bool lines = false;
    if (multiline && !ytree_bool(reader->tree, multiline, &lines, reader->err))
        return false;
    if (lines)
        return COMPLAIN(multiline, "line ends inside quotes are not read by this version");
    if (encoding && (encoding->kind != YNODE_SCALAR || strcmp(encoding->text, "latin1") != 0))
        return COMPLAIN(encoding, "only latin1 is known here (UTF-8 is always read); leave it out to keep "
                                  "other bytes as BSON binary");
    schema->latin1 = encoding != NULL;
    return true;
}

static int field_index(const schema_t *schema, const char *name) {
    for (size_t i = 0; i < schema->field_count; i++)
        if (strcmp(schema->fields[i].name, name) == 0)
            return (int)i;
    return -1;
}

static bool named_field(reader_t *reader, const ynode_t *node, int *index) {
    const schema_t *schema = reader->schema;
    if (!want_kind(reader, node, YNODE_SCALAR, "a field's name"))
        return false;
    if ((*index = field_index(schema, node->text)) >= 0)
        return true;
    const char *names[SCHEMA_MOST_FIELDS];
    for (size_t i = 0; i < schema->field_count; i++)
        names[i] = schema->fields[i].name;
    const char *near = nearest_word(node->text, names, schema->field_count);
    return COMPLAIN(node, "there is no field '%s'%s%s%s", node->text, near ? "; did you mean '" : "",
                    near ? near : "", near ? "'?" : "");
}

static bool read_surplus(reader_t *reader, const ynode_t *node) {
    static const char *const keys[] = {"into", "left"};
    schema_t *schema = reader->schema;
    if (!want_kind(reader, node, YNODE_MAP, "a map such as {into: model, left: 9}") ||
        !ytree_only_keys(reader->tree, node, keys, COUNT(keys), reader->err))
        return false;
    const ynode_t *into = ynode_get(node, "into"), *left = ynode_get(node, "left");
    int64_t count = 0;
    if (!into || !left)
        return COMPLAIN(node,
                        "'into' (a field) and 'left' (how many fields stand before it) are both needed");
    if (!named_field(reader, into, &schema->surplus_field) ||
        !ytree_int(reader->tree, left, 0, (int64_t)schema->field_count - 1, &count, reader->err))
        return false;
    schema->surplus_left = (size_t)count;
    return true;
}

static bool add_layout(reader_t *reader, const uint16_t *fields, size_t count, const ynode_t *at) {
    schema_t *schema = reader->schema;
    if (schema->layout_count == SCHEMA_MOST_LAYOUTS)
        return COMPLAIN(at, "at most %d layouts were expected", SCHEMA_MOST_LAYOUTS);
    for (size_t i = 0; i < schema->layout_count; i++)
        if (schema->layouts[i].count == count)
            return COMPLAIN(at, "two layouts of %zu columns cannot be told apart", count);
    schema->layouts[schema->layout_count++] = (layout_t){fields, count};
    return true;
}

static bool read_layouts(reader_t *reader, const ynode_t *list) {
    if (!want_kind(reader, list, YNODE_LIST, "a list of lists of field names"))
        return false;
    for (const ynode_t *layout = list->first; layout; layout = layout->next) {
        if (!want_kind(reader, layout, YNODE_LIST, "a list of field names"))
            return false;
        uint16_t *fields = keep(reader, (layout->count + 1) * sizeof *fields);
        size_t count = 0;
        if (!fields)
            return false;
        for (const ynode_t *name = layout->first; name; name = name->next) {
            int index;
            if (!named_field(reader, name, &index))
                return false;
            for (size_t i = 0; i < count; i++)
                if (fields[i] == index)
                    return COMPLAIN(name, "'%s' stands twice in this layout", name->text);
            fields[count++] = (uint16_t)index;
        }
        if (!count)
            return COMPLAIN(layout, "a layout needs at least one column");
        if (!add_layout(reader, fields, count, layout))
            return false;
    }
    return true;
}

/* Without layouts: all fields in order, and the same without the optional ones at the end. */
static bool default_layouts(reader_t *reader) {
    schema_t *schema = reader->schema;
    uint16_t *fields = keep(reader, schema->field_count * sizeof *fields);
    if (!fields)
        return false;
    for (size_t i = 0; i < schema->field_count; i++)
        fields[i] = (uint16_t)i;
    size_t needed = schema->field_count;
    while (needed > 1 && schema->fields[needed - 1].optional)
        needed--;
    if (needed < schema->field_count && !add_layout(reader, fields, needed, ytree_root(reader->tree)))
        return false;
    return add_layout(reader, fields, schema->field_count, ytree_root(reader->tree));
}

/* What makes documents: record, fields, surplus, layouts. */
static bool read_body(reader_t *reader, const ynode_t *root) {
    schema_t *schema = reader->schema;
    const ynode_t *record = ynode_get(root, "record"), *fields = ynode_get(root, "fields"),
                  *surplus = ynode_get(root, "surplus"), *layouts = ynode_get(root, "layouts");
    if (!record || !fields)
        return COMPLAIN(root, "'%s' is missing; a format file has format, record and fields",
                        !record ? "record" : "fields");
    schema->surplus_field = -1;
    schema->quote = '"';
    schema->escape_double = true;
    if (!read_record(reader, record) || !read_fields(reader, fields) || !check_groups(reader) ||
        (surplus && !read_surplus(reader, surplus)))
        return false;
    if (schema->header == HEADER_WORDS && !schema->header_words.count)
        schema->header_words = schema->fields[0].columns;
    if (!(layouts ? read_layouts(reader, layouts) : default_layouts(reader)))
        return false;
    for (size_t i = 0; surplus && i < schema->layout_count; i++) {
        const layout_t *layout = &schema->layouts[i];
        if (layout->count <= schema->surplus_left ||
            layout->fields[schema->surplus_left] != schema->surplus_field)
            return COMPLAIN(surplus, "'%s' is not column %zu of every layout",
                            schema->fields[schema->surplus_field].name, schema->surplus_left + 1);
    }
    return schema_digest(schema, reader->err);
}

/* A format that is a built-in one but for its keys. */
static bool read_like(reader_t *reader, const ynode_t *like, const ynode_t *keys) {
    schema_t *schema = reader->schema;
    if (!want_kind(reader, like, YNODE_SCALAR, "a built-in format's name"))
        return false;
    if (keys && (keys->kind != YNODE_SCALAR || strcmp(keys->text, "names") != 0))
        return COMPLAIN(keys, "only 'names' is known here: each field's name is its key");
    const char *names[64];
    size_t count = 0;
    for (const builtin_t *builtin = builtin_formats; builtin->name && count < 64; builtin++) {
        if (strstr(builtin->text, "\nlike:")) {
            if (strcmp(builtin->name, like->text) == 0)
                return COMPLAIN(like, "'%s' is itself like another format; name that one", like->text);
            continue;
        }
        names[count++] = builtin->name;
        if (strcmp(builtin->name, like->text) != 0)
            continue;
        if (!(schema->like = ytree_parse(builtin->text, builtin->length, builtin->name, reader->err)))
            return false;
        reader->tree = schema->like;
        reader->keys_are_names = keys != NULL;
        return read_body(reader, ytree_root(schema->like));
    }
    const char *near = nearest_word(like->text, names, count);
    return COMPLAIN(like, "there is no built-in format '%s' to be like%s%s%s", like->text,
                    near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
}

static bool read_schema(reader_t *reader) {
    static const char *const own[] = {"format", "about", "record", "surplus", "fields", "layouts", "like"};
    static const char *const likes[] = {"format", "about", "like", "keys"};
    static const char *const later[] = {"sections", "tail", "make", "repeat", "marker"};
    schema_t *schema = reader->schema;
    const ynode_t *root = ytree_root(schema->tree);
    if (!want_kind(reader, root, YNODE_MAP, "a format file starts with 'format: NAME'; a map"))
        return false;
    for (size_t i = 0; i < COUNT(later); i++) {
        const ynode_t *node = ynode_get(root, later[i]);
        if (node)
            return COMPLAIN(node, "'%s' belongs to fixed-width records, which this version does not read",
                            later[i]);
    }
    const ynode_t *format = ynode_get(root, "format"), *about = ynode_get(root, "about"),
                  *like = ynode_get(root, "like");
    if (!ytree_only_keys(reader->tree, root, like ? likes : own, like ? COUNT(likes) : COUNT(own),
                         reader->err))
        return false;
    if (!format)
        return COMPLAIN(root, "'format' is missing; a format file has format, record and fields");
    if (!read_name(reader, format, &schema->name) ||
        (about && !want_kind(reader, about, YNODE_SCALAR, "one line")))
        return false;
    schema->about = about ? about->text : "";
    return like ? read_like(reader, like, ynode_get(root, "keys")) : read_body(reader, root);
}

schema_t *schema_parse(const char *text, size_t length, const char *name, err_t *err) {
    schema_t *schema = calloc(1, sizeof *schema);
    if (!schema) {
        err_memory(err, sizeof *schema);
        return NULL;
    }
    reader_t reader = {.schema = schema, .err = err};
    reader.tree = schema->tree = ytree_parse(text, length, name, err);
    if (!schema->tree || !read_schema(&reader)) {
        schema_destroy(schema);
        return NULL;
    }
    return schema;
}

void schema_destroy(schema_t *schema) {
    if (!schema)
        return;
    for (owned_t *owned = schema->owned; owned;) {
        owned_t *next = owned->next;
        free(owned);
        owned = next;
    }
    ytree_destroy(schema->tree);
    ytree_destroy(schema->like);
    free(schema);
}

const field_t *schema_field(const schema_t *schema, const char *name) {
    int index = field_index(schema, name);
    if (index >= 0)
        return &schema->fields[index];
    for (size_t i = 0; i < schema->field_count; i++)
        if (strcmp(schema->fields[i].key, name) == 0)
            return &schema->fields[i];
    return NULL;
}
