/* guess: which texts are numbers, dates and null values; what pieces of a text tell; and where nothing can be told.
 * Whole files and the formats that a person would write for them are in tests/cli/tables/guess-*.table. */
#include "format/guess/guess_inner.h"
#include "format_lab.h"
#include "test.h"

TEST(numbers) {
    enum { IS = 1, FRACTION = 2, GROUPED = 4, WIDE = 8, LOSSY = 16, HUGE = 32 };
    static const struct {
        char decimal, thousands;
        const char *text;
        int what;
    } rows[] = {
        {'.', 0, "0", IS},
        {'.', 0, "-7", IS},
        {'.', 0, " 12 ", IS},
        {'.', 0, "12.50", IS | FRACTION},
        {'.', 0, ".5", IS | FRACTION},
        {'.', 0, "9223372036854775807", IS | LOSSY},
        {'.', 0, "-9223372036854775808", IS | LOSSY},
        {'.', 0, "9223372036854775808", IS | WIDE | LOSSY},
        {'.', 0, "-0", IS | WIDE},
        {'.', 0, "0.1000000000000000055", IS | FRACTION | LOSSY},
        {'.', 0, "9007199254740993", IS | LOSSY},
        {'.', 0, "9007199254740992", IS},
        {'.', 0, "12345678901234567890123456789012345", IS | WIDE | LOSSY | HUGE},
        {'.', 0, "007", 0},
        {'.', 0, "00", 0},
        {'.', 0, "+7", 0},
        {'.', 0, "1e5", 0},
        {'.', 0, "5.", 0},
        {'.', 0, ".", 0},
        {'.', 0, "-", 0},
        {'.', 0, "", 0},
        {'.', 0, "1.2.3", 0},
        {'.', 0, "1,5", 0},
        {'.', 0, "0x10", 0},
        {'.', 0, "NaN", 0},
        {'.', 0, "1 2", 0},
        {',', 0, "1,5", IS | FRACTION},
        {',', 0, "1.5", 0},
        {'.', ',', "1,234", IS | GROUPED},
        {'.', ',', "12,345,678.90", IS | GROUPED | FRACTION},
        {'.', ',', "1234", IS},
        {'.', ',', "1234,567", 0},
        {'.', ',', "12,34", 0},
        {'.', ',', ",234", 0},
        {'.', ',', "1,,234", 0},
        {'.', ',', "0,123", 0},
        {',', '.', "1.234,5", IS | GROUPED | FRACTION},
        {',', ' ', "1 234,5", IS | GROUPED | FRACTION},
        {'.', '\'', "1'234.5", IS | GROUPED | FRACTION},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const style_t style = {rows[i].decimal, rows[i].thousands};
        number_t number;
        const bool is = guess_number(&style, (const uint8_t *)rows[i].text, strlen(rows[i].text), &number);
        const int what = !is ? 0
                             : IS | (number.fraction ? FRACTION : 0) | (number.grouped ? GROUPED : 0) |
                                   (number.wide ? WIDE : 0) | (number.lossy ? LOSSY : 0) |
                                   (number.huge ? HUGE : 0);
        if (what != rows[i].what)
            print_error("'%s' with '%c'\n", rows[i].text, rows[i].decimal);
        assert_int_equal(what, rows[i].what);
    }
}

TEST(null_words) {
    static const char *const nulls[] = {"NULL", "null", "\\N", "NA", "n/a", "N/A", "NaN", " NA ", "   "};
    static const char *const words[] = {"Namibia", "NUL", "0", "-", "nil", "Na", "\\n", "N"};
    for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
        assert_true(guess_is_null((const uint8_t *)nulls[i], strlen(nulls[i])));
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        assert_false(guess_is_null((const uint8_t *)words[i], strlen(words[i])));
}

