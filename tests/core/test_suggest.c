/* nearest: the word that was most likely meant, or none. */
#include "base/text.h"
#include "test.h"

#include <stdint.h>
#include <string.h>

static const char *const commands[] = {"load",  "parse", "formats", "generate",
                                       "where", "help",  "verify",  "query"};
enum { COMMANDS = sizeof commands / sizeof *commands };

TEST(typing_mistakes) {
    static const struct {
        const char *word, *meant;
    } cases[] = {
        {"lod", "load"},         {"laod", "load"},     {"loaad", "load"},      {"LOAD", "load"},
        {"prase", "parse"},      {"pase", "parse"},    {"format", "formats"},  {"foramts", "formats"},
        {"genrate", "generate"}, {"gen", "generate"},  {"genera", "generate"}, {"wher", "where"},
        {"hlep", "help"},        {"verfiy", "verify"}, {"qurey", "query"},     {"querry", "query"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *near = suggest_word(cases[i].word, commands, COMMANDS);
        if (!near || strcmp(near, cases[i].meant) != 0)
            fail_msg("%s: %s, not %s", cases[i].word, near ? near : "nothing", cases[i].meant);
    }
}

TEST(nothing_like_it) {
    static const char *const words[] = {"xyzzy", "database", "zzzzzzzzzz", "mongodb://h/mot.results",
                                        "0123456789"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_null(suggest_word(words[i], commands, COMMANDS));
    static const char *const options[] = {"yes", "uri", "limit"};
    static const char *const others[] = {"tls", "drp", "delimiter"};
    for (size_t i = 0; i < 3; i++)
        assert_null(suggest_word(others[i], options, 3));
    assert_null(suggest_word("load", commands, 0));
    char longest[5000];
    memset(longest, 'l', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    assert_null(suggest_word(longest, commands, COMMANDS));
    const char *const long_words[] = {longest, "load"};
    assert_string_equal(suggest_word("lod", long_words, 2), "load");
}

/* Of several that are near the closest is named, wherever it stands. */
TEST(the_closest) {
    static const char *const there[] = {"batch-bytes", "batch", "threads", "rejects", "max-rejects"};
    static const char *const back[] = {"max-rejects", "rejects", "threads", "batch", "batch-bytes"};
    assert_string_equal(suggest_word("batc", there, 5), "batch");
    assert_string_equal(suggest_word("batc", back, 5), "batch");
    assert_string_equal(suggest_word("btach", there, 5), "batch");
    assert_string_equal(suggest_word("btach", back, 5), "batch");
    assert_string_equal(suggest_word("reject", there, 5), "rejects");
    assert_string_equal(suggest_word("reject", back, 5), "rejects");
    assert_string_equal(suggest_word("max-reject", there, 5), "max-rejects");
    assert_string_equal(suggest_word("thread", back, 5), "threads");
    /* the word itself is the closest of all */
    static const char *const longer_first[] = {"ints", "interest", "int"};
    assert_string_equal(suggest_word("int", longer_first, 3), "int");
    assert_string_equal(suggest_word("INT", longer_first, 3), "int");
}

/* Two neighbours that changed places are one mistake, not two. */
TEST(swaps) {
    static const char *const help[] = {"help"}, *const abcd[] = {"abcd"};
    assert_non_null(suggest_word("ehpl", help, 1));
    assert_non_null(suggest_word("hepl", help, 1));
    assert_null(suggest_word("dcba", abcd, 1));
    assert_null(suggest_word("cdab", abcd, 1)); /* these are no neighbours */
}

/* Words of 63 letters are still compared, longer ones are left alone. */
TEST(lengths) {
    char a[80], b[80];
    for (size_t length = 60; length < 70; length++) {
        memset(a, 'a', length);
        memset(b, 'a', length);
        a[length] = b[length] = '\0';
        b[0] = 'b';
        const char *const words[] = {b};
        const char *near = suggest_word(a, words, 1);
        if (length <= 63)
            assert_ptr_equal(near, b);
    }
    static const char *const empty[] = {"", "x"};
    suggest_word("", empty, 2); /* whatever it answers, it does not crash */
    suggest_word("x", empty, 1);
    static const char *const bytes[] = {"m\xc3\xb6t", "\xff\xfe"};
    assert_string_equal(suggest_word("m\xc3\xb6tt", bytes, 2), "m\xc3\xb6t");
}
