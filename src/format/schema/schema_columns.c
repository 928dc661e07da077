#include "format/schema/schema_read.h"

#include <ctype.h>
#include <string.h>

static bool read_array(reader_t *reader, const yaml_item_t *node, field_t *field) {
    bool ascii = node->kind == YAML_ITEM_SCALAR && node->length && node->length <= SCHEMA_MOST_SEPARATOR;
    for (size_t i = 0; ascii && i < node->length; i++)
        ascii = node->text[i] > 0;
    if (!ascii)
        return COMPLAIN(node,
                        "1 to %d ASCII characters were expected, such as \";\": what is between the "
                        "elements of an array",
                        SCHEMA_MOST_SEPARATOR);
    field->array = (schema_text_t){node->text, node->length};
    return (field->type != TYPE_BINARY && field->type != TYPE_JSON) ||
           COMPLAIN(node, "'array' does not go with the type %s", schema_type_name(field->type));
}

static bool read_binary(reader_t *reader, const yaml_item_t *node, field_t *field) {
    const bool word = node->kind == YAML_ITEM_SCALAR;
    if (field->type != TYPE_BINARY)
        return COMPLAIN(node,
                        "'encoding' of a field goes with the type binary; of all texts it is in 'record'");
    field->hex = word && strcmp(node->text, "hex") == 0;
    return field->hex || (word && strcmp(node->text, "base64") == 0) ||
           COMPLAIN(node, "base64 or hex was expected: how binary data is written");
}

/* What it is made of may have been in quotes, or not. */
static bool check_exact(reader_t *reader, const yaml_item_t *node, const field_t *field) {
    return field->type != TYPE_TRIMMED || !field->exact || !field->array.length ||
           COMPLAIN(node, "of a trimmed text, 'exact' does not go with 'array'");
}

/* `divide` or `multiply`. */
static bool read_scale(reader_t *reader, const yaml_item_t *node, field_t *field) {
    const yaml_item_t *divide = yaml_item_get(node, "divide"), *multiply = yaml_item_get(node, "multiply");
    if (multiply && divide)
        return COMPLAIN(multiply, "'divide' is here already: one of the two was expected");
    if (!divide && !multiply)
        return true;
    if (!schema_divide(reader, divide ? divide : multiply, field))
        return false;
    field->divide = multiply ? -field->divide : field->divide;
    return true;
}

static bool read_field(reader_t *reader, const yaml_item_t *node, field_t *field) {
    static const schema_text_t empty[] = {{"", 0}};
    const yaml_tree_t *tree = reader->tree;
    if (!schema_want(reader, node, YAML_ITEM_MAP, "a field such as {name: testId, key: t, type: int}"))
        return false;
    const yaml_item_t *width = yaml_item_get(node, "width");
    if (width)
        return COMPLAIN(width, "'width' goes with records of fixed width: record: {fixed: 105}");
    if (!schema_only_keys(reader, node, KEYS_FIELD))
        return false;
    const yaml_item_t *name = yaml_item_get(node, "name"), *column = yaml_item_get(node, "column"),
                      *optional = yaml_item_get(node, "optional"), *array = yaml_item_get(node, "array"),
                      *encoding = yaml_item_get(node, "encoding");
    *field = (field_t){.type = TYPE_TEXT, .nulls = {empty, 1}};
    if (!schema_field_start(reader, node, field))
        return false;
    if (field->type == TYPE_LENGTH)
        return COMPLAIN(node, "'length' goes with records of fixed width");
    return TRY(read_scale(reader, node, field)) && TRY(schema_values(reader, node, field)) &&
           (!array || TRY(read_array(reader, array, field))) &&
           (!encoding || TRY(read_binary(reader, encoding, field))) &&
           TRY(check_exact(reader, node, field)) &&
           (!optional || TRY(yaml_tree_bool(tree, optional, &field->optional, reader->err))) &&
           schema_texts(reader, column ? column : name, &field->columns) &&
           (field->columns.count || COMPLAIN(column, "at least one column name was expected"));
}

