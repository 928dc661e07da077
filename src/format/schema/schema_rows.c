/* The keys of format files, a row each (schema_rows, at the end), after the functions that read their values. */
#include "format/schema/schema_read.h"

#include <ctype.h>
#include <string.h>

enum { WIDEST = 512, WIDEST_LENGTH = 4, LONGEST_KEY = 120, LONGEST_PREFIX = 8 };

enum {
    DELIMITED = 1 << RECORDS_DELIMITED,
    FIXED = 1 << RECORDS_FIXED,
    JSON = 1 << RECORDS_JSON,
    BSON = 1 << RECORDS_BSON,
    ANY_KIND = DELIMITED | FIXED | JSON | BSON,
    SURPLUS = 1 << PART_SURPLUS,
    TAIL = 1 << PART_TAIL,
    ENTRY = 1 << PART_ENTRY,
    SECTION = 1 << PART_SECTION,
    PIECE = 1 << PART_PIECE,
};

#define OF_FILE(kinds)   ((kinds) << PART_FILE)
#define OF_RECORD(kinds) ((kinds) << PART_RECORD)
#define OF_FIELD(kinds)  ((kinds) << PART_FIELD)
#define OF_MADE(kinds)   ((kinds) << PART_MADE)
#define BY_WIDTH         (OF_FIELD(FIXED) | ENTRY | PIECE)
#define OF_VALUE         (OF_FIELD(DELIMITED | JSON) | OF_MADE(DELIMITED))

#define BIT(type)    (1u << TYPE_##type)
#define BUT(types)   (~(types) & ((1u << (TYPE_JSON + 1)) - 1))
#define ENTRY_TYPES  (BIT(TEXT) | BIT(TRIMMED) | BIT(INT) | BIT(NUMBER))
#define MAKES_FIELDS (MAKES_TEXT | 1u << MAKE_UTC | 1u << MAKE_POINT)

#define INTO(type, member)                                                                                   \
    .at = offsetof(type, member), .size = sizeof((type *)NULL)->member,                                      \
    .form = _Generic(((type *)NULL)->member,                                                                \
             const char *: FORM_STRING,                                                                     \
             schema_text_t: FORM_TEXT,                                                                      \
             texts_t: FORM_TEXTS,                                                                           \
             default: FORM_BYTES)
#define LIST(type, member, count) .at = offsetof(type, member), .count_at = offsetof(type, count), .any = true
#define WORDS(array)              .words = (array), .most = COUNT(array)

#define GOES_WITH_FIXED   "goes with records of fixed width: record: {fixed: 105}"
#define GOES_WITH_COLUMNS "goes with delimited records"

static void *member(void *into, const row_t *row) {
    return (char *)into + row->at;
}

words_t schema_type_words(uint32_t types) {
    const char *words[TYPE_JSON + 2];
    size_t count = 0;
    for (field_type_t type = TYPE_TEXT; type <= TYPE_JSON; type++) {
        if (types >> type & 1)
            words[count++] = schema_type_name(type);
        if (types >> type & 1 && type == TYPE_DATE)
            words[count++] = "datetime";
    }
    return schema_either(words, count);
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
    const int word = find_word(node->text, row);
    if (word < 0)
        return !schema_is_gone(reader, node, row->key, node->text) && schema_must_be(reader, node, row);
    memcpy(member(into, row), &word, row->size);
    return true;
}

/* One of the words, or an encoding of which iconv makes UTF-8. */
static bool read_encoding(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    if (find_word(node->text, row) >= 0 || !encoding_iconv_knows(node->text))
        return read_word(reader, node, into, row);
    reader->schema->charset = node->text;
    return true;
}

static bool read_bool(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return schema_note(reader,
                       yaml_tree_bool(reader->schema->tree, node, member(into, row), &reader->mistake));
}

/* `json: yes` or `bson: yes`, by which the kind of records is known. */
static bool read_yes(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    bool yes;
    (void)into;
    return (yaml_tree_bool(reader->schema->tree, node, &yes, &reader->mistake) && yes) ||
           schema_must_be(reader, node, row);
}

static bool read_int(reader_t *reader, const yaml_item_t *node, int64_t least, int64_t most,
                     int64_t *number) {
    return schema_note(reader,
                       yaml_tree_int(reader->schema->tree, node, least, most, number, &reader->mistake));
}

static bool read_number(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    int64_t number;
    if (!read_int(reader, node, row->least, row->most, &number))
        return false;
    memcpy(member(into, row), &number, row->size);
    return true;
}

