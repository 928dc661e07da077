/* yaml_tree: a YAML text as a tree that knows where everything stood; what is refused, and where that is said. */
#include "base/yaml_tree.h"
#include "format_lab.h"
#include "test.h"

static yaml_tree_t *parse(const char *text) {
    err_t err = {.text = ""};
    yaml_tree_t *tree = yaml_tree_parse(text, strlen(text), "my.yaml", &err);
    if (!tree)
        fail_msg("%s", err.text);
    return tree;
}

/* The sentence starts with the place, and holds some words. */
static void refuse_text(const char *text, size_t length, const char *place, const char *words) {
    err_t err = {.text = ""};
    yaml_tree_t *tree = yaml_tree_parse(text, length, "my.yaml", &err);
    if (tree)
        fail_msg("this is taken: %s", text);
    assert_int_equal(err.status, STATUS_USAGE);
    if (strncmp(err.text, place, strlen(place)) != 0 || !strstr(err.text, words))
        fail_msg("'%s' does not start with '%s' and say '%s'", err.text, place, words);
}

static void refuse(const char *text, const char *place, const char *words) {
    refuse_text(text, strlen(text), place, words);
}

TEST(not_yaml) {
    refuse("a: [1, 2\nb: 3\n", "my.yaml:2:", "not YAML");
    refuse("a: {b: 1\n", "my.yaml:1:4: ", "not YAML");
    refuse("a: 'x\n", "my.yaml:2:1: ", "not YAML");
    refuse("a: 1\n\tb: 2\n", "my.yaml:2:1: ", "not YAML");
    refuse("a: b: c\n", "my.yaml:1:5: ", "not YAML");
    refuse("a: @x\n", "my.yaml:1:4: ", "not YAML");
    refuse("a: 1\n- b\n", "my.yaml:2:1: ", "not YAML");
    refuse("a: caf\xE9\n", "my.yaml:", "not YAML");
    refuse_text("a: x\0y\n", 7, "my.yaml:", "not YAML");
    refuse("\"a\\0b\": x\n", "my.yaml:1:1", "a plain word"); /* it would be read as a */
}

TEST(refused) {
    refuse("", "my.yaml:1:1: ", "empty");
    refuse("# nothing but a comment\n", "my.yaml:1:1: ", "empty");
    refuse("a: 1\nb: 2\na: 3\n", "my.yaml:3:1: ", "line 1");
    refuse("r: {x: 1, y: 2, x: 3}\n", "my.yaml:1:17: ", "'x'");
    refuse("a: 1\n---\nb: 2\n", "my.yaml:2:1: ", "second document");
    refuse("a: &x [1]\nb: *x\n", "my.yaml:", "");
    refuse("[a, b]: c\n", "my.yaml:1:1: ", "key");
    refuse("? {a: 1}\n: 2\n", "my.yaml:1:3: ", "key");
}

/* Anchors, aliases and tags are refused: a file means what it says at the place where it says it. */
TEST(no_anchors_aliases_tags) {
    refuse("a: 1\nb: *x\n", "my.yaml:2:4: ", "alias");
    refuse("a: &x 1\nb: 2\n", "my.yaml:1:4: ", "anchor");
    refuse("a: &x [1]\n", "my.yaml:1:4: ", "anchor");
    refuse("a: !!str 1\n", "my.yaml:1:4: ", "tag");
    refuse("a: !mine {b: 1}\n", "my.yaml:1:4: ", "tag");
}

static char *nested(int depth) {
    char *text = malloc(2 * (size_t)depth + 1);
    assert_non_null(text);
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    text[2 * depth] = '\0';
    return text;
}

TEST(depth_and_size) {
    char *text = nested(20);
    yaml_tree_destroy(parse(text));
    free(text);
    text = nested(20000);
    refuse(text, "my.yaml:1:", "");
    free(text);
    /* a list of too many words is an error as well, and not a long wait */
    grown_t many = {0};
    grown_text(&many, "[");
    for (int i = 0; i < 300000; i++)
        grown_text(&many, "a,");
    grown_text(&many, "a]");
    refuse((const char *)many.at, "my.yaml:1:", "too large");
    grown_free(&many);
}