/* The fields of one subdocument must be next to each other: the document is written from front to back. */
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
                    return COMPLAIN(
                        schema->fields[i].at,
                        "'%s' must be next to '%s': fields of one subdocument must follow each other", key,
                        schema->fields[j].key);
        }
    }
    return true;
}

static bool may_divide(const schema_text_t *text) {
    for (size_t i = 0; i < text->length; i++)
        if (strchr("\r\n\"\\", text->text[i]) || (text->text[i] & 0x80))
            return false;
    return text->length > 0;
}

static bool read_delimiters(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->schema;
    texts_t texts;
    schema->blanks = node->kind == YAML_ITEM_SCALAR && !node->quoted && strcmp(node->text, "blanks") == 0;
    schema->delimiters[0] = ' ';
    schema->delimiter_count = schema->blanks;
    if (schema->blanks)
        return true;
    if (!schema_texts(reader, node, &texts))
        return false;
    if (!texts.count || texts.count > SCHEMA_MOST_DELIMITERS)
        return COMPLAIN(node, "1 to %d delimiters were expected", SCHEMA_MOST_DELIMITERS);
    for (size_t i = 0; i < texts.count; i++) {
        const schema_text_t *text = &texts.items[i];
        if (!may_divide(text) || text->length > SCHEMA_WIDEST_DELIMITER)
            return COMPLAIN(node,
                            "a delimiter is one ASCII character such as \"|\", \",\", \";\" or \"\\t\" "
                            "(in double quotes), no quote, backslash or line end; or up to %d of them, such "
                            "as \"||\"; or the word blanks",
                            SCHEMA_WIDEST_DELIMITER);
        if (text->length > 1 && texts.count > 1)
            return COMPLAIN(node, "'%s' has several characters: then it must be the only delimiter",
                            text->text);
        if (text->length > 1)
            schema->wide = *text;
        schema->delimiters[schema->delimiter_count++] = text->text[0];
    }
    return true;
}

static bool divides(const schema_t *schema, char sign) {
    return memchr(schema->delimiters, sign, schema->delimiter_count) || (schema->blanks && sign == '\t') ||
           (schema->wide.length && memchr(schema->wide.text, sign, schema->wide.length));
}

static bool read_escape(reader_t *reader, const yaml_item_t *node) {
    texts_t texts;
    if (!schema_texts(reader, node, &texts))
        return false;
    schema_t *schema = reader->schema;
    schema->escape_double = schema->escape_backslash = schema->escape_backslashes = false;
    for (size_t i = 0; i < texts.count; i++) {
        const char *word = texts.items[i].text;
        const bool both = strcmp(word, "backslashes") == 0;
        if (strcmp(word, "double") == 0)
            schema->escape_double = true;
        else if (both || strcmp(word, "backslash") == 0)
            schema->escape_backslash = true;
        else
            return COMPLAIN(node, "'%s' is not a way to escape; known are double, backslash and backslashes",
                            word);
        schema->escape_backslashes |= both;
    }
    return true;
}

static bool read_header(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->schema;
    bool yes = false;
    err_t ignored;
    if (node->kind == YAML_ITEM_SCALAR && !node->quoted) {
        const bool refuse = strcmp(node->text, "refuse") == 0;
        if (!refuse && !yaml_tree_bool(reader->tree, node, &yes, &ignored))
            return COMPLAIN(node, "yes, no, refuse, or a list of words such as [id, ID] was expected");
        schema->header = refuse ? HEADER_REFUSE : yes ? HEADER_YES : HEADER_NO;
        return true;
    }
    schema->header = HEADER_WORDS;
    if (!schema_texts(reader, node, &schema->header_words))
        return false;
    for (size_t i = 0; i < schema->header_words.count; i++)
        if (!schema->header_words.items[i].length)
            return COMPLAIN(node, "a header's first word cannot be empty");
    return true;
}

