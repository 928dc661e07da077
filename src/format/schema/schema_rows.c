/* The keys of format files, a row each (schema_rows, at the end), after the functions that read their values. */
#include "format/schema/schema_read.h"

#include <ctype.h>
#include <string.h>

enum { WIDEST = 512, WIDEST_LENGTH = 4 };

enum {
    DELIMITED = 1 << RECORDS_DELIMITED,
    FIXED = 1 << RECORDS_FIXED,
    JSON = 1 << RECORDS_JSON,
    BSON = 1 << RECORDS_BSON,
    SURPLUS = 1 << PART_SURPLUS,
    MADE = 1 << PART_MADE,
    TAIL = 1 << PART_TAIL,
    SECTION = 1 << PART_SECTION,
};
/* Types of columns, and those of JSON and of what is made. */
#define COLUMN_TYPES (~(1u << TYPE_LENGTH))
#define VALUE_TYPES  (~(1u << TYPE_LENGTH | 1u << TYPE_BINARY | 1u << TYPE_JSON))

#define OF_FILE(kinds)   ((kinds) << PART_FILE)
#define OF_RECORD(kinds) ((kinds) << PART_RECORD)
#define OF_FIELD(kinds)  ((kinds) << PART_FIELD)

#define INTO(type, member)                                                                                   \
    .at = offsetof(type, member), .size = sizeof((type *)NULL)->member,                                      \
    .form = _Generic(((type *)NULL)->member,                                                                \
             const char *: FORM_STRING,                                                                     \
             schema_text_t: FORM_TEXT,                                                                      \
             texts_t: FORM_TEXTS,                                                                           \
             default: FORM_BYTES)
#define LIST(type, member, count) .at = offsetof(type, member), .count_at = offsetof(type, count)
#define WORDS(array)              .words = (array), .most = COUNT(array)

#define POINT_EXPECTED  "\",\" or \".\" was expected: what is before the fraction of a number"
#define POINT_IS        "what is before the fraction of a number: `\",\"` or `\".\"`"
#define MARKS_EXPECTED  "\",\", \".\", \"'\", \" \" or none was expected: what is between thousands"
#define MARKS_IS        "what may be between groups of three digits: `\",\"`, `\".\"`, `\"'\"`, `\" \"` or none"
#define OF_THREE        "; a format file has format, record and fields"
#define BY_WIDTH        "goes with records of fixed width: record: {fixed: 105}"
#define BY_COLUMN       "goes with delimited records"
#define BOTH_NEEDED     "'into' (a field) and 'left' (how many fields are before it) are both needed"
#define MARKER_EXPECTED "a marker of 1 to 8 characters was expected"
#define JSON_NEEDS      "a field of JSON needs a name (a key, with dots) and a type"

static void *member(void *into, const row_t *row) {
    return (char *)into + row->at;
}

/* ---- values of any part ---- */

static int find_word(const char *text, const row_t *row) {
    for (int i = 0; i < row->most; i++)
        if (strcmp(text, row->words[i]) == 0)
            return i;
    return -1;
}

/* An enum, or a bool: the number of the word. */
static bool read_word(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    const bool scalar = node->kind == YAML_ITEM_SCALAR;
    const int word = scalar ? find_word(node->text, row) : -1;
    const char *instead = scalar ? schema_gone(row->key, node->text) : NULL;
    if (word < 0)
        return instead ? COMPLAIN(node, "'%s' is gone: %s", node->text, instead)
                       : COMPLAIN(node, "%s", row->expected);
    memcpy(member(into, row), &word, row->size);
    return true;
}

/* One of the words, or an encoding of which iconv makes UTF-8. */
static bool read_encoding(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    if (node->kind != YAML_ITEM_SCALAR || find_word(node->text, row) >= 0 ||
        !encoding_iconv_knows(node->text))
        return read_word(reader, node, into, row);
    reader->schema->charset = node->text;
    return true;
}

static bool read_bool(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return yaml_tree_bool(reader->tree, node, member(into, row), reader->err);
}

static bool read_number(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    int64_t number;
    if (!yaml_tree_int(reader->tree, node, row->least, row->most, &number, reader->err))
        return false;
    memcpy(member(into, row), &number, row->size);
    return true;
}

static bool read_text(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    if (node->kind != YAML_ITEM_SCALAR || node->length < (size_t)row->least ||
        node->length > (size_t)row->most)
        return COMPLAIN(node, "%s", row->expected);
    *(schema_text_t *)member(into, row) = (schema_text_t){node->text, node->length};
    return true;
}

static bool read_texts(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    texts_t *texts = member(into, row);
    return schema_texts(reader, node, texts) &&
           (!row->most || (texts->count >= (size_t)row->least && texts->count <= (size_t)row->most) ||
            COMPLAIN(node, "%s", row->expected));
}

static bool read_line(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    *(const char **)member(into, row) = node->text;
    return schema_want(reader, node, YAML_ITEM_SCALAR, "one line");
}

static bool read_name(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a name"))
        return false;
    if (!node->length || strlen(node->text) != node->length)
        return COMPLAIN(node, "a name cannot be empty");
    *(const char **)member(into, row) = node->text;
    return true;
}

const char *schema_key_problem(const char *key, size_t length) {
    if (!length || key[0] == '$' || key[0] == '.' || key[length - 1] == '.' || strstr(key, "..") ||
        strstr(key, ".$"))
        return "no part of it may be empty or start with '$'";
    if (strcmp(key, "_id") == 0 || strncmp(key, "_id.", 4) == 0)
        return "_id is made from the record's position";
    return length > 120 ? "it has more than 120 bytes" : NULL;
}

