/* guess: what pieces of a text tell, and where nothing can be told. Whole files and the formats that a
 * person would write for them are in tests/cli/tables/guess-*.table. */
#include "format/guess/guess_inner.h"
#include "test.h"

#include <stdio.h>

/* ---- pieces ---- */

static const guess_options_t nothing_said = {.nested = false};

/* Of texts that follow each other: the first one, and perhaps a place in the middle. */
static guess_t *guess_of(const guess_options_t *options, const char *text, bool whole, const char *middle,
                         err_t *err) {
    guess_piece_t pieces[] = {
        {(const uint8_t *)text, strlen(text), true, whole, "text", false},
        {(const uint8_t *)middle, middle ? strlen(middle) : 0, false, false, "text", false}};
    const guess_sample_t sample = {pieces, middle ? 2 : 1, true};
    return guess_new(&sample, options, err);
}

static void expect_yaml(guess_t *guess, const char *expected) {
    err_t err;
    char *yaml, *lines;
    assert_true(guess_write(guess, &yaml, &lines, &err));
    const char *record = strstr(yaml, "record:");
    assert_non_null(record);
    assert_string_equal(record, expected);
    free(yaml);
    free(lines);
    guess_destroy(guess);
}

/* Wherever a text is cut off, a text in quotes of several lines is one value: the lines of the last one, which does not end,
 * are not taken for records without quotes, which have as many fields each. */
TEST(cut_in_quotes) {
    enum { RECORDS = 30, FEW = 12, ROOM = 64 };
    err_t err;
    char text[RECORDS * ROOM];
    size_t length = 0, few = 0;
    for (int i = 0; i < RECORDS; i++) {
        few = i == FEW ? length : few;
        length += (size_t)snprintf(text + length, ROOM, "%d,\"1 High St\nLeeds, W\nUK\",%05d\n", i, i * 7);
    }
    for (size_t cut = few; cut <= length; cut += TEST_SHARE) {
        char piece[RECORDS * ROOM];
        memcpy(piece, text, cut);
        piece[cut] = '\0';
        for (int beginning = 0; beginning < 2; beginning++) {
            const guess_options_t options = {.beginning = beginning, .header = GUESS_NO_HEADER};
            guess_t *guess = guess_of(&options, piece, true, NULL, &err);
            assert_non_null(guess);
            assert_int_equal(guess->structure.way.quote, '"');
            assert_int_equal(guess->structure.columns, 3);
            guess_destroy(guess);
        }
    }
}

TEST(piece_in_the_middle) {
    err_t err;
    /* it begins within quotes, so that its first lines are no records, and the last one may go on */
    guess_t *guess = guess_of(&nothing_said, "id,note\n1,a\n2,\"b\nc\"\n3,d\n", false,
                              "of a note\nand so on\"\n7.5,x\n8,y\n9,z", &err);
    assert_non_null(guess);
    assert_int_equal(guess->records, 3 + 2);
    assert_int_equal(guess->misfits + guess->quotes.torn, 0);
    expect_yaml(guess, "record: {delimiter: [\",\"], header: yes, exact: yes}\n"
                       "fields:\n"
                       "  - {name: id, type: number}\n"
                       "  - {name: note, type: text}\n");
}
