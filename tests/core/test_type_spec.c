/* type_spec: what --type can say of a column, what it cannot, and which formats say the same. */
#include "format/guess/guess_options.h"
#include "format_lab.h"
#include "test.h"

static void expect_text(const char *spec, const char *is, const char *expected) {
    if (!is != !expected || (is && strcmp(is, expected) != 0))
        fail_msg("%s: '%s' where '%s' was expected", spec, is ? is : "nothing",
                 expected ? expected : "nothing");
}

TEST(parts) {
    static const struct {
        const char *text, *name, *key, *type, *pattern;
    } rows[] = {
        {"zip:text", "zip", NULL, "text", NULL},
        {"zip:string", "zip", NULL, "string", NULL},
        {"a b:int", "a b", NULL, "int", NULL},
        {"day:date(DD/MM/YYYY)", "day", NULL, "date", "DD/MM/YYYY"},
        {"day:datetime(YYYY-MM-DD hh:mm:ss)", "day", NULL, "datetime", "YYYY-MM-DD hh:mm:ss"},
        {"day:when.day:timestamp(epoch_s)", "day", "when.day", "timestamp", "epoch_s"},
        {"zip:code:int", "zip", "code", "int", NULL},
        {"zip:code:", "zip", "code", NULL, NULL},
        {"zip:int:", "zip", "int", NULL, NULL},
        {"zip:int:long", "zip", "int", "long", NULL},
        {"zip:b(c):int", "zip", "b(c)", "int", NULL},
        {"a::b:int", "a:b", NULL, "int", NULL},
        {"a:::int", "a:", NULL, "int", NULL},
        {"::a:int", ":a", NULL, "int", NULL},
        {"a:k::l:", "a", "k:l", NULL, NULL},
        {":int", "", NULL, "int", NULL},
        {"\xC3\xA9:int", "\xC3\xA9", NULL, "int", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        type_spec_t spec;
        err_t err;
        if (!type_spec_read(rows[i].text, &spec, &err))
            fail_msg("%s: %s", rows[i].text, err.text);
        expect_text(rows[i].text, spec.name, rows[i].name);
        expect_text(rows[i].text, spec.key, rows[i].key);
        expect_text(rows[i].text, spec.type ? spec.type->name : NULL, rows[i].type);
        expect_text(rows[i].text, spec.pattern, rows[i].pattern);
        type_spec_free(&spec);
    }
}

/* A key of 120 bytes is the longest. */
TEST(long_keys) {
    for (int length = 120; length <= 121; length++) {
        char text[200];
        type_spec_t spec;
        err_t err;
        snprintf(text, sizeof text, "a:%0*d:int", length, 7);
        assert_int_equal(type_spec_read(text, &spec, &err), length == 120);
        type_spec_free(&spec);
    }
}

/* A kept format agrees with the options that it was guessed with, and no others. */
TEST(agreement) {
    static const struct {
        const char *text, *refusal; /* NULL: it agrees */
    } rows[] = {
        {"Price (EUR):decimal", NULL},
        {"day:date(DD/MM/YYYY)", NULL},
        {"a\nb:int", NULL},
        {"day:date", "--type day:date: shop.orders was guessed with --type"},
        {"day:date(MM/DD/YYYY)", "was guessed with --type"},
        {"Price (EUR)", "was guessed with --type"},
    };
    char *const types[] = {"Price (EUR):decimal", "day:date(DD/MM/YYYY)", "a\nb:int"};
    const guess_options_t first = {.types = types, .type_count = 3};
    text_t yaml = {.length = 0};
    text_append(&yaml, "# Guessed\n");
    guess_options_name(&yaml, &first);
    text_append(
        &yaml,
        "format: guessed\nrecord: {delimiter: \",\"}\non_bad_value: null\nfields: [{name: a, type: int}]\n");
    schema_t *schema = lab_schema(yaml.bytes);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *text = (char *)rows[i].text;
        const guess_options_t options = {.types = &text, .type_count = 1};
        err_t err = {.text = ""};
        const bool agrees = guess_options_agree(&options, schema, yaml.bytes, "shop.orders", &err);
        if (agrees != !rows[i].refusal || (!agrees && !strstr(err.text, rows[i].refusal)))
            fail_msg("%s: %s", text, agrees ? "agrees" : err.text);
    }
    for (bad_value_t i = BAD_VALUE_TEXT; i < BAD_VALUES; i++) {
        const guess_options_t options = {.bad_value_given = true, .bad_value = i};
        err_t err;
        assert_int_equal(guess_options_agree(&options, schema, yaml.bytes, "shop.orders", &err),
                         i == BAD_VALUE_NULL);
    }
    const guess_options_t none = {.header = GUESS_NO_HEADER};
    err_t err;
    assert_false(guess_options_agree(&none, schema, "format: guessed\n", "shop.orders", &err));
    assert_non_null(strstr(err.text, "--with header=no: shop.orders was guessed without options"));
    schema_destroy(schema);
    text_free(&yaml);
}