/* A key with dots, or, where the row has a sentence about them, without. */
static bool read_key(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    if (!read_name(reader, node, into, row))
        return false;
    const char *problem = schema_key_problem(node->text, node->length);
    return problem ? COMPLAIN(node, "'%s' cannot be a document's key: %s", node->text, problem)
                   : !row->expected || !strchr(node->text, '.') || COMPLAIN(node, "%s", row->expected);
}

static bool read_map(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return schema_read_map(reader, node, schema_part(reader->schema, row->items), into, 0);
}

/* ---- a file, and its record ---- */

/* `json: yes` or `bson: yes`, by which the kind of records is known. */
static bool read_yes(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    bool yes;
    (void)into;
    if (!yaml_tree_bool(reader->tree, node, &yes, reader->err))
        return false;
    return yes || COMPLAIN(node, "'%s: yes' was expected; leave '%s' out where records are no %s", row->key,
                           row->key, row->expected);
}

static bool read_bad_value(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    const char *refusal = schema_refuses_bad_value(into);
    return refusal
               ? COMPLAIN(node,
                          "'on_bad_value' is for delimited records, and for JSON with types ('fields'): %s",
                          refusal)
               : read_word(reader, node, into, row);
}

static bool may_divide(const schema_text_t *text) {
    for (size_t i = 0; i < text->length; i++)
        if (strchr("\r\n\"\\", text->text[i]) || (text->text[i] & 0x80))
            return false;
    return text->length > 0 && text->length <= SCHEMA_WIDEST_DELIMITER;
}

static bool read_delimiter(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    schema_t *schema = into;
    texts_t texts = {.count = 0};
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
        if (!may_divide(&texts.items[i]))
            return COMPLAIN(node, "%s", row->expected);
        if (texts.items[i].length > 1 && texts.count > 1)
            return COMPLAIN(node, "'%s' has several characters: then it must be the only delimiter",
                            texts.items[i].text);
        if (texts.items[i].length > 1)
            schema->wide = texts.items[i];
        schema->delimiters[schema->delimiter_count++] = texts.items[i].text[0];
    }
    return true;
}

/* One ASCII character that can neither be taken for a delimiter nor for the end of a line. */
static bool is_sign(const schema_t *schema, const yaml_item_t *node) {
    const char sign = node->length == 1 ? node->text[0] : '\n';
    return !(sign & 0x80) && !strchr("\r\n\\", sign) &&
           !memchr(schema->delimiters, sign, schema->delimiter_count) && !(schema->blanks && sign == '\t') &&
           !(schema->wide.length && memchr(schema->wide.text, sign, schema->wide.length));
}

static bool read_quote(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    schema_t *schema = into;
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a quote character"))
        return false;
    const bool none = strcmp(node->text, "none") == 0 || !node->length;
    schema->quote = none ? 0 : node->text[0];
    return none || is_sign(schema, node) || COMPLAIN(node, "%s", row->expected);
}

/* A letter or a digit would take records for comments. */
static bool read_comment(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    schema_t *schema = into;
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a character such as \"#\""))
        return false;
    schema->comment = node->text[0];
    return (is_sign(schema, node) && ispunct((unsigned char)schema->comment) &&
            schema->comment != schema->quote) ||
           COMPLAIN(node, "%s", row->expected);
}

static bool read_escape(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    schema_t *schema = into;
    bool *const ways[] = {&schema->escape_double, &schema->escape_backslash, &schema->escape_backslashes};
    texts_t texts;
    if (!schema_texts(reader, node, &texts))
        return false;
    schema->escape_double = false;
    for (size_t i = 0; i < texts.count; i++) {
        const int way = find_word(texts.items[i].text, row);
        if (way < 0)
            return COMPLAIN(node, "'%s' is not a way to escape; known are %s", texts.items[i].text,
                            row->expected);
        *ways[way] = true;
    }
    schema->escape_backslash |= schema->escape_backslashes;
    return true;
}

static bool read_header(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    schema_t *schema = into;
    bool yes = false;
    err_t ignored;
    if (node->kind == YAML_ITEM_SCALAR && !node->quoted) {
        const bool refuse = strcmp(node->text, "refuse") == 0;
        schema->header = refuse ? HEADER_REFUSE : HEADER_NO;
        if (!refuse && !yaml_tree_bool(reader->tree, node, &yes, &ignored))
            return COMPLAIN(node, "%s", row->expected);
        schema->header = yes ? HEADER_YES : schema->header;
        return true;
    }
    if (!schema_texts(reader, node, &schema->header_words))
        return false;
    for (size_t i = 0; i < schema->header_words.count; i++)
        if (!schema->header_words.items[i].length)
            return COMPLAIN(node, "a header's first word cannot be empty");
    return true;
}

static bool read_header_line(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    const yaml_item_t *header = schema_item(reader, "header");
    ((schema_t *)into)->header = HEADER_LINE;
    return header ? COMPLAIN(header, "'header_line' says what the header is: leave 'header' out")
                  : read_text(reader, node, into, row);
}

