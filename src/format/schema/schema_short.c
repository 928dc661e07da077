#include "format/schema/schema_short.h"
#include "base/grow.h"
#include "format/schema/schema.h"

#include <stdlib.h>
#include <string.h>

enum { SHORT = 2, LETTERS = 26, LONGEST_WORD = 8 };

typedef struct {
    const char *text;
    size_t length;
    char as[LONGEST_WORD];
} word_t;

typedef struct {
    schema_t *schema;
    err_t *err;
    word_t *words;
    size_t count, room;
    unsigned given; /* how many short words were used, including those that were skipped */
} shortener_t;

/* Keys that every format's documents may have. */
static bool is_taken(const char *word) {
    static const char *const taken[] = {"id", "order", "unparsed", "hour24"};
    for (size_t i = 0; i < COUNT(taken); i++)
        if (strcmp(word, taken[i]) == 0)
            return true;
    return false;
}

/* 0: a, 25: z, 26: aa, 701: zz, 702: aaa */
static void spell(unsigned number, char out[LONGEST_WORD]) {
    char digits[LONGEST_WORD];
    size_t count = 0;
    for (number++; number; number = (number - 1) / LETTERS)
        digits[count++] = (char)('a' + (number - 1) % LETTERS);
    for (size_t i = 0; i < count; i++)
        out[i] = digits[count - 1 - i];
    out[count] = '\0';
}

static const char *word_for(shortener_t *all, const char *text, size_t length) {
    for (size_t i = 0; i < all->count; i++)
        if (all->words[i].length == length && memcmp(all->words[i].text, text, length) == 0)
            return all->words[i].as;
    if (!GROW(all->words, all->room, all->count + 1, all->err))
        return NULL;
    word_t *word = &all->words[all->count++];
    *word = (word_t){.text = text, .length = length};
    do
        spell(all->given++, word->as);
    while (is_taken(word->as));
    return word->as;
}

/* Changes "wind.speed.rate" to "a.b.c"; NULL stays NULL. */
static bool shorten(shortener_t *all, const char **key) {
    if (!*key)
        return true;
    size_t parts = 1, used = 0;
    for (const char *at = *key; *at; at++)
        parts += *at == '.';
    char *made = schema_own(all->schema, parts * LONGEST_WORD + 1, all->err);
    for (const char *at = *key; made && *at;) {
        const size_t length = strcspn(at, ".");
        const char *word = word_for(all, at, length);
        if (!word)
            return false;
        const size_t word_length = strlen(word);
        if (used)
            made[used++] = '.';
        memcpy(made + used, word, word_length);
        used += word_length;
        at += length + (at[length] == '.');
    }
    *key = made;
    return made != NULL;
}

static bool shorten_fields(shortener_t *all, const field_t **fields, size_t count) {
    field_t *made = schema_own(all->schema, (count + 1) * sizeof *made, all->err);
    bool ok = made != NULL;
    if (ok && count)
        memcpy(made, *fields, count * sizeof *made);
    for (size_t i = 0; ok && i < count; i++)
        ok = shorten(all, &made[i].key);
    *fields = made;
    return ok;
}

static bool shorten_texts(shortener_t *all, texts_t *texts) {
    schema_text_t *made = schema_own(all->schema, (texts->count + 1) * sizeof *made, all->err);
    bool ok = made != NULL;
    for (size_t i = 0; ok && i < texts->count; i++) {
        made[i].text = texts->items[i].text;
        ok = shorten(all, &made[i].text);
        made[i].length = ok ? strlen(made[i].text) : 0;
    }
    texts->items = made;
    return ok;
}

static bool shorten_all(shortener_t *all, schema_t *schema) {
    bool ok = true;
    /* in place, since a filter may point to these */
    for (size_t i = 0; ok && i < schema->field_count; i++)
        ok = shorten(all, &schema->fields[i].key);
    for (size_t i = 0; ok && i < schema->made_count; i++)
        ok = shorten(all, &schema->made[i].field.key);
    ok = ok && shorten_texts(all, &schema->document);
    for (size_t i = 0; ok && i < schema->part_count; i++) {
        tail_part_t *part = &schema->parts[i];
        ok = shorten(all, &part->name) && shorten(all, &part->list) &&
             shorten_fields(all, &part->fields, part->field_count);
    }
    for (size_t i = 0; ok && i < schema->section_count; i++) {
        section_t *section = &schema->sections[i];
        ok = shorten(all, &section->name) && shorten_fields(all, &section->fields, section->field_count);
    }
    return ok;
}

bool schema_shorten(schema_t *schema, err_t *err) {
    shortener_t all = {.schema = schema, .err = err};
    const bool ok = shorten_all(&all, schema) && schema_digest(schema, err);
    free(all.words);
    return ok;
}

bool schema_is_short(const schema_t *schema) {
    for (size_t i = 0; i < schema->field_count; i++)
        for (const char *at = schema->fields[i].key; *at;) {
            const size_t length = strcspn(at, ".");
            if (length > SHORT)
                return false;
            at += length + (at[length] == '.');
        }
    return true;
}