TEST(dates) {
    static const struct {
        const char *text, *first; /* the pattern that is preferred */
        bool both;                /* the other order of day and month does, too */
    } rows[] = {
        {"2024-02-29", "YYYY-MM-DD", false},
        {"2024-02-29T10:20:30Z", "YYYY-MM-DDThh:mm:ssZ", false},
        {"2024-02-29 10:20", "YYYY-MM-DD hh:mm", false},
        {"03/04/2024", "DD/MM/YYYY", true},
        {"13/04/2024", "DD/MM/YYYY", false},
        {"04/13/2024", "MM/DD/YYYY", false},
        {"03-04-2024 10:20", "DD-MM-YYYY hh:mm", true},
        {"03.04.2024", "DD.MM.YYYY", false},
        {"20240229", "YYYYMMDD", false},
        {"18240229", NULL, false}, /* rather a number */
        {"20230229", NULL, false},
        {"2023-02-29", NULL, false},
        {"13/13/2024", NULL, false},
        {"2024-02-29T10:20:30+01:00", "YYYY-MM-DDThh:mm:ssZZ", false},
        {"3/4/2024", "D/M/YYYY", true},
        {"3/14/2024 9:05 PM", "M/D/YYYY h:mm A", false},
        {"29-FEB-24", "DD-MON-YY", false},
        {"March 4, 2024", "MONTH D, YYYY", false},
        {"03/04/24", "DD/MM/YY", true},
        {"31/04/24", "YY/MM/DD", false}, /* April has no 31st day */
        {"12/31/24", "MM/DD/YY", false},
        {"99/12/31", "YY/MM/DD", false},
        {"99-12-31 23:59", "YY-MM-DD hh:mm", false},
        {"3/4/24", "D/M/YY", true},
        {"12/31/24 9:05 PM", "M/D/YY h:mm A", false},
        {"99/13/31", NULL, false},
        {"today", NULL, false},
        {"", NULL, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const date_set_t found =
            guess_dates(~(date_set_t)0, (const uint8_t *)rows[i].text, strlen(rows[i].text));
        if (!rows[i].first) {
            assert_true(found == 0);
            continue;
        }
        assert_true(found != 0);
        assert_string_equal(guess_pattern(guess_first_date(found))->text, rows[i].first);
        bool both = false;
        for (date_set_t left = found; left; left &= left - 1)
            both |= guess_pattern(guess_first_date(left))->order == ORDER_MDY;
        both &= guess_pattern(guess_first_date(found))->order != ORDER_MDY;
        assert_int_equal(both, rows[i].both);
    }
}

/* Each of the first seven is one of the type datetime, so that it need not be written out. */
TEST(patterns_of_datetime) {
    schema_t *schema =
        lab_schema("format: x\nrecord: {delimiter: \",\"}\nfields: [{name: a, type: datetime}]\n");
    size_t known = 0;
    for (size_t i = 0; i < schema->fields[0].patterns.count; i++)
        for (size_t j = 0; j < guess_pattern_count(); j++)
            if (strcmp(guess_pattern(j)->text, schema->fields[0].patterns.items[i].text) == 0) {
                assert_true(GUESS_ISO >> j & 1);
                known++;
            }
    assert_int_equal(known, schema->fields[0].patterns.count);
    assert_int_equal(known, __builtin_popcountll(GUESS_ISO));
    schema_destroy(schema);
}

/* ---- pieces ---- */

static guess_t *begin_with(const guess_options_t *options, const char *text, bool whole, err_t *err) {
    guess_t *guess = guess_new("text", options, err);
    size_t used;
    assert_non_null(guess);
    if (guess_begin(guess, (const uint8_t *)text, strlen(text), whole, err) &&
        guess_take(guess, (const uint8_t *)text, strlen(text), GUESS_FROM_START, whole, &used, err))
        return guess;
    guess_destroy(guess);
    return NULL;
}

static guess_t *begin(const char *text, bool whole, err_t *err) {
    const guess_options_t options = {.nested = false};
    return begin_with(&options, text, whole, err);
}

static void expect_yaml(guess_t *guess, const char *expected) {
    err_t err;
    assert_true(guess_end(guess, &err));
    char *yaml = guess_yaml(guess, &err);
    assert_non_null(yaml);
    const char *record = strstr(yaml, "record:");
    assert_non_null(record);
    assert_string_equal(record, expected);
    free(yaml);
    guess_destroy(guess);
}

TEST(next_piece) {
    err_t err;
    size_t used;
    const char first[] = "id,note\n1,a\n2,b\n3,\"beg";
    guess_t *guess = begin(first, false, &err);
    assert_non_null(guess);
    assert_true(
        guess_take(guess, (const uint8_t *)first, strlen(first), GUESS_FROM_START, false, &used, &err));
    assert_int_equal(used, strlen("id,note\n1,a\n2,b\n")); /* a quote is open */
    const char rest[] = "3,\"beg\nin\"\nx,d\n5,e";
    const uint64_t before = guess_so_far(guess);
    assert_true(guess_take(guess, (const uint8_t *)rest, strlen(rest), GUESS_FROM_NEXT, true, &used, &err));
    assert_int_equal(used, strlen(rest));
    assert_true(guess_so_far(guess) != before); /* id is text now */
    expect_yaml(guess, "record: {delimiter: [\",\"], header: yes}\n"
                       "fields:\n"
                       "  - {name: id,   type: text}\n"
                       "  - {name: note, type: text}\n");
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
            const guess_options_t options = {.beginning = beginning};
            guess_t *guess = guess_new("text", &options, &err);
            assert_non_null(guess);
            assert_true(guess_begin(guess, (const uint8_t *)piece, cut, true, &err));
            assert_int_equal(guess->structure.way.quote, '"');
            assert_int_equal(guess->structure.columns, 3);
            assert_true(guess_cut_off(guess) < ROOM);
            guess_destroy(guess);
        }
    }
}