/* `decimal` or `thousands`: one of the characters in words[0]; `thousands` may be none. */
static bool read_mark(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a character"))
        return false;
    const bool none = row->words[1] && strcmp(node->text, row->words[1]) == 0;
    const char mark = node->length == 1 ? node->text[0] : 0;
    if (!none && (!mark || !strchr(row->words[0], mark)))
        return COMPLAIN(node, "%s", row->expected);
    *(char *)member(into, row) = mark;
    return true;
}

static bool read_fields(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return schema_read_list(reader, node, into, row) &&
           (reader->mistake_count || schema_check_fields(reader));
}

static bool read_into(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return schema_named(reader, node, member(into, row));
}

static bool read_left(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    row_t below = *row;
    below.most = (int32_t)reader->schema->field_count - 1;
    return read_number(reader, node, into, &below);
}

/* The fields that a list names, each once. */
static bool read_names(reader_t *reader, const yaml_item_t *node, const char *twice, uint16_t *fields,
                       size_t *count) {
    const bool list = node->kind == YAML_ITEM_LIST;
    for (const yaml_item_t *name = list ? node->first : node; name; name = list ? name->next : NULL) {
        int index = -1;
        if (!TRY(schema_named(reader, name, &index)))
            return false;
        for (size_t i = 0; i < *count; i++)
            if (fields[i] == index && !TRY(COMPLAIN(name, "'%s' is %s", name->text, twice)))
                return false;
        fields[(*count)++] = (uint16_t)index;
    }
    return true;
}

static bool read_layout(reader_t *reader, const yaml_item_t *list) {
    const size_t before = reader->mistake_count;
    size_t count = 0;
    if (!schema_want(reader, list, YAML_ITEM_LIST, "a list of field names"))
        return false;
    uint16_t *fields = schema_own(reader->schema, list->count * sizeof *fields, reader->err);
    if (!fields || !read_names(reader, list, "twice in this layout", fields, &count))
        return false;
    return !count ? COMPLAIN(list, "a layout needs at least one column")
                  : reader->mistake_count > before || schema_add_layout(reader, fields, count, list);
}

static bool read_layouts(reader_t *reader, const yaml_item_t *list, void *into, const row_t *row) {
    (void)into;
    if (!schema_want(reader, list, YAML_ITEM_LIST, "a list of lists of field names"))
        return false;
    for (const yaml_item_t *layout = list->first; layout; layout = layout->next)
        if (!TRY(read_layout(reader, layout)))
            return false;
    return list->count || COMPLAIN(list, "%s", row->expected);
}

/* ---- fields ---- */

/* The name is the key where no other one is given. */
static bool read_field_name(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    field_t *field = into;
    const row_t key = {.at = offsetof(field_t, key)};
    return read_name(reader, node, into, row) &&
           (schema_item(reader, "key") || read_key(reader, node, field, &key));
}

/* Of a value in JSON, whose name is its key, and may be _id. */
static bool read_json_name(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    field_t *field = into;
    const bool id = node->kind == YAML_ITEM_SCALAR && strcmp(node->text, "_id") == 0;
    if (!(id ? read_name : read_key)(reader, node, into, row))
        return false;
    field->name = field->key;
    return true;
}

static bool read_type(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    static const schema_text_t date[] = {{"YYYY-MM-DD", 10}};
    static const schema_text_t datetime[] = {{"YYYY-MM-DDThh:mm:ssZ", 20},
                                             {"YYYY-MM-DD hh:mm:ss", 19},
                                             {"YYYY-MM-DDThh:mm:ss", 19},
                                             {"YYYY-MM-DDThh:mm:ss.SSSZ", 24},
                                             {"YYYY-MM-DD hh:mm:ss.SSS", 23},
                                             {"YYYY-MM-DDThh:mm:ss.SSS", 23},
                                             {"YYYY-MM-DD", 10}};
    field_t *field = into;
    const char *words[SCHEMA_TYPES];
    size_t type = 0;
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a type"))
        return false;
    for (size_t i = 0; i < SCHEMA_TYPES; i++)
        words[i] = schema_types[i].name;
    while (type < SCHEMA_TYPES && strcmp(node->text, words[type]) != 0)
        type++;
    if (type == SCHEMA_TYPES)
        return COMPLAIN(node, "'%s' is not a type; types are " SCHEMA_TYPE_WORDS "%s", node->text,
                        suggestion(node->text, words, SCHEMA_TYPES).text);
    field->type = schema_types[type].type;
    if (field->type == TYPE_DATE)
        field->patterns = strcmp(node->text, "date") == 0 ? (texts_t){date, COUNT(date)}
                                                          : (texts_t){datetime, COUNT(datetime)};
    return !row->types || row->types >> field->type & 1 ||
           COMPLAIN(row->parts == OF_FIELD(DELIMITED) ? reader->map : node, "'%s' %s", node->text, row->goes);
}

/* By a power of ten. */
static bool read_scale(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    field_t *field = into;
    const bool multiplies = strcmp(row->key, "multiply") == 0;
    int64_t by = 1;
    if (multiplies && schema_item(reader, "divide"))
        return COMPLAIN(node, "'divide' is here already: one of the two was expected");
    if (!yaml_tree_int(reader->tree, node, 1, row->most, &by, reader->err))
        return false;
    for (field->divide = 0; by % 10 == 0; by /= 10)
        field->divide += multiplies ? -1 : 1;
    return by == 1 || COMPLAIN(node, "%s", row->expected);
}

