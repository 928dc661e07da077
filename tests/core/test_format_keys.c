/* docs/format-keys.md is what the tables say by which format files are read: types, keys, and how keys are made.
 * TIPPLE_REWRITE=1 writes it anew. */
#include "base/text.h"
#include "format/schema/schema_read.h"
#include "format_lab.h"
#include "test.h"

static void put_types(text_t *out) {
    text_append(out, "\n## Types\n\n| type | other names |\n|---|---|\n");
    for (size_t i = 0; i < SCHEMA_TYPE_NAMES; i++) {
        const schema_type_t *type = &schema_types[i];
        text_print(out, "| `%s` |", type->name);
        /* a timestamp is a datetime, and both are dates */
        for (size_t j = SCHEMA_TYPE_NAMES, others = 0; j < SCHEMA_TYPES; j++)
            if (schema_types[j].type == type->type && strcmp(type->name, "date") != 0)
                text_print(out, "%s`%s`", others++ ? ", " : " ", schema_types[j].name);
        text_append(out, " |\n");
    }
}

static void put_key(text_t *out, const row_t *row) {
    const bool made = row->makes && row->makes != MAKES_TYPED;
    text_print(out, "| `%s` | %s", row->key, row->is);
    if (row->types)
        text_print(out, "%s%s", row->read == schema_read_type ? ": " : "; goes with the type ",
                   schema_type_words(row->types).text);
    if (made)
        text_print(out, "; goes with %s", schema_made_words(RECORDS_DELIMITED, row->makes).text);
    if (row->instead)
        text_print(out, "; not with `%s`", row->instead);
    text_print(out, "%s |\n", row->needed && !made ? "; needed" : "");
}

static void put_keys(text_t *out) {
    static const struct {
        const char *title;
        uint32_t parts, kinds;
    } tables[] = {
        {"A format file", IN_FILE, DELIMITED | FIXED},
        {"A format file with `record: {json: yes}`", IN_FILE, JSON},
        {"A format file with `record: {bson: yes}`", IN_FILE, BSON},
        {"`record` of delimited files", IN_RECORD, DELIMITED},
        {"`record` of fixed width", IN_RECORD, FIXED},
        {"A field of delimited files", IN_FIELD, DELIMITED},
        {"A field of fixed width", IN_FIELD | IN_ENTRY, FIXED},
        {"A field of JSON", IN_FIELD, JSON},
        {"`make`, besides the key that is made and how", IN_MADE, DELIMITED},
        {"`surplus`", IN_SURPLUS, DELIMITED},
        {"`tail`", IN_TAIL, FIXED},
        {"`sections`", IN_SECTION, FIXED},
    };
    for (size_t i = 0; i < COUNT(tables); i++) {
        const char *last = "";
        text_print(out, "\n## %s\n\n| key | is |\n|---|---|\n", tables[i].title);
        for (const row_t *row = schema_rows; row->parts; row++)
            if (row->key && row->parts & tables[i].parts && row->kinds & tables[i].kinds &&
                strcmp(row->key, last) != 0)
                put_key(out, row), last = row->key;
        if (tables[i].parts == IN_MADE)
            text_print(out,
                       "\nKeys are made of delimited records by %s, of records of fixed width by %s. Types "
                       "go with %s.\n",
                       schema_made_words(RECORDS_DELIMITED, ~0u).text,
                       schema_made_words(RECORDS_FIXED, ~0u).text,
                       schema_made_words(RECORDS_DELIMITED, MAKES_TYPED).text);
    }
}

TEST(page) {
    char path[1000];
    static char is[100000];
    const char *root = getenv("TIPPLE_ROOT");
    text_t page = {.length = 0};
    text_append(
        &page,
        "# Keys and types of format files\n\nThis page is made of the tables by which format files are read; "
        "[formats.md](formats.md) explains them.\n");
    put_types(&page);
    put_keys(&page);
    LAB_MUST(page.bytes && !page.lacking);
    snprintf(path, sizeof path, "%s/docs/format-keys.md", root ? root : ".");
    if (getenv("TIPPLE_REWRITE")) {
        FILE *file = fopen(path, "w");
        LAB_MUST(file && fwrite(page.bytes, 1, page.length, file) == page.length && fclose(file) == 0);
    }
    FILE *file = fopen(path, "r");
    LAB_MUST(file);
    is[fread(is, 1, sizeof is - 1, file)] = 0;
    fclose(file);
    assert_string_equal(is, page.bytes);
    text_free(&page);
}
