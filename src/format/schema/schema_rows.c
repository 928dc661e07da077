/* The keys of format files, a row each (schema_rows, at the end), after the functions that read their values. */
#include "format/schema/schema_read.h"

#include <ctype.h>
#include <string.h>

enum { WIDEST = 512, WIDEST_LENGTH = 4, LONGEST_KEY = 120, LONGEST_PREFIX = 8 };

/* Where the row's value goes. */
#define MEMBER(type) (*(type *)(void *)((char *)reader->into + reader->row->at))

/* ---- values of any part ---- */

/* Which of the row's words it is; -1: none. */
static int find_word(const row_t *row, const char *text) {
    int word = row->most - 1;
    while (word >= 0 && strcmp(text, row->words[word]) != 0)
        word--;
    return word;
}

/* An enum, or a bool: the number of the word. */
static bool read_word(reader_t *reader, const yaml_item_t *node) {
    const int word = find_word(reader->row, node->text);
    if (word >= 0)
        memcpy(&MEMBER(char), &word, reader->row->size);
    return word >= 0;
}

/* One of the words, or an encoding of which iconv makes UTF-8. */
static bool read_encoding(reader_t *reader, const yaml_item_t *node) {
    if (read_word(reader, node))
        return true;
    reader->schema->charset = node->text;
    return encoding_iconv_knows(node->text);
}

static bool read_bool(reader_t *reader, const yaml_item_t *node) {
    return yaml_tree_bool(reader->schema->tree, node, &MEMBER(bool), reader->err);
}

/* `json: yes` and others, by which something else is known. */
static bool read_yes(reader_t *reader, const yaml_item_t *node) {
    bool yes;
    return yaml_tree_bool(reader->schema->tree, node, &yes, reader->err) && yes;
}

static bool read_number(reader_t *reader, const yaml_item_t *node) {
    const row_t *row = reader->row;
    int64_t number;
    return yaml_tree_int(reader->schema->tree, node, row->least, row->most, &number, reader->err) &&
           memcpy(&MEMBER(char), &number, row->size);
}

static bool fits(const row_t *row, size_t count) {
    return count >= (size_t)row->least && (!row->most || count <= (size_t)row->most);
}

static bool read_text(reader_t *reader, const yaml_item_t *node) {
    const bool string = reader->row->form == FORM_STRING;
    const schema_text_t text = {node->text, node->length};
    memcpy(&MEMBER(char), &text, reader->row->size);
    return fits(reader->row, text.length) && (!string || strlen(text.text) == text.length);
}

static bool take_texts(reader_t *reader, const yaml_item_t *node, texts_t *texts) {
    const bool list = node->kind == YAML_ITEM_LIST;
    const size_t count = list ? node->count : 1;
    schema_text_t *items = schema_own(reader->schema, count * sizeof *items, reader->err);
    const yaml_item_t *item = list ? node->first : node;
    *texts = (texts_t){items, count};
    for (size_t i = 0; items && i < count; i++, item = item->next) {
        if (item->kind != YAML_ITEM_SCALAR)
            return false;
        items[i] = (schema_text_t){item->text, item->length};
    }
    return items && fits(reader->row, count);
}

static bool read_texts(reader_t *reader, const yaml_item_t *node) {
    return take_texts(reader, node, &MEMBER(texts_t));
}

bool schema_text_among(const schema_text_t *text, const texts_t *others) {
    for (size_t i = 0; i < others->count; i++)
        if (others->items[i].length == text->length &&
            memcmp(others->items[i].text, text->text, text->length) == 0)
            return true;
    return false;
}

const char *schema_key_problem(const char *key, size_t length) {
    if (!length || key[0] == '$' || key[0] == '.' || key[length - 1] == '.' || strstr(key, "..") ||
        strstr(key, ".$"))
        return "no part of it may be empty or start with '$'";
    if (strcmp(key, "_id") == 0 || strncmp(key, "_id.", 4) == 0)
        return "_id is made from the record's position";
    return length > LONGEST_KEY ? "it has more than 120 bytes" : NULL;
}

/* A key, with dots unless `most` is 1. A value of JSON may be the _id. */
static bool take_key(reader_t *reader, const yaml_item_t *node, const char **key) {
    const char *problem = schema_key_problem(node->text, node->length);
    *key = node->text;
    if (problem && (reader->schema->kind != RECORDS_JSON || strcmp(node->text, "_id") != 0))
        return COMPLAIN(node, "'%s' cannot be a document's key: %s", node->text, problem);
    return strlen(node->text) == node->length && (reader->row->most != 1 || !strchr(node->text, '.'));
}