TEST(piece_in_the_middle) {
    err_t err;
    size_t used;
    guess_t *guess = begin("id,note\n1,a\n2,\"b\nc\"\n3,d\n", false, &err);
    assert_non_null(guess);
    const uint64_t before = guess_records(guess);
    /* the piece begins within quotes: its first two lines are no records */
    const char middle[] = "of a note\nand so on\"\n7.5,x\n8,y\n9,z";
    assert_true(
        guess_take(guess, (const uint8_t *)middle, strlen(middle), GUESS_FROM_LINE, false, &used, &err));
    assert_int_equal(guess_records(guess) - before, 2); /* the last one may go on */
    assert_int_equal(guess_rejects(guess), 0);
    expect_yaml(guess, "record: {delimiter: [\",\"], header: yes, exact: yes}\n"
                       "fields:\n"
                       "  - {name: id,   type: number}\n"
                       "  - {name: note, type: text}\n");
}

TEST(same_header) {
    err_t err;
    guess_t *guess = begin("id,note\n1,a\n2,b\n", true, &err);
    assert_non_null(guess);
    assert_true(guess_is_same(guess, (const uint8_t *)"id,note\n7,z\n", 12));
    assert_true(guess_is_same(guess, (const uint8_t *)"\xEF\xBB\xBFid,note\r\n", 12));
    assert_false(guess_is_same(guess, (const uint8_t *)"id;note\n7;z\n", 12));
    assert_false(guess_is_same(guess, (const uint8_t *)"", 0));
    guess_destroy(guess);
}

TEST(misfits_are_counted) {
    err_t err;
    char *lines[GUESS_LINES];
    guess_t *guess = begin("id,note\n1,a\n2\n3,c,c\n4,d\n5,e\n6,f\n7,g\n8,h\n", true, &err);
    assert_non_null(guess);
    guess_saw_all(guess);
    assert_true(guess_end(guess, &err));
    assert_int_equal(guess_records(guess), 8);
    assert_int_equal(guess_rejects(guess), 2);
    assert_true(guess_tell(guess, 0, lines, &err));
    assert_string_equal(
        lines[0], "no --format: read as CSV, delimiter ',', header in line 1, 2 columns (all 8 rows looked "
                  "at; 2 of them will be rejected, for another number of fields, or an odd quote or end)");
    assert_string_equal(lines[1], "columns: id int, note text");
    for (size_t i = 0; i < GUESS_LINES; i++)
        free(lines[i]);
    guess_destroy(guess);
}

