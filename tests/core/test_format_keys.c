/* The table of keys in docs/format-file.md is what the rows say by which format files are read. TIPPLE_REWRITE=1 writes it anew. */
#include "base/text.h"
#include "format/schema/schema_read.h"
#include "format_lab.h"
#include "test.h"

static const char table_begins[] = "<!-- keys: made by tests/core/test_format_keys.c -->\n",
                  table_ends[] = "<!-- /keys -->\n";

static const struct {
    const char *title;
    uint32_t parts;
    bool kinds; /* the rows say of which records they are */
} groups[] = {
    {"a file", IN_FILE, true},
    {"`record`", IN_RECORD, true},
    {"a field", IN_FIELD | IN_ENTRY | IN_PIECE, true},
    {"`make`", IN_MADE, false},
    {"`surplus`", IN_SURPLUS, false},
    {"`tail`", IN_TAIL, false},
    {"`sections`", IN_SECTION, false},
};

/* The kinds besides delimited records, or in place of them. */
static void put_kinds(text_t *out, uint32_t kinds) {
    static const char *const names[] = {"delimited", "fixed", "JSON", "BSON"};
    const char *before = kinds & DELIMITED ? " (also " : " (";
    if (kinds == ANY_KIND || kinds == DELIMITED) {
        text_append(out, kinds == ANY_KIND ? " (all)" : "");
        return;
    }
    for (size_t i = RECORDS_DELIMITED + 1; i < COUNT(names); i++)
        if (kinds >> i & 1)
            text_print(out, "%s%s", before, names[i]), before = ", ";
    text_append(out, ")");
}

static void put_key(text_t *out, const row_t *row, bool kinds) {
    const bool type = row->read == schema_read_type; /* the page has a table of types */
    text_print(out, "| `%s`", row->key);
    if (kinds && !type)
        put_kinds(out, row->kinds);
    text_print(out, " | %s", row->is);
    if (row->types && !type)
        text_print(out, "; goes with %s", schema_type_words(row->types).text);
    if (row->makes && row->makes != MAKES_TYPED)
        text_print(out, "; goes with %s", schema_made_words(RECORDS_DELIMITED, row->makes).text);
    if (row->instead)
        text_print(out, "; not with `%s`", row->instead);
    text_print(out, "%s |\n", row->needed && !row->makes ? "; needed" : "");
}

/* One table; each row stands in the first group that it belongs to. */
static void put_keys(text_t *out) {
    text_append(out, "\n| key | is |\n|---|---|\n");
    uint32_t before = 0;
    for (size_t i = 0; i < COUNT(groups); i++) {
        const row_t *last = NULL;
        text_print(out, "| **in %s** | |\n", groups[i].title);
        for (const row_t *row = schema_rows; row->parts; row++) {
            const bool again = last && last->read == schema_read_type && row->read == schema_read_type;
            if (row->key && row->parts & groups[i].parts && !(row->parts & before) && !again)
                put_key(out, last = row, groups[i].kinds);
        }
        before |= groups[i].parts;
    }
    text_append(out, "\n");
}

static char is[100000]; /* the page */

static const char *page_path(void) {
    static char path[1000];
    const char *root = getenv("TIPPLE_ROOT");
    snprintf(path, sizeof path, "%s/docs/format-file.md", root ? root : ".");
    return path;
}

static void read_page(void) {
    FILE *file = fopen(page_path(), "r");
    LAB_MUST(file);
    is[fread(is, 1, sizeof is - 1, file)] = 0;
    fclose(file);
}

TEST(keys) {
    read_page();
    const char *begin = strstr(is, table_begins), *end = strstr(is, table_ends);
    LAB_MUST(begin && end);
    text_t page = {.length = 0};
    text_append_bytes(&page, is, (size_t)(begin - is));
    text_append(&page, table_begins);
    put_keys(&page);
    text_append(&page, end);
    LAB_MUST(page.bytes && !page.lacking);
    if (getenv("TIPPLE_REWRITE")) {
        FILE *file = fopen(page_path(), "w");
        LAB_MUST(file && fwrite(page.bytes, 1, page.length, file) == page.length && fclose(file) == 0);
        read_page();
    }
    assert_string_equal(is, page.bytes);
    text_free(&page);
}

/* Each type, by all its names, and each way to make a key. */
TEST(words) {
    read_page();
    text_t words = {.length = 0};
    for (const schema_type_t *type = schema_types; type->name; type++)
        text_print(&words, "%s ", type->name);
    for (const schema_type_t *type = schema_foreign_types; type->name; type++)
        text_print(&words, "%s ", type->name);
    text_append(&words, schema_made_words(RECORDS_DELIMITED, ~0u).text);
    text_print(&words, " %s", schema_made_words(RECORDS_FIXED, ~0u).text);
    LAB_MUST(words.bytes && !words.lacking);
    char *rest = (char *)words.bytes, quoted[100];
    for (char *word = strtok_r(rest, ", ", &rest); word; word = strtok_r(NULL, ", ", &rest)) {
        snprintf(quoted, sizeof quoted, "`%s`", word);
        if (!strstr(is, quoted))
            fail_msg("docs/format-file.md has no %s", quoted);
    }
    text_free(&words);
}