static bool read_key(reader_t *reader, const yaml_item_t *node) {
    return take_key(reader, node, &MEMBER(const char *));
}

/* The name is the key where no other one is given. */
static bool read_name(reader_t *reader, const yaml_item_t *node) {
    field_t *field = reader->into;
    return read_text(reader, node) && (schema_item(reader, "key") || take_key(reader, node, &field->key));
}

/* ---- the file ---- */

static bool read_timezone(reader_t *reader, const yaml_item_t *node) {
    err_t wrong;
    if (!read_text(reader, node))
        return false;
    reader->schema->zone = schema_read_zone(node->text, &wrong);
    return reader->schema->zone || COMPLAIN(node, "%s", wrong.text);
}

/* ---- a record ---- */

static bool read_delimiter(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->into;
    texts_t texts;
    schema->blanks = node->kind == YAML_ITEM_SCALAR && !node->quoted && strcmp(node->text, "blanks") == 0;
    schema->delimiters[0] = ' ';
    schema->delimiter_count = schema->blanks;
    if (schema->blanks)
        return true;
    bool ok = take_texts(reader, node, &texts);
    for (size_t i = 0; ok && i < texts.count; i++) {
        const schema_text_t *text = &texts.items[i];
        ok = text->length && text->length <= (texts.count == 1 ? SCHEMA_WIDEST_DELIMITER : 1) &&
             encoding_is_ascii((const uint8_t *)text->text, text->length) &&
             strcspn(text->text, "\r\n\"\\") == text->length;
        schema->delimiters[schema->delimiter_count++] = text->text[0];
        if (text->length > 1)
            schema->wide = *text;
    }
    return ok;
}

/* One ASCII sign: of those in words[0], or else a punctuation mark that cannot be taken for a delimiter or another sign of
 * the record. words[1]: for none. */
static bool read_sign(reader_t *reader, const yaml_item_t *node) {
    const schema_t *schema = reader->schema;
    const char *const *words = reader->row->words;
    const char sign = node->length == 1 ? node->text[0] : 0;
    MEMBER(char) = sign;
    if (!sign || words[0])
        return sign ? strchr(words[0], sign) != NULL : words[1] && strcmp(node->text, words[1]) == 0;
    return !(sign & 0x80) && ispunct(sign) && sign != '\\' && schema->quote != schema->comment &&
           !memchr(schema->delimiters, sign, schema->delimiter_count) &&
           !(schema->wide.length && memchr(schema->wide.text, sign, schema->wide.length));
}

static bool read_escape(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->into;
    bool *const ways[] = {&schema->escape_double, &schema->escape_backslash, &schema->escape_backslashes};
    texts_t texts;
    bool ok = take_texts(reader, node, &texts);
    schema->escape_double = false;
    for (size_t i = 0; ok && i < texts.count; i++) {
        const int way = find_word(reader->row, texts.items[i].text);
        if ((ok = way >= 0))
            *ways[way] = true;
    }
    schema->escape_backslash |= schema->escape_backslashes;
    return ok;
}

static bool read_header(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->into;
    bool yes = false;
    err_t ignored;
    if (node->kind != YAML_ITEM_SCALAR || node->quoted)
        return read_texts(reader, node);
    const bool refuse = strcmp(node->text, "refuse") == 0;
    const bool ok = refuse || yaml_tree_bool(schema->tree, node, &yes, &ignored);
    schema->header = yes ? HEADER_YES : HEADER_NO;
    schema->header_refused = refuse;
    return ok;
}

/* ---- names of fields ---- */

/* A name, or a list of up to `most` names, each once. */
static bool take_names(reader_t *reader, const yaml_item_t *node, size_t most, layout_t *layout) {
    const schema_t *schema = reader->schema;
    const bool list = node->kind == YAML_ITEM_LIST;
    uint16_t *fields = schema_own(reader->schema, (node->count + 1) * sizeof *fields, reader->err);
    const char *names[SCHEMA_MOST_FIELDS];
    size_t count = 0;
    for (const yaml_item_t *name = list ? node->first : node; fields && name;
         name = list ? name->next : NULL) {
        size_t i = 0;
        for (; name->text && i < schema->field_count && strcmp(schema->fields[i].name, name->text) != 0; i++)
            names[i] = schema->fields[i].name;
        if (!name->text)
            return false;
        if (i == schema->field_count)
            return COMPLAIN(name, "there is no field '%s'%s", name->text,
                            suggestion(name->text, names, i).text);
        for (size_t before = 0; before < count; before++)
            if (fields[before] == i)
                return COMPLAIN(name, "'%s' is here twice", name->text);
        fields[count++] = (uint16_t)i;
    }
    *layout = (layout_t){fields, count};
    return count && count <= most;
}