static bool read_text(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    *(schema_text_t *)member(into, row) = (schema_text_t){node->text, node->length};
    return (node->length >= (size_t)row->least && node->length <= (size_t)row->most) ||
           schema_must_be(reader, node, row);
}

static bool read_texts(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    texts_t *texts = member(into, row);
    return schema_texts(reader, node, texts) &&
           ((texts->count >= (size_t)row->least && texts->count <= (size_t)row->most) ||
            schema_must_be(reader, node, row));
}

/* A line, or a name, which is not empty. */
static bool read_line(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    *(const char **)member(into, row) = node->text;
    return (node->length >= (size_t)row->least && strlen(node->text) == node->length) ||
           schema_must_be(reader, node, row);
}

const char *schema_key_problem(const char *key, size_t length) {
    if (!length || key[0] == '$' || key[0] == '.' || key[length - 1] == '.' || strstr(key, "..") ||
        strstr(key, ".$"))
        return "no part of it may be empty or start with '$'";
    if (strcmp(key, "_id") == 0 || strncmp(key, "_id.", 4) == 0)
        return "_id is made from the record's position";
    return length > LONGEST_KEY ? "it has more than 120 bytes" : NULL;
}

/* A key with dots, or without where `most` is 1. A value of JSON may be the _id. */
static bool read_key(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    const char *problem = schema_key_problem(node->text, node->length);
    *(const char **)member(into, row) = node->text;
    if (problem && (reader->schema->kind != RECORDS_JSON || strcmp(node->text, "_id") != 0))
        return COMPLAIN(node, "'%s' cannot be a document's key: %s", node->text, problem);
    return strlen(node->text) == node->length && (row->most != 1 || !strchr(node->text, '.'))
               ? true
               : schema_must_be(reader, node, row);
}

static bool read_map(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return schema_read_map(reader, node, schema_part(reader->schema, row->items), into, 0);
}

/* ---- a record ---- */

static bool may_divide(const schema_text_t *text) {
    for (size_t i = 0; i < text->length; i++)
        if (strchr("\r\n\"\\", text->text[i]) || (text->text[i] & 0x80))
            return false;
    return text->length > 0 && text->length <= SCHEMA_WIDEST_DELIMITER;
}

static bool read_delimiter(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    schema_t *schema = into;
    texts_t texts;
    schema->blanks = node->kind == YAML_ITEM_SCALAR && !node->quoted && strcmp(node->text, "blanks") == 0;
    schema->delimiters[0] = ' ';
    schema->delimiter_count = schema->blanks;
    if (schema->blanks)
        return true;
    if (!schema_texts(reader, node, &texts))
        return false;
    bool ok = texts.count && texts.count <= SCHEMA_MOST_DELIMITERS;
    for (size_t i = 0; ok && i < texts.count; i++) {
        const schema_text_t *text = &texts.items[i];
        ok = may_divide(text) && (text->length == 1 || texts.count == 1);
        schema->delimiters[schema->delimiter_count++] = text->text[0];
        if (text->length > 1)
            schema->wide = *text;
    }
    return ok || schema_must_be(reader, node, row);
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
    const bool none = strcmp(node->text, "none") == 0 || !node->length;
    schema->quote = none ? 0 : node->text[0];
    return none || is_sign(schema, node) || schema_must_be(reader, node, row);
}

/* A letter or a digit would take records for comments. */
static bool read_comment(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    schema_t *schema = into;
    schema->comment = node->text[0];
    return (is_sign(schema, node) && ispunct((unsigned char)schema->comment) &&
            schema->comment != schema->quote) ||
           schema_must_be(reader, node, row);
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
            return schema_must_be(reader, node, row);
        *ways[way] = true;
    }
    schema->escape_backslash |= schema->escape_backslashes;
    return true;
}

static bool read_header(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    schema_t *schema = into;
    bool yes = false;
    if (node->kind == YAML_ITEM_SCALAR && !node->quoted) {
        const bool refuse = strcmp(node->text, "refuse") == 0;
        if (!refuse && !yaml_tree_bool(schema->tree, node, &yes, &reader->mistake))
            return schema_must_be(reader, node, row);
        schema->header = refuse ? HEADER_REFUSE : yes ? HEADER_YES : HEADER_NO;
        return true;
    }
    return schema_texts(reader, node, &schema->header_words) &&
           (!schema_text_among(&(schema_text_t){"", 0}, schema->header_words.items,
                               schema->header_words.count) ||
            schema_must_be(reader, node, row));
}

