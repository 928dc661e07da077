/* docs/format-keys.md is what the tables say by which format files are read: types, keys, and how keys are made.
 * TIPPLE_REWRITE=1 writes it anew. */
#include "base/text.h"
#include "format/schema/schema_read.h"
#include "format_lab.h"
#include "test.h"

static void put_types(text_t *out) {
    text_append(out, "\n## Types\n\n| type | other names |\n|---|---|\n");
    for (size_t i = 0; i < SCHEMA_TYPES; i++) {
        const schema_type_t *type = &schema_types[i];
        if (strcmp(schema_type_name(type->type), type->name) != 0 && strcmp(type->name, "datetime") != 0)
            continue;
        text_print(out, "| `%s` |", type->name);
        /* a timestamp is a datetime, and both are dates */
        for (size_t j = i + 1, others = 0; j < SCHEMA_TYPES; j++)
            if (schema_types[j].type == type->type && strcmp(schema_types[j].name, "datetime") != 0 &&
                (strcmp(schema_types[j].name, "timestamp") == 0) == (strcmp(type->name, "datetime") == 0))
                text_print(out, "%s`%s`", others++ ? ", " : " ", schema_types[j].name);
        text_append(out, " |\n");
    }
}

static void put_key(text_t *out, part_t part, const row_t *row) {
    const bool made = part == PART_MADE && row->makes && row->makes != MAKES_TYPED,
               type = strcmp(row->key, "type") == 0;
    text_print(out, "| `%s` | %s%s", row->key, row->is, type ? ": " : "");
    if (row->types)
        text_print(out, "%s%s", type ? "" : "; goes with the type ", schema_type_words(row->types).text);
    if (made)
        text_print(out, "; goes with %s", schema_made_words(RECORDS_DELIMITED, row->makes).text);
    if (row->instead)
        text_print(out, "; not with `%s`", row->instead);
    text_print(out, "%s |\n", row->needed && !made ? "; needed" : "");
}

static void put_keys(text_t *out) {
    for (part_t part = 0; part < PARTS; part++) {
        /* one table for files of delimited records and of fixed width, and one for all fields of fixed width */
        const uint32_t parts = 1u << part | (part == PART_FILE ? 1u << RECORDS_FIXED : 0) |
                               (part == PART_FIELD + RECORDS_FIXED ? 1u << PART_ENTRY : 0);
        const char *last = "";
        if (!schema_parts[part].title)
            continue;
        text_print(out, "\n## %s\n\n| key | is |\n|---|---|\n", schema_parts[part].title);
        for (const row_t *row = schema_rows; row->parts; row++)
            if (row->key && row->parts & parts && strcmp(row->key, last) != 0)
                put_key(out, part, row), last = row->key;
        if (part == PART_MADE)
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