static bool read_field(reader_t *reader, const yaml_item_t *node) {
    layout_t one;
    const bool ok = take_names(reader, node, 1, &one);
    MEMBER(int) = ok ? one.fields[0] : -1;
    return ok;
}

static bool read_layouts(reader_t *reader, const yaml_item_t *list) {
    schema_t *schema = reader->schema;
    bool ok = list->kind == YAML_ITEM_LIST && fits(reader->row, list->count);
    for (const yaml_item_t *node = list->first; ok && node; node = node->next) {
        layout_t *layout = &schema->layouts[schema->layout_count++];
        ok = node->kind == YAML_ITEM_LIST && take_names(reader, node, SCHEMA_MOST_FIELDS, layout);
        for (const layout_t *other = schema->layouts; ok && other < layout; other++)
            if (other->count == layout->count)
                return COMPLAIN(node, "two layouts have %zu columns", layout->count);
    }
    return ok;
}

/* ---- fields ---- */

bool schema_read_type(reader_t *reader, const yaml_item_t *node) {
    const schema_type_t *type = schema_type_find(node->text, strlen(node->text), reader->row->types);
    if (type)
        MEMBER(field_type_t) = type->type;
    return type;
}

/* By a power of ten. */
static bool read_scale(reader_t *reader, const yaml_item_t *node) {
    const int step = strcmp(reader->row->key, "multiply") == 0 ? -1 : 1;
    int64_t by;
    if (!yaml_tree_int(reader->schema->tree, node, 1, reader->row->most, &by, reader->err))
        return false;
    for (; by % 10 == 0; by /= 10)
        MEMBER(int) += step;
    return by == 1;
}

/* The bytes that one place of a pattern such as "[A-Z][0-9]x" allows. Returns the next place; NULL: it is no set. */
static const char *read_set(const char *at, byteset_t *set) {
    const bool several = *at == '[';
    at += several;
    if (several && *at == '^')
        return NULL;
    do {
        const bool range = several && at[0] && at[1] == '-' && at[2] && at[2] != ']';
        const uint8_t first = (uint8_t)at[0], last = (uint8_t)at[range ? 2 : 0];
        if (!first || last < first)
            return NULL;
        for (unsigned byte = first; byte <= last; byte++)
            set->bits[byte >> 6] |= 1ull << (byte & 63);
        at += range ? 3 : 1;
    } while (several && *at != ']');
    return at + several;
}

static bool read_is(reader_t *reader, const yaml_item_t *node) {
    field_t *field = reader->into;
    byteset_t *sets = schema_own(reader->schema, field->width * sizeof *sets, reader->err);
    const char *at = node->text;
    field->is = sets;
    for (size_t i = 0; sets && at && i < field->width; i++)
        at = read_set(at, &sets[i]);
    return sets && at == node->text + node->length;
}

/* ---- what is made ---- */

/* Fields, and lists of fields whose texts are joined. */
static bool read_from(reader_t *reader, const yaml_item_t *node) {
    make_t *made = reader->into;
    const bool two = !(MAKES_TEXT >> made->kind & 1);
    bool ok = node->kind == YAML_ITEM_LIST && fits(reader->row, node->count) && (!two || node->count == 2);
    for (const yaml_item_t *item = node->first; ok && item; item = item->next) {
        layout_t names = {.count = 0};
        ok = take_names(reader, item, two ? 1 : SCHEMA_MOST_FROM, &names);
        made->from[made->from_count].fields = names.fields;
        made->from[made->from_count++].count = names.count;
    }
    return ok;
}

/* One text: between all items of `join`. A list: before each of them. */
static bool read_with(reader_t *reader, const yaml_item_t *node) {
    make_t *made = reader->into;
    const bool between = made->kind == MAKE_JOIN && node->kind == YAML_ITEM_SCALAR;
    texts_t texts;
    bool ok = take_texts(reader, node, &texts) && (between || texts.count == made->from_count);
    for (size_t i = 0; ok && i < texts.count; i++) {
        ok = texts.items[i].length <= LONGEST_PREFIX;
        *(between ? &made->text : &made->from[i].with) = texts.items[i];
    }
    return ok;
}

/* ---- the tail, and sections ---- */