/* `decimal` or `thousands`: one of the characters in words[0]; `thousands` may be none. */
static bool read_mark(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    const bool none = row->words[1] && strcmp(node->text, row->words[1]) == 0;
    const char mark = node->length == 1 ? node->text[0] : 0;
    *(char *)member(into, row) = mark;
    return none || (mark && strchr(row->words[0], mark)) || schema_must_be(reader, node, row);
}

/* ---- names of fields ---- */

static bool read_into(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return schema_named(reader, node, member(into, row));
}

/* The fields that a list names, each once. */
static bool read_names(reader_t *reader, const yaml_item_t *node, const char *twice, uint16_t *fields,
                       size_t *count) {
    const bool list = node->kind == YAML_ITEM_LIST;
    bool sound = true;
    for (const yaml_item_t *name = list ? node->first : node; name; name = list ? name->next : NULL) {
        int index = -1;
        bool ok = schema_named(reader, name, &index);
        for (size_t i = 0; ok && i < *count; i++)
            ok = fields[i] != index || COMPLAIN(name, "'%s' is %s", name->text, twice);
        fields[(*count)++] = (uint16_t)index;
        sound &= ok;
    }
    return sound;
}

static bool read_layout(reader_t *reader, const yaml_item_t *list, const row_t *row) {
    size_t count = 0;
    if (list->kind != YAML_ITEM_LIST || !list->count)
        return schema_must_be(reader, list, row);
    uint16_t *fields = schema_room(reader, list->count * sizeof *fields);
    return fields && read_names(reader, list, "twice in this layout", fields, &count) &&
           schema_add_layout(reader, fields, count, list);
}

static bool read_layouts(reader_t *reader, const yaml_item_t *list, void *into, const row_t *row) {
    bool sound = true;
    (void)into;
    if (list->kind != YAML_ITEM_LIST || !list->count)
        return schema_must_be(reader, list, row);
    for (const yaml_item_t *layout = list->first; layout; layout = layout->next)
        sound &= read_layout(reader, layout, row);
    return sound;
}

/* ---- fields ---- */

static bool read_fields(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    field_t *const *fields = member(into, row);
    const bool sound = schema_read_list(reader, node, into, row);
    const size_t count = *(const size_t *)(const void *)((char *)into + row->count_at);
    return schema_check_names(reader, *fields, count) && sound &&
           (row->items != PART_FIELD || schema_check_fields(reader));
}

/* The name is the key where no other one is given. */
static bool read_field_name(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    const row_t key = {.at = offsetof(field_t, key)};
    return read_line(reader, node, into, row) &&
           (schema_item(reader, "key") || read_key(reader, node, into, &key));
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
    size_t count = 0;
    for (size_t i = 0; i < SCHEMA_TYPES; i++) {
        if (!(row->types >> schema_types[i].type & 1))
            continue;
        words[count++] = schema_types[i].name;
        if (strcmp(node->text, schema_types[i].name) != 0)
            continue;
        field->type = schema_types[i].type;
        if (field->type == TYPE_DATE)
            field->patterns = strcmp(node->text, "date") == 0 ? (texts_t){date, COUNT(date)}
                                                              : (texts_t){datetime, COUNT(datetime)};
        return true;
    }
    return COMPLAIN(node, "'%s' is not a type here; %s was expected%s", node->text,
                    schema_type_words(row->types).text, suggestion(node->text, words, count).text);
}

/* By a power of ten. */
static bool read_scale(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    field_t *field = into;
    const int step = strcmp(row->key, "multiply") == 0 ? -1 : 1;
    int64_t by = 1;
    if (!read_int(reader, node, 1, row->most, &by))
        return false;
    for (field->divide = 0; by % 10 == 0; by /= 10)
        field->divide += step;
    return by == 1 || schema_must_be(reader, node, row);
}

/* The bytes that one place of a pattern such as "[A-Z][0-9]x" allows; NULL: it is no set. */
static const uint8_t *read_set(const uint8_t *at, const uint8_t *end, byteset_t *set) {
    const bool several = *at == '[';
    at += several;
    if (several && at < end && *at == '^')
        return NULL;
    do {
        const bool range = several && end - at > 2 && at[1] == '-' && at[2] != ']';
        const uint8_t first = *at, last = range ? at[2] : first;
        if (last < first)
            return NULL;
        for (unsigned byte = first; byte <= last; byte++)
            set->bits[byte >> 6] |= 1ull << (byte & 63);
        at += range ? 3 : 1;
    } while (several && at < end && *at != ']');
    return several && at >= end ? NULL : at + several;
}