/* The bytes that one place of a pattern such as "[A-Z][0-9]x" allows; NULL with the sentence. */
static const uint8_t *read_set(reader_t *reader, const yaml_item_t *node, const uint8_t *at, byteset_t *set) {
    const uint8_t *end = (const uint8_t *)node->text + node->length;
    const bool several = *at == '[';
    at += several;
    if (several && at < end && *at == '^')
        return COMPLAIN(node,
                        "a set names the characters that may stand there; all but some, with '^' in front, "
                        "is not known. A '^' itself is put after another one, as in \"[a^]\", or alone"),
               NULL;
    do {
        const bool range = several && end - at > 2 && at[1] == '-' && at[2] != ']';
        const uint8_t first = *at, last = range ? at[2] : first;
        if (last < first)
            return COMPLAIN(node, "nothing lies between '%c' and '%c'", first, last), NULL;
        for (unsigned byte = first; byte <= last; byte++)
            set->bits[byte >> 6] |= 1ull << (byte & 63);
        at += range ? 3 : 1;
    } while (several && at < end && *at != ']');
    if (several && at++ >= end)
        return COMPLAIN(node, "a set is not closed: \"[A-Z]\" was expected"), NULL;
    return at;
}

static bool read_is(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    field_t *field = into;
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, row->expected))
        return false;
    byteset_t *sets = schema_own(reader->schema, field->width * sizeof *sets, reader->err);
    const uint8_t *at = (const uint8_t *)node->text, *end = at + node->length;
    size_t count = 0;
    if (!(field->is = sets))
        return false;
    for (; at < end && count < field->width; count++)
        if (!(at = read_set(reader, node, at, &sets[count])))
            return false;
    return (count == field->width && at == end) ||
           COMPLAIN(node, "as many characters or sets as the field is wide (%d) were expected", field->width);
}

static bool read_exact(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    field_t *field = into;
    (void)row;
    return yaml_tree_bool(reader->tree, node,
                          field->type == TYPE_OBJECTID ? &field->no_capitals : &field->exact, reader->err);
}

static bool read_array(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    const field_t *field = into;
    if (!read_text(reader, node, into, row))
        return false;
    for (size_t i = 0; i < node->length; i++)
        if (node->text[i] <= 0)
            return COMPLAIN(node, "%s", row->expected);
    return (field->type != TYPE_BINARY && field->type != TYPE_JSON) ||
           COMPLAIN(node, "'array' does not go with the type %s", schema_type_name(field->type));
}

/* ---- what is made ---- */

/* A field, or a list of fields whose texts are joined. */
static bool read_from_item(reader_t *reader, const yaml_item_t *node, make_t *made) {
    const size_t at = made->from_count++;
    if (node->kind == YAML_ITEM_LIST &&
        (!node->count || node->count > SCHEMA_MOST_FROM || !schema_made_of_texts(made)))
        return COMPLAIN(node, "a field's name was expected%s",
                        schema_made_of_texts(made) ? ", or a list of up to 4 that are joined" : "");
    return read_names(reader, node, "joined here already: each field once", made->from[at].fields,
                      &made->from[at].count);
}

static bool read_from(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    make_t *made = into;
    const bool two = made->kind == MAKE_UTC || made->kind == MAKE_POINT;
    if (made->kind >= MAKE_CONSTANT)
        return COMPLAIN(node, "this is made from no fields");
    if (!schema_want(reader, node, YAML_ITEM_LIST, row->expected))
        return false;
    if (!node->count || node->count > SCHEMA_MOST_FROM || (two && node->count != 2))
        return COMPLAIN(node, "%s fields were expected here", two ? "two" : "1 to 4");
    for (const yaml_item_t *item = node->first; item; item = item->next)
        if (!TRY(read_from_item(reader, item, made)))
            return false;
    return true;
}

/* One text: between all items of `join`. A list: before each of them. */
static bool read_with(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    make_t *made = into;
    texts_t prefixes;
    if (!schema_texts(reader, node, &prefixes))
        return false;
    const bool between = made->kind == MAKE_JOIN && node->kind == YAML_ITEM_SCALAR;
    if (!schema_made_of_texts(made) || (!between && prefixes.count != made->from_count))
        return COMPLAIN(node, "%s", row->expected);
    for (size_t i = 0; i < prefixes.count; i++) {
        if (prefixes.items[i].length > 8)
            return COMPLAIN(node, "a prefix of at most 8 bytes was expected");
        *(between ? &made->text : &made->from[i].with) = prefixes.items[i];
    }
    return true;
}

static bool read_value(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return ((make_t *)into)->kind == MAKE_CONSTANT ? read_text(reader, node, into, row)
                                                   : COMPLAIN(node, "'value' goes with constant");
}

/* ---- the tail, and sections ---- */

/* Could the text be the beginning of an identifier, or begin with one? */
static bool looks_like_id(const char *text, size_t length) {
    return text[0] >= 'A' && text[0] <= 'Z' && (length < 2 || (text[1] >= 'A' && text[1] <= 'Z')) &&
           (length < 3 || (text[2] >= '0' && text[2] <= '9'));
}

static bool read_marker(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return read_text(reader, node, into, row) &&
           (!reader->schema->section_count || !looks_like_id(node->text, node->length) ||
            COMPLAIN(node, "a marker that starts like a section's identifier could not be told from one"));
}

