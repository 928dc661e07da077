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

/* What a person says of a column stands, with the marks, words and patterns that its values have; the others are guessed. */
TEST(named_types) {
    static const struct {
        const char *values[3], *type,
            *field; /* of the column n; NULL: refused for what the file does not tell */
    } rows[] = {
        {{"007", "012", "1"}, "it:int", "{name: it, type: int, exact: no}"},
        {{"1", "2", "3"}, "it:long", "{name: it, type: long, exact: no}"},
        {{"1", "2", "3"}, "it:k.l:double", "{name: it, key: k.l, type: number, exact: no}"},
        {{"1", "2", "3"}, "it:k:", "{name: it, key: k, type: int}"},
        {{"1", "2", "3"}, "it:string", "{name: it, type: text}"},
        {{"1.234,50", "2,00", "3"},
         "it:decimal",
         "{name: it, type: decimal, decimal: \",\", thousands: \".\", exact: no}"},
        {{"1.234,50", "2,00", "x"},
         "it:decimal",
         "{name: it, type: decimal, decimal: \",\", thousands: \".\", exact: no}"},
        {{"x", "1.500", "y"}, "it:number", NULL},
        {{"1.50", "NULL", "2"},
         "it:decimal",
         "{name: it, type: decimal, exact: no, nulls: [\"\", \"NULL\"]}"},
        {{"1.50", "n/a", "x"}, "it:number", "{name: it, type: number, exact: no, nulls: [\"\", \"n/a\"]}"},
        {{"1.50", "n/a", "x"}, "it:trimmed", "{name: it, type: trimmed}"},
        {{"yes", "yes", "yes"}, "it:bool", "{name: it, type: boolean, true: [\"yes\"], false: [\"no\"]}"},
        {{"N", "N", "N"}, "it:bool", "{name: it, type: boolean, true: [\"Y\"], false: [\"N\"]}"},
        {{"0", "1", "0"}, "it:bool", "{name: it, type: boolean}"},
        {{"20240229", "20240301", "20240302"}, "it:int", "{name: it, type: int, exact: no}"},
        {{"20240229", "20240301", "20240302"}, "it:date", "{name: it, type: date, pattern: YYYYMMDD}"},
        {{"2024-02-29", "2024-03-01", "2024-03-02"}, "it:datetime", "{name: it, type: datetime}"},
        {{"2024-02-29 10:00:00", "2024-03-01", "x"}, "it:date", "{name: it, type: date}"},
        {{"29.02.2024", "01.03.2024", "02.03.2024"},
         "it:date",
         "{name: it, type: date, pattern: DD.MM.YYYY}"},
        {{"1/2/2024", "2/3/2024", "3/4/2024"},
         "it:date(M/D/YYYY)",
         "{name: it, type: date, pattern: \"M/D/YYYY\"}"},
        {{"1/2/2024", "2/3/2024", "3/4/2024"}, "it:text", "{name: it, type: text}"},
        {{"1/2/2024", "2/3/2024", "3/4/2024"}, "it:date", NULL},
        {{"x", "y", "z"},
         "it:datetime(\"YYYY\" MM DD, hh:mm)",
         "{name: it, type: datetime, pattern: \"\\\"YYYY\\\" MM DD, hh:mm\"}"},
        {{"x", "y", "z"}, "it:uuid", "{name: it, type: uuid}"},
        {{"x", "y", "z"}, "it:objectid", "{name: it, type: objectid}"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char *spec = (char *)rows[i].type, text[400], expected[400];
        const guess_options_t options = {.types = &spec, .type_count = 1};
        err_t err;
        snprintf(text, sizeof text, "id;it;m\n1;%s;a\n2;%s;b\n3;%s;c\n", rows[i].values[0], rows[i].values[1],
                 rows[i].values[2]);
        guess_t *guess = begin_with(&options, text, true, &err);
        assert_non_null(guess);
        if (!rows[i].field) {
            assert_false(guess_end(guess, &err));
            guess_destroy(guess);
            continue;
        }
        const char *nothing =
            strstr(rows[i].field, "NULL") ? ", nulls: [\"\", \"NULL\"]" : ""; /* in all columns */
        snprintf(expected, sizeof expected,
                 "record: {delimiter: [\";\"], header: yes, exact: yes}\nfields:\n  - {name: id, type: "
                 "int%s}\n  - %s\n"
                 "  - {name: m,  type: text%s}\n",
                 nothing, rows[i].field, nothing);
        expect_yaml(guess, expected);
    }
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

/* Lines that are the same as the first one are records where no header is read, each of them. */
TEST(first_again) {
    static const struct {
        guess_options_t options;
        const char *text;
        uint64_t records, misfits;
    } rows[] = {
        /* two fields where the others have three */
        {{.header = GUESS_NO_HEADER}, "&,n\n,deci,n\n1P,\"a|b|c\",4\n2Q,x,5\n&,n\n3R,y,6\n", 6, 2},
        {{.header = GUESS_NO_HEADER}, "1,a\n2,b\n1,a\n1,a\n", 4, 0},
        /* names of all columns but the first: a header, wherever it stands */
        {{.header = GUESS_ANY_HEADER}, "a\tb\n1\t2\t3\na\tb\n4\t5\t6\n7\t8\t9\n", 3, 0},
        {{.header = GUESS_ANY_HEADER}, "id,b\n1,2\nid,b\n4,5\n", 2, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err_t err;
        guess_t *guess = begin_with(&rows[i].options, rows[i].text, true, &err);
        assert_non_null(guess);
        assert_true(guess_end(guess, &err));
        assert_int_equal(guess_records(guess), rows[i].records);
        assert_int_equal(guess_rejects(guess), rows[i].misfits);
        guess_destroy(guess);
    }
}

/* Does the first row name the columns? -1: nothing tells. */
TEST(headers) {
    static const struct {
        const char *text;
        int header;
    } rows[] = {
        {"Q1_1,Q1_2,Q2_1\n1,2,3\n4,5,1\n2,2,3\n", 1},
        {"Gene;GSM1_2;GSM3_4\nA;1.5;2.5\nB;3.5;4.5\n", 1},
        {"P1Y2M,P2Y3M\n5,6\n7,8\n", -1},
        {"Jan 3 2020,5\n4,6\n8,9\n", 0},
        {"Station;2023-01;2023-02\nBerlin;5;7\nBonn;8;9\nKiel;1;2\n", 1},
        {"Station;2023-01-01;2023-01-02\nBerlin;5;7\nBonn;8;9\nKiel;1;2\n", 1},
        {"geo;2012-Q1;2012-Q2\nDE;5.5;7\nFR;8;9\n", 1},
        {"geo;2012/13;2013/14\nDE;5.5;7\nFR;8;9\n", 1},
        {"Ann;2023-01;2023-02\nBob;2023-03;2023-04\nCid;2023-03;2023-05\n", -1},
        {"Ann;5551-12;5552-13\nBob;7;8\nCid;9;10\n", -1},
        {"Ann;2023-01;4\nBob;5;7\nCid;8;9\n", 0},
        {"geo;2012;2013;2014\nDE;5;7;9\nFR;8;9;1900\nIT;1;2;3\n", 1},
        {"geo;2012;2013;2014\nDE;1850;7;9\nFR;8;2100;1900\nIT;1;2;3\n", 1},
        {"geo;2012;2013\nDE;5;7\nFR;8;9\nIT;1;2\n", -1},
        {"Bolt;2000;1998\nAnn;5;7\nBob;6;9\n", -1},
        {"Bolt;2000;2001;2002\nAnn;2003;2004;2005\nBob;2003;1990;1999\n", -1},
        {"Bolt;2000;2001;2002\nAnn;5;1990;7\nBob;6;9;8\n", -1},
        /* days that are values, and numbers that stand for none */
        {"Ann;20200101;20201231\nBob;20200315;0\nCid;20200701;20210630\nDan;0;20211231\n", -1},
        {"Ann;20200101;20201231\nBob;20200315;99999999\nCid;20200701;20210630\nDan;0;20211231\n", -1},
        {"Ann;20200101;20201231\nBob;0;99999999\nCid;0;99999999\n", -1},
        {"Ann;2020-01;2020-02\nBob;0;0\nCid;0;0\n", -1},
        /* but for its digits the same as those below it */
        {"K1;20200101;20201231\nK2;20200315;0\nK13;20200701;20210630\nK4;0;20211231\n", 0},
        {"ST-001;M\nST-002;1.5\nST-100;2.5\n", -1},
        {"Station;08:00;09:00\nA;08:05;09:03\nB;08:25;09:24\n", -1},
        {"ST-001;M\nAT-002;1.5\nST-100;2.5\n", 1},
        {"ST-001;M\nST-002;1.5\n", 1},
        {"<TICKER>;<DATE>\nAAA;20240102\nBBB;20240103\n", 1},
        {"<none>;<NA>\n5;6\n6;7\n7;8\n", -1},
        {"Station;20230101;20230102\nBerlin;5;7\nBonn;8;9\nKiel;1;0\n", 1},
        {"Ann;2001;2002;2003\nBob;2303;2304;2305\nCid;2306;2307;2308\nDan;2309;2311;2313\n", -1},
        {"Ann;2001;2002;2003\nBob;2303;2314;2305\nCid;2306;2307;2308\nDan;2309;2319;2313\n", 1},
        /* as Hive and R write */
        {"id\001name\001x,y\n1\001Ann\0011.5\n2\001Bob\0012.5\n", 1},
        {"1\001Ann, x\0013\n2\001Bob, y\0014\n3\001\\N\0014\n", 0},
        {"\"a\" \"b\"\n\"1\" 1 \"x\"\n\"2\" 2 \"y\"\n\"3\" 3 \"z z\"\n", 1},
        /* a word for nothing stands in a record, too, unless the names beside it are such as many files have */
        {"undefined;undefined\n5;6\n6;7\n7;8\n", -1},
        {"N/A;tba\n5;6\n6;7\n7;8\n", -1},
        {"k.A.;keine\n5;6\n6;7\n7;8\n", -1},
        {"#N/A;#DIV/0!\n5;6\n6;7\n7;8\n", -1},
        {"open;NA;Foo\n1;2;3\n3;4;5\n", -1},
        {"Ann;-;Foo\n1;2;3\n3;4;5\n", -1},
        {"id;NA;Foo\n1;2;3\n3;4;5\n", 1},
        {"-;Name;Wert\n1;Ann;3\n3;Bob;5\n", 1},
        {"NA;5\n1;6\n2;7\n3;8\n", 0},
        /* negative numbers underline no names */
        {"id;n\n-1;-2\n-3;4\n", 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err_t err = {.text = ""};
        guess_t *guess = begin(rows[i].text, true, &err);
        assert_non_null(guess);
        const int header = guess_end(guess, &err) ? guess->header || guess->named_here : -1;
        if (header != rows[i].header)
            fail_msg("row %zu: %s%d", i, rows[i].text, header);
        guess_destroy(guess);
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

/* A sign that divides nothing that is known. */
TEST(no_delimiter) {
    static const char *const texts[] = {"a^b^c\n1^2^3\n4^5^6\n", "Smith\nJones\nBrown\n"};
    for (size_t i = 0; i < 2; i++) {
        err_t err = {.text = ""};
        guess_t *guess = begin(texts[i], true, &err);
        assert_non_null(guess);
        assert_false(guess_end(guess, &err));
        assert_int_equal(strstr(err.text, "no delimiter was found") != NULL, i == 0);
        guess_destroy(guess);
    }
}

/* A line of dashes below the names is no record, and is no name. */
TEST(underlines) {
    static const struct {
        const char *text, *advice; /* NULL: taken */
        bool taken_without_header;
    } rows[] = {
        {"id;name\n-----------;-----\n1;Ann\n2;Bob\n", "sed 2d", true},
        {"id\tname\n--\t----\n1\tAnn\n2\tBob\n", "sed 2d", true},
        {"id  name  n\n--  ----  -\n1  Ann  4\n2  Bob  6\n", "sed 2d", true},
        {"id name\n=========== ====\n1 Ann\n2 Bob\n", "sed 2d", true},
        {"\"id\",\"name\"\n\"--\",\"----\"\n\"1\",\"Ann\"\n\"2\",\"Bob\"\n", "sed 2d", true},
        {"| id | name |\n|----|-----:|\n| 1 | Ann |\n| 2 | Bob |\n", "sed 2d", true},
        {"\nid\n--\n1\n2\n", NULL, true},
        {"\nid\n---\n1\n2\n", "sed 3d", true},
        {"\nid\n___\n1\n2\n", "sed 3d", true},
        {"agency\tsite\tdv\n5s\t15s\t20d\nUSGS\t0123\t4.5\nUSGS\t0124\t5.5\n", "sed 2d", true},
        {"id;name\n-;-\n1;Ann\n2;Bob\n", NULL, true},
        {"id;name;n\n-;-;-\n1;Ann;1\n2;Bob;2\n", NULL, true},
        {"id;mark\n+;+++\n1;++\n2;+\n", NULL, true},
    };
    static const guess_options_t ways[] = {
        {.header = GUESS_ANY_HEADER}, {.header = GUESS_HEADER}, {.header = GUESS_NO_HEADER}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t way = 0; way < sizeof ways / sizeof *ways; way++) {
            err_t err = {.text = ""};
            guess_t *guess = begin_with(&ways[way], rows[i].text, true, &err);
            assert_non_null(guess);
            const bool refused = !guess_end(guess, &err) && strstr(err.text, "take it out") &&
                                 rows[i].advice && strstr(err.text, rows[i].advice);
            if (refused !=
                (rows[i].advice && !(ways[way].header == GUESS_NO_HEADER && rows[i].taken_without_header)))
                fail_msg("text %zu, way %zu: %s", i, way, err.text);
            guess_destroy(guess);
        }
}

/* Elsewhere it is a reject, and says nothing of the columns. */
TEST(later_underlines) {
    static const char *const lines[] = {"-----------;-----", "\"--\";\"----\"", "== ; ===", "___;_",
                                        "-+-;---"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        char text[200];
        err_t err;
        snprintf(text, sizeof text, "id;n\n1;2\nid;n\n%s\n3;4\n", lines[i]);
        guess_t *guess = begin(text, true, &err);
        assert_non_null(guess);
        assert_int_equal(guess_rejects(guess), 1);
        assert_int_equal(guess_records(guess), 3);
        assert_true(guess_end(guess, &err));
        assert_int_equal(guess->columns[1].is.kind, KIND_INT);
        guess_destroy(guess);
    }
}

/* Of one column, and made of signs as its first line: a reject wherever it stands as a record. */
TEST(first_underlines_again) {
    static const struct {
        guess_options_t options;
        uint64_t records, rejects;
    } rows[] = {
        {{.header = GUESS_HEADER, .delimiter = '\n'}, 4, 2},
        {{.header = GUESS_NO_HEADER, .delimiter = '\n'}, 5, 3},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err_t err;
        guess_t *guess = begin_with(&rows[i].options, "+---+\n|Ann|\n+---+\n|Bob|\n+---+\n", true, &err);
        assert_non_null(guess);
        assert_true(guess_end(guess, &err));
        assert_int_equal(guess_records(guess), rows[i].records);
        assert_int_equal(guess_rejects(guess), rows[i].rejects);
        guess_destroy(guess);
    }
}

/* Text that is not UTF-8 and not windows-1252, told by its words. */
TEST(words) {
    static const struct {
        const char *values;
        bool refused;
    } rows[] = {
        {"M\xE1laga, Le\xF3n, N\xF5mme", false},
        {"Cr\xE8me br\xFBl\xE9"
         "e, d\xE9j\xE0, b\x9Cuf",
         false},
        {"Stra\xDF"
         "e, Gr\xF6\xDF"
         "e, K\xF6ln",
         false},
        {"Bego\xF1"
         "a, Pe\xF1\xEDscola, \xBFQu\xE9?, 1\xAA, M\xAA, N\xBA 5",
         false},
        {"S\xE3o Jo\xE3o, Na\xE7\xF5"
         "es, Guimar\xE3"
         "es",
         false},
        {"Forl\xEC, Mansu\xE8, Cefal\xF9", false},
        {"Malm\xF6, \xC5ngstr\xF6m, Sk\xE5ne", false},
        {"S\xF8ren, \xC6"
         "beltoft, milj\xF8omr\xE5"
         "de",
         false},
        {"Hygi\xE6ne, jubil\xE6um", false},
        {"Sigur\xF0sson, Gu\xF0r\xFAn, \xDE\xF3r, \xCD\xFEr\xF3tt", false},
        {"P\xF5lva, V\xF5ru, J\xF5geva", false},
        {"\xC7lirim, p\xEBr\xE7moj", false},
        {"na\xEFve, Citro\xEBn, Zo\xEB", false},
        {"O\xB4Neil, d\x92\xC9t\xE9, Paris\x96Lyon, x\xF7y", false},
        {"Lego\x99 m\xB2 25 \xB0"
         "C 5 \xB5m \xBD \xA7 5 \xA3"
         "5 \x80",
         false},
        {"L'HA\x9F-LES-ROSES", false},
        {"\x8Akoda, \x8Ei\x9E"
         "ek",
         false},
        {"\xAB\xC7"
         "a\xBB \x93\xC9t\xE9\x94 \x85und",
         false},
        {"\xA3\xF3"
         "d\x9F, Gda\xF1sk, \x8Cwinouj\x9C"
         "cie",
         true}, /* cp1250: Łódź, Gdańsk, Świnoujście */
        {"Dvo\xF8\xE1k, D\xEC\xE8\xEDn, T\xF8"
         "eb\xED\xE8",
         true}, /* cp1250: Dvořák, Děčín, Třebíč */
        {"Gy\xF5r, Fert\xF5"
         "d, Mez\xF5k\xF6vesd",
         true}, /* cp1250: Győr, Fertőd, Mezőkövesd */
        {"Mez\xF5t\xFAr, Sz\xF5"
         "d, K\xF5v\xE1g\xF3, B\xF5"
         "cs, P\xE9"
         "cs, Szolnok\xE9",
         true}, /* cp1250: Mezőtúr, Sződ, Kővágó, Bőcs, Pécs, Szolnoké */
        {"Kova\xE8"
         "evi\xE6, \xD0ur\xF0"
         "evac",
         true}, /* cp1250: Kovačević, Đurđevac */
        {"Ma\xE8"
         "ek, Kranj\xE8"
         "ar",
         true},                            /* cp1250: Maček, Kranjčar */
        {"Br\xE3ila, Bucure\xBAti", true}, /* cp1250: Brăila, Bucureşti */
        {"\xA3\xF3"
         "d\xBC, Pawe\xB3, Krak\xF3w",
         true},                                         /* iso8859-2: Łódź, Paweł, Kraków */
        {"\xA9umperk, \xAE\xEF\xE1r, Ko\xB9ice", true}, /* iso8859-2: Šumperk, Žďár, Košice */
        {"\xDDstanbul, Mu\xF0la, \xDE"
         "anl\xFDurfa",
         true}, /* cp1254: İstanbul, Muğla, Şanlıurfa */
        {"\xC7"
         "a\xF0lar, G\xFCne\xFE, Y\xFDlmaz",
         true},                                 /* cp1254: Çağlar, Güneş, Yılmaz */
        {"\xD0iauliai, Panev\xEB\xFEys", true}, /* cp1257: Šiauliai, Panevėžys */
        {"J\xFBrmala, B\xE7rzi\xF2\xF0", true}, /* cp1257: Jūrmala, Bērziņš */
        {"Garc\xA1"
         "a, Le\xA2n, Espa\xA4"
         "a",
         true},                       /* cp850: García, León, España */
        {"K\x94ln, F\x84rber", true}, /* cp850: Köln, Färber */
        {"M\x9Fnchen, K\x9Aln, Stra\xA7"
         "e",
         true}, /* mac-roman: München, Köln, Straße */
        {"Garc\x92"
         "a, M\x87laga, Jos\x8E",
         true},               /* mac-roman: García, Málaga, José */
        {"M\xA0laga", true},  /* cp850, cp437: Málaga */
        {"S\xA0nchez", true}, /* so, too: Sánchez */
        {"alem\xA0n", true},  /* alemán */
        {"\x8Epfel, Stra\xE1"
         "e",
         true},                      /* cp850: Äpfel, Straße */
        {"\x99l", true},             /* cp850: Öl */
        {"p\x8Are", true},           /* cp850: père */
        {"n\xC6o", true},            /* cp850: não */
        {"s\x96r", true},            /* cp850: sûr */
        {"Per\xA3", true},           /* cp850: Perú */
        {"Le\x97n", true},           /* mac-roman: León */
        {"Mu\x96oz, ni\x96o", true}, /* mac-roman: Muñoz, niño */
        {"Rodr\x92guez", true},      /* mac-roman: Rodríguez */
        {"Luc\x92"
         "a",
         true},                      /* mac-roman: Lucía */
        {"No\x91l", true},           /* mac-roman: Noël */
        {"K\x9Aln", true},           /* mac-roman: Köln */
        {"Jes\x9Cs, Ra\x9Cl", true}, /* mac-roman: Jesús, Raúl */
        {"\x80pfel", true},          /* mac-roman: Äpfel */
        {"don\x92t, it\x92s, we\x92ll, l\x92\xE9t\xE9, qu\x92on, aujourd\x92hui, O\x92"
         "Brien, po\x92, geht\x92s, o\x92"
         "clock",
         false},
        {"K\xF6ln\x96"
         "Bonn, north\x96south, word\x97"
         "another, I\x97"
         "a, A\x96Z",
         false},
        {"foo\xA0"
         "bar, \xE0\xA0la, M.\xA0"
         "Dupont, Mr\xA0Smith",
         false},
        {"c\x9Cur, s\x9Cur, \x9Cuf, \x8C"
         "dipe, Tom\xE1\x9A, Ale\x9A, \x9Aiv, Ha\x9A"
         "ek, copi\xE1-lo, Par\xE1",
         false},
        {"\xBC\xDE\xE1\xDA\xD2\xD0", true}, /* iso8859-5: Москва */
        {"\xC1\xE8\xDE\xED\xE1", true},     /* iso8859-7: Αθήνα */
        {"\xB3\xAF\xA9\xC9\xA7g, \xAAL\xA7\xD3\xA9\xFA, \xA4\xFD\xAB\xD8\xB0\xEA, \xB6\xC0\xB6\xAE\xB4@, "
         "\xB0\xAA\xB6\xAF\xA5\xAB",
         true}, /* big5: 陳怡君, 林志明, 王建國, 黃雅婷, 高雄市 */
        {"\xBF\xCD\xBB\xA7, \xB6\xA9\xB5\xA5, \xB9\xA9\xD3\xA6\xC9\xCC", true}, /* gbk: 客户, 订单, 供应商 */
        {"\xBC\xAD\xBF\xEF\xC6\xAF\xBA\xB0\xBD\xC3, \xBA\xCE\xBB\xEA\xB1\xA4\xBF\xAA\xBD\xC3, "
         "\xB4\xEB\xB1\xB8\xB1\xA4\xBF\xAA\xBD\xC3",
         true}, /* euc_kr: 서울특별시, 부산광역시, 대구광역시 */
        /* where no longer word tells: signs and short words as Western languages have them, */
        {"12,50 \x80, \xA3"
         "12.50, 5 m\xB2, T \xB0"
         "C, N\xBA 5, 3 \xBD\", 10 \xB5m, \xB1"
         "5, \xA7\xA7 5, \xA9 2020, 5\xD7"
         "3, 1\xA0"
         "000",
         false},
        {"kWh/m\xB2"
         "a, W/m\xB2K, \xB5g/m\xB3, CO\xB2",
         false},
        {"Letzte\xC4nderung, ist\xDC"
         "berf\xE4llig",
         false},
        {"\xE0, o\xF9, l\xE0, s\xEC, S\xED, \xC5r, \xD6l, \xD8 5 mm, 5 \xC5, y\xF6", false},
        {"12,50 \xA4, caf\xE9", true}, /* iso8859-15: 12,50 €, also beside a word */
        {"12,50 \xDB", true},          /* mac-roman: 12,50 € */
        {"T \xF8"
         "C",
         true}, /* cp850: T °C */
        {"T \xA1"
         "C",
         true}, /* mac-roman: T °C */
        {"\x9C"
         "12",
         true},             /* cp850: £12 */
        {"10 \xE6m", true}, /* cp850: 10 µm */
        {"\xF1"
         "5",
         true},                           /* cp850: ±5 */
        {"m\xFD", true},                  /* cp850: m² */
        {"p\x86, \x86r", true},           /* cp850: på, år */
        {"N\xBC 5", true},                /* mac-roman: Nº 5 */
        {"5 z\xB3", true},                /* cp1250: 5 zł */
        {"10 K\xE8", true},               /* cp1250: 10 Kč */
        {"mu\xBE", true},                 /* iso8859-2: muž */
        {"\xCC, \xC6", true},             /* cp1251: М, Ж */
        {"\xE4\xE0, \xED\xE5", true},     /* cp1251: да, не */
        {"\xE4\xE0, \xED\xE5\xF2", true}, /* cp1251: да, нет */
        {"\xB9 5", true},                 /* cp1251: № 5 */
        {"\xB3\xB2", true},               /* euc_kr: 남 */
        {"\xA8k, \xA4k", true},           /* big5: 男, 女 */
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[400];
        err_t err = {.text = ""};
        snprintf(text, sizeof text, "id;name\n1;%s\n2;x\n3;y\n", rows[i].values);
        guess_t *guess = begin(text, true, &err);
        assert_non_null(guess);
        if (guess_end(guess, &err) == rows[i].refused)
            fail_msg("row %zu: %s", i, err.text);
        guess_destroy(guess);
    }
}

/* The sentence names the input that the word, or the other text, stands in. */
TEST(words_of_inputs) {
    static const struct {
        const char *first, *second, *begins;
    } rows[] = {
        {"id;name\n1;x\n2;y\n", "id;name\n3;Dvo\xF8\xE1k\n", "second: its text is not UTF-8, and hardly "},
        {"id;name\n1;caf\xE9\n2;y\n", "id;name\n3;Dvo\xF8\xE1k\n",
         "second: its text is not UTF-8, and hardly "},
        {"id;name\n1;x\n2;y\n", "id;name\n3;5 \xCC\n", "second: its text is not UTF-8, and no longer "},
        {"id;name\n1;x\n2;y\n", "id;name\n3;\x81\n", "second: its text is neither "},
        {"id;name\n1;\xC3\xA9\n2;y\n", "id;name\n3;caf\xE9\n", "second: some of its"},
        {"id;name\n1;caf\xE9\n2;y\n", "id;name\n3;\xC3\xA9\n", "text: some of its"},
        {"id;name\n1;x\n2;y\n", "id;name\n3;caf\xE9\n4;\xC3\xA9\n", "second: part of its"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        err_t err = {.text = ""};
        size_t used;
        guess_t *guess = begin(rows[i].first, true, &err);
        assert_non_null(guess);
        guess_input(guess, "second");
        assert_true(guess_take(guess, (const uint8_t *)rows[i].second, strlen(rows[i].second),
                               GUESS_FROM_OTHER, true, &used, &err));
        assert_false(guess_end(guess, &err));
        if (strncmp(err.text, rows[i].begins, strlen(rows[i].begins)) != 0)
            fail_msg("row %zu: %s", i, err.text);
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
    static const char *const texts[] = {"",          "\n\r\n",    "[\"a\", 1]\n",
                                        "<?xml?>\n", "a\rb\rc\r", "a b    c\nd e f  g\nx y    z\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        err_t err = {.text = ""};
        assert_null(begin(texts[i], true, &err));
        assert_int_equal(err.status, STATUS_INPUT);
        assert_non_null(strstr(err.text, "text: "));
    }
}