static bool read_is(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    field_t *field = into;
    byteset_t *sets = schema_room(reader, field->width * sizeof *sets);
    const uint8_t *at = (const uint8_t *)node->text, *const end = at + node->length;
    size_t count = 0;
    field->is = sets;
    while (sets && at && at < end && count < field->width)
        at = read_set(at, end, &sets[count++]);
    return sets && ((at == end && count == field->width) || schema_must_be(reader, node, row));
}

static bool read_array(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    for (size_t i = 0; i < node->length; i++)
        if (node->text[i] <= 0)
            return schema_must_be(reader, node, row);
    return read_text(reader, node, into, row);
}

/* ---- what is made ---- */

/* Fields, and lists of fields whose texts are joined. */
static bool read_from(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    make_t *made = into;
    const bool two = !(MAKES_TEXT >> made->kind & 1);
    bool sound = true;
    if (node->kind != YAML_ITEM_LIST || !node->count || node->count > SCHEMA_MOST_FROM ||
        (two && node->count != 2))
        return schema_must_be(reader, node, row);
    for (const yaml_item_t *item = node->first; item; item = item->next) {
        const size_t at = made->from_count++;
        const bool bad =
            item->kind == YAML_ITEM_LIST && (two || !item->count || item->count > SCHEMA_MOST_FROM);
        sound &= bad ? schema_must_be(reader, item, row)
                     : read_names(reader, item, "joined here already: each field once", made->from[at].fields,
                                  &made->from[at].count);
    }
    return sound;
}

/* One text: between all items of `join`. A list: before each of them. */
static bool read_with(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    make_t *made = into;
    const bool between = made->kind == MAKE_JOIN && node->kind == YAML_ITEM_SCALAR;
    texts_t prefixes;
    if (!schema_texts(reader, node, &prefixes))
        return false;
    bool ok = between || prefixes.count == made->from_count;
    for (size_t i = 0; ok && i < prefixes.count; i++) {
        ok = prefixes.items[i].length <= LONGEST_PREFIX;
        *(between ? &made->text : &made->from[i].with) = prefixes.items[i];
    }
    return ok || schema_must_be(reader, node, row);
}

/* ---- the tail, and sections ---- */

/* Could the text be the beginning of an identifier, or begin with one? */
static bool looks_like_id(const char *text, size_t length) {
    return text[0] >= 'A' && text[0] <= 'Z' && (length < 2 || (text[1] >= 'A' && text[1] <= 'Z')) &&
           (length < 3 || (text[2] >= '0' && text[2] <= '9'));
}

static bool read_marker(reader_t *reader, const yaml_item_t *node, void *into, const row_t *row) {
    return reader->schema->section_count && looks_like_id(node->text, node->length)
               ? schema_must_be(reader, node, row)
               : read_text(reader, node, into, row);
}

/* "AA1-AA4" or "AG1" */
static bool read_range(reader_t *reader, const yaml_item_t *node, section_t *section, const row_t *row) {
    const char *text = node->text;
    bool ok = node->kind == YAML_ITEM_SCALAR && (node->length == 3 || node->length == 7);
    for (size_t i = 0; ok && i < node->length; i += 4)
        ok = looks_like_id(text + i, SCHEMA_ID);
    ok = ok && (node->length == 3 || (text[3] == '-' && memcmp(text, text + 4, 2) == 0 && text[6] > text[2]));
    if (!ok)
        return schema_must_be(reader, node, row);
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
    const bool list = node->kind == YAML_ITEM_LIST;
    if (list && (!node->count || node->count > SCHEMA_MOST_FROM))
        return schema_must_be(reader, node, row);
    for (const yaml_item_t *range = list ? node->first : node; range; range = list ? range->next : NULL)
        if (!read_range(reader, range, into, row))
            return false;
    return true;
}

/* ---- the rows ---- */

static const char *const needs[] = {"any", "needed"}, *const binaries[] = {"base64", "hex"};
static const char *const escapes[] = {"double", "backslash", "backslashes"};
static const char *const signs[] = {[SIGN_NEVER] = "never", [SIGN_ALWAYS] = "always", [SIGN_MINUS] = "minus"};
static const char *const points[] = {",.", NULL}, *const marks[] = {",.' ", "none"};