/* Looking for a key that is there twice takes the square of the keys, so their number has a bound. */
TEST(many_keys) {
    grown_t many = {0};
    for (int i = 0; i <= 20000; i++) {
        char line[40];
        snprintf(line, sizeof line, "key%d: %d\n", i, i);
        grown_text(&many, line);
    }
    refuse((const char *)many.at, "my.yaml:20001:1: ", "20000 keys");
    grown_free(&many);
}

/* For YAML {k:FORD} is a key "k:FORD" with null, and null would find something else than was meant. */
TEST(nothing) {
    static const struct {
        const char *text, *place, *words;
    } cases[] = {
        {"p: [{$match: {k:FORD}}]", "my.yaml:1:15: ", "'k:FORD' has no value"},
        {"{key: {ts}}", "my.yaml:1:8: ", "the key 'ts' has no"},
        {"{a: 1, b: }", "my.yaml:1:8: ", "the key 'b' has no value"},
        {"{? a}", "my.yaml:1:4: ", "the key 'a' has no value"},
        {"a: 1\nb:\nc: 2\n", "my.yaml:2:1: ", "the key 'b' has no value"},
        {"a:\n  b:\n", "my.yaml:2:3: ", "the key 'b' has no value"},
        {"a: # nothing\n", "my.yaml:1:1: ", "the key 'a' has no value"},
        {"a:\n  - 1\n  -\n  - 2\n", "my.yaml:", "a value is missing"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        refuse(cases[i].text, cases[i].place, cases[i].words);
    static const char *const taken[] = {"{k: FORD}", "{\"k\":FORD}", "{k: ''}",   "{k: null}", "{k: ~}",
                                        "{k: a:b}",  "[a:b]",        "{\"\": 5}", "{a:b: 5}",  "{k: []}",
                                        "a:\n- 1\n", "a:\n  b: 1\n", "[a, b,]",   "{a: 1,}"};
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        yaml_tree_destroy(parse(taken[i]));
}

TEST(int) {
    static const struct {
        const char *text;
        int64_t value;
        bool is;
    } cases[] = {{"7", 7, true},         {"-5", -5, true},
                 {"0", 0, true},         {"100", 100, true},
                 {"-10", -10, true},     {"101", 0, false},
                 {"-11", 0, false},      {"x", 0, false},
                 {"7x", 0, false},       {"''", 0, false},
                 {"1.5", 0, false},      {"[7]", 0, false},
                 {"{a: 7}", 0, false},   {"0x10", 0, false},
                 {"~", 0, false},        {"99999999999999999999", 0, false},
                 {"yes", 0, false},      {"\" 7\"", 0, false},
                 {"\"7\\0x\"", 0, false}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yaml_tree_t *tree = parse(cases[i].text);
        err_t err = {.text = ""};
        int64_t value = 4711;
        if (yaml_tree_int(tree, yaml_tree_root(tree), -10, 100, &value, &err) != cases[i].is)
            fail_msg("%s", cases[i].text);
        if (cases[i].is)
            assert_int_equal(value, cases[i].value);
        else if (strncmp(err.text, "my.yaml:1:1: ", 13) != 0 || !strstr(err.text, "-10") ||
                 !strstr(err.text, "100"))
            fail_msg("%s: %s", cases[i].text, err.text);
        yaml_tree_destroy(tree);
    }
}

TEST(bool) {
    static const struct {
        const char *text;
        int value; /* -1: none */
    } cases[] = {{"yes", 1}, {"no", 0},     {"true", 1},  {"false", 0},  {"on", 1},
                 {"off", 0}, {"Yes", 1},    {"FALSE", 0}, {"1", -1},     {"''", -1},
                 {"y", -1},  {"[yes]", -1}, {"~", -1},    {"maybe", -1}, {"{yes: 1}", -1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        yaml_tree_t *tree = parse(cases[i].text);
        err_t err = {.text = ""};
        bool value = false;
        bool is = yaml_tree_bool(tree, yaml_tree_root(tree), &value, &err);
        if (is != (cases[i].value >= 0) || (is && value != (cases[i].value == 1)))
            fail_msg("%s", cases[i].text);
        if (!is)
            assert_true(strncmp(err.text, "my.yaml:1:1: ", 13) == 0);
        yaml_tree_destroy(tree);
    }
}
