#include "format/schema/schema_read.h"

#include <string.h>

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

bool schema_words(reader_t *reader, const yaml_item_t *field_node, field_t *field) {
    static const schema_text_t usual[2][3] = {{{"false", 5}, {"False", 5}, {"FALSE", 5}},
                                              {{"true", 4}, {"True", 4}, {"TRUE", 4}}};
    static const char *const keys[] = {"false", "true"};
    for (int is = 0; is < 2; is++) {
        const yaml_item_t *node = yaml_item_get(field_node, keys[is]);
        field->words[is] = (texts_t){usual[is], COUNT(usual[is])};
        if (node && !read_words_of(reader, node, field, &field->words[is]))
            return false;
    }
    for (size_t i = 0; i < field->words[1].count; i++)
        if (holds(&field->words[0], field->words[0].count, &field->words[1].items[i]))
            return COMPLAIN(field_node, "'%s' cannot be both true and false", field->words[1].items[i].text);
    return true;
}