#define POINT_IS  "\",\" or \".\": what is before the fraction of a number"
#define MARKS_IS  "\",\", \".\", \"'\", \" \" or none: what may be between groups of three digits"
#define POWERS_IS "a power of ten: 1, 10, 100, ..."

const row_t schema_rows[] = {
    {OF_FILE(ANY_KIND), "format", read_line, INTO(schema_t, name), .needed = true, .least = 1,
     .is = "a name, for messages and the catalog of a load"},
    {OF_FILE(ANY_KIND), "about", read_line, INTO(schema_t, about), .is = "one line for `tipple formats`"},
    {OF_FILE(ANY_KIND), "record", read_map, .any = true, .items = PART_RECORD, .needed = true,
     .is = "how a record is cut"},
    {OF_FILE(DELIMITED | FIXED), "fields", read_fields, LIST(schema_t, fields, field_count),
     .items = PART_FIELD, .tag = "fields", .needed = true,
     .is = "what a record holds, in the order of the document"},
    {OF_FILE(JSON), "fields", read_fields, LIST(schema_t, fields, field_count), .items = PART_FIELD,
     .tag = "fields", .is = "types of values"},
    {OF_FILE(DELIMITED), "surplus", read_map, .any = true, .items = PART_SURPLUS, .only = GOES_WITH_COLUMNS,
     .is = "delimited: rows with too many fields"},
    {OF_FILE(DELIMITED), "layouts", read_layouts, .any = true, .only = GOES_WITH_COLUMNS,
     .is = "lists of field names, such as [[id, name]]: a layout for each number of columns, for files that "
           "have no header; without it, all fields in order"},
    {OF_FILE(DELIMITED | FIXED), "make", schema_read_list, LIST(schema_t, made, made_count),
     .items = PART_MADE, .tag = "make", .is = "keys made of several fields, or of none"},
    {OF_FILE(FIXED), "sections", schema_read_list, LIST(schema_t, sections, section_count),
     .items = PART_SECTION, .tag = "sections", .needs = "tail", .only = GOES_WITH_FIXED,
     .is = "fixed width: pieces with an identifier in front"},
    {OF_FILE(FIXED), "tail", schema_read_list, LIST(schema_t, parts, part_count), .items = PART_TAIL,
     .tag = "tail", .only = GOES_WITH_FIXED, .is = "fixed width: what can follow the fixed part"},
    {OF_FILE(FIXED), "document", read_texts, INTO(schema_t, document), .any = true, .most = INT32_MAX,
     .tag = "document", .only = GOES_WITH_FIXED, .is = "fixed width: keys that stand first"},
    {OF_FILE(DELIMITED | JSON), "on_bad_value", read_word, INTO(schema_t, bad_value), .tag = "on_bad_value",
     .words = schema_bad_values, .most = BAD_VALUES, .needs = "fields",
     .only = GOES_WITH_COLUMNS ", and with types of JSON",
     .is = "text, null or reject: what becomes of a value that does not fit its field's type"},

    {OF_RECORD(DELIMITED), "delimiter", read_delimiter, INTO(schema_t, delimiters), .any = true,
     .tag = "delimiter", .first = true, .needed = true,
     .is = "1 to 8 delimiters to choose from, each one ASCII character, no quote, backslash or line end; or "
           "the only delimiter, of up to 8 such characters; or blanks"},
    {OF_RECORD(DELIMITED), .tag = "wide", INTO(schema_t, wide)},
    {OF_RECORD(DELIMITED), .tag = "blanks", INTO(schema_t, blanks)},
    {OF_RECORD(DELIMITED), "quote", read_quote, INTO(schema_t, quote), .tag = "quote",
     .is = "one ASCII character that is no delimiter, or none"},
    {OF_RECORD(DELIMITED), "escape", read_escape, INTO(schema_t, escape_double), .any = true, .tag = "double",
     WORDS(escapes),
     .is = "double, backslash and backslashes, or some of them: how a quote is written inside quotes"},
    {OF_RECORD(DELIMITED), .tag = "backslash", INTO(schema_t, escape_backslash)},
    {OF_RECORD(DELIMITED), .tag = "backslashes", INTO(schema_t, escape_backslashes)},
    {OF_RECORD(DELIMITED), "multiline", read_bool, INTO(schema_t, any_lines),
     .is = "yes or no: may a quoted field contain any line ends? Without the key, none whose lines all look "
           "like records"},
    {OF_RECORD(DELIMITED), .tag = "multiline", INTO(schema_t, multiline)},
    {OF_RECORD(DELIMITED), "quoted", read_word, INTO(schema_t, quoted_needed), WORDS(needs),
     .is = "any or needed: a field in quotes that it does not need is a reject"},
    {OF_RECORD(DELIMITED), "header", read_header, INTO(schema_t, header_words), .any = true, .tag = "header",
     .is = "yes, no, refuse, or a list of words such as [id, ID] with which a header begins, none of them "
           "empty"},
    {OF_RECORD(DELIMITED), "header_line", read_text, INTO(schema_t, header_line), .tag = "header_line",
     .least = 1, .most = INT32_MAX, .instead = "header",
     .is = "the very line that is the header, which is not empty; columns go by their place"},
    {OF_RECORD(DELIMITED), .tag = "header_is", INTO(schema_t, header)},
    {OF_RECORD(DELIMITED), "encoding", read_encoding, INTO(schema_t, encoding), .tag = "encoding",
     .words = encoding_names, .most = ENCODINGS,
     .is = "utf-8, latin1, windows-1252, utf-8-or-latin1, utf-8-or-windows-1252, or an encoding that iconv "
           "knows (iconv -l), without shift states; UTF-16 is recognised by itself"},
    {OF_RECORD(DELIMITED), .tag = "charset", INTO(schema_t, charset)},
    {OF_RECORD(DELIMITED), "decimal", read_mark, INTO(schema_t, point), .words = points, .is = POINT_IS},
    {OF_RECORD(DELIMITED), "thousands", read_mark, INTO(schema_t, thousands), .words = marks, .is = MARKS_IS},
    {OF_RECORD(DELIMITED), "exact", read_bool, INTO(schema_t, exact),
     .is = "yes or no: of numbers, zeros in front, plus signs and exponents such as 1e5 do not fit"},
    {OF_RECORD(DELIMITED), "skip", read_number, INTO(schema_t, skip), .tag = "skip",
     .most = SCHEMA_MOST_SKIPPED,
     .is = "how many lines stand before the header or the first record, and are no records"},
    {OF_RECORD(DELIMITED), "comment", read_comment, INTO(schema_t, comment), .tag = "comment",
     .is = "the ASCII sign, no delimiter, quote or backslash, with which lines begin that are no records, "
           "such as \"#\""},
    {OF_RECORD(FIXED), "fixed", read_number, INTO(schema_t, fixed), .tag = "fixed", .needed = true,
     .least = 1, .most = SCHEMA_WIDEST, .is = "how many bytes stand in every record"},
    {OF_RECORD(JSON), "json", read_yes, INTO(schema_t, kind), .tag = "json", .needed = true,
     .is = "yes; without the key, records are delimited"},
    {OF_RECORD(BSON), "bson", read_yes, INTO(schema_t, kind), .tag = "bson", .needed = true,
     .is = "yes; without the key, records are delimited"},
    {OF_RECORD(BSON), "validate", read_bool, INTO(schema_t, validate), .tag = "validate",
     .is = "yes or no: must keys and texts be UTF-8?"},

    {OF_FIELD(DELIMITED | FIXED | JSON) | ENTRY | PIECE, "name", read_field_name, INTO(field_t, name),
     .first = true, .needed = true, .least = 1,
     .is =
         "a name that is not empty, for messages, `--filter` and other keys; of JSON, the key with its dots"},
    {OF_FIELD(DELIMITED) | BY_WIDTH, "key", read_key, INTO(field_t, key), .tag = "key", .first = true,
     .only = "is for columns: a value of JSON keeps the key that it has there",
     .is = "the key in the document; dots make subdocuments"},
    {OF_FIELD(JSON), .tag = "key", INTO(field_t, key)},
    {OF_FIELD(DELIMITED), "type", read_type, INTO(field_t, type), .tag = "type", .first = true,
     .types = BUT(BIT(LENGTH)), .is = "the type of its values"},
    {OF_FIELD(FIXED), "type", read_type, INTO(field_t, type), .tag = "type", .first = true,
     .types = ENTRY_TYPES | BIT(LENGTH), .is = "the type of its values"},
    {ENTRY | PIECE, "type", read_type, INTO(field_t, type), .tag = "type", .first = true,
     .types = ENTRY_TYPES, .is = "the type of its values"},
    {OF_FIELD(JSON), "type", read_type, INTO(field_t, type), .tag = "type", .first = true, .needed = true,
     .types = BUT(BIT(LENGTH) | BIT(BINARY) | BIT(JSON)), .is = "the type of its values"},
    {BY_WIDTH, "width", read_number, INTO(field_t, width), .tag = "width", .first = true, .needed = true,
     .least = 1, .most = WIDEST, .instead = "lengthWidth", .only = GOES_WITH_FIXED,
     .is = "how many bytes it has"},
    {ENTRY, "lengthWidth", read_number, INTO(field_t, width), .first = true, .least = 1,
     .most = WIDEST_LENGTH, .types = BIT(TEXT), .only = "goes with the last field of an entry",
     .is = "of entries, in the last field, instead of `width`: how many digits the length has that stands "
           "before it"},
    {BY_WIDTH, .tag = "lengthWidth", INTO(field_t, counted)},
    {BY_WIDTH, "sign", read_word, INTO(field_t, sign), .tag = "sign", WORDS(signs),
     .types = BIT(INT) | BIT(NUMBER), .is = "never, always or minus: where a number's sign is"},
    {OF_FIELD(DELIMITED), "column", read_texts, INTO(field_t, columns), .any = true, .tag = "column",
     .least = 1, .most = INT32_MAX, .is = "the name in a header, or a list of names"},
    {OF_MADE(DELIMITED | FIXED), "from", read_from, .any = true, .first = true, .needed = true,
     .makes = MAKES_FIELDS,
     .is = "1 to 4 items, each a field or a list of up to 4 fields whose texts are put together; of utc and "
           "point, two fields"},
    {OF_MADE(DELIMITED | FIXED), "with", read_with, INTO(make_t, text), .any = true, .tag = "text",
     .makes = MAKES_TEXT,
     .is =
         "one prefix of at most 8 bytes for each item of 'from'; with join it can be one text, between all"},
    {OF_MADE(DELIMITED), "value", read_text, INTO(make_t, text), .needed = true, .most = SCHEMA_MOST_CONSTANT,
     .makes = 1u << MAKE_CONSTANT, .is = "a text of at most 1000 bytes"},
    {OF_MADE(DELIMITED), "type", read_type, INTO(field_t, type), .makes = MAKES_TYPED,
     .types = BUT(BIT(LENGTH) | BIT(BINARY) | BIT(JSON)), .is = "the type of the text that is made"},
    {OF_MADE(DELIMITED | FIXED), .tag = "type", INTO(field_t, type)},
    {OF_MADE(DELIMITED | FIXED), .tag = "key", INTO(field_t, key)},
    {OF_MADE(DELIMITED | FIXED), .tag = "exact", INTO(field_t, exact)},
    {OF_MADE(DELIMITED | FIXED), .tag = "kind", INTO(make_t, kind)},
    {OF_MADE(DELIMITED | FIXED), .tag = "change", INTO(make_t, change)},
    {OF_VALUE, "pattern", read_texts, INTO(field_t, patterns), .any = true, .least = 1, .most = PATTERN_MOST,
     .types = BIT(DATE), .makes = MAKES_TYPED, .is = "1 to 8 patterns"},
    {OF_VALUE | OF_MADE(FIXED), .tag = "pattern", INTO(field_t, patterns)},
    {OF_VALUE, "nulls", read_texts, INTO(field_t, nulls), .any = true, .tag = "nulls",
     .most = SCHEMA_MOST_NULLS, .makes = MAKES_TYPED, .is = "at most 16 texts that mean \"no value\""},
    {OF_VALUE, "true", read_texts, INTO(field_t, words[1]), .any = true, .tag = "true", .least = 1, .most = 8,
     .types = BIT(BOOLEAN), .makes = MAKES_TYPED, .is = "1 to 8 words"},
    {OF_VALUE, "false", read_texts, INTO(field_t, words[0]), .any = true, .tag = "false", .least = 1,
     .most = 8, .types = BIT(BOOLEAN), .makes = MAKES_TYPED, .is = "1 to 8 words"},
    {OF_FIELD(DELIMITED) | BY_WIDTH, "divide", read_scale, .most = 1000000000, .types = FRACTIONS,
     .is = POWERS_IS},
    {OF_FIELD(DELIMITED), "multiply", read_scale, .most = 1000000000, .types = FRACTIONS, .instead = "divide",
     .is = POWERS_IS},
    {BY_WIDTH, "multiply", read_scale, .most = 10, .types = BIT(INT), .is = "10"},
    {OF_FIELD(DELIMITED) | BY_WIDTH, .tag = "divide", INTO(field_t, divide)},
    {ENTRY, "is", read_is, .only = "goes with the fields of an entry",
     .is = "as many characters, or sets such as \"[A-Z0]\", as the field is wide; a set of all "
           "but some, "
           "\"[^a]\", is not known"},
    {BY_WIDTH, "nulls", read_texts, INTO(field_t, nulls), .any = true, .tag = "nulls", .most = 1,
     .types = ENTRY_TYPES, .instead = "lengthWidth",
     .is = "one null value, as wide as the field, that means \"no value\""},
    {OF_VALUE, "decimal", read_mark, INTO(field_t, point), .tag = "decimal", .words = points,
     .types = NUMBERS, .makes = MAKES_TYPED, .is = POINT_IS},
    {OF_VALUE, "thousands", read_mark, INTO(field_t, thousands), .tag = "thousands", .words = marks,
     .types = NUMBERS, .makes = MAKES_TYPED, .is = MARKS_IS},
    {OF_FIELD(DELIMITED), "exact", read_bool, INTO(field_t, exact),
     .types = NUMBERS | BIT(TRIMMED) | BIT(OBJECTID),
     .is = "yes or no: of numbers, zeros in front, plus signs and exponents such as 1e5 do not fit; of "
           "`trimmed`, a text "
           "in quotes keeps its blanks; of `objectid`, capitals do not fit"},
    {OF_FIELD(DELIMITED), .tag = "exact", INTO(field_t, exact), .types = NUMBERS | BIT(TRIMMED)},
    {OF_FIELD(DELIMITED), .tag = "no_capitals", INTO(field_t, exact), .types = BIT(OBJECTID)},
    {OF_FIELD(DELIMITED), "array", read_array, INTO(field_t, array), .tag = "array", .least = 1,
     .most = SCHEMA_MOST_SEPARATOR, .types = BUT(BIT(LENGTH) | BIT(BINARY) | BIT(JSON)),
     .is = "1 to 8 ASCII characters, such as \";\": what is between the elements of an array"},
    {OF_FIELD(DELIMITED), "encoding", read_word, INTO(field_t, hex), .tag = "hex", WORDS(binaries),
     .types = BIT(BINARY), .is = "base64 or hex: how binary data is written"},
    {OF_FIELD(DELIMITED), "optional", read_bool, INTO(field_t, optional), .tag = "optional",
     .is = "yes or no: may a header lack the column?"},

    {SURPLUS, "into", read_into, INTO(schema_t, surplus_field), .tag = "into", .needed = true,
     .is = "the field that gets the surplus"},
    {SURPLUS, "left", read_number, INTO(schema_t, surplus_left), .tag = "left", .needed = true,
     .most = SCHEMA_MOST_FIELDS - 1, .is = "how many fields are before it"},

    {SECTION, "ids", read_ids, INTO(section_t, ids), .any = true, .tag = "ids", .needed = true,
     .is = "1 to 4 ranges of identifiers such as AA1-AA4 or AG1, of two capitals and a digit"},
    {SECTION, "name", read_key, INTO(section_t, name), .tag = "name", .needed = true, .most = 1,
     .is = "a key without a dot"},
    {SECTION, "fields", read_fields, LIST(section_t, fields, field_count), .items = PART_PIECE,
     .tag = "fields", .needed = true, .is = "what follows the identifier"},

    {TAIL, "marker", read_marker, INTO(tail_part_t, marker), .tag = "marker", .needed = true, .least = 1,
     .most = 8, .is = "1 to 8 characters; with sections, none that look like an identifier of theirs"},
    {TAIL, "name", read_key, INTO(tail_part_t, name), .tag = "name", .most = 1,
     .is = "a plain key, of its entries"},
    {TAIL, "sections", read_bool, INTO(tail_part_t, sections), .tag = "sections",
     .is = "yes or no: do sections follow?"},
    {TAIL, "list", read_key, INTO(tail_part_t, list), .tag = "list", .most = 1,
     .is = "with sections, a plain key: all identifiers are an array under it"},
    {TAIL, "repeat", read_fields, LIST(tail_part_t, fields, field_count), .items = PART_ENTRY,
     .tag = "repeat", .is = "the fields of an entry"},
    {TAIL, "leaveOut", read_bool, INTO(tail_part_t, leave_out), .tag = "leaveOut",
     .is = "yes or no: is it walked over, but not stored?"},
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