/* Is the text an identifier of a section, or the beginning of one, or does it begin with one? */
static bool looks_like_id(const char *text) {
    for (size_t i = 0; i < SCHEMA_ID && text[i]; i++)
        if (i < 2 ? text[i] < 'A' || text[i] > 'Z' : text[i] < '0' || text[i] > '9')
            return false;
    return true;
}

static bool read_marker(reader_t *reader, const yaml_item_t *node) {
    return read_text(reader, node) && !(reader->schema->section_count && looks_like_id(node->text));
}

/* Ranges such as "AA1-AA4", or "AG1". */
static bool read_ids(reader_t *reader, const yaml_item_t *node) {
    tail_list_t *section = reader->into;
    texts_t texts;
    bool ok = take_texts(reader, node, &texts);
    for (size_t i = 0; ok && i < texts.count; i++) {
        const char *first = texts.items[i].text, *last = first + (texts.items[i].length == 7 ? 4 : 0);
        ok = strlen(last) == SCHEMA_ID && looks_like_id(first) && looks_like_id(last) &&
             (last == first || (first[3] == '-' && memcmp(first, last, 2) == 0 && last[2] > first[2]));
        for (const tail_list_t *other = reader->schema->sections; ok && other <= section; other++)
            for (char id[] = {first[0], first[1], first[2]}; id[2] <= last[2]; id[2]++)
                ok &= !section_lists(other, id);
        memcpy(section->ids[section->id_count].first, first, ok ? SCHEMA_ID : 0);
        section->ids[section->id_count++].last_digit = ok ? last[2] : 0;
    }
    return ok;
}

/* ---- the rows ---- */

#define BIT(type)    (1u << TYPE_##type)
#define BUT(types)   (~(types) & ((1u << FIELD_TYPES) - 1))
#define ENTRY_TYPES  (BIT(TEXT) | BIT(TRIMMED) | BIT(INT) | BIT(NUMBER))
#define PLAIN_TYPES  BUT(BIT(LENGTH) | BIT(BINARY) | BIT(JSON))
#define MAKES_FIELDS (MAKES_TEXT | 1u << MAKE_UTC | 1u << MAKE_POINT)

#define INTO(type, member)                                                                                   \
    .at = offsetof(type, member), .size = sizeof((type *)NULL)->member,                                      \
    .form = _Generic(((type *)NULL)->member,                                                                \
             const char *: FORM_STRING,                                                                     \
             schema_text_t: FORM_TEXT,                                                                      \
             texts_t: FORM_TEXTS,                                                                           \
             default: FORM_BYTES)
#define LIST(type, member, count)                                                                            \
    .at = offsetof(type, member), .size = sizeof *((type *)NULL)->member, .count_at = offsetof(type, count), \
    .any = true
#define WORDS(array) .words = (array), .most = COUNT(array)

static const char *const needs[] = {"any", "needed"}, *const binaries[] = {"base64", "hex"};
static const char *const escapes[] = {"double", "backslash", "backslashes"};
static const char *const signs[] = {[SIGN_NEVER] = "never", [SIGN_ALWAYS] = "always", [SIGN_MINUS] = "minus"};
static const char *const points[] = {",.", NULL}, *const marks[] = {",.' ", "none"};
static const char *const quotes[] = {NULL, "none"}, *const comments[] = {NULL, NULL};

#define POINT_IS "\",\" or \".\": what is before the fraction of a number"
#define MARKS_IS "\",\", \".\", \"'\", \" \" or none: what may be between groups of three digits"
#define TENS_IS  "a power of ten: 1, 10, 100, ..."
#define TYPE_IS  "the type of its values"

enum { BY_WIDTH = IN_FIELD | IN_ENTRY | IN_PIECE, OF_VALUE = IN_FIELD | IN_MADE, TYPED = DELIMITED | JSON };