/* "AA1-AA4" or "AG1" */
static bool read_range(reader_t *reader, const yaml_item_t *node, section_t *section) {
    const char *text = node->text;
    bool ok = node->kind == YAML_ITEM_SCALAR && (node->length == 3 || node->length == 7);
    for (size_t i = 0; ok && i < node->length; i += 4)
        ok = looks_like_id(text + i, SCHEMA_ID);
    ok = ok && (node->length == 3 || (text[3] == '-' && memcmp(text, text + 4, 2) == 0 && text[6] > text[2]));
    if (!ok)
        return COMPLAIN(node, "identifiers such as AA1-AA4 or AG1 were expected: two capitals and a digit");
    const char last = text[node->length - 1];
    for (const section_t *other = reader->schema->sections; other <= section; other++) {
        char id[SCHEMA_ID] = {text[0], text[1], text[2]};
        for (; id[2] <= last; id[2]++)
            if (section_lists(other, id))
                return COMPLAIN(node, "the identifier %.3s is in line %d already", id, other->at->line);
    }
    memcpy(section->ids[section->id_count].first, text, SCHEMA_ID);
    section->ids[section->id_count++].last_digit = last;
    return true;
}

static bool read_ids(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    size_t count = node->kind == YAML_ITEM_LIST ? node->count : 1;
    const yaml_item_t *range = node->kind == YAML_ITEM_LIST ? node->first : node;
    if (!count || count > SCHEMA_MOST_FROM)
        return COMPLAIN(node, "%s", row->expected);
    for (; count; count--, range = range->next)
        if (!read_range(reader, range, into))
            return false;
    return true;
}

/* ---- the rows ---- */

static const char *const needs[] = {"any", "needed"}, *const binaries[] = {"base64", "hex"};
static const char *const escapes[] = {"double", "backslash", "backslashes"};
static const char *const signs[] = {[SIGN_NEVER] = "never", [SIGN_ALWAYS] = "always", [SIGN_MINUS] = "minus"};
static const char *const points[] = {",.", NULL}, *const marks[] = {",.' ", "none"};

