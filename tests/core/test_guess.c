/* guess: what pieces of a text show, and where nothing can be decided. Whole files, and the formats that a user would write
 * for them, are in tests/cli/tables/guess-*.table. */
#include "format/guess/guess_inner.h"
#include "test.h"

#include <stdio.h>

/* ---- pieces ---- */

static const guess_options_t nothing_said = {.nested = false};

/* Bytes and lines between both pieces of a text; 0 lines: these cannot be counted. */
enum { MISSING = 1000 };
static uint64_t missing_lines;
static bool lines_before(const void *file, uint64_t offset, uint64_t *lines) {
    (void)file;
    *lines = missing_lines;
    return missing_lines && offset >= MISSING;
}

/* Of texts that follow each other: the first one, and perhaps a place in the middle. */
static guess_t *guess_of(const guess_options_t *options, const char *text, bool whole, const char *middle,
                         err_t *err) {
    static guess_piece_t pieces[2]; /* they live as long as the guess */
    static guess_sample_t sample;
    pieces[0] = (guess_piece_t){.text = (const uint8_t *)text,
                                .length = strlen(text),
                                .begins = true,
                                .ends = whole,
                                .input = "text"};
    pieces[1] = (guess_piece_t){.text = (const uint8_t *)middle,
                                .length = middle ? strlen(middle) : 0,
                                .input = "text",
                                .offset = strlen(text) + MISSING};
    sample =
        (guess_sample_t){.pieces = pieces, .count = middle ? 2 : 1, .every = true, .lines = lines_before};
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
    assert_int_equal(guess->counts.records, 3 + 2);
    assert_int_equal(guess->counts.rejects, 0);
    expect_yaml(guess, "record: {delimiter: [\",\"], header: yes, exact: yes}\n"
                       "fields:\n"
                       "  - {name: id, type: number}\n"
                       "  - {name: note, type: text}\n");
}

/* ---- columns that are text because of a few values ---- */

/* 100 rows, of which three are no numbers: x from row `words` on, and a date; perhaps a header stands before them. */
static char *rows_with(int words, int date, bool header) {
    enum { ROWS = 100, ROOM = 20 };
    char *text = calloc(ROWS + 1, ROOM), *at = text;
    assert_non_null(text);
    at += sprintf(at, "%s", header ? "n,w,k\n" : "");
    for (int i = 0; i < ROWS; i++)
        if (words >= 0 && (i == words || i == words + 1))
            at += sprintf(at, "x,w,5\n");
        else
            at += i == date ? sprintf(at, "2024-05-06,w,5\n") : sprintf(at, "%d,w,5\n", 100 + i);
    return text;
}

static void expect_kept(guess_t *guess, const char *expected) {
    err_t err;
    char *yaml, *lines;
    assert_non_null(guess);
    assert_true(guess_write(guess, &yaml, &lines, &err));
    bson_t kept = BSON_INITIALIZER;
    assert_int_equal(guess_kept(yaml, 0, &kept), expected != NULL);
    char *json = bson_as_relaxed_extended_json(&kept, NULL);
    assert_string_equal(json, expected ? expected : "{ }");
    bson_free(json);
    bson_destroy(&kept);
    schema_t *schema = schema_parse_guessed(yaml, "it", &err), *bare = NULL;
    char *comment = strstr(yaml, "# kept");
    if (comment)
        memmove(comment, strchr(comment, '\n') + 1, strlen(strchr(comment, '\n')));
    bare = schema_parse_guessed(yaml, "bare", &err);
    assert_true(schema && bare);
    assert_string_equal(schema->digest, bare->digest);
    schema_destroy(schema);
    schema_destroy(bare);
    free(yaml);
    free(lines);
    guess_destroy(guess);
}

#define KEPT(column, values, of, where, value)                                                               \
    "{ \"column\" : \"" column "\", \"type\" : \"int\", \"values\" : " values ", \"of\" : " of               \
    ", \"first\" : { \"file\" : \"text\", " where " }, \"value\" : \"" value "\" }"

TEST(place_of_the_first_misfit) {
    const guess_options_t no_header = {.header = GUESS_NO_HEADER};
    err_t err;
    char *first = rows_with(7, 3, true), *none = rows_with(-1, -1, true), *middle = rows_with(40, 50, false),
         *begins = rows_with(5, 0, false);
    expect_kept(guess_of(&nothing_said, first, true, NULL, &err),
                KEPT("n", "3", "100", "\"line\" : 5", "2024-05-06"));
    expect_kept(guess_of(&nothing_said, none, true, NULL, &err), NULL);
    /* records of a piece in the middle count from its second line on */
    missing_lines = 1000;
    expect_kept(guess_of(&nothing_said, none, false, middle, &err),
                KEPT("n", "3", "199", "\"line\" : 1041", "x"));
    missing_lines = 0;
    expect_kept(guess_of(&nothing_said, none, false, middle, &err),
                KEPT("n", "3", "199", "\"line\" : null", "x"));
    expect_kept(guess_of(&no_header, begins, true, NULL, &err),
                KEPT("column_1", "3", "100", "\"line\" : 1", "2024-05-06"));
    free(first);
    free(none);
    free(middle);
    free(begins);
}