const row_t schema_rows[] = {
    {IN_FILE, ANY_KIND, "format", read_text, INTO(schema_t, name), .needed = true, .least = 1,
     .is = "a name, for messages and the catalog of a load"},
    {IN_FILE, ANY_KIND, "about", read_text, INTO(schema_t, about), .is = "one line for `tipple formats`"},
    {IN_FILE, ANY_KIND, "record", schema_read_map, .any = true, .items = IN_RECORD,
     .finish = schema_finish_record, .needed = true, .is = "how a record is cut"},
    {IN_FILE, DELIMITED | JSON, "timezone", read_timezone, INTO(schema_t, timezone), .tag = "timezone",
     .least = 1,
     .is = "the time zone, such as Europe/Berlin, of dates whose patterns have an hour, but no offset"},
    {IN_FILE, DELIMITED | FIXED, "fields", schema_read_list, LIST(schema_t, fields, field_count),
     .items = IN_FIELD, .finish = schema_finish_field, .tag = "fields", .needed = true, .least = 1,
     .most = SCHEMA_MOST_FIELDS, .is = "a list of 1 to 2048 fields, in the order of the document"},
    {IN_FILE, JSON, "fields", schema_read_list, LIST(schema_t, fields, field_count), .items = IN_FIELD,
     .finish = schema_finish_field, .tag = "fields", .least = 1, .most = SCHEMA_MOST_FIELDS,
     .is = "a list of 1 to 2048 fields: types of values"},
    {IN_FILE, DELIMITED, "surplus", schema_read_map, .any = true, .items = IN_SURPLUS,
     .is = "a map for rows with too many fields"},
    {IN_FILE, DELIMITED, "layouts", read_layouts, .any = true, .least = 1, .most = SCHEMA_MOST_LAYOUTS,
     .is = "1 to 16 lists of fields, such as [[id, name]], for files without a header"},
    {IN_FILE, DELIMITED | FIXED, "make", schema_read_list, LIST(schema_t, made, made_count), .items = IN_MADE,
     .tag = "make", .most = SCHEMA_MOST_MADE,
     .is = "up to 16 keys that are made, such as {name: join, from: [first, last]}"},
    {IN_FILE, FIXED, "sections", schema_read_list, LIST(schema_t, sections, section_count),
     .items = IN_SECTION, .finish = schema_finish_tail, .tag = "sections", .most = SCHEMA_MOST_SECTIONS,
     .is = "a list of up to 254 pieces with an identifier in front"},
    {IN_FILE, FIXED, "tail", schema_read_list, LIST(schema_t, parts, part_count), .items = IN_TAIL,
     .finish = schema_finish_tail, .tag = "tail", .most = SCHEMA_MOST_PARTS,
     .is = "a list of up to 7 parts that can follow the fixed part"},
    {IN_FILE, FIXED, "document", read_texts, INTO(schema_t, document), .any = true, .tag = "document",
     .is = "keys that stand first"},
    {IN_FILE, DELIMITED | JSON, "on_bad_value", read_word, INTO(schema_t, bad_value), .tag = "on_bad_value",
     .words = schema_bad_values, .most = BAD_VALUES,
     .is = "text, null or reject: what becomes of a value that does not fit its type"},

    {IN_RECORD, DELIMITED, "delimiter", read_delimiter, INTO(schema_t, delimiters), .any = true,
     .tag = "delimiter", .needed = true, .least = 1, .most = SCHEMA_MOST_DELIMITERS,
     .is = "1 to 8 ASCII characters, no quote, backslash or line end; or the only delimiter, of up to 8; or "
           "blanks"},
    {IN_RECORD, DELIMITED, .tag = "wide", INTO(schema_t, wide)},
    {IN_RECORD, DELIMITED, .tag = "blanks", INTO(schema_t, blanks)},
    {IN_RECORD, DELIMITED, "quote", read_sign, INTO(schema_t, quote), .tag = "quote", .words = quotes,
     .is = "one ASCII character that is no delimiter, or none"},
    {IN_RECORD, DELIMITED, "escape", read_escape, INTO(schema_t, escape_double), .any = true, .tag = "double",
     WORDS(escapes), .is = "some of double, backslash and backslashes: how quotes hold a quote"},
    {IN_RECORD, DELIMITED, .tag = "backslash", INTO(schema_t, escape_backslash)},
    {IN_RECORD, DELIMITED, .tag = "backslashes", INTO(schema_t, escape_backslashes)},
    {IN_RECORD, DELIMITED, "multiline", read_bool, INTO(schema_t, any_lines),
     .is = "yes or no: may quotes hold any line ends? Without the key, none whose lines look like records"},
    {IN_RECORD, DELIMITED, .tag = "multiline", INTO(schema_t, multiline)},
    {IN_RECORD, DELIMITED, "quoted", read_word, INTO(schema_t, quoted_needed), WORDS(needs),
     .is = "any or needed: a field in quotes that it does not need is a reject"},
    {IN_RECORD, DELIMITED, "header", read_header, INTO(schema_t, header_words), .any = true, .tag = "header",
     .is = "yes, no, refuse, or a list of words such as [id, ID] with which a header begins"},
    {IN_RECORD, DELIMITED, "header_line", read_text, INTO(schema_t, header_line), .tag = "header_line",
     .least = 1, .instead = "header", .is = "the very line that is the header; columns go by their place"},
    {IN_RECORD, DELIMITED, .tag = "header_is", INTO(schema_t, header)},
    {IN_RECORD, DELIMITED, "encoding", read_encoding, INTO(schema_t, encoding), .tag = "encoding",
     .words = encoding_names, .most = ENCODINGS,
     .is = "utf-8, latin1, windows-1252, utf-8-or-latin1, utf-8-or-windows-1252, or one that iconv knows, "
           "without shift states; UTF-16 is recognised by itself"},
    {IN_RECORD, DELIMITED, .tag = "charset", INTO(schema_t, charset)},
    {IN_RECORD, DELIMITED, "decimal", read_sign, INTO(schema_t, point), .words = points, .is = POINT_IS},
    {IN_RECORD, DELIMITED, "thousands", read_sign, INTO(schema_t, thousands), .words = marks, .is = MARKS_IS},
    {IN_RECORD, DELIMITED, "exact", read_bool, INTO(schema_t, exact),
     .is = "yes or no: numbers such as 007, +7 and 1e5 do not fit"},
    {IN_RECORD, DELIMITED, "skip", read_number, INTO(schema_t, skip), .tag = "skip",
     .most = SCHEMA_MOST_SKIPPED, .is = "0 to 1000: how many lines at the beginning are no records"},
    {IN_RECORD, DELIMITED, "comment", read_sign, INTO(schema_t, comment), .tag = "comment", .words = comments,
     .is = "a punctuation mark, no delimiter, quote or backslash: lines that begin with it are no records"},
    {IN_RECORD, FIXED, "fixed", read_number, INTO(schema_t, fixed), .tag = "fixed", .needed = true,
     .least = 1, .most = SCHEMA_WIDEST, .is = "1 to 4096: how many bytes stand in every record"},
    {IN_RECORD, JSON, "json", read_yes, INTO(schema_t, kind), .tag = "json", .needed = true,
     .is = "yes; without the key, records are delimited"},
    {IN_RECORD, BSON, "bson", read_yes, INTO(schema_t, kind), .tag = "bson", .needed = true,
     .is = "yes; without the key, records are delimited"},
    {IN_RECORD, BSON, "arrow", read_number, INTO(schema_t, arrow), .tag = "arrow", .least = 1, .most = 1,
     .is =
         "1: which table of types has made documents of Arrow's rows; a symbol is a value that does not fit"},
    {IN_RECORD, BSON, "validate", read_bool, INTO(schema_t, validate), .tag = "validate",
     .is = "yes or no: must keys and texts be UTF-8?"},

    {BY_WIDTH, ANY_KIND, "name", read_name, INTO(field_t, name), .needed = true, .least = 1,
     .is = "a name, for messages, `--filter` and other keys; without `key`, it is the key with its dots"},
    {BY_WIDTH, DELIMITED | FIXED, "key", read_key, INTO(field_t, key), .tag = "key",
     .is = "the key in the document; dots make subdocuments"},
    {IN_FIELD, JSON, .tag = "key", INTO(field_t, key)},
    {IN_FIELD, DELIMITED, "type", schema_read_type, INTO(field_t, type), .tag = "type",
     .types = BUT(BIT(LENGTH)), .is = TYPE_IS},
    {IN_FIELD, FIXED, "type", schema_read_type, INTO(field_t, type), .tag = "type",
     .types = ENTRY_TYPES | BIT(LENGTH), .is = TYPE_IS},
    {IN_ENTRY | IN_PIECE, FIXED, "type", schema_read_type, INTO(field_t, type), .tag = "type",
     .types = ENTRY_TYPES, .is = TYPE_IS},
    {IN_FIELD, JSON, "type", schema_read_type, INTO(field_t, type), .tag = "type", .needed = true,
     .types = PLAIN_TYPES, .is = TYPE_IS},
    {BY_WIDTH, FIXED, "width", read_number, INTO(field_t, width), .tag = "width", .needed = true, .least = 1,
     .most = WIDEST, .instead = "lengthWidth", .is = "1 to 512: how many bytes it has"},
    {IN_ENTRY, FIXED, "lengthWidth", read_number, INTO(field_t, width), .least = 1, .most = WIDEST_LENGTH,
     .types = BIT(TEXT),
     .is = "1 to 4, in the last field of an entry: how many digits the length before it has"},
    {BY_WIDTH, FIXED, .tag = "lengthWidth", INTO(field_t, counted)},
    {BY_WIDTH, FIXED, "sign", read_word, INTO(field_t, sign), .tag = "sign", WORDS(signs),
     .types = BIT(INT) | BIT(NUMBER), .is = "never, always or minus: where a number's sign is"},
    {IN_FIELD, DELIMITED, "column", read_texts, INTO(field_t, columns), .any = true, .tag = "column",
     .least = 1, .is = "the name in a header, or a list of names"},
    {IN_MADE, DELIMITED | FIXED, "from", read_from, .any = true, .needed = true, .least = 1,
     .most = SCHEMA_MOST_FROM, .makes = MAKES_FIELDS,
     .is = "1 to 4 items, each a field or a list of up to 4 fields that are put together; of utc and point, "
           "two fields"},
    {IN_MADE, DELIMITED | FIXED, "with", read_with, INTO(make_t, text), .any = true, .tag = "text",
     .makes = MAKES_TEXT,
     .is = "a prefix of up to 8 bytes for each item of 'from'; of join also one text, between all"},
    {IN_MADE, DELIMITED, "value", read_text, INTO(make_t, text), .needed = true, .most = 1000,
     .makes = 1u << MAKE_CONSTANT, .is = "a text of at most 1000 bytes"},
    {IN_MADE, DELIMITED, "type", schema_read_type, INTO(field_t, type), .makes = MAKES_TYPED,
     .types = PLAIN_TYPES, .is = TYPE_IS},
    {IN_MADE, DELIMITED | FIXED, .tag = "type", INTO(field_t, type)},
    {IN_MADE, DELIMITED | FIXED, .tag = "key", INTO(field_t, key)},
    {IN_MADE, DELIMITED | FIXED, .tag = "exact", INTO(field_t, exact)},
    {IN_MADE, DELIMITED | FIXED, .tag = "kind", INTO(make_t, kind)},
    {IN_MADE, DELIMITED | FIXED, .tag = "change", INTO(make_t, change)},
    {OF_VALUE, DELIMITED | JSON, "pattern", read_texts, INTO(field_t, patterns), .any = true, .least = 1,
     .most = 8, .types = BIT(DATE), .makes = MAKES_TYPED, .is = "1 to 8 patterns"},
    {OF_VALUE, ANY_KIND, .tag = "pattern", INTO(field_t, patterns)},
    {OF_VALUE, DELIMITED | JSON, "nulls", read_texts, INTO(field_t, nulls), .any = true, .tag = "nulls",
     .most = 16, .makes = MAKES_TYPED, .is = "at most 16 texts that mean \"no value\""},
    {OF_VALUE, DELIMITED | JSON, "true", read_texts, INTO(field_t, words[1]), .any = true, .tag = "true",
     .least = 1, .most = 8, .types = BIT(BOOLEAN), .makes = MAKES_TYPED, .is = "1 to 8 words"},
    {OF_VALUE, DELIMITED | JSON, "false", read_texts, INTO(field_t, words[0]), .any = true, .tag = "false",
     .least = 1, .most = 8, .types = BIT(BOOLEAN), .makes = MAKES_TYPED, .is = "1 to 8 words"},
    {BY_WIDTH, DELIMITED | FIXED, "divide", read_scale, INTO(field_t, divide), .tag = "divide",
     .most = 1000000000, .types = FRACTIONS, .is = TENS_IS},
    {IN_FIELD, DELIMITED, "multiply", read_scale, INTO(field_t, divide), .most = 1000000000,
     .types = FRACTIONS, .instead = "divide", .is = TENS_IS},
    {BY_WIDTH, FIXED, "multiply", read_scale, INTO(field_t, divide), .most = 10, .types = BIT(INT),
     .is = "10"},
    {IN_ENTRY, FIXED, "is", read_is, INTO(field_t, is),
     .is = "as many characters, or sets such as \"[A-Z0]\", but none such as \"[^a]\", as the field is wide"},
    {BY_WIDTH, FIXED, "nulls", read_texts, INTO(field_t, nulls), .any = true, .tag = "nulls", .most = 1,
     .types = ENTRY_TYPES, .instead = "lengthWidth",
     .is = "one null value, as wide as the field, that means \"no value\""},
    {OF_VALUE, DELIMITED | JSON, "decimal", read_sign, INTO(field_t, point), .tag = "decimal",
     .words = points, .types = NUMBERS, .makes = MAKES_TYPED, .is = POINT_IS},
    {OF_VALUE, DELIMITED | JSON, "thousands", read_sign, INTO(field_t, thousands), .tag = "thousands",
     .words = marks, .types = NUMBERS, .makes = MAKES_TYPED, .is = MARKS_IS},
    {IN_FIELD, DELIMITED, "exact", read_bool, INTO(field_t, exact),
     .types = NUMBERS | BIT(TRIMMED) | BIT(OBJECTID),
     .is = "yes or no: 007, +7, 1e5 and an objectid in capitals do not fit; a trimmed text in quotes keeps "
           "its blanks"},
    {IN_FIELD, DELIMITED, .tag = "exact", INTO(field_t, exact), .types = NUMBERS | BIT(TRIMMED)},
    {IN_FIELD, DELIMITED, .tag = "no_capitals", INTO(field_t, exact), .types = BIT(OBJECTID)},
    {IN_FIELD, DELIMITED, "encoding", read_word, INTO(field_t, hex), .tag = "hex", WORDS(binaries),
     .types = BIT(BINARY), .is = "base64 or hex: how binary data is written"},
    {IN_FIELD, DELIMITED, "optional", read_bool, INTO(field_t, optional), .tag = "optional",
     .is = "yes or no: may a header lack the column?"},

    {IN_FIELD, DELIMITED, "added", read_text, INTO(field_t, added),
     .is = "a text: the file with which the column came after the first load. tipple writes it"},
    {IN_SURPLUS, ANY_KIND, "into", read_field, INTO(schema_t, surplus_field), .tag = "into", .needed = true,
     .is = "the field that gets the surplus"},
    {IN_SURPLUS, ANY_KIND, "left", read_number, INTO(schema_t, surplus_left), .tag = "left", .needed = true,
     .most = SCHEMA_MOST_FIELDS - 1, .is = "how many fields are before it"},

    {IN_SECTION, FIXED, "ids", read_ids, INTO(tail_list_t, ids), .any = true, .tag = "ids", .needed = true,
     .least = 1, .most = SCHEMA_MOST_FROM,
     .is = "1 to 4 ranges of identifiers of two capitals and a digit, such as AA1-AA4 or AG1, each once"},
    {IN_SECTION, FIXED, "name", read_key, INTO(tail_list_t, name), .tag = "name", .needed = true, .most = 1,
     .is = "a key without a dot"},
    {IN_SECTION, FIXED, "fields", schema_read_list, LIST(tail_list_t, fields, field_count), .items = IN_PIECE,
     .finish = schema_finish_field, .tag = "fields", .needed = true, .least = 1, .most = SCHEMA_MOST_FIELDS,
     .is = "a list of 1 to 2048 fields: what follows the identifier"},

    {IN_TAIL, FIXED, "marker", read_marker, INTO(tail_list_t, marker), .tag = "marker", .needed = true,
     .least = 1, .most = 8, .is = "1 to 8 characters; with sections, none that look like an identifier"},
    {IN_TAIL, FIXED, "name", read_key, INTO(tail_list_t, name), .tag = "name", .needed = true, .most = 1,
     .instead = "sections", .is = "a key without a dot, of its entries"},
    {IN_TAIL, FIXED, "sections", read_yes, .is = "yes: sections follow"},
    {IN_TAIL, FIXED, .tag = "sections", INTO(tail_list_t, sections)},
    {IN_TAIL, FIXED, "list", read_key, INTO(tail_list_t, list), .tag = "list", .most = 1, .instead = "repeat",
     .is = "a key without a dot: all identifiers of the sections are an array under it"},
    {IN_TAIL, FIXED, "repeat", schema_read_list, LIST(tail_list_t, fields, field_count), .items = IN_ENTRY,
     .finish = schema_finish_field, .tag = "repeat", .needed = true, .least = 1, .most = SCHEMA_MOST_FIELDS,
     .instead = "sections", .is = "a list of 1 to 2048 fields of an entry"},
    {IN_TAIL, FIXED, "leaveOut", read_bool, INTO(tail_list_t, leave_out), .tag = "leaveOut",
     .is = "yes or no: is it walked over, but not stored?"},
    {.parts = 0},
};

const char *schema_gone(const char *word) {
    static const struct {
        const char *word, *instead;
    } gone[] = {
        {"like", "write the whole format: tipple formats --show NAME > my.yaml, and change that"},
        {"keys", "give each field its 'key'"},
        {"array", "the field is a text; $split makes an array of it on the server"},
        {"lookup", "load the second file into a collection of its own, and join it by $lookup"},
        {"upper", "use lower, or $toUpper in a query"},
        {"md5", "use sha256"},
        {"xxh3", "use sha256"},
        {"offset", "the _id that tipple makes has the place of the record in it"},
        {"skip-field", "use null, text or reject"},
        {"stop", "use reject, and load with --max-rejects 0"},
    };
    for (size_t i = 0; i < COUNT(gone); i++)
        if (strcmp(gone[i].word, word) == 0)
            return gone[i].instead;
    return NULL;
}