static bool read_header_line(reader_t *reader, const yaml_item_t *node, const yaml_item_t *header) {
    schema_t *schema = reader->schema;
    if (header)
        return COMPLAIN(header, "'header_line' says what the header is: leave 'header' out");
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "the line that is the header"))
        return false;
    if (!node->length)
        return COMPLAIN(node, "a header cannot be an empty line");
    schema->header = HEADER_LINE;
    schema->header_line = (schema_text_t){node->text, node->length};
    return true;
}

static bool read_encoding(reader_t *reader, const yaml_item_t *node) {
    for (size_t i = 0; node->kind == YAML_ITEM_SCALAR && i < ENCODINGS; i++)
        if (strcmp(node->text, encoding_names[i]) == 0) {
            reader->schema->encoding = (encoding_t)i;
            return true;
        }
    return COMPLAIN(
        node, "only utf-8, latin1, windows-1252, utf-8-or-latin1 and utf-8-or-windows-1252 are known here; "
              "UTF-16 is recognised by itself");
}

static bool read_skip(reader_t *reader, const yaml_item_t *node) {
    int64_t lines;
    if (!yaml_tree_int(reader->tree, node, 0, SCHEMA_MOST_SKIPPED, &lines, reader->err))
        return false;
    reader->schema->skip = (uint32_t)lines;
    return true;
}

/* A letter or a digit would take records for comments. */
static bool read_comment(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a character such as \"#\""))
        return false;
    const char sign = node->text[0];
    if (node->length != 1 || (sign & 0x80) || !ispunct((unsigned char)sign) || sign == '\\' ||
        sign == schema->quote || divides(schema, sign))
        return COMPLAIN(node, "one ASCII sign that is no delimiter, quote or backslash was expected, such as "
                              "\"#\"");
    schema->comment = sign;
    return true;
}

static bool read_quoted(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "any or needed"))
        return false;
    schema->quoted_needed = strcmp(node->text, "needed") == 0;
    return schema->quoted_needed || strcmp(node->text, "any") == 0 ||
           COMPLAIN(node, "any or needed was expected");
}

static bool read_record(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->schema;
    if (!schema_only_keys(reader, node, KEYS_RECORD))
        return false;
    const yaml_item_t *delimiter = yaml_item_get(node, "delimiter"), *quote = yaml_item_get(node, "quote"),
                      *escape = yaml_item_get(node, "escape"), *multiline = yaml_item_get(node, "multiline"),
                      *header = yaml_item_get(node, "header"), *encoding = yaml_item_get(node, "encoding"),
                      *skip = yaml_item_get(node, "skip"), *comment = yaml_item_get(node, "comment"),
                      *header_line = yaml_item_get(node, "header_line"),
                      *quoted = yaml_item_get(node, "quoted");
    if (!TRY(schema_record_numerals(reader, node)))
        return false;
    if (!delimiter)
        return COMPLAIN(node,
                        "'delimiter' is missing: the delimiters to choose from, such as [\",\", \"|\"]");
    if (!TRY(read_delimiters(reader, delimiter)) || (escape && !TRY(read_escape(reader, escape))) ||
        (header && !TRY(read_header(reader, header))) ||
        (header_line && !TRY(read_header_line(reader, header_line, header))) ||
        (encoding && !TRY(read_encoding(reader, encoding))))
        return false;
    if (quote && !schema_want(reader, quote, YAML_ITEM_SCALAR, "a quote character"))
        return false;
    if (quote && (strcmp(quote->text, "none") == 0 || !quote->length))
        schema->quote = 0;
    else if (quote && quote->length == 1 && !(quote->text[0] & 0x80) && !strchr("\r\n\\", quote->text[0]) &&
             !divides(schema, quote->text[0]))
        schema->quote = quote->text[0];
    else if (quote)
        return COMPLAIN(quote, "one ASCII character that is no delimiter, or none, was expected");
    bool lines = schema->quote != 0;
    if (multiline && !yaml_tree_bool(reader->tree, multiline, &lines, reader->err))
        return false;
    if (lines && !schema->quote)
        return COMPLAIN(multiline, "without a quote character no field can contain a line end");
    schema->multiline = lines;
    schema->any_lines = multiline && lines;
    return (!quoted || TRY(read_quoted(reader, quoted))) && (!skip || TRY(read_skip(reader, skip))) &&
           (!comment || TRY(read_comment(reader, comment)));
}