const row_t schema_rows[] = {
    {OF_FILE(DELIMITED | FIXED | JSON | BSON), "format", read_name, INTO(schema_t, name),
     .missing = "'format' is missing" OF_THREE,
     .is = "its name, in messages and in the catalog of a load; needed"},
    {OF_FILE(DELIMITED | FIXED | JSON | BSON), "about", read_line, INTO(schema_t, about),
     .is = "one line for `tipple formats`"},
    {OF_FILE(DELIMITED | FIXED), "record", read_map, .items = PART_RECORD,
     .missing = "'record' is missing" OF_THREE, .is = "how a record is cut; needed"},
    {OF_FILE(JSON), "record", read_map, .items = PART_RECORD, .is = "`{json: yes}`"},
    {OF_FILE(BSON), "record", read_map, .items = PART_RECORD,
     .is = "`{bson: yes}`, or `{bson: yes, validate: yes}`: keys and texts must be UTF-8"},
    {OF_FILE(DELIMITED | FIXED), "fields", read_fields, LIST(schema_t, fields, field_count),
     .items = PART_FIELD, .tag = "fields", .missing = "'fields' is missing" OF_THREE,
     .is = "what a record holds, in the order of the document; needed"},
    {OF_FILE(JSON), "fields", read_fields, LIST(schema_t, fields, field_count), .items = PART_FIELD,
     .tag = "fields", .is = "types of values"},
    {OF_FILE(DELIMITED), "surplus", read_map, .items = PART_SURPLUS, .only = BY_COLUMN,
     .is = "delimited: rows with too many fields"},
    {OF_FILE(DELIMITED), "layouts", read_layouts, .only = BY_COLUMN,
     .expected = "a layout was expected, such as [[id, name]]; leave 'layouts' out for all fields in order",
     .is = "delimited: columns of files that have no header"},
    {OF_FILE(DELIMITED | FIXED), "make", schema_read_list, LIST(schema_t, made, made_count),
     .items = PART_MADE, .tag = "make", .is = "keys made of several fields, or of none"},
    {OF_FILE(FIXED), "sections", schema_read_list, LIST(schema_t, sections, section_count),
     .items = PART_SECTION, .tag = "sections", .only = BY_WIDTH,
     .is = "fixed width: pieces with an identifier in front"},
    {OF_FILE(FIXED), "tail", schema_read_list, LIST(schema_t, parts, part_count), .items = PART_TAIL,
     .tag = "tail", .only = BY_WIDTH, .is = "fixed width: what can follow the fixed part"},
    {OF_FILE(FIXED), "document", read_texts, INTO(schema_t, document), .tag = "document", .only = BY_WIDTH,
     .is = "fixed width: keys that stand first"},
    {OF_FILE(DELIMITED | FIXED | JSON), "on_bad_value", read_bad_value, INTO(schema_t, bad_value),
     .tag = "on_bad_value", .words = schema_bad_values, .most = BAD_VALUES,
     .expected =
         "text, null or reject was expected: what becomes of a value that does not fit its field's type",
     .is = "what becomes of values that do not fit their type: text, null, reject"},

    {OF_RECORD(DELIMITED), "delimiter", read_delimiter, INTO(schema_t, delimiters), .tag = "delimiter",
     .first = true,
     .missing = "'delimiter' is missing: the delimiters to choose from, such as [\",\", \"|\"]",
     .expected =
         "a delimiter is one ASCII character such as \"|\", \",\", \";\" or \"\\t\" (in double quotes), "
         "no quote, backslash or line end; or up to 8 of them, such as \"||\"; or the word blanks",
     .is = "the delimiters to choose from, one to eight ASCII characters, or one of several characters, or "
           "blanks; needed"},
    {OF_RECORD(DELIMITED), .tag = "wide", INTO(schema_t, wide)},
    {OF_RECORD(DELIMITED), .tag = "blanks", INTO(schema_t, blanks)},
    {OF_RECORD(DELIMITED), "quote", read_quote, INTO(schema_t, quote), .tag = "quote",
     .expected = "one ASCII character that is no delimiter, or none, was expected",
     .is = "the quote character, or none"},
    {OF_RECORD(DELIMITED), "escape", read_escape, INTO(schema_t, escape_double), .tag = "double",
     WORDS(escapes), .expected = "double, backslash and backslashes",
     .is = "how a quote is written inside quotes: double, backslash, backslashes"},
    {OF_RECORD(DELIMITED), .tag = "backslash", INTO(schema_t, escape_backslash)},
    {OF_RECORD(DELIMITED), .tag = "backslashes", INTO(schema_t, escape_backslashes)},
    {OF_RECORD(DELIMITED), "multiline", read_bool, INTO(schema_t, any_lines),
     .is = "may a quoted field contain line ends? `yes`: any; else none whose lines all look like records"},
    {OF_RECORD(DELIMITED), .tag = "multiline", INTO(schema_t, multiline)},
    {OF_RECORD(DELIMITED), "quoted", read_word, INTO(schema_t, quoted_needed), WORDS(needs),
     .expected = "any or needed was expected",
     .is = "which fields may be in quotes: `any`, or `needed`: only those that need them; others are "
           "rejects"},
    {OF_RECORD(DELIMITED), "header", read_header, INTO(schema_t, header_words), .tag = "header",
     .expected = "yes, no, refuse, or a list of words such as [id, ID] was expected",
     .is = "yes, no, refuse, or a list of words with which a header begins"},
    {OF_RECORD(DELIMITED), "header_line", read_header_line, INTO(schema_t, header_line), .tag = "header_line",
     .least = 1, .most = INT32_MAX,
     .expected = "the line that is the header was expected; a header cannot be an empty line",
     .is = "instead of `header`: the very line that is the header; columns go by their place"},
    {OF_RECORD(DELIMITED), .tag = "header_is", INTO(schema_t, header)},
    {OF_RECORD(DELIMITED), "encoding", read_encoding, INTO(schema_t, encoding), .tag = "encoding",
     .words = encoding_names, .most = ENCODINGS,
     .expected =
         "only utf-8, latin1, windows-1252, utf-8-or-latin1, utf-8-or-windows-1252 and encodings that iconv "
         "knows (iconv -l), without shift states, are known here; UTF-16 is recognised by itself",
     .is = "utf-8, latin1, windows-1252, utf-8-or-latin1, utf-8-or-windows-1252, or a name that iconv knows"},
    {OF_RECORD(DELIMITED), .tag = "charset", INTO(schema_t, charset)},
    {OF_RECORD(DELIMITED), "decimal", read_mark, INTO(schema_t, point), .words = points,
     .expected = POINT_EXPECTED, .is = POINT_IS},
    {OF_RECORD(DELIMITED), "thousands", read_mark, INTO(schema_t, thousands), .words = marks,
     .expected = MARKS_EXPECTED, .is = MARKS_IS},
    {OF_RECORD(DELIMITED), "exact", read_bool, INTO(schema_t, exact),
     .is = "of numbers: yes, and zeros in front, plus signs and exponents do not fit"},
    {OF_RECORD(DELIMITED), "skip", read_number, INTO(schema_t, skip), .tag = "skip",
     .most = SCHEMA_MOST_SKIPPED,
     .is = "how many lines stand before the header or the first record, and are no records"},
    {OF_RECORD(DELIMITED), "comment", read_comment, INTO(schema_t, comment), .tag = "comment",
     .expected = "one ASCII sign that is no delimiter, quote or backslash was expected, such as \"#\"",
     .is = "the ASCII character with which lines begin that are no records"},
    {OF_RECORD(FIXED), "fixed", read_number, INTO(schema_t, fixed), .tag = "fixed", .least = 1,
     .most = SCHEMA_WIDEST, .is = "how many bytes stand in every record; needed"},
    {OF_RECORD(JSON), "json", read_yes, INTO(schema_t, kind), .tag = "json", .expected = "objects",
     .is = "yes; needed"},
    {OF_RECORD(BSON), "bson", read_yes, INTO(schema_t, kind), .tag = "bson", .expected = "BSON documents",
     .is = "yes; needed"},
    {OF_RECORD(BSON), "validate", read_bool, INTO(schema_t, validate), .tag = "validate",
     .is = "yes: keys and texts must be UTF-8"},

    {OF_FIELD(DELIMITED | FIXED), "name", read_field_name, INTO(field_t, name), .first = true,
     .missing = "this field has no name", .is = "its name, for people, `--filter` and other keys; needed"},
    {OF_FIELD(JSON), "name", read_json_name, INTO(field_t, key), .tag = "key", .first = true,
     .missing = JSON_NEEDS, .is = "a key, with dots through objects and arrays; needed"},
    {OF_FIELD(DELIMITED | FIXED), "key", read_key, INTO(field_t, key), .tag = "key", .first = true,
     .only = "is for columns: a value of JSON keeps the key that it has there",
     .is = "its key in the document; dots make subdocuments"},
    {OF_FIELD(DELIMITED), "type", read_type, INTO(field_t, type), .tag = "type", .first = true,
     .types = COLUMN_TYPES, .goes = "goes with records of fixed width", .is = "a type, see below"},
    {OF_FIELD(FIXED), "type", read_type, INTO(field_t, type), .tag = "type", .first = true,
     .is = "text, trimmed, int, number or length"},
    {OF_FIELD(JSON), "type", read_type, INTO(field_t, type), .tag = "type", .first = true,
     .missing = JSON_NEEDS, .types = VALUE_TYPES, .goes = "is no type of values of JSON",
     .is = "a type but `binary` and `json`, see below; needed"},
    {OF_FIELD(FIXED), "width", read_number, INTO(field_t, width), .tag = "width", .first = true, .least = 1,
     .most = WIDEST, .instead = "lengthWidth", .only = BY_WIDTH,
     .missing = "'width' was expected: how many characters the field has",
     .is = "how many bytes it has; needed"},
    {OF_FIELD(FIXED), "lengthWidth", read_number, INTO(field_t, width), .first = true, .least = 1,
     .most = WIDEST_LENGTH, .is = "instead: how many digits the length has that stands before it"},
    {OF_FIELD(FIXED), .tag = "lengthWidth", INTO(field_t, counted)},
    {OF_FIELD(FIXED), "sign", read_word, INTO(field_t, sign), .tag = "sign", WORDS(signs),
     .types = 1u << TYPE_INT | 1u << TYPE_NUMBER, .goes = "the types int and number",
     .expected = "never, always or minus was expected: where a number's sign is",
     .is = "of numbers: never, always or minus"},
    {OF_FIELD(DELIMITED), "column", read_texts, INTO(field_t, columns), .tag = "column", .least = 1,
     .most = INT32_MAX, .expected = "at least one column name was expected",
     .is = "its name in a header, or a list of names"},
    {MADE, "from", read_from, .first = true, .expected = "a list of fields was expected here",
     .is = "1 to 4 items: fields, or lists of fields whose texts are put together"},
    {MADE, "with", read_with, INTO(make_t, text), .tag = "text",
     .expected = "'with' goes with first and has one prefix for each item of 'from'; with join it can be one "
                 "text, too",
     .is = "a text between all items, or a list: what is before each"},
    {MADE, "value", read_value, INTO(make_t, text), .most = SCHEMA_MOST_CONSTANT,
     .expected = CONSTANT_EXPECTED, .is = "`constant`: its text"},
    {MADE, "type", read_type, INTO(make_t, field.type), .tag = "type", .types = VALUE_TYPES,
     .goes = "is no type of what is made", .is = "of the text that is made"},
    {MADE, .tag = "key", INTO(make_t, field.key)},
    {MADE, .tag = "exact", INTO(make_t, field.exact)},
    {MADE, .tag = "kind", INTO(make_t, kind)},
    {MADE, .tag = "change", INTO(make_t, change)},
    {OF_FIELD(DELIMITED | JSON) | MADE, "pattern", read_texts, INTO(field_t, patterns), .tag = "pattern",
     .least = 1, .most = PATTERN_MOST, .types = 1u << TYPE_DATE, .goes = "the types date and datetime",
     .expected = "1 to 8 patterns were expected", .is = "`date` and `datetime`: one pattern or up to 8"},
    {OF_FIELD(DELIMITED | JSON) | MADE, "nulls", read_texts, INTO(field_t, nulls), .tag = "nulls",
     .most = SCHEMA_MOST_NULLS, .expected = "at most 16 null values were expected",
     .is = "texts that mean \"no value\", up to 16"},
    {OF_FIELD(DELIMITED | JSON) | MADE, "true", read_texts, INTO(field_t, words[1]), .tag = "true",
     .least = 1, .most = 8, .types = 1u << TYPE_BOOLEAN, .goes = "the type boolean",
     .expected = "1 to 8 words were expected", .is = "`boolean`: the words for true, up to 8"},
    {OF_FIELD(DELIMITED | JSON) | MADE, "false", read_texts, INTO(field_t, words[0]), .tag = "false",
     .least = 1, .most = 8, .types = 1u << TYPE_BOOLEAN, .goes = "the type boolean",
     .expected = "1 to 8 words were expected", .is = "`boolean`: the words for false, up to 8"},
    {OF_FIELD(DELIMITED | FIXED), "divide", read_scale, INTO(field_t, divide), .tag = "divide",
     .most = 1000000000, .types = FRACTIONS, .goes = "the types number and decimal",
     .expected = "a power of ten was expected: 1, 10, 100, ...",
     .is = "`number` and `decimal`: divided by 1, 10, 100, ..."},
    {OF_FIELD(DELIMITED), "multiply", read_scale, .most = 1000000000, .types = FRACTIONS,
     .goes = "the types number and decimal", .expected = "a power of ten was expected: 1, 10, 100, ...",
     .is = "`number` and `decimal`: multiplied by 1, 10, 100, ..."},
    {OF_FIELD(FIXED), "multiply", read_scale, .most = 10, .types = 1u << TYPE_INT, .goes = "the type int",
     .expected = "10 was expected", .is = "`int`: 10"},
    {OF_FIELD(FIXED), "is", read_is, .expected = "sets of characters such as \"[A-Z][0-9][0-9]\"",
     .is = "of entries: what it looks like, character by character"},
    {OF_FIELD(FIXED), "nulls", read_texts, INTO(field_t, nulls), .tag = "nulls", .most = 1,
     .expected = "one null value was expected: which of several it was could not be told again",
     .is = "one text of exactly this width that means \"no value\""},
    {OF_FIELD(DELIMITED | JSON) | MADE, "decimal", read_mark, INTO(field_t, point), .tag = "decimal",
     .words = points, .types = NUMBERS, .goes = "the types int, long, number and decimal",
     .expected = POINT_EXPECTED, .is = POINT_IS},
    {OF_FIELD(DELIMITED | JSON) | MADE, "thousands", read_mark, INTO(field_t, thousands), .tag = "thousands",
     .words = marks, .types = NUMBERS, .goes = "the types int, long, number and decimal",
     .expected = MARKS_EXPECTED, .is = MARKS_IS},
    {OF_FIELD(DELIMITED), "exact", read_exact, INTO(field_t, exact), .tag = "exact",
     .types = NUMBERS | 1u << TYPE_TRIMMED | 1u << TYPE_OBJECTID,
     .goes = "the types int, long, number, decimal, trimmed and objectid",
     .is =
         "of numbers: yes, and zeros in front, plus signs and exponents do not fit; of `trimmed`: yes, and a "
         "text in quotes keeps its blanks; of `objectid`: yes, and capitals do not fit"},
    {OF_FIELD(DELIMITED), .tag = "no_capitals", INTO(field_t, no_capitals)},
    {OF_FIELD(DELIMITED), "array", read_array, INTO(field_t, array), .tag = "array", .least = 1,
     .most = SCHEMA_MOST_SEPARATOR,
     .expected = "1 to 8 ASCII characters were expected, such as \";\": what is between the elements of an "
                 "array",
     .is = "what is between the elements of an array"},
    {OF_FIELD(DELIMITED), "encoding", read_word, INTO(field_t, hex), .tag = "hex", WORDS(binaries),
     .types = 1u << TYPE_BINARY, .goes = "the type binary; of all texts it is in 'record'",
     .expected = "base64 or hex was expected: how binary data is written", .is = "`binary`: base64 or hex"},
    {OF_FIELD(DELIMITED), "optional", read_bool, INTO(field_t, optional), .tag = "optional",
     .is = "may a header lack the column?"},

    {SURPLUS, "into", read_into, INTO(schema_t, surplus_field), .tag = "into", .missing = BOTH_NEEDED,
     .is = "the field that gets the surplus; needed"},
    {SURPLUS, "left", read_left, INTO(schema_t, surplus_left), .tag = "left", .missing = BOTH_NEEDED,
     .is = "how many fields are before it; needed"},

    {SECTION, "ids", read_ids, INTO(section_t, ids), .tag = "ids", .missing = "'ids' is missing",
     .expected = "1 to 4 ranges of identifiers were expected",
     .is = "identifiers such as AA1-AA4, or a list of such ranges; needed"},
    {SECTION, "name", read_key, INTO(section_t, name), .tag = "name", .missing = "'name' is missing",
     .expected = "a section's name cannot have a dot", .is = "their key; needed"},
    {SECTION, "fields", schema_read_list, LIST(section_t, fields, field_count), .items = PART_FIELD,
     .tag = "fields", .missing = "'fields' is missing", .is = "what follows the identifier; needed"},

    {TAIL, "marker", read_marker, INTO(tail_part_t, marker), .tag = "marker", .least = 1, .most = 8,
     .missing = MARKER_EXPECTED, .expected = MARKER_EXPECTED, .is = "1 to 8 characters; needed"},
    {TAIL, "name", read_key, INTO(tail_part_t, name), .tag = "name", .expected = "a plain key was expected",
     .is = "the key of its entries"},
    {TAIL, "sections", read_bool, INTO(tail_part_t, sections), .tag = "sections",
     .is = "yes: sections follow"},
    {TAIL, "list", read_key, INTO(tail_part_t, list), .tag = "list", .expected = LIST_WITH_SECTIONS,
     .is = "with sections: all identifiers as an array under this key"},
    {TAIL, "repeat", schema_read_list, LIST(tail_part_t, fields, field_count), .items = PART_FIELD,
     .tag = "repeat", .is = "the fields of an entry"},
    {TAIL, "leaveOut", read_bool, INTO(tail_part_t, leave_out), .tag = "leaveOut",
     .is = "yes: walked over, but not stored"},
    {.parts = 0},
};

const char *schema_gone(const char *key, const char *word) {
    static const struct {
        const char *key, *word, *instead;
    } gone[] = {
        {"", "like", "write the whole format: tipple formats --show NAME > my.yaml, and change that"},
        {"", "keys", "give each field its 'key'"},
        {"", "lookup",
         "load the second file into a collection of its own and join it by $lookup, or join the files first"},
        {"make", "upper", "use lower, or $toUpper in a query"},
        {"make", "md5", "use sha256"},
        {"make", "xxh3", "use sha256"},
        {"make", "offset", "the _id that tipple makes has the place of the record in it"},
        {"on_bad_value", "skip-field", "use null, text or reject"},
        {"on_bad_value", "stop", "use reject, and load with --max-rejects 0"},
    };
    for (size_t i = 0; i < COUNT(gone); i++)
        if (strcmp(gone[i].key, key) == 0 && strcmp(gone[i].word, word) == 0)
            return gone[i].instead;
    return NULL;
}
