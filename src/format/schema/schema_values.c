#include "format/schema/schema_read.h"
#include "format/values/pattern.h"

#include <string.h>

/* What stands beside the name of a field; of one that is made, a key called so may be what is made. */
static const yaml_item_t *beside(const yaml_item_t *node, const field_t *field, const char *name) {
    const yaml_item_t *item = yaml_item_get(node, name);
    return item && item->key != field->key ? item : NULL;
}

static bool read_pattern(reader_t *reader, const yaml_item_t *node, field_t *field) {
    if (field->type != TYPE_DATE)
        return COMPLAIN(node, "'pattern' goes with the types date and datetime");
    if (!schema_texts(reader, node, &field->patterns))
        return false;
    if (!field->patterns.count || field->patterns.count > PATTERN_MOST)
        return COMPLAIN(node, "1 to %d patterns were expected", PATTERN_MOST);
    for (size_t i = 0; i < field->patterns.count; i++) {
        pattern_t pattern;
        const char *problem =
            pattern_compile(field->patterns.items[i].text, field->patterns.items[i].length, &pattern);
        if (problem)
            return COMPLAIN(node, "'%s' is not a date pattern: %s", field->patterns.items[i].text, problem);
    }
    return true;
}

static bool holds(const texts_t *texts, size_t count, const schema_text_t *word) {
    for (size_t i = 0; i < count; i++)
        if (texts->items[i].length == word->length &&
            memcmp(texts->items[i].text, word->text, word->length) == 0)
            return true;
    return false;
}

/* The words of one boolean; each word means one thing only. */
static bool read_words_of(reader_t *reader, const yaml_item_t *node, field_t *field, texts_t *words) {
    if (field->type != TYPE_BOOLEAN)
        return COMPLAIN(node, "'%s' goes with the type boolean", node->key);
    if (!schema_texts(reader, node, words))
        return false;
    if (!words->count || words->count > 8)
        return COMPLAIN(node, "1 to 8 words were expected");
    for (size_t i = 0; i < words->count; i++) {
        const schema_text_t *word = &words->items[i];
        if (holds(&field->nulls, field->nulls.count, word))
            return COMPLAIN(node, "'%s' is a null value of this field already", word->text);
        if (holds(words, i, word))
            return COMPLAIN(node, "'%s' is here twice", word->text);
    }
    return true;
}

static bool read_words(reader_t *reader, const yaml_item_t *field_node, field_t *field) {
    static const schema_text_t usual[2][3] = {{{"false", 5}, {"False", 5}, {"FALSE", 5}},
                                              {{"true", 4}, {"True", 4}, {"TRUE", 4}}};
    static const char *const keys[] = {"false", "true"};
    for (int is = 0; is < 2; is++) {
        const yaml_item_t *node = beside(field_node, field, keys[is]);
        field->words[is] = (texts_t){usual[is], COUNT(usual[is])};
        if (node && !read_words_of(reader, node, field, &field->words[is]))
            return false;
    }
    for (size_t i = 0; i < field->words[1].count; i++)
        if (holds(&field->words[0], field->words[0].count, &field->words[1].items[i]))
            return COMPLAIN(field_node, "'%s' cannot be both true and false", field->words[1].items[i].text);
    return true;
}

/* One of the characters, or `none` (0). */
static bool read_mark(reader_t *reader, const yaml_item_t *node, const char *known, char *mark) {
    if (!schema_want(reader, node, YAML_ITEM_SCALAR, "a character"))
        return false;
    if (strcmp(known, ",.") != 0 && strcmp(node->text, "none") == 0) {
        *mark = 0;
        return true;
    }
    if (node->length != 1 || !strchr(known, node->text[0]))
        return COMPLAIN(node,
                        strcmp(known, ",.") == 0
                            ? "\",\" or \".\" was expected: what is before the fraction of a number"
                            : "\",\", \".\", \"'\", \" \" or none was expected: what is between thousands");
    *mark = node->text[0];
    return true;
}

/* Reads both where they are there. */
static bool read_marks(reader_t *reader, const yaml_item_t *decimal, const yaml_item_t *marks, char *point,
                       char *thousands) {
    if ((decimal && !read_mark(reader, decimal, ",.", point)) ||
        (marks && !read_mark(reader, marks, ",.' ", thousands)))
        return false;
    return *point != *thousands ||
           COMPLAIN(marks ? marks : decimal,
                    "'decimal' and 'thousands' are both \"%c\" ('decimal' is \".\" where it is not given)",
                    *point);
}

bool schema_record_numerals(reader_t *reader, const yaml_item_t *node) {
    schema_t *schema = reader->schema;
    const yaml_item_t *exact = yaml_item_get(node, "exact");
    char point = '.', thousands = 0;
    const bool marks = read_marks(reader, yaml_item_get(node, "decimal"), yaml_item_get(node, "thousands"),
                                  &point, &thousands);
    schema->point = marks ? point : '.';
    schema->thousands = marks ? thousands : 0;
    return marks && (!exact || yaml_tree_bool(reader->tree, exact, &schema->exact, reader->err));
}

static bool read_numerals(reader_t *reader, const yaml_item_t *node, field_t *field) {
    static const char *const keys[] = {"decimal", "thousands", "exact"};
    const yaml_item_t *given[COUNT(keys)];
    for (size_t i = 0; i < COUNT(keys); i++)
        given[i] = beside(node, field, keys[i]);
    const yaml_item_t *exact = given[2];
    char point = reader->schema->point, thousands = reader->schema->thousands;
    const bool number = field->type == TYPE_INT || field->type == TYPE_LONG || field->type == TYPE_NUMBER ||
                        field->type == TYPE_DECIMAL;
    const bool others = field->type == TYPE_TRIMMED || field->type == TYPE_OBJECTID;
    for (size_t i = 0; i < COUNT(keys); i++)
        if (given[i] && !number && !(others && given[i] == exact))
            return COMPLAIN(given[i], "'%s' goes with the types int, long, number%s", keys[i],
                            strcmp(keys[i], "exact") == 0 ? ", decimal, trimmed and objectid"
                                                          : " and decimal");
    field->exact = number && reader->schema->exact;
    bool *const said = field->type == TYPE_OBJECTID ? &field->no_capitals : &field->exact;
    if ((exact && !yaml_tree_bool(reader->tree, exact, said, reader->err)) ||
        !read_marks(reader, given[0], given[1], &point, &thousands))
        return false;
    if (number && (thousands || (point != '.' && field->type != TYPE_INT && field->type != TYPE_LONG))) {
        field->point = point;
        field->thousands = thousands;
    }
    return true;
}

bool schema_values(reader_t *reader, const yaml_item_t *node, field_t *field) {
    const yaml_item_t *pattern = beside(node, field, "pattern"), *nulls = beside(node, field, "nulls");
    if ((pattern && !TRY(read_pattern(reader, pattern, field))) ||
        (nulls && !TRY(schema_texts(reader, nulls, &field->nulls))) ||
        (field->nulls.count > SCHEMA_MOST_NULLS &&
         !TRY(COMPLAIN(nulls, "at most %d null values were expected", SCHEMA_MOST_NULLS))))
        return false;
    return TRY(read_words(reader, node, field)) && read_numerals(reader, node, field);
}