static bool read_surplus(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->schema;
    if (!schema_want(reader, node, YAML_ITEM_MAP, "a map such as {into: model, left: 9}") ||
        !schema_only_keys(reader, node, KEYS_SURPLUS))
        return false;
    const yaml_item_t *into = yaml_item_get(node, "into"), *left = yaml_item_get(node, "left");
    int64_t count = 0;
    if (!into || !left)
        return COMPLAIN(node, "'into' (a field) and 'left' (how many fields are before it) are both needed");
    if (!schema_named(reader, into, &schema->surplus_field) ||
        !yaml_tree_int(reader->tree, left, 0, (int64_t)schema->field_count - 1, &count, reader->err))
        return false;
    schema->surplus_left = (size_t)count;
    return true;
}

static bool add_layout(reader_t *reader, const uint16_t *fields, size_t count, const yaml_item_t *at) {
    schema_t *schema = reader->schema;
    if (schema->layout_count == SCHEMA_MOST_LAYOUTS)
        return COMPLAIN(at, "at most %d layouts were expected", SCHEMA_MOST_LAYOUTS);
    for (size_t i = 0; i < schema->layout_count; i++)
        if (schema->layouts[i].count == count)
            return COMPLAIN(at, "two layouts of %zu columns cannot be told apart", count);
    schema->layouts[schema->layout_count++] = (layout_t){fields, count};
    return true;
}

static bool read_layouts(reader_t *reader, const yaml_item_t *list) {
    if (!schema_want(reader, list, YAML_ITEM_LIST, "a list of lists of field names"))
        return false;
    if (!list->count)
        return COMPLAIN(
            list, "a layout was expected, such as [[id, name]]; leave 'layouts' out for all fields in order");
    for (const yaml_item_t *layout = list->first; layout; layout = layout->next) {
        if (!schema_want(reader, layout, YAML_ITEM_LIST, "a list of field names"))
            return false;
        uint16_t *fields = schema_keep(reader, (layout->count + 1) * sizeof *fields);
        size_t count = 0;
        if (!fields)
            return false;
        for (const yaml_item_t *name = layout->first; name; name = name->next) {
            int index;
            const size_t before = reader->mistake_count;
            if (!TRY(schema_named(reader, name, &index)))
                return false;
            if (reader->mistake_count > before)
                continue;
            for (size_t i = 0; i < count; i++)
                if (fields[i] == index && !TRY(COMPLAIN(name, "'%s' is twice in this layout", name->text)))
                    return false;
            fields[count++] = (uint16_t)index;
        }
        if (!layout->count && !TRY(COMPLAIN(layout, "a layout needs at least one column")))
            return false;
        if (!reader->mistake_count && !add_layout(reader, fields, count, layout))
            return false;
    }
    return true;
}

/* The layouts if the file has none: all fields in order, and the same without the optional fields at the end. */
static bool default_layouts(reader_t *reader) {
    schema_t *schema = reader->schema;
    uint16_t *fields = schema_keep(reader, schema->field_count * sizeof *fields);
    if (!fields)
        return false;
    for (size_t i = 0; i < schema->field_count; i++)
        fields[i] = (uint16_t)i;
    size_t needed = schema->field_count;
    while (needed > 1 && schema->fields[needed - 1].optional)
        needed--;
    if (needed < schema->field_count && !add_layout(reader, fields, needed, yaml_tree_root(reader->tree)))
        return false;
    return add_layout(reader, fields, schema->field_count, yaml_tree_root(reader->tree));
}