/* Is a number as those of its column? */
TEST(range) {
    static const struct {
        const char *first, *below[6];
        bool unlike;
    } rows[] = {
        {"2019", {"8,5", "7,1"}, true},    {" 2019 ", {"8", "7"}, true},
        {"2019", {"8", "2021"}, false},    {"2019", {"yes", "no"}, true},
        {"2.5", {"x", "y"}, false},        {"2019", {"", "NULL"}, false},
        {"2019", {NULL}, false},           {"1204", {"5", "17"}, true},
        {"1204", {"5", "170"}, false},     {"1204", {"5", "170", "1", "2", "3"}, true},
        {"7", {"8.5", "7.1"}, true},       {"7", {"8.5", "7"}, false},
        {"0", {"8.5", "7.1"}, false},      {"0.5", {"12", "14"}, true},
        {"12", {"1.234", "5.678"}, false}, /* which may be whole ones */
        {"1.234", {"5", "7"}, false},      {"-300", {"5", "-7"}, true},
        {"1", {"2", "3"}, false},          {"Ann", {"2", "3"}, false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        range_t range = {.values = 0};
        for (size_t j = 0; j < 6 && rows[i].below[j]; j++)
            guess_range_add(&range, (const uint8_t *)rows[i].below[j], strlen(rows[i].below[j]));
        if (guess_range_is_unlike(&range, (const uint8_t *)rows[i].first, strlen(rows[i].first)) !=
            rows[i].unlike)
            fail_msg("row %zu: %s", i, rows[i].first);
    }
}

/* What the first record alone holds is told as well, where it is one. */
TEST(first_escapes) {
    static const struct {
        const char *text;
        bool escapes;
    } rows[] = {
        {"1\tx\\ny\n2\t\\N\n3\tz\n", true},
        {"1\tx\n2\t\\N\n3\tz\n", false},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const guess_options_t options = {.header = GUESS_NO_HEADER};
        err_t err;
        guess_t *guess = begin_with(&options, rows[i].text, true, &err);
        assert_non_null(guess);
        assert_true(guess_end(guess, &err));
        assert_int_equal(guess->keeps_escapes, rows[i].escapes);
        guess_destroy(guess);
    }
}

/* JSON says itself what it is; all of its objects are counted, in any pieces. */
TEST(json) {
    static const char *const texts[] = {
        "{\"a\": 1}\n{\"a\": 2}\n", "\xEF\xBB\xBF [{\"a\": 1},\n\n {\"a\": 2}]\n", "{\n}{ \"a\": \"}\" }"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        err_t err = {.text = ""};
        char *lines[GUESS_LINES];
        guess_t *guess = begin(texts[i], true, &err);
        assert_non_null(guess);
        guess_saw_all(guess);
        assert_true(guess_end(guess, &err));
        assert_int_equal(guess_records(guess), 2);
        assert_true(guess_tell(guess, 0, lines, &err));
        assert_string_equal(lines[0], "no --format: read as JSON (all 2 objects looked at)");
        for (size_t j = 0; j < GUESS_LINES; j++)
            free(lines[j]);
        char *yaml = guess_yaml(guess, &err);
        assert_non_null(strstr(yaml, "record: {json: yes}\n"));
        free(yaml);
        guess_destroy(guess);
    }
}

TEST(refused) {
    static const char *const texts[] = {"", "\n\r\n", "[\"a\", 1]\n", "<?xml?>\n",
                                        "a b    c\nd e f  g\nx y    z\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        err_t err = {.text = ""};
        assert_null(begin(texts[i], true, &err));
        assert_int_equal(err.status, STATUS_INPUT);
        assert_non_null(strstr(err.text, "text: "));
    }
}