static bool same_text(const schema_text_t *one, const schema_text_t *other) {
    return one->length == other->length && memcmp(one->text, other->text, one->length) == 0;
}

static bool share_column(const field_t *one, const field_t *other, const schema_text_t **column) {
    for (size_t i = 0; i < one->columns.count; i++)
        for (size_t j = 0; j < other->columns.count; j++) {
            *column = &one->columns.items[i];
            if (same_text(*column, &other->columns.items[j]))
                return true;
        }
    return false;
}

/* A column that a header names is that of one field: which of two, nobody could know. */
static bool check_shared(reader_t *reader) {
    const schema_t *schema = reader->schema;
    const schema_text_t *column;
    for (size_t i = 0; i < schema->field_count; i++)
        for (size_t j = 0; j < i; j++)
            if (share_column(&schema->fields[i], &schema->fields[j], &column))
                return COMPLAIN(
                    schema->fields[i].at,
                    "its column '%.*s' is that of '%s' in line %d already; a second key of a column "
                    "is made of its field (make: [{KEY: first, from: [%s]}])",
                    (int)column->length, column->text, schema->fields[j].name, schema->fields[j].at->line,
                    schema->fields[j].name);
    return true;
}

bool schema_read_columns(reader_t *reader, const yaml_item_t *root) {
    static const char *const others[] = {"document", "tail", "sections"};
    schema_t *schema = reader->schema;
    const yaml_item_t *surplus = yaml_item_get(root, "surplus"), *layouts = yaml_item_get(root, "layouts"),
                      *made = yaml_item_get(root, "make");
    for (size_t i = 0; i < COUNT(others); i++)
        if (yaml_item_get(root, others[i]) &&
            !TRY(COMPLAIN(yaml_item_get(root, others[i]),
                          "'%s' goes with records of fixed width: record: {fixed: 105}", others[i])))
            return false;
    schema->surplus_field = -1;
    schema->quote = '"';
    schema->escape_double = true;
    if (!TRY(read_record(reader, yaml_item_get(root, "record"))) ||
        !TRY(schema_fields(reader, yaml_item_get(root, "fields"), read_field)))
        return false;
    if (!schema->field_count)
        return true; /* which was told */
    if ((!reader->mistake_count && !TRY(check_groups(reader))) ||
        (surplus && !TRY(read_surplus(reader, surplus))))
        return false;
    if (schema->header == HEADER_WORDS && !schema->header_words.count)
        schema->header_words = schema->fields[0].columns;
    for (size_t i = 0; schema->header == HEADER_WORDS && i < schema->header_words.count; i++)
        if (!schema->header_words.items[i].length && !reader->mistake_count)
            return COMPLAIN(
                schema->fields[0].at,
                "the first field's column is \"\", and a header cannot be told by an empty word; say "
                "in 'record' how it begins: header: yes, no, or [WORD, ...]");
    if ((schema->header == HEADER_WORDS || schema->header == HEADER_YES) && !reader->mistake_count &&
        !TRY(check_shared(reader)))
        return false;
    if (!TRY(layouts ? read_layouts(reader, layouts) : default_layouts(reader)))
        return false;
    if ((schema->header == HEADER_LINE || schema->header == HEADER_REFUSE) && !reader->mistake_count &&
        (schema->delimiter_count > 1 || schema->layout_count > 1))
        return COMPLAIN(yaml_item_get(root, "record"),
                        "'%s' goes with one delimiter and one layout, by which the first line is read",
                        schema->header == HEADER_LINE ? "header_line" : "header: refuse");
    for (size_t i = 0; surplus && !reader->mistake_count && i < schema->layout_count; i++) {
        const layout_t *layout = &schema->layouts[i];
        if (layout->count <= schema->surplus_left ||
            layout->fields[schema->surplus_left] != schema->surplus_field)
            return COMPLAIN(surplus, "'%s' is not column %zu of every layout",
                            schema->fields[schema->surplus_field].name, schema->surplus_left + 1);
    }
    return !made || schema_read_made(reader, made);
}
